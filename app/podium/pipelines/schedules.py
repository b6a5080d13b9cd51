"""Noise levels of the samplers, from 1 to 0: constants of the distilled checkpoints, and schedules by number of steps.

A schedule is a tuple of falling levels that ends in 0, one more than there are steps.
"""

from __future__ import annotations

import math
from itertools import pairwise

import torch

from podium.errors import JobRefusedError

# Source: constants of the published distilled checkpoints (8 + 3 steps).
DISTILLED_STAGE_1_SIGMAS = (1.0, 0.99375, 0.9875, 0.98125, 0.975, 0.909375, 0.725, 0.421875, 0.0)
DISTILLED_STAGE_2_SIGMAS = (0.909375, 0.725, 0.421875, 0.0)

# Source: the original's second stage in tiles, which must not drift apart and so begins at less noise.
TILED_STAGE_2_SIGMAS = (0.625, 0.4, 0.0)

# Source: the checkpoints' scheduler configuration: the shift grows with the tokens, 0.95 at 1024 and 2.05 at 4096.
TWO_STAGE_NUM_TOKENS = 4096
_SHIFT_1024, _SHIFT_4096 = 0.95, 2.05
TERMINAL_SIGMA = 0.1


def shifted_schedule(num_steps: int, num_tokens: int = TWO_STAGE_NUM_TOKENS) -> tuple[float, ...]:
    """Return evenly spaced levels shifted towards noise, and stretched so that the last but one is 0.1.

    Args:
        num_steps: At least 1.
        num_tokens: Video tokens that decide the shift. The two-stage pipeline shifts as for 4096 whatever the size;
            HQ takes the first stage's own count.

    Raises:
        JobRefusedError: No such steps, or a clip so large that its levels cannot be told from 1.
    """
    if num_steps < 1:
        raise JobRefusedError(f"{num_steps} steps cannot be made. At least 1 is needed; 15 to 40 are usual.")
    slope = (_SHIFT_4096 - _SHIFT_1024) / (4096 - 1024)
    shift = math.exp(num_tokens * slope + (_SHIFT_1024 - slope * 1024))
    even = torch.linspace(1.0, 0.0, num_steps + 1)[:-1]
    # In float32 as published: with few steps its rounding decides the first levels.
    clean = 1 - shift / (shift + (1 / even - 1))
    if not float(clean[-1]) > 0:
        raise _too_large(num_steps, num_tokens)
    stretched = 1 - clean / (clean[-1] / (1 - TERMINAL_SIGMA))
    return (*stretched.tolist(), 0.0)


def check_strictly_falling(sigmas: tuple[float, ...], num_tokens: int) -> None:
    """Check a schedule for a sampler that divides by the logarithm of two neighbours.

    Raises:
        JobRefusedError: Two levels are the same: the clip is too large for the shift by its own tokens.
    """
    if any(level <= following for level, following in pairwise(sigmas)):
        raise _too_large(len(sigmas) - 1, num_tokens)


def _too_large(num_steps: int, num_tokens: int) -> JobRefusedError:
    if num_steps == 1:
        return JobRefusedError("One step is too few for this pipeline. Take two or more; 15 are usual.")
    return JobRefusedError(
        f"This clip is too large for this pipeline: its first stage has {num_tokens} video tokens, and beyond about "
        "35,000 the noise levels of its steps cannot be told apart. Make it smaller or shorter, or take Quality.",
        details=f"shifted schedule of {num_steps} steps at {num_tokens} tokens, in float32",
    )
