"""Job events to the terminal: a bar where somebody watches, plain lines where a file or a pipe does.

Rule for callers: show every event, then `close()`; what the job came to is in `summary`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol, TextIO

from tqdm import tqdm

from podium.cli.terminal import say, silence
from podium.jobs import (
    PHASE_WORDS,
    ClipFinished,
    DurationPredicted,
    JobEvent,
    LorasApplied,
    Phase,
    PhaseEnded,
    PhaseStarted,
    StepDone,
)

_WORDS_WIDTH = max(len(words) for words in PHASE_WORDS.values())
_MAX_STEP_LINES = 20


@dataclass(slots=True)
class JobSummary:
    """What a job came to.

    Args:
        durations_s: Seconds by phase, in the order they first ended; a phase that came twice is summed.
        finished: The clip, once it is there.
        told: Sentences that were shown.
    """

    durations_s: dict[Phase, float] = field(default_factory=dict)
    finished: ClipFinished | None = None
    told: set[str] = field(default_factory=set)

    def note(self, event: JobEvent) -> None:
        """Take in what an event says about the whole job."""
        if isinstance(event, PhaseEnded):
            self.durations_s[event.phase] = self.durations_s.get(event.phase, 0.0) + event.duration_s
        elif isinstance(event, ClipFinished):
            self.finished = event

    def sentences(self, event: JobEvent) -> list[str]:
        """Return what an event has to say in words, each sentence once a job: both stages apply the same LoRAs."""
        sentences: tuple[str, ...] = ()
        if isinstance(event, LorasApplied):
            sentences = event.summaries
        elif isinstance(event, DurationPredicted):
            sentences = (f"The prompt asks for {event.num_frames} frames.",)
        new = [sentence for sentence in dict.fromkeys(sentences) if sentence not in self.told]
        self.told.update(new)
        return new

    def table(self) -> str:
        """Return one line a phase with its seconds, and their sum."""
        rows = [(PHASE_WORDS[phase], seconds) for phase, seconds in self.durations_s.items()]
        rows.append(("Together", sum(self.durations_s.values())))
        return "\n".join(f"  {words:<{_WORDS_WIDTH}} {seconds:9.2f} s" for words, seconds in rows)


class Progress(Protocol):
    """Somewhere to show a job's events."""

    summary: JobSummary

    def show(self, event: JobEvent) -> None:
        """Show one event; those with nothing to say on a terminal (pictures, memory) pass unseen."""

    def close(self) -> None:
        """Leave the terminal in order; may be called at any point of the job, and twice."""


def make_progress(stream: TextIO | None = None) -> Progress:
    """Return a progress bar if `stream` (stderr by default) is a terminal, plain lines if not."""
    stream = stream or sys.stderr
    return BarProgress(stream) if stream.isatty() else LineProgress(stream)


class LineProgress:
    """One line for each phase, and for each step of the phases that have few."""

    def __init__(self, stream: TextIO) -> None:
        self.summary = JobSummary()
        self._stream = stream
        self._next_step = 0.0

    def show(self, event: JobEvent) -> None:
        """Print what the event says, if it says anything."""
        self.summary.note(event)
        for line in self._lines(event):
            say(line, self._stream)

    def close(self) -> None:
        """Do nothing: every line is whole."""

    def _lines(self, event: JobEvent) -> Iterable[str]:
        match event:
            case PhaseStarted(phase):
                self._next_step = 0.0
                return [f"{PHASE_WORDS[phase]} ..."]
            case PhaseEnded(phase, duration_s):
                return [f"{PHASE_WORDS[phase]}: {duration_s:.2f} s"]
            case StepDone() if self._is_due(event):
                return [f"{PHASE_WORDS[event.phase]}: {event.step} of {event.num_steps}"]
        return self.summary.sentences(event)

    def _is_due(self, event: StepDone) -> bool:
        """Tell whether a step gets its line: all of a few, an even selection of many, the last one always."""
        if event.step < self._next_step and event.step != event.num_steps:
            return False
        self._next_step = event.step + event.num_steps / _MAX_STEP_LINES
        return True


class BarProgress:
    """A bar for the phase at work; a finished phase leaves its line with its seconds."""

    def __init__(self, stream: TextIO) -> None:
        self.summary = JobSummary()
        self._stream = stream
        self._bar: tqdm[None] | None = None

    def show(self, event: JobEvent) -> None:
        """Move the bar as the event says."""
        self.summary.note(event)
        try:
            self._draw(event)
        except OSError:
            # The terminal is gone; the job is not.
            silence(self._stream)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            bar, self._bar = self._bar, None
            bar.close()

    def _draw(self, event: JobEvent) -> None:
        if isinstance(event, PhaseStarted):
            self._begin(event)
        elif isinstance(event, PhaseEnded):
            self.close()
            self._print(f"{PHASE_WORDS[event.phase]:<{_WORDS_WIDTH}} {event.duration_s:9.2f} s")
        elif isinstance(event, StepDone) and self._bar is not None:
            self._bar.update(event.step - self._bar.n)
        for sentence in self.summary.sentences(event):
            self._print(sentence)

    def _begin(self, event: PhaseStarted) -> None:
        self.close()
        words = f"{PHASE_WORDS[event.phase]:<{_WORDS_WIDTH}}"
        counted = "{desc} {bar} {n_fmt}/{total_fmt} [{elapsed} < {remaining}]"
        self._bar = tqdm(
            desc=words,
            total=event.num_steps,
            file=self._stream,
            leave=False,
            dynamic_ncols=True,
            # Steps are few and slow: each of them shows.
            mininterval=0,
            bar_format=counted if event.num_steps else "{desc} ...",
        )

    def _print(self, line: str) -> None:
        # Through tqdm, so that a bar on the terminal steps aside.
        tqdm.write(line, file=self._stream)
