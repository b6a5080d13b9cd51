"""Logs of the ranks: a rotating file per rank, what it printed beside it, and every record once more at the driver."""

from __future__ import annotations

import datetime
import itertools
import json
import logging
import logging.handlers
import os
import shutil
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import platformdirs

from podium.multigpu.channel import Buffer
from podium.multigpu.messages import LogFiles

MAX_FILE_BYTES = 2 * 1024 * 1024
NUM_OLD_FILES = 3
NUM_FOLDERS = 10
NUM_TAIL_LINES = 20
_TAIL_BYTES = 8192
_FORMAT = "%(asctime)s %(levelname)s rank %(rank)s job %(job_id)s %(name)s: %(message)s"
_fleet_numbers = itertools.count(1)

logger = logging.getLogger(__name__)


class LogsDest(Protocol):
    """Torch's destinations of output: a path per rank, empty for the console."""

    stdouts: dict[int, str]
    stderrs: dict[int, str]
    tee_stdouts: dict[int, str]
    tee_stderrs: dict[int, str]


class LogsSpecs(Protocol):
    """Torch's rules for output, of which this one method is used."""

    def reify(self, envs: dict[int, dict[str, str]]) -> LogsDest:
        """Make the files and say where they are."""


def default_log_folder() -> Path:
    """Return where logs go unless somebody says otherwise."""
    return Path(platformdirs.user_log_path("Podium", appauthor=False)) / "fleet"


def make_log_folder(parent: Path) -> Path:
    """Make a folder for a new fleet, and remove the oldest ones.

    Ranks: driver.
    """
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%d-%H%M%S")
    name = f"fleet-{stamp}-{os.getpid()}-{next(_fleet_numbers)}"
    try:
        folder = parent / name
        folder.mkdir(parents=True)
    except OSError as error:
        folder = Path(tempfile.mkdtemp(prefix=f"podium-{name}-"))
        logger.warning("No log can be written to %s (%s); the logs of this fleet go to %s.", parent, error, folder)
        return folder
    for old in sorted(parent.glob("fleet-*"), key=lambda path: path.name)[:-NUM_FOLDERS]:
        shutil.rmtree(old, ignore_errors=True)
    return folder


@dataclass(frozen=True, slots=True)
class FleetLogs:
    """Where each rank of a fleet writes.

    Args:
        tees: Files to show on the driver's console as they grow.
    """

    files: tuple[LogFiles, ...]
    tees: tuple[tuple[str, bool], ...] = ()


def plan_logs(folder: Path, num_ranks: int, specs: LogsSpecs | None) -> FleetLogs:
    """Say where each rank writes; torch's own rules, if given, decide on what it prints.

    Ranks: driver.
    """
    logs = [str(folder / f"rank-{rank}.log") for rank in range(num_ranks)]
    if specs is None:
        return FleetLogs(tuple(LogFiles(log, f"{log[:-4]}.out", f"{log[:-4]}.out") for log in logs))
    dest = specs.reify({rank: {"RANK": str(rank)} for rank in range(num_ranks)})
    files = [LogFiles(log, dest.stdouts.get(k, ""), dest.stderrs.get(k, "")) for k, log in enumerate(logs)]
    tees = [(path, False) for path in dest.tee_stdouts.values()] + [(path, True) for path in dest.tee_stderrs.values()]
    return FleetLogs(tuple(files), tuple((path, is_error) for path, is_error in tees if path != os.devnull))


class Tees:
    """Show on the console what ranks write to files.

    Args:
        paths: Each with whether it is their error output.
    """

    def __init__(self, paths: tuple[tuple[str, bool], ...]) -> None:
        self._paths = paths
        self._offsets = dict.fromkeys(paths, 0)

    def __bool__(self) -> bool:
        return bool(self._paths)

    def show_new(self) -> None:
        """Show what came since the last call.

        Ranks: driver.
        """
        for key in self._paths:
            path, is_error = key
            try:
                with Path(path).open("rb") as file:
                    file.seek(self._offsets[key])
                    data = file.read()
            except OSError:
                continue
            self._offsets[key] += len(data)
            stream = sys.stderr if is_error else sys.stdout
            stream.write(data.decode(errors="replace"))
            stream.flush()


@dataclass(slots=True)
class RankTail:
    """The last that a rank logged and printed."""

    files: LogFiles
    records: deque[str] = field(default_factory=lambda: deque(maxlen=NUM_TAIL_LINES))

    def lines(self) -> tuple[str, ...]:
        """Return the last lines, logged ones first."""
        printed: list[str] = []
        for path in dict.fromkeys((self.files.stdout, self.files.stderr)):
            printed += _last_lines(path)
        return (*self.records, *printed)[-NUM_TAIL_LINES:]


def replay_record(body: Buffer, rank: int, tail: RankTail) -> None:
    """Log once more at the driver what a worker logged.

    Ranks: driver.
    """
    fields = json.loads(bytes(body))
    tail.records.append(f"{fields['levelname']} {fields['name']}: {fields['msg']}")
    target = logging.getLogger(fields["name"])
    if target.isEnabledFor(fields["levelno"]):
        target.handle(logging.makeLogRecord({**fields, "rank": rank}))


class ForwardHandler(logging.Handler):
    """Send a worker's records to the driver.

    Args:
        send: Takes the record as JSON.
        job_id: Tells the job that runs.
    """

    def __init__(self, send: Callable[[bytes], None], job_id: Callable[[], int]) -> None:
        super().__init__(logging.INFO)
        self._send = send
        self._job_id = job_id

    def emit(self, record: logging.LogRecord) -> None:
        """Send a record."""
        message = record.getMessage()
        if record.exc_info:
            message += "\n" + logging.Formatter().formatException(record.exc_info)
        fields: Mapping[str, object] = {
            "name": record.name,
            "levelno": record.levelno,
            "levelname": record.levelname,
            "msg": message[:16384],
            "created": record.created,
            "job_id": self._job_id(),
            "process": record.process,
        }
        self._send(json.dumps(fields).encode())


def configure_worker_logging(files: LogFiles, rank: int, forward: ForwardHandler, job_id: Callable[[], int]) -> None:
    """Set up a worker's logging: the worker is an application of its own, and this is its one place for that.

    Ranks: one rank, local.
    """
    handlers: list[logging.Handler] = [forward]
    if files.log:
        to_file = logging.handlers.RotatingFileHandler(
            files.log, maxBytes=MAX_FILE_BYTES, backupCount=NUM_OLD_FILES, encoding="utf-8"
        )
        to_file.setFormatter(logging.Formatter(_FORMAT))
        to_file.addFilter(lambda record: _add_fields(record, rank, job_id()))
        handlers.append(to_file)
    root = logging.getLogger()
    root.handlers[:] = handlers
    root.setLevel(logging.INFO)
    logging.captureWarnings(capture=True)


def redirect_output(files: LogFiles) -> None:
    """Point this process's output at its files.

    Ranks: one rank, local.
    """
    for number, path in ((1, files.stdout), (2, files.stderr)):
        if path:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            os.dup2(fd, number)
            os.close(fd)


def _add_fields(record: logging.LogRecord, rank: int, job_id: int) -> bool:
    record.rank, record.job_id = rank, job_id
    return True


def _last_lines(path: str) -> list[str]:
    if not path:
        return []
    try:
        with Path(path).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            return file.read().decode(errors="replace").splitlines()[-NUM_TAIL_LINES:]
    except OSError:
        return []
