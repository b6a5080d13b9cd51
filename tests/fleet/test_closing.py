"""The orderly end of a rank: its runner first, then its groups."""

from __future__ import annotations

from pathlib import Path

import pytest

from podium.multigpu import MGPUController, RunnerRef, WorkerDiedError

RUNNER = RunnerRef("tests.fakes.closing_runner:ClosingRunner")


def printed(folder: Path, rank: int) -> list[str]:
    (of_fleet,) = folder.iterdir()
    return (of_fleet / f"rank-{rank}.out").read_text(encoding="utf-8").split()


def test_groups_are_destroyed_after_runners_were_closed_and_although_that_failed(tmp_path: Path) -> None:
    with MGPUController(RUNNER, cpu_ranks=2, log_folder=tmp_path) as fleet:
        fleet.start(timeout=60)
        fleet.stream().drain()
        fleet.shutdown(graceful_timeout=20)
    assert [printed(tmp_path, rank) for rank in range(2)] == [["closing", "destroyed"]] * 2
    (folder,) = tmp_path.iterdir()
    assert "ValueError: cannot be closed" in (folder / "rank-1.log").read_text(encoding="utf-8")


def test_a_runner_that_was_never_set_up_is_not_closed(tmp_path: Path) -> None:
    fleet = MGPUController(RUNNER, cpu_ranks=1, log_folder=tmp_path)
    with pytest.raises(WorkerDiedError, match="no setup"):
        fleet.start(timeout=60, fails=True)
    assert "closing" not in printed(tmp_path, 0)
