"""The composition root: everything of one window is made here, put together, and taken apart again.

Rule for callers: `podium.ui.display` says whether a window can be opened before this module, and Qt with it, is loaded.
"""

from __future__ import annotations

import base64
import logging
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import platformdirs
from PySide6.QtCore import QByteArray, QEvent, QObject, Qt, QTimer, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QGuiApplication, QImage
from PySide6.QtWidgets import QApplication

from podium import __version__
from podium.library import Library
from podium.library.store import FILE_NAME as LIBRARY_NAME
from podium.settings import Settings, SettingsError, default_path, load_settings, save_settings
from podium.ui.baton import Baton
from podium.ui.desktop_bus import BusAddresses
from podium.ui.faults import FaultReports
from podium.ui.fleet_maker import RunnerFleetMaker
from podium.ui.helper_client import COMMAND, HelperClient
from podium.ui.life import WindowLife, bring_to_front
from podium.ui.link import OwnerLink
from podium.ui.mailbox import Mailbox
from podium.ui.monitor import Monitor, MonitorSignals
from podium.ui.owner import FleetMaker, Owner, OwnerSignals
from podium.ui.picture_file import keep_picture
from podium.ui.remember import collect, restore
from podium.ui.single_window import Handover, SingleWindow
from podium.ui.state.session import Places, SessionState
from podium.ui.state.values import ErrorMessage
from podium.ui.theme import apply_theme
from podium.ui.translation import install_translation
from podium.ui.trash import SystemTrash
from podium.ui.unix_signals import UnixSignals
from podium.ui.views.fault_dialog import FaultDialog
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
        data: Holds queue and history; beside the settings by default.
    """

    settings: Path
    cache: Path
    clips: Path
    logs: Path | None = None
    data: Path | None = None

    @property
    def data_folder(self) -> Path:
        """Return the folder of which there is one window."""
        return self.data or self.settings.parent

    @property
    def library(self) -> Path:
        """Return the file of queue and history."""
        return self.data_folder / LIBRARY_NAME


def default_places() -> WindowPlaces:
    """Return the places that the platform keeps for such things."""
    return WindowPlaces(
        settings=default_path(),
        cache=platformdirs.user_cache_path("podium", appauthor=False),
        clips=platformdirs.user_videos_path() / "Podium",
        data=platformdirs.user_data_path("podium", appauthor=False),
    )


class PodiumWindow(QObject):
    """One window with all that belongs to it. `open`, run the application's loop, `close`.

    Args:
        application: The process's.
        places: Where it keeps what.
        maker: Makes fleets; of the distilled runner by default.
        helper_command: Starts the helper process.
        buses: The desktop's.
    """

    def __init__(
        self,
        application: QApplication,
        places: WindowPlaces,
        *,
        maker: FleetMaker | None = None,
        helper_command: Sequence[str] = COMMAND,
        buses: BusAddresses | None = None,
    ) -> None:
        super().__init__()
        self._application = application
        self._buses = buses
        self._places = places
        self._settings = Settings()
        self._is_closed = False
        self._start_timer = QTimer(self)
        self._start_timer.setSingleShot(True)
        self._start_timer.timeout.connect(self._start_behind)
        self.widget: MainWindow | None = None
        self.life: WindowLife | None = None
        self._fault_dialog: FaultDialog | None = None
        self.helper = HelperClient(helper_command, is_held=True, parent=self)
        self.baton = Baton()
        self._owner_signals = OwnerSignals(self)
        mailbox = Mailbox()
        maker = maker or RunnerFleetMaker(places.cache / "previews", places.logs)
        self.owner = Owner(maker, self.baton, mailbox, self._owner_signals)
        self.library = Library.open(places.library)
        self.session = SessionState(
            self.helper,
            self.baton,
            Places(places.clips, places.cache, places.data_folder),
            self,
            library=self.library,
            trash=SystemTrash(),
        )
        self._link = OwnerLink(self.session, self.owner, self._owner_signals, mailbox, self)
        self._unix_signals = UnixSignals(self)
        monitor_signals = MonitorSignals(self)
        self._monitor = Monitor(monitor_signals)
        monitor_signals.taken.connect(self.session.fleet.take_reading)
        self.session.fleet.watched_pids_changed.connect(self._watch_ranks)

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
        self.session.restore_form()
        self._dress()
        self.widget = self._make_widget()
        self.life = self._make_life(self.widget)
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
        if self.widget is not None:
            self.widget.removeEventFilter(self)
            # A field that is being typed in gives up its number now, while the form is still kept.
            self.widget.hide()
        self._link.close()
        self._monitor.close()
        self.session.close()
        self.library.close()
        self.owner.quit()
        self._save()
        self.helper.close()
        if not self.owner.join(JOIN_LIMIT_S):
            _log.error("The fleet's owner did not end in time; its processes were killed")
        logging.getLogger().removeHandler(self.baton.logs)
        if self.life is not None:
            # A session that ends waits for this, and then takes the screen away.
            self.life.close()
        self._unix_signals.close()
        if self.widget is not None:
            self.widget.deleteLater()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """See the first paint: what stands behind the window is started after it, or it would take time from it."""
        if event.type() is QEvent.Type.Paint and not self._is_closed:
            watched.removeEventFilter(self)
            # It takes the place of the limit.
            self._start_timer.start(0)
        return False

    @Slot(object)
    def take_handover(self, handover: Handover) -> None:
        """Come to the front, with what a later start was given."""
        if self.widget is not None and not self._is_closed:
            bring_to_front(self.widget, handover.activation_token)
            for path in handover.files:
                self.session.open_clip_file(path)

    @Slot(object)
    def show_fault(self, message: ErrorMessage) -> None:
        """Tell of a fault, unless one is being told of: where there is one there may be a hundred."""
        if self.widget is None or self._is_closed or self._fault_dialog is not None:
            return
        self._fault_dialog = FaultDialog(message, self.widget)
        self._fault_dialog.finished.connect(self._on_fault_read)
        self._fault_dialog.open()

    @Slot()
    def _on_fault_read(self) -> None:
        self._fault_dialog = None

    @Slot()
    def _start_behind(self) -> None:
        if self.widget is not None:
            # A first paint that comes after the limit is no reason to start all again.
            self.widget.removeEventFilter(self)
        self.helper.start()
        self.owner.start()
        self.owner.prepare()
        self.session.devices.refresh()
        self._monitor.start()
        if self.life is not None:
            self.life.open()

    @Slot()
    def _watch_ranks(self) -> None:
        self._monitor.watch(self.session.fleet.watched_pids)

    @Slot(int)
    def _on_signal(self, number: int) -> None:
        _log.info("Signal %d: closing", number)
        # Not quit(): that asks the window, and nobody may be there to answer.
        self._application.exit(0)

    @Slot(str)
    def _on_theme_requested(self, name: str) -> None:
        self._settings = replace(self._settings, window=replace(self._settings.window, theme=name))
        apply_theme(self._application, name)

    @Slot(bool)
    def _on_motion_told(self, is_still: bool) -> None:  # noqa: FBT001 - a signal's argument
        # What the artist chose since holds until the system changes its mind.
        if self.widget is not None and is_still != self._settings.window.is_system_still:
            self._settings = replace(self._settings, window=replace(self._settings.window, is_system_still=is_still))
            self.widget.menu_actions.reduce_motion.setChecked(is_still)

    @Slot(bool)
    def _on_notifications_toggled(self, is_on: bool) -> None:  # noqa: FBT001 - a signal's argument
        self._settings = replace(self._settings, window=replace(self._settings.window, has_notifications=is_on))
        if self.life is not None:
            self.life.notifications.set_on(is_on)

    @Slot(object)
    def _on_image_pasted(self, image: QImage) -> None:
        path = self.session.pictures.pasted_path()
        if keep_picture(image, path):
            self.session.compose.images.add([path])
        else:
            text = self.tr("The picture cannot be kept in “{0}”. Make room on that disk, or the folder writable.")
            self.session.clip_refused.emit(ErrorMessage(text.format(path.parent)))

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

    def _make_life(self, widget: MainWindow) -> WindowLife:
        life = WindowLife(self._application, self.session, widget, addresses=self._buses, parent=self)
        life.woken.connect(self.owner.exercise_fleet)
        life.motion_told.connect(self._on_motion_told)
        is_on = self._settings.window.has_notifications
        life.notifications.set_on(is_on)
        widget.menu_actions.notify.setChecked(is_on)
        widget.menu_actions.notify.toggled.connect(self._on_notifications_toggled)
        return life

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


def run_window(places: WindowPlaces | None = None, handover: Handover | None = None) -> int:
    """Open the window and return the exit code once it is closed; or hand over to the one that is open.

    Args:
        places: Where it keeps what; by default where the platform keeps such things.
        handover: What this start was given.

    Raises:
        WindowHeldError: There is a window for these places, and it does not answer.
    """
    places, handover = places or default_places(), handover or Handover()
    QGuiApplication.setHighDpiScaleFactorRoundingPolicy(Qt.HighDpiScaleFactorRoundingPolicy.PassThrough)
    application = QApplication(sys.argv[:1])
    application.setApplicationName("podium")
    application.setApplicationDisplayName("Podium")
    application.setApplicationVersion(__version__)
    application.setDesktopFileName("podium")
    single = SingleWindow(places.data_folder)
    if not single.open(handover):
        _log.info("Podium is open already; it was handed what this start was given")
        return 0
    faults = FaultReports()
    faults.open()
    try:
        return _run_one_window(application, places, handover, single=single, faults=faults)
    finally:
        faults.close()
        single.close()


def _run_one_window(
    application: QApplication,
    places: WindowPlaces,
    handover: Handover,
    *,
    single: SingleWindow,
    faults: FaultReports,
) -> int:
    install_translation(application, load_settings(places.settings).window.language)
    window = PodiumWindow(application, places)
    single.received.connect(window.take_handover)
    faults.found.connect(window.show_fault)
    try:
        window.open()
        for path in handover.files:
            window.session.open_clip_file(path)
        return application.exec()
    finally:
        window.close()


def _to_text(data: QByteArray) -> str:
    return base64.b64encode(bytes(data.data())).decode()


def _from_text(text: str) -> QByteArray:
    """Return what `_to_text` was given; nothing of a text that is no base64."""
    return QByteArray.fromBase64(text.encode("ascii", "replace"))
