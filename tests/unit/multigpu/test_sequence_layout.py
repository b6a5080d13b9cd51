"""Who holds which tokens and heads, and which clips are too large."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.errors import JobRefusedError
from podium.geometry import ClipFormat
from podium.jobs import GenerationRequest, ImageSpec
from podium.multigpu.sequence_layout import TokenLayout, check_num_tokens, num_frames_behind, split_heads


@given(st.integers(1, 64), st.integers(1, 64))
def test_all_heads_are_dealt_out_and_no_rank_has_two_more_than_another(num_heads: int, num_ranks: int) -> None:
    if num_ranks > num_heads:
        with pytest.raises(JobRefusedError, match=f"at most {num_heads} devices"):
            split_heads(num_heads, num_ranks)
        return
    shares = split_heads(num_heads, num_ranks)
    assert (len(shares), sum(shares)) == (num_ranks, num_heads)
    assert shares == tuple(sorted(shares, reverse=True))
    assert shares[0] - shares[-1] <= 1


def test_thirty_two_heads_on_three_ranks_are_eleven_eleven_ten() -> None:
    assert split_heads(32, 3) == (11, 11, 10)


@given(st.integers(0, 300), st.integers(1, 12))
def test_the_ranks_shares_follow_each_other_and_hold_every_token_once(num_tokens: int, num_ranks: int) -> None:
    layouts = [TokenLayout(num_tokens, num_ranks, rank) for rank in range(num_ranks)]
    held = [layout.start + index for layout in layouts for index in range(layout.num_own)]
    assert held == list(range(num_tokens))
    assert {layout.num_padded for layout in layouts} == {layouts[0].share * num_ranks}
    assert 0 <= layouts[0].num_padded - num_tokens < num_ranks


@pytest.mark.parametrize(
    ("clip", "share_percent"),
    [
        (ClipFormat(1088, 1920, 489, Fraction(24)), 2),
        # Few pictures, and hours of sound.
        (ClipFormat(64, 64, 9 + 8 * 1250, Fraction(1)), 51),
    ],
)
def test_a_clip_of_too_many_tokens_is_refused_with_what_has_to_go(clip: ClipFormat, share_percent: int) -> None:
    with pytest.raises(JobRefusedError, match=f"124,440 are the most .* about {share_percent} % of its pixels"):
        check_num_tokens(clip)


def test_the_largest_clip_passes() -> None:
    check_num_tokens(ClipFormat(1088, 1920, 481, Fraction(24)))


@pytest.mark.parametrize(
    ("changes", "num_behind"),
    [
        ({}, 0),
        ({"images": (ImageSpec(Path("a.png")),)}, 0),
        ({"images": (ImageSpec(Path("a.png")), ImageSpec(Path("b.png"), 8))}, 1),
        ({"generated_keyframes": 2}, 2),
        ({"generated_keyframes": (8, 16, 24), "images": (ImageSpec(Path("b.png"), 120),)}, 4),
    ],
)
def test_key_frames_stand_behind_a_clips_tokens_as_pictures_do(changes: dict[str, object], num_behind: int) -> None:
    # As little sound as may be, which has tokens too.
    clip = ClipFormat(64, 64, 121, Fraction(120))
    request = replace(GenerationRequest("a fox", 1, clip, Path("a.mp4")), **changes)  # type: ignore[arg-type] # any field
    assert num_frames_behind(request) == num_behind
    most = 16 * 4
    check_num_tokens(clip, most + 4 * num_behind, num_pictures=num_frames_behind(request))
    with pytest.raises(JobRefusedError, match="This clip is too large"):
        check_num_tokens(clip, most + 4 * num_behind - 1, num_pictures=num_frames_behind(request))
