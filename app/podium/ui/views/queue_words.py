"""An entry of the queue in words: what it is, and how it stands."""

from __future__ import annotations

from PySide6.QtCore import QObject

from podium.jobs import PipelineKind
from podium.ui.state.numbers import seconds_in_words
from podium.ui.state.phase_words import phase_words
from podium.ui.state.values import EntryStatus, QueueEntry
from podium.ui.theme import Tint

DOT = " · "
STATUS_ICONS = {
    EntryStatus.PENDING: ("clock", Tint.MUTED),
    EntryStatus.PAUSED: ("pause", Tint.MUTED),
    EntryStatus.RUNNING: ("generate", Tint.ACCENT),
    EntryStatus.FAILED: ("error", Tint.DANGER),
    EntryStatus.STOPPED: ("stop", Tint.MUTED),
    EntryStatus.REFUSED: ("warning", Tint.WARNING),
}
STATUS_ROLES = {
    EntryStatus.RUNNING: "accent_text",
    EntryStatus.FAILED: "danger",
    EntryStatus.REFUSED: "warning",
}


class QueueWords(QObject):
    """Says what entries are, in the artist's language."""

    def pipeline(self, pipeline: PipelineKind) -> str:
        """Return what a pipeline is called."""
        return {
            PipelineKind.FAST: self.tr("Fast"),
            PipelineKind.QUALITY: self.tr("Quality"),
            PipelineKind.HQ: self.tr("HQ"),
        }[pipeline]

    def status(self, entry: QueueEntry, *, is_edited: bool = False) -> str:
        """Return how an entry stands in a word or two."""
        if is_edited:
            return self.tr("In the form")
        return {
            EntryStatus.PENDING: self.tr("Waiting"),
            EntryStatus.PAUSED: self.tr("Paused"),
            EntryStatus.RUNNING: self.tr("At work"),
            EntryStatus.FAILED: self.tr("Failed"),
            EntryStatus.STOPPED: self.tr("Stopped"),
            EntryStatus.REFUSED: self.tr("Refused"),
        }[entry.status]

    def facts(self, entry: QueueEntry) -> str:
        """Return an entry's size, length, pipeline, seed and LoRAs in one line."""
        request = entry.request
        clip = request.clip
        loras = [lora.path.stem for lora in request.loras]
        shown = ", ".join(loras[:2]) + (self.tr(" and {0} more").format(len(loras) - 2) if len(loras) > 2 else "")
        facts = (
            f"{clip.width} × {clip.height}",
            seconds_in_words(float(clip.duration_s)),
            self.pipeline(request.pipeline),
            self.tr("seed {0}").format(request.seed),
            shown,
        )
        return DOT.join(fact for fact in facts if fact)

    def switch(self, entry: QueueEntry) -> str:
        """Return that another fleet is started for an entry, and how long that takes; empty if none is."""
        if not entry.needs_other_fleet:
            return ""
        if entry.switch_s is None:
            return self.tr("Needs another fleet")
        return self.tr("Needs another fleet (about {0})").format(seconds_in_words(entry.switch_s))

    def place(self, entry: QueueEntry) -> str:
        """Return where an entry failed: rank and phase; empty if it did not, or that is not known."""
        parts = []
        if entry.failed_rank is not None:
            parts.append(self.tr("Rank {0}").format(entry.failed_rank))
        if entry.failed_phase is not None:
            parts.append(phase_words(entry.failed_phase))
        return ", ".join(parts) if entry.status.is_over else ""

    def failure(self, entry: QueueEntry) -> str:
        """Return the technical lines of an entry that is over: rank, phase, details and log."""
        parts = (self.place(entry), entry.error.details if entry.error else "", "\n".join(entry.log_lines))
        return "\n\n".join(part for part in parts if part)

    def whole(self, entry: QueueEntry, *, is_edited: bool = False) -> str:
        """Return all that is shown of an entry, for screen readers."""
        sentence = entry.error.sentence if entry.error else ""
        status = self.status(entry, is_edited=is_edited)
        parts = (entry.title, status, self.facts(entry), self.switch(entry), self.place(entry), sentence, *entry.notes)
        return ". ".join(part for part in parts if part)
