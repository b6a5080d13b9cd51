"""Write safetensors files, whole or not at all, and digest what a pack holds. numpy and the standard library only."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from podium.models.header import SafetensorsHeader, TensorInfo, read_header

from tests.tiny_pack.number_formats import (
    Float32Array,
    bfloat16_bits,
    bfloat16_values,
    e4m3_values,
)
from tests.tiny_pack.traits import Config

StoredDtype: TypeAlias = Literal["float32", "bfloat16"]

_NUM_DIGEST_CHARACTERS = 16


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor as it goes into a file: the format's name of its dtype, and its bits (native little endian)."""

    dtype: str
    bits: NDArray[np.generic]


def stored(values: Float32Array, dtype: StoredDtype) -> StoredTensor:
    """Return float32 `values` as they are stored in `dtype`."""
    return StoredTensor("F32", values) if dtype == "float32" else StoredTensor("BF16", bfloat16_bits(values))


def stored_bytes(data: bytes) -> StoredTensor:
    """Return the bytes of an embedded file as a tensor."""
    return StoredTensor("U8", np.frombuffer(data, dtype=np.uint8))


def write_safetensors(path: Path, tensors: Mapping[str, StoredTensor], metadata: Mapping[str, str | Config]) -> None:
    """Write `tensors` to `path`; metadata that is no text becomes JSON.

    Tensors are laid wide elements first, then by name, so that each starts on a multiple of its element's size.
    """
    header: dict[str, object] = {
        "__metadata__": {key: value if isinstance(value, str) else json.dumps(value) for key, value in metadata.items()}
    }
    ordered = sorted(tensors.items(), key=lambda item: (-item[1].bits.itemsize, item[0]))
    offset = 0
    for name, tensor in ordered:
        end = offset + tensor.bits.nbytes
        header[name] = {"dtype": tensor.dtype, "shape": tensor.bits.shape, "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, tensor in ordered:
            file.write(np.ascontiguousarray(tensor.bits).data)


def pack_digests(folder: Path) -> dict[str, str]:
    """Return a digest per file of a pack, keyed by its path within `folder`.

    A safetensors file is digested by names and values (as float64), so that neither the order in the file nor the
    stored dtype matters; any other file by its bytes. Hidden files are none of the pack's.

    Raises:
        CheckpointError: A safetensors file in it is damaged.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return {path.relative_to(folder).as_posix(): _digest(path) for path in files}


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    if path.suffix == ".safetensors":
        header = read_header(path)
        for name, info in sorted(header.tensors.items()):
            digest.update(name.encode())
            digest.update(_values(header, info).astype(np.float64).tobytes())
    else:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:_NUM_DIGEST_CHARACTERS]


def _values(header: SafetensorsHeader, info: TensorInfo) -> NDArray[np.generic]:
    with header.path.open("rb") as file:
        file.seek(header.data_start + info.start)
        data = file.read(info.num_bytes)
    if info.dtype == "BF16":
        return bfloat16_values(np.frombuffer(data, np.uint16))
    if info.dtype == "F8_E4M3":
        return e4m3_values(np.frombuffer(data, np.uint8))
    return np.frombuffer(data, {"F32": np.float32, "U8": np.uint8}[info.dtype])
