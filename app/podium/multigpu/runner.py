"""What runs on every rank: the base class of runners, and how to name one without an import. No torch at run time."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from podium.multigpu.groups import NCCLGroups
from podium.multigpu.job import JobContext

if TYPE_CHECKING:
    import torch


class MGPURunner(ABC):
    """Run one pipeline on every rank in lockstep.

    A subclass is sent to the workers by value, so it may live in a script, a test or a session. Each worker makes
    one instance without arguments, injects the attributes below, calls `setup` once and then the instance per
    job. Neither runs in inference mode unless it says so itself.

    Attributes:
        groups: The process groups of the fleet.
        device: This rank's device; it is the current one.
        rank: 0 to `world_size` - 1.
        world_size: How many ranks there are.
        job: Phase, progress and the check for a cancel.
    """

    groups: NCCLGroups
    device: torch.device
    rank: int
    world_size: int
    job: JobContext

    def setup(self, *args: Any, **kwargs: Any) -> None:  # noqa: B027 - a runner may have nothing to set up
        """Prepare the rank: the keyword arguments are those of `MGPUController.start`.

        Ranks: every rank, all groups.
        """

    def close(self) -> None:  # noqa: B027 - a runner may have nothing of the kind
        """Let go of what must not outlive the process groups; called once, where the fleet ends in order.

        Ranks: one rank, local.
        """

    @abstractmethod
    def __call__(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        """Run one job: a generator whose items reach the driver one by one, and whose return value ends the stream.

        Tensors among the keyword arguments of `MGPUController.stream` arrive on `device`.

        Ranks: every rank, all groups. The worker always runs it to its end.

        Raises:
            RunnerError: Alike on every rank, to refuse the job and keep the fleet.
        """


@dataclass(frozen=True, slots=True)
class RunnerRef:
    """Name a runner class that only the workers import.

    Args:
        path: "package.module:Class".
    """

    path: str

    def __post_init__(self) -> None:
        module, _, name = self.path.partition(":")
        if not (all(part.isidentifier() for part in module.split(".")) and name.isidentifier()):
            raise ValueError(f"{self.path!r} does not name a runner; write it as package.module:Class")

    def resolve(self) -> type[MGPURunner]:
        """Import the class.

        Ranks: one rank, local.

        Raises:
            TypeError: It is no `MGPURunner`.
        """
        module, _, name = self.path.partition(":")
        return checked_runner(getattr(importlib.import_module(module), name))


def checked_runner(candidate: object) -> type[MGPURunner]:
    """Return `candidate` if it is a runner class.

    Raises:
        TypeError: It is not.
    """
    if isinstance(candidate, type) and issubclass(candidate, MGPURunner):
        return candidate
    raise TypeError(f"{candidate!r} is not a subclass of MGPURunner")
