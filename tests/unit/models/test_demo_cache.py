"""The demo model in the cache is whole or not there, and the one that ships with this version."""

from __future__ import annotations

import io
import os
import threading
import time
import zipfile
from pathlib import Path

import pytest

from podium.models.demo_cache import ensure_demo_model, unpack_demo
from podium.models.demo_pack import FOLDER_NAME, demo_form
from podium.models.errors import PackWriteError
from podium.models.pack import resolve_pack


def archive(content: bytes = b"weights") -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_LZMA) as file:
        for name, text in (("ltx-2.3-demo.safetensors", content), ("gemma3/config.json", b"{}")):
            file.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_LZMA)
    return data.getvalue()


def test_an_archive_is_unpacked_once(tmp_path: Path) -> None:
    said: list[str] = []
    pack = unpack_demo(archive(), tmp_path, said.append)
    assert pack.checkpoint_path.read_bytes() == b"weights"
    assert (pack.gemma_root / "config.json").read_text() == "{}"
    inode = pack.checkpoint_path.stat().st_ino
    assert unpack_demo(archive(), tmp_path, said.append).checkpoint_path.stat().st_ino == inode
    assert said == [FOLDER_NAME]
    assert [path.name for path in tmp_path.iterdir()] == [FOLDER_NAME]


def test_another_version_takes_the_place_of_the_one_there(tmp_path: Path) -> None:
    unpack_demo(archive(b"old"), tmp_path)
    pack = unpack_demo(archive(b"new and longer"), tmp_path)
    assert pack.checkpoint_path.read_bytes() == b"new and longer"
    assert [path.name for path in tmp_path.iterdir()] == [FOLDER_NAME]


@pytest.mark.parametrize("harm", ["lose", "cut", "forget"])
def test_a_model_with_a_piece_missing_is_unpacked_anew(tmp_path: Path, harm: str) -> None:
    path = unpack_demo(archive(), tmp_path).checkpoint_path
    if harm == "lose":
        path.unlink()
    elif harm == "cut":
        path.write_bytes(b"wei")
    else:
        (path.parent / ".contents.json").write_text("[]")
    assert unpack_demo(archive(), tmp_path).checkpoint_path.read_bytes() == b"weights"


def test_of_two_at_once_both_get_a_whole_model_and_one_is_kept(tmp_path: Path) -> None:
    def unpack_in_between(name: str) -> None:
        inner.append(unpack_demo(archive(), tmp_path).checkpoint_path.stat().st_ino)

    inner: list[int] = []
    pack = unpack_demo(archive(), tmp_path, unpack_in_between)
    assert inner == [pack.checkpoint_path.stat().st_ino]
    assert [path.name for path in tmp_path.iterdir()] == [FOLDER_NAME]


def test_many_at_once_all_get_a_whole_model(tmp_path: Path) -> None:
    def unpack() -> None:
        seen.append(unpack_demo(data, tmp_path).checkpoint_path.read_bytes())

    data = archive(b"w" * 100_000)
    seen: list[bytes] = []
    threads = [threading.Thread(target=unpack) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [b"w" * 100_000] * 4


def test_an_unpacking_that_breaks_off_is_never_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = unpack_demo(archive(b"old"), tmp_path)

    def break_off(self: zipfile.ZipFile, folder: Path) -> None:
        folder.mkdir()
        (folder / "ltx-2.3-demo.safetensors").write_bytes(b"n")
        raise OSError("no space left on device")

    said: list[str] = []
    monkeypatch.setattr(zipfile.ZipFile, "extractall", break_off)
    with pytest.raises(PackWriteError, match="cannot be unpacked") as caught:
        unpack_demo(archive(b"new"), tmp_path)
    assert "no space left" in caught.value.details
    assert old.checkpoint_path.read_bytes() == b"old"
    assert unpack_demo(archive(b"old"), tmp_path, progress=said.append) == old
    assert said == []
    assert [path.name for path in tmp_path.iterdir()] == [FOLDER_NAME]


def test_what_a_killed_writer_left_is_removed_after_an_hour(tmp_path: Path) -> None:
    old, recent = (tmp_path / f".{FOLDER_NAME}-{name}" for name in ("old", "recent"))
    for folder in (old, recent):
        folder.mkdir()
    hours_ago = time.time() - 2 * 3600
    os.utime(old, (hours_ago, hours_ago))
    unpack_demo(archive(), tmp_path)
    assert (old.exists(), recent.exists()) == (False, True)


def test_a_cache_that_cannot_be_written_is_refused_in_a_sentence(tmp_path: Path) -> None:
    in_the_way = tmp_path / "cache"
    in_the_way.write_bytes(b"")
    with pytest.raises(PackWriteError, match="needs a folder you may write to") as caught:
        unpack_demo(archive(), in_the_way)
    assert caught.value.folder == in_the_way


def test_the_model_that_ships_is_what_the_demo_uses(tmp_path: Path) -> None:
    model = ensure_demo_model(tmp_path)
    assert model.paths.checkpoint_path.parent == tmp_path / FOLDER_NAME
    assert [path.name for path in model.style_loras] == ["outline.safetensors", "night-colours.safetensors"]
    assert resolve_pack(model.paths).num_heads == 8
    assert all(path.is_file() for path in model.style_loras)


def test_it_is_tried_with_one_line_of_its_own_world() -> None:
    form = demo_form()
    assert "\n" not in form.prompt
    assert form.prompt == form.prompt.strip()
    assert "star" in form.prompt
    assert (form.height, form.width, form.num_frames) == (256, 384, 33)
