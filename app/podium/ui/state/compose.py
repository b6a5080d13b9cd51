"""What the artist is asking for."""

from __future__ import annotations

import math
import secrets
from collections.abc import Collection
from fractions import Fraction
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from podium.errors import JobRefusedError, PodiumError
from podium.geometry import SIZE_STEP_PX, ClipFormat, parse_fps, snap_num_frames
from podium.helper.requests import TokenCount
from podium.jobs import GenerationRequest, GuidanceMode, LoraSpec, PipelineKind
from podium.models.paths import ModelPaths
from podium.ui.state.guidance import GuidanceState
from podium.ui.state.images import ImagesState
from podium.ui.state.keyframes import KeyframesState
from podium.ui.state.observable import ObservableState
from podium.ui.state.ports import HelperPort
from podium.ui.state.sentences import said
from podium.ui.state.sizes import SIZE_STEPS_PX, aspect_of, size_for, snap_side
from podium.ui.state.token_counter import TokenCounter
from podium.ui.state.values import Aspect, ReusePart

MAX_SEED = 2**64 - 1
MAX_NUM_FRAMES = 1_801
MAX_NUM_SEEDS = 64
COMMON_FPS = tuple(parse_fps(text) for text in ("23.976", "24", "25", "29.97", "30", "48", "50", "59.94", "60"))


class ComposeState(ObservableState):
    """What the artist is asking for. Values are always valid; `problem` says what is missing, or was refused.

    Args:
        helper: Counts tokens, makes thumbnails, and knows the model's own guidance.
    """

    pipeline_changed = Signal()
    prompt_changed = Signal()
    negative_prompt_changed = Signal()
    num_tokens_changed = Signal()
    max_tokens_changed = Signal()
    seed_changed = Signal()
    is_seed_locked_changed = Signal()
    num_seeds_changed = Signal()
    size_step_px_changed = Signal()
    width_changed = Signal()
    height_changed = Signal()
    aspect_changed = Signal()
    num_frames_changed = Signal()
    fps_changed = Signal()
    problem_changed = Signal()

    def __init__(self, helper: HelperPort, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pipeline = PipelineKind.FAST
        self._prompt = ""
        self._negative_prompt = ""
        self._num_tokens: int | None = None
        self._max_tokens: int | None = None
        self._seed = 0
        self._is_seed_locked = False
        self._num_seeds = 1
        self._size_step_px = SIZE_STEP_PX
        self._width, self._height = 1536, 1024
        self._aspect: Aspect | None = aspect_of(self._width, self._height)
        self._num_frames = 121
        self._fps = Fraction(24)
        self._refusal = ""
        self._problem = ""
        self.images = ImagesState(helper, self._num_frames, self)
        self.keyframes = KeyframesState(self._num_frames, self)
        self.guidance = GuidanceState(helper, self)
        self.token_counter = TokenCounter(helper, self)
        self._problem = self._find_problem()
        self.token_counter.counted.connect(self._on_counted)
        self.images.problem_changed.connect(self._show_problem)
        self.guidance.problem_changed.connect(self._show_problem)
        # Who listens to the form hears of all its parts.
        for part in (self.images, self.keyframes, self.guidance):
            part.changed.connect(self.changed)

    @property
    def pipeline(self) -> PipelineKind:
        """Return the way to make the clip."""
        return self._pipeline

    @property
    def prompt(self) -> str:
        """Return what to show and sound."""
        return self._prompt

    @property
    def negative_prompt(self) -> str:
        """Return what to stay away from; Fast knows nothing of it, and it waits for a pipeline that does."""
        return self._negative_prompt

    @property
    def num_tokens(self) -> int | None:
        """Return the prompt's length in tokens; None while it is being counted, or without a text encoder."""
        return self._num_tokens

    @property
    def max_tokens(self) -> int | None:
        """Return how many tokens the model reads; None before the first count."""
        return self._max_tokens

    @property
    def seed(self) -> int:
        """Return the seed, 0 to 2**64 - 1."""
        return self._seed

    @property
    def is_seed_locked(self) -> bool:
        """Return whether the next clip keeps the seed."""
        return self._is_seed_locked

    @property
    def num_seeds(self) -> int:
        """Return how many clips *Generate* asks for, with one seed after another: 1 to 64."""
        return self._num_seeds

    @property
    def size_step_px(self) -> int:
        """Return what both sides are multiples of; the model's upscaler decides: 64, or 96."""
        return self._size_step_px

    @property
    def width(self) -> int:
        """Return the clip's width in pixels, a multiple of `size_step_px`."""
        return self._width

    @property
    def height(self) -> int:
        """Return the clip's height in pixels, a multiple of `size_step_px`."""
        return self._height

    @property
    def megapixels(self) -> float:
        """Return the clip's area in millions of pixels; it changes with width and height."""
        return self._width * self._height / 1e6

    @property
    def aspect(self) -> Aspect | None:
        """Return the shape that was chosen; None for a size of its own."""
        return self._aspect

    @property
    def num_frames(self) -> int:
        """Return the clip's length in frames, 8k + 1."""
        return self._num_frames

    @property
    def fps(self) -> Fraction:
        """Return the frame rate, exact."""
        return self._fps

    @property
    def duration_s(self) -> float:
        """Return the clip's length in seconds; it changes with `num_frames` and `fps`."""
        return float(self._num_frames / self._fps)

    @property
    def clip(self) -> ClipFormat:
        """Return the clip's format."""
        return ClipFormat(self._height, self._width, self._num_frames, self._fps)

    @property
    def problem(self) -> str:
        """Return a sentence on what is wrong and how to mend it; empty if nothing is."""
        return self._problem

    @property
    def prompt_problem(self) -> str:
        """Return a sentence on why the prompt cannot be read by the model; it changes with `problem`."""
        if not self._prompt.strip():
            return self.tr("Write what the clip shall show, and what is to be heard.")
        if self._num_tokens is not None and self._max_tokens is not None and self._num_tokens > self._max_tokens:
            text = self.tr("The prompt is too long: it has {0} tokens, and the model reads {1} at most. Shorten it.")
            return text.format(self._num_tokens, self._max_tokens)
        return ""

    @property
    def num_frames_behind(self) -> int:
        """Return how many single frames stand behind the clip's own tokens: pictures but the first, and key frames."""
        num_pictures = sum(image.frame != 0 for image in self.images.specs)
        return num_pictures + (self.keyframes.count if self.keyframes.is_available else 0)

    def set_pipeline(self, pipeline: PipelineKind) -> None:
        """Choose the way to make the clip; what another one was told stays for its next turn."""
        self._change(pipeline=pipeline)
        self.guidance.set_pipeline(pipeline)

    def set_prompt(self, prompt: str) -> None:
        """Take in what was written."""
        prompt = _as_text(prompt)
        if prompt == self._prompt:
            return
        self._change(prompt=prompt, num_tokens=None)
        self.token_counter.set_prompt(prompt)

    def set_negative_prompt(self, prompt: str) -> None:
        """Take in what was written of what to stay away from."""
        self._change(negative_prompt=_as_text(prompt))

    def set_seed(self, seed: int) -> None:
        """Choose the seed; one outside 0 to 2**64 - 1 becomes the nearest."""
        self._change(seed=min(MAX_SEED, max(0, seed)))

    def set_seed_locked(self, is_locked: bool) -> None:  # noqa: FBT001 - the slot of a toggle
        """Choose whether the next clip keeps the seed."""
        self._change(is_seed_locked=is_locked)

    def roll_seed(self) -> None:
        """Throw the dice: another seed, of nine digits at most so that it can be read out."""
        self._change(seed=secrets.randbelow(10**9))

    def set_num_seeds(self, num_seeds: int) -> None:
        """Choose how many clips to ask for at once, 1 to 64; what lies outside becomes the nearest."""
        self._change(num_seeds=min(MAX_NUM_SEEDS, max(1, num_seeds)))

    def set_aspect(self, aspect: Aspect) -> None:
        """Choose a shape; the area stays as near as can be."""
        self._take_size(size_for(aspect, self.megapixels, self._size_step_px), aspect)

    def set_megapixels(self, megapixels: float) -> None:
        """Choose the area in millions of pixels; the shape stays as near as can be."""
        shape = self._aspect or Aspect(self._width, self._height)
        self._take_size(size_for(shape, megapixels, self._size_step_px), self._aspect)

    def set_size(self, width: int, height: int) -> None:
        """Choose width and height in pixels; each becomes the nearest that can be made."""
        size = snap_side(width, self._size_step_px), snap_side(height, self._size_step_px)
        self._take_size(size, aspect_of(*size))

    def set_width(self, width: int) -> None:
        """Choose the width in pixels; it becomes the nearest that can be made."""
        self.set_size(width, self._height)

    def set_height(self, height: int) -> None:
        """Choose the height in pixels; it becomes the nearest that can be made."""
        self.set_size(self._width, height)

    def set_duration_s(self, duration_s: float) -> None:
        """Choose the length in seconds; it becomes the nearest count of frames that can be made."""
        if math.isfinite(duration_s):
            self._take_length(self._fps, duration_s)

    def set_num_frames(self, num_frames: int) -> None:
        """Choose the length in frames; it becomes the nearest 8k + 1."""
        self._take_length(self._fps, num_frames / float(self._fps))

    def set_fps(self, fps: str | float | Fraction) -> None:
        """Choose the frame rate (“24”, “23.976”, “30000/1001”); the length in seconds stays as near as can be.

        One that cannot be made is refused, and `problem` says why.
        """
        try:
            rate = parse_fps(fps)
        except JobRefusedError as error:
            self._refuse(error)
            return
        self._take_length(rate, self.duration_s)

    def set_gemma_root(self, gemma_root: Path | None) -> None:
        """Count tokens with the tokenizer of this folder; None counts none."""
        if self.token_counter.set_gemma_root(gemma_root):
            self._change(num_tokens=None)

    def set_model(self, models: ModelPaths | None, size_step_px: int) -> None:
        """Compose for this model.

        Args:
            models: Its files; None while none is chosen.
            size_step_px: What the sides of its clips are multiples of.
        """
        self.guidance.set_models(models)
        # Without a model the size waits for the one that it was chosen for.
        if models is not None and size_step_px != self._size_step_px:
            size = snap_side(self._width, size_step_px), snap_side(self._height, size_step_px)
            aspect = self._aspect or aspect_of(*size)
            self._update(size_step_px=size_step_px, width=size[0], height=size[1], aspect=aspect)

    def restore_size_step(self, step_px: int) -> None:
        """Take what sides were multiples of when the form was kept; a model that is known knows better."""
        if self.guidance.models is None and step_px in SIZE_STEPS_PX:
            self._update(size_step_px=step_px)

    def to_request(self, output_path: Path, loras: tuple[LoraSpec, ...] = ()) -> GenerationRequest:
        """Return the request as it stands now, whole.

        Args:
            output_path: The mp4 to write.
            loras: The LoRA set.
        """
        guidance = self.guidance.choice
        is_guided = self._pipeline.is_guided
        return GenerationRequest(
            prompt=self._prompt,
            seed=self._seed,
            clip=self.clip,
            output_path=output_path,
            images=self.images.specs,
            loras=loras,
            pipeline=self._pipeline,
            negative_prompt=self._negative_prompt if is_guided else "",
            num_inference_steps=guidance.num_steps if is_guided else None,
            video_guidance=guidance.video if is_guided else None,
            audio_guidance=guidance.audio if is_guided else None,
            distilled_lora_strengths=guidance.lora_strengths if is_guided else None,
            generated_keyframes=self.keyframes.asked,
            stage_2_tiles=guidance.stage_2_tiles if is_guided else None,
            guidance_mode=guidance.mode if is_guided else GuidanceMode.AUTO,
        )

    def restore(self, request: GenerationRequest, parts: Collection[ReusePart]) -> None:
        """Take parts of a request into the form; its LoRAs and its model lie elsewhere."""
        if ReusePart.PIPELINE in parts:
            self.set_pipeline(request.pipeline)
        if ReusePart.PROMPT in parts:
            self.set_prompt(request.prompt)
        if ReusePart.NEGATIVE_PROMPT in parts:
            self.set_negative_prompt(request.negative_prompt)
        if ReusePart.SEED in parts:
            self.set_seed(request.seed)
        if ReusePart.SIZE in parts:
            self.set_size(request.clip.width, request.clip.height)
        if ReusePart.DURATION in parts:
            self._take_length(request.clip.fps, float(request.clip.duration_s))
        if ReusePart.IMAGES in parts:
            self.images.restore(request.images, request.clip.num_frames)
            self.keyframes.restore(request.generated_keyframes)
        if ReusePart.GUIDANCE in parts and request.pipeline is self._pipeline:
            self.guidance.restore(request)

    def close(self) -> None:
        """Count no more: the window goes."""
        self.token_counter.close()

    def _change(self, **values: object) -> None:
        """Take valid values in: whatever was refused before is forgotten."""
        self._refusal = ""
        self._update(**values)
        self._update(problem=self._find_problem())

    def _show_problem(self) -> None:
        self._update(problem=self._find_problem())

    def _refuse(self, error: PodiumError) -> None:
        self._refusal = said(error.message)
        self._update(problem=self._find_problem())

    def _take_length(self, fps: Fraction, duration_s: float) -> None:
        num_frames = min(MAX_NUM_FRAMES, snap_num_frames(duration_s, fps))
        self._change(fps=fps, num_frames=num_frames)
        self.images.set_num_frames(num_frames)
        self.keyframes.set_num_frames(num_frames)

    def _on_counted(self, count: TokenCount) -> None:
        self._update(num_tokens=count.num_tokens, max_tokens=count.max_tokens)
        self._show_problem()

    def _take_size(self, size: tuple[int, int], aspect: Aspect | None) -> None:
        self._change(width=size[0], height=size[1], aspect=aspect)

    def _find_problem(self) -> str:
        return self._refusal or self.prompt_problem or self.images.problem or self.guidance.problem


def _as_text(typed: str) -> str:
    # Half a surrogate pair, which a paste can bring, has no UTF-8 form.
    return typed.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
