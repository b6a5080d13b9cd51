"""What a written clip is when it is read back."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from podium.geometry import ClipFormat
from podium.media.clip_reader import read_clip_info, read_frames, read_parameters, read_sound
from podium.media.errors import MediaError
from podium.media.mp4_muxer import AAC_FRAME_SAMPLES, Mp4Muxer
from podium.media.video_writer import ClipWriter

from tests.unit.media.clips import FAST, PARAMETERS, clip_format, grey_frames, model_sound, write_clip

RATES = ["24", "25", "24000/1001", "30000/1001", "23.976", "29.97", "30", "48", "50", "60", "997/40"]


def seconds(pts: int | None, time_base: Fraction | None) -> Fraction:
    assert pts is not None
    assert time_base is not None
    return pts * time_base


@pytest.mark.parametrize("sample_rate_hz", [48_000, 24_000])
@pytest.mark.parametrize("fps", RATES)
def test_a_clip_reads_back_at_its_exact_rate_with_sound_and_picture_ending_together(
    tmp_path: Path, fps: str, sample_rate_hz: int
) -> None:
    clip = clip_format(17, fps)
    sound = model_sound(clip, sample_rate_hz)
    write_clip(tmp_path / "clip.mp4", clip, sound, sample_rate_hz)

    info = read_clip_info(tmp_path / "clip.mp4")
    assert (info.width, info.height, info.num_frames, info.fps) == (64, 64, 17, clip.fps)
    assert info.duration_s == clip.duration_s
    assert (info.video_codec, info.audio_codec, info.num_audio_channels) == ("h264", "aac", 2)
    assert info.audio_sample_rate_hz == sample_rate_hz
    assert info.audio_duration_s is not None
    assert abs(info.audio_duration_s - clip.duration_s) <= Fraction(1, 2 * sample_rate_hz)
    with av.open(str(tmp_path / "clip.mp4")) as container:
        times = [seconds(frame.pts, frame.time_base) for frame in container.decode(video=0)]
    assert times == [index / clip.fps for index in range(17)]
    with av.open(str(tmp_path / "clip.mp4")) as container:
        blocks = list(container.decode(audio=0))
    assert blocks[0].pts == 0
    decoded_end_s = Fraction(sum(block.samples for block in blocks), sample_rate_hz)
    assert 0 <= decoded_end_s - clip.duration_s < Fraction(AAC_FRAME_SAMPLES, sample_rate_hz)


def test_sound_is_padded_with_silence_and_its_own_samples_stay_where_they_were(tmp_path: Path) -> None:
    clip = clip_format(33)
    sound = model_sound(clip, 48_000)
    with ClipWriter(tmp_path / "clip.mp4", clip, sample_rate_hz=48_000, parameters={}, encoding=FAST) as writer:
        writer.add_frames(grey_frames(clip))
        writer.add_sound(sound)
    heard = read_sound(tmp_path / "clip.mp4")
    assert sound.shape[1] == 63_840
    assert heard.shape == (2, 66_000)
    assert writer.result.num_silent_samples == 66_000 - 63_840
    inner = slice(2048, 63_840 - 2048)
    assert np.abs(heard[:, inner] - sound[:, inner]).max() < 0.01
    assert np.abs(heard[:, 63_840 + 2048 :]).max(initial=0) < 0.01


@pytest.mark.parametrize("sample_rate_hz", [48_000, 24_000])
@pytest.mark.parametrize("fps", ["23.976", "24", "25", "29.97", "30", "48", "50", "60"])
def test_the_samples_before_the_padding_reach_the_encoder_to_the_bit_at_every_rate(
    tmp_path: Path, fps: str, sample_rate_hz: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[NDArray[np.float32]] = []
    add_sound = Mp4Muxer.add_sound

    def spy(muxer: Mp4Muxer, sound: NDArray[np.float32]) -> None:
        encoded.append(sound.copy())
        add_sound(muxer, sound)

    monkeypatch.setattr(Mp4Muxer, "add_sound", spy)
    clip = clip_format(17, fps)
    sound = model_sound(clip, sample_rate_hz)
    num_own = sound.shape[1]
    write_clip(tmp_path / "clip.mp4", clip, sound, sample_rate_hz)
    whole = np.concatenate(encoded, axis=1)
    assert np.array_equal(whole[:, :num_own], sound)
    # Silence from there to the picture's end, to the sample.
    assert num_own < whole.shape[1] == round(clip.duration_s * sample_rate_hz)
    assert not whole[:, num_own:].any()
    heard = read_sound(tmp_path / "clip.mp4")
    inner = slice(2 * AAC_FRAME_SAMPLES, num_own - 2 * AAC_FRAME_SAMPLES)
    assert np.abs(heard[:, inner] - sound[:, inner]).max() < 0.01


def test_sound_longer_than_the_picture_is_kept_whole(tmp_path: Path) -> None:
    clip = clip_format(9)
    sound = np.full((2, 30_000), 0.1, np.float32)
    write_clip(tmp_path / "clip.mp4", clip, sound)
    info = read_clip_info(tmp_path / "clip.mp4")
    assert info.audio_duration_s == Fraction(30_000, 48_000)
    assert info.duration_s == clip.duration_s


@pytest.mark.parametrize("when", ["first", "between", "last"])
def test_sound_may_come_before_between_or_after_the_pictures(tmp_path: Path, when: str) -> None:
    clip = clip_format(17)
    frames, sound = grey_frames(clip), model_sound(clip, 48_000)
    with ClipWriter(tmp_path / "clip.mp4", clip, sample_rate_hz=48_000, parameters={}, encoding=FAST) as writer:
        if when == "first":
            writer.add_sound(sound)
        for index, frame in enumerate(frames):
            writer.add_frames(frame)
            if when == "between":
                writer.add_sound(sound[:, sound.shape[1] * index // 17 : sound.shape[1] * (index + 1) // 17])
        if when == "last":
            writer.add_sound(sound)
    assert np.abs(read_sound(tmp_path / "clip.mp4")[:, 2048:20_000] - sound[:, 2048:20_000]).max() < 0.01
    with av.open(str(tmp_path / "clip.mp4")) as container:
        order = [(packet.pos, seconds(packet.dts, packet.time_base)) for packet in container.demux() if packet.size]
    # Interleaved: going through the file, time never steps back by more than one picture and one block of sound.
    behind = [earlier[1] - later[1] for earlier, later in zip(sorted(order), sorted(order)[1:], strict=False)]
    assert max(behind) <= Fraction(1, 8)


def test_a_clip_without_sound_is_silent(tmp_path: Path) -> None:
    write_clip(tmp_path / "clip.mp4", clip_format())
    info = read_clip_info(tmp_path / "clip.mp4")
    assert (info.audio_codec, info.audio_duration_s, info.num_audio_channels) == (None, None, 0)
    assert read_sound(tmp_path / "clip.mp4").shape == (0, 0)


def test_pictures_come_back_in_order(tmp_path: Path) -> None:
    clip = clip_format(17)
    with ClipWriter(tmp_path / "clip.mp4", clip, sample_rate_hz=None, parameters={}) as writer:
        writer.add_frames(grey_frames(clip)[:3])
        writer.add_frames(grey_frames(clip)[3])
        writer.add_frames(grey_frames(clip)[4:])
    for seen, made in zip(read_frames(tmp_path / "clip.mp4"), grey_frames(clip), strict=True):
        assert np.abs(seen.astype(int) - made).max() <= 2


@pytest.mark.parametrize(
    "colour", [(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255), (0, 0, 0), (200, 100, 50), (18, 130, 240)]
)
def test_a_flat_colour_survives(tmp_path: Path, colour: tuple[int, int, int]) -> None:
    clip = clip_format(1)
    with ClipWriter(tmp_path / "clip.mp4", clip, sample_rate_hz=None, parameters={}, encoding=FAST) as writer:
        writer.add_frames(np.full((64, 64, 3), colour, np.uint8))
    (seen,) = read_frames(tmp_path / "clip.mp4")
    assert np.abs(seen.astype(int) - colour).max() <= 3


def test_red_is_stored_as_bt709_in_limited_range_and_tagged_so(tmp_path: Path) -> None:
    clip = clip_format(1)
    with ClipWriter(tmp_path / "clip.mp4", clip, sample_rate_hz=None, parameters={}) as writer:
        writer.add_frames(np.full((64, 64, 3), (255, 0, 0), np.uint8))
    with av.open(str(tmp_path / "clip.mp4")) as container:
        context = container.streams.video[0].codec_context
        tags = (context.color_range, context.colorspace, context.color_primaries, context.color_trc)
        frame = next(container.decode(video=0))
        planes = [bytes(plane)[0] for plane in frame.planes]
    assert tags == (1, 1, 1, 1)
    assert (context.profile, context.pix_fmt) == ("High", "yuv420p")
    # ITU-R BT.709: Y = 16 + 219 * 0.2126, Cb = 128 - 224 * 0.2126 / 1.8556, Cr = 128 + 112.
    assert np.abs(np.array(planes) - (62.6, 102.3, 240.0)).max() <= 1


def test_the_index_lies_in_front_of_the_pictures(tmp_path: Path) -> None:
    write_clip(tmp_path / "clip.mp4", clip_format())
    data = (tmp_path / "clip.mp4").read_bytes()
    assert 0 < data.index(b"moov") < data.index(b"mdat")


def test_a_key_picture_comes_at_least_every_second(tmp_path: Path) -> None:
    clip = ClipFormat(64, 64, 25, Fraction(6))
    with ClipWriter(tmp_path / "clip.mp4", clip, sample_rate_hz=None, parameters={}) as writer:
        writer.add_frames(np.broadcast_to(np.uint8(90), (25, 64, 64, 3)))
    with av.open(str(tmp_path / "clip.mp4")) as container:
        keys = [seconds(packet.pts, packet.time_base) for packet in container.demux(video=0) if packet.is_keyframe]
    assert keys[0] == 0
    assert max(np.diff([*keys, clip.duration_s])) <= 1


def test_tag_and_sidecar_hold_the_same_text_with_the_mark_first(tmp_path: Path) -> None:
    write_clip(tmp_path / "clip.mp4", clip_format())
    with av.open(str(tmp_path / "clip.mp4")) as container:
        tag = container.metadata["comment"]
    assert tag == (tmp_path / "clip.json").read_text(encoding="utf-8")
    assert list(json.loads(tag).items()) == [("podium", 1), *PARAMETERS.items()]
    assert read_parameters(tmp_path / "clip.mp4") == {"podium": 1, **PARAMETERS}


def test_a_very_long_prompt_comes_back_whole(tmp_path: Path) -> None:
    prompt = "狐狸在雪中 \ud83e " * 20_000
    with ClipWriter(
        tmp_path / "clip.mp4", clip_format(1), sample_rate_hz=None, parameters={"prompt": prompt}, encoding=FAST
    ) as writer:
        writer.add_frames(grey_frames(clip_format(1)))
    assert read_parameters(tmp_path / "clip.mp4")["prompt"] == prompt
    assert json.loads((tmp_path / "clip.json").read_text(encoding="utf-8"))["prompt"] == prompt


def test_parameters_come_from_the_sidecar_where_the_tag_was_lost(tmp_path: Path) -> None:
    write_clip(tmp_path / "made.mp4", clip_format())
    with av.open(str(tmp_path / "bare.mp4"), "w") as container:
        stream = container.add_stream("libx264", rate=24, width=64, height=64)
        container.mux(stream.encode(av.VideoFrame(64, 64, "yuv420p")))
        container.mux(stream.encode(None))
    with pytest.raises(MediaError, match=r"“bare\.mp4” holds no parameters"):
        read_parameters(tmp_path / "bare.mp4")
    (tmp_path / "made.json").rename(tmp_path / "bare.json")
    assert read_parameters(tmp_path / "bare.mp4")["seed"] == 2**64 - 1


def test_the_result_says_where_the_clip_lies(tmp_path: Path) -> None:
    with ClipWriter(tmp_path / "a.b.mp4", clip_format(), sample_rate_hz=None, parameters={}) as writer:
        writer.add_frames(grey_frames(clip_format()))
    assert writer.result.path == tmp_path / "a.b.mp4"
    assert writer.result.sidecar_path == tmp_path / "a.b.json"
    assert writer.result.num_bytes == (tmp_path / "a.b.mp4").stat().st_size
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.b.json", "a.b.mp4"]
