"""The entry: `podium` and `python -m podium`. Configures logging once, and opens the window or runs one command."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence

_EXIT_NO_DISPLAY = 2
_EXIT_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Open the window, or run the one command that the arguments name; return the exit code.

    Args:
        arguments: What stands after the program's name; None takes the process's own.

    Raises:
        SystemExit: The arguments make no command, or ask for help or the version.
    """
    given = sys.argv[1:] if arguments is None else arguments
    if not given:
        return _open_window()
    try:
        # The border from the entry to the application: help and arguments that make no command end between the two
        # imports, before anything that a command needs is loaded.
        from podium.cli.arguments import parse_arguments  # noqa: PLC0415

        options = parse_arguments(given)

        from podium.cli.commands import run_command  # noqa: PLC0415

        _configure_logging(is_verbose=options.is_verbose)
        return run_command(options)
    except KeyboardInterrupt:
        return _EXIT_INTERRUPTED


def _open_window() -> int:
    # The border from the entry to the application: Qt ends the process where it cannot open a window, so whether it
    # can is found out between the two imports.
    from podium.ui.display import find_display_problem  # noqa: PLC0415

    problem = find_display_problem(os.environ, platform=sys.platform)
    if problem:
        sys.stderr.write(f"{problem}\n")
        return _EXIT_NO_DISPLAY

    # Qt's player would ask every kind of video hardware at its first clip, which opens a device in this process.
    for purpose in ("DECODING", "ENCODING"):
        os.environ.setdefault(f"QT_FFMPEG_{purpose}_HW_DEVICE_TYPES", ",")

    from podium.ui.app import run_window  # noqa: PLC0415

    _configure_logging(is_verbose=False)
    # What ranks log reaches the window through these loggers; the terminal gets warnings only.
    logging.getLogger("podium").setLevel(logging.INFO)
    for handler in logging.getLogger().handlers:
        handler.setLevel(logging.WARNING)
    return run_window()


def _configure_logging(*, is_verbose: bool) -> None:
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    logging.getLogger("podium").setLevel(logging.DEBUG if is_verbose else logging.WARNING)


if __name__ == "__main__":
    sys.exit(main())
