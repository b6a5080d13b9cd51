"""Two clips are compared in step, by a wipe, with the sound of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtMultimedia import QMediaPlayer
from pytestqt.qtbot import QtBot

from podium.geometry import ClipFormat
from podium.jobs import ClipFinished
from podium.ui.views.compare_view import CompareView
from podium.ui.views.main_window import MainWindow
from podium.ui.views.player.pair_player import PairPlayer, PairSide
from podium.ui.views.wipe_view import WipeView

from tests.ui.views import scenes, work_scenes
from tests.ui.views.conftest import write_clip
from tests.ui.views.scenes import Scene, World

LEFT = Qt.MouseButton.LeftButton
# Frame k of the first is 16 + 9 k red, of the second as much blue.
FIRST = ClipFormat(96, 160, 25, Fraction(24))
SECOND = ClipFormat(192, 320, 9, Fraction(12))


def coloured(path: Path, clip: ClipFormat, channel: int) -> ClipFinished:
    frames = np.zeros((clip.num_frames, clip.height, clip.width, 3), np.uint8)
    frames[..., channel] = (16 + 9 * np.arange(clip.num_frames))[:, None, None]
    return write_clip(path, clip, list(frames))


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[ClipFinished, ClipFinished]:
    """Return two clips that differ in size, rate and length: 1.04 s and 0.75 s."""
    folder = tmp_path_factory.mktemp("pair")
    return coloured(folder / "first.mp4", FIRST, 0), coloured(folder / "second.mp4", SECOND, 2)


@pytest.fixture
def player(qapp: object) -> Iterator[PairPlayer]:
    made = PairPlayer()
    yield made
    made.close()
    made.deleteLater()


def sides(pair: tuple[ClipFinished, ClipFinished]) -> tuple[PairSide, PairSide]:
    first, second = (PairSide(clip.path, clip.clip) for clip in pair)
    return first, second


def frames_of(images: tuple[QImage, QImage]) -> tuple[int, int]:
    """Return which frames two images are, told by their colours."""
    levels = []
    for image in images:
        colour = image.pixelColor(image.width() // 2, image.height() // 2)
        levels.append(max(colour.red(), colour.blue()))
    return round((levels[0] - 16) / 9), round((levels[1] - 16) / 9)


@pytest.fixture
def seen(player: PairPlayer) -> list[tuple[int, tuple[int, int]]]:
    """Return a list of what is shown: the moment's number, and the frame of each side."""
    shown: list[tuple[int, tuple[int, int]]] = []
    player.pair_shown.connect(lambda *images: shown.append((player._frame, frames_of(images))))
    return shown


def opened(player: PairPlayer, pair: tuple[ClipFinished, ClipFinished], qtbot: QtBot) -> None:
    with qtbot.waitSignal(player.pair_shown, timeout=10_000):
        player.open_pair(*sides(pair))


def test_a_pair_is_counted_in_the_quicker_rate_to_the_longer_end(
    player: PairPlayer, pair: tuple[ClipFinished, ClipFinished], qtbot: QtBot
) -> None:
    opened(player, pair, qtbot)
    assert player.clip is not None
    assert (player.clip.fps, player.num_frames) == (24, 25)
    assert not player.is_playing


@pytest.mark.parametrize(("number", "frames"), [(0, (0, 0)), (1, (1, 0)), (2, (2, 1)), (11, (11, 5)), (24, (24, 8))])
def test_both_frames_of_a_moment_are_shown(
    player: PairPlayer,
    pair: tuple[ClipFinished, ClipFinished],
    seen: list[tuple[int, tuple[int, int]]],
    qtbot: QtBot,
    number: int,
    frames: tuple[int, int],
) -> None:
    opened(player, pair, qtbot)
    player.seek(number)
    qtbot.waitUntil(lambda: bool(seen) and seen[-1] == (number, frames), timeout=10_000)


def test_the_shorter_clip_holds_its_last_frame(pair: tuple[ClipFinished, ClipFinished]) -> None:
    _, second = sides(pair)
    assert second.frame_at(Fraction(9, 12)) == 8
    assert second.frame_at(Fraction(1)) == 8


def test_they_play_in_step_and_begin_again(
    player: PairPlayer, pair: tuple[ClipFinished, ClipFinished], seen: list[tuple[int, tuple[int, int]]], qtbot: QtBot
) -> None:
    opened(player, pair, qtbot)
    player.seek(20)
    player.play()
    qtbot.waitUntil(lambda: {moment for moment, _ in seen} >= {24, 2}, timeout=20_000)
    assert player.is_playing
    player.pause()
    assert seen
    for moment, (first, second) in seen:
        middle_s = (moment + Fraction(1, 2)) / 24
        assert first == moment
        assert second == min(8, int(middle_s * 12))


def test_without_the_loop_they_stand_at_the_end_and_play_from_the_start_again(
    player: PairPlayer, pair: tuple[ClipFinished, ClipFinished], qtbot: QtBot
) -> None:
    opened(player, pair, qtbot)
    player.set_looping(False)
    player.seek(21)
    player.play()
    qtbot.waitUntil(lambda: player.frame == 24 and not player.is_playing, timeout=20_000)
    player.play()
    qtbot.waitUntil(lambda: 0 < player.frame < 24, timeout=20_000)


def test_a_step_stops_and_goes_one_frame(
    player: PairPlayer, pair: tuple[ClipFinished, ClipFinished], seen: list[tuple[int, tuple[int, int]]], qtbot: QtBot
) -> None:
    opened(player, pair, qtbot)
    player.play()
    player.seek(5)
    player.step(1)
    qtbot.waitUntil(lambda: bool(seen) and seen[-1][0] == 6, timeout=10_000)
    assert not player.is_playing


def test_swapping_exchanges_the_sides_and_keeps_the_sound(
    player: PairPlayer, pair: tuple[ClipFinished, ClipFinished], seen: list[tuple[int, tuple[int, int]]], qtbot: QtBot
) -> None:
    opened(player, pair, qtbot)
    player.seek(11)
    qtbot.waitUntil(lambda: bool(seen) and seen[-1] == (11, (11, 5)), timeout=10_000)
    player.swap()
    qtbot.waitUntil(lambda: seen[-1] == (11, (5, 11)), timeout=10_000)
    assert player.sound_side == 1


def test_the_sound_is_that_of_the_side_that_is_chosen(
    player: PairPlayer, pair: tuple[ClipFinished, ClipFinished], qtbot: QtBot
) -> None:
    opened(player, pair, qtbot)
    media = player.findChild(QMediaPlayer)
    qtbot.waitUntil(lambda: media.source().fileName() == "first.mp4")
    player.set_sound_side(1)
    qtbot.waitUntil(lambda: media.source().fileName() == "second.mp4")
    player.set_muted(True)
    assert media.audioOutput().isMuted()
    player.play()
    qtbot.waitUntil(lambda: media.playbackState() is QMediaPlayer.PlaybackState.PlayingState, timeout=10_000)
    player.pause()
    qtbot.waitUntil(lambda: media.playbackState() is not QMediaPlayer.PlaybackState.PlayingState, timeout=10_000)


def test_a_clip_that_cannot_be_read_is_told_of(
    player: PairPlayer, pair: tuple[ClipFinished, ClipFinished], tmp_path: Path, qtbot: QtBot
) -> None:
    gone = PairSide(tmp_path / "gone.mp4", FIRST)
    with qtbot.waitSignal(player.failed, timeout=10_000) as failed:
        player.open_pair(sides(pair)[0], gone)
    assert "gone.mp4" in failed.args[0]
    assert player.clip is None


@pytest.fixture
def wipe(qtbot: QtBot) -> WipeView:
    view = WipeView()
    qtbot.addWidget(view)
    view.resize(400, 200)
    red, blue = (QImage(200, 100, QImage.Format.Format_RGB888) for _ in range(2))
    red.fill(Qt.GlobalColor.red)
    blue.fill(Qt.GlobalColor.blue)
    view.show_images(red, blue)
    view.show()
    return view


def colour_at(view: WipeView, x: int, y: int = 10) -> tuple[int, int, int]:
    return view.grab().toImage().pixelColor(x, y).getRgb()[:3]


def test_one_clip_is_left_of_the_line_and_the_other_right_of_it(wipe: WipeView) -> None:
    assert (colour_at(wipe, 190), colour_at(wipe, 210)) == ((255, 0, 0), (0, 0, 255))


def test_the_line_follows_the_mouse(wipe: WipeView, qtbot: QtBot) -> None:
    qtbot.mousePress(wipe, LEFT, pos=QPoint(100, 50))
    assert wipe.share == 0.25
    assert (colour_at(wipe, 90), colour_at(wipe, 110)) == ((255, 0, 0), (0, 0, 255))
    qtbot.mouseMove(wipe, QPoint(300, 50))
    wipe.set_share(0.75)
    assert colour_at(wipe, 290) == (255, 0, 0)
    qtbot.mouseRelease(wipe, LEFT, pos=QPoint(300, 50))
    qtbot.mousePress(wipe, LEFT, pos=QPoint(399, 50))
    assert wipe.share > 0.99


def test_the_line_follows_the_keys(wipe: WipeView, qtbot: QtBot) -> None:
    qtbot.keyClick(wipe, Qt.Key.Key_Left)
    assert wipe.share == 0.48
    qtbot.keyClick(wipe, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert wipe.share == 0.58
    assert wipe.accessibleDescription() == "58 percent"
    qtbot.keyClick(wipe, Qt.Key.Key_Home)
    qtbot.keyClick(wipe, Qt.Key.Key_Left)
    assert wipe.share == 0
    qtbot.keyClick(wipe, Qt.Key.Key_End)
    assert wipe.share == 1


def test_both_pictures_stand_in_the_same_room_whatever_their_sizes(wipe: WipeView) -> None:
    large = QImage(800, 400, QImage.Format.Format_RGB888)
    large.fill(Qt.GlobalColor.green)
    wipe.show_images(wipe.images[0], large)
    assert wipe.picture_rect().getRect() == (0, 0, 400, 200)
    assert colour_at(wipe, 399, 199) == (0, 255, 0)


@pytest.fixture
def compared(
    open_window: Callable[[Scene], MainWindow], pair: tuple[ClipFinished, ClipFinished], world: World, qtbot: QtBot
) -> CompareView:
    """Return the comparison of two clips, in the window."""
    window = open_window(scenes.composed)
    for number, clip in enumerate(pair):
        work_scenes.add_clip(world, number, clip=clip)
    history = world.session.history
    second, first = (entry.key for entry in history.model.entries)
    history.compare(first, second)
    view = window.area.compare
    assert view is not None
    qtbot.waitUntil(lambda: not view.wipe.images[0].isNull(), timeout=10_000)
    return view


def test_the_comparison_takes_the_place_of_the_stage_and_gives_it_back(
    compared: CompareView, world: World, qtbot: QtBot
) -> None:
    window = compared.window()
    assert isinstance(window, MainWindow)
    assert compared.isVisible()
    assert not window.stage.isVisible()
    assert compared.name_texts == (work_scenes.PROMPTS[0], work_scenes.PROMPTS[1])
    assert window.menu_actions.stop_comparing.isEnabled()
    qtbot.mouseClick(compared.done_button, LEFT)
    assert world.session.history.compared is None
    assert window.stage.isVisible()
    assert not window.menu_actions.stop_comparing.isEnabled()


def test_the_sides_are_swapped_by_button_and_by_key_with_their_names(compared: CompareView, qtbot: QtBot) -> None:
    qtbot.mouseClick(compared.swap_button, LEFT)
    assert compared.name_texts == (work_scenes.PROMPTS[1], work_scenes.PROMPTS[0])
    assert compared.sound_choice.buttons[1].isChecked()
    compared.wipe.setFocus()
    qtbot.keyClick(compared.wipe, Qt.Key.Key_X)
    assert compared.name_texts == (work_scenes.PROMPTS[0], work_scenes.PROMPTS[1])


def test_the_sound_is_chosen_beside_the_names(compared: CompareView, qtbot: QtBot) -> None:
    qtbot.mouseClick(compared.sound_choice.buttons[1], LEFT)
    assert compared.player.sound_side == 1


def test_the_window_s_playback_keys_steer_the_comparison(compared: CompareView, qtbot: QtBot) -> None:
    window = compared.window()
    assert isinstance(window, MainWindow)
    compared.player.pause()
    compared.player.seek(3)
    qtbot.waitUntil(lambda: compared.player.frame == 3)
    window.menu_actions.frame_forward.trigger()
    qtbot.waitUntil(lambda: compared.player.frame == 4)
    window.menu_actions.play.trigger()
    assert compared.player.is_playing
    window.menu_actions.loop.trigger()
    assert not compared.transport.loop_button.isChecked()
    window.menu_actions.slower.trigger()
    assert compared.transport.speed_button.speed == 0.75


def test_a_clip_that_cannot_be_read_says_so_where_it_would_be(
    compared: CompareView, world: World, qtbot: QtBot
) -> None:
    history = world.session.history
    gone = work_scenes.add_clip(world, 5)
    history.compare(gone.key, history.model.entries[1].key)
    qtbot.waitUntil(compared.banner.isVisible, timeout=10_000)
    assert gone.clip.path.name in compared.banner.sentence
