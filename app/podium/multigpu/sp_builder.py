"""Sequence parallelism for the transformer: the module of one GPU, its tokens spread over the ranks."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Self, overload

import torch
from torch import Tensor

from podium.jobs import LoraSpec
from podium.models.builder import BuiltModel, SingleGPUModelBuilder
from podium.models.registry import Registry
from podium.models.transformer.attention import AttentionKernel, dense_attention
from podium.models.transformer.inputs import Perturbations, StreamInput, Timesteps
from podium.models.transformer.model import AVTransformer, Ropes
from podium.models.transformer.replay import ForwardReplays
from podium.models.weight_reader import OnProgress
from podium.multigpu.attention import AttentionManager
from podium.multigpu.sequence_layout import TokenLayout
from podium.multigpu.weight_tracker import TransformerWeightTracker


class SequenceParallelTransformer:
    """A transformer that takes and gives all tokens on every rank, and works on this rank's share.

    Ranks: every rank of the manager's group, or of the team that stands in for it. Collectives of a forward: for each
    block two all-to-alls (three where values go ahead) and one all-gather, less where a pass perturbs it; then one
    all-gather of the video's velocity and one broadcast of the audio's.

    Args:
        inner: The module of one GPU; its attention slots are filled while a forward runs.
        attn_mgr: Exchanges between the ranks.
        replays: Records forwards; None where they cannot be.
    """

    def __init__(self, inner: AVTransformer, attn_mgr: AttentionManager, replays: ForwardReplays | None = None) -> None:
        self._inner = inner
        self._attn_mgr = attn_mgr
        self._replays = replays
        self._positions: Tensor | None = None
        self._ropes_of_team: dict[AttentionManager, Ropes] = {}

    def video_ropes(self, positions: Tensor) -> Ropes:
        """Return the tables of this rank's share of video positions [1, 3, T, 2], for the forwards that follow."""
        self._positions = positions
        self._ropes_of_team.clear()
        return self._share_ropes(self._attn_mgr, positions)

    def audio_ropes(self, positions: Tensor) -> Ropes:
        """Return the tables of audio positions [1, 1, T, 2], which every rank holds whole."""
        return self._inner.audio_ropes(positions)

    def is_cold(self, video: StreamInput, audio: StreamInput, perturbations: Perturbations | None = None) -> bool:
        """Say whether a forward of these inputs would compile first; alike on all ranks, whose shares are alike."""
        layout = self._attn_mgr.active.begin(video.latent.shape[1])
        return self._inner.is_cold(_share_stream(video, layout), audio, perturbations)

    def __call__(
        self, video: StreamInput | None, audio: StreamInput | None, perturbations: Perturbations | None = None
    ) -> tuple[Tensor | None, Tensor | None]:
        """Return the velocities of all tokens, alike on all ranks."""
        manager = self._attn_mgr.active
        perturbations = perturbations or Perturbations()
        if video is not None:
            layout = manager.begin(video.latent.shape[1])
            video = _share_stream(self._with_own_ropes(video, manager), layout)
        replays = self._replays if manager.can_be_recorded else None
        if replays is None or video is None or audio is None or not replays.takes(video, audio, perturbations):
            return self._forward(video, audio, perturbations)
        # Nobody needs the weights of a module that is gone, nor what was recorded of it.
        key = (weakref.ref(self._inner), manager, manager.layout, perturbations)
        return replays.run(key, partial(self._forward, perturbations=perturbations), (video, audio))

    @overload
    def _forward(
        self, video: StreamInput, audio: StreamInput, perturbations: Perturbations
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def _forward(
        self, video: StreamInput | None, audio: StreamInput | None, perturbations: Perturbations
    ) -> tuple[Tensor | None, Tensor | None]: ...
    def _forward(
        self, video: StreamInput | None, audio: StreamInput | None, perturbations: Perturbations
    ) -> tuple[Tensor | None, Tensor | None]:
        # What is recorded: all that this rank's device does, from its share of the tokens to all ranks' velocities.
        manager = self._attn_mgr.active
        with self._kernels(manager):
            video_v, audio_v = self._inner(video, audio, perturbations)
        if video_v is not None:
            video_v = manager.gather_tokens(video_v)
        if audio_v is not None:
            audio_v = manager.broadcast_replicated(audio_v)
        return video_v, audio_v

    def _share_ropes(self, manager: AttentionManager, positions: Tensor) -> Ropes:
        layout = manager.begin(positions.shape[2])
        return self._inner.video_ropes(_share(positions, layout, dim=2))

    def _with_own_ropes(self, video: StreamInput, manager: AttentionManager) -> StreamInput:
        # The input's tables are of the whole group's shares; a team has larger ones.
        if manager is self._attn_mgr:
            return video
        assert self._positions is not None, "positions come before tokens"
        if manager not in self._ropes_of_team:
            self._ropes_of_team[manager] = self._share_ropes(manager, self._positions)
        ropes = self._ropes_of_team[manager]
        return replace(video, rope=ropes.own, cross_rope=ropes.cross)

    @contextmanager
    def _kernels(self, manager: AttentionManager) -> Iterator[None]:
        # Other builders share the module, so the slots are given back after each forward.
        self._fill_slots(manager.spread_kernel, manager.to_spread_kernel, manager.value_sender)
        try:
            yield
        finally:
            self._fill_slots(dense_attention, dense_attention, None)

    def _fill_slots(
        self, own: AttentionKernel, to_audio: AttentionKernel, value_sender: Callable[[Tensor], Tensor] | None
    ) -> None:
        for block in self._inner.transformer_blocks:
            block.attn1.kernel = own  # type: ignore[union-attr] # a block's attention, not a tensor
            block.attn1.send_values = value_sender  # type: ignore[union-attr]
            block.video_to_audio_attn.kernel = to_audio  # type: ignore[union-attr]


@dataclass(frozen=True, slots=True)
class SequenceParallelBuilder:
    """Builds the transformer of `inner` with its tokens spread over the ranks of `attn_mgr`.

    Ranks: every rank of the group.

    Args:
        inner: The stage's own builder: checkpoint, quantisation, LoRAs.
        attn_mgr: Exchanges between the ranks.
        registry: This process's loaded weights.
        tracker: Owns the working copy; shared by the stages of one checkpoint.
        is_compiled: Have the blocks compiled at the first forward of each shape.
        replays: Records forwards; None where they cannot be.
    """

    inner: SingleGPUModelBuilder[AVTransformer]
    attn_mgr: AttentionManager = field(repr=False)
    registry: Registry = field(repr=False)
    tracker: TransformerWeightTracker = field(repr=False)
    is_compiled: bool = False
    replays: ForwardReplays | None = field(default=None, repr=False)

    @property
    def loras(self) -> tuple[LoraSpec, ...]:
        """Return the LoRA set that `build` fuses."""
        return self.inner.loras

    def with_loras(self, loras: tuple[LoraSpec, ...]) -> Self:
        """Return a builder that fuses another LoRA set."""
        return replace(self, inner=self.inner.with_loras(loras))

    def build(
        self, device: torch.device, dtype: torch.dtype, *, on_progress: OnProgress | None = None
    ) -> SequenceParallelTransformer:
        """Return the transformer; see `build_with_report`."""
        return self.build_with_report(device, dtype, on_progress=on_progress).module

    def build_with_report(
        self, device: torch.device, dtype: torch.dtype, *, on_progress: OnProgress | None = None
    ) -> BuiltModel[SequenceParallelTransformer]:
        """Return the transformer with its LoRA set fused on every rank, and what each LoRA did.

        Ranks: every rank of the group. Collectives: the tracker's.

        Raises:
            CheckpointError: Alike on all ranks; the weights are as they were.
        """
        built = self.tracker.build(self.inner, self.registry, (device, dtype), on_progress=on_progress)
        if self.is_compiled:
            # Values that go ahead would be waited for at once in an order chosen for memory.
            built.module.compile_blocks(keeps_order=self.attn_mgr.sends_values_ahead)
        spread = SequenceParallelTransformer(built.module, self.attn_mgr, self.replays)
        return BuiltModel(spread, built.lora_reports)


def _share_stream(stream: StreamInput, layout: TokenLayout) -> StreamInput:
    # Ropes were made for the share already; masks between tokens stay whole: each rank attends between all tokens, and
    # all heads are masked alike.
    index = stream.timesteps.index
    keyframes = stream.keyframes_mask
    return replace(
        stream,
        latent=_share(stream.latent, layout, dim=1),
        timesteps=Timesteps(stream.timesteps.values, None if index is None else _share(index, layout, dim=0)),
        keyframes_mask=None if keyframes is None else _share(keyframes, layout, dim=1),
    )


def _share(x: Tensor, layout: TokenLayout, *, dim: int) -> Tensor:
    # This rank's tokens along `dim`, filled up with zeros.
    own = x.narrow(dim, min(layout.start, x.shape[dim]), layout.num_own)
    missing = layout.share - layout.num_own
    if missing == 0:
        return own
    shape = list(own.shape)
    shape[dim] = missing
    return torch.cat((own, own.new_zeros(shape)), dim=dim)
