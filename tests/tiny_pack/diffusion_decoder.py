"""The diffusion decoder of a tiny pack's 2.5 video VAE: four attention stages and a denoising one.

The file lies beside the one with the convolutional decoder. Encoder and latent statistics are the same in both, since
one set of latents goes with either decoder.
"""

from __future__ import annotations

import math

from tests.tiny_pack.random_source import TensorCollection
from tests.tiny_pack.traits import LATENT_CHANNELS, Config, GenerationTraits, JsonValue
from tests.tiny_pack.video_vae import video_vae_config

_PIXELS = 3 * 4 * 4
_HEAD_DIM = 16
_WIDTHS = (128, 64, 32, 32, 16)
_DEPTHS = (1, 2, 1, 1, 2)
_KERNELS = ((3, 3, 3), (3, 3, 3), (3, 3, 3), (3, 5, 5))
_DENOISING_KERNEL = (5, 7, 7)
_UPSAMPLES = (((1, 2, 2), 2), ((2, 1, 1), 2), ((2, 2, 2), 1), ((2, 2, 2), 2))
_TIMESTEP_DIM = 32
_NUM_TIMESTEP_FREQUENCIES = 256
_NUM_MODULATIONS = 7
_GATES = ("gate_msa", "gate_mlp", "gate_ctx")


def diffusion_vae_config(traits: GenerationTraits) -> Config:
    """Return the `vae` section of the file, in which each half has a section of its own."""
    flat = video_vae_config(traits)
    return {
        "_class_name": "CausalDiffusionVAE",
        "encoder": {
            "_class_name": "Encoder",
            "dims": 3,
            "in_channels": 3,
            "out_channels": LATENT_CHANNELS,
            "blocks": flat["encoder_blocks"],
            "patch_size": 4,
            "latent_log_var": "uniform",
            "norm_layer": "pixel_norm",
            "spatial_padding_mode": flat["spatial_padding_mode"],
        },
        "decoder": {
            "_class_name": "NADiffusionDecoder",
            "in_channels": LATENT_CHANNELS,
            "out_channels": 3,
            "patch_size": 4,
            "head_dim": _HEAD_DIM,
            "stage_channels": list(_WIDTHS),
            "stage_depths": list(_DEPTHS),
            "stage_kernels": [_numbers(kernel) for kernel in (*_KERNELS, _DENOISING_KERNEL)],
            "upsamples": [[_numbers(stride), reduction] for stride, reduction in _UPSAMPLES],
            "stage5_kernel": _numbers(_DENOISING_KERNEL),
            "t_emb_dim": _TIMESTEP_DIM,
            "spatial_padding_mode": "zeros",
            "resampler_kind": "linear",
            "timestep_scale_multiplier": 1000.0,
            "default_num_inference_steps": 1,
        },
        "model_output_type": "x0",
    }


def add_diffusion_decoder(collection: TensorCollection, prefix: str) -> None:
    """Add the decoder with its gates, and the tensors that published files carry though no decoder reads them."""
    collection.linear(f"{prefix}conv_in", _WIDTHS[0], LATENT_CHANNELS)
    for stage, (stride, reduction) in enumerate(_UPSAMPLES):
        width = _WIDTHS[stage]
        for index in range(_DEPTHS[stage]):
            _add_block(collection, f"{prefix}det_stages.{stage}.{index}", width)
        collection.linear(f"{prefix}upsamples.{stage}.proj", math.prod(stride) * width // reduction, width)
    _add_denoising_stage(collection, prefix)
    collection.normal(f"{prefix}type_emb", (_WIDTHS[0],), 1.0)
    collection.linear(f"{prefix}coarse_conv_out", _PIXELS, _WIDTHS[0])


def _add_denoising_stage(collection: TensorCollection, prefix: str) -> None:
    width = _WIDTHS[-1]
    collection.linear(f"{prefix}t_embedder.mlp.0", _TIMESTEP_DIM, _NUM_TIMESTEP_FREQUENCIES)
    collection.linear(f"{prefix}t_embedder.mlp.2", _TIMESTEP_DIM, _TIMESTEP_DIM)
    collection.linear(f"{prefix}conv_in_x_t", width, _PIXELS)
    collection.linear(f"{prefix}shared_adaln.proj", _NUM_MODULATIONS * width, _TIMESTEP_DIM, gain=0.5)
    for index in range(_DEPTHS[-1]):
        name = f"{prefix}diff_blocks.{index}"
        _add_block(collection, name, width)
        collection.linear(f"{name}.context_proj", width, width)
        collection.normal(f"{name}.scale_shift_table", (_NUM_MODULATIONS, width), 0.2)
        for gate in _GATES:
            collection.normal(f"{name}.{gate}", (width,), 0.2, 1.0)
    collection.norm_weight(f"{prefix}norm_out.weight", width)
    collection.linear(f"{prefix}conv_out", _PIXELS, width, gain=0.4)


def _add_block(collection: TensorCollection, name: str, width: int) -> None:
    hidden = 4 * width
    collection.norm_weight(f"{name}.norm1.weight", width)
    collection.norm_weight(f"{name}.norm2.weight", width)
    collection.linear(f"{name}.attn.qkv", 3 * width, width)
    collection.linear(f"{name}.attn.proj", width, width)
    # The scores of a head of 16 numbers are spread by these, so that no window is read evenly.
    for norm in ("q_norm", "k_norm"):
        collection.normal(f"{name}.attn.{norm}.weight", (_HEAD_DIM,), 0.2, 1.1)
    collection.linear(f"{name}.mlp.w_up", hidden, width, has_bias=False)
    collection.linear(f"{name}.mlp.w_gate", hidden, width, has_bias=False)
    collection.linear(f"{name}.mlp.w_down", width, hidden, has_bias=False, gain=1.4)


def _numbers(values: tuple[int, ...]) -> JsonValue:
    return list(values)
