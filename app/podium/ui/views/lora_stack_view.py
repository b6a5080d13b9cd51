"""The LoRA stack: what is applied to the next clip, from top to bottom."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QPointF, Slot
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QPushButton, QWidget

from podium.ui.state.loras import LoraStackState
from podium.ui.theme import METRICS, Tint
from podium.ui.views.lora_item_view import LoraItemView
from podium.ui.views.widgets.buttons import make_button
from podium.ui.views.widgets.drops import local_paths
from podium.ui.views.widgets.file_dialogs import open_file_dialog
from podium.ui.views.widgets.icon_label import IconLabel
from podium.ui.views.widgets.layouts import around, column, row
from podium.ui.views.widgets.roles import give_surface, make_label


class LoraStackView(QWidget):
    """Show and change a `LoraStackState`; files can be dropped on it."""

    def __init__(self, state: LoraStackState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._views: dict[int, LoraItemView] = {}
        self.setAcceptDrops(True)
        self._add = make_button(self.tr("Add…"), icon="plus")
        self._add.setAccessibleName(self.tr("Add LoRA files"))
        self._empty = give_surface(QWidget(), "drop")
        words = make_label(self.tr("Drop LoRA files, or add them"), wraps=True)
        line = row(IconLabel("stack", Tint.MUTED), margins=around(METRICS.space_m))
        line.addWidget(words, 1)
        self._empty.setLayout(line)
        self._list = column()
        head = row(make_label(self.tr("LoRAs"), "section"), None, self._add)
        self.setLayout(column(head, self._empty, self._list))
        self._add.clicked.connect(self.choose)
        state.items_changed.connect(self._show)
        self._show()

    @property
    def item_views(self) -> list[LoraItemView]:
        """Return what shows each item, in the stack's order."""
        return [self._views[item.key] for item in self._state.items]

    @property
    def add_button(self) -> QPushButton:
        """Return what opens the file dialog."""
        return self._add

    def choose(self) -> None:
        """Ask for LoRA files."""
        title = self.tr("Add LoRAs")
        name_filter = self.tr("LoRAs ({0})").format("*.safetensors")
        open_file_dialog(self, title, name_filter=name_filter, takes_many=True).filesSelected.connect(self._on_files)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802 - Qt's name
        """Say that files can be dropped."""
        if local_paths(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802 - Qt's name
        """Add what was dropped."""
        self._state.add(local_paths(event.mimeData()))
        event.acceptProposedAction()

    @Slot(list)
    def _on_files(self, names: list[str]) -> None:
        self._state.add([Path(name) for name in names])

    def _show(self) -> None:
        items = self._state.items
        for key in self._views.keys() - {item.key for item in items}:
            view = self._views.pop(key)
            self._list.removeWidget(view)
            view.hide()
            view.deleteLater()
        for place, item in enumerate(items):
            view = self._views.get(item.key) or self._make_view(item.key)
            if self._list.indexOf(view) != place:
                self._list.insertWidget(place, view)
            view.show_item(item)
        self._empty.setVisible(not items)

    def _make_view(self, key: int) -> LoraItemView:
        view = LoraItemView(self)
        self._views[key] = view
        view.toggled.connect(partial(self._state.set_on, key))
        view.strength_changed.connect(partial(self._state.set_strength, key))
        view.branches_changed.connect(partial(self._state.set_branches, key))
        view.remove_requested.connect(partial(self._state.remove, key))
        view.grip.pushed.connect(partial(self._move, key))
        view.grip.dragged.connect(partial(self._on_dragged, key))
        return view

    def _move(self, key: int, step: int) -> None:
        keys = [item.key for item in self._state.items]
        self._state.move(key, keys.index(key) + step)

    def _on_dragged(self, key: int, place: QPointF) -> None:
        """Put an item where the pointer is: behind all others whose middle is above it."""
        height = self.mapFromGlobal(place).y()
        others = [view for other, view in zip(self._state.items, self.item_views, strict=True) if other.key != key]
        self._state.move(key, sum(view.geometry().center().y() < height for view in others))
