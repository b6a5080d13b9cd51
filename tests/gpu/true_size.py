"""Measure the distilled and the two-stage pipeline with a transformer of true size and random weights.

    python -m tests.gpu.true_size FOLDER [--devices 0] [--lora-rank 384]

writes an LTX-2.3 checkpoint of true size (about 41 GB; the VAE, vocoder and Gemma are the tiny pack's, the projection
is sized to that Gemma), starts a fleet with each shipped runner in turn, loads by the ordinary path, makes clips of 121
frames at 1024 x 1536, and prints seconds a phase and a step, memory by phase, gigabytes a second of loading, and
seconds of LoRA swaps.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from statistics import median

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from podium.geometry import ClipFormat
from podium.jobs import GenerationRequest, LorasApplied, LoraSpec, Phase, PhaseEnded, PipelineKind, RankMemory, StepDone
from podium.models.module_weights import without_weights
from podium.models.paths import ModelPaths
from podium.models.text_encoder import EmbeddingsProcessor
from podium.models.transformer.config import TransformerConfig
from podium.models.transformer.model import AVTransformer
from podium.multigpu import MGPUController, RunnerRef, preload_forkserver
from podium.pipelines.parameters import clip_parameters

from tests.gpu.random_model import random_weight
from tests.tiny_pack import write_tiny_pack

DISTILLED = RunnerRef("podium.multigpu.runners.distilled_mgpu:DistilledRunner")
TWO_STAGES = RunnerRef("podium.multigpu.runners.ti2vid_two_stages_mgpu:TI2VidTwoStagesRunner")
PREFIX = "model.diffusion_model."
# What differs from the tiny pack. Source: the configuration of the released 22 B checkpoints.
TRUE_SIZE = {
    "num_layers": 48,
    "num_attention_heads": 32,
    "attention_head_dim": 128,
    "cross_attention_dim": 4096,
    "audio_num_attention_heads": 32,
    "audio_attention_head_dim": 64,
    "audio_cross_attention_dim": 2048,
    "connector_num_layers": 8,
    "connector_num_attention_heads": 32,
    "connector_attention_head_dim": 128,
    "audio_connector_num_attention_heads": 32,
    "audio_connector_attention_head_dim": 64,
}
NUM_HIDDEN_STATES = 5
OFFICIAL_CONNECTOR_NAMES = {
    "video_connector": f"{PREFIX}video_embeddings_connector",
    "audio_connector": f"{PREFIX}audio_embeddings_connector",
    "transformer_blocks": "transformer_1d_blocks",
    "norm_q": "q_norm",
    "norm_k": "k_norm",
    "video_projection": "text_embedding_projection.video_aggregate_embed",
    "audio_projection": "text_embedding_projection.audio_aggregate_embed",
}


def true_size_shapes(config: dict[str, object]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield official names and shapes of transformer, connectors and projection."""
    with without_weights():
        transformer = AVTransformer(TransformerConfig.from_official(config))
        embeddings = EmbeddingsProcessor(config, NUM_HIDDEN_STATES)
    for name, tensor in transformer.state_dict().items():
        yield PREFIX + name, tuple(tensor.shape)
    for name, tensor in embeddings.state_dict().items():
        yield ".".join(OFFICIAL_CONNECTOR_NAMES.get(part, part) for part in name.split(".")), tuple(tensor.shape)


def write_checkpoint(folder: Path, device: torch.device) -> ModelPaths:
    """Write the pack and return its files."""
    write_tiny_pack(folder, dtype="bfloat16", parts=("ltx-2.3-tiny", "gemma3", "spatial-upscaler-x2"))
    with safe_open(folder / "ltx-2.3-tiny.safetensors", "pt") as tiny:
        metadata = tiny.metadata()
        kept = {
            key: tiny.get_tensor(key)
            for key in tiny.keys()  # noqa: SIM118 - it is no mapping
            if key.startswith(("vae.", "audio_vae.", "vocoder."))
        }
    config = json.loads(metadata["config"])
    config["transformer"] |= TRUE_SIZE
    weights = {
        name: random_weight(name, shape, device).cpu() for name, shape in true_size_shapes(config["transformer"])
    }
    path = folder / "ltx-2.3-true-size.safetensors"
    save_file({**kept, **weights}, path, metadata={**metadata, "config": json.dumps(config)})
    print(f"checkpoint: {path.stat().st_size / 1e9:.1f} GB, {sum(w.numel() for w in weights.values()) / 1e9:.2f} B")
    return ModelPaths(path, folder / "gemma3", folder / "spatial-upscaler-x2.safetensors")


def write_lora(path: Path, checkpoint: Path, rank: int, device: torch.device) -> None:
    """Write a LoRA over every linear of the blocks but the gates, as the distilled one has."""
    factors: dict[str, Tensor] = {}
    with safe_open(checkpoint, "pt") as file:
        for key in file.keys():  # noqa: SIM118
            if "transformer_blocks" not in key or not key.endswith(".weight") or "gate" in key:
                continue
            shape = file.get_slice(key).get_shape()
            if len(shape) != 2:
                continue
            stem = key.removeprefix("model.").removesuffix(".weight")
            factors[f"{stem}.lora_A.weight"] = random_weight("a", (rank, shape[1]), device).cpu()
            factors[f"{stem}.lora_B.weight"] = random_weight("b", (shape[0], rank), device).cpu() * 0.1
    save_file(factors, path, metadata={"format": "pt"})
    print(f"LoRA of rank {rank}: {path.stat().st_size / 1e9:.2f} GB, {len(factors) // 2} layers")


def run(controller: MGPUController, request: GenerationRequest, paths: ModelPaths, title: str) -> None:
    """Make one clip and print what it took."""
    request.output_path.unlink(missing_ok=True)
    request.output_path.with_suffix(".json").unlink(missing_ok=True)
    print(f"\n## {title}")
    steps: dict[Phase, list[float]] = {}
    phase: Phase | None = None
    for event in controller.stream(request=request, parameters=clip_parameters(request, paths, dtype="bfloat16")):
        if isinstance(event, StepDone) and event.sigma is not None:
            steps.setdefault(event.phase, []).append(event.duration_s)
        elif isinstance(event, PhaseEnded):
            print(f"{event.phase}: {event.duration_s:.3f} s")
            phase = event.phase
        elif isinstance(event, LorasApplied) and event.summaries:
            print(f"LoRAs: {event.summaries}")
        elif isinstance(event, RankMemory):
            after = phase or "start"
            print(
                f"  after {after}: rank {event.rank} {event.used_bytes / 1e9:.2f} GB, peak {event.peak_bytes / 1e9:.2f}"
            )
    for of_phase, durations_s in steps.items():
        print(f"{of_phase}: {len(durations_s)} steps, median {median(durations_s) * 1e3:.0f} ms, {durations_s}")


def main() -> None:
    """Write, load, run, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--devices", type=lambda text: [int(index) for index in text.split(",")], default=[0])
    parser.add_argument("--lora-rank", type=int, default=384)
    values = parser.parse_args()
    device = torch.device("cuda:0")
    values.folder.mkdir(parents=True, exist_ok=True)
    preload_forkserver()
    began_s = time.perf_counter()
    paths = write_checkpoint(values.folder, device)
    loras = [values.folder / f"lora-{name}.safetensors" for name in "ab"]
    # Two files of the larger rank would not fit beside the checkpoint on a disk of 64 GB.
    for lora, rank in zip(loras, (values.lora_rank, values.lora_rank // 3), strict=True):
        write_lora(lora, paths.checkpoint_path, rank, device)
    torch.cuda.empty_cache()
    print(f"written in {time.perf_counter() - began_s:.1f} s")
    clip = ClipFormat(1024, 1536, 121, Fraction(24))
    request = GenerationRequest("a red fox", 7, clip, values.folder / "clip.mp4")
    with started(DISTILLED, paths, values) as controller:
        run(controller, request, paths, "distilled")
        a, b = (replace(request, loras=(LoraSpec(lora, 0.8),)) for lora in loras)
        small = ClipFormat(256, 256, 25, Fraction(24))
        for title, job in (("LoRA A", a), ("no LoRA", request), ("LoRA A again", a), ("LoRA B", b)):
            run(controller, replace(job, clip=small), paths, title)
    guided = replace(request, pipeline=PipelineKind.QUALITY, negative_prompt="blurry")
    paths = replace(paths, distilled_lora_path=loras[0])
    with started(TWO_STAGES, paths, values) as controller:
        run(controller, guided, paths, "two stages, guided")


@contextmanager
def started(runner: RunnerRef, paths: ModelPaths, values: argparse.Namespace) -> Iterator[MGPUController]:
    """Start a fleet with the model loaded, and print what that took."""
    with MGPUController(runner, devices=values.devices) as controller:
        began_s = time.perf_counter()
        controller.start(
            checkpoint_path=paths.checkpoint_path,
            gemma_root=paths.gemma_root,
            spatial_upsampler_path=paths.spatial_upsampler_path,
            distilled_lora_path=paths.distilled_lora_path,
            preview_folder=values.folder,
        )
        took_s = time.perf_counter() - began_s
        num_bytes = paths.checkpoint_path.stat().st_size
        print(f"\nfleet with the model ready in {took_s:.1f} s, {num_bytes / 1e9 / took_s:.2f} GB/s")
        yield controller


if __name__ == "__main__":
    main()
