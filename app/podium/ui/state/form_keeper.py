"""The form as it was left: kept a second after the last change, and put back when the window opens again."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from podium.library import LibraryError
from podium.library.texts import FormStore
from podium.ui.state.compose import ComposeState
from podium.ui.state.compose_form import form_of, restore_form
from podium.ui.state.loras import LoraStackState
from podium.ui.state.sentences import said

DELAY_MS = 1000
_COMPOSE, _LORAS = "compose", "loras"


class FormKeeper(QObject):
    """Keeps the form.

    Args:
        store: Where.
        compose, loras: The form.
    """

    failed = Signal(str)
    """A sentence on why the form is not kept; empty once it is again."""

    def __init__(
        self, store: FormStore, compose: ComposeState, loras: LoraStackState, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._compose = compose
        self._loras = loras
        self._timer = QTimer(self, singleShot=True, interval=DELAY_MS)
        self._timer.timeout.connect(self._save)
        compose.changed.connect(self._on_changed)
        loras.items_changed.connect(self._on_changed)

    def restore(self) -> None:
        """Put the form back as it was left."""
        try:
            form = self._store.load()
        except LibraryError as error:
            self.failed.emit(said(error.message))
            return
        if form is None:
            return
        compose, loras = form.get(_COMPOSE), form.get(_LORAS)
        if isinstance(compose, dict):
            restore_form(self._compose, compose)
        if isinstance(loras, list):
            self._loras.restore_form(loras)

    def close(self) -> None:
        """Keep what is not kept yet: the window goes."""
        if self._timer.isActive():
            self._timer.stop()
            self._save()

    @Slot()
    def _on_changed(self) -> None:
        # From the first change on, so that who writes without a pause is kept, too.
        if not self._timer.isActive():
            self._timer.start()

    @Slot()
    def _save(self) -> None:
        try:
            self._store.save({_COMPOSE: form_of(self._compose), _LORAS: self._loras.form()})
        except LibraryError as error:
            self.failed.emit(said(error.message))
        else:
            self.failed.emit("")
