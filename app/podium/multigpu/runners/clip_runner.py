"""What the runners of all pipelines have in common: the pipeline of one GPU, its builders spread over the ranks.

The transformer's tokens are shared out, or tiles of the second stage; all ranks decode tiles of the picture; the first
one encodes prompts for all, blends, writes and reports.
"""

from __future__ import annotations

import runpy
import sys
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import ClassVar, Generic, Protocol, TypedDict, TypeVar

import torch
import torch.distributed as dist

from podium.errors import PodiumError
from podium.heap import give_back_freed
from podium.jobs import DurationRequest, EnhanceRequest, GenerationRequest, JobEvent, Phase, PipelineKind
from podium.models.builder import SingleGPUModelBuilder
from podium.models.duration_head import duration_head_builder
from podium.models.paths import ModelPaths
from podium.models.registry import Registry, StateDictRegistry
from podium.models.tiling import TileCountConfig
from podium.models.transformer.model import AVTransformer
from podium.models.weight_reader import OnProgress
from podium.multigpu.agreement import agree_every
from podium.multigpu.attention import AttentionManager
from podium.multigpu.boundary import FleetBoundary
from podium.multigpu.errors import RunnerError
from podium.multigpu.gemma_builders import AccelerateGemmaBuilder
from podium.multigpu.guidance_planner import GuidanceMode
from podium.multigpu.links import LinkKind
from podium.multigpu.runner import MGPURunner
from podium.multigpu.sequence_layout import DEFAULT_MAX_TOKENS, check_num_tokens
from podium.multigpu.sp_builder import SequenceParallelBuilder
from podium.multigpu.tdp_builder import TiledDataParallelBuilder
from podium.multigpu.vae_builders import DistributedDecoderBuilder, decoder_tiling
from podium.multigpu.weight_tracker import TransformerWeightTracker
from podium.pipelines.blocks.decoding import AudioDecoder, VideoDecoder
from podium.pipelines.blocks.diffusion import DiffusionStage
from podium.pipelines.blocks.placement import Placement
from podium.pipelines.blocks.prompts import PromptEncoder
from podium.pipelines.duration import predict_duration
from podium.pipelines.enhancement import enhance_prompt
from podium.pipelines.events import PipelineEvent
from podium.pipelines.previews import Previewer, fit_latent_to_rgb
from podium.pipelines.prompt_cache import PromptCache
from podium.pipelines.report import ReportContext, report_clip
from podium.pipelines.stage_clips import StageClips

DTYPES = {"bfloat16": torch.bfloat16, "float32": torch.float32}
ATTENTION_BACKEND = "torch-sdpa"
"""What computes attention, as it is kept with a clip."""


class ClipPipeline(Protocol):
    """What a runner asks of a pipeline."""

    placement: Placement
    prompt_encoder: PromptEncoder
    video_decoder: VideoDecoder
    audio_decoder: AudioDecoder
    on_progress: OnProgress | None

    @property
    def stream(self) -> Callable[..., Generator[PipelineEvent, None, None]]:
        """Return the call that yields the events of one clip."""
        ...

    def load(self) -> None:
        """Read the weights."""
        ...


P = TypeVar("P", bound=ClipPipeline)


class PipelineArguments(TypedDict):
    """What every pipeline's constructor takes by keyword, beside what is its own."""

    model_paths: ModelPaths
    registry: Registry
    quantization: str
    device: torch.device
    dtype: torch.dtype


@dataclass(frozen=True, slots=True)
class TransformerSpread:
    """Makes the builders that spread one transformer over the ranks; all of them share its weights.

    Args:
        group: The ranks.
        attn_mgr: Exchanges between them.
        registry: This process's loaded weights.
        tracker: Owns the working copy.
        is_compiled: Have the blocks compiled at the first forward of each shape.
    """

    group: dist.ProcessGroup = field(repr=False)
    attn_mgr: AttentionManager = field(repr=False)
    registry: Registry = field(repr=False)
    tracker: TransformerWeightTracker = field(repr=False)
    is_compiled: bool

    def by_tokens(self, inner: SingleGPUModelBuilder[AVTransformer]) -> SequenceParallelBuilder:
        """Return the builder of a stage whose tokens are shared out."""
        return SequenceParallelBuilder(
            inner=inner,
            attn_mgr=self.attn_mgr,
            registry=self.registry,
            tracker=self.tracker,
            is_compiled=self.is_compiled,
        )

    def by_tiles(
        self, inner: SingleGPUModelBuilder[AVTransformer], tiling: TileCountConfig
    ) -> TiledDataParallelBuilder:
        """Return the builder of a stage in tiles."""
        return TiledDataParallelBuilder(
            inner=inner,
            group=self.group,
            tiling=tiling,
            registry=self.registry,
            tracker=self.tracker,
            is_compiled=self.is_compiled,
        )


class ClipRunner(MGPURunner, Generic[P]):
    """Makes clips with one pipeline on every rank of a fleet."""

    kind: ClassVar[PipelineKind]

    def setup(  # noqa: PLR0913 - the published keywords
        self,
        *,
        checkpoint_path: str | Path,
        gemma_root: str | Path,
        spatial_upsampler_path: str | Path,
        distilled_lora_path: str | Path | None = None,
        video_vae_path: str | Path | None = None,
        audio_vae_path: str | Path | None = None,
        duration_head_path: str | Path | None = None,
        dtype: str = "bfloat16",
        quantization: str = "none",
        max_tokens: int = DEFAULT_MAX_TOKENS,
        preview_folder: str | Path | None = None,
        is_compiled: bool = False,
        guidance_mode: str = "auto",
    ) -> None:
        """Read the model and spread it.

        Ranks: every rank. Collectives: those of the weight tracker's and the text encoder's first build.

        Args:
            checkpoint_path, gemma_root, spatial_upsampler_path: The pack's files; of a split pack the transformer's and
                the text encoder's.
            distilled_lora_path: Guided pipelines need it.
            video_vae_path, audio_vae_path, duration_head_path: Of a split pack.
            dtype: "bfloat16" or "float32".
            quantization: "none", "fp8-cast" or "fp8-scaled".
            max_tokens: Most video tokens a job may have.
            preview_folder: Where the first stage's clip goes; None makes none.
            is_compiled: Compile the transformer's blocks at the first job of each size.
            guidance_mode: How the forwards of a guided step run: one of `GuidanceMode`.

        Raises:
            CheckpointError: A file cannot be read, or the distilled LoRA is missing.
            JobRefusedError: The model has fewer heads than there are ranks.
        """
        if dtype == "float32":
            # Whoever asks for float32 asks for its precision, which convolutions would drop by default.
            torch.backends.cudnn.allow_tf32 = False
        named = (distilled_lora_path, video_vae_path, audio_vae_path, duration_head_path)
        self._paths = ModelPaths(
            Path(checkpoint_path),
            Path(gemma_root),
            Path(spatial_upsampler_path),
            *(None if path is None else Path(path) for path in named),
        )
        self._open_pipeline(quantization, DTYPES[dtype])
        self._spread_prompts(DTYPES[dtype])
        self._max_tokens = max_tokens
        self._guidance_mode = GuidanceMode(guidance_mode)
        self._spread_transformer(DTYPES[dtype], is_compiled=is_compiled)
        self._spread_decoder()
        self.job.begin_phase(Phase.LOADING)
        self._pipeline.load()
        self._previewer, self._stage_clips = self._make_previews(preview_folder)

    def __call__(
        self,
        *,
        request: GenerationRequest | None = None,
        parameters: Mapping[str, object] | None = None,
        enhance: EnhanceRequest | None = None,
        duration: DurationRequest | None = None,
        is_exercise: bool = False,
    ) -> Iterator[JobEvent]:
        """Make one clip, write one prompt out, or tell how long a clip a prompt asks for.

        Ranks: every rank. Collectives: the boundaries', and those of the builders.

        Args:
            request: The clip.
            parameters: For its tag and sidecar; how the fleet made it is added.
            enhance: The prompt to write out; `PromptEnhanced` comes last.
            duration: The prompt to tell the length of; `DurationPredicted` comes last.
            is_exercise: See that every rank reaches its device and the others.

        Yields:
            Job events, from the first rank alone.

        Raises:
            RunnerError: Alike on all ranks: the request cannot be made, or the clip not be written.
        """
        if is_exercise:
            self._exercise()
        try:
            if enhance is not None:
                encoder = self._pipeline.prompt_encoder
                yield from enhance_prompt(encoder, enhance, self._boundary, is_first=self.rank == 0)
            if duration is not None:
                yield from self._predict_duration(duration)
            if request is not None:
                yield from self._make_clip(request, parameters or {})
        except RunnerError:
            raise
        except PodiumError as error:
            # Pipelines refuse alike on all ranks: from the request and from files that all of them see.
            raise RunnerError(error.message, details=error.details) from error

    def _exercise(self) -> None:
        # Ranks: every rank. Collectives: one sum over the transformer group.
        count = torch.ones(1, device=self.device)
        dist.all_reduce(count, group=self.groups.transformer_group)
        if int(count.item()) != self.world_size:
            raise RuntimeError(f"{self.world_size} ranks counted themselves as {count.item()}")

    def _open_pipeline(self, quantization: str, dtype: torch.dtype) -> None:
        self._registry = StateDictRegistry()
        self._boundary = FleetBoundary(self.job, self.groups, self.device)
        self._pipeline = self._make_pipeline(
            {
                "model_paths": self._paths,
                "registry": self._registry,
                "quantization": quantization,
                "device": self.device,
                "dtype": dtype,
            }
        )
        self._pipeline.on_progress = self._boundary.on_progress

    @abstractmethod
    def _make_pipeline(self, arguments: PipelineArguments) -> P:
        """Return the pipeline of one GPU; nothing is read yet.

        Ranks: every rank, local.
        """

    @abstractmethod
    def _spread_stages(self, spread: TransformerSpread) -> None:
        """Put multi-GPU builders into the slots of the pipeline's stages.

        Ranks: every rank. Collectives: those that make the teams of guided steps; none where steps are not guided.
        """

    @abstractmethod
    def _any_stage(self) -> DiffusionStage:
        """Return a stage, whose transformer tells the size of the exchange between ranks."""

    def _arrange(self, request: GenerationRequest) -> Mapping[str, object]:
        """Make the stages ready for a request; return what is to be kept of that with the clip.

        Ranks: every rank, local; alike on all.

        Raises:
            RunnerError: Alike on all ranks: the request cannot be made here.
        """
        del request
        return {}

    def _make_clip(self, request: GenerationRequest, parameters: Mapping[str, object]) -> Iterator[JobEvent]:
        if request.pipeline is not self.kind:
            raise RunnerError(
                f"This fleet was started for the pipeline “{self.kind}”, and the clip is for “{request.pipeline}”. "
                "Start a fleet for that one."
            )
        num_pictures = sum(image.frame != 0 for image in request.images)
        check_num_tokens(request.clip, self._max_tokens, num_pictures=num_pictures)
        made_with = {"attention_backend": ATTENTION_BACKEND, **self._arrange(request)}
        context = ReportContext(
            {**parameters, **made_with},
            boundary=self._boundary,
            is_first=self.rank == 0,
            previewer=self._previewer,
            stage_clips=self._stage_clips,
        )
        yield from report_clip(self._pipeline, request, context)
        # Milliseconds, between two jobs: what this one left free would not fit the next one's pieces, and grow.
        give_back_freed()

    def _predict_duration(self, request: DurationRequest) -> Iterator[JobEvent]:
        head = duration_head_builder(self._paths.duration_path, self._registry)
        return predict_duration(self._pipeline.prompt_encoder, head, request, self._boundary, is_first=self.rank == 0)

    def _spread_prompts(self, dtype: torch.dtype) -> None:
        groups, prompts = self.groups, self._pipeline.prompt_encoder
        prompts.text_encoder_builder = AccelerateGemmaBuilder(
            self._paths.gemma_root,
            groups.gemma_group,
            groups.transformer_group,
            self._registry,
            src_rank=0,
            dtype=dtype,
            control_group=groups.control_group,
        )
        prompts.cache = PromptCache(agree=partial(agree_every, group=groups.control_group))

    def _spread_transformer(self, dtype: torch.dtype, *, is_compiled: bool) -> None:
        group = self.groups.transformer_group
        video = single_gpu_builder(self._any_stage()).make_empty_module().config.video
        spread = TransformerSpread(
            group,
            AttentionManager(
                self._max_tokens,
                video.num_heads,
                video.head_dim,
                dtype,
                group,
                sends_values_ahead=self.groups.links.get(self.world_size) in (LinkKind.PEER, LinkKind.HOST),
            ),
            self._registry,
            TransformerWeightTracker(group, control_group=self.groups.control_group),
            is_compiled,
        )
        self._spread_stages(spread)

    def _spread_decoder(self) -> None:
        decoder = self._pipeline.video_decoder
        # For previews, which the first rank decodes by itself.
        self._own_decoder = decoder.with_builder(decoder.decoder_builder)
        decoder.decoder_builder = DistributedDecoderBuilder(
            inner=decoder.decoder_builder,
            queue=None,
            vae_group=self.groups.vae_group,
            vae_tiling=decoder_tiling(self.world_size),
            driver_rank=0,
            registry=self._registry,
        )

    def _make_previews(self, folder: str | Path | None) -> tuple[Previewer | None, StageClips | None]:
        if self.rank != 0:
            return None, None
        pipeline, placement = self._pipeline, self._pipeline.placement
        decoder = self._own_decoder.decoder_builder.build(placement.device, placement.dtype)
        previewer = Previewer(fit_latent_to_rgb(decoder, placement), decoder, placement)
        if folder is None:
            return previewer, None
        return previewer, StageClips(self._own_decoder, pipeline.audio_decoder, Path(folder))


def single_gpu_builder(stage: DiffusionStage) -> SingleGPUModelBuilder[AVTransformer]:
    """Return what a pipeline has put into a stage's slot itself."""
    builder = stage.transformer_builder
    assert isinstance(builder, SingleGPUModelBuilder), "a pipeline of one GPU builds its transformer by itself"
    return builder


def run_command(kind: PipelineKind) -> None:
    """Run `podium generate` for one pipeline with this process's arguments; for the runners' own modules.

    Ranks: driver.
    """
    # One command line for all ways in: the command's room lies above this one, so it is run and not imported.
    sys.argv[1:1] = ["generate", "--pipeline", kind.value]
    runpy.run_module("podium", run_name="__main__")
