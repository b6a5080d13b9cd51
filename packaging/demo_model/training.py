"""What all trainings share: schedules, running means of weights, clocks, and states that a later run goes on from."""

from __future__ import annotations

import copy
import json
import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import torch
from torch import Tensor, nn


@dataclass(slots=True)
class Run:
    """One invocation: where states lie, on which device, and how long it may last.

    Args:
        folder: Where states and figures lie.
        device: Where to train.
        deadline_s: `time.monotonic()` after which a stage saves its state and ends.
    """

    folder: Path
    device: torch.device
    deadline_s: float
    began_s: float = field(default_factory=time.monotonic)

    @property
    def is_over(self) -> bool:
        """Return whether the time is up."""
        return time.monotonic() > self.deadline_s

    def say(self, text: str) -> None:
        """Print a line with the seconds since the beginning, and keep it."""
        line = f"[{time.monotonic() - self.began_s:6.1f}] {text}"
        print(line, flush=True)
        with (self.folder / "log.txt").open("a", encoding="utf-8") as log:
            log.write(line + "\n")

    def autocast(self) -> torch.autocast:
        """Return bfloat16 where it is fast."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda", cache_enabled=False)

    def load(self, name: str) -> State | None:
        """Return where a stage stands, or None where it was never begun."""
        path = self.folder / f"{name}.pt"
        if not path.exists():
            return None
        known = torch.load(path, map_location=self.device, weights_only=True)
        more = self.folder / f"{name}.more.pt"
        rest = torch.load(more, map_location=self.device, weights_only=True) if more.exists() else {}
        moments = self.folder / f"{name}.moments.pt"
        slots = torch.load(moments, map_location=self.device, weights_only=True) if moments.exists() else None
        return State(known["step"], _floats(known["mean"]), _floats(rest) or _floats(known["mean"]), slots)

    def save(self, name: str, trained: Trained, *, is_done: bool) -> None:
        """Save where a stage stands; of one that is done only what is shipped, in bfloat16 as it is."""
        mean = trained.mean.network.state_dict()
        mean = {key: value.bfloat16() if value.is_floating_point() else value for key, value in mean.items()}
        self._write(f"{name}.pt", {"step": trained.step, "mean": mean})
        for part, make in (("more", trained.network.state_dict), ("moments", trained.moments)):
            (self.folder / f"{name}.{part}.pt").unlink(missing_ok=True)
            if not is_done:
                self._write(f"{name}.{part}.pt", make())

    def move(self, name: str, state: State, mean: dict[str, Tensor]) -> None:
        """Move where a stage stands to other weights, so that it goes on from there."""
        self._write(f"{name}.pt", {"step": state.step, "mean": mean})
        moved = {key: value + (mean[key] - state.mean[key]) for key, value in state.raw.items()}
        self._write(f"{name}.more.pt", moved)

    def _write(self, name: str, state: dict[str, Any]) -> None:
        part = self.folder / f".{name}.part"
        torch.save(state, part)
        part.replace(self.folder / name)

    def note(self, **figures: object) -> None:
        """Keep figures beside the states."""
        path = self.folder / "figures.json"
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        path.write_text(json.dumps(known | figures, indent=1), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class State:
    """Where a stage stood when it was saved.

    Args:
        step: Steps made.
        mean, raw: Weights.
        moments: Of the optimizer, or None to begin with new ones.
    """

    step: int
    mean: dict[str, Tensor]
    raw: dict[str, Tensor]
    moments: dict[str, Any] | None


class Step(Protocol):
    """One batch: what changes is drawn within `loss`, so that a capture of it draws anew."""

    def loss(self) -> Tensor:
        """Return the loss."""


StepT = TypeVar("StepT", bound=Step)


class Stepper(Generic[StepT]):
    """Run forward and backward of one kind of batch, from a CUDA graph where there is a GPU.

    Args:
        run: Where.
        step: The batch.
        parameters: What gets gradients; they have some already, which are filled.
    """

    def __init__(self, run: Run, step: StepT, parameters: list[nn.Parameter]) -> None:
        self.step, self._run, self._parameters = step, run, parameters
        self._graph: torch.cuda.CUDAGraph | None = None
        self.loss = torch.zeros((), device=run.device)
        if run.device.type == "cuda":
            self._capture()

    def __call__(self) -> None:
        """Leave gradients in the parameters and the loss in `loss`."""
        if self._graph is None:
            self._forward_backward()
        else:
            self._graph.replay()

    def _forward_backward(self) -> None:
        torch._foreach_zero_([p.grad for p in self._parameters])
        with self._run.autocast():
            loss = self.step.loss()
        loss.backward()
        self.loss.copy_(loss.detach())

    def _capture(self) -> None:
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self._forward_backward()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._forward_backward()
        self._graph = graph


class MeanWeights:
    """An exponential running mean of a network's weights: what is shipped."""

    def __init__(self, network: nn.Module, decay: float) -> None:
        self.network = copy.deepcopy(network).eval().requires_grad_(requires_grad=False)
        self._sources = [parameter.detach() for parameter in network.parameters()]
        self._means = list(self.network.parameters())
        self._decay = decay
        self.num_updates = 0

    @torch.no_grad()
    def update(self) -> None:
        """Take in the weights as they are."""
        self.num_updates += 1
        decay = min(self._decay, (1 + self.num_updates) / (10 + self.num_updates))
        torch._foreach_lerp_(self._means, self._sources, 1 - decay)


class Trained:
    """A network that is being trained, its running mean and its optimizer, as they were left.

    Args:
        network: With its first weights.
        parameters: Those that move.
        decay: Of the running mean.
        state: Where it stood, or None.
    """

    def __init__(
        self, network: nn.Module, parameters: Iterable[nn.Parameter], decay: float, state: State | None
    ) -> None:
        self.network = network
        device = next(network.parameters()).device
        self.optimizer = torch.optim.AdamW(
            parameters, lr=0.0, betas=(0.9, 0.98), weight_decay=0.01, fused=device.type == "cuda"
        )
        self.step = 0
        if state is not None:
            network.load_state_dict(state.raw)
        self.mean = MeanWeights(network, decay)
        if state is not None:
            self.mean.network.load_state_dict(state.mean)
            self.mean.num_updates = self.step = state.step
            if state.moments is not None:
                self.optimizer.load_state_dict(state.moments)

    def moments(self) -> dict[str, Any]:
        """Return the optimizer's state, in half its size."""
        state = self.optimizer.state_dict()
        state["state"] = {
            index: {key: value.bfloat16() if value.ndim else value for key, value in slots.items()}
            for index, slots in state["state"].items()
        }
        return state

    def advance(self, peak_rate: float, num_steps: int, warm_up: int = 200) -> None:
        """Make a step with the gradients there are."""
        set_rate(self.optimizer, peak_rate, self.step, num_steps, warm_up)
        self.optimizer.step()
        self.mean.update()
        self.step += 1


def _floats(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {key: value.float() if value.is_floating_point() else value for key, value in tensors.items()}


def set_rate(optimizer: torch.optim.Optimizer, peak: float, step: int, num_steps: int, warm_up: int = 200) -> None:
    """Set the learning rate: a linear warm-up, then a cosine to a fiftieth."""
    share = min(1.0, step / num_steps)
    rate = peak * min(1.0, (step + 1) / warm_up) * (0.02 + 0.49 * (1 + math.cos(math.pi * share)))
    for group in optimizer.param_groups:
        group["lr"] = rate


def psnr_db(a: Tensor, b: Tensor) -> float:
    """Return the peak signal-to-noise ratio of pixels from -1 to 1."""
    return float(-10 * torch.log10(((a.float() - b.float()) / 2).square().mean()))
