"""What the rank does alone that holds a text encoder for all: its weights found, placed, read, kept and dispatched.

The rule a caller must know: nothing here is a collective. What devices have room is asked before, and handed in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import torch
from accelerate import dispatch_model
from accelerate.hooks import remove_hook_from_submodules
from torch import Tensor, nn

from podium.models.gemma import TextConfig, gemma_text_config
from podium.models.header import SafetensorsHeader, read_header
from podium.models.key_maps import GEMMA3_TEXT
from podium.models.module_weights import check_shapes, without_weights
from podium.models.registry import FileStamp, LoadedStateDict, Registry, StateDictKey
from podium.models.residency import Place
from podium.models.text_encoder import GemmaTextEncoder
from podium.models.tokenizer import PromptTokenizer
from podium.models.weight_reader import CAST, OnProgress, WeightSource, find_sources, read_weights, stamp_of
from podium.multigpu.gemma_device_map import block_sizes, plan_device_map
from podium.multigpu.gemma_stay import Stay, stream, visit
from podium.multigpu.waiting import WAITING, put_aside

_KEY_NAME = "accelerate_gemma"
_LANGUAGE_MODEL = "model."
_LAYERS = "model.layers"
_HOST = "cpu"
# What a block is handed beside tensors, and moves itself.
_KEPT_ARGUMENTS = ["cache", "past_key_values", "shared_kv_states"]


@dataclass(frozen=True, slots=True)
class WeightPlan:
    """Where each weight is read from and goes to."""

    device_map: Mapping[str, str]
    headers: tuple[SafetensorsHeader, ...]
    sources: Sequence[WeightSource]
    stamps: tuple[FileStamp, ...]


@dataclass(slots=True)
class GemmaSource:
    """A text encoder on its rank. Its configuration is read once.

    Ranks: one rank, local.

    Args:
        path: A Gemma 3 or 4 folder, or the text-encoder file of 2.5.
        registry: Where weights are kept.
        dtype: Of the weights.
        place: Where they live.
    """

    path: Path
    registry: Registry
    dtype: torch.dtype
    place: Place = Place.DEVICE
    _described: _Description | None = None

    def is_loaded(self, device: torch.device) -> bool:
        """Say whether the registry holds the weights that lie on disk."""
        return self.registry.get(self._key(device)) is not None

    def move(self, place: Place, device: torch.device) -> None:
        """Have the weights live elsewhere from the next build on."""
        if (place is Place.DEVICE) == (self.place is Place.DEVICE):
            # From host memory they come either way.
            self.place = place
            return
        held = self.registry.pop(self._key(device))
        self.place = place
        # On the way back they are read again: where there is room, the other ranks have a say in.
        if held is not None and place is not Place.DEVICE:
            with torch.inference_mode(mode=False):
                aside = {name: put_aside(tensor, device) for name, tensor in held.tensors.items()}
            self.registry.add(self._key(device), replace(held, tensors=aside))

    def plan(self, device: torch.device, memory: Mapping[str, int]) -> WeightPlan:
        """Find the weights and a place for each, by the files' headers alone."""
        module, paths = self._make(), self._description.weight_paths
        stamps = tuple(stamp_of(path) for path in paths)
        headers = tuple(read_header(path) for path in paths)
        sources = find_sources(headers, GEMMA3_TEXT)
        check_shapes(module, {source.module_key: source.shape for source in sources}, paths)
        device_map = self.map_blocks(device, memory) if self.place is Place.DEVICE else {"": _HOST}
        return WeightPlan(device_map, headers, sources, stamps)

    def map_blocks(self, device: torch.device, memory: Mapping[str, int]) -> Mapping[str, str]:
        """Return the device of each block, or of all of them under the empty name."""
        if set(memory) == {str(device)}:
            return {"": str(device)}
        # The embedding lies on the source's own device, where tokens come from and hidden states are wanted.
        own_first = dict(sorted(memory.items(), key=lambda item: item[0] != str(device)))
        return plan_device_map(block_sizes(self._make().model, _LANGUAGE_MODEL, self.dtype), own_first)

    def load(self, device: torch.device, plan: WeightPlan, progress: OnProgress) -> None:
        """Read what was planned into the registry."""
        with torch.inference_mode(mode=False):
            tensors = self._read(plan, progress, device)
            buffers = {
                name: buffer.to(_device_of(name, plan.device_map)) for name, buffer in _computed_buffers(self._make())
            }
            if self.place is not Place.DEVICE:
                buffers = {name: put_aside(buffer, device) for name, buffer in buffers.items()}
        self.registry.add(self._key(device), LoadedStateDict(plan.headers, {**tensors, **buffers}, plan.stamps))

    def instantiate(self, device: torch.device) -> GemmaTextEncoder:
        """Return an encoder that uses the registry's tensors themselves."""
        held = self.registry.get(self._key(device))
        assert held is not None, "it was loaded, or found to be, a moment ago"
        module = self._make()
        with torch.inference_mode(mode=False):
            names = module.state_dict()
            module.load_state_dict({name: held.tensors[name] for name in names}, strict=True, assign=True)
            for name, _ in _computed_buffers(module):
                parent, _, leaf = name.rpartition(".")
                setattr(module.get_submodule(parent), leaf, held.tensors[name])
            if self.place is Place.DEVICE:
                _dispatch(module, {name: str(tensor.device) for name, tensor in held.tensors.items()}, device)
        return module

    def stay_of(self, module: GemmaTextEncoder, device: torch.device, device_map: Mapping[str, str]) -> Stay:
        """Return how the weights of a module of `instantiate` come to the devices.

        Args:
            module: Uses the registry's tensors.
            device: The source's own.
            device_map: Of each block, where they visit.
        """
        if self.place is Place.DEVICE:
            return nullcontext
        held = self.registry.get(self._key(device))
        assert held is not None, "the module was made of it"
        if self.place is Place.STREAMED:
            layers = module.get_submodule(_LAYERS).named_children()
            named = {f"{_LAYERS}.{index}": layer for index, layer in layers}
            return partial(stream, module, held.tensors, named, device)
        devices = {name: torch.device(_device_of(name, device_map)) for name in held.tensors}
        return partial(_visit_spread, module, held.tensors, devices, device)

    @property
    def _description(self) -> _Description:
        if self._described is None:
            self._described = _Description(PromptTokenizer(self.path))
        return self._described

    def _key(self, device: torch.device) -> StateDictKey:
        where = str(device) if self.place is Place.DEVICE else WAITING
        return StateDictKey(self._description.weight_paths, _KEY_NAME, where, str(self.dtype), CAST.name)

    def _make(self) -> GemmaTextEncoder:
        with without_weights():
            module = GemmaTextEncoder(self._description.config, self._description.tokenizer, self.registry)
        return module.eval().requires_grad_(requires_grad=False)

    def _read(self, plan: WeightPlan, progress: OnProgress, device: torch.device) -> dict[str, Tensor]:
        """Read every weight straight onto its device, one device after another, or block by block to where it waits."""
        num_bytes = sum(source.num_bytes for source in plan.sources)
        tensors: dict[str, Tensor] = {}
        num_read = 0
        for place, sources in self._portions(plan):
            before = num_read
            read = read_weights(
                sources,
                device=torch.device(place),
                dtype=self.dtype,
                policy=CAST,
                on_progress=lambda done, _total, before=before: progress(before + done, num_bytes),  # type: ignore[misc] # mypy does not see the default
            )
            if self.place is not Place.DEVICE:
                # Before the next block is read: nothing but one is there twice.
                read = {name: put_aside(tensor, device) for name, tensor in read.items()}
            tensors |= read
            num_read += sum(source.num_bytes for source in sources)
        return tensors

    def _portions(self, plan: WeightPlan) -> Iterator[tuple[str, list[WeightSource]]]:
        if self.place is Place.DEVICE:
            for place in dict.fromkeys(plan.device_map.values()):
                yield place, [s for s in plan.sources if _device_of(s.module_key, plan.device_map) == place]
            return
        portions: dict[str, list[WeightSource]] = {}
        for source in plan.sources:
            portions.setdefault(_block_of(source.module_key), []).append(source)
        for sources in portions.values():
            yield _HOST, sources


class _Description:
    # What a text encoder says of itself, read at the first use and kept.

    def __init__(self, tokenizer: PromptTokenizer) -> None:
        self.tokenizer = tokenizer

    @cached_property
    def weight_paths(self) -> tuple[Path, ...]:
        return tuple(path.resolve() for path in self.tokenizer.files.weight_paths())

    @cached_property
    def config(self) -> TextConfig:
        return gemma_text_config(self.tokenizer.files)


def _dispatch(module: GemmaTextEncoder, places: Mapping[str, str], device: torch.device) -> None:
    """Let blocks on several devices hand their results on; weights stay where they are."""
    device_map = {block: places[first] for block, first in _blocks(places).items()}
    if len(set(device_map.values())) > 1:
        dispatch_model(module, device_map, main_device=str(device), skip_keys=_KEPT_ARGUMENTS)


@contextmanager
def _visit_spread(
    module: GemmaTextEncoder,
    waiting: Mapping[str, Tensor],
    devices: Mapping[str, torch.device],
    device: torch.device,
) -> Iterator[None]:
    with visit(module, waiting, devices):
        _dispatch(module, {name: str(place) for name, place in devices.items()}, device)
        try:
            yield
        finally:
            remove_hook_from_submodules(module)


def _blocks(names: Iterable[str]) -> dict[str, str]:
    """Return each block of the language model, and the name of one of its tensors."""
    blocks: dict[str, str] = {}
    for name in names:
        blocks.setdefault(_block_of(name), name)
    return blocks


def _block_of(name: str) -> str:
    parts = name.split(".")
    return ".".join(parts[:3] if parts[1] == "layers" else parts[:2])


def _device_of(name: str, device_map: Mapping[str, str]) -> str:
    return next(device for block, device in device_map.items() if not block or name.startswith(f"{block}."))


def _computed_buffers(module: nn.Module) -> list[tuple[str, Tensor]]:
    """Return the buffers that no file holds."""
    persistent = module.state_dict().keys()
    return [(name, buffer) for name, buffer in module.named_buffers() if name not in persistent]
