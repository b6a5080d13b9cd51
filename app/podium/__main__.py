"""The entry: `podium` and `python -m podium`. Reads the arguments, configures logging once, runs one command."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence

_EXIT_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Args:
        arguments: What stands after the program's name; None takes the process's own.

    Raises:
        SystemExit: The arguments make no command, or ask for help or the version.
    """
    try:
        # The border from the entry to the application: help and arguments that make no command end between the two
        # imports, before anything that a command needs is loaded.
        from podium.cli.arguments import parse_arguments  # noqa: PLC0415

        options = parse_arguments(sys.argv[1:] if arguments is None else arguments)

        from podium.cli.commands import run_command  # noqa: PLC0415

        _configure_logging(is_verbose=options.is_verbose)
        return run_command(options)
    except KeyboardInterrupt:
        return _EXIT_INTERRUPTED


def _configure_logging(*, is_verbose: bool) -> None:
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    logging.getLogger("podium").setLevel(logging.DEBUG if is_verbose else logging.WARNING)


if __name__ == "__main__":
    sys.exit(main())
