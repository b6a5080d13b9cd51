"""Settings come back as they were, and a strange file costs a warning, never the window."""

from __future__ import annotations

import logging
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import settings as module
from podium.settings import (
    ClipSettings,
    DeviceSettings,
    ModelSettings,
    Settings,
    SettingsError,
    WindowSettings,
    load_settings,
    parse_settings,
    save_settings,
    to_tables,
)

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
numbers = st.integers(-(2**63), 2**63 - 1)
all_settings = st.builds(
    Settings,
    st.builds(ModelSettings, text, text, text, st.booleans(), text, text, text, text, text),
    st.builds(DeviceSettings, st.lists(text, max_size=3).map(tuple), numbers),
    st.builds(ClipSettings, text),
    st.builds(WindowSettings, text, text, text),
)


@given(all_settings)
def test_settings_come_back_from_their_tables(settings: Settings) -> None:
    assert parse_settings(to_tables(settings)) == settings


def test_settings_come_back_from_disk(tmp_path: Path) -> None:
    settings = Settings(ModelSettings("/ü/a “b”.safetensors"), DeviceSettings(("GPU-1", "GPU-2")))
    save_settings(settings, tmp_path / "new" / "settings.toml")
    assert load_settings(tmp_path / "new" / "settings.toml") == settings
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["settings.toml"]


def test_without_a_file_there_are_defaults(tmp_path: Path) -> None:
    assert load_settings(tmp_path / "settings.toml") == Settings()


def test_what_this_version_does_not_know_is_kept_and_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('schema_version = 2\n[devices]\ncpu_ranks = 4\nmood = "blue"\n[future]\nx = [1, 2]\n')
    settings = load_settings(path)
    assert settings.devices.cpu_ranks == 4
    assert "future" in caplog.text
    save_settings(settings, path)
    written = tomllib.loads(path.read_text())
    assert written["devices"]["mood"] == "blue"
    assert written["future"] == {"x": [1, 2]}


@pytest.mark.parametrize("value", ['"wide"', "true", "1.5", "[1]"])
def test_a_value_of_the_wrong_kind_takes_its_default_and_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, value: str
) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(f'[devices]\ncpu_ranks = {value}\ngpus = ["GPU-1"]\n')
    assert load_settings(path).devices == DeviceSettings(("GPU-1",))
    assert "devices.cpu_ranks" in caplog.text


def test_a_damaged_file_is_kept_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "settings.toml"
    path.write_bytes(b"\xff not toml [")
    assert load_settings(path) == Settings()
    assert (tmp_path / "settings.toml.damaged").read_bytes() == b"\xff not toml ["
    assert "cannot be read" in caplog.text


def test_an_older_file_is_brought_up_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    def rename(tables: dict[str, object]) -> dict[str, object]:
        return {"devices": {"cpu_ranks": tables["ranks"]}}

    monkeypatch.setattr(module, "MIGRATIONS", {0: rename, 1: dict})
    assert parse_settings({"schema_version": 0, "ranks": 3}).devices.cpu_ranks == 3


def test_a_form_of_the_first_version_is_left_to_the_library(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    tables = {"schema_version": 1, "clip": {"folder": "/clips", "width": 640, "frame_rate": "24"}}
    assert parse_settings(tables) == Settings(clip=ClipSettings("/clips"))
    assert parse_settings({"schema_version": 1, "clip": 5}) == Settings()
    assert "width" not in caplog.text


def test_a_newer_file_gives_what_is_known_of_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    assert parse_settings({"schema_version": 99, "devices": {"cpu_ranks": 3}}).devices.cpu_ranks == 3
    assert "newer Podium" in caplog.text


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match="cannot be written"):
        save_settings(Settings(), tmp_path / "file" / "settings.toml")
