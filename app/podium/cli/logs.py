"""`podium logs`: what the ranks of the last fleet wrote; or all that is kept of fleets, in a file to send."""

from __future__ import annotations

import sys
from pathlib import Path

from podium.cli.errors import ExitCode
from podium.cli.options import LogsOptions
from podium.errors import JobRefusedError
from podium.multigpu.log_export import RankLogs, Redactor, export_text, find_logs
from podium.multigpu.ranklog import default_log_folder


def logs(options: LogsOptions) -> int:
    """Print the last fleet's logs, or export all of them.

    Raises:
        JobRefusedError: The file cannot be written.
    """
    folder = default_log_folder()
    found = find_logs(folder)
    if not found:
        print(f"No fleet has left a log yet in “{folder}”.", file=sys.stderr)
        return ExitCode.DONE
    if options.export_path is None:
        print(found[0].text(), end="")
    else:
        _export(found, options.export_path)
        print(options.export_path)
    return ExitCode.DONE


def _export(found: tuple[RankLogs, ...], path: Path) -> None:
    redactor = Redactor()
    try:
        # A file that is there is kept.
        with path.open("x", encoding="utf-8") as file:
            file.writelines(export_text(found, redactor.redact))
    except FileExistsError as error:
        raise JobRefusedError(f"“{path}” is there already. Give a name that is not taken.") from error
    except OSError as error:
        raise JobRefusedError(
            f"The logs cannot be written to “{path}”. Give a file in a folder that exists and that you may write to.",
            details=str(error),
        ) from error
