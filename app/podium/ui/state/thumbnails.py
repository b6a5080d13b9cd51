"""Thumbnails for what is shown, the last shown first: whoever scrolls past a thousand clips waits for none of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from podium.helper.requests import Answer, KeepThumbnail, Thumbnail
from podium.ui.state.ports import HelperPort

MAX_ASKED = 4
MAX_WAITING = 200


class ThumbnailLoader(QObject):
    """Asks the helper for thumbnails, a few at a time.

    Args:
        helper: Makes them, and keeps them on disk.
        make_request: Turns a clip's path into the request.
    """

    made = Signal(int, object)
    """The `Thumbnail` of a key is here."""
    failed = Signal(int)
    """There is none for a key."""

    def __init__(
        self, helper: HelperPort, make_request: Callable[[Path], KeepThumbnail], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._helper = helper
        self._make_request = make_request
        self._waiting: dict[int, Path] = {}
        self._asked: set[int] = set()
        self._failed: set[int] = set()

    def want(self, key: int, path: Path) -> None:
        """Have a thumbnail made soon; what was wanted long before is forgotten, since it is out of sight."""
        if key in self._asked or key in self._failed:
            return
        self._waiting.pop(key, None)
        self._waiting[key] = path
        if len(self._waiting) > MAX_WAITING:
            del self._waiting[next(iter(self._waiting))]
        self._ask()

    def forget(self, key: int) -> None:
        """Try a clip anew that had none."""
        self._failed.discard(key)

    def _ask(self) -> None:
        while self._waiting and len(self._asked) < MAX_ASKED:
            key, path = self._waiting.popitem()
            self._asked.add(key)
            self._helper.ask(self._make_request(path), partial(self._take, key))

    def _take(self, key: int, answer: Answer[Thumbnail]) -> None:
        self._asked.discard(key)
        if answer.value is None:
            self._failed.add(key)
            self.failed.emit(key)
        else:
            self.made.emit(key, answer.value)
        self._ask()
