"""A text encoder on every rank, among which the prompts of a call are dealt."""

from __future__ import annotations

from collections.abc import Generator, Hashable, Sequence
from functools import cached_property
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor

from podium.models.builder import SingleGPUModelBuilder
from podium.models.prompt_enhancement import WritingRequest, WrittenPrompt
from podium.models.registry import Registry
from podium.models.text_encoder import GemmaTextEncoder, text_encoder_builder
from podium.models.weight_reader import OnProgress
from podium.multigpu.gemma_builders import file_identities
from podium.multigpu.gemma_ranks import GemmaRanks, layout_of


class BatchParallelGemmaWrapper:
    """Encodes each prompt on one of the ranks and gives every rank all hidden states.

    Ranks: every rank.

    Args:
        inner: This rank's whole encoder.
        ranks: Who takes part.
        device: Where hidden states are wanted.
    """

    def __init__(self, inner: GemmaTextEncoder, ranks: GemmaRanks, device: torch.device) -> None:
        self._inner = inner
        self._ranks = ranks
        self._device = device

    def encode(self, prompts: Sequence[str]) -> list[Tensor]:
        """Return the hidden states [N, D, L] of each prompt, the same bits on every rank.

        Collectives: one agreement, and one broadcast a prompt.

        Raises:
            JobRefusedError: Alike on all ranks, if a prompt is too long.
        """
        num_ranks = self._ranks.num_ranks
        mine = list(range(len(prompts)))[self._ranks.rank :: num_ranks]
        encoded: dict[int, Tensor] = {}

        def encode_mine() -> dict[int, tuple[tuple[int, ...], torch.dtype]]:
            encoded.update(zip(mine, self._inner.encode([prompts[index] for index in mine]), strict=True))
            return {index: layout_of(states) for index, states in encoded.items()}

        of_ranks = enumerate(self._ranks.agree(encode_mine))
        layouts = {index: (rank, layout) for rank, of_rank in of_ranks for index, layout in of_rank.items()}
        return self._ranks.broadcast_states(encoded, layouts, self._device)

    def write(self, request: WritingRequest) -> Generator[int, None, WrittenPrompt]:
        """Write a prompt out on the source: every rank yields each token, and returns the text.

        Collectives: one broadcast of a number a token, and one agreement at the end.

        Raises:
            PodiumError: Alike on all ranks, if the source cannot write.
        """
        return self._ranks.write(self._inner, request, self._device)


class BatchParallelGemmaBuilder:
    """Builds a whole text encoder on every rank's own device.

    It pays where there are several prompts to encode, as guided pipelines have. Ranks: every rank.

    Args:
        gemma_root_path: A Gemma 3 or 4 folder, or the text-encoder file of 2.5.
        broadcast_group: The ranks among which prompts are dealt; None for a single process.
        registry: Where this rank's weights are kept.
        src_rank: Number in the group of the rank that writes prompts out for all.
        dtype: Of the weights.
        control_group: For small values, in host memory; the broadcast group by default.
    """

    def __init__(
        self,
        gemma_root_path: str | Path,
        broadcast_group: dist.ProcessGroup | None,
        registry: Registry,
        *,
        src_rank: int,
        dtype: torch.dtype = torch.bfloat16,
        control_group: dist.ProcessGroup | None = None,
    ) -> None:
        self.gemma_root_path = Path(gemma_root_path)
        self.dtype = dtype
        self._registry = registry
        self._ranks = GemmaRanks(broadcast_group, control_group, src_rank)

    def build(
        self, device: torch.device, dtype: torch.dtype, *, on_progress: OnProgress | None = None
    ) -> BatchParallelGemmaWrapper:
        """Return the encoder.

        Collectives: one agreement.

        Args:
            device: This rank's own.
            dtype: Not looked at: the builder has its own.
            on_progress: Called between tensors while they are read, on every rank that reads.

        Raises:
            CheckpointError: Alike on all ranks, if one of them cannot read a file.
        """
        del dtype
        built: list[GemmaTextEncoder] = []
        self._ranks.agree(lambda: built.append(self._inner.build(device, self.dtype, on_progress=on_progress)))
        return BatchParallelGemmaWrapper(built[0], self._ranks, device)

    def identity(self) -> Hashable:
        """Return which weights would be built."""
        return (file_identities(self.gemma_root_path), str(self.dtype))

    @cached_property
    def _inner(self) -> SingleGPUModelBuilder[GemmaTextEncoder]:
        return text_encoder_builder(self.gemma_root_path, self._registry)
