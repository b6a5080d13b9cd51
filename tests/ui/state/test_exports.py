"""Exports and pictures taken out of clips: what is asked, what is shown of it, and what comes of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from podium.helper.requests import CancelExport, ExportClip, GetExportShare, SaveFrame
from podium.library import Library
from podium.media.errors import MediaError
from podium.media.export_kinds import ExportCancelledError, ExportKind
from podium.ui.state.exports import ExportsState
from podium.ui.state.images import FramePlace, ImagesState
from podium.ui.state.pictures import KeptPictures
from podium.ui.state.values import ErrorMessage

from tests.fakes.ui import FakeHelper

SOURCE, TARGET = Path("/clips/a.mp4"), Path("/masters/a.mov")


@pytest.fixture
def helper() -> FakeHelper:
    return FakeHelper()


@pytest.fixture
def state(qapp: object, helper: FakeHelper) -> ExportsState:
    return ExportsState(helper, KeptPictures(helper, Library.in_memory(), ImagesState(helper, 121), Path("/data")))


def test_an_export_is_asked_for_whole(state: ExportsState, helper: FakeHelper) -> None:
    state.export(SOURCE, TARGET, ExportKind.GIF, max_side_px=480, overwrite=True)
    assert helper.requests(ExportClip) == [ExportClip(1, SOURCE, TARGET, ExportKind.GIF, 480, overwrite=True)]
    assert state.job is not None
    assert (state.job.share, state.job.is_cancelling) == (0.0, False)
    state.close()


def test_one_export_is_at_work_at_a_time(state: ExportsState, helper: FakeHelper) -> None:
    state.export(SOURCE, TARGET, ExportKind.GIF)
    state.export(SOURCE, Path("/masters/b.mov"), ExportKind.GIF)
    assert len(helper.requests(ExportClip)) == 1
    state.close()


def test_how_far_it_is_is_asked_again_and_again_and_never_twice_at_once(
    state: ExportsState, helper: FakeHelper, qtbot: QtBot
) -> None:
    state.export(SOURCE, TARGET, ExportKind.GIF)
    qtbot.waitUntil(lambda: len(helper.requests(GetExportShare)) == 1)
    state._poll()
    assert len(helper.requests(GetExportShare)) == 1
    helper.answer(GetExportShare, 0.5)
    assert state.job is not None
    assert state.job.share == 0.5
    qtbot.waitUntil(lambda: len(helper.requests(GetExportShare)) == 1)
    helper.answer(ExportClip, TARGET)
    assert (state.job, state.written) == (None, TARGET)
    # What comes late is of no export any more.
    helper.answer(GetExportShare, 0.9)
    assert state.job is None


def test_a_cancel_is_asked_once_and_is_no_failure(state: ExportsState, helper: FakeHelper) -> None:
    state.export(SOURCE, TARGET, ExportKind.GIF)
    state.cancel()
    state.cancel()
    assert [request.number for request in helper.requests(CancelExport)] == [1]
    assert state.job is not None
    assert state.job.is_cancelling
    helper.answer(ExportClip, error=ExportCancelledError("It was cancelled."))
    assert (state.job, state.written, state.error) == (None, None, None)


def test_a_failure_is_told_until_the_next_export(state: ExportsState, helper: FakeHelper) -> None:
    state.export(SOURCE, TARGET, ExportKind.GIF)
    helper.answer(ExportClip, error=MediaError("There is no room left.", details="ENOSPC"))
    assert state.error == ErrorMessage("There is no room left.", "ENOSPC")
    state.export(SOURCE, TARGET, ExportKind.GIF)
    assert state.error is None
    helper.answer(ExportClip, TARGET)
    state.forget()
    assert state.written is None


def test_a_frame_for_the_form_lies_in_a_folder_of_its_own_under_its_number(
    state: ExportsState, helper: FakeHelper, qtbot: QtBot
) -> None:
    state.use_frame(SOURCE, 41, FramePlace.LAST)
    (request,) = helper.requests(SaveFrame)
    target = request.target
    assert (request.source, request.number, target.parent) == (SOURCE, 41, Path("/data/pictures"))
    assert target.name.startswith("a-00042-")
    with qtbot.waitSignal(state.frame_kept) as kept:
        helper.answer(SaveFrame, target)
    assert kept.args == [target, FramePlace.LAST]


def test_a_frame_is_saved_where_it_is_wanted(state: ExportsState, helper: FakeHelper, qtbot: QtBot) -> None:
    state.save_frame(SOURCE, 0, Path("/desk/still.png"))
    with qtbot.waitSignal(state.frame_saved) as saved:
        helper.answer(SaveFrame, Path("/desk/still.png"))
    assert saved.args == [Path("/desk/still.png")]
    state.save_frame(SOURCE, 0, Path("/desk/still.png"))
    helper.answer(SaveFrame, error=MediaError("No."))
    assert state.error == ErrorMessage("No.")
