"""The video decoder, the upscaler and the vocoder with random weights: of true size, or the tiny pack's.

diffusers is imported late: most measurements do without.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor, nn

from podium.models.residency import ModelPart
from podium.models.tiled_decoding import PixelDecoder

from tests.gpu.random_model import DTYPE
from tests.tiny_pack import write_tiny_pack

_SEED = 3
_MEL_CHANNELS, _MEL_BINS, _MEL_FRAMES_PER_S = 2, 64, 100


@dataclass(frozen=True, slots=True)
class Networks:
    """What a pipeline runs beside the transformer.

    Args:
        decoder: Of pictures.
        upsample: Enlarges a latent [1, 128, F, H, W].
        synthesize: Makes sound of mel frames [1, 2, F, 64], in float32.
        modules: What they are, by part.
    """

    decoder: PixelDecoder
    upsample: Callable[[Tensor], Tensor]
    synthesize: Callable[[Tensor], Tensor]
    modules: dict[ModelPart, nn.Module] = field(repr=False)

    @property
    def part_bytes(self) -> dict[ModelPart, int]:
        """Return what each part's weights take."""
        return {
            part: sum(tensor.nbytes for tensor in (*module.parameters(), *module.buffers()))
            for part, module in self.modules.items()
        }


@dataclass(frozen=True, slots=True)
class RandomDecoder:
    """The video decoder of the released checkpoints, without statistics."""

    network: nn.Module

    def decode(self, latent_BCFHW: Tensor) -> Tensor:
        pixels: Tensor = self.network(latent_BCFHW.to(DTYPE))
        return pixels


def random_networks(folder: Path, device: torch.device, *, is_small: bool) -> Networks:
    """Return them on a device, the same on every device of a kind; `folder` is this rank's own, and made here."""
    with torch.inference_mode(mode=False), torch.no_grad():
        return _tiny(folder, device) if is_small else _true_size(device)


def random_latent(grid: tuple[int, int, int], device: torch.device) -> Tensor:
    """Return the same latent [1, 128, F, H, W] everywhere."""
    return torch.randn(1, 128, *grid, generator=torch.Generator().manual_seed(_SEED)).to(device)


def random_mel(seconds: float, device: torch.device) -> Tensor:
    """Return mel frames for so much sound."""
    return torch.randn(1, _MEL_CHANNELS, round(seconds * _MEL_FRAMES_PER_S), _MEL_BINS, device=device)


def _true_size(device: torch.device) -> Networks:
    from diffusers.models.autoencoders.autoencoder_kl_ltx2 import LTX2VideoDecoder3d
    from diffusers.pipelines.ltx2.latent_upsampler import LTX2LatentUpsamplerModel
    from diffusers.pipelines.ltx2.vocoder import LTX2VocoderWithBWE

    torch.manual_seed(_SEED)
    # Made on the CPU, for a copy in float32 beside the one that stays would leave the device's memory in pieces, which
    # reading a checkpoint does not; and what computes filters as it is made does so there.
    decoder = LTX2VideoDecoder3d(inject_noise=(False,) * 4).to(device, DTYPE).eval()
    upsampler = LTX2LatentUpsamplerModel(128, 1024, 4).to(device, DTYPE).eval()
    vocoder = LTX2VocoderWithBWE().to(device).eval()
    modules = {ModelPart.VIDEO_DECODER: decoder, ModelPart.UPSAMPLER: upsampler, ModelPart.VOCODER: vocoder}
    return Networks(RandomDecoder(decoder), lambda latent: upsampler(latent.to(DTYPE)), vocoder, modules)


def _tiny(folder: Path, device: torch.device) -> Networks:
    from podium.models.audio import vocoder_builder
    from podium.models.upsampler import upsampler_builder
    from podium.models.video_vae import video_decoder_builder

    folder.mkdir(parents=True, exist_ok=True)
    write_tiny_pack(folder, dtype="bfloat16", parts=("ltx-2.3-tiny", "spatial-upscaler-x2"))
    checkpoint = folder / "ltx-2.3-tiny.safetensors"
    decoder = video_decoder_builder(checkpoint).build(device, DTYPE)
    upsampler = upsampler_builder(folder / "spatial-upscaler-x2.safetensors").build(device, DTYPE)
    vocoder = vocoder_builder(checkpoint).build(device, torch.float32)
    modules = {ModelPart.VIDEO_DECODER: decoder, ModelPart.UPSAMPLER: upsampler, ModelPart.VOCODER: vocoder}
    return Networks(decoder, upsampler, vocoder.synthesize, modules)
