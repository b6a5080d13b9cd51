"""What the chosen model can do beside making clips; what the form offers hangs on it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal, Slot

from podium.helper.requests import Answer, GetModelFacts, ModelFacts
from podium.models.paths import ModelPaths
from podium.ui.state.observable import ObservableState
from podium.ui.state.pack import PackState
from podium.ui.state.ports import HelperPort

NO_FACTS = ModelFacts()


class ModelFactsState(ObservableState):
    """What the chosen model can do; nothing until that is known.

    Args:
        helper: Looks at the files.
        pack: Says which they are.
    """

    facts_changed = Signal()

    def __init__(self, helper: HelperPort, pack: PackState, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._helper = helper
        self._pack = pack
        self._facts = NO_FACTS
        pack.models_changed.connect(self._on_models_changed)

    @property
    def facts(self) -> ModelFacts:
        """Return what it can do."""
        return self._facts

    @Slot()
    def _on_models_changed(self) -> None:
        models = self._pack.models
        self._update(facts=NO_FACTS)
        if models is not None:
            self._helper.ask(GetModelFacts(models), partial(self._take, models))

    def _take(self, models: ModelPaths, answer: Answer[ModelFacts]) -> None:
        # Another model may have been chosen meanwhile; and what is wrong with this one is told where it is chosen.
        if answer.value is not None and models == self._pack.models:
            self._update(facts=answer.value)
