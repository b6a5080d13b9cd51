"""Where a rank refused a job, one that ended it is a deserter if another began a collective that it did not."""

from __future__ import annotations

import hypothesis
from hypothesis import strategies as st

from podium.multigpu.lockstep import find_deserter

COUNTS = st.lists(st.integers(0, 5), min_size=1, max_size=6)


def test_ranks_that_began_as_many_are_in_step_whoever_refused() -> None:
    assert find_deserter({0, 2}, {0, 1, 2}, [3, 3, 3]) is None


def test_who_refused_behind_the_others_is_the_deserter() -> None:
    assert find_deserter({1}, {1}, [4, 3, 3]) == 1


def test_who_refused_ahead_of_others_that_are_still_at_work_waits_for_no_judgement() -> None:
    assert find_deserter({0}, {0}, [4, 3]) is None


def test_who_ended_well_behind_one_that_refused_is_the_deserter() -> None:
    assert find_deserter({0}, {0, 1}, [4, 3]) == 1


@hypothesis.given(COUNTS)
def test_nobody_is_a_deserter_where_nobody_refused(counts: list[int]) -> None:
    assert find_deserter((), range(len(counts)), counts) is None


@hypothesis.given(COUNTS, st.data())
def test_the_deserter_has_ended_and_began_fewer_than_somebody(counts: list[int], data: st.DataObject) -> None:
    ended = data.draw(st.sets(st.sampled_from(range(len(counts))), min_size=1))
    deserter = find_deserter(ended, ended, counts)
    if deserter is None:
        assert all(counts[rank] == max(counts) for rank in ended)
    else:
        assert deserter in ended
        assert counts[deserter] == min(counts[rank] for rank in ended) < max(counts)
