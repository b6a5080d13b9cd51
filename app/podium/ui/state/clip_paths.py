"""Where new clips go: no two at the same place, however quickly they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from podium.media.names import clip_name

# A name tells milliseconds.
_STEP = timedelta(milliseconds=1)


class ClipPaths:
    """Names new clips.

    Args:
        now: Gives the time.
    """

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._last = datetime.min.replace(tzinfo=UTC)

    def new(self, folder: Path, prompt: str) -> Path:
        """Return where a clip of this prompt goes: after all that were named before, by name too."""
        self._last = max(self._now(), self._last + _STEP)
        return folder / f"{clip_name(prompt, self._last)}.mp4"
