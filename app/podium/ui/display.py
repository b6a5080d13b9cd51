"""Whether a window can be opened at all, found out before Qt loads: Qt itself ends the process where it cannot."""

from __future__ import annotations

import ctypes
import importlib.util
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

INSTEAD = "“podium generate” makes clips without a window; “podium generate --help” tells how."


@dataclass(frozen=True, slots=True)
class SystemPackage:
    """What brings a shared library.

    Args:
        debian: On Debian and Ubuntu.
        fedora: On Fedora and its kin.
    """

    debian: str
    fedora: str


# Source: what the libraries and the xcb and wayland plug-ins of PySide6's wheels link to.
_CORE_LIBRARIES = {
    "libEGL.so.1": SystemPackage("libegl1", "libglvnd-egl"),
    "libGL.so.1": SystemPackage("libgl1", "libglvnd-glx"),
    "libX11.so.6": SystemPackage("libx11-6", "libX11"),
    "libxkbcommon.so.0": SystemPackage("libxkbcommon0", "libxkbcommon"),
    "libdbus-1.so.3": SystemPackage("libdbus-1-3", "dbus-libs"),
    "libfontconfig.so.1": SystemPackage("libfontconfig1", "fontconfig"),
    "libfreetype.so.6": SystemPackage("libfreetype6", "freetype"),
    "libglib-2.0.so.0": SystemPackage("libglib2.0-0", "glib2"),
    "libgssapi_krb5.so.2": SystemPackage("libgssapi-krb5-2", "krb5-libs"),
}
_X11_LIBRARIES = {
    "libxcb-cursor.so.0": SystemPackage("libxcb-cursor0", "xcb-util-cursor"),
    "libxcb-icccm.so.4": SystemPackage("libxcb-icccm4", "xcb-util-wm"),
    "libxcb-image.so.0": SystemPackage("libxcb-image0", "xcb-util-image"),
    "libxcb-keysyms.so.1": SystemPackage("libxcb-keysyms1", "xcb-util-keysyms"),
    "libxcb-randr.so.0": SystemPackage("libxcb-randr0", "libxcb"),
    "libxcb-render-util.so.0": SystemPackage("libxcb-render-util0", "xcb-util-renderutil"),
    "libxcb-shape.so.0": SystemPackage("libxcb-shape0", "libxcb"),
    "libxcb-xkb.so.1": SystemPackage("libxcb-xkb1", "libxcb"),
    "libxkbcommon-x11.so.0": SystemPackage("libxkbcommon-x11-0", "libxkbcommon-x11"),
    "libX11-xcb.so.1": SystemPackage("libx11-xcb1", "libX11-xcb"),
}
_WAYLAND_LIBRARIES = {
    "libwayland-client.so.0": SystemPackage("libwayland-client0", "libwayland-client"),
    "libwayland-cursor.so.0": SystemPackage("libwayland-cursor0", "libwayland-cursor"),
}
_VARIABLES = (("wayland", "WAYLAND_DISPLAY"), ("xcb", "DISPLAY"))
_PLATFORM_LIBRARIES = {"xcb": _X11_LIBRARIES, "wayland": _WAYLAND_LIBRARIES}


def find_display_problem(
    environment: Mapping[str, str],
    *,
    platform: str,
    can_load: Callable[[str], bool] | None = None,
    can_connect: Callable[[str], bool] | None = None,
    has_qt: Callable[[], bool] | None = None,
) -> str:
    """Return a sentence on why no window can be opened here, and what would help; empty if one can.

    Args:
        environment: The process's variables.
        platform: As `sys.platform` has it.
        can_load: Tells whether a shared library can be loaded.
        can_connect: Tells whether a display, "xcb" or "wayland", answers.
        has_qt: Tells whether PySide6 is installed.
    """
    if not (has_qt or _has_qt)():
        return f"PySide6, which Podium's window is made with, is not installed: pip install PySide6. {INSTEAD}"
    if not platform.startswith("linux"):
        return ""
    platforms = _platforms(environment)
    if not platforms:
        return f"There is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set). {INSTEAD}"
    # Qt takes the first that it can load and that answers.
    needs = {name: _CORE_LIBRARIES | _PLATFORM_LIBRARIES.get(name, {}) for name in platforms}
    lacks = {
        name: [need[library] for library in need if not (can_load or _can_load)(library)]
        for name, need in needs.items()
    }
    if all(lacks.values()):
        return _sentence(min(lacks.values(), key=len))
    if any(not lacks[name] and (can_connect or _can_connect)(name) for name in platforms):
        return ""
    variables = [variable for name, variable in _VARIABLES if name in platforms]
    named = " and ".join(f"{name}={environment.get(name, '')}" for name in variables)
    return f"The display here does not answer, or lets nobody in ({named}). {INSTEAD}"


def _platforms(environment: Mapping[str, str]) -> list[str]:
    """Return the kinds of display that Qt will try, by the names of its plug-ins."""
    chosen = environment.get("QT_QPA_PLATFORM", "")
    if chosen:
        return [name.partition(":")[0].removesuffix("-egl") for name in chosen.split(";")]
    return [name for name, variable in _VARIABLES if environment.get(variable)]


def _sentence(missing: Sequence[SystemPackage]) -> str:
    debian, fedora = ([*dict.fromkeys(names)] for names in zip(*((p.debian, p.fedora) for p in missing), strict=True))
    return (
        f"The window needs {_listed(debian)}, which {'is' if len(debian) == 1 else 'are'} missing from the system. On "
        f"Debian and Ubuntu: sudo apt-get install {' '.join(debian)}. On Fedora: sudo dnf install {' '.join(fedora)}. "
        f"{INSTEAD}"
    )


def _can_load(library: str) -> bool:
    try:
        ctypes.CDLL(library, mode=os.RTLD_LAZY)
    except OSError:
        return False
    return True


def _can_connect(platform: str) -> bool:
    """Return whether a display answers, asked as Qt will ask; Qt itself ends the process if it does not."""
    if platform == "xcb":
        xcb = ctypes.CDLL("libxcb.so.1")
        xcb.xcb_connect.restype = ctypes.c_void_p
        connection = ctypes.c_void_p(xcb.xcb_connect(None, None))
        # There is a connection to take down, whether it came about or not.
        is_refused = bool(xcb.xcb_connection_has_error(connection))
        xcb.xcb_disconnect(connection)
        return not is_refused
    if platform == "wayland":
        wayland = ctypes.CDLL("libwayland-client.so.0")
        wayland.wl_display_connect.restype = ctypes.c_void_p
        display = ctypes.c_void_p(wayland.wl_display_connect(None))
        if display.value is None:
            return False
        wayland.wl_display_disconnect(display)
        return True
    # Platforms that show nothing, or that somebody named who knows them.
    return True


def _has_qt() -> bool:
    return importlib.util.find_spec("PySide6") is not None


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
