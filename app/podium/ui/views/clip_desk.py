"""What is done with the clip on the Stage: its pictures taken out, its file handed on, its entry starred or trashed."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from podium.ui.state.exports import ExportsState
from podium.ui.state.history import HistoryState
from podium.ui.state.images import FramePlace
from podium.ui.state.values import HistoryEntry
from podium.ui.views.clip_actions import ClipActions
from podium.ui.views.picture import PictureView
from podium.ui.views.player.clip_player import ClipPlayer
from podium.ui.views.shown_clip import ShownClip, entry_of_path
from podium.ui.views.stage_picture import file_mime
from podium.ui.views.widgets.file_dialogs import open_save_dialog


class ClipDesk(QObject):
    """Do what the `ClipActions` say with the clip on the Stage.

    Args:
        owner: The Stage.
        history: Where the clip's entry stands.
        exports: Takes pictures out of clips.
    """

    folder_requested = Signal(object)
    """A `Path` to be shown in the file manager."""
    export_requested = Signal(object)
    """A `ShownClip` shall be exported."""
    reuse_requested = Signal(object, bool)
    """A `HistoryEntry`'s request shall be reused, and whether the artist chooses its parts."""

    def __init__(self, owner: QWidget, history: HistoryState, exports: ExportsState) -> None:
        super().__init__(owner)
        self._owner = owner
        self._history = history
        self._exports = exports
        self._shown: ShownClip | None = None
        self._player: ClipPlayer | None = None
        self._picture: PictureView | None = None
        self.actions = ClipActions(owner)
        self._connect()
        self._show()

    def show_clip(self, shown: ShownClip | None, player: ClipPlayer | None, picture: PictureView) -> None:
        """Work with this clip from now on; a preview is not to be kept."""
        self._shown = None if shown is None or shown.is_preview else shown
        self._player, self._picture = player, picture
        self._show()

    def _connect(self) -> None:
        actions = self.actions
        for action, slot in (
            (actions.use_first, self._on_use_first),
            (actions.use_last, self._on_use_last),
            (actions.save_frame, self._on_save_frame),
            (actions.copy_frame, self._on_copy_frame),
            (actions.copy_file, self._on_copy_file),
            (actions.export, self._on_export),
            (actions.show_in_folder, self._on_show_in_folder),
            (actions.star, self._on_star),
            (actions.reuse_all, self._on_reuse_all),
            (actions.reuse_parts, self._on_reuse_parts),
            (actions.trash, self._on_trash),
        ):
            action.triggered.connect(slot)
        model = self._history.model
        changes = (model.dataChanged, model.rowsInserted, model.rowsRemoved, model.modelReset)
        for signal in (*changes, self._history.selected_changed):
            signal.connect(self._show)

    def _show(self) -> None:
        entry = self._entry()
        self.actions.show_can(
            has_clip=self._shown is not None,
            has_entry=entry is not None,
            is_starred=entry is not None and entry.is_starred,
        )

    def _entry(self) -> HistoryEntry | None:
        """Return the entry of the clip that is shown; None where it has none."""
        return None if self._shown is None else entry_of_path(self._history, self._shown.path)

    def _on_use_first(self) -> None:
        self._use_frame(FramePlace.FIRST)

    def _on_use_last(self) -> None:
        self._use_frame(FramePlace.LAST)

    def _use_frame(self, place: FramePlace) -> None:
        if self._shown is not None and self._player is not None:
            self._exports.use_frame(self._shown.path, self._player.frame, place)

    def _on_save_frame(self) -> None:
        if self._shown is None or self._player is None:
            return
        path, frame = self._shown.path, self._player.frame
        # What is saved is what is seen while the name is chosen.
        self._player.pause()
        proposed = path.with_name(f"{path.stem}-{frame + 1:05d}.png")
        pictures = self.tr("PNG pictures (*.png)")
        dialog = open_save_dialog(self._owner, self.tr("Save This Frame"), proposed, name_filter=pictures)

        def save(name: str) -> None:
            self._exports.save_frame(path, frame, Path(name))

        dialog.fileSelected.connect(save)

    def _on_copy_frame(self) -> None:
        if self._picture is not None:
            QGuiApplication.clipboard().setImage(self._picture.image)

    def _on_copy_file(self) -> None:
        if self._shown is not None:
            QGuiApplication.clipboard().setMimeData(file_mime(self._shown.path))

    def _on_export(self) -> None:
        if self._shown is not None:
            self.export_requested.emit(self._shown)

    def _on_show_in_folder(self) -> None:
        if self._shown is not None:
            self.folder_requested.emit(self._shown.path)

    def _on_star(self, is_starred: bool) -> None:  # noqa: FBT001 - Qt's signature
        entry = self._entry()
        if entry is not None:
            self._history.set_starred(entry.key, is_starred)

    def _on_reuse_all(self) -> None:
        self._reuse(chooses=False)

    def _on_reuse_parts(self) -> None:
        self._reuse(chooses=True)

    def _reuse(self, *, chooses: bool) -> None:
        entry = self._entry()
        if entry is not None:
            self.reuse_requested.emit(entry, chooses)

    def _on_trash(self) -> None:
        entry = self._entry()
        if entry is not None:
            self._history.trash(entry.key)
