"""The fleet's cards, and what a clip will take: each works with its state and nothing else, and looks as stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from podium.helper.requests import EstimateJob, JobEstimate
from podium.jobs import Phase
from podium.models.residency import ResidencyPlan
from podium.ui.state.values import RankRow
from podium.ui.theme import METRICS, apply_theme
from podium.ui.views.estimate_view import EstimateView
from podium.ui.views.fleet_view import FleetView

from tests.ui.views import fleet_scenes, scenes
from tests.ui.views.pictures import check_picture
from tests.ui.views.scenes import GIB, Scene, World

PANEL_WIDTH, PANEL_HEIGHT = 1068, 196
OF_FLEET = (
    *("at_work", "one_stands_still", "not_ending", "no_direct_link", "silent", "idle", "freed", "blocked", "many"),
    "on_the_cpu",
)
IN_BOTH_THEMES = ("at_work", "one_stands_still", "not_ending")
OF_ESTIMATE = ("estimated", "too_large")


@pytest.fixture(params=["dark", "light"])
def theme_name(request: pytest.FixtureRequest, qapp: QApplication, dressed: None) -> Iterator[str]:
    apply_theme(qapp, request.param)
    yield request.param
    apply_theme(qapp, "dark")


@pytest.fixture
def fleet_view(world: World, qtbot: QtBot) -> Callable[[Scene], FleetView]:
    """Return a function that shows the fleet's panel in a scene."""
    shown = []

    def show(scene: Scene) -> FleetView:
        scene(world)
        view = FleetView(world.session.fleet)
        # Its cards are looked at after the caller has let go of it.
        shown.append(view)
        show_in(view, qtbot, PANEL_WIDTH, PANEL_HEIGHT)
        return view

    return show


def show_in(view: QWidget, qtbot: QtBot, width: int, height: int) -> None:
    qtbot.addWidget(view)
    view.resize(width, height)
    with qtbot.waitExposed(view):
        view.show()
    QApplication.processEvents()


def test_a_card_tells_name_phase_step_memory_and_figures(fleet_view: Callable[[Scene], FleetView]) -> None:
    first, second = fleet_view(fleet_scenes.at_work).cards
    assert first.texts == (
        "NVIDIA RTX 6000 Ada",
        "GPU 0",
        "41 GB ours · 2.4 GB others’ · 4.6 GB free",
        "98% · 71 °C · 287 W",
    )
    assert first.rank_lines[0].texts == ("Rank 0", "Stage 2, step 2 of 3", "0.2 s ago")
    assert first.badge_text == ""
    assert first.bar.shares == pytest.approx((41 / 48, (1900 / 1024 + 600 / 1024) / 48))
    # What the driver takes for itself is nobody's.
    assert second.texts[2] == "40 GB ours · 7.4 GB free"


def test_who_else_holds_memory_is_told_when_asked(fleet_view: Callable[[Scene], FleetView]) -> None:
    first, second = fleet_view(fleet_scenes.at_work).cards
    assert first._memory.toolTip() == "blender (process 4711): 1.9 GB"
    assert second._memory.toolTip() == ""
    assert first._place.toolTip() == "0000:17:00.0"


def test_a_rank_that_does_not_respond_is_unmistakable(fleet_view: Callable[[Scene], FleetView]) -> None:
    view = fleet_view(fleet_scenes.one_stands_still)
    waiting, culprit = view.cards
    assert culprit.property("tone") == "danger"
    assert culprit.badge_text == "Not responding"
    assert culprit._badge.isVisible()
    assert culprit.rank_lines[0].texts[2] == "41.7 s ago"
    assert "Not responding" in culprit.accessibleName()
    assert (waiting.property("tone"), waiting.badge_text) == ("warning", "Waiting for rank 1")
    assert view.headline_text == "Rank 1 does not respond"


def test_a_gpu_that_gives_no_answer_is_told_from_one_that_is_lost(fleet_view: Callable[[Scene], FleetView]) -> None:
    mute, lost = fleet_view(fleet_scenes.silent).cards
    assert (mute.badge_text, lost.badge_text) == ("No answer", "Lost")
    assert mute.texts[2].startswith("41 GB ours")
    assert lost.texts[2:] == ("Memory: not known", "")


def test_a_blocked_gpu_says_by_what(fleet_view: Callable[[Scene], FleetView]) -> None:
    view = fleet_view(fleet_scenes.blocked)
    held, free = view.cards
    assert (held.badge_text, held._idle.text()) == ("Blocked", "Held by the last fleet")
    assert (free.badge_text, free._idle.text()) == ("", "Chosen for the next fleet")
    assert "cannot be ended" in view.banner.sentence


def test_freed_memory_is_told_beside_the_headline(fleet_view: Callable[[Scene], FleetView]) -> None:
    assert fleet_view(fleet_scenes.freed).note_text == "41 GB freed on GPU 0, 40 GB freed on GPU 1."


def test_a_rank_on_the_cpu_has_a_card_of_its_own(fleet_view: Callable[[Scene], FleetView]) -> None:
    first, _ = fleet_view(fleet_scenes.on_the_cpu).cards
    assert first.texts == ("CPU", "", "3.0 GB here · 18 GB elsewhere · 43 GB free", "100% · 4 threads")
    assert first.rank_lines[0].texts[1] == "Loading the model, 3.0 GB of 46 GB"


def test_cards_stand_side_by_side_as_far_as_there_is_room(
    fleet_view: Callable[[Scene], FleetView], qtbot: QtBot
) -> None:
    view = fleet_view(fleet_scenes.many)
    assert len(view.cards) == 8
    assert [view._grid.getItemPosition(place)[:2] for place in range(4)] == [(0, 0), (0, 1), (0, 2), (1, 0)]
    view.resize(2 * METRICS.card_width + 2 * METRICS.space_l + METRICS.scroll_bar, PANEL_HEIGHT)
    qtbot.waitUntil(lambda: view._num_columns == 2)
    assert view._grid.getItemPosition(2)[:2] == (1, 0)
    assert all(card.width() >= METRICS.card_width - METRICS.space_s for card in view.cards)


def test_ranks_and_cards_come_and_go(fleet_view: Callable[[Scene], FleetView], world: World) -> None:
    view, fleet = fleet_view(fleet_scenes.at_work), world.session.fleet
    both_on_one = tuple(RankRow(k, "cuda:0", "alive", True, Phase.STAGE_1) for k in range(2))
    world.controls.rows = both_on_one
    fleet._poll()
    assert [len(card.rank_lines) for card in view.cards] == [2]
    world.controls.rows = both_on_one[:1]
    fleet._poll()
    assert [len(card.rank_lines) for card in view.cards] == [1]
    world.controls.rows = ()
    fleet._poll()
    assert [len(card.rank_lines) for card in view.cards] == [0, 0]


def test_a_device_that_was_not_listed_has_a_name_all_the_same(world: World, qtbot: QtBot) -> None:
    view = FleetView(world.session.fleet)
    world.controls.rows = (RankRow(0, "cuda:3", "alive", True, Phase.LOADING),)
    world.session.fleet._poll()
    assert view.cards[0].texts == ("GPU 3", "", "Memory: not known", "")
    qtbot.addWidget(view)


@pytest.mark.parametrize("name", OF_FLEET)
def test_the_fleet_looks_as_stored(name: str, fleet_view: Callable[[Scene], FleetView]) -> None:
    check_picture(fleet_view(getattr(fleet_scenes, name)).grab(), f"fleet-{name}-dark")


@pytest.mark.parametrize("name", IN_BOTH_THEMES)
def test_the_fleet_looks_as_stored_by_day(
    name: str, fleet_view: Callable[[Scene], FleetView], qapp: QApplication
) -> None:
    apply_theme(qapp, "light")
    check_picture(fleet_view(getattr(fleet_scenes, name)).grab(), f"fleet-{name}-light")


def test_an_estimate_tells_tokens_memory_and_time(world: World, qtbot: QtBot) -> None:
    view = EstimateView(world.session.estimate)
    qtbot.addWidget(view)
    assert view.texts[1:] == ("not known yet", "not known yet")
    fleet_scenes.estimated(world)
    assert view.texts == ("13,376", "43 of 46 GB", "not known yet")
    assert "The text encoder waits" in view._memory.toolTip()
    assert "Stage 2: 43 GB" in view._memory.toolTip()
    world.session.estimate._update(duration_s=125.0, start_s=31.0)
    assert view.texts[2] == "about 2:05"
    assert view._time.toolTip() == "The fleet starts before, in about 31 s"
    assert "Time: about 2:05" in view.accessibleName()


def test_what_does_not_fit_is_said_with_what_would(world: World, qtbot: QtBot) -> None:
    view = EstimateView(world.session.estimate)
    show_in(view, qtbot, METRICS.compose_width, 10)
    assert not view._problem.isVisible()
    fleet_scenes.too_large(world)
    assert view._problem.isVisible()
    assert "329 frames" in view.problem_text
    assert view._memory.property("tone") == "warning"


def test_an_estimate_follows_the_form_by_itself(world: World, qtbot: QtBot) -> None:
    view = EstimateView(world.session.estimate)
    qtbot.addWidget(view)
    scenes.composed(world)
    qtbot.waitUntil(lambda: bool(world.helper.requests(EstimateJob)))
    assert view.texts[0] == "13,376"


@pytest.mark.parametrize("name", OF_ESTIMATE)
def test_an_estimate_looks_as_stored(name: str, theme_name: str, world: World, qtbot: QtBot) -> None:
    getattr(fleet_scenes, name)(world)
    view = EstimateView(world.session.estimate)
    show_in(view, qtbot, METRICS.compose_width - 2 * METRICS.space_l, 10)
    check_picture(view.grab(), f"estimate-{name}-{theme_name}")


def test_on_the_cpu_one_figure_is_for_all_ranks(world: World, qtbot: QtBot) -> None:
    view = EstimateView(world.session.estimate)
    qtbot.addWidget(view)
    scenes.composed(world)
    fleet_scenes.answer_estimate(world, JobEstimate((fleet_scenes.need(6), fleet_scenes.need(5)), ResidencyPlan()))
    (gpu, _) = world.session.estimate.memory
    world.session.estimate._update(memory=(replace(gpu, index=None, room_bytes=0),))
    assert (view._memory_title.text(), view.texts[1]) == ("Memory", "6.0 GB")
    assert gpu.need.num_bytes == 6 * GIB


def test_how_the_gpus_are_linked_is_said_in_a_few_words_and_whole_beneath(
    fleet_view: Callable[[Scene], FleetView], qtbot: QtBot
) -> None:
    view = fleet_view(fleet_scenes.at_work)
    assert (view.links_badge.isVisible(), view.links_badge.text) == (True, "Linked by NVLink")
    qtbot.mouseClick(view.links_view.fold.switch, Qt.MouseButton.LeftButton)
    assert view.links_view._sentences.isVisible()
    assert view.links_view.text == "GPU 0 and GPU 1 exchange over NVLink."


def test_gpus_without_a_direct_link_are_warned_of(fleet_view: Callable[[Scene], FleetView]) -> None:
    view = fleet_view(fleet_scenes.no_direct_link)
    assert view.links_badge.text == "No direct link between GPUs"
    assert view.links_badge._words.property("tone") == "warning"
    assert "the mainboard's chipset does not allow it" in view.links_view.text
    assert view.links_view.text.endswith("NCCL_P2P_DISABLE=1 was set for this fleet.")


def test_nothing_is_said_of_links_where_there_are_none(fleet_view: Callable[[Scene], FleetView]) -> None:
    view = fleet_view(fleet_scenes.on_the_cpu)
    assert not view.links_badge.isVisible()
    assert not view.links_view.isVisible()


def test_a_fleet_that_does_not_end_is_stopped_by_a_press_of_its_own(
    fleet_view: Callable[[Scene], FleetView], world: World, qtbot: QtBot
) -> None:
    view = fleet_view(fleet_scenes.at_work)
    fleet = world.session.fleet
    qtbot.mouseClick(view.stop_button, Qt.MouseButton.LeftButton)
    assert (view.stop_button.text(), view.stop_button.isEnabled()) == ("Stopping…", False)
    assert "force_stop" not in world.controls.calls
    fleet._force_timer.stop()
    fleet._offer_force()
    assert (view.stop_button.text(), view.stop_button.property("kind")) == ("Force stop", "danger")
    assert view.cost_text == fleet.force_cost == view.stop_button.toolTip()
    qtbot.mouseClick(view.stop_button, Qt.MouseButton.LeftButton)
    assert world.controls.calls[-1] == "force_stop"
    assert (view.stop_button.text(), view.stop_button.isEnabled(), view.cost_text) == ("Stopping…", False, "")
