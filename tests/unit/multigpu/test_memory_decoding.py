"""What decoding is planned to take is what the decoder's own pieces and its own window of frames take."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from podium.geometry import ClipFormat
from podium.jobs import Quantization
from podium.models.decode_plan import plan_decoding
from podium.models.pack import DecoderKind
from podium.models.residency import ModelPart
from podium.models.tile_layout import TileSizeConfig
from podium.models.tiled_decoding import decode_parts
from podium.multigpu.decoder_tiling import decoder_tiling
from podium.multigpu.memory_activations import PlannedJob, decoding_bytes
from podium.multigpu.memory_parts import ModelMemory

from tests.fakes.live_memory import LiveMemory

FPS = Fraction(24)
CLIP = ClipFormat(1024, 1536, 121, FPS)
BYTES_A_PIXEL = 60 * 2
MODEL = ModelMemory(
    item_bytes=2,
    quantization=Quantization.NONE,
    transformer_bytes={},
    largest_weight=0,
    part_bytes=dict.fromkeys(ModelPart, 0),
    text_block_bytes=0,
    text_embedding_bytes=0,
    features_dim=0,
    video_dim=4096,
    upsampler_channels=1024,
    decoder=DecoderKind.CONVOLUTIONAL,
    spatial_scale=2.0,
)


class ShapelessDecoder:
    """Keeps how much it was asked for at once, and computes nothing."""

    def __init__(self) -> None:
        self.most_pixels = 0

    def decode(self, latent_BCFHW: Tensor) -> Tensor:
        """Return pixels that nobody has looked at."""
        frames, height, width = latent_BCFHW.shape[2:]
        shape = (8 * (frames - 1) + 1, 32 * height, 32 * width)
        self.most_pixels = max(self.most_pixels, math.prod(shape))
        return torch.empty(1, 3, *shape, device="meta")


def parts_of(decoder: ShapelessDecoder, clip: ClipFormat) -> Iterator[object]:
    grid = clip.latent_grid
    latent = torch.empty(1, 128, grid.frames, grid.height, grid.width, device="meta")
    return decode_parts(decoder, latent, TileSizeConfig())


@pytest.mark.parametrize(
    "clip", [CLIP, ClipFormat(1088, 1920, 241, FPS), ClipFormat(512, 768, 73, FPS)], ids=lambda clip: str(clip.width)
)
def test_one_rank_is_planned_for_the_largest_piece_that_its_decoder_takes(clip: ClipFormat) -> None:
    decoder = ShapelessDecoder()
    parts = parts_of(decoder, clip)
    with LiveMemory() as live:
        # The sums are taken before the first piece.
        next(iter(parts))
    sums = live.num_bytes if decoder.most_pixels < clip.num_frames * clip.height * clip.width else 0
    for _part in parts:
        pass
    planned = decoding_bytes(MODEL, PlannedJob(clip, 1), 0)
    assert planned == pytest.approx(BYTES_A_PIXEL * decoder.most_pixels + sums, rel=1e-4)


@settings(max_examples=30)
@given(num_ranks=st.integers(1, 8), frames=st.integers(1, 40), height=st.integers(2, 34), width=st.integers(2, 60))
def test_no_rank_decodes_a_piece_that_is_larger_than_planned(
    num_ranks: int, frames: int, height: int, width: int
) -> None:
    clip = ClipFormat(32 * height, 32 * width, 8 * frames + 1, FPS)
    plan = plan_decoding(clip.latent_grid, TileSizeConfig(), decoder_tiling(num_ranks), num_ranks)
    job = PlannedJob(clip, num_ranks)
    for rank in range(1, num_ranks):
        largest = max((math.prod(piece.size) for piece in plan.pieces_of(rank)), default=0)
        assert decoding_bytes(MODEL, job, rank) == BYTES_A_PIXEL * largest
    first = decoding_bytes(MODEL, job, 0)
    assert first >= BYTES_A_PIXEL * max(math.prod(piece.size) for piece in plan.pieces_of(0))


def test_a_rank_that_gets_no_tile_takes_nothing() -> None:
    # Too narrow to be shared out among eight.
    job = PlannedJob(ClipFormat(64, 64, 9, FPS), 8)
    assert decoding_bytes(MODEL, job, 7) == 0
    assert decoding_bytes(MODEL, job, 0) > 0


def test_only_the_rank_that_blends_holds_the_sums() -> None:
    first, second = (decoding_bytes(MODEL, PlannedJob(CLIP, 2), rank) for rank in range(2))
    tiling = decoder_tiling(2)
    window = plan_decoding(CLIP.latent_grid, TileSizeConfig(), tiling, 2).window
    assert first - second == window * CLIP.height * CLIP.width * 3 * 4


def test_smaller_tiles_than_allowed_take_less_than_the_largest_that_are() -> None:
    # Of 32 by 48 cells each rank decodes 17 by 14 at once, where 24 by 24 are allowed.
    whole = decoding_bytes(MODEL, PlannedJob(replace(CLIP, height=768, width=768, num_frames=73), 1), 0)
    tiled = decoding_bytes(MODEL, PlannedJob(CLIP, 2), 1)
    assert tiled == whole * (17 * 14) / (24 * 24)
