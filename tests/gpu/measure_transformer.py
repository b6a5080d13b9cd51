"""Measure forwards of the transformer at true size with random weights, beside diffusers' class in the same run.

    python -m tests.gpu.measure_transformer [--layers 48] [--no-peer] [--profile]

prints milliseconds a forward at 24,576 and at 6,144 video tokens, eager and compiled block by block, and the ratio to
the peer's compiled forward. One sample, 126 audio tokens, 1,024 text tokens, bf16.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch

from tests.gpu.random_model import DTYPE, TRUE, compile_blocks, forward_call, median_ms, random_builder, tokens


def print_kernels(call: Callable[[], object]) -> None:
    """Print where the device's time goes."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
        call()
        torch.cuda.synchronize()
    print(profiler.key_averages().table(sort_by="cuda_time_total", row_limit=14, max_name_column_width=60), flush=True)


@torch.inference_mode()
def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", type=int, default=TRUE.num_layers)
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--profile", action="store_true", help="list the kernels of our compiled forward")
    values = parser.parse_args()
    scale, device = replace(TRUE, num_layers=values.layers), torch.device("cuda:0")
    with tempfile.TemporaryDirectory() as folder:
        ours = random_builder(scale, Path(folder)).build(device, DTYPE)
    compiled_ms = {}
    for kind in ("eager", "compiled"):
        if kind == "compiled":
            compile_blocks(ours, scale.backend)
        for clip in scale.clips:
            call = forward_call(scale, ours, ours, clip)
            compiled_ms[clip] = median_ms(call, device)
            print(f"ours {kind}, {tokens(clip)}: {compiled_ms[clip]:.1f} ms", flush=True)
            if values.profile:
                print_kernels(call)
    print(f"peak memory {torch.cuda.max_memory_allocated() / 1e9:.1f} GB")
    del ours, call
    torch.cuda.empty_cache()
    if values.no_peer:
        return
    from tests.gpu.diffusers_peer import peer_call, random_peer

    peer = random_peer(scale, device)
    compile_blocks(peer, scale.backend)
    for clip in scale.clips:
        peer_ms = median_ms(peer_call(scale, peer, clip), device)
        ratio = compiled_ms[clip] / peer_ms
        print(f"diffusers compiled, {tokens(clip)}: {peer_ms:.1f} ms; ours compiled is {ratio:.3f} of it", flush=True)


if __name__ == "__main__":
    main()
