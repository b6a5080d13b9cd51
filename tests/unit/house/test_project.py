"""The files around the code agree with it and with each other."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import podium

ROOT = Path(__file__).parents[3]
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_newest_version_in_the_changelog_is_the_code_s() -> None:
    versions = re.findall(r"^## \[(\d+\.\d+\.\d+)\]", CHANGELOG, flags=re.MULTILINE)
    assert versions[0] == podium.__version__


def test_the_licence_is_whole() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert PYPROJECT["project"]["license"] == "Apache-2.0"
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_both_source_roots_are_in_the_wheel_with_their_type_markers() -> None:
    packages = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert packages == ["app/podium", "resources/podium_resources"]
    assert all((ROOT / package / marker).is_file() for package in packages for marker in ("__init__.py", "py.typed"))


def test_every_room_of_the_package_has_its_place_among_the_layers() -> None:
    layers = PYPROJECT["tool"]["importlinter"]["contracts"][0]["layers"]
    placed = {room.strip("() ") for layer in layers for room in layer.split("|")}
    package = Path(podium.__file__).parent
    rooms = {path.stem for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert rooms - {"__init__"} == placed


@pytest.mark.parametrize("script", ["packaging/dev", ".ci/run"])
def test_scripts_can_be_started_as_they_are(script: str) -> None:
    path = ROOT / script
    assert path.read_text(encoding="utf-8").startswith("#!/usr/bin/env ")
    assert path.stat().st_mode & 0o111 == 0o111


def test_the_readme_names_only_verbs_that_exist() -> None:
    named = set(re.findall(r"packaging/dev ([a-z-]+)", (ROOT / "README.md").read_text(encoding="utf-8")))
    script = (ROOT / "packaging" / "dev").read_text(encoding="utf-8")
    assert {"setup", "demo"} <= named
    assert all(f'"{verb}": Verb(' in script for verb in named)
