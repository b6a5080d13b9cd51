"""What recorded forwards keep on a GPU (see `podium.models.transformer.replay`): arithmetic from sizes. No torch.

All recordings compute in the same memory, which stays taken from the first of them on, in all phases, until a job of
another size lets go of them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from podium.geometry import LatentGrid
from podium.jobs import Phase
from podium.models.transformer.replay_limits import MOST_RECORDED_TOKENS, records_exchanges
from podium.multigpu.memory_activations import MAX_PROMPT_TOKENS, PlannedJob, hidden_bytes, rope_bytes, share_of
from podium.multigpu.memory_parts import ModelMemory

_LATENT_CHANNELS = 128
# Of a context, in widths of the video stream: the audio stream is half as wide.
_CONTEXT_WIDTHS = 1.5
# With and without a prompt the same is recorded; what guidance perturbs, and streams that it isolates, are others.
_KINDS_OF_A_GUIDED_STEP = 3


@dataclass(frozen=True, slots=True)
class Recordings:
    """What a rank's recordings of a job keep.

    Args:
        pools: By stage whose forwards are recorded, what they compute in.
        inputs: By the same, what its recordings read: latents, tables and contexts in places of their own.
    """

    pools: Mapping[Phase, int]
    inputs: Mapping[Phase, int]

    @classmethod
    def of(cls, model: ModelMemory, job: PlannedJob) -> Recordings:
        """Return what a job's stages keep; nothing where their forwards are not recorded."""
        if job.num_ranks > 1 and not records_exchanges(os.environ):
            return NO_RECORDINGS
        pools, inputs = {}, {}
        for phase, grid, num_batched in stages_of(model, job):
            share = share_of(job, grid)
            if num_batched * share > MOST_RECORDED_TOKENS:
                continue
            pools[phase] = hidden_bytes(model, job, grid, num_batched=num_batched)
            is_guided = phase is Phase.STAGE_1 and job.pipeline.is_guided
            num_kinds = _KINDS_OF_A_GUIDED_STEP if is_guided and num_batched == 1 else 1
            inputs[phase] = num_kinds * _input_bytes(model, share, num_batched)
        return cls(MappingProxyType(pools), MappingProxyType(inputs))

    @property
    def pool_bytes(self) -> int:
        """Return what all recordings compute in."""
        return max(self.pools.values(), default=0)

    @property
    def input_bytes(self) -> int:
        """Return what all recordings read."""
        return sum(self.inputs.values())

    def beside(self, phase: Phase, own_bytes: int) -> int:
        """Return what a phase takes beside the recordings.

        Args:
            phase: The phase.
            own_bytes: What it takes where nothing is recorded.
        """
        if phase not in self.pools:
            return own_bytes
        # The first forward runs as it is written, beside what an earlier stage has recorded by then; what it took is
        # given back when the second one is recorded. From then on only what lies around a forward is its own.
        before = self.pools.get(Phase.STAGE_1, 0) if phase is Phase.STAGE_2 else 0
        return max(own_bytes - self.pools[phase], own_bytes + before - self.pool_bytes)


NO_RECORDINGS = Recordings(MappingProxyType({}), MappingProxyType({}))
"""Of ranks that record nothing."""


def stages_of(model: ModelMemory, job: PlannedJob) -> tuple[tuple[Phase, LatentGrid, int], ...]:
    """Return the stages of a job: the phase, its latent grid, and the forwards that run as one batch."""
    draft = job.clip.reduced(model.spatial_scale).latent_grid
    return (Phase.STAGE_1, draft, job.num_batched), (Phase.STAGE_2, job.clip.latent_grid, 1)


def _input_bytes(model: ModelMemory, num_tokens: int, num_batched: int) -> int:
    latents = num_batched * num_tokens * _LATENT_CHANNELS * model.item_bytes
    contexts = num_batched * MAX_PROMPT_TOKENS * round(_CONTEXT_WIDTHS * model.video_dim) * model.item_bytes
    return latents + contexts + rope_bytes(model, num_tokens)
