"""Measure forwards of the transformer at true size with random weights, beside diffusers' class in the same run.

    python -m tests.gpu.measure_transformer [--layers 48] [--tokens 6144 24576] [--no-peer]

prints milliseconds a forward, eager and compiled block by block, and the ratio to the peer's compiled forward. One
sample, 126 audio tokens, 1,024 text tokens, bf16.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from fractions import Fraction

import torch
from diffusers import LTX2VideoTransformer3DModel

from podium.geometry import ClipFormat
from podium.models.module_weights import without_weights
from podium.models.transformer.config import StreamConfig, TransformerConfig
from podium.models.transformer.inputs import StreamInput, TokenLevels
from podium.models.transformer.model import AVTransformer
from podium.pipelines.latents import audio_positions, video_positions

# 121 frames at these sizes make 6,144 and 24,576 video tokens.
CLIPS = {6144: ClipFormat(512, 768, 121, Fraction(24)), 24576: ClipFormat(1024, 1536, 121, Fraction(24))}
NUM_TEXT_TOKENS = 1024
CUDA = torch.device("cuda:0")


def config(num_layers: int) -> TransformerConfig:
    """Return the configuration of the 2.3 checkpoints with so many blocks."""
    return TransformerConfig(
        video=StreamConfig(128, 32, 128, 4096, (20.0, 2048.0, 2048.0), has_ff_bias=True),
        audio=StreamConfig(128, 32, 64, 2048, (20.0,), has_ff_bias=True),
        num_layers=num_layers,
        caption_dim=None,
        is_gated=True,
        has_prompt_modulation=True,
        has_prompt_timestep=True,
        has_keyframe_embedding=False,
        timestep_scale=1000.0,
        gate_timestep_scale=1000.0,
        rope_theta=10000.0,
        is_rope_float64=True,
        norm_eps=1e-6,
    )


def fill(module: torch.nn.Module) -> torch.nn.Module:
    """Give a module without memory random weights on the GPU."""
    module = module.to(torch.bfloat16).to_empty(device=CUDA).eval().requires_grad_(requires_grad=False)
    for parameter in module.parameters():
        parameter.normal_(0, 0.02)
    return module


def median_ms(call: Callable[[], object], num_runs: int = 7) -> float:
    """Return the median of several runs after three that warm up."""
    times = []
    for index in range(num_runs + 3):
        torch.cuda.synchronize()
        began_s = time.perf_counter()
        call()
        torch.cuda.synchronize()
        if index >= 3:
            times.append((time.perf_counter() - began_s) * 1e3)
    return sorted(times)[len(times) // 2]


def our_call(model: AVTransformer, clip: ClipFormat) -> Callable[[], object]:
    """Return a forward of ours."""
    sigma = torch.tensor([0.725], device=CUDA)
    video, audio = model.video_ropes(video_positions(clip)), model.audio_ropes(audio_positions(clip.num_audio_latents))
    level = TokenLevels(torch.ones(1, device=CUDA), None)

    def stream(num_tokens: int, ropes: object, context_dim: int) -> StreamInput:
        return StreamInput(
            latent=torch.randn(1, num_tokens, 128, device=CUDA, dtype=torch.bfloat16),
            timesteps=level.at(sigma),
            sigma=sigma,
            context=torch.randn(1, NUM_TEXT_TOKENS, context_dim, device=CUDA, dtype=torch.bfloat16),
            rope=ropes.own,  # type: ignore[attr-defined] # `Ropes`
            cross_rope=ropes.cross,  # type: ignore[attr-defined]
        )

    inputs = stream(clip.latent_grid.num_tokens, video, 4096), stream(clip.num_audio_latents, audio, 2048)
    return lambda: model(*inputs)


def peer_call(model: LTX2VideoTransformer3DModel, clip: ClipFormat) -> Callable[[], object]:
    """Return a forward of diffusers' class."""
    grid, num_audio = clip.latent_grid, clip.num_audio_latents
    timestep = torch.full((1, grid.num_tokens), 725.0, device=CUDA)
    audio_timestep = torch.full((1, num_audio), 725.0, device=CUDA)

    def tensor(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, device=CUDA, dtype=torch.bfloat16)

    arguments = {
        "hidden_states": tensor(1, grid.num_tokens, 128),
        "audio_hidden_states": tensor(1, num_audio, 128),
        "encoder_hidden_states": tensor(1, NUM_TEXT_TOKENS, 4096),
        "audio_encoder_hidden_states": tensor(1, NUM_TEXT_TOKENS, 2048),
        "timestep": timestep,
        "audio_timestep": audio_timestep,
        "sigma": torch.tensor([725.0], device=CUDA),
        "audio_sigma": torch.tensor([725.0], device=CUDA),
        "num_frames": grid.frames,
        "height": grid.height,
        "width": grid.width,
        "fps": 24.0,
        "audio_num_frames": num_audio,
        "use_cross_timestep": True,
        "return_dict": False,
    }
    return lambda: model(**arguments)


def print_kernels(call: Callable[[], object]) -> None:
    """Print where the device's time goes."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
        call()
        torch.cuda.synchronize()
    print(profiler.key_averages().table(sort_by="cuda_time_total", row_limit=14, max_name_column_width=60), flush=True)


def compile_blocks(model: torch.nn.Module) -> None:
    """Compile every block; blocks of one shape share the code."""
    torch._dynamo.config.cache_size_limit = 64
    for block in model.transformer_blocks:  # type: ignore[union-attr] # a ModuleList
        block.compile(dynamic=False)


@torch.inference_mode()
def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", type=int, default=48)
    parser.add_argument("--tokens", type=int, nargs="*", default=list(CLIPS))
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--profile", action="store_true", help="list the kernels of our compiled forward")
    values = parser.parse_args()
    with torch.inference_mode(mode=False), torch.no_grad():
        with without_weights():
            bare = AVTransformer(config(values.layers))
        ours = fill(bare)
    figures: dict[tuple[str, int], float] = {}
    for kind in ("eager", "compiled"):
        if kind == "compiled":
            compile_blocks(ours)
        for tokens in values.tokens:
            figures["ours " + kind, tokens] = median_ms(our_call(ours, CLIPS[tokens]))  # type: ignore[arg-type]
            print(f"ours {kind}, {tokens} tokens: {figures['ours ' + kind, tokens]:.1f} ms", flush=True)
            if values.profile:
                print_kernels(our_call(ours, CLIPS[tokens]))  # type: ignore[arg-type]
    print(f"peak memory {torch.cuda.max_memory_allocated() / 1e9:.1f} GB")
    del ours, bare
    torch.cuda.empty_cache()
    if values.no_peer:
        return
    with torch.inference_mode(mode=False), torch.no_grad(), torch.device("meta"):
        peer = LTX2VideoTransformer3DModel(
            num_layers=values.layers, gated_attn=True, cross_attn_mod=True, audio_gated_attn=True,
            audio_cross_attn_mod=True, use_prompt_embeddings=False, rope_type="split",
        )  # fmt: skip
    with torch.inference_mode(mode=False), torch.no_grad():
        peer = fill(peer)
    compile_blocks(peer)
    for tokens in values.tokens:
        peer_ms = median_ms(peer_call(peer, CLIPS[tokens]))
        ratio = figures["ours compiled", tokens] / peer_ms
        print(f"diffusers compiled, {tokens} tokens: {peer_ms:.1f} ms; ours compiled is {ratio:.3f} of it", flush=True)


if __name__ == "__main__":
    main()
