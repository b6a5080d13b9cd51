"""What an export holds when it is read back, and that nothing is left of one that fails."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from av.video.reformatter import ColorPrimaries, ColorRange, Colorspace, ColorTrc
from numpy.typing import NDArray
from PIL import Image

from podium.geometry import ClipFormat, parse_fps
from podium.media.clip_reader import decode_pictures, read_clip_info, read_frame, read_frames, read_sound
from podium.media.errors import MediaError
from podium.media.export_kinds import (
    ExportCancelledError,
    ExportKind,
    ExportRun,
    fitted_size,
    gif_stride,
)
from podium.media.exports import export_clip, save_frame
from podium.media.master_movie import pcm_24
from podium.media.picture_sequence import remove_abandoned_folders
from podium.media.video_writer import ClipWriter

from tests.unit.media.clips import FAST, model_sound, write_clip

MOVIES = (ExportKind.PRORES_422_HQ, ExportKind.DNXHR_HQX)
# Above 256 x 120, which DNxHR asks for.
CLIP = ClipFormat(128, 256, 9, Fraction(24))


def target_of(folder: Path, kind: ExportKind) -> Path:
    return folder / f"master{kind.suffix}"


def pictures() -> NDArray[np.uint8]:
    """Return pictures with a grey of their own, and a patch of colour."""
    made = np.empty((CLIP.num_frames, CLIP.height, CLIP.width, 3), np.uint8)
    made[:] = np.linspace(30, 220, CLIP.num_frames).astype(np.uint8)[:, None, None, None]
    made[:, 32:96, 64:160] = (200, 60, 30)
    return made


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a clip with sound, made as Podium makes them."""
    path = tmp_path_factory.mktemp("clips") / "clip.mp4"
    with ClipWriter(path, CLIP, sample_rate_hz=48_000, parameters={"prompt": "a"}, encoding=FAST) as writer:
        writer.add_frames(pictures())
        writer.add_sound(model_sound(CLIP, 48_000))
    return path


@pytest.fixture(scope="module")
def prores(clip: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_clip(clip, tmp_path_factory.mktemp("prores") / "master.mov", ExportKind.PRORES_422_HQ)


@pytest.mark.parametrize(
    ("kind", "codec", "profile", "tag"),
    [
        (ExportKind.PRORES_422_HQ, "prores", "HQ", "apch"),
        (ExportKind.DNXHR_HQX, "dnxhd", "DNXHR HQX", "AVdh"),
    ],
)
def test_a_movie_is_of_the_codec_and_profile_that_was_asked_for(
    clip: Path, tmp_path: Path, kind: ExportKind, codec: str, profile: str, tag: str
) -> None:
    with av.open(str(export_clip(clip, tmp_path / "master.mov", kind))) as movie:
        video, audio = movie.streams.video[0], movie.streams.audio[0]
        assert (video.codec_context.name, video.profile, video.codec_context.codec_tag) == (codec, profile, tag)
        assert video.codec_context.pix_fmt == "yuv422p10le"
        assert (audio.codec_context.name, audio.rate, audio.layout.name) == ("pcm_s24le", 48_000, "stereo")


def test_a_movie_names_its_colours(prores: Path) -> None:
    with av.open(str(prores)) as movie:
        context = movie.streams.video[0].codec_context
        assert (context.colorspace, context.color_primaries) == (Colorspace.ITU709, ColorPrimaries.BT709)
        assert (context.color_trc, context.color_range) == (ColorTrc.BT709, ColorRange.MPEG)


@pytest.mark.parametrize("fps", ["24", "25", "23.976", "29.97", "59.94"])
def test_a_movie_keeps_the_exact_rate_and_every_picture(tmp_path: Path, fps: str) -> None:
    write_clip(tmp_path / "clip.mp4", ClipFormat(64, 64, 9, parse_fps(fps)))
    info = read_clip_info(export_clip(tmp_path / "clip.mp4", tmp_path / "a.mov", ExportKind.PRORES_422_HQ))
    assert (info.fps, info.num_frames) == (parse_fps(fps), 9)
    assert info.duration_s == 9 / parse_fps(fps)


def test_the_levels_of_a_movie_are_the_clip_s_own_in_ten_bits(clip: Path, prores: Path) -> None:
    for before, after in zip(decode_pictures(clip), decode_pictures(prores), strict=True):
        luma = before.to_ndarray()[: CLIP.height].astype(np.int32)
        ten_bits = np.frombuffer(bytes(after.planes[0]), np.uint16).reshape(CLIP.height, -1)[:, : CLIP.width]
        assert np.abs(ten_bits.astype(np.int32) - 4 * luma).mean() < 2


def test_the_pictures_of_a_movie_are_the_clip_s(clip: Path, prores: Path) -> None:
    for before, after in zip(read_frames(clip), read_frames(prores), strict=True):
        assert np.abs(before.astype(np.int16) - after.astype(np.int16)).mean() < 1


@pytest.mark.parametrize("kind", MOVIES)
def test_the_sound_of_a_movie_is_the_clip_s_to_the_sample(clip: Path, tmp_path: Path, kind: ExportKind) -> None:
    found = read_sound(export_clip(clip, tmp_path / "master.mov", kind))
    wanted = pcm_24(read_sound(clip))
    assert found.shape == (2, round(CLIP.duration_s * 48_000))
    assert np.array_equal(np.rint(found.astype(np.float64) * 2**23).astype(np.int32), wanted)


def test_sound_that_is_too_loud_is_cut_and_does_not_wrap() -> None:
    sound = np.array([[2.0, -2.0, 0.5, 1.0]], np.float32)
    assert pcm_24(sound).tolist() == [[2**23 - 1, -(2**23), 2**22, 2**23 - 1]]


def test_a_silent_clip_makes_a_silent_movie(tmp_path: Path) -> None:
    write_clip(tmp_path / "clip.mp4", ClipFormat(64, 64, 9, Fraction(24)))
    info = read_clip_info(export_clip(tmp_path / "clip.mp4", tmp_path / "a.mov", ExportKind.PRORES_422_HQ))
    assert (info.audio_codec, info.num_frames) == (None, 9)


def test_pictures_are_numbered_from_one_and_are_the_clip_s_to_the_bit(clip: Path, tmp_path: Path) -> None:
    folder = export_clip(clip, tmp_path / "shots", ExportKind.PICTURES)
    names = [f"shots_{number:05d}.png" for number in range(1, 10)]
    assert sorted(path.name for path in folder.iterdir()) == sorted([*names, "shots.wav"])
    for name, wanted in zip(names, read_frames(clip), strict=True):
        with Image.open(folder / name) as image:
            assert np.array_equal(np.asarray(image), wanted)


def test_the_wav_beside_the_pictures_has_the_whole_sound_in_24_bits(clip: Path, tmp_path: Path) -> None:
    folder = export_clip(clip, tmp_path / "shots", ExportKind.PICTURES)
    with av.open(str(folder / "shots.wav")) as wav:
        assert wav.streams.audio[0].codec_context.name == "pcm_s24le"
    found = np.rint(read_sound(folder / "shots.wav").astype(np.float64) * 2**23).astype(np.int32)
    assert np.array_equal(found, pcm_24(read_sound(clip)))


def durations_ms(path: Path) -> list[int]:
    with Image.open(path) as image:
        found = []
        for number in range(image.n_frames):
            image.seek(number)
            image.load()
            found.append(image.info["duration"])
        assert image.info["loop"] == 0
        return found


def test_a_gif_has_every_picture_and_the_clip_s_length_to_its_unit(clip: Path, tmp_path: Path) -> None:
    found = durations_ms(export_clip(clip, tmp_path / "a.gif", ExportKind.GIF))
    assert len(found) == 9
    # The last one stands as long as the one before.
    assert abs(sum(found) - 1000 * CLIP.duration_s) <= 10


def test_a_gif_shows_the_clip_s_colours(clip: Path, tmp_path: Path) -> None:
    with Image.open(export_clip(clip, tmp_path / "a.gif", ExportKind.GIF)) as image:
        image.seek(4)
        found = np.asarray(image.convert("RGB")).astype(np.int16)
    wanted = read_frame(clip, 4).astype(np.int16)
    assert np.abs(found - wanted).mean() < 3


def test_a_gif_of_a_quick_clip_has_every_second_picture(tmp_path: Path) -> None:
    write_clip(tmp_path / "clip.mp4", ClipFormat(64, 64, 9, Fraction(60)))
    found = durations_ms(export_clip(tmp_path / "clip.mp4", tmp_path / "a.gif", ExportKind.GIF))
    assert len(found) == 5
    assert min(found) >= 20


@pytest.mark.parametrize(("fps", "stride"), [("24", 1), ("50", 1), ("59.94", 2), ("60", 2), ("120", 3)])
def test_pictures_of_a_gif_follow_at_fifty_a_second_at_most(fps: str, stride: int) -> None:
    assert gif_stride(parse_fps(fps)) == stride


def test_a_webp_has_every_picture_and_the_clip_s_length_to_its_unit(clip: Path, tmp_path: Path) -> None:
    found = durations_ms(export_clip(clip, tmp_path / "a.webp", ExportKind.WEBP))
    assert len(found) == 9
    assert abs(sum(found) - 1000 * CLIP.duration_s) <= 1


def test_a_webp_shows_the_clip_s_colours(clip: Path, tmp_path: Path) -> None:
    with Image.open(export_clip(clip, tmp_path / "a.webp", ExportKind.WEBP)) as image:
        image.seek(4)
        found = np.asarray(image.convert("RGB")).astype(np.int16)
    assert np.abs(found - read_frame(clip, 4).astype(np.int16)).mean() < 4


@pytest.mark.parametrize("kind", [ExportKind.GIF, ExportKind.WEBP])
def test_an_animation_is_as_small_as_asked_for(clip: Path, tmp_path: Path, kind: ExportKind) -> None:
    with Image.open(export_clip(clip, target_of(tmp_path, kind), kind, max_side_px=100)) as image:
        assert image.size == (100, 50)


def test_a_size_is_fitted_in_its_own_shape_and_never_enlarged() -> None:
    assert fitted_size(1216, 704, 640) == (640, 371)
    assert fitted_size(704, 1216, 640) == (371, 640)
    assert fitted_size(320, 192, 640) == (320, 192)
    assert fitted_size(320, 192, None) == (320, 192)


@pytest.mark.parametrize("number", [0, 1, 5, 8])
def test_the_frame_that_is_saved_is_that_very_frame(clip: Path, tmp_path: Path, number: int) -> None:
    with Image.open(save_frame(clip, number, tmp_path / "a.png")) as image:
        assert np.array_equal(np.asarray(image), list(read_frames(clip))[number])


def test_a_frame_behind_a_key_picture_in_the_middle_is_found(tmp_path: Path) -> None:
    # A key picture every second: here at 0, 24 and 48.
    write_clip(tmp_path / "clip.mp4", ClipFormat(64, 64, 57, parse_fps("23.976")))
    all_of_them = list(read_frames(tmp_path / "clip.mp4"))
    for number in (22, 23, 24, 25, 47, 56):
        assert np.array_equal(read_frame(tmp_path / "clip.mp4", number), all_of_them[number])


def test_a_frame_that_is_not_there_is_refused(clip: Path, tmp_path: Path) -> None:
    with pytest.raises(MediaError, match="no picture number 10"):
        save_frame(clip, 9, tmp_path / "a.png")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ExportKind)
def test_a_cancelled_export_leaves_nothing(clip: Path, tmp_path: Path, kind: ExportKind) -> None:
    class Impatient(ExportRun):
        def step(self) -> None:
            self.is_cancelled = self.num_done == 3
            super().step()

    with pytest.raises(ExportCancelledError):
        export_clip(clip, target_of(tmp_path, kind), kind, run=Impatient())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ExportKind)
def test_an_export_tells_how_far_it_is(clip: Path, tmp_path: Path, kind: ExportKind) -> None:
    run = ExportRun()
    assert run.share == 0
    export_clip(clip, target_of(tmp_path, kind), kind, run=run)
    assert run.share == 1


@contextmanager
def _room_for_files_of(num_bytes: int) -> Iterator[None]:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("kind", ExportKind)
@pytest.mark.parametrize("room_bytes", [0, 20, 700])
def test_a_disk_that_fills_up_is_said_and_leaves_nothing(
    clip: Path, tmp_path: Path, kind: ExportKind, room_bytes: int
) -> None:
    with pytest.raises(MediaError, match="there is no room left"), _room_for_files_of(room_bytes):
        export_clip(clip, target_of(tmp_path, kind), kind)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ExportKind)
def test_a_folder_that_is_not_there_is_said(clip: Path, tmp_path: Path, kind: ExportKind) -> None:
    with pytest.raises(MediaError, match="no folder that can be reached"):
        export_clip(clip, target_of(tmp_path / "gone", kind), kind)


@pytest.mark.parametrize("kind", ExportKind)
def test_a_read_only_folder_is_said(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: ExportKind
) -> None:
    real_open, real_mkdir = os.open, Path.mkdir

    # Whoever runs the tests may be root, whom no permission stops.
    def refuse_open(path: Path, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_CREAT and Path(path).parent == tmp_path:
            raise PermissionError(13, "Permission denied", str(path))
        return real_open(path, flags, mode)

    monkeypatch.setattr(os, "open", refuse_open)
    with pytest.raises(MediaError, match="may not be written to"):
        export_clip(clip, target_of(tmp_path, kind), kind)
    assert real_mkdir is Path.mkdir
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ExportKind)
def test_a_name_that_is_taken_is_kept(clip: Path, tmp_path: Path, kind: ExportKind) -> None:
    target = target_of(tmp_path, kind)
    target.write_text("mine")
    with pytest.raises(MediaError, match="already and is kept"):
        export_clip(clip, target, kind)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(target.name, "mine")]


def test_a_file_is_replaced_where_that_is_meant(clip: Path, tmp_path: Path) -> None:
    (tmp_path / "a.gif").write_text("old")
    export_clip(clip, tmp_path / "a.gif", ExportKind.GIF, overwrite=True)
    assert (tmp_path / "a.gif").read_bytes().startswith(b"GIF89a")


def test_a_folder_of_that_name_is_never_replaced(clip: Path, tmp_path: Path) -> None:
    (tmp_path / "shots").mkdir()
    with pytest.raises(MediaError, match="is a folder"):
        export_clip(clip, tmp_path / "shots", ExportKind.PICTURES, overwrite=True)


def test_another_suffix_is_refused(clip: Path, tmp_path: Path) -> None:
    with pytest.raises(MediaError, match=r"does not end in \.mov"):
        export_clip(clip, tmp_path / "a.mp4", ExportKind.DNXHR_HQX)


def test_a_picture_too_small_for_dnxhr_is_refused_with_what_would_do(tmp_path: Path) -> None:
    write_clip(tmp_path / "clip.mp4", ClipFormat(64, 64, 9, Fraction(24)))
    with pytest.raises(MediaError, match="ProRes would do"):
        export_clip(tmp_path / "clip.mp4", tmp_path / "a.mov", ExportKind.DNXHR_HQX)


@pytest.mark.parametrize("kind", ExportKind)
def test_a_clip_that_is_damaged_leaves_nothing(clip: Path, tmp_path: Path, kind: ExportKind) -> None:
    damaged = tmp_path / "damaged.mp4"
    # The index stands in front: what is missing shows only where it should be read.
    damaged.write_bytes(clip.read_bytes()[: clip.stat().st_size * 2 // 3])
    with pytest.raises(MediaError):
        export_clip(damaged, target_of(tmp_path, kind), kind)
    assert list(tmp_path.iterdir()) == [damaged]


def test_a_folder_that_a_killed_export_left_goes_with_the_next_one(clip: Path, tmp_path: Path) -> None:
    left = tmp_path / ".podium-0011.parts"
    left.mkdir()
    (left / "a_00001.png").write_bytes(b"x")
    remove_abandoned_folders(tmp_path)
    # Somebody may be about to lock it.
    assert left.exists()
    os.utime(left, (1, 1))
    export_clip(clip, tmp_path / "shots", ExportKind.PICTURES)
    assert [path.name for path in tmp_path.iterdir()] == ["shots"]
