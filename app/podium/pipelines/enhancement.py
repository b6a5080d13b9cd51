"""The job that writes a prompt out in more detail; what comes of it is shown before anybody uses it."""

from __future__ import annotations

import time
from collections.abc import Generator
from functools import partial

from podium.jobs import EnhanceRequest, JobEvent, Phase, PhaseEnded, PhaseStarted, PromptEnhanced, StepDone
from podium.media.stills import read_still
from podium.models.prompt_enhancement import MAX_NEW_TOKENS, WritingRequest
from podium.pipelines.blocks.prompts import PromptEncoder
from podium.pipelines.report import JobBoundary, OpenBoundary


def enhance_prompt(
    encoder: PromptEncoder,
    request: EnhanceRequest,
    boundary: JobBoundary | None = None,
    *,
    is_first: bool = True,
) -> Generator[JobEvent, None, None]:
    """Write a prompt out in more detail; it can be stopped after every token.

    Ranks: every rank. Collectives: the boundary's, at every token, and those of the encoder's builder and writer.

    Args:
        encoder: Its `enhancer_builder`, or else its text encoder, writes.
        request: The prompt.
        boundary: Where the job may be stopped; open by default.
        is_first: This rank yields.

    Yields:
        The phase, each token as a step of at most `MAX_NEW_TOKENS`, and `PromptEnhanced` at the end; from the first
        rank alone.

    Raises:
        JobRefusedError: This encoder cannot write, or the prompt is empty or too long.
        CheckpointError, MediaError: A file, or the picture, cannot be read.
    """
    events = _events(encoder, request, OpenBoundary() if boundary is None else boundary)
    for event in events:
        if is_first:
            yield event


def _events(encoder: PromptEncoder, request: EnhanceRequest, boundary: JobBoundary) -> Generator[JobEvent, None, None]:
    yield from boundary.begin_phase(Phase.ENCODING, MAX_NEW_TOKENS)
    yield PhaseStarted(Phase.ENCODING, MAX_NEW_TOKENS)
    began_s = last_s = time.perf_counter()
    path = request.image_path
    wanted = WritingRequest(request.prompt, request.seed, None if path is None else partial(read_still, path))
    writing = encoder.build_writer().write(wanted)
    num_tokens = 0
    while True:
        try:
            next(writing)
        except StopIteration as end:
            written = end.value
            break
        num_tokens += 1
        boundary.checkpoint(Phase.ENCODING, num_tokens, MAX_NEW_TOKENS)
        now_s = time.perf_counter()
        yield StepDone(Phase.ENCODING, num_tokens, MAX_NEW_TOKENS, now_s - last_s)
        last_s = now_s
    yield PhaseEnded(Phase.ENCODING, time.perf_counter() - began_s)
    yield PromptEnhanced(written.prompt, written.note)
