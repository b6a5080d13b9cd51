"""The clips that were made, newest first: searched, filtered, and handed on."""

from __future__ import annotations

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QFrame,
    QLineEdit,
    QListView,
    QPushButton,
    QStackedWidget,
    QStyleOptionViewItem,
    QWidget,
)

from podium.ui.state.exports import ExportsState
from podium.ui.state.history import HistoryState
from podium.ui.state.history_model import HistoryModel
from podium.ui.state.images import FramePlace
from podium.ui.state.values import HistoryEntry
from podium.ui.theme import METRICS, load_icon
from podium.ui.views.history_actions import HistoryActions
from podium.ui.views.history_delegate import HistoryDelegate
from podium.ui.views.shown_clip import ShownClip
from podium.ui.views.stage_picture import make_file_drag
from podium.ui.views.widgets.actions import make_action_button, make_menu, make_menu_button
from podium.ui.views.widgets.banner import Banner
from podium.ui.views.widgets.buttons import make_button
from podium.ui.views.widgets.layouts import column, row
from podium.ui.views.widgets.roles import give_surface, make_label


class HistoryView(QWidget):
    """Show a `HistoryState`, and choose which of its clips the Stage shows.

    Args:
        state: The clips.
        exports: Takes pictures out of clips.
    """

    folder_requested = Signal(object)
    """A `Path` to be shown in the file manager."""
    export_requested = Signal(object)
    """A `ShownClip` shall be exported."""
    reuse_requested = Signal(object, bool)
    """A `HistoryEntry`'s request shall be reused, and whether the artist chooses its parts."""

    find_requested = Signal()
    """The history is wanted in sight, to be searched."""

    def __init__(self, state: HistoryState, exports: ExportsState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._exports = exports
        give_surface(self, "panel")
        self.actions_of_list = HistoryActions(self)
        self._list = ClipList()
        self._delegate = HistoryDelegate(self._list)
        self._make_bar()
        self._banner = Banner("warning")
        self._empty = make_label("", "muted", wraps=True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._pages = QStackedWidget()
        self._lay_out()
        self._connect()
        self._show_mode()
        self._show()

    @property
    def clip_list(self) -> ClipList:
        """Return the list of clips."""
        return self._list

    @property
    def live_button(self) -> QPushButton:
        """Return what leads back to the clip at work."""
        return self._live

    @property
    def search_field(self) -> QLineEdit:
        """Return where words are searched for."""
        return self._search

    @property
    def empty_text(self) -> str:
        """Return what is said where there is no clip."""
        return self._empty.text()

    @property
    def chosen(self) -> tuple[HistoryEntry, ...]:
        """Return the clips that are chosen in the list, the one with the keyboard first."""
        current = self._list.currentIndex().row()
        indexes = sorted(self._list.selectedIndexes(), key=lambda index: (index.row() != current, index.row()))
        found = (index.data(HistoryModel.ENTRY_ROLE) for index in indexes)
        return tuple(entry for entry in found if isinstance(entry, HistoryEntry))

    @property
    def is_list_mode(self) -> bool:
        """Return whether clips are lines under each other, or tiles."""
        return self._delegate.is_list

    def set_list_mode(self, is_list: bool) -> None:  # noqa: FBT001 - the slot of a toggle
        """Show clips as lines under each other, or as tiles."""
        self._delegate.is_list = is_list
        self._show_mode()

    def _make_bar(self) -> None:
        self._search = QLineEdit()
        self._search.setPlaceholderText(self.tr("Search prompts"))
        self._search.setAccessibleName(self.tr("Search the history"))
        self._search.setClearButtonEnabled(True)
        self._search.addAction(load_icon("search"), QLineEdit.ActionPosition.LeadingPosition)
        # In a small window the filters give way: their lists have the whole of every name.
        self._search.setFixedWidth(METRICS.search_width)
        actions = self.actions_of_list
        self._starred = make_action_button(actions.starred_only, "star")
        self._lora = _make_filter(self.tr("Filter by LoRA"))
        self._model = _make_filter(self.tr("Filter by model"))
        self._count = make_label("", "caption")
        self._live = make_button(self.tr("Back to the clip at work"), kind="quiet", icon="play")
        self._mode = make_action_button(actions.as_list, "list")
        self._compare = make_button(self.tr("Compare"), icon="compare")
        self._more = make_menu_button("more", self.tr("More for the history"), (actions.forget_missing,))

    def _lay_out(self) -> None:
        view = self._list
        view.setModel(self._state.model)
        view.setItemDelegate(self._delegate)
        view.setAccessibleName(self.tr("Clips"))
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        for action in self.actions_of_list.menu():
            if action is not None:
                view.addAction(action)
        self._pages.addWidget(self._empty)
        self._pages.addWidget(view)
        bar = row(self._search, self._starred, self._lora, self._model, self._count, None, spacing=METRICS.space_s)
        for part in (self._live, self._compare, self._mode, self._more):
            bar.addWidget(part)
        margins = (METRICS.space_m, METRICS.space_s, METRICS.space_m, METRICS.space_s)
        whole = column(bar, self._banner, spacing=METRICS.space_s, margins=margins)
        whole.addWidget(self._pages, 1)
        self.setLayout(whole)

    def _connect(self) -> None:
        state, actions = self._state, self.actions_of_list
        self._list.clicked.connect(self._on_clicked)
        self._list.customContextMenuRequested.connect(self._on_menu)
        self._list.selectionModel().selectionChanged.connect(self._show_actions)
        self._search.textChanged.connect(state.set_search)
        self._lora.activated.connect(self._on_lora)
        self._model.activated.connect(self._on_model)
        self._live.clicked.connect(actions.to_live.trigger)
        self._compare.clicked.connect(actions.compare.trigger)
        for action, slot in (
            (actions.show, self._on_show),
            (actions.star, self._on_star),
            (actions.compare, self._on_compare),
            (actions.reuse_all, self._on_reuse_all),
            (actions.reuse_parts, self._on_reuse_parts),
            (actions.start_image, self._on_start_image),
            (actions.show_in_folder, self._on_show_in_folder),
            (actions.export, self._on_export),
            (actions.trash, self._on_trash),
            (actions.find, self._on_find),
            (actions.to_live, self._on_live),
            (actions.starred_only, state.set_starred_only),
            (actions.as_list, self.set_list_mode),
            (actions.forget_missing, state.forget_missing),
        ):
            action.triggered.connect(slot)
        state.model.dataChanged.connect(self._on_data_changed)
        state.changed.connect(self._show)

    def _on_data_changed(self, first: QModelIndex) -> None:
        # Thumbnails come by the hundred, and change nothing that can be done.
        if self._list.selectionModel().isSelected(first):
            self._show_actions()

    def _on_clicked(self, index: QModelIndex) -> None:
        # A click that chooses a second one is not about the Stage.
        if len(self._list.selectedIndexes()) == 1:
            self._select(index)

    def _select(self, index: QModelIndex) -> None:
        entry = index.data(HistoryModel.ENTRY_ROLE)
        if isinstance(entry, HistoryEntry):
            self._state.select(entry.key)

    def _on_show(self) -> None:
        self._select(self._list.currentIndex())

    def _on_find(self) -> None:
        self.find_requested.emit()
        self._search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._search.selectAll()

    def _on_live(self) -> None:
        self._state.select(None)

    def _on_lora(self, place: int) -> None:
        self._state.set_lora_filter("" if place == 0 else self._lora.itemText(place))

    def _on_model(self, place: int) -> None:
        self._state.set_model_filter("" if place == 0 else self._model.itemText(place))

    def _on_menu(self, point: QPoint) -> None:
        if self._list.indexAt(point).isValid():
            menu = make_menu(self, self.actions_of_list.menu())
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(self._list.viewport().mapToGlobal(point))

    def _on_star(self, is_starred: bool) -> None:  # noqa: FBT001 - Qt's signature
        for entry in self.chosen:
            self._state.set_starred(entry.key, is_starred)

    def _on_compare(self) -> None:
        pair = self._pair()
        if pair is not None:
            self._state.compare(*pair)

    def _pair(self) -> tuple[int, int] | None:
        """Return the clips that *Compare* is about: the two chosen, or the one on the Stage and the one chosen."""
        chosen, selected = self.chosen, self._state.selected
        if len(chosen) == 2:
            older, newer = sorted(chosen, key=lambda entry: entry.finished_at)
            return older.key, newer.key
        if len(chosen) == 1 and selected is not None and selected.key != chosen[0].key:
            return selected.key, chosen[0].key
        return None

    def _on_reuse_all(self) -> None:
        for entry in self.chosen[:1]:
            self.reuse_requested.emit(entry, False)

    def _on_reuse_parts(self) -> None:
        for entry in self.chosen[:1]:
            self.reuse_requested.emit(entry, True)

    def _on_start_image(self) -> None:
        for entry in self.chosen[:1]:
            self._exports.use_frame(entry.clip.path, 0, FramePlace.FIRST)

    def _on_show_in_folder(self) -> None:
        for entry in self.chosen[:1]:
            self.folder_requested.emit(entry.clip.path)

    def _on_export(self) -> None:
        for entry in self.chosen[:1]:
            self.export_requested.emit(ShownClip(entry.clip.path, entry.clip.clip))

    def _on_trash(self) -> None:
        for entry in self.chosen:
            self._state.trash(entry.key)

    def _show_mode(self) -> None:
        is_list = self._delegate.is_list
        self._list.show_as(is_list=is_list, cell=self._delegate.sizeHint(self._list.option(), QModelIndex()))
        self.actions_of_list.as_list.setChecked(is_list)

    def _show_actions(self) -> None:
        chosen = self.chosen
        can_compare = self._pair() is not None
        is_starred = bool(chosen) and all(entry.is_starred for entry in chosen)
        self.actions_of_list.show_can(num_chosen=len(chosen), can_compare=can_compare, is_starred=is_starred)
        self._compare.setEnabled(can_compare)
        hint = self.tr("Compare the two chosen clips, or the one chosen with the one on the Stage (C)")
        self._compare.setToolTip(hint)

    def _show(self) -> None:
        state = self._state
        self._pages.setCurrentWidget(self._list if state.num_entries else self._empty)
        found = self.tr("No clip is found. Search for other words, or take the filters off.")
        kept = self.tr("Finished clips are kept here, and in your clips folder.")
        self._empty.setText(found if state.is_filtered else kept)
        self._count.setText(self.tr("Clips: {0}").format(state.num_entries) if state.num_entries else "")
        self._banner.show_message(state.problem)
        if self._search.text() != state.search:
            with QSignalBlocker(self._search):
                self._search.setText(state.search)
        self.actions_of_list.starred_only.setChecked(state.is_starred_only)
        self.actions_of_list.to_live.setEnabled(state.selected is not None)
        _show_filter(self._lora, self.tr("All LoRAs"), state.lora_names, state.lora_filter)
        _show_filter(self._model, self.tr("All models"), state.model_names, state.model_filter)
        self._live.setVisible(state.selected is not None)
        self._show_selected()
        self._show_actions()

    def _show_selected(self) -> None:
        """Choose in the list what the Stage shows, unless several are chosen."""
        selected = self._state.selected
        if selected is None or len(self._list.selectedIndexes()) > 1:
            return
        place = self._state.model.row_of(selected.key)
        index = QModelIndex() if place is None else self._state.model.index(place, 0)
        if index.isValid() and index not in self._list.selectedIndexes():
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect
            self._list.selectionModel().setCurrentIndex(index, flags)


class ClipList(QListView):
    """A list or grid of clips, each of which can be dragged out as its file."""

    def __init__(self) -> None:
        super().__init__()
        self._pressed_at: QPoint | None = None
        self.setMovement(QListView.Movement.Static)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setUniformItemSizes(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setSelectionMode(QListView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)

    def show_as(self, *, is_list: bool, cell: QSize) -> None:
        """Put clips under each other, or side by side in cells of one size."""
        # Qt's icon mode lays out every item there is, its list mode only what is shown; both wrap.
        self.setFlow(QListView.Flow.TopToBottom if is_list else QListView.Flow.LeftToRight)
        self.setWrapping(not is_list)
        self.setGridSize(QSize() if is_list else cell)
        self.scheduleDelayedItemsLayout()

    def option(self) -> QStyleOptionViewItem:
        """Return how items are painted."""
        option = QStyleOptionViewItem()
        self.initViewItemOption(option)
        return option

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Remember where: it may become a drag."""
        super().mousePressEvent(event)
        is_left = event.button() is Qt.MouseButton.LeftButton
        point = event.position().toPoint()
        self._pressed_at = point if is_left and self.indexAt(point).isValid() else None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Begin a drag once the pointer is far enough away; nothing is chosen by pulling."""
        if self._pressed_at is None:
            super().mouseMoveEvent(event)
            return
        way = event.position().toPoint() - self._pressed_at
        if way.manhattanLength() >= QApplication.startDragDistance():
            entry = self.indexAt(self._pressed_at).data(HistoryModel.ENTRY_ROLE)
            self._pressed_at = None
            if isinstance(entry, HistoryEntry) and not entry.is_missing:
                delegate = self.itemDelegate()
                assert isinstance(delegate, HistoryDelegate), "the view set it"
                drag = make_file_drag(self, entry.clip.path, delegate.image_of(entry))
                drag.exec(Qt.DropAction.CopyAction)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Forget where it was pressed."""
        self._pressed_at = None
        super().mouseReleaseEvent(event)


def _make_filter(name: str) -> QComboBox:
    box = QComboBox()
    box.setAccessibleName(name)
    box.setMinimumWidth(METRICS.filter_width * 13 // 20)
    box.setMaximumWidth(METRICS.filter_width)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    return box


def _show_filter(box: QComboBox, all_of_them: str, names: tuple[str, ...], chosen: str) -> None:
    """Show the names of a filter; there is nothing to choose among fewer than one."""
    wanted = [all_of_them, *names]
    if [box.itemText(place) for place in range(box.count())] != wanted:
        box.clear()
        box.addItems(wanted)
    box.setCurrentIndex(wanted.index(chosen) if chosen in names else 0)
    box.setVisible(bool(names))
