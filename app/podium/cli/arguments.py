"""The command line's grammar: argv to typed options. Loads nothing but the standard library and `podium.jobs`.

Rule for callers: what is wrong with the grammar itself ends the process with exit code 2 here; whether the values can
be used is for `podium.pipelines.checks`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from podium import __version__
from podium.cli.generate_arguments import Parser, add_generate_command, add_verbose, generate_options
from podium.cli.options import LogsOptions, Options, ProbeOptions


def parse_arguments(arguments: Sequence[str]) -> Options:
    """Return what the arguments ask for.

    Raises:
        SystemExit: With 0 after help or version, with 2 after a sentence on stderr that says what is wrong.
    """
    parser, generate = _parsers()
    values = parser.parse_args(arguments)
    if values.command == "probe":
        return ProbeOptions(tuple(values.paths), values.as_json, values.is_verbose)
    if values.command == "logs":
        return LogsOptions(values.export_path, values.is_verbose)
    return generate_options(values, generate)


def _parsers() -> tuple[Parser, Parser]:
    parser = Parser(
        prog="podium",
        description="Video with sound from a prompt, on your own machine. Without a command the window opens.",
        epilog="“podium COMMAND --help” lists a command's options.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"Podium {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    generate = add_generate_command(commands)
    _add_probe_command(commands)
    _add_logs_command(commands)
    return parser, generate


def _add_probe_command(commands: argparse._SubParsersAction[Parser]) -> None:
    probe = commands.add_parser(
        "probe",
        help="say what model files are",
        description="Say what model files are, whether they are whole, and what they can be used for. Reads headers "
        "only, no weights.",
        allow_abbrev=False,
    )
    probe.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a checkpoint, LoRA or text encoder folder")
    probe.add_argument("--json", action="store_true", dest="as_json", help="print a JSON list instead of text")
    add_verbose(probe)


def _add_logs_command(commands: argparse._SubParsersAction[Parser]) -> None:
    logs = commands.add_parser(
        "logs",
        help="show or export what the processes of a fleet logged",
        description="Print the logs of the last fleet, rank by rank. With --export, write those of the last fleets to "
        "one file, in which home, user name and folders are replaced.",
        allow_abbrev=False,
    )
    logs.add_argument("--export", type=Path, dest="export_path", metavar="FILE", help="a text file to write")
    add_verbose(logs)
