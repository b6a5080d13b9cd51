"""Render and store the pictures of the window: `python -m tests.ui.views.render_pictures [FOLDER]`. Look at each."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QDeadlineTimer
from PySide6.QtWidgets import QApplication

from podium.ui.theme import apply_theme

from tests.fakes.ui import make_session
from tests.ui.views import scenes
from tests.ui.views.conftest import write_clip
from tests.ui.views.pictures import FOLDER, pixels_of, store
from tests.ui.views.scenery import evening
from tests.ui.views.scenes import Scene, World, make_window
from tests.ui.views.test_pictures import STILL, THEMES

_PATIENCE_MS = 10_000


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    application = QApplication([])
    application.setCursorFlashTime(0)
    with tempfile.TemporaryDirectory() as clips:
        clip = scenes.ClipFormat(352, 608, 9, scenes.CLIP.fps)
        frames = [evening(clip.width, clip.height, time=0.25 + k / 100) for k in range(clip.num_frames)]
        finished = write_clip(Path(clips) / "evening.mp4", clip, frames)
        for theme_name in THEMES:
            apply_theme(application, theme_name)
            for name in STILL:
                render(application, getattr(scenes, name), folder / f"{name}-{theme_name}.png")
            scene: Scene = lambda world: scenes.finish(world, finished)  # noqa: E731 - one line says it all
            render(application, scene, folder / f"finished-{theme_name}.png", waits=True)


def render(application: QApplication, scene: Scene, path: Path, *, waits: bool = False) -> None:
    world = World(*make_session(Path("/home/ada/Videos")))
    window = make_window(world, scene)
    window.show()
    if waits:
        window.tabs.setCurrentWidget(window.history)
    deadline = QDeadlineTimer(_PATIENCE_MS)
    application.processEvents()
    while waits and window.stage.picture.image.isNull() and not deadline.hasExpired():
        application.processEvents()
    application.processEvents()
    store(pixels_of(window.grab()), path)
    window._may_close = True
    window.close()
    world.session.close()
    window.deleteLater()
    application.processEvents()
    print(path.name)


if __name__ == "__main__":
    main()
