"""Two clips in one place, played in step and parted by a wipe."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget

from podium.ui.state.history import HistoryState
from podium.ui.state.numbers import factor_in_words
from podium.ui.state.values import HistoryEntry
from podium.ui.theme import METRICS
from podium.ui.views.player.pair_player import PairPlayer, PairSide
from podium.ui.views.player.transport_view import TransportView
from podium.ui.views.widgets.banner import Banner
from podium.ui.views.widgets.buttons import make_button, make_icon_button
from podium.ui.views.widgets.elided_label import ElidedLabel
from podium.ui.views.widgets.layouts import column, row
from podium.ui.views.widgets.roles import give_surface, make_label
from podium.ui.views.widgets.segmented import Segmented
from podium.ui.views.wipe_view import WipeView


class CompareView(QWidget):
    """Show the two clips that a `HistoryState` compares.

    Args:
        state: Says which.
        is_motion_reduced: Nothing moves unless it is asked to.
    """

    def __init__(self, state: HistoryState, *, is_motion_reduced: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._is_motion_reduced = is_motion_reduced
        self._entries: tuple[HistoryEntry, HistoryEntry] | None = None
        self._is_swapped = False
        self._player = PairPlayer(self)
        self._wipe = WipeView()
        self._transport = TransportView()
        self._names = ElidedLabel("", "strong"), ElidedLabel("", "strong")
        self._facts = ElidedLabel("", "caption"), ElidedLabel("", "caption")
        self._swap = make_icon_button("swap", self.tr("Swap sides (X)"))
        self._sound = Segmented(self.tr("Sound of"))
        self._done = make_button(self.tr("Done"), icon="close")
        self._banner = Banner("danger")
        self._lay_out()
        self._connect()
        self._transport.set_player(self._player)
        self._show()

    @property
    def player(self) -> PairPlayer:
        """Return what plays both clips."""
        return self._player

    @property
    def wipe(self) -> WipeView:
        """Return where both pictures are painted."""
        return self._wipe

    @property
    def transport(self) -> TransportView:
        """Return the player's controls."""
        return self._transport

    @property
    def swap_button(self) -> QToolButton:
        """Return what exchanges the sides."""
        return self._swap

    @property
    def done_button(self) -> QPushButton:
        """Return what ends the comparison."""
        return self._done

    @property
    def sound_choice(self) -> Segmented:
        """Return whose sound is heard."""
        return self._sound

    @property
    def name_texts(self) -> tuple[str, str]:
        """Return what stands left and right."""
        return self._names[0].text(), self._names[1].text()

    @property
    def banner(self) -> Banner:
        """Return what says that a clip cannot be played."""
        return self._banner

    def set_motion_reduced(self, is_reduced: bool) -> None:  # noqa: FBT001 - the slot of a toggle
        """Choose whether nothing moves unless it is asked to."""
        self._is_motion_reduced = is_reduced

    def close_player(self) -> None:
        """Let the clips go: the window does."""
        self._player.close()

    def _lay_out(self) -> None:
        for label in (self._names[1], self._facts[1]):
            label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        left = column(self._names[0], self._facts[0], spacing=0)
        right = column(self._names[1], self._facts[1], spacing=0)
        head = row(
            spacing=METRICS.space_m, margins=(METRICS.space_l, METRICS.space_s, METRICS.space_l, METRICS.space_s)
        )
        head.addWidget(make_label("A", "badge"))
        head.addLayout(left, 1)
        head.addWidget(self._swap)
        head.addLayout(right, 1)
        head.addWidget(make_label("B", "badge"))
        head.addSpacing(METRICS.space_m)
        head.addWidget(make_label(self.tr("Sound"), "field"))
        head.addWidget(self._sound)
        head.addWidget(self._done)
        bar = give_surface(QWidget(), "panel")
        bar.setLayout(head)
        frame = give_surface(QWidget(), "stage")
        margin = METRICS.space_l
        stage = column(self._banner, margins=(margin, margin, margin, margin))
        stage.addWidget(self._wipe, 1)
        frame.setLayout(stage)
        whole = column(bar, spacing=0)
        whole.addWidget(frame, 1)
        whole.addWidget(self._transport)
        self.setLayout(whole)

    def _connect(self) -> None:
        self._swap.clicked.connect(self.swap)
        self._done.clicked.connect(self._state.stop_comparing)
        self._sound.chosen.connect(self._player.set_sound_side)
        self._player.pair_shown.connect(self._wipe.show_images)
        self._player.failed.connect(self._on_failed)
        self._state.compared_changed.connect(self._show)
        transport = self._transport
        for keys, slot in (
            (Qt.Key.Key_Comma, self._on_back),
            (Qt.Key.Key_Period, self._on_forward),
            (Qt.Key.Key_X, self.swap),
            (Qt.Key.Key_L, transport.loop_button.click),
            (Qt.Key.Key_M, transport.mute_button.click),
            (Qt.Key.Key_BracketLeft, self._on_slower),
            (Qt.Key.Key_BracketRight, self._on_faster),
        ):
            self._add_keys(self, keys, slot, Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self._add_keys(self._wipe, Qt.Key.Key_Space, transport.toggle_play, Qt.ShortcutContext.WidgetShortcut)

    def swap(self) -> None:
        """Exchange the sides."""
        self._is_swapped = not self._is_swapped
        self._player.swap()
        self._show_names()

    def _add_keys(self, owner: QWidget, keys: Qt.Key, slot: Callable[[], object], scope: Qt.ShortcutContext) -> None:
        shortcut = QShortcut(QKeySequence(keys), owner)
        shortcut.setContext(scope)
        shortcut.activated.connect(slot)

    def _on_back(self) -> None:
        self._transport.step(-1)

    def _on_forward(self) -> None:
        self._transport.step(1)

    def _on_slower(self) -> None:
        self._transport.speed_button.step(-1)

    def _on_faster(self) -> None:
        self._transport.speed_button.step(1)

    def _on_failed(self, sentence: str, details: str) -> None:
        self._banner.show_message(sentence, details)

    def _show(self) -> None:
        entries = self._state.compared
        if entries == self._entries:
            return
        before, self._entries = self._entries, entries
        if entries is None:
            self._player.close()
            return
        keys = tuple(entry.key for entry in entries)
        if before is None or keys != tuple(entry.key for entry in before):
            self._is_swapped = False
            self._banner.show_message("")
            self._player.open_pair(*(PairSide(entry.clip.path, entry.clip.clip) for entry in entries))
            if not self._is_motion_reduced:
                self._player.play()
        self._show_names()

    def _show_names(self) -> None:
        if self._entries is None:
            return
        entries = self._entries[::-1] if self._is_swapped else self._entries
        for entry, name, facts in zip(entries, self._names, self._facts, strict=True):
            name.show_text(entry.title)
            facts.show_text(self._facts_of(entry), entry.request.prompt)
        self._sound.show_options(("A", "B"), self._player.sound_side)

    def _facts_of(self, entry: HistoryEntry) -> str:
        clip = entry.clip.clip
        loras = ", ".join(f"{lora.path.stem} {factor_in_words(lora.strength)}" for lora in entry.request.loras)
        seed = self.tr("seed {0}").format(entry.request.seed)
        return " · ".join(part for part in (f"{clip.width} × {clip.height}", seed, loras) if part)
