"""The artist's presets: take one, save the form as one, rename and delete them."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QPushButton,
    QWidget,
)

from podium.ui.state.presets import MAX_NAME_LENGTH, PresetsState
from podium.ui.state.values import ReusePart
from podium.ui.theme import METRICS, Tint
from podium.ui.views.widgets.banner import Banner
from podium.ui.views.widgets.buttons import make_button
from podium.ui.views.widgets.fitted_dialog import FittedDialog
from podium.ui.views.widgets.layouts import around, column, row
from podium.ui.views.widgets.roles import give, make_label


class PresetView(QWidget):
    """A button over a `PresetsState` whose menu takes, saves and manages presets."""

    def __init__(self, state: PresetsState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._button = make_button(self.tr("Presets"), kind="quiet", icon="bookmark", tint=Tint.MUTED)
        self._button.setToolTip(self.tr("Settings of this form under names of your own"))
        self._menu = QMenu(self)
        self._menu.setToolTipsVisible(True)
        self._button.setMenu(self._menu)
        self.setLayout(row(self._button))
        state.names_changed.connect(self._show)
        self._show()

    @property
    def button(self) -> QPushButton:
        """Return what opens the menu."""
        return self._button

    @property
    def menu(self) -> QMenu:
        """Return the presets, and what can be done with them."""
        return self._menu

    def _show(self) -> None:
        self._menu.clear()
        for name in self._state.names:
            # An ampersand would underline what follows.
            action = self._menu.addAction(name.replace("&", "&&"))
            action.triggered.connect(partial(self._on_use, name))
        if not self._state.names:
            self._menu.addAction(self.tr("No preset yet")).setEnabled(False)
        self._menu.addSeparator()
        self._menu.addAction(self.tr("Save as Preset…")).triggered.connect(self._on_save)
        manage = self._menu.addAction(self.tr("Manage Presets…"))
        manage.triggered.connect(self._on_manage)
        manage.setEnabled(bool(self._state.names))

    def _on_use(self, name: str) -> None:
        self._state.use(name)

    def _on_save(self) -> None:
        SavePresetDialog(self._state, self.window()).open()

    def _on_manage(self) -> None:
        ManagePresetsDialog(self._state, self.window()).open()


class SavePresetDialog(FittedDialog):
    """Ask for a preset's name, and for what it shall hold beside how a clip is made."""

    def __init__(self, state: PresetsState, parent: QWidget) -> None:
        super().__init__(METRICS.popup_width, parent)
        self._state = state
        self.setWindowTitle(self.tr("Save as Preset"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.name = QLineEdit()
        self.name.setMaxLength(MAX_NAME_LENGTH)
        self.name.setAccessibleName(self.tr("Name of the preset"))
        label = make_label(self.tr("Name"), "field")
        label.setBuddy(self.name)
        self.parts = {
            ReusePart.PROMPT: QCheckBox(self.tr("The prompt")),
            ReusePart.SEED: QCheckBox(self.tr("The seed")),
            ReusePart.IMAGES: QCheckBox(self.tr("The pictures")),
        }
        self._note = make_label("", "caption", wraps=True)
        self.save = make_button(self.tr("Save"), kind="primary")
        self.save.setDefault(True)
        cancel = make_button(self.tr("Cancel"))
        held = self.tr("It holds pipeline, negative prompt, format, guidance and LoRAs. Keep with it:")
        whole = column(
            make_label(self.tr("Save as Preset"), "headline"),
            column(label, self.name, self._note, spacing=METRICS.space_xs),
            column(make_label(held, "muted", wraps=True), *self.parts.values(), spacing=METRICS.space_s),
            None,
            row(None, cancel, self.save),
            spacing=METRICS.space_l,
            margins=around(METRICS.space_xl),
        )
        self.fill(whole)
        self.name.textChanged.connect(self._show)
        self.save.clicked.connect(self._on_save)
        cancel.clicked.connect(self.reject)
        self._show()

    @property
    def note_text(self) -> str:
        """Return what saving would write over."""
        return self._note.text()

    def _on_save(self) -> None:
        self._state.save(self.name.text(), [part for part, box in self.parts.items() if box.isChecked()])
        if self._state.problem:
            self._note.setText(self._state.problem)
        else:
            self.accept()

    def _show(self) -> None:
        name = self.name.text().strip()
        self.save.setEnabled(bool(name))
        is_taken = name in self._state.names
        self.save.setText(self.tr("Write over") if is_taken else self.tr("Save"))
        # A blank keeps the line's room, so that the dialog stays as high as it is.
        self._note.setText(self.tr("There is a preset of this name; it is written over.") if is_taken else " ")


class ManagePresetsDialog(QDialog):
    """Rename presets where they stand, and delete them."""

    def __init__(self, state: PresetsState, parent: QWidget) -> None:
        super().__init__(parent)
        self._state = state
        self.setWindowTitle(self.tr("Manage Presets"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.list = give(QListWidget(), kind="choices")
        self.list.setAccessibleName(self.tr("Presets"))
        self.list.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked | QAbstractItemView.EditTrigger.EditKeyPressed
        )
        self._problem = Banner("warning")
        self.rename = make_button(self.tr("Rename"), icon="edit")
        self.delete = make_button(self.tr("Delete"), icon="trash")
        done = make_button(self.tr("Done"), kind="primary")
        done.setDefault(True)
        head = make_label(self.tr("Manage Presets"), "headline")
        foot = row(self.rename, self.delete, None, done)
        parts = (head, self._problem, self.list, foot)
        self.setLayout(column(*parts, spacing=METRICS.space_l, margins=around(METRICS.space_xl)))
        self.resize(METRICS.popup_width, METRICS.popup_height)
        self.rename.clicked.connect(self._on_rename)
        self.delete.clicked.connect(self._on_delete)
        done.clicked.connect(self.accept)
        self.list.itemChanged.connect(self._on_item_changed)
        self.list.currentRowChanged.connect(self._show_buttons)
        state.changed.connect(self._show)
        self._show()

    @property
    def problem_text(self) -> str:
        """Return what could not be done."""
        return self._problem.sentence

    def _on_rename(self) -> None:
        if self.list.currentItem() is not None:
            self.list.editItem(self.list.currentItem())

    def _on_delete(self) -> None:
        if self.list.currentItem() is not None:
            self._state.remove(self._state.names[self.list.currentRow()])

    def _on_item_changed(self, item: QListWidgetItem) -> None:
        self._state.rename(self._state.names[self.list.row(item)], item.text())
        # What was refused shows its old name again.
        self._show()

    def _show(self) -> None:
        row_before = self.list.currentRow()
        self.list.blockSignals(True)
        self.list.clear()
        for name in self._state.names:
            item = QListWidgetItem(name, self.list)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
        self.list.setCurrentRow(min(max(0, row_before), self.list.count() - 1))
        self.list.blockSignals(False)
        self._problem.show_message(self._state.problem)
        self._show_buttons()

    def _show_buttons(self) -> None:
        for button in (self.rename, self.delete):
            button.setEnabled(self.list.currentItem() is not None)
