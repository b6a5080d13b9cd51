"""Read a picture file of nearly any kind as 8-bit sRGB, upright; write a PNG.

What is in a file is looked at, never its suffix. Transparent parts are laid on white, as on paper: a line drawing in
black on nothing would vanish on black.
"""

from __future__ import annotations

import io
import logging
import re
import stat
import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import av
import imageio.v3 as iio
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageCms, UnidentifiedImageError

from podium.media.errors import MediaError, describe, writing_failed
from podium.media.part_files import write_whole

_logger = logging.getLogger(__name__)

_Samples = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.float32]

_ACCEPTED = "A PNG, JPEG, WebP, AVIF or TIFF file would do."
# Formats that run programs (EPS) or that hardly anyone has stay out: each is one more parser of foreign bytes.
_FORMATS = ("PNG", "JPEG", "WEBP", "AVIF", "TIFF", "GIF", "BMP")

MAX_SIDE_PX = 16384
"""Longest side of a picture: what H.264 can re-compress."""

MAX_PIXELS = 150_000_000
"""Most pixels of a picture: above any camera's, below what opening one could do to the machine."""

_MAX_FILE_BYTES = 1 << 30
_DEEP_RAW_MODE = re.compile(r"(RGB|RGBA|LA);16[BLN]")
# FFmpeg's packed formats of 16 bits by channels, without their byte order.
_DEEP_FORMATS = {2: "ya16", 3: "rgb48", 4: "rgba64"}
_GREY_MODES = frozenset({"1", "L", "LA", "La", "I;16", "I;16B", "I;16L", "I;16N", "F"})
_ICC_COLOUR_MODES = {"RGB ": "RGB", "GRAY": "L", "CMYK": "CMYK", "Lab ": "LAB"}
# What decoders were seen to raise on damaged files.
_DECODER_ERRORS = (
    OSError,
    SyntaxError,
    ValueError,
    ArithmeticError,
    LookupError,
    TypeError,
    AttributeError,
    EOFError,
    MemoryError,
    RuntimeError,
    struct.error,
    zlib.error,
    av.FFmpegError,
)


@dataclass(frozen=True, slots=True)
class _Header:
    """What a picture's header says.

    Args:
        mode: Pillow's mode.
        raw_mode: How the file holds the samples, in Pillow's words; empty if unsaid.
        is_transparent: Some part may be.
        icc_profile: The embedded profile; empty where there is none.
    """

    mode: str
    raw_mode: str
    is_transparent: bool
    icc_profile: bytes


def read_still(path: Path) -> NDArray[np.uint8]:
    """Return a picture, uint8 [height, width, 3], sRGB, turned upright; of an animation the first picture.

    16 bits become 8 by rounding. Float pictures are taken if all values lie from 0 to 1, as display values. Colours go
    through the embedded ICC profile, and are taken for sRGB where there is none or it is damaged.

    Raises:
        MediaError: The file is missing, unreadable, damaged, cut off, no picture, or too large.
    """
    data = _read_file(path)
    with _sentences(path):
        header = _read_header(data, path)
        samples, orientation = _read_samples(data, header)
        colour, alpha = _split_alpha(_as_8_bit(samples, path), header)
        rgb = _to_srgb(colour, header)
        return _turn(rgb if alpha is None else _lay_on_white(rgb, alpha), orientation)


def check_still(path: Path) -> tuple[int, int]:
    """Return a picture's width and height, upright, after decoding it whole: only so does a cut-off file show.

    Raises:
        MediaError: As `read_still`.
    """
    height, width, _ = read_still(path).shape
    return width, height


def write_png(path: Path, rgb: NDArray[np.uint8]) -> None:
    """Write a picture, uint8 [height, width, 3], as PNG, whole or not at all, over whatever has that name.

    Raises:
        MediaError: The folder is missing, read-only or full.
        ValueError: It is of another shape or type.
    """
    if rgb.dtype != np.uint8 or rgb.ndim != 3 or rgb.shape[2] != 3:
        raise ValueError(f"a picture must be uint8 [height, width, 3], not {rgb.dtype} {rgb.shape}")
    data = iio.imwrite("<bytes>", np.ascontiguousarray(rgb), extension=".png", plugin="pillow")
    try:
        write_whole(path, data)
    except OSError as error:
        raise writing_failed(path.name, str(path.parent), error) from error


def _read_file(path: Path) -> bytes:
    try:
        status = path.stat()
        # A pipe would wait for ever, a device never end.
        if not stat.S_ISREG(status.st_mode):
            raise MediaError(f"“{path.name}” in “{path.parent}” is no picture file. {_ACCEPTED}")
        if status.st_size > _MAX_FILE_BYTES:
            raise MediaError(f"“{path.name}” has over {_MAX_FILE_BYTES >> 30} GiB, too much for a picture. {_ACCEPTED}")
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise MediaError(f"The picture “{path.name}” is not in “{path.parent}”. Choose one that is there.") from error
    except OSError as error:
        raise MediaError(
            f"The picture “{path.name}” in “{path.parent}” may not be read. Change its permissions or choose another.",
            details=describe(error),
        ) from error
    if not data:
        raise MediaError(f"“{path.name}” is empty. {_ACCEPTED}")
    return data


@contextmanager
def _sentences(path: Path) -> Iterator[None]:
    """Turn what decoders raise into a sentence about this file."""
    try:
        with warnings.catch_warnings():
            # Pillow warns of sizes that are refused here by limits of our own, and of metadata that it skips.
            warnings.simplefilter("ignore")
            yield
    except UnidentifiedImageError as error:
        raise MediaError(
            f"“{path.name}” is no picture of a known kind, or its head is damaged. {_ACCEPTED}", details=describe(error)
        ) from error
    except Image.DecompressionBombError as error:
        raise MediaError(_too_large(path), details=describe(error)) from error
    except _DECODER_ERRORS as error:
        raise MediaError(
            f"“{path.name}” is damaged or was cut off: it cannot be read to its end. Save it again. {_ACCEPTED}",
            details=describe(error),
        ) from error


def _too_large(path: Path) -> str:
    return (
        f"“{path.name}” is too large: at most {MAX_SIDE_PX} pixels a side and {MAX_PIXELS // 1_000_000} million in all "
        "would do."
    )


def _read_header(data: bytes, path: Path) -> _Header:
    with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
        width, height = image.size
        if width < 1 or height < 1:
            raise MediaError(f"“{path.name}” has no pixels. {_ACCEPTED}")
        if max(width, height) > MAX_SIDE_PX or width * height > MAX_PIXELS:
            raise MediaError(_too_large(path), details=f"{width} x {height}")
        return _Header(
            mode=image.mode,
            raw_mode=_raw_mode_of(image),
            is_transparent=image.has_transparency_data,
            icc_profile=image.info.get("icc_profile") or b"",
        )


def _raw_mode_of(image: Image.Image) -> str:
    tiles = getattr(image, "tile", None)
    args = tiles[0].args if tiles else ""
    first = args[0] if isinstance(args, tuple) and args else args
    return first if isinstance(first, str) else ""


def _read_samples(data: bytes, header: _Header) -> tuple[_Samples, object]:
    """Return the first picture's samples, [height, width] or with channels, alpha last; and EXIF's orientation."""
    # Pillow checks a file to its end, but cuts colours of 16 bits to 8; FFmpeg keeps them and checks less.
    file = iio.imopen(data, "r", plugin="pillow")
    with file:
        samples: _Samples = np.asarray(file.read(index=0, mode=_mode_to_read(header)))
        orientation = file.metadata(index=0, exclude_applied=False).get("Orientation", 1)
    has_colour_key = header.is_transparent and header.mode == "RGB"
    deep_mode = _DEEP_RAW_MODE.fullmatch(header.raw_mode)
    if deep_mode and not has_colour_key:
        samples = _read_deep_samples(data, (*samples.shape[:2], len(deep_mode[1])), samples)
    return samples, orientation


def _read_deep_samples(data: bytes, shape: tuple[int, ...], shallow: _Samples) -> _Samples:
    """Return the samples in 16 bits, or `shallow` where FFmpeg finds none of this shape."""
    try:
        with av.open(io.BytesIO(data), "r") as container:
            container.streams.video[0].codec_context.thread_count = 1
            frame = next(container.decode(video=0))
    except (*_DECODER_ERRORS, StopIteration) as error:
        _logger.debug("FFmpeg cannot read this picture; its upper 8 bits will do: %s", error)
        return shallow
    height, width, num_channels = shape
    if frame.format.name[:-2] != _DEEP_FORMATS[num_channels] or (frame.height, frame.width) != (height, width):
        return shallow
    order = ">u2" if frame.format.name.endswith("be") else "<u2"
    rows = np.frombuffer(bytes(frame.planes[0]), order).reshape(height, -1)
    deep = rows[:, : width * num_channels].reshape(shape).astype(np.uint16)
    return deep if num_channels > 2 else deep[..., [0, 0, 0, 1]]


def _mode_to_read(header: _Header) -> str:
    if header.mode.startswith(("I", "F")) or header.mode in {"CMYK", "LAB"}:
        return header.mode
    return "RGBA" if header.is_transparent else "RGB"


def _as_8_bit(samples: _Samples, path: Path) -> NDArray[np.uint8]:
    if samples.dtype == np.uint8:
        return samples.astype(np.uint8, copy=False)
    if samples.dtype.kind == "u" and samples.dtype.itemsize == 2:
        # 65535 / 255 is 257: this is division with rounding.
        return ((samples.astype(np.uint32) + 128) // 257).astype(np.uint8)
    if samples.dtype.kind == "f":
        levels = samples.astype(np.float32)
        if bool(np.all((levels >= 0) & (levels <= 1))):
            return np.rint(levels * 255).astype(np.uint8)
    raise MediaError(
        f"“{path.name}” holds its pixels as {samples.dtype} outside 0 to 1, which says nothing about white. "
        "Save it with 8 or 16 bits a channel."
    )


def _split_alpha(samples: NDArray[np.uint8], header: _Header) -> tuple[NDArray[np.uint8], NDArray[np.uint8] | None]:
    if header.mode != "CMYK" and samples.ndim == 3 and samples.shape[2] == 4:
        return samples[..., :3], samples[..., 3]
    return samples, None


def _to_srgb(colour: NDArray[np.uint8], header: _Header) -> NDArray[np.uint8]:
    mode = header.mode if header.mode in {"CMYK", "LAB"} else "RGB"
    if colour.ndim == 2:
        colour = np.repeat(colour[..., None], 3, axis=2)
    image = Image.frombytes(mode, (colour.shape[1], colour.shape[0]), colour.tobytes())
    if header.icc_profile or mode == "LAB":
        image = _through_profile(image, header)
    return np.asarray(image.convert("RGB"))


def _through_profile(image: Image.Image, header: _Header) -> Image.Image:
    """Return a picture in sRGB; as it was, if its profile is damaged or for another kind of colour."""
    try:
        if image.mode == "LAB":
            source = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB"))
        else:
            source = ImageCms.ImageCmsProfile(io.BytesIO(header.icc_profile))
        mode = _ICC_COLOUR_MODES.get(source.profile.xcolor_space)
        is_grey = header.mode in _GREY_MODES and mode == "L"
        if mode != image.mode and not is_grey:
            raise ValueError(f"a profile for {source.profile.xcolor_space} on a picture in {header.mode}")
        converted = ImageCms.profileToProfile(
            image.getchannel(0) if is_grey else image,
            source,
            ImageCms.createProfile("sRGB"),
            renderingIntent=ImageCms.Intent.RELATIVE_COLORIMETRIC,
            outputMode="RGB",
            flags=ImageCms.Flags.BLACKPOINTCOMPENSATION,
        )
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError) as error:
        _logger.info("A picture's colour profile cannot be used; its colours are taken for sRGB: %s", error)
        return image
    return converted if converted is not None else image


def _lay_on_white(rgb: NDArray[np.uint8], alpha: NDArray[np.uint8]) -> NDArray[np.uint8]:
    # 255 * 255 + 127 still fits 16 bits.
    opacity = alpha[..., None].astype(np.uint16)
    return ((rgb * opacity + 255 * (255 - opacity) + 127) // 255).astype(np.uint8)


def _turn(rgb: NDArray[np.uint8], orientation: object) -> NDArray[np.uint8]:
    """Return a picture upright; orientations as in EXIF 2.32, tag 274, and any other value means upright."""
    if orientation in {5, 6, 7, 8}:
        rgb = rgb.transpose(1, 0, 2)
    if orientation in {2, 3, 6, 7}:
        rgb = rgb[:, ::-1]
    if orientation in {3, 4, 7, 8}:
        rgb = rgb[::-1]
    return np.ascontiguousarray(rgb)
