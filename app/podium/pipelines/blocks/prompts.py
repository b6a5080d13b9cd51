"""The prompt encoder: from text to the contexts that the transformer attends."""

from __future__ import annotations

from collections.abc import Generator, Hashable, Sequence
from typing import Self

import torch

from podium.errors import JobRefusedError
from podium.jobs import Phase
from podium.models.prompt_enhancement import PromptWriter
from podium.models.text_encoder import EmbeddingsProcessor, PromptContext
from podium.pipelines.blocks.placement import Placement
from podium.pipelines.blocks.slots import BuilderSlot, TextEncoder
from podium.pipelines.events import PhaseBegan, PhaseOver, PipelineEvent, PromptEncoded, Trace
from podium.pipelines.prompt_cache import PromptCache, weights_identity


class PromptEncoder:
    """Encodes prompts, and has them written out in more detail.

    Args:
        text_encoder_builder: The slot that multi-GPU Gemma builders are put into.
        embeddings_builder: The slot of projection and connectors.
        placement: Where they run.
        cache: Contexts of recent prompts; on a fleet one whose `agree` asks all ranks.
        enhancer_builder: The slot of the Gemma that writes prompts out; None takes the text encoder itself.
    """

    def __init__(
        self,
        text_encoder_builder: BuilderSlot[TextEncoder],
        embeddings_builder: BuilderSlot[EmbeddingsProcessor],
        placement: Placement,
        *,
        cache: PromptCache | None = None,
        enhancer_builder: BuilderSlot[PromptWriter] | None = None,
    ) -> None:
        self.text_encoder_builder = text_encoder_builder
        self.embeddings_builder = embeddings_builder
        self.placement = placement
        self.cache = PromptCache() if cache is None else cache
        self.enhancer_builder = enhancer_builder

    def with_builder(self, text_encoder_builder: BuilderSlot[TextEncoder]) -> Self:
        """Return a prompt encoder that builds its Gemma otherwise; it has a cache of its own."""
        return type(self)(
            text_encoder_builder,
            self.embeddings_builder,
            self.placement,
            cache=PromptCache(self.cache.agree, self.cache.max_prompts, self.cache.max_bytes),
            enhancer_builder=self.enhancer_builder,
        )

    def stream(
        self, prompts: Sequence[str], trace: Trace | None = None
    ) -> Generator[PipelineEvent, None, list[PromptContext]]:
        """Encode those prompts that are not known yet, each once.

        Ranks: every rank. Collectives: the cache's, then those of the builders, where anything is to be encoded.

        Yields:
            The phase's begin and end, and each prompt.

        Returns:
            Their contexts, in order.

        Raises:
            JobRefusedError: A prompt is too long.
        """
        yield PhaseBegan(Phase.ENCODING, len(prompts))
        # Outer white space makes no token, so it makes no other prompt either.
        texts = [prompt.strip() for prompt in prompts]
        identity = self._identity()
        known = self._known(identity, texts)
        pending = self._encode([text for text in dict.fromkeys(texts) if text not in known])
        processor = self._build_processor() if pending else None
        contexts = []
        for index, text in enumerate(texts):
            if text in pending:
                assert processor is not None, "it was built for what is pending"
                known[text] = self._process(processor, pending.pop(text))
                if identity is not None:
                    self.cache.add(identity, text, known[text])
            context = known[text]
            contexts.append(context)
            if trace is not None:
                trace(f"context.{index}.video", context.video)
                trace(f"context.{index}.audio", context.audio)
            yield PromptEncoded(index + 1, len(prompts))
        yield PhaseOver(Phase.ENCODING)
        return contexts

    def build_writer(self) -> PromptWriter:
        """Return what writes prompts out.

        Ranks: every rank. Collectives: the builder's.

        Raises:
            JobRefusedError: What the slot builds cannot write.
        """
        builder = self.text_encoder_builder if self.enhancer_builder is None else self.enhancer_builder
        built = builder.build(self.placement.device, self.placement.dtype)
        if not isinstance(built, PromptWriter):
            raise JobRefusedError(
                "This text encoder reads prompts and cannot write them.", details=f"{type(built).__name__} has no write"
            )
        return built

    def _identity(self) -> Hashable | None:
        parts = (weights_identity(self.text_encoder_builder), weights_identity(self.embeddings_builder))
        return None if None in parts else (*parts, str(self.placement.dtype))

    def _known(self, identity: Hashable | None, texts: Sequence[str]) -> dict[str, PromptContext]:
        if identity is None:
            return {}
        device = self.placement.device
        return {
            text: PromptContext(context.video.to(device), context.audio.to(device))
            for text, context in self.cache.look_up(identity, texts).items()
        }

    @torch.inference_mode()
    def _encode(self, texts: Sequence[str]) -> dict[str, torch.Tensor]:
        if not texts:
            return {}
        encoder = self.text_encoder_builder.build(self.placement.device, self.placement.dtype)
        return dict(zip(texts, encoder.encode(texts), strict=True))

    def _build_processor(self) -> EmbeddingsProcessor:
        return self.embeddings_builder.build(self.placement.device, self.placement.dtype)

    @torch.inference_mode()
    def _process(self, processor: EmbeddingsProcessor, hidden_NDL: torch.Tensor) -> PromptContext:
        return processor.process(hidden_NDL)
