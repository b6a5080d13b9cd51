"""Previews: the linear map against the real decoder, and when pictures are handed out."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from podium.jobs import MotionPreview, Phase, PreviewPicture
from podium.models.demo_cache import ensure_demo_model
from podium.pipelines import previews
from podium.pipelines.distilled import DistilledPipeline
from podium.pipelines.events import StepDenoised
from podium.pipelines.previews import LatentToRGB, Previewer, cell_means, fit_latent_to_rgb

CALL = {"prompt": "a red fox", "seed": 3, "height": 128, "width": 192, "num_frames": 17, "frame_rate": 24}


@pytest.fixture(scope="module")
def to_rgb(pipeline: DistilledPipeline) -> LatentToRGB:
    return fitted(pipeline)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DistilledPipeline:
    paths = ensure_demo_model(tmp_path_factory.mktemp("cache")).paths
    return DistilledPipeline(
        checkpoint_path=paths.checkpoint_path,
        gemma_root=paths.gemma_root,
        spatial_upsampler_path=paths.spatial_upsampler_path,
        device=torch.device("cpu"),
        dtype=torch.float32,
    )


@pytest.fixture(scope="module")
def demo_steps(demo: DistilledPipeline) -> list[StepDenoised]:
    call = CALL | {"prompt": "a big red circle moves left over a blue background", "height": 256, "width": 384}
    return [event for event in demo.stream(**call) if isinstance(event, StepDenoised)]  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def steps(pipeline: DistilledPipeline) -> list[StepDenoised]:
    events = pipeline.stream(**CALL)  # type: ignore[arg-type]
    return [event for event in events if isinstance(event, StepDenoised)]


def fitted(pipeline: DistilledPipeline) -> LatentToRGB:
    slot = pipeline.image_conditioner.encoder_builder
    return fit_latent_to_rgb(slot.build(pipeline.placement.device, pipeline.placement.dtype), pipeline.placement)


def decoded_cells(pipeline: DistilledPipeline, latent: Tensor) -> Tensor:
    frames = torch.cat([event.frames_FHWC for event in pipeline.video_decoder.stream(latent)])
    return cell_means(frames.permute(3, 0, 1, 2)).permute(1, 2, 3, 0)


def psnr_db(ours: Tensor, theirs: Tensor) -> float:
    return float(-10 * torch.log10((ours - theirs).square().mean()))


class PaintingModel:
    """Gives each latent cell one colour that hangs on it linearly, as a trained model nearly does."""

    def __init__(self) -> None:
        self._weight = torch.randn(3, 128, generator=torch.Generator().manual_seed(1)) * 0.04

    def encode(self, pixels_BCFHW: Tensor) -> Tensor:
        means = torch.stack([cell_means(pixels) for pixels in pixels_BCFHW])
        free = torch.randn(len(means), 128, *means.shape[2:], generator=torch.Generator().manual_seed(2))
        inverse = torch.linalg.pinv(self._weight)
        return free + torch.einsum("cr,brfhw->bcfhw", inverse, means - self._colours(free))

    def decode(self, latent_BCFHW: Tensor) -> Tensor:
        cells = self._colours(latent_BCFHW)
        return cells.repeat_interleave(32, 3).repeat_interleave(32, 4).repeat_interleave(8, 2)[:, :, 7:]

    def _colours(self, latent_BCFHW: Tensor) -> Tensor:
        return torch.einsum("rc,bcfhw->brfhw", self._weight, latent_BCFHW)


@pytest.mark.parametrize("phase", [Phase.STAGE_1, Phase.STAGE_2])
def test_the_last_preview_of_a_stage_looks_like_its_decoded_clip(
    demo: DistilledPipeline, demo_steps: list[StepDenoised], phase: Phase
) -> None:
    last = [event for event in demo_steps if event.phase is phase][-1].video_BCFHW
    wanted = decoded_cells(demo, last)
    ours = psnr_db(fitted(demo)(last[0]), wanted)
    grey = psnr_db(torch.full_like(wanted, 0.5), wanted)
    assert ours > 13
    assert ours > grey + 4


def test_where_colours_hang_on_the_latent_the_last_preview_matches_and_the_first_does_not(
    pipeline: DistilledPipeline, steps: list[StepDenoised]
) -> None:
    model = PaintingModel()
    to_rgb = fit_latent_to_rgb(model, pipeline.placement)
    stage_1 = [step for step in steps if step.phase is Phase.STAGE_1]
    pixels = (model.decode(stage_1[-1].video_BCFHW)[0] * 0.5 + 0.5).clamp(0, 1)
    clip = cell_means(pixels).permute(1, 2, 3, 0)
    first, last = (psnr_db(to_rgb(step.video_BCFHW[0]), clip) for step in (stage_1[0], stage_1[-1]))
    assert last >= 30 > first


def test_the_map_is_the_same_every_time(pipeline: DistilledPipeline, to_rgb: LatentToRGB) -> None:
    again = fitted(pipeline)
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
