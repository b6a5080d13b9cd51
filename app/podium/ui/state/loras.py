"""The LoRA stack: what is applied to the next clip, and what each file does to the chosen model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from podium.helper.requests import Answer, ReadLora
from podium.jobs import BranchStrengths, LoraSpec
from podium.models.lora_keys import MAX_STRENGTH, LoraReport
from podium.models.lora_origin import is_for_another
from podium.ui.state.observable import ObservableState
from podium.ui.state.ports import HelperPort
from podium.ui.state.sentences import said
from podium.ui.state.values import LoraItem

USUAL_STRENGTH = 4.0
"""Beyond it, above or below zero, most LoRAs only break the picture."""


class LoraStackState(ObservableState):
    """The LoRA stack, applied from top to bottom to the next clip; a change loads no model anew.

    Args:
        helper: Reads the files' headers.
    """

    items_changed = Signal()
    problem_changed = Signal()
    note_changed = Signal()

    def __init__(self, helper: HelperPort, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._helper = helper
        self._checkpoint_path: Path | None = None
        self._model_name = ""
        self._items: tuple[LoraItem, ...] = ()
        self._problem = ""
        self._note = ""
        self._last_key = 0

    @property
    def items(self) -> tuple[LoraItem, ...]:
        """Return the stack in its order."""
        return self._items

    @property
    def specs(self) -> tuple[LoraSpec, ...]:
        """Return what is on, for a request; it changes with `items`."""
        return tuple(LoraSpec(item.path, item.strength, item.branches) for item in self._items if item.is_on)

    @property
    def problem(self) -> str:
        """Return a sentence on the first LoRA that is on and cannot be used; empty if there is none."""
        return self._problem

    @property
    def note(self) -> str:
        """Return a sentence on LoRAs that are on and were trained for another model; empty if none was."""
        return self._note

    @property
    def is_busy(self) -> bool:
        """Return whether a file is being read; it changes with `items`."""
        return any(item.is_reading for item in self._items)

    def add(self, paths: Sequence[Path]) -> None:
        """Put files on the end of the stack, on and at strength 1; those in it stay as they are."""
        held = {item.path for item in self._items}
        new = [path for path in dict.fromkeys(paths) if path not in held]
        self._put([LoraItem(0, path) for path in new], after=self._items)

    def remove(self, key: int) -> None:
        """Take an item out of the stack."""
        self._take_items(tuple(item for item in self._items if item.key != key))

    def move(self, key: int, place: int) -> None:
        """Put an item at another place, counted from 0; what lies outside becomes the nearest."""
        moved = [item for item in self._items if item.key == key]
        others = [item for item in self._items if item.key != key]
        place = min(len(others), max(0, place))
        self._take_items((*others[:place], *moved, *others[place:]))

    def set_on(self, key: int, is_on: bool) -> None:  # noqa: FBT001 - the slot of a toggle
        """Choose whether an item is applied."""
        self._replace(key, is_on=is_on)

    def set_strength(self, key: int, strength: float) -> None:
        """Choose the factor on an item's change; any number that weights can hold."""
        if math.isfinite(strength):
            self._replace(key, strength=_held(strength))

    def set_branches(self, key: int, branches: BranchStrengths) -> None:
        """Choose the factors by branch of the model, on top of the strength; any numbers that weights can hold."""
        if all(map(math.isfinite, asdict(branches).values())):
            self._replace(key, branches=_held_branches(branches))

    def restore(self, specs: Sequence[LoraSpec]) -> None:
        """Put a set in the place of the stack."""
        specs = list({spec.path: spec for spec in specs}.values())
        self._put([LoraItem(0, spec.path, _held(spec.strength), _held_branches(spec.branches)) for spec in specs])

    def form(self) -> list[dict[str, object]]:
        """Return the stack as plain values that become JSON."""
        return [
            {
                "path": str(item.path),
                "strength": item.strength,
                "branches": asdict(item.branches),
                "is_on": item.is_on,
            }
            for item in self._items
        ]

    def restore_form(self, form: Sequence[object]) -> None:
        """Put a stack as `form` gave it in the place of this one; what is no LoRA is left out."""
        read = [item for item in map(_from_form, form) if item is not None]
        self._put(list({item.path: item for item in read}.values()))

    def set_checkpoint(self, checkpoint_path: Path | None, model_name: str = "") -> None:
        """Say what the stack does to another model.

        Args:
            checkpoint_path: None says nothing of it.
            model_name: Such as "LTX-2.3"; empty where that is not known.
        """
        if (checkpoint_path, model_name) == (self._checkpoint_path, self._model_name):
            return
        self._checkpoint_path, self._model_name = checkpoint_path, model_name
        unread = {"report": None, "problem": "", "details": "", "is_reading": False, "is_for_another": False}
        self._take_items(tuple(_with(item, unread) for item in self._items))
        for item in self._items:
            self._read(item.key)

    def _put(self, items: Sequence[LoraItem], *, after: tuple[LoraItem, ...] = ()) -> None:
        """Give items their keys, put them behind others, and have them read."""
        keyed = [replace(item, key=self._last_key + 1 + place) for place, item in enumerate(items)]
        self._last_key += len(keyed)
        self._take_items((*after, *keyed))
        for item in keyed:
            self._read(item.key)

    def _read(self, key: int) -> None:
        item = self._find(key)
        if item is None or self._checkpoint_path is None:
            return
        self._replace(key, is_reading=True)
        request = ReadLora(item.path, self._checkpoint_path)
        self._helper.ask(request, partial(self._take_report, key, self._checkpoint_path))

    def _take_report(self, key: int, checkpoint_path: Path, answer: Answer[LoraReport]) -> None:
        if checkpoint_path != self._checkpoint_path:
            return
        error, report = answer.error, answer.value
        self._replace(
            key,
            is_reading=False,
            report=report,
            is_for_another=report is not None and is_for_another(report.trained_for, self._model_name),
            problem="" if error is None else said(error.message),
            details="" if error is None else error.details,
        )

    def _find(self, key: int) -> LoraItem | None:
        return next((item for item in self._items if item.key == key), None)

    def _replace(self, key: int, **values: object) -> None:
        self._take_items(tuple(_with(item, values) if item.key == key else item for item in self._items))

    def _take_items(self, items: tuple[LoraItem, ...]) -> None:
        self._update(items=items)
        self._update(
            problem=next((item.problem for item in items if item.is_on and item.problem), ""),
            note=self._note_on([item for item in items if item.is_on and item.is_for_another]),
        )

    def _note_on(self, items: Sequence[LoraItem]) -> str:
        if len(items) > 1:
            text = self.tr("{0} LoRAs were trained for other models than {1}: they may do little, or something else.")
            return text.format(len(items), self._model_name)
        for item in items:
            origin = item.report.trained_for if item.report else ""
            text = self.tr("“{0}” was trained for {1}, and this model is {2}: it may do little, or something else.")
            return text.format(item.name, origin, self._model_name)
        return ""


def _with(item: LoraItem, values: Mapping[str, object]) -> LoraItem:
    return replace(item, **values)  # type: ignore[arg-type]  # names and types are checked where this room calls it


def _held(strength: float) -> float:
    return min(MAX_STRENGTH, max(-MAX_STRENGTH, strength))


def _held_branches(branches: BranchStrengths) -> BranchStrengths:
    return BranchStrengths(**{name: _held(strength) for name, strength in asdict(branches).items()})


def _from_form(values: object) -> LoraItem | None:
    if not isinstance(values, Mapping) or not isinstance(values.get("path"), str) or not values["path"]:
        return None
    stored = values.get("branches")
    stored = stored if isinstance(stored, Mapping) else {}
    branches = {field.name: _strength(stored.get(field.name)) for field in fields(BranchStrengths)}
    return LoraItem(
        0,
        Path(values["path"]),
        _strength(values.get("strength")),
        BranchStrengths(**branches),
        is_on=values.get("is_on") is not False,
    )


def _strength(value: object) -> float:
    return _held(float(value)) if isinstance(value, int | float) and math.isfinite(value) else 1.0
