"""Previews: the linear map against the real decoder, and when pictures are handed out."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from podium.jobs import MotionPreview, Phase, PreviewPicture
from podium.pipelines import previews
from podium.pipelines.distilled import DistilledPipeline
from podium.pipelines.events import StepDenoised
from podium.pipelines.previews import LatentToRGB, Previewer, cell_means, fit_latent_to_rgb, fit_without_encoder

CALL = {"prompt": "a red fox", "seed": 3, "height": 128, "width": 192, "num_frames": 17, "frame_rate": 24}


@pytest.fixture(scope="module")
def to_rgb(pipeline: DistilledPipeline) -> LatentToRGB:
    decoder = pipeline.video_decoder.decoder_builder.build(pipeline.placement.device, pipeline.placement.dtype)
    return fit_without_encoder(decoder, pipeline.placement)


@pytest.fixture(scope="module")
def steps(pipeline: DistilledPipeline) -> list[StepDenoised]:
    events = pipeline.stream(**CALL)  # type: ignore[arg-type]
    return [event for event in events if isinstance(event, StepDenoised)]


def decoded_cells(pipeline: DistilledPipeline, latent: Tensor) -> Tensor:
    frames = torch.cat([event.frames_FHWC for event in pipeline.video_decoder.stream(latent)])
    return cell_means(frames.permute(3, 0, 1, 2)).permute(1, 2, 3, 0)


def psnr_db(ours: Tensor, theirs: Tensor) -> float:
    return float(-10 * torch.log10((ours - theirs).square().mean()))


class PaintingDecoder:
    """Paints each latent cell in one colour that hangs on it linearly, as a trained decoder nearly does."""

    def __init__(self) -> None:
        self._weight = torch.randn(3, 128, generator=torch.Generator().manual_seed(1)) * 0.04

    def decode(self, latent_BCFHW: Tensor) -> Tensor:
        cells = torch.einsum("rc,bcfhw->brfhw", self._weight, latent_BCFHW)
        pixels = cells.repeat_interleave(32, 3).repeat_interleave(32, 4).repeat_interleave(8, 2)
        return pixels[:, :, 7:]


@pytest.mark.parametrize("phase", [Phase.STAGE_1, Phase.STAGE_2])
def test_the_last_preview_of_a_stage_matches_its_decoded_clip(
    pipeline: DistilledPipeline, to_rgb: LatentToRGB, steps: list[StepDenoised], phase: Phase
) -> None:
    # A random decoder paints almost one grey, which any grey preview matches: this bound alone says little.
    last = [step for step in steps if step.phase is phase][-1]
    assert psnr_db(to_rgb(last.video_BCFHW[0]), decoded_cells(pipeline, last.video_BCFHW)) >= 30


def test_where_colours_hang_on_the_latent_the_last_preview_matches_and_the_first_does_not(
    pipeline: DistilledPipeline, steps: list[StepDenoised]
) -> None:
    decoder = PaintingDecoder()
    to_rgb = fit_without_encoder(decoder, pipeline.placement)
    stage_1 = [step for step in steps if step.phase is Phase.STAGE_1]
    pixels = (decoder.decode(stage_1[-1].video_BCFHW)[0] * 0.5 + 0.5).clamp(0, 1)
    clip = cell_means(pixels).permute(1, 2, 3, 0)
    first, last = (psnr_db(to_rgb(step.video_BCFHW[0]), clip) for step in (stage_1[0], stage_1[-1]))
    assert last >= 30 > first


class TwofoldModel:
    """A model whose latents say what is seen in one channel or in another, and by a third in which: as some do."""

    def encode(self, pixels_BCFHW: Tensor) -> Tensor:
        means = torch.stack([cell_means(pixels) for pixels in pixels_BCFHW])
        latents = torch.zeros(len(means), 128, *means.shape[2:])
        is_bright = (means.mean(1, keepdim=True) > 0).float()
        latents[:, :3], latents[:, 3:6], latents[:, 6:7] = means * is_bright, means * (1 - is_bright), is_bright
        return latents

    def decode(self, latent_BCFHW: Tensor) -> Tensor:
        cells = torch.where(latent_BCFHW[:, 6:7] > 0.5, latent_BCFHW[:, :3], latent_BCFHW[:, 3:6])
        pixels = cells.repeat_interleave(32, 3).repeat_interleave(32, 4).repeat_interleave(8, 2)
        return pixels[:, :, 7:]


def test_a_model_s_own_latents_tell_more_than_random_ones(pipeline: DistilledPipeline) -> None:
    model = TwofoldModel()
    pixels = 2 * torch.rand(1, 3, 17, 128, 192, generator=torch.Generator().manual_seed(0)) - 1
    latent = model.encode(pixels.mean((3, 4), keepdim=True).expand_as(pixels))
    wanted = cell_means((model.decode(latent)[0] * 0.5 + 0.5).clamp(0, 1)).permute(1, 2, 3, 0)
    known = psnr_db(fit_latent_to_rgb(model, pipeline.placement)(latent[0]), wanted)
    blind = psnr_db(fit_without_encoder(model, pipeline.placement)(latent[0]), wanted)
    assert known > 30
    assert known > blind + 6


def test_with_an_encoder_the_map_is_the_same_every_time(pipeline: DistilledPipeline) -> None:
    model = TwofoldModel()
    one, two = (fit_latent_to_rgb(model, pipeline.placement) for _ in range(2))
    assert torch.equal(one.weight, two.weight)


def test_the_map_is_the_same_every_time(pipeline: DistilledPipeline, to_rgb: LatentToRGB) -> None:
    decoder = pipeline.video_decoder.decoder_builder.build(pipeline.placement.device, pipeline.placement.dtype)
    again = fit_without_encoder(decoder, pipeline.placement)
    assert torch.equal(again.weight, to_rgb.weight)
    assert torch.equal(again.bias, to_rgb.bias)


def test_cell_means_follow_the_causal_frames() -> None:
    pixels = torch.arange(17.0)[None, :, None, None].expand(3, 17, 32, 64)
    means = cell_means(pixels)
    assert means.shape == (3, 3, 1, 2)
    assert means[0, :, 0, 0].tolist() == [0.0, 4.5, 12.5]


def test_previews_are_handed_out_at_the_boundary_after_and_once(
    pipeline: DistilledPipeline, to_rgb: LatentToRGB, steps: list[StepDenoised]
) -> None:
    previewer = Previewer(to_rgb, None, pipeline.placement)
    assert list(previewer.hand_out()) == []
    previewer.take(steps[0], frame_s=1 / 3)
    (picture,) = previewer.hand_out()
    assert isinstance(picture, PreviewPicture)
    assert (picture.width, picture.height, picture.step) == (3, 2, 1)
    previewer.take(steps[1], frame_s=1 / 3)
    picture, motion = previewer.hand_out()
    assert isinstance(motion, MotionPreview)
    assert (motion.num_frames, motion.frame_s, len(motion.rgb)) == (3, 1 / 3, 3 * 3 * 2 * 3)
    assert list(previewer.hand_out()) == []


def test_real_frames_stay_within_their_share_of_the_time(
    pipeline: DistilledPipeline, to_rgb: LatentToRGB, steps: list[StepDenoised], monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = 0.0
    monkeypatch.setattr("podium.pipelines.previews.time.perf_counter", lambda: now_s)

    class Slow:
        num_calls = 0

        def decode(self, latent_BCFHW: Tensor) -> Tensor:
            nonlocal now_s
            self.num_calls += 1
            now_s += 0.3
            return torch.zeros(1, 3, 1, 64, 96)

    decoder = Slow()
    previewer = Previewer(to_rgb, decoder, pipeline.placement)
    for _ in range(100):
        now_s += 1.0
        previewer.take(steps[1], frame_s=1 / 3)
    # 0.3 s in 3 % of the time is one frame in ten seconds.
    assert 9 <= decoder.num_calls <= 11
    sizes = {(event.width, event.height) for event in previewer.hand_out()}
    assert (96, 64) in sizes


class LateCopy:
    """A copy to the host that has not come before it is waited for, as those from a GPU."""

    def __init__(self, tensor: Tensor) -> None:
        self.host = torch.zeros_like(tensor)
        self._tensor = tensor

    def synchronize(self) -> None:
        self.host.copy_(self._tensor)


def test_a_picture_that_is_still_on_its_way_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, pipeline: DistilledPipeline, to_rgb: LatentToRGB, steps: list[StepDenoised]
) -> None:
    def pictures() -> list[bytes]:
        previewer = Previewer(to_rgb, None, pipeline.placement)
        previewer.take(steps[0], 0.3)
        return [event.rgb for event in previewer.hand_out() if isinstance(event, PreviewPicture)]

    def copied_late(tensor: Tensor) -> tuple[Tensor, LateCopy]:
        late = LateCopy(tensor)
        return late.host, late

    in_time = pictures()
    monkeypatch.setattr(previews, "_to_host", copied_late)
    assert pictures() == in_time
    assert any(in_time[0])
