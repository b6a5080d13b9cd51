"""What the driver's process imports stays free of the tensor libraries, seen in a fresh interpreter."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEAVY = ["accelerate", "diffusers", "torch", "transformers", "PySide6"]
PROBE = """
import importlib, json, sys
heavy, names = json.loads(sys.argv[1])
found = {}
for name in names:
    importlib.import_module(name)
    if loaded := sorted(set(heavy) & set(sys.modules)):
        found[name] = loaded
        break
print(json.dumps(found))
"""


def heavy_after_importing(*names: str) -> dict[str, list[str]]:
    """Import modules in a fresh interpreter; return the first that brought a heavy library in, with what it brought."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps([HEAVY, names])], capture_output=True, text=True, check=True
    )
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def light_modules() -> list[str]:
    """Return every module that an import contract keeps from torch."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = pyproject["tool"]["importlinter"]["contracts"]
    return [name for one in contracts if "torch" in one.get("forbidden_modules", ()) for name in one["source_modules"]]


def test_modules_under_contract_leave_the_tensor_libraries_unloaded() -> None:
    names = light_modules()
    assert {"podium.multigpu", "podium.jobs", "podium.cli"} <= set(names)
    assert heavy_after_importing(*names) == {}


def test_the_probe_sees_a_module_that_loads_torch() -> None:
    assert heavy_after_importing("podium.jobs", "podium.models.transformer.model")["podium.models.transformer.model"]
