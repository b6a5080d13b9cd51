"""Which way of guidance is taken where, and what it is reckoned by."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.jobs import GuidanceMode
from podium.multigpu.guidance_planner import (
    GuidancePlan,
    GuidedStep,
    activation_bytes,
    forward_ms,
    plan_guidance,
    usable_meshes,
)
from podium.multigpu.links import LinkKind

SIZES = range(2, 17)


def step(num_ranks: int, num_tokens: int = 6144, link: LinkKind = LinkKind.NVLINK, **changes: object) -> GuidedStep:
    arguments: dict[str, object] = {"num_passes": 4, "links": dict.fromkeys(SIZES, link), **changes}
    return GuidedStep(num_ranks, num_tokens=num_tokens, num_audio_tokens=126, **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("num_ranks", "num_tokens", "measured_ms"),
    [(1, 6144, 338.5), (1, 24576, 1894.9), (2, 6144, 207.3), (2, 24576, 1035.9)],
)
def test_a_forward_is_reckoned_within_a_fiftieth_of_what_was_measured(
    num_ranks: int, num_tokens: int, measured_ms: float
) -> None:
    assert forward_ms(step(num_ranks, num_tokens), num_ranks) == pytest.approx(measured_ms, rel=0.02)


@pytest.mark.parametrize(
    ("num_ranks", "num_tokens", "measured_ms"), [(2, 6144, 179.5), (4, 6144, 100.8), (8, 6144, 62.7), (8, 24576, 261.2)]
)
def test_a_recorded_share_is_reckoned_within_a_fiftieth_of_what_was_measured_without_messages(
    num_ranks: int, num_tokens: int, measured_ms: float
) -> None:
    case = step(num_ranks, num_tokens, records_exchanges=True)
    exchanged_ms = forward_ms(case, num_ranks) - measured_ms
    launched = replace(case, records_exchanges=False)
    assert forward_ms(launched, num_ranks) >= forward_ms(case, num_ranks)
    assert abs(exchanged_ms - messages_ms(case)) < 0.02 * measured_ms


def messages_ms(case: GuidedStep) -> float:
    # What the link makes of a forward is all that is left of it on devices of no slowness.
    return forward_ms(replace(case, slowness=0.0), case.num_ranks)


def test_eight_ranks_over_wires_take_four_teams_of_two() -> None:
    plan = plan_guidance(step(8))
    assert (plan.mode, plan.num_teams) == (GuidanceMode.MESH, 4)
    one_by_one = plan_guidance(step(8), GuidanceMode.SEQUENTIAL)
    # The host launches one forward after the other there; a team's share is large enough for it.
    assert one_by_one.step_ms > 400
    assert plan.step_ms < 0.6 * one_by_one.step_ms


def test_recorded_passes_need_no_batch_where_the_host_would_be_late() -> None:
    assert plan_guidance(step(1, 1024)).mode is GuidanceMode.SEQUENTIAL
    eight = step(8, records_exchanges=True)
    assert plan_guidance(eight).step_ms < plan_guidance(step(8), GuidanceMode.SEQUENTIAL).step_ms
    assert plan_guidance(eight, GuidanceMode.SEQUENTIAL).step_ms < 0.8 * plan_guidance(
        step(8), GuidanceMode.SEQUENTIAL
    ).step_ms  # fmt: skip


def test_four_ranks_run_a_pass_each() -> None:
    assert (plan_guidance(step(4)).num_teams, plan_guidance(step(4, num_passes=3)).num_teams) == (4, 4)


def test_passes_that_leave_ranks_idle_are_dealt_out_only_where_messages_cost_more() -> None:
    # Four passes on three ranks: two rounds of whole forwards, or four of thirds with an exchange.
    assert plan_guidance(step(3, 24576, LinkKind.NVLINK)).num_teams == 1
    assert plan_guidance(step(3, 24576, LinkKind.HOST)).num_teams == 3


def test_slow_devices_share_what_fast_ones_would_deal_out() -> None:
    assert plan_guidance(step(3, 24576, LinkKind.HOST, slowness=6.0)).num_teams == 1


def test_a_team_is_reckoned_by_its_own_link() -> None:
    bridged = step(4, 24576, num_passes=2, links={2: LinkKind.NVLINK, 4: LinkKind.HOST})
    assert (plan_guidance(bridged).mode, plan_guidance(bridged).num_teams) == (GuidanceMode.MESH, 2)


def test_a_batch_that_does_not_fit_is_not_taken() -> None:
    # Five ranks and two passes: a team each would leave three of them idle.
    roomy = step(5, num_passes=2)
    assert plan_guidance(roomy).mode is GuidanceMode.BATCHED
    batch = GuidancePlan(GuidanceMode.BATCHED)
    tight = step(5, num_passes=2, free_bytes=activation_bytes(roomy, batch) - 1)
    assert plan_guidance(tight).mode is GuidanceMode.SEQUENTIAL
    # Whoever asks for it gets it.
    assert plan_guidance(tight, GuidanceMode.BATCHED).mode is GuidanceMode.BATCHED


def test_a_team_needs_more_memory_than_all_ranks_together() -> None:
    tight = step(8, free_bytes=activation_bytes(step(8), GuidancePlan(GuidanceMode.SEQUENTIAL)))
    assert plan_guidance(tight).mode is GuidanceMode.SEQUENTIAL


@pytest.mark.parametrize("mode", list(GuidanceMode))
def test_one_pass_has_one_way(mode: GuidanceMode) -> None:
    assert plan_guidance(step(8, num_passes=1), mode).mode is GuidanceMode.SEQUENTIAL


def test_one_rank_has_no_mesh() -> None:
    assert plan_guidance(step(1), GuidanceMode.MESH).mode is GuidanceMode.SEQUENTIAL


@given(st.integers(1, 64))
def test_meshes_part_the_ranks_evenly(num_ranks: int) -> None:
    assert all(num_ranks % count == 0 and count > 1 for count in usable_meshes(num_ranks))
    assert num_ranks == 1 or num_ranks in usable_meshes(num_ranks)


@given(
    st.integers(1, 16),
    st.integers(1, 4),
    st.integers(1, 100_000),
    st.sampled_from(list(LinkKind)),
    st.sampled_from(list(GuidanceMode)),
)
def test_what_is_chosen_is_what_was_asked_for_or_the_cheapest(
    num_ranks: int, num_passes: int, num_tokens: int, link: LinkKind, mode: GuidanceMode
) -> None:
    case = step(num_ranks, num_tokens, link, num_passes=num_passes)
    plan = plan_guidance(case, mode)
    assert plan.mode is not GuidanceMode.AUTO
    if mode is GuidanceMode.AUTO:
        others = [plan_guidance(case, other) for other in GuidanceMode if other is not GuidanceMode.AUTO]
        assert all(plan.step_ms <= 1.06 * other.step_ms for other in others)
    assert plan.mode in (mode, GuidanceMode.SEQUENTIAL) or mode is GuidanceMode.AUTO


def test_plans_say_themselves_in_words() -> None:
    assert GuidancePlan(GuidanceMode.MESH, 4).describe(8) == "4 teams of 2"
    assert GuidancePlan(GuidanceMode.BATCHED).describe(8) == "one batch"
    assert GuidancePlan(GuidanceMode.SEQUENTIAL).describe(8) == "one after the other"
