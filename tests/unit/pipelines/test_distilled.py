"""The distilled pipeline end to end, against the original's run on the same noise, and its own promises."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor

from podium.errors import JobRefusedError
from podium.geometry import ClipFormat
from podium.jobs import ImageSpec, Phase
from podium.pipelines.distilled import DistilledPipeline
from podium.pipelines.events import FramesDecoded, LorasFused, PhaseBegan, PhaseOver, SoundDecoded, StepDenoised

SMALL_CALL = {"prompt": "waves", "height": 64, "width": 64, "num_frames": 9, "frame_rate": 24}
TRACE_OF_GOLDEN = {
    "context0.video": "context.0.video",
    "context0.audio": "context.0.audio",
    "stage1.out.video": "stage_1.video",
    "stage1.out.audio": "stage_1.audio",
    "upsampled": "upsampled",
    "stage2.out.video": "stage_2.video",
    "stage2.out.audio": "stage_2.audio",
    "decoded.video": "decoded.video",
    "decoded.waveform": "decoded.audio",
}


@pytest.mark.parametrize("name", TRACE_OF_GOLDEN)
def test_every_station_equals_the_original(
    traced_run: dict[str, Tensor],
    golden: Callable[[str], dict[str, Tensor]],
    assert_close_to_golden: Callable[..., None],
    name: str,
) -> None:
    assert_close_to_golden(traced_run[TRACE_OF_GOLDEN[name]], golden("distilled_2.3_t2v")[name], 1e-4)


def test_a_call_returns_what_was_decoded(traced_run: dict[str, Tensor]) -> None:
    assert torch.equal(traced_run["result.video"], traced_run["decoded.video"])
    assert torch.equal(traced_run["result.audio"], traced_run["decoded.audio"])


def test_a_stream_tells_phases_and_steps_in_order(pipeline: DistilledPipeline) -> None:
    events = list(pipeline.stream(**SMALL_CALL, seed=1))  # type: ignore[arg-type]
    phases = [event.phase for event in events if isinstance(event, PhaseBegan) and event.phase is not Phase.LOADING]
    assert phases == [
        Phase.ENCODING, Phase.SWAPPING, Phase.STAGE_1, Phase.UPSAMPLING, Phase.STAGE_2, Phase.DECODING
    ]  # fmt: skip
    assert sum(isinstance(event, PhaseOver) for event in events) == sum(isinstance(e, PhaseBegan) for e in events)
    steps = [(event.phase, event.step, event.num_steps) for event in events if isinstance(event, StepDenoised)]
    assert steps == [(Phase.STAGE_1, n, 8) for n in range(1, 9)] + [(Phase.STAGE_2, n, 3) for n in range(1, 4)]
    frames = [event for event in events if isinstance(event, FramesDecoded)]
    assert [event.first_frame for event in frames] == [0, 8]
    assert sum(isinstance(event, SoundDecoded) for event in events) == 1


def test_the_same_seed_gives_the_same_clip_and_another_seed_another(pipeline: DistilledPipeline) -> None:
    first, again, other = (pipeline(**SMALL_CALL, seed=seed)[0] for seed in (3, 3, 4))  # type: ignore[arg-type]
    assert torch.equal(first, again)
    assert not torch.allclose(first, other)


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    rgb = np.zeros((48, 96, 3), np.uint8)
    rgb[:, :48, 0], rgb[:, 48:, 2] = 220, 220
    Image.fromarray(rgb).save(tmp_path / "picture.png")
    return tmp_path / "picture.png"


def first_latent_frames(pipeline: DistilledPipeline, picture: Path, strength: float) -> tuple[Tensor, Tensor]:
    trace: dict[str, Tensor] = {}
    call = {**SMALL_CALL, "seed": 1, "images": [(picture, 0, strength)], "trace": trace.__setitem__}
    for _ in pipeline.stream(**call):  # type: ignore[arg-type]
        pass
    return trace["stage_1.video"][:, :, :1], trace["stage_2.video"][:, :, :1]


def test_a_picture_at_full_strength_is_the_first_latent_frame_of_both_stages(
    pipeline: DistilledPipeline, picture: Path
) -> None:
    full = ClipFormat(64, 64, 9, Fraction(24))
    conditions = pipeline.image_conditioner.encode([ImageSpec(picture)], (full.halved(), full))
    for latent, (condition,) in zip(first_latent_frames(pipeline, picture, 1.0), conditions, strict=True):
        assert torch.allclose(latent, condition.latent_BCFHW, atol=1e-6)


def test_a_weaker_picture_leaves_the_first_frame_freer(pipeline: DistilledPipeline, picture: Path) -> None:
    kept, _ = first_latent_frames(pipeline, picture, 1.0)
    distances = [
        float((first_latent_frames(pipeline, picture, strength)[0] - kept).norm()) for strength in (0.9, 0.5, 0.0)
    ]
    assert 0 < distances[0] < distances[1] < distances[2]


def test_a_picture_of_no_strength_changes_nothing(pipeline: DistilledPipeline, picture: Path) -> None:
    trace: dict[str, Tensor] = {}
    pipeline(**SMALL_CALL, seed=1, trace=trace.__setitem__)  # type: ignore[arg-type]
    free, _ = first_latent_frames(pipeline, picture, 0.0)
    assert torch.allclose(free, trace["stage_1.video"][:, :, :1], atol=1e-5)


def test_a_lora_set_is_given_per_job_and_gone_in_the_next(pipeline: DistilledPipeline, tiny_pack: Path) -> None:
    style = (tiny_pack / "style-lora.safetensors", 1.0)
    plain, styled, again = (
        pipeline(**SMALL_CALL, seed=5, loras=loras)[0]
        for loras in ([], [style], [])  # type: ignore[arg-type]
    )
    assert not torch.allclose(plain, styled)
    assert torch.equal(plain, again)


def test_each_lora_reports_what_it_did(pipeline: DistilledPipeline, tiny_pack: Path) -> None:
    call = {**SMALL_CALL, "seed": 5, "loras": [(tiny_pack / "style-lora.safetensors", 0.5)]}
    (fused,) = [event for event in pipeline.stream(**call) if isinstance(event, LorasFused)]  # type: ignore[arg-type]
    assert len(fused.summaries) == 1
    assert "32" in fused.summaries[0]


def test_a_second_job_reads_no_weights(pipeline: DistilledPipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline.load()
    monkeypatch.setattr("podium.models.builder.read_weights", None)
    video, _ = pipeline(**SMALL_CALL, seed=1)  # type: ignore[arg-type]
    assert video.shape == (9, 64, 64, 3)


def test_a_size_that_cannot_be_is_refused_before_anything_is_read(tiny_pack: Path) -> None:
    unloaded = DistilledPipeline(
        checkpoint_path=tiny_pack / "missing.safetensors",
        gemma_root=tiny_pack / "gemma3",
        spatial_upsampler_path=tiny_pack / "missing.safetensors",
        device=torch.device("cpu"),
    )
    with pytest.raises(JobRefusedError, match="multiple of 64"):
        unloaded(**{**SMALL_CALL, "height": 100}, seed=1)  # type: ignore[arg-type]


def test_bfloat16_stays_within_two_percent_of_float32(
    pipeline: DistilledPipeline, traced_run: dict[str, Tensor], tiny_pack: Path
) -> None:
    half = DistilledPipeline(
        checkpoint_path=tiny_pack / "ltx-2.3-tiny.safetensors",
        gemma_root=tiny_pack / "gemma3",
        spatial_upsampler_path=tiny_pack / "spatial-upscaler-x2.safetensors",
        device=torch.device("cpu"),
        dtype=torch.bfloat16,
    )
    exact, _ = pipeline(**SMALL_CALL, seed=2)  # type: ignore[arg-type]
    video, _ = half(**SMALL_CALL, seed=2)  # type: ignore[arg-type]
    assert float((video - exact).norm() / exact.norm()) < 2e-2


def test_a_picture_is_recompressed_as_the_models_generation_was_trained(
    pipeline: DistilledPipeline, picture: Path
) -> None:
    clips = (ClipFormat(64, 64, 9, Fraction(24)),)
    default, of_2_3, of_2_4 = (
        pipeline.image_conditioner.encode([ImageSpec(picture, crf=crf)], clips)[0][0].latent_BCFHW
        for crf in (None, 33, 18)
    )
    assert torch.equal(default, of_2_3)
    assert not torch.equal(default, of_2_4)
