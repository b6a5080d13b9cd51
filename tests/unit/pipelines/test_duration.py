"""How long a clip a prompt asks for is a job: told by the model's head, from contexts that the clip takes over."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest
import torch

from podium.jobs import DurationPredicted, DurationRequest, Phase, PhaseEnded, PhaseStarted, RankMemory, StepDone
from podium.models.duration_head import duration_head_builder
from podium.pipelines.distilled import DistilledPipeline
from podium.pipelines.duration import predict_duration
from podium.pipelines.report import OpenBoundary

from tests.fakes.guided_runs import distilled
from tests.tiny_pack import TinyPack

CPU = torch.device("cpu")
REQUEST = DurationRequest("a red fox", Fraction(24))


@pytest.fixture(scope="module")
def pipeline(tiny_pack_2_5: TinyPack) -> DistilledPipeline:
    return distilled(tiny_pack_2_5)


def test_the_head_reads_the_contexts_of_the_prompt(pipeline: DistilledPipeline, tiny_pack_2_5: TinyPack) -> None:
    head = duration_head_builder(tiny_pack_2_5.model_paths.duration_path)
    events = list(predict_duration(pipeline.prompt_encoder, head, REQUEST))
    trace: dict[str, torch.Tensor] = {}
    for _event in pipeline.prompt_encoder.stream([REQUEST.prompt], trace.__setitem__):
        pass
    with torch.inference_mode():
        wanted = head.build(CPU, torch.float32).predict_num_frames(
            trace["context.0.video"], trace["context.0.audio"], REQUEST.fps
        )
    assert events[-1] == DurationPredicted(wanted)
    assert [type(event) for event in events] == [PhaseStarted, StepDone, PhaseEnded, DurationPredicted]


class Boundary(OpenBoundary):
    """Notes its calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[object, ...]] = []

    def begin_phase(self, phase: Phase, num_steps: int | None = None) -> Sequence[RankMemory]:
        self.calls.append((phase, num_steps))
        return ()

    def checkpoint(self, phase: Phase, step: int, num_steps: int) -> None:
        self.calls.append((phase, step, num_steps))


def test_other_ranks_do_the_same_and_say_nothing(pipeline: DistilledPipeline, tiny_pack_2_5: TinyPack) -> None:
    head, boundary = duration_head_builder(tiny_pack_2_5.model_paths.duration_path), Boundary()
    assert list(predict_duration(pipeline.prompt_encoder, head, REQUEST, boundary, is_first=False)) == []
    assert boundary.calls == [(Phase.ENCODING, 1), (Phase.ENCODING, 1, 1)]
