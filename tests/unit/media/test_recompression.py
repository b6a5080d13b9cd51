"""A picture through H.264 and back."""

from __future__ import annotations

import io

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from podium.media.errors import MediaError
from podium.media.recompression import recompress_h264


def photo(height: int, width: int) -> NDArray[np.uint8]:
    """Return a picture with flat parts, edges and grain."""
    draw = np.random.default_rng(0)
    blocks = draw.integers(0, 256, (height // 16 + 1, width // 16 + 1, 3)).repeat(16, 0).repeat(16, 1)[:height, :width]
    grainy: NDArray[np.int64] = np.clip(blocks + draw.integers(-12, 13, blocks.shape), 0, 255)
    return grainy.astype(np.uint8)


@pytest.mark.parametrize(("size", "even"), [((64, 96), (64, 96)), ((65, 97), (64, 96)), ((3, 2), (2, 2))])
@pytest.mark.parametrize("crf", [0, 33])
def test_an_odd_row_or_column_is_cut_off(size: tuple[int, int], even: tuple[int, int], crf: int) -> None:
    assert recompress_h264(photo(*size), crf).shape == (*even, 3)


def test_a_crf_of_0_returns_the_top_left_of_the_picture_untouched() -> None:
    rgb = photo(65, 97)
    assert np.array_equal(recompress_h264(rgb, 0), rgb[:64, :96])


def test_the_same_picture_always_gives_the_same_bytes() -> None:
    rgb = photo(128, 160)
    assert np.array_equal(recompress_h264(rgb, 33), recompress_h264(rgb.copy(), 33))


def test_a_higher_crf_loses_more() -> None:
    rgb = photo(128, 160)
    errors = [np.abs(recompress_h264(rgb, crf).astype(int) - rgb).mean() for crf in (1, 18, 33, 51)]
    assert errors == sorted(errors)
    assert errors[3] > 1.5 * errors[0]


@pytest.mark.parametrize("colour", [(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255), (0, 0, 0), (200, 100, 50)])
def test_flat_colours_stay_within_three_levels(colour: tuple[int, int, int]) -> None:
    seen = recompress_h264(np.full((64, 64, 3), colour, np.uint8), 33)
    assert np.abs(seen.astype(int) - colour).max() <= 3


def test_it_is_what_a_one_frame_mp4_at_one_frame_a_second_holds() -> None:
    rgb = photo(128, 160)
    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as container:
        stream = container.add_stream(
            "libx264", rate=1, width=160, height=128, options={"crf": "33", "preset": "veryfast"}
        )
        stream.codec_context.thread_count = 1
        container.mux(stream.encode(av.VideoFrame.from_ndarray(rgb, format="rgb24").reformat(format="yuv420p")))
        container.mux(stream.encode(None))
    file.seek(0)
    with av.open(file, "r") as written:
        expected = next(written.decode(video=0)).to_ndarray(format="rgb24")
    assert np.array_equal(recompress_h264(rgb, 33), expected)


def test_a_picture_of_one_pixel_is_refused() -> None:
    with pytest.raises(MediaError, match="1 x 1 pixels is too small"):
        recompress_h264(np.zeros((1, 1, 3), np.uint8), 33)


def test_a_picture_too_wide_for_h264_is_refused_with_what_would_do() -> None:
    with pytest.raises(MediaError, match="cannot be re-compressed"):
        recompress_h264(np.zeros((2, 16_386, 3), np.uint8), 33)


@pytest.mark.parametrize("crf", [-1, 52])
def test_a_crf_out_of_range_is_refused(crf: int) -> None:
    with pytest.raises(ValueError, match="from 0 to 51"):
        recompress_h264(photo(16, 16), crf)
