"""One call of a guided pipeline, and the same call by the oracle on the same networks and noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from podium.geometry import parse_fps
from podium.jobs import GuidanceSpec, LoraSpec
from podium.media.image_conditioning import prepare_image
from podium.media.recompression import recompress_h264
from podium.media.stills import read_still
from podium.models.registry import StateDictRegistry
from podium.models.transformer.builder import transformer_builder
from podium.models.transformer.model import AVTransformer
from podium.models.upsampler import upsample, upsampler_builder
from podium.models.video_vae import video_encoder_builder, video_statistics_builder
from podium.pipelines.distilled import DistilledPipeline
from podium.pipelines.noise import SeededNoise
from podium.pipelines.ti2vid_two_stages import TI2VidTwoStagesPipeline
from podium.pipelines.ti2vid_two_stages_hq import TI2VidTwoStagesHQPipeline

from tests.fakes.guided_oracle import Picture, Stage, run_stage
from tests.tiny_pack import TinyPack

CPU = torch.device("cpu")
LATENTS = ("stage_1.video", "stage_1.audio", "upsampled", "stage_2.video", "stage_2.audio")
STAGE_2 = [0.909375, 0.725, 0.421875, 0.0]


@dataclass(frozen=True)
class Plan:
    """What the oracle is told of a call: everything that the pipeline has to find out by itself."""

    sigmas: list[float]
    guides: tuple[GuidanceSpec, GuidanceSpec]
    crf: int
    loras: tuple[tuple[LoraSpec, ...], tuple[LoraSpec, ...]]
    slots: tuple[int, ...] = ()
    samplers: tuple[str, str] = ("euler", "euler")


def make_picture(path: Path, seed: int) -> Path:
    """Write a picture of smooth random colours."""
    small = np.random.default_rng(seed).integers(0, 256, (4, 6, 3), np.uint8)
    Image.fromarray(small).resize((150, 90), Image.Resampling.BICUBIC).save(path)
    return path


def two_stages(pack: TinyPack, **changes: Any) -> TI2VidTwoStagesPipeline:
    """Return the guided pipeline on a tiny model, on the CPU, in float32 unless told otherwise."""
    arguments: dict[str, Any] = {"model_paths": pack.model_paths, "distilled_lora": (pack.distilled_lora_path, 1.0)}
    return TI2VidTwoStagesPipeline(**{**arguments, "device": CPU, "dtype": torch.float32, **changes})


def two_stages_hq(pack: TinyPack, **changes: Any) -> TI2VidTwoStagesHQPipeline:
    """Return the HQ pipeline; see `two_stages`."""
    arguments: dict[str, Any] = {"model_paths": pack.model_paths, "distilled_lora": (pack.distilled_lora_path, 1.0)}
    return TI2VidTwoStagesHQPipeline(**{**arguments, "device": CPU, "dtype": torch.float32, **changes})


def distilled(pack: TinyPack, **changes: Any) -> DistilledPipeline:
    """Return the distilled pipeline; see `two_stages`."""
    arguments: dict[str, Any] = {"model_paths": pack.model_paths, "device": CPU, "dtype": torch.float32}
    return DistilledPipeline(**{**arguments, **changes})


def traced(pipeline: Any, call: dict[str, Any]) -> dict[str, Tensor]:
    """Return what a run traces up to the second stage's latents; nothing is decoded."""
    trace: dict[str, Tensor] = {}
    for _event in pipeline.stream(**call, trace=trace.__setitem__):
        if LATENTS[-1] in trace:
            break
    return trace


class Oracle:
    """Runs calls on a tiny model without any of the pipelines' code, but for the contexts, which others check.

    Args:
        pack: The model.
        upscaler: In place of the pack's own, which doubles; the other one enlarges by a half.
        registry: Where weights are kept; one of its own by default.
    """

    def __init__(self, pack: TinyPack, upscaler: Path | None = None, registry: StateDictRegistry | None = None) -> None:
        paths = pack.model_paths
        self._paths = paths if upscaler is None else replace(paths, spatial_upsampler_path=upscaler)
        self._scale = Fraction(2) if upscaler is None else Fraction(3, 2)
        self._registry = StateDictRegistry() if registry is None else registry

    def run(self, call: dict[str, Any], plan: Plan, trace: dict[str, Tensor]) -> dict[str, Tensor]:
        """Return the latents of a call."""
        noise = SeededNoise(call["seed"])
        names = [f"context.{i}" for i in (0, 1) if f"context.{i}.video" in trace]
        contexts = [(trace[f"{name}.video"], trace[f"{name}.audio"]) for name in names]
        small = self._stage("stage_1", call, self._scale, plan)
        whole = self._stage("stage_2", call, Fraction(1), plan)
        small.sigmas, small.slots = plan.sigmas, plan.slots
        video, audio = run_stage(
            self._transformer(plan.loras[0]), small, contexts, plan.guides, noise.draw, sampler=plan.samplers[0]
        )
        larger = self._upsample(video)
        whole.sigmas, whole.video_init, whole.audio_init = STAGE_2, larger, audio
        unguided = (GuidanceSpec(), GuidanceSpec())
        fine, other = run_stage(
            self._transformer(plan.loras[1]), whole, contexts, unguided, noise.draw, sampler=plan.samplers[1]
        )
        return dict(zip(LATENTS, (video, audio, larger, fine, other), strict=True))

    def _stage(self, name: str, call: dict[str, Any], divisor: Fraction, plan: Plan) -> Stage:
        height, width, num_frames = int(call["height"] / divisor), int(call["width"] / divisor), call["num_frames"]
        fps = float(parse_fps(call["frame_rate"]))
        pictures = [
            Picture(self._encode(path, height, width, plan.crf), frame, strength)
            for path, frame, strength in call.get("images", ())
        ]
        frames, num_audio = (num_frames - 1) // 8 + 1, round(num_frames / fps * 25)
        return Stage(name, frames, height // 32, width // 32, num_frames, fps, num_audio, [], pictures)

    def _transformer(self, loras: tuple[LoraSpec, ...]) -> AVTransformer:
        builder = transformer_builder(self._paths.checkpoint_path, self._registry).with_loras(loras)
        return builder.build(CPU, torch.float32)

    @torch.inference_mode()
    def _encode(self, path: Path, height: int, width: int, crf: int) -> Tensor:
        pixels = torch.from_numpy(prepare_image(recompress_h264(read_still(path), crf), height, width))
        encoder = video_encoder_builder(self._paths.video_path, self._registry).build(CPU, torch.float32)
        return encoder.encode(pixels.permute(2, 0, 1)[None, :, None])

    @torch.inference_mode()
    def _upsample(self, latent: Tensor) -> Tensor:
        network = upsampler_builder(self._paths.spatial_upsampler_path, self._registry).build(CPU, torch.float32)
        statistics = video_statistics_builder(self._paths.video_path, self._registry).build(CPU, torch.float32)
        return upsample(latent, statistics, network)
