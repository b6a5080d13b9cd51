"""What ranks log and print: at the driver, in files, and where torch's rules say."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from podium.multigpu import MGPUController

from tests.fakes.processes import wait_until
from tests.fakes.runners import ScriptedRunner
from tests.fleet.conftest import FleetPool


def test_a_record_arrives_at_the_driver_with_its_rank_and_job(
    fleets: FleetPool, caplog: pytest.LogCaptureFixture
) -> None:
    stream = fleets.get().stream(action="log", rank=1, text="the lamp is lit")
    stream.drain()
    assert wait_until(lambda: "the lamp is lit" in caplog.text)
    (record,) = [record for record in caplog.records if record.message == "the lamp is lit"]
    assert (record.name, record.levelname) == ("tests.runner", "WARNING")
    assert (record.__dict__["rank"], record.__dict__["job_id"]) == (1, stream.job_id)


def test_each_rank_has_a_log_and_what_it_printed_in_files(tmp_path: Path) -> None:
    with MGPUController(ScriptedRunner, cpu_ranks=2, log_folder=tmp_path / "logs") as fleet:
        fleet.start(timeout=60)
        fleet.stream(action="log", rank=1, text="the lamp is lit").drain()
    (folder,) = (tmp_path / "logs").iterdir()
    assert "rank 1 job 1 tests.runner: the lamp is lit" in (folder / "rank-1.log").read_text(encoding="utf-8")
    assert "printed the lamp is lit" in (folder / "rank-1.out").read_text(encoding="utf-8")
    assert "lamp" not in (folder / "rank-0.log").read_text(encoding="utf-8")


def test_the_logs_of_the_last_fleets_are_kept_and_older_ones_go(tmp_path: Path) -> None:
    for k in range(12):
        (tmp_path / f"fleet-2000010{k:02d}-000000-1-1").mkdir()
    with MGPUController(ScriptedRunner, cpu_ranks=1, log_folder=tmp_path) as fleet:
        fleet.start(timeout=60)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert len(names) == 10
    assert not any(name.startswith("fleet-200001000") for name in names)


def test_a_log_folder_that_cannot_be_written_stops_no_fleet(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    blocked = tmp_path / "a file"
    blocked.write_text("in the way", encoding="utf-8")
    with MGPUController(ScriptedRunner, cpu_ranks=1, log_folder=blocked / "logs") as fleet:
        fleet.start(timeout=60)
        assert list(fleet.stream(action="count", num_items=1)) == [0]
    assert "No log can be written" in caplog.text


def test_torchs_rules_say_where_output_goes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, Std

    specs = DefaultLogsSpecs(log_dir=str(tmp_path), redirects=Std.ALL, tee={0: Std.NONE, 1: Std.OUT})
    with MGPUController(ScriptedRunner, cpu_ranks=2, logs_specs=specs, log_folder=tmp_path / "ours") as fleet:
        fleet.start(timeout=60)
        fleet.stream(action="log", rank=1, text="the lamp is lit").drain()
    (printed,) = tmp_path.glob("*/attempt_0/1/stdout.log")
    assert printed.read_text(encoding="utf-8") == "printed the lamp is lit\n"
    assert capfd.readouterr().out.count("printed the lamp is lit") == 1
