"""The upsampler: a stage-1 latent to the size of stage 2."""

from __future__ import annotations

from collections.abc import Generator

import torch
from torch import Tensor

from podium.jobs import Phase
from podium.models.latent_statistics import LatentStatistics
from podium.models.upsampler import LatentUpsampler, upsample
from podium.pipelines.blocks.placement import Placement
from podium.pipelines.blocks.slots import BuilderSlot
from podium.pipelines.events import PhaseBegan, PhaseOver, PipelineEvent, Trace


class Upsampler:
    """Enlarges the latent between the stages.

    Args:
        upsampler_builder: The network's slot.
        statistics_builder: The slot of the video VAE's latent statistics.
        placement: Where it runs.
    """

    def __init__(
        self,
        upsampler_builder: BuilderSlot[LatentUpsampler],
        statistics_builder: BuilderSlot[LatentStatistics],
        placement: Placement,
    ) -> None:
        self.upsampler_builder = upsampler_builder
        self.statistics_builder = statistics_builder
        self.placement = placement

    def stream(self, latent_BCFHW: Tensor, trace: Trace | None = None) -> Generator[PipelineEvent, None, Tensor]:
        """Enlarge a normalised latent [1, 128, F, H, W].

        Yields:
            The phase's begin and end.

        Returns:
            The larger latent, normalised, float32.
        """
        yield PhaseBegan(Phase.UPSAMPLING)
        result = self._upsample(latent_BCFHW)
        if trace is not None:
            trace("upsampled", result)
        yield PhaseOver(Phase.UPSAMPLING)
        return result

    @torch.inference_mode()
    def _upsample(self, latent_BCFHW: Tensor) -> Tensor:
        device, dtype = self.placement.device, self.placement.dtype
        network = self.upsampler_builder.build(device, dtype)
        statistics = self.statistics_builder.build(device, dtype)
        return upsample(latent_BCFHW.to(device, dtype), statistics, network).float()
