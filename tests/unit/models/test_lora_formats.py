"""A LoRA means the same in every spelling that trainers write, and what is no plain LoRA is told apart."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save_file
from torch import Tensor

from podium.jobs import LoraSpec
from podium.models.lora import fuse_loras
from podium.models.lora_keys import LoraError, read_lora_plan

RANK = 2
SHAPES: dict[str, tuple[int, ...]] = {
    "patchify_proj.weight": (8, 4),
    "patchify_proj.bias": (8,),
    "adaln_single.emb.timestep_embedder.linear_1.weight": (6, 4),
    "audio_prompt_adaln_single.linear.weight": (6, 4),
    "av_ca_a2v_gate_adaln_single.linear.weight": (6, 4),
    "transformer_blocks.0.attn1.q_norm.weight": (8,),
    "transformer_blocks.0.attn1.to_q.weight": (8, 6),
    "transformer_blocks.0.attn1.to_gate_logits.weight": (2, 6),
    "transformer_blocks.0.attn2.to_out.0.weight": (6, 8),
    "transformer_blocks.0.ff.net.0.proj.weight": (12, 6),
    "transformer_blocks.0.audio_to_video_attn.to_k.weight": (8, 4),
    "transformer_blocks.10.audio_ff.net.2.weight": (4, 8),
}
LAYERS = tuple(key.removesuffix(".weight") for key, shape in SHAPES.items() if len(shape) == 2)
DIFFUSERS = {
    "patchify_proj": "proj_in",
    "adaln_single": "time_embed",
    "audio_prompt_adaln_single": "audio_prompt_adaln",
    "av_ca_a2v_gate_adaln_single": "av_cross_attn_video_a2v_gate",
}
Factors = Mapping[str, tuple[Tensor, Tensor]]


def as_diffusers(layer: str) -> str:
    return ".".join(DIFFUSERS.get(part, part) for part in layer.split("."))


def dotted(prefix: str, a: str = "lora_A.weight", b: str = "lora_B.weight") -> Callable[[Factors], dict[str, Tensor]]:
    return lambda factors: {
        f"{prefix}{layer}.{suffix}": tensor
        for layer, pair in factors.items()
        for suffix, tensor in zip((a, b), pair, strict=True)
    }


def flattened(prefix: str, rename: Callable[[str], str] = str) -> Callable[[Factors], dict[str, Tensor]]:
    """Spell as kohya does: flat names, down and up, and alpha (here twice the rank, with B halved to make up)."""

    def spell(factors: Factors) -> dict[str, Tensor]:
        tensors: dict[str, Tensor] = {}
        for layer, (a, b) in factors.items():
            stem = prefix + rename(layer).replace(".", "_")
            tensors |= {f"{stem}.lora_down.weight": a, f"{stem}.lora_up.weight": b / 2}
            tensors[f"{stem}.alpha"] = torch.tensor(2.0 * RANK)
        return tensors

    return spell


def diffusers(factors: Factors) -> dict[str, Tensor]:
    return dotted("transformer.")({as_diffusers(layer): pair for layer, pair in factors.items()})


SPELLINGS: dict[str, Callable[[Factors], dict[str, Tensor]]] = {
    "official": dotted("diffusion_model."),
    "whole checkpoint's prefix": dotted("model.diffusion_model."),
    "ai-toolkit's suffixes": dotted("diffusion_model.", "lora_down.weight", "lora_up.weight"),
    "kohya": flattened("lora_unet_"),
    "kohya with diffusers' names": flattened("lora_transformer_", as_diffusers),
    "lycoris": flattened("lycoris_"),
    "comfy export": dotted("diffusion_model.", "lora.down.weight", "lora.up.weight"),
    "diffusers": diffusers,
    "bare": dotted(""),
    "model": dotted("model."),
    "peft": dotted("base_model.model."),
    "peft around a wrapped model": dotted("base_model.model.diffusion_model."),
    "named adapter": dotted("transformer.", "lora_A.default.weight", "lora_B.default.weight"),
    "net": dotted("net."),
    "no weight suffix": dotted("diffusion_model.", "lora_A", "lora_B"),
}


def make_factors(seed: int, dtype: torch.dtype = torch.float32, layers: tuple[str, ...] = LAYERS) -> Factors:
    generator = torch.Generator().manual_seed(seed)

    def draw(rows: int, columns: int) -> Tensor:
        return torch.randn(rows, columns, generator=generator).to(dtype)

    return {
        layer: (draw(RANK, SHAPES[f"{layer}.weight"][1]), draw(SHAPES[f"{layer}.weight"][0], RANK)) for layer in layers
    }


def make_weights(seed: int = 0) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return {key: torch.randn(shape, generator=generator) for key, shape in SHAPES.items()}


def save(path: Path, tensors: Mapping[str, Tensor], metadata: dict[str, str] | None = None) -> Path:
    save_file({name: tensor.clone() for name, tensor in tensors.items()}, path, metadata)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("loras")


@given(
    spelling=st.sampled_from(sorted(SPELLINGS)),
    seed=st.integers(0, 2**31),
    dtype=st.sampled_from((torch.float32, torch.float16, torch.bfloat16)),
    layers=st.sets(st.sampled_from(LAYERS), min_size=1).map(lambda chosen: tuple(sorted(chosen))),
)
def test_every_spelling_fuses_to_the_same_weights_as_the_official_one(
    folder: Path, spelling: str, seed: int, dtype: torch.dtype, layers: tuple[str, ...]
) -> None:
    factors = make_factors(seed, dtype, layers)
    weights = make_weights()
    official = fuse_loras(
        weights, [LoraSpec(save(folder / "official.safetensors", SPELLINGS["official"](factors)), 0.7)]
    )
    other = fuse_loras(weights, [LoraSpec(save(folder / "other.safetensors", SPELLINGS[spelling](factors)), 0.7)])
    assert sorted(official.tensors) == sorted(f"{layer}.weight" for layer in layers)
    assert sorted(other.tensors) == sorted(official.tensors)
    for key, tensor in official.tensors.items():
        torch.testing.assert_close(other.tensors[key], tensor, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("spelling", sorted(SPELLINGS))
def test_every_layer_is_found_in_every_spelling(tmp_path: Path, spelling: str) -> None:
    plan = read_lora_plan(save(tmp_path / "x.safetensors", SPELLINGS[spelling](make_factors(1))), SHAPES)
    assert [pair.weight_key for pair in plan.pairs] == [f"{layer}.weight" for layer in LAYERS]
    assert plan.report.summary() == f"x.safetensors: all {len(LAYERS)} layers applied."


LAYER = "transformer_blocks.0.attn1.to_q"
OTHER_METHODS: dict[str, dict[str, tuple[int, ...]]] = {
    "LoKr": {"lokr_w1": (2, 2), "lokr_w2_a": (4, 2), "lokr_w2_b": (2, 3), "alpha": ()},
    "LoHa": {"hada_w1_a": (8, 2), "hada_w1_b": (2, 6), "hada_w2_a": (8, 2), "hada_w2_b": (2, 6), "alpha": ()},
    "OFT": {"oft_R.weight": (2, 4, 4)},
    "GLoRA": {"a1.weight": (2, 6), "a2.weight": (6, 2), "b1.weight": (2, 6), "b2.weight": (8, 2)},
    "full difference": {"diff": (8, 6)},
    "Tucker LoRA": {"lora_down.weight": (2, 6), "lora_up.weight": (8, 2), "lora_mid.weight": (2, 2, 1, 1)},
    "LoRA with biases": {"lora_A.weight": (2, 6), "lora_B.weight": (8, 2), "lora_B.bias": (8,)},
}
DORA_MARKS = ("dora_scale", "lora_magnitude_vector.weight", "lora_magnitude_vector.default.weight")


def of_layer(parts: Mapping[str, tuple[int, ...]], layer: str = f"diffusion_model.{LAYER}") -> dict[str, Tensor]:
    return {f"{layer}.{part}": torch.ones(shape) for part, shape in parts.items()}


@pytest.mark.parametrize("method", sorted(OTHER_METHODS))
def test_another_method_is_refused_by_its_name(tmp_path: Path, method: str) -> None:
    path = save(tmp_path / "style.safetensors", of_layer(OTHER_METHODS[method]))
    with pytest.raises(LoraError, match=f"“style.safetensors” is an? {method}, which Podium cannot apply") as refused:
        read_lora_plan(path, SHAPES)
    assert "lora_A/lora_B" in refused.value.message


@pytest.mark.parametrize("mark", DORA_MARKS)
@pytest.mark.parametrize("adapter", ["", "default."])
def test_a_dora_is_not_applied_as_if_it_were_a_plain_lora(tmp_path: Path, mark: str, adapter: str) -> None:
    parts = {f"lora_A.{adapter}weight": (2, 6), f"lora_B.{adapter}weight": (8, 2), mark: (8,)}
    path = save(tmp_path / "dora.safetensors", of_layer(parts))
    with pytest.raises(LoraError, match="is a DoRA"):
        read_lora_plan(path, SHAPES)


def test_a_method_in_flattened_names_is_recognised_too(tmp_path: Path) -> None:
    layer = "lycoris_" + LAYER.replace(".", "_")
    path = save(tmp_path / "lokr.safetensors", of_layer(OTHER_METHODS["LoKr"], layer))
    with pytest.raises(LoraError, match="is a LoKr"):
        read_lora_plan(path, SHAPES)


def test_a_difference_beside_a_pair_is_reported_and_the_pair_applied(tmp_path: Path) -> None:
    parts = {"lora_A.weight": (2, 6), "lora_B.weight": (8, 2), "diff_b": (8,)}
    plan = read_lora_plan(save(tmp_path / "mixed.safetensors", of_layer(parts)), SHAPES)
    assert plan.report.applied.num_layers == 1
    assert plan.report.unsupported_algorithm.first == (f"diffusion_model.{LAYER}.diff_b",)
    assert plan.report.summary() == (
        "mixed.safetensors: 1 of 2 layers applied; left out: 1 made as full difference, which Podium cannot apply "
        f"(diffusion_model.{LAYER}.diff_b)."
    )


CONNECTOR_LAYERS = (
    "diffusion_model.video_embeddings_connector.transformer_1d_blocks.0.attn1.to_q",
    "text_embedding_projection.aggregate_embed",
    "model.diffusion_model.audio_embeddings_connector.transformer_1d_blocks.1.ff.net.2",
    "connectors.text_proj_in",
    "lora_unet_video_embeddings_connector_transformer_1d_blocks_0_attn1_to_q",
)


@pytest.mark.parametrize("layer", CONNECTOR_LAYERS)
def test_connector_layers_are_known_and_not_applied(tmp_path: Path, layer: str) -> None:
    pair = {"lora_A.weight": (2, 6), "lora_B.weight": (8, 2)}
    tensors = of_layer(pair) | of_layer(pair, layer)
    report = read_lora_plan(save(tmp_path / "x.safetensors", tensors), SHAPES).report
    assert (report.applied.num_layers, report.connector.first, report.unknown.num_layers) == (1, (layer,), 0)


def test_a_file_of_connector_layers_alone_is_refused(tmp_path: Path) -> None:
    tensors = of_layer({"lora_A.weight": (2, 6), "lora_B.weight": (8, 2)}, CONNECTOR_LAYERS[0])
    with pytest.raises(LoraError, match="changes only the text connectors"):
        read_lora_plan(save(tmp_path / "x.safetensors", tensors), SHAPES)


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ({"lora_A.weight": (2, 6)}, "without lora_B"),
        ({"lora_up.weight": (8, 2)}, "without lora_A"),
        ({"alpha": ()}, "without lora_A and lora_B"),
        ({"lora_A.weight": (2, 6), "lora_B.weight": (8, 3)}, "factors 2 × 6 and 8 × 3 do not multiply"),
        ({"lora_A.weight": (0, 6), "lora_B.weight": (8, 0)}, "factors 0 × 6 and 8 × 0 do not multiply"),
        ({"lora_A.weight": (2, 6, 1, 1), "lora_B.weight": (8, 2, 1, 1)}, "do not multiply"),
        ({"lora_A.weight": (2, 4), "lora_B.weight": (8, 2)}, "made for 8 × 4, the model's weight is 8 × 6"),
    ],
)
def test_factors_that_do_not_fit_are_told_with_their_shapes(
    tmp_path: Path, parts: dict[str, tuple[int, ...]], why: str
) -> None:
    path = save(tmp_path / "x.safetensors", of_layer(parts))
    with pytest.raises(LoraError, match="does not fit this model") as refused:
        read_lora_plan(path, SHAPES)
    assert f"{LAYER}: " in refused.value.message
    assert why in refused.value.message


def test_a_pair_for_a_norm_is_of_the_wrong_shape(tmp_path: Path) -> None:
    pair = {"lora_A.weight": (2, 1), "lora_B.weight": (8, 2)}
    with pytest.raises(LoraError, match="made for 8 × 1, the model's weight is 8"):
        read_lora_plan(
            save(tmp_path / "x.safetensors", of_layer(pair, "transformer.transformer_blocks.0.attn1.norm_q")), SHAPES
        )


def test_a_layer_beyond_the_model_is_unknown(tmp_path: Path) -> None:
    pair = {"lora_A.weight": (2, 6), "lora_B.weight": (8, 2)}
    tensors = of_layer(pair) | of_layer(pair, "diffusion_model.transformer_blocks.99.attn1.to_q")
    report = read_lora_plan(save(tmp_path / "x.safetensors", tensors), SHAPES).report
    assert report.unknown.first == ("diffusion_model.transformer_blocks.99.attn1.to_q",)
    assert "1 of 2 layers applied; left out: 1 unknown to this model" in report.summary()


def test_a_lora_for_another_model_is_refused_as_one(tmp_path: Path) -> None:
    pair = {"lora_A.weight": (2, 6), "lora_B.weight": (8, 2)}
    path = save(tmp_path / "flux.safetensors", of_layer(pair, "diffusion_model.double_blocks.0.img_attn.qkv"))
    with pytest.raises(LoraError, match=r"is a LoRA for another model: this one has no layer diffusion_model.double"):
        read_lora_plan(path, SHAPES)


def test_a_whole_checkpoint_is_refused_as_no_lora(tmp_path: Path) -> None:
    tensors = {f"model.diffusion_model.{key}": torch.zeros(shape) for key, shape in SHAPES.items()}
    with pytest.raises(LoraError, match=r"is no LoRA: it holds no factors, but model.diffusion_model."):
        read_lora_plan(save(tmp_path / "model.safetensors", tensors), SHAPES)


def test_a_checkpoint_with_biases_is_no_lora_for_another_model(tiny_pack: Path) -> None:
    with pytest.raises(LoraError, match="is no LoRA: it holds no factors"):
        read_lora_plan(tiny_pack / "ltx-2.3-tiny.safetensors", SHAPES)


def test_a_file_without_tensors_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LoraError, match="holds no tensors"):
        read_lora_plan(save(tmp_path / "empty.safetensors", {}), SHAPES)


def test_factors_of_eight_bits_are_refused(tmp_path: Path) -> None:
    tensors = {key: tensor.to(torch.float8_e4m3fn) for key, tensor in SPELLINGS["official"](make_factors(3)).items()}
    with pytest.raises(LoraError, match="is a LoRA with quantised factors"):
        read_lora_plan(save(tmp_path / "x.safetensors", tensors), SHAPES)


def test_a_layer_spelled_twice_counts_once(tmp_path: Path) -> None:
    factors = make_factors(4)
    tensors = SPELLINGS["official"](factors) | SPELLINGS["kohya"](factors)
    report = read_lora_plan(save(tmp_path / "x.safetensors", tensors), SHAPES).report
    assert (report.applied.num_layers, report.duplicate.num_layers) == (len(LAYERS), len(LAYERS))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64])
def test_alpha_is_read_in_every_type(tmp_path: Path, dtype: torch.dtype) -> None:
    tensors = of_layer({"lora_down.weight": (2, 6), "lora_up.weight": (8, 2)})
    tensors[f"diffusion_model.{LAYER}.alpha"] = torch.tensor(3, dtype=dtype)
    (pair,) = read_lora_plan(save(tmp_path / "x.safetensors", tensors), SHAPES).pairs
    assert (pair.rank, pair.scale, pair.alpha_name) == (2, 1.5, f"diffusion_model.{LAYER}.alpha")


def test_each_layer_has_a_rank_of_its_own(tmp_path: Path) -> None:
    tensors = of_layer({"lora_down.weight": (2, 6), "lora_up.weight": (8, 2), "alpha": ()})
    other = "diffusion_model.transformer_blocks.0.attn2.to_out.0"
    tensors |= of_layer({"lora_down.weight": (4, 8), "lora_up.weight": (6, 4), "alpha": ()}, other)
    pairs = read_lora_plan(save(tmp_path / "x.safetensors", tensors), SHAPES).pairs
    assert [(pair.rank, pair.scale) for pair in pairs] == [(2, 0.5), (4, 0.25)]


@pytest.mark.parametrize("alpha", [torch.tensor(float("nan")), torch.tensor(float("inf")), torch.ones(2)])
def test_an_alpha_that_is_no_number_is_refused(tmp_path: Path, alpha: Tensor) -> None:
    tensors = of_layer({"lora_down.weight": (2, 6), "lora_up.weight": (8, 2)})
    tensors[f"diffusion_model.{LAYER}.alpha"] = alpha
    with pytest.raises(LoraError, match=r"alpha of its layer .* is no number"):
        read_lora_plan(save(tmp_path / "x.safetensors", tensors), SHAPES)


@pytest.mark.parametrize(
    ("config", "scale"),
    [
        ({"transformer.lora_alpha": 4, "transformer.r": 2}, 2.0),
        ({"transformer.lora_alpha": 4, "transformer.alpha_pattern": {"attn1.to_q": 1}}, 0.5),
        ({"transformer.lora_alpha": 4, "transformer.alpha_pattern": {"n1.to_q": 1}}, 2.0),
        ({"transformer.lora_alpha": 4, "transformer.use_rslora": True}, 4 / 2**0.5),
        ({"transformer.r": 2}, 1.0),
    ],
)
def test_alpha_comes_from_adapter_metadata_where_no_tensor_tells_it(
    tmp_path: Path, config: dict[str, object], scale: float
) -> None:
    tensors = of_layer({"lora_A.weight": (2, 6), "lora_B.weight": (8, 2)}, f"transformer.{LAYER}")
    path = save(tmp_path / "x.safetensors", tensors, {"lora_adapter_metadata": json.dumps(config)})
    (pair,) = read_lora_plan(path, SHAPES).pairs
    assert pair.scale == pytest.approx(scale)


@pytest.mark.parametrize("text", ["{", "[]", '{"transformer.lora_alpha": []}', "[" * 100_000])
def test_adapter_metadata_that_makes_no_sense_is_passed_over(
    tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    tensors = of_layer({"lora_A.weight": (2, 6), "lora_B.weight": (8, 2)}, f"transformer.{LAYER}")
    path = save(tmp_path / "x.safetensors", tensors, {"lora_adapter_metadata": text})
    (pair,) = read_lora_plan(path, SHAPES).pairs
    assert pair.scale == 1.0
    assert "adapter metadata cannot be read" in caplog.text
