"""The latent upsamplers against numbers that the original produced."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from podium.models.latent_statistics import LatentStatistics
from podium.models.registry import StateDictRegistry
from podium.models.upsampler import LatentUpsampler, upsample, upsampler_builder

Golden = Callable[[str], dict[str, Tensor]]
AssertClose = Callable[..., None]
NAMES = ["spatial-upscaler-x2", "spatial-upscaler-x1.5", "temporal-upscaler-x2"]


def build(tiny_pack: Path, name: str, registry: StateDictRegistry) -> LatentUpsampler:
    builder = upsampler_builder(tiny_pack / f"{name}.safetensors", registry)
    return builder.build(torch.device("cpu"), torch.float32)


@pytest.mark.parametrize("name", NAMES)
def test_an_un_normalised_latent_becomes_the_golden_one(
    name: str, tiny_pack: Path, registry: StateDictRegistry, golden: Golden, assert_close_to_golden: AssertClose
) -> None:
    tensors = golden("upsamplers")
    assert_close_to_golden(build(tiny_pack, name, registry)(tensors["latent"]), tensors[f"{name}.raw"])


@pytest.mark.parametrize("name", NAMES)
def test_a_normalised_latent_is_upsampled_in_its_natural_units(
    name: str,
    tiny_pack: Path,
    registry: StateDictRegistry,
    video_statistics: LatentStatistics,
    golden: Golden,
    assert_close_to_golden: AssertClose,
) -> None:
    tensors = golden("upsamplers")
    larger = upsample(tensors["latent"], video_statistics, build(tiny_pack, name, registry))
    assert_close_to_golden(larger, tensors[f"{name}.with_2.3_stats"])


@pytest.mark.parametrize(
    ("name", "scale", "doubles_frames"), [(NAMES[0], 2.0, False), (NAMES[1], 1.5, False), (NAMES[2], 1.0, True)]
)
def test_an_upsampler_says_what_it_does_to_the_size(
    name: str,
    scale: float,
    doubles_frames: bool,
    tiny_pack: Path,
    registry: StateDictRegistry,
) -> None:
    upsampler = build(tiny_pack, name, registry)
    assert upsampler.spatial_scale == scale
    assert upsampler.doubles_frames is doubles_frames
