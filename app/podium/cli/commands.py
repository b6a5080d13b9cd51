"""Runs the command that was asked for, and turns whatever happens into an exit code."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from podium.cli.errors import exit_code_of, tell
from podium.cli.generate import generate
from podium.cli.logs import logs
from podium.cli.options import GenerateOptions, LogsOptions, Options
from podium.cli.probe import probe


def run_command(options: Options) -> int:
    """Run one command; errors become a sentence on stderr and an exit code (see `ExitCode`)."""
    try:
        with _stopped_by_signals():
            if isinstance(options, GenerateOptions):
                return generate(options)
            return logs(options) if isinstance(options, LogsOptions) else probe(options)
    # The border where the process ends: a fault is told like any other error, not as a stack of calls.
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001
        tell(error, is_verbose=options.is_verbose)
        return exit_code_of(error)


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Let a closed terminal or a polite kill end a command as Ctrl+C does: with everything cleaned up."""
    names = ("SIGTERM", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    # One that was ignored (nohup) stays so.
    before = {number: signal.getsignal(number) for number in numbers if signal.getsignal(number) is signal.SIG_DFL}
    for number in before:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
