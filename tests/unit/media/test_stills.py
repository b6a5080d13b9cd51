"""Pictures of every kind, and every kind of file that is none."""

from __future__ import annotations

import io
import os
import struct
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from av.video.codeccontext import VideoCodecContext
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image, ImageCms, ImageOps

from podium.media.errors import MediaError
from podium.media.stills import MAX_SIDE_PX, check_still, read_still, write_png

RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)
SAVED_AS: dict[str, dict[str, Any]] = {
    "PNG": {},
    "JPEG": {"quality": 95, "subsampling": 0},
    "WEBP": {"lossless": True},
    "AVIF": {"quality": 95, "speed": 10, "subsampling": "4:4:4"},
    "TIFF": {"compression": "tiff_lzw"},
    "GIF": {},
    "BMP": {},
}


def quarters() -> NDArray[np.uint8]:
    """Return a 48 x 32 picture of four colours: each way of turning it gives another."""
    rgb = np.empty((32, 48, 3), np.uint8)
    rgb[:16, :24], rgb[:16, 24:], rgb[16:, :24], rgb[16:, 24:] = RED, GREEN, BLUE, (200, 100, 50)
    return rgb


def save(path: Path, image: Image.Image, kind: str = "PNG", **options: Any) -> Path:
    image.save(path, kind, **options)
    return path


def deep_file(samples: NDArray[np.uint16], codec: str) -> bytes:
    """Return a PNG or TIFF file with 16 bits a channel, which Pillow cannot write for colours."""
    order = "be" if codec == "png" else "le"
    pixel_format = {1: "gray16", 2: "ya16", 3: "rgb48", 4: "rgba64"}[samples.shape[2]] + order
    encoder = av.CodecContext.create(codec, "w")
    assert isinstance(encoder, VideoCodecContext)
    encoder.height, encoder.width, encoder.pix_fmt = samples.shape[0], samples.shape[1], pixel_format
    encoder.time_base = Fraction(1)
    frame = av.VideoFrame(samples.shape[1], samples.shape[0], pixel_format)
    big_or_little = samples.astype(">u2" if order == "be" else "<u2")
    rows = np.zeros((samples.shape[0], frame.planes[0].line_size), np.uint8)
    rows[:, : samples.shape[1] * samples.shape[2] * 2] = big_or_little.reshape(len(samples), -1).view(np.uint8)
    frame.planes[0].update(rows.tobytes())
    frame.pts = 0
    return b"".join(bytes(packet) for packet in [*encoder.encode(frame), *encoder.encode(None)])


def srgb_profile() -> bytes:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def profile_with_red_and_green_swapped() -> bytes:
    """Return the sRGB profile with two primaries exchanged: a file's red is seen as green."""
    profile = srgb_profile()
    table_end = 132 + 12 * struct.unpack(">I", profile[128:132])[0]
    table = profile[132:table_end].replace(b"rXYZ", b"----").replace(b"gXYZ", b"rXYZ").replace(b"----", b"gXYZ")
    return profile[:132] + table + profile[table_end:]


def linear_grey_profile() -> bytes:
    """Return a grey profile whose values are amounts of light: half of it is seen as sRGB 188."""
    profile = bytearray(srgb_profile())
    profile[16:20] = b"GRAY"
    curve = b"curv" + struct.pack(">IIHH", 0, 1, 0x0100, 0)
    entry = profile.index(b"rTRC")
    profile[entry : entry + 12] = b"kTRC" + struct.pack(">II", len(profile), len(curve))
    profile += curve
    profile[0:4] = struct.pack(">I", len(profile))
    return bytes(profile)


@pytest.mark.parametrize("kind", SAVED_AS)
def test_every_kind_of_file_is_read(tmp_path: Path, kind: str) -> None:
    # The suffix says nothing: what is in the file does.
    path = save(tmp_path / "picture.dat", Image.fromarray(quarters()), kind, **SAVED_AS[kind])
    rgb = read_still(path)
    assert rgb.dtype == np.uint8
    assert rgb.shape == (32, 48, 3)
    tolerance = 12 if kind in {"JPEG", "AVIF"} else 0
    inner = np.s_[4:12, 4:20]
    assert np.abs(rgb[inner].astype(int) - quarters()[inner]).max() <= tolerance
    assert check_still(path) == (48, 32)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "PA", "RGB", "RGBA", "RGBX", "CMYK", "YCbCr", "LAB", "I;16"])
def test_a_grey_of_any_mode_is_that_grey(tmp_path: Path, mode: str) -> None:
    white = Image.new("RGB", (8, 6), WHITE)
    if mode == "I;16":
        image = Image.fromarray(np.full((6, 8), 65535, np.uint16))
    elif mode == "LAB":
        image = Image.frombytes("LAB", (8, 6), bytes([255, 0, 0]) * 48)
    elif mode in {"PA", "RGBX", "LA"}:
        image = white.convert("RGBA").convert(mode)
    else:
        image = white.convert(mode)
    kind = "PNG" if mode == "P" else "JPEG" if mode == "YCbCr" else "TIFF"
    rgb = read_still(save(tmp_path / "picture", image, kind))
    assert rgb.shape == (6, 8, 3)
    assert rgb.min() >= 253


def test_a_palette_gives_its_colours(tmp_path: Path) -> None:
    image = Image.fromarray(quarters()).quantize(8)
    assert image.mode == "P"
    rgb = read_still(save(tmp_path / "picture.png", image))
    assert np.abs(rgb.astype(int) - quarters()).max() <= 4


def test_cmyk_without_a_profile_keeps_its_hue(tmp_path: Path) -> None:
    image = Image.new("CMYK", (8, 8), (0, 255, 255, 0))
    red, green, blue = read_still(save(tmp_path / "picture.jpg", image, "JPEG", quality=95))[4, 4].astype(int)
    assert red > 250
    assert max(green, blue) < 5


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF", "AVIF"])
def test_a_picture_is_turned_as_its_tag_says(tmp_path: Path, kind: str, orientation: int) -> None:
    exif = Image.Exif()
    exif[274] = orientation
    path = save(tmp_path / "picture", Image.fromarray(quarters()), kind, exif=exif, **SAVED_AS[kind])
    with Image.open(path) as image:
        expected = np.asarray(ImageOps.exif_transpose(image).convert("RGB"))
    rgb = read_still(path)
    assert np.array_equal(rgb, expected)
    assert rgb.shape == ((32, 48, 3) if orientation < 5 else (48, 32, 3))
    # The stored top left corner is red; EXIF says where it belongs.
    rows, columns = (8 if orientation in {1, 2, 5, 8} else -8), (8 if orientation in {1, 4, 5, 6} else -8)
    if orientation == 8:
        rows, columns = -8, 8
    if orientation == 6:
        rows, columns = 8, -8
    assert np.abs(rgb[rows, columns].astype(int) - RED).max() <= 12


@pytest.mark.parametrize("orientation", [0, 9, 65535])
def test_an_orientation_that_does_not_exist_leaves_the_picture_as_it_is(tmp_path: Path, orientation: int) -> None:
    exif = Image.Exif()
    exif[274] = orientation
    path = save(tmp_path / "picture.png", Image.fromarray(quarters()), exif=exif)
    assert np.array_equal(read_still(path), quarters())


def test_colours_go_through_the_embedded_profile(tmp_path: Path) -> None:
    path = save(tmp_path / "picture.png", Image.fromarray(quarters()), icc_profile=profile_with_red_and_green_swapped())
    assert np.abs(read_still(path).astype(int) - quarters()[..., [1, 0, 2]]).max() <= 3


def test_an_srgb_profile_changes_nothing(tmp_path: Path) -> None:
    rgb = np.random.default_rng(0).integers(0, 256, (32, 32, 3)).astype(np.uint8)
    path = save(tmp_path / "picture.png", Image.fromarray(rgb), icc_profile=srgb_profile())
    assert np.abs(read_still(path).astype(int) - rgb).max() <= 1


def test_a_grey_profile_is_applied_to_a_grey_picture(tmp_path: Path) -> None:
    path = save(tmp_path / "picture.png", Image.new("L", (8, 8), 128), icc_profile=linear_grey_profile())
    # sRGB's curve (IEC 61966-2-1): 1.055 * (128 / 255) ** (1 / 2.4) - 0.055 is 188 / 255.
    assert np.abs(read_still(path).astype(int) - 188).max() <= 1


def test_a_transparent_picture_keeps_its_transparency_through_a_profile(tmp_path: Path) -> None:
    rgba = np.dstack([quarters(), np.full((32, 48), 255, np.uint8)])
    rgba[:16, :24, 3] = 0
    profile = profile_with_red_and_green_swapped()
    rgb = read_still(save(tmp_path / "picture.png", Image.fromarray(rgba), icc_profile=profile))
    assert rgb[8, 8].tolist() == [255, 255, 255]
    assert np.abs(rgb[8, 40].astype(int) - RED).max() <= 3


@pytest.mark.parametrize(
    "profile", [b"no profile", srgb_profile()[:200], linear_grey_profile()[:300], linear_grey_profile()]
)
def test_a_profile_that_is_damaged_or_for_other_colours_is_passed_over(tmp_path: Path, profile: bytes) -> None:
    path = save(tmp_path / "picture.png", Image.fromarray(quarters()), icc_profile=profile)
    assert np.array_equal(read_still(path), quarters())


@pytest.mark.parametrize(
    ("codec", "num_channels"), [("png", 1), ("png", 2), ("png", 3), ("png", 4), ("tiff", 1), ("tiff", 3), ("tiff", 4)]
)
def test_16_bits_become_8_by_rounding(tmp_path: Path, codec: str, num_channels: int) -> None:
    samples = np.random.default_rng(num_channels).integers(0, 65536, (16, 24, num_channels)).astype(np.uint16)
    samples[0, 0], samples[0, 1], samples[0, 2] = 0, 65535, 255
    if num_channels in {2, 4}:
        samples[..., -1] = 65535
    path = tmp_path / "picture"
    path.write_bytes(deep_file(samples, codec))
    colours = samples[..., :1].repeat(3, axis=2) if num_channels < 3 else samples[..., :3]
    assert np.array_equal(read_still(path), np.rint(colours / 257).astype(np.uint8))


def test_16_bit_transparency_is_laid_on_white(tmp_path: Path) -> None:
    samples = np.zeros((4, 4, 4), np.uint16)
    samples[..., 3] = 65535 * 2 // 5
    path = tmp_path / "picture.png"
    path.write_bytes(deep_file(samples, "png"))
    assert np.abs(read_still(path).astype(int) - 153).max() <= 1


def test_transparent_parts_are_laid_on_white(tmp_path: Path) -> None:
    rgba = np.zeros((4, 4, 4), np.uint8)
    rgba[1], rgba[2] = (255, 0, 0, 255), (255, 0, 0, 128)
    rgb = read_still(save(tmp_path / "picture.png", Image.fromarray(rgba)))
    assert rgb[0, 0].tolist() == [255, 255, 255]
    assert rgb[1, 0].tolist() == [255, 0, 0]
    assert rgb[2, 0].tolist() == [255, 127, 127]


def test_a_transparent_palette_colour_is_laid_on_white(tmp_path: Path) -> None:
    image = Image.new("P", (4, 4), 1)
    image.putpalette([0, 0, 0, 255, 0, 0])
    image.putpixel((0, 0), 0)
    rgb = read_still(save(tmp_path / "picture.png", image, transparency=0))
    assert rgb[0, 0].tolist() == [255, 255, 255]
    assert rgb[1, 1].tolist() == [255, 0, 0]


def test_a_float_picture_from_0_to_1_is_read(tmp_path: Path) -> None:
    image = Image.fromarray(np.linspace(0, 1, 256, dtype=np.float32)[None])
    rgb = read_still(save(tmp_path / "picture.tif", image, "TIFF"))
    assert np.array_equal(rgb[0, :, 0], np.arange(256))


@pytest.mark.parametrize("value", [-0.1, 1.5, 255.0, float("nan")])
def test_a_float_picture_of_another_range_is_refused_with_what_would_do(tmp_path: Path, value: float) -> None:
    image = Image.fromarray(np.array([[0, value]], np.float32))
    with pytest.raises(MediaError, match=r"“picture\.tif” holds its pixels as float32 .* Save it with 8 or 16 bits"):
        read_still(save(tmp_path / "picture.tif", image, "TIFF"))


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP", "TIFF"])
def test_of_an_animation_the_first_picture_is_read(tmp_path: Path, kind: str) -> None:
    pictures = [Image.new("RGB", (16, 16), colour) for colour in (RED, GREEN, BLUE)]
    options = {"lossless": True} if kind == "WEBP" else {}
    path = save(tmp_path / "picture", pictures[0], kind, save_all=True, append_images=pictures[1:], **options)
    assert read_still(path)[8, 8].tolist() == [255, 0, 0]


def test_a_camera_jpeg_with_a_second_picture_is_read(tmp_path: Path) -> None:
    first, second = Image.new("RGB", (16, 16), RED), Image.new("RGB", (8, 8), BLUE)
    path = save(tmp_path / "picture.jpg", first, "MPO", save_all=True, append_images=[second])
    assert np.abs(read_still(path)[8, 8].astype(int) - RED).max() <= 3


def test_a_written_png_comes_back_as_it_was(tmp_path: Path) -> None:
    rgb = np.random.default_rng(0).integers(0, 256, (20, 30, 3)).astype(np.uint8)
    write_png(tmp_path / "frame.png", rgb[::-1])
    assert np.array_equal(read_still(tmp_path / "frame.png"), rgb[::-1])
    assert [path.name for path in tmp_path.iterdir()] == ["frame.png"]


def test_a_png_for_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MediaError, match=r"“frame\.png” could not be written"):
        write_png(tmp_path / "missing" / "frame.png", quarters())


@pytest.mark.parametrize("kind", SAVED_AS)
@pytest.mark.parametrize("share", [0.02, 0.5, 0.95])
def test_a_file_that_was_cut_off_is_refused(tmp_path: Path, kind: str, share: float) -> None:
    noise = Image.fromarray(np.random.default_rng(0).integers(0, 256, (64, 64, 3)).astype(np.uint8))
    path = save(tmp_path / "picture", noise, kind, **SAVED_AS[kind])
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(MediaError, match=r"“picture” is (damaged or was cut off|no picture of a known kind)"):
        check_still(path)


@pytest.mark.parametrize("codec", ["png", "tiff"])
def test_a_16_bit_file_that_was_cut_off_is_refused(tmp_path: Path, codec: str) -> None:
    data = deep_file(np.random.default_rng(0).integers(0, 65536, (32, 32, 3)).astype(np.uint16), codec)
    path = tmp_path / "picture"
    path.write_bytes(data[: len(data) * 3 // 4])
    with pytest.raises(MediaError, match=r"“picture” is (damaged or was cut off|no picture of a known kind)"):
        check_still(path)


@pytest.mark.parametrize(
    "content",
    [b"hello", b"%!PS-Adobe-3.0\n", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"\x89PNG\r\n\x1a\n", b"\0" * 99],
)
def test_what_is_no_picture_is_refused_with_what_would_do(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "picture.png").write_bytes(content)
    with pytest.raises(MediaError, match=r"“picture\.png” is .* A PNG, JPEG, WebP, AVIF or TIFF file would do"):
        check_still(tmp_path / "picture.png")


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "picture.png").touch()
    with pytest.raises(MediaError, match=r"“picture\.png” is empty"):
        check_still(tmp_path / "picture.png")


@pytest.mark.parametrize("parent", ["missing", "a file"])
def test_a_missing_file_is_refused_with_its_folder(tmp_path: Path, parent: str) -> None:
    (tmp_path / "a file").touch()
    with pytest.raises(MediaError, match=f"“picture.png” is not in “.*{parent}”"):
        check_still(tmp_path / parent / "picture.png")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MediaError, match="is no picture file"):
        check_still(tmp_path)


def test_a_pipe_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "picture.png")
    with pytest.raises(MediaError, match="is no picture file"):
        check_still(tmp_path / "picture.png")


def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> bytes:
        raise PermissionError

    path = save(tmp_path / "picture.png", Image.fromarray(quarters()))
    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(MediaError, match="may not be read"):
        check_still(path)


@pytest.mark.parametrize("size", [(MAX_SIDE_PX + 1, 1), (16_000, 10_000), (60_000, 60_000)])
def test_a_picture_that_is_too_large_is_refused_by_its_header(tmp_path: Path, size: tuple[int, int]) -> None:
    data = io.BytesIO()
    Image.new("RGB", (1, 1)).save(data, "BMP")
    header = bytearray(data.getvalue())
    header[18:26] = struct.pack("<ii", *size)
    (tmp_path / "picture.bmp").write_bytes(header)
    with pytest.raises(MediaError, match=r"“picture\.bmp” is too large: at most 16384 pixels a side and 150 million"):
        check_still(tmp_path / "picture.bmp")


@settings(max_examples=60)
@given(st.sampled_from(["PNG", "JPEG", "WEBP", "TIFF", "GIF", "BMP"]), st.data())
def test_damaged_bytes_give_a_picture_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, kind: str, data: st.DataObject
) -> None:
    file = io.BytesIO()
    Image.fromarray(quarters()).save(file, kind)
    content = bytearray(file.getvalue())
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_bytes(content)
    try:
        rgb = read_still(path)
    except MediaError:
        return
    assert rgb.dtype == np.uint8
    assert rgb.shape[2] == 3
