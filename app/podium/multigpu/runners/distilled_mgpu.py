"""The distilled pipeline on a fleet: the pipeline of one GPU, its transformer's tokens spread over the ranks.

The first rank encodes the prompt for all, decodes, writes and reports. `python -m` on this module takes the options of
`podium generate`.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import torch

from podium.errors import PodiumError
from podium.jobs import GenerationRequest, JobEvent, Phase
from podium.models.registry import Registry, StateDictRegistry
from podium.models.transformer.builder import transformer_builder
from podium.multigpu.attention import AttentionManager
from podium.multigpu.boundary import FleetBoundary
from podium.multigpu.errors import RunnerError
from podium.multigpu.first_rank import FirstRankTextEncoderBuilder, FirstRankVideoDecoderBuilder
from podium.multigpu.runner import MGPURunner
from podium.multigpu.sequence_layout import DEFAULT_MAX_TOKENS
from podium.multigpu.sp_builder import SequenceParallelBuilder
from podium.multigpu.weight_tracker import TransformerWeightTracker
from podium.pipelines.distilled import DistilledPipeline
from podium.pipelines.previews import Previewer, fit_latent_to_rgb
from podium.pipelines.report import ReportContext, report_clip
from podium.pipelines.stage_clips import StageClips

DTYPES = {"bfloat16": torch.bfloat16, "float32": torch.float32}


class DistilledRunner(MGPURunner):
    """Makes clips with the distilled pipeline on every rank of a fleet."""

    def setup(
        self,
        *,
        checkpoint_path: str | Path,
        gemma_root: str | Path,
        spatial_upsampler_path: str | Path,
        dtype: str = "bfloat16",
        quantization: str = "none",
        max_tokens: int = DEFAULT_MAX_TOKENS,
        preview_folder: str | Path | None = None,
        is_compiled: bool = False,
    ) -> None:
        """Read the model and spread it.

        Ranks: every rank. Collectives: those of the weight tracker's first build.

        Args:
            checkpoint_path, gemma_root, spatial_upsampler_path: The pack's files.
            dtype: "bfloat16" or "float32".
            quantization: "none".
            max_tokens: Most video tokens a job may have.
            is_compiled: Compile the transformer's blocks at the first job of each size.
            preview_folder: Where the first stage's clip goes; None makes none.

        Raises:
            CheckpointError: A file cannot be read.
            JobRefusedError: The model has fewer heads than there are ranks.
        """
        if dtype == "float32":
            # Whoever asks for float32 asks for its precision, which convolutions would drop by default.
            torch.backends.cudnn.allow_tf32 = False
        registry = StateDictRegistry()
        self._checkpoint_path = Path(checkpoint_path)
        self._boundary = FleetBoundary(self.job, self.groups, self.device)
        self._pipeline = DistilledPipeline(
            checkpoint_path=checkpoint_path,
            gemma_root=gemma_root,
            spatial_upsampler_path=spatial_upsampler_path,
            registry=registry,
            quantization=quantization,
            device=self.device,
            dtype=DTYPES[dtype],
        )
        self._pipeline.on_progress = self._boundary.on_progress
        self._spread(registry, DTYPES[dtype], max_tokens, is_compiled=is_compiled)
        self.job.begin_phase(Phase.LOADING)
        self._pipeline.load()
        self._previewer, self._stage_clips = self._make_previews(preview_folder)

    def __call__(self, *, request: GenerationRequest, parameters: Mapping[str, object]) -> Iterator[JobEvent]:
        """Make one clip.

        Ranks: every rank. Collectives: the boundaries' and the transformer's.

        Args:
            request: The clip.
            parameters: For its tag and sidecar.

        Yields:
            Job events, from the first rank alone.

        Raises:
            RunnerError: Alike on all ranks: the request cannot be made, or the clip not be written.
        """
        context = ReportContext(
            parameters,
            boundary=self._boundary,
            is_first=self.rank == 0,
            previewer=self._previewer,
            stage_clips=self._stage_clips,
        )
        try:
            yield from report_clip(self._pipeline, request, context)
        except RunnerError:
            raise
        except PodiumError as error:
            # Pipelines refuse alike on all ranks: from the request and from files that all of them see.
            raise RunnerError(error.message, details=error.details) from error

    def _spread(self, registry: Registry, dtype: torch.dtype, max_tokens: int, *, is_compiled: bool) -> None:
        pipeline, is_first = self._pipeline, self.rank == 0
        inner = transformer_builder(self._checkpoint_path, registry)
        video = inner.make_empty_module().config.video
        pipeline.stage.transformer_builder = SequenceParallelBuilder(
            inner=inner,
            attn_mgr=AttentionManager(
                max_tokens, video.num_heads, video.head_dim, dtype, self.groups.transformer_group
            ),
            registry=registry,
            tracker=TransformerWeightTracker(self.groups.transformer_group, control_group=self.groups.control_group),
            is_compiled=is_compiled,
        )
        prompts, decoder = pipeline.prompt_encoder, pipeline.video_decoder
        prompts.text_encoder_builder = FirstRankTextEncoderBuilder(
            prompts.text_encoder_builder, self.groups, is_first=is_first
        )
        decoder.decoder_builder = FirstRankVideoDecoderBuilder(decoder.decoder_builder, is_first=is_first)

    def _make_previews(self, folder: str | Path | None) -> tuple[Previewer | None, StageClips | None]:
        if self.rank != 0:
            return None, None
        pipeline, placement = self._pipeline, self._pipeline.placement
        decoder = pipeline.video_decoder.decoder_builder.build(placement.device, placement.dtype)
        previewer = Previewer(fit_latent_to_rgb(decoder, placement), decoder, placement)
        if folder is None:
            return previewer, None
        return previewer, StageClips(pipeline.video_decoder, pipeline.audio_decoder, Path(folder))


if __name__ == "__main__":
    # One command line for both ways in: the command's room lies above this one, so it is run and not imported.
    sys.argv[1:1] = ["generate"]
    runpy.run_module("podium", run_name="__main__")
