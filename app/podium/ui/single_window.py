"""One window per data folder: the first has a lock and listens; a second hands over what it was given, and ends.

Rule for callers: there is a QCoreApplication before `open`, since the first window hears later ones in its loop.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from PySide6.QtCore import QLockFile, QObject, Signal, Slot
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from podium.errors import PodiumError
from podium.ui.runtime_folder import runtime_folder

LOCK_NAME = "window.lock"
# A window that was just started listens a moment after it has the lock.
ANSWER_LIMIT_S = 10.0
_RETRY_S = 0.02
_STALE_AFTER_S = 1.0
_MAX_MESSAGE_BYTES = 1 << 20
_TAKEN = b"taken\n"
# What a Unix socket's path may have, its closing zero left out.
_MAX_PATH_BYTES = 107
_log = logging.getLogger(__name__)


class WindowHeldError(PodiumError):
    """Report that another window has the data folder and does not answer."""


@dataclass(frozen=True, slots=True)
class Handover:
    """What a later start hands to the window that is open.

    Args:
        files: Clips to open.
        activation_token: Lets a window come to the front, where the desktop asks for one; may be empty.
    """

    files: tuple[Path, ...] = ()
    activation_token: str = field(default="", repr=False)


class SingleWindow(QObject):
    """Be the one window of a data folder, or hand over to it. `open`, and `close` if this is the one.

    Args:
        folder: The data folder.
        answer_limit_s: How long the window that is open may take to answer.
    """

    received = Signal(object)
    """A `Handover` of a later start."""

    def __init__(self, folder: Path, parent: QObject | None = None, *, answer_limit_s: float = ANSWER_LIMIT_S) -> None:
        super().__init__(parent)
        self._folder = folder
        self._answer_limit_s = answer_limit_s
        self._lock: QLockFile | None = None
        self._server: QLocalServer | None = None

    def open(self, handover: Handover) -> bool:
        """Become the folder's window; False if there is one, which has taken what was handed over.

        Raises:
            WindowHeldError: There is one, and it does not answer.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            _log.warning("The data folder %s cannot be made: %s", self._folder, error)
        lock = QLockFile(str(self._folder / LOCK_NAME))
        # However old: only the end of its process makes a lock stale.
        lock.setStaleLockTime(0)
        begun_s = time.monotonic()
        while not self._take(lock, waited_s=time.monotonic() - begun_s):
            if self._hand_over(handover, begun_s + self._answer_limit_s):
                return False
            if time.monotonic() - begun_s > self._answer_limit_s:
                raise _held_error(lock, self._folder)
        self._listen()
        return True

    def close(self) -> None:
        """Let the folder go."""
        if self._server is not None:
            self._server.close()
            self._server.deleteLater()
            self._server = None
        if self._lock is not None:
            self._lock.unlock()
            self._lock = None

    def _take(self, lock: QLockFile, *, waited_s: float) -> bool:
        """Take the lock, also from a process that is gone; True as well where none can be written."""
        is_taken = lock.tryLock(0)
        is_held = not is_taken and lock.error() is QLockFile.LockError.LockFailedError
        if is_held and waited_s > _STALE_AFTER_S:
            # Another process may have the number of the dead one: what nobody holds, as the system sees it, is stale.
            # Not sooner, since a lock that is just being made is not held yet.
            is_taken = lock.removeStaleLockFile() and lock.tryLock(0)
        if is_taken:
            self._lock = lock
        elif not is_held:
            _log.warning("The data folder %s cannot be locked; another window may write to it", self._folder)
        return is_taken or not is_held

    def _listen(self) -> None:
        name = str(_socket_path(self._folder))
        # What a dead window left; with the lock in hand it is nobody's.
        QLocalServer.removeServer(name)
        server = QLocalServer(self)
        server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        if not server.listen(name):
            _log.warning("Later starts cannot reach this window: %s", server.errorString())
        server.newConnection.connect(self._on_connected)
        self._server = server

    def _hand_over(self, handover: Handover, deadline_s: float) -> bool:
        """Hand over to the window that has the lock; return whether it took it."""
        values = asdict(handover) | {"files": [str(path) for path in handover.files]}
        socket = QLocalSocket()
        socket.connectToServer(str(_socket_path(self._folder)))
        if not socket.waitForConnected(_left_ms(deadline_s)) or not _is_own(socket.fullServerName()):
            # It is refused at once where nobody listens yet, which cannot be waited for.
            time.sleep(_RETRY_S)
            return False
        socket.write(json.dumps(values).encode() + b"\n")
        answer = b""
        # Who listens lives; it is asked once, however long it takes to come to it.
        while not answer.endswith(b"\n") and socket.waitForReadyRead(_left_ms(deadline_s)):
            answer += bytes(socket.readAll().data())
        socket.abort()
        return answer == _TAKEN

    @Slot()
    def _on_connected(self) -> None:
        assert self._server is not None, "only a server gets connections"
        while (socket := self._server.nextPendingConnection()) is not None:
            socket.readyRead.connect(self._on_ready_read)
            socket.disconnected.connect(socket.deleteLater)
            self._read(socket)

    @Slot()
    def _on_ready_read(self) -> None:
        socket = self.sender()
        assert isinstance(socket, QLocalSocket)
        self._read(socket)

    def _read(self, socket: QLocalSocket) -> None:
        if not socket.canReadLine():
            if socket.bytesAvailable() > _MAX_MESSAGE_BYTES:
                socket.abort()
            return
        handover = _parsed(bytes(socket.readLine().data()))
        if handover is None:
            socket.abort()
            return
        socket.write(_TAKEN)
        socket.flush()
        self.received.emit(handover)


def _left_ms(deadline_s: float) -> int:
    return max(1, round(1000 * (deadline_s - time.monotonic())))


def _parsed(line: bytes) -> Handover | None:
    try:
        values = json.loads(line)
        return Handover(tuple(map(Path, values["files"])), str(values["activation_token"]))
    except (ValueError, KeyError, TypeError) as error:
        _log.warning("Somebody said what no window says: %s", error)
        return None


def _socket_path(folder: Path) -> Path:
    """Return where a data folder's window listens: a name of its own among those that only this user sees."""
    digest = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]
    path = runtime_folder() / f"podium-{digest}"
    return path if len(str(path).encode()) < _MAX_PATH_BYTES else Path(tempfile.gettempdir()) / path.name


def _is_own(name: str) -> bool:
    """Return whether a socket is this user's: nobody else is told which clips are opened."""
    try:
        return not hasattr(os, "getuid") or Path(name).stat().st_uid == os.getuid()
    except OSError:
        return False


def _held_error(lock: QLockFile, folder: Path) -> WindowHeldError:
    pid, _host, _name = lock.getLockInfo()
    return WindowHeldError(
        f"Podium is open already{f' (process {pid})' if pid else ''}, but does not answer. Close it, or end that "
        "process, and start Podium again.",
        details=str(folder),
    )
