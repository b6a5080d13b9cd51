"""What both Gemma builders do between ranks: outcomes agreed first, then tensors; and one rank that writes for all.

Hidden states have as many tokens as their prompt, so their shapes travel before they do. Shapes as elsewhere: N tokens,
D hidden width, L layers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from podium.errors import JobRefusedError, PodiumError
from podium.models.prompt_enhancement import PromptWriter, WritingRequest, WrittenPrompt
from podium.models.weight_reader import OnProgress
from podium.multigpu.agreement import agree_all

T = TypeVar("T")

_OVER = -1

Layout = tuple[tuple[int, ...], torch.dtype]
"""Shape and type of a tensor that will come."""


@dataclass(frozen=True, slots=True)
class GemmaRanks:
    """The ranks that share a text encoder.

    Ranks: every rank.

    Args:
        broadcast_group: Takes what was encoded; None for a single process.
        control_group: Takes small values; the same group by default.
        src_rank: Number in the group of the rank that works for all.
    """

    broadcast_group: dist.ProcessGroup | None = field(repr=False)
    control_group: dist.ProcessGroup | None = field(repr=False)
    src_rank: int

    @property
    def num_ranks(self) -> int:
        """Return how many ranks there are."""
        return 1 if self.broadcast_group is None else dist.get_world_size(self.broadcast_group)

    @property
    def rank(self) -> int:
        """Return this rank's number in the group."""
        return 0 if self.broadcast_group is None else dist.get_rank(self.broadcast_group)

    @property
    def is_source(self) -> bool:
        """Return whether this rank works for all."""
        return self.rank == self.src_rank

    def agree(self, attempt: Callable[[], T]) -> list[T]:
        """Do something that may fail on each rank, and learn how it went on all of them.

        Collectives: one all-gather of small values.

        Raises:
            PodiumError: Alike on all ranks: the first rank's that failed, if any did.
        """
        return agree_all(attempt, self.control_group or self.broadcast_group)

    def from_source(self, attempt: Callable[[], T]) -> T:
        """Do something on the source and give what came of it to all ranks. Collectives: one all-gather.

        Raises:
            PodiumError: Alike on all ranks, if the source failed.
        """
        outcomes = self.agree(lambda: attempt() if self.is_source else None)
        return outcomes[self.src_rank]  # type: ignore[return-value] # the source attempted it

    def broadcast_states(
        self, mine: Mapping[int, Tensor], layouts: Mapping[int, tuple[int, Layout]], device: torch.device
    ) -> list[Tensor]:
        """Give every rank all hidden states, bit for bit.

        Collectives: one broadcast a prompt, in the order of the prompts.

        Args:
            mine: What this rank encoded, by index of the prompt.
            layouts: The rank that encoded each prompt, and the layout of what it has; the same on all ranks.
            device: Where they are wanted.
        """
        states = []
        for index in sorted(layouts):
            owner, (shape, dtype) = layouts[index]
            held = mine.get(index)
            tensor = torch.empty(shape, dtype=dtype, device=device) if held is None else held.to(device).contiguous()
            if self.num_ranks > 1:
                # As bytes: then every type arrives on every backend.
                dist.broadcast(tensor.view(torch.uint8), group=self.broadcast_group, group_src=owner)
            states.append(tensor)
        return states

    def write(
        self, writer: object | None, request: WritingRequest, device: torch.device
    ) -> Generator[int, None, WrittenPrompt]:
        """Have the source write a prompt out: every rank yields each token as it comes, and returns the text.

        Collectives: one broadcast of a number a token, and one all-gather of a small value at the end.

        Args:
            writer: The encoder, on the source.
            request: The same on all ranks.
            device: This rank's own.

        Raises:
            PodiumError: Alike on all ranks, if the source cannot write.
        """
        writing = _Writing(writer, request)
        while (token := self._number_from_source(writing.next_token, device)) != _OVER:
            yield token
        return self.from_source(writing.result)

    def _number_from_source(self, find: Callable[[], int], device: torch.device) -> int:
        # Without a group in host memory the number travels as tensors do.
        place = device if self.control_group is None else torch.device("cpu")
        number = torch.tensor([find() if self.is_source else _OVER], device=place)
        if self.num_ranks > 1:
            dist.broadcast(number, group=self.control_group or self.broadcast_group, group_src=self.src_rank)
        return int(number.item())


class EvenProgress:
    """Lets every rank pass the boundaries of a load that one rank makes, equally often, however the load ends.

    A boundary is a collective: who does not read waits in it for who does, and who fails catches up first.

    Args:
        on_progress: The boundary, or None.
        num_calls: How often it is passed.
    """

    def __init__(self, on_progress: OnProgress | None, num_calls: int) -> None:
        self._on_progress = on_progress
        self._num_left = num_calls

    def __call__(self, done: int, total: int) -> None:
        """Pass one boundary."""
        self._num_left -= 1
        if self._on_progress is not None:
            self._on_progress(done, total)

    def finish(self) -> None:
        """Pass those boundaries that are left."""
        while self._num_left > 0:
            self(0, 0)


class _Writing:
    # A writer's generator, driven token by token; only the source's is ever asked. What goes wrong waits for the end,
    # where all ranks hear of it.

    def __init__(self, writer: object | None, request: WritingRequest) -> None:
        self._writer = writer
        self._request = request
        self._tokens: Generator[int, None, WrittenPrompt] | None = None
        self._outcome: WrittenPrompt | PodiumError = WrittenPrompt("")

    def next_token(self) -> int:
        """Return the next token, or `_OVER`."""
        try:
            if self._tokens is None:
                self._tokens = self._begun()
            return next(self._tokens)
        except StopIteration as end:
            self._outcome = end.value
        except PodiumError as error:
            self._outcome = error
        return _OVER

    def result(self) -> WrittenPrompt:
        """Return the text, or raise what went wrong."""
        if isinstance(self._outcome, PodiumError):
            raise self._outcome
        return self._outcome

    def _begun(self) -> Generator[int, None, WrittenPrompt]:
        if isinstance(self._writer, PromptWriter):
            return self._writer.write(self._request)
        raise JobRefusedError("This text encoder reads prompts and cannot write them.")


def layout_of(tensor: Tensor) -> Layout:
    """Return a tensor's shape and type."""
    return tuple(tensor.shape), tensor.dtype


__all__ = ["EvenProgress", "GemmaRanks", "Layout", "layout_of"]
