"""The playable clip of a finished first stage."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
import torch

from podium.geometry import ClipFormat
from podium.jobs import Phase, PreviewClip
from podium.media.clip_reader import read_clip_info
from podium.media.errors import MediaError
from podium.pipelines.distilled import DistilledPipeline
from podium.pipelines.events import StepDenoised
from podium.pipelines.stage_clips import StageClips

CLIP = ClipFormat(64, 64, 9, Fraction(30000, 1001))


def last_step(seed: int) -> StepDenoised:
    generator = torch.Generator().manual_seed(seed)
    video = torch.randn(1, 128, 2, 2, 2, generator=generator)
    return StepDenoised(Phase.STAGE_1, 8, 8, 0.4, video, torch.randn(1, 8, CLIP.num_audio_latents, 16))


def test_each_stage_takes_the_place_of_the_one_before_and_carries_no_parameters(
    pipeline: DistilledPipeline, tmp_path: Path
) -> None:
    clips = StageClips(pipeline.video_decoder, pipeline.audio_decoder, tmp_path)
    contents = []
    for seed in (1, 2):
        assert clips.write(last_step(seed), CLIP) == PreviewClip(Phase.STAGE_1, tmp_path / "stage_1.mp4")
        contents.append((tmp_path / "stage_1.mp4").read_bytes())
    assert contents[0] != contents[1]
    assert [path.name for path in tmp_path.iterdir()] == ["stage_1.mp4"]
    info = read_clip_info(tmp_path / "stage_1.mp4")
    assert (info.width, info.height, info.num_frames, info.fps) == (64, 64, 9, CLIP.fps)
    assert info.audio_duration_s is not None
    # To the sample.
    assert abs(info.audio_duration_s - info.duration_s) < Fraction(1, 48_000)


def test_a_folder_that_is_gone_is_a_failure_in_words(pipeline: DistilledPipeline, tmp_path: Path) -> None:
    clips = StageClips(pipeline.video_decoder, pipeline.audio_decoder, tmp_path / "gone")
    with pytest.raises(MediaError, match="no folder that can be reached"):
        clips.write(last_step(1), CLIP)
