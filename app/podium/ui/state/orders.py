"""What the owner of a fleet is asked to have done: clips, and smaller things about a prompt."""

from __future__ import annotations

from dataclasses import dataclass, field

from podium.jobs import DurationRequest, EnhanceRequest, GenerationRequest
from podium.models.paths import ModelPaths
from podium.models.residency import ResidencyPlan
from podium.ui.state.values import FleetSpec


@dataclass(frozen=True, slots=True)
class JobOrder:
    """A checked job on its way to the fleet.

    Args:
        key: Names it for as long as the window is open; 1 or more.
        parameters: What goes into the clip's tag.
        residency: Where the parts of the model live from this clip on; None leaves them where they are.
    """

    key: int
    spec: FleetSpec
    request: GenerationRequest
    parameters: dict[str, object] = field(repr=False, default_factory=dict)
    residency: ResidencyPlan | None = None

    @property
    def setup(self) -> dict[str, object]:
        """Return what a fleet is set up with that is started for it, beside what its fleet says."""
        return {} if self.residency is None else {"residency": self.residency}

    @property
    def arguments(self) -> dict[str, object]:
        """Return what the ranks' runner is called with."""
        return {"request": self.request, "parameters": self.parameters, **self.setup}

    def is_served_by(self, fleet: FleetSpec) -> bool:
        """Return whether a fleet started so can make it."""
        return fleet.serves(self.spec)


@dataclass(frozen=True, slots=True)
class PromptOrder:
    """A prompt on its way to the fleet: it shall be written out, or its clip's length be told.

    Args:
        key: Names it for as long as the window is open; -1 or less, which no clip has.
        spec: The fleet to start where none is up that can do it.
    """

    key: int
    spec: FleetSpec
    request: EnhanceRequest | DurationRequest

    @property
    def setup(self) -> dict[str, object]:
        """Return what a fleet is set up with that is started for it, beside what its fleet says: nothing."""
        return {}

    @property
    def arguments(self) -> dict[str, object]:
        """Return what the ranks' runner is called with."""
        return {"enhance" if isinstance(self.request, EnhanceRequest) else "duration": self.request}

    def is_served_by(self, fleet: FleetSpec) -> bool:
        """Return whether a fleet started so can do it: whatever else it makes, it has the networks for it."""
        if isinstance(self.request, EnhanceRequest):
            return fleet.models.gemma_root == self.spec.models.gemma_root
        return _length_files(fleet.models) == _length_files(self.spec.models)


FleetOrder = JobOrder | PromptOrder


def _length_files(models: ModelPaths) -> tuple[object, ...]:
    return models.gemma_root, models.checkpoint_path, models.duration_path
