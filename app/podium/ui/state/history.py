"""The clips that were made, in this window and those before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from podium.helper.requests import Answer, FindMissing, KeepThumbnail, Thumbnail
from podium.jobs import ClipFinished, GenerationRequest
from podium.library import Library, LibraryError
from podium.library.history_store import HistoryFilter, HistoryRow
from podium.media.cache_limit import DEFAULT_MAX_BYTES
from podium.ui.state.history_model import HistoryModel
from podium.ui.state.history_rows import from_row, spec_in, to_row
from podium.ui.state.observable import ObservableState
from podium.ui.state.ports import HelperPort, TrashPort
from podium.ui.state.sentences import said
from podium.ui.state.thumbnails import ThumbnailLoader
from podium.ui.state.values import FleetSpec, HistoryEntry

THUMBNAIL_PX = 192


class HistoryState(ObservableState):
    """The clips that were made, newest first.

    Args:
        helper: Makes thumbnails, and looks for files.
        library: Keeps what was made. What cannot be kept stays here, `problem` tells, and the next clip tries again.
        trash: Takes files.
        cache_folder: Keeps thumbnails.
        now: Gives the time.
    """

    num_entries_changed = Signal()
    selected_changed = Signal()
    compared_changed = Signal()
    search_changed = Signal()
    is_starred_only_changed = Signal()
    lora_filter_changed = Signal()
    model_filter_changed = Signal()
    lora_names_changed = Signal()
    model_names_changed = Signal()
    problem_changed = Signal()

    def __init__(
        self,
        helper: HelperPort,
        library: Library,
        trash: TrashPort,
        cache_folder: Path,
        parent: QObject | None = None,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        max_cache_bytes: int = DEFAULT_MAX_BYTES,
    ) -> None:
        super().__init__(parent)
        self._helper = helper
        self._store = library.history
        self._trash = trash
        self._now = now
        self._num_entries = 0
        self._selected: HistoryEntry | None = None
        self._compared: tuple[HistoryEntry, HistoryEntry] | None = None
        self._search = ""
        self._is_starred_only = False
        self._lora_filter = ""
        self._model_filter = ""
        self._lora_names: tuple[str, ...] = ()
        self._model_names: tuple[str, ...] = ()
        self._problem = self._lasting_problem = said(library.problem)
        self._is_library_at_fault = False
        # Newest last, with the queue's entries that they were; their keys count down from -1.
        self._unkept: list[tuple[HistoryEntry, HistoryRow, int | None]] = []
        self.model = HistoryModel(self._next_page, self)
        self._thumbnails = ThumbnailLoader(
            helper, lambda path: KeepThumbnail(path, THUMBNAIL_PX, cache_folder, max_cache_bytes), self
        )
        self.model.thumbnail_wanted.connect(self._on_thumbnail_wanted)
        self._thumbnails.made.connect(self._on_thumbnail_made)
        self._thumbnails.failed.connect(self._on_thumbnail_failed)
        self._show_facts()

    @property
    def num_entries(self) -> int:
        """Return how many clips pass the filters."""
        return self._num_entries

    @property
    def selected(self) -> HistoryEntry | None:
        """Return the clip that is looked at; None for the live one."""
        return self._selected

    @property
    def compared(self) -> tuple[HistoryEntry, HistoryEntry] | None:
        """Return the two clips that are compared; None if none are."""
        return self._compared

    @property
    def search(self) -> str:
        """Return the words that are searched for."""
        return self._search

    @property
    def is_starred_only(self) -> bool:
        """Return whether only starred clips are shown."""
        return self._is_starred_only

    @property
    def lora_filter(self) -> str:
        """Return the LoRA whose clips alone are shown; empty for all."""
        return self._lora_filter

    @property
    def model_filter(self) -> str:
        """Return the model whose clips alone are shown; empty for all."""
        return self._model_filter

    @property
    def is_filtered(self) -> bool:
        """Return whether some clips may be hidden; it changes with what filters."""
        return self._filter() != HistoryFilter()

    @property
    def lora_names(self) -> tuple[str, ...]:
        """Return the LoRAs there are clips of, by name."""
        return self._lora_names

    @property
    def model_names(self) -> tuple[str, ...]:
        """Return the models there are clips of, by name."""
        return self._model_names

    @property
    def problem(self) -> str:
        """Return a sentence on what did not work, such as that the history cannot be kept; may be empty."""
        return self._problem

    def set_search(self, search: str) -> None:
        """Show only clips whose prompts, LoRAs or model hold all of these words."""
        if self._update(search=search):
            self._filter_anew()

    def set_starred_only(self, is_starred_only: bool) -> None:  # noqa: FBT001 - the slot of a toggle
        """Choose whether only starred clips are shown."""
        if self._update(is_starred_only=is_starred_only):
            self._filter_anew()

    def set_lora_filter(self, name: str) -> None:
        """Show only clips with this LoRA; empty for all."""
        if self._update(lora_filter=name):
            self._filter_anew()

    def set_model_filter(self, name: str) -> None:
        """Show only clips of this model; empty for all."""
        if self._update(model_filter=name):
            self._filter_anew()

    def select(self, key: int | None) -> None:
        """Look at a clip; None looks at the live one again."""
        self._update(selected=None if key is None else self._find(key))

    def set_starred(self, key: int, is_starred: bool) -> None:  # noqa: FBT001 - the slot of a toggle
        """Star a clip, or take its star away."""
        entry = self._find(key)
        if entry is not None and self._do(lambda: self._store.set_starred(key, is_starred=is_starred)):
            self._show(replace(entry, is_starred=is_starred))
            if self._is_starred_only:
                self._filter_anew()

    def trash(self, key: int) -> None:
        """Move a clip's file and sidecar to the system's trash; one whose file is missing is only forgotten."""
        entry = self._find(key)
        if entry is None:
            return
        if not entry.is_missing and not self._trash.take(entry.clip.path):
            text = self.tr("“{0}” could not be moved to the trash. It lies where it lay.")
            self._update(problem=text.format(entry.clip.path.name))
            return
        if not entry.is_missing:
            self._trash.take(entry.clip.sidecar_path)
        self._update(problem=self._lasting_problem)
        self._forget((key,))

    def compare(self, key_a: int, key_b: int) -> None:
        """Compare two clips; with itself none is."""
        first, second = self._find(key_a), self._find(key_b)
        if first is not None and second is not None and key_a != key_b:
            self._update(compared=(first, second))

    def stop_comparing(self) -> None:
        """Compare no more."""
        self._update(compared=None)

    def forget_missing(self) -> None:
        """Take out all clips whose files are not where they were written; they are looked for first."""
        paths: dict[int, Path] = {}
        if self._do(lambda: paths.update(self._store.paths())):
            request = FindMissing(tuple(paths.values()))
            self._helper.ask(request, partial(self._take_all_missing, paths))

    def add(
        self,
        clip: ClipFinished,
        request: GenerationRequest,
        *,
        spec: FleetSpec | None = None,
        duration_s: float | None = None,
        queue_key: int | None = None,
    ) -> None:
        """Put a finished clip in front.

        Args:
            spec: The fleet it was made on.
            duration_s: Seconds that making it took.
            queue_key: The queue's entry that it was: it goes out of the library with the same stroke.
        """
        row = to_row(clip, request, self._now(), spec=spec, duration_s=duration_s)
        self.keep()
        keys: list[int] = []
        # Behind one that cannot be kept none is: they would change places.
        if not self._unkept and self._do(lambda: keys.append(self._store.add(row, queue_key=queue_key))):
            entry = from_row(replace(row, key=keys[0]))
        else:
            entry = from_row(replace(row, key=-1 - len(self._unkept)))
            self._unkept.append((entry, row, queue_key))
        if self.is_filtered or not self.model.is_loaded:
            self.model.reload()
        else:
            self.model.put_first(entry)
        self._show_facts()

    def keep(self) -> None:
        """Try once more to keep what could not be kept."""
        num_unkept = len(self._unkept)
        while self._unkept:
            _, row, queue_key = self._unkept[0]
            if not self._do(partial(self._store.add, row, queue_key=queue_key)):
                break
            del self._unkept[0]
        if len(self._unkept) < num_unkept:
            self._reload()

    def spec_of(self, request: GenerationRequest) -> FleetSpec | None:
        """Return the fleet that a request's clip was made on; None if that is not known."""
        found: list[HistoryRow | None] = []
        self._do(lambda: found.append(self._store.find_by_path(request.output_path)))
        row = found[0] if found else None
        return None if row is None else spec_in(row)

    def _filter(self) -> HistoryFilter:
        return HistoryFilter(self._search.strip(), self._is_starred_only, self._lora_filter, self._model_filter)

    def _next_page(self, after: HistoryEntry | None, limit: int) -> tuple[HistoryEntry, ...]:
        rows: list[HistoryRow] = []
        last = None
        if after is not None and after.key > 0:
            last = HistoryRow(after.clip, after.request, after.finished_at, after.key)
        self._do(lambda: rows.extend(self._store.page(self._filter(), after=last, limit=limit)))
        entries = tuple(from_row(row) for row in rows)
        if entries:
            paths = tuple(entry.clip.path for entry in entries)
            self._helper.ask(FindMissing(paths), partial(self._take_missing, entries))
        unkept = () if after is not None else tuple(entry for entry, _, _ in reversed(self._unkept))
        return (*unkept, *entries)

    def _find(self, key: int) -> HistoryEntry | None:
        entry = self.model.entry_of(key)
        if entry is None:
            rows: list[HistoryRow | None] = []
            self._do(lambda: rows.append(self._store.find(key)))
            entry = from_row(rows[0]) if rows and rows[0] is not None else None
        return entry

    def _reload(self) -> None:
        self.model.reload()
        self._show_facts()

    def _filter_anew(self) -> None:
        self.model.reload()
        self._show_count()

    def _show_count(self) -> None:
        self._do(lambda: self._update(num_entries=self._store.count(self._filter()) + len(self._unkept)))

    def _show_facts(self) -> None:
        """Show what is known of the whole."""
        self._show_count()
        self._do(lambda: self._update(lora_names=self._store.lora_names(), model_names=self._store.model_names()))

    def _show(self, entry: HistoryEntry) -> None:
        """Show a clip as it is now, wherever it is shown."""
        self.model.replace_entry(entry)
        entry = self.model.entry_of(entry.key) or entry
        selected, compared = self._selected, self._compared
        if selected is not None and selected.key == entry.key:
            selected = entry
        if compared is not None:
            first, second = (entry if other.key == entry.key else other for other in compared)
            compared = (first, second)
        self._update(selected=selected, compared=compared)

    def _forget(self, keys: tuple[int, ...]) -> None:
        if not self._do(lambda: self._store.remove(keys)):
            return
        self.model.take_out(keys)
        if self._selected is not None and self._selected.key in keys:
            self._update(selected=None)
        if self._compared is not None and any(entry.key in keys for entry in self._compared):
            self._update(compared=None)
        self._show_facts()

    def _do(self, work: Callable[[], object]) -> bool:
        """Do something with the library; return whether that worked, and say so if not."""
        try:
            work()
        except LibraryError as error:
            self._is_library_at_fault = True
            self._update(problem=said(error.message))
            return False
        # What waits to be kept is not kept because something else could be read.
        if self._is_library_at_fault and not self._unkept:
            self._is_library_at_fault = False
            self._update(problem=self._lasting_problem)
        return True

    def _take_missing(self, entries: tuple[HistoryEntry, ...], answer: Answer[tuple[Path, ...]]) -> None:
        if answer.value is None:
            return
        missing = set(answer.value)
        for is_missing in (True, False):
            changed = [e for e in entries if e.is_missing is not is_missing and (e.clip.path in missing) is is_missing]
            if changed:
                keys = [entry.key for entry in changed]
                self._do(partial(self._store.set_missing, keys, is_missing=is_missing))
            for entry in changed:
                self._thumbnails.forget(entry.key)
                self._show(replace(self.model.entry_of(entry.key) or entry, is_missing=is_missing))

    def _take_all_missing(self, paths: dict[int, Path], answer: Answer[tuple[Path, ...]]) -> None:
        missing = set(answer.value or ())
        keys = tuple(key for key, path in paths.items() if path in missing)
        if keys:
            self._forget(keys)

    @Slot(object)
    def _on_thumbnail_wanted(self, entry: HistoryEntry) -> None:
        if not entry.is_missing:
            self._thumbnails.want(entry.key, entry.clip.path)

    @Slot(int, object)
    def _on_thumbnail_made(self, key: int, thumbnail: Thumbnail) -> None:
        self.model.set_thumbnail(key, thumbnail)
        entry = self.model.entry_of(key)
        if entry is not None and self._selected is not None and self._selected.key == key:
            self._update(selected=entry)

    @Slot(int)
    def _on_thumbnail_failed(self, key: int) -> None:
        entry = self.model.entry_of(key)
        if entry is not None:
            # It may be gone since the page was read.
            self._helper.ask(FindMissing((entry.clip.path,)), partial(self._take_missing, (entry,)))


__all__ = ["THUMBNAIL_PX", "HistoryModel", "HistoryState"]
