"""Train the LoRAs: the same world in another style, by the same loss as the transformer, whose weights stand still."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial

import torch
from latents import Basis, Style
from networks import MAX_TEXT, DemoNetwork
from official_names import lora_name
from torch import Tensor, nn
from training import Run, Stepper, Trained
from transformer_training import SHAPES, FlowStep, Shape, fix_text_ropes, make_prompts, means_of

STYLES = {"lora_outline": Style(is_outline=True), "lora_night": Style(is_night=True)}
NUM_STEPS = 400
RANK = 8
_PEAK_RATE = 4e-3
_NUM_PROMPTS = 8000
_TARGETS = tuple(
    [f"{attention}.{part}" for attention in ("attn1", "attn2") for part in ("to_q", "to_k", "to_v", "to_out.0")]
    + ["ff.net.0.proj", "ff.net.2"]
)
# The demo's own format; others get by.
_SHAPES = (SHAPES[0], SHAPES[2])


class LoraFactors(nn.Module):
    """The factors of every linear layer that a LoRA changes, at work in a network as long as both live.

    Args:
        network: Whose transformer is changed.
    """

    def __init__(self, network: DemoNetwork) -> None:
        super().__init__()
        self.factors = nn.ParameterDict()
        for module, layer in _layers(network):
            a = nn.Parameter(torch.randn(RANK, layer.in_features, device=layer.weight.device) * layer.in_features**-0.5)
            b = nn.Parameter(torch.zeros(layer.out_features, RANK, device=layer.weight.device))
            self.factors[_key(module, "A")], self.factors[_key(module, "B")] = a, b
            layer.register_forward_hook(partial(_add, a, b))


def train_lora(
    run: Run, basis: Basis, num_steps: int = NUM_STEPS, *, name: str, shapes: tuple[Shape, ...] = _SHAPES
) -> bool:
    """Train one of `STYLES`, or go on training; return whether it is done."""
    state, base = run.load(name), run.load("transformer")
    if base is None or (state is not None and state.step >= num_steps):
        return base is not None
    torch.manual_seed(4)
    network = DemoNetwork().to(run.device)
    network.load_state_dict(base.mean)
    network.requires_grad_(requires_grad=False)
    fix_text_ropes(network)
    factors = LoraFactors(network)
    trained = Trained(factors, factors.parameters(), 0.98, state)
    parameters = list(factors.parameters())
    for parameter in parameters:
        parameter.grad = torch.zeros_like(parameter)
    torch.manual_seed(400 + trained.step)
    prompts = make_prompts(_NUM_PROMPTS, 400 + trained.step, run.device)
    rng = random.Random(400 + trained.step)
    flows = {s: FlowStep(network, s, basis, MAX_TEXT, STYLES[name], run.device) for s in shapes}
    steppers = {shape: Stepper(run, flow, parameters) for shape, flow in flows.items()}
    losses: dict[Shape, list[Tensor]] = {}
    while trained.step < num_steps and not run.is_over:
        shape = rng.choices(shapes, [s.weight for s in shapes])[0]
        stepper = steppers[shape]
        stepper.step.fill(prompts)
        stepper()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        trained.advance(_PEAK_RATE, num_steps, warm_up=20)
        losses.setdefault(shape, []).append(stepper.loss.clone())
        if trained.step % 50 == 0:
            run.say(f"{name} {trained.step}: {means_of(losses)}")
    is_done = trained.step >= num_steps
    run.save(name, trained, is_done=is_done)
    return is_done


def published(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return a LoRA's factors under the names of published files."""
    found = {}
    for key, tensor in state.items():
        module, factor = key.removeprefix("factors.").replace("-", ".").rsplit(".", 1)
        found[lora_name(module, factor)] = tensor
    return found


def _layers(network: DemoNetwork) -> Iterator[tuple[str, nn.Linear]]:
    for index in range(len(network.transformer.transformer_blocks)):
        for target in _TARGETS:
            module = f"transformer_blocks.{index}.{target}"
            layer = network.transformer.get_submodule(module)
            assert isinstance(layer, nn.Linear), f"{module} is a linear layer"
            yield module, layer


def _key(module: str, factor: str) -> str:
    # Names of parameters have no dots.
    return f"{module}.{factor}".replace(".", "-")


def _add(a: Tensor, b: Tensor, _layer: nn.Module, inputs: tuple[Tensor], output: Tensor) -> Tensor:
    return output + nn.functional.linear(nn.functional.linear(inputs[0], a), b)
