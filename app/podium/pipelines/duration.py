"""The job that tells how long a clip a prompt asks for; the clip itself is a job of its own."""

from __future__ import annotations

import time
from collections.abc import Generator

import torch

from podium.jobs import DurationPredicted, DurationRequest, JobEvent, Phase, PhaseEnded, PhaseStarted, StepDone
from podium.models.duration_head import DurationHead
from podium.pipelines.blocks.prompts import PromptEncoder
from podium.pipelines.blocks.slots import BuilderSlot
from podium.pipelines.report import JobBoundary, OpenBoundary


def predict_duration(
    encoder: PromptEncoder,
    head_builder: BuilderSlot[DurationHead],
    request: DurationRequest,
    boundary: JobBoundary | None = None,
    *,
    is_first: bool = True,
) -> Generator[JobEvent, None, None]:
    """Tell how long a clip a prompt asks for. What was encoded for that is not encoded again for the clip.

    Ranks: every rank. Collectives: the boundary's, and those of the encoder's builders.

    Args:
        encoder: Encodes the prompt.
        head_builder: Makes the duration head.
        request: The prompt.
        boundary: Where the job may be stopped; open by default.
        is_first: This rank yields.

    Yields:
        The phase, and `DurationPredicted` at the end; from the first rank alone.

    Raises:
        JobRefusedError: The prompt is too long.
        CheckpointError: A file cannot be read.
    """
    for event in _events(encoder, head_builder, request, OpenBoundary() if boundary is None else boundary):
        if is_first:
            yield event


def _events(
    encoder: PromptEncoder, head_builder: BuilderSlot[DurationHead], request: DurationRequest, boundary: JobBoundary
) -> Generator[JobEvent, None, None]:
    yield from boundary.begin_phase(Phase.ENCODING, 1)
    yield PhaseStarted(Phase.ENCODING, 1)
    began_s = time.perf_counter()
    num_frames = _predict(encoder, head_builder, request)
    boundary.checkpoint(Phase.ENCODING, 1, 1)
    duration_s = time.perf_counter() - began_s
    yield StepDone(Phase.ENCODING, 1, 1, duration_s)
    yield PhaseEnded(Phase.ENCODING, duration_s)
    yield DurationPredicted(num_frames)


@torch.inference_mode()
def _predict(encoder: PromptEncoder, head_builder: BuilderSlot[DurationHead], request: DurationRequest) -> int:
    encoding = encoder.stream([request.prompt])
    while True:
        try:
            next(encoding)
        except StopIteration as end:
            (context,) = end.value
            break
    head = head_builder.build(encoder.placement.device, encoder.placement.dtype)
    return head.predict_num_frames(context.video, context.audio, request.fps)
