"""What each rank logged."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtGui import QHideEvent, QShowEvent, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from podium.ui.state.fleet import FleetState
from podium.ui.theme import METRICS
from podium.ui.views.widgets.layouts import around, column, row
from podium.ui.views.widgets.roles import give_surface, make_label
from podium.ui.views.widgets.segmented import Segmented

_POLL_MS = 500


class LogView(QWidget):
    """Show a rank's last log lines of a `FleetState`; it looks for new ones only while it is seen."""

    def __init__(self, state: FleetState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._rank = 0
        self._num_ranks = 1
        give_surface(self, "panel")
        self._choice = Segmented(self.tr("Log of"))
        self._text = QPlainTextEdit()
        self._text.setReadOnly(True)
        self._text.setTabChangesFocus(True)
        self._text.setAccessibleName(self.tr("Log"))
        self._text.setPlaceholderText(self.tr("Nothing was logged."))
        head = row(make_label(self.tr("Log of"), "muted"), self._choice, None)
        self.setLayout(column(head, self._text, spacing=METRICS.space_s, margins=around(METRICS.space_s)))
        self._timer = QTimer(self)
        self._timer.setInterval(_POLL_MS)
        self._timer.timeout.connect(self.refresh)
        self._choice.chosen.connect(self._on_rank)
        state.rows_changed.connect(self._on_rows)
        self._on_rows()

    @property
    def text(self) -> str:
        """Return the lines shown."""
        return self._text.toPlainText()

    @property
    def choice(self) -> Segmented:
        """Return where the rank is chosen."""
        return self._choice

    def refresh(self) -> None:
        """Look for new lines; where the end was seen, it is seen after, too."""
        text = "\n".join(self._state.log_lines(self._rank))
        if text == self._text.toPlainText():
            return
        bar = self._text.verticalScrollBar()
        was_at_end = bar.value() >= bar.maximum()
        self._text.setPlainText(text)
        if was_at_end:
            self._text.moveCursor(QTextCursor.MoveOperation.End)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Look from now on."""
        super().showEvent(event)
        self.refresh()
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """Look no more."""
        super().hideEvent(event)
        self._timer.stop()

    def _on_rank(self, rank: int) -> None:
        self._rank = rank
        self.refresh()

    def _on_rows(self) -> None:
        # The ranks of a fleet that is gone stay: its log is what one wants to read then.
        self._num_ranks = len(self._state.rows) or self._num_ranks
        self._rank = min(self._rank, self._num_ranks - 1)
        ranks = [self.tr("Rank {0}").format(rank) for rank in range(self._num_ranks)]
        self._choice.show_options(ranks, self._rank)
