"""What the artist is asking for."""

from __future__ import annotations

import math
import secrets
from fractions import Fraction
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from podium.errors import JobRefusedError, PodiumError
from podium.geometry import ClipFormat, parse_fps, snap_num_frames
from podium.helper.requests import Answer, CountTokens, MakeThumbnail, Thumbnail, TokenCount
from podium.jobs import GenerationRequest, ImageSpec, LoraSpec
from podium.ui.state.observable import ObservableState
from podium.ui.state.ports import HelperPort
from podium.ui.state.sizes import aspect_of, size_for, snap_side
from podium.ui.state.values import Aspect

MAX_SEED = 2**64 - 1
MAX_NUM_FRAMES = 1_801
COUNT_DELAY_MS = 150
THUMBNAIL_PX = 160
COMMON_FPS = tuple(parse_fps(text) for text in ("23.976", "24", "25", "29.97", "30", "48", "50", "59.94", "60"))


class ComposeState(ObservableState):
    """What the artist is asking for. Values are always valid; `problem` says what is missing, or was refused.

    Args:
        helper: Counts tokens and makes the picture's thumbnail.
    """

    prompt_changed = Signal()
    num_tokens_changed = Signal()
    max_tokens_changed = Signal()
    seed_changed = Signal()
    is_seed_locked_changed = Signal()
    width_changed = Signal()
    height_changed = Signal()
    aspect_changed = Signal()
    num_frames_changed = Signal()
    fps_changed = Signal()
    image_path_changed = Signal()
    image_strength_changed = Signal()
    image_thumbnail_changed = Signal()
    problem_changed = Signal()

    def __init__(self, helper: HelperPort, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._helper = helper
        self._gemma_root: Path | None = None
        self._prompt = ""
        self._num_tokens: int | None = None
        self._max_tokens: int | None = None
        self._seed = 0
        self._is_seed_locked = False
        self._width, self._height = 1536, 1024
        self._aspect: Aspect | None = aspect_of(self._width, self._height)
        self._num_frames = 121
        self._fps = Fraction(24)
        self._image_path: Path | None = None
        self._image_strength = 1.0
        self._image_thumbnail: Thumbnail | None = None
        self._image_problem = ""
        self._refusal = ""
        self._problem = ""
        self._problem = self._find_problem()
        self._count_timer = QTimer(self, singleShot=True, interval=COUNT_DELAY_MS)
        self._count_timer.timeout.connect(self._count_tokens)

    @property
    def prompt(self) -> str:
        """Return what to show and sound."""
        return self._prompt

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
    def width(self) -> int:
        """Return the clip's width in pixels, a multiple of 64."""
        return self._width

    @property
    def height(self) -> int:
        """Return the clip's height in pixels, a multiple of 64."""
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
    def image_path(self) -> Path | None:
        """Return the picture to start from."""
        return self._image_path

    @property
    def image_strength(self) -> float:
        """Return how much of the picture stays: 0 (ignored) to 1 (kept as it is)."""
        return self._image_strength

    @property
    def image_thumbnail(self) -> Thumbnail | None:
        """Return the picture made small; None without one, or until it is made."""
        return self._image_thumbnail

    @property
    def problem(self) -> str:
        """Return a sentence on what is wrong and how to mend it; empty if nothing is."""
        return self._problem

    def set_prompt(self, prompt: str) -> None:
        """Take in what was written."""
        # Half a surrogate pair, which a paste can bring, has no UTF-8 form.
        prompt = prompt.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if prompt == self._prompt:
            return
        self._change(prompt=prompt, num_tokens=None)
        self._count_soon()

    def set_seed(self, seed: int) -> None:
        """Choose the seed; one outside 0 to 2**64 - 1 becomes the nearest."""
        self._change(seed=min(MAX_SEED, max(0, seed)))

    def set_seed_locked(self, is_locked: bool) -> None:  # noqa: FBT001 - the slot of a toggle
        """Choose whether the next clip keeps the seed."""
        self._change(is_seed_locked=is_locked)

    def roll_seed(self) -> None:
        """Throw the dice: another seed, of nine digits at most so that it can be read out."""
        self._change(seed=secrets.randbelow(10**9))

    def set_aspect(self, aspect: Aspect) -> None:
        """Choose a shape; the area stays as near as can be."""
        self._take_size(size_for(aspect, self.megapixels), aspect)

    def set_megapixels(self, megapixels: float) -> None:
        """Choose the area in millions of pixels; the shape stays as near as can be."""
        shape = self._aspect or Aspect(self._width, self._height)
        self._take_size(size_for(shape, megapixels), self._aspect)

    def set_size(self, width: int, height: int) -> None:
        """Choose width and height in pixels; each becomes the nearest multiple of 64."""
        size = snap_side(width), snap_side(height)
        self._take_size(size, aspect_of(*size))

    def set_width(self, width: int) -> None:
        """Choose the width in pixels; it becomes the nearest multiple of 64."""
        self.set_size(width, self._height)

    def set_height(self, height: int) -> None:
        """Choose the height in pixels; it becomes the nearest multiple of 64."""
        self.set_size(self._width, height)

    def set_duration_s(self, duration_s: float) -> None:
        """Choose the length in seconds; it becomes the nearest count of frames that can be made."""
        if math.isfinite(duration_s):
            self._change(num_frames=_snap_frames(duration_s, self._fps))

    def set_num_frames(self, num_frames: int) -> None:
        """Choose the length in frames; it becomes the nearest 8k + 1."""
        self._change(num_frames=_snap_frames(num_frames / float(self._fps), self._fps))

    def set_fps(self, fps: str | float | Fraction) -> None:
        """Choose the frame rate (“24”, “23.976”, “30000/1001”); the length in seconds stays as near as can be.

        One that cannot be made is refused, and `problem` says why.
        """
        try:
            rate = parse_fps(fps)
        except JobRefusedError as error:
            self._refuse(error)
            return
        self._change(fps=rate, num_frames=_snap_frames(self.duration_s, rate))

    def set_image(self, path: Path | None) -> None:
        """Choose the picture to start from; None starts from nothing."""
        if path == self._image_path:
            return
        self._image_problem = ""
        self._change(image_path=path, image_thumbnail=None)
        if path is not None:
            self._helper.ask(MakeThumbnail(path, THUMBNAIL_PX), lambda answer: self._take_thumbnail(path, answer))

    def clear_image(self) -> None:
        """Start from nothing."""
        self.set_image(None)

    def set_image_strength(self, strength: float) -> None:
        """Choose how much of the picture stays; what lies outside 0 to 1 becomes the nearest."""
        if math.isfinite(strength):
            self._change(image_strength=min(1.0, max(0.0, strength)))

    def set_gemma_root(self, gemma_root: Path | None) -> None:
        """Count tokens with the tokenizer of this folder; None counts none."""
        if gemma_root != self._gemma_root:
            self._gemma_root = gemma_root
            self._change(num_tokens=None)
            self._count_soon()

    def to_request(self, output_path: Path, loras: tuple[LoraSpec, ...] = ()) -> GenerationRequest:
        """Return the request as it stands now, whole.

        Args:
            output_path: The mp4 to write.
            loras: The LoRA set.
        """
        image = self._image_path
        return GenerationRequest(
            prompt=self._prompt,
            seed=self._seed,
            clip=self.clip,
            output_path=output_path,
            images=() if image is None else (ImageSpec(image, strength=self._image_strength),),
            loras=loras,
        )

    def close(self) -> None:
        """Count no more: the window goes."""
        self._count_timer.stop()

    def _change(self, **values: object) -> None:
        """Take valid values in: whatever was refused before is forgotten."""
        self._refusal = ""
        self._update(**values)
        self._update(problem=self._find_problem())

    def _refuse(self, error: PodiumError) -> None:
        self._refusal = error.message
        self._update(problem=self._find_problem())

    def _take_size(self, size: tuple[int, int], aspect: Aspect | None) -> None:
        self._change(width=size[0], height=size[1], aspect=aspect)

    def _find_problem(self) -> str:
        if self._refusal:
            return self._refusal
        if not self._prompt.strip():
            return self.tr("Write what the clip shall show, and what is to be heard.")
        if self._image_problem:
            return self._image_problem
        if self._num_tokens is not None and self._max_tokens is not None and self._num_tokens > self._max_tokens:
            text = self.tr("The prompt is too long: it has {0} tokens, and the model reads {1} at most. Shorten it.")
            return text.format(self._num_tokens, self._max_tokens)
        return ""

    def _count_soon(self) -> None:
        if self._gemma_root is not None:
            self._count_timer.start()

    def _count_tokens(self) -> None:
        prompt, gemma_root = self._prompt, self._gemma_root
        if gemma_root is None:
            return

        def take(answer: Answer[TokenCount]) -> None:
            # What was counted may have been written over meanwhile.
            is_current = (prompt, gemma_root) == (self._prompt, self._gemma_root)
            if is_current and answer.value is not None:
                self._update(num_tokens=answer.value.num_tokens, max_tokens=answer.value.max_tokens)
                self._update(problem=self._find_problem())

        self._helper.ask(CountTokens(gemma_root, prompt), take)

    def _take_thumbnail(self, path: Path, answer: Answer[Thumbnail]) -> None:
        if path != self._image_path:
            return
        self._image_problem = "" if answer.error is None else answer.error.message
        self._update(image_thumbnail=answer.value)
        self._update(problem=self._find_problem())


def _snap_frames(duration_s: float, fps: Fraction) -> int:
    return min(MAX_NUM_FRAMES, snap_num_frames(duration_s, fps))
