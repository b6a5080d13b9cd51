"""Clips that are dropped onto the window: what each was made with, in files of this machine."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from podium.helper.requests import Answer, ClipContents, ReadClip
from podium.jobs import FileIdentity, GenerationRequest
from podium.library import Library, LibraryError
from podium.models.paths import ModelPaths
from podium.ui.state.loras import LoraStackState
from podium.ui.state.pack import PackState
from podium.ui.state.ports import HelperPort
from podium.ui.state.sentences import said_of
from podium.ui.state.values import ClipOffer, ErrorMessage


class ClipOpener(QObject):
    """Reads clips that Podium made, here or elsewhere.

    Args:
        helper: Reads them, and looks for their files.
        library: Knows where files lay.
        pack, loras: Know the folders that are in use.
    """

    offered = Signal(object)
    """A `ClipOffer`."""
    failed = Signal(object)
    """An `ErrorMessage`: the file is no clip of Podium's."""

    def __init__(
        self,
        helper: HelperPort,
        library: Library,
        pack: PackState,
        loras: LoraStackState,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._helper = helper
        self._files = library.files
        self._pack = pack
        self._loras = loras
        self._models: dict[Path, ModelPaths] = {}

    def open(self, path: Path) -> None:
        """Read a clip; one of the signals tells what came of it."""
        known = self._known()
        self._helper.ask(ReadClip(path, self._folders(known), known), partial(self._take, path))

    def models_of(self, request: GenerationRequest) -> ModelPaths | None:
        """Return the model of a request that was offered; None if it was not, or has none here."""
        return self._models.get(request.output_path)

    def _known(self) -> tuple[FileIdentity, ...]:
        try:
            return self._files.all()
        except LibraryError:
            # The folders in use are looked through all the same.
            return ()

    def _folders(self, known: tuple[FileIdentity, ...]) -> tuple[Path, ...]:
        """Return the folders of the files in use, and of those that were."""
        chosen = [file.path for file in self._pack.files if file.path is not None]
        stacked = [item.path for item in self._loras.items]
        used = [identity.path for identity in known]
        return tuple(dict.fromkeys(path.parent for path in (*chosen, *stacked, *used)))

    def _take(self, path: Path, answer: Answer[ClipContents]) -> None:
        contents = answer.value
        if contents is None:
            self.failed.emit(ErrorMessage("") if answer.error is None else said_of(answer.error))
            return
        if contents.models is not None:
            self._models[contents.request.output_path] = contents.models
        sentence = self._sentence(contents)
        self.offered.emit(ClipOffer(path, contents.request, contents.models, contents.unmatched, sentence))

    def _sentence(self, contents: ClipContents) -> str:
        sentences = []
        if contents.unmatched:
            text = self.tr("Not found on this machine: {0}. Everything else can be reused.")
            sentences.append(text.format(_quoted(contents.unmatched)))
        if contents.changed:
            text = self.tr("Found by name, but with other content than the clip was made with: {0}.")
            sentences.append(text.format(_quoted(contents.changed)))
        return " ".join(sentences)


def _quoted(names: tuple[str, ...]) -> str:
    return ", ".join(f"“{name}”" for name in dict.fromkeys(names))
