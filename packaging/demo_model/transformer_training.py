"""Train text encoder, connectors and transformer together by flow matching on computed latents.

Every step draws scenes anew; sentences are written and cut into tokens once. On a GPU a step of each shape is captured
as a CUDA graph, since a network this small spends its time on launches otherwise.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import torch
from latents import NUM_LIVE, Basis, Colours, Style, View, as_tensor, scene_latents
from networks import MAX_TEXT, DemoNetwork, live_only, make_tokenizer
from torch import Tensor, nn
from training import Run, Stepper, Trained
from world import place, sample_attributes, sentence

from podium.geometry import ClipFormat
from podium.models.transformer.inputs import Timesteps
from podium.models.transformer.model import Ropes
from podium.pipelines.latents import video_positions
from podium.pipelines.schedules import DISTILLED_STAGE_1_SIGMAS, DISTILLED_STAGE_2_SIGMAS

NUM_STEPS = 16000
_PEAK_RATE = 1.5e-3
_NUM_PROMPTS = 60000
_NUM_IDS = 32
# The sampler's own levels, the last of which is 0 and no step's begin.
_STAGE_1, _STAGE_2 = DISTILLED_STAGE_1_SIGMAS[:-1], DISTILLED_STAGE_2_SIGMAS[:-1]
_STAGE_1_WEIGHTS = (2.0, 1.0, 1.0, 1.5, 4.0, 4.0, 3.0, 3.0)


@dataclass(frozen=True, slots=True)
class Shape:
    """What the steps of one graph have in common.

    Args:
        grid: Latent frames, height and width.
        num_prompts: Different prompts in a batch.
        repeats: Noise and scenes drawn for each.
        is_second: Noise levels of the second stage.
        weight: How often it comes.
    """

    grid: tuple[int, int, int]
    num_prompts: int
    repeats: int
    is_second: bool
    weight: float


SHAPES = (
    Shape((5, 4, 6), 96, 4, False, 0.48),
    Shape((5, 4, 4), 96, 4, False, 0.14),
    Shape((5, 8, 12), 96, 1, True, 0.28),
    Shape((5, 8, 8), 96, 1, True, 0.10),
)
IMAGE_SHARE = 0.25
"""Share of the samples whose first frame is given."""

EDGE_WEIGHT = 4.0
"""How much more a cell counts that sees the shape's edge."""


@dataclass(frozen=True, slots=True)
class Prompts:
    """Sentences about scenes: token ids [N, 32], lengths [N] and attributes [N, 6]."""

    ids: Tensor
    lengths: Tensor
    attributes: Tensor


def make_prompts(num_prompts: int, seed: int, device: torch.device) -> Prompts:
    """Write sentences about scenes that are not held out."""
    rng = random.Random(seed)
    rows = [sample_attributes(rng, is_held_out=False) for _ in range(num_prompts)]
    tokens = [item.ids for item in make_tokenizer().encode_batch([sentence(rng, row) for row in rows])]
    longest = max(map(len, tokens))
    assert longest <= _NUM_IDS, f"a sentence has {longest} tokens"
    ids = torch.tensor([item + [0] * (_NUM_IDS - len(item)) for item in tokens])
    lengths = torch.tensor([len(item) for item in tokens])
    return Prompts(ids.to(device), lengths.to(device), as_tensor(rows).to(device))


@dataclass(frozen=True, slots=True)
class Draw:
    """Scenes under noise.

    Args:
        noisy: [B, T, 31].
        timesteps: Noise levels, 0 for the tokens of a given picture.
        sigma: [B].
        target: [B, T, 31], the velocity of these very scenes.
        weight: [B, T, 1], how much each token counts.
    """

    noisy: Tensor
    timesteps: Timesteps
    sigma: Tensor
    target: Tensor
    weight: Tensor


class FlowStep:
    """The loss of one batch of one shape; all that does not change is made once.

    Args:
        network: What is trained.
        shape: Of the batch.
        basis: Of the latents.
        num_text: Text tokens the transformer attends; with fewer than `MAX_TEXT` it learns another task.
        style: How the scenes are drawn.
    """

    def __init__(
        self, network: DemoNetwork, shape: Shape, basis: Basis, num_text: int, style: Style, device: torch.device
    ) -> None:
        self.shape, self._network, self._basis, self._num_text = shape, network, basis, num_text
        self._style = style
        self.num_samples = shape.num_prompts * shape.repeats
        self._view = View.whole(self.num_samples, shape.grid, device)
        self._aspect = shape.grid[2] / shape.grid[1]
        frames, height, width = shape.grid
        clip = ClipFormat(height * 32, width * 32, (frames - 1) * 8 + 1, Fraction(24))
        with torch.no_grad():
            self._ropes: Ropes = network.transformer.video_ropes(video_positions(clip).to(device))
        self._index = torch.ones(frames * height * width, dtype=torch.int64, device=device)
        self._index[: height * width] = 0
        nodes = _STAGE_2 if shape.is_second else _STAGE_1
        weights = (1.0, 1.0, 1.0) if shape.is_second else _STAGE_1_WEIGHTS
        self._nodes = torch.tensor(nodes, device=device)
        self._cumulative = (torch.tensor(weights, device=device) / sum(weights)).cumsum(0)
        self._shift = 8.0 if shape.is_second else 6.0
        self.ids = torch.full((shape.num_prompts, _NUM_IDS), 2, device=device)
        self.lengths = torch.full((shape.num_prompts,), 8, device=device)
        self.attributes = torch.zeros(shape.num_prompts, 6, dtype=torch.int64, device=device)

    def fill(self, prompts: Prompts) -> None:
        """Take prompts at random."""
        rows = torch.randint(len(prompts.ids), (self.shape.num_prompts,), device=prompts.ids.device)
        self.ids.copy_(prompts.ids[rows])
        self.lengths.copy_(prompts.lengths[rows])
        self.attributes.copy_(prompts.attributes[rows])

    def loss(self) -> Tensor:
        """Return the flow-matching loss over live channels."""
        with torch.no_grad():
            draw = self.draw()
        error = (self.velocity(self._network, draw, self._num_text) - draw.target).square() * draw.weight
        return error.mean() / draw.weight.mean()

    def draw(self) -> Draw:
        """Return scenes under noise, as the sampler meets them."""
        clean = self._clean()
        sigma = self._sigmas(len(clean))
        noise = torch.randn_like(clean)
        # Tokens of a given first frame are clean, and nothing is asked of them.
        is_free = (torch.rand(len(clean), device=clean.device) >= IMAGE_SHARE).float()
        is_made = torch.stack((is_free, torch.ones_like(is_free)), dim=1)
        token_is_made = is_made[:, self._index, None]
        return Draw(
            noisy=torch.lerp(clean, noise, sigma[:, None, None] * token_is_made),
            timesteps=Timesteps(sigma[:, None] * is_made, self._index),
            sigma=sigma,
            target=noise - clean,
            # Most cells see no edge, and are right at once; the style's channel tells those that do.
            weight=token_is_made * (1 + EDGE_WEIGHT * clean[..., -1:].abs()),
        )

    def velocity(self, network: DemoNetwork, draw: Draw, num_text: int) -> Tensor:
        """Return what a network of this kind makes of a draw for the prompts there are: [B, T, 31] float32."""
        context = network.context(self.ids, self.lengths, num_text).repeat_interleave(self.shape.repeats, 0)
        velocity = network.velocity(live_only(draw.noisy), draw.timesteps, draw.sigma, context, self._ropes)
        return velocity[..., :NUM_LIVE].float()

    def _clean(self) -> Tensor:
        attributes = self.attributes.repeat_interleave(self.shape.repeats, 0)
        uniform = torch.rand(self.num_samples, 4, device=attributes.device)
        scenes = place(attributes, self._aspect, uniform)
        colours = Colours.of(attributes, self._style)
        latents = scene_latents(scenes, colours, self._view, self._basis, is_outline=self._style.is_outline)
        return latents.flatten(2).transpose(1, 2)

    def _sigmas(self, count: int) -> Tensor:
        device = self._nodes.device
        node = self._nodes[
            torch.searchsorted(self._cumulative, torch.rand(count, device=device)).clamp(max=len(self._nodes) - 1)
        ]
        u = torch.rand(count, device=device).clamp(1e-3, 1 - 1e-3)
        anywhere = self._shift * u / (1 + (self._shift - 1) * u)
        return torch.where(torch.rand(count, device=device) < 0.55, node, anywhere)


def train_transformer(run: Run, basis: Basis, num_steps: int = NUM_STEPS, shapes: Sequence[Shape] = SHAPES) -> bool:
    """Train everything that turns words into latents, or go on training; return whether it is done."""
    state = run.load("transformer")
    if state is not None and state.step >= num_steps:
        return True
    torch.manual_seed(3)
    network = DemoNetwork().to(run.device)
    trained = Trained(network, network.trained_parameters(), 0.999, state)
    fix_text_ropes(network)
    parameters = network.trained_parameters()
    for parameter in parameters:
        parameter.grad = torch.zeros_like(parameter)
    torch.manual_seed(300 + trained.step)
    prompts = make_prompts(_NUM_PROMPTS, 300 + trained.step, run.device)
    if run.device.type == "cuda":
        # Of any size: a compilation takes longer than a thousand steps.
        for block in network.transformer.transformer_blocks:
            block.compile(dynamic=True)
    rng = random.Random(300 + trained.step)
    steppers: dict[Shape, Stepper[FlowStep]] = {}
    losses: dict[Shape, list[Tensor]] = {}
    while trained.step < num_steps and not run.is_over:
        shape = rng.choices(shapes, [s.weight for s in shapes])[0]
        stepper = steppers.get(shape)
        if stepper is None:
            flow = FlowStep(network, shape, basis, MAX_TEXT, Style(), run.device)
            stepper = steppers[shape] = Stepper(run, flow, parameters)
            run.say(f"transformer {trained.step}: ready for {shape.grid}")
        stepper.step.fill(prompts)
        stepper()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        trained.advance(_PEAK_RATE, num_steps, warm_up=500)
        losses.setdefault(shape, []).append(stepper.loss.clone())
        if trained.step % 500 == 0:
            run.say(f"transformer {trained.step}: {means_of(losses)}")
    run.note(transformer={"steps": trained.step, "loss": means_of(losses)})
    is_done = trained.step >= num_steps
    run.save("transformer", trained, is_done=is_done)
    return is_done


def fix_text_ropes(network: DemoNetwork) -> None:
    """Make the connector's rotary tables once for each size instead of in float64 at every step."""
    rope = network.processor.video_connector.rope
    rope.forward = _KnownTables(rope.forward)


class _KnownTables:
    def __init__(self, make: Callable[..., tuple[Tensor, ...]]) -> None:
        self._make = make
        self._tables: dict[tuple[int, int], tuple[Tensor, ...]] = {}

    def __call__(self, batch: int, length: int, device: torch.device) -> tuple[Tensor, ...]:
        if (batch, length) not in self._tables:
            with torch.no_grad(), torch.autocast(device.type, enabled=False):
                self._tables[batch, length] = self._make(batch, length, device=device)
        return self._tables[batch, length]


def means_of(losses: dict[Shape, list[Tensor]]) -> str:
    """Return the mean losses by shape in a line, and forget them."""
    parts = [
        f"{'x'.join(map(str, shape.grid))} {torch.stack(values).mean().item():.4f}" for shape, values in losses.items()
    ]
    losses.clear()
    return ", ".join(parts)
