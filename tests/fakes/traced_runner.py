"""The shipped runners, with a look at what is inside: latents by name, and digests of the weights."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from podium.jobs import GenerationRequest
from podium.multigpu.runners.clip_runner import ClipRunner
from podium.multigpu.runners.distilled_mgpu import DistilledRunner
from podium.multigpu.runners.ti2vid_two_stages_hq_mgpu import TI2VidTwoStagesHQRunner
from podium.multigpu.runners.ti2vid_two_stages_mgpu import TI2VidTwoStagesRunner
from podium.multigpu.weight_tracker import TransformerWeightTracker
from podium.pipelines.report import call_of

LATENTS = ("stage_1.video", "stage_1.audio", "stage_2.video", "stage_2.audio")


class TracedDistilledRunner(DistilledRunner):
    """Yields latents and weight digests instead of events."""

    def __call__(self, **call: Any) -> Iterator[dict[str, Any]]:
        if "request" in call:
            yield from super().__call__(**call)
            return
        yield look_inside(self, call)


class TracedTwoStagesRunner(TI2VidTwoStagesRunner):
    """The same; a request given as `traced` is run to its latents."""

    def __call__(self, **call: Any) -> Iterator[dict[str, Any]]:
        if "traced" not in call:
            yield from super().__call__(**call)
            return
        yield look_inside_request(self, call["traced"])


class TracedTwoStagesHQRunner(TI2VidTwoStagesHQRunner):
    """The same; a request given as `traced` is run to its latents."""

    def __call__(self, **call: Any) -> Iterator[dict[str, Any]]:
        if "traced" not in call:
            yield from super().__call__(**call)
            return
        yield look_inside_request(self, call["traced"])


def look_inside_request(runner: ClipRunner[Any], request: GenerationRequest) -> dict[str, Any]:
    """Return what a request's latents are, its stages arranged as the runner does, and how they were."""
    arranged = dict(runner._arrange(request))
    return {**look_inside(runner, call_of(request)), **arranged}


def look_inside(runner: ClipRunner[Any], call: dict[str, Any]) -> dict[str, Any]:
    """Return what a call's latents are, and a digest of the weights they were made with."""
    trace: dict[str, Tensor] = {}
    for _event in runner._pipeline.stream(**call, trace=trace.__setitem__):
        # Every rank stops here: what is decoded of the latents is none of this runner's business.
        if LATENTS[-1] in trace:
            break
    builder: Any = runner._any_stage().transformer_builder
    tracker: TransformerWeightTracker = builder.tracker
    mine: dict[str, Any] = {name: trace[name] for name in LATENTS}
    mine["num_recorded"] = 0 if runner._replays is None else runner._replays.num_captures
    return {"rank": runner.rank, "weights": digest(tracker), "shard_bytes": tracker.stored_sd.num_bytes, **mine}


def digest(tracker: TransformerWeightTracker) -> str:
    """Return what tells the working weights from any others."""
    whole = hashlib.sha256()
    for key, tensor in sorted(tracker.broadcast_sd.items()):
        whole.update(key.encode())
        whole.update(np.ascontiguousarray(tensor.contiguous().flatten().view(torch.uint8).cpu().numpy()))
    return whole.hexdigest()
