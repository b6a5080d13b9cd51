"""How the GPUs of a fleet reach each other: in a few words, with all that is known folded beneath the cards."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from podium.ui.state.links import FleetLinks, LinkWay
from podium.ui.theme import METRICS, Tint
from podium.ui.views.widgets.content_fold import ContentFold
from podium.ui.views.widgets.icon_label import IconLabel
from podium.ui.views.widgets.layouts import column, row
from podium.ui.views.widgets.roles import give, make_label


class LinksBadge(QWidget):
    """Show in a few words how the GPUs reach each other; nothing where there is one, or none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon = IconLabel("swap", Tint.MUTED, size=METRICS.icon_small)
        self._words = make_label("", "caption")
        self.setLayout(row(self._icon, self._words, spacing=METRICS.space_xs))
        self.show_links(FleetLinks())

    @property
    def text(self) -> str:
        """Return what is said."""
        return self._words.text()

    def show_links(self, links: FleetLinks) -> None:
        """Show the links of a fleet."""
        is_slow = links.way is LinkWay.HOST
        self._icon.show_icon("warning" if is_slow else "swap", Tint.WARNING if is_slow else Tint.MUTED)
        give(self._words, tone="warning" if is_slow else "").setText(self._in_words(links.way))
        self.setToolTip("\n".join(links.sentences))
        self.setVisible(links.way is not None)

    def _in_words(self, way: LinkWay | None) -> str:
        if way is None:
            return ""
        return {
            LinkWay.NVLINK: self.tr("Linked by NVLink"),
            LinkWay.PEER: self.tr("Linked over the PCI bus"),
            LinkWay.HOST: self.tr("No direct link between GPUs"),
        }[way]


class LinksView(QWidget):
    """Show all that is known of the links, folded away until somebody wants to know."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sentences = make_label("", "caption", wraps=True)
        self._fold = ContentFold(self.tr("Links between the GPUs"), self._sentences)
        self.setLayout(column(self._fold))
        self.show_links(FleetLinks())

    @property
    def fold(self) -> ContentFold:
        """Return the fold around it all."""
        return self._fold

    @property
    def text(self) -> str:
        """Return what is known, a sentence a line."""
        return self._sentences.text()

    def show_links(self, links: FleetLinks) -> None:
        """Show the links of a fleet."""
        self._sentences.setText("\n".join(links.sentences))
        self.setVisible(bool(links.sentences))
