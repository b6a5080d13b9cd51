"""Runners for the fault matrix: the shipped one, and one that only keeps step. Faults strike them from outside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from podium.jobs import Phase
from podium.multigpu import MGPURunner
from podium.multigpu.runners.distilled_mgpu import DistilledRunner
from podium.pipelines.blocks.slots import BuilderSlot, FrameDecoder

from tests.fakes.fault_hooks import HERE
from tests.fakes.faults import Site


class SteppingRunner(MGPURunner):
    """Adds its rank to a tensor in steps, and yields from every rank."""

    def setup(self) -> None:
        HERE.reach(Site.SETUP)

    def __call__(self, *, tensor: Tensor, num_steps: int = 4) -> Iterator[float]:
        for step in range(1, num_steps + 1):
            self.job.checkpoint(Phase.STAGE_2, step, num_steps)
            torch.distributed.all_reduce(tensor, group=self.groups.transformer_group)
            yield float(tensor.sum())


class FaultyDistilledRunner(DistilledRunner):
    """The shipped runner, whose decoder is a site."""

    def setup(self, **kwargs: Any) -> None:
        super().setup(**kwargs)
        decoder: Any = self._pipeline.video_decoder
        decoder.decoder_builder = StruckDecoderBuilder(decoder.decoder_builder)


@dataclass(frozen=True)
class StruckDecoderBuilder:
    """Builds a decoder that comes to its site when it decodes."""

    inner: BuilderSlot[FrameDecoder]

    def build(self, device: torch.device, dtype: torch.dtype, **kwargs: Any) -> FrameDecoder:
        return StruckDecoder(self.inner.build(device, dtype, **kwargs))


@dataclass(frozen=True)
class StruckDecoder:
    inner: FrameDecoder

    def decode(self, latent_BCFHW: Tensor) -> Tensor:
        HERE.reach(Site.DECODE)
        return self.inner.decode(latent_BCFHW)
