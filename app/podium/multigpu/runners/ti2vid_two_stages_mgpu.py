"""The guided two-stage pipeline on a fleet. `python -m` on this module takes the options of `podium generate`."""

from __future__ import annotations

from podium.jobs import PipelineKind
from podium.multigpu.runners.clip_runner import PipelineArguments, run_command
from podium.multigpu.runners.two_stages_runner import TwoStagesRunner, require_distilled_lora
from podium.pipelines.ti2vid_two_stages import TI2VidTwoStagesPipeline


class TI2VidTwoStagesRunner(TwoStagesRunner[TI2VidTwoStagesPipeline]):
    """Makes clips with the guided two-stage pipeline on every rank of a fleet."""

    kind = PipelineKind.QUALITY

    def _make_pipeline(self, arguments: PipelineArguments) -> TI2VidTwoStagesPipeline:
        return TI2VidTwoStagesPipeline(distilled_lora=require_distilled_lora(self._paths), **arguments)


if __name__ == "__main__":
    run_command(PipelineKind.QUALITY)
