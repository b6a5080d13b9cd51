"""A desk for each flow, and a demo model that is written once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from podium.models.demo_cache import ensure_demo_model

from tests.ui.flows.desk import Desk, Home, open_desk


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache in which the demo model lies."""
    folder = tmp_path_factory.mktemp("cache")
    ensure_demo_model(folder / "podium")
    return folder


@pytest.fixture
def home(tmp_path: Path, shared_cache: Path, qapp: QApplication) -> Home:
    """Return the home of somebody who has used Podium with the demo model on the CPU."""
    folder = tmp_path / "home"
    folder.mkdir()
    return Home(folder, shared_cache)


@pytest.fixture
def desk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Desk]:
    """Return a desk of this flow's own."""
    name = request.node.name.removeprefix("test_").replace("[", "-").replace("]", "")
    with open_desk(tmp_path, name) as made:
        yield made
