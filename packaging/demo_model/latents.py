"""The demo model's latents, computed from a scene instead of learnt, and the pixels that belong to them.

A latent cell (32 x 32 pixels, 8 frames) says how far the shape's edge is at 4 x 4 points and 4 moments, folded into the
principal components of all cells, and which colours and which style it has. A mean of such latents over several places
of a shape is a shape in between with a sharp edge, where a mean of learnt codes is a blur; so few steps are enough.

Shapes: B scenes, C live channels, F latent frames, H W cells.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor
from world import COLOURS, Attributes, Scenes, constant, place, sample_attributes, signed_distance

CELL_PX, FRAMES_PER_CELL = 32, 8
NUM_COMPONENTS = 24
NUM_LIVE = NUM_COMPONENTS + 7
"""Channels in use: components, three of the background, three of the shape's colour, one of the style."""

NUM_CHANNELS = 128
FPS = 24.0
REACH_PX = 24.0
"""Distances count up to about this; cells farther from an edge all look alike."""

OUTLINE_PX = 10.0
_BASIS = Path(__file__).parent / "basis.safetensors"
_POINTS, _MOMENTS = 4, 4
# A cell's own corners lie 23 pixels from its middle.
_NEAR_PX, _FADE_PX = 24.0, 16.0


@dataclass(frozen=True, slots=True)
class Style:
    """How scenes are drawn.

    Args:
        is_outline: Only the shape's outline.
        is_night: In the colours of the night.
    """

    is_outline: bool = False
    is_night: bool = False


@dataclass(frozen=True, slots=True)
class Colours:
    """Colours of scenes: [B, 3] each, -1 to 1."""

    shape: Tensor
    background: Tensor

    @classmethod
    def of(cls, attributes: Tensor, style: Style) -> Colours:
        """Return the colours of scenes with attributes [B, 6]."""
        table = constant(tuple(COLOURS.values()), attributes.device)
        shape, background = table[attributes[:, 1]], table[attributes[:, 2]]
        if style.is_night:
            background = background * 0.22 + constant((0.0, 0.0, 0.10), background.device)
            shape = shape * 0.55 + constant((0.0, 0.03, 0.20), shape.device)
        return cls(shape.clamp(0, 1) * 2 - 1, background.clamp(0, 1) * 2 - 1)


@dataclass(frozen=True, slots=True)
class View:
    """Which part of scenes is seen, in pixels.

    Args:
        height_px: [B] height of the whole picture.
        aspect: Width by height of the whole picture.
        top_px, left_px: [B] corner of the part.
        height, width: Cells of the part.
        frames: Latent frames.
    """

    height_px: Tensor
    aspect: float
    top_px: Tensor
    left_px: Tensor
    height: int
    width: int
    frames: int

    @classmethod
    def whole(cls, num_scenes: int, grid: tuple[int, int, int], device: torch.device) -> View:
        """Return the view of whole pictures of `grid` (frames, height, width) cells."""
        frames, height, width = grid
        zero = torch.zeros(num_scenes, device=device)
        return cls(zero + height * CELL_PX, width / height, zero, zero, height, width, frames)

    def points(self, step_px: int) -> tuple[Tensor, Tensor]:
        """Return the middles of squares of `step_px`: ys [B, n], xs [B, m] in half heights."""
        half = self.height_px[:, None] / 2
        rows = torch.arange(self.height * CELL_PX // step_px, device=half.device) * step_px + step_px / 2
        columns = torch.arange(self.width * CELL_PX // step_px, device=half.device) * step_px + step_px / 2
        return 1 - (self.top_px[:, None] + rows) / half, (self.left_px[:, None] + columns) / half - self.aspect

    def distance_px(self, scenes: Scenes, times_s: Tensor, step_px: int) -> Tensor:
        """Return distances [B, T, n, m] in pixels."""
        return signed_distance(scenes, times_s, *self.points(step_px)) * (self.height_px / 2).view(-1, 1, 1, 1)


def frame_times_s(num_frames: int, device: torch.device) -> Tensor:
    """Return when each pixel frame is."""
    return torch.arange(num_frames, device=device) / FPS


def _moments_s(frames: int, device: torch.device) -> Tensor:
    # The first latent frame holds one frame; every other one eight, looked at between each two.
    cells = torch.arange(frames, device=device)[:, None] * FRAMES_PER_CELL
    moments = cells - FRAMES_PER_CELL + 1.5 + torch.arange(_MOMENTS, device=device)[None] * 2
    return (torch.where(cells > 0, moments, torch.zeros_like(moments)) / FPS).flatten()


def edge_codes(scenes: Scenes, view: View) -> tuple[Tensor, Tensor, Tensor]:
    """Return what cells say of the edge: codes [B, F, H, W, 64], and the nearest and farthest middle distance in px."""
    distance = view.distance_px(scenes, _moments_s(view.frames, view.height_px.device), CELL_PX // _POINTS)
    num_scenes = distance.shape[0]
    cells = distance.view(num_scenes, view.frames, _MOMENTS, view.height, _POINTS, view.width, _POINTS)
    cells = cells.permute(0, 1, 3, 5, 2, 4, 6)
    middle = cells[..., 1:3, 1:3].mean((-1, -2))
    return torch.tanh(cells / REACH_PX).flatten(4), middle.amin(-1), middle.amax(-1)


@dataclass(frozen=True, slots=True)
class Basis:
    """The components that codes are folded into.

    Args:
        mean: [64].
        directions: [24, 64], scaled so that the first component has a spread of 1.5 and the last still counts.
        inverse: [64, 24].
    """

    mean: Tensor
    directions: Tensor
    inverse: Tensor

    @classmethod
    def load(cls) -> Basis:
        """Return the components in use, which stay as they are: trained weights know no others."""
        kept = load_file(_BASIS)
        return cls(kept["mean"], kept["directions"], kept["inverse"])

    @classmethod
    def fit(cls, seed: int = 0) -> Basis:
        """Fit the components to scenes of the world at the sizes of both stages.

        Signs are as the eigensolver has them, so another machine may find other ones. Those in use were kept by
        `save_file({name: getattr(Basis.fit(), name) for name in ("mean", "directions", "inverse")}, _BASIS)`.
        """
        generator = torch.Generator().manual_seed(seed)
        rng = random.Random(seed)
        rows = [sample_attributes(rng, is_held_out=False) for _ in range(512)]
        attributes = as_tensor(rows)
        codes = []
        for grid in ((5, 4, 6), (5, 8, 12)):
            scenes = place(attributes, grid[2] / grid[1], torch.rand(len(rows), 4, generator=generator))
            code, _, _ = edge_codes(scenes, View.whole(len(rows), grid, torch.device("cpu")))
            codes.append(code.flatten(0, 3)[:: grid[1]])
        flat = torch.cat(codes)
        # Cells without an edge are all alike, and most; they must not decide alone.
        flat = flat[(flat.abs() < 0.9).any(1)].double()
        mean = flat.mean(0)
        values, vectors = torch.linalg.eigh((flat - mean).T @ (flat - mean) / len(flat))
        values, vectors = values.flip(0)[:NUM_COMPONENTS], vectors.flip(1)[:, :NUM_COMPONENTS]
        # Nearly whitened: fine details are kept above the noise, coarse ones still lead.
        scale = 1.5 * values.rsqrt() * (values / values[0]) ** 0.2
        return cls(mean.float(), (vectors * scale).T.contiguous().float(), (vectors / scale).contiguous().float())

    def to(self, device: torch.device) -> Basis:
        """Return it on another device."""
        return Basis(self.mean.to(device), self.directions.to(device), self.inverse.to(device))


def as_tensor(rows: list[Attributes]) -> Tensor:
    """Return attributes as [B, 6] int64."""
    return torch.tensor([[r.kind, r.colour, r.background, r.motion, r.size, r.speed] for r in rows])


def scene_latents(scenes: Scenes, colours: Colours, view: View, basis: Basis, *, is_outline: bool = False) -> Tensor:
    """Return the live channels of the latents: [B, 31, F, H, W] float32."""
    codes, nearest_px, farthest_px = edge_codes(scenes, view)
    components = (codes - basis.mean) @ basis.directions.T
    # A cell that does not see a colour cannot know it.
    sees_shape = ((_NEAR_PX + _FADE_PX - nearest_px) / _FADE_PX).clamp(0, 1)[..., None]
    sees_ground = ((_NEAR_PX + _FADE_PX + farthest_px) / _FADE_PX).clamp(0, 1)[..., None]
    shape, background = (colour[:, None, None, None] for colour in (colours.shape, colours.background))
    style = sees_shape * (-1.0 if is_outline else 1.0)
    return torch.cat((components, background * sees_ground, shape * sees_shape, style), dim=-1).permute(0, 4, 1, 2, 3)


def scene_pixels(scenes: Scenes, colours: Colours, view: View, *, is_outline: bool = False) -> tuple[Tensor, Tensor]:
    """Return pixels [B, 3, 8 (F - 1) + 1, H, W] from -1 to 1, and the distance to what is drawn [B, 1, ...] in px."""
    num_frames = (view.frames - 1) * FRAMES_PER_CELL + 1
    distance = view.distance_px(scenes, frame_times_s(num_frames, view.height_px.device), 1)
    if is_outline:
        distance = (distance + OUTLINE_PX / 2).abs() - OUTLINE_PX / 2
    cover = (0.5 - distance).clamp(0, 1)[:, None]
    shape, background = (colour[:, :, None, None, None] for colour in (colours.shape, colours.background))
    return background + cover * (shape - background), distance[:, None]
