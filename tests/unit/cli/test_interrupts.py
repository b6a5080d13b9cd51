"""The first signal asks, the second kills, and nobody has to be there to read of it."""

from __future__ import annotations

import signal
import threading

import pytest

from podium.cli import interrupts
from podium.cli.interrupts import Interrupts

WAIT_S = 10


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_asks_and_the_second_kills(number: signal.Signals, capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(number)
    asked, killed = threading.Event(), threading.Event()
    with Interrupts(asked.set, killed.set):
        signal.raise_signal(number)
        assert asked.wait(WAIT_S)
        assert not killed.is_set()
        signal.raise_signal(number)
        assert killed.wait(WAIT_S)
    assert signal.getsignal(number) is before
    assert capsys.readouterr().err == "Stopping at the next step. Ctrl+C again stops at once.\n"


def test_a_job_is_asked_even_where_nothing_can_be_said(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, killed, told = threading.Event(), threading.Event(), threading.Event()

    def say(text: str) -> None:
        # The terminal may be gone with the signal: the job has been asked by then.
        assert asked.is_set()
        told.set()

    monkeypatch.setattr(interrupts, "say", say)
    with Interrupts(asked.set, killed.set):
        signal.raise_signal(signal.SIGHUP)
        assert told.wait(WAIT_S)


def test_signals_that_were_ignored_stay_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Interrupts(lambda: None, lambda: None) as interrupts_:
            signal.raise_signal(signal.SIGHUP)
            assert interrupts_.num_seen == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_while_it_waits_for_an_answer_the_main_thread_itself_is_interrupted() -> None:
    asked = threading.Event()
    with Interrupts(asked.set, lambda: None) as interrupts_:
        with pytest.raises(KeyboardInterrupt), interrupts_.suspended():
            signal.raise_signal(signal.SIGINT)
        assert interrupts_.num_seen == 0
        signal.raise_signal(signal.SIGINT)
        assert asked.wait(WAIT_S)
