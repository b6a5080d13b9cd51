"""Swaps of LoRAs over all blocks on any number of ranks: the part `swap` of one GPU and of several.

Random weights, and random factors of every large layer in two files, written by the first rank. The swaps are A, B, A,
B and back to none. On one rank the blocks are compiled and one forward is recorded before the first swap: no swap may
compile or record anew, and a replay has to give what a forward gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from podium.jobs import LoraSpec
from podium.models.quantization import dequantised, scale_key_of
from podium.models.registry import StateDictRegistry
from podium.models.transformer.replay import ForwardReplays, GraphCapture
from podium.multigpu import MGPURunner
from podium.multigpu.attention import AttentionManager
from podium.multigpu.sp_builder import SequenceParallelTransformer
from podium.multigpu.weight_tracker import TransformerWeightTracker

from tests.gpu.bench import Bench, tell_all
from tests.gpu.figures import Figure
from tests.gpu.random_model import (
    DTYPE,
    compile_blocks,
    forward_call,
    num_graphs,
    random_builder,
    relative,
    scale_of,
    timed_s,
)

RUNNER = "tests.gpu.measure_lora_swap:SwapRunner"
# Both files at true size, pinned.
CACHE_BYTES = 24 << 30
ALLOWED_S, ALLOWED_ERROR, ALLOWED_REPLAY_ERROR = 0.3, 4e-3, 1e-2
STRENGTH = 0.8
NUM_CHECKED = 8


class SwapRunner(MGPURunner):
    """Keeps a tracker of random weights."""

    def setup(self, *, is_small: bool, folder: Path) -> None:
        self._scale = scale_of(is_small=is_small)
        self._is_small = is_small
        groups = self.groups
        self._tracker = TransformerWeightTracker(
            groups.transformer_group, control_group=groups.control_group, factor_cache_bytes=CACHE_BYTES
        )
        self._builder = random_builder(self._scale, folder / f"rank-{self.rank}")
        self._registry = StateDictRegistry()
        self._build("none")
        self._loras = {name: LoraSpec(folder / f"lora-{name}.safetensors", STRENGTH) for name in "AB"}
        if self.rank == 0:
            shapes = {key: tuple(tensor.shape) for key, tensor in self._tracker.broadcast_sd.items()}
            for spec in self._loras.values():
                write_lora(spec.path, shapes, self._scale.lora_rank, self.device)
        dist.barrier(groups.control_group)

    def __call__(self) -> Iterator[Figure]:
        for figure in self._measured():
            if self.rank == 0:
                yield figure

    @torch.inference_mode()
    def _measured(self) -> Iterator[Figure]:
        size = self._loras["A"].path.stat().st_size
        yield Figure(f"a LoRA of rank {self._scale.lora_rank}", size / 1e9, "GB")
        digests: dict[str, list[Tensor]] = {"none": [self._digest()]}
        graph = Graphed(self) if self.world_size == 1 else None
        if graph is not None:
            yield from graph.figures("before any swap")
        for name, title in (
            ("A", ", read from its file"),
            ("B", ", read from its file"),
            ("A", ""),
            ("B", ""),
            ("none", ""),
        ):
            is_promised = not title and not self._is_small and self.world_size == 1
            _, took_s = timed_s(lambda name=name: self._build(name), self.device)  # type: ignore[misc] # the default
            told = f"to {name}{title}"
            yield Figure(told, took_s, "s", ALLOWED_S if is_promised else None)
            stats = asdict(self._tracker.last_swap)
            yield Figure(f"{told}: of which", ", ".join(f"{key} {value:.4g}" for key, value in stats.items()))
            digests.setdefault(name, []).append(self._digest())
            if name != "none":
                yield Figure(f"{told}: from the exact sum", self._worst_error(self._loras[name]), limit=ALLOWED_ERROR)
            if graph is not None:
                yield from graph.figures(told)
        for name, seen in digests.items():
            num_other = sum(not torch.equal(one, seen[0]) for one in seen)
            yield Figure(f"times that {name} gave other bits than at first", num_other, limit=0)
        yield Figure("ranks whose weights are not the first one's", self._num_other_ranks(digests), limit=0)
        if self.device.type == "cuda":
            yield Figure("peak memory", torch.cuda.max_memory_allocated() / 1e9, "GB")

    def _build(self, name: str) -> None:
        chosen = (self._loras[name],) if name != "none" else ()
        built = self._tracker.build(self._builder.with_loras(chosen), self._registry, (self.device, DTYPE))
        self.model = built.module

    def _digest(self) -> Tensor:
        # Two sums for each weight: of its bits, and of every other one's.
        sums = []
        for tensor in self._tracker.broadcast_sd.values():
            bits = tensor.reshape(-1).view(torch.int16)
            sums += [bits.sum(dtype=torch.int64), bits[::2].sum(dtype=torch.int64)]
        return torch.stack(sums).cpu()

    def _num_other_ranks(self, digests: dict[str, list[Tensor]]) -> int:
        mine = torch.cat([one for seen in digests.values() for one in seen])
        of_ranks = [torch.empty_like(mine) for _ in range(self.world_size)]
        dist.all_gather(of_ranks, mine, group=self.groups.control_group)
        return sum(not torch.equal(one, of_ranks[0]) for one in of_ranks)

    def _worst_error(self, spec: LoraSpec) -> float:
        # Some of this rank's own weights against the sum in float64.
        worst = 0.0
        with safe_open(spec.path, "pt", device=str(self.device)) as file:
            pairs = {weight_key_of(name): name for name in file.keys() if name.endswith("lora_A.weight")}  # noqa: SIM118
            own = sorted(key for key in pairs if self._tracker.broadcast_sd.is_own(key))
            for key in own[:: max(1, len(own) // NUM_CHECKED)]:
                a, b = (file.get_tensor(pairs[key].replace("lora_A", part)).double() for part in ("lora_A", "lora_B"))
                clean, fused = (
                    values_of(w, key, self.device) for w in (self._tracker.stored_sd, self._tracker.broadcast_sd)
                )
                worst = max(worst, relative(fused, clean + spec.strength * (b @ a)))
        return worst

    def compile(self) -> None:
        """Compile the blocks."""
        compile_blocks(self.model, self._scale.backend)

    def make_forward(self, replays: ForwardReplays | None) -> Callable[[], tuple[Tensor, Tensor]]:
        """Return a forward of the first stage's size."""
        video = self._scale.config.video
        manager = AttentionManager(100_000, video.num_heads, video.head_dim, DTYPE, None)
        transformer = SequenceParallelTransformer(self.model, manager, replays)
        return forward_call(self._scale, transformer, self.model, self._scale.draft)


class Graphed:
    """A forward compiled, and where there are graphs recorded, before the first swap."""

    def __init__(self, runner: SwapRunner) -> None:
        runner.compile()
        self._call = runner.make_forward(None)
        self._call()
        self._num_graphs = num_graphs()
        self._replays = ForwardReplays(GraphCapture(), most_tokens=100_000)
        self._replayed = runner.make_forward(self._replays) if runner.device.type == "cuda" else None
        for _ in range(2 if self._replayed else 0):
            self._replayed()
        self._last: Tensor | None = None

    def figures(self, told: str) -> Iterator[Figure]:
        """Run a forward, and the graph, with the weights as they are now."""
        video = self._call()[0].float()
        yield Figure(f"{told}: graphs compiled since the first forward", num_graphs() - self._num_graphs, limit=0)
        if self._last is not None:
            yield Figure(f"{told}: a forward is from that before the swap", relative(video, self._last))
        self._last = video
        if self._replayed is not None:
            error = relative(self._replayed()[0].float(), video)
            yield Figure(f"{told}: a replay is from a forward", error, limit=ALLOWED_REPLAY_ERROR)
            yield Figure(f"{told}: recordings since the first", self._replays.num_captures - 1, limit=0)


def write_lora(path: Path, shapes: dict[str, tuple[int, ...]], rank: int, device: torch.device) -> None:
    """Write factors of every linear of the blocks but the gates, as the distilled LoRA has."""
    factors: dict[str, Tensor] = {}
    for key, shape in shapes.items():
        if "transformer_blocks" in key and key.endswith(".weight") and len(shape) == 2 and "gate" not in key:
            stem = f"diffusion_model.{key.removesuffix('.weight')}"
            for part, size in (("A", (rank, shape[1])), ("B", (shape[0], rank))):
                factors[f"{stem}.lora_{part}.weight"] = (torch.randn(size, device=device, dtype=DTYPE) * 0.02).cpu()
    save_file(factors, path, metadata={"format": "pt"})


def weight_key_of(factor_name: str) -> str:
    """Return the weight that a factor A belongs to."""
    return factor_name.removeprefix("diffusion_model.").replace("lora_A.weight", "weight")


def values_of(weights: Any, key: str, device: torch.device) -> Tensor:
    """Return the float64 values of a weight, whatever it is kept in."""
    scale = weights.get(scale_key_of(key))
    return dequantised(weights[key].to(device), None if scale is None else scale.to(device), torch.float64)


def swap(bench: Bench) -> None:
    """Measure and tell."""
    with bench.fleet(RUNNER, folder=bench.folder) as fleet:
        tell_all(fleet.stream())
