"""The helper process itself: `python -m podium.helper.process`, requests on stdin, answers on stdout.

It ends with its stdin, so that it outlives no window. Whatever a library prints goes to stderr.
"""

from __future__ import annotations

import logging
import os
import pickle
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any, BinaryIO

import av
from PIL import Image

from podium.errors import JobRefusedError, PodiumError
from podium.heap import return_large_pieces
from podium.helper.clip_files import ClipDesk
from podium.helper.devices import list_devices
from podium.helper.estimates import EstimateDesk
from podium.helper.exports import ExportDesk, save_one_frame
from podium.helper.framing import LENGTH_BYTES, frame, unpack_length
from podium.helper.requests import (
    Answer,
    CancelExport,
    CheckedJob,
    CheckRequest,
    CountTokens,
    DeviceReport,
    EstimateJob,
    ExportClip,
    FindMissing,
    GetDefaults,
    GetExportShare,
    GetModelFacts,
    GuidanceDefaults,
    HelperError,
    IdentifyFiles,
    KeepThumbnail,
    Lane,
    ListDevices,
    MakeThumbnail,
    MeasureFolder,
    ModelFacts,
    ProbeFile,
    ReadClip,
    ReadLora,
    Request,
    ResolvePack,
    SaveFrame,
    Thumbnail,
    TidyPictures,
    TokenCount,
    WriteDemoPack,
)
from podium.media.cache_limit import CacheLimit
from podium.media.clip_reader import read_frames
from podium.media.stills import read_still
from podium.models.demo_cache import ensure_demo_model
from podium.models.demo_pack import DemoModel
from podium.models.gemma_files import GemmaFiles
from podium.models.lora_keys import LoraReport, read_lora_plan
from podium.models.pack import Pack, transformer_shapes
from podium.models.probe import FileReport, probe
from podium.models.residency import ResidencyPlan
from podium.models.tokenizer import MAX_PROMPT_TOKENS, PromptTokenizer
from podium.multigpu.device_room import plan_residency
from podium.multigpu.host_memory import (
    available_host_bytes,
    check_host_memory,
    held_by_relatives_bytes,
    pids_of_relatives,
)
from podium.multigpu.placement import plan_fleet
from podium.pipelines.checks import CheckedRequest, check_guidance_mode, check_models, check_request
from podium.pipelines.generation_defaults import pipeline_defaults, read_checkpoint_facts
from podium.pipelines.parameters import clip_parameters

logger = logging.getLogger(__name__)

# Shorter than the window waits for this process.
CLOSE_LIMIT_S = 1.5
LOOSE_AGE_S = 24 * 3600.0
"""A picture that is younger may be about to be used."""
_CLIP_SUFFIXES = frozenset({".mp4", ".mov", ".m4v", ".mkv", ".webm"})


class Desk:
    """Answers requests, one at a time in each lane."""

    def __init__(self) -> None:
        self._tokenizer: PromptTokenizer | None = None
        self._exports = ExportDesk()
        self._clips = ClipDesk()
        self._estimates = EstimateDesk()
        self._handlers: dict[type[Request[Any]], Callable[[Any], object]] = {
            CountTokens: self._count_tokens,
            ProbeFile: _probe,
            ResolvePack: _resolve_pack,
            WriteDemoPack: _write_demo_pack,
            ReadLora: _read_lora,
            CheckRequest: self._check_request,
            MakeThumbnail: _make_thumbnail,
            ListDevices: _list_devices,
            ExportClip: self._exports.export,
            GetExportShare: self._exports.share,
            CancelExport: self._exports.cancel,
            SaveFrame: save_one_frame,
            IdentifyFiles: self._clips.identify,
            FindMissing: self._clips.find_missing,
            ReadClip: self._clips.read_clip,
            KeepThumbnail: self._clips.keep_thumbnail,
            GetDefaults: _get_defaults,
            EstimateJob: self._estimates.estimate,
            GetModelFacts: _get_model_facts,
            MeasureFolder: _measure_folder,
            TidyPictures: _tidy_pictures,
        }

    def answer(self, request: Request[Any]) -> Answer[Any]:
        """Return what comes of a request; an error is an answer, too."""
        try:
            return Answer(self._handlers[type(request)](request))
        except PodiumError as error:
            return Answer(error=error)
        # The border of the process: a fault at one request must not take the others along.
        except Exception as error:
            logger.exception("The request %r failed", type(request).__name__)
            return Answer(error=_fault(error))

    def close(self) -> None:
        """End what would leave something half written."""
        self._exports.close(CLOSE_LIMIT_S)

    def _check_request(self, request: CheckRequest) -> CheckedJob:
        # First: what is wrong with a file that was changed is no news of the one that was meant.
        self._clips.check_unchanged(request.files)
        return _check_request(request)

    def _count_tokens(self, request: CountTokens) -> TokenCount:
        if self._tokenizer is None or self._tokenizer.gemma_root != request.gemma_root:
            self._tokenizer = PromptTokenizer(request.gemma_root)
        return TokenCount(self._tokenizer.count(request.prompt), MAX_PROMPT_TOKENS)


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Answer what `source` asks until it ends."""
    desk, write_lock = Desk(), threading.Lock()
    lanes = {lane: _start_lane(lane, desk, sink, write_lock) for lane in Lane}
    while (message := _read_message(source)) is not None:
        number, request = message
        lanes[request.lane].put((number, request))
    desk.close()


def main() -> None:
    """Be the helper process."""
    # Ctrl+C on the terminal is for the window, which then closes stdin.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    answers = os.dup(1)
    os.dup2(2, 1)
    with os.fdopen(answers, "wb") as sink, open(0, "rb", closefd=False) as source:
        serve(source, sink)
        # A lane may be at something long that nobody waits for any more.
        sys.stderr.flush()
        os._exit(0)


def _start_lane(
    lane: Lane, desk: Desk, sink: BinaryIO, write_lock: threading.Lock
) -> queue.SimpleQueue[tuple[int, Request[Any]]]:
    waiting: queue.SimpleQueue[tuple[int, Request[Any]]] = queue.SimpleQueue()

    def work() -> None:
        while True:
            number, request = waiting.get()
            data = _framed(number, desk.answer(request))
            try:
                with write_lock:
                    sink.write(data)
                    sink.flush()
            except OSError:
                # The window is gone, and stdin tells so, too.
                return

    threading.Thread(target=work, name=f"helper-{lane}", daemon=True).start()
    return waiting


def _framed(number: int, answer: Answer[Any]) -> bytes:
    try:
        return frame((number, answer))
    # Whatever an error carries along may not be picklable.
    except Exception as error:  # noqa: BLE001
        return frame((number, Answer[Any](error=_fault(error))))


def _read_message(source: BinaryIO) -> tuple[int, Request[Any]] | None:
    length = source.read(LENGTH_BYTES)
    if len(length) < LENGTH_BYTES:
        return None
    data = source.read(unpack_length(length))
    number, request = pickle.loads(data)
    return number, request


def _fault(error: Exception) -> HelperError:
    return HelperError(
        f"Podium failed on a fault of its own ({type(error).__name__}). The details tell where.",
        details="".join(traceback.format_exception(error)),
    )


def _probe(request: ProbeFile) -> FileReport:
    return probe(request.path)


def _resolve_pack(request: ResolvePack) -> Pack:
    return check_models(request.models)


def _get_defaults(request: GetDefaults) -> GuidanceDefaults:
    facts = read_checkpoint_facts(request.models.checkpoint_path)
    defaults = pipeline_defaults(request.pipeline, facts)
    return GuidanceDefaults(
        defaults.num_inference_steps,
        defaults.video_guidance,
        defaults.audio_guidance,
        defaults.distilled_lora_strengths,
        facts.num_blocks,
    )


def _get_model_facts(request: GetModelFacts) -> ModelFacts:
    pack = check_models(request.models)
    return ModelFacts(
        can_write_prompts=GemmaFiles(pack.paths.gemma_root).can_write(),
        can_make_keyframes=pack.has_keyframe_embedding,
        can_tell_length=pack.has_duration_head,
    )


def _write_demo_pack(request: WriteDemoPack) -> DemoModel:
    return ensure_demo_model(request.cache_folder)


def _read_lora(request: ReadLora) -> LoraReport:
    return read_lora_plan(request.path, transformer_shapes(request.checkpoint_path)).report


def _check_request(request: CheckRequest) -> CheckedJob:
    folder = request.request.output_path.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise JobRefusedError(
            f"The folder for clips, “{folder}”, cannot be made. Choose another one.", details=str(error)
        ) from error
    checked = check_request(request.request, request.models, request.quantization)
    if request.num_ranks > checked.pack.num_heads:
        raise JobRefusedError(
            f"{request.num_ranks} devices are chosen, and this model can be shared by {checked.pack.num_heads} at "
            "most. Choose fewer."
        )
    check_guidance_mode(checked.resolved, request.num_ranks)
    check_host_memory(
        checked.pack,
        num_ranks=request.num_ranks,
        dtype=request.dtype,
        is_on_cpu=request.is_on_cpu,
        quantization=request.quantization,
        # A fleet that is up is the one that is meant, or gone before that one comes.
        available_bytes=available_host_bytes() + held_by_relatives_bytes(),
    )
    parameters = clip_parameters(
        checked.resolved, request.models, dtype=request.dtype, quantization=request.quantization
    )
    return CheckedJob(
        checked.num_prompt_tokens,
        checked.lora_reports,
        parameters,
        checked.resolved,
        checked.notes,
        _plan_residency(request, checked),
    )


def _plan_residency(request: CheckRequest, checked: CheckedRequest) -> ResidencyPlan | None:
    if not request.devices:
        return None
    # As above: what a fleet of this window holds is free for the one that is planned.
    return plan_residency(
        checked,
        plan_fleet(devices=request.devices),
        request.dtype,
        own_pids=pids_of_relatives(),
        host_bytes=available_host_bytes() + held_by_relatives_bytes(),
    )


def _make_thumbnail(request: MakeThumbnail) -> Thumbnail:
    is_clip = request.path.suffix.lower() in _CLIP_SUFFIXES
    rgb = next(read_frames(request.path)) if is_clip else read_still(request.path)
    image = Image.fromarray(rgb)
    image.thumbnail((request.max_side_px, request.max_side_px))
    return Thumbnail(image.width, image.height, image.tobytes())


def _measure_folder(request: MeasureFolder) -> int:
    return CacheLimit((request.folder,)).measure()


def _tidy_pictures(request: TidyPictures) -> int:
    return CacheLimit((request.folder,), request.max_bytes, request.kept, LOOSE_AGE_S).keep()


def _list_devices(request: ListDevices) -> tuple[DeviceReport, ...]:
    return list_devices(request.cache_folder)


if __name__ == "__main__":
    # What FFmpeg has to say of a strange file is in the error already.
    av.logging.set_level(av.logging.PANIC)
    return_large_pieces()
    main()
