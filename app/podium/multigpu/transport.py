"""Objects to bytes and back, tensors beside the pickle. Imports torch only if a tensor is there.

CPU tensors lie one after another in the blob of a packet, whatever their number and depth, and come back as views of
it: holding one keeps the memory of its whole message. They come back contiguous, detached, and each with values of its
own. A CUDA tensor goes by CUDA IPC: it is valid while its worker lives. Everything else is pickled, classes and
functions that the other side cannot import by value.
"""

from __future__ import annotations

import importlib
import io
import pickle
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import cloudpickle

from podium.multigpu.channel import Body, BodyWriter, Buffer

if TYPE_CHECKING:
    import torch

_ALIGN_BYTES = 64
_BY_VALUE_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class TensorSlot:
    """Where a tensor lies in a blob: byte offset and size, dtype by torch's name, shape."""

    offset: int
    num_bytes: int
    dtype: str
    shape: tuple[int, ...]


class Layout:
    """Tensors that share a blob, in the order they were added."""

    def __init__(self) -> None:
        self._sources: list[torch.Tensor] = []
        self._slots: list[TensorSlot] = []
        self.num_bytes = 0

    def add(self, tensor: torch.Tensor) -> TensorSlot:
        """Reserve room for a dense tensor, and return where."""
        num_bytes = tensor.numel() * tensor.element_size()
        slot = TensorSlot(self.num_bytes, num_bytes, str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape))
        if num_bytes:
            self._sources.append(tensor)
            self._slots.append(slot)
        self.num_bytes += -(-num_bytes // _ALIGN_BYTES) * _ALIGN_BYTES
        return slot

    def copy_into(self, blob: memoryview) -> None:
        """Copy the tensors to their places."""
        if not self._sources:
            return
        lib = import_torch()
        flat = lib.frombuffer(blob, dtype=lib.uint8)
        for tensor, slot in zip(self._sources, self._slots, strict=True):
            tensor_from(flat, slot).copy_(tensor.detach())


def pack(value: object) -> Body:
    """Return `value` as a body; the caller closes it once it is sent.

    Raises:
        Exception: Whatever the value's own pickling raises.
    """
    layout = Layout()
    file = io.BytesIO()
    pickler = _Pickler(file, layout)
    pickler.dump(value)
    pickled = file.getvalue()
    writer = BodyWriter(layout.num_bytes, len(pickled))
    layout.copy_into(writer.blob)
    return writer.finish(pickled, has_device_memory=pickler.has_device_memory)


def unpack(pickled: Buffer, blob: memoryview) -> Any:
    """Return what `pack` was given."""
    return _Unpickler(io.BytesIO(pickled), blob).load()


def split_tensors(kwargs: Mapping[str, object]) -> tuple[dict[str, torch.Tensor], dict[str, object]]:
    """Part the dense tensors at top level, which are broadcast, from everything else."""
    torch = sys.modules.get("torch")
    if torch is None:
        return {}, dict(kwargs)
    tensors: dict[str, Any] = {name: value for name, value in kwargs.items() if _is_dense(torch, value)}
    return tensors, {name: value for name, value in kwargs.items() if name not in tensors}


@dataclass(frozen=True, slots=True)
class JobOrder:
    """A job ready to be sent.

    Args:
        job: For every rank: arguments, and where in the blob the tensors among them lie.
        inputs: For the first rank, which broadcasts it: the blob; None without tensors.
    """

    job: Body
    inputs: Body | None

    def close(self) -> None:
        """Give the memory back."""
        self.job.close()
        if self.inputs is not None:
            self.inputs.close()


def pack_job(kwargs: Mapping[str, object]) -> JobOrder:
    """Pack a job's arguments: dense tensors at top level once, everything else for every rank.

    Raises:
        Exception: Whatever pickling an argument raises.
    """
    tensors, rest = split_tensors(kwargs)
    layout = Layout()
    slots = {name: layout.add(tensor) for name, tensor in tensors.items()}
    job = pack((rest, slots, layout.num_bytes))
    if not slots:
        return JobOrder(job, None)
    writer = BodyWriter(layout.num_bytes, 0)
    layout.copy_into(writer.blob)
    return JobOrder(job, writer.finish(b""))


def tensor_from(flat: torch.Tensor, slot: TensorSlot) -> torch.Tensor:
    """Return the tensor in a slot of a blob given as flat uint8, on the blob's device, as a view."""
    lib = import_torch()
    dtype: torch.dtype = getattr(lib, slot.dtype)
    if not slot.num_bytes:
        empty: torch.Tensor = lib.empty(slot.shape, dtype=dtype, device=flat.device)
        return empty
    return flat[slot.offset : slot.offset + slot.num_bytes].view(dtype).reshape(slot.shape)


def flat_from(blob: memoryview) -> torch.Tensor:
    """Return a blob as flat uint8 on the CPU, without a copy."""
    lib = import_torch()
    flat: torch.Tensor = lib.frombuffer(blob, dtype=lib.uint8) if len(blob) else lib.empty(0, dtype=lib.uint8)
    return flat


def import_torch() -> Any:
    """Import torch: only where a tensor is at hand."""
    return importlib.import_module("torch")


@contextmanager
def by_value(cls: type) -> Iterator[None]:
    """Pickle a class, and its bases, by value where the other side might not find their modules."""
    modules = {sys.modules[base.__module__] for base in cls.__mro__ if base.__module__ in sys.modules}
    with _BY_VALUE_LOCK:
        known = cloudpickle.list_registry_pickle_by_value()
        ours = [module for module in modules if not _is_installed(module) and module.__name__ not in known]
        for module in ours:
            cloudpickle.register_pickle_by_value(module)
        try:
            yield
        finally:
            for module in ours:
                cloudpickle.unregister_pickle_by_value(module)


def _is_installed(module: ModuleType) -> bool:
    """Tell whether every process that can start a worker finds the module too."""
    top = module.__name__.partition(".")[0]
    if top == "podium" or (top in sys.stdlib_module_names and top != "__main__"):
        return True
    path = getattr(module, "__file__", None)
    return path is not None and bool({"site-packages", "dist-packages"} & set(Path(path).parts))


def _is_dense(torch: Any, value: object) -> bool:
    if not isinstance(value, torch.Tensor) or type(value) not in (torch.Tensor, torch.nn.Parameter):
        return False
    return value.layout is torch.strided and not value.is_quantized and value.device.type in ("cpu", "cuda")


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # cloudpickle has no types
    """Pickle everything but dense tensors, which go beside."""

    def __init__(self, file: io.BytesIO, layout: Layout) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._torch = sys.modules.get("torch")
        self._layout = layout
        self.has_device_memory = False

    def reducer_override(self, obj: Any) -> Any:
        if self._torch is not None and type(obj) is self._torch.Tensor and _is_dense(self._torch, obj):
            if obj.device.type == "cpu":
                return _tensor_at, (self._layout.add(obj),)
            self.has_device_memory = True
            return _reduce_device_tensor(obj)
        return super().reducer_override(obj)


class _Unpickler(pickle.Unpickler):
    """Unpickle with the tensors taken from a blob."""

    def __init__(self, file: io.BytesIO, blob: memoryview) -> None:
        super().__init__(file)
        # An object apart, since the unpickler's memo keeps it: a method of this one would be a cycle round the blob.
        self._tensors = _BlobReader(blob)

    def find_class(self, module: str, name: str) -> Any:
        if module == __name__ and name == _tensor_at.__name__:
            return self._tensors
        return super().find_class(module, name)


class _BlobReader:
    """Make tensors of the slots of a blob; torch is imported with the first."""

    def __init__(self, blob: memoryview) -> None:
        self._blob = blob
        self._flat: torch.Tensor | None = None

    def __call__(self, slot: TensorSlot) -> torch.Tensor:
        if self._flat is None:
            self._flat = flat_from(self._blob)
        return tensor_from(self._flat, slot)


def _tensor_at(slot: TensorSlot) -> torch.Tensor:
    """Stand for a tensor in a pickle; the unpickler puts its own method in this place."""
    raise pickle.UnpicklingError(f"the tensor at {slot} can only be read with its blob")


def _reduce_device_tensor(tensor: torch.Tensor) -> tuple[Any, tuple[Any, ...]]:
    """Reduce a device tensor to a handle; device numbers differ between processes, so its UUID goes along."""
    lib = import_torch()
    reductions = importlib.import_module("torch.multiprocessing.reductions")
    _, args = reductions.reduce_tensor(tensor.detach().resolve_conj().resolve_neg())
    return _rebuild_device_tensor, (str(lib.cuda.get_device_properties(tensor.device).uuid), *args)


# Position of the device number among the arguments of torch.multiprocessing.reductions.rebuild_cuda_tensor.
_STORAGE_DEVICE_ARG = 6


def _rebuild_device_tensor(uuid: str, *args: Any) -> torch.Tensor:
    lib = import_torch()
    reductions = importlib.import_module("torch.multiprocessing.reductions")
    here = [k for k in range(lib.cuda.device_count()) if str(lib.cuda.get_device_properties(k).uuid) == uuid]
    if not here:
        raise pickle.UnpicklingError(f"the device {uuid} that a tensor lies on cannot be seen from this process")
    changed = list(args)
    changed[_STORAGE_DEVICE_ARG] = here[0]
    tensor: torch.Tensor = reductions.rebuild_cuda_tensor(*changed)
    return tensor
