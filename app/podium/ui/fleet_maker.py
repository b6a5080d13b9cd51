"""How this window's fleets are made: which runner, on which devices, with which files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from podium.ui.baton import Controller
from podium.ui.state.values import FleetSpec

DISTILLED_RUNNER = "podium.multigpu.runners.distilled_mgpu:DistilledRunner"


@dataclass(frozen=True, slots=True)
class RunnerFleetMaker:
    """Makes fleets of one runner.

    Args:
        preview_folder: Where the first stage's clips go.
        log_folder: Where the ranks' logs go; the user's log folder by default.
        runner: Names the runner, which only the ranks import.
    """

    preview_folder: Path
    log_folder: Path | None = None
    runner: str = DISTILLED_RUNNER

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

        choice = spec.choice
        return MGPUController(
            RunnerRef(self.runner),
            devices=choice.devices if choice.cpu_ranks is None else None,
            cpu_ranks=choice.cpu_ranks,
            log_folder=self.log_folder,
        )

    def setup_kwargs(self, spec: FleetSpec) -> dict[str, object]:
        """Return what each rank is set up with."""
        self.preview_folder.mkdir(parents=True, exist_ok=True)
        return {
            "checkpoint_path": spec.models.checkpoint_path,
            "gemma_root": spec.models.gemma_root,
            "spatial_upsampler_path": spec.models.spatial_upsampler_path,
            "dtype": spec.dtype,
            "quantization": "none",
            "max_tokens": spec.max_tokens,
            "preview_folder": self.preview_folder,
        }
