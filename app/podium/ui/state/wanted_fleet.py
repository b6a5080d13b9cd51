"""The fleet that the form asks for, and why there is none where there is none."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject

from podium.ui.state.compose import ComposeState
from podium.ui.state.devices import DevicesState
from podium.ui.state.pack import PackState
from podium.ui.state.values import FleetSpec

# 20 s at 24 fps and 1920 x 1088: no usual clip after the first makes the fleet start anew.
MIN_MAX_TOKENS = 61 * 34 * 60


class WantedFleet(QObject):
    """Says what fleet the form asks for.

    Args:
        pack: The model.
        devices: Where it shall stand.
        compose: What it shall make.
    """

    def __init__(
        self, pack: PackState, devices: DevicesState, compose: ComposeState, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._pack = pack
        self._devices = devices
        self._compose = compose

    @property
    def spec(self) -> FleetSpec | None:
        """Return the fleet; None while its model or devices are not known."""
        models, choice = self._pack.models, self._devices.choice
        if models is None or choice is None:
            return None
        if not self._compose.pipeline.is_guided:
            # Or a fleet would be another one for a file that it does not read.
            models = replace(models, distilled_lora_path=None)
        uuids = {row.index: row.uuid for row in self._devices.devices}
        return FleetSpec(
            models,
            replace(choice, uuids=tuple(uuids[index] for index in choice.devices)),
            self._devices.dtype,
            max(MIN_MAX_TOKENS, self._num_tokens()),
            self._compose.pipeline,
            self._pack.quantization,
        )

    @property
    def problem(self) -> str:
        """Return a sentence on what has to be chosen otherwise; empty if nothing has."""
        pipeline_problem = self._pack.pipeline_problem(self._compose.pipeline)
        return self._pack.problem or pipeline_problem or self._devices.problem

    @property
    def waiting(self) -> str:
        """Return a sentence on what is not known yet, and needs no choice; empty if all is known."""
        if self._pack.models is None:
            return self.tr("The model's files are being looked at.")
        if self._devices.choice is None:
            return self.tr("The devices are being looked for.")
        return ""

    def spec_or_problem(self) -> FleetSpec | str:
        """Return the fleet, or a sentence on why there is none."""
        problem, spec = self.problem or self.waiting, self.spec
        return problem if problem or spec is None else spec

    def _num_tokens(self) -> int:
        grid = self._compose.clip.latent_grid
        return (grid.frames + self._compose.num_frames_behind) * grid.height * grid.width
