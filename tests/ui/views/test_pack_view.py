"""The model's files: which places there are, and how their weights are held."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from podium.helper.requests import ProbeFile
from podium.jobs import Quantization
from podium.models.probe.report import FileKind, FileReport, Quantisation
from podium.ui.state.values import PackSlot
from podium.ui.views.pack_view import PackView, QuantizationView
from podium.ui.views.widgets.scrolled import Scrolled

from tests.ui.views.scenes import World

LEFT = Qt.MouseButton.LeftButton


def shown(view: QWidget, qtbot: QtBot) -> None:
    qtbot.addWidget(view)
    view.show()


def open_places(view: PackView) -> list[PackSlot]:
    return [slot for slot in PackSlot if view.file_view(slot).isVisible()]


def test_places_of_a_split_model_are_shown_for_one_alone(world: World, qtbot: QtBot) -> None:
    pack = world.session.pack
    view = PackView(pack)
    shown(view, qtbot)
    few = [PackSlot.CHECKPOINT, PackSlot.TEXT_ENCODER, PackSlot.UPSCALER, PackSlot.DISTILLED_LORA]
    assert open_places(view) == few
    assert "folder of Gemma 3" in view.file_view(PackSlot.TEXT_ENCODER).what_text
    pack.choose_file(PackSlot.VIDEO_VAE, Path("/vae.safetensors"))
    assert open_places(view) == list(PackSlot)
    assert "file of the same model" in view.file_view(PackSlot.TEXT_ENCODER).what_text
    qtbot.mouseClick(view.file_view(PackSlot.TEXT_ENCODER).choose_button, LEFT)
    dialog = view.findChild(QFileDialog)
    assert dialog.fileMode() is QFileDialog.FileMode.ExistingFile
    dialog.close()


def test_a_file_that_a_model_can_do_without_is_taken_out(world: World, qtbot: QtBot) -> None:
    pack = world.session.pack
    view = PackView(pack)
    shown(view, qtbot)
    lora, checkpoint = view.file_view(PackSlot.DISTILLED_LORA), view.file_view(PackSlot.CHECKPOINT)
    assert not lora.clear_button.isVisible()
    pack.choose_file(PackSlot.DISTILLED_LORA, Path("/lora.safetensors"))
    pack.choose_file(PackSlot.CHECKPOINT, Path("/model.safetensors"))
    assert lora.clear_button.isVisible()
    assert not checkpoint.clear_button.isVisible()
    qtbot.mouseClick(lora.clear_button, LEFT)
    assert pack.file(PackSlot.DISTILLED_LORA).path is None


def test_how_weights_are_held_is_chosen_under_advanced(world: World, qtbot: QtBot) -> None:
    pack = world.session.pack
    view = PackView(pack)
    shown(view, qtbot)
    assert not view.quantization.isVisible()
    qtbot.mouseClick(view.fold.switch, LEFT)
    qtbot.mouseClick(view.quantization.choice.buttons[1], LEFT)
    assert pack.quantization is Quantization.FP8_CAST
    assert "half the memory" in view.quantization.words_text
    assert PackView(pack).fold.is_open


def test_a_file_in_fp8_decides_how_its_weights_are_held(world: World, qtbot: QtBot) -> None:
    pack = world.session.pack
    view = QuantizationView(pack)
    shown(view, qtbot)
    path = Path("/fp8.safetensors")
    pack.choose_file(PackSlot.CHECKPOINT, path)
    world.helper.answer(ProbeFile, FileReport(path, FileKind.CHECKPOINT, quantisation=Quantisation.FP8_SCALED))
    assert len(view.choice.buttons) == 1
    assert not view.choice.isEnabled()
    assert view.words_text == "This checkpoint is stored so, and stays so."
    pack.choose_file(PackSlot.CHECKPOINT, Path("/bf16.safetensors"))
    assert len(view.choice.buttons) == 2
    assert view.choice.isEnabled()


def test_a_panel_that_is_higher_than_the_screen_scrolls(qtbot: QtBot) -> None:
    high, low = QWidget(), QWidget()
    high.setMinimumSize(300, 9000)
    low.setMinimumSize(300, 90)
    for panel in (high, low):
        panel.setFixedSize(panel.minimumSize())
    scrolled = Scrolled(high)
    shown(scrolled, qtbot)
    assert scrolled.sizeHint().height() < scrolled.screen().availableGeometry().height()
