"""What the helper knows of clips and their files: what they are, where they lie now, and how they look."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from podium.errors import JobRefusedError
from podium.geometry import ClipFormat
from podium.helper.clip_files import ClipDesk
from podium.helper.requests import FindMissing, IdentifyFiles, KeepThumbnail, ReadClip
from podium.jobs import BranchStrengths, GenerationRequest, ImageSpec, LoraSpec
from podium.media.errors import MediaError
from podium.media.parameters import encode_parameters, sidecar_path
from podium.media.video_writer import ClipWriter
from podium.models.paths import ModelPaths
from podium.pipelines.parameters import clip_parameters

CLIP = ClipFormat(64, 128, 9, Fraction(24000, 1001))
LIMIT_BYTES = 10**9


@pytest.fixture
def desk() -> ClipDesk:
    return ClipDesk()


def write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


class Studio:
    """A machine on which a clip was made, and the clip."""

    def __init__(self, folder: Path) -> None:
        self.lora = write(folder / "loras" / "fox.safetensors", b"fox")
        self.image = write(folder / "pictures" / "start.png", b"png")
        self.models = ModelPaths(
            write(folder / "models" / "ltx.safetensors", b"ltx"),
            folder / "models" / "gemma",
            write(folder / "models" / "upscaler.safetensors", b"up"),
        )
        write(folder / "models" / "gemma" / "model.safetensors", b"gemma")
        self.request = GenerationRequest(
            "a fox “in” snow",
            2**63,
            CLIP,
            folder / "clips" / "fox.mp4",
            images=(ImageSpec(self.image, strength=0.5),),
            loras=(LoraSpec(self.lora, 0.75, BranchStrengths(audio=0.5)),),
        )
        self.folders = (folder / "models", folder / "loras", folder / "pictures")
        self.write_clip()

    def write_clip(self) -> None:
        self.request.output_path.parent.mkdir(parents=True)
        parameters = clip_parameters(self.request, self.models, dtype="bfloat16")
        with ClipWriter(self.request.output_path, CLIP, sample_rate_hz=None, parameters=parameters) as writer:
            writer.add_frames(np.full((9, 64, 128, 3), (200, 40, 10), np.uint8))


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    return Studio(tmp_path)


def test_a_clip_tells_what_it_was_made_with(desk: ClipDesk, studio: Studio) -> None:
    contents = desk.read_clip(ReadClip(studio.request.output_path, studio.folders))
    assert contents.request == studio.request
    assert contents.models == studio.models
    assert (contents.unmatched, contents.changed) == ((), ())
    assert contents.clip.clip == CLIP
    assert contents.clip.num_bytes == studio.request.output_path.stat().st_size


def test_a_clip_whose_tag_is_gone_tells_it_by_its_sidecar(desk: ClipDesk, studio: Studio) -> None:
    path = studio.request.output_path
    text = sidecar_path(path).read_text(encoding="utf-8")
    data = path.read_bytes()
    assert b"podium" in data
    path.write_bytes(data.replace(b'"podium"', b'"nodium"'))
    assert json.loads(text)["podium"] == 1
    assert desk.read_clip(ReadClip(path, studio.folders)).request == studio.request


def test_files_that_moved_and_were_renamed_are_found_by_their_content(
    desk: ClipDesk, studio: Studio, tmp_path: Path
) -> None:
    lora = studio.lora.rename(tmp_path / "loras" / "renamed.safetensors")
    checkpoint = tmp_path / "elsewhere" / "deep" / "ltx.safetensors"
    checkpoint.parent.mkdir(parents=True)
    studio.models.checkpoint_path.rename(checkpoint)
    contents = desk.read_clip(ReadClip(studio.request.output_path, (*studio.folders, tmp_path / "elsewhere")))
    assert contents.request.loras == (replace(studio.request.loras[0], path=lora),)
    assert contents.models == replace(studio.models, checkpoint_path=checkpoint)
    assert (contents.unmatched, contents.changed) == ((), ())


def test_a_file_that_was_used_before_is_found_wherever_it_lies(desk: ClipDesk, studio: Studio, tmp_path: Path) -> None:
    lora = tmp_path / "far" / "away.safetensors"
    lora.parent.mkdir()
    studio.lora.rename(lora)
    known = desk.identify(IdentifyFiles((lora,)))
    contents = ClipDesk().read_clip(ReadClip(studio.request.output_path, studio.folders, known))
    assert contents.request.loras[0].path == lora


def test_files_that_are_not_here_are_named_and_left_out(desk: ClipDesk, studio: Studio) -> None:
    studio.lora.unlink()
    studio.image.unlink()
    studio.models.spatial_upsampler_path.unlink()
    contents = desk.read_clip(ReadClip(studio.request.output_path, studio.folders))
    assert set(contents.unmatched) == {"fox.safetensors", "start.png", "upscaler.safetensors"}
    assert (contents.request.loras, contents.request.images, contents.models) == ((), (), None)
    assert contents.request.prompt == studio.request.prompt


def test_a_file_of_the_same_name_and_other_content_is_taken_and_named(desk: ClipDesk, studio: Studio) -> None:
    studio.lora.write_bytes(b"another fox")
    contents = desk.read_clip(ReadClip(studio.request.output_path, studio.folders))
    assert contents.request.loras[0].path == studio.lora
    assert contents.changed == ("fox.safetensors",)


@pytest.mark.parametrize("content", [b"", b"no clip at all", b"\0" * 5000])
def test_what_is_no_clip_is_refused_in_a_sentence(desk: ClipDesk, tmp_path: Path, content: bytes) -> None:
    path = write(tmp_path / "strange.mp4", content)
    with pytest.raises(MediaError, match=r"strange\.mp4"):
        desk.read_clip(ReadClip(path))


@pytest.mark.parametrize("change", [{"seed": "x"}, {"frame_rate": "0/0"}, {"loras": [{}]}, {"pipeline": "warp"}])
def test_parameters_that_cannot_be_read_are_refused_in_a_sentence(
    desk: ClipDesk, studio: Studio, change: dict[str, object]
) -> None:
    path = studio.request.output_path
    parameters = json.loads(sidecar_path(path).read_text(encoding="utf-8")) | change
    path.write_bytes(path.read_bytes().replace(b'"podium"', b'"nodium"'))
    sidecar_path(path).write_text(encode_parameters(parameters), encoding="utf-8")
    with pytest.raises(MediaError, match="cannot be read"):
        desk.read_clip(ReadClip(path, studio.folders))


def test_files_that_are_gone_are_told_and_no_others(desk: ClipDesk, tmp_path: Path) -> None:
    here, gone = write(tmp_path / "a", b""), tmp_path / "b"
    assert desk.find_missing(FindMissing((here, gone))) == (gone,)


def test_folders_and_what_cannot_be_read_have_no_identity(desk: ClipDesk, tmp_path: Path) -> None:
    file = write(tmp_path / "a", b"abc")
    (identity,) = desk.identify(IdentifyFiles((tmp_path, file, tmp_path / "gone")))
    assert (identity.path, identity.num_bytes, len(identity.fingerprint)) == (file, 3, 16)


def test_unchanged_files_pass_also_if_they_were_copied_over_themselves(desk: ClipDesk, tmp_path: Path) -> None:
    file = write(tmp_path / "fox.safetensors", b"abc")
    identities = desk.identify(IdentifyFiles((file,)))
    desk.check_unchanged(identities)
    os.utime(file, ns=(1, 1))
    desk.check_unchanged(identities)


def test_a_file_that_was_changed_or_is_gone_is_refused_by_name(desk: ClipDesk, tmp_path: Path) -> None:
    file = write(tmp_path / "fox.safetensors", b"abc")
    identities = desk.identify(IdentifyFiles((file,)))
    file.write_bytes(b"abd")
    os.utime(file, ns=(1, 1))
    with pytest.raises(JobRefusedError, match=r"“fox\.safetensors” was changed since"):
        desk.check_unchanged(identities)
    file.unlink()
    with pytest.raises(JobRefusedError, match=r"“fox\.safetensors” is no longer where it was"):
        desk.check_unchanged(identities)


def test_a_thumbnail_is_made_once_and_then_taken_from_the_cache(
    desk: ClipDesk, studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = KeepThumbnail(studio.request.output_path, 32, tmp_path / "cache", LIMIT_BYTES)
    made = desk.keep_thumbnail(request)
    assert (made.width, made.height, len(made.rgb)) == (32, 16, 32 * 16 * 3)
    (kept,) = (tmp_path / "cache" / "thumbnails").rglob("*.webp")
    with Image.open(kept) as image:
        assert (image.format, image.size) == ("WEBP", (32, 16))
    monkeypatch.setattr("podium.helper.clip_files.read_frames", lambda path: pytest.fail("it was made again"))
    again = desk.keep_thumbnail(request)
    assert np.abs(np.frombuffer(again.rgb, np.uint8).astype(int) - np.frombuffer(made.rgb, np.uint8)).max() < 12


def test_a_clip_that_was_replaced_gets_a_new_thumbnail(desk: ClipDesk, studio: Studio, tmp_path: Path) -> None:
    request = KeepThumbnail(studio.request.output_path, 32, tmp_path / "cache", LIMIT_BYTES)
    desk.keep_thumbnail(request)
    os.utime(studio.request.output_path, ns=(5, 5))
    desk.keep_thumbnail(request)
    assert len(list((tmp_path / "cache" / "thumbnails").rglob("*.webp"))) == 2


def test_a_kept_thumbnail_that_is_damaged_is_made_again(desk: ClipDesk, studio: Studio, tmp_path: Path) -> None:
    request = KeepThumbnail(studio.request.output_path, 32, tmp_path / "cache", LIMIT_BYTES)
    desk.keep_thumbnail(request)
    (kept,) = (tmp_path / "cache" / "thumbnails").rglob("*.webp")
    kept.write_bytes(b"damaged")
    assert desk.keep_thumbnail(request).width == 32
    with Image.open(kept) as image:
        assert image.size == (32, 16)


def test_a_cache_that_cannot_be_written_is_no_reason_to_have_no_thumbnail(
    desk: ClipDesk, studio: Studio, tmp_path: Path
) -> None:
    write(tmp_path / "file", b"")
    assert desk.keep_thumbnail(KeepThumbnail(studio.request.output_path, 32, tmp_path / "file", 1)).width == 32


def test_new_thumbnails_push_the_longest_unused_out(desk: ClipDesk, studio: Studio, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    old = write(folder / "drafts" / "old.bin", bytes(5000))
    os.utime(old, ns=(1, 1))
    desk.keep_thumbnail(KeepThumbnail(studio.request.output_path, 32, folder, 4000))
    assert not old.exists()
    assert list((folder / "thumbnails").rglob("*.webp"))


def test_a_clip_that_is_gone_has_no_thumbnail(desk: ClipDesk, tmp_path: Path) -> None:
    with pytest.raises(MediaError, match="not there any more"):
        desk.keep_thumbnail(KeepThumbnail(tmp_path / "gone.mp4", 32, tmp_path, LIMIT_BYTES))
