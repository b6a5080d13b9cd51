"""Forwards of the transformer on several GPUs: the part `forwards` of `tests.gpu.two_gpus`.

Every rank alone, with its tokens spread over all ranks, and steps of four passes one after another and dealt to teams;
then diffusers' class on the first rank. All of it compiled block by block. No pass is perturbed: those have less to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import torch
import torch.distributed as dist

from podium.geometry import ClipFormat
from podium.jobs import GuidanceMode
from podium.models.transformer.inputs import StreamInput
from podium.models.transformer.replay import ForwardReplays, GraphCapture
from podium.multigpu import MGPURunner
from podium.multigpu.attention import AttentionManager
from podium.multigpu.guidance_parallel import GuidanceParallel, transformer_size
from podium.multigpu.sp_builder import SequenceParallelTransformer
from podium.multigpu.transformer_spread import make_replays
from podium.pipelines.guidance import CONDITIONED, Pass
from podium.pipelines.samplers import Denoised

from tests.gpu.bench import Bench, tell_all
from tests.gpu.collective_share import collective_figures
from tests.gpu.figures import Figure, tell
from tests.gpu.random_model import (
    DTYPE,
    Scale,
    compile_blocks,
    forward_call,
    median_ms,
    random_builder,
    random_inputs,
    relative,
    scale_of,
    timed_s,
    tokens,
)

RUNNER = "tests.gpu.measure_forwards:ForwardRunner"
T = TypeVar("T")
NUM_PASSES = 4
# Of the best peer on one H200, and of the reference implementation on two, by video tokens. Source: as seen there.
ALLOWED_OF_PEER = {6144: 0.88, 24576: 0.95}
ALLOWED_ON_TWO_MS = {6144: 0.95 * 220, 24576: 0.95 * 1080}
# bf16 through all blocks, in another order of sums.
ALLOWED_ERROR = 5e-2


@dataclass(frozen=True, slots=True)
class RandomPasses:
    """Passes over one state, of which none is perturbed."""

    transformer: SequenceParallelTransformer
    video: StreamInput
    audio: StreamInput

    @property
    def like(self) -> Denoised:
        return Denoised(self.video.latent.float(), self.audio.latent.float())

    def is_cold(self, passes: Sequence[Pass]) -> bool:
        del passes
        return False

    def __call__(self, passes: Sequence[Pass]) -> list[Denoised]:
        assert len(passes) == 1, "these run one at a time"
        video_v, audio_v = self.transformer(self.video, self.audio)
        assert video_v is not None
        assert audio_v is not None
        return [Denoised(video_v.float(), audio_v.float())]


class ForwardRunner(MGPURunner):
    """Holds a random transformer, and measures it."""

    def setup(self, *, is_small: bool, folder: Path) -> None:
        self._scale = scale = scale_of(is_small=is_small)
        self._is_small = is_small
        self._model = random_builder(scale, folder / f"rank-{self.rank}").build(self.device, DTYPE)
        compile_blocks(self._model, scale.backend)
        groups, config = self.groups, scale.config
        self._manager = AttentionManager(
            100_000, config.video.num_heads, config.video.head_dim, DTYPE, groups.transformer_group
        )
        self._alone = self._manager.for_team(None)
        replays = make_replays(groups, self.device)
        self._kept: list[ForwardReplays] = [] if replays is None else [replays]
        self._transformer = SequenceParallelTransformer(self._model, self._manager, replays)
        self._guidance = GuidanceParallel(self._manager, groups, transformer_size(config, DTYPE))
        self._guidance.open_teams()

    def __call__(self, *, part: str) -> Iterator[Figure]:
        for figure in self._measured() if part == "forwards" else self._launched_and_replayed():
            if self.rank == 0:
                yield figure

    def close(self) -> None:
        for replays in self._kept:
            replays.clear()

    def _replaying(self) -> ForwardReplays | None:
        # On the CPU there is nothing to record, and the figures are those of forwards as they are.
        if self.device.type == "cpu":
            return None
        self._kept.append(ForwardReplays(GraphCapture(), most_tokens=100_000))
        return self._kept[-1]

    @torch.inference_mode()
    def _launched_and_replayed(self) -> Iterator[Figure]:
        scale, num_ranks = self._scale, self.world_size
        for clip in self._scale.clips:
            title = f"{tokens(clip)}, spread over {num_ranks} ranks"
            launched = SequenceParallelTransformer(self._model, self._manager)
            call = forward_call(scale, launched, self._model, clip)
            (wanted, _), first_s = timed_s(call, self.device)
            yield Figure(f"{title}: the first forward, compiling", first_s, "s")
            launched_ms = median_ms(call, self.device, num_warm=4)
            yield Figure(f"{title}: a forward, launched by the host", launched_ms, "ms")
            replays = self._replaying()
            call = forward_call(
                scale, SequenceParallelTransformer(self._model, self._manager, replays), self._model, clip
            )
            call()
            yield Figure(f"{title}: recording", timed_s(call, self.device)[1], "s")
            yield Figure(f"{title}: a forward, replayed", median_ms(call, self.device, num_warm=4), "ms")
            yield Figure(f"{title}: a replay is from a forward", relative(call()[0], wanted), limit=ALLOWED_ERROR)
            yield from collective_figures(call, self.device, f"{title}, replayed")
        yield from self._ahead(scale.clip)

    def _ahead(self, clip: ClipFormat) -> Iterator[Figure]:
        video, title = self._scale.config.video, f"{tokens(clip)}, values sent ahead"
        manager = AttentionManager(
            100_000,
            video.num_heads,
            video.head_dim,
            DTYPE,
            self.groups.transformer_group,
            sends_values_ahead=True,
        )
        compile_blocks(self._model, self._scale.backend, keeps_order=True)
        for how, replays in (("launched by the host", None), ("replayed", self._replaying())):
            transformer = SequenceParallelTransformer(self._model, manager, replays)
            call = forward_call(self._scale, transformer, self._model, clip)
            call()
            yield Figure(f"{title}: a forward, {how}", median_ms(call, self.device, num_warm=4), "ms")
            yield from collective_figures(call, self.device, f"{title}, {how}")

    @torch.inference_mode()
    def _measured(self) -> Iterator[Figure]:
        alone_ms: dict[ClipFormat, float] = {}
        for clip in self._scale.clips:
            yield from self._of_clip(clip, alone_ms)
        if self.device.type == "cuda":
            yield Figure("peak memory of ours", torch.cuda.max_memory_allocated() / 1e9, "GB")
        yield from self._peer(alone_ms)

    def _of_clip(self, clip: ClipFormat, alone_ms: dict[ClipFormat, float]) -> Iterator[Figure]:
        num_ranks, title = self.world_size, tokens(clip)
        call = forward_call(self._scale, self._transformer, self._model, clip)
        spread = f"{title}, spread over {num_ranks} ranks"
        (ours, _), first_s = timed_s(call, self.device)
        yield Figure(f"{spread}: the first forward, compiling", first_s, "s")
        spread_ms = median_ms(call, self.device)
        yield Figure(f"{spread}: a forward", spread_ms, "ms", self._allowed(ALLOWED_ON_TWO_MS, clip, num_ranks == 2))
        yield from collective_figures(call, self.device, spread)
        (theirs, _), first_s = timed_s(lambda: self._run_alone(call), self.device)
        yield Figure(f"{title}, one rank: the first forward, compiling", first_s, "s")
        yield Figure(f"{spread}: from one rank's forward", relative(ours, theirs), limit=ALLOWED_ERROR)
        alone_ms[clip] = median_ms(lambda: self._run_alone(call), self.device)
        yield Figure(f"{title}, one rank: a forward, all ranks at once", alone_ms[clip], "ms")
        yield Figure(f"{spread}: times as fast as one", alone_ms[clip] / spread_ms)
        yield from self._guided(clip, alone_ms[clip])

    def _run_alone(self, call: Callable[[], T]) -> T:
        with self._manager.replaced_by(self._alone):
            return call()

    def _guided(self, clip: ClipFormat, alone_ms: float) -> Iterator[Figure]:
        passes, began = (CONDITIONED,) * NUM_PASSES, f"{tokens(clip)}, {NUM_PASSES} passes on {self.world_size} ranks"
        forward = RandomPasses(self._transformer, *random_inputs(self._scale, self._transformer, self._model, clip))
        for mode in (GuidanceMode.MESH, GuidanceMode.SEQUENTIAL):
            self._guidance.mode = mode
            self._guidance.begin_job()
            took_ms = median_ms(lambda: self._guidance(forward, passes), self.device, num_runs=2, num_warm=1)
            title = f"{began}, {self._guidance.chosen[str(NUM_PASSES)]}"
            yield Figure(f"{title}: a step", took_ms, "ms")
            yield Figure(f"{title}: times as fast as one rank", NUM_PASSES * alone_ms / took_ms)

    def _peer(self, alone_ms: dict[ClipFormat, float]) -> Iterator[Figure]:
        if self.rank == 0:
            yield from peer_figures(self._scale, self.device, alone_ms, self._allowed)
        dist.barrier(self.groups.control_group)

    def _allowed(self, limits: dict[int, float], clip: ClipFormat, is_promised: bool = True) -> float | None:  # noqa: FBT002
        return limits.get(clip.latent_grid.num_tokens) if is_promised and not self._is_small else None


def peer_figures(
    scale: Scale,
    device: torch.device,
    alone_ms: dict[ClipFormat, float],
    allowed: Callable[[dict[int, float], ClipFormat], float | None],
) -> Iterator[Figure]:
    """Measure diffusers' class; the module is imported late, for everything else does without."""
    from tests.gpu.diffusers_peer import peer_call, random_peer

    peer = random_peer(scale, device)
    compile_blocks(peer, scale.backend)
    for clip, ours_ms in reversed(alone_ms.items()):
        call = peer_call(scale, peer, clip)
        yield Figure(f"{tokens(clip)}, diffusers: the first forward, compiling", timed_s(call, device)[1], "s")
        peer_ms = median_ms(call, device)
        yield Figure(f"{tokens(clip)}, diffusers, one rank: a forward", peer_ms, "ms")
        yield Figure(
            f"{tokens(clip)}, ours on one rank: of diffusers'", ours_ms / peer_ms, limit=allowed(ALLOWED_OF_PEER, clip)
        )


def forwards(bench: Bench) -> None:
    """Measure and tell."""
    _measure(bench, "forwards")


def replays(bench: Bench) -> None:
    """Compare forwards that the host launches with recorded ones, whatever their size, and with values sent ahead."""
    _measure(bench, "replays")


def _measure(bench: Bench, part: str) -> None:
    with bench.fleet(RUNNER, folder=bench.folder) as fleet:
        tell(Figure("links", " ".join(fleet.links.sentences()) or "none"))
        tell_all(fleet.stream(part=part))
