"""The distilled pipeline on a fleet. `python -m` on this module takes the options of `podium generate`."""

from __future__ import annotations

from podium.jobs import PipelineKind
from podium.multigpu.runners.clip_runner import ClipRunner, PipelineArguments, run_command
from podium.multigpu.transformer_spread import TransformerSpread, single_gpu_builder
from podium.pipelines.blocks.diffusion import DiffusionStage
from podium.pipelines.distilled import DistilledPipeline


class DistilledRunner(ClipRunner[DistilledPipeline]):
    """Makes clips with the distilled pipeline on every rank of a fleet: one transformer serves both stages."""

    kind = PipelineKind.FAST

    def _make_pipeline(self, arguments: PipelineArguments) -> DistilledPipeline:
        return DistilledPipeline(**arguments)

    def _any_stage(self) -> DiffusionStage:
        return self._pipeline.stage

    def _spread_stages(self, spread: TransformerSpread) -> None:
        stage = self._pipeline.stage
        stage.transformer_builder = spread.by_tokens(single_gpu_builder(stage))


if __name__ == "__main__":
    run_command(PipelineKind.FAST)
