"""Whether a window can be opened is known before Qt loads, and what is missing is named."""

from __future__ import annotations

import pytest

from podium.ui.display import find_display_problem

X11 = {"DISPLAY": ":0"}


def problem(
    environment: dict[str, str],
    *missing: str,
    platform: str = "linux",
    has_qt: bool = True,
    silent: tuple[str, ...] = (),
) -> str:
    return find_display_problem(
        environment,
        platform=platform,
        can_load=lambda library: library not in missing,
        can_connect=lambda name: name not in silent,
        has_qt=lambda: has_qt,
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
    assert "sudo apt-get install libegl1 libxcb-cursor0." in said
    assert "sudo dnf install libglvnd-egl xcb-util-cursor." in said


def test_one_package_that_brings_several_libraries_is_named_once() -> None:
    said = problem(X11, "libxcb-randr.so.0", "libxcb-shape.so.0")
    assert "sudo apt-get install libxcb-randr0 libxcb-shape0." in said
    assert "sudo dnf install libxcb." in said


def test_libraries_of_wayland_are_asked_for_where_wayland_is_used() -> None:
    said = problem({"WAYLAND_DISPLAY": "wayland-0"}, "libwayland-cursor.so.0")
    assert "The window needs libwayland-cursor0, which is missing" in said


def test_nothing_is_missing_while_one_of_two_displays_will_do() -> None:
    both = {"WAYLAND_DISPLAY": "wayland-0", **X11}
    assert problem(both, "libwayland-cursor.so.0") == ""
    assert problem(both, "libxcb-cursor.so.0") == ""
    assert "libwayland-cursor0" in problem(both, "libwayland-cursor.so.0", "libxcb-cursor.so.0", "libxcb-icccm.so.4")
    assert problem(both, "libwayland-cursor.so.0", silent=("wayland",)) == ""
    assert "does not answer" in problem(both, "libxcb-cursor.so.0", silent=("wayland",))


def test_a_display_that_does_not_answer_is_named() -> None:
    said = problem({"DISPLAY": ":9"}, silent=("xcb",))
    assert "does not answer, or lets nobody in (DISPLAY=:9)" in said
    assert "podium generate" in said


@pytest.mark.parametrize("environment", [{"DISPLAY": ":65000"}, {"WAYLAND_DISPLAY": "nobody"}, {"DISPLAY": "nonsense"}])
def test_whether_a_display_answers_is_asked_as_qt_asks(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert "does not answer" in find_display_problem(environment, platform="linux", has_qt=lambda: True)


def test_libraries_of_x11_are_asked_for_only_where_x11_is_used() -> None:
    assert problem({"QT_QPA_PLATFORM": "offscreen"}, "libxcb-cursor.so.0") == ""
    assert problem({"WAYLAND_DISPLAY": "wayland-0"}, "libxcb-cursor.so.0") == ""
    assert "libxcb-cursor0" in problem({"QT_QPA_PLATFORM": "xcb", "WAYLAND_DISPLAY": "w"}, "libxcb-cursor.so.0")


def test_a_missing_pyside_is_named() -> None:
    assert "PySide6" in problem(X11, has_qt=False)


def test_other_systems_have_their_displays() -> None:
    assert problem({}, platform="darwin") == ""
