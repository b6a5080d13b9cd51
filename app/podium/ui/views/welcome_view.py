"""The first-run page: the model's files, or the demo; and where it shall run."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QPushButton, QScrollArea, QWidget

from podium.ui.state.session import SessionState
from podium.ui.theme import METRICS, Tint
from podium.ui.views.device_view import DeviceView
from podium.ui.views.pack_view import PackView
from podium.ui.views.widgets.buttons import make_button
from podium.ui.views.widgets.icon_label import IconLabel
from podium.ui.views.widgets.layouts import around, column, row
from podium.ui.views.widgets.roles import give, give_surface, hairline, make_label


class WelcomeView(QWidget):
    """Lead from nothing to the first clip over a `SessionState`."""

    left = Signal()
    """The artist wants to go on to the workspace."""

    def __init__(self, session: SessionState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        give_surface(self, "window")
        self.pack = PackView(session.pack)
        self.devices = DeviceView(session.devices)
        self._demo = make_button(self.tr("Try the demo model"), icon="demo")
        self._go = make_button(self.tr("Start"), kind="primary")
        give(self._go, measure="large")
        self._skip = make_button(self.tr("Look around first"), kind="link")
        self._status = make_label("", "muted", wraps=True)
        page = column(
            None,
            self._make_head(),
            self._make_columns(),
            hairline(),
            self._make_foot(),
            None,
            None,
            spacing=METRICS.space_xl,
            margins=around(METRICS.space_xl),
        )
        content = give(QWidget(), surface="scrolled")
        content.setMaximumWidth(METRICS.page_width)
        content.setLayout(page)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setAlignment(Qt.AlignmentFlag.AlignCenter)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(content)
        self.setLayout(column(area))
        self._demo.clicked.connect(session.try_demo)
        self._go.clicked.connect(self.left)
        self._skip.clicked.connect(self.left)
        session.pack.changed.connect(self._show)
        session.devices.changed.connect(self._show)
        self._show()

    @property
    def demo_button(self) -> QPushButton:
        """Return what takes the demo model."""
        return self._demo

    @property
    def start_button(self) -> QPushButton:
        """Return what leads to the workspace once there is a model and a place for it."""
        return self._go

    @property
    def status_text(self) -> str:
        """Return what is missing, or what was chosen."""
        return self._status.text()

    def _make_head(self) -> QWidget:
        head = QWidget()
        mark = IconLabel("podium", Tint.ACCENT, size=METRICS.icon_large)
        title = make_label(self.tr("Welcome to Podium"), "display")
        text = make_label(self.tr("Video with sound from a prompt, on this machine. Nothing leaves it."), "muted")
        whole = row(mark, column(title, text, spacing=2), None, spacing=METRICS.space_l)
        head.setLayout(whole)
        return head

    def _make_columns(self) -> QWidget:
        columns = QWidget()
        demo = give_surface(QWidget(), "card")
        words = column(
            make_label(self.tr("No model yet?"), "strong"),
            make_label(
                self.tr("The demo model is tiny, is there in seconds, and shows how Podium works."),
                "caption",
                wraps=True,
            ),
            spacing=2,
        )
        line = row(spacing=METRICS.space_m, margins=around(METRICS.space_m))
        line.addLayout(words, 1)
        line.addWidget(self._demo)
        demo.setLayout(line)
        model = column(make_label(self.tr("The model"), "title"), self.pack, demo, None, spacing=METRICS.space_m)
        where = column(make_label(self.tr("Where it runs"), "title"), self.devices, None, spacing=METRICS.space_m)
        both = row(spacing=METRICS.space_xxl)
        both.addLayout(model, 1)
        both.addLayout(where, 1)
        columns.setLayout(both)
        return columns

    def _make_foot(self) -> QWidget:
        foot = QWidget()
        line = row(spacing=METRICS.space_m)
        line.addWidget(self._status, 1)
        line.addWidget(self._skip)
        line.addWidget(self._go)
        foot.setLayout(line)
        return foot

    def _show(self) -> None:
        pack, devices = self._session.pack, self._session.devices
        is_ready = pack.models is not None and devices.choice is not None
        self._go.setEnabled(is_ready)
        self._skip.setVisible(not is_ready)
        self._demo.setEnabled(not pack.is_demo)
        problem = pack.problem or devices.problem
        self._status.setText(problem or (self.tr("Being looked at…") if pack.is_busy else pack.summary))
