"""Where the fleet stands: which GPUs there are, which can be chosen, which are; or the CPU, when it was chosen."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from podium.helper.requests import Answer, DeviceReport, ListDevices
from podium.ui.state.observable import ObservableState
from podium.ui.state.ports import HelperPort
from podium.ui.state.sentences import said
from podium.ui.state.values import DeviceChoice, DeviceRow

ANSWER_LIMIT_MS = 20_000


class DevicesState(ObservableState):
    """Where the fleet stands. A GPU is its UUID; the CPU is chosen, never fallen back to.

    Args:
        helper: Asks NVML.
        cache_folder: Keeps what the installed PyTorch was built for.
    """

    devices_changed = Signal()
    cpu_ranks_changed = Signal()
    is_listing_changed = Signal()
    note_changed = Signal()
    problem_changed = Signal()

    def __init__(self, helper: HelperPort, cache_folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._helper = helper
        self._cache_folder = cache_folder
        # None until somebody chose: then every GPU that can be.
        self._wanted_uuids: frozenset[str] | None = None
        self._devices: tuple[DeviceRow, ...] = ()
        self._cpu_ranks: int | None = None
        self._is_listing = False
        self._has_listed = False
        self._note = ""
        self._problem = ""
        self._limit = QTimer(self, singleShot=True, interval=ANSWER_LIMIT_MS)
        self._limit.timeout.connect(self._give_up)

    @property
    def devices(self) -> tuple[DeviceRow, ...]:
        """Return the GPUs in PCI order."""
        return self._devices

    @property
    def cpu_ranks(self) -> int | None:
        """Return how many ranks stand on the CPU; None where GPUs are chosen."""
        return self._cpu_ranks

    @property
    def max_cpu_ranks(self) -> int:
        """Return how many ranks on the CPU make sense here: its cores."""
        return os.cpu_count() or 1

    @property
    def is_listing(self) -> bool:
        """Return whether NVML is being asked."""
        return self._is_listing

    @property
    def has_listed(self) -> bool:
        """Return whether NVML was asked, and answered or will not; it changes with `is_listing`."""
        return self._has_listed

    @property
    def note(self) -> str:
        """Return a sentence on what the choice means, such as that the CPU is slow; may be empty."""
        return self._note

    @property
    def problem(self) -> str:
        """Return a sentence on why nothing can be made here, or what is to be chosen; empty if nothing is wrong."""
        return self._problem

    @property
    def wanted_uuids(self) -> frozenset[str] | None:
        """Return the UUIDs to keep in the settings; None if nobody chose."""
        return self._wanted_uuids

    @property
    def choice(self) -> DeviceChoice | None:
        """Return where the next fleet stands; None while nothing that works is chosen."""
        if self._cpu_ranks is not None:
            return DeviceChoice(cpu_ranks=self._cpu_ranks)
        indices = tuple(row.index for row in self._devices if row.is_chosen)
        return DeviceChoice(indices) if indices else None

    @property
    def dtype(self) -> str:
        """Return what the weights are computed in there."""
        return "bfloat16" if self._cpu_ranks is None else "float32"

    def refresh(self) -> None:
        """Ask NVML anew."""
        if not self._is_listing:
            self._update(is_listing=True)
            self._limit.start()
            self._helper.ask(ListDevices(self._cache_folder), self._take_devices)

    def choose(self, uuid: str, is_chosen: bool) -> None:  # noqa: FBT001 - the slot of a toggle
        """Choose a GPU or leave it out; GPUs take the place of the CPU."""
        chosen = {row.uuid for row in self._devices if row.is_chosen}
        self.choose_uuids(chosen | {uuid} if is_chosen else chosen - {uuid})

    def choose_uuids(self, uuids: Collection[str]) -> None:
        """Choose these GPUs and no others; those that are not here, or cannot be chosen, count once they can."""
        self._wanted_uuids = frozenset(uuids)
        self._show(self._devices, cpu_ranks=None)

    def use_gpus(self) -> None:
        """Choose GPUs instead of the CPU."""
        self._show(self._devices, cpu_ranks=None)

    def use_cpu(self, num_ranks: int = 1) -> None:
        """Choose the CPU, with so many ranks; what lies outside 1 to its cores becomes the nearest."""
        self._show(self._devices, cpu_ranks=min(self.max_cpu_ranks, max(1, num_ranks)))

    def close(self) -> None:
        """Wait for no answer any more: the window goes."""
        self._limit.stop()

    def _take_devices(self, answer: Answer[tuple[DeviceReport, ...]]) -> None:
        self._limit.stop()
        self._has_listed = True
        rows = tuple(
            DeviceRow(r.index, r.uuid, r.name, r.bus_id, r.total_bytes, r.used_bytes, said(r.sentence))
            for r in answer.value or ()
        )
        # Rows first: whoever waits for the end of the listing looks at them.
        self._show(rows, cpu_ranks=self._cpu_ranks)
        self._update(is_listing=False)
        if answer.error is not None and self._cpu_ranks is None:
            self._update(problem=said(answer.error.message))

    def _give_up(self) -> None:
        self._has_listed = True
        silent = self.tr("It gives no answer.")
        self._update(is_listing=False)
        self._show(tuple(replace(row, reason=silent) for row in self._devices), cpu_ranks=self._cpu_ranks)

    def _show(self, rows: tuple[DeviceRow, ...], *, cpu_ranks: int | None) -> None:
        wanted = self._wanted_uuids
        rows = tuple(
            replace(row, is_chosen=cpu_ranks is None and row.is_choosable and (wanted is None or row.uuid in wanted))
            for row in rows
        )
        self._update(devices=rows, cpu_ranks=cpu_ranks, note=self._find_note(cpu_ranks))
        self._update(problem=self._find_problem())

    def _find_note(self, cpu_ranks: int | None) -> str:
        if cpu_ranks is None:
            return ""
        return self.tr("Clips are made on the CPU, which is slow: minutes or hours where a GPU takes seconds.")

    def _find_problem(self) -> str:
        if self._cpu_ranks is not None or not self._has_listed or any(row.is_chosen for row in self._devices):
            return ""
        if not self._devices:
            return self.tr("No NVIDIA GPU was found here. Clips can be made on the CPU, slowly, if you choose it.")
        if any(row.is_choosable for row in self._devices):
            return self.tr("Choose at least one GPU, or the CPU.")
        return self.tr("None of the GPUs here can be used; beside each stands why. The CPU can be chosen instead.")
