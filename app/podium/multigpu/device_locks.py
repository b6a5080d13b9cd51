"""Which process of Podium's has which GPU: a lock on a file per UUID, gone with the process that holds it. No torch.

Rule for callers: whoever starts a fleet of an artist's takes its GPUs first, and gives them back when every rank has
ended. Where no file can be locked nothing is, and a warning says so.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import platformdirs

from podium.multigpu.errors import PlacementError
from podium.multigpu.placement import FleetPlan, visible_gpus

if sys.platform != "win32":
    import fcntl

# Whoever only looks holds a shared lock for an instant.
_LOOK_LIMIT_S = 0.3
_POLL_S = 0.01
_logger = logging.getLogger(__name__)


class DeviceHeldError(PlacementError):
    """Refuse a fleet because another Podium has one of its GPUs.

    Args:
        pid: Of that process; None if it did not say.
    """

    def __init__(self, message: str, *, uuid: str, pid: int | None, details: str = "") -> None:
        super().__init__(message, details=details)
        self.uuid = uuid
        self.pid = pid


@dataclass(frozen=True, slots=True)
class DeviceHolder:
    """Who has a GPU.

    Args:
        pid: None while it has not said yet.
        purpose: What it is, such as "podium generate"; may be empty.
    """

    pid: int | None
    purpose: str = ""

    @property
    def words(self) -> str:
        """Return who it is, for the inside of a bracket."""
        process = "" if self.pid is None else f"process {self.pid}"
        return ", ".join(part for part in (self.purpose, process) if part)


class DeviceLocks:
    """The GPUs of this process, and those of others.

    One process may take a GPU more than once: a fleet that comes and one that goes stand on it together.

    Args:
        purpose: What this process is, told to whoever finds a GPU taken.
        folder: Where the files lie; the user's own by default, so that all of them meet.
    """

    def __init__(self, purpose: str, folder: Path | None = None) -> None:
        self._purpose = purpose
        self._folder = folder or default_folder()
        self._lock = threading.Lock()
        self._held: dict[str, _Held] = {}

    def take(self, gpus: Mapping[str, str]) -> DeviceHold:
        """Take GPUs, all or none.

        Args:
            gpus: What each is called in a sentence, by UUID.

        Raises:
            DeviceHeldError: Another process has one of them.
        """
        hold = DeviceHold(self)
        try:
            # In one order everywhere: two that want the same two do not take one each.
            for uuid in sorted(gpus):
                self._take(uuid, gpus[uuid])
                hold.uuids.append(uuid)
        except DeviceHeldError:
            hold.release()
            raise
        return hold

    def holder(self, uuid: str) -> DeviceHolder | None:
        """Return which other process has a GPU; None if none has. It takes nothing."""
        with self._lock:
            if uuid in self._held:
                return None
        try:
            fd = os.open(self._path(uuid), os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            return None if _try_lock(fd, is_shared=True) else _read_holder(fd)
        except OSError:
            return None
        finally:
            os.close(fd)

    def give_back(self, uuid: str) -> None:
        """Give a GPU back as often as it was taken."""
        with self._lock:
            held = self._held[uuid]
            held.count -= 1
            if held.count == 0:
                del self._held[uuid]
                if held.fd is not None:
                    os.close(held.fd)

    def _take(self, uuid: str, name: str) -> None:
        with self._lock:
            held = self._held.get(uuid)
            if held is None:
                held = self._held[uuid] = _Held(self._open_locked(uuid, name))
            held.count += 1

    def _open_locked(self, uuid: str, name: str) -> int | None:
        """Return the locked file of a GPU; None where files cannot be locked."""
        path = self._path(uuid)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            _logger.warning("The GPU %s is not locked against other Podiums: %s", uuid, error)
            return None
        try:
            if _lock_soon(fd):
                _write_holder(fd, DeviceHolder(os.getpid(), self._purpose))
                return fd
            holder = _read_holder(fd)
        except OSError as error:
            _logger.warning("The GPU %s is not locked against other Podiums: %s", uuid, error)
            os.close(fd)
            return None
        os.close(fd)
        raise DeviceHeldError(
            f"{name} is used by another Podium{f' ({holder.words})' if holder.words else ''}. Wait until that is done, "
            "end it, or choose other devices.",
            uuid=uuid,
            pid=holder.pid,
            details=uuid,
        )

    def _path(self, uuid: str) -> Path:
        return self._folder / f"{re.sub(r'[^A-Za-z0-9-]', '_', uuid)}.lock"


class DeviceHold:
    """GPUs that are taken, until `release` or the end of the process.

    Args:
        locks: Took them.
    """

    def __init__(self, locks: DeviceLocks) -> None:
        self._locks = locks
        self._lock = threading.Lock()
        self.uuids: list[str] = []

    def release(self) -> None:
        """Give the GPUs back; any thread may, and again."""
        with self._lock:
            uuids, self.uuids = self.uuids, []
        for uuid in uuids:
            self._locks.give_back(uuid)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def gpus_of(plan: FleetPlan, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return what each GPU of a fleet is called, by UUID; none on the CPU, or where CUDA counts in an order of its own.

    Ranks: driver.
    """
    if not plan.uuids:
        return {}
    names = {gpu.uuid: gpu.name for gpu in visible_gpus(environment)}
    return {
        place.uuid: f"GPU {place.index} ({names[place.uuid]})" if place.uuid in names else f"GPU {place.index}"
        for place in plan.places
        if place.uuid is not None
    }


def default_folder() -> Path:
    """Return where all of a user's Podiums meet: not the folder of the login, which ends before a detached command."""
    return platformdirs.user_state_path("podium", appauthor=False) / "devices"


@dataclass(slots=True)
class _Held:
    fd: int | None
    count: int = 0


def _lock_soon(fd: int) -> bool:
    """Lock a file for this process alone; False if another has it for longer than a look takes."""
    deadline_s = time.monotonic() + _LOOK_LIMIT_S
    while not _try_lock(fd, is_shared=False):
        if time.monotonic() > deadline_s:
            return False
        # A lock can be waited for, but not for so long and no longer.
        time.sleep(_POLL_S)
    return True


def _try_lock(fd: int, *, is_shared: bool) -> bool:
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(fd, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _write_holder(fd: int, holder: DeviceHolder) -> None:
    data = json.dumps({"pid": holder.pid, "purpose": holder.purpose}).encode()
    os.ftruncate(fd, 0)
    os.pwrite(fd, data, 0)


def _read_holder(fd: int) -> DeviceHolder:
    values: object = None
    with contextlib.suppress(ValueError):
        values = json.loads(os.pread(fd, 4096, 0))
    if not isinstance(values, dict):
        return DeviceHolder(None)
    pid, purpose = values.get("pid"), values.get("purpose")
    return DeviceHolder(pid if isinstance(pid, int) else None, purpose if isinstance(purpose, str) else "")


__all__ = ["DeviceHeldError", "DeviceHold", "DeviceHolder", "DeviceLocks", "default_folder", "gpus_of"]
