"""The diffusion decoder of LTX-2.5: four attention stages enlarge the latent, a fifth denoises pixels given the result.

The rule a caller must know: frames go through all stages one after another and come out as soon as their windows are
whole. That is exact, not an approximation: attention reaches a few frames, and all else is done cell by cell. So memory
grows with the clip's height and width and not with its length, and `decode` and `decode_parts` give the same pixels.
In space the clip is decoded whole. Tiles in space would be exact only with a border as wide as all windows reach
together, hundreds of pixels a side in the published decoder.

Shapes: B batch, C channels, F latent frames, T frames of a stage, H, W; features lie channels last, [B, T, H, W, C].
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch
from diffusers.models.embeddings import get_timestep_embedding
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own name for it

from podium.models.builder import Headers, SingleGPUModelBuilder
from podium.models.configs import config_section, metadata_config, reading_config
from podium.models.diffusion_decoder_blocks import (
    GATES,
    NUM_MODULATIONS,
    AttentionBlock,
    BlockStep,
    CropStep,
    DenoisingBlock,
    Frames,
    PixelShuffle,
    Step,
    UpsampleStep,
    push_through,
)
from podium.models.diffusion_decoder_config import DiffusionDecoderConfig, Size3
from podium.models.key_maps import DIFFUSION_DECODER, FRAME_DECODER, has_diffusion_decoder
from podium.models.latent_statistics import LatentStatistics
from podium.models.neighborhood_attention import Axis, Neighborhood
from podium.models.registry import Registry
from podium.models.tile_layout import TileSizeConfig
from podium.models.tiled_decoding import DecodedPart, FramesDone, TileDone
from podium.models.video_vae import VideoDecoder

_NUM_FREQUENCIES = 256
_EPS = 1e-6


class FrameNoise(Protocol):
    """Where the noise comes from that the last stage turns into pixels."""

    def __call__(self, frame: int, shape: tuple[int, int, int]) -> Tensor:
        """Return raw normals [3, H, W] for a frame of the clip, float32 on the CPU; the same at every call."""
        ...


@dataclass(frozen=True, slots=True)
class SeededFrameNoise:
    """Noise by (seed, frame), drawn on the CPU, so that it hangs neither on the device nor on how a clip is cut."""

    seed: int = 0

    def __call__(self, frame: int, shape: tuple[int, int, int]) -> Tensor:
        """Return the noise of a frame."""
        digest = hashlib.sha256(f"{self.seed}|decoder|{frame}".encode()).digest()
        generator = torch.Generator().manual_seed(int.from_bytes(digest[:8], "little"))
        return torch.randn(shape, generator=generator)


class DiffusionDecoderNetwork(nn.Module):
    """The layers of all five stages, under their official names.

    Args:
        config: Their sizes.
        gates: Which of `GATES` the file carries.
    """

    def __init__(self, config: DiffusionDecoderConfig, gates: Collection[str]) -> None:
        super().__init__()
        self.config = config
        widths, pixel_channels = config.widths, config.out_channels * config.patch_px**2
        self.conv_in = nn.Linear(config.latent_channels, widths[0])
        self.det_stages = nn.ModuleList(
            nn.ModuleList(AttentionBlock(width, config.head_dim) for _ in range(depth))
            for width, depth in zip(widths[:-1], config.depths[:-1], strict=True)
        )
        self.upsamples = nn.ModuleList(map(PixelShuffle, widths[:-1], config.strides, config.reductions))
        self.t_embedder = _TimestepEmbedder(config.timestep_dim)
        self.conv_in_x_t = nn.Linear(pixel_channels, widths[-1])
        self.shared_adaln = _SharedModulation(config.timestep_dim, widths[-1])
        self.diff_blocks = nn.ModuleList(
            DenoisingBlock(widths[-1], config.head_dim, gates) for _ in range(config.depths[-1])
        )
        self.norm_out = nn.RMSNorm(widths[-1], eps=_EPS)
        self.conv_out = nn.Linear(widths[-1], pixel_channels)

    def context_steps(self, grid: Size3) -> tuple[list[Step], Size3]:
        """Return the first four stages for a latent grid, and the grid that comes out, both with the ghosts."""
        steps: list[Step] = []
        for index, (blocks, upsample) in enumerate(zip(self.det_stages, self.upsamples, strict=True)):
            neighborhood = _neighborhood(grid, self.config.kernels[index])
            assert isinstance(blocks, nn.ModuleList)
            assert isinstance(upsample, PixelShuffle)
            for block in blocks:
                assert isinstance(block, AttentionBlock)
                steps.append(BlockStep(block, neighborhood))
            steps.append(UpsampleStep(upsample))
            grid = _enlarged(grid, upsample.stride)
        return steps, grid

    def denoising_steps(self, grid: Size3, noise: FrameNoise) -> list[Step]:
        """Return the last stage for a grid of tokens: from context to pixels.

        It runs once, from pure noise, and what it predicts is the picture; so released files say.
        """
        modulation = self.shared_adaln(self.t_embedder(self.config.timestep_scale, self.conv_out.weight.dtype))
        neighborhood = _neighborhood(grid, self.config.kernels[-1])
        blocks: list[Step] = []
        for block in self.diff_blocks:
            assert isinstance(block, DenoisingBlock)
            blocks.append(BlockStep(block, neighborhood, modulation))
        return [_NoiseStep(self.conv_in_x_t, self.config, noise), *blocks, _PixelStep(self)]


class DiffusionVideoDecoder(nn.Module):
    """Decodes normalised latents to pixels.

    Args:
        vae: The `vae` section of a file's configuration.
        gates: Which of `GATES` the file carries.
        noise: What the last stage starts from.
    """

    def __init__(
        self, vae: dict[str, object], gates: Collection[str] = (), noise: FrameNoise = SeededFrameNoise()
    ) -> None:
        super().__init__()
        self.config = DiffusionDecoderConfig.from_official(vae)
        self.decoder = DiffusionDecoderNetwork(self.config, gates)
        self.statistics = LatentStatistics(self.config.latent_channels)
        self.noise = noise

    @property
    def dtype(self) -> torch.dtype:
        """Type of the weights, which latents are brought to."""
        return self.statistics.mean.dtype

    def decode(self, latent_BCFHW: Tensor) -> Tensor:
        """Return the pixels [B, 3, 8(F-1)+1, 32H, 32W], about [-1, 1] and not clipped, of a normalised latent.

        Args:
            latent_BCFHW: [B, 128, F, H, W], any floating type. A clip of fewer frames than the first stage's window is
                filled up with its last one and cut; a side shorter than a window is attended whole.
        """
        return torch.cat([pixels for pixels in self._stream(latent_BCFHW) if pixels is not None], dim=2)

    forward = decode

    @torch.inference_mode()
    def decode_parts(self, latent_BCFHW: Tensor, sizes: TileSizeConfig) -> Iterator[DecodedPart]:
        """Yield the frames of `decode` in order, some at a time, and a `TileDone` for each latent frame gone in.

        Args:
            latent_BCFHW: As `decode` takes it.
            sizes: What other decoders need to bound their memory; nothing here hangs on it.
        """
        del sizes
        first_frame = num_taken = 0
        total = max(latent_BCFHW.shape[2], self.config.min_latent_frames) + self.config.num_ghosts
        for pixels in self._stream(latent_BCFHW):
            if pixels is None:
                num_taken += 1
                yield TileDone(num_taken, total)
            else:
                yield FramesDone(first_frame, pixels.shape[2], pixels)
                first_frame += pixels.shape[2]

    def _stream(self, latent_BCFHW: Tensor) -> Iterator[Tensor | None]:
        """Yield pixels in order, and None after every latent frame but those that no frame of the clip needs."""
        latent = self.statistics.un_normalize(latent_BCFHW.to(self.dtype))
        num_frames = self.config.time_factor * (latent.shape[2] - 1) + 1
        num_filled = max(0, self.config.min_latent_frames - latent.shape[2])
        # The windows of the last stage end with the clip as it was filled up, not with what is kept.
        num_decoded = num_frames + self.config.time_factor * num_filled
        num_latents = latent.shape[2] + num_filled + self.config.num_ghosts
        steps, grid = self.decoder.context_steps((num_latents, latent.shape[3], latent.shape[4]))
        steps += [CropStep(num_decoded), *self.decoder.denoising_steps((num_decoded, *grid[1:]), self.noise)]
        steps.append(CropStep(num_frames))
        for index in range(num_latents):
            frame = latent[:, :, min(index, latent.shape[2] - 1), None].permute(0, 2, 3, 4, 1)
            for pixels in push_through(steps, Frames(self.decoder.conv_in(frame))):
                num_frames -= pixels.hidden.shape[1]
                yield pixels.hidden.permute(0, 4, 1, 2, 3)
            if num_frames == 0:
                return
            yield None


def diffusion_decoder_builder(
    video_vae_path: Path, registry: Registry | None = None
) -> SingleGPUModelBuilder[DiffusionVideoDecoder]:
    """Return the builder of the diffusion decoder inside a video VAE's file, or inside a monolith."""
    return SingleGPUModelBuilder((video_vae_path,), DIFFUSION_DECODER, _make_decoder, registry)


def frame_decoder_builder(
    video_vae_path: Path, registry: Registry | None = None
) -> SingleGPUModelBuilder[VideoDecoder | DiffusionVideoDecoder]:
    """Return the builder of whichever decoder a video VAE's file or a monolith has; the file is looked at to build."""
    return SingleGPUModelBuilder((video_vae_path,), FRAME_DECODER, _make_either, registry)


def _make_either(headers: Headers) -> VideoDecoder | DiffusionVideoDecoder:
    if has_diffusion_decoder(headers[0].tensors):
        return _make_decoder(headers)
    path = headers[0].path
    vae = config_section(path, metadata_config(path, headers[0].metadata), "vae")
    with reading_config(path, "vae"):
        return VideoDecoder(vae)


def _make_decoder(headers: Headers) -> DiffusionVideoDecoder:
    path = headers[0].path
    vae = config_section(path, metadata_config(path, headers[0].metadata), "vae")
    endings = {name.rpartition(".")[2] for name in headers[0].tensors}
    with reading_config(path, "vae"):
        return DiffusionVideoDecoder(dict(vae), [gate for gate in GATES if gate in endings])


class _TimestepEmbedder(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(_NUM_FREQUENCIES, dim), nn.SiLU(), nn.Linear(dim, dim))

    def forward(self, timestep: float, dtype: torch.dtype) -> Tensor:
        """Return the embedding [1, dim] of a timestep."""
        device = self.mlp[0].weight.device
        assert isinstance(device, torch.device)
        waves = get_timestep_embedding(
            torch.tensor([timestep], device=device), _NUM_FREQUENCIES, flip_sin_to_cos=True, downscale_freq_shift=0
        )
        embedding: Tensor = self.mlp(waves.to(dtype))
        return embedding


class _SharedModulation(nn.Module):
    def __init__(self, timestep_dim: int, dim: int) -> None:
        super().__init__()
        self.proj = nn.Linear(timestep_dim, NUM_MODULATIONS * dim)

    def forward(self, embedding: Tensor) -> Tensor:
        """Return the rows [1, 7, dim] that all blocks of the last stage share."""
        rows: Tensor = self.proj(F.silu(embedding)).unflatten(-1, (NUM_MODULATIONS, -1))
        return rows


class _NoiseStep:
    """From the context of frames to their noise as features, with the context beside it."""

    def __init__(self, conv_in: nn.Linear, config: DiffusionDecoderConfig, noise: FrameNoise) -> None:
        self._conv_in = conv_in
        self._config = config
        self._noise = noise
        self._num_drawn = 0

    def push(self, frames: Frames) -> Iterator[Frames]:
        context = frames.hidden
        num_samples, num_frames, height, width, _ = context.shape
        patch = self._config.patch_px
        shape = (self._config.out_channels, height * patch, width * patch)
        drawn = [self._noise(self._num_drawn + index, shape) for index in range(num_frames)]
        self._num_drawn += num_frames
        pixels_TCHW = torch.stack(drawn).to(context.device, context.dtype)
        # A token's channels are those of the pixels, then their columns, then their rows.
        patches = pixels_TCHW.view(num_frames, -1, height, patch, width, patch).permute(0, 2, 4, 1, 5, 3)
        tokens = self._conv_in(patches.flatten(3))[None].expand(num_samples, -1, -1, -1, -1)
        yield Frames(tokens, context)


class _PixelStep:
    """From features to pixels [B, T, H, W, C]."""

    def __init__(self, network: DiffusionDecoderNetwork) -> None:
        self._network = network

    def push(self, frames: Frames) -> Iterator[Frames]:
        patch = self._network.config.patch_px
        tokens = self._network.conv_out(self._network.norm_out(frames.hidden))
        pixels: Tensor = tokens.unflatten(-1, (-1, patch, patch)).permute(0, 1, 2, 6, 3, 5, 4)
        yield Frames(pixels.flatten(4, 5).flatten(2, 3))


def _neighborhood(grid: Size3, kernel: Size3) -> Neighborhood:
    return Neighborhood(*map(Axis, grid, kernel))


def _enlarged(grid: Size3, stride: Size3) -> Size3:
    frames, height, width = (cells * times for cells, times in zip(grid, stride, strict=True))
    # Of the first frame, doubled in time, one is kept.
    return (frames - 1 if stride[0] == 2 else frames), height, width
