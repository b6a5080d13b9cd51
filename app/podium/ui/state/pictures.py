"""Pictures of the window's own making that requests refer to: frames of clips, and what was pasted.

They lie among the data and not in the cache, since there is no other copy. What nothing refers to any more gives way
when there is too much of it.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from podium.helper.requests import Answer, MeasureFolder, TidyPictures
from podium.library import Library, LibraryError
from podium.ui.state.images import ImagesState
from podium.ui.state.ports import HelperPort

FOLDER_NAME = "pictures"
MAX_LOOSE_BYTES = 256 * 1024 * 1024
"""Of all pictures together that nothing refers to."""
_log = logging.getLogger(__name__)


class KeptPictures:
    """Says where such pictures lie, and has the folder kept small.

    Args:
        helper: Removes them.
        library: Knows what refers to them.
        images: The form's.
        data_folder: Holds their folder.
        now: Gives the time.
    """

    def __init__(
        self,
        helper: HelperPort,
        library: Library,
        images: ImagesState,
        data_folder: Path,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._helper = helper
        self._library = library
        self._images = images
        self._now = now
        self.folder = data_folder / FOLDER_NAME

    def frame_path(self, source: Path, number: int) -> Path:
        """Return where a picture of a clip goes, counted from 0; clips of one name in two folders have two."""
        folder = hashlib.sha256(str(source.parent).encode("utf-8", "surrogateescape")).hexdigest()[:6]
        return self.folder / f"{source.stem}-{number + 1:05d}-{folder}.png"

    def pasted_path(self) -> Path:
        """Return where a picture without a file goes."""
        return self.folder / f"{self._now():%Y%m%dT%H%M%S-%f}.png"

    def tidy(self) -> None:
        """Have the oldest pictures removed that nothing refers to, if there is too much of them."""
        # What is not in the library may refer to pictures, too.
        if self._library.is_kept and not self._library.problem:
            self._helper.ask(MeasureFolder(self.folder), self._take_size)

    def _take_size(self, answer: Answer[int]) -> None:
        # To look through a long history takes a moment, and is hardly ever needed.
        if answer.value is None or answer.value <= MAX_LOOSE_BYTES:
            return
        try:
            kept = self._library.pictures.in_folder(self.folder)
        except LibraryError as error:
            _log.warning("%s Nothing is removed. %s", error.message, error.details)
            return
        # The form may not be kept yet, and what was taken out of it can be brought back.
        kept |= frozenset(self._images.held_paths)
        self._helper.ask(TidyPictures(self.folder, kept, MAX_LOOSE_BYTES), _note)


def _note(answer: Answer[int]) -> None:
    if answer.value:
        _log.info("%d bytes of pictures that nothing refers to were removed", answer.value)
