"""What went wrong, in one sentence, with its details folded beneath."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from podium.ui.state.values import ErrorMessage
from podium.ui.theme import METRICS
from podium.ui.views.widgets.banner import Banner
from podium.ui.views.widgets.layouts import column
from podium.ui.views.widgets.roles import make_label


class ErrorView(QWidget):
    """Show an `ErrorMessage` under a heading.

    Args:
        heading: What failed.
    """

    def __init__(self, heading: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._heading = make_label(heading, "title")
        self._banner = Banner("danger")
        self.setLayout(column(self._heading, self._banner, spacing=METRICS.space_m))
        self.show_error(None)

    @property
    def banner(self) -> Banner:
        """Return what holds the sentence and its details."""
        return self._banner

    @property
    def heading_text(self) -> str:
        """Return what failed."""
        return self._heading.text()

    def show_error(self, error: ErrorMessage | None, heading: str = "") -> None:
        """Show an error; None shows nothing."""
        self._heading.setText(heading)
        self._heading.setVisible(bool(heading) and error is not None)
        self._banner.show_message(error.sentence if error else "", error.details if error else "")
