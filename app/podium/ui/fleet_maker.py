"""How this window's fleets are made: which runner, on which devices, with which files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from podium.jobs import PipelineKind
from podium.models.paths import ModelPaths
from podium.ui.baton import Controller
from podium.ui.state.values import FleetSpec

if TYPE_CHECKING:
    # The border to the fleet.
    from podium.multigpu.device_locks import DeviceLocks

RUNNERS: Mapping[PipelineKind, str] = MappingProxyType(
    {
        PipelineKind.FAST: "podium.multigpu.runners.distilled_mgpu:DistilledRunner",
        PipelineKind.QUALITY: "podium.multigpu.runners.ti2vid_two_stages_mgpu:TI2VidTwoStagesRunner",
        PipelineKind.HQ: "podium.multigpu.runners.ti2vid_two_stages_hq_mgpu:TI2VidTwoStagesHQRunner",
    }
)
"""The runner of each pipeline; only ranks import it."""


@dataclass(slots=True)
class RunnerFleetMaker:
    """Makes fleets, each of the runner of its pipeline, and takes their GPUs for them. Used in one thread.

    Args:
        preview_folder: Where the first stage's clips go.
        log_folder: Where the ranks' logs go; the user's log folder by default.
        runner: Names one runner for all pipelines.
        lock_folder: Where Podiums tell each other which GPUs they have; the user's own by default.
    """

    preview_folder: Path
    log_folder: Path | None = None
    runner: str | None = None
    lock_folder: Path | None = None
    _locks: DeviceLocks | None = field(default=None, init=False, repr=False)

    def preload(self) -> None:
        """Begin to load what ranks need, and return at once."""
        # The border to the fleet: loading it costs a tenth of a second that the window's start has not.
        from podium.multigpu import preload_forkserver  # noqa: PLC0415

        preload_forkserver()

    def make(self, spec: FleetSpec) -> Controller:
        """Return a controller that is not started.

        Raises:
            PlacementError: This machine has no such devices.
        """
        # The same border.
        from podium.multigpu import MGPUController, RunnerRef  # noqa: PLC0415
        from podium.multigpu.device_locks import DeviceLocks  # noqa: PLC0415
        from podium.ui.held_controller import HeldController  # noqa: PLC0415

        # One for all its fleets: one that comes and one that goes may stand on the same GPUs.
        self._locks = self._locks or DeviceLocks("podium", self.lock_folder)
        choice = spec.choice
        controller = MGPUController(
            RunnerRef(self.runner or RUNNERS[spec.pipeline]),
            devices=choice.devices if choice.cpu_ranks is None else None,
            cpu_ranks=choice.cpu_ranks,
            log_folder=self.log_folder,
        )
        return HeldController(controller, self._locks)

    def setup_kwargs(self, spec: FleetSpec) -> dict[str, object]:
        """Return what each rank is set up with."""
        self.preview_folder.mkdir(parents=True, exist_ok=True)
        return setup_kwargs(spec, self.preview_folder)


def setup_kwargs(spec: FleetSpec, preview_folder: Path) -> dict[str, object]:
    """Return what a runner's `setup` takes: the files that the model has, and how they are held."""
    paths = {field.name: getattr(spec.models, field.name) for field in fields(ModelPaths)}
    return {name: path for name, path in paths.items() if path is not None} | {
        "dtype": spec.dtype,
        "quantization": spec.quantization.value,
        "max_tokens": spec.max_tokens,
        "preview_folder": preview_folder,
    }
