"""The prompts that clips were asked for with, newest first, to be found and taken again."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from podium.library import LibraryError
from podium.library.texts import PromptPair, PromptStore
from podium.ui.state.compose import ComposeState
from podium.ui.state.observable import ObservableState
from podium.ui.state.sentences import said

MAX_SHOWN = 50


class PromptsState(ObservableState):
    """Prompts of before, as far as a search leaves them.

    Args:
        store: Where they are kept.
        compose: The form that takes one.
    """

    search_changed = Signal()
    prompts_changed = Signal()
    problem_changed = Signal()

    def __init__(self, store: PromptStore, compose: ComposeState, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._compose = compose
        self._search = ""
        self._prompts: tuple[PromptPair, ...] = ()
        self._problem = ""

    @property
    def search(self) -> str:
        """Return what prompts have to hold."""
        return self._search

    @property
    def prompts(self) -> tuple[PromptPair, ...]:
        """Return the newest prompts that the search finds; none before `look`."""
        return self._prompts

    @property
    def problem(self) -> str:
        """Return a sentence on why they cannot be read; empty if they can."""
        return self._problem

    def look(self) -> None:
        """Look for prompts anew, since clips were asked for meanwhile."""
        try:
            found = self._store.recent(MAX_SHOWN, self._search.strip())
        except LibraryError as error:
            self._update(prompts=(), problem=said(error.message))
        else:
            self._update(prompts=found, problem="")

    def set_search(self, search: str) -> None:
        """Look for prompts that hold a text."""
        self._update(search=search)
        self.look()

    def use(self, prompt: PromptPair) -> None:
        """Take a prompt into the form, its negative one where it had one."""
        self._compose.set_prompt(prompt.prompt)
        if prompt.negative_prompt:
            self._compose.set_negative_prompt(prompt.negative_prompt)

    def record(self, prompt: str, negative_prompt: str) -> None:
        """Keep a prompt that a clip is asked for with.

        Raises:
            LibraryError: It cannot be kept.
        """
        self._store.add(prompt, negative_prompt)
