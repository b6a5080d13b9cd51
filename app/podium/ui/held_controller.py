"""A fleet whose GPUs no other Podium can take while it stands. Imported with the fleet, not before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from podium.multigpu import MGPUController
from podium.multigpu.device_locks import DeviceLocks, gpus_of
from podium.multigpu.links import FleetLinks
from podium.multigpu.status import RankStatus
from podium.ui.baton import JobStream


class HeldController:
    """A controller that takes its GPUs at its start; they are given back when every rank has ended.

    Args:
        inner: Not started yet.
        locks: Those of this process.
    """

    def __init__(self, inner: MGPUController, locks: DeviceLocks) -> None:
        self._inner = inner
        self._locks = locks

    @property
    def is_alive(self) -> bool:
        """Return whether it can take a job."""
        return self._inner.is_alive

    @property
    def links(self) -> FleetLinks:
        """Return how its GPUs reach each other, once it has started."""
        return self._inner.links

    def start(self, **setup_kwargs: Any) -> None:  # noqa: ANN401 - the pickle border
        """Take the GPUs and start the ranks.

        Raises:
            DeviceHeldError: Another Podium has one of them; nothing was started.
            Exception: As the controller's own start.
        """
        hold = self._locks.take(gpus_of(self._inner.plan))
        self._inner.when_gone(hold.release)
        self._inner.start(**setup_kwargs)

    def stream(self, **kwargs: Any) -> JobStream:  # noqa: ANN401 - the pickle border
        """Dispatch a job."""
        return self._inner.stream(**kwargs)

    def shutdown(self, *, graceful_timeout: float = 60.0) -> None:
        """Stop the fleet."""
        self._inner.shutdown(graceful_timeout=graceful_timeout)

    def rank_status(self) -> Sequence[RankStatus]:
        """Return how every rank is."""
        return self._inner.rank_status()
