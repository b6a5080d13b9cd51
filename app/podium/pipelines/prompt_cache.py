"""Contexts of recent prompts, so that another seed or another LoRA need not read the prompt again.

The rule a caller must know: on a fleet every rank asks the same questions in the same order, and a context counts as
known only where all ranks know it; what they then do, they do together.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from podium.models.builder import SingleGPUModelBuilder
from podium.models.registry import FileStamp
from podium.models.text_encoder import PromptContext

Identity = Hashable
"""What tells one set of weights from the next; equal only if the files, and what was fused into them, are the same."""

MAX_PROMPTS = 64
MAX_BYTES = 512 << 20
"""Room for about forty prompts of the 22 B model in bfloat16, in host memory, on every rank."""


@runtime_checkable
class Identified(Protocol):
    """A builder that knows which weights it would build."""

    def identity(self) -> Identity:
        """Return what tells these weights from others, without reading them."""
        ...


def weights_identity(builder: object) -> Identity | None:
    """Return which weights a builder would build: files as they lie on disk, names, fused LoRAs.

    Returns:
        None where the builder cannot tell: then nothing of it may be cached.
    """
    if isinstance(builder, Identified):
        return builder.identity()
    if not isinstance(builder, SingleGPUModelBuilder):
        return None
    loras = tuple((spec, file_identity(spec.path)) for spec in builder.loras)
    files = tuple(file_identity(path) for path in builder.paths)
    return (files, builder.key_map.name, builder.policy.name, str(builder.dtype), loras)


def file_identity(path: Path) -> Identity:
    """Return a file's stamp; for one that cannot be looked at, something that equals nothing."""
    try:
        return FileStamp.of(path.resolve())
    except OSError:
        return object()


@dataclass(slots=True)
class PromptCache:
    """Keeps contexts in host memory, the most recently used ones.

    Args:
        agree: Says whether a flag is set on every rank: on a fleet a collective, alone the flag itself.
        max_prompts: Most contexts kept.
        max_bytes: Most memory they may take together, in bytes.
    """

    agree: Callable[[bool], bool] = lambda flag: flag
    max_prompts: int = MAX_PROMPTS
    max_bytes: int = MAX_BYTES
    _contexts: OrderedDict[tuple[Identity, str], PromptContext] = field(default_factory=OrderedDict)

    def __len__(self) -> int:
        return len(self._contexts)

    @property
    def num_bytes(self) -> int:
        """Return the memory that all contexts take, in bytes."""
        return sum(_num_bytes(context) for context in self._contexts.values())

    def look_up(self, identity: Identity, prompts: Sequence[str]) -> dict[str, PromptContext]:
        """Return the contexts, in host memory, of those prompts that every rank knows.

        Ranks: every rank. Collectives: one agreement for each distinct prompt.
        """
        known = {}
        for prompt in dict.fromkeys(prompts):
            key = (identity, prompt)
            if self.agree(key in self._contexts):
                self._contexts.move_to_end(key)
                known[prompt] = self._contexts[key]
        return known

    def add(self, identity: Identity, prompt: str, context: PromptContext) -> None:
        """Keep a context; older ones go where there is no room, and one larger than all room is not kept.

        Ranks: one rank, local.
        """
        if _num_bytes(context) > self.max_bytes:
            return
        self._contexts[identity, prompt] = PromptContext(context.video.cpu(), context.audio.cpu())
        self._contexts.move_to_end((identity, prompt))
        while len(self._contexts) > self.max_prompts or self.num_bytes > self.max_bytes:
            self._contexts.popitem(last=False)

    def clear(self) -> None:
        """Let go of everything."""
        self._contexts.clear()


def _num_bytes(context: PromptContext) -> int:
    return context.video.nbytes + context.audio.nbytes
