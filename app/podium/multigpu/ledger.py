"""Which workers of this process are still letting go of which GPUs. No torch."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from podium.multigpu.errors import PlacementError
from podium.multigpu.placement import wait_until_released

RELEASE_LIMIT_S = 5.0


@dataclass(frozen=True, slots=True)
class Tenant:
    """A fleet on GPUs.

    Args:
        pids: Of its workers, once it has all.
        gone: Set when they have ended or nobody waits for them any more.
        is_leaving: Tell whether it has been told to go.
    """

    uuids: frozenset[str]
    pids: Callable[[], frozenset[int]]
    gone: threading.Event
    is_leaving: Callable[[], bool]


class DeviceLedger:
    """The fleets of this process by GPU, so that a new one waits for the memory of the last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tenants: list[Tenant] = []

    def add(self, tenant: Tenant) -> None:
        """Note a fleet on GPUs."""
        with self._lock:
            self._tenants.append(tenant)

    def wait_free(self, uuids: frozenset[str]) -> None:
        """Wait until fleets that are leaving have left these GPUs. A fleet that is at work there is not waited for.

        Ranks: driver.

        Raises:
            PlacementError: A worker does not let go: its GPU is blocked.
        """
        with self._lock:
            leaving = [tenant for tenant in self._tenants if tenant.uuids & uuids and tenant.is_leaving()]
        for tenant in leaving:
            tenant.gone.wait(RELEASE_LIMIT_S)
            if stuck := wait_until_released(tenant.uuids & uuids, tenant.pids(), RELEASE_LIMIT_S):
                raise PlacementError(
                    f"A GPU is blocked: process {', '.join(map(str, sorted(stuck)))} does not let go of "
                    f"{', '.join(sorted(tenant.uuids & uuids))}. Start on the other GPUs, or restart the machine."
                )
            with self._lock:
                if tenant in self._tenants:
                    self._tenants.remove(tenant)


# One for the process, as GPUs are: two controllers have to know of each other's leavings.
SHARED_LEDGER = DeviceLedger()
