"""A stage and a clip in tiles, small enough for tests: what ranks of a fleet, or one process alone, make of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.distributed import ProcessGroup

from podium.geometry import ClipFormat
from podium.models.diffusion_decoder import frame_decoder_builder
from podium.models.registry import StateDictRegistry
from podium.models.tile_layout import DimensionTilingConfig, TileCountConfig, TileSizeConfig
from podium.models.tiled_decoding import DecodedPart, FramesDone, decode_parts
from podium.models.transformer.builder import transformer_builder
from podium.models.transformer.inputs import StreamInput, TokenLevels
from podium.models.transformer.model import AVTransformer, Ropes
from podium.multigpu.tdp_builder import TiledDataParallelBuilder
from podium.multigpu.vae_builders import DistributedDecoderBuilder
from podium.multigpu.weight_tracker import TransformerWeightTracker
from podium.pipelines.latents import audio_positions, video_positions

CPU = torch.device("cpu")
# 4 x 3 x 6 tokens, a picture at pixel frame 12, and a reference before the clip's begin.
CLIP = ClipFormat(96, 192, 25, Fraction(24))
PICTURE_FRAME, NUM_REFERENCES = 12, 5
NUM_TOKENS, NUM_AUDIO = 4 * 3 * 6, 9
SIGMA = 0.6


@dataclass(frozen=True, slots=True)
class Stage:
    """The inputs of one forward, by which everything that a tile slices is told apart."""

    positions: Tensor
    latent: Tensor
    denoise_mask: Tensor
    keyframes_mask: Tensor
    attention_mask: Tensor
    context: Tensor
    audio_latent: Tensor
    audio_context: Tensor

    def video(self, ropes: Ropes) -> StreamInput:
        """Return the video's input with tables of these tokens."""
        level = torch.tensor([SIGMA], device=self.latent.device)
        timesteps = TokenLevels.from_mask(self.denoise_mask, self.latent.device).at(level)
        masks = {"attention_mask": self.attention_mask, "keyframes_mask": self.keyframes_mask}
        return StreamInput(self.latent, timesteps, level, self.context, ropes.own, ropes.cross, **masks)

    def audio(self, ropes: Ropes) -> StreamInput:
        """Return the audio's input."""
        level = torch.tensor([SIGMA], device=self.latent.device)
        timesteps = TokenLevels(torch.ones_like(level), None).at(level)
        return StreamInput(self.audio_latent, timesteps, level, self.audio_context, ropes.own, ropes.cross)

    def cut(self, tokens: list[int], origin: Tensor) -> Stage:
        """Return the stage of some tokens alone, `origin` [3, 1] taken off their positions."""
        return replace(
            self,
            positions=self.positions[:, :, tokens] - origin[:, None],
            latent=self.latent[:, tokens],
            denoise_mask=self.denoise_mask[tokens],
            keyframes_mask=self.keyframes_mask[:, tokens],
            attention_mask=self.attention_mask[:, tokens][:, :, tokens],
        )

    def to(self, device: torch.device) -> Stage:
        """Return it on a device, but for what pipelines keep on the CPU."""
        kept = {"denoise_mask": self.denoise_mask, "positions": self.positions}
        return replace(Stage(*(getattr(self, name).to(device) for name in self.__slots__)), **kept)

    def run(self, transformer: Any) -> tuple[Tensor, Tensor]:
        """Return the velocities of both streams."""
        ropes = transformer.video_ropes(self.positions), transformer.audio_ropes(audio_positions(NUM_AUDIO))
        with torch.inference_mode():
            video_v, audio_v = transformer(self.video(ropes[0]), self.audio(ropes[1]))
        return video_v, audio_v


def make_stage(model: AVTransformer) -> Stage:
    """Return the same stage for every process."""
    generator = torch.Generator().manual_seed(11)
    picture = video_positions(CLIP)[:, :, : 3 * 6].clone()
    picture[:, 0] = torch.tensor((PICTURE_FRAME, PICTURE_FRAME + 1)) / 24
    # A reference of another size, before the clip in time, far outside of it in space.
    reference = torch.tensor([[-1 / 24, 0.0], [500.0, 532.0], [900.0, 932.0]])[None, :, None].expand(-1, -1, 5, -1)
    positions = torch.cat((video_positions(CLIP), picture, reference), dim=2)
    num_tokens = positions.shape[2]
    video, audio = model.config.video, model.config.audio
    denoise = torch.ones(num_tokens)
    denoise[:18], denoise[NUM_TOKENS:] = 0.3, 0.1
    keyframes = torch.zeros(1, num_tokens, 1)
    keyframes[:, :18] = keyframes[:, NUM_TOKENS : NUM_TOKENS + 7] = 1

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator)

    return Stage(
        positions=positions,
        latent=normal(1, num_tokens, video.channels),
        denoise_mask=denoise,
        keyframes_mask=keyframes,
        attention_mask=torch.rand(1, num_tokens, num_tokens, generator=generator) * 0.8 + 0.2,
        context=normal(1, 7, video.dim),
        audio_latent=normal(1, NUM_AUDIO, audio.channels),
        audio_context=normal(1, 7, audio.dim),
    )


def tiling_of(counts: tuple[int, int, int], overlaps: tuple[int, int, int]) -> TileCountConfig:
    """Return a tiling by frames, height and width."""
    return TileCountConfig(*map(DimensionTilingConfig, counts, overlaps))


def run_stage(
    checkpoint: Path,
    group: ProcessGroup | None,
    counts: tuple[int, int, int],
    overlaps: tuple[int, int, int],
    device: torch.device = CPU,
) -> tuple[Tensor, Tensor]:
    """Return the velocities of the stage in tiles."""
    registry = StateDictRegistry()
    builder = TiledDataParallelBuilder(
        transformer_builder(checkpoint, registry),
        group,
        tiling_of(counts, overlaps),
        registry,
        TransformerWeightTracker(group),
    )
    transformer = builder.build(device, torch.float32)
    return make_stage(transformer._inner).to(device).run(transformer)


def make_latent(grid: tuple[int, int, int]) -> Tensor:
    """Return the same latent for every process."""
    return torch.randn(1, 128, *grid, generator=torch.Generator().manual_seed(3))


def stream_clip(
    checkpoint: Path,
    group: ProcessGroup | None,
    grid: tuple[int, int, int],
    tiles: tuple[tuple[int, int, int], tuple[int, int, int]],
    sizes: TileSizeConfig,
    *,
    device: torch.device = CPU,
) -> Iterator[DecodedPart]:
    """Yield what this rank sees of a clip that is decoded in tiles between the ranks."""
    registry = StateDictRegistry()
    builder = DistributedDecoderBuilder(
        frame_decoder_builder(checkpoint),
        queue=None,
        vae_group=group,
        vae_tiling=tiling_of(*tiles),
        driver_rank=0,
        registry=registry,
    )
    return decode_parts(builder.build(device, torch.float32), make_latent(grid).to(device), sizes)


# What a rank of a fleet does, for `ScriptedRunner.do_call`.


def stage_job(runner: Any, *, checkpoint: Path, tiles: list[Any]) -> Iterator[Any]:
    """Yield (rank, velocities of the video, of the audio) for each tiling."""
    for counts, overlaps in tiles:
        yield runner.rank, *run_stage(checkpoint, runner.groups.transformer_group, counts, overlaps, runner.device)


def clip_job(runner: Any, **call: Any) -> Iterator[Any]:
    """Yield each rank's parts, those with pixels whole."""
    for part in stream_clip(group=runner.groups.vae_group, device=runner.device, **call):
        if isinstance(part, FramesDone) and part.pixels_BCFHW is not None:
            yield runner.rank, replace(part, pixels_BCFHW=part.pixels_BCFHW.clone())
        else:
            yield runner.rank, part
