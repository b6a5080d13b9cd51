"""Export the clip on the Stage: for editors, for other programs, for the web."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QComboBox, QPushButton, QRadioButton, QWidget

from podium.media.export_kinds import DNXHR_MIN_SIZE_PX, ExportKind
from podium.ui.state.exports import ExportsState
from podium.ui.state.numbers import share_in_words
from podium.ui.theme import METRICS, Tint
from podium.ui.views.shown_clip import ShownClip
from podium.ui.views.widgets.banner import Banner
from podium.ui.views.widgets.buttons import make_button
from podium.ui.views.widgets.elided_label import ElidedLabel
from podium.ui.views.widgets.file_dialogs import open_file_dialog, open_save_dialog
from podium.ui.views.widgets.fitted_dialog import FittedDialog
from podium.ui.views.widgets.icon_label import IconLabel
from podium.ui.views.widgets.layouts import around, column, row
from podium.ui.views.widgets.meter import Meter
from podium.ui.views.widgets.roles import make_label

_MAX_SIDES_PX = (None, 960, 720, 480)
_ANIMATED = (ExportKind.GIF, ExportKind.WEBP)
_NAME_ENDS = {ExportKind.PRORES_422_HQ: "-prores", ExportKind.DNXHR_HQX: "-dnxhr", ExportKind.PICTURES: "-pictures"}


class ExportDialog(FittedDialog):
    """Choose what a clip becomes and where that goes, and watch it being written.

    An export goes on when the dialog is closed; the dialog shows it again when it is opened anew.

    Args:
        state: Exports.
        clip: What is exported.
    """

    folder_requested = Signal(object)
    """A `Path` to be shown in the file manager."""

    def __init__(self, state: ExportsState, clip: ShownClip, parent: QWidget) -> None:
        super().__init__(METRICS.dialog_width, parent)
        self._state = state
        self._clip = clip
        self._kind = ExportKind.PRORES_422_HQ
        self._target = self._proposed()
        self._may_replace = False
        self.setWindowTitle(self.tr("Export"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if state.job is None:
            state.forget()
        self._group = QButtonGroup(self)
        self._radios: dict[ExportKind, QRadioButton] = {}
        self._side = QComboBox()
        self._place = ElidedLabel("", "muted", mode=Qt.TextElideMode.ElideMiddle)
        self._choose = make_button(self.tr("Choose…"), icon="folder")
        self._meter = Meter(self.tr("Export"), size="large")
        self._progress = make_label("", "muted")
        self._done_icon = IconLabel("done", Tint.SUCCESS)
        self._banner = Banner("danger")
        self._show_folder = make_button(self.tr("Show in Folder"), icon="folder")
        self._close = make_button(self.tr("Close"))
        self._cancel = make_button(self.tr("Cancel the Export"), icon="stop")
        self._export = make_button(self.tr("Export"), kind="primary", icon="export", tint=Tint.ON_ACCENT)
        self._export.setDefault(True)
        self._lay_out()
        self._connect()
        self._show()

    @property
    def export_button(self) -> QPushButton:
        """Return what begins the export."""
        return self._export

    @property
    def cancel_button(self) -> QPushButton:
        """Return what ends it."""
        return self._cancel

    @property
    def folder_button(self) -> QPushButton:
        """Return what shows the written file in the file manager."""
        return self._show_folder

    @property
    def choose_button(self) -> QPushButton:
        """Return what asks where it goes."""
        return self._choose

    @property
    def side_choice(self) -> QComboBox:
        """Return how large a GIF or WebP becomes."""
        return self._side

    @property
    def banner(self) -> Banner:
        """Return what says why it failed."""
        return self._banner

    @property
    def progress_text(self) -> str:
        """Return how far it is, or what was written."""
        return self._progress.text()

    def kind_radio(self, kind: ExportKind) -> QRadioButton:
        """Return what chooses a kind."""
        return self._radios[kind]

    def _lay_out(self) -> None:
        whole = column(make_label(self.tr("Export"), "headline"), spacing=METRICS.space_m)
        whole.setContentsMargins(*around(METRICS.space_xl))
        for kind, name, text in self._kinds():
            radio = QRadioButton(name)
            radio.setAccessibleDescription(text)
            self._group.addButton(radio, list(ExportKind).index(kind))
            self._radios[kind] = radio
            words = make_label(text, "caption", wraps=True)
            whole.addLayout(column(row(radio, None), row(METRICS.choice_indent, words, spacing=0), spacing=0))
        self._refuse_small()
        for side in _MAX_SIDES_PX:
            self._side.addItem(self.tr("The clip's size") if side is None else self.tr("{0} pixels").format(side), side)
        self._side.setAccessibleName(self.tr("Longest side"))
        self._side_row = QWidget()
        self._side_row.setLayout(row(make_label(self.tr("Longest side"), "field"), self._side, None))
        whole.addWidget(self._side_row)
        whole.addSpacing(METRICS.space_s)
        place = row(spacing=METRICS.space_m)
        place.addWidget(make_label(self.tr("Goes to"), "field"))
        place.addWidget(self._place, 1)
        place.addWidget(self._choose)
        whole.addLayout(place)
        whole.addWidget(self._banner)
        whole.addWidget(self._meter)
        self._progress_row = QWidget()
        self._progress_row.setLayout(row(self._done_icon, self._progress, None, self._show_folder))
        whole.addWidget(self._progress_row)
        whole.addSpacing(METRICS.space_s)
        whole.addStretch(1)
        whole.addLayout(row(None, self._close, self._cancel, self._export))
        self.fill(whole)

    def _kinds(self) -> tuple[tuple[ExportKind, str, str], ...]:
        return (
            (
                *(ExportKind.PRORES_422_HQ, self.tr("ProRes 422 HQ")),
                self.tr("For editing and grading: a .mov in 10 bits with uncompressed sound."),
            ),
            (
                *(ExportKind.DNXHR_HQX, self.tr("DNxHR HQX")),
                self.tr("For editing in Avid and Resolve: a .mov in 10 bits with uncompressed sound."),
            ),
            (
                *(ExportKind.PICTURES, self.tr("Pictures and sound")),
                self.tr("A folder of numbered PNGs and a WAV, for compositing."),
            ),
            (*(ExportKind.GIF, self.tr("GIF")), self.tr("256 colours, silent; plays everywhere.")),
            (*(ExportKind.WEBP, self.tr("WebP")), self.tr("All colours, silent, smaller than a GIF.")),
        )

    def _refuse_small(self) -> None:
        clip = self._clip.clip
        if clip.width < DNXHR_MIN_SIZE_PX[0] or clip.height < DNXHR_MIN_SIZE_PX[1]:
            radio = self._radios[ExportKind.DNXHR_HQX]
            radio.setEnabled(False)
            text = self.tr("DNxHR takes pictures of {0} × {1} and more.")
            radio.setToolTip(text.format(*DNXHR_MIN_SIZE_PX))

    def _connect(self) -> None:
        self._group.idClicked.connect(self._on_kind)
        self._choose.clicked.connect(self._on_choose)
        self._export.clicked.connect(self._on_export)
        self._cancel.clicked.connect(self._state.cancel)
        self._close.clicked.connect(self.reject)
        self._show_folder.clicked.connect(self._on_show_folder)
        self._state.changed.connect(self._show)

    def _proposed(self) -> Path:
        path = self._clip.path
        return path.with_name(f"{path.stem}{_NAME_ENDS.get(self._kind, '')}{self._kind.suffix}")

    def _on_kind(self, place: int) -> None:
        folder = self._target.parent
        self._kind = list(ExportKind)[place]
        self._target = folder / self._proposed().name
        self._may_replace = False
        self._state.forget()
        self._show()

    def _on_choose(self) -> None:
        if self._kind is ExportKind.PICTURES:
            dialog = open_file_dialog(self, self.tr("Where the folder of pictures goes"), takes_folder=True)
            dialog.fileSelected.connect(self._on_folder)
            return
        name_filter = self.tr("{0} files (*{1})").format(self._radios[self._kind].text(), self._kind.suffix)
        dialog = open_save_dialog(self, self.tr("Export"), self._target, name_filter=name_filter)
        dialog.fileSelected.connect(self._on_file)

    def _on_folder(self, name: str) -> None:
        self._target = Path(name) / self._proposed().name
        self._show()

    def _on_file(self, name: str) -> None:
        # The dialog asked already whether a file that is there may go.
        self._target, self._may_replace = Path(name), True
        self._show()

    def _on_export(self) -> None:
        side = self._side.currentData() if self._kind in _ANIMATED else None
        self._state.export(self._clip.path, self._target, self._kind, max_side_px=side, overwrite=self._may_replace)

    def _on_show_folder(self) -> None:
        if self._state.written is not None:
            self.folder_requested.emit(self._state.written)

    def _show(self) -> None:
        job, written, error = self._state.job, self._state.written, self._state.error
        kind = self._kind if job is None else job.kind
        self._radios[kind].setChecked(True)
        for radio_kind, radio in self._radios.items():
            radio.setEnabled(job is None and (radio_kind is not ExportKind.DNXHR_HQX or not radio.toolTip()))
        self._side_row.setVisible(kind in _ANIMATED)
        for part in (self._side, self._choose):
            part.setEnabled(job is None)
        target = self._target if job is None else job.target
        self._place.show_text(str(target))
        self._banner.show_message(error.sentence if error else "", error.details if error else "")
        self._meter.setVisible(job is not None)
        self._meter.show_share(None if job is None else job.share)
        self._done_icon.setVisible(written is not None)
        self._show_folder.setVisible(written is not None)
        self._export.setVisible(job is None)
        self._cancel.setVisible(job is not None)
        self._cancel.setEnabled(job is not None and not job.is_cancelling)
        self._progress.setText(self._progress_sentence())
        self._progress_row.setVisible(bool(self._progress.text()))

    def _progress_sentence(self) -> str:
        job, written = self._state.job, self._state.written
        if job is not None and job.is_cancelling:
            return self.tr("Being cancelled…")
        if job is not None:
            return self.tr("Being written, {0}").format(share_in_words(job.share))
        return "" if written is None else self.tr("“{0}” was written.").format(written.name)
