"""The distilled pipeline on fleets of CPU ranks: the same clip as on one, and everything an artist sees of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from podium.geometry import ClipFormat
from podium.jobs import (
    ClipFinished,
    GenerationRequest,
    JobEvent,
    LorasApplied,
    LoraSpec,
    MotionPreview,
    Phase,
    PhaseStarted,
    PreviewClip,
    PreviewPicture,
    StepDone,
)
from podium.media.clip_reader import read_clip_info, read_parameters
from podium.models.paths import ModelPaths
from podium.multigpu import JobCancelled, MGPUController, RunnerRef, SymmetricRunnerError
from podium.pipelines.parameters import clip_parameters

from tests.fakes.thorough import thorough
from tests.fakes.traced_runner import LATENTS

RUNNER = RunnerRef("tests.fakes.traced_runner:TracedDistilledRunner")
# 17 frames at 128 x 192: 18 and 72 video tokens, of which three and four ranks get unlike shares.
CALL = {"prompt": "a red fox", "seed": 7, "height": 128, "width": 192, "num_frames": 17, "frame_rate": 24}
CLIP = ClipFormat(64, 64, 17, Fraction(24))


@pytest.fixture(scope="module")
def paths(tiny_pack: Path) -> ModelPaths:
    return ModelPaths(
        tiny_pack / "ltx-2.3-tiny.safetensors", tiny_pack / "gemma3", tiny_pack / "spatial-upscaler-x2.safetensors"
    )


def start_fleet(runner: RunnerRef, num_ranks: int, paths: ModelPaths, folder: Path) -> MGPUController:
    fleet = MGPUController(runner, cpu_ranks=num_ranks, log_folder=folder)
    fleet.start(
        timeout=120,
        checkpoint_path=paths.checkpoint_path,
        gemma_root=paths.gemma_root,
        spatial_upsampler_path=paths.spatial_upsampler_path,
        dtype="float32",
        preview_folder=folder,
    )
    return fleet


@pytest.fixture(scope="module")
def distilled(
    _warm_forkserver: None, paths: ModelPaths, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[int], MGPUController]]:
    fleets: dict[int, MGPUController] = {}

    def get(num_ranks: int) -> MGPUController:
        if num_ranks not in fleets:
            fleets[num_ranks] = start_fleet(RUNNER, num_ranks, paths, tmp_path_factory.mktemp("previews"))
        return fleets[num_ranks]

    yield get
    for fleet in fleets.values():
        fleet.shutdown(graceful_timeout=10)


@pytest.fixture(scope="module")
def variants(tiny_pack: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    picture = tmp_path_factory.mktemp("picture") / "picture.png"
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (96, 96, 3), np.uint8)).save(picture)
    loras = [(tiny_pack / "distilled-lora.safetensors", 0.8), (tiny_pack / "style-lora.safetensors", 0.6)]
    return {"neither": {}, "an image": {"images": [(picture, 0, 0.7)]}, "LoRAs": {"loras": loras}}


@pytest.fixture(scope="module")
def alone(
    distilled: Callable[[int], MGPUController], variants: dict[str, dict[str, Any]]
) -> Callable[[str], dict[str, Any]]:
    """Return what one rank makes of a variant, made once."""
    made: dict[str, dict[str, Any]] = {}

    def get(variant: str) -> dict[str, Any]:
        if variant not in made:
            (made[variant],) = distilled(1).stream(**CALL, **variants[variant])
        return made[variant]

    return get


def relative(ours: torch.Tensor, theirs: torch.Tensor) -> float:
    return float((ours - theirs).norm() / theirs.norm())


@pytest.mark.parametrize(
    ("num_ranks", "variant"),
    [(2, "neither"), (2, "an image"), (2, "LoRAs"), (3, "an image"), (3, "LoRAs"), thorough(4, "neither")],
)
def test_any_number_of_ranks_makes_the_clip_of_one(
    distilled: Callable[[int], MGPUController],
    variants: dict[str, dict[str, Any]],
    alone: Callable[[str], dict[str, Any]],
    num_ranks: int,
    variant: str,
) -> None:
    together = list(distilled(num_ranks).stream(**CALL, **variants[variant]))
    assert sorted(item["rank"] for item in together) == list(range(num_ranks))
    for name in LATENTS:
        assert relative(together[0][name], alone(variant)[name]) < 1e-5
        # Nothing may drift apart: every rank goes on with the same bits.
        assert all(torch.equal(item[name], together[0][name]) for item in together)


def test_one_rank_of_a_fleet_makes_the_clip_of_the_plain_pipeline(
    alone: Callable[[str], dict[str, Any]], variants: dict[str, dict[str, Any]], paths: ModelPaths
) -> None:
    from podium.pipelines.distilled import DistilledPipeline

    pipeline = DistilledPipeline(
        checkpoint_path=paths.checkpoint_path,
        gemma_root=paths.gemma_root,
        spatial_upsampler_path=paths.spatial_upsampler_path,
        device=torch.device("cpu"),
        dtype=torch.float32,
    )
    trace: dict[str, torch.Tensor] = {}
    call: dict[str, Any] = {**CALL, **variants["LoRAs"], "trace": trace.__setitem__}
    for _event in pipeline.stream(**call):
        pass
    assert all(relative(alone("LoRAs")[name], trace[name]) < 1e-5 for name in LATENTS)


@pytest.mark.parametrize("num_ranks", [thorough(1), 2])
def test_recorded_forwards_make_the_clip_that_others_make_with_every_set_of_loras(
    paths: ModelPaths,
    variants: dict[str, dict[str, Any]],
    alone: Callable[[str], dict[str, Any]],
    tmp_path: Path,
    num_ranks: int,
) -> None:
    fleet = start_fleet(RunnerRef("tests.fakes.reruns:RerunDistilledRunner"), num_ranks, paths, tmp_path)
    try:
        # A picture gives the first frame's tokens another noise level: two stages more to record.
        for variant, num_recorded in (("neither", 2), ("LoRAs", 2), ("an image", 4), ("neither", 4)):
            for item in fleet.stream(**CALL, **variants[variant]):
                assert all(relative(item[name], alone(variant)[name]) < 1e-5 for name in LATENTS)
                assert item["num_recorded"] == num_recorded
        # A clip of another size lets go of what was recorded, so that the one after it records anew.
        first, other = ClipFormat(CALL["height"], CALL["width"], CALL["num_frames"], Fraction(24)), CLIP
        for number, clip in enumerate((first, other, first)):
            folder = tmp_path / str(number)
            folder.mkdir()
            list(start(fleet, replace(make_request(folder), clip=clip), paths))
        assert {item["num_recorded"] for item in fleet.stream(**CALL)} == {4 + 3 * 2}
    finally:
        fleet.shutdown(graceful_timeout=10)


@pytest.mark.parametrize("num_ranks", [thorough(1), 2, 3])
def test_lora_sets_leave_no_trace_in_the_weights(
    distilled: Callable[[int], MGPUController], variants: dict[str, dict[str, Any]], num_ranks: int
) -> None:
    a, b = variants["LoRAs"]["loras"]
    small = {**CALL, "height": 64, "width": 64, "num_frames": 9}

    def digests(loras: list[tuple[Path, float]]) -> set[str]:
        return {item["weights"] for item in distilled(num_ranks).stream(**small, loras=loras)}

    sets = [digests(loras) for loras in ([a], [b], [a], [], [a, b], [b], [])]
    assert all(len(of_ranks) == 1 for of_ranks in sets), "ranks hold unlike weights"
    first_a, first_b, second_a, first_none, both, second_b, second_none = (of_ranks.pop() for of_ranks in sets)
    assert (first_a, first_b, first_none) == (second_a, second_b, second_none)
    assert len({first_a, first_b, first_none, both}) == 4


def test_clean_weights_are_sharded(distilled: Callable[[int], MGPUController]) -> None:
    small = {**CALL, "height": 64, "width": 64, "num_frames": 9}
    (alone,) = distilled(1).stream(**small)
    shards = [item["shard_bytes"] for item in distilled(3).stream(**small)]
    assert sum(shards) == alone["shard_bytes"]
    assert max(shards) < 0.6 * alone["shard_bytes"]


def make_request(folder: Path, **changes: Any) -> GenerationRequest:
    return GenerationRequest("a red fox", 7, CLIP, folder / "clip.mp4", **changes)


def start(fleet: MGPUController, request: GenerationRequest, paths: ModelPaths) -> Any:
    return fleet.stream(request=request, parameters=clip_parameters(request, paths, dtype="float32"))


def test_a_fleet_writes_a_clip_and_tells_its_story(
    distilled: Callable[[int], MGPUController], paths: ModelPaths, tiny_pack: Path, tmp_path: Path
) -> None:
    request = make_request(tmp_path, loras=(LoraSpec(tiny_pack / "style-lora.safetensors", 0.5),))
    events: list[JobEvent] = list(start(distilled(2), request, paths))
    finished = events[-1]
    assert isinstance(finished, ClipFinished)
    info = read_clip_info(finished.path)
    assert (info.width, info.height, info.num_frames, info.fps) == (64, 64, 17, Fraction(24))
    assert read_parameters(finished.path)["seed"] == 7
    assert [event.phase for event in events if isinstance(event, PhaseStarted)] == [
        Phase.ENCODING, Phase.SWAPPING, Phase.STAGE_1, Phase.UPSAMPLING, Phase.STAGE_2, Phase.DECODING, Phase.WRITING
    ]  # fmt: skip
    assert sum(isinstance(event, StepDone) and event.phase is Phase.STAGE_1 for event in events) == 8
    (applied,) = [event for event in events if isinstance(event, LorasApplied)]
    assert len(applied.summaries) == 1


def test_previews_come_while_the_clip_is_made(
    distilled: Callable[[int], MGPUController], paths: ModelPaths, tmp_path: Path
) -> None:
    events: list[JobEvent] = list(start(distilled(2), make_request(tmp_path), paths))
    pictures = [event for event in events if isinstance(event, PreviewPicture)]
    motions = [event for event in events if isinstance(event, MotionPreview)]
    assert {(event.phase, event.step) for event in pictures} >= {(Phase.STAGE_1, step) for step in range(1, 9)}
    assert all(len(event.rgb) == event.width * event.height * 3 for event in pictures)
    assert min(event.step for event in motions) == 2
    assert all(len(event.rgb) == event.width * event.height * event.num_frames * 3 for event in motions)
    assert {event.num_frames for event in motions} == {3}
    (clip,) = [event for event in events if isinstance(event, PreviewClip)]
    info = read_clip_info(clip.path)
    assert (info.width, info.height, info.num_frames) == (32, 32, 17)
    assert info.audio_duration_s is not None
    second_stage = next(i for i, e in enumerate(events) if isinstance(e, PhaseStarted) and e.phase is Phase.STAGE_2)
    assert events.index(clip) < second_stage


CANCEL_AT = [Phase.ENCODING, Phase.SWAPPING, Phase.STAGE_1, Phase.UPSAMPLING, Phase.STAGE_2, Phase.DECODING]


@pytest.mark.parametrize("phase", CANCEL_AT)
def test_a_soft_cancel_in_any_phase_leaves_a_fleet_that_takes_the_next_job(
    distilled: Callable[[int], MGPUController], paths: ModelPaths, tmp_path: Path, phase: Phase
) -> None:
    fleet = distilled(2)
    stream = start(fleet, make_request(tmp_path), paths)
    for event in stream:
        if isinstance(event, PhaseStarted) and event.phase is phase:
            break
    canceller = threading.Thread(target=stream.cancel)
    canceller.start()
    canceller.join()
    with pytest.raises(SymmetricRunnerError) as caught:
        list(stream)
    assert isinstance(caught.value.__cause__, JobCancelled)
    assert list(tmp_path.iterdir()) == []
    assert isinstance(list(start(fleet, make_request(tmp_path), paths))[-1], ClipFinished)


def test_what_the_first_rank_cannot_write_is_refused_by_all_and_the_fleet_lives(
    distilled: Callable[[int], MGPUController], paths: ModelPaths, tmp_path: Path
) -> None:
    fleet, request = distilled(2), make_request(tmp_path / "missing")
    with pytest.raises(SymmetricRunnerError, match="missing"):
        list(start(fleet, request, paths))
    (tmp_path / "missing").mkdir()
    assert isinstance(list(start(fleet, request, paths))[-1], ClipFinished)


def test_a_lora_that_cannot_be_read_is_refused_by_all_and_changes_no_weight(
    distilled: Callable[[int], MGPUController], paths: ModelPaths, tmp_path: Path
) -> None:
    fleet = distilled(2)
    small = {**CALL, "height": 64, "width": 64, "num_frames": 9}
    before = {item["weights"] for item in fleet.stream(**small)}
    request = make_request(tmp_path, loras=(LoraSpec(tmp_path / "gone.safetensors"),))
    with pytest.raises(SymmetricRunnerError, match="gone"):
        list(fleet.stream(request=request, parameters={"podium": 1}))
    assert {item["weights"] for item in fleet.stream(**small)} == before


def test_a_clip_too_long_for_the_fleet_is_refused_by_all(
    distilled: Callable[[int], MGPUController],
) -> None:
    with pytest.raises(SymmetricRunnerError, match="This clip is too large"):
        list(distilled(2).stream(**{**CALL, "height": 2048, "width": 4096, "num_frames": 481}))


def test_key_frames_that_make_a_clip_too_large_are_refused_by_all(
    distilled: Callable[[int], MGPUController], tmp_path: Path
) -> None:
    largest = ClipFormat(1088, 1920, 481, Fraction(24))
    request = make_request(tmp_path, generated_keyframes=1)
    with pytest.raises(SymmetricRunnerError, match="This clip is too large"):
        list(distilled(2).stream(request=replace(request, clip=largest), parameters={}))
