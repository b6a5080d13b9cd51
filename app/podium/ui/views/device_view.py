"""Choose where the fleet stands: GPUs, or the CPU, and never the one for the other unasked."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QRadioButton, QSpinBox, QWidget

from podium.ui.state.devices import DevicesState
from podium.ui.state.numbers import bytes_in_words
from podium.ui.state.values import DeviceRow
from podium.ui.theme import METRICS, Tint
from podium.ui.views.widgets.buttons import make_button
from podium.ui.views.widgets.icon_label import IconLabel
from podium.ui.views.widgets.layouts import around, column, row
from podium.ui.views.widgets.meter import Meter
from podium.ui.views.widgets.roles import give, give_surface, make_label


class DeviceView(QWidget):
    """Show and change a `DevicesState`."""

    def __init__(self, state: DevicesState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._rows: dict[str, DeviceRowView] = {}
        self._gpus = QRadioButton(self.tr("On GPUs"))
        self._cpu = QRadioButton(self.tr("On the CPU"))
        self._refresh = make_button(self.tr("Look again"), kind="quiet", icon="refresh")
        self._list = column(spacing=METRICS.space_s)
        self._status = make_label("", "muted", wraps=True)
        self._num_ranks = QSpinBox()
        self._num_ranks.setRange(1, state.max_cpu_ranks)
        self._num_ranks.setKeyboardTracking(False)
        self._num_ranks.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._num_ranks.setAccessibleName(self.tr("Ranks on the CPU"))
        self._ranks_label = make_label(self.tr("Ranks"), "muted")
        self._note = make_label("", "caption", wraps=True)
        head = row(self._gpus, None, self._refresh)
        cpu = row(self._cpu, None, self._ranks_label, self._num_ranks)
        self.setLayout(
            column(head, self._list, self._status, METRICS.space_s, cpu, self._note, None, spacing=METRICS.space_s)
        )
        self._connect()
        self._show()

    @property
    def row_views(self) -> list[DeviceRowView]:
        """Return what shows each GPU, in PCI order."""
        return [self._rows[device.uuid] for device in self._state.devices]

    @property
    def cpu_button(self) -> QRadioButton:
        """Return what chooses the CPU."""
        return self._cpu

    @property
    def gpu_button(self) -> QRadioButton:
        """Return what chooses GPUs."""
        return self._gpus

    @property
    def rank_field(self) -> QSpinBox:
        """Return where the number of CPU ranks is chosen."""
        return self._num_ranks

    @property
    def status_text(self) -> str:
        """Return what is said of the GPUs."""
        return self._status.text()

    @property
    def note_text(self) -> str:
        """Return what is said of the CPU."""
        return self._note.text()

    def _connect(self) -> None:
        self._gpus.clicked.connect(self._state.use_gpus)
        self._cpu.clicked.connect(self._on_cpu)
        self._num_ranks.valueChanged.connect(self._on_num_ranks)
        self._refresh.clicked.connect(self._state.refresh)
        self._state.changed.connect(self._show)

    def _on_cpu(self) -> None:
        self._state.use_cpu(self._num_ranks.value())

    def _on_num_ranks(self, num_ranks: int) -> None:
        if self._state.cpu_ranks is not None:
            self._state.use_cpu(num_ranks)

    def _show(self) -> None:
        state = self._state
        is_cpu = state.cpu_ranks is not None
        self._gpus.setChecked(not is_cpu)
        self._cpu.setChecked(is_cpu)
        self._num_ranks.setEnabled(is_cpu)
        self._ranks_label.setEnabled(is_cpu)
        if state.cpu_ranks is not None:
            self._num_ranks.setValue(state.cpu_ranks)
        self._refresh.setEnabled(not state.is_listing)
        self._show_rows()
        status = self.tr("Being looked for…") if state.is_listing and not state.devices else state.problem
        give(self._status, tone="warning" if state.problem and not state.is_listing else "").setText(status)
        self._status.setVisible(bool(status))
        self._note.setText(state.note or self.tr("Works on any machine, slowly. Podium takes the CPU only if you do."))
        give(self._note, tone="warning" if state.note else "")

    def _show_rows(self) -> None:
        devices = self._state.devices
        for uuid in self._rows.keys() - {device.uuid for device in devices}:
            view = self._rows.pop(uuid)
            self._list.removeWidget(view)
            view.hide()
            view.deleteLater()
        for place, device in enumerate(devices):
            if device.uuid not in self._rows:
                view = DeviceRowView(self)
                view.toggled.connect(partial(self._state.choose, device.uuid))
                self._rows[device.uuid] = view
                self._list.insertWidget(place, view)
            self._rows[device.uuid].show_device(device)


class DeviceRowView(QWidget):
    """Show one GPU, and say whether the artist wants it."""

    toggled = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        give_surface(self, "card")
        self._check = QCheckBox()
        self._icon = IconLabel("gpu", Tint.MUTED, size=METRICS.space_xl)
        self._name = make_label("", "strong")
        self._place = make_label("", "caption")
        self._memory = make_label("", "caption")
        self._meter = Meter(self.tr("Memory in use"))
        self._meter.setFixedWidth(METRICS.number_width * 2)
        self._reason = make_label("", "caption", wraps=True)
        words = column(row(self._name, self._place, None), self._reason, spacing=2)
        memory = column(self._memory, self._meter, spacing=METRICS.space_xs)
        whole = row(spacing=METRICS.space_m, margins=around(METRICS.space_m))
        whole.addWidget(self._check)
        whole.addWidget(self._icon)
        whole.addLayout(words, 1)
        whole.addLayout(memory)
        whole.setAlignment(memory, Qt.AlignmentFlag.AlignVCenter)
        self.setLayout(whole)
        self._check.clicked.connect(self.toggled)

    @property
    def check(self) -> QCheckBox:
        """Return what chooses the GPU."""
        return self._check

    @property
    def reason_text(self) -> str:
        """Return why it cannot be chosen."""
        return self._reason.text()

    def show_device(self, device: DeviceRow) -> None:
        """Show a GPU."""
        give(self, chosen="true" if device.is_chosen else "")
        self._check.setChecked(device.is_chosen)
        self._check.setEnabled(device.is_choosable)
        self._check.setAccessibleName(self.tr("Use {0} at {1}").format(device.name, device.bus_id))
        self._check.setAccessibleDescription(device.reason)
        self._name.setText(device.name)
        self._name.setEnabled(device.is_choosable)
        self._place.setText(device.bus_id)
        self._reason.setText(device.reason)
        self._reason.setVisible(bool(device.reason))
        give(self._reason, tone="warning")
        used, total = bytes_in_words(device.used_bytes), bytes_in_words(device.total_bytes)
        self._memory.setText(self.tr("{0} of {1} in use").format(used, total) if device.total_bytes else "")
        self._meter.setVisible(device.total_bytes > 0)
        self._meter.show_share(device.used_bytes / max(1, device.total_bytes), tone="muted")
