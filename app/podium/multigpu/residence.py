"""Where a fleet's runner keeps the parts of its model: it follows residency plans, at the start and from job to job.

The rule a caller must know: all ranks follow the same plan at the same point, where no network of the parts is alive.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from podium.models.residency import Place, ResidencyPlan
from podium.models.weight_reader import OnProgress
from podium.multigpu.gemma_builders import AccelerateGemmaBuilder
from podium.multigpu.waiting import ResidentBuilder
from podium.multigpu.weight_tracker import TransformerWeightTracker
from podium.pipelines.blocks.placement import Placement
from podium.pipelines.blocks.slots import Preloads

logger = logging.getLogger(__name__)


class Residence:
    """Keeps the parts of a model where a plan says.

    Ranks: every rank.

    Args:
        text_encoder: Its builder, which is in the pipeline's slot.
        decoders: The builders of the networks that live where the plan's `decoders` do, by name.
        tracker: Has the clean copy.
        placement: Where networks run.
    """

    def __init__(
        self,
        text_encoder: AccelerateGemmaBuilder,
        decoders: Mapping[str, ResidentBuilder[Any]],
        tracker: TransformerWeightTracker,
        placement: Placement,
    ) -> None:
        self._text_encoder = text_encoder
        self._decoders = decoders
        self._tracker = tracker
        self._placement = placement
        self._plan = ResidencyPlan()

    @property
    def plan(self) -> ResidencyPlan:
        """Return the plan that is followed."""
        return self._plan

    def follow(self, plan: ResidencyPlan) -> None:
        """Follow a plan from now on: what has been read goes to its place, or is read again when it is needed.

        Ranks: every rank, with the same plan; local.
        """
        if plan == self._plan:
            return
        # First what leaves the device, so that there is room for what comes.
        self._text_encoder.move(plan.text_encoder, self._placement.device)
        for decoder in self._decoders.values():
            decoder.move(plan.decoders)
        self._tracker.move_clean(is_on_host=plan.clean is Place.HOST)
        self._plan = plan
        logger.info("Residency: %s.", plan.describe())

    def preload(self, on_progress: OnProgress | None) -> None:
        """Read what is not there yet, to where it lives.

        Ranks: every rank. Collectives: the text encoder's, and `on_progress` equally often on all.

        Raises:
            CheckpointError: A file cannot be read.
        """
        parts: tuple[Preloads, ...] = (self._text_encoder, *self._decoders.values())
        for part in parts:
            part.preload(self._placement.device, self._placement.dtype, on_progress=on_progress)


__all__ = ["Residence"]
