"""Windows of scenes: pixels with the latents that belong to them, drawn anew for every step of the VAE's training."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from latents import CELL_PX, FPS, FRAMES_PER_CELL, Basis, Colours, Style, View, scene_latents, scene_pixels
from torch import Tensor
from world import CLIP_S, Scenes, place

_SHARE_AT_THE_SHAPE = 0.8
# A network that knows the world's few colours alone turns every other one, such as a night's, into one of them.
_SHARE_OF_ANY_COLOURS = 0.5


@dataclass(frozen=True, slots=True)
class Batch:
    """Windows of scenes: pixels [B, 3, F, H, W], distances to edges in pixels, live latents [B, 31, F', H', W']."""

    pixels: Tensor
    distance_px: Tensor
    latents: Tensor


@dataclass(frozen=True, slots=True)
class Windows:
    """What the windows of a batch have in common.

    Args:
        grid: Latent frames, height and width in cells.
        style: How scenes are drawn.
        aspect: Width by height of the pictures that they are windows of.
        zoom: By how much more than the window those pictures may be high, at most.
    """

    grid: tuple[int, int, int]
    style: Style
    aspect: float
    zoom: float

    @property
    def num_frames(self) -> int:
        """Return how many frames of pixels a window has."""
        return (self.grid[0] - 1) * FRAMES_PER_CELL + 1

    @property
    def num_voxels(self) -> int:
        """Return how many squares of 4 x 4 pixels a window has, over all frames."""
        _, height, width = self.grid
        return self.num_frames * height * width * (CELL_PX // 4) ** 2

    def draw(self, attributes: Tensor, basis: Basis) -> Batch:
        """Return windows of scenes with attributes [B, 6], wherever the device draws them; nothing asks the host."""
        num, device = len(attributes), attributes.device
        scenes = place(attributes, self.aspect, torch.rand(num, 4, device=device))
        seconds = self.num_frames / FPS
        # It begins anywhere in a clip; one that is as long as the clip, with its first frame.
        room_s = max(CLIP_S - seconds, 0.0)
        scenes = scenes.later(room_s * torch.rand(num, device=device))
        colours = _some_of_any(Colours.of(attributes, self.style))
        view = self._view(scenes, seconds)
        is_outline = self.style.is_outline
        pixels, distance = scene_pixels(scenes, colours, view, is_outline=is_outline)
        return Batch(pixels, distance, scene_latents(scenes, colours, view, basis, is_outline=is_outline))

    def _view(self, scenes: Scenes, seconds: float) -> View:
        # Of whole pictures as well as of parts of larger ones, mostly where the shape is at some time.
        frames, height, width = self.grid
        num, device = len(scenes.x), scenes.x.device
        least = max(height, width / self.aspect) * CELL_PX
        height_px = least * (1 + self.zoom * torch.rand(num, device=device))
        time_s = seconds * torch.rand(num, device=device)
        across, along = self.aspect + scenes.x + scenes.vx * time_s, 1 - scenes.y - scenes.vy * time_s
        is_there = torch.rand(num, device=device) < _SHARE_AT_THE_SHAPE
        top = _corner(along * height_px / 2, height_px, height * CELL_PX, is_there)
        left = _corner(across * height_px / 2, height_px * self.aspect, width * CELL_PX, is_there)
        return View(height_px, self.aspect, top, left, height, width, frames)


def _corner(shape_px: Tensor, extent_px: Tensor, window_px: int, is_at_shape: Tensor) -> Tensor:
    """Return where windows begin along one side: so that the shape lies anywhere in them, or anywhere."""
    room_px = (extent_px - window_px).clamp(min=0)
    share = torch.rand_like(extent_px)
    at_shape_px = torch.minimum((shape_px - share * window_px).clamp(min=0), room_px)
    return torch.where(is_at_shape, at_shape_px, share * room_px)


def _some_of_any(colours: Colours) -> Colours:
    drawn = 2 * torch.rand(2, *colours.shape.shape, device=colours.shape.device) - 1
    is_any = torch.rand(len(colours.shape), 1, device=colours.shape.device) < _SHARE_OF_ANY_COLOURS
    return Colours(torch.where(is_any, drawn[0], colours.shape), torch.where(is_any, drawn[1], colours.background))
