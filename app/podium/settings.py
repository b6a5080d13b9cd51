"""What Podium remembers from one window to the next: typed, TOML on disk. Read only by `__main__` and `ui`.

Keys that this version does not know are kept and warned about: an older Podium does not eat a newer one's settings.
"""

from __future__ import annotations

import logging
import os
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar, get_type_hints

import platformdirs
import tomli_w

from podium.errors import PodiumError

SCHEMA_VERSION = 2
FILE_NAME = "settings.toml"
_VERSION_KEY = "schema_version"
_logger = logging.getLogger(__name__)
_T = TypeVar("_T")


class SettingsError(PodiumError):
    """The settings cannot be written: what was changed is forgotten with the window."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The model that was chosen last; empty where none was.

    Args:
        video_vae, audio_vae, duration_head: Of a model whose parts lie in files of their own.
        quantization: "none" or "fp8-cast".
    """

    checkpoint: str = ""
    text_encoder: str = ""
    upscaler: str = ""
    is_demo: bool = False
    distilled_lora: str = ""
    video_vae: str = ""
    audio_vae: str = ""
    duration_head: str = ""
    quantization: str = "none"


@dataclass(frozen=True, slots=True)
class DeviceSettings:
    """Where the fleet stands.

    Args:
        gpus: UUIDs; empty for every one that can be chosen.
        cpu_ranks: Ranks on the CPU; 0 for GPUs.
    """

    gpus: tuple[str, ...] = ()
    cpu_ranks: int = 0


@dataclass(frozen=True, slots=True)
class ClipSettings:
    """Where clips go.

    Args:
        folder: Empty for the folder Podium among the user's videos.
    """

    folder: str = ""


@dataclass(frozen=True, slots=True)
class WindowSettings:
    """How the window looked.

    Args:
        geometry: Where it stood; Qt's own description, base64.
        layout: How it was divided; the same.
        theme: "system", "light" or "dark".
        language: Such as "de"; empty for the system's.
        has_notifications: The artist is told beside the window of what is finished.
        is_system_still: The system said last that nothing is to move; the window follows when it says otherwise.
    """

    geometry: str = ""
    layout: str = ""
    theme: str = "system"
    language: str = ""
    has_notifications: bool = True
    is_system_still: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings.

    Args:
        unknown: What the file holds beside them, kept when it is written.
    """

    model: ModelSettings = field(default_factory=ModelSettings)
    devices: DeviceSettings = field(default_factory=DeviceSettings)
    clip: ClipSettings = field(default_factory=ClipSettings)
    window: WindowSettings = field(default_factory=WindowSettings)
    unknown: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), compare=False, repr=False)


SECTIONS: Mapping[str, type] = MappingProxyType(
    {"model": ModelSettings, "devices": DeviceSettings, "clip": ClipSettings, "window": WindowSettings}
)


def _without_form(tables: dict[str, Any]) -> dict[str, Any]:
    """Leave out the form, which the library keeps."""
    clip = tables.get("clip")
    return {**tables, "clip": {key: clip[key] for key in clip if key == "folder"}} if isinstance(clip, dict) else tables


# From each older version to the one after it: a function on the file's tables.
MIGRATIONS: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = MappingProxyType({1: _without_form})


def default_path() -> Path:
    """Return where the settings lie."""
    return platformdirs.user_config_path("podium", appauthor=False) / FILE_NAME


def load_settings(path: Path) -> Settings:
    """Return the settings in a file; what is missing, damaged or of a wrong kind takes its default, with a warning."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Settings()
    except (OSError, ValueError) as error:
        _logger.warning("The settings in %s cannot be read and are left out: %s", path, error)
        _keep_aside(path)
        return Settings()
    return parse_settings(tables)


def parse_settings(tables: Mapping[str, Any]) -> Settings:
    """Return the settings that a file's tables hold."""
    known = _migrate(dict(tables))
    unknown = {key: value for key, value in known.items() if key not in SECTIONS and key != _VERSION_KEY}
    sections: dict[str, Any] = {}
    for name, kind in SECTIONS.items():
        table = known.get(name, {})
        if not isinstance(table, Mapping):
            _logger.warning("The setting %s is no table; its defaults are taken.", name)
            table = {}
        sections[name], others = _read_section(name, kind, table)
        if others:
            unknown[name] = others
    if unknown:
        _logger.warning("Settings that this version does not know are kept as they are: %s", ", ".join(sorted(unknown)))
    return Settings(**sections, unknown=MappingProxyType(unknown))


def to_tables(settings: Settings) -> dict[str, Any]:
    """Return the tables of a file that holds these settings."""
    tables: dict[str, Any] = {_VERSION_KEY: SCHEMA_VERSION}
    for name, kind in SECTIONS.items():
        section = getattr(settings, name)
        tables[name] = {item.name: _to_toml(getattr(section, item.name)) for item in fields(kind)}
    for key, value in settings.unknown.items():
        if key in SECTIONS and isinstance(value, Mapping):
            tables[key] = {**value, **tables[key]}
        elif key != _VERSION_KEY:
            tables[key] = value
    return tables


def save_settings(settings: Settings, path: Path) -> None:
    """Write the settings, whole or not at all.

    Raises:
        SettingsError: They cannot be written.
    """
    text = tomli_w.dumps(to_tables(settings))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(part).replace(path)
        except OSError:
            Path(part).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise SettingsError(
            f"The settings cannot be written to “{path.parent}”. They hold until the window is closed.",
            details=str(error),
        ) from error


def _migrate(tables: dict[str, Any]) -> dict[str, Any]:
    version = tables.get(_VERSION_KEY, SCHEMA_VERSION)
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        _logger.warning("The settings are those of a newer Podium (%s); what is known of them is taken.", version)
        return tables
    for step in range(version, SCHEMA_VERSION):
        tables = MIGRATIONS[step](tables)
    return tables


def _read_section(name: str, kind: type[_T], table: Mapping[str, Any]) -> tuple[_T, dict[str, Any]]:
    """Return a section, and what its table holds beside it."""
    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    others: dict[str, Any] = {}
    for key, value in table.items():
        if key not in hints:
            others[key] = value
        elif (taken := _from_toml(value, hints[key])) is not None:
            values[key] = taken
        else:
            _logger.warning("The setting %s.%s = %r cannot be used; its default is taken.", name, key, value)
    return kind(**values), others


def _from_toml(value: object, hint: object) -> object | None:
    """Return a value as a field takes it; None if it is of another kind."""
    if hint == tuple[str, ...]:
        is_right = isinstance(value, list) and all(isinstance(item, str) for item in value)
        return tuple(value) if is_right and isinstance(value, list) else None
    # A boolean is an int to Python, and no number to a reader.
    return value if isinstance(hint, type) and type(value) is hint else None


def _to_toml(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _keep_aside(path: Path) -> None:
    """Keep a damaged file under another name: the next save would write over it."""
    try:
        path.replace(path.with_name(f"{path.name}.damaged"))
    except OSError as error:
        _logger.warning("It could not be kept aside: %s", error)


__all__ = [
    "ClipSettings",
    "DeviceSettings",
    "ModelSettings",
    "Settings",
    "SettingsError",
    "WindowSettings",
    "default_path",
    "load_settings",
    "parse_settings",
    "save_settings",
    "to_tables",
]
