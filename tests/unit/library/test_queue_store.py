"""The queue on disk: its order, its keys, and what is in an entry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.library import Library

from tests.unit.library.rows import queue_row


@pytest.fixture
def library() -> Iterator[Library]:
    with Library.in_memory() as library:
        yield library


def keys(library: Library) -> list[int]:
    return [row.key for row in library.queue.load()]


def test_an_entry_comes_back_as_it_was(library: Library) -> None:
    row = replace(queue_row(3, status="failed"), failure={"sentence": "Rank 1 died.", "log_lines": ["a", "b"]})
    library.queue.write([3], saved=[row])
    assert library.queue.load() == (row,)


def test_what_a_check_said_of_an_entry_is_kept_and_taken_back(library: Library) -> None:
    row = replace(queue_row(3), notes=("It may do little.", "“fox” is for another model."))
    library.queue.write([3], saved=[row])
    assert library.queue.load() == (row,)
    library.queue.write([3], saved=[replace(row, notes=())])
    assert library.queue.load()[0].notes == ()


def test_a_change_of_an_entry_leaves_its_place(library: Library) -> None:
    library.queue.write([1, 2, 3], saved=[queue_row(key) for key in (1, 2, 3)])
    library.queue.write([1, 2, 3], saved=[queue_row(2, status="paused")])
    assert [(row.key, row.status) for row in library.queue.load()] == [(1, "pending"), (2, "paused"), (3, "pending")]


def test_a_key_is_never_given_twice(library: Library) -> None:
    library.queue.write([1, 2], saved=[queue_row(1), queue_row(2)])
    library.queue.write([], removed=[1, 2])
    assert library.queue.last_key() == 2


@settings(max_examples=30)
@given(st.lists(st.permutations(range(1, 7)), min_size=1, max_size=4), st.sets(st.integers(1, 6)))
def test_every_order_is_kept_whatever_the_order_before(orders: list[list[int]], gone: set[int]) -> None:
    with Library.in_memory() as library:
        library.queue.write(range(1, 7), saved=[queue_row(key) for key in range(1, 7)])
        for order in orders:
            library.queue.write(order)
            assert keys(library) == list(order)
        left = [key for key in orders[-1] if key not in gone]
        library.queue.write(left, removed=tuple(gone))
        assert keys(library) == left


def test_an_entry_that_cannot_be_read_is_left_out_and_stays(library: Library, caplog: pytest.LogCaptureFixture) -> None:
    library.queue.write([1, 2], saved=[queue_row(1), queue_row(2)])
    library._database.write("UPDATE queue SET request = '{\"version\": 99}' WHERE key = 1")
    assert keys(library) == [2]
    assert "entry 1" in caplog.text
    library.queue.write([3, 2], saved=[queue_row(3)])
    assert library._database.read("SELECT count(*) FROM queue") == [(3,)]


def test_a_thousand_entries_are_added_and_moved_in_a_moment(library: Library) -> None:
    order = list(range(1, 1001))
    library.queue.write(order, saved=[queue_row(key) for key in order])
    num_changes = library._database._connection.total_changes
    library.queue.write([*order, 1001], saved=[queue_row(1001)])
    # Only the new one: what stays in its place is not written again.
    assert library._database._connection.total_changes - num_changes <= 2
