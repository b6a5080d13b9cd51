"""All states of one window, and what they are to each other: from a press of Generate to a job for the fleet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from podium.assets import read_text
from podium.helper.requests import Answer, CheckedJob, CheckRequest
from podium.jobs import ClipFinished, GenerationRequest, RankMemory
from podium.media.names import clip_name
from podium.ui.state.compose import ComposeState
from podium.ui.state.devices import DevicesState
from podium.ui.state.events import (
    FleetFailed,
    FleetReady,
    FleetStarting,
    FleetStopped,
    FleetStopping,
    JobEnded,
    JobNews,
    JobStarted,
    JobTaken,
    OwnerEvent,
)
from podium.ui.state.fleet import FleetState
from podium.ui.state.history import HistoryState
from podium.ui.state.job import JobState
from podium.ui.state.loras import LoraStackState
from podium.ui.state.observable import ObservableState
from podium.ui.state.pack import PackState
from podium.ui.state.ports import FleetControls, HelperPort
from podium.ui.state.values import ErrorMessage, FleetPhase, FleetSpec, JobOrder, JobPhase

DEMO_WIDTH, DEMO_HEIGHT, DEMO_NUM_FRAMES = 256, 192, 25
# 20 s at 24 fps and 1920 x 1088: no usual clip after the first makes the fleet start anew.
MIN_MAX_TOKENS = 61 * 34 * 60


@dataclass(frozen=True, slots=True)
class Places:
    """Folders of this window.

    Args:
        clips: Where finished clips go.
        cache: Holds nothing that cannot be made again.
    """

    clips: Path
    cache: Path


class SessionState(ObservableState):
    """The window's states together.

    Args:
        helper: The helper process.
        controls: The fleet, for the window's thread.
        places: Folders.
        now: Gives the time.
    """

    problem_changed = Signal()
    clips_folder_changed = Signal()
    job_ordered = Signal(object)
    """A checked `JobOrder` for the owner."""
    fleet_ordered = Signal(object)
    """A `FleetSpec` for the owner to start."""
    fleet_stop_ordered = Signal()
    """The owner shall end the fleet."""
    close_wanted = Signal()
    """The clip that the window waited for is done: it may close now."""

    def __init__(
        self,
        helper: HelperPort,
        controls: FleetControls,
        places: Places,
        parent: QObject | None = None,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__(parent)
        self._helper = helper
        self._now = now
        self._clips_folder = places.clips
        self.compose = ComposeState(helper, self)
        self.pack = PackState(helper, places.cache, self)
        self.loras = LoraStackState(helper, self)
        self.devices = DevicesState(helper, places.cache, self)
        self.fleet = FleetState(controls, self)
        self.job = JobState(controls, self)
        self.history = HistoryState(helper, self, now=now)
        self._request: GenerationRequest | None = None
        self._last_key = 0
        self._closes_after_clip = False
        self._problem = ""
        self._problem = self._find_problem()
        self._connect()

    @property
    def problem(self) -> str:
        """Return a sentence on why Generate cannot be pressed, the first there is; empty if it can."""
        return self._problem

    @property
    def can_generate(self) -> bool:
        """Return whether Generate can be pressed; it changes with `problem`."""
        return not self._problem

    @property
    def clips_folder(self) -> Path:
        """Return where clips go."""
        return self._clips_folder

    def set_clips_folder(self, folder: Path) -> None:
        """Choose where the next clips go."""
        self._update(clips_folder=folder)

    def try_demo(self) -> None:
        """Take the demo model, its prompt where none is written, and a size that it makes quickly."""
        self.pack.choose_demo()
        if not self.compose.prompt.strip():
            self.compose.set_prompt(read_text("prompts/demo.txt"))
        self.compose.set_size(DEMO_WIDTH, DEMO_HEIGHT)
        self.compose.set_num_frames(DEMO_NUM_FRAMES)

    def generate(self) -> None:
        """Make the clip that is composed: it is checked once more, whole, and then goes to the fleet."""
        spec = self._spec()
        if not self.can_generate or spec is None:
            return
        if not self.compose.is_seed_locked and self._request is not None and self._is_seed_used():
            self.compose.roll_seed()
        output_path = self._clips_folder / f"{clip_name(self.compose.prompt, self._now())}.mp4"
        request = self.compose.to_request(output_path, self.loras.specs)
        self._request = request
        self._last_key += 1
        key = self._last_key
        self.history.select(None)
        self.job.begin(key, request.clip)
        self._show_problem()
        check = CheckRequest(request, spec.models, spec.choice.num_ranks, spec.dtype)
        self._helper.ask(check, partial(self._take_check, JobOrder(key, spec, request)))

    def close_after_clip(self) -> None:
        """Finish the clip at work, then close the window; at once if none is."""
        self._closes_after_clip = True
        self._close_if_done()

    def stay(self) -> None:
        """Close the window no more after the clip at work."""
        self._closes_after_clip = False

    def apply(self, event: OwnerEvent) -> None:
        """Take in what the owner of the fleet tells."""
        match event:
            case FleetStarting() | FleetReady() | FleetStopping() | FleetStopped() | FleetFailed():
                self.fleet.apply(event)
            case JobTaken():
                pass
            case JobStarted(key):
                self.fleet.set_busy(True)
                self.job.start(key)
            case JobEnded():
                self.fleet.set_busy(False)
                self._end_job(event)

    def take_news(self, news: JobNews) -> None:
        """Take in what the ranks said."""
        for event in news.events:
            if isinstance(event, RankMemory):
                self.fleet.note_memory(event)
        self.job.take_news(news)

    def close(self) -> None:
        """Wait for nothing any more: the window goes."""
        self.compose.close()
        self.devices.close()
        self.fleet.close()
        self.job.close()

    def _connect(self) -> None:
        for state in (self.compose, self.pack, self.loras, self.devices):
            state.changed.connect(self._show_problem)
        self.job.phase_changed.connect(self._show_problem)
        self.job.phase_changed.connect(self._close_if_done)
        self.fleet.phase_changed.connect(self._show_problem)
        self.pack.files_changed.connect(self._on_files_changed)
        self.pack.models_changed.connect(self._on_models_changed)
        self.fleet.rows_changed.connect(self._on_rows_changed)
        self.fleet.start_duration_s_changed.connect(self._on_start_duration_changed)
        self.fleet.start_requested.connect(self._on_start_requested)
        self.fleet.stop_requested.connect(self._on_stop_requested)

    def _close_if_done(self) -> None:
        if self._closes_after_clip and not self.job.phase.is_active:
            self._closes_after_clip = False
            self.close_wanted.emit()

    def _is_seed_used(self) -> bool:
        """Return whether the seed is still the last clip's: one that was typed since is meant."""
        return self._request is not None and self._request.seed == self.compose.seed

    def _spec(self) -> FleetSpec | None:
        models, choice = self.pack.models, self.devices.choice
        if models is None or choice is None:
            return None
        max_tokens = max(MIN_MAX_TOKENS, self.compose.clip.latent_grid.num_tokens)
        return FleetSpec(models, choice, self.devices.dtype, max_tokens)

    def _show_problem(self) -> None:
        self._update(problem=self._find_problem())

    def _find_problem(self) -> str:
        if self.job.phase.is_active:
            return self.tr("A clip is being made.")
        if self.fleet.phase is FleetPhase.STOPPING:
            return self.tr("The fleet is stopping.")
        for problem in (self.pack.problem, self.devices.problem, self.compose.problem, self.loras.problem):
            if problem:
                return problem
        if self.pack.models is None:
            return self.tr("The model's files are being looked at.")
        if self.devices.choice is None:
            return self.tr("The devices are being looked for.")
        return ""

    def _take_check(self, order: JobOrder, answer: Answer[CheckedJob]) -> None:
        # It may have been cancelled while it was checked.
        if self.job.key != order.key or self.job.phase is not JobPhase.CHECKING:
            return
        if answer.value is None:
            self.job.refuse(ErrorMessage("") if answer.error is None else ErrorMessage.of(answer.error))
            return
        self.job.wait_for_fleet()
        self.job_ordered.emit(JobOrder(order.key, order.spec, order.request, answer.value.parameters))

    def _end_job(self, event: JobEnded) -> None:
        clip: ClipFinished | None = event.clip
        self.job.end(event)
        if clip is not None and self._request is not None and event.key == self.job.key:
            self.history.add(clip, self._request)

    def _on_files_changed(self) -> None:
        self.compose.set_gemma_root(self.pack.gemma_root)

    def _on_models_changed(self) -> None:
        models = self.pack.models
        self.loras.set_checkpoint(None if models is None else models.checkpoint_path)

    def _on_rows_changed(self) -> None:
        self.job.note_ranks(self.fleet.rows)

    def _on_start_duration_changed(self) -> None:
        self.job.note_start_duration(self.fleet.start_duration_s)

    def _on_start_requested(self) -> None:
        spec = self._spec()
        if spec is not None:
            self.fleet_ordered.emit(spec)

    def _on_stop_requested(self) -> None:
        if self.job.key is not None and self.job.phase is JobPhase.RUNNING:
            self.job.cancel()
        self.fleet_stop_ordered.emit()
