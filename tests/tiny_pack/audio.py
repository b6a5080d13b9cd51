"""The audio VAE of a tiny pack. Its width is fixed at 128 by the latent statistics, so it is the largest part."""

from __future__ import annotations

from tests.tiny_pack.random_source import TensorCollection
from tests.tiny_pack.traits import LATENT_CHANNELS, Config

_KERNEL = (3, 3)
_NUM_CHANNELS = LATENT_CHANNELS
_WIDTH_FACTORS = (1, 1, 2)
_LATENT_CHANNELS = 8
_STEREO = 2
_NUM_RESIDUALS = 1


def audio_vae_config() -> Config:
    """Return the `audio_vae` section of the checkpoint's config."""
    return {
        "model": {
            "params": {
                "sampling_rate": 16000,
                "ddconfig": {
                    "double_z": True,
                    "mel_bins": 64,
                    "z_channels": _LATENT_CHANNELS,
                    "resolution": 256,
                    "downsample_time": False,
                    "in_channels": _STEREO,
                    "out_ch": _STEREO,
                    "ch": _NUM_CHANNELS,
                    "ch_mult": list(_WIDTH_FACTORS),
                    "num_res_blocks": _NUM_RESIDUALS,
                    "attn_resolutions": [],
                    "dropout": 0.0,
                    "mid_block_add_attention": False,
                    "norm_type": "pixel",
                    "causality_axis": "height",
                },
            }
        },
        "preprocessing": {
            "audio": {"sampling_rate": 16000, "max_wav_value": 32768.0, "duration": 10.24, "stereo": True},
            "stft": {"filter_length": 1024, "hop_length": 160, "win_length": 1024, "causal": True},
            "mel": {"n_mel_channels": 64, "mel_fmin": 0, "mel_fmax": 8000},
        },
    }


def add_audio_vae(collection: TensorCollection) -> None:
    """Add encoder, decoder and latent statistics."""
    _add_encoder(collection, "audio_vae.encoder.")
    _add_decoder(collection, "audio_vae.decoder.")
    collection.latent_statistics("audio_vae.per_channel_statistics", _NUM_CHANNELS)


def _add_encoder(collection: TensorCollection, prefix: str) -> None:
    widths = _widths()
    collection.conv(f"{prefix}conv_in.conv", _NUM_CHANNELS, _STEREO, _KERNEL)
    channels = _NUM_CHANNELS
    for level, width in enumerate(widths):
        for index in range(_NUM_RESIDUALS):
            _add_residual(collection, f"{prefix}down.{level}.block.{index}", channels, width)
            channels = width
        if level != len(widths) - 1:
            collection.conv(f"{prefix}down.{level}.downsample.conv", channels, channels, _KERNEL)
    _add_middle(collection, prefix, channels)
    collection.conv(f"{prefix}conv_out.conv", 2 * _LATENT_CHANNELS, channels, _KERNEL)


def _add_decoder(collection: TensorCollection, prefix: str) -> None:
    widths = _widths()
    channels = widths[-1]
    collection.conv(f"{prefix}conv_in.conv", channels, _LATENT_CHANNELS, _KERNEL)
    _add_middle(collection, prefix, channels)
    for level in reversed(range(len(widths))):
        for index in range(_NUM_RESIDUALS + 1):
            _add_residual(collection, f"{prefix}up.{level}.block.{index}", channels, widths[level])
            channels = widths[level]
        if level:
            collection.conv(f"{prefix}up.{level}.upsample.conv.conv", channels, channels, _KERNEL)
    collection.conv(f"{prefix}conv_out.conv", _STEREO, channels, _KERNEL)


def _widths() -> tuple[int, ...]:
    return tuple(_NUM_CHANNELS * factor for factor in _WIDTH_FACTORS)


def _add_middle(collection: TensorCollection, prefix: str, channels: int) -> None:
    for block in ("block_1", "block_2"):
        _add_residual(collection, f"{prefix}mid.{block}", channels, channels)


def _add_residual(collection: TensorCollection, name: str, num_in: int, num_out: int) -> None:
    collection.conv(f"{name}.conv1.conv", num_out, num_in, _KERNEL, gain=1.4)
    collection.conv(f"{name}.conv2.conv", num_out, num_out, _KERNEL, gain=1.4)
    if num_in != num_out:
        collection.conv(f"{name}.nin_shortcut.conv", num_out, num_in, (1, 1))
