"""What the fleet is asked about the prompt: it comes before the next clip, says how far it is, and can be left."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from podium.helper.requests import CheckedJob, CheckRequest, GetModelFacts, ModelFacts
from podium.jobs import DurationPredicted, DurationRequest, EnhanceRequest, Phase, PromptEnhanced, StepDone
from podium.models.errors import CheckpointError
from podium.ui.state.events import FleetReady, FleetStarting, FleetStopped, JobEnded, JobNews, JobStarted
from podium.ui.state.force_timer import FORCE_AFTER_S, MIN_CANCELLING_S
from podium.ui.state.orders import JobOrder, PromptOrder
from podium.ui.state.session import SessionState
from podium.ui.state.values import CancelPhase, ErrorMessage, FleetPhase, JobPhase, RankRow

from tests.fakes.ui import MODELS, SPEC, FakeControls, FakeHelper, finish, make_ready, run_next

World = tuple[SessionState, FakeHelper, FakeControls]
ALL_FACTS = ModelFacts(can_write_prompts=True, can_make_keyframes=True, can_tell_length=True)


@pytest.fixture
def ready(world: World) -> World:
    """Return a window whose model can do everything, with a prompt."""
    session, helper, _ = world
    make_ready(session, helper, prompt="a fox")
    helper.answer(GetModelFacts, ALL_FACTS)
    return world


def orders_of(session: SessionState) -> list[JobOrder | PromptOrder]:
    orders: list[JobOrder | PromptOrder] = []
    session.job_ordered.connect(orders.append)
    return orders


def test_what_the_model_can_do_decides_what_is_offered(world: World) -> None:
    session, helper, _ = world
    make_ready(session, helper, prompt="a fox")
    assert (session.enhance.is_available, session.length.is_available) == (False, False)
    helper.answer(GetModelFacts, ModelFacts(can_tell_length=True))
    assert (session.enhance.is_available, session.length.is_available) == (False, True)


def test_facts_of_a_model_that_was_left_meanwhile_say_nothing(world: World) -> None:
    session, helper, _ = world
    make_ready(session, helper)
    session.pack.choose_models(replace(MODELS, gemma_root=Path("/models/another")))
    helper.answer(GetModelFacts, ALL_FACTS)
    assert not session.enhance.is_available


def test_a_model_whose_files_cannot_be_read_offers_nothing(world: World) -> None:
    session, helper, _ = world
    make_ready(session, helper)
    helper.answer(GetModelFacts, error=CheckpointError("No."))
    assert session.model_facts.facts == ModelFacts()


def test_a_prompt_goes_to_the_fleet_that_the_form_asks_for(ready: World) -> None:
    session, _, _ = ready
    orders = orders_of(session)
    session.enhance.enhance()
    (order,) = orders
    assert isinstance(order, PromptOrder)
    assert isinstance(order.request, EnhanceRequest)
    assert (order.key, order.spec, order.arguments) == (-1, session.spec, {"enhance": order.request})


def test_an_order_comes_before_the_clip_that_is_next(ready: World) -> None:
    session, helper, _ = ready
    session.generate(num_seeds=2)
    orders = orders_of(session)
    first = run_next(session, helper)
    session.enhance.enhance()
    assert session.enhance.status == "It waits for what is at work."
    finish(session, first)
    helper.answer(CheckRequest, CheckedJob(5, (), {}))
    assert [type(order) for order in orders] == [JobOrder, PromptOrder, JobOrder]


def test_how_far_it_is_is_said_from_the_start_of_the_fleet_to_the_last_token(ready: World) -> None:
    session, _, _ = ready
    session.enhance.enhance()
    session.apply(FleetStarting(SPEC))
    assert session.enhance.status == "The fleet starts first."
    session.apply(FleetReady(SPEC, 2.0))
    session.apply(JobStarted(-1))
    assert (session.enhance.status, session.fleet.phase) == ("", FleetPhase.BUSY)
    session.take_news(JobNews(-1, (StepDone(Phase.ENCODING, 40, 512, 0.1),)))
    assert session.enhance.status == "Being written: 40 of at most 512 tokens."
    session.apply(JobEnded(-1, JobPhase.FINISHED, answer=PromptEnhanced("a red fox", "No picture.")))
    assert (session.enhance.enhanced, session.enhance.note, session.enhance.status) == ("a red fox", "No picture.", "")
    assert session.fleet.phase is FleetPhase.READY
    assert session.job.phase is JobPhase.NONE


def test_one_that_waits_for_another_says_so(ready: World) -> None:
    session, _, _ = ready
    session.enhance.enhance()
    session.apply(FleetStarting(SPEC))
    session.apply(FleetReady(SPEC, 2.0))
    session.apply(JobStarted(-1))
    session.length.suggest()
    assert session.length.status == "It waits for what is at work."
    session.apply(JobEnded(-1, JobPhase.FINISHED, answer=PromptEnhanced("a red fox")))
    session.apply(JobStarted(-2))
    assert session.length.status == ""


@pytest.mark.parametrize("outcome", [JobPhase.FAILED, JobPhase.REFUSED])
def test_a_failure_is_told_as_a_sentence(ready: World, outcome: JobPhase) -> None:
    session, _, _ = ready
    session.enhance.enhance()
    session.apply(JobEnded(-1, outcome, message=ErrorMessage("The picture is gone.", "trace")))
    assert (session.enhance.problem, session.enhance.is_busy) == ("The picture is gone.", False)


def test_one_that_somebody_else_stopped_says_so(ready: World) -> None:
    session, _, _ = ready
    session.enhance.enhance()
    session.apply(JobEnded(-1, JobPhase.STOPPED))
    assert session.enhance.problem == "This was stopped before it was done."


def test_who_leaves_it_has_it_cancelled_and_what_comes_after_that_is_not_shown(ready: World) -> None:
    session, _, controls = ready
    session.enhance.enhance()
    session.apply(JobStarted(-1))
    session.enhance.discard()
    assert controls.calls == ["cancel -1"]
    session.enhance.enhance()
    session.take_news(JobNews(-1, (StepDone(Phase.ENCODING, 40, 512, 0.1),)))
    session.apply(JobEnded(-1, JobPhase.FINISHED, answer=PromptEnhanced("of the first")))
    assert (session.enhance.enhanced, session.enhance.is_busy) == ("", True)
    session.apply(JobEnded(-2, JobPhase.FINISHED, answer=PromptEnhanced("of the second")))
    assert session.enhance.enhanced == "of the second"


def test_a_fleet_that_is_stopped_stops_what_is_asked_of_it(ready: World) -> None:
    session, _, controls = ready
    session.enhance.enhance()
    session.apply(FleetStarting(SPEC))
    session.apply(FleetReady(SPEC, 2.0))
    session.apply(JobStarted(-1))
    session.fleet.stop()
    assert controls.calls == ["cancel -1"]


def test_without_devices_it_says_what_is_missing_and_orders_nothing(ready: World, qtbot: QtBot) -> None:
    session, _, _ = ready
    session.devices.use_gpus()
    with qtbot.assertNotEmitted(session.job_ordered):
        session.enhance.enhance()
    assert session.enhance.problem
    assert not session.enhance.is_busy


def test_a_prompt_that_is_too_long_is_refused_before_a_fleet_starts(ready: World, qtbot: QtBot) -> None:
    session, _, _ = ready
    session.compose._update(num_tokens=1100, max_tokens=1024)
    with qtbot.assertNotEmitted(session.job_ordered):
        session.enhance.enhance()
        session.length.suggest()
    assert "1100 tokens" in session.enhance.problem
    assert session.length.problem == session.enhance.problem


def test_a_suggested_length_goes_into_the_form(ready: World) -> None:
    session, _, _ = ready
    orders = orders_of(session)
    session.compose.set_fps("25")
    session.length.suggest()
    (order,) = orders
    assert order.request == DurationRequest("a fox", Fraction(25))
    assert order.arguments == {"duration": order.request}
    session.apply(JobEnded(-1, JobPhase.FINISHED, answer=DurationPredicted(201)))
    assert (session.compose.num_frames, session.length.is_busy) == (201, False)


def test_any_fleet_with_the_same_text_encoder_can_write() -> None:
    order = PromptOrder(-1, SPEC, EnhanceRequest("a fox"))
    assert order.is_served_by(replace(SPEC, max_tokens=1, models=replace(MODELS, checkpoint_path=Path("/other"))))
    assert not order.is_served_by(replace(SPEC, models=replace(MODELS, gemma_root=Path("/other"))))


def test_the_length_is_told_by_the_same_checkpoint_only() -> None:
    order = PromptOrder(-1, SPEC, DurationRequest("a fox", Fraction(24)))
    assert order.is_served_by(replace(SPEC, models=replace(MODELS, spatial_upsampler_path=Path("/other"))))
    assert not order.is_served_by(replace(SPEC, models=replace(MODELS, checkpoint_path=Path("/other"))))
    assert not order.is_served_by(replace(SPEC, models=replace(MODELS, duration_head_path=Path("/other"))))


def start_writing(session: SessionState) -> None:
    session.enhance.enhance()
    session.apply(FleetStarting(SPEC))
    session.apply(FleetReady(SPEC, 31.0))
    session.apply(JobStarted(-1))


def test_writing_is_ended_softly_and_the_answer_to_that_is_waited_for(ready: World) -> None:
    session, _, controls = ready
    start_writing(session)
    assert session.enhance.cancel_phase is CancelPhase.CAN_CANCEL
    session.enhance.cancel()
    session.enhance.cancel()
    session.enhance.force_stop()
    assert controls.calls == ["cancel -1"]
    assert (session.enhance.cancel_phase, session.enhance.is_busy) == (CancelPhase.CANCELLING, True)
    session.apply(JobEnded(-1, JobPhase.STOPPED))
    assert (session.enhance.cancel_phase, session.enhance.is_busy) == (CancelPhase.NONE, False)
    assert not session.enhance._force_timer.isActive()


def test_what_no_rank_has_yet_is_ended_at_once(ready: World) -> None:
    session, _, controls = ready
    session.enhance.enhance()
    session.apply(FleetStarting(SPEC))
    session.enhance.cancel()
    assert controls.calls == ["cancel -1"]
    assert (session.enhance.is_busy, session.enhance.problem) == (False, "This was stopped before it was done.")


def test_a_rank_that_hangs_while_it_writes_can_be_stopped_by_force(ready: World, qtbot: QtBot) -> None:
    session, _, controls = ready
    start_writing(session)
    controls.rows = (RankRow(0, "cpu", "not responding", False, Phase.ENCODING, sign_age_s=40.0),)
    session.fleet._poll()
    assert session.enhance.cancel_phase is CancelPhase.CAN_CANCEL
    session.enhance.cancel()
    # A double click never forces.
    assert session.enhance._force_timer.interval() == pytest.approx(MIN_CANCELLING_S * 1000, abs=100)
    qtbot.waitUntil(lambda: session.enhance.cancel_phase is CancelPhase.CAN_FORCE)
    assert session.enhance.force_cost == "Force stop ends the fleet at once; the weights load again, about 31 s."
    session.enhance.force_stop()
    session.enhance.force_stop()
    assert controls.calls == ["cancel -1", "force_stop"]
    assert (session.enhance.cancel_phase, session.enhance.force_cost) == (CancelPhase.FORCING, "")
    session.apply(JobEnded(-1, JobPhase.STOPPED))
    assert session.enhance.problem == "This was stopped before it was done."


def test_without_a_silent_rank_force_waits_five_seconds(ready: World) -> None:
    session, *_ = ready
    start_writing(session)
    session.enhance.cancel()
    assert session.enhance._force_timer.interval() == pytest.approx(FORCE_AFTER_S * 1000, abs=100)


def test_a_fleet_that_hangs_over_a_prompt_nobody_waits_for_can_be_killed(ready: World, qtbot: QtBot) -> None:
    session, _, controls = ready
    start_writing(session)
    session.enhance.discard()
    controls.rows = (RankRow(0, "cpu", "not responding", False, Phase.ENCODING, sign_age_s=40.0),)
    session.fleet._poll()
    session.fleet.force_stop()
    assert session.fleet.stop_phase is CancelPhase.CAN_CANCEL
    session.fleet.stop()
    assert session.fleet.stop_phase is CancelPhase.CANCELLING
    qtbot.waitUntil(lambda: session.fleet.stop_phase is CancelPhase.CAN_FORCE)
    assert "about 31 s" in session.fleet.force_cost
    session.fleet.force_stop()
    assert controls.calls == ["cancel -1", "force_stop"]
    session.apply(FleetStopped())
    assert (session.fleet.stop_phase, session.fleet.force_cost) == (CancelPhase.NONE, "")


def test_a_fleet_that_ends_as_it_was_told_offers_no_force(ready: World) -> None:
    session, _, controls = ready
    session.apply(FleetStarting(SPEC))
    session.apply(FleetReady(SPEC, 31.0))
    session.fleet.stop()
    controls.rows = (RankRow(0, "cpu", "dead", False, Phase.STOPPING),)
    session.fleet._poll()
    assert session.fleet._force_timer.interval() == pytest.approx(FORCE_AFTER_S * 1000, abs=100)
    session.apply(FleetStopped())
    assert not session.fleet._force_timer.isActive()
