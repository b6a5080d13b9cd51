"""What is composed goes into the state, and what the state says is shown: nothing else is needed."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QTranslator, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication, QImage, QWheelEvent
from PySide6.QtWidgets import QApplication, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from podium.helper.requests import GetDefaults, MakeThumbnail, ReadLora
from podium.jobs import BranchStrengths, GuidanceMode, PipelineKind
from podium.media.errors import MediaError
from podium.models.errors import CheckpointError, CheckpointReason
from podium.models.lora_keys import LayerCount, LoraReport
from podium.ui.state.compose import MAX_SEED
from podium.ui.state.compose_form import form_of
from podium.ui.state.images import FramePlace
from podium.ui.state.sizes import ASPECTS
from podium.ui.state.values import PackSlot
from podium.ui.theme import METRICS
from podium.ui.views.compose_view import ComposeView
from podium.ui.views.format_view import MEGAPIXELS, NUM_FRAMES, FormatView
from podium.ui.views.guidance_view import GuidanceView
from podium.ui.views.image_view import ImageView
from podium.ui.views.lora_stack_view import LoraStackView
from podium.ui.views.pipeline_view import PipelineView
from podium.ui.views.seed_view import SeedView

from tests.fakes.ui import MODELS
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


def wheel_over(widget: QWidget) -> None:
    none = Qt.KeyboardModifier.NoModifier
    away = QPoint(0, 120)
    event = QWheelEvent(
        QPointF(5, 5), widget.mapToGlobal(QPointF(5, 5)), QPoint(), away, Qt.MouseButton.NoButton, none,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(widget, event)


def type_number(field: QWidget, text: str, qtbot: QtBot) -> None:
    field.selectAll()
    qtbot.keyClicks(field, text)
    qtbot.keyClick(field, Qt.Key.Key_Return)


def test_a_pipeline_is_chosen_and_what_it_lacks_is_said_and_mended(world: World, qtbot: QtBot) -> None:
    session = world.session
    view = PipelineView(session.compose, session.pack)
    shown(view, qtbot)
    assert not view.mend_button.isVisible()
    qtbot.mouseClick(view.choice.buttons[1], LEFT)
    assert session.compose.pipeline is PipelineKind.QUALITY
    assert view.words_text == "Needs your model's distilled LoRA."
    with qtbot.waitSignal(view.model_requested):
        qtbot.mouseClick(view.mend_button, LEFT)
    session.pack.choose_file(PackSlot.DISTILLED_LORA, Path("/lora.safetensors"))
    assert not view.mend_button.isVisible()
    assert "Guided" in view.words_text
    session.compose.set_pipeline(PipelineKind.FAST)
    assert view.choice.buttons[0].isChecked()


def test_a_pipeline_that_lacks_a_file_cannot_generate_and_says_how_to_mend_it(world: World, qtbot: QtBot) -> None:
    scenes.composed(world)
    view = ComposeView(world.session)
    shown(view, qtbot)
    world.session.compose.set_pipeline(PipelineKind.HQ)
    assert not view.generate.isEnabled()
    assert view.problem_text.startswith("HQ refines with the distilled LoRA of your model.")
    with qtbot.waitSignal(view.model_requested):
        qtbot.mouseClick(view.pipeline.mend_button, LEFT)


def test_the_demo_model_serves_every_pipeline(world: World) -> None:
    world.session.pack.choose_demo()
    assert [world.session.pack.pipeline_problem(kind) for kind in PipelineKind] == ["", "", ""]


def test_dropped_pictures_start_and_end_the_clip(world: World, qtbot: QtBot) -> None:
    images = world.session.compose.images
    view = ImageView(images)
    shown(view, qtbot)
    assert view._empty.isVisible()
    drop(view, files("/pictures/hills.png", "/pictures/night.png"))
    assert [item.place for item in images.items] == [FramePlace.FIRST, FramePlace.LAST]
    assert not view._empty.isVisible()
    first, last = view.item_views
    assert (first.place.currentText(), last.place.currentText()) == ("First frame", "Last frame")
    first.strength.changed.emit(0.4)
    assert images.items[0].strength == 0.4


def test_a_picture_is_put_at_a_frame_of_its_own(world: World, qtbot: QtBot) -> None:
    compose = world.session.compose
    view = ImageView(compose.images)
    shown(view, qtbot)
    compose.images.add([Path("/a.png")])
    (item,) = view.item_views
    qtbot.waitUntil(item.isVisible)
    assert not item.frame.isVisible()
    item.place.activated.emit(2)
    assert item.frame.isVisible()
    assert item.frame.value() == 60
    type_number(item.frame, "17", qtbot)
    assert compose.images.specs[0].frame == 17
    compose.set_num_frames(9)
    assert (item.frame.maximum(), item.frame.value()) == (8, 8)
    compose.set_num_frames(121)
    assert compose.images.specs[0].frame == 17


def test_how_hard_a_picture_is_compressed_is_the_models_own_until_it_is_typed(world: World, qtbot: QtBot) -> None:
    images = world.session.compose.images
    view = ImageView(images)
    shown(view, qtbot)
    images.add([Path("/a.png")])
    (item,) = view.item_views
    qtbot.waitUntil(item.isVisible)
    assert not item.crf.isVisible()
    qtbot.mouseClick(item.fold.switch, LEFT)
    assert item.crf.text() == "Model's own"
    type_number(item.crf, "20", qtbot)
    assert images.items[0].crf == 20
    item.crf.setValue(-1)
    assert images.items[0].crf is None


def test_a_picture_that_was_taken_out_is_brought_back(world: World, qtbot: QtBot) -> None:
    images = world.session.compose.images
    view = ImageView(images)
    shown(view, qtbot)
    images.add([Path("/a.png"), Path("/b.png")])
    qtbot.waitUntil(view.item_views[0].isVisible)
    qtbot.mouseClick(view.item_views[0].remove_button, LEFT)
    assert [item.path.name for item in images.items] == ["b.png"]
    assert view._removed_words.text() == "“a.png” was taken out."
    qtbot.mouseClick(view.undo_button, LEFT)
    assert [item.path.name for item in images.items] == ["a.png", "b.png"]
    assert not view.undo_button.isVisible()
    images.clear()
    assert view._removed_words.text() == "2 pictures were taken out."


def test_a_picture_that_cannot_be_read_says_so_on_itself(world: World, qtbot: QtBot) -> None:
    images = world.session.compose.images
    view = ImageView(images)
    shown(view, qtbot)
    images.add([Path("/a.png")])
    world.helper.answer(MakeThumbnail, error=MediaError("“a.png” is damaged."))
    assert view.item_views[0].problem_text == "“a.png” is damaged."


def test_a_pasted_picture_without_a_file_is_handed_on(world: World, qtbot: QtBot) -> None:
    view = ImageView(world.session.compose.images)
    shown(view, qtbot)
    image = QImage(8, 6, QImage.Format.Format_RGB888)
    image.fill(Qt.GlobalColor.red)
    QGuiApplication.clipboard().setImage(image)
    with qtbot.waitSignal(view.image_pasted) as pasted:
        view.paste()
    assert pasted.args[0].size() == image.size()
    assert world.session.compose.images.items == ()


def test_pictures_on_the_clipboard_are_added_by_the_platforms_keys(world: World, qtbot: QtBot) -> None:
    view = ImageView(world.session.compose.images)
    shown(view, qtbot)
    QGuiApplication.clipboard().setMimeData(files("/a.png", "/b.png"))
    qtbot.keyClick(view, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert [item.path.name for item in world.session.compose.images.items] == ["a.png", "b.png"]


def test_strength_is_one_value_by_slider_and_by_number(world: World, qtbot: QtBot) -> None:
    images = world.session.compose.images
    view = ImageView(images)
    shown(view, qtbot)
    images.add([Path("/a.png")])
    strength = view.item_views[0].strength
    strength.slider.setValue(35)
    assert images.items[0].strength == 0.35
    assert strength.number.value() == 0.35
    strength.number.setValue(0.8)
    assert (images.items[0].strength, strength.slider.value()) == (0.8, 80)


def test_every_length_on_the_slider_can_be_made(world: World, qtbot: QtBot) -> None:
    view = FormatView(world.session.compose)
    shown(view, qtbot)
    for place, num_frames in enumerate(NUM_FRAMES):
        view.length.slider.setValue(place)
        assert world.session.compose.num_frames == num_frames
        assert view.length.slider.value() == place
    assert (view.seconds.text(), view.frames.text()) == ("20.04 s", "481 frames")


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
    compose = world.session.compose
    view = FormatView(compose)
    shown(view, qtbot)
    width, height = view.sides
    type_number(width, "1000", qtbot)
    assert (compose.width, width.value()) == (1024, 1024)
    assert view.aspect.currentText() == "1:1"
    type_number(width, "1010", qtbot)
    assert width.text() == "1024"
    type_number(height, "192", qtbot)
    assert (compose.aspect, view.aspect.currentText()) == (None, "16:3")
    compose.set_size(256, 192)
    assert view.aspect.currentText() == "4:3"


def test_the_sides_follow_the_models_upscaler(world: World, qtbot: QtBot) -> None:
    compose = world.session.compose
    view = FormatView(compose)
    shown(view, qtbot)
    compose.set_model(MODELS, 96)
    width, _ = view.sides
    qtbot.keyClick(width, Qt.Key.Key_Up)
    assert compose.width == 1536 + 96


def test_a_length_is_typed_in_seconds_or_in_frames_and_becomes_one_that_can_be_made(world: World, qtbot: QtBot) -> None:
    compose = world.session.compose
    view = FormatView(compose)
    shown(view, qtbot)
    type_number(view.seconds, "2", qtbot)
    assert (compose.num_frames, view.frames.text(), view.seconds.text()) == (49, "49 frames", "2.04 s")
    type_number(view.frames, "100", qtbot)
    assert (compose.num_frames, view.frames.text()) == (97, "97 frames")
    qtbot.keyClick(view.frames, Qt.Key.Key_Up)
    assert compose.num_frames == 105
    qtbot.keyClick(view.seconds, Qt.Key.Key_Down)
    assert compose.num_frames == 97
    type_number(view.frames, "98", qtbot)
    assert view.frames.text() == "97 frames"


def test_opening_the_form_changes_nothing_in_it(world: World, qtbot: QtBot) -> None:
    scenes.guided(world)
    before = form_of(world.session.compose)
    view = ComposeView(world.session)
    shown(view, qtbot)
    view.guidance.fold.set_open(True)
    assert form_of(world.session.compose) == before


def test_the_wheel_scrolls_the_form_and_changes_only_what_has_the_focus(world: World, qtbot: QtBot) -> None:
    compose = world.session.compose
    view = ComposeView(world.session)
    shown(view, qtbot)
    before = form_of(compose)
    for field in (view.format.frames, view.format.area.slider, view.format.aspect, view.num_seeds):
        wheel_over(field)
    assert form_of(compose) == before
    view.activateWindow()
    view.format.frames.setFocus()
    qtbot.waitUntil(view.format.frames.hasFocus)
    wheel_over(view.format.frames)
    assert compose.num_frames == 129


def test_a_rate_that_is_not_listed_is_shown_all_the_same(world: World, qtbot: QtBot) -> None:
    view = FormatView(world.session.compose)
    shown(view, qtbot)
    view._fps.activated.emit(0)
    assert world.session.compose.fps == Fraction(24000, 1001)
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


def test_a_seed_that_was_thrown_away_comes_back_by_undoing(world: World, qtbot: QtBot) -> None:
    view = SeedView(world.session.compose)
    shown(view, qtbot)
    world.session.compose.set_seed(5)
    qtbot.mouseClick(view.dice, LEFT)
    view.field.undo()
    assert view.field.text() == "5"
    qtbot.keyClick(view.field, Qt.Key.Key_Return)
    assert world.session.compose.seed == 5


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
    qtbot.keyClick(second.grip, Qt.Key.Key_Up)
    assert [item.name for item in state.items] == ["b", "a"]
    assert view.item_views == [second, first]
    qtbot.keyClick(second.grip, Qt.Key.Key_Up)
    assert [item.name for item in state.items] == ["b", "a"]
    QApplication.processEvents()
    second.strength.slider.setValue(150)
    second.strength.number.setValue(-7.5)
    assert state.items[0].strength == -7.5
    qtbot.mouseClick(second.switch, LEFT)
    assert not state.items[0].is_on
    qtbot.mouseClick(second._remove, LEFT)
    assert [item.name for item in state.items] == ["a"]


def test_a_lora_is_dragged_to_its_place(world: World, qtbot: QtBot) -> None:
    state = world.session.loras
    view = LoraStackView(state)
    shown(view, qtbot)
    view.resize(360, 500)
    drop(view, files("/loras/a.safetensors", "/loras/b.safetensors", "/loras/c.safetensors"))
    first, _, third = view.item_views
    qtbot.waitUntil(lambda: third.isVisible() and third.height() > 30 and third.y() > first.y())
    grip, end = first.grip, QPoint(0, third.geometry().bottom() - first.grip.mapTo(view, QPoint(0, 0)).y())
    qtbot.mousePress(grip, LEFT, pos=QPoint(3, 3))
    qtbot.mouseMove(grip, QPoint(4, 4))
    assert [item.name for item in state.items] == ["a", "b", "c"]
    qtbot.mouseMove(grip, end)
    assert [item.name for item in state.items] == ["b", "c", "a"]
    qtbot.mouseRelease(grip, LEFT, pos=end)
    qtbot.mouseMove(grip, QPoint(0, -900))
    assert [item.name for item in state.items] == ["b", "c", "a"]


def test_a_strength_beyond_the_usual_is_warned_of_and_not_refused(world: World, qtbot: QtBot) -> None:
    state = world.session.loras
    view = LoraStackView(state)
    shown(view, qtbot)
    state.add([Path("/loras/a.safetensors")])
    (item,) = view.item_views
    qtbot.waitUntil(item.isVisible)
    assert not item.warning.isVisible()
    type_number(item.strength.number, "-5", qtbot)
    assert item.warning.isVisible()
    assert "±4" in item.warning.text()
    assert (state.items[0].strength, state.problem) == (-5, "")
    state.set_strength(1, 4)
    assert not item.warning.isVisible()


def test_strengths_by_branch_are_folded_beneath_and_told_of(world: World, qtbot: QtBot) -> None:
    state = world.session.loras
    view = LoraStackView(state)
    shown(view, qtbot)
    state.add([Path("/loras/a.safetensors")])
    (item,) = view.item_views
    qtbot.waitUntil(item.isVisible)
    assert not item.branches.isVisible()
    qtbot.mouseClick(item.branch_fold.switch, LEFT)
    type_number(item.branches.field("audio"), "0", qtbot)
    type_number(item.branches.field("video_to_audio"), "0.5", qtbot)
    assert state.specs[0].branches == BranchStrengths(audio=0, video_to_audio=0.5)
    assert item.branch_fold.switch.text() == "Strengths by branch: changed"


def test_what_a_lora_leaves_out_is_folded_beneath(world: World, qtbot: QtBot) -> None:
    state = world.session.loras
    view = LoraStackView(state)
    shown(view, qtbot)
    state.set_checkpoint(Path("/models/m.safetensors"))
    state.add([Path("/loras/a.safetensors"), Path("/loras/b.safetensors"), Path("/loras/c.safetensors")])
    whole, partly, broken = view.item_views
    world.helper.answer(ReadLora, LoraReport("a.safetensors", LayerCount(480, ("x",)), trained_for="LTX-2.3"))
    world.helper.answer(
        ReadLora, LoraReport("b.safetensors", LayerCount(3, ("x",)), unknown=LayerCount(1, ("odd.key",)))
    )
    error = CheckpointError(
        "“c.safetensors” is no LoRA.", path=Path("c"), reason=CheckpointReason.WRONG_KIND, details="why"
    )
    world.helper.answer(ReadLora, error=error)
    assert whole.summary_text == "All of its 480 layers match this model."
    assert whole.fold.isHidden()
    assert (whole.trained_for_text, partly.trained_for_text) == ("LTX-2.3", "")
    assert partly.summary_text == "3 layers match this model; others are left out."
    qtbot.mouseClick(partly.fold.switch, LEFT)
    assert "odd.key" in partly.fold._text.toPlainText()
    assert broken.summary_text == "“c.safetensors” is no LoRA."
    assert broken._summary.property("tone") == "danger"


def guided_view(world: World, qtbot: QtBot) -> GuidanceView:
    guidance = world.session.compose.guidance
    view = GuidanceView(guidance)
    shown(view, qtbot)
    guidance.set_models(MODELS)
    guidance.set_pipeline(PipelineKind.QUALITY)
    world.helper.answer(GetDefaults, scenes.quality_defaults())
    qtbot.mouseClick(view.fold.switch, LEFT)
    return view


def test_fast_has_no_guidance_and_says_so(world: World, qtbot: QtBot) -> None:
    view = guided_view(world, qtbot)
    assert view.steps.isVisible()
    assert not view._reason.isVisible()
    world.session.compose.guidance.set_pipeline(PipelineKind.FAST)
    assert not view.fold.switch.isEnabled()
    assert not view.steps.isVisible()
    assert view._reason.text() == "Fast is not guided"
    assert view._reason.isVisible()


def test_until_a_model_is_known_its_values_are_blank(world: World, qtbot: QtBot) -> None:
    guidance = world.session.compose.guidance
    view = GuidanceView(guidance)
    shown(view, qtbot)
    guidance.set_pipeline(PipelineKind.HQ)
    view.fold.set_open(True)
    assert (view.steps.text(), view.steps.isEnabled()) == ("", False)
    assert view.note_text == "The values show once a model is chosen."
    guidance.set_models(MODELS)
    world.helper.answer(GetDefaults, scenes.quality_defaults())
    assert (view.steps.text(), view.steps.isEnabled(), view.note_text) == ("30", True, "")


def test_every_value_of_guidance_can_be_typed(world: World, qtbot: QtBot) -> None:
    guidance = world.session.compose.guidance
    view = guided_view(world, qtbot)
    assert (view.field("audio", "cfg").text(), view.blocks("video").text()) == ("7.00", "28")
    assert not view.reset_button.isEnabled()
    type_number(view.steps, "24", qtbot)
    values = {"cfg": "4.5", "stg": "0.5", "rescale": "0.3", "modality": "2", "skip_step": "1"}
    for stream in ("video", "audio"):
        for scale, value in values.items():
            type_number(view.field(stream, scale), value, qtbot)
        view.blocks(stream).selectAll()
        qtbot.keyClicks(view.blocks(stream), "14, 3")
        qtbot.keyClick(view.blocks(stream), Qt.Key.Key_Return)
    for strength, value in zip(view.strengths, ("0.1", "0.9"), strict=True):
        type_number(strength, value, qtbot)
    type_number(view.tiles[1], "3", qtbot)
    qtbot.keyClick(view.mode_box, Qt.Key.Key_End)
    assert guidance.num_steps == 24
    assert guidance.video == guidance.audio == scenes.GuidanceSpec(4.5, 0.5, 0.3, 2, 1, (3, 14))
    assert guidance.lora_strengths == (0.1, 0.9)
    assert (guidance.choice.stage_2_tiles, guidance.choice.mode) == ((1, 3), GuidanceMode.MESH)
    assert view.tiles[0].text() == "1"
    assert view.blocks("video").text() == "3, 14"
    assert all(label.property("tone") == "accent" for label in view._labels.values())
    qtbot.mouseClick(view.reset_button, LEFT)
    assert guidance.is_own
    assert (view.steps.text(), view.field("audio", "cfg").text()) == ("30", "7.00")
    assert ([field.text() for field in view.tiles], view.mode_box.currentText()) == (["auto", "auto"], "Automatic")
    assert not any(label.property("tone") for label in view._labels.values())


def test_that_passes_cannot_be_spread_is_said_beside_their_control_and_beside_generate(
    world: World, qtbot: QtBot
) -> None:
    scenes.guided(world)
    session = world.session
    view = ComposeView(session)
    shown(view, qtbot)
    view.guidance.fold.set_open(True)
    session.devices.use_cpu(1)
    assert (view.guidance.problem_text, session.can_generate) == ("", True)
    qtbot.keyClick(view.guidance.mode_box, Qt.Key.Key_End)
    assert view.guidance.problem_text.startswith("The passes of guidance can be spread out over two devices or more")
    assert view.guidance._problem.isVisible()
    assert view.guidance.mode_box.accessibleDescription() == view.guidance.problem_text
    assert view.problem_text == view.guidance.problem_text
    assert not view.generate.isEnabled()
    session.devices.use_gpus()
    assert (view.guidance.problem_text, view.guidance._problem.isVisible()) == ("", False)
    assert view.generate.isEnabled()


def test_no_block_at_all_is_the_models_own(world: World, qtbot: QtBot) -> None:
    view = guided_view(world, qtbot)
    view.blocks("video").clear()
    qtbot.keyClick(view.blocks("video"), Qt.Key.Key_Return)
    assert view.blocks("video").text() == "28"
    assert world.session.compose.guidance.is_own


def test_an_edited_entry_of_the_queue_is_told_of_beside_generate(world: World, qtbot: QtBot) -> None:
    session = world.session
    scenes.composed(world)
    view = ComposeView(session)
    shown(view, qtbot)
    session.queue.pause()
    session.generate()
    session.generate()
    assert not view.leave_button.isVisible()
    session.queue.edit(session.queue.entries[1].key)
    assert view.generate.text() == "Put back into the queue"
    qtbot.mouseClick(view.leave_button, LEFT)
    assert session.queue.edited_key is None
    assert view.generate.text() == "Generate"
    assert not view.leave_button.isVisible()


def test_many_seeds_are_asked_for_beside_generate(world: World, qtbot: QtBot) -> None:
    scenes.composed(world)
    view = ComposeView(world.session)
    shown(view, qtbot)
    assert (view.num_seeds.text(), view.generate.text()) == ("× 1", "Generate")
    type_number(view.num_seeds, "4", qtbot)
    assert world.session.compose.num_seeds == 4
    assert view.generate.text() == "Generate 4"
    type_number(view.num_seeds, "64", qtbot)
    qtbot.keyClick(view.num_seeds, Qt.Key.Key_Up)
    assert world.session.compose.num_seeds == 64


def test_tab_goes_through_what_was_added_later_where_it_stands(world: World, qtbot: QtBot) -> None:
    view = ComposeView(world.session)
    shown(view, qtbot)
    world.session.compose.images.add([Path("/a.png")])
    world.session.loras.add([Path("/l.safetensors"), Path("/m.safetensors")])
    world.session.loras.move(2, 0)
    QApplication.processEvents()
    (image,), (first, second) = view.image.item_views, view.loras.item_views
    wanted: list[QWidget] = [
        *(view.pipeline.choice.buttons[0], view.prompt.editor, view.image.add_button),
        *(image.remove_button, image.place, image.strength.slider, image.fold.switch, view.format.aspect),
        *(view.format.length.slider, view.format.fps, view.seed.field, view.loras.add_button),
        *(first.grip, first.switch, second.grip, second.branch_fold.switch, view.num_seeds),
    ]
    view.pipeline.choice.buttons[0].setFocus()
    met = [view.focusWidget()]
    while (widget := met[-1].nextInFocusChain()) not in met:
        met.append(widget)
    places = [met.index(widget) for widget in wanted]
    assert places == sorted(places)


class Longer(QTranslator):
    """A language whose words are 40 % longer than ours."""

    def isEmpty(self) -> bool:  # noqa: N802 - Qt's name
        return False

    def translate(self, context: str, text: str, disambiguation: str | None = None, n: int = -1) -> str:
        return text + "n" * round(0.4 * len(text))


@pytest.mark.parametrize("scene", [scenes.guided, scenes.composed, scenes.empty])
def test_a_longer_language_has_room_in_the_form(world: World, qtbot: QtBot, scene: scenes.Scene) -> None:
    translator = Longer()
    QApplication.installTranslator(translator)
    try:
        scene(world)
        world.session.enhance.set_available(True)
        world.session.length.set_available(True)
        world.session.compose.keyframes.set_available(True)
        view = ComposeView(world.session)
        shown(view, qtbot)
        view.guidance.fold.set_open(True)
        for item in view.loras.item_views:
            item.branch_fold.set_open(True)
        room = METRICS.compose_width - 2 * METRICS.space_l
        parts = (
            *(view.pipeline, view.prompt, view.image, view.keyframes, view.format),
            *(view.seed, view.loras, view.guidance),
        )
        assert {
            type(part).__name__: part.minimumSizeHint().width()
            for part in parts
            if part.minimumSizeHint().width() > room
        } == {}
    finally:
        QApplication.removeTranslator(translator)


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


def test_a_lora_for_another_model_is_told_of_beside_generate(world: World, qtbot: QtBot) -> None:
    scenes.guided(world)
    view = ComposeView(world.session)
    shown(view, qtbot)
    assert view.note_text == world.session.loras.note != ""
    assert view.generate.accessibleDescription() == view.note_text
    first, second = view.loras.item_views
    assert (first._trained_for.property("tone") or "", second._trained_for.property("tone")) == ("", "warning")
    world.session.loras.set_on(2, False)
    assert view.note_text == ""


def test_a_clip_that_the_demo_model_does_not_know_is_told_of_beside_generate(world: World, qtbot: QtBot) -> None:
    session = world.session
    view = ComposeView(session)
    shown(view, qtbot)
    session.compose.set_size(768, 512)
    assert view.note_text == ""
    session.try_demo()
    assert view.note_text == ""
    session.compose.set_num_frames(49)
    assert view.note_text == ""
    session.compose.set_num_frames(57)
    assert "beyond 576 × 384 pixels or 49 frames" in view.note_text.replace("\N{NO-BREAK SPACE}", " ")
    session.compose.set_num_frames(33)
    session.compose.set_size(768, 512)
    assert view.note_text != ""
    assert view.note_text in view.generate.accessibleDescription() or not session.can_generate
    session.compose.set_size(384, 576)
    assert view.note_text == ""


def test_everything_in_the_form_that_can_be_used_has_a_name(world: World, qtbot: QtBot) -> None:
    scenes.guided(world)
    world.session.enhance.set_available(True)
    world.session.length.set_available(True)
    world.session.compose.keyframes.set_available(True)
    view = ComposeView(world.session)
    shown(view, qtbot)
    view.guidance.fold.set_open(True)
    for lora, image in zip(view.loras.item_views, view.image.item_views, strict=False):
        lora.branch_fold.set_open(True)
        image.fold.set_open(True)
    used = [widget for widget in view.findChildren(QWidget) if widget.focusPolicy() & Qt.FocusPolicy.TabFocus]
    used = [widget for widget in used if widget.isVisible() and widget.objectName() != "qt_spinbox_lineedit"]
    assert len(used) > 60
    assert [widget for widget in used if not (widget.accessibleName() or getattr(widget, "text", str)())] == []
    icons = [widget for widget in used if isinstance(widget, QToolButton)]
    assert all(icon.toolTip() for icon in icons)
