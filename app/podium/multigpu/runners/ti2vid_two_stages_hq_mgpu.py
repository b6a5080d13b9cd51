"""The HQ pipeline on a fleet. `python -m` on this module takes the options of `podium generate`."""

from __future__ import annotations

from podium.jobs import PipelineKind
from podium.multigpu.runners.clip_runner import PipelineArguments, run_command
from podium.multigpu.runners.two_stages_runner import TwoStagesRunner, require_distilled_lora
from podium.pipelines.ti2vid_two_stages_hq import TI2VidTwoStagesHQPipeline


class TI2VidTwoStagesHQRunner(TwoStagesRunner[TI2VidTwoStagesHQPipeline]):
    """Makes clips with the HQ pipeline on every rank of a fleet."""

    kind = PipelineKind.HQ

    def _make_pipeline(self, arguments: PipelineArguments) -> TI2VidTwoStagesHQPipeline:
        return TI2VidTwoStagesHQPipeline(distilled_lora=require_distilled_lora(self._paths), **arguments)


if __name__ == "__main__":
    run_command(PipelineKind.HQ)
