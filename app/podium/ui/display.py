"""Whether a window can be opened at all, found out before Qt loads: Qt itself ends the process where it cannot."""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Callable, Mapping

INSTEAD = "“podium generate” makes clips without a window; “podium generate --help” tells how."

# Source: what the libraries and the xcb and wayland plug-ins of PySide6's wheels link to, by Debian's packages.
_CORE_LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libglib-2.0.so.0": "libglib2.0-0",
}
_X11_LIBRARIES = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libX11-xcb.so.1": "libx11-xcb1",
}


def find_display_problem(
    environment: Mapping[str, str],
    *,
    platform: str,
    can_load: Callable[[str], bool] | None = None,
    has_qt: Callable[[], bool] | None = None,
) -> str:
    """Return a sentence on why no window can be opened here, and what would help; empty if one can.

    Args:
        environment: The process's variables.
        platform: As `sys.platform` has it.
        can_load: Tells whether a shared library can be loaded.
        has_qt: Tells whether PySide6 is installed.
    """
    if not (has_qt or _has_qt)():
        return f"PySide6, which Podium's window is made with, is not installed: pip install PySide6. {INSTEAD}"
    if not platform.startswith("linux"):
        return ""
    chosen = environment.get("QT_QPA_PLATFORM", "").partition(":")[0].partition(";")[0]
    has_x11, has_wayland = bool(environment.get("DISPLAY")), bool(environment.get("WAYLAND_DISPLAY"))
    if not chosen and not (has_x11 or has_wayland):
        return f"There is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set). {INSTEAD}"
    needs_x11 = chosen == "xcb" or (not chosen and has_x11 and not has_wayland)
    wanted = _CORE_LIBRARIES | (_X11_LIBRARIES if needs_x11 else {})
    missing = [package for library, package in wanted.items() if not (can_load or _can_load)(library)]
    if missing:
        return (
            f"The window needs {_listed(missing)}, which {'is' if len(missing) == 1 else 'are'} missing from the "
            f"system. On Debian and Ubuntu: sudo apt-get install {' '.join(missing)}. {INSTEAD}"
        )
    return ""


def _can_load(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _has_qt() -> bool:
    return importlib.util.find_spec("PySide6") is not None


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
