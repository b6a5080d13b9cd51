"""The theme can be read by everyone, is complete, and is the only place where looks are said."""

from __future__ import annotations

import ast
import re
from dataclasses import asdict
from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QFontInfo, QIcon
from PySide6.QtWidgets import QApplication

import podium_resources
from podium.ui import views
from podium.ui.theme import (
    DARK,
    ICON_NAMES,
    LIGHT,
    STYLE_AREAS,
    THEMES,
    Appearance,
    Theme,
    Tint,
    TypeScale,
    apply_theme,
    load_icon,
    style_sheet_of,
)

RESOURCES = Path(podium_resources.__file__).parent
VIEW_MODULES = sorted(Path(views.__file__).parent.rglob("*.py"))

# What stands on what. Text wants 4.5 to 1, and what shows a control or a state 3 to 1 (WCAG 2.2 AA, 1.4.3 and 1.4.11).
SURFACES = ("window", "panel", "raised", "field", "stage")
TEXT_PAIRS = [
    *((text, surface) for text in ("text", "text_muted") for surface in (*SURFACES, "raised_hover", "accent_soft")),
    *(("text", surface) for surface in ("control", "control_hover", "danger_soft", "warning_soft")),
    *(("accent_text", surface) for surface in ("window", "panel", "raised", "field", "accent_soft", "danger_soft")),
    *(("on_accent", surface) for surface in ("accent", "accent_hover", "accent_pressed")),
    *(("on_danger", surface) for surface in ("danger", "danger_hover")),
    *(("danger", surface) for surface in ("window", "panel", "raised", "danger_soft")),
    *(("warning", surface) for surface in ("window", "panel", "raised", "warning_soft", "accent_soft")),
    *(("success", surface) for surface in ("window", "panel", "raised")),
]
SHAPE_PAIRS = [
    *(("edge", surface) for surface in ("window", "panel", "raised", "field")),
    *(("accent", surface) for surface in (*SURFACES, "accent_soft")),
    *(("focus", surface) for surface in (*SURFACES, "raised_hover", "control", "accent_soft", "danger_soft")),
    *(("on_accent", "accent"), ("on_danger", "danger")),
]


def luminance(colour: str) -> float:
    """Return the relative luminance of "#rrggbb"."""
    channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def faint(theme: Theme, pairs: list[tuple[str, str]], least: float) -> dict[str, float]:
    """Return the pairs that are less than `least` apart."""
    ratios = {f"{a} on {b}": contrast(getattr(theme, a), getattr(theme, b)) for a, b in pairs}
    return {pair: round(ratio, 2) for pair, ratio in ratios.items() if ratio < least}


def test_contrast_is_computed_as_published() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_every_text_can_be_read_on_what_it_stands_on(theme: Theme) -> None:
    assert not faint(theme, TEXT_PAIRS, 4.5)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_every_outline_and_focus_ring_can_be_seen(theme: Theme) -> None:
    assert not faint(theme, SHAPE_PAIRS, 3.0)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_greys_are_neutral_so_that_pictures_keep_their_colours(theme: Theme) -> None:
    greys = [getattr(theme, name) for name in (*SURFACES, "raised_hover", "line", "edge", "text", "text_muted")]
    assert not [grey for grey in greys if not grey[1:3] == grey[3:5] == grey[5:7]]


def test_every_icon_is_shipped_and_every_shipped_icon_is_named() -> None:
    assert {path.stem for path in (RESOURCES / "icons").glob("*.svg")} == set(ICON_NAMES)


def test_an_icon_has_one_colour_that_is_given_to_it() -> None:
    drawings = {name: (RESOURCES / "icons" / f"{name}.svg").read_text() for name in ICON_NAMES}
    colours = {name: set(re.findall(r'(?:fill|stroke)="([^"]*)"', text)) - {"none"} for name, text in drawings.items()}
    assert {name: found for name, found in colours.items() if found != {"currentColor"}} == {}


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_the_style_sheet_is_filled_to_the_last_role(theme: Theme) -> None:
    sheet = style_sheet_of(theme, TypeScale.from_body(10))
    assert "$" not in sheet
    assert {area.stem for area in (RESOURCES / "styles").glob("*.qss")} == set(STYLE_AREAS)


def test_a_template_has_no_colour_of_its_own() -> None:
    templates = {area: (RESOURCES / "styles" / f"{area}.qss").read_text() for area in STYLE_AREAS}
    assert not {area: found for area, text in templates.items() if (found := re.findall(r"#[0-9a-fA-F]{3,8}", text))}
    assert not {area: found for area, text in templates.items() if (found := re.findall(r"font-size: *\d", text))}


def literals(source: str) -> list[str]:
    """Return what in a view says how it looks: colours, fonts, style sheets."""
    found = re.findall(r"#[0-9a-fA-F]{6}\b|setStyleSheet|QColor\(|QFont\(|setPointSize\w*|setPixelSize", source)
    tree = ast.parse(source)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    sizes = {
        "setFixedSize",
        "setFixedWidth",
        "setFixedHeight",
        "setMinimumWidth",
        "setMinimumHeight",
        "setMaximumWidth",
    }
    for call in calls:
        numbers = [a for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, int) and a.value > 2]
        if isinstance(call.func, ast.Attribute) and call.func.attr in sizes and numbers:
            found.append(ast.unparse(call))
    return found


def test_a_view_says_nothing_of_how_it_looks() -> None:
    found = {module.stem: literals(module.read_text()) for module in VIEW_MODULES}
    assert {module: looks for module, looks in found.items() if looks} == {}


def test_a_colour_or_a_size_in_a_view_is_found() -> None:
    assert literals('a.setStyleSheet("color: #ff0000")') == ["setStyleSheet", "#ff0000"]
    assert literals("a.setFixedWidth(40)") == ["a.setFixedWidth(40)"]
    assert not literals("a.setFixedWidth(METRICS.icon)")


FORBIDDEN_IN_VIEWS = {"torch", "threading", "subprocess", "os", "shutil", "tempfile", "concurrent", "multiprocessing"}


def machinery(source: str) -> set[str]:
    """Return what of threads, files and tensors a view has."""
    nodes = list(ast.walk(ast.parse(source)))
    imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    # A drag can be had in no other way; dialogs and menus can.
    waiting = r"(?<!\bdrag)\.exec\("
    calls = re.findall(rf"QThread|\bopen\(['\"]|read_text|read_bytes|write_text|{waiting}|\.exists\(", source)
    return {name.partition(".")[0] for name in imported} & FORBIDDEN_IN_VIEWS | set(calls)


def test_a_view_has_no_thread_no_file_and_no_tensor() -> None:
    found = {module.stem: machinery(module.read_text()) for module in VIEW_MODULES}
    assert {module: parts for module, parts in found.items() if parts} == {}


def test_a_thread_or_a_file_in_a_view_is_found() -> None:
    assert machinery("import threading.local\nfrom torch import nn\ndialog.exec()") == {"threading", "torch", ".exec("}


def colour_of(icon: QIcon, mode: QIcon.Mode = QIcon.Mode.Normal) -> str:
    """Return the colour of an icon's most opaque pixel."""
    image = icon.pixmap(QSize(32, 32), mode).toImage()
    pixels = [image.pixelColor(x, y) for x in range(32) for y in range(32)]
    return max(pixels, key=QColor.alpha).name()


def test_an_icon_is_tinted_and_grey_where_it_is_disabled() -> None:
    icon = load_icon("stop", Tint.ACCENT)
    assert colour_of(icon) == DARK.accent
    assert colour_of(icon, QIcon.Mode.Disabled) == DARK.text_disabled


def test_icons_that_exist_follow_another_theme(qapp: QApplication) -> None:
    icon = load_icon("stop", Tint.DANGER)
    assert colour_of(icon) == DARK.danger
    apply_theme(qapp, "light")
    assert colour_of(icon) == LIGHT.danger
    apply_theme(qapp, "dark")
    assert colour_of(icon) == DARK.danger


def test_an_application_is_dressed_by_one_object(qapp: QApplication) -> None:
    apply_theme(qapp, "system")
    apply_theme(qapp, "dark")
    assert [child.theme for child in qapp.findChildren(Appearance)] == [DARK]


def test_an_icon_that_is_not_shipped_is_refused() -> None:
    with pytest.raises(ValueError, match="no icon named 'unicorn'"):
        load_icon("unicorn")


def test_the_window_is_set_in_the_shipped_font(qapp: QApplication) -> None:
    assert QFontInfo(qapp.font()).family() == "Inter"


def test_the_font_comes_with_its_licence() -> None:
    fonts = RESOURCES / "fonts"
    assert "SIL OPEN FONT LICENSE Version 1.1" in (fonts / "OFL.txt").read_text()
    assert sum(path.stat().st_size for path in fonts.glob("*.otf")) < 1_000_000


def test_themes_have_the_same_roles_and_differ_in_all_that_is_seen() -> None:
    same = [role for role, colour in asdict(DARK).items() if colour == getattr(LIGHT, role)]
    assert same == []
