"""Clips that come among pictures, key frames that the model makes, and the length that it suggests."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QGuiApplication
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from podium.jobs import DurationPredicted
from podium.ui.views.compose_view import ComposeView
from podium.ui.views.image_view import ImageView

from tests.fakes.ui import make_ready
from tests.ui.views.scenes import World

LEFT = Qt.MouseButton.LeftButton


def shown(view: QWidget, qtbot: QtBot) -> None:
    qtbot.addWidget(view)
    view.show()


def files(*names: str) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(name) for name in names])
    return data


def test_a_clip_that_is_pasted_or_comes_among_pictures_is_handed_on_and_no_picture(world: World, qtbot: QtBot) -> None:
    view = ImageView(world.session.compose.images)
    shown(view, qtbot)
    QGuiApplication.clipboard().setMimeData(files("/a.MP4"))
    with qtbot.waitSignal(view.clip_brought) as brought:
        view.paste()
    assert brought.args == [Path("/a.MP4")]
    QGuiApplication.clipboard().setMimeData(files("/b.mp4", "/b.png"))
    with qtbot.waitSignal(view.clip_brought):
        view.paste()
    assert [item.path.name for item in world.session.compose.images.items] == ["b.png"]


def test_a_clip_alone_is_no_drop_for_the_pictures(world: World, qtbot: QtBot) -> None:
    view = ImageView(world.session.compose.images)
    shown(view, qtbot)
    for data, is_taken in ((files("/a.mp4"), False), (files("/a.png"), True)):
        action, buttons, keys = Qt.DropAction.CopyAction, LEFT, Qt.KeyboardModifier.NoModifier
        event = QDragEnterEvent(QPoint(5, 5), action, data, buttons, keys)
        event.ignore()
        view.dragEnterEvent(event)
        assert event.isAccepted() is is_taken


def test_key_frames_are_asked_for_only_where_the_model_makes_some(world: World, qtbot: QtBot) -> None:
    view = ComposeView(world.session)
    shown(view, qtbot)
    keyframes = world.session.compose.keyframes
    assert not view.keyframes.isVisible()
    keyframes.set_available(True)
    assert view.keyframes.isVisible()
    view.keyframes.count.selectAll()
    qtbot.keyClicks(view.keyframes.count, "3")
    qtbot.keyClick(view.keyframes.count, Qt.Key.Key_Return)
    assert keyframes.count == 3
    world.session.compose.set_num_frames(17)
    assert (view.keyframes.count.maximum(), view.keyframes.count.value()) == (2, 2)


def test_the_model_suggests_a_length_and_says_how_far_it_is(world: World, qtbot: QtBot) -> None:
    view, session = ComposeView(world.session), world.session
    shown(view, qtbot)
    assert not view.suggest.button.isVisible()
    make_ready(session, world.helper, prompt="a fox")
    session.length.set_available(True)
    with qtbot.waitSignal(session.length.ordered):
        qtbot.mouseClick(view.suggest.button, LEFT)
    assert view.suggest.line_text == "The model reads the prompt."
    session.length.take(DurationPredicted(97))
    assert (session.compose.num_frames, view.suggest.line_text) == (97, "")
    qtbot.mouseClick(view.suggest.button, LEFT)
    session.length.refuse("The prompt cannot be read.")
    assert view.suggest.line_text == "The prompt cannot be read."
    qtbot.mouseClick(view.suggest.button, LEFT)
    qtbot.mouseClick(view.suggest.button, LEFT)
    assert (session.length.is_busy, view.suggest.isVisible()) == (False, False)
