"""How guided pipelines are steered, folded away until somebody wants to know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QCoreApplication, QRegularExpression, Qt, Signal
from PySide6.QtGui import QRegularExpressionValidator
from PySide6.QtWidgets import QComboBox, QGridLayout, QLabel, QLineEdit, QPushButton, QSizePolicy, QWidget

from podium.jobs import GuidanceMode, GuidanceSpec
from podium.ui.state.guidance import (
    MAX_LORA_STRENGTH,
    MAX_SCALE,
    MAX_SKIP_STEP,
    MAX_STEPS,
    MAX_TILES,
    GuidanceState,
)
from podium.ui.theme import METRICS, Tint
from podium.ui.views.widgets.buttons import make_button
from podium.ui.views.widgets.content_fold import ContentFold
from podium.ui.views.widgets.layouts import column, row
from podium.ui.views.widgets.number_field import NumberField
from podium.ui.views.widgets.roles import give, make_label
from podium.ui.views.widgets.wheel import leave_wheel

STREAMS = ("video", "audio")
SCALES = ("cfg", "stg", "rescale", "modality", "skip_step")


class GuidanceView(QWidget):
    """Show and change a `GuidanceState`."""

    def __init__(self, state: GuidanceState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(METRICS.space_s)
        self._grid.setVerticalSpacing(METRICS.space_xs)
        self._grid.setColumnStretch(0, 1)
        self._labels: dict[str, QLabel] = {}
        self._fields: dict[tuple[str, str], NumberField] = {}
        self._blocks: dict[str, BlocksField] = {}
        self._steps = NumberField(self.tr("Steps of the first stage"), (1, MAX_STEPS))
        self._strengths = tuple(
            NumberField(name, (-MAX_LORA_STRENGTH, MAX_LORA_STRENGTH), step=0.05, num_decimals=2)
            for name in (self.tr("Distilled LoRA in stage 1"), self.tr("Distilled LoRA in stage 2"))
        )
        self._mode = leave_wheel(QComboBox())
        # Its words may be cut: they are whole in the list that opens.
        self._mode.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._mode.setMinimumContentsLength(4)
        self._tiles = tuple(
            NumberField(name, (0, MAX_TILES))
            for name in (self.tr("Rows of tiles in stage 2"), self.tr("Columns of tiles in stage 2"))
        )
        for field in self._tiles:
            field.setSpecialValueText(self.tr("auto"))
        self._reset = make_button(self.tr("Reset to the model's own"), kind="link", icon="undo", tint=Tint.ACCENT)
        self._note = make_label("", "caption", wraps=True)
        self._problem = give(make_label("", "caption", wraps=True), tone="danger")
        page = QWidget()
        page.setLayout(column(self._note, self._make_grid(), row(self._reset, None), spacing=METRICS.space_s))
        self._reason = make_label(self.tr("Fast is not guided"), "caption")
        self._fold = ContentFold(self.tr("Guidance"), page, kind="section", aside=self._reason)
        self.setLayout(column(self._fold))
        self._connect()
        self._show()

    @property
    def fold(self) -> ContentFold:
        """Return the fold around it all."""
        return self._fold

    @property
    def steps(self) -> NumberField:
        """Return where the steps are typed."""
        return self._steps

    @property
    def strengths(self) -> tuple[NumberField, ...]:
        """Return where the distilled LoRA's strengths are typed, by stage."""
        return self._strengths

    @property
    def mode_box(self) -> QComboBox:
        """Return where it is chosen how the passes of a step run."""
        return self._mode

    @property
    def tiles(self) -> tuple[NumberField, ...]:
        """Return where rows and columns of the second stage's tiles are typed."""
        return self._tiles

    @property
    def reset_button(self) -> QPushButton:
        """Return what takes the model's own values again."""
        return self._reset

    @property
    def note_text(self) -> str:
        """Return what is said above the values."""
        return self._note.text()

    @property
    def problem_text(self) -> str:
        """Return what is said below the way the passes run; empty if nothing is wrong with it."""
        return self._problem.text()

    def field(self, stream: str, scale: str) -> NumberField:
        """Return where a scale of "video" or "audio" is typed."""
        return self._fields[stream, scale]

    def blocks(self, stream: str) -> BlocksField:
        """Return where the perturbed blocks of "video" or "audio" are typed."""
        return self._blocks[stream]

    def _make_grid(self) -> QGridLayout:
        self._add_line("steps", self.tr("Steps"), self._steps)
        heads = (make_label(self.tr("Picture"), "field"), make_label(self.tr("Sound"), "field"))
        self._add_line("", "", *heads)
        for scale, (words, hint) in self._scale_words().items():
            fields = [self._make_field(stream, scale, f"{words}: {hint}") for stream in STREAMS]
            self._add_line(scale, words, *fields)
        for stream in STREAMS:
            self._blocks[stream] = BlocksField(self.tr("Blocks that STG perturbs, counted from 0: 28, or 14, 19"))
        self._add_line("stg_blocks", self.tr("STG blocks"), *self._blocks.values())
        heads = (make_label(self.tr("Stage 1"), "field"), make_label(self.tr("Stage 2"), "field"))
        self._add_line("", "", *heads)
        self._add_line("strengths", self.tr("Distilled LoRA"), *self._strengths)
        self._add_line("", "", make_label(self.tr("Rows"), "field"), make_label(self.tr("Columns"), "field"))
        self._add_line("tiles", self.tr("Tiles of stage 2"), *self._tiles)
        self._fill_mode()
        self._add_line("mode", self.tr("Passes"), self._mode, is_wide=True)
        self._grid.addWidget(self._problem, self._grid.rowCount(), 0, 1, 3)
        return self._grid

    def _fill_mode(self) -> None:
        for mode in GuidanceMode:
            self._mode.addItem(mode_in_words(mode), mode)
        hint = self.tr("How the passes of a guided step run, up to four of them; the clip is the same")
        self._mode.setToolTip(hint)
        self._mode.setAccessibleName(hint)

    def _scale_words(self) -> dict[str, tuple[str, str]]:
        return {
            "cfg": (self.tr("CFG"), self.tr("pull away from the negative prompt; 1 does nothing")),
            "stg": (self.tr("STG"), self.tr("pull towards coherent motion; 0 does nothing")),
            "rescale": (
                self.tr("Rescale"),
                self.tr("how much of the contrast that guidance adds is taken back, 0 to 1"),
            ),
            "modality": (self.tr("Modality"), self.tr("pull picture and sound together; 1 does nothing")),
            "skip_step": (self.tr("Skip steps"), self.tr("guide on every step, or leave so many out after each")),
        }

    def _make_field(self, stream: str, scale: str, hint: str) -> NumberField:
        is_count = scale == "skip_step"
        most = {"rescale": 1.0, "skip_step": float(MAX_SKIP_STEP)}.get(scale, MAX_SCALE)
        field = NumberField(hint, (0.0, most), step=1.0 if is_count else 0.1, num_decimals=0 if is_count else 2)
        name = self.tr("Picture") if stream == "video" else self.tr("Sound")
        field.setAccessibleName(f"{self._scale_words()[scale][0]}, {name}")
        self._fields[stream, scale] = field
        return field

    def _add_line(self, key: str, words: str, *cells: QWidget, is_wide: bool = False) -> None:
        line = self._grid.rowCount()
        label = make_label(words)
        self._grid.addWidget(label, line, 0)
        # What is single stands in the last column, under the others' ends, unless it needs both.
        num_columns = 2 if is_wide else len(cells)
        for place, cell in enumerate(cells, start=3 - num_columns):
            self._grid.addWidget(cell, line, place, 1, 2 if is_wide else 1)
        if key:
            self._labels[key] = label

    def _connect(self) -> None:
        self._steps.chosen.connect(self._on_steps)
        for (stream, scale), field in self._fields.items():
            field.chosen.connect(partial(self._on_scale, stream, scale))
        for stream, blocks in self._blocks.items():
            blocks.chosen.connect(partial(self._on_blocks, stream))
        for strength in self._strengths:
            strength.chosen.connect(self._on_strengths)
        for tiles in self._tiles:
            tiles.chosen.connect(self._on_tiles)
        self._mode.activated.connect(self._on_mode)
        self._reset.clicked.connect(self._state.reset)
        state = self._state
        for signal in (state.pipeline_changed, state.defaults_changed, state.choice_changed, state.problem_changed):
            signal.connect(self._show)

    def _on_steps(self, num_steps: float) -> None:
        self._state.set_num_steps(round(num_steps))

    def _on_scale(self, stream: str, scale: str, value: float) -> None:
        spec = self._spec(stream)
        if spec is not None:
            changed = {scale: round(value) if scale == "skip_step" else value}
            self._setter(stream)(replace(spec, **changed))  # type: ignore[arg-type]  # the scales are named above

    def _on_blocks(self, stream: str, blocks: object) -> None:
        spec = self._spec(stream)
        if spec is not None and isinstance(blocks, tuple):
            self._setter(stream)(replace(spec, stg_blocks=blocks))
            # No block at all means the model's own.
            self._show()

    def _on_strengths(self) -> None:
        self._state.set_lora_strengths(*(strength.value() for strength in self._strengths))

    def _on_tiles(self, count: float) -> None:
        # Blank is for both: what is typed into one is one of a pair.
        rows, columns = (round(field.value()) for field in self._tiles)
        self._state.set_stage_2_tiles((max(1, rows), max(1, columns)) if count else None)

    def _on_mode(self, place: int) -> None:
        self._state.set_mode(GuidanceMode(self._mode.itemData(place)))

    def _spec(self, stream: str) -> GuidanceSpec | None:
        return self._state.video if stream == "video" else self._state.audio

    def _setter(self, stream: str) -> Callable[[GuidanceSpec], None]:
        return self._state.set_video if stream == "video" else self._state.set_audio

    def _show(self) -> None:
        state = self._state
        is_guided, is_known = state.pipeline.is_guided, state.defaults is not None
        self._reason.setVisible(not is_guided)
        self._fold.switch.setEnabled(is_guided)
        self._fold.switch.setToolTip("" if is_guided else self.tr("Quality and HQ are guided; Fast is not."))
        if not is_guided:
            self._fold.set_open(False)
        self._note.setText("" if is_known else self.tr("The values show once a model is chosen."))
        self._note.setVisible(not is_known)
        self._steps.show_number(state.num_steps)
        for (stream, scale), field in self._fields.items():
            spec = self._spec(stream)
            field.show_number(None if spec is None else getattr(spec, scale))
        for stream, blocks in self._blocks.items():
            spec = self._spec(stream)
            blocks.show_blocks(None if spec is None else spec.stg_blocks)
        for strength, value in zip(self._strengths, state.lora_strengths or (None, None), strict=True):
            strength.show_number(value)
        for field, count in zip(self._tiles, state.choice.stage_2_tiles or (0, 0), strict=True):
            field.show_number(count)
        self._mode.setCurrentIndex(self._mode.findData(state.choice.mode))
        self._mode.setAccessibleDescription(state.problem)
        self._problem.setText(state.problem)
        self._problem.setVisible(bool(state.problem))
        for editor in (self._steps, *self._fields.values(), *self._blocks.values(), *self._strengths):
            editor.setEnabled(is_known)
        self._reset.setEnabled(not state.is_own)
        self._mark_own()

    def _mark_own(self) -> None:
        """Have the names of what is not the model's own stand out."""
        state, defaults = self._state, self._state.defaults
        if defaults is None:
            return
        pairs = [(state.video, defaults.video), (state.audio, defaults.audio)]
        changed = {
            name: any(getattr(spec, name) != getattr(own, name) for spec, own in pairs if spec is not None)
            for name in (*SCALES, "stg_blocks")
        }
        changed["steps"] = state.num_steps != defaults.num_steps
        changed["strengths"] = state.lora_strengths != defaults.lora_strengths
        changed["tiles"] = state.choice.stage_2_tiles is not None
        changed["mode"] = state.choice.mode is not GuidanceMode.AUTO
        for name, label in self._labels.items():
            give(label, tone="accent" if changed[name] else "")


def mode_in_words(mode: GuidanceMode) -> str:
    """Return how the passes of a step run."""
    return {
        GuidanceMode.AUTO: QCoreApplication.translate("GuidanceView", "Automatic"),
        GuidanceMode.SEQUENTIAL: QCoreApplication.translate("GuidanceView", "One after another"),
        GuidanceMode.BATCHED: QCoreApplication.translate("GuidanceView", "As one batch"),
        GuidanceMode.MESH: QCoreApplication.translate("GuidanceView", "Spread out"),
    }[mode]


class BlocksField(QLineEdit):
    """Numbers of blocks, parted by commas.

    Args:
        hint: What they are.
    """

    chosen = Signal(object)
    """The artist chose these: a tuple of numbers."""

    def __init__(self, hint: str) -> None:
        super().__init__()
        self.setValidator(QRegularExpressionValidator(QRegularExpression(r"[\d ,]{0,80}"), self))
        give(self, kind="field")
        # As wide as the numbers above.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.setPlaceholderText(self.tr("own"))
        self.setToolTip(hint)
        self.setAccessibleName(hint)
        self.editingFinished.connect(self._on_edited)

    def show_blocks(self, blocks: tuple[int, ...] | None) -> None:
        """Show numbers without saying that the artist chose them; None leaves the field blank."""
        text = ", ".join(map(str, blocks or ()))
        if text != self.text():
            self.setText(text)

    def _on_edited(self) -> None:
        self.chosen.emit(tuple(int(part) for part in self.text().replace(",", " ").split()))
