"""Every kind of question that the helper can be asked has somebody who answers it."""

from __future__ import annotations

from pathlib import Path

from podium.helper.process import Desk
from podium.helper.requests import FindMissing, IdentifyFiles, KeepThumbnail, ReadClip
from podium.media.errors import MediaError


def test_questions_about_files_and_clips_are_answered(tmp_path: Path) -> None:
    desk = Desk()
    file = tmp_path / "fox.mp4"
    assert desk.answer(FindMissing((file,))).value == (file,)
    file.write_bytes(b"no clip")
    (identity,) = desk.answer(IdentifyFiles((file,))).value
    assert identity.num_bytes == 7
    assert isinstance(desk.answer(ReadClip(file)).error, MediaError)
    assert isinstance(desk.answer(KeepThumbnail(file, 32, tmp_path, 1)).error, MediaError)
