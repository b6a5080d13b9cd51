"""The vocoder of a tiny pack: one generator in 2.0, a generator and a bandwidth extender from 2.3 on."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.tiny_pack.random_source import TensorCollection
from tests.tiny_pack.traits import Config, GenerationTraits

_KERNELS = (3, 7, 11)
_NUM_DILATIONS = 3
_NUM_FFT = 512
_NUM_MELS = 64
_EXTENDER_RATE_HZ = 16000


@dataclass(frozen=True, slots=True)
class _Generator:
    """One upsampling generator.

    Args:
        rates: Upsampling factor of each stage.
        kernels: Kernel size of each stage.
        num_channels: Channels before the first stage; each stage halves them.
        is_amp: Snake activations with anti-alias filters, and no bias at the end.
        end_gain: Gain of the last convolution, so that the waveform stays off its clamp.
    """

    rates: tuple[int, ...]
    kernels: tuple[int, ...]
    num_channels: int
    is_amp: bool
    end_gain: float

    def config(self) -> Config:
        """Return this generator's own section of the config."""
        amp: Config = {
            "resblock": "AMP1",
            "activation": "snakebeta",
            "use_tanh_at_final": False,
            "use_bias_at_final": False,
        }
        return {
            "resblock_kernel_sizes": list(_KERNELS),
            "resblock_dilation_sizes": [[1, 3, 5] for _ in _KERNELS],
            "stereo": True,
            **(amp if self.is_amp else {"resblock": "1"}),
            "upsample_rates": list(self.rates),
            "upsample_kernel_sizes": list(self.kernels),
            "upsample_initial_channel": self.num_channels,
        }


_PLAIN = _Generator((6, 5, 2, 2, 2), (16, 15, 8, 4, 4), 64, is_amp=False, end_gain=3.0)
_BASE = _Generator((5, 2, 2, 2, 2, 2), (11, 4, 4, 4, 4, 4), 128, is_amp=True, end_gain=0.1)
_EXTENDER = _Generator((6, 5, 2, 2, 2), (12, 11, 4, 4, 4), 64, is_amp=True, end_gain=0.03)


def vocoder_config(traits: GenerationTraits) -> Config:
    """Return the `vocoder` section of the checkpoint's config: flat in 2.0, nested from 2.3 on."""
    if not traits.has_gates:
        return _PLAIN.config() | {"output_sampling_rate": 24000}
    return {
        "vocoder": _BASE.config(),
        "bwe": {
            **_EXTENDER.config(),
            "apply_final_activation": False,
            "input_sampling_rate": _EXTENDER_RATE_HZ,
            "output_sampling_rate": 48000,
            "hop_length": 80,
            "n_fft": _NUM_FFT,
            "win_size": _NUM_FFT,
            "num_mels": _NUM_MELS,
        },
    }


def add_vocoder(collection: TensorCollection, traits: GenerationTraits) -> None:
    """Add the generators and, from 2.3 on, the extender's Fourier and mel matrices."""
    if not traits.has_gates:
        _add_generator(collection, _PLAIN, "vocoder.")
        return
    _add_generator(collection, _BASE, "vocoder.vocoder.")
    _add_generator(collection, _EXTENDER, "vocoder.bwe_generator.")
    basis = _fourier_basis()
    collection.put("vocoder.mel_stft.stft_fn.forward_basis", basis)
    collection.put("vocoder.mel_stft.stft_fn.inverse_basis", basis / _NUM_FFT)
    collection.put("vocoder.mel_stft.mel_basis", _mel_filters())


def _add_generator(collection: TensorCollection, generator: _Generator, prefix: str) -> None:
    channels = generator.num_channels
    collection.conv(f"{prefix}conv_pre", channels, 128, (7,), gain=0.5)
    for stage, (rate, kernel) in enumerate(zip(generator.rates, generator.kernels, strict=True)):
        collection.conv_transpose(f"{prefix}ups.{stage}", channels, channels // 2, kernel=kernel, stride=rate)
        channels //= 2
        for index, size in enumerate(_KERNELS):
            name = f"{prefix}resblocks.{stage * len(_KERNELS) + index}"
            _add_residual(collection, name, channels, size, is_amp=generator.is_amp)
    if generator.is_amp:
        _add_activation(collection, f"{prefix}act_post", channels)
    collection.conv(f"{prefix}conv_post", 2, channels, (7,), has_bias=not generator.is_amp, gain=generator.end_gain)


def _add_residual(collection: TensorCollection, name: str, channels: int, kernel: int, *, is_amp: bool) -> None:
    for group in (1, 2):
        for index in range(_NUM_DILATIONS):
            collection.conv(f"{name}.convs{group}.{index}", channels, channels, (kernel,), gain=0.7)
            if is_amp:
                _add_activation(collection, f"{name}.acts{group}.{index}", channels)


def _add_activation(collection: TensorCollection, name: str, channels: int) -> None:
    collection.normal(f"{name}.act.alpha", (channels,), 0.1)
    collection.normal(f"{name}.act.beta", (channels,), 0.1)
    collection.put(f"{name}.upsample.filter", _anti_alias_filter())
    collection.put(f"{name}.downsample.lowpass.filter", _anti_alias_filter())


def _anti_alias_filter() -> NDArray[np.float64]:
    """Return the fixed filter [1, 1, 12] of the snake blocks: a Kaiser-windowed sinc with unit gain at zero.

    Source: Kaiser's design formula for a half-width of 0.3 and a cutoff of a quarter of the rate.
    """
    num_taps, cutoff, half_width = 12, 0.25, 0.3
    attenuation = 2.285 * (num_taps // 2 - 1) * math.pi * 4 * half_width + 7.95
    beta = 0.1102 * (attenuation - 8.7)  # the formula's branch for more than 50 dB
    time = np.arange(-(num_taps // 2), num_taps // 2) + 0.5
    taps = 2 * cutoff * np.kaiser(num_taps, beta) * np.sinc(2 * cutoff * time)
    weights: NDArray[np.float64] = taps / taps.sum()
    return weights.reshape(1, 1, num_taps)


def _fourier_basis() -> NDArray[np.float64]:
    """Return the Hann-windowed cosines and sines [bins * 2, 1, samples] of a short-time Fourier transform."""
    bins, samples = np.arange(_NUM_FFT // 2 + 1)[:, None], np.arange(_NUM_FFT)[None]
    window = 0.5 - 0.5 * np.cos(2 * np.pi * samples / _NUM_FFT)
    angle = 2 * np.pi * bins * samples / _NUM_FFT
    return np.concatenate([np.cos(angle) * window, -np.sin(angle) * window])[:, None, :]


def _mel_filters() -> NDArray[np.float64]:
    """Return triangular mel filters [mels, bins] of equal area (Slaney's scale: linear to 1 kHz, then log)."""
    nyquist_hz = _EXTENDER_RATE_HZ / 2
    edges = _mel_to_hz(np.linspace(_hz_to_mel(np.array(0.0)), _hz_to_mel(np.array(nyquist_hz)), _NUM_MELS + 2))
    bins = np.linspace(0, nyquist_hz, _NUM_FFT // 2 + 1)
    rising = (bins[None] - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - bins[None]) / (edges[2:] - edges[1:-1])[:, None]
    return np.maximum(0.0, np.minimum(rising, falling)) * (2.0 / (edges[2:] - edges[:-2]))[:, None]


def _hz_to_mel(hz: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(hz < 1000.0, hz / (200.0 / 3), 15.0 + 27.0 * np.log(np.maximum(hz, 1e-9) / 1000.0) / np.log(6.4))


def _mel_to_hz(mel: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(mel < 15.0, mel * (200.0 / 3), 1000.0 * np.exp(np.log(6.4) / 27.0 * (mel - 15.0)))
