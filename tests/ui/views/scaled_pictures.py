"""The key views in both themes at 150 and 200 %, in a longer language, in German, in a small window: to be looked at.

    python -m tests.ui.views.scaled_pictures FOLDER [VARIANT ...]

renders them, each variant in a process of its own, since Qt takes its scale once; and prints what is wrong with how
they are laid out. Nothing is stored in the repository: `test_scaled_pictures` asks for no fault.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["QT_FFMPEG_DECODING_HW_DEVICE_TYPES"] = os.environ["QT_FFMPEG_ENCODING_HW_DEVICE_TYPES"] = ","
os.environ["QT_LOGGING_RULES"] = "*.debug=false;qt.multimedia*=false"

from PySide6.QtCore import QDeadlineTimer, QEvent
from PySide6.QtWidgets import QApplication, QWidget

from podium.jobs import ClipFinished
from podium.ui.theme import METRICS, apply_theme
from podium.ui.translation import install_translation
from podium.ui.views.compose_view import ComposeView
from podium.ui.views.main_window import MainWindow

from tests.fakes.ui import make_session
from tests.ui.views import fleet_scenes, scenes, work_scenes
from tests.ui.views.conftest import write_clip
from tests.ui.views.layout_faults import find_faults
from tests.ui.views.other_views import OTHER_VIEWS
from tests.ui.views.pseudo_language import LongerLanguage
from tests.ui.views.scenery import evening
from tests.ui.views.scenes import World, make_window

REPOSITORY = Path(__file__).resolve().parents[3]
THEMES = ("dark", "light")
FORM_HEIGHT_PX = 2700
_PATIENCE_MS = 10_000
_LIMIT_S = 300


@dataclass(frozen=True, slots=True)
class Variant:
    """How the views are shown.

    Args:
        scale: The screen's pixels by one of the window's.
        language: Empty for ours, "longer", or one that Podium speaks.
        is_small: The window is as small as it can be.
    """

    scale: float = 1.0
    language: str = ""
    is_small: bool = False


VARIANTS = {
    "100": Variant(),
    "150": Variant(1.5),
    "200": Variant(2.0),
    "longer": Variant(language="longer"),
    "german": Variant(language="de"),
    "small": Variant(is_small=True),
}


@dataclass(frozen=True, slots=True)
class Shown:
    """A view in a world of its own, and what is done once it is on the screen."""

    name: str
    make: Callable[[World], QWidget]
    settle: Callable[[QWidget], None] = lambda widget: None


def views(clip: ClipFinished) -> tuple[Shown, ...]:
    """Return the key views."""

    def finished(world: World) -> None:
        scenes.finish(world, clip)

    return (
        Shown("empty", lambda world: make_window(world, scenes.empty)),
        Shown("running", lambda world: make_window(world, fleet_scenes.at_work), _show_fleet),
        Shown("finished", lambda world: make_window(world, finished), _await_picture),
        Shown("queue", lambda world: make_window(world, work_scenes.queued), _show_queue),
        Shown("history", lambda world: make_window(world, _day), _show_history),
        Shown("form", _make_form, _unfold),
    )


def _day(world: World) -> None:
    scenes.composed(world)
    work_scenes.day(world, 30)


def _make_form(world: World) -> QWidget:
    scenes.guided(world)
    view = ComposeView(world.session)
    view.resize(METRICS.compose_width, FORM_HEIGHT_PX)
    return view


def _unfold(widget: QWidget) -> None:
    assert isinstance(widget, ComposeView)
    widget.guidance.fold.set_open(True)
    widget.loras.item_views[0].branch_fold.set_open(True)
    widget.image.item_views[0].fold.set_open(True)


def _show_fleet(widget: QWidget) -> None:
    assert isinstance(widget, MainWindow)
    widget.tabs.setCurrentWidget(widget.fleet)


def _show_queue(widget: QWidget) -> None:
    assert isinstance(widget, MainWindow)
    widget.tabs.setCurrentWidget(widget.queue)
    session = widget._session
    widget.queue.choose(session.queue.entries[0].key)


def _show_history(widget: QWidget) -> None:
    assert isinstance(widget, MainWindow)
    widget.tabs.setCurrentWidget(widget.history)


def _await_picture(widget: QWidget) -> None:
    assert isinstance(widget, MainWindow)
    _show_history(widget)
    deadline = QDeadlineTimer(_PATIENCE_MS)
    while widget.stage.picture.image.isNull():
        assert not deadline.hasExpired(), "the clip is not shown"
        QApplication.processEvents()


def render(variant: Variant, folder: Path, themes: Sequence[str]) -> dict[str, list[str]]:
    """Render every view in some themes into a folder; return the faults of each."""
    application = QApplication([])
    application.setCursorFlashTime(0)
    translator = LongerLanguage()
    if variant.language == "longer":
        application.installTranslator(translator)
    elif variant.language:
        assert install_translation(application, variant.language) == variant.language
    faults = {}
    with tempfile.TemporaryDirectory() as clips:
        clip = scenes.ClipFormat(352, 608, 9, scenes.CLIP.fps)
        frames = [evening(clip.width, clip.height, time=0.25 + k / 100) for k in range(clip.num_frames)]
        finished = write_clip(Path(clips) / "evening.mp4", clip, frames)
        for theme_name in themes:
            apply_theme(application, theme_name)
            for shown in views(finished):
                with opened(application, shown, variant) as widget:
                    picture = widget.grab()
                    assert picture.devicePixelRatio() == variant.scale
                    assert picture.save(str(folder / f"{shown.name}-{theme_name}.png"))
                    faults[f"{shown.name}-{theme_name}"] = find_faults(widget)
    # Scales are the same to all; words are not.
    return faults | (render_others(application, folder) if variant.language else {})


def render_others(application: QApplication, folder: Path) -> dict[str, list[str]]:
    """Render dialogs, menus and the like in a language; return the faults of each."""
    faults = {}
    for name, opener in OTHER_VIEWS.items():
        world = World(*make_session(Path("/home/ada/Videos")))
        window = MainWindow(world.session, is_motion_reduced=True)
        window.show_workspace()
        window.show()
        application.processEvents()
        widget = opener(world, window)
        settle(application)
        assert widget.grab().save(str(folder / f"other-{name}.png"))
        faults[f"other-{name}"] = find_faults(widget)
        if widget.isWindow():
            widget.close()
        window._may_close = True
        window.close()
        world.session.close()
        window.deleteLater()
        settle(application)
    return faults


def settle(application: QApplication) -> None:
    """Let Qt do all that is due, what is to be deleted included."""
    for _ in range(5):
        application.processEvents()
    application.sendPostedEvents(None, QEvent.Type.DeferredDelete)


class opened:  # noqa: N801 - a context
    """A view on the screen, put away after."""

    def __init__(self, application: QApplication, shown: Shown, variant: Variant) -> None:
        self._application = application
        self._world = World(*make_session(Path("/home/ada/Videos")))
        self._widget = shown.make(self._world)
        self._shown = shown
        self._variant = variant

    def __enter__(self) -> QWidget:
        widget = self._widget
        if self._variant.is_small and isinstance(widget, MainWindow):
            widget.resize(widget.minimumSize())
        widget.show()
        self._application.processEvents()
        self._shown.settle(widget)
        settle(self._application)
        return widget

    def __exit__(self, *_: object) -> None:
        widget = self._widget
        if isinstance(widget, MainWindow):
            widget._may_close = True
        widget.close()
        self._world.session.close()
        widget.deleteLater()
        self._application.processEvents()


def render_apart(name: str, folder: Path, themes: Sequence[str] = THEMES) -> dict[str, list[str]]:
    """Render a variant in a process of its own; return the faults of each picture."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "QT_QPA_PLATFORM": "offscreen"}
    environment["QT_SCALE_FACTOR"] = str(VARIANTS[name].scale)
    command = [sys.executable, "-m", "tests.ui.views.scaled_pictures", str(folder), "--in-this-process", name, *themes]
    done = subprocess.run(
        command, check=False, cwd=REPOSITORY, env=environment, capture_output=True, text=True, timeout=_LIMIT_S
    )
    assert done.returncode == 0, done.stderr[-3000:]
    faults: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return faults


def _lines(faults: dict[str, list[str]]) -> Iterator[str]:
    for name, found in faults.items():
        for fault in found:
            yield f"{name}: {fault}"


def main() -> int:
    """Render and print."""
    folder, *names = sys.argv[1:]
    if names[:1] == ["--in-this-process"]:
        print(json.dumps(render(VARIANTS[names[1]], Path(folder), names[2:])))
        return 0
    num_faults = 0
    for name in names or VARIANTS:
        lines = list(_lines(render_apart(name, Path(folder) / name)))
        num_faults += len(lines)
        print(f"{name}: {len(lines)} faults", *lines, sep="\n  ")
    return 1 if num_faults else 0


if __name__ == "__main__":
    sys.exit(main())
