"""A text encoder that one rank holds for all: it lies on the fleet's devices, and what it makes goes to every rank."""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch
import torch.distributed as dist
from accelerate import dispatch_model
from torch import Tensor, nn

from podium.models.errors import CheckpointError
from podium.models.gemma import TextConfig, gemma_text_config
from podium.models.header import SafetensorsHeader, read_header
from podium.models.key_maps import GEMMA3_TEXT
from podium.models.module_weights import check_shapes, without_weights
from podium.models.prompt_enhancement import WritingRequest, WrittenPrompt
from podium.models.registry import FileStamp, LoadedStateDict, Registry, StateDictKey
from podium.models.text_encoder import GemmaTextEncoder
from podium.models.tokenizer import PromptTokenizer
from podium.models.weight_reader import CAST, OnProgress, WeightSource, find_sources, read_weights, stamp_of
from podium.multigpu.agreement import agree_all
from podium.multigpu.gemma_device_map import block_sizes, plan_device_map
from podium.multigpu.gemma_ranks import EvenProgress, GemmaRanks, Layout, layout_of
from podium.pipelines.prompt_cache import file_identity

_KEY_NAME = "accelerate_gemma"
_LANGUAGE_MODEL = "model."
# What a block is handed beside tensors, and moves itself.
_KEPT_ARGUMENTS = ["cache", "past_key_values", "shared_kv_states"]


class AccelerateGemmaWrapper:
    """Encodes on the source rank and gives every rank the hidden states; elsewhere it holds nothing.

    Ranks: every rank.

    Args:
        inner: The encoder, on the source.
        ranks: Who takes part.
        device: Where hidden states are wanted.
    """

    def __init__(self, inner: GemmaTextEncoder | None, ranks: GemmaRanks, device: torch.device) -> None:
        self._inner = inner
        self._ranks = ranks
        self._device = device

    def encode(self, prompts: Sequence[str]) -> list[Tensor]:
        """Return the hidden states [N, D, L] of each prompt, the same bits on every rank.

        All prompts go to the source's encoder in one call. It runs them one after another: in a batch, a prompt's
        numbers would hang on which others were encoded with it.

        Collectives: one agreement, and one broadcast a prompt.

        Raises:
            JobRefusedError: Alike on all ranks, if a prompt is too long.
        """
        mine: dict[int, Tensor] = {}

        def encode_here() -> list[Layout]:
            assert self._inner is not None, "only the source encodes"
            mine.update(enumerate(self._inner.encode(prompts)))
            return [layout_of(states) for states in mine.values()]

        layouts = self._ranks.from_source(encode_here)
        source = self._ranks.src_rank
        owned = {index: (source, layout) for index, layout in enumerate(layouts)}
        return self._ranks.broadcast_states(mine, owned, self._device)

    def write(self, request: WritingRequest) -> Generator[int, None, WrittenPrompt]:
        """Write a prompt out on the source: every rank yields each token, and returns the text.

        Collectives: one broadcast of a number a token, and one agreement at the end.

        Raises:
            PodiumError: Alike on all ranks, if the source cannot write.
        """
        return self._ranks.write(self._inner, request, self._device)


class AccelerateGemmaBuilder:
    """Builds the text encoder on one rank, its blocks spread over the fleet's devices; on the others a stub.

    The first build reads the weights and keeps them in the registry, computed buffers too; later ones read nothing from
    disk. Ranks: every rank, each with its own device.

    Args:
        gemma_root_path: A Gemma 3 or 4 folder, or the text-encoder file of 2.5.
        gemma_group: The ranks whose devices may hold blocks; None for this rank's own alone.
        broadcast_group: The ranks that get what is encoded; None for a single process.
        registry: Where weights are kept.
        src_rank: Number in the broadcast group of the rank that loads and encodes.
        dtype: Of the weights.
        control_group: For small values, in host memory; the broadcast group by default.
    """

    def __init__(
        self,
        gemma_root_path: str | Path,
        gemma_group: dist.ProcessGroup | None,
        broadcast_group: dist.ProcessGroup | None,
        registry: Registry,
        *,
        src_rank: int,
        dtype: torch.dtype = torch.bfloat16,
        control_group: dist.ProcessGroup | None = None,
    ) -> None:
        self.gemma_root_path = Path(gemma_root_path)
        self.dtype = dtype
        self._gemma_group = gemma_group
        self._registry = registry
        self._ranks = GemmaRanks(broadcast_group, control_group, src_rank)
        self._source = _GemmaSource(self.gemma_root_path, registry, dtype)

    def build(
        self, device: torch.device, dtype: torch.dtype, *, on_progress: OnProgress | None = None
    ) -> AccelerateGemmaWrapper:
        """Return the encoder.

        Collectives: one agreement; where weights are to be read three more, and `on_progress` equally often on all
        ranks.

        Args:
            device: This rank's own.
            dtype: Not looked at: the builder has its own.
            on_progress: Called between tensors while they are read.

        Raises:
            CheckpointError: Alike on all ranks, if the source cannot read a file.
            JobRefusedError: Alike on all ranks: the devices have too little memory.
        """
        del dtype
        if not self._ranks.from_source(lambda: self._source.is_loaded(device)):
            self._load(device, on_progress)
        inner = self._source.instantiate(device) if self._ranks.is_source else None
        return AccelerateGemmaWrapper(inner, self._ranks, device)

    def identity(self) -> Hashable:
        """Return which weights would be built; the devices they lie on make no difference."""
        return (file_identities(self.gemma_root_path), str(self.dtype))

    def _load(self, device: torch.device, on_progress: OnProgress | None) -> None:
        memory = agree_all(lambda: (str(device), _free_bytes(device)), self._gemma_group)
        plans: list[_Plan] = []

        def plan_here() -> int:
            plans.append(self._source.plan(device, dict(memory)))
            return len(plans[0].sources)

        progress = EvenProgress(on_progress, self._ranks.from_source(plan_here))

        def read_here() -> None:
            for plan in plans:
                try:
                    self._source.load(device, plan, progress)
                except CheckpointError:
                    # The other ranks pass every boundary, so this one does too before it says what went wrong.
                    progress.finish()
                    raise
            progress.finish()

        self._ranks.agree(read_here)


@dataclass(frozen=True, slots=True)
class _Plan:
    # Where each weight is read from and goes to.
    device_map: Mapping[str, str]
    headers: tuple[SafetensorsHeader, ...]
    sources: Sequence[WeightSource]
    stamps: tuple[FileStamp, ...]


@dataclass(slots=True)
class _GemmaSource:
    # What the source rank alone does. Its configuration is read once.
    path: Path
    registry: Registry
    dtype: torch.dtype
    _described: _Description | None = None

    def is_loaded(self, device: torch.device) -> bool:
        """Say whether the registry holds the weights that lie on disk."""
        return self.registry.get(self._key(device)) is not None

    def plan(self, device: torch.device, memory: Mapping[str, int]) -> _Plan:
        """Find the weights and a place for each, by the files' headers alone."""
        module, paths = self._make(), self._description.weight_paths
        stamps = tuple(stamp_of(path) for path in paths)
        headers = tuple(read_header(path) for path in paths)
        sources = find_sources(headers, GEMMA3_TEXT)
        check_shapes(module, {source.module_key: source.shape for source in sources}, paths)
        device_map = {"": str(device)}
        if set(memory) != set(device_map.values()):
            # The embedding lies on the source's own device, where tokens come from and hidden states are wanted.
            own_first = dict(sorted(memory.items(), key=lambda item: item[0] != str(device)))
            device_map = plan_device_map(block_sizes(module.model, _LANGUAGE_MODEL, self.dtype), own_first)
        return _Plan(device_map, headers, sources, stamps)

    def load(self, device: torch.device, plan: _Plan, progress: OnProgress) -> None:
        """Read what was planned into the registry."""
        with torch.inference_mode(mode=False):
            tensors = self._read(plan, progress)
            buffers = {
                name: buffer.to(_device_of(name, plan.device_map)) for name, buffer in _computed_buffers(self._make())
            }
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
            return _dispatched(module, held.tensors, device)

    @property
    def _description(self) -> _Description:
        if self._described is None:
            self._described = _Description(PromptTokenizer(self.path))
        return self._described

    def _key(self, device: torch.device) -> StateDictKey:
        return StateDictKey(self._description.weight_paths, _KEY_NAME, str(device), str(self.dtype), CAST.name)

    def _make(self) -> GemmaTextEncoder:
        with without_weights():
            module = GemmaTextEncoder(self._description.config, self._description.tokenizer, self.registry)
        return module.eval().requires_grad_(requires_grad=False)

    def _read(self, plan: _Plan, progress: OnProgress) -> dict[str, Tensor]:
        """Read every weight straight onto its device, one device after another."""
        num_bytes = sum(source.num_bytes for source in plan.sources)
        tensors: dict[str, Tensor] = {}
        num_read = 0
        for place in dict.fromkeys(plan.device_map.values()):
            sources = [source for source in plan.sources if _device_of(source.module_key, plan.device_map) == place]
            before = num_read
            tensors |= read_weights(
                sources,
                device=torch.device(place),
                dtype=self.dtype,
                policy=CAST,
                on_progress=lambda done, _total, before=before: progress(before + done, num_bytes),  # type: ignore[misc] # mypy does not see the default
            )
            num_read += sum(source.num_bytes for source in sources)
        return tensors


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


def file_identities(gemma_root_path: Path) -> Hashable:
    """Return what tells the weight files of a text encoder from others, as they lie on disk."""
    try:
        return tuple(file_identity(path) for path in PromptTokenizer(gemma_root_path).files.weight_paths())
    except CheckpointError:
        return object()


def _dispatched(module: GemmaTextEncoder, tensors: Mapping[str, Tensor], device: torch.device) -> GemmaTextEncoder:
    """Let blocks on several devices hand their results on; weights stay where they are."""
    device_map = {block: str(tensors[first].device) for block, first in _blocks(tensors).items()}
    if len(set(device_map.values())) > 1:
        dispatch_model(module, device_map, main_device=str(device), skip_keys=_KEPT_ARGUMENTS)
    return module


def _blocks(names: Iterable[str]) -> dict[str, str]:
    """Return each block of the language model, and the name of one of its tensors."""
    blocks: dict[str, str] = {}
    for name in names:
        parts = name.split(".")
        blocks.setdefault(".".join(parts[:3] if parts[1] == "layers" else parts[:2]), name)
    return blocks


def _device_of(name: str, device_map: Mapping[str, str]) -> str:
    return next(device for block, device in device_map.items() if not block or name.startswith(f"{block}."))


def _computed_buffers(module: nn.Module) -> list[tuple[str, Tensor]]:
    """Return the buffers that no file holds."""
    persistent = module.state_dict().keys()
    return [(name, buffer) for name, buffer in module.named_buffers() if name not in persistent]


def _free_bytes(device: torch.device) -> int:
    """Return what a device has free once this process has given back what it only keeps for later; 0 on the CPU."""
    if device.type == "cpu":
        return 0
    torch.accelerator.empty_cache()
    free, _total = torch.accelerator.get_memory_info(device)
    return int(free)
