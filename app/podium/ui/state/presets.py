"""Settings of the form under names of the artist's own."""

from __future__ import annotations

from collections.abc import Callable, Collection

from PySide6.QtCore import QObject, Signal

from podium.library import LibraryError
from podium.library.texts import PresetStore
from podium.ui.state.compose import ComposeState
from podium.ui.state.compose_form import form_of, restore_form
from podium.ui.state.loras import LoraStackState
from podium.ui.state.observable import ObservableState
from podium.ui.state.sentences import said
from podium.ui.state.values import ReusePart

PRESET_PARTS = frozenset(
    {
        ReusePart.PIPELINE,
        ReusePart.NEGATIVE_PROMPT,
        ReusePart.SIZE,
        ReusePart.DURATION,
        ReusePart.GUIDANCE,
        ReusePart.LORAS,
    }
)
"""What a preset holds: how a clip is made, and not what it shows."""
MAX_NAME_LENGTH = 80


class PresetsState(ObservableState):
    """The artist's presets.

    Args:
        store: Where they are kept.
        compose: The form they are made of and go into.
        loras: The LoRA stack, which is part of them.
    """

    names_changed = Signal()
    problem_changed = Signal()

    def __init__(
        self, store: PresetStore, compose: ComposeState, loras: LoraStackState, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._compose = compose
        self._loras = loras
        self._names: tuple[str, ...] = ()
        self._problem = ""
        self._do(lambda: None)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the presets' names in their order."""
        return self._names

    @property
    def problem(self) -> str:
        """Return a sentence on what could not be done last; empty if all was."""
        return self._problem

    def save(self, name: str, also: Collection[ReusePart] = ()) -> None:
        """Keep the form as it stands under a name; a preset of that name is written over.

        Args:
            name: At most 80 characters, and not blank.
            also: Parts to keep beside those that every preset holds: the prompt, the seed, the pictures.
        """
        name = name.strip()[:MAX_NAME_LENGTH]
        if not name:
            self._update(problem=self.tr("Give the preset a name."))
            return
        values = form_of(self._compose, PRESET_PARTS | set(also)) | {"loras": self._loras.form()}
        self._do(lambda: self._store.save(name, values))

    def use(self, name: str) -> None:
        """Put a preset into the form; what it does not hold stays as it is."""

        def put() -> None:
            values = self._store.load(name)
            restore_form(self._compose, values)
            loras = values.get("loras")
            if isinstance(loras, list):
                self._loras.restore_form(loras)

        self._do(put)

    def rename(self, name: str, new_name: str) -> None:
        """Keep a preset under another name, unless one has that already."""
        new_name = new_name.strip()[:MAX_NAME_LENGTH]
        if new_name == name or not new_name:
            return
        if new_name in self._names:
            self._update(problem=self.tr("There is a preset “{0}” already. Choose another name.").format(new_name))
            return

        def move() -> None:
            self._store.save(new_name, self._store.load(name))
            self._store.remove(name)

        self._do(move)

    def remove(self, name: str) -> None:
        """Keep a preset no more."""
        self._do(lambda: self._store.remove(name))

    def _do(self, work: Callable[[], None]) -> None:
        names, problem = self._names, ""
        try:
            work()
            names = self._store.names()
        except LibraryError as error:
            problem = said(error.message)
        self._update(names=names, problem=problem)
