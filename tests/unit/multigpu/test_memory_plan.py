"""What a clip takes of the devices, and where a model's parts live so that it fits."""

from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.errors import JobRefusedError
from podium.geometry import ClipFormat, LatentGrid
from podium.jobs import Phase, PipelineKind, Quantization
from podium.models.pack import DecoderKind, resolve_pack
from podium.models.residency import ModelPart, Place, ResidencyPlan
from podium.models.text_encoder import embeddings_processor_builder, text_encoder_builder
from podium.models.tokenizer import MAX_PROMPT_TOKENS
from podium.models.transformer.builder import transformer_builder
from podium.models.transformer.config import TransformerConfig
from podium.models.transformer.inputs import StreamInput, Timesteps
from podium.models.transformer.model import AVTransformer, Ropes
from podium.multigpu import memory_activations
from podium.multigpu.memory_activations import PlannedJob, decoding_bytes, forward_bytes
from podium.multigpu.memory_parts import ModelMemory, weigh_model
from podium.multigpu.memory_plan import (
    CONTEXT_BYTES,
    LINK_BYTES,
    MemoryPlan,
    Room,
    check_memory,
    plan_memory,
    table_lines,
)
from podium.multigpu.ownership import shares_of
from podium.multigpu.weight_tracker import TransformerWeightTracker

from tests.fakes.live_memory import LiveMemory
from tests.tiny_pack import TinyPack
from tests.tiny_pack.traits import LTX_2_3
from tests.tiny_pack.transformer import transformer_config

GB = 2**30
FPS = Fraction(24)
CLIP = ClipFormat(1024, 1536, 121, FPS)
DIM = 4096
# A transformer of 42 GB, as large layers and small ones come.
LAYERS = ("attn1.to_q", "attn1.to_out.0", "ff.net.0.proj", "norm")
SIZES = {
    f"transformer_blocks.{block}.{layer}.weight": GB // 2 if layer == "norm" else GB
    for block in range(12)
    for layer in LAYERS
}


def model(quantization: Quantization = Quantization.NONE) -> ModelMemory:
    """Return a model of about the true size."""
    is_cast = quantization is Quantization.FP8_CAST
    return ModelMemory(
        item_bytes=2,
        quantization=quantization,
        transformer_bytes={name: size // 2 if is_cast and "norm" not in name else size for name, size in SIZES.items()},
        largest_weight=DIM * 4 * DIM,
        part_bytes={
            ModelPart.CONNECTORS: 3 * GB,
            ModelPart.VIDEO_ENCODER: GB,
            ModelPart.VIDEO_DECODER: GB,
            ModelPart.AUDIO_DECODER: GB // 8,
            ModelPart.VOCODER: GB // 2,
            ModelPart.UPSAMPLER: GB,
            ModelPart.TEXT_ENCODER: 22 * GB,
        },
        text_block_bytes=GB // 2,
        text_embedding_bytes=2 * GB,
        features_dim=3840 * 49,
        video_dim=DIM,
        upsampler_channels=1024,
        decoder=DecoderKind.CONVOLUTIONAL,
        spatial_scale=2.0,
    )  # fmt: skip


def plan(
    gigabytes: float, job: PlannedJob | None = None, *, of: ModelMemory | None = None, num_more: int = 0
) -> MemoryPlan:
    job = job or PlannedJob(CLIP, 1)
    return plan_memory(of or model(), job, Room((int(gigabytes * GB),) * job.num_ranks, num_more=num_more))


def test_with_room_everything_stays_on_the_gpu() -> None:
    made = plan(141)
    assert made.residency == ResidencyPlan()
    assert made.residency.keeps_all
    assert (made.problem, made.host_bytes) == ("", 0)


def test_a_rank_holds_working_weights_its_share_of_clean_ones_and_all_other_parts() -> None:
    job = PlannedJob(CLIP, 3)
    made = plan(141, job)
    clean = shares_of(SIZES, 3)
    decoding = made.phases[-1]
    assert decoding.phase is Phase.DECODING
    for rank, need in enumerate(decoding.ranks):
        assert need.of(ModelPart.TRANSFORMER) == sum(SIZES.values())
        assert need.of(ModelPart.CLEAN) == clean[rank]
        assert need.of(ModelPart.CONTEXT) == CONTEXT_BYTES + LINK_BYTES
        assert need.of(ModelPart.TEXT_ENCODER) <= 22 * GB // 3 + GB // 2
    assert sum(clean) == sum(SIZES.values())


def test_what_waits_in_host_memory_takes_no_place_but_in_its_phase() -> None:
    made = plan(84)
    assert made.residency.text_encoder is Place.VISITING
    held = {need.phase: need.ranks[0].of(ModelPart.TEXT_ENCODER) for need in made.phases}
    assert held.pop(Phase.ENCODING) == 22 * GB
    assert set(held.values()) == {0}
    assert made.host_bytes >= 22 * GB


def test_gemma_leaves_first_then_the_decoders_and_the_clean_copy_last() -> None:
    seen = list(dict.fromkeys(plan(gigabytes).residency for gigabytes in range(141, 48, -1)))
    order = [(one.text_encoder, one.decoders, one.clean) for one in seen]
    assert order[0] == (Place.DEVICE, Place.DEVICE, Place.DEVICE)
    assert order[1] == (Place.VISITING, Place.DEVICE, Place.DEVICE)
    assert order[-1] == (Place.STREAMED, Place.VISITING, Place.HOST)
    first_on_host = next(place for place, (_, _, clean) in enumerate(order) if clean is Place.HOST)
    assert all(decoders is Place.VISITING for _, decoders, _ in order[first_on_host:])


@settings(max_examples=15)
@given(
    gigabytes=st.integers(30, 141),
    num_ranks=st.integers(1, 4),
    frames=st.integers(1, 60),
    height=st.integers(4, 17),
    quantization=st.sampled_from([Quantization.NONE, Quantization.FP8_CAST]),
    num_images=st.integers(0, 3),
)
def test_a_plan_without_a_problem_fits(
    gigabytes: int, num_ranks: int, frames: int, height: int, quantization: Quantization, num_images: int
) -> None:
    clip = ClipFormat(64 * height, 64 * (height + 4), 8 * frames + 1, FPS)
    made = plan(gigabytes, PlannedJob(clip, num_ranks, num_images=num_images, num_loras=1), of=model(quantization))
    assert (max(made.rank_bytes) <= gigabytes * GB) == (not made.problem)
    more = plan(gigabytes + 8, PlannedJob(clip, num_ranks, num_images=num_images, num_loras=1), of=model(quantization))
    assert made.problem or not more.problem


def test_a_refusal_names_need_place_phase_and_what_is_free() -> None:
    made = plan_memory(model(), PlannedJob(CLIP, 2), Room((140 * GB, 30 * GB), names=("GPU 0", "GPU 5")))
    need = made.largest(1)
    assert made.problem.startswith(f"This clip needs {made.rank_bytes[1] / GB:.1f} GB on GPU 5 (")
    assert "30.0 GB are free there" in made.problem
    assert need.ranks[1].num_bytes == made.rank_bytes[1]


def test_the_clip_that_a_refusal_offers_fits_and_one_step_more_does_not() -> None:
    long = PlannedJob(ClipFormat(1088, 1920, 481, FPS), 1)
    made = plan(54, long)
    offered = int(made.problem.partition("What would fit: ")[2].split()[0])
    assert "frames" in made.problem
    assert not plan(54, replace(long, clip=replace(long.clip, num_frames=offered))).problem
    assert plan(54, replace(long, clip=replace(long.clip, num_frames=offered + 8))).problem


def test_a_refusal_offers_fp8_and_more_gpus_where_they_help() -> None:
    long = PlannedJob(ClipFormat(1088, 1920, 481, FPS), 1)
    assert "fp8 weights" in plan(54, long).problem
    assert "fp8 weights" not in plan(26, long, of=model(Quantization.FP8_CAST)).problem
    assert "on 2 GPUs" in plan(57, long, num_more=1).problem
    assert "GPUs" not in plan(57, long).problem


def test_weights_that_are_too_large_by_themselves_are_refused_as_such() -> None:
    assert "No smaller clip would fit" in plan(12).problem


def test_too_little_host_memory_is_refused_with_its_figures() -> None:
    made = plan_memory(model(), PlannedJob(CLIP, 1), Room((60 * GB,), host_bytes=8 * GB))
    assert "8.0 GB are free" in made.problem
    assert "this machine's memory" in made.problem


def test_on_the_cpu_all_ranks_share_the_machine_s_memory_and_nothing_moves() -> None:
    job = PlannedJob(CLIP, 2)
    needed = sum(plan_memory(model(), job, Room((), host_bytes=1000 * GB)).rank_bytes)
    assert not plan_memory(model(), job, Room((), host_bytes=needed)).problem
    refused = plan_memory(model(), job, Room((), host_bytes=needed - 1))
    assert refused.problem.startswith("This clip needs")
    assert refused.residency.keeps_all
    assert refused.phases[0].ranks[1].of(ModelPart.TEXT_ENCODER) == 0


def test_a_plan_that_does_not_fit_raises_with_its_table() -> None:
    assert check_memory(plan(141)) == ResidencyPlan()
    made = plan(12)
    with pytest.raises(JobRefusedError) as caught:
        check_memory(made)
    assert caught.value.message == made.problem
    assert caught.value.details.splitlines() == table_lines(made)


def test_plans_and_residencies_cross_process_borders() -> None:
    made = plan(60)
    assert pickle.loads(pickle.dumps(made)) == made


def test_a_part_cannot_live_where_nothing_could_use_it() -> None:
    with pytest.raises(ValueError, match="transformer cannot be host"):
        ResidencyPlan(transformer=Place.HOST)
    with pytest.raises(ValueError, match="decoders cannot be streamed"):
        ResidencyPlan(decoders=Place.STREAMED)


def test_guided_passes_in_one_batch_take_as_much_as_they_are() -> None:
    draft = CLIP.halved().latent_grid
    one, four = (forward_bytes(model(), PlannedJob(CLIP, 1), draft, num_batched=n) for n in (1, 4))
    assert 3.3 < four / one < 4
    guided = plan(141, PlannedJob(CLIP, 1, PipelineKind.QUALITY, num_batched=4))
    activations = {need.phase: need.ranks[0].of(ModelPart.ACTIVATIONS) for need in guided.phases}
    assert activations[Phase.STAGE_1] > plan(141).phases[2].ranks[0].of(ModelPart.ACTIVATIONS)
    assert activations[Phase.SWAPPING] > 0


def test_a_rank_s_share_of_a_long_clip_shrinks_with_the_ranks() -> None:
    grid = CLIP.latent_grid
    on = {n: forward_bytes(model(), PlannedJob(CLIP, n), grid) for n in (2, 4, 8)}
    states = grid.num_tokens * 128 * 4 * 8
    assert on[2] - states == pytest.approx(2 * (on[4] - states), rel=0.01)
    assert on[4] - states == pytest.approx(2 * (on[8] - states), rel=0.01)


def test_fp8_is_brought_back_one_weight_at_a_time() -> None:
    grid, job = CLIP.latent_grid, PlannedJob(CLIP, 1)
    plain, cast, scaled = (forward_bytes(model(q), job, grid) for q in Quantization)
    assert cast - plain == DIM * 4 * DIM * 2
    assert scaled - plain == DIM * 4 * DIM * 10


@pytest.mark.parametrize("num_levels", [1, 2])
def test_the_planned_activations_are_those_that_live_in_a_forward_of_true_width(num_levels: int) -> None:
    num_tokens = 6144
    live = _live_bytes_of_forward(num_tokens, num_levels)
    job = PlannedJob(CLIP, 1, num_images=num_levels - 1)
    grid = LatentGrid(1, 64, 96)
    planned = forward_bytes(model(), job, grid) - num_tokens * 128 * 4 * 8
    assert live <= planned * 1.02
    assert planned <= live * 1.08


def test_the_planned_prompt_is_as_long_as_the_tokenizer_allows() -> None:
    assert memory_activations.MAX_PROMPT_TOKENS == MAX_PROMPT_TOKENS


def test_the_planned_bucket_is_the_tracker_s() -> None:
    assert TransformerWeightTracker(None)._bucket_mb << 20 == memory_activations.BUCKET_BYTES


def test_decoding_takes_no_more_for_a_longer_clip() -> None:
    short, long = (decoding_bytes(model(), PlannedJob(replace(CLIP, num_frames=n), 1), 0) for n in (161, 801))
    assert short == long


def test_a_model_weighs_what_its_modules_hold(tiny_pack_2_3: TinyPack) -> None:
    pack = resolve_pack(tiny_pack_2_3.model_paths)
    weighed = weigh_model(pack, dtype="bfloat16", quantization=Quantization.NONE)
    paths = pack.paths
    made = transformer_builder(paths.checkpoint_path).make_empty_module().state_dict()
    assert dict(weighed.transformer_bytes) == {name: 2 * tensor.numel() for name, tensor in made.items()}
    assert weighed.largest_weight == max(tensor.numel() for tensor in made.values())
    gemma = text_encoder_builder(paths.gemma_root).make_empty_module().state_dict()
    assert weighed.part_bytes[ModelPart.TEXT_ENCODER] == 2 * sum(tensor.numel() for tensor in gemma.values())
    connectors = embeddings_processor_builder(paths.checkpoint_path).make_empty_module().state_dict()
    assert weighed.part_bytes[ModelPart.CONNECTORS] == 2 * sum(tensor.numel() for tensor in connectors.values())


def test_float32_weighs_twice_and_the_vocoder_the_same(tiny_pack_2_3: TinyPack) -> None:
    pack = resolve_pack(tiny_pack_2_3.model_paths)
    half, full = (weigh_model(pack, dtype=d, quantization=Quantization.NONE) for d in ("bfloat16", "float32"))
    assert full.working_bytes == 2 * half.working_bytes
    assert full.part_bytes[ModelPart.VIDEO_DECODER] == 2 * half.part_bytes[ModelPart.VIDEO_DECODER]
    assert full.part_bytes[ModelPart.VOCODER] == half.part_bytes[ModelPart.VOCODER]


@pytest.mark.parametrize("quantization", [Quantization.FP8_CAST, Quantization.FP8_SCALED])
def test_a_quantised_transformer_weighs_what_is_read_of_it(
    quantization: Quantization, tiny_pack_2_3: TinyPack, tiny_pack_fp8: TinyPack
) -> None:
    tiny = tiny_pack_fp8 if quantization is Quantization.FP8_SCALED else tiny_pack_2_3
    pack = resolve_pack(tiny.model_paths)
    weighed = weigh_model(pack, dtype="bfloat16", quantization=quantization)
    built = transformer_builder(pack.paths.checkpoint_path, quantization=quantization).build(
        torch.device("cpu"), torch.bfloat16
    )
    held = {name: tensor.nbytes for name, tensor in built.state_dict().items()}
    assert dict(weighed.transformer_bytes) == held


def _live_bytes_of_forward(num_tokens: int, num_levels: int) -> int:
    """Count what one block's forward of the 2.3 transformer holds at most, inputs apart."""
    sizes = {
        "num_layers": 1,
        "num_attention_heads": 32,
        "attention_head_dim": 128,
        "cross_attention_dim": 4096,
        "audio_num_attention_heads": 32,
        "audio_attention_head_dim": 64,
        "audio_cross_attention_dim": 2048,
    }
    config = TransformerConfig.from_official({**transformer_config(LTX_2_3), **sizes})
    with torch.device("meta"), torch.inference_mode():
        transformer = AVTransformer(config).to(torch.bfloat16).eval()
        block = transformer.transformer_blocks[0]
        for name in ("attn1", "audio_attn1", "attn2", "audio_attn2", "audio_to_video_attn", "video_to_audio_attn"):
            # The kernel itself keeps nothing, but on this device it would take the way that does.
            getattr(block, name).kernel = lambda query, key, value, bias: torch.empty_like(query)
        with LiveMemory() as live:
            video = _stream(num_tokens, 4096, num_levels, transformer.video_ropes(torch.empty(1, 3, num_tokens, 2)))
            audio = _stream(126, 2048, 1, transformer.audio_ropes(torch.empty(1, 1, 126, 2)))
            # Tables are made once a stage, before the first step.
            live.peak_bytes = live.num_bytes
            transformer(video, audio)
    return live.peak_bytes


def _stream(num_tokens: int, width: int, num_levels: int, ropes: Ropes) -> StreamInput:
    index = torch.empty(num_tokens, dtype=torch.int64) if num_levels > 1 else None
    return StreamInput(
        torch.empty(1, num_tokens, 128, dtype=torch.bfloat16),
        Timesteps(torch.empty(1, num_levels), index),
        torch.empty(1),
        torch.empty(1, 1024, width, dtype=torch.bfloat16),
        ropes.own,
        ropes.cross,
    )
