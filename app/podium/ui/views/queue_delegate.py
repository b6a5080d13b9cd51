"""How an entry of the queue is painted: what it is at the left, how it stands at the right."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from podium.ui.state.queue import QueueState
from podium.ui.state.values import QueueEntry
from podium.ui.theme import METRICS, Tint, load_icon, role_color, role_font
from podium.ui.views.history_delegate import paint_frame, paint_text
from podium.ui.views.queue_item_model import QueueItemModel
from podium.ui.views.queue_words import DOT, STATUS_ICONS, STATUS_ROLES, QueueWords

_Index = QModelIndex | QPersistentModelIndex


class QueueDelegate(QStyledItemDelegate):
    """Paint a `QueueEntry`.

    Args:
        state: Knows which entry is in the form.
    """

    def __init__(self, state: QueueState, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._words = QueueWords(self)
        self._icons = {status: load_icon(name, tint) for status, (name, tint) in STATUS_ICONS.items()}
        self._icon_of_edited = load_icon("edit", Tint.ACCENT)
        self._icon_of_notes = load_icon("warning", Tint.WARNING)

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:  # noqa: N802, ARG002 - Qt's name and arguments
        """Return the room of an entry; all have the same."""
        return QSize(0, METRICS.row_height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Paint an entry."""
        entry = index.data(QueueItemModel.ENTRY_ROLE)
        if not isinstance(entry, QueueEntry):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect: QRect = option.rect
        gap = METRICS.space_xs // 2
        frame = rect.adjusted(gap, gap, -gap, -gap)
        paint_frame(painter, frame, option)
        if index.row() != 0:
            painter.setPen(role_color("line"))
            painter.drawLine(rect.topLeft(), rect.topRight())
        inner = frame.adjusted(METRICS.space_s, METRICS.space_xs, -METRICS.space_m, -METRICS.space_xs)
        self._paint_entry(painter, inner, entry, option)
        painter.restore()

    def _paint_entry(self, painter: QPainter, room: QRect, entry: QueueEntry, option: QStyleOptionViewItem) -> None:
        is_edited = entry.key == self._state.edited_key
        size = METRICS.icon
        icon = QRect(room.left(), room.center().y() - size // 2, size, size)
        (self._icon_of_edited if is_edited else self._icons[entry.status]).paint(painter, icon)
        status = self._words.status(entry, is_edited=is_edited)
        status_width = QFontMetrics(role_font(option.font, "strong")).horizontalAdvance(status) + METRICS.space_xs
        at_right = QRect(room.right() - status_width, room.top(), status_width, room.height())
        words = room.adjusted(size + METRICS.space_m, 0, -(status_width + METRICS.space_l), 0)
        if entry.notes:
            words.setRight(words.right() - size)
            place = QRect(at_right.left() - METRICS.space_s - size, icon.top(), size, size)
            self._icon_of_notes.paint(painter, place)
        upper = QRect(words.left(), words.top(), words.width(), words.height() // 2)
        lower = upper.translated(0, upper.height())
        paint_text(painter, upper, entry.title, option, role="text_muted" if entry.status.is_over else "text")
        self._paint_second_line(painter, lower, entry, option)
        role = STATUS_ROLES.get(entry.status, "text_muted")
        paint_text(painter, at_right, status, option, role=role, font="strong", align=Qt.AlignmentFlag.AlignRight)

    def _paint_second_line(
        self, painter: QPainter, room: QRect, entry: QueueEntry, option: QStyleOptionViewItem
    ) -> None:
        """Paint what it is, after what costs time or where it failed: the rest may be cut."""
        facts, first = self._words.facts(entry), self._words.switch(entry) or self._words.place(entry)
        if not first:
            paint_text(painter, room, facts, option, role="text_muted", font="caption")
            return
        metrics = QFontMetrics(role_font(option.font, "caption"))
        role = STATUS_ROLES.get(entry.status, "warning")
        paint_text(painter, room, first, option, role=role, font="caption")
        rest = room.adjusted(metrics.horizontalAdvance(first), 0, 0, 0)
        paint_text(painter, rest, DOT + facts, option, role="text_muted", font="caption")
