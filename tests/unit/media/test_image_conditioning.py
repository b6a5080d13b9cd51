"""Fitting a picture to a clip, with torch as the oracle."""

from __future__ import annotations

import math

import numpy as np
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from podium.media.image_conditioning import prepare_image

SIDES = st.integers(1, 150)


def prepare_with_torch(rgb: NDArray[np.uint8], height: int, width: int) -> NDArray[np.float32]:
    scale = max(height / rgb.shape[0], width / rgb.shape[1])
    size = (math.ceil(rgb.shape[0] * scale), math.ceil(rgb.shape[1] * scale))
    picture = torch.from_numpy(rgb.astype(np.float32)).permute(2, 0, 1)[None]
    scaled = torch.nn.functional.interpolate(picture, size=size, mode="bilinear", align_corners=False, antialias=False)
    top, left = (size[0] - height) // 2, (size[1] - width) // 2
    return (scaled[0, :, top : top + height, left : left + width] / 127.5 - 1).permute(1, 2, 0).numpy()


@settings(max_examples=25)
@given(SIDES, SIDES, SIDES, SIDES, st.integers(0, 2**32 - 1))
@example(1, 1, 64, 64, 0)
@example(49, 49, 64, 64, 0)
@example(150, 1, 1, 150, 0)
def test_it_equals_torchs_bilinear_without_antialias(h: int, w: int, height: int, width: int, seed: int) -> None:
    rgb = np.random.default_rng(seed).integers(0, 256, (h, w, 3)).astype(np.uint8)
    prepared = prepare_image(rgb, height, width)
    assert prepared.dtype == np.float32
    assert prepared.shape == (height, width, 3)
    assert np.abs(prepared - prepare_with_torch(rgb, height, width)).max() < 1e-5


def test_it_equals_torch_far_from_the_corner_of_a_large_picture() -> None:
    rgb = np.random.default_rng(0).integers(0, 256, (9, 9000, 3)).astype(np.uint8)
    assert np.abs(prepare_image(rgb, 2, 1959) - prepare_with_torch(rgb, 2, 1959)).max() < 1e-5


def test_a_picture_of_the_clips_size_keeps_every_pixel() -> None:
    rgb = np.random.default_rng(0).integers(0, 256, (64, 96, 3)).astype(np.uint8)
    assert np.array_equal(np.rint((prepare_image(rgb, 64, 96) + 1) * 127.5).astype(np.uint8), rgb)


def test_black_is_minus_one_and_white_is_one() -> None:
    rgb = np.array([[[0, 0, 0], [255, 255, 255]]], np.uint8)
    assert prepare_image(rgb, 1, 2).tolist() == [[[-1, -1, -1], [1, 1, 1]]]


def test_a_wide_picture_loses_both_sides_alike() -> None:
    rgb = np.zeros((64, 192, 3), np.uint8)
    rgb[:, 64:128] = 255
    assert (prepare_image(rgb, 64, 64) == 1).all()


def test_an_odd_surplus_is_cut_more_at_the_end() -> None:
    rgb = np.array([[[0] * 3, [100] * 3, [200] * 3, [250] * 3]], np.uint8)
    assert np.rint((prepare_image(rgb, 1, 1) + 1) * 127.5).tolist() == [[[100] * 3]]
