"""The small world that the demo model knows: one flat shape that moves over a flat background, and sentences about it.

Units: space in half heights of the picture (y upwards, the left edge at -aspect), time in seconds. A scene's pixels and
its latents are both computed from the same signed distance, so neither has to be learnt from the other.
"""

from __future__ import annotations

import functools
import math
import random
import zlib
from dataclasses import dataclass, fields, replace
from typing import Self

import torch
from torch import Tensor

COLOURS = {
    "red": (0.90, 0.12, 0.12),
    "yellow": (1.00, 0.90, 0.15),
    "green": (0.10, 0.65, 0.20),
    "cyan": (0.15, 0.85, 0.90),
    "blue": (0.12, 0.25, 0.90),
    "pink": (1.00, 0.50, 0.75),
    "white": (0.97, 0.97, 0.97),
    "black": (0.05, 0.05, 0.06),
}
KINDS = ("circle", "square", "triangle", "star")
MOTIONS = ("left", "right", "up", "down", "bounce", "spin", "grow", "shrink")
LEFT, RIGHT, UP, DOWN, BOUNCE, SPIN, GROW, SHRINK = range(8)
NUM_SIZES = NUM_SPEEDS = 3

CLIP_S = 33 / 24
"""Length of the clips that the world is made for; later, growing things stop and moving ones leave."""

_RADII = (0.32, 0.44, 0.58)
_SPEEDS = (0.55, 1.0, 1.4)
_BOUNCE_S = (0.9, 0.65, 0.45)

_KIND_WORDS = (("circle", "circle", "ball", "disc"), ("square", "square", "box"), ("triangle",), ("star",))
_COLOUR_WORDS = {"cyan": ("cyan", "cyan", "turquoise")}
_SIZE_WORDS = (("small", "tiny", "little"), ("", "", "medium"), ("big", "large", "huge"))
_SPEED_WORDS = (("slowly", "gently"), ("",), ("quickly", "fast"))
_MOTION_WORDS = (
    ("moves left", "moves to the left", "goes left", "slides left", "drifts to the left", "flies to the left"),
    ("moves right", "moves to the right", "goes right", "slides right", "drifts to the right", "flies to the right"),
    ("moves up", "moves upwards", "goes up", "rises", "flies up"),
    ("moves down", "moves downwards", "goes down", "falls", "sinks"),
    ("bounces", "bounces up and down", "jumps up and down", "hops"),
    ("spins", "rotates", "turns around", "spins in place"),
    ("grows", "gets bigger", "expands"),
    ("shrinks", "gets smaller"),
)
_BACKGROUNDS = (
    "over a {} background",
    "on a {} background",
    "against a {} background",
    "in front of a {} backdrop",
    "with a {} background",
)


@dataclass(frozen=True, slots=True)
class Attributes:
    """What a sentence says of a scene; indices into the tables above.

    Args:
        kind, colour, background, motion: What, in which colours, and how it moves.
        size, speed: 0 (small, slow) to 2.
    """

    kind: int
    colour: int
    background: int
    motion: int
    size: int
    speed: int

    @property
    def is_held_out(self) -> bool:
        """Return whether it is one of the 5 % that training never sees."""
        name = f"{self.kind}.{self.colour}.{self.background}.{self.motion}"
        return zlib.crc32(name.encode()) % 20 == 0


def sample_attributes(rng: random.Random, *, is_held_out: bool) -> Attributes:
    """Return attributes at random; a circle is never said to spin, for nobody would see it."""
    while True:
        colour, background = rng.sample(range(len(COLOURS)), 2)
        motion = rng.randrange(len(MOTIONS))
        speed = rng.choices(range(NUM_SPEEDS), (0.2, 0.6, 0.2))[0] if motion < GROW else 1
        size = rng.choices(range(NUM_SIZES), (0.3, 0.4, 0.3))[0]
        attributes = Attributes(rng.randrange(len(KINDS)), colour, background, motion, size, speed)
        if attributes.is_held_out == is_held_out and not (attributes.kind == 0 and motion == SPIN):
            return attributes


def sentence(rng: random.Random, attributes: Attributes) -> str:
    """Return one of the ways to say what is seen."""
    names = list(COLOURS)
    colour, background = (
        rng.choice(_COLOUR_WORDS.get(names[index], (names[index],)))
        for index in (attributes.colour, attributes.background)
    )
    thing = f"{rng.choice(_SIZE_WORDS[attributes.size])} {colour} {rng.choice(_KIND_WORDS[attributes.kind])}".strip()
    article = "the" if rng.random() < 0.08 else "a"
    motion = rng.choice(_MOTION_WORDS[attributes.motion])
    clause = f"{article} {thing} {motion} {rng.choice(_SPEED_WORDS[attributes.speed])}".strip()
    where = rng.choice(_BACKGROUNDS).format(background)
    draw = rng.random()
    if draw < 0.8:
        text = f"{clause} {where}"
    elif draw < 0.9:
        text = f"{where.replace('with a', 'on a')}, {clause}"
    else:
        text = f"{clause}, {background} background"
    if rng.random() < 0.1:
        text = rng.choice(("a video of ", "an animation of ")) + text
    return text + ("." if rng.random() < 0.3 else "")


@dataclass(frozen=True, slots=True)
class Scenes:
    """Scenes as numbers, one row a scene: [B] each, float32, on one device.

    Args:
        kind: Index of the shape.
        x, y: Centre at time 0.
        radius: Of the shape at time 0.
        vx, vy: Velocity.
        spin: Radians a second, clockwise negative.
        growth: Share of the radius a second.
        hop: Height of a bounce; 0 for none.
        hop_s: Seconds of one.
        hop_phase: Share of one at time 0.
        angle: At time 0.
    """

    kind: Tensor
    x: Tensor
    y: Tensor
    radius: Tensor
    vx: Tensor
    vy: Tensor
    spin: Tensor
    growth: Tensor
    hop: Tensor
    hop_s: Tensor
    hop_phase: Tensor
    angle: Tensor

    def take(self, rows: slice) -> Self:
        """Return some of them."""
        return type(self)(*(getattr(self, field.name)[rows] for field in fields(self)))

    def later(self, seconds: Tensor) -> Self:
        """Return them as they are after [B] seconds, from where they go on."""
        grown = 1 + self.growth * seconds
        return replace(
            self,
            x=self.x + self.vx * seconds,
            y=self.y + self.vy * seconds,
            radius=self.radius * grown,
            growth=self.growth / grown,
            hop_phase=self.hop_phase + seconds / self.hop_s,
            angle=self.angle + self.spin * seconds,
        )


@functools.cache
def constant(values: tuple[object, ...], device: torch.device) -> Tensor:
    """Return numbers as a tensor, made once: a step that is captured may not copy from the host."""
    return torch.tensor(values, device=device)


def place(attributes: Tensor, aspect: float, uniform: Tensor) -> Scenes:
    """Return scenes of the given attributes, with what a sentence leaves open drawn at random.

    Args:
        attributes: [B, 6] int64, in the order of `Attributes`.
        aspect: Width by height.
        uniform: [B, 4] float32, 0 to 1: radius, place across, place along, phase.
    """
    device = attributes.device
    kind, _, _, motion, size, speed = attributes.unbind(1)
    u_radius, u_x, u_y, u_phase = uniform.unbind(1)
    radius = constant(_RADII, device)[size] * (0.9 + 0.2 * u_radius)
    room_x, room_y = (aspect - radius).clamp(min=0.05), (1 - radius).clamp(min=0.05)
    x, y = (2 * u_x - 1) * room_x * 0.6, (2 * u_y - 1) * room_y * 0.6
    is_sideways, is_upright = motion <= RIGHT, (motion == UP) | (motion == DOWN)
    room = torch.where(is_sideways, room_x, room_y)
    way = torch.minimum(constant(_SPEEDS, device)[speed] * CLIP_S, 2 * room * 0.95)
    sign = torch.where((motion == LEFT) | (motion == DOWN), -1.0, 1.0)
    # The way lies around the middle, give or take what is left of the room.
    u_along = torch.where(is_sideways, u_x, u_y)
    start = -sign * way / 2 + (2 * u_along - 1) * (room - way / 2) * 0.6
    x, y = torch.where(is_sideways, start, x), torch.where(is_upright, start, y)
    velocity = sign * way / CLIP_S
    is_bounce, is_spin = motion == BOUNCE, motion == SPIN
    zero = torch.zeros_like(radius)
    is_growing, is_shrinking = motion == GROW, motion == SHRINK
    y = torch.where(is_bounce, -0.95 + radius, y)
    start_radius = torch.where(is_growing, 0.45 * radius, torch.where(is_shrinking, 1.2 * radius, radius))
    return Scenes(
        kind=kind.float(),
        x=x,
        y=y,
        radius=start_radius,
        vx=torch.where(is_sideways, velocity, zero),
        vy=torch.where(is_upright, velocity, zero),
        spin=torch.where(is_spin, -2 * math.pi * 0.5 * constant(_SPEEDS, device)[speed], zero),
        growth=torch.where(is_growing, 1.6 / CLIP_S, torch.where(is_shrinking, -0.62 / CLIP_S, zero)),
        hop=torch.where(is_bounce, torch.minimum(zero + 0.9, 1.9 - 2 * radius), zero),
        hop_s=torch.where(is_bounce, constant(_BOUNCE_S, device)[speed], zero + 1),
        hop_phase=torch.where(is_bounce, 0.3 * u_phase, zero),
        angle=torch.where(is_spin, 0.4 * (u_phase - 0.5), zero),
    )


def signed_distance(scenes: Scenes, times_s: Tensor, ys: Tensor, xs: Tensor) -> Tensor:
    """Return the signed distance to the shape's edge, negative inside: [B, T, H, W] in half heights.

    Args:
        times_s: [T] seconds.
        ys, xs: [B, H] and [B, W], where to look.
    """
    t = times_s.view(1, -1, 1, 1)
    s = {field.name: getattr(scenes, field.name).view(-1, 1, 1, 1) for field in fields(Scenes)}
    lasting = t.clamp(max=1.2 * CLIP_S)
    hop = s["hop"] * torch.sin(math.pi * (t / s["hop_s"] + s["hop_phase"])).abs()
    dx = xs[:, None, None, :] - (s["x"] + s["vx"] * t)
    dy = ys[:, None, :, None] - (s["y"] + s["vy"] * t + hop)
    scale = s["radius"] * (1 + s["growth"] * lasting)
    angle = s["angle"] + s["spin"] * t
    cos, sin = angle.cos(), angle.sin()
    return _unit_shapes((cos * dx + sin * dy) / scale, (cos * dy - sin * dx) / scale, s["kind"]) * scale


def _unit_shapes(x: Tensor, y: Tensor, kind: Tensor) -> Tensor:
    # Of about the same area each; the star's edges are straight lines between its ten corners.
    radius = (x * x + y * y).sqrt()
    circle = radius - 0.92
    qx, qy = x.abs() - 0.80, y.abs() - 0.80
    square = (qx.clamp(min=0) ** 2 + qy.clamp(min=0) ** 2).sqrt() + torch.maximum(qx, qy).clamp(max=0)
    triangle = torch.maximum(-y, torch.maximum(0.8660254 * x + 0.5 * y, -0.8660254 * x + 0.5 * y)) - 0.56
    fifth = math.pi / 5
    off_tip = (torch.remainder(torch.atan2(x, y) + fifth, 2 * fifth) - fifth).abs()
    tip, notch_x, notch_y = 1.12, 0.47 * math.cos(fifth), 0.47 * math.sin(fifth)
    length = math.hypot(notch_x - tip, notch_y)
    star = ((radius * off_tip.cos() - tip) * notch_y - radius * off_tip.sin() * (notch_x - tip)) / length
    return torch.where(kind == 0, circle, torch.where(kind == 1, square, torch.where(kind == 2, triangle, star)))
