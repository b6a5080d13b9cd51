"""One place of a model: which file is in it, what that is, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget

from podium.models.probe.report import FileReport
from podium.ui.state.numbers import bytes_in_words, factor_in_words
from podium.ui.state.sentences import said
from podium.ui.state.values import PackFile, PackSlot
from podium.ui.theme import METRICS, Tint
from podium.ui.views.widgets.buttons import make_button, make_icon_button
from podium.ui.views.widgets.drops import local_paths
from podium.ui.views.widgets.elided_label import ElidedLabel
from podium.ui.views.widgets.file_dialogs import open_file_dialog
from podium.ui.views.widgets.icon_label import IconLabel
from podium.ui.views.widgets.layouts import around, column, row
from podium.ui.views.widgets.roles import give, give_surface, make_label

_ICONS = {
    PackSlot.CHECKPOINT: "cube",
    PackSlot.TEXT_ENCODER: "text",
    PackSlot.UPSCALER: "image",
    PackSlot.DISTILLED_LORA: "stack",
    PackSlot.VIDEO_VAE: "film",
    PackSlot.AUDIO_VAE: "volume",
    PackSlot.DURATION_HEAD: "clock",
}


class PackFileView(QWidget):
    """Show one place of a pack and say which file the artist wants there; one can be dropped on it."""

    chosen = Signal(object)
    """A `Path`."""
    cleared = Signal()
    """The artist wants the place empty."""

    def __init__(self, slot: PackSlot, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._slot = slot
        self._is_split = False
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
        self._clear = make_icon_button("close", self.tr("Do without it: {0}").format(title), tint=Tint.MUTED)
        words = column(self._title, self._what, self._path, self._status, spacing=2)
        whole = row(spacing=METRICS.space_m, margins=around(METRICS.space_m))
        whole.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        whole.addLayout(words, 1)
        whole.addWidget(self._choose, 0, Qt.AlignmentFlag.AlignVCenter)
        whole.addWidget(self._clear, 0, Qt.AlignmentFlag.AlignVCenter)
        self.setLayout(whole)
        self._choose.clicked.connect(self.choose)
        self._clear.clicked.connect(self.cleared)

    @property
    def choose_button(self) -> QPushButton:
        """Return what opens the file dialog."""
        return self._choose

    @property
    def clear_button(self) -> QToolButton:
        """Return what empties the place; it is there only where a model can do without."""
        return self._clear

    @property
    def status_text(self) -> str:
        """Return what is said of the file."""
        return self._status.text()

    @property
    def what_text(self) -> str:
        """Return what the place is for."""
        return self._what.text()

    def choose(self) -> None:
        """Ask for the file, or the folder."""
        is_folder = self._slot is PackSlot.TEXT_ENCODER and not self._is_split
        name_filter = self.tr("Model files ({0})").format("*.safetensors")
        dialog = open_file_dialog(self, self._texts()[0], name_filter=name_filter, takes_folder=is_folder)
        dialog.filesSelected.connect(self._on_files)

    def show_file(self, file: PackFile, *, is_split: bool = False) -> None:
        """Show what is in the place, of a model whose parts lie in files of their own or in one."""
        self._is_split = is_split
        self._what.setText(self._texts()[1])
        self._what.setVisible(file.path is None)
        self._path.setVisible(file.path is not None)
        self._path.show_text(file.path.name if file.path else "", str(file.path or ""))
        status, tone, icon = self._status_of(file)
        give(self._status, tone=tone).setText(status)
        self._status.setVisible(bool(status))
        self._icon.show_icon(*icon)
        self._choose.setText(self.tr("Choose…") if file.path is None else self.tr("Change…"))
        is_optional = self._slot in (PackSlot.DISTILLED_LORA, PackSlot.DURATION_HEAD)
        self._clear.setVisible(is_optional and file.path is not None)

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
        """Return the place's name, and what belongs there."""
        checkpoint = self.tr("The video and sound model: one .safetensors file, whole or its transformer alone.")
        folder = self.tr("Reads your prompt: the folder of Gemma 3 with its tokenizer, about 24\u00a0GB.")
        one_file = self.tr("Reads your prompt: the text encoder's file of the same model, about 26\u00a0GB.")
        return {
            PackSlot.CHECKPOINT: (self.tr("Checkpoint"), checkpoint),
            PackSlot.TEXT_ENCODER: (self.tr("Text encoder"), one_file if self._is_split else folder),
            PackSlot.UPSCALER: (
                self.tr("Spatial upscaler"),
                self.tr("Enlarges the draft to full size: one .safetensors file, about 1\u00a0GB."),
            ),
            PackSlot.DISTILLED_LORA: (
                self.tr("Distilled LoRA"),
                self.tr("Quality and HQ refine with it: one .safetensors file. Fast does without."),
            ),
            PackSlot.VIDEO_VAE: (self.tr("Video VAE"), self.tr("Turns latents into pictures, about 1.5\u00a0GB.")),
            PackSlot.AUDIO_VAE: (self.tr("Audio VAE"), self.tr("Turns latents into sound, about 0.4\u00a0GB.")),
            PackSlot.DURATION_HEAD: (
                self.tr("Duration head"),
                self.tr("Guesses a clip's length from the prompt, about 8\u00a0MB. A model does without."),
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
        scale = f"× {factor_in_words(report.upsampler.scale)}" if report.upsampler and report.upsampler.scale else ""
        gemma = f"Gemma {report.gemma.family}" if report.gemma else ""
        layers = self.tr("{0} layers").format(report.num_lora_layers) if report.num_lora_layers else ""
        quantisation = "" if layers else said(report.quantisation.words)
        parts = (generation, gemma, scale, layers, distilled, quantisation, bytes_in_words(report.file_bytes))
        return " · ".join(part for part in parts if part)
