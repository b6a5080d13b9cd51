"""What recorded forwards keep on a GPU, in the phases of their own and in all others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from podium.geometry import ClipFormat
from podium.jobs import Phase, PipelineKind, Quantization
from podium.models.pack import DecoderKind
from podium.models.residency import ModelPart
from podium.models.transformer.inputs import RotaryTables, StreamInput, Timesteps
from podium.models.transformer.replay import ForwardReplays
from podium.models.transformer.replay_limits import MOST_RECORDED_TOKENS, RECORDS_EXCHANGES
from podium.multigpu.memory_activations import PlannedJob, forward_bytes, hidden_bytes, rope_bytes, share_of
from podium.multigpu.memory_parts import ModelMemory
from podium.multigpu.memory_plan import MemoryPlan, Room, plan_memory
from podium.multigpu.memory_recordings import NO_RECORDINGS, Recordings

from tests.fakes.live_memory import LiveMemory

FPS = Fraction(24)
# 24,576 tokens, and 6,144 of the first stage.
CLIP = ClipFormat(1024, 1536, 121, FPS)
DIM = 4096
MODEL = ModelMemory(
    item_bytes=2,
    quantization=Quantization.NONE,
    transformer_bytes={"transformer_blocks.0.attn1.to_q.weight": 32 << 20},
    largest_weight=DIM * 4 * DIM,
    part_bytes=dict.fromkeys(ModelPart, 0),
    text_block_bytes=0,
    text_embedding_bytes=0,
    features_dim=3840 * 49,
    video_dim=DIM,
    upsampler_channels=1024,
    decoder=DecoderKind.CONVOLUTIONAL,
    spatial_scale=2.0,
)


@pytest.fixture(autouse=True, scope="module")
def _several_ranks_record() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(RECORDS_EXCHANGES, "1")
        yield


def plan(job: PlannedJob, *, is_on_cpu: bool = False) -> MemoryPlan:
    return plan_memory(MODEL, job, Room(() if is_on_cpu else (1 << 40,) * job.num_ranks))


def held(made: MemoryPlan, part: ModelPart) -> dict[Phase, int]:
    return {need.phase: need.ranks[0].of(part) for need in made.phases}


def test_stages_whose_shares_are_small_enough_are_recorded() -> None:
    recorded = {n: set(Recordings.of(MODEL, PlannedJob(CLIP, n)).pools) for n in (1, 2, 8)}
    assert recorded == {1: set(), 2: {Phase.STAGE_1}, 8: {Phase.STAGE_1, Phase.STAGE_2}}
    assert Recordings.of(MODEL, PlannedJob(CLIP, 1)) == NO_RECORDINGS


def test_several_ranks_record_only_where_they_are_asked_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(RECORDS_EXCHANGES)
    assert [bool(Recordings.of(MODEL, PlannedJob(CLIP.halved(), n)).pools) for n in (1, 2, 8)] == [True, False, False]


def test_the_limit_is_that_of_what_records() -> None:
    exact = PlannedJob(ClipFormat(256, 512, 249, FPS), 1)
    assert share_of(exact, exact.clip.latent_grid) == MOST_RECORDED_TOKENS
    assert Phase.STAGE_2 in Recordings.of(MODEL, exact).pools
    assert Phase.STAGE_2 not in Recordings.of(MODEL, replace(exact, num_images=2)).pools
    # A fourth of the tokens, and the samples of a batch.
    for num_batched, is_recorded in ((4, True), (5, False)):
        assert (Phase.STAGE_1 in Recordings.of(MODEL, replace(exact, num_batched=num_batched)).pools) == is_recorded


def test_what_is_recorded_stays_taken_in_every_phase() -> None:
    recordings = held(plan(PlannedJob(CLIP, 2)), ModelPart.RECORDINGS)
    assert len(set(recordings.values())) == 1
    assert min(recordings.values()) > hidden_bytes(MODEL, PlannedJob(CLIP, 2), CLIP.halved().latent_grid)


def test_nothing_is_recorded_on_the_cpu() -> None:
    assert set(held(plan(PlannedJob(CLIP, 8), is_on_cpu=True), ModelPart.RECORDINGS).values()) == {0}
    small = PlannedJob(CLIP.halved(), 1)
    on_cpu, on_gpu = (held(plan(small, is_on_cpu=cpu), ModelPart.ACTIVATIONS) for cpu in (True, False))
    assert on_cpu[Phase.STAGE_1] > on_gpu[Phase.STAGE_1]


def test_a_recorded_stage_takes_the_larger_of_its_own_and_the_pool() -> None:
    for num_ranks, clip in ((2, CLIP), (8, CLIP), (1, CLIP.halved())):
        job = PlannedJob(clip, num_ranks)
        recorded = Recordings.of(MODEL, job)
        own = forward_bytes(MODEL, job, clip.halved().latent_grid)
        pool = recorded.pool_bytes
        # What lies around a forward is not in the pool.
        around = own - recorded.pools[Phase.STAGE_1]
        assert pool + recorded.beside(Phase.STAGE_1, own) == max(own, pool + around)


def test_a_stage_that_is_not_recorded_takes_its_own_beside_the_pool() -> None:
    job = PlannedJob(CLIP, 2)
    recorded = Recordings.of(MODEL, job)
    own = forward_bytes(MODEL, job, CLIP.latent_grid)
    assert recorded.pool_bytes > 0
    assert recorded.beside(Phase.STAGE_2, own) == own
    assert recorded.beside(Phase.DECODING, 7) == 7


def test_the_second_stage_s_first_forward_finds_the_first_stage_s_recording_there() -> None:
    job = PlannedJob(CLIP, 8)
    recorded = Recordings.of(MODEL, job)
    own = forward_bytes(MODEL, job, CLIP.latent_grid)
    assert recorded.pool_bytes == recorded.pools[Phase.STAGE_2]
    assert recorded.pool_bytes + recorded.beside(Phase.STAGE_2, own) == own + recorded.pools[Phase.STAGE_1]


def test_a_guided_stage_keeps_the_inputs_of_each_kind_of_forward() -> None:
    fast, guided = (
        Recordings.of(MODEL, PlannedJob(CLIP, 2, kind)).input_bytes for kind in (PipelineKind.FAST, PipelineKind.HQ)
    )
    assert guided == 3 * fast


def test_passes_in_one_batch_are_recorded_once_with_everything_but_the_tables_for_each() -> None:
    job = PlannedJob(CLIP, 8, PipelineKind.HQ, num_batched=4)
    alone, together = (
        Recordings.of(MODEL, replace(job, pipeline=PipelineKind.FAST, num_batched=1)),
        Recordings.of(MODEL, job),
    )
    draft = CLIP.halved().latent_grid
    tables = rope_bytes(MODEL, share_of(job, draft))
    assert together.inputs[Phase.STAGE_1] == 4 * alone.inputs[Phase.STAGE_1] - 3 * tables
    assert together.pools[Phase.STAGE_1] == hidden_bytes(MODEL, job, draft, num_batched=4)
    # The second stage has no passes to run together.
    assert together.pools[Phase.STAGE_2] == alone.pools[Phase.STAGE_2]


def test_both_stages_keep_inputs() -> None:
    recorded = Recordings.of(MODEL, PlannedJob(CLIP, 8))
    assert recorded.input_bytes == recorded.inputs[Phase.STAGE_1] + recorded.inputs[Phase.STAGE_2]


@given(
    num_ranks=st.integers(1, 8),
    frames=st.integers(1, 40),
    height=st.integers(1, 17),
    width=st.integers(1, 30),
    num_images=st.integers(0, 2),
)
def test_every_stage_has_room_for_its_forward_as_it_is_written(
    num_ranks: int, frames: int, height: int, width: int, num_images: int
) -> None:
    clip = ClipFormat(64 * height, 64 * width, 8 * frames + 1, FPS)
    job = PlannedJob(clip, num_ranks, num_images=num_images)
    recorded = Recordings.of(MODEL, job)
    for phase, grid in ((Phase.STAGE_1, clip.halved().latent_grid), (Phase.STAGE_2, clip.latent_grid)):
        own = forward_bytes(MODEL, job, grid)
        beside = recorded.beside(phase, own)
        assert beside >= 0
        assert recorded.pool_bytes + beside >= own


@pytest.mark.parametrize("num_columns", [12, 48])
def test_the_planned_inputs_are_those_that_a_recording_copies(num_columns: int) -> None:
    job = PlannedJob(ClipFormat(512, 32 * num_columns, 25, FPS), 1)
    num_tokens = job.clip.latent_grid.num_tokens
    with torch.device("meta"):
        streams = _stream(num_tokens, DIM), _stream(126, DIM // 2)
        replays = ForwardReplays(lambda work: (work(), lambda: None))
        with LiveMemory() as live:
            replays.run("key", lambda video, audio: (video.latent, audio.latent), streams)
    planned = Recordings.of(MODEL, job).inputs[Phase.STAGE_2]
    assert live.num_bytes == pytest.approx(planned, rel=0.15)


def _stream(num_tokens: int, width: int) -> StreamInput:
    own, cross = (torch.empty(1, num_tokens, 32, n // 64, dtype=torch.bfloat16) for n in (width, DIM // 2))
    return StreamInput(
        torch.empty(1, num_tokens, 128, dtype=torch.bfloat16),
        Timesteps(torch.empty(1, 1), None),
        torch.empty(1),
        torch.empty(1, 1024, width, dtype=torch.bfloat16),
        RotaryTables(own, own),
        RotaryTables(cross, cross),
    )
