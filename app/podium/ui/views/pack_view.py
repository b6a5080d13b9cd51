"""Choose the model's files: what each place is for, what was found in it, and what is wrong."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QPushButton, QWidget

from podium.models.probe.report import FileReport
from podium.ui.state.pack import PackState
from podium.ui.state.values import PackFile, PackSlot
from podium.ui.theme import METRICS, Tint
from podium.ui.views.widgets.buttons import make_button
from podium.ui.views.widgets.drops import local_paths
from podium.ui.views.widgets.elided_label import ElidedLabel
from podium.ui.views.widgets.file_dialogs import open_file_dialog
from podium.ui.views.widgets.icon_label import IconLabel
from podium.ui.views.widgets.layouts import around, column, row
from podium.ui.views.widgets.roles import give, give_surface, make_label
from podium.ui.views.widgets.words import bytes_in_words

_ICONS = {PackSlot.CHECKPOINT: "cube", PackSlot.TEXT_ENCODER: "text", PackSlot.UPSCALER: "image"}


class PackView(QWidget):
    """Show and change the files of a `PackState`."""

    def __init__(self, state: PackState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._files = {slot: PackFileView(slot) for slot in PackSlot}
        self.setLayout(column(*self._files.values(), None, spacing=METRICS.space_s))
        for slot, view in self._files.items():
            view.chosen.connect(partial(self._on_chosen, slot))
        state.files_changed.connect(self._show)
        self._show()

    def file_view(self, slot: PackSlot) -> PackFileView:
        """Return what shows a place."""
        return self._files[slot]

    def _on_chosen(self, slot: PackSlot, path: object) -> None:
        assert isinstance(path, Path)
        self._state.choose_file(slot, path)

    def _show(self) -> None:
        for file in self._state.files:
            self._files[file.slot].show_file(file)


class PackFileView(QWidget):
    """Show one place of a pack and say which file the artist wants there; one can be dropped on it."""

    chosen = Signal(object)
    """A `Path`."""

    def __init__(self, slot: PackSlot, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._slot = slot
        give_surface(self, "card")
        self.setAcceptDrops(True)
        title, what = self._texts()
        self._icon = IconLabel(_ICONS[slot], Tint.MUTED, size=METRICS.space_xl)
        self._title = make_label(title, "strong")
        self._what = make_label(what, "caption", wraps=True)
        self._path = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        self._status = make_label("", "caption", wraps=True)
        self._choose = make_button(self.tr("Choose…"))
        self._choose.setAccessibleName(self.tr("Choose the file: {0}").format(title))
        words = column(self._title, self._what, self._path, self._status, spacing=2)
        whole = row(spacing=METRICS.space_m, margins=around(METRICS.space_m))
        whole.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        whole.addLayout(words, 1)
        whole.addWidget(self._choose, 0, Qt.AlignmentFlag.AlignVCenter)
        self.setLayout(whole)
        self._choose.clicked.connect(self.choose)

    @property
    def choose_button(self) -> QPushButton:
        """Return what opens the file dialog."""
        return self._choose

    @property
    def status_text(self) -> str:
        """Return what is said of the file."""
        return self._status.text()

    def choose(self) -> None:
        """Ask for the file, or the folder."""
        is_folder = self._slot is PackSlot.TEXT_ENCODER
        name_filter = self.tr("Model files ({0})").format("*.safetensors")
        dialog = open_file_dialog(self, self._texts()[0], name_filter=name_filter, takes_folder=is_folder)
        dialog.filesSelected.connect(self._on_files)

    def show_file(self, file: PackFile) -> None:
        """Show what is in the place."""
        self._what.setVisible(file.path is None)
        self._path.setVisible(file.path is not None)
        self._path.show_text(file.path.name if file.path else "", str(file.path or ""))
        status, tone, icon = self._status_of(file)
        give(self._status, tone=tone).setText(status)
        self._status.setVisible(bool(status))
        self._icon.show_icon(*icon)
        self._choose.setText(self.tr("Choose…") if file.path is None else self.tr("Change…"))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802 - Qt's name
        """Say that a file can be dropped."""
        if local_paths(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802 - Qt's name
        """Take the file that was dropped."""
        self.chosen.emit(local_paths(event.mimeData())[0])
        event.acceptProposedAction()

    @Slot(list)
    def _on_files(self, names: list[str]) -> None:
        self.chosen.emit(Path(names[0]))

    def _texts(self) -> tuple[str, str]:
        return {
            PackSlot.CHECKPOINT: (
                self.tr("Checkpoint"),
                self.tr("The video and sound model: one .safetensors file of LTX-2.3, distilled, about 46\u00a0GB."),
            ),
            PackSlot.TEXT_ENCODER: (
                self.tr("Text encoder"),
                self.tr("Reads your prompt: the folder of Gemma 3 with its tokenizer, about 24\u00a0GB."),
            ),
            PackSlot.UPSCALER: (
                self.tr("Spatial upscaler"),
                self.tr("Enlarges the draft to full size: one .safetensors file, about 1\u00a0GB."),
            ),
        }[self._slot]

    def _status_of(self, file: PackFile) -> tuple[str, str, tuple[str, Tint]]:
        """Return a sentence, its tone and the icon beside it."""
        if file.problem:
            return file.problem, "danger", ("error", Tint.DANGER)
        if file.is_probing:
            return self.tr("Being looked at…"), "", ("refresh", Tint.MUTED)
        if file.report is not None:
            return self._report_in_words(file.report), "", ("done", Tint.SUCCESS)
        if file.path is not None:
            return "", "", ("done", Tint.SUCCESS)
        return "", "", (_ICONS[self._slot], Tint.MUTED)

    def _report_in_words(self, report: FileReport) -> str:
        generation = f"LTX-{report.generation}" if report.generation else ""
        distilled = self.tr("distilled") if report.is_distilled else ""
        scale = f"× {report.upsampler.scale:g}" if report.upsampler and report.upsampler.scale else ""
        gemma = f"Gemma {report.gemma.family}" if report.gemma else ""
        quantisation = report.quantisation.words
        parts = (generation, gemma, scale, distilled, quantisation, bytes_in_words(report.file_bytes))
        return " · ".join(part for part in parts if part)
