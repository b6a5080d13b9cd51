"""The window's dialogs; each opens beside the event loop and says by signal what was chosen."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QDialog, QGridLayout, QPushButton, QWidget

from podium.ui.theme import METRICS, Tint
from podium.ui.views.widgets.buttons import make_button
from podium.ui.views.widgets.icon_label import IconLabel
from podium.ui.views.widgets.layouts import around, column, row
from podium.ui.views.widgets.roles import make_label


class PanelDialog(QDialog):
    """A heading, one panel that works on its state by itself, and *Done*.

    Args:
        title: The heading.
        panel: What is chosen in it.
        extra: A button at the lower left.
    """

    def __init__(self, title: str, panel: QWidget, *, extra: QPushButton | None = None, parent: QWidget) -> None:
        super().__init__(parent)
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
        self.setLayout(whole)


class CloseDialog(QDialog):
    """A clip is being made and the window shall close: finish it, stop it, or stay."""

    finish_chosen = Signal()
    stop_chosen = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Close Podium"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.finish = make_button(self.tr("Finish this clip"), kind="primary")
        self.stop = make_button(self.tr("Stop and close"))
        self.stay = make_button(self.tr("Stay"))
        self.finish.setDefault(True)
        text = self.tr("Finish the clip and close then, stop it and close now, or stay here.")
        words = column(
            make_label(self.tr("A clip is being made"), "headline"),
            make_label(text, "muted"),
            spacing=METRICS.space_xs,
        )
        head = row(IconLabel("film", Tint.MUTED, size=METRICS.icon_large), words, None, spacing=METRICS.space_l)
        foot = row(None, self.stay, self.stop, self.finish)
        self.setLayout(column(head, foot, spacing=METRICS.space_xl, margins=around(METRICS.space_xl)))
        self.finish.clicked.connect(self.finish_chosen)
        self.stop.clicked.connect(self.stop_chosen)
        for button in (self.finish, self.stop):
            button.clicked.connect(self.accept)
        self.stay.clicked.connect(self.reject)


class ShortcutsDialog(QDialog):
    """Every action that has keys, and which they are.

    Args:
        actions: In the order of the menus.
    """

    def __init__(self, actions: Iterable[QAction], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Keyboard Shortcuts"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        grid = QGridLayout()
        grid.setHorizontalSpacing(METRICS.space_xxl)
        grid.setVerticalSpacing(METRICS.space_s)
        with_keys = [action for action in actions if not action.shortcut().isEmpty()]
        num_rows = (len(with_keys) + 1) // 2
        for place, action in enumerate(with_keys):
            half, line = divmod(place, num_rows)
            words = action.text().replace("&", "").removesuffix("…")
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            grid.addWidget(make_label(words), line, 2 * half)
            grid.addWidget(make_label(keys, "key"), line, 2 * half + 1, Qt.AlignmentFlag.AlignRight)
        done = make_button(self.tr("Close"))
        done.clicked.connect(self.accept)
        head = make_label(self.tr("Keyboard Shortcuts"), "headline")
        self.setLayout(column(head, grid, row(None, done), spacing=METRICS.space_l, margins=around(METRICS.space_xl)))


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
