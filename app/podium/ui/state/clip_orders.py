"""From a press of Generate to entries of the queue: the whole request is frozen, and its files are noted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from podium.helper.requests import Answer, IdentifyFiles
from podium.jobs import FileIdentity, GenerationRequest
from podium.library import LibraryError
from podium.library.files import FileStore
from podium.ui.state.clip_paths import ClipPaths
from podium.ui.state.compose import MAX_SEED, ComposeState
from podium.ui.state.loras import LoraStackState
from podium.ui.state.ports import HelperPort
from podium.ui.state.prompts import PromptsState
from podium.ui.state.queue import QueueState
from podium.ui.state.sentences import said
from podium.ui.state.values import FleetSpec, QueueEntry


class ClipOrders(QObject):
    """Puts what is composed into the queue.

    Args:
        compose, loras: The form.
        queue: Takes the entries.
        prompts: Remembers their prompts.
        helper: Says what their files are.
        files: Remembers that.
        clip_paths: Names the clips.
    """

    kept = Signal(str)
    """What is remembered was kept, or a sentence says why it was not."""

    def __init__(
        self,
        compose: ComposeState,
        loras: LoraStackState,
        queue: QueueState,
        prompts: PromptsState,
        parent: QObject,
        *,
        helper: HelperPort,
        files: FileStore,
        clip_paths: ClipPaths,
    ) -> None:
        super().__init__(parent)
        self._compose = compose
        self._loras = loras
        self._queue = queue
        self._prompts = prompts
        self._helper = helper
        self._files = files
        self._clip_paths = clip_paths
        # The last clip's; None once another was chosen on purpose.
        self._used_seed: int | None = None

    def note_seed_chosen(self) -> None:
        """Note that the form's seed was chosen on purpose, even if it is the last clip's."""
        self._used_seed = None

    def order(self, spec: FleetSpec, folder: Path, num_seeds: int, *, in_front: bool) -> None:
        """Freeze what is composed, whole, and put it into the queue; the edited entry gives way to it.

        Args:
            spec: The fleet that makes it.
            folder: Where the clips go.
            num_seeds: Make so many, with one seed after another.
            in_front: It runs next; else after all others.
        """
        compose, queue = self._compose, self._queue
        if not compose.is_seed_locked and self._used_seed == compose.seed:
            compose.roll_seed()
        self._used_seed = compose.seed
        requests = self._freeze(folder, num_seeds)
        if queue.edited_key is None:
            entries = queue.add(requests, spec, in_front=in_front)
        else:
            entries = queue.replace_edited(requests, spec)
        self._identify(entries)
        self._keep(lambda: self._prompts.record(compose.prompt, compose.negative_prompt))

    def _freeze(self, folder: Path, num_seeds: int) -> list[GenerationRequest]:
        request = self._compose.to_request(folder, self._loras.specs)
        return [
            replace(
                request,
                seed=(request.seed + number) % (MAX_SEED + 1),
                output_path=self._clip_paths.new(folder, request.prompt),
            )
            for number in range(num_seeds)
        ]

    def _identify(self, entries: tuple[QueueEntry, ...]) -> None:
        """Have noted what the files of entries are now: none may be another when their turn comes."""
        request, spec = entries[0].request, entries[0].spec
        chosen = (*(lora.path for lora in request.loras), *(image.path for image in request.images))
        paths = tuple(dict.fromkeys((*chosen, *spec.models.all())))
        keys = tuple(entry.key for entry in entries)
        self._helper.ask(IdentifyFiles(paths), partial(self._take_identities, keys))

    def _take_identities(self, keys: tuple[int, ...], answer: Answer[tuple[FileIdentity, ...]]) -> None:
        if answer.value:
            self._queue.note_files(keys, answer.value)
            identities = answer.value
            self._keep(lambda: self._files.note(identities))

    def _keep(self, work: Callable[[], None]) -> None:
        problem = ""
        try:
            work()
        except LibraryError as error:
            problem = said(error.message)
        self.kept.emit(problem)
