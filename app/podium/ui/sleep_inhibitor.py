"""A clip at work keeps the machine awake; and what the machine slept through is noticed when it wakes."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from podium.ui.desktop_bus import DesktopBus
from podium.ui.state.exports import ExportsState
from podium.ui.state.job import JobState

LOOK_MS = 5000
# Clocks are read one after the other, on a machine that may be busy.
MIN_SLEEP_S = 2.0


class SleepInhibitor(QObject):
    """Keeps the machine from falling asleep by itself while a clip is made or exported.

    Args:
        job: The clip at work.
        exports: The export at work.
        desktop: Does it.
    """

    def __init__(
        self, job: JobState, exports: ExportsState, desktop: DesktopBus, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._job = job
        self._exports = exports
        self._desktop = desktop
        self._reason = ""
        job.phase_changed.connect(self._show)
        exports.job_changed.connect(self._show)

    @Slot()
    def _show(self) -> None:
        reason = self._find_reason()
        if reason != self._reason:
            self._reason = reason
            self._desktop.keep_awake(reason)

    def _find_reason(self) -> str:
        if self._job.phase.is_active:
            return self.tr("A clip is being made")
        return "" if self._exports.job is None else self.tr("A clip is being exported")


class SleepWatch(QObject):
    """Tells when the machine has slept: of two clocks only one goes on meanwhile.

    Args:
        slept_s: Gives the seconds slept since some moment; None where nobody can tell.
    """

    woken = Signal()

    def __init__(self, parent: QObject | None = None, *, slept_s: Callable[[], float | None] | None = None) -> None:
        super().__init__(parent)
        self._slept_s = slept_s or seconds_slept
        self._last_s: float | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self.look)

    def open(self) -> None:
        """Begin to look."""
        self._last_s = self._slept_s()
        if self._last_s is not None:
            self._timer.start()

    def close(self) -> None:
        """Look no more."""
        self._timer.stop()

    @Slot()
    def look(self) -> None:
        """Look at the clocks now."""
        now_s, before_s = self._slept_s(), self._last_s
        self._last_s = now_s
        if now_s is not None and before_s is not None and now_s - before_s > MIN_SLEEP_S:
            self.woken.emit()


def seconds_slept() -> float | None:
    """Return how long this machine has slept since it was started; None where its clocks cannot tell."""
    boot_clock: int | None = getattr(time, "CLOCK_BOOTTIME", None)
    return None if boot_clock is None else time.clock_gettime(boot_clock) - time.clock_gettime(time.CLOCK_MONOTONIC)
