"""How a process of ours is started, and where it begins. Only the standard library is imported before it has a role."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from podium.multigpu import guard

FROZEN_FLAG = "--podium-child"
# The child finds modules where the driver does, also where the driver changed its path at run time.
_BOOTSTRAP = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from podium.multigpu.child import main; main(sys.argv[2:])"
)
# Roles whose modules load torch; they are imported in the child alone.
_MODULES = {"launcher": "podium.multigpu.launcher", "worker": "podium.multigpu.worker"}


def child_command(role: str) -> list[str]:
    """Return the command that starts a child, to which its arguments are added.

    A frozen application cannot run a file or a `-c`: its `__main__` hands `FROZEN_FLAG` and what follows to `main`.

    Args:
        role: "guard", "launcher" or "worker".
    """
    if getattr(sys, "frozen", False):
        return [sys.executable, FROZEN_FLAG, role]
    if role == "guard":
        return [sys.executable, "-I", "-S", guard.__file__]
    return [sys.executable, "-c", _BOOTSTRAP, json.dumps(search_path()), role]


def search_path() -> list[str]:
    """Return the module search path with the working folder spelled out."""
    return [entry or str(Path.cwd()) for entry in sys.path]


def main(argv: Sequence[str]) -> None:
    """Be the child that `argv` names: its role, then its arguments."""
    role, *arguments = argv
    if role == "guard":
        guard.main(arguments)
    else:
        importlib.import_module(_MODULES[role]).main(arguments)
