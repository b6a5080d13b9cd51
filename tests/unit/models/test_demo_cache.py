"""The demo model in the cache is whole or not there, and the one that ships with this version."""

from __future__ import annotations

import io
import threading
import zipfile
from pathlib import Path

import pytest

from podium.models import demo_cache, demo_pack
from podium.models.demo_cache import ensure_demo_model, unpack_demo
from podium.models.demo_pack import FOLDER_NAME, demo_form
from podium.models.errors import PackWriteError
from podium.models.kept_folder import facts_of


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


@pytest.mark.parametrize("harm", ["lose", "cut"])
def test_a_model_with_a_piece_missing_is_unpacked_anew(tmp_path: Path, harm: str) -> None:
    path = unpack_demo(archive(), tmp_path).checkpoint_path
    if harm == "lose":
        path.unlink()
    else:
        path.write_bytes(b"wei")
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

    monkeypatch.setattr(zipfile.ZipFile, "extractall", break_off)
    with pytest.raises(PackWriteError, match="cannot be unpacked") as caught:
        unpack_demo(archive(b"new"), tmp_path)
    assert "no space left" in caught.value.details
    assert old.checkpoint_path.read_bytes() == b"old"
    assert facts_of(old.folder) is not None
    assert [path.name for path in tmp_path.iterdir()] == [FOLDER_NAME]


def test_the_model_that_ships_is_what_the_demo_uses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_pack, "is_shipped", lambda name: name == demo_pack.ARCHIVE_NAME)
    monkeypatch.setattr(demo_cache, "read_bytes", lambda name: archive())
    model = ensure_demo_model(tmp_path)
    assert model.is_trained
    assert model.paths.checkpoint_path.parent == tmp_path / FOLDER_NAME
    assert [path.name for path in model.style_loras] == ["outline.safetensors", "night-colours.safetensors"]
    assert "star" in demo_form().prompt
    assert (demo_form().height, demo_form().width, demo_form().num_frames) == (256, 384, 33)


def test_without_one_the_demo_is_a_pack_of_random_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_pack, "is_shipped", lambda name: False)
    written: list[Path] = []

    class Tiny:
        model_paths = "paths"
        style_lora_path = Path("style")

    def write(folder: Path, progress: object) -> Tiny:
        written.append(folder)
        return Tiny()

    monkeypatch.setattr(demo_cache, "ensure_tiny_pack", write)
    model = ensure_demo_model(tmp_path)
    assert (model.is_trained, model.paths, written) == (False, "paths", [tmp_path])
