"""Guided steps of the tiny pack with their passes run in every way, for fleets and for one process alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest import mock

import torch
from torch import Tensor

from podium.jobs import GuidanceMode, GuidanceSpec
from podium.models.registry import StateDictRegistry
from podium.models.transformer.builder import transformer_builder
from podium.multigpu import guidance_parallel
from podium.multigpu.agreement import agree_every
from podium.multigpu.attention import AttentionManager
from podium.multigpu.groups import NCCLGroups, collective_counter
from podium.multigpu.guidance_parallel import GuidanceParallel, transformer_size
from podium.multigpu.guidance_planner import GuidancePlan, GuidedStep, plan_guidance
from podium.multigpu.sp_builder import SequenceParallelBuilder
from podium.multigpu.transformer_spread import make_replays
from podium.multigpu.weight_tracker import TransformerWeightTracker
from podium.pipelines.prompt_cache import PromptCache

from tests.fakes.guided_runs import CPU, two_stages
from tests.tiny_pack import TinyPack

STAGE_1 = ("stage_1.video", "stage_1.audio")
# 3 x 2 x 3 tokens in the first stage, which no team of two or three gets evenly.
CALL: dict[str, Any] = {
    "prompt": "a red fox", "seed": 7, "height": 128, "width": 192, "num_frames": 17, "frame_rate": 24,
    "num_inference_steps": 3,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class GuidedCase:
    """How both streams are guided, and so how many passes steps have."""

    video: GuidanceSpec
    audio: GuidanceSpec

    @property
    def call(self) -> dict[str, Any]:
        return {**CALL, "video_guidance": self.video, "audio_guidance": self.audio}


FOUR = GuidedCase(GuidanceSpec(3, 1, 0.7, 3, 0, (1,)), GuidanceSpec(7, 1, 0.7, 3, 0, (1,)))
# Three passes without a perturbed one, and two where the audio sits every other step out.
THREE = GuidedCase(GuidanceSpec(cfg=3), GuidanceSpec(cfg=7, modality=2, skip_step=1))


@dataclass(frozen=True, slots=True)
class Way:
    """How passes are asked to run; `num_teams` takes a mesh that the planner would not."""

    mode: GuidanceMode
    num_teams: int = 0

    def plan(self, step: GuidedStep, mode: GuidanceMode) -> GuidancePlan:
        if self.num_teams and step.num_passes > 1:
            return GuidancePlan(GuidanceMode.MESH, self.num_teams)
        return plan_guidance(step, mode)


def guided_pipeline(
    pack: TinyPack, groups: NCCLGroups | None, device: torch.device = CPU
) -> tuple[Any, GuidanceParallel | None]:
    """Return the guided pipeline, its first stage spread over the ranks of a group."""
    registry = StateDictRegistry()
    pipeline = two_stages(pack, registry=registry, device=device)
    group = None if groups is None else groups.control_group
    pipeline.prompt_encoder.cache = PromptCache(agree=partial(agree_every, group=group))
    if groups is None:
        return pipeline, None
    inner = transformer_builder(pack.model_paths.checkpoint_path, registry)
    config = inner.make_empty_module().config
    group = groups.transformer_group
    manager = AttentionManager(1000, config.video.num_heads, config.video.head_dim, torch.float32, group)
    tracker = TransformerWeightTracker(group, control_group=groups.control_group)
    replays = make_replays(groups, device)
    builder = SequenceParallelBuilder(inner, manager, registry, tracker, replays=replays)
    pipeline.stage_1.transformer_builder = builder
    size = transformer_size(config, torch.float32)
    guidance = GuidanceParallel(manager, groups, size, free_bytes=lambda: 1 << 40)
    guidance.open_teams()
    pipeline.stage_1.guidance_runner = guidance
    return pipeline, guidance


def stage_1_latents(pipeline: Any, call: dict[str, Any]) -> dict[str, Tensor]:
    """Return what the first stage makes."""
    trace: dict[str, Tensor] = {}
    for _event in pipeline.stream(**call, trace=trace.__setitem__):
        if STAGE_1[-1] in trace:
            break
    return {name: trace[name].cpu() for name in STAGE_1}


def guidance_job(runner: Any, *, pack: TinyPack, runs: list[tuple[GuidedCase, Way]]) -> Iterator[Any]:
    """Yield (rank, number of the run, latents, plans, collectives begun) for each run."""
    pipeline, guidance = guided_pipeline(pack, runner.groups, runner.device)
    assert guidance is not None
    count = collective_counter(runner.groups)
    for index, (case, way) in enumerate(runs):
        guidance.mode = way.mode
        guidance.begin_job()
        before = count()
        with mock.patch.object(guidance_parallel, "plan_guidance", way.plan):
            latents = stage_1_latents(pipeline, case.call)
        yield runner.rank, index, latents, dict(guidance.chosen), count() - before
