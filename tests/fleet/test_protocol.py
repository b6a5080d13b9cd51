"""The protocol of jobs on a real fleet, in any order that several threads may come up with."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from podium.multigpu import (
    ControllerBusyError,
    ControllerStoppedError,
    JobCancelled,
    MGPUController,
    Stream,
    SymmetricRunnerError,
)

from tests.fakes.runners import ScriptedRunner

NUM_RANKS = 2
THREADS = ("first", "second", "third")


class Actor:
    """A thread that does what it is told, one thing after another."""

    def __init__(self, name: str) -> None:
        self._tasks: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._outcomes: queue.SimpleQueue[tuple[object, Exception | None]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def do(self, task: Callable[[], Any]) -> Any:
        """Return what the task returned in the thread, or raise what it raised there."""
        self._tasks.put(task)
        value, error = self._outcomes.get(timeout=30)
        if error is not None:
            raise error
        return value

    def end(self) -> None:
        """End the thread."""
        self._tasks.put(None)
        self._thread.join(timeout=30)

    def _run(self) -> None:
        while (task := self._tasks.get()) is not None:
            try:
                self._outcomes.put((task(), None))
            except Exception as error:  # noqa: BLE001 - it is raised again where the task came from
                self._outcomes.put((None, error))


class Protocol(RuleBasedStateMachine):
    """A controller, and beside it what it has to do.

    A job yields its number `num_items` times and ends, or goes on until it is cancelled.
    """

    log_folder: Path | None = None

    def __init__(self) -> None:
        super().__init__()
        self.actors = {name: Actor(name) for name in THREADS}
        self.stream: Stream | None = None
        self.old: list[Stream] = []
        self.owner = ""
        self.expected: list[int] = []
        self.is_endless = False
        self.is_cancelled = False
        self.is_open = False
        self.is_up = False
        self.num_jobs = 0

    @initialize()
    def start(self) -> None:
        self.fleet = MGPUController(ScriptedRunner, cpu_ranks=NUM_RANKS, log_folder=self.log_folder)
        self.fleet.start(timeout=60)
        self.is_up = True

    @rule(name=st.sampled_from(THREADS), num_items=st.integers(0, 3), is_endless=st.booleans())
    def dispatch(self, name: str, num_items: int, is_endless: bool) -> None:
        job = {"num_steps": 10**9, "step_s": 0.001} if is_endless else {"num_steps": num_items}
        expected = None if self.is_up and not self.is_open else ControllerBusyError
        stream = self._outcome(name, lambda: self.fleet.stream(action="steps", **job), not_up=ControllerStoppedError)
        if not self.is_up:
            assert isinstance(stream, ControllerStoppedError)
        elif expected is not None:
            assert isinstance(stream, expected)
        else:
            assert isinstance(stream, Stream)
            self.num_jobs += 1
            assert stream.job_id == self.num_jobs
            self.stream, self.owner, self.is_endless, self.is_open = stream, name, is_endless, True
            self.is_cancelled = False
            self.expected = list(range(1, num_items + 1))
            self.old.append(stream)

    @precondition(lambda self: self.is_open)
    @rule()
    def iterate(self) -> None:
        if self.is_endless and self.is_up and self.is_cancelled:
            self._expect_end(JobCancelled)
            return
        item = self._outcome(self.owner, lambda: next(self._open(), "end"))
        if isinstance(item, ControllerStoppedError):
            assert not self.is_up
            self.is_open = False
        elif self.is_endless and self.is_up:
            assert isinstance(item, int)
        elif self.is_up:
            self._check_item(item)
        else:
            # What was sent before the stop may still arrive.
            self.is_open = item != "end" and self.is_open

    @precondition(lambda self: self.is_open)
    @rule(name=st.sampled_from(THREADS))
    def meddle(self, name: str) -> None:
        if name != self.owner:
            for action in (lambda: next(self._open()), lambda: self._open().drain()):
                assert isinstance(self._outcome(name, action), RuntimeError)

    @precondition(lambda self: self.is_open and (not self.is_endless or self.is_cancelled or not self.is_up))
    @rule()
    def drain(self) -> None:
        assert self._outcome(self.owner, lambda: self._open().drain()) is None
        self.is_open = False

    @precondition(lambda self: self.is_open)
    @rule(name=st.sampled_from(THREADS))
    def cancel(self, name: str) -> None:
        assert self._outcome(name, lambda: self._open().cancel()) is None
        self.is_cancelled = True

    @precondition(lambda self: len(self.old) > 1)
    @rule(name=st.sampled_from(THREADS), data=st.data())
    def cancel_an_old_one(self, name: str, data: st.DataObject) -> None:
        stream = data.draw(st.sampled_from(self.old[:-1]))
        assert self._outcome(name, stream.cancel) is None

    @precondition(lambda self: self.old and not self.is_open)
    @rule()
    def read_on_after_the_end(self) -> None:
        assert self._outcome(self.owner, lambda: (next(self.old[-1], "end"), self.old[-1].drain())) == ("end", None)

    @rule(name=st.sampled_from(THREADS), grace_s=st.sampled_from([0.0, 5.0]))
    @precondition(lambda self: self.num_jobs > 1)
    def shut_down(self, name: str, grace_s: float) -> None:
        assert self._outcome(name, lambda: self.fleet.shutdown(graceful_timeout=grace_s)) is None
        self.is_up = False

    @invariant()
    def tells_whether_it_is_alive(self) -> None:
        assert self.fleet.is_alive is self.is_up
        assert [status.rank for status in self.fleet.rank_status()] == list(range(NUM_RANKS))

    def teardown(self) -> None:
        self.fleet.shutdown(graceful_timeout=0)
        for actor in self.actors.values():
            actor.end()
        self.fleet.shutdown(graceful_timeout=5)
        super().teardown()

    def _open(self) -> Stream:
        assert self.stream is not None
        return self.stream

    def _outcome(self, name: str, task: Callable[[], Any], not_up: type[Exception] | None = None) -> Any:
        try:
            return self.actors[name].do(task)
        except Exception as error:  # noqa: BLE001 - the rules look at it
            return error

    def _check_item(self, item: object) -> None:
        if isinstance(item, SymmetricRunnerError):
            # A cancel may come before the end, or too late to matter.
            assert self.is_cancelled
            assert isinstance(item.__cause__, JobCancelled)
            self.is_open = False
        elif item == "end":
            assert self.expected == []
            self.is_open = False
        else:
            assert item == self.expected.pop(0)

    def _expect_end(self, kind: type[Exception]) -> None:
        error = self._outcome(self.owner, lambda: list(self._open()))
        assert isinstance(error, SymmetricRunnerError)
        assert [type(cause) for cause in error.errors] == [kind] * NUM_RANKS
        self.is_open = False


@pytest.mark.usefixtures("_warm_forkserver")
def test_any_order_of_calls_from_any_threads_keeps_the_protocol(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Protocol, "log_folder", tmp_path)
    run_state_machine_as_test(
        Protocol,
        settings=hypothesis.settings(
            max_examples=8, stateful_step_count=25, suppress_health_check=list(hypothesis.HealthCheck)
        ),
    )
