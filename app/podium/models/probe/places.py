"""Probe whatever path the artist gives: a file, a text-encoder folder, or a folder of several files."""

from __future__ import annotations

from pathlib import Path

from podium.models.errors import CheckpointReason
from podium.models.file_kinds import is_folder
from podium.models.probe.gemma_folder import looks_like_gemma_folder, probe_gemma_folder
from podium.models.probe.report import FileKind, FileReport, Problem
from podium.models.probe.safetensors_file import probe_file

_MODEL_SUFFIXES = frozenset({".safetensors", ".sft", ".gguf", ".ckpt", ".pt", ".pth", ".bin"})


def probe(path: Path) -> FileReport:
    """Say what a file or a text-encoder folder is, which slots it can fill, and what is wrong with it.

    Reads headers, JSON and names only, so it takes milliseconds for files of any size. Never raises for what is on the
    disk: a file that cannot be read is reported so.

    Args:
        path: A file, or the folder of a text encoder. Any other folder is reported as unrecognised (see `probe_all`).
    """
    if not is_folder(path):
        return probe_file(path)
    return probe_gemma_folder(path) if looks_like_gemma_folder(path) else _plain_folder(path)


def probe_all(path: Path) -> tuple[FileReport, ...]:
    """Probe a file, a text-encoder folder, or each model file and text-encoder folder right inside another folder.

    Reports come in the order of names. A folder with nothing of a model in it gets one report that says so.
    """
    if not is_folder(path) or looks_like_gemma_folder(path):
        return (probe(path),)
    reports = tuple(probe(entry) for entry in _entries(path) if _is_candidate(entry))
    return reports or (_plain_folder(path),)


def _is_candidate(entry: Path) -> bool:
    if is_folder(entry):
        return looks_like_gemma_folder(entry)
    return entry.suffix.lower() in _MODEL_SUFFIXES


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _plain_folder(folder: Path) -> FileReport:
    inner = next((entry for entry in _entries(folder) if is_folder(entry) and looks_like_gemma_folder(entry)), None)
    hint = (
        f"Its folder “{inner.name}” has: choose that one."
        if inner
        else "Choose a .safetensors file, or the folder with a text encoder's config.json."
    )
    sentence = f"The folder “{folder.name}” has no text encoder in it. {hint}"
    return FileReport(folder, FileKind.UNRECOGNISED, problems=(Problem(CheckpointReason.WRONG_KIND, sentence),))
