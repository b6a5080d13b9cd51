"""Both players show the frame that was asked for, and no other."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtMultimedia import QMediaPlayer
from pytestqt.qtbot import QtBot

from podium.jobs import ClipFinished
from podium.ui.views.picture import PictureView
from podium.ui.views.player.clip_player import ClipPlayer, make_clip_player, middle_of_frame_s
from podium.ui.views.player.frame_player import FrameClipPlayer
from podium.ui.views.player.media_player import MediaClipPlayer
from podium.ui.views.player.transport_view import TransportView

KINDS = {"sound": MediaClipPlayer, "frames": FrameClipPlayer}


@pytest.fixture(params=KINDS)
def player(request: pytest.FixtureRequest, qapp: object) -> Iterator[ClipPlayer]:
    made: ClipPlayer = KINDS[request.param]()
    yield made
    made.close()
    made.deleteLater()


@pytest.fixture
def picture(player: ClipPlayer, qtbot: QtBot) -> PictureView:
    """Return what the player's frames are painted on."""
    view = PictureView()
    qtbot.addWidget(view)
    view.resize(320, 192)
    player.frame_shown.connect(lambda image, _frame: view.show_image(image))
    view.show()
    return view


def painted_grey(view: PictureView) -> int:
    """Return the grey in the middle of what is painted."""
    return view.grab().toImage().pixelColor(view.rect().center()).red()


def seen_frame(view: PictureView) -> int:
    """Return the number of the frame that is painted, told by its grey: 16 + 9 k."""
    return round((painted_grey(view) - 16) / 9)


def opened(player: ClipPlayer, clip: ClipFinished, qtbot: QtBot) -> None:
    with qtbot.waitSignal(player.frame_shown):
        player.open(clip.path, clip.clip)


def test_an_opened_clip_shows_its_first_frame_and_stands(
    player: ClipPlayer, picture: PictureView, small_clip: ClipFinished, qtbot: QtBot
) -> None:
    opened(player, small_clip, qtbot)
    assert (player.frame, seen_frame(picture), player.is_playing) == (0, 0, False)


def test_the_frame_that_is_asked_for_is_painted(
    player: ClipPlayer, picture: PictureView, small_clip: ClipFinished, qtbot: QtBot
) -> None:
    opened(player, small_clip, qtbot)
    for frame in (12, 3, 24, 1, 2, 23, 0):
        player.seek(frame)
        qtbot.waitUntil(lambda wanted=frame: player.frame == wanted)
        assert seen_frame(picture) == frame


def test_it_plays_every_frame_in_order_and_begins_again(
    player: ClipPlayer, small_clip: ClipFinished, qtbot: QtBot
) -> None:
    opened(player, small_clip, qtbot)
    shown: list[int] = []
    player.frame_shown.connect(lambda _image, frame: shown.append(frame))
    player.seek(20)
    qtbot.waitUntil(lambda: 20 in shown)
    player.play()
    qtbot.waitUntil(lambda: 24 in shown and 3 in shown, timeout=10_000)
    after = shown[shown.index(24) + 1 :]
    assert after[:4] == [0, 1, 2, 3]
    assert player.is_playing


def test_without_the_loop_it_stands_at_its_end_and_plays_from_the_start_again(
    player: ClipPlayer, small_clip: ClipFinished, qtbot: QtBot
) -> None:
    opened(player, small_clip, qtbot)
    player.set_looping(False)
    player.seek(21)
    qtbot.waitUntil(lambda: player.frame == 21)
    player.play()
    qtbot.waitUntil(lambda: player.frame == 24 and not player.is_playing, timeout=10_000)
    player.play()
    qtbot.waitUntil(lambda: player.frame == 1, timeout=10_000)


def test_a_step_stops_and_goes_one_frame(player: ClipPlayer, small_clip: ClipFinished, qtbot: QtBot) -> None:
    opened(player, small_clip, qtbot)
    player.seek(5)
    qtbot.waitUntil(lambda: player.frame == 5)
    player.step(1)
    qtbot.waitUntil(lambda: player.frame == 6)
    player.step(-2)
    qtbot.waitUntil(lambda: player.frame == 4)
    assert not player.is_playing


def test_a_frame_outside_the_clip_becomes_the_nearest(
    player: ClipPlayer, small_clip: ClipFinished, qtbot: QtBot
) -> None:
    opened(player, small_clip, qtbot)
    player.seek(400)
    qtbot.waitUntil(lambda: player.frame == 24)
    player.seek(-3)
    qtbot.waitUntil(lambda: player.frame == 0)


def test_a_file_that_is_no_clip_is_told_of(player: ClipPlayer, small_clip: ClipFinished, qtbot: QtBot) -> None:
    spoilt = small_clip.path.with_name("spoilt.mp4")
    spoilt.write_bytes(b"no clip at all" * 100)
    with qtbot.waitSignal(player.failed) as failed:
        player.open(spoilt, small_clip.clip)
    assert failed.args[0].endswith(".")


def test_what_a_clip_that_was_left_fails_of_is_not_told_of_the_next(small_clip: ClipFinished, qtbot: QtBot) -> None:
    player = MediaClipPlayer()
    spoilt = small_clip.path.with_name("spoilt.mp4")
    spoilt.write_bytes(b"no clip at all" * 100)
    media = player.findChild(QMediaPlayer)
    assert media is not None
    with qtbot.waitSignal(player.failed):
        player.open(spoilt, small_clip.clip)
    with qtbot.assertNotEmitted(player.failed), qtbot.waitSignal(player.frame_shown):
        player.open(small_clip.path, small_clip.clip)
        # As from a thread of Qt's that comes upon it late: the next file is on its way through the event loop.
        media.errorOccurred.emit(QMediaPlayer.Error.FormatError, "late")
    player.close()
    player.deleteLater()


def test_the_player_with_sound_hears_the_clip_s_sound(small_clip: ClipFinished, qtbot: QtBot) -> None:
    player = MediaClipPlayer()
    opened(player, small_clip, qtbot)
    media = player.findChild(QMediaPlayer)
    assert media.hasAudio()
    assert media.audioOutput().isMuted() is False
    player.set_muted(True)
    player.set_volume(0.5)
    assert media.audioOutput().isMuted()
    assert 0 < media.audioOutput().volume() < 0.5
    player.close()
    player.deleteLater()


def test_the_middle_of_a_frame_rounds_to_no_neighbour_in_milliseconds() -> None:
    for fps in (24, 60, 120):
        for frame in range(2_000):
            ms = round(middle_of_frame_s(frame, fps) * 1000)
            assert ms * fps // 1000 == frame


@pytest.mark.logs_warnings
def test_where_qtmultimedia_is_missing_frames_are_shown_and_the_reason_is_named(
    monkeypatch: pytest.MonkeyPatch, qapp: object
) -> None:
    monkeypatch.setitem(sys.modules, "podium.ui.views.player.media_player", None)
    player = make_clip_player()
    assert isinstance(player, FrameClipPlayer)
    assert "without sound" in player.note
    assert "media_player" in player.note
    player.deleteLater()


def test_with_qtmultimedia_clips_have_sound(qapp: object) -> None:
    player = make_clip_player()
    assert isinstance(player, MediaClipPlayer)
    assert player.note == ""
    player.deleteLater()


@pytest.fixture
def transport(player: ClipPlayer, small_clip: ClipFinished, qtbot: QtBot) -> TransportView:
    view = TransportView()
    qtbot.addWidget(view)
    view.set_player(player)
    view.resize(900, 48)
    view.show()
    opened(player, small_clip, qtbot)
    return view


def test_dragging_the_handle_paints_the_frame_under_it(
    player: ClipPlayer, transport: TransportView, picture: PictureView, qtbot: QtBot
) -> None:
    scrub = transport.scrub
    qtbot.mousePress(scrub, Qt.MouseButton.LeftButton, pos=QPoint(scrub.width() // 2, scrub.height() // 2))
    wanted = scrub.value()
    assert 10 <= wanted <= 14
    qtbot.waitUntil(lambda: player.frame == wanted)
    qtbot.mouseRelease(scrub, Qt.MouseButton.LeftButton)
    assert seen_frame(picture) == wanted
    assert transport.time_text == f"{wanted / 24:.2f} / 1.04 s {wanted + 1} of 25 frames"


def test_a_clip_that_played_plays_on_after_the_handle_is_let_go(
    player: ClipPlayer, transport: TransportView, qtbot: QtBot
) -> None:
    qtbot.mouseClick(transport.play_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: player.is_playing)
    assert transport.play_button.accessibleName() == "Pause"
    scrub = transport.scrub
    qtbot.mousePress(scrub, Qt.MouseButton.LeftButton, pos=QPoint(20, scrub.height() // 2))
    qtbot.waitUntil(lambda: not player.is_playing)
    qtbot.mouseRelease(scrub, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: player.is_playing)
    player.pause()


def test_the_handle_follows_the_clip(player: ClipPlayer, transport: TransportView, qtbot: QtBot) -> None:
    player.seek(9)
    qtbot.waitUntil(lambda: transport.scrub.value() == 9)
    qtbot.keyClick(transport.scrub, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: player.frame == 10)


def test_the_transport_without_a_player_is_disabled(qtbot: QtBot) -> None:
    view = TransportView()
    qtbot.addWidget(view)
    assert not view.isEnabled()
    view.toggle_play()
    view.step(1)


def test_a_picture_keeps_its_shape_and_its_middle(qtbot: QtBot) -> None:
    view = PictureView()
    qtbot.addWidget(view)
    view.resize(400, 400)
    view.show_image(QImage(200, 100, QImage.Format.Format_RGB888))
    assert view.image_rect().getRect() == (0, 100, 400, 200)
