"""Pictures and key frames: which tokens they become, and what a generation makes of them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from podium.errors import JobRefusedError
from podium.geometry import ClipFormat
from podium.jobs import ImageSpec
from podium.pipelines.blocks.images import ImageConditioner
from podium.pipelines.latents import append_image, append_keyframe_slot, frame_positions, keep_first_frame, video_state

from tests.fakes.closeness import relative_error
from tests.fakes.guided_runs import distilled, traced, two_stages
from tests.tiny_pack import TinyPack

CPU = torch.device("cpu")
CLIP = ClipFormat(64, 96, 17, Fraction(25))
NUM_OWN, AREA = 18, 6
SMALL: dict[str, Any] = {"prompt": "waves", "seed": 1, "height": 64, "width": 64, "num_frames": 17, "frame_rate": 24}


def encoded(value: float) -> Tensor:
    return torch.full((1, 128, 1, 2, 3), value)


def test_a_picture_at_a_later_frame_stands_behind_the_clips_own_tokens() -> None:
    state = append_image(video_state(CLIP, CPU), CLIP, encoded(2.0), frame=11, strength=0.75)
    assert state.num_generated == NUM_OWN
    assert state.latent.shape == state.clean.shape == (1, NUM_OWN + AREA, 128)
    assert state.denoise_mask.tolist() == [1.0] * NUM_OWN + [0.25] * AREA
    assert bool((state.latent == 0).all())
    assert bool((state.clean[:, NUM_OWN:] == 2).all())
    assert bool((state.clean[:, :NUM_OWN] == 0).all())


def test_its_tokens_last_one_pixel_frame_and_lie_where_the_grid_does() -> None:
    positions = frame_positions(CLIP, 11)
    own = video_state(CLIP, CPU).positions
    assert torch.allclose(positions[0, 0], torch.tensor([11 / 25, 12 / 25]).expand(AREA, 2))
    assert torch.equal(positions[:, 1:], own[:, 1:, :AREA])
    state = append_image(video_state(CLIP, CPU), CLIP, encoded(2.0), frame=11, strength=1.0)
    assert torch.equal(state.positions, torch.cat((own, positions), dim=2))


def test_in_the_second_stage_too_it_starts_from_nothing() -> None:
    draft = torch.full((1, 128, 3, 2, 3), 7.0)
    state = append_image(video_state(CLIP, CPU, draft), CLIP, encoded(2.0), frame=8, strength=0.5)
    noisy = state.with_noise(torch.full_like(state.latent, 4.0), 0.5).latent
    assert bool((noisy[:, :NUM_OWN] == 0.5 * 7 + 0.5 * 4).all())
    # Half of what is held, and half of noise at level 0.5 over nothing.
    assert bool((noisy[:, NUM_OWN:] == 0.5 * 2 + 0.5 * (0.5 * 4)).all())


def test_only_key_frames_of_the_models_own_are_marked() -> None:
    state = append_image(video_state(CLIP, CPU), CLIP, encoded(2.0), frame=8, strength=1.0)
    state = append_keyframe_slot(state, CLIP, 5)
    assert state.keyframes_mask is not None
    assert state.keyframes_mask.flatten().tolist() == [1.0] * AREA + [0.0] * (NUM_OWN - AREA + AREA) + [1.0] * AREA
    assert state.denoise_mask[-AREA:].tolist() == [1.0] * AREA
    assert bool((state.clean[:, -AREA:] == 0).all())


def test_several_pictures_keep_their_order() -> None:
    state = keep_first_frame(video_state(CLIP, CPU), encoded(1.0), 1.0)
    for frame, value in ((16, 2.0), (8, 3.0)):
        state = append_image(state, CLIP, encoded(value), frame=frame, strength=1.0)
    assert state.clean[0, ::AREA, 0].tolist() == [1.0, 0.0, 0.0, 2.0, 3.0]


def test_a_last_frame_pulls_at_the_clip_and_the_clip_keeps_its_length(
    tiny_pack_2_3: TinyPack, pictures: list[tuple[Path, int, float]]
) -> None:
    pipeline, (path, _, _) = distilled(tiny_pack_2_3), pictures[1]
    free = traced(pipeline, SMALL)
    ends = {"images": [(path, 0, 1.0), (path, 16, 1.0)]}
    held = traced(pipeline, {**SMALL, **ends})
    first_only = traced(pipeline, {**SMALL, "images": [(path, 0, 1.0)]})
    assert held["stage_2.video"].shape == free["stage_2.video"].shape
    assert relative_error(held["stage_2.video"], first_only["stage_2.video"]) > 1e-3
    assert torch.allclose(held["stage_2.video"][:, :, :1], first_only["stage_2.video"][:, :, :1], atol=1e-5)


def test_the_generation_decides_how_pictures_are_recompressed(
    tiny_pack_2_0: TinyPack,
    tiny_pack_2_5: TinyPack,
    pictures: list[tuple[Path, int, float]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[int | None] = []
    encode = ImageConditioner.encode

    def spy(block: ImageConditioner, images: tuple[ImageSpec, ...], clips: tuple[ClipFormat, ...]) -> Any:
        seen.extend(image.crf for image in images)
        return encode(block, images, clips)

    monkeypatch.setattr(ImageConditioner, "encode", spy)
    path = pictures[0][0]
    images = [ImageSpec(path), ImageSpec(path, 3, crf=7)]
    for pack in (tiny_pack_2_0, tiny_pack_2_5):
        traced(distilled(pack), {**SMALL, "images": images})
    assert seen == [33, 7, 18, 7]


def test_key_frames_of_the_models_own_are_of_the_first_stage_alone(tiny_pack_2_5: TinyPack) -> None:
    drawn: dict[str, int] = {}

    class Counting:
        def draw(self, name: str, shape: tuple[int, ...]) -> Tensor:
            drawn[name] = shape[1]
            return torch.zeros(shape)

    traced(distilled(tiny_pack_2_5), {**SMALL, "generated_keyframes": 2, "noise_source": Counting()})
    assert (drawn["stage_1.video"], drawn["stage_2.video"]) == (3 + 2, 3 * 4)
    assert drawn["stage_1.video.step.0"] == 5


@pytest.mark.parametrize(
    ("asked", "words"), [(3, "1 to 2 of them"), ((4, 17), "no frame 17"), ((4, 4), "each at a frame of its own")]
)
def test_key_frames_that_do_not_fit_are_refused(tiny_pack_2_5: TinyPack, asked: Any, words: str) -> None:
    with pytest.raises(JobRefusedError, match=words):
        next(two_stages(tiny_pack_2_5).stream(**{**SMALL, "generated_keyframes": asked}))
