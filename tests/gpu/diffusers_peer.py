"""diffusers' class of the transformer with random weights: what ours is measured beside, in the same run."""

from __future__ import annotations

from collections.abc import Callable

import torch
from diffusers import LTX2VideoTransformer3DModel
from torch import nn

from podium.geometry import ClipFormat

from tests.gpu.random_model import DTYPE, Scale


def random_peer(scale: Scale, device: torch.device) -> nn.Module:
    """Return the module; weights are made outside inference mode."""
    config = scale.config
    sizes = {} if scale.num_heads == 32 else {
        "num_attention_heads": scale.num_heads,
        "attention_head_dim": scale.head_dim,
        "cross_attention_dim": config.video.context_dim,
        "audio_num_attention_heads": scale.num_heads,
        "audio_attention_head_dim": scale.audio_head_dim,
        "audio_cross_attention_dim": config.audio.context_dim,
    }  # fmt: skip
    with torch.inference_mode(mode=False), torch.no_grad():
        with torch.device("meta"):
            peer: nn.Module = LTX2VideoTransformer3DModel(  # type: ignore[no-untyped-call, assignment] # it has no types
                num_layers=scale.num_layers, gated_attn=True, cross_attn_mod=True, audio_gated_attn=True,
                audio_cross_attn_mod=True, use_prompt_embeddings=False, rope_type="split", **sizes,
            )  # fmt: skip
        peer = peer.to(DTYPE).to_empty(device=device).eval().requires_grad_(requires_grad=False)
        for parameter in peer.parameters():
            parameter.normal_(0, 0.02)
    return peer


def peer_call(scale: Scale, peer: nn.Module, clip: ClipFormat) -> Callable[[], object]:
    """Return a forward of random input."""
    grid, num_audio, config = clip.latent_grid, clip.num_audio_latents, scale.config
    device = next(peer.parameters()).device

    def tensor(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, device=device, dtype=DTYPE)

    arguments = {
        "hidden_states": tensor(1, grid.num_tokens, 128),
        "audio_hidden_states": tensor(1, num_audio, 128),
        "encoder_hidden_states": tensor(1, scale.num_text_tokens, config.video.context_dim),
        "audio_encoder_hidden_states": tensor(1, scale.num_text_tokens, config.audio.context_dim),
        "timestep": torch.full((1, grid.num_tokens), 725.0, device=device),
        "audio_timestep": torch.full((1, num_audio), 725.0, device=device),
        "sigma": torch.tensor([725.0], device=device),
        "audio_sigma": torch.tensor([725.0], device=device),
        "num_frames": grid.frames,
        "height": grid.height,
        "width": grid.width,
        "fps": 24.0,
        "audio_num_frames": num_audio,
        "use_cross_timestep": True,
        "return_dict": False,
    }
    return lambda: peer(**arguments)
