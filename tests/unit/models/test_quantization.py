"""Weights in fp8: what is stored, what comes out, how LoRAs go in, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from podium.jobs import BranchStrengths, LoraSpec, Quantization
from podium.models.cast_layers import is_cast_layer
from podium.models.errors import CheckpointError, CheckpointReason
from podium.models.lora import LoraDelta, fuse_into_, fuse_loras
from podium.models.quantization import FP8, FP8_MAX, dequantised, requantise_, scale_key_of
from podium.models.quantized_linear import Fp8Linear, _opaque_dequantise
from podium.models.registry import StateDictRegistry
from podium.models.transformer.builder import transformer_builder
from podium.models.transformer.model import AVTransformer

from tests.unit.models.test_transformer import streams

CPU = torch.device("cpu")
FILES = {
    Quantization.NONE: "ltx-2.3-tiny.safetensors",
    Quantization.FP8_CAST: "ltx-2.3-tiny.safetensors",
    Quantization.FP8_SCALED: "ltx-2.3-tiny-fp8.safetensors",
}
QUANTISED = (Quantization.FP8_CAST, Quantization.FP8_SCALED)
# An inner block: the fp8 file keeps the first and the last as they are.
KEY = "transformer_blocks.1.attn1.to_q.weight"
PREFIX = "model.diffusion_model."
Golden = dict[str, Tensor]


def build(
    pack: Path, quantization: Quantization, *loras: LoraSpec, dtype: torch.dtype = torch.float32, in_fp8: bool = False
) -> AVTransformer:
    builder = transformer_builder(pack / FILES[quantization], quantization=quantization)
    model = builder.with_loras(loras).build(CPU, dtype)
    for layer in fp8_layers(model):
        layer.multiplies_in_fp8 = in_fp8
    return model


def fp8_layers(model: AVTransformer) -> list[Fp8Linear]:
    return [layer for layer in model.modules() if isinstance(layer, Fp8Linear)]


@torch.inference_mode()
def run(model: AVTransformer, golden: Golden) -> tuple[Tensor, Tensor]:
    typed = {name: value.to(model.dtype) if value.is_floating_point() else value for name, value in golden.items()}
    inputs = streams(model, golden | {name: typed[name] for name in typed if name.endswith((".latent", ".context"))})
    video, audio = model(*inputs)
    assert video is not None
    assert audio is not None
    return video.float(), audio.float()


def relative(ours: Tensor, theirs: Tensor) -> float:
    return float((ours - theirs).norm() / theirs.norm())


def half_step(values: Tensor, scale: float) -> Tensor:
    """Return half the distance of fp8's numbers at `values`, and a little for float32."""
    exponent = torch.floor(torch.log2((values / scale).abs().clamp_min(2.0**-6)))
    return (torch.exp2(exponent - 3) / 2 * scale) * (1 + 1e-4)


@pytest.fixture(scope="session")
def data(golden: Callable[[str], Golden]) -> Golden:
    return golden("transformer_2.3")


@pytest.fixture(scope="session")
def whole(tiny_pack: Path) -> AVTransformer:
    return build(tiny_pack, Quantization.NONE)


@pytest.fixture(scope="session")
def quantised(tiny_pack: Path) -> dict[Quantization, AVTransformer]:
    return {quantization: build(tiny_pack, quantization) for quantization in QUANTISED}


@pytest.fixture(scope="session")
def loras(tiny_pack: Path) -> tuple[LoraSpec, LoraSpec]:
    return LoraSpec(tiny_pack / "distilled-lora.safetensors", 0.8), LoraSpec(tiny_pack / "style-lora.safetensors", 0.6)


def test_fp8_cast_rounds_the_named_layers_and_their_biases_and_nothing_else(
    quantised: dict[Quantization, AVTransformer], whole: AVTransformer
) -> None:
    plain = whole.state_dict()
    state = quantised[Quantization.FP8_CAST].state_dict()
    assert state.keys() == plain.keys()
    rounded = {key for key, tensor in state.items() if tensor.dtype == FP8}
    assert rounded == {key for key in state if is_cast_layer(key.rpartition(".")[0]) and "norm" not in key}
    # Six attentions of four layers and two feed-forwards of two, a weight and a bias each, in four blocks.
    assert len(rounded) == 4 * (6 * 4 + 2 * 2) * 2
    for key, tensor in state.items():
        assert torch.equal(tensor, plain[key].to(FP8) if key in rounded else plain[key]), key


def test_fp8_scaled_takes_codes_and_scales_and_leaves_the_rest_as_stored(tiny_pack: Path) -> None:
    state = build(tiny_pack, Quantization.FP8_SCALED, dtype=torch.bfloat16).state_dict()
    with safe_open(tiny_pack / FILES[Quantization.FP8_SCALED], "pt") as file:
        for key, tensor in state.items():
            stored = file.get_tensor(PREFIX + key)
            is_quantised = stored.dtype == FP8 or key.endswith(".weight_scale")
            assert tensor.dtype == (stored.dtype if is_quantised else torch.bfloat16)
            assert torch.equal(tensor.float(), stored.to(tensor.dtype).float()), key
    blocks = {key.split(".")[1] for key, tensor in state.items() if tensor.dtype == FP8}
    assert blocks == {"1", "2"}
    assert all(tensor.dim() == 0 for key, tensor in state.items() if key.endswith(".weight_scale"))
    assert not any(key.endswith(".input_scale") for key in state)


@pytest.mark.parametrize("has_loras", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("quantization", QUANTISED)
def test_velocities_are_within_five_hundredths_of_float32(
    tiny_pack: Path,
    data: Golden,
    loras: tuple[LoraSpec, ...],
    quantization: Quantization,
    dtype: torch.dtype,
    has_loras: bool,
) -> None:
    chosen = loras if has_loras else ()
    ours = run(build(tiny_pack, quantization, *chosen, dtype=dtype), data)
    theirs = run(build(tiny_pack, Quantization.NONE, *chosen), data)
    errors = [relative(a, b) for a, b in zip(ours, theirs, strict=True)]
    print(f"{quantization}, {dtype}, LoRAs {has_loras}: video {errors[0]:.4f}, audio {errors[1]:.4f} of float32")
    assert 1e-3 < max(errors) < 5e-2


@pytest.mark.parametrize("quantization", QUANTISED)
def test_a_quantised_transformer_is_the_plain_one_with_its_weights_dequantised(
    quantised: dict[Quantization, AVTransformer], tiny_pack: Path, data: Golden, quantization: Quantization
) -> None:
    model, plain = quantised[quantization], build(tiny_pack, Quantization.NONE)
    state = model.state_dict()
    values = {
        key: dequantised(state[key], state.get(scale_key_of(key)) if key.endswith(".weight") else None, torch.float32)
        for key in plain.state_dict()
    }
    plain.load_state_dict(values, assign=True)
    for ours, theirs in zip(run(model, data), run(plain, data), strict=True):
        assert relative(ours, theirs) < 1e-6


@pytest.mark.parametrize("quantization", QUANTISED)
def test_products_in_fp8_stay_within_five_hundredths_too(
    tiny_pack: Path, data: Golden, whole: AVTransformer, quantization: Quantization
) -> None:
    ours = run(build(tiny_pack, quantization, in_fp8=True), data)
    errors = [relative(a, b) for a, b in zip(ours, run(whole, data), strict=True)]
    print(f"{quantization}, products in fp8: video {errors[0]:.4f}, audio {errors[1]:.4f} of float32")
    assert max(errors) < 5e-2


@pytest.mark.parametrize("quantization", QUANTISED)
def test_compiled_blocks_multiply_in_fp8_where_their_codes_have_scales_and_their_device_can(
    tiny_pack: Path, monkeypatch: pytest.MonkeyPatch, quantization: Quantization
) -> None:
    on_cpu = build(tiny_pack, quantization)
    on_cpu.compile_blocks(backend="eager")
    assert not any(layer.multiplies_in_fp8 for layer in fp8_layers(on_cpu))
    able = build(tiny_pack, quantization)
    # As on a GPU that can.
    monkeypatch.setattr(Tensor, "is_cuda", property(lambda _: True))
    able.compile_blocks(backend="eager")
    assert {layer.multiplies_in_fp8 for layer in fp8_layers(able)} == {quantization is Quantization.FP8_SCALED}
    for layer in fp8_layers(able):
        layer._lacks_fp8 = True
        assert not layer.gains_by_fp8


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("quantization", QUANTISED)
def test_quantised_layers_compile_and_weights_written_in_place_reach_the_compiled_code(
    quantization: Quantization, backend: str
) -> None:
    layer = make_layer(has_scale=quantization is Quantization.FP8_SCALED)
    x = torch.randn(2, 5, 32, generator=torch.Generator().manual_seed(1))
    compiled = torch.compile(layer, backend=backend, dynamic=False, fullgraph=True)
    torch.testing.assert_close(compiled(x), layer(x))
    count = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    layer.weight.copy_(torch.randn(48, 32).to(FP8))
    if layer.weight_scale is not None:
        layer.weight_scale.fill_(0.25)
    torch.testing.assert_close(compiled(x), layer(x))
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == count


@torch.inference_mode()
def test_compiled_blocks_with_quantised_layers_give_the_same(tiny_pack: Path, data: Golden) -> None:
    model = build(tiny_pack, Quantization.FP8_SCALED)
    before = run(model, data)
    model.compile_blocks(backend="eager")
    for ours, theirs in zip(run(model, data), before, strict=True):
        assert relative(ours, theirs) < 1e-6


def make_layer(*, has_scale: bool) -> Fp8Linear:
    generator = torch.Generator().manual_seed(7)
    layer = Fp8Linear(32, 48, has_bias=True, has_scale=has_scale).requires_grad_(False)
    layer.weight = torch.nn.Parameter(torch.randn(48, 32, generator=generator).to(FP8), requires_grad=False)
    if has_scale:
        layer.weight_scale = torch.tensor(0.5)
    return layer


def test_codes_that_the_compiler_may_not_look_into_give_the_same_values() -> None:
    layer = make_layer(has_scale=True)
    x = torch.randn(3, 32, generator=torch.Generator().manual_seed(1))
    wanted = layer(x)
    layer._lacks_fp8 = True
    assert torch.equal(layer(x), wanted)
    compiled = torch.compile(layer, backend="aot_eager", dynamic=False, fullgraph=True)
    torch.testing.assert_close(compiled(x), wanted)
    arguments = (layer.weight, layer.weight_scale, torch.bfloat16)
    torch.library.opcheck(_opaque_dequantise, arguments, test_utils="test_faketensor")


def rewritten(pack: Path, path: Path, change: Callable[[str, Tensor], Tensor]) -> Path:
    """Write the fp8 file again with some tensors changed."""
    with safe_open(pack / FILES[Quantization.FP8_SCALED], "pt") as file:
        tensors = {key: change(key, file.get_tensor(key)) for key in file.keys()}  # noqa: SIM118 - it is no mapping
        save_file(tensors, path, metadata=file.metadata())
    return path


def turned(key: str, tensor: Tensor) -> Tensor:
    return tensor.t().contiguous() if tensor.dtype == FP8 and tensor.dim() == 2 else tensor


def test_a_file_that_stores_its_layers_turned_gives_the_same_weights_square_ones_too(
    tiny_pack: Path, tmp_path: Path, quantised: dict[Quantization, AVTransformer]
) -> None:
    path = rewritten(tiny_pack, tmp_path / "turned.safetensors", turned)
    state = transformer_builder(path, quantization="fp8-scaled").build(CPU, torch.float32).state_dict()
    expected = quantised[Quantization.FP8_SCALED].state_dict()
    assert state[KEY].shape[0] == state[KEY].shape[1]
    assert all(torch.equal(state[key].float(), tensor.float()) for key, tensor in expected.items())
    assert all(tensor.is_contiguous() for tensor in state.values())


def test_a_file_with_some_layers_turned_and_others_not_is_refused_since_square_ones_cannot_be_told(
    tiny_pack: Path, tmp_path: Path
) -> None:
    path = rewritten(
        tiny_pack,
        tmp_path / "mixed.safetensors",
        lambda key, tensor: turned(key, tensor) if ".2.ff." in key else tensor,
    )
    with pytest.raises(CheckpointError, match="stores some of its layers turned and others not"):
        transformer_builder(path, quantization="fp8-scaled").make_empty_module()


def test_scales_with_a_dimension_are_scales_all_the_same(
    tiny_pack: Path, tmp_path: Path, quantised: dict[Quantization, AVTransformer]
) -> None:
    path = rewritten(
        tiny_pack,
        tmp_path / "one.safetensors",
        lambda key, tensor: tensor.reshape(1) if key.endswith(".weight_scale") else tensor,
    )
    state = transformer_builder(path, quantization="fp8-scaled").build(CPU, torch.float32).state_dict()
    scale = quantised[Quantization.FP8_SCALED].state_dict()[scale_key_of(KEY)]
    assert torch.equal(state[scale_key_of(KEY)], scale)


@pytest.mark.parametrize(
    ("file", "asked", "fitting"),
    [
        ("ltx-2.3-tiny.safetensors", "fp8-scaled", "Choose the quantisation “fp8-cast” or “none”"),
        ("ltx-2.3-tiny-fp8.safetensors", "none", "Choose the quantisation “fp8-scaled”"),
        ("ltx-2.3-tiny-fp8.safetensors", "fp8-cast", "Choose the quantisation “fp8-scaled”"),
    ],
)
def test_a_choice_that_does_not_fit_the_file_is_refused_with_the_one_that_does(
    tiny_pack: Path, file: str, asked: str, fitting: str
) -> None:
    with pytest.raises(CheckpointError) as refusal:
        transformer_builder(tiny_pack / file, quantization=asked).make_empty_module()
    assert fitting in refusal.value.message
    assert file in refusal.value.message
    assert refusal.value.reason is CheckpointReason.QUANTISED


@pytest.mark.parametrize("asked", Quantization)
def test_other_quantisations_are_refused_whatever_is_asked(tiny_pack: Path, tmp_path: Path, asked: str) -> None:
    def to_e5m2(_key: str, tensor: Tensor) -> Tensor:
        return tensor.float().to(torch.float8_e5m2) if tensor.dtype == FP8 else tensor

    path = rewritten(tiny_pack, tmp_path / "other.safetensors", to_e5m2)
    with pytest.raises(CheckpointError, match="quantised in a way that Podium cannot read"):
        transformer_builder(path, quantization=asked).make_empty_module()


@pytest.mark.parametrize("file", ["ltx-2.0-tiny.safetensors", "ltx-2.5/transformer.safetensors"])
def test_fp8_cast_takes_the_other_generations_too(tiny_pack: Path, file: str) -> None:
    plain = transformer_builder(tiny_pack / file).make_empty_module().state_dict()
    state = transformer_builder(tiny_pack / file, quantization="fp8-cast").build(CPU, torch.bfloat16).state_dict()
    assert state.keys() == plain.keys()
    dtypes = {key: tensor.dtype for key, tensor in state.items()}
    assert dtypes[KEY] == FP8
    assert dtypes["transformer_blocks.3.audio_ff.net.2.weight"] == FP8
    assert dtypes["patchify_proj.weight"] == torch.bfloat16


def test_a_word_that_is_no_quantisation_is_a_mistake_of_code(tiny_pack: Path) -> None:
    with pytest.raises(ValueError, match="fp7"):
        transformer_builder(tiny_pack / "ltx-2.3-tiny.safetensors", quantization="fp7")


def test_a_layer_without_its_scale_is_refused_by_name(tiny_pack: Path, tmp_path: Path) -> None:
    path = tmp_path / "unscaled.safetensors"
    with safe_open(tiny_pack / FILES[Quantization.FP8_SCALED], "pt") as file:
        keys = [key for key in file.keys() if key != PREFIX + scale_key_of(KEY)]  # noqa: SIM118
        save_file({key: file.get_tensor(key) for key in keys}, path, metadata=file.metadata())
    with pytest.raises(CheckpointError) as refusal:
        transformer_builder(path, quantization="fp8-scaled").make_empty_module()
    assert f"missing: {scale_key_of(KEY)}" in refusal.value.details


def test_fp8_weights_that_are_no_layers_are_refused(tiny_pack: Path, tmp_path: Path) -> None:
    path = rewritten(
        tiny_pack,
        tmp_path / "norms.safetensors",
        lambda key, tensor: tensor.float().to(FP8) if key.endswith("0.attn1.q_norm.weight") else tensor,
    )
    with pytest.raises(CheckpointError, match="no layers of this model"):
        transformer_builder(path, quantization="fp8-scaled").make_empty_module()


def test_weights_of_each_quantisation_are_kept_apart_in_a_registry(tiny_pack: Path) -> None:
    registry = StateDictRegistry()
    path = tiny_pack / "ltx-2.3-tiny.safetensors"
    whole = transformer_builder(path, registry).build(CPU, torch.float32)
    cast = transformer_builder(path, registry, quantization="fp8-cast").build(CPU, torch.float32)
    again = transformer_builder(path, registry, quantization="fp8-cast").build(CPU, torch.float32)
    assert len(registry) == 2
    assert cast.state_dict()[KEY].dtype == FP8
    assert whole.state_dict()[KEY].dtype == torch.float32
    assert again.state_dict()[KEY].data_ptr() == cast.state_dict()[KEY].data_ptr()


def test_builders_of_one_file_and_quantisation_are_equal(tiny_pack: Path) -> None:
    path = tiny_pack / "ltx-2.3-tiny.safetensors"
    assert transformer_builder(path, quantization="fp8-cast") == transformer_builder(
        path, quantization=Quantization.FP8_CAST
    )
    assert transformer_builder(path, quantization="fp8-cast") != transformer_builder(path)


# LoRAs


def values_of(weights: Mapping[str, Tensor], key: str) -> Tensor:
    scale = weights.get(scale_key_of(key))
    return dequantised(weights[key], scale, torch.float64)


def with_alpha(source: Path, path: Path, alpha: float) -> Path:
    """Write a LoRA again with an alpha for each layer."""
    with safe_open(source, "pt") as file:
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    layers = {key.removesuffix(".lora_A.weight") for key in tensors if key.endswith(".lora_A.weight")}
    save_file(tensors | {f"{layer}.alpha": torch.tensor(alpha) for layer in layers}, path)
    return path


@pytest.mark.parametrize("alpha", [None, 2.0])
@pytest.mark.parametrize("quantization", Quantization)
def test_a_fused_weight_is_the_nearest_to_the_exact_sum_at_whole_and_half_strength(
    tiny_pack: Path, tmp_path: Path, quantization: Quantization, alpha: float | None
) -> None:
    source = tiny_pack / "distilled-lora.safetensors"
    path = source if alpha is None else with_alpha(source, tmp_path / "alpha.safetensors", alpha)
    builder = transformer_builder(tiny_pack / FILES[quantization], quantization=quantization)
    clean = builder.load_weights(CPU, torch.float32).tensors
    with safe_open(source, "pt") as file:
        stem = f"diffusion_model.{KEY.removesuffix('.weight')}"
        a, b = (file.get_tensor(f"{stem}.lora_{part}.weight").double() for part in "AB")
    trained = b @ a * (1.0 if alpha is None else alpha / a.shape[0])
    for strength in (0.8, 0.4):
        fused = fuse_loras(clean, (LoraSpec(path, strength),)).tensors
        exact = values_of(clean, KEY) + strength * trained
        error = (values_of(fused, KEY) - exact).abs()
        if quantization is Quantization.NONE:
            assert float(error.max()) < 1e-6
        else:
            scale = float(fused.get(scale_key_of(KEY), torch.ones(())))
            assert bool((error <= half_step(exact, scale)).all())
            assert bool((fused[KEY].float() != clean[KEY].float()).any())


def test_branch_strengths_hold_for_quantised_weights_too(tiny_pack: Path) -> None:
    builder = transformer_builder(tiny_pack / FILES[Quantization.FP8_SCALED], quantization="fp8-scaled")
    clean = builder.load_weights(CPU, torch.float32).tensors
    spec = LoraSpec(tiny_pack / "distilled-lora.safetensors", 0.5)
    branched = replace(spec, branches=BranchStrengths(video=-2.0, audio=0.0))
    fused = fuse_loras(clean, (branched,)).tensors
    whole = fuse_loras(clean, (replace(spec, strength=-1.0),)).tensors
    assert torch.equal(fused[KEY].float(), whole[KEY].float())
    assert "transformer_blocks.1.audio_attn1.to_q.weight" in whole
    assert "transformer_blocks.1.audio_attn1.to_q.weight" not in fused


@settings(max_examples=50)
@given(
    st.lists(st.floats(-400, 400, width=32), min_size=1, max_size=12),
    st.lists(st.floats(-3000, 3000, width=32), min_size=12, max_size=12),
    st.integers(-8, 8),
)
def test_a_scale_grows_by_the_least_power_of_two_that_holds_the_sums(
    numbers: list[float], deltas: list[float], exponent: int
) -> None:
    clean = torch.tensor(numbers).to(FP8)
    clean_scale = torch.tensor(2.0**exponent * 1.25)
    delta = torch.tensor(deltas[: len(numbers)]) * clean_scale
    exact = dequantised(clean, clean_scale, torch.float64) + delta.double()
    codes, scale = torch.empty_like(clean), torch.empty(())
    requantise_(codes, scale, (clean, clean_scale), delta)
    power = torch.log2(scale / clean_scale)
    assert float(power) == int(power) >= 0
    largest = float(exact.abs().max())
    assert largest <= FP8_MAX * float(scale) * (1 + 1e-6)
    assert power == 0 or largest > FP8_MAX * float(scale) / 2 * (1 - 1e-6)
    assert bool(((dequantised(codes, scale, torch.float64) - exact).abs() <= half_step(exact, float(scale))).all())


def test_what_a_lora_leaves_alone_keeps_its_value_to_the_bit_though_the_scale_grows() -> None:
    generator = torch.Generator().manual_seed(3)
    clean = (torch.randn(8, 16, generator=generator) * 50).to(FP8)
    clean_scale = torch.tensor(0.0031)
    b = torch.zeros(8, 1)
    b[0] = 100 * 448 * clean_scale
    target = {KEY: torch.empty_like(clean), scale_key_of(KEY): torch.empty(())}
    weights = {KEY: clean, scale_key_of(KEY): clean_scale}
    fuse_into_(KEY, target, weights, [LoraDelta(torch.ones(1, 16), b, 1.0)])
    assert float(target[scale_key_of(KEY)]) == pytest.approx(128 * 0.0031)
    before, after = values_of(weights, KEY), values_of(target, KEY)
    is_normal = before[1:].abs() > 128 * 0.0031 * 2.0**-5
    assert torch.equal(after[1:][is_normal], before[1:][is_normal])
    fuse_into_(KEY, target, weights, [])
    assert torch.equal(target[KEY].float(), clean.float())
    assert torch.equal(target[scale_key_of(KEY)], clean_scale)


def test_fp8_without_a_scale_saturates_instead_of_turning_into_no_number() -> None:
    clean = torch.full((2, 2), 400.0).to(FP8)
    target = {KEY: torch.empty_like(clean)}
    fuse_into_(KEY, target, {KEY: clean}, [LoraDelta(torch.ones(1, 2), torch.tensor([[1e5], [-1e5]]), 1.0)])
    assert target[KEY].float().tolist() == [[448.0, 448.0], [-448.0, -448.0]]


def test_the_fp8_files_metadata_names_the_layers_that_come_out_quantised(
    tiny_pack: Path, quantised: dict[Quantization, AVTransformer]
) -> None:
    with safe_open(tiny_pack / FILES[Quantization.FP8_SCALED], "pt") as file:
        layers = json.loads(file.metadata()["_quantization_metadata"])["layers"]
    modules = quantised[Quantization.FP8_SCALED].named_modules()
    assert {name for name, module in modules if isinstance(module, Fp8Linear)} == set(layers)
