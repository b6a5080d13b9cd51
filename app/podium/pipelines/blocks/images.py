"""The image conditioner: from picture files to latents that a stage holds frames of the clip to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from podium.geometry import ClipFormat
from podium.jobs import ImageSpec
from podium.media.image_conditioning import prepare_image
from podium.media.recompression import recompress_h264
from podium.media.stills import read_still
from podium.models.video_vae import VideoEncoder
from podium.pipelines.blocks.diffusion import ImageCondition
from podium.pipelines.blocks.placement import Placement
from podium.pipelines.blocks.slots import BuilderSlot

# Source: the original re-compresses a condition as a video frame would be; 33 up to model version 2.3.
DEFAULT_CRF = 33


class ImageConditioner:
    """Encodes conditioning pictures at a stage's size.

    Args:
        encoder_builder: The video encoder's slot.
        placement: Where it runs.
    """

    def __init__(self, encoder_builder: BuilderSlot[VideoEncoder], placement: Placement) -> None:
        self.encoder_builder = encoder_builder
        self.placement = placement

    def encode(self, images: Sequence[ImageSpec], clips: Sequence[ClipFormat]) -> list[tuple[ImageCondition, ...]]:
        """Return the conditions for each of `clips` (the stages' formats).

        Raises:
            MediaError: A picture cannot be read.
        """
        if not images:
            return [() for _ in clips]
        pictures = [_read(image) for image in images]
        encoder = self.encoder_builder.build(self.placement.device, self.placement.dtype)
        return [
            tuple(
                ImageCondition(self._encode(encoder, picture, clip), image.strength, image.frame)
                for image, picture in zip(images, pictures, strict=True)
            )
            for clip in clips
        ]

    @torch.inference_mode()
    def _encode(self, encoder: VideoEncoder, picture: NDArray[np.uint8], clip: ClipFormat) -> Tensor:
        pixels = torch.from_numpy(prepare_image(picture, clip.height, clip.width)).permute(2, 0, 1)
        return encoder.encode(pixels[None, :, None].to(self.placement.device)).float()


def _read(image: ImageSpec) -> NDArray[np.uint8]:
    return recompress_h264(read_still(image.path), DEFAULT_CRF if image.crf is None else image.crf)
