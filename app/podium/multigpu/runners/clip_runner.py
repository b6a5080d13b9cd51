"""What the runners of all pipelines have in common: the pipeline of one GPU, its builders spread over the ranks.

The transformer's tokens are shared out, or tiles of the second stage; all ranks decode tiles of the picture; the first
one encodes prompts for all, blends, writes and reports.
"""

from __future__ import annotations

import runpy
import sys
import time
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypedDict, TypeVar

import torch
import torch.distributed as dist

from podium.errors import PodiumError
from podium.heap import give_back_freed
from podium.jobs import (
    DurationRequest,
    EnhanceRequest,
    GenerationRequest,
    JobEvent,
    Phase,
    PhaseEnded,
    PhaseStarted,
    PipelineKind,
)
from podium.models.builder import SingleGPUModelBuilder
from podium.models.duration_head import duration_head_builder
from podium.models.paths import ModelPaths
from podium.models.registry import Registry, StateDictRegistry
from podium.models.residency import Place, ResidencyPlan
from podium.models.transformer.replay import ForwardReplays
from podium.models.video_vae import video_encoder_builder
from podium.multigpu.agreement import agree_every
from podium.multigpu.attention import AttentionManager
from podium.multigpu.boundary import FleetBoundary
from podium.multigpu.decoder_tiling import decoder_tiling
from podium.multigpu.errors import RunnerError
from podium.multigpu.gemma_builders import AccelerateGemmaBuilder
from podium.multigpu.links import LinkKind
from podium.multigpu.residence import Residence
from podium.multigpu.runner import MGPURunner
from podium.multigpu.sequence_layout import DEFAULT_MAX_TOKENS, check_num_tokens, num_frames_behind
from podium.multigpu.transformer_spread import TransformerSpread, make_replays, single_gpu_builder
from podium.multigpu.vae_builders import DistributedDecoderBuilder
from podium.multigpu.waiting import ResidentBuilder
from podium.multigpu.weight_tracker import TransformerWeightTracker
from podium.pipelines.assembly import Loadable
from podium.pipelines.blocks.diffusion import DiffusionStage
from podium.pipelines.blocks.slots import BuilderSlot, FrameDecoder
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


class ClipPipeline(Loadable, Protocol):
    """What a runner asks of a pipeline."""

    @property
    def stream(self) -> Callable[..., Generator[PipelineEvent, None, None]]:
        """Return the call that yields the events of one clip."""
        ...


P = TypeVar("P", bound=ClipPipeline)


class PipelineArguments(TypedDict):
    """What every pipeline's constructor takes by keyword, beside what is its own."""

    model_paths: ModelPaths
    registry: Registry
    quantization: str
    device: torch.device
    dtype: torch.dtype


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
        residency: ResidencyPlan | None = None,
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
            residency: Where the parts of the model live; None keeps all of them on the devices.

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
        self._max_tokens = max_tokens
        self._replays = self._make_replays()
        text_encoder = self._spread_prompts(DTYPES[dtype])
        tracker = self._spread_transformer(DTYPES[dtype], is_compiled=is_compiled)
        decoders = self._settle_decoders()
        self._spread_decoder()
        self._residence = Residence(text_encoder, decoders, tracker, self._pipeline.placement)
        self._residence.follow(residency or ResidencyPlan())
        self.job.begin_phase(Phase.LOADING)
        self._pipeline.load()
        self._previewer, self._stage_clips = self._make_previews(preview_folder)
        self._give_back_loaded()

    def __call__(
        self,
        *,
        request: GenerationRequest | None = None,
        parameters: Mapping[str, object] | None = None,
        enhance: EnhanceRequest | None = None,
        duration: DurationRequest | None = None,
        is_exercise: bool = False,
        residency: ResidencyPlan | None = None,
    ) -> Iterator[JobEvent]:
        """Make one clip, write one prompt out, or tell how long a clip a prompt asks for.

        Ranks: every rank. Collectives: the boundaries', and those of the builders.

        Args:
            request: The clip.
            parameters: For its tag and sidecar; how the fleet made it is added.
            enhance: The prompt to write out; `PromptEnhanced` comes last.
            duration: The prompt to tell the length of; `DurationPredicted` comes last.
            is_exercise: See that every rank reaches its device and the others.
            residency: Where the parts of the model live from now on; None leaves them where they are.

        Yields:
            Job events, from the first rank alone.

        Raises:
            RunnerError: Alike on all ranks: the request cannot be made, or the clip not be written.
        """
        if is_exercise:
            self._exercise()
        try:
            if residency is not None:
                yield from self._move_parts(residency)
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

    def close(self) -> None:
        """Forget the recorded forwards: NCCL waits for those that still hold its collectives."""
        if self._replays is not None:
            self._replays.clear()

    def _move_parts(self, residency: ResidencyPlan) -> Iterator[JobEvent]:
        # Ranks: every rank. Collectives: those of reading what is not there yet.
        if residency == self._residence.plan:
            return
        began_s = time.perf_counter()
        self.job.begin_phase(Phase.LOADING)
        if self.rank == 0:
            yield PhaseStarted(Phase.LOADING)
        if self._previewer is not None:
            # It has a decoder of its own, which no plan counts where decoders only visit.
            self._previewer.use_decoder(None)
        self._residence.follow(residency)
        self._residence.preload(self._boundary.on_progress)
        if self._previewer is not None:
            self._previewer.use_decoder(self._preview_decoder())
        self._give_back_loaded()
        if self.rank == 0:
            yield PhaseEnded(Phase.LOADING, time.perf_counter() - began_s)

    def _give_back_loaded(self) -> None:
        # What reading took beside what was read: the first job's pieces would not fit it, and come on top.
        give_back_freed()
        if self.device.type != "cpu":
            torch.accelerator.empty_cache()

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
        check_num_tokens(request.clip, self._max_tokens, num_pictures=num_frames_behind(request))
        if self._replays is not None:
            self._replays.begin_job(request.clip)
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

    def _spread_prompts(self, dtype: torch.dtype) -> AccelerateGemmaBuilder:
        groups, prompts = self.groups, self._pipeline.prompt_encoder
        builder = AccelerateGemmaBuilder(
            self._paths.gemma_root,
            groups.gemma_group,
            groups.transformer_group,
            self._registry,
            src_rank=0,
            dtype=dtype,
            control_group=groups.control_group,
        )
        prompts.text_encoder_builder = builder
        prompts.cache = PromptCache(agree=partial(agree_every, group=groups.control_group))
        return builder

    def _settle_decoders(self) -> dict[str, ResidentBuilder[Any]]:
        """Have the networks that a plan may send away built by builders that know where their weights are."""
        pipeline = self._pipeline
        prompts, upsampler = pipeline.prompt_encoder, pipeline.upsampler
        video, audio = pipeline.video_decoder, pipeline.audio_decoder
        prompts.embeddings_builder = embeddings = self._resident(prompts.embeddings_builder)
        upsampler.upsampler_builder = enlarging = self._resident(upsampler.upsampler_builder)
        video.decoder_builder = picture = self._resident(video.decoder_builder)
        audio.decoder_builder = sound = self._resident(audio.decoder_builder)
        audio.vocoder_builder = vocoder = self._resident(audio.vocoder_builder)
        return {
            "connectors": embeddings,
            "upsampler": enlarging,
            "video decoder": picture,
            "audio decoder": sound,
            "vocoder": vocoder,
        }

    def _resident(self, slot: BuilderSlot[Any]) -> ResidentBuilder[Any]:
        assert isinstance(slot, SingleGPUModelBuilder), "a pipeline of one GPU builds its networks by itself"
        return ResidentBuilder(slot, self._registry, self._pipeline.placement)

    def _spread_transformer(self, dtype: torch.dtype, *, is_compiled: bool) -> TransformerWeightTracker:
        group = self.groups.transformer_group
        tracker = TransformerWeightTracker(group, control_group=self.groups.control_group)
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
            tracker,
            is_compiled,
            self._replays,
        )
        self._spread_stages(spread)
        return tracker

    def _make_replays(self) -> ForwardReplays | None:
        return make_replays(self.groups, self.device)

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
        # Not kept: jobs without pictures need none.
        encoder = video_encoder_builder(self._paths.video_path).build(placement.device, placement.dtype)
        to_rgb = fit_latent_to_rgb(encoder, placement)
        del encoder
        previewer = Previewer(to_rgb, self._preview_decoder(), placement)
        if folder is None:
            return previewer, None
        return previewer, StageClips(self._own_decoder, pipeline.audio_decoder, Path(folder))

    def _preview_decoder(self) -> FrameDecoder | None:
        # Frames of steps come at any moment, and a decoder that only visits is there when a clip is decoded.
        if self._residence.plan.decoders is not Place.DEVICE:
            return None
        placement = self._pipeline.placement
        return self._own_decoder.decoder_builder.build(placement.device, placement.dtype)


def run_command(kind: PipelineKind) -> None:
    """Run `podium generate` for one pipeline with this process's arguments; for the runners' own modules.

    Ranks: driver.
    """
    # One command line for all ways in: the command's room lies above this one, so it is run and not imported.
    sys.argv[1:1] = ["generate", "--pipeline", kind.value]
    runpy.run_module("podium", run_name="__main__")
