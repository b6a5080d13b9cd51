"""One job on a fleet of its own, driven from the main thread of a command. No torch: only the ranks load it."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from podium.cli.arguments import DeviceOptions
from podium.cli.interrupts import Interrupts
from podium.jobs import GenerationRequest, JobEvent, Phase, PhaseEnded, PhaseStarted
from podium.media.video_writer import remove_unfinished
from podium.models.paths import ModelPaths
from podium.multigpu import (
    ControllerStoppedError,
    MGPUController,
    RunnerRef,
    Stream,
    SymmetricRunnerError,
)
from podium.pipelines.parameters import clip_parameters

RUNNER = RunnerRef("podium.multigpu.runners.distilled_mgpu:DistilledRunner")


@dataclass(frozen=True, slots=True)
class FleetOptions:
    """The fleet to make a clip on.

    Args:
        devices: Where its ranks stand.
        dtype: "bfloat16" or "float32".
        quantization: "none".
        is_compiled: Compile the transformer.
    """

    devices: DeviceOptions
    dtype: str
    quantization: str
    is_compiled: bool


def run_job(request: GenerationRequest, models: ModelPaths, options: FleetOptions) -> Generator[JobEvent, None, None]:
    """Make one clip on a fleet that is started for it and gone afterwards.

    Args:
        request: Checked.
        models: The model's files.
        options: The fleet.

    Yields:
        Job events, the finished clip last.

    Raises:
        JobRefusedError: A file is gone since it was checked.
        PodiumError: The job failed.
        KeyboardInterrupt: It was interrupted; nothing half-written is left.
    """
    controller = MGPUController(
        RUNNER,
        num_gpus=options.devices.num_gpus,
        devices=options.devices.devices,
        cpu_ranks=options.devices.cpu_ranks,
    )
    job = _Job(controller)
    parameters = clip_parameters(request, models, dtype=options.dtype)
    # The ranks are gone before the folders are cleaned up, and signals are taken until all is.
    with (
        Interrupts(job.cancel, job.kill),
        tempfile.TemporaryDirectory(prefix="podium-preview-", ignore_cleanup_errors=True) as previews,
        _nothing_unfinished(request.output_path),
        controller,
    ):
        try:
            began_s = time.perf_counter()
            yield PhaseStarted(Phase.STARTING)
            controller.start(
                checkpoint_path=models.checkpoint_path,
                gemma_root=models.gemma_root,
                spatial_upsampler_path=models.spatial_upsampler_path,
                dtype=options.dtype,
                quantization=options.quantization,
                is_compiled=options.is_compiled,
                preview_folder=Path(previews),
            )
            yield PhaseEnded(Phase.STARTING, time.perf_counter() - began_s)
            yield from job.dispatch(controller.stream(request=request, parameters=parameters))
        except (ControllerStoppedError, SymmetricRunnerError) as error:
            if job.is_interrupted:
                raise KeyboardInterrupt from error
            raise


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
        self._controller = controller
        self._stream: Stream | None = None
        self.is_interrupted = False

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
        self._controller.shutdown(graceful_timeout=0)
