"""The duration head against diffusers' class, loaded by itself."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch
from diffusers.pipelines.ltx2.duration_head import LTX2DurationHead
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file

from podium.models.duration_head import DurationHead, duration_head_builder, frames_of_duration

from tests.tiny_pack import TinyPack

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def head(tiny_pack_2_5: TinyPack) -> DurationHead:
    return duration_head_builder(tiny_pack_2_5.model_paths.duration_path).build(CPU, torch.float32)


@pytest.fixture(scope="module")
def oracle(tiny_pack_2_5: TinyPack) -> LTX2DurationHead:
    """Return diffusers' head with the same weights, renamed here by hand."""
    stored = load_file(tiny_pack_2_5.model_paths.duration_path)
    weights = {key.removeprefix("duration_head."): tensor for key, tensor in stored.items()}
    pooler = "attention_pooler."
    for kind in ("weight", "bias"):
        parts = weights.pop(f"{pooler}cross_attn.in_proj_{kind}").chunk(3)
        weights |= {f"{pooler}to_{letter}.{kind}": part for letter, part in zip("qkv", parts, strict=True)}
        weights[f"{pooler}to_out.{kind}"] = weights.pop(f"{pooler}cross_attn.out_proj.{kind}")
    network = LTX2DurationHead(128, 64, pooler_hidden_dim=32, num_queries=2, num_pooler_heads=4, mlp_hidden_dim=32)
    network.load_state_dict(weights)
    return network.eval()


def contexts(seed: int, scale: float = 1.0) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return tuple(scale * torch.randn(1, 40, dim, generator=generator) for dim in (128, 64))  # type: ignore[return-value] # two of them


@torch.inference_mode()
@pytest.mark.parametrize("seed", range(4))
def test_a_prompts_contexts_ask_for_the_duration_that_diffusers_says(
    head: DurationHead, oracle: LTX2DurationHead, seed: int
) -> None:
    video, audio = contexts(seed)
    duration_s = head.predict_duration_s(video, audio)
    assert duration_s == pytest.approx(oracle(video, audio).item(), rel=1e-6)
    assert duration_s != pytest.approx(head.predict_duration_s(*contexts(seed + 10)), rel=1e-3)


@torch.inference_mode()
@pytest.mark.parametrize("fps", [Fraction(24), Fraction(30000, 1001), Fraction(50), Fraction(1)])
def test_they_become_the_frames_that_diffusers_says(
    head: DurationHead, oracle: LTX2DurationHead, fps: Fraction
) -> None:
    for seed in range(3):
        video, audio = contexts(seed, scale=4.0)
        expected = oracle.predict_num_frames(video, audio, frame_rate=float(fps), temporal_compression_ratio=8)
        assert head.predict_num_frames(video, audio, fps) == max(9, expected)


@given(
    duration_s=st.floats(0, 100, exclude_min=True),
    fps=st.sampled_from([Fraction(n) for n in (1, 8, 23, 24, 25, 30, 60, 120)] + [Fraction(24000, 1001)]),
)
def test_every_duration_becomes_frames_on_the_grid_of_the_vae_as_in_diffusers(duration_s: float, fps: Fraction) -> None:
    class Told(LTX2DurationHead):  # type: ignore[misc] # diffusers has no types
        def __init__(self) -> None:
            torch.nn.Module.__init__(self)

        def forward(self, *_: object) -> torch.Tensor:
            return torch.tensor([duration_s], dtype=torch.float64)

    num_frames = frames_of_duration(duration_s, fps)
    expected = Told().predict_num_frames(None, None, frame_rate=float(fps), temporal_compression_ratio=8)
    assert num_frames % 8 == 1
    # A single frame is no clip.
    assert num_frames == max(9, expected)


@pytest.mark.parametrize(
    ("duration_s", "num_frames"), [(0.01, 25), (1.0, 25), (1.4, 33), (5.05, 121), (20.0, 473), (900.0, 473)]
)
def test_a_duration_is_brought_to_one_to_twenty_seconds(duration_s: float, num_frames: int) -> None:
    assert frames_of_duration(duration_s, Fraction(24)) == num_frames
