"""The model's files: what was chosen, what each is, and whether they make one model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from podium.geometry import SIZE_STEP_PX, size_step_px
from podium.helper.requests import Answer, ProbeFile, ResolvePack, WriteDemoPack
from podium.jobs import PipelineKind, Quantization
from podium.models.demo_pack import DemoModel
from podium.models.errors import CheckpointError
from podium.models.pack import Pack
from podium.models.paths import ModelPaths
from podium.models.probe.report import FileKind, FileReport, Quantisation, Slot
from podium.ui.state.numbers import bytes_in_words
from podium.ui.state.observable import ObservableState
from podium.ui.state.ports import HelperPort
from podium.ui.state.sentences import said
from podium.ui.state.values import PackFile, PackSlot

MAIN_SLOTS = (PackSlot.CHECKPOINT, PackSlot.TEXT_ENCODER, PackSlot.UPSCALER)
"""What every model needs."""
SPLIT_SLOTS = (PackSlot.VIDEO_VAE, PackSlot.AUDIO_VAE)
"""What a model needs, too, whose checkpoint is a transformer alone."""


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
    is_split_changed = Signal()
    quantization_changed = Signal()
    name_changed = Signal()
    summary_changed = Signal()
    problem_changed = Signal()

    def __init__(self, helper: HelperPort, cache_folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._helper = helper
        self._cache_folder = cache_folder
        self._files = tuple(PackFile(slot) for slot in PackSlot)
        self._models: ModelPaths | None = None
        self._size_step_px = SIZE_STEP_PX
        self._is_demo = False
        self._demo_loras: tuple[Path, ...] = ()
        self._is_busy = False
        self._is_split = False
        self._wanted_quantization = Quantization.NONE
        self._quantization = Quantization.NONE
        self._name = ""
        self._summary = ""
        self._problem = ""
        self._problem = self._missing_sentence()
        # Answers to an earlier choice are dropped.
        self._choice_number = 0

    @property
    def files(self) -> tuple[PackFile, ...]:
        """Return all places in the order of `PackSlot`."""
        return self._files

    @property
    def slots(self) -> tuple[PackSlot, ...]:
        """Return the places that the chosen files leave open, needed or not; it changes with `is_split`."""
        own = (*SPLIT_SLOTS, PackSlot.DURATION_HEAD) if self._is_split else ()
        return (*MAIN_SLOTS, *own, PackSlot.DISTILLED_LORA)

    @property
    def models(self) -> ModelPaths | None:
        """Return the files once they are known to make one model that this version can run."""
        return self._models

    @property
    def size_step_px(self) -> int:
        """Return what the sides of this model's clips are multiples of; it changes with `models`."""
        return self._size_step_px

    @property
    def gemma_root(self) -> Path | None:
        """Return the text encoder's folder as chosen; it changes with `files`."""
        return self.file(PackSlot.TEXT_ENCODER).path

    @property
    def is_demo(self) -> bool:
        """Return whether the demo model is chosen."""
        return self._is_demo

    @property
    def demo_loras(self) -> tuple[Path, ...]:
        """Return the LoRAs that the demo model shows off, once it is there; it changes with `models`."""
        return self._demo_loras if self._is_demo else ()

    @property
    def is_busy(self) -> bool:
        """Return whether files are being looked at, or the demo model written."""
        return self._is_busy

    @property
    def is_split(self) -> bool:
        """Return whether the checkpoint is a transformer alone, whose other parts lie in files of their own."""
        return self._is_split

    @property
    def quantization(self) -> Quantization:
        """Return how the transformer's weights will be held: as was chosen, or as its file has them."""
        return self._quantization

    @property
    def wanted_quantization(self) -> Quantization:
        """Return what was chosen, to be remembered; it changes with `quantization` where no file decides."""
        return self._wanted_quantization

    @property
    def is_quantization_fixed(self) -> bool:
        """Return whether the file decides; it changes with `quantization`."""
        return self._quantization is Quantization.FP8_SCALED

    @property
    def name(self) -> str:
        """Return the model's generation, such as "LTX-2.3"; empty without a model, and for the demo's."""
        return self._name

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

    def pipeline_problem(self, pipeline: PipelineKind) -> str:
        """Return a sentence on what a pipeline lacks among the files, and how to mend it; empty if it has all."""
        # The demo model has one, though it may still be written.
        if not pipeline.is_guided or self._is_demo or self.file(PackSlot.DISTILLED_LORA).path is not None:
            return ""
        name = self.tr("Quality") if pipeline is PipelineKind.QUALITY else self.tr("HQ")
        text = self.tr("{0} refines with the distilled LoRA of your model. Choose its file among the model's, or Fast.")
        return text.format(name)

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
        """Put a whole model's files in their places."""
        files = _files_of(models)
        if self._is_demo or [file.path for file in files] != [file.path for file in self._files]:
            self._take_files(files)

    def choose_demo(self) -> None:
        """Take the demo model; it is written first where it is not there yet, which takes seconds."""
        if self._is_demo:
            return
        self._choice_number += 1
        self._update(
            is_demo=True,
            is_busy=True,
            models=None,
            name="",
            summary="",
            problem=self.tr("The demo model is being written, once."),
            files=tuple(PackFile(slot) for slot in PackSlot),
        )
        self._show_file_facts()
        self._helper.ask(WriteDemoPack(self._cache_folder), partial(self._take_demo, self._choice_number))

    def look_again(self) -> None:
        """Look at the chosen files anew: one of them may have arrived or been replaced."""
        if not self._is_demo:
            self._take_files(tuple(PackFile(file.slot, file.path) for file in self._files))

    def set_quantization(self, quantization: Quantization) -> None:
        """Choose how weights of full precision are held; those of an fp8 file stay as they are stored."""
        # Scales come with a file or not at all.
        if quantization is not Quantization.FP8_SCALED:
            self._wanted_quantization = quantization
            self._show_file_facts()

    def _take_files(self, files: tuple[PackFile, ...]) -> None:
        self._choice_number += 1
        files = tuple(file if file.report or file.path is None else replace(file, is_probing=True) for file in files)
        self._update(files=files, is_demo=False, models=None, name="", summary="", is_busy=_is_probing(files))
        self._show_file_facts()
        self._update(problem=self._missing_sentence())
        for file in files:
            if file.is_probing and file.path is not None:
                self._helper.ask(ProbeFile(file.path), partial(self._take_report, file.slot, file.path))
        self._resolve_if_complete()

    def _take_report(self, slot: PackSlot, path: Path, answer: Answer[FileReport]) -> None:
        if self.file(slot).path != path or not self.file(slot).is_probing:
            return
        problems = () if answer.value is None else answer.value.problems
        problem = said(answer.error.message if answer.error else str(problems[0]) if problems else "")
        seen = PackFile(slot, path, answer.value, problem=problem or self._misplaced_sentence(slot, answer.value))
        files = tuple(seen if file.slot is slot else file for file in self._files)
        self._update(files=files, is_busy=_is_probing(files))
        self._show_file_facts()
        self._update(problem=self._missing_sentence())
        self._resolve_if_complete()

    def _show_file_facts(self) -> None:
        """Take over what the files decide: whether there are more of them, and how their weights are held."""
        scaled = Quantization.FP8_SCALED if self._is_stored_scaled() else self._wanted_quantization
        self._update(is_split=self._find_split(), quantization=scaled)

    def _find_split(self) -> bool:
        report = self.file(PackSlot.CHECKPOINT).report
        if report is not None and Slot.TRANSFORMER in report.slots:
            return not report.slots & {Slot.VIDEO_DECODER, Slot.AUDIO_DECODER}
        # It is not known yet, or no model's: what was chosen before stays in sight.
        return any(self.file(slot).path for slot in SPLIT_SLOTS)

    def _is_stored_scaled(self) -> bool:
        report = self.file(PackSlot.CHECKPOINT).report
        return report is not None and report.quantisation is Quantisation.FP8_SCALED

    def _chosen(self) -> ModelPaths | None:
        """Return the files in the places that are open; None while one that is needed is missing."""
        return None if self._missing() else models_of({slot: self.file(slot).path for slot in self.slots})

    def _resolve_if_complete(self) -> None:
        models = self._chosen()
        if models is None or _is_probing(self._files):
            return
        if lora_problem := self.file(PackSlot.DISTILLED_LORA).problem:
            self._update(problem=lora_problem)
            return
        self._update(is_busy=True)
        self._helper.ask(ResolvePack(models), partial(self._take_pack, self._choice_number, models))

    def _take_pack(self, choice_number: int, models: ModelPaths, answer: Answer[Pack]) -> None:
        if choice_number != self._choice_number:
            return
        pack, error = answer.value, answer.error
        files = self._files
        if isinstance(error, CheckpointError):
            # The sentence stands beside the file it is about, too.
            files = tuple(
                replace(file, problem=said(error.message)) if file.path == error.path else file for file in self._files
            )
        self._size_step_px = self._size_step_px if pack is None else size_step_px(pack.spatial_scale)
        self._update(
            files=files,
            is_busy=False,
            models=None if pack is None else models,
            name="" if pack is None else f"LTX-{pack.generation}",
            summary="" if pack is None else self._summary_of(pack),
            problem="" if error is None else said(error.message),
        )

    def _take_demo(self, choice_number: int, answer: Answer[DemoModel]) -> None:
        if choice_number != self._choice_number:
            return
        demo = answer.value
        if demo is None:
            self._update(
                is_busy=False, is_demo=False, problem="" if answer.error is None else said(answer.error.message)
            )
            return
        self._size_step_px = SIZE_STEP_PX
        self._demo_loras = demo.style_loras
        self._update(
            is_busy=False,
            models=demo.paths,
            files=_files_of(demo.paths),
            name="",
            summary=self.tr("Demo model: it knows a shape that moves over a background, and makes no sound."),
            problem="",
        )

    def _missing(self) -> list[PackSlot]:
        needed = (*MAIN_SLOTS, *SPLIT_SLOTS) if self._is_split else MAIN_SLOTS
        return [slot for slot in needed if self.file(slot).path is None]

    def _missing_sentence(self) -> str:
        words = {
            PackSlot.CHECKPOINT: self.tr("the checkpoint"),
            PackSlot.TEXT_ENCODER: self.tr("the text encoder") if self._is_split else self.tr("the Gemma folder"),
            PackSlot.UPSCALER: self.tr("the spatial upscaler"),
            PackSlot.VIDEO_VAE: self.tr("the video VAE"),
            PackSlot.AUDIO_VAE: self.tr("the audio VAE"),
        }
        missing = [words[slot] for slot in self._missing()]
        if not missing:
            return ""
        listed = self.tr(" and ").join([", ".join(missing[:-1]), missing[-1]] if len(missing) > 1 else missing)
        return self.tr("Choose {0}, or try the demo model.").format(listed)

    def _misplaced_sentence(self, slot: PackSlot, report: FileReport | None) -> str:
        """Return why a file cannot be the distilled LoRA; the other places are judged together."""
        if slot is not PackSlot.DISTILLED_LORA or report is None or report.kind is FileKind.LORA:
            return ""
        text = self.tr(
            "“{0}” is {1}. In the distilled LoRA's place choose the LoRA that was published with your model."
        )
        return text.format(report.path.name, said(report.kind.words))

    def _summary_of(self, pack: Pack) -> str:
        report = pack.checkpoint
        kind = self.tr("distilled") if report.is_distilled else ""
        size = bytes_in_words(report.file_bytes)
        return ", ".join(part for part in (f"LTX-{pack.generation}", kind, report.stored_dtype, size) if part)


def models_of(paths: Mapping[PackSlot, Path | None]) -> ModelPaths | None:
    """Return the files by their places; None where one that every model needs is missing."""
    checkpoint, gemma, upscaler = (paths.get(slot) for slot in MAIN_SLOTS)
    if checkpoint is None or gemma is None or upscaler is None:
        return None
    return ModelPaths(
        checkpoint,
        gemma,
        upscaler,
        distilled_lora_path=paths.get(PackSlot.DISTILLED_LORA),
        video_vae_path=paths.get(PackSlot.VIDEO_VAE),
        audio_vae_path=paths.get(PackSlot.AUDIO_VAE),
        duration_head_path=paths.get(PackSlot.DURATION_HEAD),
    )


def _files_of(models: ModelPaths) -> tuple[PackFile, ...]:
    paths = {
        PackSlot.CHECKPOINT: models.checkpoint_path,
        PackSlot.TEXT_ENCODER: models.gemma_root,
        PackSlot.UPSCALER: models.spatial_upsampler_path,
        PackSlot.DISTILLED_LORA: models.distilled_lora_path,
        PackSlot.VIDEO_VAE: models.video_vae_path,
        PackSlot.AUDIO_VAE: models.audio_vae_path,
        PackSlot.DURATION_HEAD: models.duration_head_path,
    }
    return tuple(PackFile(slot, paths[slot]) for slot in PackSlot)


def _is_probing(files: tuple[PackFile, ...]) -> bool:
    return any(file.is_probing for file in files)
