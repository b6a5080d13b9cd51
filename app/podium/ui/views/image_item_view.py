"""One picture of the form: where it stands, and how much of it stays."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QComboBox, QWidget

from podium.ui.state.images import MAX_CRF, FramePlace, ImageItem
from podium.ui.theme import METRICS, Tint
from podium.ui.views.images import image_of_rgb
from podium.ui.views.widgets.buttons import make_icon_button
from podium.ui.views.widgets.content_fold import ContentFold
from podium.ui.views.widgets.elided_label import ElidedLabel
from podium.ui.views.widgets.layouts import around, column, row
from podium.ui.views.widgets.number_field import NumberField
from podium.ui.views.widgets.roles import give, give_surface, make_label
from podium.ui.views.widgets.strength_field import StrengthField
from podium.ui.views.widgets.thumbnail import ThumbnailLabel
from podium.ui.views.widgets.wheel import leave_wheel

PLACES = tuple(FramePlace)
_OWN_CRF = -1


class ImageItemView(QWidget):
    """Show one `ImageItem` and say what the artist wants of it."""

    place_chosen = Signal(object)
    """A `FramePlace`."""
    frame_chosen = Signal(int)
    strength_changed = Signal(float)
    crf_chosen = Signal(object)
    """0 to 51, or None for the model's own."""
    remove_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        give_surface(self, "item")
        self._thumbnail = ThumbnailLabel(self.tr("The picture"))
        self._name = ElidedLabel("", "strong", mode=Qt.TextElideMode.ElideMiddle)
        self._remove = make_icon_button("close", self.tr("Take the picture out"), tint=Tint.MUTED)
        self._place = leave_wheel(QComboBox())
        self._place.addItems([self.tr("First frame"), self.tr("Last frame"), self.tr("At frame")])
        self._frame = NumberField(self.tr("Frame, counted from 0"), (0, 0))
        self._strength = StrengthField(self.tr("Strength of the picture"))
        self._crf = NumberField(
            self.tr("Compression before the model sees it: 0 for none, 51 for the most"), (-1, MAX_CRF)
        )
        self._crf.setSpecialValueText(self.tr("Model's own"))
        self._problem = make_label("", "caption", wraps=True)
        give(self._problem, tone="danger")
        self._fold = ContentFold(self.tr("Advanced"), self._make_advanced())
        self._lay_out()
        self._place.activated.connect(self._on_place)
        self._frame.chosen.connect(self._on_frame)
        self._strength.changed.connect(self.strength_changed)
        self._crf.chosen.connect(self._on_crf)
        self._remove.clicked.connect(self.remove_requested)

    @property
    def strength(self) -> StrengthField:
        """Return where the strength is chosen."""
        return self._strength

    @property
    def place(self) -> QComboBox:
        """Return where its place is chosen."""
        return self._place

    @property
    def frame(self) -> NumberField:
        """Return where a frame of its own number is typed."""
        return self._frame

    @property
    def crf(self) -> NumberField:
        """Return where its compression is typed."""
        return self._crf

    @property
    def fold(self) -> ContentFold:
        """Return what is folded away."""
        return self._fold

    @property
    def remove_button(self) -> QWidget:
        """Return what takes it out."""
        return self._remove

    @property
    def problem_text(self) -> str:
        """Return why it cannot be used."""
        return self._problem.text()

    def show_item(self, item: ImageItem, num_frames: int) -> None:
        """Show a picture in a clip of so many frames."""
        name = item.path.name
        self._name.show_text(name, str(item.path))
        self._place.setCurrentIndex(PLACES.index(item.place))
        self._place.setAccessibleName(self.tr("Where {0} stands").format(name))
        self._place.setToolTip(self.tr("Where the picture stands in the clip"))
        self._frame.show_ends(0, num_frames - 1)
        self._frame.setVisible(item.place is FramePlace.OTHER)
        self._frame.show_number(item.frame_in(num_frames))
        self._strength.show_value(item.strength)
        self._crf.show_number(_OWN_CRF if item.crf is None else item.crf)
        self._problem.setText(item.problem)
        self._problem.setVisible(bool(item.problem))
        thumbnail = item.thumbnail
        picture = image_of_rgb(thumbnail.rgb, thumbnail.width, thumbnail.height) if thumbnail else QImage()
        self._thumbnail.show_image(picture)

    def _make_advanced(self) -> QWidget:
        page = QWidget()
        name = make_label(self.tr("Compression (CRF)"), "field")
        name.setBuddy(self._crf)
        page.setLayout(row(name, None, self._crf))
        return page

    def _lay_out(self) -> None:
        head = row(spacing=METRICS.space_s)
        head.addWidget(self._name, 1)
        head.addWidget(self._remove)
        where = row(spacing=METRICS.space_s)
        where.addWidget(self._place, 1)
        where.addWidget(self._frame)
        right = column(head, where, spacing=METRICS.space_xs)
        top = row(spacing=METRICS.space_m)
        top.addWidget(self._thumbnail, 0, Qt.AlignmentFlag.AlignTop)
        top.addLayout(right, 1)
        name = make_label(self.tr("Strength"), "field")
        strength = row(name, spacing=METRICS.space_m)
        strength.addWidget(self._strength, 1)
        parts = (top, strength, self._problem, self._fold)
        self.setLayout(column(*parts, spacing=METRICS.space_s, margins=around(METRICS.space_s)))

    def _on_place(self, index: int) -> None:
        self.place_chosen.emit(PLACES[index])

    def _on_frame(self, frame: float) -> None:
        self.frame_chosen.emit(round(frame))

    def _on_crf(self, crf: float) -> None:
        self.crf_chosen.emit(None if crf < 0 else round(crf))
