"""One job on a fleet of its own, driven from the main thread of a command. No torch: only the ranks load it."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from podium.cli.devices import choose_residency
from podium.cli.interrupts import Interrupts
from podium.cli.options import DeviceOptions
from podium.jobs import (
    DurationPredicted,
    DurationRequest,
    EnhanceRequest,
    GenerationRequest,
    JobEvent,
    Phase,
    PhaseEnded,
    PhaseStarted,
    PipelineKind,
    PromptEnhanced,
    Quantization,
)
from podium.media.video_writer import remove_unfinished
from podium.models.paths import ModelPaths
from podium.models.residency import ResidencyPlan
from podium.multigpu import (
    ControllerStoppedError,
    MGPUController,
    RunnerRef,
    Stream,
    SymmetricRunnerError,
)
from podium.multigpu.device_locks import DeviceLocks, gpus_of
from podium.multigpu.sequence_layout import check_num_tokens, num_frames_behind
from podium.pipelines.checks import check_request
from podium.pipelines.parameters import clip_parameters

RUNNERS: Mapping[PipelineKind, RunnerRef] = MappingProxyType(
    {
        PipelineKind.FAST: RunnerRef("podium.multigpu.runners.distilled_mgpu:DistilledRunner"),
        PipelineKind.QUALITY: RunnerRef("podium.multigpu.runners.ti2vid_two_stages_mgpu:TI2VidTwoStagesRunner"),
        PipelineKind.HQ: RunnerRef("podium.multigpu.runners.ti2vid_two_stages_hq_mgpu:TI2VidTwoStagesHQRunner"),
    }
)
"""The runner of each pipeline; only ranks import it."""

E = TypeVar("E")


@dataclass(frozen=True, slots=True)
class FleetOptions:
    """The fleet to make a clip on.

    Args:
        devices: Where its ranks stand.
        dtype: "bfloat16" or "float32".
        quantization: How the transformer's weights are held.
        is_compiled: Compile the transformer.
        residency: Where the parts of the model live; None on the CPU, and where the devices do not tell their memory.
    """

    devices: DeviceOptions
    dtype: str
    quantization: Quantization = Quantization.NONE
    is_compiled: bool = False
    residency: ResidencyPlan | None = None


@dataclass(frozen=True, slots=True)
class JobPlan:
    """What a fleet is asked for, one after another.

    Args:
        request: The clip, checked and resolved.
        enhance: A prompt to write out first, or None.
        predicts_duration: Have the model tell the clip's length, once the prompt is settled.
    """

    request: GenerationRequest
    enhance: EnhanceRequest | None = None
    predicts_duration: bool = False


def run_job(
    plan: JobPlan, models: ModelPaths, options: FleetOptions, *, accept: Callable[[PromptEnhanced], bool]
) -> Generator[JobEvent, None, None]:
    """Make one clip on a fleet that is started for it and gone afterwards.

    Args:
        plan: The clip, and what comes before it.
        models: The model's files.
        options: The fleet.
        accept: Shows a prompt that was written out, and says whether it is to be used. Ctrl+C interrupts it at once.

    Yields:
        Job events, the finished clip last.

    Raises:
        DeviceHeldError: Another Podium has one of the GPUs.
        JobRefusedError: A file is gone since it was checked, or the prompt or length that the model made cannot be
            used.
        PodiumError: The job failed.
        KeyboardInterrupt: It was interrupted; nothing half-written is left.
    """
    controller = MGPUController(
        RUNNERS[plan.request.pipeline],
        num_gpus=options.devices.num_gpus,
        devices=options.devices.devices,
        cpu_ranks=options.devices.cpu_ranks,
    )
    job = _Job(controller)
    # Files that cannot be read any more are refused before a rank starts.
    clip_parameters(plan.request, models, dtype=options.dtype, quantization=options.quantization)
    # Nobody else of this user's may start a fleet on these GPUs, until every rank has ended.
    hold = DeviceLocks("podium generate").take(gpus_of(controller.plan))
    controller.when_gone(hold.release)
    # The ranks are gone before the folders are cleaned up, and signals are taken until all is.
    with (
        Interrupts(job.cancel, job.kill) as interrupts,
        tempfile.TemporaryDirectory(prefix="podium-preview-", ignore_cleanup_errors=True) as previews,
        _nothing_unfinished(plan.request.output_path),
        controller,
    ):

        def accept_interruptibly(enhanced: PromptEnhanced) -> bool:
            with interrupts.suspended():
                return accept(enhanced)

        try:
            began_s = time.perf_counter()
            yield PhaseStarted(Phase.STARTING)
            controller.start(**setup_kwargs(models, options), preview_folder=Path(previews))
            yield PhaseEnded(Phase.STARTING, time.perf_counter() - began_s)
            request, residency = yield from _settle(plan, models, options, job, accept_interruptibly)
            parameters = clip_parameters(request, models, dtype=options.dtype, quantization=options.quantization)
            yield from job.dispatch(controller.stream(request=request, parameters=parameters, residency=residency))
        except (ControllerStoppedError, SymmetricRunnerError) as error:
            if job.is_interrupted:
                raise KeyboardInterrupt from error
            raise


def setup_kwargs(models: ModelPaths, options: FleetOptions) -> dict[str, Any]:
    """Return what a runner's `setup` takes: the files that the model has, and how they are held."""
    paths = {field.name: getattr(models, field.name) for field in fields(models)}
    return {name: path for name, path in paths.items() if path is not None} | {
        "dtype": options.dtype,
        "quantization": options.quantization.value,
        "is_compiled": options.is_compiled,
        "residency": options.residency,
    }


def _settle(
    plan: JobPlan, models: ModelPaths, options: FleetOptions, job: _Job, accept: Callable[[PromptEnhanced], bool]
) -> Generator[JobEvent, None, tuple[GenerationRequest, ResidencyPlan | None]]:
    """Have the model fill in what the plan leaves to it; return the request, checked again where anything changed."""
    request = plan.request
    if plan.enhance is not None:
        enhanced = yield from job.ask(PromptEnhanced, job.controller.stream(enhance=plan.enhance))
        if accept(enhanced):
            request = replace(request, prompt=enhanced.prompt)
    if plan.predicts_duration:
        question = DurationRequest(request.prompt, request.clip.fps)
        predicted = yield from job.ask(DurationPredicted, job.controller.stream(duration=question))
        request = replace(request, clip=replace(request.clip, num_frames=predicted.num_frames))
        check_num_tokens(request.clip, num_pictures=num_frames_behind(request))
    if request == plan.request:
        return request, options.residency
    checked = check_request(request, models, options.quantization)
    pids = [rank.pid for rank in job.controller.rank_status() if rank.pid is not None]
    return checked.resolved, choose_residency(checked, options.devices, options.dtype, own_pids=pids)


@contextmanager
def _nothing_unfinished(path: Path) -> Iterator[None]:
    # A rank that is killed while it writes cannot take its file away itself.
    try:
        yield
    finally:
        remove_unfinished(path)


class _Job:
    # What a signal may do to the job, from another thread.

    def __init__(self, controller: MGPUController) -> None:
        self.controller = controller
        self._stream: Stream | None = None
        self.is_interrupted = False

    def ask(self, kind: type[E], stream: Stream) -> Generator[JobEvent, None, E]:
        # Of a job that ends in one event of a kind; returns that event.
        answer: E | None = None
        for event in self.dispatch(stream):
            if isinstance(event, kind):
                answer = event
            yield event
        assert answer is not None, "a job that ended without an error has answered"
        return answer

    def dispatch(self, stream: Stream) -> Generator[JobEvent, None, None]:
        self._stream = stream
        if self.is_interrupted:
            stream.cancel()
        try:
            yield from stream
        finally:
            # Whoever stopped listening does not want the rest either.
            if not stream.is_over:
                stream.cancel()
                stream.drain()

    def cancel(self) -> None:
        self.is_interrupted = True
        if self._stream is None:
            # While a fleet starts there is no step to end at.
            self.kill()
        else:
            self._stream.cancel()

    def kill(self) -> None:
        self.controller.shutdown(graceful_timeout=0)
