"""The transformer of true size, or a tiny one of the same make, with random weights; its inputs, and how long it takes.

What measures it says how large it is by a `Scale`; `TRUE` is that of the 2.3 checkpoints, `TINY` runs on any CPU.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from podium.geometry import ClipFormat
from podium.jobs import Quantization
from podium.models.builder import SingleGPUModelBuilder
from podium.models.cast_layers import is_cast_layer
from podium.models.key_maps import TRANSFORMER
from podium.models.module_weights import without_weights
from podium.models.quantization import FP8, FP8_MAX, policy_of, scale_key_of
from podium.models.quantized_linear import Fp8Linear, quantise_linears
from podium.models.transformer.config import StreamConfig, TransformerConfig
from podium.models.transformer.inputs import StreamInput, TokenLevels
from podium.models.transformer.model import AVTransformer, Ropes
from podium.models.weight_reader import OnProgress
from podium.pipelines.latents import audio_positions, video_positions

T = TypeVar("T")

DTYPE = torch.bfloat16
# Of fp8 codes, where they have one.
_CODE_SCALE = 2e-4
_SIGMA = 0.725
_SEED = 5


@dataclass(frozen=True, slots=True)
class Scale:
    """How large everything is.

    Args:
        num_layers: Blocks.
        num_heads: Of both streams.
        head_dim, audio_head_dim: Width of a head.
        num_text_tokens: Of a context.
        draft, clip: Formats of the first and of the second stage.
        lora_rank: Of LoRAs that are swapped.
        backend: What compiles blocks.
    """

    num_layers: int
    num_heads: int
    head_dim: int
    audio_head_dim: int
    num_text_tokens: int
    draft: ClipFormat
    clip: ClipFormat
    lora_rank: int
    backend: str

    @property
    def clips(self) -> tuple[ClipFormat, ClipFormat]:
        """Return both formats, the larger first: what is asked of it matters more."""
        return self.clip, self.draft

    @property
    def config(self) -> TransformerConfig:
        """Return the transformer's configuration."""
        video, audio = self.num_heads * self.head_dim, self.num_heads * self.audio_head_dim
        return TransformerConfig(
            video=StreamConfig(128, self.num_heads, self.head_dim, video, (20.0, 2048.0, 2048.0), has_ff_bias=True),
            audio=StreamConfig(128, self.num_heads, self.audio_head_dim, audio, (20.0,), has_ff_bias=True),
            num_layers=self.num_layers,
            caption_dim=None,
            is_gated=True,
            has_prompt_modulation=True,
            has_prompt_timestep=True,
            has_keyframe_embedding=False,
            timestep_scale=1000.0,
            gate_timestep_scale=1000.0,
            rope_theta=10000.0,
            is_rope_float64=True,
            norm_eps=1e-6,
        )


# 121 frames at these sizes make 6,144 and 24,576 video tokens.
TRUE = Scale(
    num_layers=48,
    num_heads=32,
    head_dim=128,
    audio_head_dim=64,
    num_text_tokens=1024,
    draft=ClipFormat(512, 768, 121, Fraction(24)),
    clip=ClipFormat(1024, 1536, 121, Fraction(24)),
    lora_rank=384,
    backend="inductor",
)
# 16 and 192 tokens.
TINY = Scale(
    num_layers=2,
    num_heads=8,
    head_dim=16,
    audio_head_dim=8,
    num_text_tokens=16,
    draft=ClipFormat(64, 128, 9, Fraction(24)),
    clip=ClipFormat(128, 384, 25, Fraction(24)),
    lora_rank=4,
    backend="eager",
)


def scale_of(*, is_small: bool) -> Scale:
    """Return the scale of a bench."""
    return TINY if is_small else TRUE


def tokens(clip: ClipFormat) -> str:
    """Return what a format is called by."""
    return f"{clip.latent_grid.num_tokens:,} tokens"


@dataclass(frozen=True)
class RandomWeights(SingleGPUModelBuilder[AVTransformer]):
    """A builder that reads no checkpoint: its module gets random weights, the same on every device of a kind."""

    def build(
        self, device: torch.device, dtype: torch.dtype, *, on_progress: OnProgress | None = None
    ) -> AVTransformer:
        """Return the module; weights are made outside inference mode, as the real ones are."""
        del on_progress
        with torch.inference_mode(mode=False), torch.no_grad():
            with without_weights():
                model = self.make_module(())
            model.load_state_dict(_random_state(model, device, dtype), assign=True)
            return model.to(device).eval().requires_grad_(requires_grad=False)


def random_builder(scale: Scale, folder: Path, quantization: Quantization = Quantization.NONE) -> RandomWeights:
    """Return the builder of a random transformer; it needs a folder for the file that it does not read."""

    def make(_headers: object) -> AVTransformer:
        model = AVTransformer(scale.config)
        if quantization is not Quantization.NONE:
            linears = (name for name, layer in model.named_modules() if isinstance(layer, nn.Linear))
            quantise_linears(
                model,
                [name for name in linears if is_cast_layer(name)],
                Path("random"),
                has_scales=quantization is Quantization.FP8_SCALED,
            )
        return model

    folder.mkdir(parents=True, exist_ok=True)
    unread = folder / "no-checkpoint"
    unread.touch()
    return RandomWeights((unread,), TRANSFORMER, make, policy=policy_of(quantization))


def _random_state(model: AVTransformer, device: torch.device, dtype: torch.dtype) -> dict[str, Tensor]:
    generator = torch.Generator(device).manual_seed(_SEED)
    coded = {f"{name}.weight" for name, layer in model.named_modules() if isinstance(layer, Fp8Linear)}
    wanted, state = model.state_dict(), {}
    for key, tensor in wanted.items():
        if key.endswith(".weight_scale"):
            state[key] = torch.tensor(_CODE_SCALE, device=device)
            continue
        values = random_weight(key, tensor.shape, device, dtype, generator=generator)
        if key in coded:
            has_scale = scale_key_of(key) in wanted
            values = (values / _CODE_SCALE if has_scale else values).clamp(-FP8_MAX, FP8_MAX).to(FP8)
        state[key] = values
    return state


def random_weight(
    name: str,
    shape: tuple[int, ...],
    device: torch.device,
    dtype: torch.dtype = DTYPE,
    *,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Return a weight of a usual size: norms about one, layers that keep the scale of what goes through."""
    values = torch.empty(shape, dtype=dtype, device=device)
    if "norm" in name:
        return values.normal_(1, 0.1, generator=generator)
    is_layer = len(shape) > 1 and "table" not in name
    return values.normal_(0, shape[-1] ** -0.5 if is_layer else 0.05, generator=generator)


def forward_call(
    scale: Scale, transformer: Any, model: AVTransformer, clip: ClipFormat, *, batch: int = 1
) -> Callable[[], tuple[Tensor, Tensor]]:
    """Return a forward of random input, the same on every device of a kind.

    Args:
        scale: Of the model.
        transformer: `model` itself, or what spreads it over ranks.
        model: The module of one GPU.
        clip: Format of the clip.
        batch: Samples.
    """
    inputs = random_inputs(scale, transformer, model, clip, batch=batch)
    return lambda: transformer(*inputs)


def random_inputs(
    scale: Scale, transformer: Any, model: AVTransformer, clip: ClipFormat, *, batch: int = 1
) -> tuple[StreamInput, StreamInput]:
    """Return what a forward takes: of the video and of the audio."""
    device, config = model.device, scale.config
    generator = torch.Generator(device).manual_seed(_SEED)
    sigma = torch.full((batch,), _SIGMA, device=device)

    def stream(num_tokens: int, of: StreamConfig, ropes: Ropes) -> StreamInput:
        def normal(*shape: int) -> Tensor:
            return torch.randn(shape, device=device, dtype=DTYPE, generator=generator)

        return StreamInput(
            latent=normal(batch, num_tokens, of.channels),
            timesteps=TokenLevels(torch.ones(1, device=device), None).at(sigma),
            sigma=sigma,
            context=normal(batch, scale.num_text_tokens, of.context_dim),
            rope=ropes.own,
            cross_rope=ropes.cross,
        )

    num_audio = clip.num_audio_latents
    video, audio = transformer.video_ropes(video_positions(clip)), transformer.audio_ropes(audio_positions(num_audio))
    return stream(clip.latent_grid.num_tokens, config.video, video), stream(num_audio, config.audio, audio)


def compile_blocks(model: nn.Module, backend: str, *, keeps_order: bool = False) -> None:
    """Compile every block, also one that is compiled already; blocks of one shape share the code."""
    torch._dynamo.config.recompile_limit = 64
    options = {"reorder_for_peak_memory": False} if keeps_order and backend == "inductor" else None
    for block in model.transformer_blocks:  # type: ignore[union-attr] # a ModuleList
        block.compile(backend=backend, dynamic=False, options=options)


def num_graphs() -> int:
    """Return how many graphs this process has compiled so far."""
    return int(torch._dynamo.utils.counters["stats"]["unique_graphs"])


def synchronise(device: torch.device) -> None:
    """Wait until a device has done all that it was given."""
    if device.type != "cpu":
        torch.accelerator.synchronize(device)


def median_ms(call: Callable[[], object], device: torch.device, *, num_runs: int = 5, num_warm: int = 2) -> float:
    """Return the median of several runs after some that warm up, the first of which may compile."""
    times = [timed_s(call, device)[1] for _ in range(num_warm + num_runs)][num_warm:]
    return sorted(times)[len(times) // 2] * 1e3


def timed_s(call: Callable[[], T], device: torch.device) -> tuple[T, float]:
    """Return what a call returns, and its seconds, the device's work included."""
    synchronise(device)
    began_s = time.perf_counter()
    result = call()
    synchronise(device)
    return result, time.perf_counter() - began_s


def relative(ours: Tensor, theirs: Tensor) -> float:
    """Return ||ours - theirs|| / ||theirs||."""
    return float((ours.double() - theirs.double()).norm() / theirs.double().norm())
