"""What a clip takes of the devices: a model's headers are read once, and every change of the form is arithmetic."""

from __future__ import annotations

from pathlib import Path

from podium.helper.requests import DeviceNeed, EstimateJob, JobEstimate
from podium.jobs import Quantization
from podium.models.gemma_files import GemmaFiles
from podium.models.pack import resolve_pack
from podium.models.paths import ModelPaths
from podium.multigpu.host_memory import available_host_bytes
from podium.multigpu.memory_activations import MAX_PROMPT_TOKENS, PlannedJob, num_forwards_together
from podium.multigpu.memory_parts import ModelMemory, weigh_model
from podium.multigpu.memory_plan import MemoryPlan, Room, plan_memory

_Key = tuple[ModelPaths, str, Quantization, tuple[tuple[int, int], ...]]


class EstimateDesk:
    """Answers `EstimateJob`s, one at a time."""

    def __init__(self) -> None:
        self._key: _Key | None = None
        self._model: ModelMemory | None = None

    def estimate(self, request: EstimateJob) -> JobEstimate:
        """Return what a clip takes.

        Raises:
            CheckpointError: The model's files cannot be read, or do not belong together.
        """
        job = PlannedJob(
            request.clip,
            request.num_ranks,
            request.pipeline,
            num_images=request.num_images,
            num_loras=request.num_loras,
            num_prompt_tokens=request.num_prompt_tokens or MAX_PROMPT_TOKENS,
            num_batched=1 if request.guidance is None else num_forwards_together(*request.guidance),
        )
        host_bytes = available_host_bytes() + request.held_bytes
        room = Room(request.device_bytes, host_bytes, request.names, request.num_more)
        plan = plan_memory(self._weigh(request), job, room)
        needs = tuple(_need(plan, rank) for rank in range(plan.num_ranks))
        return JobEstimate(needs, plan.residency, plan.problem)

    def _weigh(self, request: EstimateJob) -> ModelMemory:
        key = (request.models, request.dtype, request.quantization, _stamps(request.models))
        if self._model is None or key != self._key:
            pack = resolve_pack(request.models)
            self._model = weigh_model(pack, dtype=request.dtype, quantization=request.quantization)
            self._key = key
        return self._model


def _need(plan: MemoryPlan, rank: int) -> DeviceNeed:
    largest = plan.largest(rank)
    by_phase = tuple((need.phase, need.ranks[rank].num_bytes) for need in plan.phases)
    return DeviceNeed(largest.ranks[rank].num_bytes, largest.phase, by_phase)


def _stamps(models: ModelPaths) -> tuple[tuple[int, int], ...]:
    """Return what changes with the content of a model's files; a file that is not there is refused when it is read."""
    paths = [path for path in models.all() if path.is_file()]
    if models.gemma_root.is_dir():
        paths += GemmaFiles(models.gemma_root).weight_paths()
    return tuple(_stamp(path) for path in paths)


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return (0, 0)
    return status.st_size, status.st_mtime_ns
