"""Measure LoRA swaps at true size: random weights made on the GPU, random factors of every large layer in two files.

    python -m tests.gpu.measure_lora_swap FOLDER [--rank 384] [--layers 48] [--quantization none] [--forward]

writes two LoRA files (7.4 GB each at rank 384) into FOLDER, then swaps on one rank: A, B, A, B and back to none, with
factors kept in pinned memory and without. Prints seconds as the caller sees them and as the tracker counts them, and
how far fused weights are from the exact sum. `--forward` compiles the blocks first and shows that no swap compiles
anew.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from podium.jobs import LoraSpec, Quantization
from podium.models.builder import SingleGPUModelBuilder
from podium.models.key_maps import TRANSFORMER
from podium.models.module_weights import without_weights
from podium.models.quantization import FP8, FP8_MAX, dequantised, is_cast_layer, policy_of, scale_key_of
from podium.models.quantized_linear import Fp8Linear, quantise_linears
from podium.models.registry import StateDictRegistry
from podium.models.transformer.model import AVTransformer
from podium.models.weight_reader import OnProgress
from podium.multigpu.weight_tracker import TransformerWeightTracker

from tests.gpu.measure_transformer import CLIPS, config, our_call

CUDA = torch.device("cuda:0")
PLACEMENT = (CUDA, torch.bfloat16)
CACHE_BYTES = 24 << 30
SCALE = 2e-4
NUM_CHECKED = 8


@dataclass(frozen=True)
class RandomWeights(SingleGPUModelBuilder[AVTransformer]):
    """A builder that reads no checkpoint: its module gets random weights on the GPU."""

    def build(
        self, device: torch.device, dtype: torch.dtype, *, on_progress: OnProgress | None = None
    ) -> AVTransformer:
        """Return the module; weights are made outside inference mode, as the real ones are."""
        del on_progress
        with without_weights():
            model = self.make_module(())
        coded = {f"{name}.weight" for name, layer in model.named_modules() if isinstance(layer, Fp8Linear)}
        state = {}
        for key, tensor in model.state_dict().items():
            if key.endswith(".weight_scale"):
                state[key] = torch.tensor(SCALE, device=device)
                continue
            values = torch.empty(tensor.shape, dtype=dtype, device=device).normal_(0, 0.02)
            has_scale = scale_key_of(key) in model.state_dict()
            if key in coded:
                values = (values / SCALE if has_scale else values).clamp(-FP8_MAX, FP8_MAX).to(FP8)
            state[key] = values
        model.load_state_dict(state, assign=True)
        return model.to(device).eval().requires_grad_(requires_grad=False)


def maker(num_layers: int, quantization: Quantization) -> Callable[[object], AVTransformer]:
    """Return what makes the 2.3 transformer of true size without weights."""

    def make(_headers: object) -> AVTransformer:
        model = AVTransformer(config(num_layers))
        if quantization is not Quantization.NONE:
            layers = [name for name, layer in model.named_modules() if is_cast(name, layer)]
            quantise_linears(model, layers, Path("random"), has_scales=quantization is Quantization.FP8_SCALED)
        return model

    return make


def is_cast(name: str, layer: nn.Module) -> bool:
    """Say whether a layer is quantised here."""
    return isinstance(layer, nn.Linear) and is_cast_layer(name)


def write_lora(path: Path, shapes: dict[str, tuple[int, ...]], rank: int) -> None:
    """Write factors of every linear of the blocks but the gates, as the distilled LoRA has."""
    factors: dict[str, Tensor] = {}
    for key, shape in shapes.items():
        if "transformer_blocks" in key and key.endswith(".weight") and len(shape) == 2 and "gate" not in key:
            stem = f"diffusion_model.{key.removesuffix('.weight')}"
            for part, size in (("A", (rank, shape[1])), ("B", (shape[0], rank))):
                values = torch.randn(size, device=CUDA, dtype=torch.bfloat16) * 0.02
                factors[f"{stem}.lora_{part}.weight"] = values.cpu()
    save_file(factors, path, metadata={"format": "pt"})
    print(f"{path.name}: {path.stat().st_size / 1e9:.2f} GB, {len(factors) // 2} layers", flush=True)


def worst_error(tracker: TransformerWeightTracker, spec: LoraSpec) -> str:
    """Compare some fused weights with the sum in float64."""
    worst = 0.0
    with safe_open(spec.path, "pt", device=str(CUDA)) as file:
        names = sorted(key for key in file.keys() if key.endswith("lora_A.weight"))  # noqa: SIM118 - it is no mapping
        for name in names[:: max(1, len(names) // NUM_CHECKED)]:
            key = name.removeprefix("diffusion_model.").replace("lora_A.weight", "weight")
            a, b = file.get_tensor(name).double(), file.get_tensor(name.replace("lora_A", "lora_B")).double()
            clean, fused = (values_of(weights, key) for weights in (tracker.stored_sd, tracker.broadcast_sd))
            exact = clean + spec.strength * (b @ a)
            worst = max(worst, float((fused - exact).norm() / exact.norm()))
    return f"{worst:.2e}"


def values_of(weights: object, key: str) -> Tensor:
    """Return the float64 values of a weight, whatever it is kept in."""
    scale = weights.get(scale_key_of(key))  # type: ignore[attr-defined] # a ShardedSD
    return dequantised(weights[key].to(CUDA), None if scale is None else scale.to(CUDA), torch.float64)  # type: ignore[index]


def num_graphs() -> int:
    """Return how many graphs were compiled so far."""
    return int(torch._dynamo.utils.counters["stats"]["unique_graphs"])


def measure(tracker: TransformerWeightTracker, builder: RandomWeights, loras: dict[str, LoraSpec], title: str) -> None:
    """Swap and print."""
    registry = StateDictRegistry()
    forward: Callable[[], object] | None = None
    print(f"\n## {title}")
    for name in ("none", "A", "B", "A", "B", "none"):
        chosen = (loras[name],) if name in loras else ()
        torch.cuda.synchronize()
        began_s = time.perf_counter()
        module = tracker.build(builder.with_loras(chosen), registry, PLACEMENT).module
        torch.cuda.synchronize()
        took_s = time.perf_counter() - began_s
        error = f"; {worst_error(tracker, loras[name])} from the exact sum" if chosen else ""
        print(f"to {name}: {took_s:.3f} s{error}; {tracker.last_swap}", flush=True)
        if module._is_compiled:
            forward = forward or our_call(module, CLIPS[6144])
            before = num_graphs()
            forward()
            torch.cuda.synchronize()
            print(f"  a forward compiled {num_graphs() - before} graphs")


@torch.inference_mode()
def main() -> None:
    """Write, swap, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rank", type=int, default=384)
    parser.add_argument("--layers", type=int, default=48)
    parser.add_argument("--quantization", type=Quantization, choices=list(Quantization), default=Quantization.NONE)
    parser.add_argument("--forward", action="store_true", help="compile the blocks and run a forward after each swap")
    values = parser.parse_args()
    values.folder.mkdir(parents=True, exist_ok=True)
    placeholder = values.folder / "no-checkpoint"
    placeholder.touch()
    make = maker(values.layers, values.quantization)
    builder = RandomWeights((placeholder,), TRANSFORMER, make, policy=policy_of(values.quantization))
    with without_weights():
        shapes = {key: tuple(tensor.shape) for key, tensor in make(()).state_dict().items()}
    loras = {name: LoraSpec(values.folder / f"lora-{name}.safetensors", 0.8) for name in "AB"}
    for spec in loras.values():
        write_lora(spec.path, shapes, values.rank)
    for title, cache_bytes in (("factors kept in pinned memory", CACHE_BYTES), ("factors read each time", 0)):
        tracker = TransformerWeightTracker(None, factor_cache_bytes=cache_bytes)
        if values.forward:
            tracker.build(replace(builder), StateDictRegistry(), PLACEMENT).module.compile_blocks()
        torch.cuda.reset_peak_memory_stats()
        measure(tracker, builder, loras, title)
        held, peak = torch.cuda.memory_allocated() / 1e9, torch.cuda.max_memory_allocated() / 1e9
        print(f"memory {held:.1f} GB, peak {peak:.1f} GB")
        del tracker
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
