"""What the installed PyTorch was built for, found out by a child of its own, once. No torch in this process."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_logger = logging.getLogger(__name__)

_FILE_NAME = "torch-build.json"
_LIMIT_S = 60.0
# With the GPUs hidden, so that no CUDA context is made; a build without CUDA has no architecture flags.
_SCRIPT = (
    "import json, torch; flags = getattr(torch._C, '_cuda_getArchFlags', lambda: '')() or ''; "
    "print(json.dumps({'cuda': torch.version.cuda, 'architectures': flags.split()}))"
)


@dataclass(frozen=True, slots=True)
class TorchBuild:
    """What the installed PyTorch was built for.

    Args:
        cuda: Version of CUDA, such as (12, 8); None for a build without.
        architectures: Such as "sm_90" (code) and "compute_90" (code to be translated for later ones).
    """

    cuda: tuple[int, ...] | None
    architectures: tuple[str, ...]

    def supports(self, major: int, minor: int) -> bool:
        """Return whether it has code for GPUs of a compute capability."""
        for name in self.architectures:
            kind, _, number = name.partition("_")
            digits = number.rstrip("af")
            if not digits.isdecimal():
                continue
            built = divmod(int(digits), 10)
            if kind == "sm" and built[0] == major and built[1] <= minor:
                return True
            if kind == "compute" and built <= (major, minor):
                return True
        return False


def read_torch_build(cache_folder: Path) -> TorchBuild | None:
    """Return what the installed PyTorch was built for, from the cache if that is of it; None if nobody can tell."""
    path = cache_folder / _FILE_NAME
    installed = _installed_version()
    kept = _read(path)
    if kept is None or kept.get("version") != installed:
        facts = _ask_child()
        if facts is None:
            return None
        kept = {"version": installed, **facts}
        _keep(path, kept)
    return _build_of(kept)


def _build_of(facts: dict[str, object]) -> TorchBuild | None:
    cuda, architectures = facts.get("cuda"), facts.get("architectures")
    if not isinstance(architectures, list):
        return None
    numbers = tuple(int(part) for part in str(cuda).split(".") if part.isdecimal()) if cuda else None
    return TorchBuild(numbers, tuple(map(str, architectures)))


def _installed_version() -> str:
    try:
        return version("torch")
    except PackageNotFoundError:
        return ""


def _ask_child() -> dict[str, object] | None:
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _SCRIPT],
            env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
            timeout=_LIMIT_S,
        )
        facts = json.loads(done.stdout.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        _logger.warning("What this PyTorch was built for cannot be found out: %s", error)
        return None
    return facts if isinstance(facts, dict) else None


def _read(path: Path) -> dict[str, object] | None:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return kept if isinstance(kept, dict) else None


def _keep(path: Path, facts: dict[str, object]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(facts), encoding="utf-8")
    except OSError as error:
        _logger.warning("What this PyTorch was built for cannot be kept: %s", error)
