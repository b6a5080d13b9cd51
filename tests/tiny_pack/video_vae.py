"""The convolutional video VAE of a tiny pack: 32 x 32 x 8, one residual layer a stage."""

from __future__ import annotations

from dataclasses import dataclass

from tests.tiny_pack.random_source import TensorCollection
from tests.tiny_pack.traits import KERNEL_3D, LATENT_CHANNELS, Config, GenerationTraits, JsonValue

_PATCH_CHANNELS = 3 * 4 * 4
_DECODER_CHANNELS = 8
# How many cells a compressing block folds into one.
_FOLD = {"compress_space": 4, "compress_time": 2, "compress_all": 8}


@dataclass(frozen=True, slots=True)
class _Stage:
    """A compressing block; a residual block stands before the first and after each."""

    kind: str
    multiplier: int

    @property
    def fold(self) -> int:
        return _FOLD[self.kind.removesuffix("_res")]


_ENCODER = tuple(
    _Stage(kind, 1) for kind in ("compress_space_res", "compress_time_res", "compress_all_res", "compress_all_res")
)
_DECODER_2_0 = (_Stage("compress_all", 2),) * 3
_DECODER = (
    _Stage("compress_space", 2),
    _Stage("compress_time", 2),
    _Stage("compress_all", 1),
    _Stage("compress_all", 2),
)


def video_vae_config(traits: GenerationTraits) -> Config:
    """Return the `vae` section of the checkpoint's config."""
    is_2_0 = not traits.has_gates
    config: Config = {
        "_class_name": "CausalVideoAutoencoder",
        "dims": 3,
        "in_channels": 3,
        "out_channels": 3,
        "latent_channels": LATENT_CHANNELS,
        "encoder_blocks": _block_list(_ENCODER, {}, {}),
        "decoder_blocks": _block_list(
            _decoder_stages(traits), {"inject_noise": False} if is_2_0 else {}, {"residual": True} if is_2_0 else {}
        ),
        "scaling_factor": 1.0,
        "norm_layer": "pixel_norm",
        "patch_size": 4,
        "latent_log_var": "uniform",
        "use_quant_conv": False,
        "causal_decoder": False,
        "timestep_conditioning": False,
        "normalize_latent_channels": False,
        "encoder_base_channels": LATENT_CHANNELS,
        "decoder_base_channels": _DECODER_CHANNELS,
    }
    if not is_2_0:
        # 2.0 files carry no padding key, and their encoder and decoder then pad differently.
        config["spatial_padding_mode"] = "zeros"
    return config


def add_video_vae(collection: TensorCollection, traits: GenerationTraits, prefix: str) -> None:
    """Add encoder, decoder and latent statistics; `prefix` is "vae." in a monolith and empty in a split file."""
    add_video_encoder(collection, prefix)
    _add_decoder(collection, _decoder_stages(traits), f"{prefix}decoder.")


def add_video_encoder(collection: TensorCollection, prefix: str) -> None:
    """Add encoder and latent statistics."""
    _add_encoder(collection, f"{prefix}encoder.")
    collection.latent_statistics(f"{prefix}per_channel_statistics", LATENT_CHANNELS)


def _decoder_stages(traits: GenerationTraits) -> tuple[_Stage, ...]:
    return _DECODER if traits.has_gates else _DECODER_2_0


def _block_list(stages: tuple[_Stage, ...], residual_extra: Config, stage_extra: Config) -> JsonValue:
    residual: list[JsonValue] = ["res_x", {"num_layers": 1, **residual_extra}]
    blocks: list[JsonValue] = [residual]
    for stage in stages:
        blocks += [[stage.kind, {**stage_extra, "multiplier": stage.multiplier}], residual]
    return blocks


def _add_encoder(collection: TensorCollection, prefix: str) -> None:
    channels = LATENT_CHANNELS
    collection.conv(f"{prefix}conv_in.conv", channels, _PATCH_CHANNELS, KERNEL_3D)
    _add_residual(collection, f"{prefix}down_blocks.0", channels)
    for index, stage in enumerate(_ENCODER):
        out = channels * stage.multiplier
        collection.conv(f"{prefix}down_blocks.{2 * index + 1}.conv.conv", out // stage.fold, channels, KERNEL_3D)
        channels = out
        _add_residual(collection, f"{prefix}down_blocks.{2 * index + 2}", channels)
    collection.conv(f"{prefix}conv_out.conv", LATENT_CHANNELS + 1, channels, KERNEL_3D)


def _add_decoder(collection: TensorCollection, stages: tuple[_Stage, ...], prefix: str) -> None:
    channels = _DECODER_CHANNELS
    for stage in stages:
        channels *= stage.multiplier
    collection.conv(f"{prefix}conv_in.conv", channels, LATENT_CHANNELS, KERNEL_3D)
    _add_residual(collection, f"{prefix}up_blocks.0", channels)
    # The config lists the decoder from its output back; the file numbers it from its input.
    for index, stage in enumerate(reversed(stages)):
        out = channels // stage.multiplier
        collection.conv(f"{prefix}up_blocks.{2 * index + 1}.conv.conv", out * stage.fold, channels, KERNEL_3D)
        channels = out
        _add_residual(collection, f"{prefix}up_blocks.{2 * index + 2}", channels)
    collection.conv(f"{prefix}conv_out.conv", _PATCH_CHANNELS, channels, KERNEL_3D, gain=0.6)


def _add_residual(collection: TensorCollection, name: str, channels: int) -> None:
    for index in (1, 2):
        collection.conv(f"{name}.res_blocks.0.conv{index}.conv", channels, channels, KERNEL_3D, gain=1.4)
