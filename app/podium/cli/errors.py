"""Errors to sentences and exit codes."""

from __future__ import annotations

import traceback
from enum import IntEnum
from typing import TextIO

from podium.cli.terminal import say
from podium.errors import JobRefusedError, PodiumError
from podium.models.errors import CheckpointError
from podium.multigpu import PlacementError


class ExitCode(IntEnum):
    """What a command's exit code says."""

    DONE = 0
    REFUSED = 2
    FAILED = 3
    INTERRUPTED = 130


def exit_code_of(error: BaseException) -> ExitCode:
    """Return the exit code that an error ends a command with."""
    if isinstance(error, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    return (
        ExitCode.REFUSED if isinstance(error, JobRefusedError | CheckpointError | PlacementError) else ExitCode.FAILED
    )


def tell(error: BaseException, *, is_verbose: bool, stream: TextIO | None = None) -> None:
    """Print an error as a sentence, to stderr by default, with its details beneath if they were asked for."""
    if isinstance(error, KeyboardInterrupt):
        say("Stopped. Nothing was written.", stream)
        return
    say(error.message if isinstance(error, PodiumError) else _fault(error), stream)
    details = error.details if isinstance(error, PodiumError) else "".join(traceback.format_exception(error))
    if is_verbose and details:
        say(details, stream)


def _fault(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    says = f": {lines[0]}" if lines else ""
    return (
        f"The job failed on a fault in Podium or beneath it ({type(error).__name__}{says}). "
        "With --verbose the same command tells where."
    )
