"""How the forwards of a guided step are run on the ranks there are: chosen by what each way would cost. No torch.

A step needs up to four forwards that know nothing of each other. One after another on all ranks they take the least
memory; as one batch, the fewest messages; dealt to teams of ranks, each with all tokens of its pass, the least traffic.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from podium.jobs import GuidanceMode
from podium.models.transformer.replay_limits import MOST_RECORDED_TOKENS
from podium.multigpu.links import LinkKind

MAX_PASSES = 4
"""Conditioned, unconditioned, perturbed, isolated."""


@dataclass(frozen=True, slots=True)
class GuidancePlan:
    """How the passes of a step run.

    Args:
        mode: Any but AUTO.
        num_teams: Teams of the mesh; 1 where all ranks work together.
        step_ms: What a step is reckoned to take.
    """

    mode: GuidanceMode
    num_teams: int = 1
    step_ms: float = 0.0

    def describe(self, num_ranks: int) -> str:
        """Return it in words, such as "4 teams of 2"."""
        match self.mode:
            case GuidanceMode.MESH:
                return f"{self.num_teams} teams of {num_ranks // self.num_teams}"
            case GuidanceMode.BATCHED:
                return "one batch"
            case _:
                return "one after the other"


@dataclass(frozen=True, slots=True)
class TransformerSize:
    """What the cost of a forward hangs on; by default the released models in bf16.

    Args:
        num_layers: Blocks.
        video_dim, audio_dim: Width of the streams.
        audio_heads: Heads between the streams.
        item_bytes: Of a number.
    """

    num_layers: int = 48
    video_dim: int = 4096
    audio_dim: int = 2048
    audio_heads: int = 32
    item_bytes: int = 2


@dataclass(frozen=True, slots=True)
class GuidedStep:
    """One step to plan.

    Args:
        num_ranks: Of the transformer's group.
        num_passes: Forwards of the step.
        num_tokens, num_audio_tokens: Of each.
        links: The slowest link within a team, by its size; a size that is missing counts as `LinkKind.HOST`.
        free_bytes: Memory that every rank has for activations; None where that is no question.
        size: Of the transformer.
        slowness: How many times as long as an H200 a rank computes.
        records_exchanges: Forwards are recorded where there are several ranks, too.
    """

    num_ranks: int
    num_passes: int
    num_tokens: int
    num_audio_tokens: int
    links: Mapping[int, LinkKind] = field(default_factory=dict)
    free_bytes: int | None = None
    size: TransformerSize = field(default_factory=TransformerSize)
    slowness: float = 1.0
    records_exchanges: bool = False


@dataclass(frozen=True, slots=True)
class _Link:
    bytes_per_ms: float
    message_ms: float


# Milliseconds of a compiled forward of the 19 B transformer on one H200: for each pass, for each of its video tokens
# and for each of their pairs. They fit 338.5 and 1,894.9 ms at 6,144 and 24,576 tokens, and one rank's share of 2, 4
# and 8 (179.5, 100.8, 62.7; 965.8, 492.4, 257.8) within 2 %. Source: `python -m tests.gpu.one_gpu FOLDER --parts
# share,guided`, as is what the host needs to launch a forward's kernels where they are not recorded.
_PASS_MS, _TOKEN_MS, _PAIR_MS = 23.3, 0.04302, 1.3484e-6
_LAUNCH_MS = 100.0
# NVLink: from two H200s under sequence parallelism, 207.3 and 1,035.9 ms (`python -m tests.gpu.two_gpus FOLDER --parts
# forwards`). The others by the bus: 16 lanes of PCIe 4 in use, and the same twice through the host's memory.
_LINKS = {
    LinkKind.NVLINK: _Link(144e6, 0.067),
    LinkKind.PEER: _Link(20e6, 0.2),
    LinkKind.HOST: _Link(8e6, 0.3),
}
_DOUBT = 0.05
# Activations of a forward, in tensors [tokens, video_dim].
_TENSORS_ALIVE = 15.2


def usable_meshes(num_ranks: int) -> tuple[int, ...]:
    """Return into how many teams a group may be parted: alike ones, no more than passes, or one of every rank."""
    counts = [count for count in range(2, MAX_PASSES + 1) if num_ranks % count == 0]
    return tuple(counts if num_ranks <= MAX_PASSES else [*counts, num_ranks])


def plan_guidance(step: GuidedStep, mode: GuidanceMode = GuidanceMode.AUTO) -> GuidancePlan:
    """Return how to run a step: the cheapest way that fits into memory, of those that `mode` allows.

    One after another is taken where nothing else would do: with one pass, or where a mesh was asked for and the ranks
    cannot be parted.
    """
    plans = [_costed(step, GuidanceMode.SEQUENTIAL, 1)]
    if step.num_passes > 1:
        plans.append(_costed(step, GuidanceMode.BATCHED, 1))
        plans += [_costed(step, GuidanceMode.MESH, count) for count in usable_meshes(step.num_ranks)]
    allowed = [plan for plan in plans if mode in (GuidanceMode.AUTO, plan.mode)] or plans[:1]
    if mode is not GuidanceMode.AUTO:
        return min(allowed, key=lambda plan: plan.step_ms)
    fitting = [plan for plan in allowed if _fits(step, plan)] or plans[:1]
    # The first takes the least memory, and a reckoning is no better than this.
    return min(fitting, key=lambda plan: plan.step_ms * (1 if plan is plans[0] else 1 + _DOUBT))


def activation_bytes(step: GuidedStep, plan: GuidancePlan) -> int:
    """Return what a rank's forward holds beside the weights."""
    share = math.ceil(step.num_tokens / _team_size(step, plan.num_teams))
    batch = step.num_passes if plan.mode is GuidanceMode.BATCHED else 1
    return int(_TENSORS_ALIVE * batch * share * step.size.video_dim * step.size.item_bytes)


def forward_ms(step: GuidedStep, team_size: int, batch: int = 1) -> float:
    """Return what a forward of `batch` passes takes each rank of a team, its exchanges included."""
    tokens = step.num_tokens
    spread = (_TOKEN_MS * tokens + _PAIR_MS * tokens * tokens) / team_size
    launch_ms = 0.0 if _is_recorded(step, team_size, batch) else _LAUNCH_MS
    compute_ms = max(launch_ms, step.slowness * batch * (_PASS_MS + spread) * step.size.num_layers / 48)
    if team_size == 1:
        return compute_ms
    link = _LINKS[step.links.get(team_size, LinkKind.HOST)]
    messages = 3 * step.size.num_layers
    return compute_ms + messages * link.message_ms + batch * exchanged_bytes(step, team_size) / link.bytes_per_ms


def _is_recorded(step: GuidedStep, team_size: int, batch: int) -> bool:
    # A batch of a guided step has samples that are perturbed in unlike ways, which is never recorded.
    share = math.ceil(step.num_tokens / team_size)
    return batch == 1 and share <= MOST_RECORDED_TOKENS and (step.num_ranks == 1 or step.records_exchanges)


def exchanged_bytes(step: GuidedStep, team_size: int) -> float:
    """Return what a rank of a team sends in the attention of one pass: q, k, v, the output, and sound's part."""
    size = step.size
    share = step.num_tokens / team_size
    spread = 4 * share * size.video_dim * size.item_bytes * (team_size - 1) / team_size
    to_audio = step.num_audio_tokens * (size.audio_dim * size.item_bytes + 4 * size.audio_heads) * (team_size - 1)
    return size.num_layers * (spread + to_audio)


def _costed(step: GuidedStep, mode: GuidanceMode, num_teams: int) -> GuidancePlan:
    team_size = _team_size(step, num_teams)
    if mode is GuidanceMode.BATCHED:
        return GuidancePlan(mode, step_ms=forward_ms(step, team_size, step.num_passes))
    rounds = math.ceil(step.num_passes / num_teams)
    return GuidancePlan(mode, num_teams, rounds * forward_ms(step, team_size))


def _fits(step: GuidedStep, plan: GuidancePlan) -> bool:
    return step.free_bytes is None or activation_bytes(step, plan) <= step.free_bytes


def _team_size(step: GuidedStep, num_teams: int) -> int:
    return step.num_ranks // num_teams
