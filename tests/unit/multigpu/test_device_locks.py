"""A GPU is one Podium's at a time, and nobody's once its process is gone."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from podium.multigpu import device_locks
from podium.multigpu.device_locks import DeviceHeldError, DeviceHolder, DeviceLocks, gpus_of
from podium.multigpu.placement import FleetPlan, Gpu, Placement

FIRST, SECOND = "GPU-11111111-2222", "GPU-33333333-4444"
GPUS = {FIRST: "GPU 0 (A card)", SECOND: "GPU 1 (A card)"}


@pytest.fixture
def mine(tmp_path: Path) -> DeviceLocks:
    return DeviceLocks("podium", tmp_path)


@pytest.fixture
def others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DeviceLocks:
    """Return the locks of another process: a file opened twice is locked as two processes would lock it."""
    monkeypatch.setattr(device_locks, "_LOOK_LIMIT_S", 0.02)
    return DeviceLocks("podium generate", tmp_path)


def test_what_another_has_is_refused_with_its_number_and_name(mine: DeviceLocks, others: DeviceLocks) -> None:
    with others.take({FIRST: GPUS[FIRST]}), pytest.raises(DeviceHeldError) as caught:
        mine.take(GPUS)
    assert caught.value.uuid == FIRST
    assert caught.value.pid == os.getpid()
    expected = f"GPU 0 (A card) is used by another Podium (podium generate, process {os.getpid()})."
    assert caught.value.message.startswith(expected)


def test_what_was_refused_leaves_the_others_free(mine: DeviceLocks, others: DeviceLocks) -> None:
    with others.take({SECOND: GPUS[SECOND]}), pytest.raises(DeviceHeldError):
        mine.take(GPUS)
    with others.take({FIRST: GPUS[FIRST]}):
        pass


def test_what_was_given_back_can_be_taken(mine: DeviceLocks, others: DeviceLocks) -> None:
    hold = others.take(GPUS)
    hold.release()
    hold.release()
    with mine.take(GPUS) as taken:
        assert taken.uuids == [FIRST, SECOND]


def test_one_process_takes_a_gpu_twice_and_has_it_until_both_are_given_back(
    mine: DeviceLocks, others: DeviceLocks
) -> None:
    going, coming = mine.take(GPUS), mine.take({FIRST: GPUS[FIRST]})
    going.release()
    with pytest.raises(DeviceHeldError):
        others.take(GPUS)
    coming.release()
    with others.take(GPUS):
        pass


def test_a_look_tells_who_has_it_and_takes_nothing(mine: DeviceLocks, others: DeviceLocks) -> None:
    assert mine.holder(FIRST) is None
    with others.take(GPUS):
        assert mine.holder(FIRST) == DeviceHolder(os.getpid(), "podium generate")
        assert others.holder(FIRST) is None
    assert mine.holder(FIRST) is None
    with mine.take(GPUS):
        assert mine.holder(FIRST) is None


def test_a_look_of_another_does_not_refuse_the_gpu(
    mine: DeviceLocks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with mine.take(GPUS):
        pass
    fd = os.open(tmp_path / f"{FIRST}.lock", os.O_RDONLY)
    assert device_locks._try_lock(fd, is_shared=True)
    monkeypatch.setattr(device_locks, "_LOOK_LIMIT_S", 20.0)
    looks = threading.Timer(0.02, os.close, (fd,))
    looks.start()
    with mine.take(GPUS):
        pass
    looks.join()


def test_a_process_that_is_killed_has_nothing_any_more(mine: DeviceLocks, tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from podium.multigpu.device_locks import DeviceLocks\n"
        f"hold = DeviceLocks('podium', Path({str(tmp_path)!r})).take({{{FIRST!r}: 'GPU 0'}})\n"
        "print('taken', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"taken\n"
        holder = mine.holder(FIRST)
        assert holder == DeviceHolder(other.pid, "podium")
        other.kill()
        other.wait()
        with mine.take(GPUS):
            pass


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"pid": "x"}', b"\xff\xfe"])
def test_a_holder_that_did_not_say_who_it_is_is_no_error(
    mine: DeviceLocks, others: DeviceLocks, tmp_path: Path, content: bytes
) -> None:
    with others.take(GPUS):
        (tmp_path / f"{FIRST}.lock").write_bytes(content)
        assert mine.holder(FIRST) == DeviceHolder(None)
        with pytest.raises(DeviceHeldError, match=r"another Podium\. Wait"):
            mine.take(GPUS)


@pytest.fixture
def no_folder(tmp_path: Path) -> Iterator[Path]:
    """Return a place where no file can be made, whoever asks."""
    (tmp_path / "file").touch()
    return tmp_path / "file" / "devices"


def test_where_no_file_can_be_made_nothing_is_locked_and_a_warning_says_so(
    no_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    locks = DeviceLocks("podium", no_folder)
    with caplog.at_level(logging.WARNING), locks.take(GPUS):
        assert locks.holder(FIRST) is None
    assert FIRST in caplog.text


def test_a_uuid_names_a_file_in_the_folder_whatever_it_holds(tmp_path: Path) -> None:
    with DeviceLocks("podium", tmp_path / "devices").take({"MIG-1/../../x": "GPU 0"}):
        assert [path.name for path in (tmp_path / "devices").iterdir()] == ["MIG-1_______x.lock"]


def test_the_gpus_of_a_fleet_are_called_by_number_and_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_locks, "visible_gpus", lambda environment: (Gpu(FIRST, "A card"),))
    plan = FleetPlan((Placement(0, 0, FIRST), Placement(1, 1, SECOND)), "nccl")
    assert gpus_of(plan) == {FIRST: "GPU 0 (A card)", SECOND: "GPU 1"}
    assert gpus_of(FleetPlan((Placement(0, None),), "gloo")) == {}
