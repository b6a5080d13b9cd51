"""Take parts of an earlier clip's request into the form."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QGridLayout, QPushButton, QWidget

from podium.jobs import GenerationRequest, GuidanceMode
from podium.ui.state.numbers import factor_in_words, fps_in_words, seconds_in_words
from podium.ui.state.values import ReusePart
from podium.ui.theme import METRICS, Tint
from podium.ui.views.guidance_view import mode_in_words
from podium.ui.views.queue_words import DOT, QueueWords
from podium.ui.views.widgets.banner import Banner
from podium.ui.views.widgets.buttons import make_button
from podium.ui.views.widgets.elided_label import ElidedLabel
from podium.ui.views.widgets.layouts import around, column, row
from podium.ui.views.widgets.roles import make_label


class ReuseDialog(QDialog):
    """Choose which parts of a request are taken over; each is shown with what it holds.

    Args:
        title: The heading.
        request: Whose parts.
        model_name: Of the model it was made with; empty if that cannot be taken over.
        note: A sentence that has to be seen before, such as on files that are not here.
    """

    chosen = Signal(object)
    """These parts shall be taken: a frozenset of `ReusePart`."""

    def __init__(
        self, title: str, request: GenerationRequest, *, model_name: str = "", note: str = "", parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._checks: dict[ReusePart, QCheckBox] = {}
        banner = Banner("warning")
        banner.show_message(note)
        grid = QGridLayout()
        grid.setHorizontalSpacing(METRICS.space_l)
        grid.setVerticalSpacing(METRICS.space_s)
        grid.setColumnStretch(1, 1)
        for line, (part, name, value) in enumerate(self._parts(request, model_name)):
            self._add_part(grid, line, part, name=name, value=value)
        self._reuse = make_button(self.tr("Reuse"), kind="primary", icon="history", tint=Tint.ON_ACCENT)
        self._reuse.setDefault(True)
        everything, nothing = make_button(self.tr("All"), kind="link"), make_button(self.tr("None"), kind="link")
        stay = make_button(self.tr("Cancel"))
        head = row(make_label(title, "headline"), None, everything, nothing)
        foot = row(None, stay, self._reuse)
        self.setLayout(column(head, banner, grid, foot, spacing=METRICS.space_l, margins=around(METRICS.space_xl)))
        self.setMinimumWidth(METRICS.dialog_width)
        everything.clicked.connect(self._on_all)
        nothing.clicked.connect(self._on_none)
        stay.clicked.connect(self.reject)
        self._reuse.clicked.connect(self._on_reuse)
        self._show()

    @property
    def reuse_button(self) -> QPushButton:
        """Return what takes the parts over."""
        return self._reuse

    @property
    def parts(self) -> frozenset[ReusePart]:
        """Return the parts that are chosen."""
        return frozenset(part for part, check in self._checks.items() if check.isEnabled() and check.isChecked())

    def check_box(self, part: ReusePart) -> QCheckBox:
        """Return what chooses a part."""
        return self._checks[part]

    def _add_part(self, grid: QGridLayout, line: int, part: ReusePart, *, name: str, value: str) -> None:
        check = QCheckBox(name)
        check.setChecked(bool(value))
        check.setEnabled(bool(value))
        check.setAccessibleDescription(value)
        check.toggled.connect(self._show)
        self._checks[part] = check
        shown = ElidedLabel(value or self.tr("None"), "muted")
        grid.addWidget(check, line, 0)
        grid.addWidget(shown, line, 1)

    def _parts(self, request: GenerationRequest, model_name: str) -> tuple[tuple[ReusePart, str, str], ...]:
        clip = request.clip
        fps = self.tr("{0} fps").format(fps_in_words(clip.fps))
        frames = self.tr("{0} frames").format(clip.num_frames)
        duration = DOT.join((seconds_in_words(float(clip.duration_s)), frames, fps))
        loras = ", ".join(f"{lora.path.stem} {factor_in_words(lora.strength)}" for lora in request.loras)
        return (
            (ReusePart.PROMPT, self.tr("Prompt"), " ".join(request.prompt.split())),
            (ReusePart.NEGATIVE_PROMPT, self.tr("Negative prompt"), " ".join((request.negative_prompt or "").split())),
            (ReusePart.SEED, self.tr("Seed"), str(request.seed)),
            (ReusePart.SIZE, self.tr("Size"), f"{clip.width} × {clip.height}"),
            (ReusePart.DURATION, self.tr("Length and rate"), duration),
            (ReusePart.IMAGES, self.tr("Pictures"), self._pictures(request)),
            (ReusePart.LORAS, self.tr("LoRAs"), loras),
            (ReusePart.PIPELINE, self.tr("Pipeline"), QueueWords(self).pipeline(request.pipeline)),
            (ReusePart.GUIDANCE, self.tr("Steps and guidance"), self._guidance(request)),
            (ReusePart.MODEL, self.tr("Model"), model_name),
        )

    def _pictures(self, request: GenerationRequest) -> str:
        names = ", ".join(image.path.name for image in request.images)
        slots = request.generated_keyframes
        count = slots if isinstance(slots, int) else len(slots)
        keyframes = self.tr("key frames of the model's own: {0}").format(count) if count else ""
        return DOT.join(filter(None, (names, keyframes)))

    def _guidance(self, request: GenerationRequest) -> str:
        if not request.pipeline.is_guided:
            return ""
        facts = []
        if request.num_inference_steps is not None:
            facts.append(self.tr("Steps: {0}").format(request.num_inference_steps))
        if request.video_guidance is not None or request.audio_guidance is not None:
            facts.append(self.tr("scales of its own"))
        if request.distilled_lora_strengths is not None:
            strengths = map(factor_in_words, request.distilled_lora_strengths)
            facts.append(self.tr("distilled LoRA {0} and {1}").format(*strengths))
        if request.stage_2_tiles is not None:
            facts.append(self.tr("{0} × {1} tiles").format(*request.stage_2_tiles))
        if request.guidance_mode is not GuidanceMode.AUTO:
            facts.append(self.tr("passes: {0}").format(mode_in_words(request.guidance_mode)))
        return DOT.join(facts) or self.tr("The model's own")

    def _on_all(self) -> None:
        for check in self._checks.values():
            check.setChecked(check.isEnabled())

    def _on_none(self) -> None:
        for check in self._checks.values():
            check.setChecked(False)

    def _on_reuse(self) -> None:
        self.chosen.emit(self.parts)
        self.accept()

    def _show(self) -> None:
        self._reuse.setEnabled(bool(self.parts))
