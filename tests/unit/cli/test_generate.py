"""From options to a request, and from its events to a clip."""

from __future__ import annotations

import io
from collections.abc import Generator
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import platformdirs
import pytest

from podium.cli.arguments import parse_arguments
from podium.cli.fleet_job import FleetOptions, setup_kwargs
from podium.cli.generate import (
    _demo_note,
    _model_paths,
    check_tokens,
    choose_output,
    fit_to_model,
    generate,
    make_request,
    show_events,
)
from podium.cli.options import DeviceOptions, GenerateOptions
from podium.cli.progress import LineProgress
from podium.errors import JobRefusedError
from podium.geometry import ClipFormat, check_clip_format
from podium.jobs import ClipFinished, GuidanceSpec, JobEvent, Phase, PhaseEnded, PhaseStarted, PipelineKind
from podium.media.errors import MediaError
from podium.media.video_writer import check_output
from podium.models.demo_pack import DemoModel, demo_form
from podium.models.pack import resolve_pack
from podium.models.paths import ModelPaths
from podium.models.residency import Place, ResidencyPlan
from podium.pipelines.checks import check_form

from tests.tiny_pack import TinyPack

NOW = datetime(2026, 11, 29, 12, 0, 0, 123_000, tzinfo=UTC)
MODEL = ["--checkpoint-path", "m", "--gemma-root", "g", "--spatial-upsampler-path", "u"]


def parse(*arguments: str) -> GenerateOptions:
    options = parse_arguments(["generate", *arguments])
    assert isinstance(options, GenerateOptions)
    return options


def test_a_request_has_the_two_stage_defaults() -> None:
    request = make_request(parse(*MODEL, "--prompt", "A fox"), NOW)
    assert request.clip == ClipFormat(1024, 1536, 121, Fraction(24))
    assert (request.seed, request.images, request.loras) == (0, (), ())


def test_the_demo_fills_in_a_prompt_and_a_small_size() -> None:
    request = make_request(parse("--demo"), NOW)
    assert request.prompt == demo_form().prompt
    assert request.clip.height * request.clip.width * request.clip.num_frames < 4_000_000
    check_form(request)


def test_the_demo_says_what_it_can_do(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    paths = ModelPaths(Path("c"), Path("g"), Path("u"), distilled_lora_path=Path("d"))
    demo = DemoModel(paths, (Path("/a b/outline.safetensors"),))
    monkeypatch.setattr("podium.cli.generate.ensure_demo_model", lambda folder, progress: demo)
    assert _model_paths(parse("--demo")) == ModelPaths(Path("c"), Path("g"), Path("u"))
    assert "--lora '/a b/outline.safetensors' 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "is_known"),
    [
        ((), True),
        (("--height", "384", "--width", "576", "--num-frames", "49"), True),
        (("--height", "576", "--width", "384"), True),
        (("--height", "512", "--width", "512"), False),
        (("--height", "64", "--width", "640"), False),
        (("--num-frames", "57"), False),
    ],
)
def test_what_the_demo_model_does_not_know_is_told(arguments: tuple[str, ...], is_known: bool) -> None:
    options = parse("--demo", *arguments)
    clip = make_request(options, NOW).clip
    assert (_demo_note(options, clip) == "") is is_known
    assert _demo_note(replace(options, is_demo=False), clip) == ""


def test_options_override_the_demos_own() -> None:
    arguments = [
        "--prompt",
        "A crow",
        "--height",
        "64",
        "--width",
        "128",
        "--num-frames",
        "9",
        "--frame-rate",
        "23.976",
    ]
    request = make_request(parse("--demo", *arguments), NOW)
    assert request.prompt == "A crow"
    assert request.clip == ClipFormat(64, 128, 9, Fraction(24000, 1001))


def test_a_value_of_zero_is_not_taken_for_a_default() -> None:
    with pytest.raises(JobRefusedError):
        check_clip_format(make_request(parse("--demo", "--num-frames", "0"), NOW).clip)


def test_an_empty_prompt_is_not_taken_for_the_demos() -> None:
    with pytest.raises(JobRefusedError, match="prompt is empty"):
        check_form(make_request(parse("--demo", "--prompt", ""), NOW))


def test_an_mp4_is_written_where_it_was_asked_for(tmp_path: Path) -> None:
    assert choose_output(tmp_path / "mine.mp4", "A fox", NOW) == tmp_path / "mine.mp4"


def test_a_folder_gets_a_clip_named_by_time_and_prompt(tmp_path: Path) -> None:
    assert choose_output(tmp_path, "A fox", NOW) == tmp_path / "20261129T120000-123Z-a-fox.mp4"


def test_without_an_output_path_clips_go_to_the_videos_folder() -> None:
    path = choose_output(None, "A fox", NOW)
    assert path.parent == platformdirs.user_videos_path() / "Podium"
    assert path.name == "20261129T120000-123Z-a-fox.mp4"


@pytest.mark.parametrize("name", ["clip.mov", "no-such-folder", "clip"])
def test_another_kind_of_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(JobRefusedError, match="neither a folder nor the name of an mp4"):
        choose_output(tmp_path / name, "A fox", NOW)


def test_a_name_that_no_drive_can_hold_is_refused_in_words(tmp_path: Path) -> None:
    path = choose_output(tmp_path / f"{'x' * 300}.mp4", "A fox", NOW)
    with pytest.raises(MediaError, match="the name is too long"):
        check_output(path)


def test_a_job_is_shown_to_its_end_and_summed_up() -> None:
    finished = ClipFinished(Path("c.mp4"), Path("c.json"), ClipFormat(64, 64, 9, Fraction(24)), 48_000, 1)

    def job() -> Generator[JobEvent, None, None]:
        yield PhaseStarted(Phase.STAGE_1, 8)
        yield PhaseEnded(Phase.STAGE_1, 2.0)
        yield finished

    summary = show_events(job(), LineProgress(io.StringIO()))
    assert summary.durations_s == {Phase.STAGE_1: 2.0}
    assert summary.finished is finished


def test_an_interrupted_display_closes_the_job_before_the_interruption_goes_on() -> None:
    happened = []

    def job() -> Generator[JobEvent, None, None]:
        try:
            yield PhaseStarted(Phase.STAGE_1, 8)
        finally:
            happened.append("cleaned up")

    class Interrupted(LineProgress):
        def show(self, event: JobEvent) -> None:
            raise KeyboardInterrupt

        def close(self) -> None:
            happened.append("display closed")

    with pytest.raises(KeyboardInterrupt):
        show_events(job(), Interrupted(io.StringIO()))
    assert happened == ["cleaned up", "display closed"]


LORA = ["--distilled-lora", "d"]


@pytest.mark.parametrize(
    ("kind", "height", "width"), [("fast", 1024, 1536), ("quality", 1024, 1536), ("hq", 1088, 1920)]
)
def test_every_pipeline_has_a_size_of_its_own(kind: str, height: int, width: int) -> None:
    request = make_request(
        parse(*MODEL, *(LORA if kind != "fast" else ()), "--pipeline", kind, "--prompt", "A fox"), NOW
    )
    assert (request.clip.height, request.clip.width) == (height, width)
    check_form(request)


def test_a_strength_beside_the_distilled_lora_is_the_second_stages() -> None:
    guided = [*MODEL, "--prompt", "A fox", "--pipeline", "quality", *LORA]
    assert make_request(parse(*guided, "0.8"), NOW).distilled_lora_strengths == (0.0, 0.8)
    both = parse(*guided, "0.8", "--distilled-lora-strengths", "0.1", "0.2")
    assert make_request(both, NOW).distilled_lora_strengths == (0.1, 0.2)
    assert make_request(parse(*guided), NOW).distilled_lora_strengths is None


def test_a_duration_becomes_the_nearest_count_of_frames() -> None:
    asked = parse("--demo", "--duration", "5", "--frame-rate", "25")
    # 125 frames are asked for; 121 and 129 are as near.
    assert make_request(asked, NOW).clip.num_frames in {121, 129}


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "1e9"])
def test_a_duration_that_no_clip_can_have_is_refused(seconds: str) -> None:
    with pytest.raises(JobRefusedError, match="Its length must lie above 0"):
        make_request(parse("--demo", "--duration", seconds), NOW)


def test_guidance_is_filled_in_by_the_models_own_generation(tiny_pack_2_0: TinyPack, tiny_pack_2_3: TinyPack) -> None:
    options = parse("--demo", "--pipeline", "quality", "--video-cfg", "4", "--audio-stg-blocks", "1")
    for pack in (tiny_pack_2_0, tiny_pack_2_3):
        request = fit_to_model(make_request(options, NOW), options, resolve_pack(pack.model_paths))
        # Both are models of 4 blocks, where the published block is the last but one.
        assert request.video_guidance == GuidanceSpec(4, 1, 0.7, 3, 0, (2,))
        assert request.audio_guidance == GuidanceSpec(7, 1, 0.7, 3, 0, (1,))


def test_a_default_size_suits_the_upscaler_and_a_given_one_stays(tiny_pack_2_3: TinyPack, tiny_pack: Path) -> None:
    upscaler = tiny_pack / "spatial-upscaler-x1.5.safetensors"
    paths = tiny_pack_2_3.model_paths
    pack = resolve_pack(ModelPaths(paths.checkpoint_path, paths.gemma_root, upscaler))
    options = parse("--demo", "--width", "128")
    clip = fit_to_model(make_request(options, NOW), options, pack).clip
    assert (clip.height % 96, clip.width) == (0, 128)
    options = parse(*MODEL, "--prompt", "A fox")
    clip = fit_to_model(make_request(options, NOW), options, pack).clip
    assert (clip.height % 96, clip.width % 96) == (0, 0)


def test_fast_takes_no_distilled_lora() -> None:
    options = parse(*MODEL, *LORA, "--prompt", "A fox", "--cpu-ranks", "1")
    with pytest.raises(JobRefusedError, match="Leave out --distilled-lora"):
        generate(options)


def test_pictures_beside_the_first_count_among_the_tokens() -> None:
    size = ["--height", "1088", "--width", "1920", "--num-frames", "481", "--prompt", "A fox"]
    check_tokens(make_request(parse(*MODEL, *size, "--image", "a.png", "0", "1"), NOW))
    with pytest.raises(JobRefusedError, match="This clip is too large"):
        check_tokens(make_request(parse(*MODEL, *size, "--image", "a.png", "8", "1"), NOW))


@pytest.mark.parametrize("keyframes", ["1", "8,"])
def test_key_frames_that_the_model_makes_count_among_the_tokens(keyframes: str) -> None:
    size = ["--height", "1088", "--width", "1920", "--num-frames", "481", "--prompt", "A fox"]
    with pytest.raises(JobRefusedError, match="This clip is too large"):
        check_tokens(make_request(parse(*MODEL, *size, "--generated-keyframes", keyframes), NOW))


def test_ranks_are_set_up_with_the_files_that_there_are(tiny_pack_2_5: TinyPack) -> None:
    paths = tiny_pack_2_5.model_paths
    kwargs = setup_kwargs(paths, FleetOptions(DeviceOptions(cpu_ranks=1), "float32"))
    assert kwargs["video_vae_path"] == paths.video_vae_path
    assert kwargs["quantization"] == "none"
    monolith = ModelPaths(paths.checkpoint_path, paths.gemma_root, paths.spatial_upsampler_path)
    assert "video_vae_path" not in setup_kwargs(monolith, FleetOptions(DeviceOptions(cpu_ranks=1), "float32"))


def test_ranks_are_set_up_with_the_plan_of_their_memory(
    tiny_pack_2_5: TinyPack, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = ResidencyPlan(text_encoder=Place.STREAMED, decoders=Place.VISITING)
    options = FleetOptions(DeviceOptions(cpu_ranks=1), "float32", residency=plan)
    assert setup_kwargs(tiny_pack_2_5.model_paths, options)["residency"] == plan


def test_the_request_knows_its_pipeline() -> None:
    assert make_request(parse("--demo", "--pipeline", "hq"), NOW).pipeline is PipelineKind.HQ
