"""The window's dialogs: each is opened over it, beside the event loop, and works on the session's states."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from podium import __version__
from podium.jobs import GenerationRequest
from podium.ui.state.session import SessionState
from podium.ui.state.values import ALL_PARTS, ClipOffer, HistoryEntry
from podium.ui.views.device_view import DeviceView
from podium.ui.views.dialogs import AboutDialog, KeyGroup, PanelDialog, ShortcutsDialog
from podium.ui.views.export_dialog import ExportDialog
from podium.ui.views.pack_view import PackView
from podium.ui.views.reuse_dialog import ReuseDialog
from podium.ui.views.shown_clip import ShownClip
from podium.ui.views.widgets.buttons import make_button
from podium.ui.views.widgets.file_dialogs import open_file_dialog


class WindowDialogs(QObject):
    """Open the window's dialogs.

    Args:
        session: What they work on.
        window: What they stand over.
    """

    folder_requested = Signal(object)
    """A `Path` to be shown in the file manager."""

    def __init__(self, session: SessionState, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._window = window
        session.reuse_offered.connect(self.offer)

    @property
    def is_exporting(self) -> bool:
        """Return whether the dialog of exports is open: it says itself what failed."""
        return any(dialog.isVisible() for dialog in self._window.findChildren(ExportDialog))

    def choose_model(self) -> None:
        """Ask for the model's files."""
        demo = make_button(self.tr("Try the demo model"), icon="demo")
        demo.clicked.connect(self._session.try_demo)
        PanelDialog(self.tr("Model"), PackView(self._session.pack), extra=demo, parent=self._window).open()

    def choose_devices(self) -> None:
        """Ask for the devices."""
        PanelDialog(self.tr("Devices"), DeviceView(self._session.devices), parent=self._window).open()

    def choose_clips_folder(self) -> None:
        """Ask where finished clips go."""
        dialog = open_file_dialog(self._window, self.tr("Where finished clips go"), takes_folder=True)
        dialog.fileSelected.connect(self._on_folder)

    def open_clip(self) -> None:
        """Ask for a clip whose parameters shall be reused."""
        name_filter = self.tr("Clips made by Podium (*.mp4)")
        dialog = open_file_dialog(self._window, self.tr("Reuse a clip's parameters"), name_filter=name_filter)
        dialog.fileSelected.connect(self._on_clip)

    def export(self, clip: ShownClip) -> None:
        """Export a clip, or watch the export at work."""
        dialog = ExportDialog(self._session.exports, clip, self._window)
        dialog.folder_requested.connect(self.folder_requested)
        dialog.open()

    @Slot(object, bool)
    def reuse(self, entry: HistoryEntry, chooses: bool) -> None:  # noqa: FBT001 - a signal's argument
        """Reuse a clip's request: all of it, or the parts that are chosen."""
        if chooses:
            self._ask_parts(self.tr("Reuse"), entry.request, entry.model_name)
        else:
            self._session.reuse(entry.request, ALL_PARTS)

    @Slot(object)
    def offer(self, offer: ClipOffer) -> None:
        """Offer the parts of what a clip's file was made with."""
        model = "" if offer.models is None else offer.models.checkpoint_path.stem
        title = self.tr("Reuse “{0}”").format(offer.path.name)
        self._ask_parts(title, offer.request, model, offer.sentence)

    def show_shortcuts(self, groups: list[KeyGroup]) -> None:
        """Show every key there is."""
        ShortcutsDialog(groups, self._window).open()

    def show_about(self) -> None:
        """Say what Podium is."""
        AboutDialog(__version__, self._window).open()

    def _ask_parts(self, title: str, request: GenerationRequest, model_name: str, note: str = "") -> None:
        dialog = ReuseDialog(title, request, model_name=model_name, note=note, parent=self._window)
        dialog.chosen.connect(lambda parts: self._session.reuse(request, parts))
        dialog.open()

    @Slot(str)
    def _on_folder(self, name: str) -> None:
        self._session.set_clips_folder(Path(name))

    @Slot(str)
    def _on_clip(self, name: str) -> None:
        self._session.open_clip_file(Path(name))
