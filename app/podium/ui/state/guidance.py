"""How guided pipelines are steered: the model's own values, and what the artist set otherwise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial

from PySide6.QtCore import QObject, Signal

from podium.helper.requests import Answer, GetDefaults, GuidanceDefaults
from podium.jobs import GenerationRequest, GuidanceMode, GuidanceSpec, PipelineKind, count_passes
from podium.models.paths import ModelPaths
from podium.ui.state.observable import ObservableState
from podium.ui.state.ports import HelperPort

MAX_STEPS = 200
MAX_SCALE = 100.0
MAX_LORA_STRENGTH = 10.0
MAX_SKIP_STEP = 50
MAX_NUM_BLOCKS = 1000
MAX_TILES = 64


@dataclass(frozen=True, slots=True)
class GuidanceChoice:
    """What the artist set otherwise than the model's own; None is the model's own.

    Args:
        stage_2_tiles: Rows and columns of the second stage's tiles; None takes what suits the fleet.
        mode: How the passes of a step run.
    """

    num_steps: int | None = None
    video: GuidanceSpec | None = None
    audio: GuidanceSpec | None = None
    lora_strengths: tuple[float, float] | None = None
    stage_2_tiles: tuple[int, int] | None = None
    mode: GuidanceMode = GuidanceMode.AUTO


class GuidanceState(ObservableState):
    """Steps, guidance of both streams, the distilled LoRA's strengths, and how it runs; each pipeline has its own.

    Until a model is known only its place can be shown: `defaults` is None, and nothing can be set.

    Args:
        helper: Knows the model's own values.
    """

    pipeline_changed = Signal()
    defaults_changed = Signal()
    choice_changed = Signal()
    problem_changed = Signal()

    def __init__(self, helper: HelperPort, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._helper = helper
        self._models: ModelPaths | None = None
        self._pipeline = PipelineKind.FAST
        self._choices: dict[PipelineKind, GuidanceChoice] = {}
        self._choice = GuidanceChoice()
        self._defaults: GuidanceDefaults | None = None
        self._num_ranks: int | None = None
        self._problem = ""

    @property
    def pipeline(self) -> PipelineKind:
        """Return the pipeline that is steered."""
        return self._pipeline

    @property
    def models(self) -> ModelPaths | None:
        """Return the model whose values are its own; None without one."""
        return self._models

    @property
    def defaults(self) -> GuidanceDefaults | None:
        """Return the model's own values; None without a model, until they are known, and for Fast, which has none."""
        return self._defaults

    @property
    def choice(self) -> GuidanceChoice:
        """Return what is set otherwise, for a request."""
        return self._choice

    @property
    def is_own(self) -> bool:
        """Return whether all values are the model's own; it changes with `choice`."""
        return self._choice == GuidanceChoice()

    @property
    def problem(self) -> str:
        """Return a sentence on why the passes of a step cannot run as they shall; empty if they can."""
        return self._problem

    @property
    def num_steps(self) -> int | None:
        """Return the steps of the first stage; None until they are known."""
        own = None if self._defaults is None else self._defaults.num_steps
        return own if self._choice.num_steps is None else self._choice.num_steps

    @property
    def video(self) -> GuidanceSpec | None:
        """Return how the picture is guided; None until it is known."""
        return self._shown(self._choice.video, None if self._defaults is None else self._defaults.video)

    @property
    def audio(self) -> GuidanceSpec | None:
        """Return how the sound is guided; None until it is known."""
        return self._shown(self._choice.audio, None if self._defaults is None else self._defaults.audio)

    @property
    def lora_strengths(self) -> tuple[float, float] | None:
        """Return the distilled LoRA's strengths in both stages; None until they are known."""
        own = None if self._defaults is None else self._defaults.lora_strengths
        return own if self._choice.lora_strengths is None else self._choice.lora_strengths

    def set_pipeline(self, pipeline: PipelineKind) -> None:
        """Steer this pipeline; what was set for it before holds again."""
        if pipeline is not self._pipeline:
            choice = self._choices.get(pipeline, GuidanceChoice())
            self._change(pipeline=pipeline, choice=choice, defaults=None)
            self._ask()

    def set_models(self, models: ModelPaths | None) -> None:
        """Take the values of this model for its own; None knows none."""
        if models != self._models:
            self._models = models
            self._change(defaults=None)
            self._ask()

    def set_num_ranks(self, num_ranks: int | None) -> None:
        """Note how many devices the clip is made on; None while they are not known."""
        self._num_ranks = num_ranks
        self._change()

    def set_num_steps(self, num_steps: int) -> None:
        """Choose the steps of the first stage, 1 to 200; what lies outside becomes the nearest."""
        if self._defaults is not None:
            num_steps = min(MAX_STEPS, max(1, num_steps))
            self._choose(num_steps=None if num_steps == self._defaults.num_steps else num_steps)

    def set_video(self, spec: GuidanceSpec) -> None:
        """Choose how the picture is guided; what cannot be becomes the nearest that can."""
        if self._defaults is not None:
            self._choose(video=_unless_own(spec, self._defaults.video, self._defaults.num_blocks))

    def set_audio(self, spec: GuidanceSpec) -> None:
        """Choose how the sound is guided; what cannot be becomes the nearest that can."""
        if self._defaults is not None:
            self._choose(audio=_unless_own(spec, self._defaults.audio, self._defaults.num_blocks))

    def set_lora_strengths(self, stage_1: float, stage_2: float) -> None:
        """Choose the distilled LoRA's strength in each stage, -10 to 10; what lies outside becomes the nearest."""
        if self._defaults is not None:
            strengths = (_within(stage_1, MAX_LORA_STRENGTH), _within(stage_2, MAX_LORA_STRENGTH))
            self._choose(lora_strengths=None if strengths == self._defaults.lora_strengths else strengths)

    def set_stage_2_tiles(self, tiles: tuple[int, int] | None) -> None:
        """Choose rows and columns of the second stage's tiles, 1 to 64 each; None leaves them to the fleet."""
        within = None if tiles is None else (_within_tiles(tiles[0]), _within_tiles(tiles[1]))
        self._choose(stage_2_tiles=within)

    def set_mode(self, mode: GuidanceMode) -> None:
        """Choose how the passes of a step run; the clip is the same but for rounding."""
        self._choose(mode=mode)

    def reset(self) -> None:
        """Take the model's own values again."""
        self._take_choice(GuidanceChoice())

    def restore(self, request: GenerationRequest) -> None:
        """Steer as a request of the same pipeline did."""
        self._take_choice(
            GuidanceChoice(
                request.num_inference_steps,
                request.video_guidance,
                request.audio_guidance,
                request.distilled_lora_strengths,
                request.stage_2_tiles,
                request.guidance_mode,
            )
        )

    def form(self) -> dict[str, object]:
        """Return what was set for each pipeline as plain values that become JSON."""
        choices = {**self._choices, self._pipeline: self._choice}
        return {kind.value: _to_form(choice) for kind, choice in choices.items() if choice != GuidanceChoice()}

    def restore_form(self, form: Mapping[str, object]) -> None:
        """Set what `form` gave; what cannot be read is the model's own."""
        kinds = {kind: form.get(kind.value) for kind in PipelineKind}
        self._choices = {kind: _from_form(values) for kind, values in kinds.items() if isinstance(values, Mapping)}
        self._change(choice=self._choices.get(self._pipeline, GuidanceChoice()))

    def _ask(self) -> None:
        if self._models is not None and self._pipeline.is_guided:
            asked = GetDefaults(self._models, self._pipeline)
            self._helper.ask(asked, partial(self._take_defaults, asked))

    def _take_defaults(self, asked: GetDefaults, answer: Answer[GuidanceDefaults]) -> None:
        if (asked.models, asked.pipeline) == (self._models, self._pipeline):
            self._change(defaults=answer.value)

    def _shown(self, choice: GuidanceSpec | None, own: GuidanceSpec | None) -> GuidanceSpec | None:
        """Return the guidance that holds; no blocks of its own means the model's."""
        if choice is None or own is None or choice.stg_blocks:
            return choice or own
        return replace(choice, stg_blocks=own.stg_blocks)

    def _choose(self, **values: object) -> None:
        self._take_choice(replace(self._choice, **values))  # type: ignore[arg-type]  # of this room's own calls

    def _take_choice(self, choice: GuidanceChoice) -> None:
        self._choices[self._pipeline] = choice
        self._change(choice=choice)

    def _change(self, **values: object) -> None:
        """Take new values in, and look at what they are to each other."""
        self._update(**values)
        self._update(problem=self._find_problem())

    def _find_problem(self) -> str:
        mode = self._choice.mode
        if not self._pipeline.is_guided or mode in (GuidanceMode.AUTO, GuidanceMode.SEQUENTIAL):
            return ""
        if mode is GuidanceMode.MESH and self._num_ranks == 1:
            return self.tr(
                "The passes of guidance can be spread out over two devices or more, and one is chosen. Have them run "
                "another way, or choose more devices."
            )
        if self.video is not None and self.audio is not None and count_passes(self.video, self.audio) == 1:
            return self.tr(
                "With these scales a step takes a single pass, and there is nothing to batch or to spread out. Leave "
                "the passes on “Automatic”, or raise a scale."
            )
        return ""


def _unless_own(spec: GuidanceSpec, own: GuidanceSpec, num_blocks: int) -> GuidanceSpec | None:
    """Return a guidance that can be, or None if it is the model's own."""
    valid = _valid(spec, num_blocks)
    # Another generation has other blocks: those that nobody chose are not kept.
    valid = replace(valid, stg_blocks=()) if valid.stg_blocks == own.stg_blocks else valid
    return None if valid == replace(own, stg_blocks=()) else valid


def _valid(spec: GuidanceSpec, num_blocks: int = MAX_NUM_BLOCKS) -> GuidanceSpec:
    return GuidanceSpec(
        cfg=max(0.0, _within(spec.cfg, MAX_SCALE)),
        stg=max(0.0, _within(spec.stg, MAX_SCALE)),
        rescale=max(0.0, _within(spec.rescale, 1.0)),
        modality=max(0.0, _within(spec.modality, MAX_SCALE)),
        skip_step=min(MAX_SKIP_STEP, max(0, spec.skip_step)),
        stg_blocks=tuple(sorted({block for block in spec.stg_blocks if 0 <= block < num_blocks})),
    )


def _within(value: float, most: float) -> float:
    return min(most, max(-most, value)) if math.isfinite(value) else 0.0


def _to_form(choice: GuidanceChoice) -> dict[str, object]:
    values = asdict(choice) | {"mode": None if choice.mode is GuidanceMode.AUTO else choice.mode.value}
    return {name: value for name, value in values.items() if value is not None}


def _from_form(values: Mapping[str, object]) -> GuidanceChoice:
    steps, strengths, mode = values.get("num_steps"), values.get("lora_strengths"), values.get("mode")
    return GuidanceChoice(
        num_steps=min(MAX_STEPS, max(1, steps)) if isinstance(steps, int) else None,
        video=_spec_from_form(values.get("video")),
        audio=_spec_from_form(values.get("audio")),
        lora_strengths=_pair_from_form(strengths),
        stage_2_tiles=_tiles_from_form(values.get("stage_2_tiles")),
        mode=next((known for known in GuidanceMode if known.value == mode), GuidanceMode.AUTO),
    )


def _within_tiles(count: int) -> int:
    return min(MAX_TILES, max(1, count))


def _tiles_from_form(value: object) -> tuple[int, int] | None:
    match value:
        case [int(rows), int(columns)]:
            return _within_tiles(rows), _within_tiles(columns)
        case _:
            return None


def _pair_from_form(value: object) -> tuple[float, float] | None:
    if not isinstance(value, list | tuple) or len(value) != 2:
        return None
    first, second = (_number(part) for part in value)
    if first is None or second is None:
        return None
    return _within(first, MAX_LORA_STRENGTH), _within(second, MAX_LORA_STRENGTH)


def _spec_from_form(value: object) -> GuidanceSpec | None:
    if not isinstance(value, Mapping):
        return None
    scales = {name: _number(value.get(name)) for name in ("cfg", "stg", "rescale", "modality")}
    skip_step, blocks = value.get("skip_step"), value.get("stg_blocks")
    return _valid(
        GuidanceSpec(
            **{name: scale for name, scale in scales.items() if scale is not None},
            skip_step=skip_step if isinstance(skip_step, int) else 0,
            stg_blocks=tuple(block for block in blocks if isinstance(block, int))
            if isinstance(blocks, list | tuple)
            else (),
        )
    )


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if is_number and isinstance(value, int | float) else None
