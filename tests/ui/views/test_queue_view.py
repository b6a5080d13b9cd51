"""The queue's view: what it shows of every state of an entry, and every wish it hands on."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData, QModelIndex, QPointF, Qt
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QApplication, QListView, QToolButton
from pytestqt.qtbot import QtBot

from podium.ui.state.queue import QueueState
from podium.ui.state.values import EntryStatus
from podium.ui.theme import METRICS
from podium.ui.views.dialogs import ConfirmDialog
from podium.ui.views.queue_item_model import QueueItemModel
from podium.ui.views.queue_view import QueueView
from podium.ui.views.queue_words import QueueWords

from tests.ui.views import work_scenes
from tests.ui.views.scenes import SPEC, World
from tests.ui.views.work_scenes import OTHER, make_request

ALT = Qt.KeyboardModifier.AltModifier
LEFT = Qt.MouseButton.LeftButton
NONE = Qt.KeyboardModifier.NoModifier


@pytest.fixture
def queue(world: World) -> QueueState:
    return world.session.queue


@pytest.fixture
def view(queue: QueueState, qtbot: QtBot) -> QueueView:
    made = QueueView(queue)
    qtbot.addWidget(made)
    made.resize(1000, 420)
    made.show()
    return made


def prompts(queue: QueueState) -> list[int]:
    """Return the seeds of the entries in their order: they name the requests."""
    return [entry.request.seed for entry in queue.entries]


def waiting(queue: QueueState, num_entries: int = 4) -> None:
    """Fill a queue that stands still."""
    queue.pause_for("It stands.")
    queue.add([make_request(number) for number in range(num_entries)], SPEC)


def test_an_empty_queue_says_what_comes_here(view: QueueView) -> None:
    assert view.entry_list.isHidden() or not view.entry_list.isVisible()
    assert not view.actions_of_queue.edit.isEnabled()
    assert not view.actions_of_queue.clear.isEnabled()


def test_entries_stand_in_the_order_they_run(view: QueueView, queue: QueueState) -> None:
    waiting(queue)
    titles = [view.model.index(row, 0).data() for row in range(view.model.rowCount())]
    assert titles == [entry.title for entry in queue.entries]
    assert view.headline_text == "Waiting: 4"


def test_every_status_is_told_in_a_word(view: QueueView, world: World, queue: QueueState) -> None:
    work_scenes.queued(world)
    words = QueueWords()
    assert [words.status(entry) for entry in queue.entries] == [
        *("Failed", "At work", "Waiting", "Paused", "Waiting", "Waiting"),
    ]  # fmt: skip
    for status in EntryStatus:
        assert words.status(work_scenes.replace(queue.entries[0], status=status))


def test_an_entry_is_told_with_its_size_length_pipeline_seed_and_loras(queue: QueueState) -> None:
    waiting(queue, 3)
    assert QueueWords().facts(queue.entries[2]) == (
        "1216 × 704 · 5.0 s · Fast · seed 402 · film-grain-35mm, slow-dolly-in"
    )


def test_an_entry_for_another_fleet_says_so_with_the_seconds(world: World, queue: QueueState) -> None:
    work_scenes.queued(world)
    words = QueueWords()
    assert words.switch(queue.entries[2]) == ""
    assert words.switch(queue.entries[4]) == "Needs another fleet"
    known = work_scenes.replace(queue.entries[4], switch_s=41.0)
    assert words.switch(known) == "Needs another fleet (about 41 s)"


def test_screen_readers_hear_the_whole_entry(view: QueueView, world: World) -> None:
    work_scenes.queued(world)
    said = view.model.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert "Failed" in said
    assert "killed by the system" in said
    assert "Rank 1, Stage 2" in said


def test_a_failed_entry_shows_its_sentence_and_folds_rank_phase_and_log(
    view: QueueView, world: World, queue: QueueState
) -> None:
    work_scenes.queued(world)
    assert view.failure_banner.sentence == ""
    view.choose(queue.entries[0].key)
    assert view.failure_banner.isVisible()
    assert view.failure_banner.sentence.startswith("Rank 1 on GPU 1 was killed")
    details = view.failure_banner.fold._text.toPlainText()
    assert details.startswith("Rank 1, Stage 2\n\nWorkerDiedError")
    assert details.endswith("allocating 5.2 GiB")
    view.choose(queue.entries[2].key)
    assert not view.failure_banner.isVisible()


def test_the_pause_is_told_with_its_reason_and_ended_beside_it(
    view: QueueView, queue: QueueState, qtbot: QtBot
) -> None:
    waiting(queue)
    assert view.reason_banner.sentence == "It stands."
    assert view.reason_banner.isVisible()
    assert not view.pause_button.isVisible()
    queue.resume()
    assert not view.reason_banner.isVisible()
    qtbot.mouseClick(view.pause_button, LEFT)
    assert queue.is_paused
    view.actions_of_queue.pause.trigger()
    assert not queue.is_paused


def press(
    view: QueueView, qtbot: QtBot, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    view.entry_list.setFocus()
    qtbot.keyClick(view.entry_list, key, modifier)


def test_entries_are_moved_by_keys_and_stay_chosen(view: QueueView, queue: QueueState, qtbot: QtBot) -> None:
    waiting(queue)
    view.activateWindow()
    view.choose(queue.entries[0].key)
    press(view, qtbot, Qt.Key.Key_Down, ALT)
    assert prompts(queue) == [401, 400, 402, 403]
    assert [entry.request.seed for entry in view.chosen] == [400]
    press(view, qtbot, Qt.Key.Key_Down, ALT)
    press(view, qtbot, Qt.Key.Key_Up, ALT)
    assert prompts(queue) == [401, 400, 402, 403]
    press(view, qtbot, Qt.Key.Key_Home, ALT)
    assert prompts(queue) == [400, 401, 402, 403]


def test_entries_are_removed_duplicated_and_passed_over_by_keys(
    view: QueueView, queue: QueueState, qtbot: QtBot
) -> None:
    waiting(queue)
    view.choose(queue.entries[1].key)
    press(view, qtbot, Qt.Key.Key_D)
    assert prompts(queue) == [400, 401, 401, 402, 403]
    press(view, qtbot, Qt.Key.Key_P)
    assert queue.entries[1].status is EntryStatus.PAUSED
    press(view, qtbot, Qt.Key.Key_P)
    assert queue.entries[1].status is EntryStatus.PENDING
    press(view, qtbot, Qt.Key.Key_Delete)
    assert prompts(queue) == [400, 401, 402, 403]


def test_an_entry_is_edited_and_its_place_is_held(view: QueueView, queue: QueueState, qtbot: QtBot) -> None:
    waiting(queue)
    view.choose(queue.entries[1].key)
    with qtbot.waitSignal(queue.edit_requested):
        press(view, qtbot, Qt.Key.Key_Return)
    assert queue.edited_key == queue.entries[1].key
    assert view.model.index(1, 0).data(Qt.ItemDataRole.AccessibleTextRole).count("In the form") == 1
    view.actions_of_queue.stop_editing.trigger()
    assert queue.edited_key is None


def test_a_failed_entry_is_retried(view: QueueView, world: World, queue: QueueState) -> None:
    work_scenes.queued(world)
    view.choose(queue.entries[0].key)
    assert view.actions_of_queue.retry.isEnabled()
    view.actions_of_queue.retry.trigger()
    assert queue.entries[0].status is EntryStatus.PENDING
    assert not view.actions_of_queue.retry.isEnabled()


def test_the_entry_at_work_is_neither_moved_nor_removed(view: QueueView, world: World, queue: QueueState) -> None:
    work_scenes.queued(world)
    view.choose(queue.entries[1].key)
    actions = view.actions_of_queue
    assert not any(a.isEnabled() for a in (actions.edit, actions.remove, actions.move_up, actions.to_front))
    assert actions.duplicate.isEnabled()
    assert not view.model.flags(view.model.index(1, 0)) & Qt.ItemFlag.ItemIsDragEnabled


def test_several_entries_are_removed_at_once(view: QueueView, queue: QueueState) -> None:
    waiting(queue)
    view.entry_list.selectAll()
    assert len(view.chosen) == 4
    assert not view.actions_of_queue.edit.isEnabled()
    view.actions_of_queue.remove.trigger()
    assert queue.entries == ()


def test_group_by_model_reorders_only_when_asked(view: QueueView, queue: QueueState) -> None:
    queue.pause_for("It stands.")
    for number, spec in enumerate((SPEC, OTHER, SPEC, OTHER)):
        queue.add([make_request(number)], spec)
    assert prompts(queue) == [400, 401, 402, 403]
    view.actions_of_queue.group.trigger()
    assert prompts(queue) == [400, 402, 401, 403]


@pytest.mark.parametrize(("name", "left"), [("cancel_all", []), ("clear", []), ("clear_and_restart", [])])
def test_what_cannot_be_taken_back_is_asked_first(
    view: QueueView, queue: QueueState, qtbot: QtBot, name: str, left: list[int]
) -> None:
    waiting(queue)
    getattr(view.actions_of_queue, name).trigger()
    dialog = view.findChild(ConfirmDialog)
    qtbot.mouseClick(dialog.stay, LEFT)
    assert len(queue.entries) == 4
    getattr(view.actions_of_queue, name).trigger()
    dialog = next(d for d in view.findChildren(ConfirmDialog) if d.isVisible())
    qtbot.mouseClick(dialog.do, LEFT)
    assert prompts(queue) == left


def test_clear_and_restart_kills_the_fleet(view: QueueView, world: World, qtbot: QtBot) -> None:
    work_scenes.queued(world)
    view.actions_of_queue.clear_and_restart.trigger()
    qtbot.mouseClick(view.findChild(ConfirmDialog).do, LEFT)
    assert "force_stop" in world.controls.calls


@pytest.mark.parametrize(
    ("row", "gap", "wanted"),
    [(0, 2, [401, 400, 402, 403]), (3, 0, [403, 400, 401, 402]), (1, 4, [400, 402, 403, 401]), (2, 2, None)],
)
def test_a_dragged_entry_is_put_into_the_gap_it_is_dropped_in(
    view: QueueView, queue: QueueState, row: int, gap: int, wanted: list[int] | None
) -> None:
    waiting(queue)
    dragged = view.model.mimeData([view.model.index(row, 0)])
    assert view.model.dropMimeData(dragged, Qt.DropAction.MoveAction, gap, 0, QModelIndex())
    assert prompts(queue) == (wanted or [400, 401, 402, 403])


def test_a_drop_on_the_list_itself_moves_the_entry(view: QueueView, queue: QueueState) -> None:
    waiting(queue)
    dragged = view.model.mimeData([view.model.index(0, 0)])
    below = QPointF(40, view.entry_list.visualRect(view.model.index(3, 0)).bottom() + 30)
    drop(view.entry_list, dragged, below)
    assert prompts(queue) == [401, 402, 403, 400]


def drop(target: QListView, data: QMimeData, point: QPointF) -> None:
    buttons, keys = LEFT, Qt.KeyboardModifier.NoModifier
    target.dropEvent(QDropEvent(point, Qt.DropAction.MoveAction, data, buttons, keys))


def test_qt_s_own_move_within_the_list_is_handed_on(view: QueueView, queue: QueueState) -> None:
    waiting(queue)
    assert view.model.moveRows(QModelIndex(), 0, 1, QModelIndex(), 3)
    assert prompts(queue) == [401, 402, 400, 403]


def test_what_is_no_entry_is_not_dropped(view: QueueView, queue: QueueState) -> None:
    waiting(queue)
    data = QMimeData()
    data.setText("something")
    assert not view.model.dropMimeData(data, Qt.DropAction.MoveAction, 0, 0, QModelIndex())


def test_only_what_changed_is_told(queue: QueueState, qtbot: QtBot) -> None:
    model = QueueItemModel(queue)
    waiting(queue, 10)
    told: list[str] = []
    model.rowsInserted.connect(lambda *_: told.append("in"))
    model.rowsRemoved.connect(lambda *_: told.append("out"))
    model.dataChanged.connect(lambda *_: told.append("data"))
    model.layoutChanged.connect(lambda *_: told.append("order"))
    model.modelReset.connect(lambda: told.append("all"))
    queue.set_entry_paused(queue.entries[4].key, True)
    queue.move(queue.entries[0].key, 5)
    queue.remove(queue.entries[3].key)
    queue.duplicate(queue.entries[3].key)
    assert told == ["data", "order", "out", "in"]
    queue.clear()
    assert model.rowCount() == 0


def test_a_hundred_entries_in_a_burst_are_laid_out_once_and_cost_rows_that_are_seen(
    view: QueueView, queue: QueueState, qtbot: QtBot
) -> None:
    queue.pause_for("It stands.")
    painted: list[int] = []
    delegate = view.entry_list.itemDelegate()
    real = delegate.paint

    def paint(painter: object, option: object, index: QModelIndex) -> None:
        painted.append(index.row())
        real(painter, option, index)

    delegate.paint = paint
    queue.add([make_request(number) for number in range(100)], SPEC)
    view.entry_list.grab()
    assert view.model.rowCount() == 100
    assert 0 < len(set(painted)) <= view.entry_list.height() // METRICS.row_height + 2


def test_every_button_of_an_entry_says_what_it_does_and_its_keys(view: QueueView, queue: QueueState) -> None:
    waiting(queue)
    buttons = [button for button in view.findChildren(QToolButton) if button.isVisible()]
    assert {"Edit", "Duplicate", "Pass Over", "Retry", "Move to the Front", "Remove"} <= {
        button.accessibleName() for button in buttons
    }
    assert any("Alt+Up" in button.toolTip() for button in buttons)


def test_what_the_check_of_an_entry_had_to_say_is_shown_with_it(
    view: QueueView, world: World, queue: QueueState
) -> None:
    work_scenes.queued(world)
    place = next(row for row, entry in enumerate(queue.entries) if entry.notes)
    index = view.model.index(place, 0)
    assert work_scenes.NOTE in index.data(Qt.ItemDataRole.AccessibleTextRole)
    assert work_scenes.NOTE in index.data(Qt.ItemDataRole.ToolTipRole)
    view.choose(queue.entries[place].key)
    assert (view.notes_banner.isVisible(), view.notes_banner.sentence) == (True, work_scenes.NOTE)
    assert not view.failure_banner.isVisible()
    view.choose(queue.entries[0].key)
    assert not view.notes_banner.isVisible()


def test_in_the_smallest_window_the_list_has_more_room_than_what_failed(
    view: QueueView, world: World, queue: QueueState
) -> None:
    work_scenes.queued(world)
    view.choose(queue.entries[0].key)
    view.resize(METRICS.window_min_width - METRICS.compose_width, METRICS.bottom_height)
    QApplication.processEvents()
    assert view._detail.width() < view.entry_list.width()
    view.resize(METRICS.window_width, METRICS.bottom_height)
    QApplication.processEvents()
    assert view._detail.width() == METRICS.detail_width
