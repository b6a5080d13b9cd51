"""A thin bar that shows a share."""

from __future__ import annotations

from PySide6.QtWidgets import QProgressBar

from podium.ui.views.widgets.roles import give

_NUM_PARTS = 1000


class Meter(QProgressBar):
    """Show a share from 0 to 1; None shows an empty bar.

    Args:
        name: What it is a share of, for screen readers.
        size: "large" or "".
    """

    def __init__(self, name: str, *, size: str = "") -> None:
        super().__init__()
        self.setRange(0, _NUM_PARTS)
        self.setTextVisible(False)
        self.setAccessibleName(name)
        if size:
            give(self, measure=size)

    def show_share(self, share: float | None, *, tone: str = "") -> None:
        """Show a share in a tone: "", "warning", "danger" or "muted"."""
        self.setValue(0 if share is None else round(min(1.0, max(0.0, share)) * _NUM_PARTS))
        give(self, tone=tone)
