"""Which sizes and lengths a clip can have, and what they are in latents. No torch, no Qt.

Source of all factors: the LTX-2 video VAE (8 x 32 x 32) and audio VAE (16 kHz, hop 160, 4 mel frames per latent).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from podium.errors import JobRefusedError

TIME_FACTOR = 8
SPACE_FACTOR = 32
SIZE_STEP_PX = 64
AUDIO_LATENTS_PER_S = 25
MIN_FPS, MAX_FPS = Fraction(1), Fraction(120)


@dataclass(frozen=True, slots=True)
class LatentGrid:
    """The latent grid of a clip: cells in time, height and width."""

    frames: int
    height: int
    width: int

    @property
    def num_tokens(self) -> int:
        """Return how many video tokens the grid makes (patch size one)."""
        return self.frames * self.height * self.width


@dataclass(frozen=True, slots=True)
class ClipFormat:
    """The pixel format of a clip.

    Args:
        height: Pixels.
        width: Pixels.
        num_frames: 8k + 1.
        fps: Frames per second, exact.
    """

    height: int
    width: int
    num_frames: int
    fps: Fraction

    @property
    def duration_s(self) -> Fraction:
        """Return the exact length of the picture in seconds."""
        return self.num_frames / self.fps

    @property
    def latent_grid(self) -> LatentGrid:
        """Return the latent grid that decodes to this clip."""
        return LatentGrid(
            (self.num_frames - 1) // TIME_FACTOR + 1, self.height // SPACE_FACTOR, self.width // SPACE_FACTOR
        )

    @property
    def num_audio_latents(self) -> int:
        """Return the audio latent steps; halves round to even, as the original does."""
        # The original computes in float: frames / fps * 25.
        return round(self.num_frames / float(self.fps) * AUDIO_LATENTS_PER_S)

    def halved(self) -> ClipFormat:
        """Return the half-size format of a two-stage pipeline's first stage."""
        return self.reduced(2)

    def reduced(self, scale: float) -> ClipFormat:
        """Return the format of the stage before an upscaler that enlarges `scale` times (2 or 1.5)."""
        factor = Fraction(scale)
        return ClipFormat(int(self.height / factor), int(self.width / factor), self.num_frames, self.fps)


def size_step_px(scale: float) -> int:
    """Return what sides are multiples of where an upscaler enlarges `scale` times: 64 for 2, 96 for 1.5.

    Both stages' sizes have to be whole latent cells.
    """
    return math.lcm(SPACE_FACTOR, int(SPACE_FACTOR * Fraction(scale)))


def snap_num_frames(duration_s: float, fps: Fraction) -> int:
    """Return the frame count 8k + 1 (at least 9) nearest to a length in seconds."""
    # Exact: a float would overflow for a length that nobody means but somebody types.
    cells = round((Fraction(duration_s) * fps - 1) / TIME_FACTOR)
    return max(1, cells) * TIME_FACTOR + 1


def parse_fps(text: str | float | Fraction) -> Fraction:
    """Return an exact frame rate; 23.976, 29.97 and 59.94 mean the NTSC rates over 1001.

    Args:
        text: "24", "23.976", "24000/1001" or a number.

    Raises:
        JobRefusedError: It is no rate from 1 to 120.
    """
    try:
        rate = Fraction(str(text).strip())
    except (ValueError, ZeroDivisionError):
        raise JobRefusedError(f"“{text}” is not a frame rate. Write it as 24, 25, 23.976 or 30000/1001.") from None
    if not MIN_FPS <= rate <= MAX_FPS:
        raise JobRefusedError(f"A frame rate of {text} cannot be made. It must lie from {MIN_FPS} to {MAX_FPS}.")
    ntsc = Fraction(round(rate * 1001 / 1000) * 1000, 1001)
    return ntsc if rate.denominator != 1 and abs(ntsc - rate) < Fraction(1, 200) else rate


def check_clip_format(clip: ClipFormat, step_px: int = SIZE_STEP_PX) -> None:
    """Check that a two-stage pipeline can make a clip of this format.

    Args:
        clip: Of the finished clip.
        step_px: What its sides have to be multiples of; see `size_step_px`.

    Raises:
        JobRefusedError: With the nearest values that would be accepted.
    """
    for name, value in (("height", clip.height), ("width", clip.width)):
        if value < step_px or value % step_px:
            raise JobRefusedError(
                f"A {name} of {value} pixels cannot be made. It must be a multiple of {step_px}: "
                f"{_neighbours(value, step_px, 0, step_px)} would do."
            )
    if clip.num_frames < TIME_FACTOR + 1 or clip.num_frames % TIME_FACTOR != 1:
        raise JobRefusedError(
            f"A clip of {clip.num_frames} frames cannot be made. The count must be 8 times a whole number, plus 1: "
            f"{_neighbours(clip.num_frames, TIME_FACTOR, 1, TIME_FACTOR + 1)} would do."
        )


def _neighbours(value: int, step: int, offset: int, smallest: int) -> str:
    low = max(smallest, (value - offset) // step * step + offset)
    high = max(smallest, low if low >= value else low + step)
    return str(low) if low == high else f"{low} or {high}"
