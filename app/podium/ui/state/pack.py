"""The model's files: what was chosen, what each is, and whether they make one model."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from podium.helper.requests import Answer, ProbeFile, ResolvePack, WriteDemoPack
from podium.models.errors import CheckpointError
from podium.models.pack import Pack
from podium.models.paths import ModelPaths
from podium.models.probe.report import FileReport
from podium.ui.state.observable import ObservableState
from podium.ui.state.ports import HelperPort
from podium.ui.state.values import PackFile, PackSlot


class PackState(ObservableState):
    """The model's files.

    Args:
        helper: Looks at them.
        cache_folder: Where the demo model is written at its first use.
    """

    files_changed = Signal()
    models_changed = Signal()
    is_demo_changed = Signal()
    is_busy_changed = Signal()
    summary_changed = Signal()
    problem_changed = Signal()

    def __init__(self, helper: HelperPort, cache_folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._helper = helper
        self._cache_folder = cache_folder
        self._files = tuple(PackFile(slot) for slot in PackSlot)
        self._models: ModelPaths | None = None
        self._is_demo = False
        self._is_busy = False
        self._summary = ""
        self._problem = ""
        self._problem = self._missing_sentence()
        # Answers to an earlier choice are dropped.
        self._choice_number = 0

    @property
    def files(self) -> tuple[PackFile, ...]:
        """Return the three places in the order of `PackSlot`."""
        return self._files

    @property
    def models(self) -> ModelPaths | None:
        """Return the files once they are known to make one model that this version can run."""
        return self._models

    @property
    def gemma_root(self) -> Path | None:
        """Return the text encoder's folder as chosen; it changes with `files`."""
        return self.file(PackSlot.TEXT_ENCODER).path

    @property
    def is_demo(self) -> bool:
        """Return whether the demo model is chosen."""
        return self._is_demo

    @property
    def is_busy(self) -> bool:
        """Return whether files are being looked at, or the demo model written."""
        return self._is_busy

    @property
    def summary(self) -> str:
        """Return what the model is in a few words; empty without one."""
        return self._summary

    @property
    def problem(self) -> str:
        """Return a sentence on what is missing or wrong; empty if nothing is, or while that is being found out."""
        return self._problem

    def file(self, slot: PackSlot) -> PackFile:
        """Return what is in a place."""
        return next(file for file in self._files if file.slot is slot)

    def choose_file(self, slot: PackSlot, path: Path) -> None:
        """Put a file, or the text encoder's folder, in its place."""
        if path == self.file(slot).path and not self._is_demo:
            return
        files = self._files if not self._is_demo else tuple(PackFile(other) for other in PackSlot)
        self._take_files(tuple(PackFile(slot, path) if file.slot is slot else file for file in files))

    def clear_file(self, slot: PackSlot) -> None:
        """Empty a place."""
        if self.file(slot).path is not None:
            self._take_files(tuple(PackFile(slot) if file.slot is slot else file for file in self._files))

    def choose_models(self, models: ModelPaths) -> None:
        """Put all three files in their places."""
        paths = (models.checkpoint_path, models.gemma_root, models.spatial_upsampler_path)
        if self._is_demo or paths != tuple(file.path for file in self._files):
            self._take_files(tuple(PackFile(slot, path) for slot, path in zip(PackSlot, paths, strict=True)))

    def choose_demo(self) -> None:
        """Take the demo model; it is written first where it is not there yet, which takes seconds."""
        if self._is_demo:
            return
        self._choice_number += 1
        self._update(
            is_demo=True,
            is_busy=True,
            models=None,
            summary="",
            problem=self.tr("The demo model is being written, once."),
            files=tuple(PackFile(slot) for slot in PackSlot),
        )
        self._helper.ask(WriteDemoPack(self._cache_folder), partial(self._take_demo, self._choice_number))

    def look_again(self) -> None:
        """Look at the chosen files anew: one of them may have arrived or been replaced."""
        if not self._is_demo:
            self._take_files(tuple(PackFile(file.slot, file.path) for file in self._files))

    def _take_files(self, files: tuple[PackFile, ...]) -> None:
        self._choice_number += 1
        files = tuple(file if file.report or file.path is None else replace(file, is_probing=True) for file in files)
        self._update(files=files, is_demo=False, models=None, summary="", is_busy=_is_probing(files))
        self._update(problem=self._missing_sentence())
        for file in files:
            if file.is_probing and file.path is not None:
                self._helper.ask(ProbeFile(file.path), partial(self._take_report, file.slot, file.path))
        self._resolve_if_complete()

    def _take_report(self, slot: PackSlot, path: Path, answer: Answer[FileReport]) -> None:
        if self.file(slot).path != path or not self.file(slot).is_probing:
            return
        problems = () if answer.value is None else answer.value.problems
        problem = answer.error.message if answer.error else str(problems[0]) if problems else ""
        seen = PackFile(slot, path, answer.value, problem=problem)
        files = tuple(seen if file.slot is slot else file for file in self._files)
        self._update(files=files, is_busy=_is_probing(files))
        self._update(problem=self._missing_sentence())
        self._resolve_if_complete()

    def _resolve_if_complete(self) -> None:
        checkpoint, gemma, upscaler = (file.path for file in self._files)
        if checkpoint is None or gemma is None or upscaler is None or _is_probing(self._files):
            return
        self._update(is_busy=True)
        request = ResolvePack(ModelPaths(checkpoint, gemma, upscaler))
        self._helper.ask(request, partial(self._take_pack, self._choice_number))

    def _take_pack(self, choice_number: int, answer: Answer[Pack]) -> None:
        if choice_number != self._choice_number:
            return
        pack, error = answer.value, answer.error
        files = self._files
        if isinstance(error, CheckpointError):
            # The sentence stands beside the file it is about, too.
            files = tuple(
                replace(file, problem=error.message) if file.path == error.path else file for file in self._files
            )
        self._update(
            files=files,
            is_busy=False,
            models=None if pack is None else pack.paths,
            summary="" if pack is None else _summary(pack),
            problem="" if error is None else error.message,
        )

    def _take_demo(self, choice_number: int, answer: Answer[ModelPaths]) -> None:
        if choice_number != self._choice_number:
            return
        models = answer.value
        if models is None:
            self._update(is_busy=False, is_demo=False, problem="" if answer.error is None else answer.error.message)
            return
        paths = (models.checkpoint_path, models.gemma_root, models.spatial_upsampler_path)
        self._update(
            is_busy=False,
            models=models,
            files=tuple(PackFile(slot, path) for slot, path in zip(PackSlot, paths, strict=True)),
            summary=self.tr("Demo model: random weights, coloured noise until a trained one ships."),
            problem="",
        )

    def _missing_sentence(self) -> str:
        words = {
            PackSlot.CHECKPOINT: self.tr("the checkpoint"),
            PackSlot.TEXT_ENCODER: self.tr("the Gemma folder"),
            PackSlot.UPSCALER: self.tr("the spatial upscaler"),
        }
        missing = [words[file.slot] for file in self._files if file.path is None]
        if not missing:
            return ""
        listed = self.tr(" and ").join([", ".join(missing[:-1]), missing[-1]] if len(missing) > 1 else missing)
        return self.tr("Choose {0}, or try the demo model.").format(listed)


def _is_probing(files: tuple[PackFile, ...]) -> bool:
    return any(file.is_probing for file in files)


def _summary(pack: Pack) -> str:
    report = pack.checkpoint
    kind = "distilled" if report.is_distilled else ""
    size = f"{report.file_bytes / 1e9:.1f} GB"
    return ", ".join(part for part in (f"LTX-{pack.generation}", kind, report.stored_dtype, size) if part)
