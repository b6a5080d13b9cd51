"""From the configuration in a checkpoint's header to constructor arguments of diffusers' classes. No torch.

A caller must know: sections are plain JSON objects, and whatever is wrong in them is a `CheckpointError` that names the
key. The video decoder's lists are given in the order of diffusers, which differs between arguments (see there).

Source: keys and their defaults as in the released LTX-2.0, 2.3 and 2.5 files.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from podium.models.errors import CheckpointError, CheckpointReason

JsonObject = Mapping[str, Any]
Arguments = dict[str, Any]

_ENCODER_STRIDES = {
    "compress_space_res": "spatial",
    "compress_time_res": "temporal",
    "compress_all_res": "spatiotemporal",
}
_DECODER_STRIDES = {"compress_space": "spatial", "compress_time": "temporal", "compress_all": "spatiotemporal"}
# Source: the original, which does not ask the configuration.
_NUM_REGISTERS = 128


def metadata_config(path: Path, metadata: Mapping[str, str]) -> JsonObject:
    """Return the configuration that a checkpoint's header carries as JSON text.

    Raises:
        CheckpointError: There is none, or it is no JSON object.
    """
    text = metadata.get("config")
    if text is None:
        raise CheckpointError(
            f"“{path.name}” does not say how its networks are built, so it cannot be loaded. "
            "Files as published by Lightricks carry that description.",
            path=path,
            reason=CheckpointReason.WRONG_KIND,
            details="the safetensors metadata has no key 'config'",
        )
    try:
        config = json.loads(text)
    except ValueError as error:
        raise _broken(path, f"metadata 'config' is no JSON: {error}") from error
    if not isinstance(config, dict):
        raise _broken(path, "metadata 'config' is no JSON object")
    return config


def config_section(path: Path, config: JsonObject, *names: str) -> JsonObject:
    """Return a section of the configuration, by its names from the outside in.

    Raises:
        CheckpointError: It is not there.
    """
    section: Any = config
    for name in names:
        if not isinstance(section, Mapping) or not isinstance(section.get(name), Mapping):
            raise _broken(path, f"config has no section {'.'.join(names)!r}")
        section = section[name]
    result: JsonObject = section
    return result


@contextmanager
def reading_config(path: Path, section: str) -> Iterator[None]:
    """Turn what goes wrong while a section is read into a `CheckpointError` that names file and section."""
    try:
        yield
    except KeyError as missing:
        raise _broken(path, f"config.{section} lacks the key {missing}") from missing
    except (TypeError, ValueError, IndexError) as error:
        raise _broken(path, f"config.{section}: {error}") from error


def flat_video_vae(vae: JsonObject) -> JsonObject:
    """Return a `vae` section whose encoder is described at its top level, as files with the convolutional decoder do.

    Files with the diffusion decoder describe each half in a section of its own, in which the encoder has other names.

    Raises:
        KeyError, TypeError: The encoder's section lacks something.
    """
    if "encoder" not in vae:
        return vae
    encoder = vae["encoder"]
    kept = ("in_channels", "patch_size", "spatial_padding_mode")
    return {
        "latent_channels": encoder["out_channels"],
        "encoder_blocks": encoder["blocks"],
        **{name: encoder[name] for name in kept if name in encoder},
    }


def video_encoder_arguments(vae: JsonObject) -> Arguments:
    """Return the arguments of `LTX2VideoEncoder3d` for a `vae` section.

    Raises:
        KeyError, ValueError: A size is missing, or a block is of an unknown kind.
    """
    channels = vae["latent_channels"]
    widths, strides = [], []
    for kind, options in vae["encoder_blocks"][1::2]:
        channels *= options.get("multiplier", 2)
        widths.append(channels)
        strides.append(_stride(_ENCODER_STRIDES, kind))
    return {
        "in_channels": vae.get("in_channels", 3),
        "out_channels": vae["latent_channels"],
        "block_out_channels": tuple(widths),
        "down_block_types": ("LTX2VideoDownBlock3D",) * len(widths),
        "spatio_temporal_scaling": (True,) * len(widths),
        "layers_per_block": _layers(vae["encoder_blocks"]),
        "downsample_type": tuple(strides),
        "patch_size": vae.get("patch_size", 4),
        "is_causal": True,
        # Without the key the halves differ: the encoder pads with zeros, the decoder reflects.
        "spatial_padding_mode": vae.get("spatial_padding_mode", "zeros"),
    }


def video_decoder_arguments(vae: JsonObject) -> Arguments:
    """Return the arguments of `LTX2VideoDecoder3d` for a `vae` section.

    The section lists blocks from the picture's side to the latent's; diffusers takes widths, layers, residuals and
    factors in that order too, and the stride kinds in the order they run.

    Raises:
        KeyError, ValueError: A size is missing, or a block is of an unknown kind.
    """
    growing = vae["decoder_blocks"][1::2]
    channels = vae["decoder_base_channels"]
    widths = []
    for _, options in growing:
        channels *= options.get("multiplier", 1)
        widths.append(channels)
    return {
        "in_channels": vae["latent_channels"],
        "out_channels": vae.get("out_channels", 3),
        "block_out_channels": tuple(widths),
        "spatio_temporal_scaling": (True,) * len(widths),
        "layers_per_block": _layers(vae["decoder_blocks"]),
        "upsample_type": tuple(_stride(_DECODER_STRIDES, kind) for kind, _ in reversed(growing)),
        "patch_size": vae.get("patch_size", 4),
        "is_causal": bool(vae.get("causal_decoder", False)),
        "inject_noise": tuple(bool(options.get("inject_noise", False)) for _, options in vae["decoder_blocks"][::2]),
        "timestep_conditioning": bool(vae.get("timestep_conditioning", False)),
        "upsample_residual": tuple(bool(options.get("residual", False)) for _, options in growing),
        "upsample_factor": tuple(options.get("multiplier", 1) for _, options in growing),
        "spatial_padding_mode": vae.get("spatial_padding_mode", "reflect"),
    }


def audio_vae_arguments(audio_vae: JsonObject) -> Arguments:
    """Return the arguments that `LTX2AudioEncoder` and `LTX2AudioDecoder` share for an `audio_vae` section.

    Raises:
        KeyError: A size is missing.
    """
    sizes = audio_vae["model"]["params"]["ddconfig"]
    preprocessing = audio_vae.get("preprocessing", {})
    return {
        "base_channels": sizes["ch"],
        "output_channels": sizes["out_ch"],
        "num_res_blocks": sizes["num_res_blocks"],
        "attn_resolutions": set(sizes.get("attn_resolutions") or ()) or None,
        "in_channels": sizes["in_channels"],
        "resolution": sizes["resolution"],
        "latent_channels": sizes["z_channels"],
        "ch_mult": tuple(sizes["ch_mult"]),
        "norm_type": sizes.get("norm_type", "pixel"),
        "causality_axis": sizes.get("causality_axis", "height"),
        "mid_block_add_attention": bool(sizes.get("mid_block_add_attention", False)),
        "sample_rate": audio_vae["model"]["params"].get("sampling_rate", 16000),
        "mel_hop_length": preprocessing.get("stft", {}).get("hop_length", 160),
        "is_causal": bool(preprocessing.get("stft", {}).get("causal", True)),
        "mel_bins": sizes.get("mel_bins") or preprocessing["mel"]["n_mel_channels"],
    }


def vocoder_has_bandwidth_extension(vocoder: JsonObject) -> bool:
    """Say whether a `vocoder` section describes the pair of generators of 2.3 and later, or the single one of 2.0."""
    return "bwe" in vocoder


def vocoder_arguments(vocoder: JsonObject) -> Arguments:
    """Return the arguments of `LTX2Vocoder` for a `vocoder` section of one generator.

    Raises:
        KeyError: A size is missing.
    """
    is_amp = vocoder.get("resblock", "1") == "AMP1"
    return {
        "in_channels": 128,
        "hidden_channels": vocoder["upsample_initial_channel"],
        "out_channels": 2 if vocoder.get("stereo", True) else 1,
        "upsample_kernel_sizes": list(vocoder["upsample_kernel_sizes"]),
        "upsample_factors": list(vocoder["upsample_rates"]),
        "resnet_kernel_sizes": list(vocoder["resblock_kernel_sizes"]),
        "resnet_dilations": [list(dilations) for dilations in vocoder["resblock_dilation_sizes"]],
        "act_fn": vocoder.get("activation", "snakebeta") if is_amp else "leaky_relu",
        "antialias": is_amp,
        "final_act_fn": _final_activation(vocoder),
        "final_bias": bool(vocoder.get("use_bias_at_final", True)),
        "output_sampling_rate": vocoder.get("output_sampling_rate", 24000),
    }


def extended_vocoder_arguments(vocoder: JsonObject) -> Arguments:
    """Return the arguments of `LTX2VocoderWithBWE` for a `vocoder` section of two generators.

    Raises:
        KeyError: A size is missing.
    """
    bwe = vocoder["bwe"]
    base, extender = vocoder_arguments(vocoder["vocoder"]), vocoder_arguments(bwe)
    for arguments in (base, extender):
        del arguments["output_sampling_rate"]
    # The sum of both is what is cut; the extender alone ends without an activation, whatever its section says.
    extender["final_act_fn"] = None
    return {
        **base,
        **{f"bwe_{name}": value for name, value in extender.items()},
        "bwe_in_channels": 2 * bwe["num_mels"],
        "filter_length": bwe["n_fft"],
        "hop_length": bwe["hop_length"],
        "window_length": bwe.get("win_size", bwe["n_fft"]),
        "num_mel_channels": bwe["num_mels"],
        "input_sampling_rate": bwe["input_sampling_rate"],
        "output_sampling_rate": bwe["output_sampling_rate"],
    }


def upsampler_arguments(config: JsonObject) -> Arguments:
    """Return the arguments of `LTX2LatentUpsamplerModel` for an upscaler's whole configuration.

    Raises:
        KeyError: A size is missing.
    """
    return {
        "in_channels": config["in_channels"],
        "mid_channels": config["mid_channels"],
        "num_blocks_per_stage": config["num_blocks_per_stage"],
        "dims": config.get("dims", 3),
        "spatial_upsample": bool(config.get("spatial_upsample", True)),
        "temporal_upsample": bool(config.get("temporal_upsample", False)),
        "rational_spatial_scale": float(config.get("spatial_scale", 2.0)),
        "use_rational_resampler": bool(config.get("rational_resampler", False)),
    }


def connector_arguments(transformer: JsonObject, modality: str) -> Arguments:
    """Return the arguments of `LTX2ConnectorTransformer1d` for a `transformer` section.

    Args:
        transformer: The section.
        modality: "video" or "audio"; the audio connector's own sizes fall back to the video ones (2.0).

    Raises:
        KeyError, ValueError: A size is missing, or biases are left out of the connectors, which no class offers.
    """
    if not transformer.get("connector_ff_bias", True):
        raise ValueError("connector_ff_bias is false, which no published checkpoint is known to use")

    def size(name: str) -> int:
        own = f"audio_connector_{name}" if modality == "audio" else f"connector_{name}"
        number: int = transformer.get(own, transformer[f"connector_{name}"])
        return number

    return {
        "num_attention_heads": size("num_attention_heads"),
        "attention_head_dim": size("attention_head_dim"),
        "num_layers": size("num_layers"),
        "num_learnable_registers": _NUM_REGISTERS,
        "rope_base_seq_len": transformer.get("connector_positional_embedding_max_pos", [1])[0],
        "rope_theta": float(transformer.get("positional_embedding_theta", 10000.0)),
        "rope_double_precision": transformer.get("frequencies_precision") == "float64",
        "rope_type": transformer.get("rope_type", "split"),
        "gated_attention": bool(transformer.get("connector_apply_gated_attention", False)),
    }


def projects_per_modality(transformer: JsonObject) -> bool:
    """Say whether text features are projected for each stream apart (2.3 and later) or once for both (2.0)."""
    return bool(transformer.get("caption_proj_before_connector", False))


def normalises_per_token(transformer: JsonObject) -> bool:
    """Say whether hidden states are normalised by token (2.3 and later) or by prompt and layer (2.0).

    Raises:
        ValueError: The section asks for a norm that no released model uses.
    """
    norm = transformer.get("text_encoder_norm_type")
    if norm is not None and str(norm).lower() != "per_token_rms":
        raise ValueError(f"text_encoder_norm_type is {norm!r}; 'per_token_rms' is known")
    return norm is not None or projects_per_modality(transformer)


def scale_of_features(width: int, hidden_size: int) -> float:
    """Return the factor on normalised hidden states before they are projected to `width`."""
    return math.sqrt(width / hidden_size)


def _layers(blocks: Sequence[Any]) -> tuple[int, ...]:
    for kind, _ in blocks[::2]:
        if kind != "res_x":
            raise ValueError(f"block {kind!r} where 'res_x' is expected")
    return tuple(options["num_layers"] for _, options in blocks[::2])


def _stride(strides: Mapping[str, str], kind: str) -> str:
    if kind not in strides:
        raise ValueError(f"block {kind!r} is not one of {', '.join(strides)}")
    return strides[kind]


def _final_activation(vocoder: JsonObject) -> str | None:
    if not vocoder.get("apply_final_activation", True):
        return None
    return "tanh" if vocoder.get("use_tanh_at_final", True) else "clamp"


def _broken(path: Path, details: str) -> CheckpointError:
    return CheckpointError(
        f"The description of the networks inside “{path.name}” is not that of an LTX-2 model.",
        path=path,
        reason=CheckpointReason.WRONG_KIND,
        details=details,
    )
