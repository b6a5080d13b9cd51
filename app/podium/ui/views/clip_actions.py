"""What can be done with the clip on the Stage, by menu, by button or by keys."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from podium.ui.views.widgets.actions import make_action


class ClipActions(QObject):
    """The actions of the clip on the Stage; whoever has the clip connects them.

    Args:
        owner: What they belong to.
    """

    def __init__(self, owner: QWidget) -> None:
        super().__init__(owner)
        self._owner = owner
        self.use_first = make_action(owner, self.tr("Use This Frame as the &First Image"), "Ctrl+Shift+1", icon="image")
        self.use_last = make_action(owner, self.tr("Use This Frame as the Last &Image"), "Ctrl+Shift+2", icon="image")
        self.save_frame = make_action(owner, self.tr("Sa&ve This Frame…"), "Ctrl+Shift+S", icon="camera")
        self.copy_frame = make_action(owner, self.tr("&Copy This Frame"), "Ctrl+Shift+C", icon="copy")
        self.copy_file = make_action(owner, self.tr("Copy the Clip's Fil&e"), icon="copy")
        self.export = make_action(owner, self.tr("E&xport…"), "Ctrl+E", icon="export")
        self.show_in_folder = make_action(owner, self.tr("Show in F&older"), "Ctrl+Shift+F", icon="folder")
        self.star = make_action(owner, self.tr("S&tar"), "Ctrl+B", icon="star", is_checkable=True)
        self.reuse_all = make_action(owner, self.tr("&Reuse Everything"), "Ctrl+U", icon="history")
        self.reuse_parts = make_action(owner, self.tr("Reuse Part&s…"), "Ctrl+Shift+U", icon="history")
        self.trash = make_action(owner, self.tr("&Move to the Trash"), icon="trash")

    def menu(self) -> tuple[QAction | None, ...]:
        """Return all actions in the order of a menu; None parts groups."""
        return (
            *(self.use_first, self.use_last, self.save_frame, self.copy_frame, None),
            *(self.reuse_all, self.reuse_parts, None),
            *(self.export, self.copy_file, self.show_in_folder, None),
            *(self.star, self.trash),
        )

    def show_can(self, *, has_clip: bool, has_entry: bool, is_starred: bool) -> None:
        """Enable what can be done.

        Args:
            has_clip: A finished clip is shown.
            has_entry: It stands in the history.
            is_starred: It is starred there.
        """
        for action in (*self._of_frames(), self.export, self.copy_file, self.show_in_folder):
            action.setEnabled(has_clip)
        for action in (self.star, self.reuse_all, self.reuse_parts, self.trash):
            action.setEnabled(has_entry)
        self.star.setChecked(is_starred)

    def _of_frames(self) -> tuple[QAction, ...]:
        return (self.use_first, self.use_last, self.save_frame, self.copy_frame)
