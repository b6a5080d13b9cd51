"""The decoders: from latents to frames in order, and to sound."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from podium.models.audio import AudioDecoder as AudioVAEDecoder
from podium.models.audio import Vocoder
from podium.pipelines.blocks.placement import Placement
from podium.pipelines.blocks.slots import BuilderSlot, FrameDecoder
from podium.pipelines.events import FramesDecoded, SoundDecoded, Trace

# Frames an event carries: few enough that writing them begins early and that a boundary comes often.
FRAMES_PER_EVENT = 8


class VideoDecoder:
    """Decodes the picture.

    Args:
        decoder_builder: The slot that multi-GPU builders are put into.
        placement: Where it runs.
    """

    def __init__(self, decoder_builder: BuilderSlot[FrameDecoder], placement: Placement) -> None:
        self.decoder_builder = decoder_builder
        self.placement = placement

    def stream(self, latent_BCFHW: Tensor, trace: Trace | None = None) -> Iterator[FramesDecoded]:
        """Yield the frames of a normalised latent [1, 128, F, H, W], in order."""
        pixels_CFHW = self._decode(latent_BCFHW)
        if trace is not None:
            trace("decoded.video", _to_frames(pixels_CFHW))
        for first in range(0, pixels_CFHW.shape[1], FRAMES_PER_EVENT):
            yield FramesDecoded(_to_frames(pixels_CFHW[:, first : first + FRAMES_PER_EVENT]), first)

    @torch.inference_mode()
    def _decode(self, latent_BCFHW: Tensor) -> Tensor:
        device, dtype = self.placement.device, self.placement.dtype
        decoder = self.decoder_builder.build(device, dtype)
        return decoder.decode(latent_BCFHW.to(device, dtype))[0]


@torch.inference_mode()
def _to_frames(pixels_CFHW: Tensor) -> Tensor:
    # From about [-1, 1] to [0, 1].
    return (pixels_CFHW.float().permute(1, 2, 3, 0) * 0.5 + 0.5).clamp(0, 1)


class AudioDecoder:
    """Decodes the sound.

    Args:
        decoder_builder: The audio VAE decoder's slot.
        vocoder_builder: The vocoder's slot.
        placement: Where they run.
    """

    def __init__(
        self,
        decoder_builder: BuilderSlot[AudioVAEDecoder],
        vocoder_builder: BuilderSlot[Vocoder],
        placement: Placement,
    ) -> None:
        self.decoder_builder = decoder_builder
        self.vocoder_builder = vocoder_builder
        self.placement = placement

    @torch.inference_mode()
    def decode(self, latent_BCTM: Tensor, trace: Trace | None = None) -> SoundDecoded:
        """Return the sound of a normalised latent [1, 8, T, 16]."""
        device, dtype = self.placement.device, self.placement.dtype
        decoder = self.decoder_builder.build(device, dtype)
        vocoder = self.vocoder_builder.build(device, dtype)
        waveform = vocoder.synthesize(decoder.decode(latent_BCTM.to(device, dtype)))[0].float()
        if trace is not None:
            trace("decoded.audio", waveform)
        return SoundDecoded(waveform, vocoder.sample_rate_hz)
