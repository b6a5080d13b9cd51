"""What can be done with clips in the history's list, by menu or by keys."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from podium.ui.views.widgets.actions import make_action

_LIST = Qt.ShortcutContext.WidgetWithChildrenShortcut


class HistoryActions(QObject):
    """The actions of the history; the list's own keys work where the list has the keyboard.

    Args:
        owner: What they belong to.
    """

    def __init__(self, owner: QWidget) -> None:
        super().__init__(owner)
        self.show = make_action(owner, self.tr("Show on the &Stage"), "Return", scope=_LIST)
        self.star = make_action(owner, self.tr("S&tar"), "S", is_checkable=True, scope=_LIST)
        self.compare = make_action(owner, self.tr("&Compare"), "C", icon="compare", scope=_LIST)
        self.reuse_all = make_action(owner, self.tr("&Reuse Everything"), "R", scope=_LIST)
        self.reuse_parts = make_action(owner, self.tr("Reuse &Parts…"), "Shift+R", scope=_LIST)
        self.start_image = make_action(owner, self.tr("Use as the First &Image"))
        self.show_in_folder = make_action(owner, self.tr("Show in F&older"), "F", scope=_LIST)
        self.export = make_action(owner, self.tr("E&xport…"), "E", scope=_LIST)
        self.trash = make_action(owner, self.tr("&Move to the Trash"), "Delete", scope=_LIST)
        self.find = make_action(owner, self.tr("&Find…"), "Ctrl+F")
        self.starred_only = make_action(owner, self.tr("&Starred Only"), is_checkable=True)
        self.as_list = make_action(owner, self.tr("As a &List"), is_checkable=True)
        self.to_live = make_action(owner, self.tr("&Back to the Clip at Work"), "Ctrl+0")
        self.forget_missing = make_action(owner, self.tr("Forget Clips Whose Files Are &Gone"))

    def menu(self) -> tuple[QAction | None, ...]:
        """Return the actions of a clip in the order of a menu; None parts groups."""
        return (
            *(self.show, self.compare, self.star, None),
            *(self.reuse_all, self.reuse_parts, self.start_image, None),
            *(self.export, self.show_in_folder, None, self.trash),
        )

    def of_history(self) -> tuple[QAction | None, ...]:
        """Return the actions of the whole history in the order of a menu; None parts groups."""
        return (
            *(self.find, self.starred_only, self.as_list, None),
            *(self.compare, self.to_live, None, self.forget_missing),
        )

    def show_can(self, *, num_chosen: int, can_compare: bool, is_starred: bool) -> None:
        """Enable what can be done.

        Args:
            num_chosen: Clips chosen in the list.
            can_compare: There are two to be compared.
            is_starred: The one chosen is.
        """
        for action in self.menu():
            if action is not None:
                action.setEnabled(num_chosen == 1)
        self.compare.setEnabled(can_compare)
        for action in (self.star, self.trash):
            action.setEnabled(num_chosen > 0)
        self.star.setChecked(is_starred)
