"""From options to a request, and from its events to a clip."""

from __future__ import annotations

import io
from collections.abc import Generator
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import platformdirs
import pytest

from podium.assets import read_text
from podium.cli.arguments import GenerateOptions, parse_arguments
from podium.cli.generate import choose_output, make_request, show_events
from podium.cli.progress import LineProgress
from podium.errors import JobRefusedError
from podium.geometry import ClipFormat, check_clip_format
from podium.jobs import ClipFinished, JobEvent, Phase, PhaseEnded, PhaseStarted
from podium.media.errors import MediaError
from podium.media.video_writer import check_output
from podium.pipelines.checks import check_form

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
    assert request.prompt == read_text("prompts/demo.txt")
    assert request.clip.height * request.clip.width * request.clip.num_frames < 2_000_000
    check_form(request)


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
