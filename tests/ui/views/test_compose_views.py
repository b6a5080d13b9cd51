"""What is composed goes into the state, and what the state says is shown: nothing else is needed."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication, QImage
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from podium.helper.requests import MakeThumbnail, ReadLora
from podium.models.errors import CheckpointError, CheckpointReason
from podium.models.lora_keys import LayerCount, LoraReport
from podium.ui.state.compose import MAX_SEED
from podium.ui.state.sizes import ASPECTS
from podium.ui.views.compose_view import ComposeView
from podium.ui.views.format_view import MEGAPIXELS, NUM_FRAMES, FormatView
from podium.ui.views.image_view import ImageView
from podium.ui.views.lora_stack_view import LoraStackView
from podium.ui.views.prompt_view import PromptView
from podium.ui.views.seed_view import SeedView

from tests.ui.views import scenes
from tests.ui.views.scenes import World

LEFT = Qt.MouseButton.LeftButton


def shown(view: QWidget, qtbot: QtBot) -> None:
    qtbot.addWidget(view)
    view.show()


def drop(view: QWidget, data: QMimeData) -> None:
    none = Qt.KeyboardModifier.NoModifier
    view.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, LEFT, none))


def files(*names: str) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(name) for name in names])
    return data


def test_what_is_typed_is_the_prompt_and_what_is_loaded_is_shown(world: World, qtbot: QtBot) -> None:
    view = PromptView(world.session.compose)
    shown(view, qtbot)
    qtbot.keyClicks(view.editor, "a heron")
    assert world.session.compose.prompt == "a heron"
    world.session.compose.set_prompt("a heron in the rain")
    assert view.editor.toPlainText() == "a heron in the rain"


def test_typing_does_not_move_the_caret(world: World, qtbot: QtBot) -> None:
    view = PromptView(world.session.compose)
    shown(view, qtbot)
    qtbot.keyClicks(view.editor, "ac")
    qtbot.keyClick(view.editor, Qt.Key.Key_Left)
    qtbot.keyClicks(view.editor, "b")
    assert view.editor.toPlainText() == "abc"
    assert view.editor.textCursor().position() == 2


def test_a_long_prompt_gets_more_room_and_not_all_of_it(world: World, qtbot: QtBot) -> None:
    view = PromptView(world.session.compose)
    shown(view, qtbot)
    small = view.editor.height()
    world.session.compose.set_prompt("line\n" * 11)
    medium = view.editor.height()
    world.session.compose.set_prompt("line\n" * 400)
    assert small < medium < view.editor.height() < 300


def test_tokens_are_counted_beside_the_prompt_and_red_where_there_are_too_many(world: World, qtbot: QtBot) -> None:
    view = PromptView(world.session.compose)
    shown(view, qtbot)
    assert view.count_text == ""
    world.session.compose._update(num_tokens=57, max_tokens=1024)
    assert view.count_text == "57 of 1024 tokens"
    world.session.compose._update(num_tokens=1025)
    assert view._count.property("tone") == "danger"


def test_a_dropped_picture_file_is_the_start(world: World, qtbot: QtBot) -> None:
    view = ImageView(world.session.compose)
    shown(view, qtbot)
    assert view.choose_button.isVisible()
    drop(view, files("/pictures/hills.png"))
    assert world.session.compose.image_path == Path("/pictures/hills.png")
    assert not view.choose_button.isVisible()
    view.strength.changed.emit(0.4)
    assert world.session.compose.image_strength == 0.4
    qtbot.mouseClick(view._remove, LEFT)
    assert world.session.compose.image_path is None
    world.helper.answer(MakeThumbnail, None)


def test_a_pasted_picture_without_a_file_is_handed_on(world: World, qtbot: QtBot) -> None:
    view = ImageView(world.session.compose)
    shown(view, qtbot)
    image = QImage(8, 6, QImage.Format.Format_RGB888)
    image.fill(Qt.GlobalColor.red)
    QGuiApplication.clipboard().setImage(image)
    with qtbot.waitSignal(view.image_pasted) as pasted:
        view.paste()
    assert pasted.args[0].size() == image.size()
    assert world.session.compose.image_path is None


def test_strength_is_one_value_by_slider_and_by_number(world: World, qtbot: QtBot) -> None:
    view = ImageView(world.session.compose)
    shown(view, qtbot)
    view.strength.slider.setValue(35)
    assert world.session.compose.image_strength == 0.35
    assert view.strength.number.value() == 0.35
    view.strength.number.setValue(0.8)
    assert (world.session.compose.image_strength, view.strength.slider.value()) == (0.8, 80)


def test_every_length_on_the_slider_can_be_made(world: World, qtbot: QtBot) -> None:
    view = FormatView(world.session.compose)
    shown(view, qtbot)
    for place, num_frames in enumerate(NUM_FRAMES):
        view.length.slider.setValue(place)
        assert world.session.compose.num_frames == num_frames
        assert view.length.slider.value() == place
    assert view.length.value_label.text() == "20 s"


def test_every_size_on_the_slider_can_be_made_in_every_shape(world: World, qtbot: QtBot) -> None:
    view, compose = FormatView(world.session.compose), world.session.compose
    shown(view, qtbot)
    for index in range(1, view.aspect.count()):
        view.aspect.activated.emit(index)
        assert compose.aspect == ASPECTS[index - 1]
        for place in range(len(MEGAPIXELS)):
            view.area.slider.setValue(place)
            assert compose.width % 64 == compose.height % 64 == 0
            assert view._width.value() == compose.width


def test_a_size_of_ones_own_snaps_to_what_can_be_made(world: World, qtbot: QtBot) -> None:
    view = FormatView(world.session.compose)
    shown(view, qtbot)
    view._width.setValue(1000)
    assert (world.session.compose.width, view._width.value()) == (1024, 1024)
    assert view.aspect.currentText() == "1:1"
    view._height.setValue(192)
    assert (world.session.compose.aspect, view.aspect.currentText()) == (None, "Own")


def test_a_rate_that_is_not_listed_is_shown_all_the_same(world: World, qtbot: QtBot) -> None:
    view = FormatView(world.session.compose)
    shown(view, qtbot)
    view._fps.activated.emit(0)
    assert str(world.session.compose.fps) == "24000/1001"
    world.session.compose.set_fps("17.5")
    assert (view._fps.currentIndex(), view._fps.placeholderText()) == (-1, "17.5 fps")


@pytest.mark.parametrize("seed", [0, 42, MAX_SEED])
def test_a_seed_of_64_bits_is_typed_and_shown(world: World, qtbot: QtBot, seed: int) -> None:
    view = SeedView(world.session.compose)
    shown(view, qtbot)
    view.field.clear()
    qtbot.keyClicks(view.field, str(seed))
    qtbot.keyClick(view.field, Qt.Key.Key_Return)
    assert world.session.compose.seed == seed
    assert view.field.text() == str(seed)


def test_the_lock_keeps_and_the_dice_changes_the_seed(world: World, qtbot: QtBot) -> None:
    view = SeedView(world.session.compose)
    shown(view, qtbot)
    qtbot.mouseClick(view.lock, LEFT)
    assert world.session.compose.is_seed_locked
    assert "kept" in view.lock.accessibleName()
    qtbot.mouseClick(view.dice, LEFT)
    assert view.field.text() == str(world.session.compose.seed) != "0"


def test_loras_are_added_moved_weighed_and_taken_out(world: World, qtbot: QtBot) -> None:
    state = world.session.loras
    view = LoraStackView(state)
    shown(view, qtbot)
    drop(view, files("/loras/a.safetensors", "/loras/b.safetensors"))
    assert [item.name for item in state.items] == ["a", "b"]
    first, second = view.item_views
    qtbot.waitUntil(second.isVisible)
    assert not first._up.isEnabled()
    qtbot.mouseClick(second._up, LEFT)
    assert [item.name for item in state.items] == ["b", "a"]
    assert view.item_views == [second, first]
    QApplication.processEvents()
    second.strength.slider.setValue(150)
    second.strength.number.setValue(-7.5)
    assert state.items[0].strength == -7.5
    qtbot.mouseClick(second.switch, LEFT)
    assert not state.items[0].is_on
    qtbot.mouseClick(second._remove, LEFT)
    assert [item.name for item in state.items] == ["a"]


def test_what_a_lora_leaves_out_is_folded_beneath(world: World, qtbot: QtBot) -> None:
    state = world.session.loras
    view = LoraStackView(state)
    shown(view, qtbot)
    state.set_checkpoint(Path("/models/m.safetensors"))
    state.add([Path("/loras/a.safetensors"), Path("/loras/b.safetensors"), Path("/loras/c.safetensors")])
    whole, partly, broken = view.item_views
    world.helper.answer(ReadLora, LoraReport("a.safetensors", LayerCount(480, ("x",))))
    world.helper.answer(
        ReadLora, LoraReport("b.safetensors", LayerCount(3, ("x",)), unknown=LayerCount(1, ("odd.key",)))
    )
    error = CheckpointError(
        "“c.safetensors” is no LoRA.", path=Path("c"), reason=CheckpointReason.WRONG_KIND, details="why"
    )
    world.helper.answer(ReadLora, error=error)
    assert whole.summary_text == "All of its 480 layers match this model."
    assert whole.fold.isHidden()
    assert partly.summary_text == "3 layers match this model; others are left out."
    qtbot.mouseClick(partly.fold.switch, LEFT)
    assert "odd.key" in partly.fold._text.toPlainText()
    assert broken.summary_text == "“c.safetensors” is no LoRA."
    assert broken._summary.property("tone") == "danger"


def test_generate_says_beside_it_what_is_wrong(world: World, qtbot: QtBot) -> None:
    view = ComposeView(world.session)
    shown(view, qtbot)
    assert not view.generate.isEnabled()
    assert view.problem_text == world.session.problem != ""
    scenes.composed(world)
    assert view.generate.isEnabled()
    assert not view._problem_row.isVisible()
    with qtbot.waitSignal(view.generate_requested):
        qtbot.mouseClick(view.generate, LEFT)
