"""What a job's events look like on a terminal and in a file."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from podium.cli.progress import BarProgress, JobSummary, LineProgress, make_progress
from podium.geometry import ClipFormat
from podium.jobs import (
    PHASE_WORDS,
    ClipFinished,
    DurationPredicted,
    JobEvent,
    LorasApplied,
    Phase,
    PhaseEnded,
    PhaseStarted,
    PreviewPicture,
    RankMemory,
    StepDone,
)

FINISHED = ClipFinished(Path("c.mp4"), Path("c.json"), ClipFormat(64, 64, 9, 24), 48_000, 1234)  # type: ignore[arg-type] # a whole rate
JOB: tuple[JobEvent, ...] = (
    PhaseStarted(Phase.LOADING),
    PhaseEnded(Phase.LOADING, 1.5),
    LorasApplied(("style.safetensors: all 12 layers applied.",)),
    PhaseStarted(Phase.STAGE_1, 2),
    StepDone(Phase.STAGE_1, 1, 2, 0.25, sigma=1.0),
    PreviewPicture(Phase.STAGE_1, 1, 1, 1, b"\0\0\0"),
    RankMemory(0, 1, 2),
    StepDone(Phase.STAGE_1, 2, 2, 0.25, sigma=0.5),
    PhaseEnded(Phase.STAGE_1, 0.5),
    FINISHED,
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_file_gets_plain_lines() -> None:
    stream = io.StringIO()
    progress = make_progress(stream)
    for event in JOB:
        progress.show(event)
    progress.close()
    assert stream.getvalue().splitlines() == [
        "Loading the model ...",
        "Loading the model: 1.50 s",
        "style.safetensors: all 12 layers applied.",
        "Stage 1 ...",
        "Stage 1: 1 of 2",
        "Stage 1: 2 of 2",
        "Stage 1: 0.50 s",
    ]


def test_a_terminal_gets_a_bar_that_leaves_one_line_a_phase() -> None:
    stream = Terminal()
    progress = make_progress(stream)
    assert isinstance(progress, BarProgress)
    for event in JOB:
        progress.show(event)
    progress.close()
    said = stream.getvalue()
    assert "2/2" in said
    left = [line.rsplit("\r", 1)[-1].strip() for line in said.split("\n")]
    assert [line for line in left if line] == [
        f"{'Loading the model':<19} {1.5:9.2f} s",
        "style.safetensors: all 12 layers applied.",
        f"{'Stage 1':<19} {0.5:9.2f} s",
    ]


def test_closing_in_the_middle_takes_the_bar_away_and_may_be_done_twice() -> None:
    stream = Terminal()
    progress = BarProgress(stream)
    progress.show(PhaseStarted(Phase.STAGE_1, 8))
    progress.show(StepDone(Phase.STAGE_1, 3, 8, 0.1))
    progress.close()
    progress.close()
    assert stream.getvalue().rsplit("\r", 1)[-1].strip() == ""


@pytest.mark.parametrize(("num_steps", "num_lines"), [(8, 8), (20, 20), (121, 19), (1000, 21)])
def test_a_phase_of_many_steps_gets_a_selection_of_lines_and_the_last(num_steps: int, num_lines: int) -> None:
    stream = io.StringIO()
    progress = LineProgress(stream)
    for step in range(1, num_steps + 1):
        progress.show(StepDone(Phase.DECODING, step, num_steps, 0.0))
    lines = stream.getvalue().splitlines()
    assert len(lines) == num_lines
    assert lines[-1].startswith(f"Decoding: {num_steps} of {num_steps}")


def test_a_summary_sums_the_phases_and_keeps_the_clip() -> None:
    summary = JobSummary()
    for event in (*JOB, PhaseEnded(Phase.LOADING, 0.5)):
        summary.note(event)
    assert summary.durations_s == {Phase.LOADING: 2.0, Phase.STAGE_1: 0.5}
    assert summary.finished is FINISHED
    rows = [line.split() for line in summary.table().splitlines()]
    assert rows == [["Loading", "the", "model", "2.00", "s"], ["Stage", "1", "0.50", "s"], ["Together", "2.50", "s"]]


def test_every_phase_has_words() -> None:
    assert set(PHASE_WORDS) == set(Phase)


@pytest.mark.parametrize("make", [LineProgress, BarProgress])
def test_what_both_stages_say_of_a_lora_is_shown_once(make: type[LineProgress | BarProgress]) -> None:
    stream = io.StringIO()
    progress = make(stream)
    for summaries in (("style: applied.",), ("style: applied.", "distilled: applied.")):
        progress.show(LorasApplied(summaries))
    progress.close()
    assert stream.getvalue().splitlines() == ["style: applied.", "distilled: applied."]


def test_a_length_that_the_model_tells_is_shown() -> None:
    stream = io.StringIO()
    LineProgress(stream).show(DurationPredicted(121))
    assert stream.getvalue() == "The prompt asks for 121 frames.\n"
