"""The stream protocol, as a machine: what arrives in whatever order is delivered once, then the end, then nothing."""

from __future__ import annotations

import pickle
import time

import hypothesis
import pytest
from hypothesis import strategies as st

from podium.jobs import Phase
from podium.multigpu import (
    AsymmetricRunnerError,
    ControllerStoppedError,
    FleetError,
    JobCancelled,
    RunnerError,
    SymmetricRunnerError,
    WorkerDiedError,
)
from podium.multigpu.channel import Kind, Packet
from podium.multigpu.stream import JobBox, Stream


def packet(kind: Kind, value: object) -> Packet:
    return Packet(kind, 1, time.monotonic(), pickle.dumps(value), memoryview(b""))


def stream_of(box: JobBox, stopped: FleetError | None = None) -> Stream:
    return Stream(box, lambda job_id: None, lambda: stopped)


def refusal(error: Exception) -> Packet:
    return packet(Kind.REFUSED, (error, None))


@st.composite
def arrivals(draw: st.DrawFn) -> tuple[int, list[tuple[int, int | None]]]:
    """Return a number of ranks, and in an order that sockets allow what arrives of each: items, then None once."""
    num_ranks = draw(st.integers(1, 4))
    queues = {rank: [*range(draw(st.integers(0, 4))), None] for rank in range(num_ranks)}
    order = []
    while queues:
        rank = draw(st.sampled_from(sorted(queues)))
        order.append((rank, queues[rank].pop(0)))
        if not queues[rank]:
            del queues[rank]
    return num_ranks, order


@hypothesis.given(arrivals())
def test_items_are_delivered_in_their_order_and_then_the_returns(
    arrived: tuple[int, list[tuple[int, int | None]]],
) -> None:
    num_ranks, order = arrived
    box = JobBox(1, num_ranks, None)
    for rank, item in order:
        box.put(rank, packet(Kind.FINISHED, rank) if item is None else packet(Kind.YIELDED, (rank, item)))
    stream = stream_of(box)
    received = [next(stream) for _, item in order if item is not None]
    with pytest.raises(StopIteration) as end:
        next(stream)
    assert end.value.value == tuple(range(num_ranks))
    assert received == [(rank, item) for rank, item in order if item is not None]
    assert stream.is_over
    assert list(stream) == []


@hypothesis.given(arrivals(), st.integers(0, 20))
def test_a_failure_comes_after_all_that_was_sent_before_it(
    arrived: tuple[int, list[tuple[int, int | None]]], at: int
) -> None:
    num_ranks, order = arrived
    hypothesis.assume(at < len(order))
    box = JobBox(1, num_ranks, None)
    for rank, item in order[:at]:
        box.put(rank, packet(Kind.FINISHED, rank) if item is None else packet(Kind.YIELDED, (rank, item)))
    box.fail(lambda: WorkerDiedError("Rank 0 died.", rank=0, phase=Phase.IDLE))
    stream, received = stream_of(box), []
    with pytest.raises(WorkerDiedError):
        received.extend(stream)
    assert list(stream) == []
    assert stream.is_over


def test_a_shutdown_drops_what_was_not_read() -> None:
    box = JobBox(1, 1, None)
    box.put(0, packet(Kind.YIELDED, 1))
    box.fail(lambda: ControllerStoppedError("The fleet was stopped."), drops_items=True)
    with pytest.raises(ControllerStoppedError):
        next(stream_of(box))


def test_a_failure_after_the_end_changes_nothing() -> None:
    box = JobBox(1, 1, None)
    box.put(0, packet(Kind.FINISHED, "done"))
    box.fail(lambda: ControllerStoppedError("The fleet was stopped."), drops_items=True)
    with pytest.raises(StopIteration) as end:
        next(stream_of(box))
    assert end.value.value == ("done",)


def test_an_item_that_cannot_be_read_here_costs_only_itself() -> None:
    box = JobBox(1, 1, None)
    box.put(0, Packet(Kind.YIELDED, 1, 0.0, b"not a pickle", memoryview(b"")))
    box.put(0, packet(Kind.FINISHED, None))
    stream = stream_of(box)
    with pytest.raises(pickle.UnpicklingError):
        next(stream)
    assert not stream.is_over
    assert list(stream) == []


def test_refusals_of_different_kinds_are_not_symmetric() -> None:
    box = JobBox(1, 2, None)
    box.put(0, refusal(RunnerError("too large")))
    box.put(1, refusal(JobCancelled("cancelled")))
    with pytest.raises(AsymmetricRunnerError):
        next(stream_of(box))


def test_a_cancel_by_a_shutdown_reads_as_that() -> None:
    box = JobBox(1, 1, None)
    box.put(0, refusal(JobCancelled("cancelled")))
    with pytest.raises(ControllerStoppedError):
        next(stream_of(box, ControllerStoppedError("The fleet was stopped.")))


def test_a_refusal_that_cannot_be_read_here_is_still_a_refusal() -> None:
    box = JobBox(1, 1, None)
    box.put(0, Packet(Kind.REFUSED, 1, 0.0, b"not a pickle", memoryview(b"")))
    with pytest.raises(SymmetricRunnerError, match="could not be read"):
        next(stream_of(box))


@pytest.mark.parametrize(
    "error",
    [
        RunnerError("no", details="d"),
        SymmetricRunnerError((RunnerError("no"), RunnerError("no"))),
        AsymmetricRunnerError((None, RunnerError("no"))),
        WorkerDiedError("Rank 1 died.", rank=1, phase=Phase.STAGE_1, signal=9, log_lines=("last",)),
        ControllerStoppedError("Stopped.", ranks=(0, 1), phases=(Phase.IDLE, Phase.IDLE)),
    ],
)
def test_errors_survive_a_pickle_with_all_they_carry(error: RunnerError | FleetError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert (str(copy), copy.details) == (str(error), error.details)
    assert {k: str(v) for k, v in vars(copy).items()} == {k: str(v) for k, v in vars(error).items()}
