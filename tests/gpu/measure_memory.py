"""Measure what ranks hold on their GPUs beside weights, and print it beside what the memory plan says.

    python -m tests.gpu.measure_memory [--num-gpus 2]

The layers are of true size with random weights: two blocks of the transformer, the video decoder, the upscaler and the
vocoder. What is used on a whole GPU counts, so nothing else may use it.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import torch
import torch.distributed as dist

from podium.geometry import ClipFormat
from podium.jobs import Quantization
from podium.models.pack import DecoderKind
from podium.models.residency import ModelPart
from podium.models.transformer.inputs import Timesteps
from podium.multigpu import MGPURunner
from podium.multigpu.attention import AttentionManager
from podium.multigpu.memory_activations import PlannedJob, decoding_bytes, forward_bytes, upsampling_bytes
from podium.multigpu.memory_parts import ModelMemory
from podium.multigpu.memory_plan import CONTEXT_BYTES, LINK_BYTES
from podium.multigpu.sp_builder import SequenceParallelTransformer

from tests.gpu.bench import Bench, pids_on_gpus
from tests.gpu.random_model import DTYPE, TRUE, random_builder, random_inputs
from tests.gpu.random_networks import Networks, random_latent, random_mel, random_networks

RUNNER = "tests.gpu.measure_memory:MemoryRunner"
SCALE = replace(TRUE, num_layers=2)
CLIPS = (*reversed(TRUE.clips), ClipFormat(1088, 1920, 241, Fraction(24)))
MODEL = ModelMemory(
    item_bytes=2,
    quantization=Quantization.NONE,
    transformer_bytes={},
    largest_weight=4096 * 16384,
    part_bytes=dict.fromkeys(ModelPart, 0),
    text_block_bytes=0,
    text_embedding_bytes=0,
    features_dim=3840 * 49,
    video_dim=4096,
    upsampler_channels=1024,
    decoder=DecoderKind.CONVOLUTIONAL,
    spatial_scale=2.0,
)
Row = tuple[int, str, float, float, float, float]


class MemoryRunner(MGPURunner):
    """Runs one thing after another and says what each took."""

    def setup(self, *, is_small: bool, folder: Path) -> None:
        assert not is_small, "on the CPU there is nothing to see"
        self._total = torch.cuda.mem_get_info(self.device)[1]
        self._folder = folder / f"rank-{self.rank}"

    @torch.inference_mode()
    def __call__(self, *, before: list[int]) -> Iterator[Row]:
        self._before = before[self.rank]
        one = torch.ones(64, 64, device=self.device)
        (one @ one).sum().item()
        dist.all_reduce(one, group=self.groups.transformer_group)
        dist.all_to_all_single(one.clone(), one, group=self.groups.transformer_group)
        planned = CONTEXT_BYTES + (LINK_BYTES if self.world_size > 1 else 0)
        yield self._row("context", 0.0, 0.0, planned)
        yield from self._forwards()
        yield from self._networks(random_networks(self._folder, self.device, is_small=False))
        yield self._row("context at the end", 0.0, 0.0, planned)

    def _row(self, title: str, peak: float, reserved: float, planned: float) -> Row:
        torch.cuda.synchronize()
        held = self._total - torch.cuda.mem_get_info(self.device)[0] - self._before
        context = held - torch.cuda.memory_reserved(self.device)
        return self.rank, title, context, peak, reserved, planned

    def _measure(self, title: str, planned: int, work: Callable[[], object]) -> Row:
        work()
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        allocated, reserved = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
        work()
        torch.cuda.synchronize()
        peak = torch.cuda.max_memory_allocated() - allocated
        return self._row(title, peak, torch.cuda.max_memory_reserved() - reserved, planned)

    def _forwards(self) -> Iterator[Row]:
        inner = random_builder(SCALE, self._folder).build(self.device, DTYPE)
        manager = AttentionManager(10**6, 32, 128, DTYPE, self.groups.transformer_group)
        transformer = SequenceParallelTransformer(inner, manager)
        for clip in CLIPS:
            grid = clip.latent_grid
            video, audio = random_inputs(SCALE, transformer, inner, clip)
            for levels in (1, 2):
                job = PlannedJob(clip, self.world_size, num_images=levels - 1)
                index = torch.arange(grid.num_tokens, device=self.device) % levels if levels > 1 else None
                timesteps = Timesteps(torch.full((1, levels), 0.5, device=self.device), index)
                inputs = replace(video, timesteps=timesteps), audio
                yield self._measure(
                    f"forward {grid.num_tokens} tokens, {levels} levels",
                    forward_bytes(MODEL, job, grid),
                    lambda inputs=inputs: transformer(*inputs),  # type: ignore[misc] # mypy does not see the default
                )

    def _networks(self, networks: Networks) -> Iterator[Row]:
        for side in (768, 512):
            piece = PlannedJob(ClipFormat(side, side, 73, Fraction(24)), 1)
            latent = random_latent((10, side // 32, side // 32), self.device)
            yield self._measure(
                f"decode 73 x {side} x {side}",
                decoding_bytes(MODEL, piece, 0),
                lambda latent=latent: networks.decoder.decode(latent),  # type: ignore[misc] # the same
            )
        draft = random_latent((16, 16, 24), self.device)
        enlarged = upsampling_bytes(MODEL, PlannedJob(TRUE.clip, 1))
        yield self._measure("enlarge 16 x 16 x 24", enlarged, lambda: networks.upsample(draft))
        mel = random_mel(5, self.device)
        yield self._measure("sound of 5 s", 5 * 43_300_000, lambda: networks.synthesize(mel))


def main() -> None:
    """Start, measure, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--num-gpus", type=int, default=1)
    values = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), values.num_gpus, is_small=False)
        before = bench.used_bytes()
        print("used before:", before)
        with bench.fleet(RUNNER, folder=bench.folder) as fleet:
            for rank, title, context, peak, reserved, planned in fleet.stream(before=before):
                told = f"live {peak / 1e9:6.3f}, reserved {reserved / 1e9:6.3f}, planned {planned / 1e9:6.3f} GB"
                print(f"rank {rank}: {title:34} context {context / 1e6:7.0f} MB, {told}", flush=True)
            print("per process by NVML:", pids_on_gpus())


if __name__ == "__main__":
    main()
