"""A text encoder that one rank holds for all: it lies on the fleet's devices, and what it makes goes to every rank.

Where a residency plan has no room for it there, its weights wait in that rank's host memory, and are on the devices
while it works.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor

from podium.models.errors import CheckpointError
from podium.models.prompt_enhancement import WritingRequest, WrittenPrompt
from podium.models.registry import Registry
from podium.models.residency import Place
from podium.models.text_encoder import GemmaTextEncoder
from podium.models.tokenizer import PromptTokenizer
from podium.models.weight_reader import OnProgress
from podium.multigpu.agreement import agree_all
from podium.multigpu.gemma_ranks import EvenProgress, GemmaRanks, Layout, layout_of
from podium.multigpu.gemma_source import GemmaSource, WeightPlan
from podium.multigpu.gemma_stay import Stay
from podium.pipelines.prompt_cache import file_identity


class AccelerateGemmaWrapper:
    """Encodes on the source rank and gives every rank the hidden states; elsewhere it holds nothing.

    Ranks: every rank.

    Args:
        inner: The encoder, on the source.
        ranks: Who takes part.
        device: Where hidden states are wanted.
        stay: Has the encoder's weights on their devices; by default they are there always.
    """

    def __init__(
        self, inner: GemmaTextEncoder | None, ranks: GemmaRanks, device: torch.device, stay: Stay = nullcontext
    ) -> None:
        self._inner = inner
        self._ranks = ranks
        self._device = device
        self._stay = stay

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
            with self._stay():
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
        with self._stay():
            return (yield from self._ranks.write(self._inner, request, self._device))


class AccelerateGemmaBuilder:
    """Builds the text encoder on one rank, its blocks spread over the fleet's devices; on the others a stub.

    The first build reads the weights and keeps them in the registry, computed buffers too; later ones read nothing from
    disk. Where they lie between two encodings is `place`: on the devices, or in the source's host memory, from where
    they come whole and spread over the devices, or layer by layer to the source's own. Ranks: every rank, each with its
    own device.

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
        self._source = GemmaSource(self.gemma_root_path, registry, dtype)

    @property
    def place(self) -> Place:
        """Return where the weights live."""
        return self._source.place

    def move(self, place: Place, device: torch.device) -> None:
        """Have the weights live elsewhere from the next build on; those on the devices leave at once for host memory.

        Ranks: every rank, alike; local.

        Args:
            place: DEVICE, VISITING or STREAMED.
            device: This rank's own.
        """
        if self._ranks.is_source:
            self._source.move(place, device)
        else:
            self._source.place = place

    def preload(self, device: torch.device, dtype: torch.dtype, *, on_progress: OnProgress | None = None) -> None:
        """Read the weights, if they are not there yet; as `build`, which has the collectives and errors."""
        del dtype
        if not self._ranks.from_source(lambda: self._source.is_loaded(device)):
            self._load(device, on_progress)

    def build(
        self, device: torch.device, dtype: torch.dtype, *, on_progress: OnProgress | None = None
    ) -> AccelerateGemmaWrapper:
        """Return the encoder.

        Collectives: one agreement; where weights are to be read three more, and `on_progress` equally often on all
        ranks; where they visit the devices two more.

        Args:
            device: This rank's own.
            dtype: Not looked at: the builder has its own.
            on_progress: Called between tensors while they are read.

        Raises:
            CheckpointError: Alike on all ranks, if the source cannot read a file.
            JobRefusedError: Alike on all ranks: the devices have too little memory.
        """
        self.preload(device, dtype, on_progress=on_progress)
        devices = self._agreed_map(device) if self.place is Place.VISITING else {"": str(device)}
        if not self._ranks.is_source:
            return AccelerateGemmaWrapper(None, self._ranks, device)
        inner = self._source.instantiate(device)
        return AccelerateGemmaWrapper(inner, self._ranks, device, self._source.stay_of(inner, device, devices))

    def identity(self) -> Hashable:
        """Return which weights would be built; the devices they lie on make no difference."""
        return (file_identities(self.gemma_root_path), str(self.dtype))

    def _agreed_map(self, device: torch.device) -> Mapping[str, str]:
        # Every build anew: what is free hangs on what else is there by now.
        memory = agree_all(lambda: (str(device), _free_bytes(device)), self._gemma_group)
        return self._ranks.from_source(lambda: self._source.map_blocks(device, dict(memory)))

    def _load(self, device: torch.device, on_progress: OnProgress | None) -> None:
        memory = agree_all(lambda: (str(device), _free_bytes(device)), self._gemma_group)
        plans: list[WeightPlan] = []

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


def file_identities(gemma_root_path: Path) -> Hashable:
    """Return what tells the weight files of a text encoder from others, as they lie on disk."""
    try:
        return tuple(file_identity(path) for path in PromptTokenizer(gemma_root_path).files.weight_paths())
    except CheckpointError:
        return object()


def _free_bytes(device: torch.device) -> int:
    """Return what a device has free once this process has given back what it only keeps for later; 0 on the CPU."""
    if device.type == "cpu":
        return 0
    torch.accelerator.empty_cache()
    free, _total = torch.accelerator.get_memory_info(device)
    return int(free)
