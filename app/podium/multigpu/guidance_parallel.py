"""The passes of a guided step on several ranks: together one after another, together as a batch, or dealt to teams.

A (guidance x sequence) mesh parts the transformer's ranks into teams of neighbours. Each team runs its share of the
passes with the tokens spread over it alone; then every rank gets every estimate, so that all combine the same numbers.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence

import torch
import torch.distributed as dist
from torch import Tensor

from podium.jobs import GuidanceMode
from podium.models.transformer.config import TransformerConfig
from podium.models.transformer.replay_limits import records_exchanges
from podium.multigpu.attention import AttentionManager
from podium.multigpu.groups import NCCLGroups
from podium.multigpu.guidance_planner import (
    GuidancePlan,
    GuidedStep,
    TransformerSize,
    plan_guidance,
    usable_meshes,
)
from podium.multigpu.rendezvous import COLLECTIVE_TIMEOUT
from podium.pipelines.guidance import Pass, PassForward
from podium.pipelines.samplers import Denoised

logger = logging.getLogger(__name__)

# Of a pass: at most four a block, and two at its end.
_COLLECTIVES_A_BLOCK, _COLLECTIVES_A_PASS = 4, 2


class GuidanceParallel:
    """Runs the passes of a step on the ranks of the transformer's group; what a stage's `guidance_runner` takes.

    Ranks: every rank of the group, which all call with the same passes. Collectives: those of the forwards; for a mesh
    one all-gather of estimates a step; where memory is asked for, one all-reduce of a number for each new size.

    Args:
        attn_mgr: The one that the stage's `SequenceParallelBuilder` has.
        groups: The fleet's.
        size: Of the transformer.
        mode: How to run passes; it may be set between jobs.
        free_bytes: Asks for the memory that this rank has for activations; None where that is no question.
    """

    def __init__(
        self,
        attn_mgr: AttentionManager,
        groups: NCCLGroups,
        size: TransformerSize,
        *,
        mode: GuidanceMode = GuidanceMode.AUTO,
        free_bytes: Callable[[], int] | None = None,
    ) -> None:
        self._attn_mgr = attn_mgr
        self._groups = groups
        self._size = size
        self._mode = mode
        self._free_bytes = free_bytes
        self._teams: dict[int, AttentionManager] = {}
        self._plans: dict[tuple[int, int, int], GuidancePlan] = {}
        self._chosen: dict[str, str] = {}

    @property
    def mode(self) -> GuidanceMode:
        """Return how passes are to run."""
        return self._mode

    @mode.setter
    def mode(self, mode: GuidanceMode) -> None:
        self._mode = mode
        self._plans.clear()

    @property
    def chosen(self) -> Mapping[str, str]:
        """Return in words how steps run, by their number of passes; it fills as the job goes on."""
        return self._chosen

    def begin_job(self) -> None:
        """Plan anew from here on: the memory that is free may be another one."""
        self._plans.clear()
        self._chosen = {}

    def open_teams(self) -> None:
        """Make the teams of every mesh; at the fleet's start, before the first step.

        Ranks: every rank. Collectives: those that make the groups, in the same order on all.
        """
        num_ranks = self._attn_mgr.num_ranks
        for num_teams in usable_meshes(num_ranks):
            # A rank that is a team by itself exchanges with nobody.
            if num_teams < num_ranks and self._groups.teams.find(num_teams) is None:
                self._groups.teams.add(num_teams, self._make_team_group(num_ranks // num_teams))
            self._teams[num_teams] = self._attn_mgr.for_team(self._groups.teams.find(num_teams))

    def is_cold(self, forward: PassForward, passes: Sequence[Pass]) -> bool:
        """Say whether running these passes would compile first on any rank.

        Collectives: for a mesh one all-reduce of a number.
        """
        plan = self._plan(forward, len(passes))
        if plan.mode is GuidanceMode.BATCHED:
            return forward.is_cold(passes)
        if plan.mode is GuidanceMode.SEQUENTIAL:
            return any(forward.is_cold([one]) for one in passes)
        team_size = self._attn_mgr.num_ranks // plan.num_teams
        mine = passes[self._attn_mgr.rank // team_size :: plan.num_teams]
        with self._attn_mgr.replaced_by(self._teams[plan.num_teams]):
            is_cold = torch.tensor([any(forward.is_cold([one]) for one in mine)], dtype=torch.int64)
        # Unlike teams have run unlike passes, before this job too.
        dist.all_reduce(is_cold, op=dist.ReduceOp.MAX, group=self._groups.control_group)
        return bool(is_cold.item())

    def __call__(self, forward: PassForward, passes: Sequence[Pass]) -> list[Denoised]:
        """Return the estimates of all passes, in their order, the same bits on every rank."""
        plan = self._plan(forward, len(passes))
        if plan.mode is GuidanceMode.BATCHED:
            return forward(passes)
        if plan.mode is GuidanceMode.SEQUENTIAL:
            return [forward([one])[0] for one in passes]
        return self._run_in_teams(forward, passes, plan.num_teams)

    def _run_in_teams(self, forward: PassForward, passes: Sequence[Pass], num_teams: int) -> list[Denoised]:
        team_size = self._attn_mgr.num_ranks // num_teams
        team, place = divmod(self._attn_mgr.rank, team_size)
        like = forward.like
        with self._attn_mgr.replaced_by(self._teams[num_teams]):
            mine = [forward([one])[0] for one in passes[team::num_teams]]
        rounds = -(-len(passes) // num_teams)
        if team_size > 1:
            a_pass = _COLLECTIVES_A_BLOCK * self._size.num_layers + _COLLECTIVES_A_PASS
            self._groups.teams.level(rounds * a_pass)
        share = _share_of(mine, like, rounds, place, team_size)
        gathered = self._attn_mgr.gather(share)
        by_team = gathered.view(num_teams, team_size, rounds, -1).permute(2, 0, 1, 3)
        return [_unpacked(flat, like) for flat in by_team.reshape(rounds * num_teams, -1)[: len(passes)]]

    def _make_team_group(self, team_size: int) -> dist.ProcessGroup:
        ranks = dist.get_process_group_ranks(self._groups.transformer_group)
        mine: dist.ProcessGroup | None = None
        for start in range(0, len(ranks), team_size):
            of_team = ranks[start : start + team_size]
            group = dist.new_group(of_team, timeout=COLLECTIVE_TIMEOUT)
            mine = group if ranks[self._attn_mgr.rank] in of_team else mine
        assert mine is not None, "every rank is in a team"
        return mine

    def _plan(self, forward: PassForward, num_passes: int) -> GuidancePlan:
        like = forward.like
        key = (num_passes, like.video.shape[1], like.audio.shape[1])
        if key not in self._plans:
            step = GuidedStep(
                self._attn_mgr.num_ranks,
                *key,
                links=self._groups.links,
                free_bytes=self._agreed_free_bytes() if num_passes > 1 else None,
                size=self._size,
                records_exchanges=records_exchanges(os.environ),
            )
            plan = self._plans[key] = plan_guidance(step, self._mode)
            if num_passes > 1:
                words = self._chosen[str(num_passes)] = plan.describe(step.num_ranks)
                logger.info("Steps of %d passes run as %s.", num_passes, words)
        return self._plans[key]

    def _agreed_free_bytes(self) -> int | None:
        if self._free_bytes is None:
            return None
        least = torch.tensor([self._free_bytes()])
        if self._attn_mgr.num_ranks > 1:
            dist.all_reduce(least, op=dist.ReduceOp.MIN, group=self._groups.control_group)
        return int(least.item())


def transformer_size(config: TransformerConfig, dtype: torch.dtype) -> TransformerSize:
    """Return what the planner has to know of a transformer that computes in `dtype`."""
    video, audio = config.video, config.audio
    return TransformerSize(config.num_layers, video.dim, audio.dim, audio.num_heads, dtype.itemsize)


def free_device_bytes(device: torch.device) -> Callable[[], int] | None:
    """Return how to ask for the memory that is free on a device, the allocator's own reserve included; None on the CPU.

    Ranks: one rank, local.
    """
    if device.type == "cpu":
        return None

    def ask() -> int:
        free, _ = torch.accelerator.get_memory_info(device)
        return free + torch.accelerator.memory_reserved(device) - torch.accelerator.memory_allocated(device)

    return ask


def _share_of(mine: Sequence[Denoised], like: Denoised, rounds: int, place: int, team_size: int) -> Tensor:
    # Every rank of a team has its team's estimates; each sends a piece of them: [rounds, size], flat.
    size = -(-(like.video.numel() + like.audio.numel()) // team_size)
    flat = like.video.new_zeros(rounds, team_size * size)
    for of_pass, both in zip(flat, mine, strict=False):
        video, audio = both.video.flatten(), both.audio.flatten()
        of_pass[: video.numel()] = video
        of_pass[video.numel() : video.numel() + audio.numel()] = audio
    return flat[:, place * size : (place + 1) * size].flatten()


def _unpacked(flat: Tensor, like: Denoised) -> Denoised:
    sizes = like.video.numel(), like.audio.numel()
    video, audio = flat[: sum(sizes)].split(sizes)
    return Denoised(video.view_as(like.video), audio.view_as(like.audio))
