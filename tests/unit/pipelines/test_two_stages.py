"""The guided pipeline against the oracle on every generation, and its own promises."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from podium.errors import JobRefusedError
from podium.geometry import ClipFormat
from podium.jobs import GuidanceSpec, LoraSpec, Phase
from podium.models.paths import ModelPaths
from podium.models.registry import StateDictRegistry
from podium.models.text_encoder import PromptContext
from podium.pipelines.blocks.diffusion import DiffusionStage, StageRequest
from podium.pipelines.distilled import DistilledPipeline
from podium.pipelines.events import FramesDecoded, LorasFused, PhaseBegan, PhaseOver, SoundDecoded, StepDenoised
from podium.pipelines.guidance import Guidance, OneBatch
from podium.pipelines.noise import SeededNoise
from podium.pipelines.schedules import shifted_schedule
from podium.pipelines.ti2vid_two_stages import TI2VidTwoStagesPipeline
from podium.pipelines.ti2vid_two_stages_hq import TI2VidTwoStagesHQPipeline

from tests.fakes.closeness import relative_error
from tests.fakes.guided_runs import CPU, LATENTS, Oracle, Plan, traced, two_stages
from tests.tiny_pack import TinyPack

SMALL: dict[str, Any] = {"prompt": "a red fox", "seed": 3, "height": 64, "width": 64, "num_frames": 9, "frame_rate": 24}
CALL: dict[str, Any] = {
    "prompt": "a red fox",
    "negative_prompt": "blurry, static",
    "seed": 7,
    "height": 64,
    "width": 128,
    "num_frames": 17,
    "frame_rate": "23.976",
    "num_inference_steps": 3,
}
VIDEO, AUDIO = GuidanceSpec(3, 1, 0.7, 3, 0, (2,)), GuidanceSpec(7, 1, 0.7, 3, 0, (2,))
ODD_VIDEO, ODD_AUDIO = GuidanceSpec(2.5, 0.8, 0.4, 1, 0, (0, 3)), GuidanceSpec(1, 0.5, 0.9, 2, 1, (1,))
Run = tuple[dict[str, Tensor], dict[str, Tensor]]


@pytest.fixture(scope="session")
def runs(
    tiny_pack_2_0: TinyPack,
    tiny_pack_2_3: TinyPack,
    tiny_pack_2_5: TinyPack,
    pictures: list[tuple[Path, int, float]],
) -> Callable[[str], Run]:
    """Return both runs of a case, made once: defaults on 2.0, unlike guidance on 2.3, key frame slots on 2.5."""
    made: dict[str, Run] = {}
    packs = {"2.0": tiny_pack_2_0, "2.3": tiny_pack_2_3, "2.5": tiny_pack_2_5}

    def get(version: str) -> Run:
        if version in made:
            return made[version]
        pack, call, slots = packs[version], {**CALL, "images": pictures}, ()
        style, distilled = LoraSpec(pack.style_lora_path, 0.5), LoraSpec(pack.distilled_lora_path, 1.0)
        guides = (VIDEO, AUDIO)
        if version == "2.3":
            guides = (ODD_VIDEO, ODD_AUDIO)
            call = {**call, "video_guidance": ODD_VIDEO, "audio_guidance": ODD_AUDIO}
        if version == "2.5":
            call, slots = {**call, "generated_keyframes": 2}, (5, 11)
        plan = Plan(
            list(shifted_schedule(3)), guides, 18 if version == "2.5" else 33, ((style,), (style, distilled)), slots
        )
        ours = traced(two_stages(pack, loras=[style]), call)
        made[version] = ours, Oracle(pack).run(call, plan, ours)
        return made[version]

    return get


@pytest.mark.parametrize("name", LATENTS)
@pytest.mark.parametrize("version", ["2.0", "2.3", "2.5"])
def test_every_latent_is_the_oracles(runs: Callable[[str], Run], version: str, name: str) -> None:
    ours, oracle = runs(version)
    assert relative_error(ours[name], oracle[name]) < 1e-5


@pytest.fixture(scope="session")
def pipeline(tiny_pack_2_3: TinyPack) -> TI2VidTwoStagesPipeline:
    return two_stages(tiny_pack_2_3)


@pytest.fixture(scope="session")
def plain_run(pipeline: TI2VidTwoStagesPipeline) -> dict[str, Tensor]:
    return traced(pipeline, CALL)


def test_bfloat16_stays_within_two_percent_of_float32(
    pipeline: TI2VidTwoStagesPipeline, tiny_pack_2_3: TinyPack
) -> None:
    # Guidance multiplies the rounding of single forwards, and over three steps alone it would not average out.
    call = {**CALL, "num_inference_steps": 16}
    exact, half = traced(pipeline, call), traced(two_stages(tiny_pack_2_3, dtype=torch.bfloat16), call)
    for name in ("stage_1.video", "stage_1.audio", "stage_2.video"):
        assert relative_error(half[name], exact[name]) < 2e-2, name


def test_one_batch_gives_the_clip_of_one_after_another(plain_run: dict[str, Tensor], tiny_pack_2_3: TinyPack) -> None:
    batched = two_stages(tiny_pack_2_3)
    batched.stage_1.guidance_runner = OneBatch()
    run = traced(batched, CALL)
    for name in LATENTS:
        assert relative_error(run[name], plain_run[name]) < 1e-5, name


@pytest.fixture(scope="session")
def events(pipeline: TI2VidTwoStagesPipeline) -> list[Any]:
    trace: dict[str, Tensor] = {}
    out: list[Any] = list(pipeline.stream(**SMALL, num_inference_steps=2, trace=trace.__setitem__))
    return [*out, trace]


def test_a_stream_tells_phases_steps_and_frames_in_order(events: list[Any]) -> None:
    phases = [event.phase for event in events if isinstance(event, PhaseBegan) and event.phase is not Phase.LOADING]
    assert phases == [
        Phase.ENCODING, Phase.SWAPPING, Phase.STAGE_1, Phase.UPSAMPLING, Phase.SWAPPING, Phase.STAGE_2, Phase.DECODING
    ]  # fmt: skip
    assert sum(isinstance(event, PhaseOver) for event in events) == sum(isinstance(e, PhaseBegan) for e in events)
    steps = [(event.phase, event.step, event.num_steps) for event in events if isinstance(event, StepDenoised)]
    assert steps == [(Phase.STAGE_1, n, 2) for n in (1, 2)] + [(Phase.STAGE_2, n, 3) for n in (1, 2, 3)]
    assert sum(len(event.frames_FHWC) for event in events if isinstance(event, FramesDecoded)) == 9


def test_the_clips_sound_is_the_first_stages(pipeline: TI2VidTwoStagesPipeline, events: list[Any]) -> None:
    (sound,) = [event for event in events if isinstance(event, SoundDecoded)]
    trace = events[-1]
    assert torch.equal(sound.waveform, pipeline.audio_decoder.decode(trace["stage_1.audio"]).waveform)
    assert not torch.equal(trace["stage_1.audio"], trace["stage_2.audio"])


def test_the_distilled_lora_is_in_the_second_stage_alone(events: list[Any]) -> None:
    first, second = [event.summaries for event in events if isinstance(event, LorasFused)]
    assert first == ()
    assert len(second) == 1
    assert "distilled-lora" in second[0]


def test_without_guidance_the_negative_prompt_is_not_even_read(pipeline: TI2VidTwoStagesPipeline) -> None:
    off = {"video_guidance": GuidanceSpec(), "audio_guidance": GuidanceSpec()}
    assert "context.1.video" not in traced(pipeline, {**SMALL, **off, "num_inference_steps": 2})


def test_the_negative_prompt_changes_the_clip(pipeline: TI2VidTwoStagesPipeline, plain_run: dict[str, Tensor]) -> None:
    other = traced(pipeline, {**CALL, "negative_prompt": "a red fox"})
    assert relative_error(other["stage_1.video"], plain_run["stage_1.video"]) > 1e-3


def test_distilled_lora_strengths_can_be_given_by_call(
    pipeline: TI2VidTwoStagesPipeline, plain_run: dict[str, Tensor]
) -> None:
    same = traced(pipeline, {**CALL, "distilled_lora_strengths": (0.0, 1.0)})
    other = traced(pipeline, {**CALL, "distilled_lora_strengths": (0.5, 0.0)})
    assert torch.equal(same["stage_2.video"], plain_run["stage_2.video"])
    assert relative_error(other["stage_1.video"], plain_run["stage_1.video"]) > 1e-3


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"num_inference_steps": 0}, "0 steps cannot be made"),
        ({"video_guidance": GuidanceSpec(stg=1, stg_blocks=(29,))}, "no block 29"),
        ({"audio_guidance": GuidanceSpec(rescale=1.5)}, "rescale of 1.5"),
        ({"video_guidance": GuidanceSpec(cfg=float("nan"))}, "cfg of nan"),
        ({"video_guidance": GuidanceSpec(skip_step=-1)}, "skip step of -1"),
        ({"images": [(Path("x.png"), 9, 1.0)]}, "no frame 9"),
        ({"generated_keyframes": 1}, "makes no key frames of its own"),
        ({"height": 96}, "multiple of 64"),
    ],
)
def test_what_cannot_be_made_is_refused_before_anything_is_read(
    tiny_pack_2_3: TinyPack, changes: dict[str, Any], words: str
) -> None:
    unloaded = two_stages(tiny_pack_2_3)
    with pytest.raises(JobRefusedError, match=words):
        next(unloaded.stream(**{**SMALL, **changes}))
    assert not unloaded.is_loaded


def test_the_published_constructors_take_what_they_say(tiny_pack_2_3: TinyPack) -> None:
    registry = StateDictRegistry()
    shared: dict[str, Any] = {
        "checkpoint_path": tiny_pack_2_3.checkpoint_path,
        "spatial_upsampler_path": tiny_pack_2_3.spatial_upsampler_path,
        "gemma_root": tiny_pack_2_3.gemma_root,
        "loras": [],
        "registry": registry,
        "quantization": "none",
    }
    distilled_lora = LoraSpec(tiny_pack_2_3.distilled_lora_path, 0.8)
    for pipeline in (
        TI2VidTwoStagesPipeline(distilled_lora=distilled_lora, **shared),
        TI2VidTwoStagesHQPipeline(distilled_lora=(tiny_pack_2_3.distilled_lora_path, 0.8), **shared),
    ):
        for slot in ("prompt_encoder", "image_conditioner", "stage_1", "stage_2", "upsampler", "video_decoder"):
            assert hasattr(pipeline, slot)
        assert pipeline.stage_1.transformer_builder == pipeline.stage_2.transformer_builder
        assert pipeline.stage_1.with_builder(pipeline.stage_2.transformer_builder) is not pipeline.stage_1
        assert pipeline.audio_decoder.decoder_builder is not None
    assert DistilledPipeline(**shared).stage.transformer_builder is not None


def test_paths_are_given_once_and_all_of_them(tiny_pack_2_3: TinyPack) -> None:
    paths: ModelPaths = tiny_pack_2_3.model_paths
    with pytest.raises(ValueError, match="takes the place"):
        DistilledPipeline(model_paths=paths, gemma_root=paths.gemma_root)
    with pytest.raises(ValueError, match="are needed"):
        DistilledPipeline(checkpoint_path=paths.checkpoint_path)
    with pytest.raises(ValueError, match="fp7"):
        DistilledPipeline(model_paths=paths, quantization="fp7")


class _Tiled:
    """A slot that runs otherwise, and so with another schedule."""

    sigmas = (0.625, 0.4, 0.0)

    def __init__(self, inner: Any) -> None:
        self.with_loras, self.build = inner.with_loras, inner.build
        self.build_with_report = inner.build_with_report


def test_a_slot_may_ask_for_a_schedule_of_its_own(tiny_pack_2_3: TinyPack) -> None:
    tiled = two_stages(tiny_pack_2_3)
    tiled.stage_2.transformer_builder = _Tiled(tiled.stage_2.transformer_builder)
    steps = [event for event in tiled.stream(**SMALL, num_inference_steps=1) if isinstance(event, StepDenoised)]
    assert [event.sigma for event in steps if event.phase is Phase.STAGE_2] == [0.625, 0.4]


def test_the_larger_upscaler_by_a_half_makes_sizes_of_96(tiny_pack_2_3: TinyPack, tiny_pack: Path) -> None:
    half_larger = two_stages(tiny_pack_2_3, spatial_upsampler_path=tiny_pack / "spatial-upscaler-x1.5.safetensors")
    run = traced(half_larger, {**SMALL, "height": 96, "width": 192, "num_inference_steps": 1})
    assert run["stage_1.video"].shape[-2:] == (2, 4)
    assert run["stage_2.video"].shape[-2:] == (3, 6)
    with pytest.raises(JobRefusedError, match="multiple of 96"):
        next(half_larger.stream(**SMALL))


class _ColdTransformer:
    """A transformer that compiles at the first forward of each batch size, and writes down its forwards."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.video_ropes, self.audio_ropes = inner.video_ropes, inner.audio_ropes
        self.batches: list[int] = []

    def is_cold(self, video: Any, audio: Any, perturbations: Any = None) -> bool:
        del audio, perturbations
        return len(video.latent) not in self.batches

    def __call__(self, video: Any, audio: Any, perturbations: Any = None) -> Any:
        self.batches.append(len(video.latent))
        return self._inner(video, audio, perturbations)


def test_every_batch_that_a_guided_stage_will_run_is_compiled_ahead(pipeline: TI2VidTwoStagesPipeline) -> None:
    clip = ClipFormat(32, 32, 9, Fraction(24))
    transformer = _ColdTransformer(pipeline.stage_1.transformer_builder.build(CPU, torch.float32))
    stage = DiffusionStage(pipeline.stage_1.transformer_builder, pipeline.placement, OneBatch())
    context = PromptContext(torch.zeros(1, 1024, 128), torch.zeros(1, 1024, 64))
    guidance = Guidance(GuidanceSpec(cfg=3, skip_step=1), GuidanceSpec(modality=2))
    sigmas = (1.0, 0.5, 0.0)
    request = StageRequest(Phase.STAGE_1, clip, sigmas, context, SeededNoise(1), guidance=guidance, negative=context)
    phases = [e.phase for e in stage.stream(transformer, request) if isinstance(e, PhaseBegan)]
    assert phases == [Phase.COMPILING, Phase.STAGE_1]
    # Two kinds of steps ahead, then one of each.
    assert transformer.batches == [2, 3, 3, 2]
    assert [e.phase for e in stage.stream(transformer, request) if isinstance(e, PhaseBegan)] == [Phase.STAGE_1]
