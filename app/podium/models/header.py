"""Read and check the header of a safetensors file. No torch; no weight is read.

A header that this module returned is sound: names, dtypes, shapes and offsets agree with each other and with the size
of the file, so whoever reads a tensor by it reads what the file meant.
"""

from __future__ import annotations

import json
import math
import stat
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, NoReturn

from podium.models.errors import CheckpointError, CheckpointReason
from podium.models.file_kinds import refuse_foreign_file

# Source: the limit of the safetensors library itself; the header of a 22 B checkpoint has about 1 MB.
MAX_HEADER_BYTES: Final = 100_000_000
LENGTH_BYTES: Final = 8

_METADATA_KEY = "__metadata__"
_MAX_DIMS = 64
# Source: the dtypes of the safetensors format, in bits.
_BITS: Final[Mapping[str, int]] = {
    "BOOL": 8,
    "F4": 4,
    "F6_E2M3": 6,
    "F6_E3M2": 6,
    "U8": 8,
    "I8": 8,
    "F8_E5M2": 8,
    "F8_E4M3": 8,
    "F8_E8M0": 8,
    "F8_E4M3FNUZ": 8,
    "F8_E5M2FNUZ": 8,
    "I16": 16,
    "U16": 16,
    "F16": 16,
    "BF16": 16,
    "I32": 32,
    "U32": 32,
    "F32": 32,
    "C64": 64,
    "F64": 64,
    "I64": 64,
    "U64": 64,
}


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """What a header says of one tensor.

    Args:
        dtype: The format's own name, such as "BF16" or "F8_E4M3".
        shape: Sizes; empty for a single number.
        start: Its first byte, counted from the end of the header.
        end: One past its last byte, counted alike.
    """

    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int

    @property
    def num_bytes(self) -> int:
        """Return the size in the file."""
        return self.end - self.start

    @property
    def num_elements(self) -> int:
        """Return the count of numbers, as its shape has it."""
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class SafetensorsHeader:
    """A sound header.

    Args:
        path: The file.
        file_bytes: Its size.
        data_start: Where in the file tensors' bytes begin.
        metadata: Free texts by key, such as "config" and "model_version".
        tensors: What it holds, by name, in the order of the bytes.
    """

    path: Path
    file_bytes: int
    data_start: int
    metadata: Mapping[str, str]
    tensors: Mapping[str, TensorInfo]

    @property
    def data_bytes(self) -> int:
        """Return how many bytes of tensors the file should hold."""
        return max((info.end for info in self.tensors.values()), default=0)

    @property
    def missing_bytes(self) -> int:
        """Return how many bytes the file is short of; 0 for a whole one."""
        return max(0, self.data_start + self.data_bytes - self.file_bytes)


def read_header(path: Path, *, allow_truncated: bool = False) -> SafetensorsHeader:
    """Read the header of a safetensors file and check it against the file.

    Args:
        path: The file.
        allow_truncated: Return the header of a file whose tensors are cut off, too (see `missing_bytes`).

    Raises:
        CheckpointError: There is no such file, it cannot be read, it is something else, or it is damaged.
    """
    try:
        file_bytes = _size_of(path)
        with path.open("rb") as file:
            text = _header_text(path, file, file_bytes)
    except PermissionError as error:
        raise CheckpointError(
            f"“{path.name}” may not be read by you. Change its permissions, or choose another file.",
            path=path,
            reason=CheckpointReason.UNREADABLE,
            details=str(error),
        ) from error
    except (OSError, ValueError) as error:
        # A path with a null character is a ValueError.
        raise CheckpointError(
            f"“{path.name}” cannot be read. Check that its drive is there and sound, or choose another file.",
            path=path,
            reason=CheckpointReason.UNREADABLE,
            details=str(error),
        ) from error
    metadata, tensors = _parse(path, text)
    header = SafetensorsHeader(path, file_bytes, LENGTH_BYTES + len(text), metadata, tensors)
    _check_size(header, allow_truncated=allow_truncated)
    return header


def _size_of(path: Path) -> int:
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise CheckpointError(
            f"There is no file “{path}”. Choose a file that ends in .safetensors.",
            path=path,
            reason=CheckpointReason.MISSING,
        ) from error
    if stat.S_ISDIR(found.st_mode):
        raise CheckpointError(
            f"“{path.name}” is a folder. Choose a file in it that ends in .safetensors.",
            path=path,
            reason=CheckpointReason.IS_FOLDER,
        )
    if not stat.S_ISREG(found.st_mode):
        # A pipe or a device would be waited for, or read for ever.
        raise CheckpointError(
            f"“{path.name}” is a pipe or a device, and no file. Choose a file that ends in .safetensors.",
            path=path,
            reason=CheckpointReason.UNREADABLE,
        )
    if found.st_size == 0:
        raise CheckpointError(
            f"“{path.name}” is empty. Its download has failed, or the disk was full: fetch it again.",
            path=path,
            reason=CheckpointReason.EMPTY,
        )
    return found.st_size


def _header_text(path: Path, file: BinaryIO, file_bytes: int) -> bytes:
    start = file.read(512)
    length = struct.unpack("<Q", start[:LENGTH_BYTES])[0] if len(start) > LENGTH_BYTES else 0
    # The format demands a brace as the header's first character, which no other format has at this place.
    if length > MAX_HEADER_BYTES or start[LENGTH_BYTES : LENGTH_BYTES + 1] != b"{":
        refuse_foreign_file(path, start)
    missing = LENGTH_BYTES + length - file_bytes
    if missing > 0:
        raise CheckpointError(
            f"“{path.name}” is cut off within its first part: at least {missing:,} bytes are missing. Fetch it again.",
            path=path,
            reason=CheckpointReason.TRUNCATED,
        )
    file.seek(LENGTH_BYTES)
    return file.read(length)


def _parse(path: Path, text: bytes) -> tuple[dict[str, str], dict[str, TensorInfo]]:
    try:
        entries = json.loads(text.decode("utf-8"), object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        _refuse_corrupt(path, str(error))
    if not isinstance(entries, dict):
        _refuse_corrupt(path, "the header is no JSON object")
    metadata = entries.pop(_METADATA_KEY, {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        _refuse_corrupt(path, f"{_METADATA_KEY} is no object of texts")
    tensors = {name: _tensor_info(path, name, entry) for name, entry in entries.items()}
    ordered = dict(sorted(tensors.items(), key=lambda item: (item[1].start, item[1].end)))
    end = 0
    for name, info in ordered.items():
        if info.start != end:
            _refuse_corrupt(path, f"“{name}” begins at byte {info.start}, where {end} was due")
        end = info.end
    return metadata, ordered


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a name stands twice in the header")
    return result


def _tensor_info(path: Path, name: str, entry: object) -> TensorInfo:
    if not isinstance(entry, dict) or not {"dtype", "shape", "data_offsets"} <= entry.keys():
        _refuse_corrupt(path, f"the entry of “{name}” is incomplete")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in _BITS:
        _refuse_corrupt(path, f"“{name}” is stored in {dtype!r}, which is no known number format")
    if not _are_sizes(shape) or len(shape) > _MAX_DIMS:
        _refuse_corrupt(path, f"the shape of “{name}” is no list of sizes")
    if not _are_sizes(offsets) or len(offsets) != 2:
        _refuse_corrupt(path, f"the offsets of “{name}” are no pair of numbers")
    info = TensorInfo(dtype, tuple(shape), *offsets)
    if info.num_elements * _BITS[dtype] != info.num_bytes * 8:
        _refuse_corrupt(path, f"“{name}” has {info.num_bytes} bytes, which its shape {shape} in {dtype} does not fill")
    return info


def _are_sizes(values: object) -> bool:
    return isinstance(values, list) and all(type(value) is int and 0 <= value < 2**63 for value in values)


def _check_size(header: SafetensorsHeader, *, allow_truncated: bool) -> None:
    path = header.path
    if header.missing_bytes and not allow_truncated:
        raise CheckpointError(truncation_sentence(header), path=path, reason=CheckpointReason.TRUNCATED)
    surplus = header.file_bytes - header.data_start - header.data_bytes
    if surplus > 0:
        _refuse_corrupt(path, f"{surplus} bytes follow the last tensor")


def truncation_sentence(header: SafetensorsHeader) -> str:
    """Say how much of a truncated file is missing."""
    whole_bytes = header.file_bytes + header.missing_bytes
    return (
        f"“{header.path.name}” is cut off: {header.missing_bytes:,} of {whole_bytes:,} bytes are missing. "
        "Its download did not end: fetch it again."
    )


def _refuse_corrupt(path: Path, details: str) -> NoReturn:
    raise CheckpointError(
        f"“{path.name}” is damaged: its list of contents makes no sense. Fetch it again.",
        path=path,
        reason=CheckpointReason.CORRUPT,
        details=f"{path}: {details}",
    )


__all__ = [
    "MAX_HEADER_BYTES",
    "SafetensorsHeader",
    "TensorInfo",
    "read_header",
    "truncation_sentence",
]
