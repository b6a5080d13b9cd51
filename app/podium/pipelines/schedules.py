"""Noise levels of the samplers, from 1 to 0."""

from __future__ import annotations

# Source: constants of the published distilled checkpoints (8 + 3 steps).
DISTILLED_STAGE_1_SIGMAS = (1.0, 0.99375, 0.9875, 0.98125, 0.975, 0.909375, 0.725, 0.421875, 0.0)
DISTILLED_STAGE_2_SIGMAS = (0.909375, 0.725, 0.421875, 0.0)
