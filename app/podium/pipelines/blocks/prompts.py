"""The prompt encoder: from text to the contexts that the transformer attends."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import torch

from podium.jobs import Phase
from podium.models.text_encoder import EmbeddingsProcessor, PromptContext
from podium.pipelines.blocks.placement import Placement
from podium.pipelines.blocks.slots import BuilderSlot, TextEncoder
from podium.pipelines.events import PhaseBegan, PhaseOver, PipelineEvent, PromptEncoded, Trace


class PromptEncoder:
    """Encodes prompts.

    Args:
        text_encoder_builder: The slot that multi-GPU Gemma builders are put into.
        embeddings_builder: The slot of projection and connectors.
        placement: Where they run.
    """

    def __init__(
        self,
        text_encoder_builder: BuilderSlot[TextEncoder],
        embeddings_builder: BuilderSlot[EmbeddingsProcessor],
        placement: Placement,
    ) -> None:
        self.text_encoder_builder = text_encoder_builder
        self.embeddings_builder = embeddings_builder
        self.placement = placement

    def stream(
        self, prompts: Sequence[str], trace: Trace | None = None
    ) -> Generator[PipelineEvent, None, list[PromptContext]]:
        """Encode prompts.

        Yields:
            The phase's begin and end, and each prompt.

        Returns:
            Their contexts, in order.

        Raises:
            JobRefusedError: A prompt is too long.
        """
        yield PhaseBegan(Phase.ENCODING, len(prompts))
        hidden = self._encode(prompts)
        processor = self.embeddings_builder.build(self.placement.device, self.placement.dtype)
        contexts = []
        for index, states in enumerate(hidden):
            context = self._process(processor, states)
            contexts.append(context)
            if trace is not None:
                trace(f"context.{index}.video", context.video)
                trace(f"context.{index}.audio", context.audio)
            yield PromptEncoded(index + 1, len(prompts))
        yield PhaseOver(Phase.ENCODING)
        return contexts

    @torch.inference_mode()
    def _encode(self, prompts: Sequence[str]) -> list[torch.Tensor]:
        encoder = self.text_encoder_builder.build(self.placement.device, self.placement.dtype)
        return encoder.encode(prompts)

    @torch.inference_mode()
    def _process(self, processor: EmbeddingsProcessor, hidden_NDL: torch.Tensor) -> PromptContext:
        return processor.process(hidden_NDL)
