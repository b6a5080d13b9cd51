"""What can be done with the queue and its entries, by menu, by button or by keys."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from podium.ui.state.queue import QueueState
from podium.ui.state.values import EntryStatus, QueueEntry
from podium.ui.views.widgets.actions import make_action

_LIST = Qt.ShortcutContext.WidgetWithChildrenShortcut


class QueueActions(QObject):
    """The actions of the queue; the keys of an entry work where the list has the keyboard.

    Args:
        owner: What they belong to.
    """

    def __init__(self, owner: QWidget) -> None:
        super().__init__(owner)
        self.edit = make_action(owner, self.tr("&Edit"), "Return", icon="edit", scope=_LIST)
        self.duplicate = make_action(owner, self.tr("&Duplicate"), "D", icon="copy", scope=_LIST)
        self.pause_entry = make_action(owner, self.tr("Pass &Over"), "P", icon="pause", is_checkable=True, scope=_LIST)
        self.retry = make_action(owner, self.tr("&Retry"), "R", icon="refresh", scope=_LIST)
        self.to_front = make_action(owner, self.tr("Move to the &Front"), "Alt+Home", icon="to-front", scope=_LIST)
        self.move_up = make_action(owner, self.tr("Move &Up"), "Alt+Up", icon="arrow-up", scope=_LIST)
        self.move_down = make_action(owner, self.tr("Move Dow&n"), "Alt+Down", icon="arrow-down", scope=_LIST)
        self.remove = make_action(owner, self.tr("Re&move"), "Delete", icon="trash", scope=_LIST)
        self.stop_editing = make_action(owner, self.tr("&Leave the Edited Entry as It Was"))
        self.pause = make_action(owner, self.tr("&Pause the Queue"), "Ctrl+P", icon="pause", is_checkable=True)
        self.group = make_action(owner, self.tr("&Group by Model"), icon="group")
        self.cancel_all = make_action(owner, self.tr("&Cancel All"))
        self.clear = make_action(owner, self.tr("Clear &What Waits"))
        self.clear_and_restart = make_action(owner, self.tr("Clear and Res&tart the Fleet"))

    def of_entry(self) -> tuple[QAction, ...]:
        """Return the actions of the chosen entry."""
        return (
            *(self.edit, self.duplicate, self.pause_entry, self.retry),
            *(self.to_front, self.move_up, self.move_down, self.remove),
        )

    def of_queue(self) -> tuple[QAction | None, ...]:
        """Return the actions of the whole queue; None parts groups."""
        return (self.group, None, self.cancel_all, self.clear, self.clear_and_restart)

    def menu(self) -> tuple[QAction | None, ...]:
        """Return all actions in the order of a menu; None parts groups."""
        return (*self.of_entry(), self.stop_editing, None, self.pause, *self.of_queue())

    def show_can(self, state: QueueState, chosen: tuple[QueueEntry, ...]) -> None:
        """Enable what can be done with the queue and with the chosen entries."""
        one = chosen[0] if len(chosen) == 1 else None
        is_still = bool(chosen) and all(entry.status is not EntryStatus.RUNNING for entry in chosen)
        self.edit.setEnabled(one is not None and is_still)
        self.duplicate.setEnabled(bool(chosen))
        self.pause_entry.setEnabled(bool(chosen) and all(entry.status.is_waiting for entry in chosen))
        self.pause_entry.setChecked(bool(chosen) and all(entry.status is EntryStatus.PAUSED for entry in chosen))
        self.retry.setEnabled(bool(chosen) and all(entry.status.is_over for entry in chosen))
        for action in (self.to_front, self.move_up, self.move_down):
            action.setEnabled(one is not None and is_still)
        self.remove.setEnabled(is_still)
        self.stop_editing.setEnabled(state.edited_key is not None)
        self.pause.setChecked(state.is_paused)
        self.group.setEnabled(sum(entry.status.is_waiting for entry in state.entries) > 1)
        for action in (self.cancel_all, self.clear, self.clear_and_restart):
            action.setEnabled(bool(state.entries))
