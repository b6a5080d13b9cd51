"""The guided pipelines once more, as plainly as they can be written: what the shipped ones are held against.

Nothing of `podium.pipelines` is called: one forward a pass, every token with a timestep of its own, positions counted
out. Networks, noise and noise levels are the caller's; `schedule` gives the levels of diffusers' scheduler.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import torch
from diffusers import FlowMatchEulerDiscreteScheduler
from torch import Tensor

from podium.jobs import GuidanceSpec
from podium.models.transformer.inputs import Perturbations, StreamInput, Timesteps
from podium.models.transformer.model import AVTransformer

Draw = Callable[[str, tuple[int, ...]], Tensor]
Context = tuple[Tensor, Tensor]


@dataclass
class Picture:
    """An encoded picture [1, 128, 1, H, W] at a pixel frame."""

    latent: Tensor
    frame: int
    strength: float


@dataclass
class Stage:
    """One stage to run."""

    name: str
    frames: int
    height: int
    width: int
    num_frames: int
    fps: float
    num_audio: int
    sigmas: list[float]
    pictures: list[Picture] = field(default_factory=list)
    slots: Sequence[int] = ()
    video_init: Tensor | None = None
    audio_init: Tensor | None = None

    @property
    def num_generated(self) -> int:
        """Return the clip's own video tokens."""
        return self.frames * self.height * self.width


@dataclass
class Tokens:
    """One stream: what it is, what it is held to and how much of each token is free."""

    x: Tensor
    clean: Tensor
    mask: Tensor
    positions: Tensor
    marker: Tensor | None = None


def schedule(num_steps: int, num_tokens: int) -> list[float]:
    """Return the sigmas of diffusers' scheduler at a token count."""
    scheduler = FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=True, shift_terminal=0.1)
    mu = 0.95 + (num_tokens - 1024) * (2.05 - 0.95) / (4096 - 1024)
    scheduler.set_timesteps(sigmas=np.linspace(1, 1 / num_steps, num_steps).tolist(), mu=mu)
    return [float(sigma) for sigma in scheduler.sigmas]


def run_stage(
    transformer: AVTransformer,
    stage: Stage,
    contexts: Sequence[Context],
    guides: tuple[GuidanceSpec, GuidanceSpec],
    draw: Draw,
    *,
    sampler: str = "euler",
) -> tuple[Tensor, Tensor]:
    """Return the stage's video [1, 128, F, H, W] and audio [1, 8, T, 16]."""
    video, audio = start_video(stage), start_audio(stage)
    for stream, name in ((video, "video"), (audio, "audio")):
        noise = draw(f"{stage.name}.{name}", tuple(stream.x.shape))
        noisy = (1 - stage.sigmas[0]) * stream.x + stage.sigmas[0] * noise
        stream.x = stream.mask * noisy + (1 - stream.mask) * stream.clean
    ask = Asker(transformer, contexts, guides)
    {"euler": euler, "ancestral": ancestral, "res_2s": res_2s}[sampler](ask, video, audio, stage, draw)
    grid = (stage.frames, stage.height, stage.width)
    video_out = video.x[0, : stage.num_generated].reshape(*grid, 128).permute(3, 0, 1, 2)[None]
    return video_out, audio.x[0].reshape(-1, 8, 16).permute(1, 0, 2)[None]


def start_video(stage: Stage) -> Tokens:
    """Return the video before any noise."""
    area, num_tokens = stage.height * stage.width, stage.num_generated
    x = torch.zeros(1, num_tokens, 128)
    if stage.video_init is not None:
        x = stage.video_init[0].permute(1, 2, 3, 0).reshape(1, num_tokens, 128)
    clean, mask, marker = x.clone(), torch.ones(1, num_tokens, 1), torch.zeros(1, num_tokens, 1)
    marker[:, :area] = 1
    boxes = []
    for frame in range(stage.frames):
        begin, end = max(0, 8 * frame - 7), 8 * frame + 1
        boxes += boxes_of(stage, begin, end)
    out = Tokens(x, clean, mask, torch.tensor(boxes), marker)
    for picture in stage.pictures:
        tokens = picture.latent[0, :, 0].permute(1, 2, 0).reshape(1, area, 128)
        if picture.frame == 0:
            out.clean[:, :area], out.mask[:, :area] = tokens, 1 - picture.strength
        else:
            add(out, stage, tokens, picture.frame, 1 - picture.strength, 0.0)
    for frame in stage.slots:
        add(out, stage, torch.zeros(1, area, 128), frame, 1.0, 1.0)
    # Seconds in float32: the highest rotary frequency turns the last bit of a position into a thousandth of a turn.
    out.positions = out.positions.permute(1, 0, 2)[None]
    out.positions[:, 0] /= stage.fps
    return out


def boxes_of(stage: Stage, begin: int, end: int) -> list[list[list[float]]]:
    """Return start and end of each cell of one frame: frames, pixels down, pixels right."""
    return [
        [[float(begin), float(end)], [32.0 * row, 32.0 * row + 32], [32.0 * column, 32.0 * column + 32]]
        for row in range(stage.height)
        for column in range(stage.width)
    ]


def add(out: Tokens, stage: Stage, tokens: Tensor, frame: int, mask: float, marker: float) -> None:
    """Put tokens of one pixel frame behind the others."""
    assert out.marker is not None
    count = tokens.shape[1]
    out.x = torch.cat((out.x, torch.zeros(1, count, 128)), 1)
    out.clean = torch.cat((out.clean, tokens), 1)
    out.mask = torch.cat((out.mask, torch.full((1, count, 1), mask)), 1)
    out.marker = torch.cat((out.marker, torch.full((1, count, 1), marker)), 1)
    out.positions = torch.cat((out.positions, torch.tensor(boxes_of(stage, frame, frame + 1))))


def start_audio(stage: Stage) -> Tokens:
    """Return the audio before any noise."""
    x = torch.zeros(1, stage.num_audio, 128)
    if stage.audio_init is not None:
        x = stage.audio_init[0].permute(1, 0, 2).reshape(1, stage.num_audio, 128)
    frames = [[float(max(0, 4 * step - 3)), 4.0 * step + 1] for step in range(stage.num_audio)]
    return Tokens(x, x.clone(), torch.ones(1, stage.num_audio, 1), torch.tensor(frames)[None, None] * 0.01)


class Asker:
    """Asks the transformer for guided estimates, held to the conditioning."""

    def __init__(
        self, transformer: AVTransformer, contexts: Sequence[Context], guides: tuple[GuidanceSpec, GuidanceSpec]
    ) -> None:
        self.transformer, self.contexts, self.guides = transformer, contexts, guides
        self.last: list[Tensor] = []
        self.num_forwards = 0

    def __call__(self, video: Tokens, audio: Tokens, sigma: float, step: int) -> list[Tensor]:
        """Return what both streams are held to at a level."""
        counts = [step % (guide.skip_step + 1) == 0 for guide in self.guides]
        if any(counts):
            cond = self.forward(video, audio, sigma, 0, Perturbations())
            results = []
            for index, guide in enumerate(self.guides):
                if not counts[index]:
                    results.append(self.last[index])
                    continue
                pull = torch.zeros_like(cond[index])
                if guide.cfg != 1:
                    pull += (guide.cfg - 1) * (
                        cond[index] - self.forward(video, audio, sigma, 1, Perturbations())[index]
                    )
                if guide.stg != 0:
                    pull += guide.stg * (
                        cond[index] - self.forward(video, audio, sigma, 0, self.perturbed(counts))[index]
                    )
                if guide.modality != 1:
                    alone = Perturbations(isolated=(True,))
                    pull += (guide.modality - 1) * (cond[index] - self.forward(video, audio, sigma, 0, alone)[index])
                guided = cond[index] + pull
                if guide.rescale and bool(pull.any()):
                    guided = guided * (guide.rescale * cond[index].std() / guided.std() + (1 - guide.rescale))
                results.append(guided)
            self.last = results
        return [x0 * s.mask + s.clean * (1 - s.mask) for s, x0 in zip((video, audio), self.last, strict=True)]

    def perturbed(self, counts: list[bool]) -> Perturbations:
        """Return which streams' self-attention is perturbed, and where."""
        (video, audio) = ((guide.stg != 0 and on,) for guide, on in zip(self.guides, counts, strict=True))
        return Perturbations(
            blocks=frozenset(self.guides[0].stg_blocks),
            audio_blocks=frozenset(self.guides[1].stg_blocks),
            video=video,
            audio=audio,
        )

    def forward(self, video: Tokens, audio: Tokens, sigma: float, which: int, what: Perturbations) -> list[Tensor]:
        """Return both streams' estimates of one pass."""
        self.num_forwards += 1
        level = torch.tensor([sigma])
        inputs, own_levels = [], []
        ropes = self.transformer.video_ropes(video.positions), self.transformer.audio_ropes(audio.positions)
        for stream, rope, context in zip((video, audio), ropes, self.contexts[which], strict=True):
            own = stream.mask[..., 0] * sigma
            own_levels.append(own[..., None])
            inputs.append(
                StreamInput(
                    latent=stream.x,
                    timesteps=Timesteps(own, torch.arange(own.shape[1])),
                    sigma=level,
                    context=context,
                    rope=rope.own,
                    cross_rope=rope.cross,
                    keyframes_mask=stream.marker,
                )
            )
        with torch.inference_mode():
            velocities = self.transformer(*inputs, what)
        return [
            stream.x - own * v
            for stream, own, v in zip((video, audio), own_levels, velocities, strict=True)
            if v is not None
        ]


def euler(ask: Asker, video: Tokens, audio: Tokens, stage: Stage, draw: Draw) -> None:
    """Run Euler's method."""
    del draw
    for step, (sigma, following) in enumerate(pairwise(stage.sigmas)):
        for stream, x0 in zip((video, audio), ask(video, audio, sigma, step), strict=True):
            stream.x = stream.x + (stream.x - x0) / sigma * (following - sigma)


def ancestral(ask: Asker, video: Tokens, audio: Tokens, stage: Stage, draw: Draw) -> None:
    """Run Euler's method with as much of the noise renewed as can be."""
    for step, (sigma, following) in enumerate(pairwise(stage.sigmas)):
        down = following**2 / sigma
        share = (1 - following) / (1 - down)
        x0s = ask(video, audio, sigma, step)
        for stream, name, x0 in zip((video, audio), ("video", "audio"), x0s, strict=True):
            if following == 0:
                stream.x = x0
                continue
            noise = draw(f"{stage.name}.{name}.step.{step}", tuple(stream.x.shape))
            lower = stream.x * (down / sigma) + x0 * (1 - down / sigma)
            settle(stream, share * lower + math.sqrt(following**2 - down**2 * share**2) * noise)


def res_2s(ask: Asker, video: Tokens, audio: Tokens, stage: Stage, draw: Draw) -> None:
    """Run the second-order sampler: exponential Runge-Kutta with its node in the middle, half of the noise renewed."""
    levels = [*stage.sigmas[:-1], 0.0011]
    for step, (sigma, following) in enumerate(pairwise(levels)):
        h, middle = math.log(sigma / following), math.sqrt(sigma * following)
        first = ask(video, audio, sigma, step)
        starts = [video.x.double(), audio.x.double()]
        for stream, name, start, x0 in zip((video, audio), ("video", "audio"), starts, first, strict=True):
            target = middle / sigma * start + (1 - middle / sigma) * x0
            noise = draw(f"{stage.name}.{name}.substep.{step}", tuple(stream.x.shape))
            settle(stream, renew(start, target, noise, sigma, middle))
        second = ask(video, audio, middle, step)
        decay = following / sigma
        growth = (h - 1 + decay) / h
        for stream, name, start, x0, better in zip(
            (video, audio), ("video", "audio"), starts, first, second, strict=True
        ):
            target = decay * start + (1 - decay) * x0 + 2 * growth * (better.double() - x0)
            noise = draw(f"{stage.name}.{name}.step.{step}", tuple(stream.x.shape))
            settle(stream, renew(start, target, noise, sigma, following))
    for stream, x0 in zip((video, audio), ask(video, audio, levels[-1], len(levels) - 2), strict=True):
        stream.x = x0


def renew(start: Tensor, target: Tensor, noise: Tensor, sigma: float, level: float) -> Tensor:
    """Return `target` with half of its noise level's noise new, its variance as it was."""
    drawn = noise.double()
    drawn = (drawn - drawn.mean()) / drawn.std()
    drawn = (drawn - drawn.mean((1, 2), keepdim=True)) / drawn.std((1, 2), keepdim=True)
    velocity = (start - target) / (sigma - level)
    clean = start - sigma * velocity
    up = 0.5 * level
    left = math.sqrt(level**2 - up**2)
    share = 1 - level + left
    down = left / share
    return share * (clean + down * velocity) + up * drawn


def settle(stream: Tokens, x: Tensor) -> None:
    """Hold what noise must not touch."""
    stream.x = x.float() * stream.mask + stream.clean * (1 - stream.mask)
