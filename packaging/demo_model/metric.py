"""Read off a clip what is to be seen in it: colours, kind of shape and motion, without a network.

Rendered scenes score 1.00 in every column, so what is missing from that is the model's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from world import BOUNCE, COLOURS, DOWN, GROW, LEFT, RIGHT, SHRINK, SPIN, UP, Attributes

_PALETTE = torch.tensor(list(COLOURS.values()))
_CONTRAST = 0.25
_LEAST_AREA_PX = 12


@dataclass(frozen=True, slots=True)
class Seen:
    """What a clip shows; None where it cannot be told.

    Args:
        area: Share of the picture that the shape covers, in the mean.
    """

    background: int
    colour: int | None = None
    kind: int | None = None
    motion: int | None = None
    area: float = 0.0


def look(pixels: Tensor) -> Seen:
    """Return what a clip [3, F, H, W] from 0 to 1 shows."""
    pixels = pixels.float().cpu()
    ground = _border(pixels).median(1).values
    background = _nearest(ground)
    distance = (pixels - ground.view(3, 1, 1, 1)).square().sum(0).sqrt()
    is_shape = distance > _CONTRAST
    areas = is_shape.flatten(1).sum(1)
    if int(areas.max()) < _LEAST_AREA_PX:
        return Seen(background)
    core = pixels[:, distance > 0.6 * distance.max()]
    frames = is_shape[areas > 8]
    return Seen(
        background,
        _nearest(core.median(1).values),
        _kind(frames[int(areas[areas > 8].argmax())]),
        _motion(frames),
        float(areas.float().mean()) / is_shape[0].numel(),
    )


def scores(seen: Sequence[Seen], wanted: Sequence[Attributes]) -> dict[str, float]:
    """Return the share of clips that show what was asked for, by what was asked."""
    pairs = list(zip(seen, wanted, strict=True))
    ways = [pair for pair in pairs if pair[1].motion <= DOWN]
    others = [pair for pair in pairs if pair[1].motion > DOWN]
    return {
        "background": _share(s.background == w.background for s, w in pairs),
        "colour": _share(s.colour == w.colour for s, w in pairs),
        "kind": _share(s.kind == w.kind for s, w in pairs),
        "direction": _share(s.motion == w.motion for s, w in ways),
        "other_motion": _share(s.motion == w.motion for s, w in others),
        "clips": len(pairs),
        "clips_with_direction": len(ways),
    }


def _share(hits: object) -> float:
    found = list(hits)  # type: ignore[call-overload] # a generator of booleans
    return round(sum(found) / max(len(found), 1), 3)


def _nearest(colour: Tensor) -> int:
    return int((_PALETTE - colour).square().sum(1).argmin())


def _border(pixels: Tensor) -> Tensor:
    width = max(pixels.shape[2] // 20, 2)
    sides = (pixels[:, :, :width], pixels[:, :, -width:], pixels[..., :width], pixels[..., -width:])
    return torch.cat([side.flatten(1) for side in sides], 1)


def _motion(frames: Tensor) -> int:
    _, height, width = frames.shape
    weight = frames.float()
    area = weight.sum((1, 2))
    ys = 1 - (torch.arange(height) + 0.5) * 2 / height
    xs = (torch.arange(width) + 0.5) * 2 / height
    x, y = (weight * xs).sum((1, 2)) / area, (weight * ys[:, None]).sum((1, 2)) / area
    dx, dy = (float(c[-3:].mean() - c[:3].mean()) for c in (x, y))
    growth = float(area[-3:].mean() / area[:3].mean())
    way = float((y[1:] - y[:-1]).abs().sum())
    if max(abs(dx), abs(dy)) < 0.25 and growth > 1.8:
        return GROW
    if max(abs(dx), abs(dy)) < 0.25 and growth < 0.55:
        return SHRINK
    if way > 1.4 * abs(dy) + 0.45 and abs(dx) < 0.3:
        return BOUNCE
    if max(abs(dx), abs(dy)) > 0.18:
        return (LEFT if dx < 0 else RIGHT) if abs(dx) > abs(dy) else (UP if dy > 0 else DOWN)
    return SPIN


def _kind(mask: Tensor) -> int:
    # The strongest harmonic of the outline: 3 of a triangle, 4 of a square, 5 of a star, none of a circle.
    rows, columns = torch.where(mask)
    x, y = columns - columns.float().mean(), rows.float().mean() - rows
    sector = ((torch.atan2(x, y) + math.pi) / (2 * math.pi) * 60).long().clamp(0, 59)
    outline = torch.zeros(60).scatter_reduce(0, sector, (x * x + y * y).sqrt(), "amax")
    strength = torch.fft.rfft(outline / outline.mean().clamp(min=1e-6)).abs()[3:6] / 30
    return 0 if float(strength.max()) < 0.055 else (2, 1, 3)[int(strength.argmax())]


def is_hollow(pixels: Tensor) -> bool:
    """Return whether a clip [3, F, H, W] from 0 to 1 shows an outline: in most frames the shape's middle is empty."""
    pixels = pixels.float().cpu()
    ground = _border(pixels).median(1).values
    is_shape = (pixels - ground.view(3, 1, 1, 1)).square().sum(0).sqrt() > _CONTRAST
    hits = []
    for mask in is_shape:
        if int(mask.sum()) > _LEAST_AREA_PX:
            y, x = (int(places.float().mean().round()) for places in torch.where(mask))
            hits.append(float(mask[max(y - 2, 0) : y + 3, max(x - 2, 0) : x + 3].float().mean()) < 0.5)
    return bool(hits) and sum(hits) > len(hits) / 2


def is_night(pixels: Tensor, background: int, night: Tensor) -> bool:
    """Return whether a clip's background is nearer to what the night makes of a colour than to the colour itself.

    Args:
        pixels: [3, F, H, W] from 0 to 1.
        background: Index of the colour that was asked for.
        night: [3] that colour by night.
    """
    ground = _border(pixels.float().cpu()).median(1).values
    by_night, by_day = ((ground - colour).square().sum() for colour in (night, _PALETTE[background]))
    return bool(by_night < by_day)
