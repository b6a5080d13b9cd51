"""What a rank holds beside weights while it computes, by phase: arithmetic from sizes. No torch.

Each figure counts the tensors that are alive at once where most are, as seen on an H200 with layers of true size
(`python -m tests.gpu.measure_memory`); the tests count those of a forward again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from podium.geometry import ClipFormat, LatentGrid
from podium.jobs import GenerationRequest, GuidanceMode, GuidanceSpec, PipelineKind, Quantization, count_passes
from podium.models.decode_plan import DecodePlan, plan_decoding
from podium.models.pack import DecoderKind
from podium.models.tile_layout import TileSizeConfig
from podium.multigpu.decoder_tiling import decoder_tiling
from podium.multigpu.memory_parts import ModelMemory
from podium.multigpu.sequence_layout import num_frames_behind

BUCKET_BYTES = 256 << 20
"""What one broadcast of weights carries at most; see `TransformerWeightTracker`."""

MAX_PROMPT_TOKENS = 1024

_FLOAT32_BYTES = 4
_LATENT_CHANNELS = 128
# In tensors [tokens, width] of the video stream. Of every sample: where the feed-forward layer is at its widest, or on
# several ranks the exchange of queries, keys and values; what tokens of unlike noise levels have beside, nine rows of
# modulation each. Once: rotary tables.
_FORWARD, _SPREAD, _UNLIKE, _ROPES = 11.2, 15.2, 9.0, 1.7
# States, noise, estimates and velocities in float32, alike on all ranks.
_NUM_STATES = 8
# fp8 back to a full type: codes in it, or codes in float32, their product with the scale, and that in it.
_DEQUANTISED_BYTES = {Quantization.FP8_CAST: 0, Quantization.FP8_SCALED: 8}
_ROUNDING_BYTES = 64 << 20
_FACTORS_BYTES = 256 << 20
# Numbers a pixel of a frame (decoder), a pixel of a picture (encoder), a channel of a latent cell (upscaler); the
# workspace of convolutions is among them.
_DECODED, _ENCODED, _ENLARGED = 60, 125, 6.2
# The diffusion decoder goes frame by frame: bytes a pixel of one frame.
_DIFFUSION_DECODED_BYTES = 2900
_VOCODED_BYTES_PER_S = 433_000 * 100
# Hidden states of a prompt: as layers and stacked; their squares, normed, flattened and scaled.
_HIDDEN_STATES = 4


@dataclass(frozen=True, slots=True)
class PlannedJob:
    """What a clip's memory hangs on.

    Args:
        clip: Format of the finished clip.
        num_ranks: Of the fleet.
        pipeline: The way to make it.
        num_images: Conditioning pictures.
        num_loras: LoRAs of the set; the distilled one of guided pipelines is not among them.
        num_prompt_tokens: Of the longest prompt.
        num_batched: Forwards of a guided step that run as one batch, or at the same time on teams of ranks, which takes
            a rank as much.
    """

    clip: ClipFormat
    num_ranks: int
    pipeline: PipelineKind = PipelineKind.FAST
    num_images: int = 0
    num_loras: int = 0
    num_prompt_tokens: int = MAX_PROMPT_TOKENS
    num_batched: int = 1

    @classmethod
    def of(cls, request: GenerationRequest, num_ranks: int, num_prompt_tokens: int = MAX_PROMPT_TOKENS) -> PlannedJob:
        """Return what a request's memory hangs on; its guidance filled in, where it is to be batched or spread."""
        # Key frames that the model makes itself take the room of as many pictures behind the first frame.
        num_behind = num_frames_behind(request)
        guided = (request.video_guidance or GuidanceSpec(), request.audio_guidance or GuidanceSpec())
        return cls(
            request.clip,
            num_ranks,
            request.pipeline,
            num_images=num_behind + 1 if num_behind else len(request.images),
            num_loras=len(request.loras),
            # How long the negative one is nobody counted.
            num_prompt_tokens=MAX_PROMPT_TOKENS if request.negative_prompt else num_prompt_tokens,
            num_batched=num_forwards_together(request.guidance_mode, *guided),
        )

    @property
    def num_prompts(self) -> int:
        """Return how many prompts are encoded: guided pipelines have a negative one."""
        return 2 if self.pipeline.is_guided else 1

    @property
    def swaps(self) -> bool:
        """Return whether LoRAs are fused."""
        return self.num_loras > 0 or self.pipeline.is_guided


def num_forwards_together(mode: GuidanceMode, video: GuidanceSpec, audio: GuidanceSpec) -> int:
    """Return how many forwards of a guided step run at once; what is chosen by itself is chosen so that it fits."""
    return count_passes(video, audio) if mode in (GuidanceMode.BATCHED, GuidanceMode.MESH) else 1


def forward_bytes(model: ModelMemory, job: PlannedJob, grid: LatentGrid, *, num_batched: int = 1) -> int:
    """Return what a rank holds in a step of the transformer.

    Args:
        grid: The stage's latent grid.
        num_batched: Forwards that run as one batch.
    """
    states = num_stage_tokens(job, grid) * _LATENT_CHANNELS * _FLOAT32_BYTES * _NUM_STATES
    within = hidden_bytes(model, job, grid, num_batched=num_batched)
    return within + rope_bytes(model, share_of(job, grid)) + states


def num_stage_tokens(job: PlannedJob, grid: LatentGrid) -> int:
    """Return the video tokens of a stage: a picture that is not the first frame appends as many as a frame has."""
    return grid.num_tokens + max(0, job.num_images - 1) * grid.height * grid.width


def share_of(job: PlannedJob, grid: LatentGrid) -> int:
    """Return the video tokens of a stage that each rank has."""
    return math.ceil(num_stage_tokens(job, grid) / job.num_ranks)


def hidden_bytes(model: ModelMemory, job: PlannedJob, grid: LatentGrid, *, num_batched: int = 1) -> int:
    """Return what a forward makes and lets go of by itself, on a rank."""
    of_sample = (_FORWARD if job.num_ranks == 1 else _SPREAD) + (_UNLIKE if job.num_images else 0)
    hidden = share_of(job, grid) * model.video_dim * model.item_bytes * num_batched * of_sample
    return round(hidden) + dequantised_bytes(model)


def rope_bytes(model: ModelMemory, num_tokens: int) -> int:
    """Return what the rotary tables of so many tokens take."""
    return round(num_tokens * model.video_dim * model.item_bytes * _ROPES)


def dequantised_bytes(model: ModelMemory) -> int:
    """Return what bringing the largest weight back from fp8 takes."""
    if model.quantization is Quantization.NONE:
        return 0
    return model.largest_weight * (model.item_bytes + _DEQUANTISED_BYTES[model.quantization])


def encoding_bytes(model: ModelMemory, job: PlannedJob) -> int:
    """Return what a rank holds while prompts are encoded."""
    of_prompt = job.num_prompt_tokens * model.features_dim * model.item_bytes
    return of_prompt * (_HIDDEN_STATES + job.num_prompts - 1)


def image_bytes(model: ModelMemory, job: PlannedJob) -> int:
    """Return what a rank holds while a conditioning picture is encoded."""
    return _ENCODED * model.item_bytes * job.clip.height * job.clip.width if job.num_images else 0


def swap_bytes(model: ModelMemory, job: PlannedJob, *, is_clean_on_host: bool) -> int:
    """Return what fusing LoRAs takes on a rank: see `FactorFeed` and `ShardedSD.broadcast`."""
    if not job.swaps:
        return 0
    passing = model.largest_weight * model.item_bytes if is_clean_on_host else 0
    rounding = 0 if model.quantization is Quantization.NONE else _ROUNDING_BYTES
    spare = max(passing + rounding, BUCKET_BYTES if job.num_ranks > 1 else 0)
    return model.largest_weight * _FLOAT32_BYTES + _FACTORS_BYTES + spare


def upsampling_bytes(model: ModelMemory, job: PlannedJob) -> int:
    """Return what a rank holds while the latent is enlarged."""
    return round(job.clip.latent_grid.num_tokens * model.upsampler_channels * model.item_bytes * _ENLARGED)


def decoding_bytes(model: ModelMemory, job: PlannedJob, rank: int) -> int:
    """Return what a rank holds while the clip is decoded; the first one also makes the sound and blends."""
    clip = job.clip
    sound = math.ceil(float(clip.duration_s) * _VOCODED_BYTES_PER_S) if rank == 0 else 0
    if model.decoder is DecoderKind.DIFFUSION:
        pictures = clip.height * clip.width * _DIFFUSION_DECODED_BYTES if rank == 0 else 0
        return max(sound, pictures * model.item_bytes // 2)
    plan = _decode_plan(clip.latent_grid, job.num_ranks)
    largest = max((math.prod(piece.size) for piece in plan.pieces_of(rank)), default=0)
    tile = _DECODED * model.item_bytes * largest
    return max(sound, tile + (_blend_bytes(plan, clip) if rank == 0 else 0))


@lru_cache(maxsize=64)
def _decode_plan(grid: LatentGrid, num_ranks: int) -> DecodePlan:
    # The same for every rank and for every place where parts may live.
    return plan_decoding(grid, TileSizeConfig(), decoder_tiling(num_ranks), num_ranks)


def _blend_bytes(plan: DecodePlan, clip: ClipFormat) -> int:
    # Sums of the frames that are begun, in three colours. The other ranks' tiles come when the own one is decoded, and
    # find its room.
    return 0 if plan.is_whole else plan.window * clip.height * clip.width * 3 * _FLOAT32_BYTES
