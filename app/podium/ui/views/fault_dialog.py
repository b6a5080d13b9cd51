"""A fault of Podium's own, told in a sentence, with what its makers want to know folded beneath."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget

from podium.ui.state.values import ErrorMessage
from podium.ui.theme import METRICS
from podium.ui.views.error_view import ErrorView
from podium.ui.views.widgets.buttons import make_button
from podium.ui.views.widgets.fitted_dialog import FittedDialog
from podium.ui.views.widgets.layouts import around, column, row
from podium.ui.views.widgets.roles import make_label


class FaultDialog(FittedDialog):
    """Show a fault; what goes on goes on.

    Args:
        message: What to say.
    """

    def __init__(self, message: ErrorMessage, parent: QWidget | None = None) -> None:
        super().__init__(METRICS.dialog_width, parent)
        self.setWindowTitle(self.tr("A Fault in Podium"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.error = ErrorView()
        self.error.show_error(message)
        self.close_button: QPushButton = make_button(self.tr("Close"), kind="primary")
        self.close_button.setDefault(True)
        self.close_button.clicked.connect(self.accept)
        foot = row(None, self.close_button)
        parts = (make_label(self.tr("A fault in Podium"), "headline"), self.error, None, foot)
        self.fill(column(*parts, spacing=METRICS.space_l, margins=around(METRICS.space_xl)))
