"""The queue: what is made next, in the order it is made."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QItemSelectionModel, QPoint, Qt
from PySide6.QtWidgets import QFrame, QListView, QPushButton, QScrollArea, QSizePolicy, QStackedWidget, QWidget

from podium.ui.state.queue import QueueState
from podium.ui.state.values import QueueEntry
from podium.ui.theme import METRICS
from podium.ui.views.dialogs import ConfirmDialog
from podium.ui.views.queue_actions import QueueActions
from podium.ui.views.queue_delegate import QueueDelegate
from podium.ui.views.queue_item_model import QueueItemModel
from podium.ui.views.queue_words import QueueWords
from podium.ui.views.widgets.actions import make_action_button, make_menu, make_menu_button
from podium.ui.views.widgets.banner import Banner
from podium.ui.views.widgets.buttons import make_button
from podium.ui.views.widgets.layouts import column, row
from podium.ui.views.widgets.roles import give, give_surface, make_label


class QueueView(QWidget):
    """Show a `QueueState`, and change what is made next."""

    def __init__(self, state: QueueState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._words = QueueWords(self)
        give_surface(self, "panel")
        self.actions_of_queue = QueueActions(self)
        self._headline = make_label("", "section")
        self._pause = make_button("", icon="pause")
        self._reason = Banner("warning", has_buttons_beside=True)
        self._problem = Banner("warning")
        self._failure = Banner("danger")
        self._notes = Banner("warning")
        self._model = QueueItemModel(state, self)
        self._list = QListView()
        self._empty = make_label("", "muted", wraps=True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._pages = QStackedWidget()
        self._set_up_list()
        self._lay_out()
        self._connect()
        self._show()

    @property
    def entry_list(self) -> QListView:
        """Return the list of entries."""
        return self._list

    @property
    def model(self) -> QueueItemModel:
        """Return the entries as the list has them."""
        return self._model

    @property
    def pause_button(self) -> QPushButton:
        """Return what pauses the queue and lets it go on."""
        return self._pause

    @property
    def reason_banner(self) -> Banner:
        """Return what says why the queue is paused."""
        return self._reason

    @property
    def failure_banner(self) -> Banner:
        """Return what says why the chosen entry failed, with rank, phase and log folded beneath."""
        return self._failure

    @property
    def notes_banner(self) -> Banner:
        """Return what says what the check of the chosen entry had to say."""
        return self._notes

    @property
    def headline_text(self) -> str:
        """Return how many entries wait."""
        return self._headline.text()

    @property
    def chosen(self) -> tuple[QueueEntry, ...]:
        """Return the entries that are chosen in the list, in their order."""
        rows = sorted(index.row() for index in self._list.selectedIndexes())
        entries = (self._model.index(place, 0).data(QueueItemModel.ENTRY_ROLE) for place in rows)
        return tuple(entry for entry in entries if isinstance(entry, QueueEntry))

    def choose(self, key: int) -> None:
        """Choose an entry in the list, and bring it into sight."""
        place = self._model.row_of(key)
        if place is not None:
            index = self._model.index(place, 0)
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect
            self._list.selectionModel().setCurrentIndex(index, flags)
            self._list.scrollTo(index)

    def _set_up_list(self) -> None:
        view = self._list
        view.setModel(self._model)
        view.setItemDelegate(QueueDelegate(self._state, view))
        view.setAccessibleName(self.tr("Queue"))
        view.setUniformItemSizes(True)
        view.setFrameShape(QFrame.Shape.NoFrame)
        view.setMouseTracking(True)
        view.setSelectionMode(QListView.SelectionMode.ExtendedSelection)
        view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        view.setDragDropMode(QListView.DragDropMode.DragDrop)
        view.setDefaultDropAction(Qt.DropAction.MoveAction)
        view.setDropIndicatorShown(True)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.addActions(list(self.actions_of_queue.of_entry()))

    def _lay_out(self) -> None:
        actions = self.actions_of_queue
        self._pages.addWidget(self._empty)
        self._pages.addWidget(self._list)
        bar = row(self._headline, None, spacing=METRICS.space_xs)
        for action, icon in (
            (actions.edit, "edit"),
            (actions.duplicate, "copy"),
            (actions.pause_entry, "pause"),
            (actions.retry, "refresh"),
            (actions.to_front, "to-front"),
            (actions.move_up, "arrow-up"),
            (actions.move_down, "arrow-down"),
            (actions.remove, "trash"),
        ):
            bar.addWidget(make_action_button(action, icon))
        bar.addSpacing(METRICS.space_m)
        bar.addWidget(self._pause)
        bar.addWidget(make_menu_button("more", self.tr("More for the queue"), actions.of_queue()))
        # Unfolded, rank, phase and log are higher than the panel: they scroll, and the Stage keeps its room.
        inner = give(QWidget(), surface="scrolled")
        inner.setLayout(column(self._failure, self._notes, None, spacing=METRICS.space_s))
        self._detail = QScrollArea()
        self._detail.setWidgetResizable(True)
        self._detail.setFrameShape(QFrame.Shape.NoFrame)
        self._detail.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._detail.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._detail.setWidget(inner)
        # Beside the list, and never the larger of the two.
        self._detail.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self._detail.setMaximumWidth(METRICS.detail_width)
        below = row(spacing=METRICS.space_m)
        below.addWidget(self._pages, 3)
        below.addWidget(self._detail, 2)
        margins = (METRICS.space_m, METRICS.space_s, METRICS.space_m, METRICS.space_s)
        whole = column(bar, self._reason, self._problem, spacing=METRICS.space_s, margins=margins)
        whole.addLayout(below, 1)
        self.setLayout(whole)

    def _connect(self) -> None:
        state, actions = self._state, self.actions_of_queue
        self._model.move_requested.connect(state.move)
        self._list.selectionModel().selectionChanged.connect(self._show_chosen)
        self._list.doubleClicked.connect(actions.edit.trigger)
        self._list.customContextMenuRequested.connect(self._on_menu)
        self._pause.clicked.connect(self._on_pause)
        resume = make_button(self.tr("Resume"), icon="play")
        resume.clicked.connect(state.resume)
        self._reason.add_button(resume)
        for action, slot in (
            (actions.edit, self._on_edit),
            (actions.duplicate, self._on_duplicate),
            (actions.pause_entry, self._on_pause_entry),
            (actions.retry, self._on_retry),
            (actions.to_front, self._on_to_front),
            (actions.move_up, self._on_move_up),
            (actions.move_down, self._on_move_down),
            (actions.remove, self._on_remove),
            (actions.stop_editing, state.stop_editing),
            (actions.pause, self._on_pause),
            (actions.group, state.group_by_model),
            (actions.cancel_all, self._on_cancel_all),
            (actions.clear, self._on_clear),
            (actions.clear_and_restart, self._on_restart),
        ):
            action.triggered.connect(slot)
        state.changed.connect(self._show)

    def _on_menu(self, point: QPoint) -> None:
        if self._list.indexAt(point).isValid():
            menu = make_menu(self, self.actions_of_queue.of_entry())
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(self._list.viewport().mapToGlobal(point))

    def _on_pause(self) -> None:
        if self._state.is_paused:
            self._state.resume()
        else:
            self._state.pause()

    def _on_edit(self) -> None:
        for entry in self.chosen[:1]:
            self._state.edit(entry.key)

    def _on_duplicate(self) -> None:
        for entry in self.chosen:
            self._state.duplicate(entry.key)

    def _on_pause_entry(self, is_paused: bool) -> None:  # noqa: FBT001 - Qt's signature
        for entry in self.chosen:
            self._state.set_entry_paused(entry.key, is_paused)

    def _on_retry(self) -> None:
        for entry in self.chosen:
            self._state.retry(entry.key)

    def _on_to_front(self) -> None:
        for entry in self.chosen[:1]:
            self._state.move_to_front(entry.key)

    def _on_move_up(self) -> None:
        self._move(-1)

    def _on_move_down(self) -> None:
        self._move(1)

    def _move(self, num_places: int) -> None:
        for entry in self.chosen[:1]:
            place = self._model.row_of(entry.key)
            if place is not None:
                self._state.move(entry.key, place + num_places)

    def _on_remove(self) -> None:
        for entry in self.chosen:
            self._state.remove(entry.key)

    def _on_cancel_all(self) -> None:
        text = self.tr("The clip at work ends at its next step, and all that wait are taken out.")
        self._ask(self.tr("Cancel all clips?"), text, self.tr("Cancel All"), self._state.cancel_all)

    def _on_clear(self) -> None:
        text = self.tr("All but the clip at work are taken out.")
        self._ask(self.tr("Clear what waits?"), text, self.tr("Clear"), self._state.clear)

    def _on_restart(self) -> None:
        text = self.tr(
            "The clip at work is stopped by force and all that wait are taken out. Then the devices start anew and the "
            "weights load again."
        )
        title = self.tr("Clear the queue and restart the fleet?")
        self._ask(title, text, self.tr("Clear and Restart"), self._state.clear_and_restart)

    def _ask(self, title: str, text: str, verb: str, do: Callable[[], None]) -> None:
        """Do something that cannot be taken back once the artist agreed."""
        dialog = ConfirmDialog(title, text, verb, self)
        dialog.accepted.connect(do)
        dialog.open()

    def _show(self) -> None:
        state = self._state
        self._pages.setCurrentWidget(self._list if state.entries else self._empty)
        self._empty.setText(self.tr("Nothing waits. Generate puts a clip here, and more while one is being made."))
        waiting = self.tr("Waiting: {0}").format(state.num_pending)
        self._headline.setText(waiting if state.num_pending else self.tr("Queue"))
        self._pause.setText(self.tr("Resume") if state.is_paused else self.tr("Pause"))
        self._pause.setIcon(self.actions_of_queue.pause.icon())
        self._pause.setToolTip(self.tr("Begin no further clip; the one at work goes on (Ctrl+P)"))
        self._pause.setVisible(not (state.is_paused and state.pause_reason))
        self._reason.show_message(state.pause_reason if state.is_paused else "")
        self._problem.show_message(state.problem)
        self._show_chosen()

    def _show_chosen(self) -> None:
        chosen = self.chosen
        self.actions_of_queue.show_can(self._state, chosen)
        one = chosen[0] if len(chosen) == 1 else None
        error = one.error if one is not None and one.status.is_over else None
        notes = one.notes if one is not None else ()
        self._notes.show_message("\n".join(notes))
        self._detail.setVisible(error is not None or bool(notes))
        if one is not None and error is not None:
            self._failure.show_message(error.sentence, self._words.failure(one))
        else:
            self._failure.show_message("")
        self._list.viewport().update()
