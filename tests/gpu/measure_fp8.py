"""Measure forwards of the transformer at true size with random weights in bf16 and in fp8, compiled block by block.

    python -m tests.gpu.measure_fp8 [--layers 48] [--tokens 6144 24576]

prints milliseconds a forward and memory: bf16, fp8 turned into bf16 for the product, and products in fp8; of the two
fp8 ways also how far a velocity is from that of the same weights turned into bf16 before.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from podium.jobs import Quantization
from podium.models.key_maps import TRANSFORMER
from podium.models.quantized_linear import Fp8Linear
from podium.models.transformer.model import AVTransformer

from tests.gpu.measure_lora_swap import CUDA, PLACEMENT, RandomWeights, maker
from tests.gpu.measure_transformer import CLIPS, median_ms, our_call


def random_model(num_layers: int, quantization: Quantization) -> AVTransformer:
    """Return a model with random weights, made outside inference mode."""
    with torch.inference_mode(mode=False), torch.no_grad():
        return RandomWeights((Path("none"),), TRANSFORMER, maker(num_layers, quantization)).build(*PLACEMENT)


def measure(model: AVTransformer, title: str, tokens: list[int]) -> dict[int, torch.Tensor]:
    """Print figures, and return the video velocity of inputs that are the same at every call."""
    velocities = {}
    for num_tokens in tokens:
        torch.manual_seed(0)
        call = our_call(model, CLIPS[num_tokens])  # type: ignore[arg-type] # any number may be asked for
        velocities[num_tokens] = call()[0].float()  # type: ignore[index] # a pair
        print(f"{title}, {num_tokens} tokens: {median_ms(call):.1f} ms", flush=True)
    print(f"{title}: {torch.cuda.memory_allocated() / 1e9:.1f} GB held", flush=True)
    return velocities


@torch.inference_mode()
def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", type=int, default=48)
    parser.add_argument("--tokens", type=int, nargs="*", default=list(CLIPS))
    values = parser.parse_args()
    plain = random_model(values.layers, Quantization.NONE)
    plain.compile_blocks()
    measure(plain, "bf16", values.tokens)
    del plain
    torch.cuda.empty_cache()
    torch._dynamo.reset()
    for quantization in (Quantization.FP8_CAST, Quantization.FP8_SCALED):
        model = random_model(values.layers, quantization)
        exact = measure(model, f"{quantization}, eager", values.tokens[:1])
        model.compile_blocks()
        for in_fp8 in (False, True):
            torch._dynamo.reset()
            for layer in model.modules():
                if isinstance(layer, Fp8Linear):
                    layer.multiplies_in_fp8 = in_fp8
            title = f"{quantization}, products in {'fp8' if in_fp8 else 'bf16'}"
            ours = measure(model, title, values.tokens)
            for num_tokens, velocity in exact.items():
                error = float((ours[num_tokens] - velocity).norm() / velocity.norm())
                print(f"{title}: {error:.2e} from eager at {num_tokens} tokens on {CUDA}", flush=True)
        del model
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
