"""The decoders: from latents to frames in order, and to sound."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import torch
from torch import Tensor

from podium.geometry import SPACE_FACTOR
from podium.models.audio import AudioDecoder as AudioVAEDecoder
from podium.models.audio import Vocoder
from podium.models.tile_layout import TileSizeConfig
from podium.models.tiled_decoding import TileDone, decode_parts
from podium.pipelines.blocks.placement import Placement
from podium.pipelines.blocks.slots import BuilderSlot, FrameDecoder
from podium.pipelines.events import FramesDecoded, SoundDecoded, TileDecoded, Trace

# What is decoded at once where nothing else is asked for.
DECODE_SIZES = TileSizeConfig()


class VideoDecoder:
    """Decodes the picture, in tiles where a clip is larger than one.

    Args:
        decoder_builder: The slot that multi-GPU builders are put into.
        placement: Where it runs.
        sizes: How large a tile may be.
    """

    def __init__(
        self,
        decoder_builder: BuilderSlot[FrameDecoder],
        placement: Placement,
        sizes: TileSizeConfig = DECODE_SIZES,
    ) -> None:
        self.decoder_builder = decoder_builder
        self.placement = placement
        self.sizes = sizes

    def with_builder(self, decoder_builder: BuilderSlot[FrameDecoder]) -> Self:
        """Return a block that builds its decoder otherwise."""
        return type(self)(decoder_builder, self.placement, self.sizes)

    def stream(self, latent_BCFHW: Tensor, trace: Trace | None = None) -> Iterator[FramesDecoded | TileDecoded]:
        """Decode a normalised latent [1, 128, F, H, W].

        Yields:
            The frames in order, each few of them as soon as they are complete, and between tiles that a tile is done.
        """
        device, dtype = self.placement.device, self.placement.dtype
        height, width = (SPACE_FACTOR * cells for cells in latent_BCFHW.shape[3:])
        traced = []
        for part in decode_parts(self._decoder(), latent_BCFHW.to(device, dtype), self.sizes):
            if isinstance(part, TileDone):
                yield TileDecoded(part.done, part.total)
                continue
            if part.pixels_BCFHW is None:
                # Of a size, and without memory of its own.
                yield FramesDecoded(torch.zeros(()).expand(part.num_frames, height, width, 3), part.first_frame)
                continue
            frames = _to_frames(part.pixels_BCFHW[0])
            if trace is not None:
                traced.append(frames)
            yield FramesDecoded(frames, part.first_frame)
        if trace is not None and traced:
            trace("decoded.video", torch.cat(traced))

    @torch.inference_mode()
    def _decoder(self) -> FrameDecoder:
        return self.decoder_builder.build(self.placement.device, self.placement.dtype)


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
