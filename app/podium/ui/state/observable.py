"""The one base of every state: observables with a signal each, silent on equal values."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class ObservableState(QObject):
    """A QObject whose observables `x` live in `_x`, are read as `x`, and are told of by `x_changed`."""

    changed = Signal()
    """Something changed; it follows the signals of what did."""

    def _update(self, **values: object) -> bool:
        """Take new values in, all before any signal, and return whether one was new."""
        new = [name for name, value in values.items() if getattr(self, f"_{name}") != value]
        for name in new:
            setattr(self, f"_{name}", values[name])
        for name in new:
            getattr(self, f"{name}_changed").emit()
        if new:
            self.changed.emit()
        return bool(new)
