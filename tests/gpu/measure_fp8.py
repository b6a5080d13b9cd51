"""Forwards of the transformer with weights in fp8, compiled block by block: the part `fp8` of `tests.gpu.one_gpu`.

bf16 first, then fp8 weights with products in fp8 and, once, in bf16 of what the codes stand for; of each also how far
its velocity is from that of the same weights uncompiled and multiplied in bf16.
"""

from __future__ import annotations

import torch
from torch import Tensor

from podium.geometry import ClipFormat
from podium.jobs import Quantization
from podium.models.quantized_linear import Fp8Linear
from podium.models.transformer.model import AVTransformer

from tests.gpu.bench import Bench
from tests.gpu.figures import Figure, tell
from tests.gpu.random_model import (
    DTYPE,
    Scale,
    compile_blocks,
    forward_call,
    median_ms,
    random_builder,
    relative,
    scale_of,
    timed_s,
    tokens,
)

# Of the best peer's forward in bf16; what ours in bf16 is of that, by video tokens. Source: as seen on an H200.
ALLOWED_OF_PEER, OURS_OF_PEER = 0.75, {6144: 0.957, 24576: 0.968}
# Codes have three bits behind the first one, in weights and again in what they are multiplied with.
ALLOWED_ERROR = 0.2


def fp8(bench: Bench) -> None:
    """Measure and tell."""
    scale, device = scale_of(is_small=bench.is_small), torch.device("cpu" if bench.is_small else "cuda:0")
    plain_ms: dict[ClipFormat, float] = {}
    with torch.inference_mode():
        for kind in (Quantization.NONE, Quantization.FP8_SCALED, Quantization.FP8_CAST):
            model = random_builder(scale, bench.folder, kind).build(device, DTYPE)
            if device.type == "cuda":
                tell(Figure(f"{kind}: weights", torch.cuda.memory_allocated() / 1e9, "GB"))
            if kind is Quantization.NONE:
                compile_blocks(model, scale.backend)
                for clip in reversed(scale.clips):
                    plain_ms[clip] = tell_forward(scale, model, clip, f"{kind}")[0]
            else:
                tell_kind(scale, model, kind, plain_ms)
            del model
            torch._dynamo.reset()
            if device.type == "cuda":
                torch.cuda.empty_cache()


def tell_kind(scale: Scale, model: AVTransformer, kind: Quantization, plain_ms: dict[ClipFormat, float]) -> None:
    """Measure a model of fp8 codes."""
    exact = forward_call(scale, model, model, scale.draft)()[0].float()
    compile_blocks(model, scale.backend)
    # What is said once need not be said of both kinds: each compiles anew, which takes longer than the forwards.
    is_first = kind is Quantization.FP8_SCALED
    ways = ((True, (scale.draft, scale.clip)), (False, (scale.draft,))) if is_first else ((True, (scale.draft,)),)
    for in_fp8, clips in ways:
        for layer in model.modules():
            if isinstance(layer, Fp8Linear):
                layer.multiplies_in_fp8 = in_fp8
        title = f"{kind}, products in {'fp8' if in_fp8 else 'bf16'}"
        for clip in clips:
            took_ms, velocity = tell_forward(scale, model, clip, title)
            ratio = took_ms / plain_ms[clip]
            tell(Figure(f"{title}, {tokens(clip)}: of bf16", ratio))
            of_peer = OURS_OF_PEER.get(clip.latent_grid.num_tokens)
            if in_fp8 and of_peer is not None:
                told = f"{title}, {tokens(clip)}: of diffusers' in bf16, reckoned by ours"
                tell(Figure(told, ratio * of_peer, limit=ALLOWED_OF_PEER))
            if clip is scale.draft:
                error = relative(velocity.float(), exact)
                tell(Figure(f"{title}: from the same weights in bf16, uncompiled", error, limit=ALLOWED_ERROR))


def tell_forward(scale: Scale, model: AVTransformer, clip: ClipFormat, title: str) -> tuple[float, Tensor]:
    """Measure a forward; return its milliseconds, and the video's velocity."""
    call = forward_call(scale, model, model, clip)
    (velocity, _), first_s = timed_s(call, model.device)
    tell(Figure(f"{title}, {tokens(clip)}: the first forward, compiling", first_s, "s"))
    took_ms = median_ms(call, model.device)
    tell(Figure(f"{title}, {tokens(clip)}: a forward", took_ms, "ms"))
    return took_ms, velocity
