"""Previews of a clip while it is made: cheap pictures by a linear map, a looping motion, and now and then real frames.

What a step gives is copied on the way and handed out at the next boundary, when it has arrived.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from podium.geometry import SPACE_FACTOR, TIME_FACTOR
from podium.jobs import MotionPreview, Phase, PreviewPicture
from podium.pipelines.blocks.placement import Placement
from podium.pipelines.blocks.slots import FrameDecoder, PictureEncoder
from podium.pipelines.events import StepDenoised

# What the map is fitted on: numbers of painted clips, and their frames.
_PAINTED = ((40, 1), (8, 9))
_PAINTED_PX, _NUM_DISCS = 128, 4
_FIT_RIDGE = 1e-3
_FIT_SEED = 20240229
# A real frame may cost this share of the time since the one before.
_MAX_DECODE_SHARE = 0.03


@dataclass(frozen=True, slots=True)
class LatentToRGB:
    """A linear map from a latent cell to the mean colour of its pixels.

    Args:
        weight: [3, 128] float32.
        bias: [3] float32.
    """

    weight: Tensor
    bias: Tensor

    @torch.inference_mode()
    def __call__(self, latent_CFHW: Tensor) -> Tensor:
        """Return [F, H, W, 3] float32 in [0, 1] for a normalised latent [128, F, H, W]."""
        rgb = torch.einsum("rc,cfhw->fhwr", self.weight, latent_CFHW.float()) + self.bias
        return rgb.clamp(0, 1)


def cell_means(pixels_CFHW: Tensor) -> Tensor:
    """Return the mean of the pixels of each latent cell, [3, F', H/32, W/32]; the first cell holds one frame."""
    spatial = functional.avg_pool2d(pixels_CFHW.transpose(0, 1), SPACE_FACTOR).transpose(0, 1)
    first, rest = spatial[:, :1], spatial[:, 1:]
    return torch.cat((first, rest.unflatten(1, (-1, TIME_FACTOR)).mean(dim=2)), dim=1)


@torch.inference_mode()
def fit_latent_to_rgb(encoder: PictureEncoder, placement: Placement) -> LatentToRGB:
    """Fit the map to an encoder by least squares over painted pictures and short clips of them; deterministic.

    Their latents lie where a model's own do, as random ones would not: where a model keeps shapes and colours in
    different channels those are shapes everywhere, and a map that is fitted on them paints everything grey.

    Args:
        encoder: The model's own.
        placement: Where it runs.
    """
    generator = torch.Generator("cpu").manual_seed(_FIT_SEED)
    rows, colours = [], []
    for num, num_frames in _PAINTED:
        painted = torch.stack([_paint(generator, num_frames) for _ in range(num)]).to(placement.device)
        for latent, clip in zip(encoder.encode(painted.to(placement.dtype)).float(), painted, strict=True):
            rows.append(latent.flatten(1).T)
            colours.append(cell_means(clip * 0.5 + 0.5).flatten(1).T)
    x, y = torch.cat(rows), torch.cat(colours)
    x = torch.cat((x, torch.ones_like(x[:, :1])), dim=1)
    gram = x.T @ x + _FIT_RIDGE * len(x) * torch.eye(x.shape[1], device=x.device)
    solution = torch.linalg.solve(gram, x.T @ y)
    return LatentToRGB(solution[:-1].T.contiguous(), solution[-1])


def _paint(generator: torch.Generator, num_frames: int) -> Tensor:
    """Return [3, F, H, W] from -1 to 1: discs with soft and hard edges that move over a ground of one colour."""
    colours = 2 * torch.rand(_NUM_DISCS + 1, 3, 1, 1, 1, generator=generator) - 1
    draws = torch.rand(_NUM_DISCS, 6, generator=generator)
    place = (torch.arange(_PAINTED_PX) + 0.5) / _PAINTED_PX
    time_share = torch.arange(num_frames)[:, None, None] / max(num_frames - 1, 1)
    pixels = colours[0].expand(3, num_frames, _PAINTED_PX, _PAINTED_PX)
    for colour, (y, x, way_y, way_x, radius, hardness) in zip(colours[1:], draws.tolist(), strict=True):
        off_y = place[:, None] - y - (way_y - 0.5) * time_share
        off_x = place - x - (way_x - 0.5) * time_share
        cover = torch.sigmoid((0.05 + 0.3 * radius - torch.hypot(off_y, off_x)) * (20 + 200 * hardness))
        pixels = torch.lerp(pixels, colour.expand_as(pixels), cover)
    return pixels


@dataclass(frozen=True, slots=True)
class _Pending:
    # A picture on its way to the host; `arrival` tells when it is there, None where it is already.
    phase: Phase
    step: int
    frames_FHWC: Tensor
    frame_s: float
    arrival: torch.Event | None = None


class Previewer:
    """Makes previews of a job's steps on the rank that reports.

    Args:
        to_rgb: The linear map.
        decoder: The real decoder, for a frame now and then; None for never.
        placement: Where both run.
    """

    def __init__(self, to_rgb: LatentToRGB, decoder: FrameDecoder | None, placement: Placement) -> None:
        self._to_rgb = to_rgb
        self._decoder = decoder
        self._placement = placement
        self._pending: list[_Pending] = []
        self._decode_cost_s = 0.0
        self._last_decode_s = time.perf_counter()

    def use_decoder(self, decoder: FrameDecoder | None) -> None:
        """Take another decoder for real frames from now on; None for none of them."""
        self._decoder = decoder

    def take(self, event: StepDenoised, frame_s: float) -> None:
        """Begin the previews of a step.

        Args:
            event: The step.
            frame_s: Seconds from one latent frame to the next.
        """
        frames, arrival = _to_host((self._to_rgb(event.video_BCFHW[0]) * 255).round().byte())
        self._pending.append(_Pending(event.phase, event.step, frames, frame_s, arrival))
        if self._decoder is not None and self._may_decode(event):
            self._pending.append(self._decode_frame(self._decoder, event))

    def hand_out(self) -> Iterator[PreviewPicture | MotionPreview]:
        """Yield the previews taken before; to be called at the boundary after, where hardly any is still on its way."""
        pending, self._pending = self._pending, []
        for preview in pending:
            # The boundary has waited for the step, but not for the copy behind it; at a phase's end for neither.
            if preview.arrival is not None:
                preview.arrival.synchronize()
            yield from _to_events(preview)

    def _may_decode(self, event: StepDenoised) -> bool:
        # The first estimates are fog; a real frame of them would be money for nothing.
        since_s = time.perf_counter() - self._last_decode_s
        return event.step > 1 and self._decode_cost_s <= _MAX_DECODE_SHARE * since_s

    @torch.inference_mode()
    def _decode_frame(self, decoder: FrameDecoder, event: StepDenoised) -> _Pending:
        began_s = time.perf_counter()
        latent = event.video_BCFHW
        middle = latent.shape[2] // 2
        frame = latent[:, :, middle : middle + 1].to(self._placement.dtype)
        pixels = decoder.decode(frame)[0].float().permute(1, 2, 3, 0)
        picture = ((pixels * 0.5 + 0.5).clamp(0, 1) * 255).round().byte()
        # The clock would otherwise read what it costs to ask, not to decode.
        picture = picture.cpu()
        self._last_decode_s = time.perf_counter()
        self._decode_cost_s = self._last_decode_s - began_s
        return _Pending(event.phase, event.step, picture, 0.0)


def _to_host(tensor: Tensor) -> tuple[Tensor, torch.Event | None]:
    # The tensor on the host, and what tells that its content is there.
    if tensor.is_cpu:
        return tensor, None
    copy = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True).copy_(tensor, non_blocking=True)
    return copy, torch.accelerator.current_stream(tensor.device).record_event()


def _to_events(preview: _Pending) -> Iterator[PreviewPicture | MotionPreview]:
    num_frames, height, width, _ = preview.frames_FHWC.shape
    middle = preview.frames_FHWC[num_frames // 2].contiguous().numpy().tobytes()
    yield PreviewPicture(preview.phase, preview.step, width, height, middle)
    if num_frames > 1 and preview.step > 1:
        rgb = preview.frames_FHWC.contiguous().numpy().tobytes()
        yield MotionPreview(preview.phase, preview.step, width, height, num_frames, preview.frame_s, rgb)
