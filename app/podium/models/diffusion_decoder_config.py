"""What a checkpoint's `vae` section says about the diffusion decoder. No torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_NUM_STAGES = 5
# Source: what published files that do not name it have.
_TIMESTEP_DIM = 384

Size3 = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class DiffusionDecoderConfig:
    """Everything that the diffusion decoder's shape depends on.

    Args:
        latent_channels, out_channels: Of latents and of pixels.
        patch_px: Side of the square of pixels that a token of the last stage stands for.
        head_dim: Width of an attention head, a multiple of 8.
        widths: Channels of the five stages.
        depths: Blocks of the five stages.
        kernels: Windows of the five stages in frames, height and width.
        strides: By how much each stage but the last enlarges in frames, height and width.
        reductions: By how much each stage but the last divides the channels.
        timestep_dim: Width of the timestep's embedding.
        timestep_scale: Factor on the noise level before it is embedded.
    """

    latent_channels: int
    out_channels: int
    patch_px: int
    head_dim: int
    widths: tuple[int, ...]
    depths: tuple[int, ...]
    kernels: tuple[Size3, ...]
    strides: tuple[Size3, ...]
    reductions: tuple[int, ...]
    timestep_dim: int
    timestep_scale: float

    @classmethod
    def from_official(cls, vae: Mapping[str, Any]) -> DiffusionDecoderConfig:
        """Read the `vae` section of a file with a diffusion decoder.

        Raises:
            KeyError, TypeError, ValueError: It lacks a size, or asks for something that no released file uses.

        Source: keys and values as in the released 2.5 file.
        """
        decoder = vae["decoder"]
        _check_plain(vae, decoder)
        upsamples = decoder["upsamples"]
        # The last stage's window is told twice, of which its own name counts.
        kernels = (*decoder["stage_kernels"][: _NUM_STAGES - 1], decoder["stage5_kernel"])
        config = cls(
            latent_channels=int(decoder["in_channels"]),
            out_channels=int(decoder.get("out_channels", 3)),
            patch_px=int(decoder.get("patch_size", 4)),
            head_dim=int(decoder["head_dim"]),
            widths=tuple(int(width) for width in decoder["stage_channels"]),
            depths=tuple(int(depth) for depth in decoder["stage_depths"]),
            kernels=tuple(_size(kernel) for kernel in kernels),
            strides=tuple(_size(stride) for stride, _ in upsamples),
            reductions=tuple(int(reduction) for _, reduction in upsamples),
            timestep_dim=int(decoder.get("t_emb_dim", _TIMESTEP_DIM)),
            timestep_scale=float(decoder.get("timestep_scale_multiplier", 1000.0)),
        )
        config._check_stages()
        return config

    @property
    def num_ghosts(self) -> int:
        """Return how many copies of the last latent frame follow the clip through the first four stages.

        They move the border, at which windows are shifted, behind what is kept.
        """
        return self.kernels[0][0] // 2 * 2

    @property
    def min_latent_frames(self) -> int:
        """Return the fewest latent frames that are decoded; a shorter clip is filled up and cut."""
        return self.kernels[0][0]

    @property
    def time_factor(self) -> int:
        """Return how many frames a latent frame but the first becomes."""
        factor = 1
        for stride, _, _ in self.strides:
            factor *= stride
        return factor

    def _check_stages(self) -> None:
        counts = {len(self.widths), len(self.depths), len(self.kernels), len(self.strides) + 1}
        if counts != {_NUM_STAGES}:
            raise ValueError(f"stages of {counts} kinds; {_NUM_STAGES} widths, depths and kernels are expected")
        for index, reduction in enumerate(self.reductions):
            if self.widths[index + 1] * reduction != self.widths[index]:
                raise ValueError(f"stage_channels {self.widths} do not shrink by {self.reductions}")
        if self.head_dim % 8 or any(width % self.head_dim for width in self.widths):
            raise ValueError(f"stage_channels {self.widths} cannot be split into heads of {self.head_dim}")


def _check_plain(vae: Mapping[str, Any], decoder: Mapping[str, Any]) -> None:
    expected = (
        ("model_output_type", vae.get("model_output_type", "x0"), "x0"),
        ("decoder.default_num_inference_steps", decoder.get("default_num_inference_steps", 1), 1),
        ("decoder.resampler_kind", decoder.get("resampler_kind", "linear"), "linear"),
        ("decoder.stage5_channels", decoder.get("stage5_channels") or decoder["stage_channels"][-1],
         decoder["stage_channels"][-1]),
    )  # fmt: skip
    for name, value, known in expected:
        if value != known:
            raise ValueError(f"{name} is {value!r}; {known!r} is known")


def _size(values: Any) -> Size3:  # noqa: ANN401 - out of a stranger's JSON
    frames, height, width = (int(value) for value in values)
    return frames, height, width
