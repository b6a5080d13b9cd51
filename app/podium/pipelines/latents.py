"""Latents as tokens: layout, positions in time and space, and the state that a sampler carries.

Shapes: B samples, C channels, F H W latent cells, T tokens, M mel bins. Time is in seconds, space in pixels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from podium.geometry import SPACE_FACTOR, TIME_FACTOR, ClipFormat, LatentGrid

# Source: the audio VAE (mel hop 160 at 16 kHz, four mel frames a latent step).
AUDIO_HOP_S = 160 / 16000
AUDIO_FACTOR = 4
AUDIO_CHANNELS, AUDIO_MEL_BINS = 8, 16
VIDEO_CHANNELS = 128


def video_to_tokens(latent_BCFHW: Tensor) -> Tensor:
    """Return [B, F * H * W, C], width fastest."""
    return latent_BCFHW.flatten(2).transpose(1, 2)


def tokens_to_video(tokens_BTC: Tensor, grid: LatentGrid) -> Tensor:
    """Return [B, C, F, H, W]; the inverse of `video_to_tokens`."""
    return tokens_BTC.transpose(1, 2).reshape(len(tokens_BTC), -1, grid.frames, grid.height, grid.width)


def audio_to_tokens(latent_BCTM: Tensor) -> Tensor:
    """Return [B, T, C * M], mel bins fastest."""
    return latent_BCTM.transpose(1, 2).flatten(2)


def tokens_to_audio(tokens_BTC: Tensor) -> Tensor:
    """Return [B, 8, T, 16]; the inverse of `audio_to_tokens`."""
    return tokens_BTC.view(*tokens_BTC.shape[:2], AUDIO_CHANNELS, AUDIO_MEL_BINS).transpose(1, 2)


def video_positions(clip: ClipFormat) -> Tensor:
    """Return where each video token starts and ends: [1, 3, T, 2] float32 (seconds, pixels down, pixels right)."""
    grid = clip.latent_grid
    axes = torch.meshgrid(
        *(torch.arange(n, dtype=torch.float32) for n in (grid.frames, grid.height, grid.width)), indexing="ij"
    )
    cell = torch.stack(axes).flatten(1)
    bounds = (
        torch.stack((cell, cell + 1), dim=-1) * torch.tensor([TIME_FACTOR, SPACE_FACTOR, SPACE_FACTOR])[:, None, None]
    )
    # The first latent frame holds one pixel frame, every other one eight.
    bounds[0] = (bounds[0] + 1 - TIME_FACTOR).clamp(min=0) / float(clip.fps)
    return bounds[None]


def audio_positions(num_audio_latents: int) -> Tensor:
    """Return when each audio token starts and ends: [1, 1, T, 2] float32, seconds."""
    step = torch.arange(num_audio_latents, dtype=torch.float32)
    bounds = torch.stack((step, step + 1), dim=-1) * AUDIO_FACTOR
    return ((bounds + 1 - AUDIO_FACTOR).clamp(min=0) * AUDIO_HOP_S)[None, None]


@dataclass(frozen=True, slots=True)
class LatentState:
    """One stream's tokens while they are denoised.

    Args:
        latent: [B, T, C] float32, as noisy as the sampler's current level.
        clean: [B, T, C] float32, what masked tokens are held to.
        denoise_mask: [T] float32 on the CPU: 1 for tokens to make, 0 for tokens to keep, between for part strength.
        positions: [1, axes, T, 2] float32.
        keyframes_mask: [1, T, 1] float32, 1 on tokens of latents that hold one pixel frame; None for audio.
        num_generated: Tokens of the clip itself; conditioning tokens may follow them.
    """

    latent: Tensor
    clean: Tensor
    denoise_mask: Tensor
    positions: Tensor
    num_generated: int
    keyframes_mask: Tensor | None = None

    def with_noise(self, noise: Tensor, noise_scale: float) -> LatentState:
        """Return the state at level `noise_scale`: noise mixed in, then held to `clean` where masked."""
        noisy = torch.lerp(self.latent, noise, noise_scale)
        return replace(self, latent=torch.lerp(self.clean, noisy, self._mask(noisy)))

    def blend(self, denoised: Tensor) -> Tensor:
        """Return an estimate held to `clean` where masked."""
        mask = self._mask(denoised)
        return denoised * mask + self.clean * (1 - mask)

    def hold(self, latent: Tensor) -> LatentState:
        """Return the state at another latent, held to `clean` where masked: what follows fresh noise."""
        return replace(self, latent=self.blend(latent))

    def generated(self) -> Tensor:
        """Return the clip's own tokens [B, T, C]."""
        return self.latent[:, : self.num_generated]

    def _mask(self, like: Tensor) -> Tensor:
        return self.denoise_mask.to(like.device)[None, :, None]


def video_state(clip: ClipFormat, device: torch.device, init_BCFHW: Tensor | None = None) -> LatentState:
    """Return a video state to start a stage from.

    Args:
        clip: Format of the stage.
        device: Where to hold it.
        init_BCFHW: Latent to start and be held to; zeros by default.
    """
    grid = clip.latent_grid
    init = (
        torch.zeros(1, grid.num_tokens, VIDEO_CHANNELS, device=device)
        if init_BCFHW is None
        else video_to_tokens(init_BCFHW.to(device, torch.float32))
    )
    keyframes = torch.zeros(1, grid.num_tokens, 1, device=device)
    keyframes[:, : grid.height * grid.width] = 1
    return LatentState(
        latent=init,
        clean=init,
        denoise_mask=torch.ones(grid.num_tokens),
        positions=video_positions(clip),
        keyframes_mask=keyframes,
        num_generated=grid.num_tokens,
    )


def audio_state(clip: ClipFormat, device: torch.device, init_BCTM: Tensor | None = None) -> LatentState:
    """Return an audio state to start a stage from; arguments as in `video_state`."""
    num_tokens = clip.num_audio_latents
    init = (
        torch.zeros(1, num_tokens, AUDIO_CHANNELS * AUDIO_MEL_BINS, device=device)
        if init_BCTM is None
        else audio_to_tokens(init_BCTM.to(device, torch.float32))
    )
    return LatentState(
        latent=init,
        clean=init,
        denoise_mask=torch.ones(num_tokens),
        positions=audio_positions(num_tokens),
        num_generated=num_tokens,
    )


def keep_first_frame(state: LatentState, image_BCFHW: Tensor, strength: float) -> LatentState:
    """Return the state with its first latent frame held to an encoded image.

    Args:
        state: Of the video.
        image_BCFHW: [1, C, 1, H, W] normalised latent at the state's size.
        strength: 0 (free) to 1 (kept).
    """
    tokens = video_to_tokens(image_BCFHW.to(state.clean))
    clean, mask = state.clean.clone(), state.denoise_mask.clone()
    clean[:, : tokens.shape[1]] = tokens
    mask[: tokens.shape[1]] = 1 - strength
    return replace(state, clean=clean, denoise_mask=mask)


def append_image(
    state: LatentState, clip: ClipFormat, image_BCFHW: Tensor, *, frame: int, strength: float
) -> LatentState:
    """Return the state with the tokens of an encoded image behind it, which the clip's own tokens attend to.

    Args:
        state: Of the video.
        clip: Format of the stage.
        image_BCFHW: [1, C, 1, H, W] normalised latent at the state's size.
        frame: Pixel frame the image stands at.
        strength: 0 (free) to 1 (kept).
    """
    return _append(
        state, video_to_tokens(image_BCFHW), frame_positions(clip, frame), mask=1 - strength, is_marked=False
    )


def append_keyframe_slot(state: LatentState, clip: ClipFormat, frame: int) -> LatentState:
    """Return the state with empty tokens behind it, out of which the model makes a key frame at pixel frame `frame`."""
    positions = frame_positions(clip, frame)
    empty = torch.zeros(1, positions.shape[2], state.clean.shape[-1])
    return _append(state, empty, positions, mask=1.0, is_marked=True)


def frame_positions(clip: ClipFormat, frame: int) -> Tensor:
    """Return where the tokens of one pixel frame start and end: [1, 3, H * W, 2], as `video_positions`."""
    grid = clip.latent_grid
    positions = video_positions(clip)[:, :, : grid.height * grid.width].clone()
    positions[:, 0] = torch.tensor((frame, frame + 1), dtype=torch.float32) / float(clip.fps)
    return positions


def _append(state: LatentState, clean: Tensor, positions: Tensor, *, mask: float, is_marked: bool) -> LatentState:
    clean, num_tokens = clean.to(state.clean), clean.shape[1]
    assert state.keyframes_mask is not None, "only video has tokens appended"
    marker = torch.full((1, num_tokens, 1), float(is_marked)).to(state.keyframes_mask)
    return replace(
        state,
        latent=torch.cat((state.latent, torch.zeros_like(clean)), dim=1),
        clean=torch.cat((state.clean, clean), dim=1),
        denoise_mask=torch.cat((state.denoise_mask, torch.full((num_tokens,), mask))),
        positions=torch.cat((state.positions, positions.to(state.positions)), dim=2),
        keyframes_mask=torch.cat((state.keyframes_mask, marker), dim=1),
    )
