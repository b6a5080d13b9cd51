"""How a finished clip is painted in the history: as a tile with its picture, or as a line."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPainterPath, QPen, QPixmap
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from podium.helper.requests import Thumbnail
from podium.ui.state.history_model import HistoryModel
from podium.ui.state.numbers import moment_in_words, seconds_in_words
from podium.ui.state.values import HistoryEntry
from podium.ui.theme import METRICS, Tint, load_icon, role_color, role_font
from podium.ui.views.images import image_of_rgb

_Index = QModelIndex | QPersistentModelIndex
# Twice what a large screen shows at once.
_MAX_IMAGES = 300
_DOT = " · "


@dataclass(frozen=True, slots=True)
class _Kept:
    """A picture as it was painted, and of what and how large it was made."""

    thumbnail: Thumbnail | None
    size: QSize
    density: float
    pixmap: QPixmap


class HistoryDelegate(QStyledItemDelegate):
    """Paint a `HistoryEntry`; nothing is made that is not shown."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.is_list = False
        """Whether clips are lines under each other, or tiles."""
        self._images: OrderedDict[Path, _Kept] = OrderedDict()
        self._icons = {
            "film": load_icon("film", Tint.MUTED),
            "missing": load_icon("missing", Tint.MUTED),
            "star": load_icon("star-full", Tint.WARNING),
        }

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:  # noqa: N802, ARG002 - Qt's name and arguments
        """Return the room of a clip; all have the same, so that none has to be asked."""
        if self.is_list:
            return QSize(METRICS.tile_width, METRICS.row_height)
        return QSize(METRICS.tile_width, METRICS.tile_height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Paint a clip."""
        entry = index.data(HistoryModel.ENTRY_ROLE)
        if not isinstance(entry, HistoryEntry):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect: QRect = option.rect
        gap = METRICS.space_xs // 2
        frame = rect.adjusted(gap, gap, -gap, -gap)
        paint_frame(painter, frame, option)
        inner = frame.adjusted(METRICS.space_xs, METRICS.space_xs, -METRICS.space_xs, -METRICS.space_xs)
        if self.is_list:
            self._paint_line(painter, inner, entry, option)
        else:
            self._paint_tile(painter, inner, entry, option)
        painter.restore()

    def image_of(self, entry: HistoryEntry) -> QImage:
        """Return a clip's small picture; a null one until it is made."""
        thumbnail = entry.thumbnail
        if thumbnail is None:
            return QImage()
        return image_of_rgb(thumbnail.rgb, thumbnail.width, thumbnail.height)

    def _picture_of(self, entry: HistoryEntry, size: QSize, density: float) -> QPixmap:
        """Return a clip's picture as it is painted: scaling it is most of the work, and is done once."""
        path = entry.clip.path
        kept = self._images.get(path)
        if kept is None or (kept.thumbnail, kept.size, kept.density) != (entry.thumbnail, size, density):
            kept = _Kept(entry.thumbnail, size, density, _rounded(self.image_of(entry), size, density))
            self._images[path] = kept
        self._images.move_to_end(path)
        while len(self._images) > _MAX_IMAGES:
            self._images.popitem(last=False)
        return kept.pixmap

    def _paint_tile(self, painter: QPainter, room: QRect, entry: HistoryEntry, option: QStyleOptionViewItem) -> None:
        line = option.fontMetrics.height()
        picture = room.adjusted(0, 0, 0, -(2 * line + METRICS.space_xs))
        self._paint_picture(painter, picture, entry)
        if entry.is_starred:
            self._paint_star(painter, picture)
        words = QRect(room.left(), picture.bottom() + METRICS.space_xs, room.width(), line)
        paint_text(painter, words, entry.title, option, role="text")
        words.translate(0, line)
        paint_text(painter, words, _facts(entry, is_short=True), option, role="text_muted", font="caption")

    def _paint_line(self, painter: QPainter, room: QRect, entry: HistoryEntry, option: QStyleOptionViewItem) -> None:
        width = room.height() * 16 // 9
        self._paint_picture(painter, QRect(room.left(), room.top(), width, room.height()), entry)
        words = room.adjusted(width + METRICS.space_m, 0, -METRICS.space_s, 0)
        if entry.is_starred:
            # Beside the words: it would cover a third of so small a picture.
            size = METRICS.icon_small
            star = QRect(words.right() - size, room.center().y() - size // 2, size, size)
            self._icons["star"].paint(painter, star)
            words.setRight(star.left() - METRICS.space_s)
        half = QRect(words.left(), words.top(), words.width(), words.height() // 2)
        paint_text(painter, half, entry.title, option, role="text")
        half.translate(0, half.height())
        paint_text(painter, half, _facts(entry, is_short=False), option, role="text_muted", font="caption")

    def _paint_picture(self, painter: QPainter, room: QRect, entry: HistoryEntry) -> None:
        if entry.is_missing or entry.thumbnail is None:
            path = QPainterPath()
            path.addRoundedRect(room, METRICS.radius, METRICS.radius)
            painter.fillPath(path, role_color("stage"))
            size = METRICS.icon
            middle = QRect(room.center().x() - size // 2, room.center().y() - size // 2, size, size)
            self._icons["missing" if entry.is_missing else "film"].paint(painter, middle)
        else:
            density = painter.device().devicePixelRatioF()
            painter.drawPixmap(room.topLeft(), self._picture_of(entry, room.size(), density))

    def _paint_star(self, painter: QPainter, room: QRect) -> None:
        size, gap = METRICS.icon_small, METRICS.space_xs
        back = QRect(room.right() - size - 2 * gap, room.top() + gap, size + gap, size + gap)
        path = QPainterPath()
        path.addRoundedRect(back, METRICS.radius, METRICS.radius)
        painter.fillPath(path, role_color("panel"))
        half = gap // 2
        self._icons["star"].paint(painter, back.adjusted(half, half, -half, -half))


def paint_frame(painter: QPainter, frame: QRect, option: QStyleOptionViewItem) -> None:
    """Paint what shows that an item is under the pointer, is chosen, or has the keyboard."""
    state = option.state
    is_chosen = bool(state & QStyle.StateFlag.State_Selected)
    has_keys = bool(state & QStyle.StateFlag.State_HasFocus)
    is_hot = bool(state & QStyle.StateFlag.State_MouseOver)
    path = QPainterPath()
    path.addRoundedRect(frame, METRICS.radius, METRICS.radius)
    if is_chosen or is_hot:
        painter.fillPath(path, role_color("accent_soft" if is_chosen else "raised"))
    if is_chosen or has_keys:
        painter.setPen(QPen(role_color("focus" if has_keys else "accent"), 2))
        painter.drawPath(path)


def paint_text(
    painter: QPainter,
    room: QRect,
    text: str,
    option: QStyleOptionViewItem,
    *,
    role: str,
    font: str = "body",
    align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
) -> None:
    """Paint one line of text in a role's colour, cut with an ellipsis where it has no room."""
    painter.setFont(role_font(option.font, font))
    painter.setPen(role_color(role))
    shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room.width())
    painter.drawText(room, align | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, shown)


def _rounded(image: QImage, size: QSize, density: float) -> QPixmap:
    """Return an image that fills a size, with round corners; what hangs over is cut off.

    Args:
        image: Of any size.
        size: In the window's pixels.
        density: The screen's pixels by one of the window's.
    """
    pixmap = QPixmap(size * density)
    pixmap.setDevicePixelRatio(density)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
    path = QPainterPath()
    path.addRoundedRect(QRect(QPoint(0, 0), size), METRICS.radius, METRICS.radius)
    painter.setClipPath(path)
    filled = image.size().scaled(size, Qt.AspectRatioMode.KeepAspectRatioByExpanding)
    corner = QPoint((size.width() - filled.width()) // 2, (size.height() - filled.height()) // 2)
    painter.drawImage(QRect(corner, filled), image)
    painter.end()
    return pixmap


def _facts(entry: HistoryEntry, *, is_short: bool) -> str:
    clip = entry.clip.clip
    facts = [
        moment_in_words(entry.finished_at),
        seconds_in_words(float(clip.duration_s)),
    ]
    if not is_short:
        loras = ", ".join(lora.path.stem for lora in entry.request.loras)
        facts += [f"{clip.width} × {clip.height}", str(entry.request.seed), entry.model_name, loras]
    return _DOT.join(fact for fact in facts if fact)
