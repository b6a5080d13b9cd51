"""Measure what ranks hold on their GPUs beside weights, and print it beside what the memory plan says.

    python -m tests.gpu.measure_memory [--num-gpus 2]

The layers are of true size, and their weights are whatever memory held: two blocks of the transformer, the video
decoder, the upscaler and the vocoder. The driver counts what is used on a whole GPU, so nothing else may use it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from fractions import Fraction

from podium.geometry import ClipFormat
from podium.jobs import Quantization
from podium.models.pack import DecoderKind
from podium.models.residency import ModelPart
from podium.multigpu import MGPUController, MGPURunner, preload_forkserver
from podium.multigpu.memory_activations import PlannedJob, decoding_bytes, forward_bytes, upsampling_bytes
from podium.multigpu.memory_parts import ModelMemory
from podium.multigpu.memory_plan import CONTEXT_BYTES, LINK_BYTES

CLIPS = tuple(
    ClipFormat(height, width, frames, Fraction(24))
    for height, width, frames in ((512, 768, 121), (1024, 1536, 121), (1088, 1920, 241))
)
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


class MemoryRunner(MGPURunner):
    """Runs one thing after another and says what each took."""

    def setup(self) -> None:
        import torch

        self._total = torch.cuda.mem_get_info(self.device)[1]

    def __call__(self, *, before: list[int]) -> Iterator[tuple[int, str, float, float, float, float]]:
        import torch

        self._before = before[self.rank]
        one = torch.ones(64, 64, device=self.device)
        (one @ one).sum().item()
        torch.distributed.all_reduce(one, group=self.groups.transformer_group)
        torch.distributed.all_to_all_single(one.clone(), one, group=self.groups.transformer_group)
        planned = CONTEXT_BYTES + (LINK_BYTES if self.world_size > 1 else 0)
        yield self._row("context", 0.0, 0.0, planned)
        yield from self._forwards()
        yield from self._networks()
        yield self._row("context at the end", 0.0, 0.0, planned)

    def _row(
        self, title: str, peak: float, reserved: float, planned: float
    ) -> tuple[int, str, float, float, float, float]:
        import torch

        torch.cuda.synchronize()
        held = self._total - torch.cuda.mem_get_info(self.device)[0] - self._before
        context = held - torch.cuda.memory_reserved(self.device)
        return self.rank, title, context, peak, reserved, planned

    def _measure(
        self, title: str, planned: int, work: Callable[[], object]
    ) -> tuple[int, str, float, float, float, float]:
        import torch

        work()
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        allocated, reserved = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
        work()
        torch.cuda.synchronize()
        peak = torch.cuda.max_memory_allocated() - allocated
        return self._row(title, peak, torch.cuda.max_memory_reserved() - reserved, planned)

    def _forwards(self) -> Iterator[tuple[int, str, float, float, float, float]]:
        import torch

        from podium.models.tiny_pack.traits import LTX_2_3
        from podium.models.tiny_pack.transformer import transformer_config
        from podium.models.transformer.config import TransformerConfig
        from podium.models.transformer.model import AVTransformer
        from podium.multigpu.attention import AttentionManager
        from podium.multigpu.sp_builder import SequenceParallelTransformer

        from tests.gpu.true_size import TRUE_SIZE

        config = TransformerConfig.from_official({**transformer_config(LTX_2_3), **TRUE_SIZE, "num_layers": 2})
        with torch.device(self.device):
            inner = AVTransformer(config).to(torch.bfloat16).eval()
        manager = AttentionManager(10**6, 32, 128, torch.bfloat16, self.groups.transformer_group)
        transformer = SequenceParallelTransformer(inner, manager)
        for clip in CLIPS:
            for levels in (1, 2):
                job = PlannedJob(clip, self.world_size, num_images=levels - 1)
                yield self._measure(
                    f"forward {clip.latent_grid.num_tokens} tokens, {levels} levels",
                    forward_bytes(MODEL, job, clip.latent_grid),
                    lambda clip=clip, levels=levels: self._forward(transformer, clip.latent_grid.num_tokens, levels),  # type: ignore[misc] # mypy does not see the default
                )

    def _forward(self, transformer: object, num_tokens: int, num_levels: int) -> None:
        import torch

        from podium.models.transformer.inputs import StreamInput, Timesteps

        def stream(tokens: int, width: int, axes: int, ropes: Callable[..., object]) -> StreamInput:
            tables = ropes(torch.rand(1, axes, tokens, 2, device=self.device))
            index = torch.arange(tokens, device=self.device) % num_levels if num_levels > 1 else None
            half = {"dtype": torch.bfloat16, "device": self.device}
            return StreamInput(
                torch.randn(1, tokens, 128, **half),
                Timesteps(torch.full((1, num_levels), 0.5, device=self.device), index),
                torch.full((1,), 0.5, device=self.device),
                torch.randn(1, 1024, width, **half),
                tables.own,
                tables.cross,
            )

        with torch.inference_mode():
            video = stream(num_tokens, 4096, 3, transformer.video_ropes)
            audio = stream(126, 2048, 1, transformer.audio_ropes)
            transformer(video, audio)

    def _networks(self) -> Iterator[tuple[int, str, float, float, float, float]]:
        import torch
        from diffusers.models.autoencoders.autoencoder_kl_ltx2 import LTX2VideoDecoder3d
        from diffusers.pipelines.ltx2.latent_upsampler import LTX2LatentUpsamplerModel
        from diffusers.pipelines.ltx2.vocoder import LTX2VocoderWithBWE

        with torch.device(self.device):
            decoder = LTX2VideoDecoder3d(inject_noise=(False,) * 4).to(torch.bfloat16).eval()
        upsampler = LTX2LatentUpsamplerModel(128, 1024, 4).to(self.device, torch.bfloat16).eval()
        vocoder = LTX2VocoderWithBWE().to(self.device).eval()

        def run(network: torch.nn.Module, shape: tuple[int, ...], dtype: torch.dtype = torch.bfloat16) -> None:
            with torch.inference_mode():
                network(torch.randn(shape, dtype=dtype, device=self.device))

        one = PlannedJob(ClipFormat(768, 768, 73, Fraction(24)), 1)
        yield self._measure(
            "decode 73 x 768 x 768", decoding_bytes(MODEL, one, 1), lambda: run(decoder, (1, 128, 10, 24, 24))
        )
        small = PlannedJob(ClipFormat(512, 512, 73, Fraction(24)), 1)
        yield self._measure(
            "decode 73 x 512 x 512", decoding_bytes(MODEL, small, 1), lambda: run(decoder, (1, 128, 10, 16, 16))
        )
        clip = PlannedJob(CLIPS[1], 1)
        yield self._measure(
            "enlarge 16 x 16 x 24", upsampling_bytes(MODEL, clip), lambda: run(upsampler, (1, 128, 16, 16, 24))
        )
        yield self._measure("sound of 5 s", 5 * 43_300_000, lambda: run(vocoder, (1, 2, 500, 64), torch.float32))


def main() -> None:
    """Start, measure, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--num-gpus", type=int, default=1)
    values = parser.parse_args()
    import pynvml

    preload_forkserver()
    pynvml.nvmlInit()
    handles = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(values.num_gpus)]
    before = [int(pynvml.nvmlDeviceGetMemoryInfo(handle).used) for handle in handles]
    print("used before:", before)
    with MGPUController(MemoryRunner, num_gpus=values.num_gpus) as controller:
        controller.start()
        for rank, title, context, peak, reserved, planned in controller.stream(before=before):
            told = f"live {peak / 1e9:6.3f}, reserved {reserved / 1e9:6.3f}, planned {planned / 1e9:6.3f} GB"
            print(f"rank {rank}: {title:34} context {context / 1e6:7.0f} MB, {told}", flush=True)
        names = [[process.usedGpuMemory for process in pynvml.nvmlDeviceGetComputeRunningProcesses(h)] for h in handles]
        print("per process by NVML:", names)


if __name__ == "__main__":
    main()
