"""The composition root: everything of one window is made here, put together, and taken apart again.

Rule for callers: `podium.ui.display` says whether a window can be opened before this module, and Qt with it, is loaded.
"""

from __future__ import annotations

import base64
import logging
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

import platformdirs
from PySide6.QtCore import (
    QByteArray,
    QEvent,
    QMessageLogContext,
    QObject,
    Qt,
    QTimer,
    QtMsgType,
    QUrl,
    Slot,
    qInstallMessageHandler,
)
from PySide6.QtGui import QDesktopServices, QGuiApplication, QImage
from PySide6.QtWidgets import QApplication

from podium import __version__
from podium.settings import Settings, SettingsError, default_path, load_settings, save_settings
from podium.ui.baton import Baton
from podium.ui.fleet_maker import RunnerFleetMaker
from podium.ui.helper_client import COMMAND, HelperClient
from podium.ui.link import OwnerLink
from podium.ui.mailbox import Mailbox
from podium.ui.owner import FleetMaker, Owner, OwnerSignals
from podium.ui.remember import collect, restore
from podium.ui.state.session import Places, SessionState
from podium.ui.theme import apply_theme
from podium.ui.unix_signals import UnixSignals
from podium.ui.views.main_window import MainWindow

JOIN_LIMIT_S = 2.5
PAINT_LIMIT_MS = 1000
THEME_NAMES = ("system", "light", "dark")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WindowPlaces:
    """Where a window keeps what.

    Args:
        settings: The file.
        cache: Holds nothing that cannot be made again.
        clips: Where clips go unless the settings say otherwise.
        logs: Where ranks' logs go; the user's log folder by default.
    """

    settings: Path
    cache: Path
    clips: Path
    logs: Path | None = None


def default_places() -> WindowPlaces:
    """Return the places that the platform keeps for such things."""
    return WindowPlaces(
        settings=default_path(),
        cache=platformdirs.user_cache_path("podium", appauthor=False),
        clips=platformdirs.user_videos_path() / "Podium",
    )


class PodiumWindow(QObject):
    """One window with all that belongs to it. `open`, run the application's loop, `close`.

    Args:
        application: The process's.
        places: Where it keeps what.
        maker: Makes fleets; of the distilled runner by default.
        helper_command: Starts the helper process.
    """

    def __init__(
        self,
        application: QApplication,
        places: WindowPlaces,
        *,
        maker: FleetMaker | None = None,
        helper_command: Sequence[str] = COMMAND,
    ) -> None:
        super().__init__()
        self._application = application
        self._places = places
        self._settings = Settings()
        self._is_closed = False
        self._start_timer = QTimer(self)
        self._start_timer.setSingleShot(True)
        self._start_timer.timeout.connect(self._start_behind)
        self.widget: MainWindow | None = None
        self.helper = HelperClient(helper_command, is_held=True, parent=self)
        self.baton = Baton()
        self._owner_signals = OwnerSignals(self)
        mailbox = Mailbox()
        maker = maker or RunnerFleetMaker(places.cache / "previews", places.logs)
        self.owner = Owner(maker, self.baton, mailbox, self._owner_signals)
        self.session = SessionState(self.helper, self.baton, Places(places.clips, places.cache), self)
        self._link = OwnerLink(self.session, self.owner, self._owner_signals, mailbox, self)
        self._unix_signals = UnixSignals(self)

    def open(self) -> None:
        """Show the window, and start what stands behind it."""
        self._settings = load_settings(self._places.settings)
        if self._settings.clip.folder:
            self.session.set_clips_folder(Path(self._settings.clip.folder))
        self._unix_signals.received.connect(self._on_signal)
        self._unix_signals.open()
        logging.getLogger().addHandler(self.baton.logs)
        # Whether the window welcomes a new artist depends on what is remembered.
        restore(self.session, self._settings)
        self._dress()
        self.widget = self._make_widget()
        self.widget.installEventFilter(self)
        self.widget.show()
        # A window that opens minimised is not painted.
        self._start_timer.start(PAINT_LIMIT_MS)

    def close(self) -> None:
        """Take everything apart, within 3 s and whatever the ranks do: nothing is left on any device."""
        if self._is_closed:
            return
        self._is_closed = True
        self._start_timer.stop()
        self._link.close()
        self.session.close()
        self.owner.quit()
        self._save()
        self.helper.close()
        if not self.owner.join(JOIN_LIMIT_S):
            _log.error("The fleet's owner did not end in time; its processes were killed")
        logging.getLogger().removeHandler(self.baton.logs)
        self._unix_signals.close()
        if self.widget is not None:
            self.widget.removeEventFilter(self)
            self.widget.hide()
            self.widget.deleteLater()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """See the first paint: what stands behind the window is started after it, or it would take time from it."""
        if event.type() is QEvent.Type.Paint and not self._is_closed:
            watched.removeEventFilter(self)
            # It takes the place of the limit.
            self._start_timer.start(0)
        return False

    @Slot()
    def _start_behind(self) -> None:
        self.helper.start()
        self.owner.start()
        self.owner.prepare()
        self.session.devices.refresh()

    @Slot(int)
    def _on_signal(self, number: int) -> None:
        _log.info("Signal %d: closing", number)
        # Not quit(): that asks the window, and nobody may be there to answer.
        self._application.exit(0)

    @Slot(str)
    def _on_theme_requested(self, name: str) -> None:
        self._settings = replace(self._settings, window=replace(self._settings.window, theme=name))
        apply_theme(self._application, name)

    @Slot(object)
    def _on_image_pasted(self, image: QImage) -> None:
        folder = self._places.cache / "pasted"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{datetime.now(UTC):%Y%m%dT%H%M%S-%f}.png"
        # 100 is the quickest: nothing is packed.
        if image.save(str(path), "PNG", 100):  # type: ignore[call-overload]  # Qt takes text, its stubs want bytes
            self.session.compose.set_image(path)
        else:
            _log.warning("The pasted picture could not be kept in %s", path)

    @Slot(object)
    def _on_folder_requested(self, path: Path) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.parent)))

    def _make_widget(self) -> MainWindow:
        window = self._settings.window
        theme = window.theme if window.theme in THEME_NAMES else "system"
        widget = MainWindow(self.session, theme_name=theme)
        widget.theme_requested.connect(self._on_theme_requested)
        widget.image_pasted.connect(self._on_image_pasted)
        widget.folder_requested.connect(self._on_folder_requested)
        if window.geometry:
            widget.restoreGeometry(_from_text(window.geometry))
        if window.layout:
            widget.restore_layout(_from_text(window.layout))
        return widget

    def _dress(self) -> None:
        apply_theme(self._application, self._settings.window.theme)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_color_scheme_changed)

    @Slot()
    def _on_color_scheme_changed(self) -> None:
        if not self._is_closed:
            apply_theme(self._application, self._settings.window.theme)

    def _save(self) -> None:
        settings = collect(self.session, self._settings)
        if self.widget is not None:
            geometry, layout = _to_text(self.widget.saveGeometry()), _to_text(self.widget.save_layout())
            settings = replace(settings, window=replace(settings.window, geometry=geometry, layout=layout))
        folder = self.session.clips_folder
        # The default may move with the user's folders; it is not written down.
        text = "" if folder == self._places.clips else str(folder)
        settings = replace(settings, clip=replace(settings.clip, folder=text))
        try:
            save_settings(settings, self._places.settings)
        except SettingsError as error:
            _log.warning("%s %s", error.message, error.details)


def run_window(places: WindowPlaces | None = None) -> int:
    """Open the window and return the exit code once it is closed."""
    QGuiApplication.setHighDpiScaleFactorRoundingPolicy(Qt.HighDpiScaleFactorRoundingPolicy.PassThrough)
    application = QApplication(sys.argv[:1])
    application.setApplicationName("podium")
    application.setApplicationDisplayName("Podium")
    application.setApplicationVersion(__version__)
    application.setDesktopFileName("podium")
    qInstallMessageHandler(_log_qt_message)
    sys.excepthook = _log_fault
    threading.excepthook = _log_thread_fault
    window = PodiumWindow(application, places or default_places())
    try:
        window.open()
        return application.exec()
    finally:
        window.close()


def _to_text(data: QByteArray) -> str:
    return base64.b64encode(bytes(data.data())).decode()


def _from_text(text: str) -> QByteArray:
    """Return what `_to_text` was given; nothing of a text that is no base64."""
    return QByteArray.fromBase64(text.encode("ascii", "replace"))


def _log_fault(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Log what a slot raised: the border between Qt and Python, where it would only be printed."""
    _log.error("A fault in Podium", exc_info=(kind, error, trace))


def _log_qt_message(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    """Log what Qt would print; what its multimedia libraries find missing on the way is nobody's business."""
    category = context.category or ""
    is_chatter = kind in (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg) or category.startswith("qt.multimedia")
    level = logging.DEBUG if is_chatter else logging.WARNING if kind is QtMsgType.QtWarningMsg else logging.ERROR
    _log.log(level, "Qt, %s: %s", category, message)


def _log_thread_fault(arguments: threading.ExceptHookArgs) -> None:
    error = arguments.exc_value
    _log.error("A fault in the thread %s", arguments.thread and arguments.thread.name, exc_info=error)
