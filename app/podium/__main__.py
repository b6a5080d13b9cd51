"""The entry: `podium` and `python -m podium`. Configures logging once, and opens the window or runs one command."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

_EXIT_NO_DISPLAY = 2
_EXIT_HELD = 3
_EXIT_INTERRUPTED = 130
_CLIP_SUFFIX = ".mp4"


def main(arguments: Sequence[str] | None = None) -> int:
    """Open the window, or run the one command that the arguments name; return the exit code.

    Args:
        arguments: What stands after the program's name; None takes the process's own.

    Raises:
        SystemExit: The arguments make no command, or ask for help or the version.
    """
    given = sys.argv[1:] if arguments is None else arguments
    # Without a command, or with clips to open: a file manager names nothing else.
    if all(_is_clip(argument) for argument in given):
        return _open_window(given)
    try:
        # The border from the entry to the application: help and arguments that make no command end between the two
        # imports, before anything that a command needs is loaded.
        from podium.cli.arguments import parse_arguments  # noqa: PLC0415

        options = parse_arguments(given)

        from podium.cli.commands import run_command  # noqa: PLC0415

        _configure_logging(is_verbose=options.is_verbose)
        code = run_command(options)
        if arguments is None:
            # The command has ended as it says: a Ctrl+C now would only break into the interpreter's own end.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        return code
    except KeyboardInterrupt:
        return _EXIT_INTERRUPTED


def _is_clip(argument: str) -> bool:
    return not argument.startswith("-") and argument.lower().endswith(_CLIP_SUFFIX)


def _open_window(clips: Sequence[str]) -> int:
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

    from podium.heap import return_large_pieces  # noqa: PLC0415
    from podium.ui.app import run_window  # noqa: PLC0415
    from podium.ui.single_window import Handover, WindowHeldError  # noqa: PLC0415

    return_large_pieces()
    _configure_logging(is_verbose=False)
    # What ranks log reaches the window through these loggers; the terminal gets warnings only.
    logging.getLogger("podium").setLevel(logging.INFO)
    for handler in logging.getLogger().handlers:
        handler.setLevel(logging.WARNING)
    files = tuple(Path(clip).absolute() for clip in clips)
    token = os.environ.get("XDG_ACTIVATION_TOKEN", "")
    try:
        return run_window(handover=Handover(files, token))
    except WindowHeldError as error:
        sys.stderr.write(f"{error.message}\n")
        return _EXIT_HELD


def _configure_logging(*, is_verbose: bool) -> None:
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    logging.getLogger("podium").setLevel(logging.DEBUG if is_verbose else logging.WARNING)


if __name__ == "__main__":
    sys.exit(main())
