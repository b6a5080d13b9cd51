"""Whether a window can be opened is known before Qt loads, and what is missing is named."""

from __future__ import annotations

import pytest

from podium.ui.display import find_display_problem

X11 = {"DISPLAY": ":0"}


def problem(environment: dict[str, str], *missing: str, platform: str = "linux", has_qt: bool = True) -> str:
    return find_display_problem(
        environment, platform=platform, can_load=lambda library: library not in missing, has_qt=lambda: has_qt
    )


@pytest.mark.parametrize("environment", [X11, {"WAYLAND_DISPLAY": "wayland-0"}, {"QT_QPA_PLATFORM": "offscreen"}])
def test_a_display_with_its_libraries_will_do(environment: dict[str, str]) -> None:
    assert problem(environment) == ""


def test_without_a_display_the_command_is_named() -> None:
    assert "There is no display here" in problem({})
    assert "podium generate" in problem({})


def test_a_missing_library_is_named_by_its_package() -> None:
    said = problem(X11, "libEGL.so.1", "libxcb-cursor.so.0")
    assert "The window needs libegl1 and libxcb-cursor0, which are missing" in said
    assert "sudo apt-get install libegl1 libxcb-cursor0" in said


def test_libraries_of_x11_are_asked_for_only_where_x11_is_used() -> None:
    assert problem({"QT_QPA_PLATFORM": "offscreen"}, "libxcb-cursor.so.0") == ""
    assert problem({"WAYLAND_DISPLAY": "wayland-0"}, "libxcb-cursor.so.0") == ""
    assert "libxcb-cursor0" in problem({"QT_QPA_PLATFORM": "xcb", "WAYLAND_DISPLAY": "w"}, "libxcb-cursor.so.0")


def test_a_missing_pyside_is_named() -> None:
    assert "PySide6" in problem(X11, has_qt=False)


def test_other_systems_have_their_displays() -> None:
    assert problem({}, platform="darwin") == ""
