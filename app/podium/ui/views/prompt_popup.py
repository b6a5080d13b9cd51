"""The prompts of before: found by typing, taken by a press."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QListWidget, QListWidgetItem, QWidget

from podium.ui.state.prompts import PromptsState
from podium.ui.theme import METRICS
from podium.ui.views.widgets.layouts import around, column
from podium.ui.views.widgets.roles import give, give_surface, make_label

_MAX_TIP_LENGTH = 600


class PromptPopup(QFrame):
    """A popup over a `PromptsState`."""

    def __init__(self, state: PromptsState, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self._state = state
        give_surface(self, "popup")
        self._search = QLineEdit()
        self._search.setPlaceholderText(self.tr("Search prompts"))
        self._search.setAccessibleName(self.tr("Search prompts"))
        self._search.setClearButtonEnabled(True)
        self._list = give(QListWidget(), kind="prompts")
        self._list.setAccessibleName(self.tr("Prompts of before"))
        self._list.setWordWrap(True)
        self._list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._empty = make_label("", "muted", wraps=True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignTop)
        parts = (self._search, self._empty, self._list)
        self.setLayout(column(*parts, spacing=METRICS.space_s, margins=around(METRICS.space_s)))
        self._search.textChanged.connect(state.set_search)
        self._search.returnPressed.connect(self._on_return)
        self._search.installEventFilter(self)
        self._list.itemClicked.connect(self._use)
        self._list.itemActivated.connect(self._use)
        state.changed.connect(self._show)
        self._show()

    @property
    def search(self) -> QLineEdit:
        """Return where one searches."""
        return self._search

    @property
    def list(self) -> QListWidget:
        """Return the prompts."""
        return self._list

    @property
    def empty_text(self) -> str:
        """Return what is said where there is no prompt."""
        return "" if self._empty.isHidden() else self._empty.text()

    def open_at(self, place: QPoint, width: int) -> None:
        """Show the newest prompts at a place of the screen, at least as wide as told."""
        self._search.clear()
        self._state.look()
        self.resize(max(width, METRICS.popup_width), METRICS.popup_height)
        self.move(place)
        self.show()
        self._search.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Go from the search into the list by the arrow keys."""
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Down:
            self._list.setFocus()
            self._list.setCurrentRow(0)
            return True
        return super().eventFilter(watched, event)

    def _on_return(self) -> None:
        if self._list.count():
            self._use(self._list.item(0))

    def _use(self, item: QListWidgetItem) -> None:
        # Whoever holds Return gets here twice.
        if self.isVisible():
            prompt = self._state.prompts[self._list.row(item)]
            self.close()
            self._state.use(prompt)

    def _show(self) -> None:
        self._list.clear()
        for prompt in self._state.prompts:
            item = QListWidgetItem(" ".join(prompt.prompt.split()))
            item.setToolTip(prompt.prompt[:_MAX_TIP_LENGTH])
            item.setSizeHint(QSize(0, 2 * self.fontMetrics().lineSpacing() + METRICS.space_m))
            self._list.addItem(item)
        has_any = bool(self._state.prompts)
        self._list.setVisible(has_any)
        self._empty.setVisible(not has_any)
        found_none = self.tr("No prompt of before holds these words.")
        none_yet = self.tr("What you generate is kept here.")
        self._empty.setText(self._state.problem or (found_none if self._state.search else none_yet))
