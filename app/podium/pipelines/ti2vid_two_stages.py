"""The two-stage pipeline: guided by a negative prompt and by the model's own weaker estimates, then refined.

Stage 1 makes a draft at half size, every step of it guided; the latent is enlarged, and stage 2 refines it in 3 steps
with the distilled LoRA, unguided. The clip's sound is the first stage's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch

from podium.geometry import ClipFormat
from podium.jobs import PipelineKind, Quantization
from podium.models.paths import ModelPaths
from podium.models.registry import Registry
from podium.pipelines.assembly import DistilledLora, as_lora_spec, assemble, choose_paths
from podium.pipelines.blocks.diffusion import SamplerKind
from podium.pipelines.calls import LoraLike, PathLike
from podium.pipelines.guided import GuidedPipeline
from podium.pipelines.schedules import shifted_schedule


class TI2VidTwoStagesPipeline(GuidedPipeline):
    """Makes clips from a full checkpoint and its distilled LoRA.

    Blocks with public builder slots: `prompt_encoder`, `image_conditioner`, `stage_1`, `stage_2`, `upsampler`,
    `video_decoder`, `audio_decoder`; how the forwards of a guided step are run is a slot of `stage_1`.

    Args:
        checkpoint_path: The monolith.
        distilled_lora: What stage 2 refines with, and how strongly.
        spatial_upsampler_path: The x2 or x1.5 upscaler.
        gemma_root: The Gemma 3 folder.
        loras: The LoRA set of jobs that name none; fused in both stages.
        registry: Where loaded weights are kept; one of its own by default.
        quantization: "none", "fp8-cast" or "fp8-scaled".
        device: Where everything runs; the machine's accelerator by default, else the CPU.
        dtype: Of weights and activations.
        model_paths: In place of checkpoint and Gemma folder, and of the upscaler's path unless that is given: a split
            pack's files.

    Attributes:
        on_progress: Called between tensors with (bytes read, bytes to read) while weights are read; what it raises
            ends the job, and nothing half-read is kept.

    Raises:
        ValueError: `quantization` is none of those named, or a path is missing.
        CheckpointError: The Gemma folder holds no weights.
    """

    kind = PipelineKind.QUALITY
    sampler = SamplerKind.EULER

    def __init__(  # noqa: PLR0913 - the published signature
        self,
        *,
        distilled_lora: LoraLike,
        checkpoint_path: PathLike | None = None,
        gemma_root: PathLike | None = None,
        spatial_upsampler_path: PathLike | None = None,
        loras: Iterable[LoraLike] = (),
        registry: Registry | None = None,
        quantization: Quantization | str = Quantization.NONE,
        device: torch.device | None = None,
        dtype: torch.dtype = torch.bfloat16,
        model_paths: ModelPaths | None = None,
    ) -> None:
        paths = choose_paths(model_paths, checkpoint_path, gemma_root, spatial_upsampler_path)
        model = assemble(paths, registry=registry, quantization=quantization, device=device, dtype=dtype)
        distilled = as_lora_spec(distilled_lora)
        super().__init__(model, loras, DistilledLora(distilled, (0.0, distilled.strength)))

    def _sigmas(self, num_steps: int, draft_clip: ClipFormat) -> Sequence[float]:
        del draft_clip  # the same whatever the size
        return shifted_schedule(num_steps)
