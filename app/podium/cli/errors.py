"""Errors to sentences and exit codes."""

from __future__ import annotations

import sys
import traceback
from enum import IntEnum
from typing import TextIO

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
    stream = stream or sys.stderr
    if isinstance(error, KeyboardInterrupt):
        print("Stopped. Nothing was written.", file=stream)
        return
    print(error.message if isinstance(error, PodiumError) else _fault(error), file=stream)
    if not is_verbose:
        return
    if isinstance(error, PodiumError):
        print(error.details, file=stream)
    else:
        print("".join(traceback.format_exception(error)), file=stream)


def _fault(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    says = f": {lines[0]}" if lines else ""
    return (
        f"The job failed on a fault in Podium or beneath it ({type(error).__name__}{says}). "
        "With --verbose the same command tells where."
    )
