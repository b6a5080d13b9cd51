"""The history's view: what it shows of clips, and every wish it hands on."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, QSize, Qt
from PySide6.QtWidgets import QComboBox, QMenu
from pytestqt.qtbot import QtBot

from podium.helper.requests import FindMissing, KeepThumbnail, SaveFrame, Thumbnail
from podium.jobs import ClipFinished, GuidanceMode, GuidanceSpec, PipelineKind
from podium.library import Library
from podium.library.history_store import HistoryRow
from podium.ui.state.history import HistoryState
from podium.ui.state.history_model import PAGE_ENTRIES
from podium.ui.state.images import FramePlace
from podium.ui.state.values import ReusePart
from podium.ui.views.history_view import HistoryView
from podium.ui.views.reuse_dialog import ReuseDialog
from podium.ui.views.shown_clip import ShownClip

from tests.fakes.ui import make_session
from tests.ui.views import work_scenes
from tests.ui.views.scenes import World
from tests.ui.views.work_scenes import make_request

LEFT = Qt.MouseButton.LeftButton
CONTROL = Qt.KeyboardModifier.ControlModifier
NONE = Qt.KeyboardModifier.NoModifier


@pytest.fixture
def history(world: World) -> HistoryState:
    return world.session.history


@pytest.fixture
def view(world: World, qtbot: QtBot) -> HistoryView:
    made = HistoryView(world.session.history, world.session.exports)
    qtbot.addWidget(made)
    made.resize(1000, 420)
    made.show()
    return made


def click(
    view: HistoryView, qtbot: QtBot, row: int, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    rect = view.clip_list.visualRect(view.clip_list.model().index(row, 0))
    qtbot.mouseClick(view.clip_list.viewport(), LEFT, keys, rect.center())


def key_at(history: HistoryState, row: int) -> int:
    return history.model.entries[row].key


def test_an_empty_history_says_what_comes_here(view: HistoryView) -> None:
    assert view.empty_text.startswith("Finished clips are kept here")
    assert not view.clip_list.isVisible()


def test_clips_are_found_by_words_and_what_is_not_found_is_told(
    view: HistoryView, world: World, history: HistoryState, qtbot: QtBot
) -> None:
    work_scenes.day(world)
    view.search_field.setText("lighthouse")
    assert history.search == "lighthouse"
    assert {entry.title for entry in history.model.entries} == {work_scenes.PROMPTS[2]}
    view.search_field.setText("no such words")
    assert view.empty_text.startswith("No clip is found")
    assert not view.clip_list.isVisible()
    view.search_field.clear()
    assert history.num_entries == 12


def test_the_history_is_filtered_by_star_lora_and_model(view: HistoryView, world: World, history: HistoryState) -> None:
    work_scenes.day(world)
    starred = view.actions_of_list.starred_only
    starred.trigger()
    assert [entry.is_starred for entry in history.model.entries] == [True] * 3
    starred.trigger()
    lora, model = view.findChildren(QComboBox)
    choose(lora, "slow-dolly-in")
    assert history.lora_filter == "slow-dolly-in"
    assert all(len(entry.request.loras) == 2 for entry in history.model.entries)
    choose(lora, "All LoRAs")
    choose(model, "ltx-2-19b-dev")
    assert {entry.model_name for entry in history.model.entries} == {"ltx-2-19b-dev"}


def choose(box: QComboBox, text: str) -> None:
    place = box.findText(text)
    box.setCurrentIndex(place)
    box.activated.emit(place)


def test_filters_without_a_choice_are_not_shown(view: HistoryView) -> None:
    assert not [box for box in view.findChildren(QComboBox) if box.isVisible()]


def test_a_clip_is_shown_by_mouse_and_by_keys_and_the_live_one_again(
    view: HistoryView, world: World, history: HistoryState, qtbot: QtBot
) -> None:
    work_scenes.day(world)
    click(view, qtbot, 1)
    assert history.selected is not None
    assert history.selected.key == key_at(history, 1)
    view.clip_list.setFocus()
    qtbot.keyClick(view.clip_list, Qt.Key.Key_Right)
    qtbot.keyClick(view.clip_list, Qt.Key.Key_Return)
    assert history.selected.key == key_at(history, 2)
    qtbot.mouseClick(view.live_button, LEFT)
    assert history.selected is None
    assert not view.live_button.isVisible()


def test_two_chosen_clips_are_compared_the_older_one_first(
    view: HistoryView, world: World, history: HistoryState, qtbot: QtBot
) -> None:
    work_scenes.day(world)
    assert not view.actions_of_list.compare.isEnabled()
    click(view, qtbot, 1)
    click(view, qtbot, 3, CONTROL)
    assert len(view.chosen) == 2
    # A click that chooses a second one changes nothing on the Stage.
    assert history.selected is not None
    assert history.selected.key == key_at(history, 1)
    view.actions_of_list.compare.trigger()
    assert history.compared is not None
    assert [entry.key for entry in history.compared] == [key_at(history, 3), key_at(history, 1)]


def test_the_chosen_clip_is_compared_with_the_one_on_the_stage(
    view: HistoryView, world: World, history: HistoryState, qtbot: QtBot
) -> None:
    work_scenes.day(world)
    history.select(key_at(history, 4))
    view.clip_list.setCurrentIndex(history.model.index(0, 0))
    view.clip_list.setFocus()
    qtbot.keyClick(view.clip_list, Qt.Key.Key_C)
    assert history.compared is not None
    assert [entry.key for entry in history.compared] == [key_at(history, 4), key_at(history, 0)]


def test_a_clip_is_starred_and_thrown_away_by_keys(
    view: HistoryView, world: World, history: HistoryState, qtbot: QtBot
) -> None:
    work_scenes.day(world)
    click(view, qtbot, 0)
    key = key_at(history, 0)
    view.clip_list.setFocus()
    qtbot.keyClick(view.clip_list, Qt.Key.Key_S)
    assert history.model.entries[0].is_starred
    assert view.actions_of_list.star.isChecked()
    qtbot.keyClick(view.clip_list, Qt.Key.Key_S)
    assert not history.model.entries[0].is_starred
    qtbot.keyClick(view.clip_list, Qt.Key.Key_Delete)
    assert history.model.row_of(key) is None
    assert history.num_entries == 11


def test_a_clip_is_handed_on_to_be_reused_exported_and_shown(
    view: HistoryView, world: World, history: HistoryState, qtbot: QtBot
) -> None:
    work_scenes.day(world)
    click(view, qtbot, 0)
    entry, actions = history.model.entries[0], view.actions_of_list
    for action, chooses in ((actions.reuse_all, False), (actions.reuse_parts, True)):
        with qtbot.waitSignal(view.reuse_requested) as asked:
            action.trigger()
        assert (asked.args[0].key, asked.args[1]) == (entry.key, chooses)
    with qtbot.waitSignal(view.export_requested) as asked:
        actions.export.trigger()
    assert asked.args == [ShownClip(entry.clip.path, entry.clip.clip)]
    with qtbot.waitSignal(view.folder_requested) as asked:
        actions.show_in_folder.trigger()
    assert asked.args == [entry.clip.path]


def test_a_clip_s_first_picture_becomes_the_first_image(view: HistoryView, world: World, qtbot: QtBot) -> None:
    work_scenes.day(world)
    click(view, qtbot, 2)
    view.actions_of_list.start_image.trigger()
    request = world.helper.requests(SaveFrame)[0]
    assert (request.source, request.number) == (view.chosen[0].clip.path, 0)
    world.helper.answer(SaveFrame, request.target)
    item = world.session.compose.images.items[-1]
    assert (item.path, item.place) == (request.target, FramePlace.FIRST)


def test_the_menu_of_a_clip_has_all_that_can_be_done_with_it(view: HistoryView, world: World, qtbot: QtBot) -> None:
    work_scenes.day(world)
    rect = view.clip_list.visualRect(view.clip_list.model().index(0, 0))
    click(view, qtbot, 0)
    view.clip_list.customContextMenuRequested.emit(rect.center())
    menu = next(menu for menu in view.findChildren(QMenu) if menu.isVisible())
    texts = {action.text().replace("&", "") for action in menu.actions()}
    assert {"Compare", "Reuse Everything", "Reuse Parts…", "Use as the First Image", "Export…"} <= texts
    assert {"Star", "Show in Folder", "Move to the Trash", "Show on the Stage"} <= texts
    menu.close()


def test_a_clip_whose_file_is_gone_is_marked_and_forgotten_when_asked(
    view: HistoryView, world: World, history: HistoryState
) -> None:
    work_scenes.day(world, 3)
    history.model.reload()
    before = picture_of(view, 0)
    gone = history.model.entries[0].clip.path
    while world.helper.requests(FindMissing):
        world.helper.answer(FindMissing, (gone,))
    assert history.model.entries[0].is_missing
    assert picture_of(view, 0) != before
    view.actions_of_list.forget_missing.trigger()
    world.helper.answer(FindMissing, (gone,))
    assert history.num_entries == 2


def picture_of(view: HistoryView, row: int) -> bytes:
    """Return what is painted of a clip."""
    rect = view.clip_list.visualRect(view.clip_list.model().index(row, 0))
    image = view.clip_list.viewport().grab(rect).toImage()
    return bytes(image.constBits())


def test_clips_are_tiles_or_lines(view: HistoryView, world: World) -> None:
    work_scenes.day(world)
    tiles = [view.clip_list.visualRect(view.clip_list.model().index(row, 0)) for row in range(2)]
    assert tiles[0].top() == tiles[1].top()
    view.actions_of_list.as_list.trigger()
    view.clip_list.doItemsLayout()
    lines = [view.clip_list.visualRect(view.clip_list.model().index(row, 0)) for row in range(2)]
    assert lines[0].left() == lines[1].left()
    assert lines[1].top() > lines[0].top()
    assert view.is_list_mode


def test_a_thumbnail_is_painted_where_the_clip_is(view: HistoryView, world: World, history: HistoryState) -> None:
    entry = work_scenes.add_clip(world, 1)
    before = picture_of(view, 0)
    assert [request.path for request in world.helper.requests(KeepThumbnail)] == [entry.clip.path]
    world.helper.answer(KeepThumbnail, Thumbnail(8, 8, bytes([200, 30, 30]) * 64))
    assert picture_of(view, 0) != before
    image = view.clip_list.viewport().grab(view.clip_list.visualRect(history.model.index(0, 0))).toImage()
    assert image.pixelColor(image.width() // 2, 40).getRgb()[:3] == (200, 30, 30)


def test_ten_thousand_clips_cost_what_is_seen_of_them(tmp_path: Path, qtbot: QtBot) -> None:
    with Library.in_memory() as library:
        begin = datetime(2026, 1, 1, tzinfo=UTC)
        request = make_request(0)
        for number in range(10_000):
            path = Path(f"/clips/{number}.mp4")
            clip = ClipFinished(path, path.with_suffix(".json"), request.clip, 48_000, 3_000_000)
            library.history.add(HistoryRow(clip, request, begin + timedelta(minutes=number)))
        session, helper, _ = make_session(tmp_path, library)
        view = HistoryView(session.history, session.exports)
        qtbot.addWidget(view)
        view.resize(1000, 420)
        view.show()
        painted = note_painted(view)
        view.grab()
        model = session.history.model
        assert session.history.num_entries == 10_000
        assert model.rowCount() <= PAGE_ENTRIES
        assert len(painted) < 30
        assert len(helper.requests(KeepThumbnail)) < 30
        view.clip_list.scrollToBottom()
        painted.clear()
        view.grab()
        assert len(painted) < 30
        assert model.rowCount() <= 2 * PAGE_ENTRIES
        session.close()


def note_painted(view: HistoryView) -> set[int]:
    """Return a set that takes in the row of every clip that is painted from now on."""
    painted: set[int] = set()
    delegate = view.clip_list.itemDelegate()
    real = delegate.paint

    def paint(painter: object, option: object, index: QModelIndex) -> None:
        painted.add(index.row())
        real(painter, option, index)

    delegate.paint = paint
    return painted


def test_a_problem_of_the_history_is_told(view: HistoryView, history: HistoryState) -> None:
    history._update(problem="The history cannot be kept.")
    assert "The history cannot be kept." in [banner.sentence for banner in [view._banner] if banner.isVisible()]


def test_a_clip_is_painted_in_the_same_room_whatever_it_holds(view: HistoryView, world: World) -> None:
    work_scenes.day(world, 5)
    rects = [view.clip_list.visualRect(view.clip_list.model().index(row, 0)) for row in range(5)]
    assert {rect.size() for rect in rects} == {QSize(rects[0].size())}


@pytest.fixture
def reuse(view: HistoryView) -> ReuseDialog:
    dialog = ReuseDialog("Reuse", make_request(2), model_name="ltx-2.3", parent=view)
    dialog.show()
    return dialog


def test_parts_are_chosen_and_what_a_request_lacks_cannot_be(reuse: ReuseDialog, qtbot: QtBot) -> None:
    assert not reuse.check_box(ReusePart.IMAGES).isEnabled()
    assert not reuse.check_box(ReusePart.GUIDANCE).isEnabled()
    assert reuse.parts == frozenset(ReusePart) - {ReusePart.IMAGES, ReusePart.GUIDANCE, ReusePart.NEGATIVE_PROMPT}
    reuse.check_box(ReusePart.PROMPT).click()
    reuse.check_box(ReusePart.MODEL).click()
    with qtbot.waitSignal(reuse.chosen) as chosen:
        qtbot.mouseClick(reuse.reuse_button, LEFT)
    assert chosen.args == [
        frozenset({ReusePart.SEED, ReusePart.SIZE, ReusePart.DURATION, ReusePart.LORAS, ReusePart.PIPELINE})
    ]


def test_nothing_chosen_cannot_be_reused(reuse: ReuseDialog) -> None:
    reuse._on_none()
    assert not reuse.reuse_button.isEnabled()
    reuse._on_all()
    assert reuse.reuse_button.isEnabled()


def test_what_only_the_model_makes_or_only_the_fleet_decides_can_be_reused_too(view: HistoryView) -> None:
    request = replace(
        make_request(2),
        pipeline=PipelineKind.QUALITY,
        generated_keyframes=(8, 16),
        stage_2_tiles=(1, 2),
        guidance_mode=GuidanceMode.BATCHED,
    )
    dialog = ReuseDialog("Reuse", request, parent=view)
    told = {part: dialog.check_box(part).accessibleDescription() for part in (ReusePart.IMAGES, ReusePart.GUIDANCE)}
    assert told[ReusePart.IMAGES] == "key frames of the model's own: 2"
    assert told[ReusePart.GUIDANCE] == "1 × 2 tiles · passes: As one batch"
    assert {ReusePart.IMAGES, ReusePart.GUIDANCE} <= dialog.parts


def test_a_guided_clip_tells_how_it_was_steered(view: HistoryView) -> None:
    plain = replace(make_request(2), pipeline=PipelineKind.HQ)
    steered = replace(
        plain, num_inference_steps=12, video_guidance=GuidanceSpec(4.5), distilled_lora_strengths=(0.25, 0.5)
    )
    told = [
        ReuseDialog("Reuse", request, parent=view).check_box(ReusePart.GUIDANCE).accessibleDescription()
        for request in (plain, steered)
    ]
    assert told == ["The model's own", "Steps: 12 · scales of its own · distilled LoRA 0.25 and 0.5"]
