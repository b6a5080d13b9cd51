"""Every colour of the window, by what it is for: a dark theme and a light one. No Qt."""

from __future__ import annotations

from dataclasses import dataclass


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
