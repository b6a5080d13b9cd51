"""Shipped files are found by plain names, and by nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

import podium_resources
from podium.assets import read_bytes, read_text

RESOURCES = Path(podium_resources.__file__).parent
MAX_FILE_BYTES = 12_000_000


def test_bytes_are_the_file_with_its_closing_line_end() -> None:
    assert read_bytes("prompts/demo.txt") == (read_text("prompts/demo.txt") + "\n").encode()


def test_a_file_that_is_not_shipped_is_named() -> None:
    with pytest.raises(ValueError, match=r"'prompts/none\.txt'"):
        read_text("prompts/none.txt")


@pytest.mark.parametrize("name", ["../podium/errors.py", "/etc/passwd", "prompts/./demo.txt", "prompts\\demo.txt", ""])
def test_a_name_that_is_not_plain_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="plain relative name"):
        read_bytes(name)


def test_no_shipped_file_is_larger_than_a_wheel_can_carry() -> None:
    sizes = {path.name: path.stat().st_size for path in RESOURCES.rglob("*") if path.is_file()}
    assert len(sizes) > 50
    assert not {name: size for name, size in sizes.items() if size > MAX_FILE_BYTES}


def test_a_folder_is_no_file() -> None:
    with pytest.raises(ValueError, match="ships no file"):
        read_bytes("prompts")
