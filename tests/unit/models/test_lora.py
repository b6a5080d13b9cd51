"""Fusing: one float32 sum, cast once, clean weights untouched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from torch import Tensor

from podium.errors import JobRefusedError
from podium.jobs import BranchStrengths, LoraSpec
from podium.models.lora import LoraDelta, fuse_into_, fuse_loras
from podium.models.lora_keys import LoraError, LoraPlan, read_lora_plan
from podium.models.lora_names import Branch, branch_of

RANK = 2
LAYERS = {
    "transformer_blocks.0.attn1.to_q": Branch.VIDEO,
    "transformer_blocks.0.audio_attn1.to_q": Branch.AUDIO,
    "transformer_blocks.0.audio_to_video_attn.to_q": Branch.AUDIO_TO_VIDEO,
    "transformer_blocks.0.video_to_audio_attn.to_q": Branch.VIDEO_TO_AUDIO,
}
VIDEO_KEY = "transformer_blocks.0.attn1.to_q.weight"


def make_weights(dtype: torch.dtype = torch.float32) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(1)
    names = [f"{layer}.weight" for layer in LAYERS] + ["untouched.weight", "untouched.bias"]
    return {name: torch.randn(6, 4, generator=generator).to(dtype) for name in names}


def make_lora(path: Path, seed: int, dtype: torch.dtype = torch.float32) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    factors = {}
    for layer in LAYERS:
        factors[f"diffusion_model.{layer}.lora_A.weight"] = torch.randn(RANK, 4, generator=generator).to(dtype)
        factors[f"diffusion_model.{layer}.lora_B.weight"] = torch.randn(6, RANK, generator=generator).to(dtype)
    save_file(factors, path)
    return factors


def delta(factors: Mapping[str, Tensor], key: str) -> Tensor:
    stem = "diffusion_model." + key.removesuffix(".weight")
    return factors[f"{stem}.lora_B.weight"].double() @ factors[f"{stem}.lora_A.weight"].double()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("loras")
    first, second = folder / "first.safetensors", folder / "second.safetensors"
    make_lora(first, 11)
    make_lora(second, 22)
    return first, second


def test_the_fused_weight_equals_the_original_codes_float32_aggregation(
    tiny_pack: Path, golden: Callable[[str], dict[str, Tensor]]
) -> None:
    key = "transformer_blocks.0.attn1.to_q.weight"
    weights = {
        name.removeprefix("model.diffusion_model."): tensor
        for name, tensor in load_file(tiny_pack / "ltx-2.3-tiny.safetensors").items()
        if name.startswith("model.diffusion_model.") and "_embeddings_connector." not in name
    }
    fused = fuse_loras(weights, [LoraSpec(tiny_pack / "distilled-lora.safetensors", 0.8)])
    wanted = golden("transformer_2.3")["lora_distilled_0.8_f32_aggregation.weight.transformer_blocks.0.attn1.to_q"]
    assert float((fused.tensors[key] - wanted).norm() / wanted.norm()) < 1e-6
    assert float((weights[key] - wanted).norm() / wanted.norm()) > 1e-2
    assert fused.reports[0].summary() == f"distilled-lora.safetensors: all {len(fused.tensors)} layers applied."


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_fused_weight_is_the_exact_sum_rounded_once(tmp_path: Path, dtype: torch.dtype) -> None:
    path = tmp_path / "x.safetensors"
    factors = make_lora(path, 5, torch.bfloat16)
    weights = make_weights(dtype)
    fused = fuse_loras(weights, [LoraSpec(path, 0.7)])
    for key, tensor in fused.tensors.items():
        exact = weights[key].double() + 0.7 * delta(factors, key)
        assert tensor.dtype == dtype
        torch.testing.assert_close(tensor, exact.to(dtype), rtol=torch.finfo(dtype).eps, atol=1e-6)


def test_only_touched_weights_come_back_in_the_models_order(files: tuple[Path, Path]) -> None:
    fused = fuse_loras(make_weights(), [LoraSpec(files[0])])
    assert list(fused.tensors) == [f"{layer}.weight" for layer in LAYERS]


def test_clean_weights_are_never_written_to(files: tuple[Path, Path]) -> None:
    weights = make_weights()
    before = {key: tensor.clone() for key, tensor in weights.items()}
    fuse_loras(weights, [LoraSpec(files[0], -3.0), LoraSpec(files[1], 2.0)])
    assert all(torch.equal(weights[key], tensor) for key, tensor in before.items())


@given(strength=st.floats(-4, 4, allow_nan=False).filter(lambda value: abs(value) > 1e-3))
def test_half_the_strength_moves_a_weight_half_as_far(files: tuple[Path, Path], strength: float) -> None:
    weights = make_weights()
    whole = fuse_loras(weights, [LoraSpec(files[0], strength)]).tensors[VIDEO_KEY] - weights[VIDEO_KEY]
    half = fuse_loras(weights, [LoraSpec(files[0], strength / 2)]).tensors[VIDEO_KEY] - weights[VIDEO_KEY]
    torch.testing.assert_close(2 * half, whole, rtol=1e-4, atol=3e-6)


@given(
    strength=st.floats(-4, 4, allow_nan=False).filter(lambda value: abs(value) > 1e-3),
    alpha=st.sampled_from([0.5, 1.0, 3.0, 16.0]),
)
def test_half_the_strength_moves_half_as_far_with_an_alpha_too(
    files: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory, strength: float, alpha: float
) -> None:
    weights, path = make_weights(), tmp_path_factory.mktemp("alpha") / "lora.safetensors"
    factors = make_lora(path, 11)
    save_file(factors | {f"diffusion_model.{layer}.alpha": torch.tensor(alpha) for layer in LAYERS}, path)

    def moved(file: Path, by: float) -> Tensor:
        return fuse_loras(weights, [LoraSpec(file, by)]).tensors[VIDEO_KEY] - weights[VIDEO_KEY]

    near = {"rtol": 1e-4, "atol": 1e-5 * alpha}
    torch.testing.assert_close(2 * moved(path, strength / 2), moved(path, strength), **near)
    # The same factors as without, times alpha / rank.
    torch.testing.assert_close(moved(path, strength), moved(files[0], strength) * (alpha / RANK), **near)


@given(strengths=st.tuples(st.floats(-2, 2), st.floats(-2, 2)))
def test_the_order_of_a_set_matters_no_more_than_rounding_does(
    files: tuple[Path, Path], strengths: tuple[float, float]
) -> None:
    loras = [LoraSpec(path, strength) for path, strength in zip(files, strengths, strict=True)]
    forth, back = (fuse_loras(make_weights(), order).tensors for order in (loras, loras[::-1]))
    assert list(forth) == list(back)
    for key, tensor in forth.items():
        torch.testing.assert_close(back[key], tensor, rtol=1e-5, atol=1e-5)


def test_the_same_set_fuses_to_the_same_bits(files: tuple[Path, Path]) -> None:
    loras = [LoraSpec(files[0], 0.3), LoraSpec(files[1], 0.9)]
    first, second = (fuse_loras(make_weights(torch.bfloat16), loras).tensors for _ in range(2))
    assert all(torch.equal(first[key], second[key]) for key in first)


def test_a_file_that_stands_in_the_set_twice_counts_twice(files: tuple[Path, Path]) -> None:
    twice = fuse_loras(make_weights(), [LoraSpec(files[0], 0.25), LoraSpec(files[0], 0.5)])
    once = fuse_loras(make_weights(), [LoraSpec(files[0], 0.75)])
    assert len(twice.reports) == 2
    torch.testing.assert_close(twice.tensors[VIDEO_KEY], once.tensors[VIDEO_KEY], rtol=1e-5, atol=1e-5)


def test_strength_zero_touches_nothing_and_is_still_reported(files: tuple[Path, Path]) -> None:
    fused = fuse_loras(make_weights(), [LoraSpec(files[0], 0.0)])
    assert fused.tensors == {}
    assert fused.reports[0].applied.num_layers == len(LAYERS)


def test_an_empty_set_changes_nothing() -> None:
    fused = fuse_loras(make_weights(), [])
    assert (fused.tensors, fused.reports) == ({}, ())


@pytest.mark.parametrize("branch", Branch)
def test_a_branch_strength_of_zero_leaves_that_branch_clean(files: tuple[Path, Path], branch: Branch) -> None:
    spec = LoraSpec(files[0], branches=replace(BranchStrengths(), **{branch.value: 0.0}))
    fused = fuse_loras(make_weights(), [spec])
    assert list(fused.tensors) == [f"{layer}.weight" for layer, of in LAYERS.items() if of is not branch]


def test_a_branch_strength_multiplies_the_loras_own(files: tuple[Path, Path]) -> None:
    branched = LoraSpec(files[0], 0.5, BranchStrengths(video=-3.0))
    assert torch.equal(
        fuse_loras(make_weights(), [branched]).tensors[VIDEO_KEY],
        fuse_loras(make_weights(), [LoraSpec(files[0], -1.5)]).tensors[VIDEO_KEY],
    )


@pytest.mark.parametrize(
    "spec",
    [
        LoraSpec(Path("x"), float("nan")),
        LoraSpec(Path("x"), float("inf")),
        LoraSpec(Path("x"), 1.0, BranchStrengths(audio=float("nan"))),
    ],
)
def test_a_strength_that_is_no_number_is_refused(files: tuple[Path, Path], spec: LoraSpec) -> None:
    with pytest.raises(JobRefusedError, match=r"strength of “first.safetensors” cannot be used"):
        fuse_loras(make_weights(), [replace(spec, path=files[0])])


@pytest.mark.parametrize("broken", [float("nan"), float("inf")])
def test_factors_that_are_no_numbers_are_refused(tmp_path: Path, broken: float) -> None:
    path = tmp_path / "diverged.safetensors"
    factors = make_lora(path, 3)
    factors[f"diffusion_model.{VIDEO_KEY.removesuffix('.weight')}.lora_B.weight"][0, 0] = broken
    save_file(factors, path)
    with pytest.raises(LoraError, match=r"“diverged.safetensors” holds values that are no numbers"):
        fuse_loras(make_weights(), [LoraSpec(path)])


@pytest.mark.parametrize("dtype", [torch.float8_e5m2, torch.int8])
def test_weights_that_cannot_be_added_to_are_refused(files: tuple[Path, Path], dtype: torch.dtype) -> None:
    with pytest.raises(LoraError, match=r"“first.safetensors” cannot be applied.*official fp8 file") as refused:
        fuse_loras(make_weights(dtype), [LoraSpec(files[0])])
    assert str(dtype) in refused.value.details


def test_weights_that_are_parameters_fuse_to_plain_tensors(files: tuple[Path, Path]) -> None:
    weights = {key: torch.nn.Parameter(tensor) for key, tensor in make_weights().items()}
    fused = fuse_loras(weights, [LoraSpec(files[0])]).tensors
    assert not any(tensor.requires_grad or isinstance(tensor, torch.nn.Parameter) for tensor in fused.values())


def test_a_file_that_goes_away_after_its_header_was_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "gone.safetensors"
    make_lora(path, 3)

    def read_and_remove(of: Path, shapes: Mapping[str, tuple[int, ...]]) -> LoraPlan:
        plan = read_lora_plan(of, shapes)
        of.unlink()
        return plan

    monkeypatch.setattr("podium.models.lora.read_lora_plan", read_and_remove)
    with pytest.raises(LoraError, match="can no longer be read"):
        fuse_loras(make_weights(), [LoraSpec(path)])


def test_a_fuse_in_place_gives_the_same_bits_as_fusing_a_set(files: tuple[Path, Path]) -> None:
    weights = make_weights(torch.bfloat16)
    factors = load_file(files[0])
    working = {key: tensor.clone() for key, tensor in weights.items()}
    workspace = torch.full((100,), 7.0)
    for layer in LAYERS:
        a, b = (factors[f"diffusion_model.{layer}.lora_{part}.weight"] for part in "AB")
        delta = LoraDelta(a, b, 0.6)
        fuse_into_(f"{layer}.weight", working, weights, [delta], workspace=workspace)
    fused = fuse_loras(weights, [LoraSpec(files[0], 0.6)]).tensors
    assert all(torch.equal(working[key], fused.get(key, weights[key])) for key in weights)


def test_fusing_no_delta_resets_to_the_clean_bits_in_the_same_storage() -> None:
    clean = make_weights(torch.bfloat16)[VIDEO_KEY]
    target = torch.zeros_like(clean)
    address = target.data_ptr()
    fuse_into_(VIDEO_KEY, {VIDEO_KEY: target}, {VIDEO_KEY: clean}, [])
    assert torch.equal(target, clean)
    assert target.data_ptr() == address


@pytest.mark.parametrize(
    ("key", "branch"),
    [
        ("transformer_blocks.3.attn2.to_out.0.weight", Branch.VIDEO),
        ("transformer_blocks.3.ff.net.2.weight", Branch.VIDEO),
        ("adaln_single.linear.weight", Branch.VIDEO),
        ("av_ca_video_scale_shift_adaln_single.linear.weight", Branch.VIDEO),
        ("patchify_proj.weight", Branch.VIDEO),
        ("transformer_blocks.3.audio_attn2.to_k.weight", Branch.AUDIO),
        ("transformer_blocks.3.audio_ff.net.0.proj.weight", Branch.AUDIO),
        ("av_ca_audio_scale_shift_adaln_single.linear.weight", Branch.AUDIO),
        ("audio_proj_out.weight", Branch.AUDIO),
        ("transformer_blocks.3.audio_to_video_attn.to_gate_logits.weight", Branch.AUDIO_TO_VIDEO),
        ("av_ca_a2v_gate_adaln_single.linear.weight", Branch.AUDIO_TO_VIDEO),
        ("transformer_blocks.3.video_to_audio_attn.to_v.weight", Branch.VIDEO_TO_AUDIO),
        ("av_ca_v2a_gate_adaln_single.linear.weight", Branch.VIDEO_TO_AUDIO),
    ],
)
def test_each_weight_belongs_to_one_branch(key: str, branch: Branch) -> None:
    assert branch_of(key) is branch
