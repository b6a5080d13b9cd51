"""Reads tensors of safetensors files straight onto a device, one after another.

Each tensor is turned into what the module wants as it is read, so that no second full copy ever exists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open

from podium.models.errors import CheckpointError, CheckpointReason
from podium.models.header import SafetensorsHeader, read_header
from podium.models.key_maps import KeyMap
from podium.models.registry import FileStamp

OnProgress = Callable[[int, int], None]
"""Called between tensors with (bytes read, bytes to read); may raise to end the load."""

_NARROW_FLOATS = tuple(getattr(torch, name) for name in dir(torch) if name.startswith(("float8_", "float4_")))


@dataclass(frozen=True, slots=True)
class WeightPolicy:
    """What becomes of a tensor as it is read.

    Args:
        name: Unique: weights are cached under it.
        convert: From (module key, tensor on the device, wanted type) to the tensor to keep, of the same shape.
        arrange: From the sources found and the shapes that the module wants to the sources to read, before their
            shapes are checked: what the module does not want may go, what the file stores turned is marked.
    """

    name: str
    convert: Callable[[str, torch.Tensor, torch.dtype], torch.Tensor] = field(repr=False, compare=False)
    arrange: Callable[[Sequence[WeightSource], Mapping[str, tuple[int, ...]]], list[WeightSource]] = field(
        default=lambda sources, _wanted: list(sources), repr=False, compare=False
    )


def cast_floating(key: str, tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Cast a floating tensor to the wanted type; integers and 8-bit floats stay as they are, for they are codes."""
    del key
    return tensor.to(dtype) if tensor.is_floating_point() and tensor.dtype not in _NARROW_FLOATS else tensor


CAST = WeightPolicy("cast", cast_floating)


@dataclass(frozen=True, slots=True)
class WeightSource:
    """Where one parameter lies.

    Args:
        path: The file.
        file_key: Its name there.
        module_key: Its name in the module.
        shape: As the file's header says, or as a policy arranged it.
        num_bytes: Its size in the file.
        dtype: The format's name, such as "BF16".
        is_transposed: The file stores a matrix turned: [in, out] where `shape` is [out, in].
    """

    path: Path
    file_key: str
    module_key: str
    shape: tuple[int, ...]
    num_bytes: int
    dtype: str
    is_transposed: bool = False


def find_sources(headers: Sequence[SafetensorsHeader], key_map: KeyMap) -> list[WeightSource]:
    """Return where each parameter lies that `key_map` finds in the files, in the order of the files' bytes.

    Raises:
        CheckpointError: Two tensors claim the same parameter.
    """
    by_file_key = {key: header for header in headers for key in header.tensors}
    names = key_map(by_file_key)
    _check_unique(names, headers[0].path)
    sources = []
    for header in headers:
        for key, tensor in header.tensors.items():
            if key in names and by_file_key[key] is header:
                source = WeightSource(header.path, key, names[key], tensor.shape, tensor.num_bytes, tensor.dtype)
                sources.append(source)
    return sources


def read_weights(
    sources: Iterable[WeightSource],
    *,
    device: torch.device,
    dtype: torch.dtype,
    policy: WeightPolicy,
    on_progress: OnProgress | None = None,
) -> dict[str, torch.Tensor]:
    """Read tensors onto `device` and return them by module key.

    Raises:
        CheckpointError: A file cannot be read any more.
        Exception: Whatever `on_progress` raises; what was read is let go.
    """
    sources = list(sources)
    num_bytes, num_read = sum(source.num_bytes for source in sources), 0
    tensors: dict[str, torch.Tensor] = {}
    with ExitStack() as files:
        opened = _OpenFiles(files, device)
        for source in sources:
            read = opened.read(source)
            arranged = (read.t() if source.is_transposed else read).reshape(source.shape)
            tensors[source.module_key] = _owned(policy.convert(source.module_key, arranged, dtype), read)
            num_read += source.num_bytes
            if on_progress is not None:
                on_progress(num_read, num_bytes)
    return tensors


def stamp_of(path: Path) -> FileStamp:
    """Take the stamp of a file that is about to be read.

    Raises:
        CheckpointError: It is not there, or cannot be looked at.
    """
    try:
        return FileStamp.of(path)
    except OSError as error:
        read_header(path)  # names what is wrong in the artist's words, if it cannot open the file either
        raise _gone(path, error) from error


class _OpenFiles:
    """The files being read, each opened once, for one device."""

    def __init__(self, files: ExitStack, device: torch.device) -> None:
        self._files = files
        self._device = device
        self._opened: dict[Path, safe_open] = {}

    def read(self, source: WeightSource) -> torch.Tensor:
        """Return one tensor on the device; on the CPU it still lies in the file's mapped pages."""
        try:
            if source.path not in self._opened:
                opened = safe_open(source.path, framework="pt", device=str(self._device))
                self._opened[source.path] = self._files.enter_context(opened)
            tensor: torch.Tensor = self._opened[source.path].get_tensor(source.file_key)  # type: ignore[no-untyped-call] # its stub has no types
        except (OSError, SafetensorError) as error:
            raise _gone(source.path, error) from error
        return tensor


def _owned(tensor: torch.Tensor, read: torch.Tensor) -> torch.Tensor:
    """Copy a tensor that still lies in mapped pages: a file overwritten in place would change or end such weights."""
    is_mapped = tensor.device.type == "cpu" and tensor.untyped_storage().data_ptr() == read.untyped_storage().data_ptr()
    return tensor.clone(memory_format=torch.contiguous_format) if is_mapped else tensor.contiguous()


def _check_unique(names: dict[str, str], path: Path) -> None:
    seen: dict[str, str] = {}
    for file_key, module_key in names.items():
        if module_key in seen:
            raise CheckpointError(
                f"“{path.name}” holds the same weight twice, so it is not clear which to use.",
                path=path,
                reason=CheckpointReason.MISMATCHED,
                details=f"{seen[module_key]} and {file_key} are both {module_key}",
            )
        seen[module_key] = file_key


def _gone(path: Path, error: Exception) -> CheckpointError:
    return CheckpointError(
        f"“{path.name}” can no longer be read. Is its drive still there, and the file whole?",
        path=path,
        reason=CheckpointReason.UNREADABLE,
        details=f"{path}: {error}",
    )
