"""How the window looks: named colours, sizes and type, and the one place that dresses the application in them.

A view names a role (`kind`, `tone`, `surface`) and a measure of `METRICS`, never a colour, a font or a size of its own.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from string import Template

from PySide6.QtCore import QByteArray, QDir, QObject, Qt, QTemporaryDir, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QIcon, QPalette, QPixmapCache
from PySide6.QtWidgets import QApplication

from podium.assets import read_bytes, read_text
from podium.ui.colours import DARK, LIGHT, THEMES, Theme

STYLE_AREAS = ("surfaces", "labels", "buttons", "fields", "lists", "menus", "stage")
"""The QSS templates, one a theme area."""

ICON_NAMES = (
    *("arrow-down", "arrow-up", "bookmark", "camera", "check", "chevron-down", "chevron-right", "chevron-up"),
    *("clock", "close", "compare", "copy", "cpu", "cube", "demo", "dice", "done", "download", "edit", "error"),
    *("export", "file", "film", "folder", "frame-back", "frame-forward", "generate", "gpu", "grid", "grip"),
    *("group", "history", "image", "info", "list", "lock", "loop", "minus", "missing", "more", "pause", "play"),
    *("plus", "podium", "power", "refresh", "search", "stack", "star", "star-full", "stop", "swap", "text"),
    *("to-front", "trash", "undo", "unlock", "volume", "volume-off", "wand", "warning", "wipe"),
)
"""The icons that Podium ships."""

_FONT_FAMILY = "Inter"
_FONT_FILES = ("Inter-Regular.otf", "Inter-Medium.otf", "Inter-SemiBold.otf")
_BASE_SIZE_PT = 10.0


class Tint(StrEnum):
    """The colours an icon comes in; each names a role of the theme."""

    TEXT = "text"
    MUTED = "text_muted"
    DISABLED = "text_disabled"
    ACCENT = "accent"
    ON_ACCENT = "on_accent"
    ON_DANGER = "on_danger"
    DANGER = "danger"
    WARNING = "warning"
    SUCCESS = "success"


@dataclass(frozen=True, slots=True)
class Metrics:
    """Every measure of the window, in pixels that do not depend on the screen's density."""

    space_xs: int = 4
    space_s: int = 8
    space_m: int = 12
    space_l: int = 16
    space_xl: int = 24
    space_xxl: int = 48
    radius: int = 6
    radius_large: int = 10
    hairline: int = 1
    icon: int = 18
    icon_small: int = 14
    choice_indent: int = 29
    scroll_bar: int = 12
    icon_large: int = 44
    bar: int = 4
    bar_large: int = 6
    header_height: int = 52
    prompt_height: int = 124
    prompt_max_height: int = 280
    negative_prompt_height: int = 56
    line_field_height: int = 34
    popup_width: int = 460
    popup_height: int = 380
    thumbnail: int = 64
    compose_width: int = 372
    bottom_height: int = 246
    page_width: int = 1160
    dialog_width: int = 680
    number_width: int = 72
    column_s: int = 64
    column_m: int = 80
    column_l: int = 132
    column_badge: int = 136
    row_height: int = 48
    tile_width: int = 168
    tile_picture_height: int = 96
    tile_height: int = 140
    detail_width: int = 380
    card_width: int = 320
    search_width: int = 220
    filter_width: int = 168
    wipe_grip: int = 28
    window_width: int = 1440
    window_height: int = 900
    window_min_width: int = 1180
    window_min_height: int = 640


METRICS = Metrics()


@dataclass(frozen=True, slots=True)
class TypeScale:
    """Sizes of type in points, from the size of plain text."""

    caption: float
    body: float
    title: float
    headline: float
    display: float

    @classmethod
    def from_body(cls, body_pt: float) -> TypeScale:
        """Return the scale whose plain text has this size."""
        return cls(
            caption=0.9 * body_pt, body=body_pt, title=1.1 * body_pt, headline=1.4 * body_pt, display=2 * body_pt
        )


class Appearance(QObject):
    """Dress an application: font, palette, style sheet, icons.

    Args:
        application: What to dress; it owns this object.
        body_size_pt: Size of plain text in points.
    """

    changed = Signal()

    def __init__(self, application: QApplication, *, body_size_pt: float = _BASE_SIZE_PT) -> None:
        super().__init__(application)
        self._application = application
        self._scale = TypeScale.from_body(body_size_pt)
        self._theme: Theme | None = None
        self._icon_folder: QTemporaryDir | None = None
        self._written: set[tuple[str, Tint]] = set()
        self._icons: dict[tuple[str, Tint], QIcon] = {}

    @property
    def theme(self) -> Theme | None:
        """Return what the application wears; None before the first `apply`."""
        return self._theme

    def apply(self, theme: Theme) -> None:
        """Dress the application, or dress it anew; icons that windows already hold follow."""
        if theme == self._theme:
            return
        sheet = style_sheet_of(theme, self._scale)
        self._theme = theme
        # Icons keep their file and are drawn again from it once the cache is empty.
        for name, tint in {*self._written, *icons_in(sheet)}:
            self._write_icon(name, tint, self._ready_folder())
        QPixmapCache.clear()
        self._application.setPalette(palette_of(theme))
        self._application.setStyleSheet(sheet)
        self.changed.emit()

    def ensure_icon(self, name: str, tint: Tint) -> None:
        """Have the file of an icon in a tint, which `icons:` finds; a window shows a tenth of those there could be."""
        if (name, tint) not in self._written:
            self._write_icon(name, tint, self._ready_folder())

    def icon(self, name: str, tint: Tint) -> QIcon:
        """Return an icon; one for all who ask, since Qt keeps the pictures of each by itself, and for long."""
        if (name, tint) not in self._icons:
            self.ensure_icon(name, tint)
            self.ensure_icon(name, Tint.DISABLED)
            self._icons[name, tint] = _make_icon(name, tint)
        return QIcon(self._icons[name, tint])

    def _write_icon(self, name: str, tint: Tint, folder: Path) -> None:
        assert self._theme is not None, "a theme is applied first"
        tinted = read_text(f"icons/{name}.svg").replace("currentColor", getattr(self._theme, tint.value))
        (folder / icon_file(name, tint)).write_text(tinted, encoding="utf-8")
        self._written.add((name, tint))

    def _ready_folder(self) -> Path:
        """Return the folder of the tinted icons; the first time, prepare all that does not change with the theme."""
        if self._icon_folder is None:
            self._icon_folder = QTemporaryDir()
            QDir.setSearchPaths("icons", [self._icon_folder.path()])
            install_font()
            self._application.setStyle("Fusion")
            self._application.setFont(text_font(self._scale.body))
        return Path(self._icon_folder.path())


def apply_theme(application: QApplication, name: str) -> None:
    """Dress an application in a theme, or dress it anew.

    Args:
        application: What to dress.
        name: "light", "dark", or "system" for what the desktop is.
    """
    appearance = application.findChild(Appearance) or Appearance(application)
    is_light = name == "light" or (name == "system" and application.styleHints().colorScheme() is Qt.ColorScheme.Light)
    appearance.apply(LIGHT if is_light else DARK)


def install_font() -> None:
    """Make the shipped font known to Qt.

    Raises:
        ValueError: Qt cannot read it.
    """
    for name in _FONT_FILES:
        if QFontDatabase.addApplicationFontFromData(QByteArray(read_bytes(f"fonts/{name}"))) < 0:
            raise ValueError(f"Qt cannot read the shipped font {name}")


def text_font(size_pt: float) -> QFont:
    """Return the font of plain text; its figures are equally wide, so that numbers that change stand still."""
    font = QFont(_FONT_FAMILY)
    font.setPointSizeF(size_pt)
    font.setFeature(QFont.Tag("tnum"), 1)
    return font


def icons_in(sheet: str) -> set[tuple[str, Tint]]:
    """Return the icons that a style sheet names, with their tints."""
    files = {icon_file(name, tint): (name, tint) for name in ICON_NAMES for tint in Tint}
    return {files[found] for found in re.findall(r"icons:([\w-]+\.svg)", sheet)}


def icon_file(name: str, tint: Tint = Tint.TEXT) -> str:
    """Return the file name of an icon in a tint."""
    return f"{name}.svg" if tint is Tint.TEXT else f"{name}-{tint.value}.svg"


def load_icon(name: str, tint: Tint = Tint.TEXT) -> QIcon:
    """Return an icon that is grey where its widget is disabled.

    Raises:
        ValueError: Podium ships no such icon.
    """
    if name not in ICON_NAMES:
        raise ValueError(f"Podium ships no icon named {name!r}")
    application = QApplication.instance()
    appearance = application.findChild(Appearance) if application is not None else None
    if appearance is not None and appearance.theme is not None:
        return appearance.icon(name, tint)
    # Icons stay empty: whoever dresses the application later draws them all again.
    return _make_icon(name, tint)


def _make_icon(name: str, tint: Tint) -> QIcon:
    icon = QIcon(f"icons:{icon_file(name, tint)}")
    icon.addFile(f"icons:{icon_file(name, Tint.DISABLED)}", mode=QIcon.Mode.Disabled)
    return icon


def current_theme() -> Theme:
    """Return what the application wears, for what is painted by hand; the dark one before it is dressed."""
    application = QApplication.instance()
    appearance = application.findChild(Appearance) if application is not None else None
    return DARK if appearance is None or appearance.theme is None else appearance.theme


def role_color(role: str) -> QColor:
    """Return the colour that a role has in the application's theme."""
    return QColor(getattr(current_theme(), role))


def role_font(font: QFont, role: str) -> QFont:
    """Return a widget's font in a role: "body", "strong", "caption" or "title"."""
    made = QFont(font)
    scale = TypeScale.from_body(QApplication.font().pointSizeF())
    made.setPointSizeF({"caption": scale.caption, "title": scale.title}.get(role, scale.body))
    made.setWeight(QFont.Weight.DemiBold if role in ("strong", "title") else QFont.Weight.Normal)
    return made


def style_sheet_of(theme: Theme, scale: TypeScale) -> str:
    """Return the style sheet of a theme: every area's template, filled."""
    values = asdict(theme) | asdict(METRICS) | {f"font_{name}": f"{size:.2f}pt" for name, size in asdict(scale).items()}
    return "\n".join(Template(read_text(f"styles/{area}.qss")).substitute(values) for area in STYLE_AREAS)


def palette_of(theme: Theme) -> QPalette:
    """Return the palette of a theme, for what Qt draws by itself."""
    role = QPalette.ColorRole
    colours = {
        role.Window: theme.panel,
        role.WindowText: theme.text,
        role.Base: theme.field,
        role.AlternateBase: theme.raised,
        role.ToolTipBase: theme.raised,
        role.ToolTipText: theme.text,
        role.Text: theme.text,
        role.PlaceholderText: theme.text_muted,
        role.Button: theme.control,
        role.ButtonText: theme.text,
        role.BrightText: theme.danger,
        role.Light: theme.control_hover,
        role.Midlight: theme.control,
        role.Mid: theme.line,
        role.Dark: theme.line,
        role.Shadow: theme.stage,
        role.Highlight: theme.accent,
        role.HighlightedText: theme.on_accent,
        role.Link: theme.accent_text,
        role.LinkVisited: theme.accent_text,
        role.Accent: theme.accent,
    }
    palette = QPalette()
    for name, colour in colours.items():
        palette.setColor(name, QColor(colour))
    for name in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, name, QColor(theme.text_disabled))
    return palette


__all__ = [
    "DARK",
    "ICON_NAMES",
    "LIGHT",
    "METRICS",
    "STYLE_AREAS",
    "THEMES",
    "Appearance",
    "Metrics",
    "Theme",
    "Tint",
    "TypeScale",
    "apply_theme",
    "current_theme",
    "icon_file",
    "icons_in",
    "install_font",
    "load_icon",
    "palette_of",
    "role_color",
    "role_font",
    "style_sheet_of",
    "text_font",
]
