"""All states of one window, and what they are to each other: from a press of Generate to a job for the fleet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from podium.jobs import GenerationRequest, RankMemory
from podium.library import Library
from podium.models.demo_pack import (
    MOST_DEMO_FRAMES,
    MOST_DEMO_HEIGHT,
    MOST_DEMO_WIDTH,
    demo_form,
    is_known_to_demo,
)
from podium.models.paths import ModelPaths
from podium.ui.state.clip_opener import ClipOpener
from podium.ui.state.clip_orders import ClipOrders
from podium.ui.state.clip_paths import ClipPaths
from podium.ui.state.compose import ComposeState
from podium.ui.state.devices import DevicesState
from podium.ui.state.enhance import EnhanceState
from podium.ui.state.entry_runner import EntryRunner
from podium.ui.state.estimate import EstimateState
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
from podium.ui.state.exports import ExportsState
from podium.ui.state.fleet import FleetState
from podium.ui.state.form_keeper import FormKeeper
from podium.ui.state.history import HistoryState
from podium.ui.state.job import JobState
from podium.ui.state.length import LengthState
from podium.ui.state.loras import LoraStackState
from podium.ui.state.model_facts import ModelFactsState
from podium.ui.state.observable import ObservableState
from podium.ui.state.pack import PackState
from podium.ui.state.pictures import KeptPictures
from podium.ui.state.ports import FleetControls, HelperPort, TrashPort
from podium.ui.state.presets import PresetsState
from podium.ui.state.prompt_runner import PromptRunner
from podium.ui.state.prompts import PromptsState
from podium.ui.state.queue import QueueState
from podium.ui.state.timing import Timings
from podium.ui.state.values import ALL_PARTS, FleetPhase, FleetSpec, JobPhase, QueueEntry, ReusePart
from podium.ui.state.wanted_fleet import WantedFleet

_UP = (FleetPhase.STARTING, FleetPhase.READY, FleetPhase.BUSY)


@dataclass(frozen=True, slots=True)
class Places:
    """Folders of this window.

    Args:
        clips: Where finished clips go.
        cache: Holds nothing that cannot be made again.
        data: Holds what can not.
    """

    clips: Path
    cache: Path
    data: Path


class SessionState(ObservableState):
    """The window's states together.

    Args:
        helper: The helper process.
        controls: The fleet, for the window's thread.
        places: Folders.
        library: What is kept from one window to the next; whoever opened it closes it.
        trash: Takes clips that are thrown away.
        now: Gives the time.
    """

    problem_changed = Signal()
    notes_changed = Signal()
    clips_folder_changed = Signal()
    library_problem_changed = Signal()
    closes_when_done_changed = Signal()
    job_ordered = Signal(object)
    """A checked `JobOrder`, or a `PromptOrder`, for the owner."""
    fleet_ordered = Signal(object)
    """A `FleetSpec` for the owner to start."""
    fleet_stop_ordered = Signal()
    """The owner shall end the fleet."""
    reuse_offered = Signal(object)
    """A `ClipOffer`: what a dropped clip was made with."""
    clip_refused = Signal(object)
    """An `ErrorMessage`: what was dropped or pasted cannot be used."""
    close_wanted = Signal()
    """What the window waited for is done: it may close now."""
    stay_wanted = Signal()
    """An export failed: why is to be read, so the window closes after it no more, and asks about it no more."""

    def __init__(
        self,
        helper: HelperPort,
        controls: FleetControls,
        places: Places,
        parent: QObject | None = None,
        *,
        library: Library,
        trash: TrashPort,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__(parent)
        self._helper = helper
        self._clips_folder = places.clips
        self._controls = controls
        clip_paths = ClipPaths(now)
        self.library = library
        self.compose = ComposeState(helper, self)
        self.pack = PackState(helper, places.cache, self)
        self.loras = LoraStackState(helper, self)
        self.devices = DevicesState(helper, places.cache, self)
        self.fleet = FleetState(controls, self)
        self.job = JobState(controls, self)
        self.timings = Timings(library, self.devices)
        self.queue = QueueState(library, self, clip_paths=clip_paths, now=now)
        self.history = HistoryState(helper, library, trash, places.cache, self, now=now)
        self.pictures = KeptPictures(helper, library, self.compose.images, places.data, now=now)
        self.exports = ExportsState(helper, self.pictures, self)
        self.prompts = PromptsState(library.prompts, self.compose, self)
        self.presets = PresetsState(library.presets, self.compose, self.loras, self)
        self.enhance = EnhanceState(self.compose, self)
        self.length = LengthState(self.compose, self)
        self.model_facts = ModelFactsState(helper, self.pack, self)
        self.estimate = self._make_estimate(helper)
        self._runner = self._make_runner(helper)
        self._wanted_fleet = WantedFleet(self.pack, self.devices, self.compose, self)
        self._clip_orders = ClipOrders(
            *(self.compose, self.loras, self.queue, self.prompts),
            self,
            helper=helper,
            files=library.files,
            clip_paths=clip_paths,
        )
        self._prompt_runner = PromptRunner(controls, self.fleet, self.job, self._wanted_fleet.spec_or_problem, self)
        self._form_keeper = FormKeeper(library.form, self.compose, self.loras, self)
        self._clip_opener = ClipOpener(helper, library, self.pack, self.loras, self)
        self._closes_when_done = False
        self._library_problem = ""
        self._offers_demo_loras = False
        self._problem = ""
        self._problem = self._find_problem()
        self._notes = self._find_notes()
        self._connect()
        if self.queue.interrupted is not None:
            self._runner.recover(self.queue.interrupted)

    @property
    def problem(self) -> str:
        """Return a sentence on why Generate cannot be pressed, the first there is; empty if it can."""
        return self._problem

    @property
    def can_generate(self) -> bool:
        """Return whether Generate can be pressed; it changes with `problem`."""
        return not self._problem

    @property
    def notes(self) -> tuple[str, ...]:
        """Return sentences on what can be made as the form stands and may not be meant."""
        return self._notes

    @property
    def clips_folder(self) -> Path:
        """Return where clips go."""
        return self._clips_folder

    @property
    def spec(self) -> FleetSpec | None:
        """Return the fleet that the form asks for; None while its model or devices are not known."""
        return self._wanted_fleet.spec

    @property
    def is_making_clip(self) -> bool:
        """Return whether a clip is at work, which closing the window would end."""
        return self.job.phase.is_active

    @property
    def is_exporting(self) -> bool:
        """Return whether an export is at work, which closing the window would end."""
        return self.exports.job is not None

    @property
    def is_at_work(self) -> bool:
        """Return whether closing the window would end something."""
        return self.is_making_clip or self.is_exporting

    @property
    def closes_when_done(self) -> bool:
        """Return whether the window closes once the clip and the export at work are finished."""
        return self._closes_when_done

    @property
    def library_problem(self) -> str:
        """Return a sentence on why the form and its prompts are not kept; empty while they are."""
        return self._library_problem

    def set_clips_folder(self, folder: Path) -> None:
        """Choose where the next clips go."""
        self._update(clips_folder=folder)

    def try_demo(self) -> None:
        """Take the demo model, its prompt where none is written, and a size that it makes quickly."""
        form = demo_form()
        self._offers_demo_loras = not self.loras.items
        self.pack.choose_demo()
        if not self.compose.prompt.strip():
            self.compose.set_prompt(form.prompt)
        self.compose.set_size(form.width, form.height)
        self.compose.set_num_frames(form.num_frames)

    def restore_form(self) -> None:
        """Put the form back as the last window left it."""
        self._form_keeper.restore()
        self.pictures.tidy()

    def reuse(self, request: GenerationRequest, parts: frozenset[ReusePart]) -> None:
        """Take parts of a request into the form; its model is known if it comes from here, or was offered."""
        self.compose.restore(request, parts)
        if ReusePart.SEED in parts:
            self._clip_orders.note_seed_chosen()
        if ReusePart.LORAS in parts:
            self.loras.restore(request.loras)
        if ReusePart.MODEL in parts:
            spec = self.history.spec_of(request)
            self._choose_models(self._clip_opener.models_of(request) if spec is None else spec.models)
            if spec is not None:
                self.pack.set_quantization(spec.quantization)

    def open_clip_file(self, path: Path) -> None:
        """Read what a dropped clip was made with; `reuse_offered` or `clip_refused` tells."""
        self._clip_opener.open(path)

    def generate(self, in_front: bool = False, num_seeds: int = 1) -> None:  # noqa: FBT001, FBT002 - as buttons call it
        """Freeze what is composed, whole, and put it into the queue; the edited entry gives way to it.

        Args:
            in_front: It runs next; else after all others.
            num_seeds: Make so many, with one seed after another.
        """
        spec = self.spec
        if self.can_generate and spec is not None and num_seeds > 0:
            self.history.select(None)
            self._clip_orders.order(spec, self._clips_folder, num_seeds, in_front=in_front)

    def consider_closing(self) -> None:
        """Begin no further clip while the artist is asked what becomes of what is at work."""
        self._runner.hold(True)

    def close_when_done(self) -> None:
        """Finish the clip and the export at work, then close the window; at once if there is none."""
        self._update(closes_when_done=True)
        self._runner.hold(True)
        self._close_if_done()

    def stay(self) -> None:
        """Close the window no more after what is at work."""
        self._update(closes_when_done=False)
        self._runner.hold(False)

    def apply(self, event: OwnerEvent) -> None:
        """Take in what the owner of the fleet tells."""
        match event:
            case FleetStarting() | FleetReady() | FleetStopping() | FleetStopped() | FleetFailed():
                self.fleet.apply(event)
                self._note_fleet(event)
            case JobTaken():
                pass
            case JobStarted(key):
                self.fleet.set_busy(True)
                self.job.start(key)
                self._prompt_runner.start(key)
            case JobEnded():
                self.fleet.set_busy(False)
                self.job.end(event)
                self._prompt_runner.end(event)

    def take_news(self, news: JobNews) -> None:
        """Take in what the ranks said."""
        for event in news.events:
            if isinstance(event, RankMemory):
                self.fleet.note_memory(event)
        self.job.take_news(news)
        self._prompt_runner.take_news(news)

    def close(self) -> None:
        """Wait for nothing any more, and keep what is not kept yet: the window goes."""
        self._runner.close()
        self.queue.keep()
        self.history.keep()
        self._form_keeper.close()
        self.compose.close()
        self.enhance.close()
        self.length.close()
        self.devices.close()
        self.estimate.close()
        self.exports.close()
        self.fleet.close()
        self.job.close()

    def _make_estimate(self, helper: HelperPort) -> EstimateState:
        watched = (self.compose, self.loras, self.devices, self.fleet)
        return EstimateState(helper, *watched, timings=self.timings, spec=lambda: self.spec, parent=self)

    def _make_runner(self, helper: HelperPort) -> EntryRunner:
        served = (self.queue, self.job, self.history, self.devices)
        return EntryRunner(*served, helper=helper, timings=self.timings, parent=self)

    def _connect(self) -> None:
        for state in (self.compose, self.pack, self.loras, self.devices):
            state.changed.connect(self._show_problem)
        self.job.ended.connect(self._close_if_done)
        self._runner.job_ordered.connect(self.job_ordered)
        self._prompt_runner.ordered.connect(self.job_ordered)
        self._prompt_runner.serve(self.enhance)
        self._prompt_runner.serve(self.length)
        self.model_facts.facts_changed.connect(self._on_facts_changed)
        self._clip_opener.offered.connect(self.reuse_offered)
        self._clip_opener.failed.connect(self.clip_refused)
        self._form_keeper.failed.connect(self._on_kept)
        self._clip_orders.kept.connect(self._on_kept)
        self.queue.edit_requested.connect(self._on_edit_requested)
        self.queue.restart_requested.connect(self._on_restart_requested)
        self.pack.files_changed.connect(self._on_files_changed)
        self.pack.models_changed.connect(self._on_models_changed)
        self.devices.devices_changed.connect(self._on_devices_changed)
        self.devices.changed.connect(self._on_device_choice)
        self.fleet.rows_changed.connect(self._on_rows_changed)
        self.fleet.start_duration_s_changed.connect(self._on_start_duration_changed)
        self.fleet.start_requested.connect(self._on_start_requested)
        self.fleet.stop_requested.connect(self._on_stop_requested)
        self.exports.frame_kept.connect(self.compose.images.put)
        self.exports.job_changed.connect(self._on_export_changed)

    def _close_if_done(self) -> None:
        if self._closes_when_done and not self.is_at_work:
            self._update(closes_when_done=False)
            self.close_wanted.emit()

    def _on_export_changed(self) -> None:
        # A clip that failed says why in the queue; why an export did is gone with the window.
        if not self.is_exporting and self.exports.error is not None:
            self.stay()
            self.stay_wanted.emit()
        self._close_if_done()

    def _choose_models(self, models: ModelPaths | None) -> None:
        current = self.pack.models
        if models is not None and current is not None and models.distilled_lora_path is None:
            # Not every clip is made with it; that is no reason to take it away.
            models = replace(models, distilled_lora_path=current.distilled_lora_path)
        # The demo model, chosen as files, would be the demo model no more.
        if models is not None and models != current:
            self.pack.choose_models(models)

    def _show_problem(self) -> None:
        self._update(problem=self._find_problem(), notes=self._find_notes())

    def _find_problem(self) -> str:
        return self._wanted_fleet.problem or self.compose.problem or self.loras.problem or self._wanted_fleet.waiting

    def _find_notes(self) -> tuple[str, ...]:
        compose, demo = self.compose, ""
        if self.pack.is_demo and not is_known_to_demo(compose.width, compose.height, compose.num_frames):
            text = self.tr(
                "The demo model was trained on small, short clips: beyond {0} pixels or {1} frames it gets shapes and "
                "their motion wrong."
            )
            # A line is not broken within a size.
            demo = text.format(
                f"{MOST_DEMO_WIDTH}\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}{MOST_DEMO_HEIGHT}", MOST_DEMO_FRAMES
            )
        return tuple(filter(None, (self.loras.note, demo)))

    def _note_fleet(self, event: OwnerEvent) -> None:
        """Tell the queue of what became of the fleet."""
        if isinstance(event, FleetReady):
            self.timings.note_start(event.spec, event.duration_s)
        if isinstance(event, FleetFailed) and event.is_end and self.queue.num_pending:
            text = self.tr("The queue is paused, since fleets fail one after another. {0} Resume it to try again.")
            self.queue.pause_for(text.format(event.message.sentence))
        spec = self.fleet.spec if self.fleet.phase in _UP else None
        self.queue.note_fleet(spec, self.timings.start_s)

    def _on_kept(self, problem: str) -> None:
        self._update(library_problem=problem)

    def _on_edit_requested(self, entry: QueueEntry) -> None:
        self.reuse(entry.request, ALL_PARTS)
        self._choose_models(entry.spec.models)
        self.pack.set_quantization(entry.spec.quantization)

    def _on_restart_requested(self) -> None:
        spec = self.fleet.spec if self.fleet.phase in _UP else self.spec
        self.job.kill()
        # Also a fleet without a job; a job's own was killed with it.
        self._controls.force_stop()
        if spec is not None:
            self.fleet_ordered.emit(spec)

    def _on_files_changed(self) -> None:
        self.compose.set_gemma_root(self.pack.gemma_root)

    def _on_models_changed(self) -> None:
        models = self.pack.models
        self.compose.set_model(models, self.pack.size_step_px)
        self.loras.set_checkpoint(None if models is None else models.checkpoint_path, self.pack.name)
        if models is not None and self._offers_demo_loras:
            self._offer_demo_loras()

    def _offer_demo_loras(self) -> None:
        """Put the demo model's LoRAs into the empty stack, off, where a switch shows what each does."""
        self._offers_demo_loras = False
        self.loras.add(self.pack.demo_loras)
        for item in self.loras.items:
            if item.path in self.pack.demo_loras:
                self.loras.set_on(item.key, False)

    def _on_devices_changed(self) -> None:
        self.fleet.set_devices(self.devices.devices)

    def _on_device_choice(self) -> None:
        choice = self.devices.choice
        self.compose.guidance.set_num_ranks(None if choice is None else choice.num_ranks)

    def _on_facts_changed(self) -> None:
        facts = self.model_facts.facts
        self.enhance.set_available(facts.can_write_prompts)
        self.length.set_available(facts.can_tell_length)
        self.compose.keyframes.set_available(facts.can_make_keyframes)

    def _on_rows_changed(self) -> None:
        self.job.note_ranks(self.fleet.rows)

    def _on_start_duration_changed(self) -> None:
        self.job.note_start_duration(self.fleet.start_duration_s)

    def _on_start_requested(self) -> None:
        spec = self.spec
        if spec is not None:
            self.fleet_ordered.emit(spec)

    def _on_stop_requested(self) -> None:
        if self.queue.num_pending:
            self.queue.pause_for(self.tr("The fleet was stopped. Resume the queue to start it again."))
        if self.job.key is not None and self.job.phase is JobPhase.RUNNING:
            self.job.cancel()
        self._prompt_runner.cancel_all()
        self.fleet_stop_ordered.emit()
