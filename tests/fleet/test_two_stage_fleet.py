"""The guided pipelines on fleets of CPU ranks: the same clip as in one process, soft cancel, and what is kept of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from podium.geometry import ClipFormat
from podium.helper.clip_files import ClipDesk
from podium.helper.requests import ReadClip
from podium.jobs import (
    ClipFinished,
    DurationPredicted,
    DurationRequest,
    EnhanceRequest,
    GenerationRequest,
    GuidanceMode,
    ImageSpec,
    JobEvent,
    LoraSpec,
    Phase,
    PhaseStarted,
    PipelineKind,
    PreviewClip,
    PromptEnhanced,
    StepDone,
)
from podium.media.clip_reader import read_clip_info, read_parameters
from podium.models.paths import ModelPaths
from podium.models.tile_layout import DimensionTilingConfig, TileCountConfig
from podium.multigpu import JobCancelled, MGPUController, RunnerRef, SymmetricRunnerError
from podium.multigpu.tdp_builder import TDP_OVERLAP, TiledDataParallelBuilder
from podium.multigpu.weight_tracker import TransformerWeightTracker
from podium.pipelines.checks import check_request
from podium.pipelines.parameters import clip_parameters
from podium.pipelines.report import call_of

from tests.fakes.guided_runs import make_picture, two_stages, two_stages_hq
from tests.fakes.thorough import thorough
from tests.fakes.traced_runner import LATENTS
from tests.tiny_pack import TinyPack

RUNNERS = {
    PipelineKind.QUALITY: "tests.fakes.traced_runner:TracedTwoStagesRunner",
    PipelineKind.HQ: "tests.fakes.traced_runner:TracedTwoStagesHQRunner",
}
# 12 cells wide: two tiles of 8 and 9 cells with 5 shared, three tiles do not fit into its 4 rows, nor four.
CLIP = ClipFormat(64, 384, 9, Fraction(24))
SMALL = ClipFormat(64, 64, 9, Fraction(24))
Fleets = Callable[[PipelineKind, int], MGPUController]


def relative(ours: Tensor, theirs: Tensor) -> float:
    return float((ours - theirs).norm() / theirs.norm())


def setup_kwargs(paths: ModelPaths) -> dict[str, Any]:
    return {field.name: getattr(paths, field.name) for field in fields(paths)} | {"dtype": "float32"}


@pytest.fixture(scope="module")
def guided(
    _warm_forkserver: None, tiny_pack_2_3: TinyPack, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Fleets]:
    fleets: dict[tuple[PipelineKind, int], MGPUController] = {}

    def get(kind: PipelineKind, num_ranks: int) -> MGPUController:
        if (kind, num_ranks) not in fleets:
            folder = tmp_path_factory.mktemp("previews")
            fleet = MGPUController(RunnerRef(RUNNERS[kind]), cpu_ranks=num_ranks, log_folder=folder)
            fleet.start(timeout=120, preview_folder=folder, **setup_kwargs(tiny_pack_2_3.model_paths))
            fleets[kind, num_ranks] = fleet
        return fleets[kind, num_ranks]

    yield get
    for fleet in fleets.values():
        fleet.shutdown(graceful_timeout=10)


@pytest.fixture(scope="module")
def make_request(tiny_pack_2_3: TinyPack, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., GenerationRequest]:
    picture = make_picture(tmp_path_factory.mktemp("picture") / "picture.png", 1)

    def make(kind: PipelineKind, **changes: Any) -> GenerationRequest:
        request = GenerationRequest(
            "a red fox",
            7,
            CLIP,
            Path("unused.mp4"),
            images=(ImageSpec(picture, 0, 0.7),),
            loras=(LoraSpec(tiny_pack_2_3.style_lora_path, 0.6),),
            pipeline=kind,
            negative_prompt="blurry",
            num_inference_steps=3,
        )
        return replace(request, **changes)

    return make


@pytest.fixture(scope="module")
def alone(tiny_pack_2_3: TinyPack) -> Callable[[GenerationRequest], dict[str, Tensor]]:
    """Return what the pipeline of one process makes of a request; its tiles, if it names any, come one by one."""

    def run(request: GenerationRequest) -> dict[str, Tensor]:
        pipeline: Any = (two_stages_hq if request.pipeline is PipelineKind.HQ else two_stages)(tiny_pack_2_3)
        if request.stage_2_tiles not in {None, (1, 1)}:
            assert request.stage_2_tiles is not None
            rows, columns = (DimensionTilingConfig(count, TDP_OVERLAP) for count in request.stage_2_tiles)
            pipeline.stage_2.transformer_builder = TiledDataParallelBuilder(
                inner=pipeline.stage_2.transformer_builder,
                group=None,
                tiling=TileCountConfig(height=rows, width=columns),
                registry=pipeline._model.registry,
                tracker=TransformerWeightTracker(None),
            )
        trace: dict[str, Tensor] = {}
        for _event in pipeline.stream(**call_of(request), trace=trace.__setitem__):
            if LATENTS[-1] in trace:
                break
        return trace

    return run


def worst_against(fleet: MGPUController, request: GenerationRequest, alone: dict[str, Tensor]) -> float:
    together = list(fleet.stream(traced=request))
    for item in together:
        # Nothing may drift apart: every rank goes on with the same bits.
        assert all(torch.equal(item[name], together[0][name]) for name in LATENTS)
    return max(relative(together[0][name], alone[name]) for name in LATENTS)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("kind", "tiles"),
    [
        (PipelineKind.QUALITY, (1, 2)),
        (PipelineKind.HQ, (1, 1)),
        thorough(PipelineKind.QUALITY, (1, 1)),
        thorough(PipelineKind.HQ, (1, 2)),
    ],
)
def test_any_number_of_ranks_makes_the_clip_of_one_process(
    guided: Fleets,
    make_request: Callable[..., GenerationRequest],
    alone: Callable[[GenerationRequest], dict[str, Tensor]],
    kind: PipelineKind,
    tiles: tuple[int, int],
    record_property: Callable[[str, object], None],
) -> None:
    request = make_request(kind, stage_2_tiles=tiles)
    wanted = alone(request)
    for num_ranks in (1, 2, 3):
        worst = worst_against(guided(kind, num_ranks), request, wanted)
        record_property("figure", (f"{kind}, {tiles} tiles, {num_ranks} ranks against one process", f"{worst:.1e}"))
        assert worst < 1e-5


@pytest.mark.parametrize(("num_ranks", "tiles"), [(1, [1, 1]), (2, [1, 2]), (3, [1, 3])])
def test_a_second_stage_that_names_no_tiles_has_one_a_rank(
    guided: Fleets, make_request: Callable[..., GenerationRequest], num_ranks: int, tiles: list[int]
) -> None:
    (item, *_) = guided(PipelineKind.QUALITY, num_ranks).stream(traced=make_request(PipelineKind.QUALITY))
    assert item["stage_2"]["tiles"] == tiles
    assert item["stage_2"]["mode"] == ("whole" if num_ranks == 1 else "tiles")


def test_where_tiles_would_not_exceed_their_overlap_the_tokens_are_shared_out(
    guided: Fleets, make_request: Callable[..., GenerationRequest]
) -> None:
    (item, *_) = guided(PipelineKind.QUALITY, 2).stream(traced=make_request(PipelineKind.QUALITY, clip=SMALL))
    assert item["stage_2"] == {"mode": "whole", "tiles": [1, 1]}


def test_tiles_that_do_not_fit_are_refused_by_all_and_the_fleet_lives(
    guided: Fleets, make_request: Callable[..., GenerationRequest]
) -> None:
    fleet = guided(PipelineKind.QUALITY, 2)
    with pytest.raises(SymmetricRunnerError, match="2 × 1 tiles cannot be made at 384 × 64 pixels"):
        list(fleet.stream(request=make_request(PipelineKind.QUALITY, stage_2_tiles=(2, 1)), parameters={}))
    assert fleet.is_alive


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        (GuidanceMode.SEQUENTIAL, "one after the other"),
        (GuidanceMode.BATCHED, "one batch"),
        (GuidanceMode.MESH, "2 teams of 1"),
    ],
)
def test_guidance_runs_the_way_that_was_asked_for(
    guided: Fleets, make_request: Callable[..., GenerationRequest], mode: GuidanceMode, words: str
) -> None:
    request = make_request(PipelineKind.QUALITY, clip=SMALL, num_inference_steps=1, guidance_mode=mode)
    (item, *_) = guided(PipelineKind.QUALITY, 2).stream(traced=request)
    assert item["guidance"] == {"4": words}


def test_guidance_that_cannot_be_spread_is_refused_and_the_fleet_lives(
    guided: Fleets, make_request: Callable[..., GenerationRequest]
) -> None:
    fleet = guided(PipelineKind.QUALITY, 1)
    with pytest.raises(SymmetricRunnerError, match="spread over two devices or more"):
        list(fleet.stream(request=make_request(PipelineKind.QUALITY, guidance_mode=GuidanceMode.MESH), parameters={}))
    assert fleet.is_alive


def test_a_request_for_another_pipeline_is_refused_by_all(
    guided: Fleets, make_request: Callable[..., GenerationRequest]
) -> None:
    with pytest.raises(SymmetricRunnerError, match="started for the pipeline “quality”, and the clip is for “hq”"):
        list(guided(PipelineKind.QUALITY, 2).stream(request=make_request(PipelineKind.HQ), parameters={}))


@pytest.mark.parametrize("num_ranks", [thorough(1), 2, 3])
def test_lora_sets_leave_no_trace_from_job_to_job(
    guided: Fleets, make_request: Callable[..., GenerationRequest], tiny_pack_2_3: TinyPack, num_ranks: int
) -> None:
    fleet = guided(PipelineKind.QUALITY, num_ranks)
    a, b = LoraSpec(tiny_pack_2_3.style_lora_path, 0.6), LoraSpec(tiny_pack_2_3.distilled_lora_path, -0.4)

    def run(lora: LoraSpec) -> dict[str, Any]:
        (item, *_) = fleet.stream(
            traced=make_request(PipelineKind.QUALITY, clip=SMALL, loras=(lora,), images=(), num_inference_steps=2)
        )
        return item

    first, other, again = run(a), run(b), run(a)
    assert first["weights"] == again["weights"] != other["weights"]
    assert all(torch.equal(first[name], again[name]) for name in LATENTS)
    assert not torch.equal(first["stage_1.video"], other["stage_1.video"])


def start(fleet: MGPUController, request: GenerationRequest, paths: ModelPaths) -> Any:
    return fleet.stream(request=request, parameters=clip_parameters(request, paths, dtype="float32"))


@pytest.mark.parametrize("kind", RUNNERS)
def test_a_fleet_writes_a_clip_and_tells_its_story(
    guided: Fleets,
    make_request: Callable[..., GenerationRequest],
    tiny_pack_2_3: TinyPack,
    kind: PipelineKind,
    tmp_path: Path,
) -> None:
    request = make_request(kind, clip=SMALL, output_path=tmp_path / "clip.mp4")
    events: list[JobEvent] = list(start(guided(kind, 2), request, tiny_pack_2_3.model_paths))
    finished = events[-1]
    assert isinstance(finished, ClipFinished)
    info = read_clip_info(finished.path)
    assert (info.width, info.height, info.num_frames, info.fps) == (64, 64, 9, Fraction(24))
    assert [event.phase for event in events if isinstance(event, PhaseStarted)] == [
        Phase.ENCODING, Phase.SWAPPING, Phase.STAGE_1, Phase.UPSAMPLING, Phase.SWAPPING, Phase.STAGE_2, Phase.DECODING,
        Phase.WRITING,
    ]  # fmt: skip
    steps = [event.phase for event in events if isinstance(event, StepDone)]
    assert (steps.count(Phase.STAGE_1), steps.count(Phase.STAGE_2)) == (3, 3)
    (preview,) = [event for event in events if isinstance(event, PreviewClip)]
    assert (read_clip_info(preview.path).width, read_clip_info(preview.path).height) == (32, 32)


def test_a_clip_gives_back_the_request_it_was_made_with(
    guided: Fleets, make_request: Callable[..., GenerationRequest], tiny_pack_2_3: TinyPack, tmp_path: Path
) -> None:
    paths = tiny_pack_2_3.model_paths
    asked = make_request(
        PipelineKind.QUALITY,
        output_path=tmp_path / "clip.mp4",
        num_inference_steps=2,
        guidance_mode=GuidanceMode.BATCHED,
    )
    request = check_request(asked, paths).resolved
    (*_, finished) = start(guided(PipelineKind.QUALITY, 2), request, paths)
    parameters = read_parameters(finished.path)
    assert parameters["stage_2"] == {"mode": "tiles", "tiles": [1, 2], "overlap": TDP_OVERLAP}
    assert (parameters["guidance_mode"], parameters["guidance"]) == ("batched", {"4": "one batch"})
    assert parameters["attention_backend"] == "torch-sdpa"
    folders = (tiny_pack_2_3.folder, request.images[0].path.parent)
    contents = ClipDesk().read_clip(ReadClip(finished.path, folders=folders))
    assert contents.request == replace(request, stage_2_tiles=(1, 2))
    assert contents.models == paths


@pytest.mark.parametrize("kind", RUNNERS)
def test_a_soft_cancel_in_the_guided_stage_leaves_a_fleet_that_takes_the_next_job(
    guided: Fleets,
    make_request: Callable[..., GenerationRequest],
    tiny_pack_2_3: TinyPack,
    kind: PipelineKind,
    tmp_path: Path,
) -> None:
    fleet, paths = guided(kind, 2), tiny_pack_2_3.model_paths
    request = make_request(kind, clip=SMALL, output_path=tmp_path / "clip.mp4", num_inference_steps=30)
    stream = start(fleet, request, paths)
    for event in stream:
        if isinstance(event, StepDone) and event.phase is Phase.STAGE_1:
            stream.cancel()
            break
    left = []
    with pytest.raises(SymmetricRunnerError) as caught:
        left.extend(stream)
    assert isinstance(caught.value.__cause__, JobCancelled)
    assert sum(isinstance(event, StepDone) for event in left) <= 2
    assert list(tmp_path.iterdir()) == []
    finished = list(start(fleet, replace(request, num_inference_steps=2), paths))[-1]
    assert isinstance(finished, ClipFinished)


def test_a_prompt_is_written_out_by_the_fleet_that_makes_the_clip(guided: Fleets) -> None:
    events = list(guided(PipelineKind.QUALITY, 2).stream(enhance=EnhanceRequest("a red fox", 3)))
    assert isinstance(events[-1], PromptEnhanced)
    assert events[-1].prompt


def test_a_model_with_a_duration_head_tells_how_long_the_clip_shall_be(
    own_fleet: Callable[..., MGPUController], tiny_pack_2_5: TinyPack
) -> None:
    runner = RunnerRef("podium.multigpu.runners.ti2vid_two_stages_mgpu:TI2VidTwoStagesRunner")
    fleet = own_fleet(2, runner=runner, **setup_kwargs(tiny_pack_2_5.model_paths))
    events = list(fleet.stream(duration=DurationRequest("a red fox", Fraction(24))))
    predicted = events[-1]
    assert isinstance(predicted, DurationPredicted)
    assert predicted.num_frames % 8 == 1
    assert 24 <= predicted.num_frames <= 480
