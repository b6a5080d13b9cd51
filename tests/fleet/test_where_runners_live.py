"""Runners by value, wherever they are defined, and by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from podium.multigpu import MGPUController, MGPURunner, RunnerCrashedError, RunnerRef

from tests.fakes.processes import Script

GREETING = "hello from a test module"


class ModuleRunner(MGPURunner):
    """Uses a name of its module, which no worker can import."""

    def __call__(self, *, name: str) -> Iterator[str]:
        yield f"{GREETING}, {name} {self.rank}"


class DerivedRunner(ModuleRunner):
    def __call__(self, *, name: str) -> Iterator[str]:
        yield from super().__call__(name=name.upper())


def test_a_runner_of_a_test_module_goes_by_value(own_fleet: Callable[..., MGPUController]) -> None:
    fleet = own_fleet(2, runner=ModuleRunner)
    assert sorted(fleet.stream(name="rank")) == [f"{GREETING}, rank {rank}" for rank in (0, 1)]


def test_its_base_classes_go_along(own_fleet: Callable[..., MGPUController]) -> None:
    assert list(own_fleet(1, runner=DerivedRunner).stream(name="rank")) == [f"{GREETING}, RANK 0"]


def test_a_runner_of_a_function_goes_by_value(own_fleet: Callable[..., MGPUController]) -> None:
    held = [1, 2, 3]

    class LocalRunner(MGPURunner):
        def __call__(self) -> Iterator[Any]:
            yield sum(held)

    assert list(own_fleet(1, runner=LocalRunner).stream()) == [6]


# No `if __name__ == "__main__"`: a worker that imported this script would start a fleet of its own.
SCRIPT = """
class Box:
    def __init__(self, value): self.value = value

class MainRunner(MGPURunner):
    def setup(self, *, box): self.box = box
    def __call__(self, *, factor): yield Box(self.box.value * factor + self.rank)

controller = MGPUController(MainRunner, cpu_ranks=2)
controller.start(box=Box(10))
boxes = list(controller.stream(factor=2))
print("answer", sorted(box.value for box in boxes), {type(box) is Box for box in boxes}, flush=True)
controller.shutdown()
"""


def test_a_runner_of_a_script_without_a_main_guard_goes_by_value(run_script: Callable[..., Script]) -> None:
    script = run_script(SCRIPT)
    assert script.wait_for("answer") == "answer [20, 21] {True}\n"
    assert script.process.wait(timeout=20) == 0


def test_a_runner_of_an_interactive_session_goes_by_value(run_script: Callable[..., Script]) -> None:
    script = run_script(SCRIPT, stdin=True)
    assert "[20, 21] {True}" in script.wait_for("answer")
    assert script.process.wait(timeout=20) == 0


def test_a_runner_by_name_is_imported_by_the_ranks_alone(
    own_fleet: Callable[..., MGPUController], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    (tmp_path / "far_away_runner.py").write_text(
        "from podium.multigpu import MGPURunner\nclass Far(MGPURunner):\n    def __call__(self): yield __name__\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert list(own_fleet(1, runner=RunnerRef("far_away_runner:Far")).stream()) == ["far_away_runner"]
    assert "far_away_runner" not in sys.modules


def test_a_name_that_leads_nowhere_fails_the_start(own_fleet: Callable[..., MGPUController]) -> None:
    fleet = own_fleet(2, start=False, runner=RunnerRef("no_such_module:Runner"))
    with pytest.raises(RunnerCrashedError, match="no_such_module"):
        fleet.start(timeout=60)


def test_the_driver_loads_no_torch_for_a_job_without_tensors(run_script: Callable[..., Script]) -> None:
    script = run_script(
        """
controller = MGPUController(RunnerRef("tests.fakes.runners:ScriptedRunner"), cpu_ranks=2)
controller.start()
items = list(controller.stream(action="count", num_items=2))
print("loaded", items, sorted({"torch", "diffusers", "transformers", "numpy"} & set(sys.modules)), flush=True)
controller.shutdown()
"""
    )
    assert script.wait_for("loaded") == "loaded [0, 1] []\n"
    assert script.process.wait(timeout=20) == 0
