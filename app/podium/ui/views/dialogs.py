"""The window's dialogs; each opens beside the event loop and says by signal what was chosen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QDialog, QGridLayout, QPushButton, QWidget

from podium.ui.theme import METRICS, Tint
from podium.ui.views.widgets.actions import plain_text
from podium.ui.views.widgets.buttons import make_button
from podium.ui.views.widgets.fitted_dialog import FittedDialog
from podium.ui.views.widgets.icon_label import IconLabel
from podium.ui.views.widgets.layouts import around, column, row
from podium.ui.views.widgets.roles import make_label

_NUM_KEY_COLUMNS = 3

KeyGroup = tuple[str, tuple[tuple[str, str], ...]]
"""A heading, and keys with what they do."""


class PanelDialog(FittedDialog):
    """A heading, one panel that works on its state by itself, and *Done*.

    Args:
        title: The heading.
        panel: What is chosen in it.
        extra: A button at the lower left.
    """

    def __init__(self, title: str, panel: QWidget, *, extra: QPushButton | None = None, parent: QWidget) -> None:
        super().__init__(METRICS.dialog_width, parent)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        panel.setMinimumWidth(METRICS.dialog_width)
        done = make_button(self.tr("Done"), kind="primary")
        done.setDefault(True)
        done.clicked.connect(self.accept)
        foot = row()
        if extra is not None:
            foot.addWidget(extra)
        foot.addStretch(1)
        foot.addWidget(done)
        parts = (make_label(title, "headline"), panel, foot)
        whole = column(*parts, spacing=METRICS.space_l, margins=around(METRICS.space_xl))
        whole.setStretchFactor(panel, 1)
        self.fill(whole)


class CloseDialog(QDialog):
    """Something is at work and the window shall close: finish it, stop it, or stay.

    Args:
        has_clip: A clip is being made.
        has_export: A clip is being exported.
    """

    finish_chosen = Signal()
    stop_chosen = Signal()

    def __init__(self, parent: QWidget, *, has_clip: bool, has_export: bool) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Close Podium"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        title, text, verb = self._words(has_clip=has_clip, has_export=has_export)
        self.finish = make_button(verb, kind="primary")
        self.stop = make_button(self.tr("Stop and close"))
        self.stay = make_button(self.tr("Stay"))
        self.finish.setDefault(True)
        words = column(make_label(title, "headline"), make_label(text, "muted"), spacing=METRICS.space_xs)
        icon = IconLabel("film" if has_clip else "export", Tint.MUTED, size=METRICS.icon_large)
        head = row(icon, words, None, spacing=METRICS.space_l)
        foot = row(None, self.stay, self.stop, self.finish)
        self.setLayout(column(head, foot, spacing=METRICS.space_xl, margins=around(METRICS.space_xl)))
        self.finish.clicked.connect(self.finish_chosen)
        self.stop.clicked.connect(self.stop_chosen)
        for button in (self.finish, self.stop):
            button.clicked.connect(self.accept)
        self.stay.clicked.connect(self.reject)

    def _words(self, *, has_clip: bool, has_export: bool) -> tuple[str, str, str]:
        """Return what is at work, what can be done with it, and what the button that finishes it says."""
        if has_clip and has_export:
            return (
                self.tr("A clip is being made, and one is being exported"),
                self.tr(
                    "Finish both and close then, stop both and close now, or stay here.\n"
                    "The queue is kept; of an export that is stopped nothing is left."
                ),
                self.tr("Finish both"),
            )
        if has_export:
            return (
                self.tr("A clip is being exported"),
                self.tr(
                    "Finish the export and close then, stop it and close now, or stay here.\n"
                    "Of an export that is stopped nothing is left."
                ),
                self.tr("Finish the export"),
            )
        return (
            self.tr("A clip is being made"),
            self.tr(
                "Finish the clip and close then, stop it and close now, or stay here.\n"
                "The queue is kept; a clip that is stopped is in front of it again."
            ),
            self.tr("Finish this clip"),
        )


class ConfirmDialog(FittedDialog):
    """Ask before something that cannot be taken back.

    Args:
        title: What is asked.
        text: What it costs.
        verb: On the button that does it.
    """

    def __init__(self, title: str, text: str, verb: str, parent: QWidget) -> None:
        super().__init__(METRICS.dialog_width * 2 // 3, parent)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.do = make_button(verb, kind="danger")
        self.stay = make_button(self.tr("Stay"))
        self.stay.setDefault(True)
        words = make_label(text, "muted", wraps=True)
        foot = row(None, self.stay, self.do)
        whole = column(make_label(title, "headline"), words, None, foot, spacing=METRICS.space_l)
        whole.setContentsMargins(*around(METRICS.space_xl))
        self.fill(whole)
        self.do.clicked.connect(self.accept)
        self.stay.clicked.connect(self.reject)


class ShortcutsDialog(QDialog):
    """Every key there is and what it does, by place.

    Args:
        groups: Of each place its heading and its keys: the keys, and what they do.
    """

    def __init__(self, groups: Sequence[KeyGroup], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Keyboard Shortcuts"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        columns = row(spacing=METRICS.space_xxl)
        for group_column in _in_columns(groups):
            side = column(spacing=METRICS.space_l)
            for heading, keys in group_column:
                side.addLayout(_key_table(heading, keys))
            side.addStretch(1)
            columns.addLayout(side, 1)
        done = make_button(self.tr("Close"))
        done.clicked.connect(self.accept)
        head = make_label(self.tr("Keyboard Shortcuts"), "headline")
        whole = column(head, columns, row(None, done), spacing=METRICS.space_l, margins=around(METRICS.space_xl))
        self.setLayout(whole)


def _in_columns(groups: Sequence[KeyGroup]) -> list[list[KeyGroup]]:
    """Return groups in three columns of about the same length, in their order."""
    heights = [len(keys) + 2 for _, keys in groups]
    columns: list[list[KeyGroup]] = [[] for _ in range(_NUM_KEY_COLUMNS)]
    above = 0
    for group, height in zip(groups, heights, strict=True):
        # A group stands where its middle falls.
        place = (above + height // 2) * _NUM_KEY_COLUMNS // sum(heights)
        columns[min(place, _NUM_KEY_COLUMNS - 1)].append(group)
        above += height
    return columns


def _key_table(heading: str, keys: Sequence[tuple[str, str]]) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(METRICS.space_xl)
    grid.setVerticalSpacing(METRICS.space_xs)
    grid.setColumnStretch(0, 1)
    grid.addWidget(make_label(heading, "section"), 0, 0, 1, 2)
    for line, (key, words) in enumerate(keys, start=1):
        grid.addWidget(make_label(words), line, 0)
        grid.addWidget(make_label(key, "key"), line, 1, Qt.AlignmentFlag.AlignRight)
    return grid


def keys_of(actions: Iterable[QAction | None]) -> tuple[tuple[str, str], ...]:
    """Return the keys of those actions that have some, and what they do."""
    return tuple(
        (
            action.shortcut().toString(QKeySequence.SequenceFormat.NativeText),
            plain_text(action).removesuffix("…"),
        )
        for action in actions
        if action is not None and not action.shortcut().isEmpty()
    )


class AboutDialog(QDialog):
    """What Podium is.

    Args:
        version: Of Podium.
    """

    def __init__(self, version: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("About Podium"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        done = make_button(self.tr("Close"))
        done.clicked.connect(self.accept)
        words = column(
            make_label("Podium", "display"),
            make_label(self.tr("Version {0}").format(version), "muted"),
            make_label(self.tr("Video with sound from a prompt, all GPUs of this machine on one clip.")),
            make_label(
                self.tr("Apache License 2.0. The typeface is Inter, under the SIL Open Font License."), "caption"
            ),
            spacing=METRICS.space_xs,
        )
        head = row(IconLabel("podium", Tint.ACCENT, size=METRICS.icon_large), words, None, spacing=METRICS.space_l)
        self.setLayout(column(head, row(None, done), spacing=METRICS.space_xl, margins=around(METRICS.space_xl)))
