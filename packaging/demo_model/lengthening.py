"""Make a network that was trained with 128 text tokens the same with the 1,024 that the pipelines give it.

Prompts are short, so nearly all tokens are the connector's registers, and with eight times as many of them text counts
for less: shapes lose their corners and halve their ways. The network with 128 tokens teaches itself with 1,024. Its
answers are exact, unlike the noise of flow matching, so some hundred steps of a few samples do on a CPU.
"""

from __future__ import annotations

import random

import torch
from latents import Basis, Style
from networks import MAX_TEXT, DemoNetwork
from torch import Tensor, nn
from training import Run, State, Trained
from transformer_training import FlowStep, Shape, fix_text_ropes, make_prompts, means_of

NUM_STEPS = 400
_SHORT_TEXT = 128
_PEAK_RATE = 2e-3
_NUM_PROMPTS = 8000
_LEARNT = ("video_connector", "attn2.to_k", "attn2.to_v", "attn2.k_norm", "prompt_")
_SHAPES = (Shape((5, 4, 6), 4, 2, False, 0.6), Shape((5, 8, 12), 2, 1, True, 0.4))


def lengthen(
    run: Run, basis: Basis, num_steps: int = NUM_STEPS, shapes: tuple[Shape, ...] = _SHAPES, num_text: int = MAX_TEXT
) -> bool:
    """Change the transformer's state so that it takes all text tokens, once; return whether that is done."""
    state, first = run.load("lengthened"), run.load("transformer")
    if first is None or (state is not None and state.step >= num_steps):
        return first is not None
    torch.manual_seed(6)
    teacher, student = (_network(first, run) for _ in range(2))
    teacher.requires_grad_(requires_grad=False)
    learnt = [p for name, p in student.named_parameters() if "audio" not in name and any(w in name for w in _LEARNT)]
    trained = Trained(student, learnt, 0.98, state)
    torch.manual_seed(600 + trained.step)
    prompts = make_prompts(_NUM_PROMPTS, 600 + trained.step, run.device)
    rng = random.Random(600 + trained.step)
    flows = {shape: FlowStep(student, shape, basis, num_text, Style(), run.device) for shape in shapes}
    losses: dict[Shape, list[Tensor]] = {}
    while trained.step < num_steps and not run.is_over:
        shape = rng.choices(shapes, [s.weight for s in shapes])[0]
        flow = flows[shape]
        flow.fill(prompts)
        with torch.no_grad():
            draw = flow.draw()
            taught = flow.velocity(teacher, draw, _SHORT_TEXT)
        loss = ((flow.velocity(student, draw, num_text) - taught).square() * draw.weight).mean() / draw.weight.mean()
        trained.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(learnt, 1.0)
        trained.advance(_PEAK_RATE, num_steps, warm_up=20)
        losses.setdefault(shape, []).append(loss.detach())
        if trained.step % 25 == 0:
            run.say(f"lengthened {trained.step}: {means_of(losses)}")
    is_done = trained.step >= num_steps
    run.save("lengthened", trained, is_done=is_done)
    if is_done:
        run.move("transformer", first, trained.mean.network.state_dict())
    return is_done


def _network(state: State, run: Run) -> DemoNetwork:
    network = DemoNetwork()
    network.load_state_dict(state.mean)
    fix_text_ropes(network.to(run.device))
    return network
