"""Prompts are written, found again and written out; presets are taken, saved, renamed and deleted."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from podium.jobs import Phase, PipelineKind, PromptEnhanced, StepDone
from podium.ui.state.events import JobEnded, JobStarted
from podium.ui.state.session import SessionState
from podium.ui.state.values import JobPhase, ReusePart
from podium.ui.views.enhance_dialog import EnhanceDialog
from podium.ui.views.preset_view import ManagePresetsDialog, PresetView, SavePresetDialog
from podium.ui.views.prompt_view import PromptView

from tests.fakes.ui import make_ready
from tests.ui.views.scenes import World

LEFT = Qt.MouseButton.LeftButton
CONTROL = Qt.KeyboardModifier.ControlModifier


def prompt_view(world: World, qtbot: QtBot) -> PromptView:
    session = world.session
    view = PromptView(session.compose, session.prompts, session.enhance)
    shown(view, qtbot)
    return view


def shown(view: QWidget, qtbot: QtBot) -> None:
    qtbot.addWidget(view)
    view.show()


def test_what_is_typed_is_the_prompt_and_what_is_loaded_is_shown(world: World, qtbot: QtBot) -> None:
    view = prompt_view(world, qtbot)
    qtbot.keyClicks(view.editor, "a heron")
    assert world.session.compose.prompt == "a heron"
    world.session.compose.set_prompt("a heron in the rain")
    assert view.editor.toPlainText() == "a heron in the rain"


def test_typing_does_not_move_the_caret(world: World, qtbot: QtBot) -> None:
    view = prompt_view(world, qtbot)
    qtbot.keyClicks(view.editor, "ac")
    qtbot.keyClick(view.editor, Qt.Key.Key_Left)
    qtbot.keyClicks(view.editor, "b")
    assert view.editor.toPlainText() == "abc"
    assert view.editor.textCursor().position() == 2


def test_a_prompt_that_was_replaced_comes_back_by_undoing(world: World, qtbot: QtBot) -> None:
    view, compose = prompt_view(world, qtbot), world.session.compose
    qtbot.keyClicks(view.editor, "my own words")
    compose.set_prompt("a heron in the rain")
    qtbot.keyClick(view.editor, Qt.Key.Key_Z, CONTROL)
    assert compose.prompt == view.editor.toPlainText() == "my own words"
    view.editor.redo()
    assert compose.prompt == "a heron in the rain"


def test_a_long_prompt_gets_more_room_and_not_all_of_it(world: World, qtbot: QtBot) -> None:
    view = prompt_view(world, qtbot)
    small = view.editor.height()
    world.session.compose.set_prompt("line\n" * 11)
    medium = view.editor.height()
    world.session.compose.set_prompt("line\n" * 400)
    assert small < medium < view.editor.height() < 300


def test_tokens_are_counted_beside_the_prompt_and_red_where_there_are_too_many(world: World, qtbot: QtBot) -> None:
    view = prompt_view(world, qtbot)
    assert view.count_text == ""
    world.session.compose._update(num_tokens=57, max_tokens=1024)
    assert view.count_text == "57 of 1024 tokens"
    world.session.compose._update(num_tokens=1025)
    assert view._count.property("tone") == "danger"


def test_a_negative_prompt_is_written_where_the_pipeline_reads_one(world: World, qtbot: QtBot) -> None:
    view, compose = prompt_view(world, qtbot), world.session.compose
    assert not view.negative_editor.isEnabled()
    assert view.negative_editor.placeholderText() == "Fast knows none. Quality and HQ do."
    low = view.negative_editor.height()
    compose.set_pipeline(PipelineKind.QUALITY)
    assert view.negative_editor.isEnabled()
    assert view.negative_editor.height() > low
    qtbot.keyClicks(view.negative_editor, "blur")
    assert compose.negative_prompt == "blur"
    compose.set_pipeline(PipelineKind.FAST)
    assert view.negative_editor.toPlainText() == "blur"


def remember(session: SessionState, *prompts: str) -> None:
    for prompt in prompts:
        session.prompts.record(prompt, "")


def test_a_prompt_of_before_is_found_by_typing_and_taken_by_return(world: World, qtbot: QtBot) -> None:
    view, session = prompt_view(world, qtbot), world.session
    remember(session, "a fox in snow", "a heron", "a fox at night")
    qtbot.mouseClick(view.history_button, LEFT)
    popup = view.popup
    assert popup.isVisible()
    assert [popup.list.item(line).text() for line in range(3)] == ["a fox at night", "a heron", "a fox in snow"]
    qtbot.keyClicks(popup.search, "snow")
    assert popup.list.count() == 1
    qtbot.keyClick(popup.search, Qt.Key.Key_Return)
    assert session.compose.prompt == "a fox in snow"
    assert not popup.isVisible()


def test_a_prompt_of_before_is_taken_by_the_arrow_keys_or_a_press(world: World, qtbot: QtBot) -> None:
    view, session = prompt_view(world, qtbot), world.session
    remember(session, "a fox in snow", "a heron")
    view.show_history()
    qtbot.keyClick(view.popup.search, Qt.Key.Key_Down)
    qtbot.keyClick(view.popup.list, Qt.Key.Key_Down)
    qtbot.keyClick(view.popup.list, Qt.Key.Key_Return)
    assert session.compose.prompt == "a fox in snow"
    view.show_history()
    place = view.popup.list.visualItemRect(view.popup.list.item(0)).center()
    qtbot.mouseClick(view.popup.list.viewport(), LEFT, pos=place)
    assert session.compose.prompt == "a heron"


def test_where_there_is_no_prompt_of_before_that_is_said(world: World, qtbot: QtBot) -> None:
    view, session = prompt_view(world, qtbot), world.session
    view.show_history()
    assert view.popup.empty_text == "What you generate is kept here."
    qtbot.keyClicks(view.popup.search, "fox")
    assert view.popup.empty_text == "No prompt of before holds these words."
    qtbot.keyClick(view.popup.search, Qt.Key.Key_Return)
    assert session.compose.prompt == ""
    remember(session, "a fox")
    session.prompts.look()
    assert view.popup.empty_text == ""
    view.popup.close()
    view.show_history()
    assert view.popup.search.text() == session.prompts.search == ""
    view.popup.close()


def the_enhancing(view: PromptView, qtbot: QtBot) -> EnhanceDialog:
    qtbot.mouseClick(view.enhance_button, LEFT)
    return next(dialog for dialog in view.window().findChildren(EnhanceDialog) if dialog.isVisible())


def test_a_prompt_can_be_written_out_only_where_that_can_be_had(world: World, qtbot: QtBot) -> None:
    view, session = prompt_view(world, qtbot), world.session
    assert not view.enhance_button.isVisible()
    session.enhance.set_available(True)
    assert view.enhance_button.isVisible()
    assert not view.enhance_button.isEnabled()
    session.compose.set_prompt("a fox")
    assert view.enhance_button.isEnabled()


def test_what_was_written_out_is_shown_beside_the_original_and_used_when_asked(world: World, qtbot: QtBot) -> None:
    view, session = prompt_view(world, qtbot), world.session
    make_ready(session, world.helper, prompt="a fox")
    session.enhance.set_available(True)
    with qtbot.waitSignal(session.enhance.ordered):
        dialog = the_enhancing(view, qtbot)
    assert (dialog.original_text, dialog.enhanced_text, dialog.use.isEnabled()) == ("a fox", "", False)
    session.enhance.note_step(StepDone(Phase.ENCODING, 7, 512, 0.1))
    assert dialog.status_text == "Being written: 7 of at most 512 tokens."
    session.enhance.take(PromptEnhanced("a red fox trots through snow", "The picture was not looked at."))
    assert dialog.enhanced_text == "a red fox trots through snow"
    assert (dialog.note_text, dialog.status_text) == ("The picture was not looked at.", "")
    assert session.compose.prompt == "a fox"
    qtbot.mouseClick(dialog.use, LEFT)
    assert session.compose.prompt == view.editor.toPlainText() == "a red fox trots through snow"
    view.editor.undo()
    assert session.compose.prompt == "a fox"


def test_what_was_written_out_is_discarded_or_written_again(world: World, qtbot: QtBot) -> None:
    view, session = prompt_view(world, qtbot), world.session
    make_ready(session, world.helper, prompt="a fox")
    session.enhance.set_available(True)
    dialog = the_enhancing(view, qtbot)
    session.enhance.refuse("The text encoder cannot write.")
    assert dialog.problem_text == "The text encoder cannot write."
    with qtbot.waitSignal(session.enhance.ordered):
        qtbot.mouseClick(dialog.again, LEFT)
    assert dialog.problem_text == ""
    session.enhance.take(PromptEnhanced("a red fox"))
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert (session.compose.prompt, session.enhance.enhanced) == ("a fox", "")


def test_who_discards_what_is_still_being_written_has_the_fleet_stop_writing(world: World, qtbot: QtBot) -> None:
    view, session = prompt_view(world, qtbot), world.session
    make_ready(session, world.helper, prompt="a fox")
    session.enhance.set_available(True)
    dialog = the_enhancing(view, qtbot)
    qtbot.mouseClick(dialog.discard, LEFT)
    assert not session.enhance.is_busy
    assert world.controls.calls == ["cancel -1"]


def test_a_fleet_that_hangs_while_it_writes_is_stopped_from_the_dialog(world: World, qtbot: QtBot) -> None:
    view, session = prompt_view(world, qtbot), world.session
    make_ready(session, world.helper, prompt="a fox")
    session.enhance.set_available(True)
    dialog = the_enhancing(view, qtbot)
    assert (dialog.stop.isVisible(), dialog.again.isVisible()) == (True, False)
    session.apply(JobStarted(-1))
    qtbot.mouseClick(dialog.stop, LEFT)
    assert (dialog.stop.text(), dialog.stop.isEnabled()) == ("Being stopped…", False)
    session.enhance._force_timer.stop()
    session.enhance._offer_force()
    assert dialog.stop.text() == "Force stop"
    assert dialog.cost_text == session.enhance.force_cost != ""
    qtbot.mouseClick(dialog.stop, LEFT)
    assert world.controls.calls == ["cancel -1", "force_stop"]
    session.apply(JobEnded(-1, JobPhase.STOPPED))
    assert dialog.problem_text == "This was stopped before it was done."
    assert (dialog.stop.isVisible(), dialog.again.isVisible(), dialog.cost_text) == (False, True, "")
    qtbot.mouseClick(dialog.discard, LEFT)


def preset_view(world: World, qtbot: QtBot) -> PresetView:
    view = PresetView(world.session.presets)
    shown(view, qtbot)
    return view


def dialog_of(kind: type[QDialog], view: QWidget) -> QDialog:
    return next(dialog for dialog in view.window().findChildren(kind) if dialog.isVisible())


def words(view: PresetView) -> list[str]:
    return [action.text() for action in view.menu.actions() if not action.isSeparator()]


def test_a_preset_is_saved_and_taken_from_the_menu(world: World, qtbot: QtBot) -> None:
    view, compose = preset_view(world, qtbot), world.session.compose
    assert words(view) == ["No preset yet", "Save as Preset…", "Manage Presets…"]
    compose.set_size(512, 320)
    view.menu.actions()[-2].trigger()
    dialog = dialog_of(SavePresetDialog, view)
    assert isinstance(dialog, SavePresetDialog)
    assert not dialog.save.isEnabled()
    qtbot.keyClicks(dialog.name, "Black & white")
    qtbot.keyClick(dialog.name, Qt.Key.Key_Return)
    assert words(view)[0] == "Black && white"
    compose.set_size(1024, 1024)
    view.menu.actions()[0].trigger()
    assert compose.width == 512


def test_saving_says_what_it_writes_over_and_keeps_what_is_ticked(world: World, qtbot: QtBot) -> None:
    view, session = preset_view(world, qtbot), world.session
    session.presets.save("Draft")
    session.compose.set_prompt("a fox")
    session.compose.images.add([Path("/a.png")])
    view.menu.actions()[-2].trigger()
    dialog = dialog_of(SavePresetDialog, view)
    assert isinstance(dialog, SavePresetDialog)
    qtbot.keyClicks(dialog.name, "Draft")
    assert "written over" in dialog.note_text
    assert dialog.save.text() == "Write over"
    dialog.parts[ReusePart.PROMPT].setChecked(True)
    qtbot.mouseClick(dialog.save, LEFT)
    session.compose.set_prompt("an owl")
    session.compose.images.clear()
    session.presets.use("Draft")
    assert (session.compose.prompt, session.compose.images.items) == ("a fox", ())


def test_a_preset_that_cannot_be_kept_says_why_and_stays_open(world: World, qtbot: QtBot) -> None:
    view, session = preset_view(world, qtbot), world.session
    view.menu.actions()[-2].trigger()
    dialog = dialog_of(SavePresetDialog, view)
    assert isinstance(dialog, SavePresetDialog)
    session.library.presets._database.write("DROP TABLE preset")
    qtbot.keyClicks(dialog.name, "Draft")
    qtbot.mouseClick(dialog.save, LEFT)
    assert dialog.isVisible()
    assert dialog.note_text == session.presets.problem != ""


def test_presets_are_renamed_where_they_stand_and_deleted(world: World, qtbot: QtBot) -> None:
    view, presets = preset_view(world, qtbot), world.session.presets
    presets.save("a")
    presets.save("b")
    view.menu.actions()[-1].trigger()
    dialog = dialog_of(ManagePresetsDialog, view)
    assert isinstance(dialog, ManagePresetsDialog)
    dialog.list.item(0).setText("b")
    assert "“b” already" in dialog.problem_text
    assert dialog.list.item(0).text() == "a"
    dialog.list.item(0).setText("c")
    assert presets.names == ("b", "c")
    dialog.list.setCurrentRow(0)
    qtbot.mouseClick(dialog.delete, LEFT)
    assert presets.names == ("c",)
    dialog.list.setCurrentRow(0)
    qtbot.mouseClick(dialog.delete, LEFT)
    assert not dialog.rename.isEnabled()
    assert words(view)[0] == "No preset yet"


def test_renaming_opens_the_name_for_typing(world: World, qtbot: QtBot) -> None:
    view, presets = preset_view(world, qtbot), world.session.presets
    presets.save("a")
    view.menu.actions()[-1].trigger()
    dialog = dialog_of(ManagePresetsDialog, view)
    assert isinstance(dialog, ManagePresetsDialog)
    qtbot.mouseClick(dialog.rename, LEFT)
    editor = dialog.list.findChild(QLineEdit)
    editor.selectAll()
    qtbot.keyClicks(editor, "fine")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: presets.names == ("fine",))
