"""Noise is decided by seed and name alone."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from podium.pipelines.noise import SeededNoise

SHAPE = (1, 6, 4)


@given(st.integers(0, 2**64 - 1))
def test_a_seed_and_a_name_always_draw_the_same(seed: int) -> None:
    source = SeededNoise(seed)
    first = source.draw("stage_1.video", SHAPE)
    source.draw("stage_1.audio", SHAPE)
    assert torch.equal(SeededNoise(seed).draw("stage_1.video", SHAPE), first)


def test_names_and_seeds_draw_apart() -> None:
    draws = [
        SeededNoise(seed).draw(name, SHAPE) for seed in (0, 1, 2**63) for name in ("stage_1.video", "stage_2.video")
    ]
    assert all(not torch.equal(a, b) for i, a in enumerate(draws) for b in draws[:i])


def test_draws_are_standard_normals() -> None:
    noise = SeededNoise(7).draw("stage_1.video", (1, 4096, 16))
    assert noise.dtype == torch.float32
    assert abs(float(noise.mean())) < 0.01
    assert abs(float(noise.std()) - 1) < 0.01
