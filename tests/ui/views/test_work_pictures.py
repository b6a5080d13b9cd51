"""Queue, history, comparison and the dialogs around a clip look as they were judged to look."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from podium.geometry import ClipFormat
from podium.jobs import ClipFinished
from podium.ui.theme import METRICS, apply_theme
from podium.ui.views.compare_view import CompareView
from podium.ui.views.export_dialog import ExportDialog
from podium.ui.views.history_view import HistoryView
from podium.ui.views.queue_view import QueueView
from podium.ui.views.reuse_dialog import ReuseDialog
from podium.ui.views.shown_clip import ShownClip

from tests.ui.views import work_scenes
from tests.ui.views.conftest import write_clip
from tests.ui.views.pictures import check_picture
from tests.ui.views.scenery import evening
from tests.ui.views.scenes import World

WIDTH_PX = METRICS.window_width - METRICS.compose_width
HEIGHT_PX = 360
CLIP = ClipFormat(352, 608, 9, Fraction(24))


@pytest.fixture(params=["dark", "light"])
def theme_name(request: pytest.FixtureRequest, qapp: QApplication, dressed: None) -> Iterator[str]:
    apply_theme(qapp, request.param)
    yield request.param
    apply_theme(qapp, "dark")


@pytest.fixture(scope="session")
def two_evenings(tmp_path_factory: pytest.TempPathFactory) -> tuple[ClipFinished, ...]:
    """Return two clips of one evening, early and late."""
    folder = tmp_path_factory.mktemp("evenings")
    return tuple(
        write_clip(
            folder / f"evening-{number}.mp4",
            CLIP,
            [evening(CLIP.width, CLIP.height, time=time + k / 100) for k in range(CLIP.num_frames)],
        )
        for number, time in enumerate((0.1, 0.7))
    )


def shown(view: QWidget, qtbot: QtBot, height_px: int = HEIGHT_PX) -> None:
    qtbot.addWidget(view)
    view.resize(WIDTH_PX, height_px)
    with qtbot.waitExposed(view):
        view.show()
    QApplication.processEvents()


def test_the_queue_looks_as_stored(world: World, theme_name: str, qtbot: QtBot) -> None:
    work_scenes.queued(world)
    view = QueueView(world.session.queue)
    shown(view, qtbot)
    view.choose(world.session.queue.entries[0].key)
    label = view.failure_banner._sentence
    qtbot.waitUntil(lambda: label.height() >= label.heightForWidth(label.width()))
    check_picture(view.grab(), f"queue-{theme_name}")


def test_a_paused_queue_looks_as_stored(world: World, theme_name: str, qtbot: QtBot) -> None:
    work_scenes.paused(world)
    view = QueueView(world.session.queue)
    shown(view, qtbot)
    check_picture(view.grab(), f"paused-{theme_name}")


@pytest.mark.parametrize("is_list", [False, True])
def test_the_history_looks_as_stored(world: World, theme_name: str, qtbot: QtBot, *, is_list: bool) -> None:
    work_scenes.day(world)
    view = HistoryView(world.session.history, world.session.exports)
    view.set_list_mode(is_list)
    shown(view, qtbot)
    world.session.history.select(world.session.history.model.entries[2].key)
    QApplication.processEvents()
    check_picture(view.grab(), f"history-{'list' if is_list else 'tiles'}-{theme_name}")


def test_a_comparison_looks_as_stored(
    world: World, theme_name: str, two_evenings: tuple[ClipFinished, ...], qtbot: QtBot
) -> None:
    keys = [work_scenes.add_clip(world, number, clip=clip).key for number, clip in enumerate(two_evenings)]
    view = CompareView(world.session.history, is_motion_reduced=True)
    shown(view, qtbot, 560)
    world.session.history.compare(*keys)
    qtbot.waitUntil(lambda: not view.wipe.images[0].isNull(), timeout=10_000)
    QApplication.processEvents()
    check_picture(view.grab(), f"compare-{theme_name}")
    view.close_player()


def test_the_dialogs_of_a_clip_look_as_stored(world: World, theme_name: str, qtbot: QtBot) -> None:
    parent = QWidget()
    shown(parent, qtbot)
    export = ExportDialog(world.session.exports, ShownClip(Path("/clips/evening.mp4"), CLIP), parent)
    reuse = ReuseDialog("Reuse", work_scenes.make_request(2), model_name="ltx-2.3-22b-distilled-1.1", parent=parent)
    for dialog, name in ((export, "export"), (reuse, "reuse")):
        dialog.open()
        QApplication.processEvents()
        check_picture(dialog.grab(), f"{name}-{theme_name}")
        dialog.close()
