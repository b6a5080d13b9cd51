"""A driver that is killed leaves nothing: no worker, no guard, no forkserver, no folder."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from podium.multigpu import MGPUController

from tests.fakes.processes import Script, is_running, wait_until

NOTHING_LEFT_S = 3.0
# Ranks are forked with what torch alone needs; the runners come by value.
DRIVER = """
from tests.fakes.runners import ScriptedRunner
controller = MGPUController(ScriptedRunner, cpu_ranks=2)
controller.start()
"""


def kill_driver(script: Script) -> None:
    assert len(script.relatives()) >= 4  # two ranks, the guard, the forkserver
    os.kill(script.process.pid, signal.SIGKILL)
    script.process.wait()
    left = script.relatives
    assert wait_until(lambda: not left(), NOTHING_LEFT_S), left()


def test_a_killed_driver_leaves_nothing_of_an_idle_fleet(run_script: Callable[..., Script], tmp_path: Path) -> None:
    script = run_script(
        f"import tempfile; tempfile.tempdir = {str(tmp_path)!r}\n{DRIVER}print('ready'); time.sleep(60)"
    )
    script.wait_for("ready")
    (folder,) = tmp_path.glob("podium-fleet-*")
    assert folder.stat().st_mode & 0o777 == 0o700
    kill_driver(script)
    assert wait_until(lambda: not folder.exists(), NOTHING_LEFT_S)


def test_a_killed_driver_leaves_neither_a_stopped_rank_nor_one_that_holds_the_interpreter_lock(
    run_script: Callable[..., Script],
) -> None:
    script = run_script(
        DRIVER
        + """
stream = controller.stream(action="stop_one_and_wedge_another", rank=1)
print(sorted([next(stream), next(stream)]))
while controller.rank_status()[1].state != "stopped" or controller.rank_status()[0].sign_age_s < 0.8:
    time.sleep(0.01)
print("wedged", flush=True)
next(stream)
"""
    )
    script.wait_for("wedged")
    kill_driver(script)


def test_a_driver_killed_while_its_fleet_starts_leaves_nothing(run_script: Callable[..., Script]) -> None:
    script = run_script(
        """
from tests.fakes.runners import ScriptedRunner
controller = MGPUController(ScriptedRunner, cpu_ranks=2)
threading.Thread(target=lambda: controller.start(action="wait"), daemon=True).start()
while [status.phase for status in controller.rank_status()] != ["loading", "loading"]:
    time.sleep(0.01)
print("loading", flush=True)
time.sleep(60)
"""
    )
    script.wait_for("loading")
    kill_driver(script)


def test_a_driver_killed_while_a_module_is_loaded_ahead_leaves_no_forkserver(
    run_script: Callable[..., Script], tmp_path: Path
) -> None:
    loading = tmp_path / "loading"
    text = f"import pathlib, time\npathlib.Path({str(loading)!r}).touch()\ntime.sleep(600)\n"
    (tmp_path / "slow_to_load.py").write_text(text, encoding="utf-8")
    script = run_script(
        f"""
from podium.multigpu.forkserver import ForkServer
sys.path.append({str(tmp_path)!r})
server = ForkServer(("slow_to_load",))
server.start()
time.sleep(600)
"""
    )
    assert wait_until(loading.exists, 60.0)
    os.kill(script.process.pid, signal.SIGKILL)
    script.process.wait()
    assert wait_until(lambda: not script.relatives(), NOTHING_LEFT_S), script.relatives()


def test_a_driver_that_ends_without_a_shutdown_leaves_nothing(run_script: Callable[..., Script]) -> None:
    script = run_script(DRIVER + "controller.stream(action='wait')\nprint('ready')")
    script.wait_for("ready")
    assert script.process.wait(timeout=20) == 0
    assert wait_until(lambda: not script.relatives(), NOTHING_LEFT_S)


def test_a_driver_killed_with_forked_children_of_its_own_takes_its_fleet_along(
    run_script: Callable[..., Script],
) -> None:
    """A child forked from the driver holds every descriptor of the driver's."""
    script = run_script(
        DRIVER
        + """
if os.fork() == 0:
    time.sleep(600)
print("ready", flush=True)
time.sleep(60)
"""
    )
    script.wait_for("ready")
    os.kill(script.process.pid, signal.SIGKILL)
    script.process.wait()
    assert wait_until(lambda: len(script.relatives()) == 1, NOTHING_LEFT_S)
    os.kill(script.relatives()[0], signal.SIGKILL)


def test_a_child_forked_from_the_driver_that_ends_takes_nothing_along(run_script: Callable[..., Script]) -> None:
    script = run_script(
        DRIVER
        + """
child = os.fork()
if child == 0:
    sys.exit(0)
os.waitpid(child, 0)
time.sleep(0.3)
print("alive", controller.is_alive, list(controller.stream(action="count", num_items=1)), flush=True)
controller.shutdown()
"""
    )
    assert script.wait_for("alive") == "alive True [0]\n"
    assert script.process.wait(timeout=20) == 0


def test_ctrl_c_at_the_driver_reaches_no_rank(run_script: Callable[..., Script]) -> None:
    script = run_script(
        DRIVER
        + """
try:
    print("ready", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    print("alive", controller.is_alive, list(controller.stream(action="count", num_items=1)), flush=True)
controller.shutdown()
"""
    )
    script.wait_for("ready")
    os.killpg(script.process.pid, signal.SIGINT)
    assert script.wait_for("alive") == "alive True [0]\n"
    assert script.process.wait(timeout=20) == 0


def test_a_guard_that_is_killed_is_replaced(
    own_fleet: Callable[..., MGPUController], caplog: pytest.LogCaptureFixture
) -> None:
    fleet = own_fleet(2)
    guards = [pid for pid in children_of(os.getpid()) if "guard.py" in command_of(pid)]
    for pid in guards:
        os.kill(pid, signal.SIGKILL)
    assert wait_until(lambda: caplog.text.count("The guard of the fleet had died") >= len(guards))
    assert wait_until(
        lambda: (
            len([p for p in children_of(os.getpid()) if "guard.py" in command_of(p) and is_running(p)]) == len(guards)
        )
    )
    assert list(fleet.stream(action="count", num_items=1)) == [0]


def children_of(pid: int) -> list[int]:
    """Return the children of a process, whichever thread started them."""
    found = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        found += map(int, path.read_text(encoding="ascii").split())
    return found


def command_of(pid: int) -> str:
    """Return how a process was started; empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""
