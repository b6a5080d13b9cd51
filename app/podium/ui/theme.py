"""How the window looks: named colours, sizes and type, and the one place that dresses the application in them.

A view names a role (`kind`, `tone`, `surface`) and a measure of `METRICS`, never a colour, a font or a size of its own.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from string import Template

from PySide6.QtCore import QByteArray, QDir, QObject, Qt, QTemporaryDir, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QIcon, QPalette, QPixmapCache
from PySide6.QtWidgets import QApplication

from podium.assets import read_bytes, read_text

STYLE_AREAS = ("surfaces", "labels", "buttons", "fields", "lists", "menus", "stage")
"""The QSS templates, one a theme area."""

ICON_NAMES = (
    *("arrow-down", "arrow-up", "check", "chevron-down", "chevron-right", "chevron-up", "close", "copy", "cpu", "cube"),
    *("demo", "dice", "done", "download", "error", "file", "film", "folder", "frame-back", "frame-forward"),
    *("generate", "gpu", "image", "info", "lock", "loop", "minus", "pause", "play", "plus", "podium", "power"),
    *("refresh", "stack", "stop", "text", "trash", "unlock", "volume", "volume-off", "warning"),
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
class Theme:
    """Every colour of the window by its role, as "#rrggbb".

    Greys are neutral, since a tinted surround changes how a picture's colours are seen.

    Args:
        name: "dark" or "light".
        window: Behind everything: header, status line.
        panel: The side and bottom panels.
        raised: Cards.
        raised_hover: The same under the pointer.
        control: Buttons at rest.
        control_hover: The same under the pointer.
        control_line: Their outline; what they are is told by their words.
        track: What is still to be filled of a bar.
        field: Where something is typed or chosen.
        stage: Around the picture.
        line: Hairlines that part areas; decoration.
        edge: Outlines that show where a control is.
        text: What is read.
        text_muted: What is read second.
        text_disabled: What cannot be used now.
        accent: The one colour: what goes on, what is chosen, what to press.
        accent_hover: The same under the pointer.
        accent_pressed: The same while pressed.
        on_accent: Text on the three.
        accent_soft: Behind what is chosen.
        accent_text: Words in the accent.
        focus: The ring around what the keyboard reaches.
        danger: Failure, and what destroys.
        danger_hover: The same under the pointer.
        on_danger: Text on the two.
        danger_soft: Behind a failure's sentence.
        warning: Something to look at.
        warning_soft: Behind its sentence.
        success: All is well.
    """

    name: str
    window: str
    panel: str
    raised: str
    raised_hover: str
    control: str
    control_hover: str
    control_line: str
    track: str
    field: str
    stage: str
    line: str
    edge: str
    text: str
    text_muted: str
    text_disabled: str
    accent: str
    accent_hover: str
    accent_pressed: str
    on_accent: str
    accent_soft: str
    accent_text: str
    focus: str
    danger: str
    danger_hover: str
    on_danger: str
    danger_soft: str
    warning: str
    warning_soft: str
    success: str


DARK = Theme(
    name="dark",
    window="#1b1b1b",
    panel="#242424",
    raised="#2e2e2e",
    raised_hover="#383838",
    control="#3d3d3d",
    control_hover="#4a4a4a",
    control_line="#505050",
    track="#4b4b4b",
    field="#191919",
    stage="#111111",
    line="#353535",
    edge="#7c7c7c",
    text="#ededed",
    text_muted="#a9a9a9",
    text_disabled="#727272",
    accent="#6ea8fe",
    accent_hover="#8bbaff",
    accent_pressed="#5a93e8",
    on_accent="#0a1a33",
    accent_soft="#26364f",
    accent_text="#8bbaff",
    focus="#a9ccff",
    danger="#ff7b72",
    danger_hover="#ff9690",
    on_danger="#330907",
    danger_soft="#3f2422",
    warning="#f0b64e",
    warning_soft="#3b301b",
    success="#6fcf8b",
)

LIGHT = Theme(
    name="light",
    window="#ececec",
    panel="#f7f7f7",
    raised="#ffffff",
    raised_hover="#f1f1f1",
    control="#ffffff",
    control_hover="#ebebeb",
    control_line="#b9b9b9",
    track="#c9c9c9",
    field="#ffffff",
    stage="#d2d2d2",
    line="#d8d8d8",
    edge="#858585",
    text="#1b1b1b",
    text_muted="#565656",
    text_disabled="#8c8c8c",
    accent="#1d64cf",
    accent_hover="#17539f",
    accent_pressed="#123f7c",
    on_accent="#ffffff",
    accent_soft="#dce9fc",
    accent_text="#17539f",
    focus="#0b4fb3",
    danger="#b3261e",
    danger_hover="#8f1d17",
    on_danger="#ffffff",
    danger_soft="#fbe4e2",
    warning="#7d5100",
    warning_soft="#fdf0d5",
    success="#1a6b35",
)

THEMES = (DARK, LIGHT)


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
    scroll_bar: int = 12
    icon_large: int = 44
    bar: int = 4
    bar_large: int = 6
    header_height: int = 52
    prompt_height: int = 124
    prompt_max_height: int = 280
    thumbnail: int = 64
    compose_width: int = 372
    bottom_height: int = 156
    page_width: int = 1160
    dialog_width: int = 680
    number_width: int = 72
    column_s: int = 64
    column_m: int = 80
    column_l: int = 132
    column_badge: int = 136
    history_width: int = 112
    window_width: int = 1440
    window_height: int = 900
    window_min_width: int = 1040
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

    @property
    def theme(self) -> Theme | None:
        """Return what the application wears; None before the first `apply`."""
        return self._theme

    def apply(self, theme: Theme) -> None:
        """Dress the application, or dress it anew; icons that windows already hold follow."""
        if theme == self._theme:
            return
        # Icons keep their file and are drawn again from it once the cache is empty.
        write_icons(theme, self._ready_folder())
        QPixmapCache.clear()
        self._theme = theme
        self._application.setPalette(palette_of(theme))
        self._application.setStyleSheet(style_sheet_of(theme, self._scale))
        self.changed.emit()

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


def write_icons(theme: Theme, folder: Path) -> None:
    """Write every icon in every tint of a theme: `play-accent.svg`, and in the text's colour as `play.svg`."""
    colours = asdict(theme)
    for name in ICON_NAMES:
        drawing = read_text(f"icons/{name}.svg")
        for tint in Tint:
            tinted = drawing.replace("currentColor", colours[tint.value])
            (folder / icon_file(name, tint)).write_text(tinted, encoding="utf-8")


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
    icon = QIcon(f"icons:{icon_file(name, tint)}")
    icon.addFile(f"icons:{icon_file(name, Tint.DISABLED)}", mode=QIcon.Mode.Disabled)
    return icon


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
    "icon_file",
    "install_font",
    "load_icon",
    "palette_of",
    "style_sheet_of",
    "text_font",
    "write_icons",
]
