"""Conventions that hold in every run of every pipeline, looked at where the transformer is asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from torch import Tensor

from podium.geometry import ClipFormat, LatentGrid
from podium.jobs import GuidanceSpec, ImageSpec, Phase
from podium.models.builder import BuiltModel
from podium.models.registry import StateDictRegistry
from podium.models.transformer.inputs import Perturbations, StreamInput
from podium.pipelines.blocks.images import ImageConditioner
from podium.pipelines.blocks.placement import Placement
from podium.pipelines.events import StepDenoised
from podium.pipelines.generation_defaults import spread_frames
from podium.pipelines.guidance import Guidance, OneBatch, PassKind
from podium.pipelines.noise import SeededNoise
from podium.pipelines.samplers import Denoised, normalised_noise

from tests.fakes.closeness import relative_error
from tests.fakes.guided_runs import distilled, traced, two_stages, two_stages_hq
from tests.tiny_pack import TinyPack

CPU = torch.device("cpu")
# Stage 1: 2 frames of 1 x 2 cells, stage 2: 2 of 2 x 4; 9 audio tokens.
CALL: dict[str, Any] = {"prompt": "a fox", "seed": 5, "height": 64, "width": 128, "num_frames": 9, "frame_rate": 24}
GRIDS = {Phase.STAGE_1: LatentGrid(2, 1, 2), Phase.STAGE_2: LatentGrid(2, 2, 4)}
GUIDED = {"num_inference_steps": 2, "negative_prompt": "blurry"}
DISTILLED = (1.0, 0.99375, 0.9875, 0.98125, 0.975, 0.909375, 0.725, 0.421875)
REFINING = (0.909375, 0.725, 0.421875)


@dataclass
class Watched:
    """A transformer whose forwards are kept."""

    inner: Any
    seen: list[tuple[StreamInput, StreamInput]]

    def __post_init__(self) -> None:
        self.video_ropes, self.audio_ropes = self.inner.video_ropes, self.inner.audio_ropes

    def is_cold(self, video: StreamInput, audio: StreamInput, perturbations: Perturbations | None = None) -> bool:
        return False

    def __call__(self, video: StreamInput, audio: StreamInput, perturbations: Perturbations | None = None) -> Any:
        self.seen.append((video, audio))
        return self.inner(video, audio, perturbations)


@dataclass
class WatchedSlot:
    """The slot of one."""

    inner: Any
    seen: list[tuple[StreamInput, StreamInput]] = field(default_factory=list)

    def with_loras(self, loras: Any) -> WatchedSlot:
        return WatchedSlot(self.inner.with_loras(loras), self.seen)

    def build(self, *args: Any, **kwargs: Any) -> Watched:
        return Watched(self.inner.build(*args, **kwargs), self.seen)

    def build_with_report(self, *args: Any, **kwargs: Any) -> Any:
        built = self.inner.build_with_report(*args, **kwargs)
        return BuiltModel(Watched(built.module, self.seen), built.lora_reports)


def watch(pipeline: Any) -> list[tuple[StreamInput, StreamInput]]:
    """Keep the forwards of all stages of a pipeline, in the order they come."""
    seen: list[tuple[StreamInput, StreamInput]] = []
    for name in ("stage", "stage_1", "stage_2"):
        if hasattr(pipeline, name):
            stage = getattr(pipeline, name)
            stage.transformer_builder = WatchedSlot(stage.transformer_builder, seen)
    return seen


def phase_of(video: StreamInput) -> Phase:
    num_own = {grid.num_tokens: phase for phase, grid in GRIDS.items()}
    # A picture's tokens may stand behind: one frame of them.
    return num_own.get(video.latent.shape[1]) or num_own[video.latent.shape[1] * 2 // 3]


PIPELINES: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "distilled": (distilled, {}),
    "two stages": (two_stages, GUIDED),
    "HQ": (two_stages_hq, GUIDED),
}
BATCHED = {**PIPELINES, "two stages, one batch": (two_stages, GUIDED)}


Make = Callable[[str, TinyPack], tuple[Any, dict[str, Any]]]


@pytest.fixture(scope="module")
def registry() -> StateDictRegistry:
    """Return what all pipelines here have in common, so that weights are read once."""
    return StateDictRegistry()


@pytest.fixture(scope="module")
def make(registry: StateDictRegistry) -> Make:
    """Return a maker of a pipeline by name, and of a call of it."""
    return lambda name, pack: make_pipeline(name, pack, registry)


def make_pipeline(name: str, pack: TinyPack, registry: StateDictRegistry) -> tuple[Any, dict[str, Any]]:
    maker, changes = BATCHED[name]
    pipeline = maker(pack, registry=registry)
    if name == "two stages, one batch":
        pipeline.stage_1.guidance_runner = OneBatch()
    return pipeline, {**CALL, **changes}


@pytest.mark.parametrize("name", BATCHED)
def test_every_forward_of_every_run_marks_the_first_latent_frame(
    make: Make, tiny_pack_2_5: TinyPack, name: str
) -> None:
    pipeline, call = make(name, tiny_pack_2_5)
    seen = watch(pipeline)
    traced(pipeline, call)
    assert {phase_of(video) for video, _ in seen} == set(GRIDS)
    for video, audio in seen:
        grid = GRIDS[phase_of(video)]
        area = grid.height * grid.width
        assert video.keyframes_mask is not None
        assert video.keyframes_mask.flatten().tolist() == [1.0] * area + [0.0] * (grid.num_tokens - area)
        assert audio.keyframes_mask is None


@pytest.mark.parametrize("name", PIPELINES)
def test_with_kept_tokens_too_a_stream_tells_its_own_noise_level_and_not_theirs(
    make: Make, tiny_pack_2_3: TinyPack, pictures: list[tuple[Path, int, float]], name: str
) -> None:
    pipeline, call = make(name, tiny_pack_2_3)
    seen = watch(pipeline)
    traced(pipeline, {**call, "images": [(pictures[0][0], 0, 1.0), (pictures[1][0], 8, 0.75)]})
    for video, audio in seen:
        grid, level = GRIDS[phase_of(video)], float(video.sigma)
        area = grid.height * grid.width
        assert video.timesteps.index is not None
        levels = video.timesteps.values[0][video.timesteps.index]
        assert levels.tolist() == pytest.approx([0.0] * area + [level] * area + [0.25 * level] * area)
        assert video.sigma.tolist() == audio.sigma.tolist()
        assert audio.timesteps.spread(audio.timesteps.values).flatten().tolist() == pytest.approx([level])
    if name == "distilled":
        assert [float(video.sigma) for video, _ in seen] == pytest.approx([*DISTILLED, *REFINING])


class NamedNoise:
    """Seeded noise that writes down what is drawn."""

    def __init__(self) -> None:
        self.drawn: list[tuple[str, int]] = []

    def draw(self, name: str, shape: tuple[int, ...]) -> Tensor:
        assert (shape[0], shape[2]) == (1, 128)
        self.drawn.append((name, shape[1]))
        return SeededNoise(1).draw(name, shape)


def begin(phase: str, num_tokens: int) -> list[tuple[str, int]]:
    return [(f"{phase}.video", num_tokens), (f"{phase}.audio", 9)]


def renewed(phase: str, num_tokens: int, kinds: Sequence[str], num_steps: int) -> list[tuple[str, int]]:
    return [
        (f"{phase}.{stream}.{kind}.{step}", count)
        for step in range(num_steps)
        for kind in kinds
        for stream, count in (("video", num_tokens), ("audio", 9))
    ]


@pytest.mark.parametrize(
    ("name", "version", "first", "second"),
    [
        ("distilled", "2.3", [], []),
        # The last of the eight steps ends clean.
        ("distilled", "2.5", renewed("stage_1", 4, ["step"], 7), []),
        ("two stages", "2.5", [], []),
        ("HQ", "2.3", renewed("stage_1", 4, ["substep", "step"], 2), renewed("stage_2", 16, ["substep", "step"], 3)),
    ],
)
def test_noise_is_drawn_in_tokens_under_its_published_name_and_in_order(
    make: Make,
    tiny_pack: Path,
    name: str,
    version: str,
    first: list[tuple[str, int]],
    second: list[tuple[str, int]],
) -> None:
    pipeline, call = make(name, TinyPack(tiny_pack, version))
    noise = NamedNoise()
    traced(pipeline, {**call, "noise_source": noise})
    assert noise.drawn == [*begin("stage_1", 4), *first, *begin("stage_2", 16), *second]


def test_where_both_streams_skip_a_step_the_transformer_is_not_asked_and_the_estimate_stays(
    make: Make, tiny_pack_2_3: TinyPack
) -> None:
    pipeline, call = make("two stages", tiny_pack_2_3)
    seen = watch(pipeline)
    every_second = GuidanceSpec(cfg=3, modality=2, skip_step=1)
    call |= {"num_inference_steps": 4, "video_guidance": every_second, "audio_guidance": every_second}
    steps: list[tuple[int, StepDenoised]] = [
        (len(seen), event)
        for event in pipeline.stream(**call)
        if isinstance(event, StepDenoised) and event.phase is Phase.STAGE_1
    ]
    # Three forwards in the first and the third step, none between.
    assert [num_forwards for num_forwards, _ in steps] == [3, 3, 6, 6]
    for guided, skipped in ((0, 1), (2, 3)):
        assert torch.equal(steps[guided][1].video_BCFHW, steps[skipped][1].video_BCFHW)
        assert torch.equal(steps[guided][1].audio_BCTM, steps[skipped][1].audio_BCTM)
    assert not torch.equal(steps[0][1].video_BCFHW, steps[2][1].video_BCFHW)


def test_the_second_stage_begins_from_the_noised_draft_held_to_a_picture_by_its_strength(
    make: Make, tiny_pack_2_3: TinyPack, pictures: list[tuple[Path, int, float]]
) -> None:
    pipeline, _ = make("distilled", tiny_pack_2_3)
    seen = watch(pipeline)
    image = ImageSpec(pictures[0][0], strength=0.75, crf=0)
    trace = traced(pipeline, {**CALL, "images": [image]})
    begins = next(video for video, _ in seen if phase_of(video) is Phase.STAGE_2).latent
    clip = ClipFormat(64, 128, 9, Fraction(24))
    ((picture,),) = pipeline.image_conditioner.encode([image], [clip])
    noise = SeededNoise(CALL["seed"]).draw("stage_2.video", (1, 16, 128))
    noised = (1 - 0.909375) * trace["upsampled"].flatten(2).transpose(1, 2) + 0.909375 * noise
    clean = picture.latent_BCFHW.flatten(2).transpose(1, 2)
    assert relative_error(begins[:, :8], 0.75 * clean + 0.25 * noised[:, :8]) < 1e-6
    assert relative_error(begins[:, 8:], noised[:, 8:]) < 1e-6


def test_states_and_estimates_stay_in_float32_where_the_transformer_runs_in_bfloat16(
    tiny_pack_2_3: TinyPack,
) -> None:
    pipeline = distilled(tiny_pack_2_3, dtype=torch.bfloat16)
    seen = watch(pipeline)
    first = next(event for event in pipeline.stream(**CALL) if isinstance(event, StepDenoised))
    assert {stream.latent.dtype for streams in seen for stream in streams} == {torch.bfloat16}
    for estimate in (first.video_BCFHW, first.audio_BCTM):
        assert estimate.dtype == torch.float32
        assert float((estimate == estimate.bfloat16().float()).float().mean()) < 0.1


@given(st.floats(-3, 3), st.floats(-3, 3))
def test_a_scale_of_nought_is_one_and_none_of_the_other_streams(cfg: float, modality: float) -> None:
    guidance = Guidance(GuidanceSpec(cfg=cfg, modality=modality), GuidanceSpec(cfg=0, modality=0))
    kinds = (PassKind.CONDITIONED, PassKind.UNCONDITIONED, PassKind.ISOLATED)
    parts = torch.randn(3, 2, 1, 3, 4, generator=torch.Generator().manual_seed(1))
    estimates = {kind: Denoised(*both) for kind, both in zip(kinds, parts, strict=True)}
    assert {one.kind for one in guidance.passes_at(0)} == set(kinds)
    cond, uncond, alone = parts[:, 1]
    assert torch.allclose(guidance.combine(0, estimates, None).audio, uncond + alone - cond, atol=1e-5)


@given(st.integers(1, 40), st.integers(1, 60))
def test_key_frames_stand_at_the_rounded_places_of_an_even_spacing(num_slots: int, num_cells: int) -> None:
    num_frames = 8 * num_cells + 1
    expected = np.linspace(0, num_frames - 1, num_slots + 2).round().astype(int)[1:-1]
    assert spread_frames(num_slots, num_frames) == tuple(expected)


def test_noise_of_several_samples_is_normalised_over_all_and_then_each_over_its_tokens_and_features() -> None:
    generator = torch.Generator().manual_seed(2)
    noise = torch.randn(2, 20, 8, generator=generator) * torch.tensor([1.0, 3.0])[:, None, None] + 1
    ours = normalised_noise(noise)
    for sample, drawn in zip(ours, noise.double(), strict=True):
        assert float(sample.mean()) == pytest.approx(0, abs=1e-12)
        assert float(sample.std()) == pytest.approx(1, abs=1e-12)
        # The same numbers but for their mean and spread.
        assert torch.corrcoef(torch.stack((sample.flatten(), drawn.flatten())))[0, 1] == pytest.approx(1)


class Encoder:
    """Keeps the pixels it is given."""

    def __init__(self) -> None:
        self.pixels: list[Tensor] = []

    def build(self, *args: Any, **kwargs: Any) -> Encoder:
        return self

    def encode(self, pixels_BCFHW: Tensor) -> Tensor:
        self.pixels.append(pixels_BCFHW)
        return torch.zeros(1, 128, 1, 1, 1)


@pytest.mark.parametrize(("size", "clip_size"), [((65, 97), (64, 128)), ((101, 51), (96, 64)), ((33, 33), (128, 192))])
def test_a_picture_is_cut_to_even_sides_before_it_is_scaled_to_cover_the_clip(
    tmp_path: Path, size: tuple[int, int], clip_size: tuple[int, int]
) -> None:
    rgb = np.random.default_rng(3).integers(0, 256, (*size, 3)).astype(np.uint8)
    Image.fromarray(rgb).save(tmp_path / "odd.png")
    encoder, clip = Encoder(), ClipFormat(*clip_size, 9, Fraction(24))
    conditioner = ImageConditioner(encoder, Placement(CPU, torch.float32))  # type: ignore[arg-type] # what it is asked
    conditioner.encode([ImageSpec(tmp_path / "odd.png", crf=0)], [clip])
    even = torch.from_numpy(rgb[: size[0] // 2 * 2, : size[1] // 2 * 2].astype(np.float32)).permute(2, 0, 1)[None]
    scale = max(clip_size[0] / even.shape[2], clip_size[1] / even.shape[3])
    larger = (math.ceil(even.shape[2] * scale), math.ceil(even.shape[3] * scale))
    scaled = torch.nn.functional.interpolate(even, larger, mode="bilinear", antialias=False)
    top, left = (larger[0] - clip_size[0]) // 2, (larger[1] - clip_size[1]) // 2
    expected = scaled[:, :, top : top + clip_size[0], left : left + clip_size[1]] / 127.5 - 1
    assert encoder.pixels[0].shape == (1, 3, 1, *clip_size)
    assert float((encoder.pixels[0][:, :, 0] - expected).abs().max()) < 1e-5
