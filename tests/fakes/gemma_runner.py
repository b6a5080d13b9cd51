"""Runners for the fleet's tests of the text path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from podium.errors import PodiumError
from podium.jobs import EnhanceRequest
from podium.models.registry import StateDictRegistry
from podium.models.text_encoder import PromptContext
from podium.multigpu import MGPURunner, RunnerError
from podium.multigpu.agreement import agree_every
from podium.multigpu.boundary import FleetBoundary
from podium.multigpu.bp_gemma_builder import BatchParallelGemmaBuilder
from podium.multigpu.gemma_builders import AccelerateGemmaBuilder
from podium.pipelines.blocks.placement import Placement
from podium.pipelines.blocks.prompts import PromptEncoder
from podium.pipelines.enhancement import enhance_prompt
from podium.pipelines.prompt_cache import PromptCache

from tests.fakes.traced_runner import LATENTS, TracedDistilledRunner


class CountedBuilder:
    """A slot that counts the calls of the encoder that its builder makes."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.num_calls = 0

    def build(self, device: torch.device, dtype: torch.dtype, **kwargs: Any) -> CountedBuilder:
        self._encoder = self.inner.build(device, dtype, **kwargs)
        return self

    def encode(self, prompts: Sequence[str]) -> list[Tensor]:
        self.num_calls += 1
        states: list[Tensor] = self._encoder.encode(prompts)
        return states

    def write(self, request: Any) -> Any:
        return self._encoder.write(request)

    def identity(self) -> object:
        return self.inner.identity()


class FirstAndLast:
    """Stands in for projection and connectors."""

    def build(self, device: torch.device, dtype: torch.dtype, **kwargs: Any) -> FirstAndLast:
        return self

    def process(self, hidden_NDL: Tensor) -> PromptContext:
        return PromptContext(hidden_NDL[..., -1], hidden_NDL[..., 0])

    def identity(self) -> object:
        return "first and last"


class GemmaRunner(MGPURunner):
    """Encodes and writes with either of the fleet's text encoders, as a job says; builders stay from job to job."""

    def setup(self) -> None:
        self._encoders: dict[tuple[object, ...], PromptEncoder] = {}

    def __call__(self, *, action: str, **kwargs: Any) -> Iterator[Any]:
        try:
            yield from getattr(self, f"do_{action}")(**kwargs)
        except RunnerError:
            raise
        except PodiumError as error:
            raise RunnerError(error.message, details=error.details) from error

    def do_encode(self, *, prompts: Sequence[str], **which: Any) -> Iterator[Any]:
        """Yield this rank's hidden states, how often a boundary was passed for them, and where its weights lie."""
        passed: list[int] = []
        builder = self._encoder(**which).text_encoder_builder.inner
        encoder = builder.build(self.device, torch.float32, on_progress=lambda done, _: passed.append(done))
        held = encoder._inner.parameters() if encoder._inner is not None else ()
        yield {
            "rank": self.rank,
            "states": encoder.encode(prompts),
            "num_passed": len(passed),
            "devices": sorted({str(weight.device) for weight in held}),
        }

    def do_contexts(self, *, prompts: Sequence[str], forgetful_rank: int | None = None, **which: Any) -> Iterator[Any]:
        """Yield this rank's contexts, and how often its encoder was called so far."""
        encoder = self._encoder(**which)
        if self.rank == forgetful_rank:
            encoder.cache.clear()
        stream = encoder.stream(prompts)
        try:
            while True:
                next(stream)
        except StopIteration as end:
            contexts = [(context.video, context.audio) for context in end.value]
        yield {"rank": self.rank, "contexts": contexts, "num_calls": encoder.text_encoder_builder.num_calls}

    def do_enhance(self, *, request: EnhanceRequest, **which: Any) -> Iterator[Any]:
        boundary = FleetBoundary(self.job, self.groups, self.device)
        encoder = self._encoder(**which)
        yield from enhance_prompt(encoder, request, boundary, is_first=self.rank == 0)

    def _encoder(self, *, kind: str, path: Path, src_rank: int = 0, enhancer_path: Path | None = None) -> PromptEncoder:
        key = (kind, path, src_rank, enhancer_path)
        if key not in self._encoders:
            registry = StateDictRegistry()
            self._encoders[key] = PromptEncoder(
                CountedBuilder(self._builder(kind, path, src_rank, registry)),
                FirstAndLast(),  # type: ignore[arg-type]
                Placement(self.device, torch.float32),
                cache=PromptCache(agree=partial(agree_every, group=self.groups.control_group)),
                enhancer_builder=(
                    None if enhancer_path is None else self._builder(kind, enhancer_path, src_rank, registry)
                ),
            )
        return self._encoders[key]

    def _builder(self, kind: str, path: Path, src_rank: int, registry: StateDictRegistry) -> Any:
        groups = self.groups
        common: dict[str, Any] = {
            "src_rank": src_rank,
            "dtype": torch.float32,
            "control_group": groups.control_group,
        }
        if kind == "accelerate":
            return AccelerateGemmaBuilder(str(path), groups.gemma_group, groups.transformer_group, registry, **common)
        return BatchParallelGemmaBuilder(str(path), groups.transformer_group, registry, **common)


class CountedDistilledRunner(TracedDistilledRunner):
    """The shipped distilled runner; yields how often its text encoder was called."""

    def setup(self, **kwargs: Any) -> None:
        super().setup(**kwargs)
        prompts = self._pipeline.prompt_encoder
        self._counted = CountedBuilder(prompts.text_encoder_builder)
        prompts.text_encoder_builder = self._counted

    def __call__(self, **call: Any) -> Iterator[dict[str, Any]]:
        for item in super().__call__(**call):
            yield {"num_calls": self._counted.num_calls, "latent": item[LATENTS[-1]].clone()}
