"""The transformer against numbers that the original produced, and its own promises."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from torch import Tensor

from podium.jobs import LoraSpec
from podium.models.lora import fuse_loras
from podium.models.transformer.attention import dense_attention
from podium.models.transformer.config import TransformerConfig
from podium.models.transformer.inputs import Perturbations, StreamInput, TokenLevels
from podium.models.transformer.model import AVTransformer

Golden = dict[str, Tensor]
AssertClose = Callable[[Tensor, Tensor, float], None]
PREFIX = "model.diffusion_model."


def read_weights(checkpoint: Path) -> tuple[TransformerConfig, dict[str, Tensor]]:
    with safe_open(checkpoint, "pt") as file:
        config = TransformerConfig.from_official(json.loads(file.metadata()["config"])["transformer"])
        names = [key for key in file.keys() if key.startswith(PREFIX) and "embeddings_connector" not in key]  # noqa: SIM118
        return config, {key.removeprefix(PREFIX): file.get_tensor(key) for key in names}


def make_transformer(config: TransformerConfig, weights: dict[str, Tensor]) -> AVTransformer:
    with torch.device("meta"):
        model = AVTransformer(config)
    model.load_state_dict(weights, assign=True, strict=True)
    return model.eval().requires_grad_(False)


@pytest.fixture(scope="module")
def weights_2_3(tiny_pack: Path) -> tuple[TransformerConfig, dict[str, Tensor]]:
    return read_weights(tiny_pack / "ltx-2.3-tiny.safetensors")


@pytest.fixture(scope="module")
def model_2_3(weights_2_3: tuple[TransformerConfig, dict[str, Tensor]]) -> AVTransformer:
    return make_transformer(*weights_2_3)


@pytest.fixture(scope="module")
def model_2_0(tiny_pack: Path) -> AVTransformer:
    return make_transformer(*read_weights(tiny_pack / "ltx-2.0-tiny.safetensors"))


def streams(
    model: AVTransformer,
    golden: Golden,
    *,
    video_sigma: float | None = None,
    audio_sigma: float | None = None,
    attention_mask: Tensor | None = None,
    denoise_mask: Tensor | None = None,
) -> tuple[StreamInput, StreamInput]:
    sigma = golden["in.sigma"]
    video_level = sigma if video_sigma is None else torch.tensor([video_sigma])
    audio_level = sigma if audio_sigma is None else torch.tensor([audio_sigma])
    mask = torch.ones(golden["in.video.latent"].shape[1]) if denoise_mask is None else denoise_mask
    ropes, audio_ropes = (
        model.video_ropes(golden["in.video.positions"]),
        model.audio_ropes(golden["in.audio.positions"]),
    )
    video = StreamInput(
        latent=golden["in.video.latent"],
        timesteps=TokenLevels.from_mask(mask, model.device).at(video_level),
        sigma=video_level,
        context=golden["in.video.context"],
        rope=ropes.own,
        cross_rope=ropes.cross,
        attention_mask=attention_mask,
        keyframes_mask=golden["in.video.keyframes_mask"],
    )
    audio = StreamInput(
        latent=golden["in.audio.latent"],
        timesteps=TokenLevels(torch.ones(1), None).at(audio_level),
        sigma=audio_level,
        context=golden["in.audio.context"],
        rope=audio_ropes.own,
        cross_rope=audio_ropes.cross,
    )
    return video, audio


@torch.inference_mode()
def assert_run(
    model: AVTransformer,
    golden: Golden,
    name: str,
    assert_close: AssertClose,
    perturbations: Perturbations | None = None,
    **changes: object,
) -> None:
    video, audio = model(*streams(model, golden, **changes), perturbations)  # type: ignore[arg-type]
    assert_close(video, golden[f"{name}.velocity_video"], 1e-5)
    assert_close(audio, golden[f"{name}.velocity_audio"], 1e-5)


@pytest.fixture(params=["2.3", "2.0"])
def case(request: pytest.FixtureRequest, golden: Callable[[str], Golden]) -> tuple[AVTransformer, Golden]:
    model = request.getfixturevalue(f"model_{request.param.replace('.', '_')}")
    return model, golden(f"transformer_{request.param}")


def test_a_plain_forward_equals_the_original(
    case: tuple[AVTransformer, Golden], assert_close_to_golden: AssertClose
) -> None:
    assert_run(*case, "plain", assert_close_to_golden)


def test_tokens_of_unlike_timesteps_equal_the_original(
    case: tuple[AVTransformer, Golden], assert_close_to_golden: AssertClose
) -> None:
    model, golden = case
    mask = (golden["masked.video.timesteps"] / golden["in.sigma"]).flatten()
    assert_run(model, golden, "masked", assert_close_to_golden, denoise_mask=mask)


def test_unlike_noise_levels_of_the_streams_equal_the_original(
    case: tuple[AVTransformer, Golden], assert_close_to_golden: AssertClose
) -> None:
    assert_run(*case, "video_sigma_0.9_audio_sigma_0.3", assert_close_to_golden, video_sigma=0.9, audio_sigma=0.3)


def test_fractional_attention_strengths_equal_the_original(
    case: tuple[AVTransformer, Golden], assert_close_to_golden: AssertClose
) -> None:
    model, golden = case
    assert_run(model, golden, "attention_mask", assert_close_to_golden, attention_mask=golden["attention_mask.mask"])


@pytest.mark.parametrize(
    ("name", "perturbations"),
    [
        ("stg_block1_both", Perturbations(frozenset({1}), video=(True,), audio=(True,))),
        ("stg_block1_video_only", Perturbations(frozenset({1}), video=(True,))),
        ("isolated", Perturbations(isolated=(True,))),
    ],
)
def test_perturbed_forwards_equal_the_original(
    case: tuple[AVTransformer, Golden], assert_close_to_golden: AssertClose, name: str, perturbations: Perturbations
) -> None:
    assert_run(*case, name, assert_close_to_golden, perturbations)


@torch.inference_mode()
def test_video_runs_without_audio(case: tuple[AVTransformer, Golden], assert_close_to_golden: AssertClose) -> None:
    model, golden = case
    video, audio = model(streams(model, golden)[0], None)
    assert_close_to_golden(video, golden["video_only_call.velocity_video"], 1e-5)
    assert audio is None


@torch.inference_mode()
def test_audio_runs_without_video(
    model_2_3: AVTransformer, golden: Callable[[str], Golden], assert_close_to_golden: AssertClose
) -> None:
    data = golden("transformer_2.3")
    video, audio = model_2_3(None, streams(model_2_3, data)[1])
    assert video is None
    # Nothing crosses between isolated streams, so audio alone is audio isolated.
    assert_close_to_golden(audio, data["isolated.velocity_audio"], 1e-5)


@pytest.mark.parametrize(
    ("name", "strengths"),
    [
        ("lora_distilled_0.8_f32_aggregation", {"distilled-lora": 0.8}),
        ("lora_distilled_0.8_style_0.6_f32", {"distilled-lora": 0.8, "style-lora": 0.6}),
    ],
)
def test_fused_loras_equal_the_original(
    weights_2_3: tuple[TransformerConfig, dict[str, Tensor]],
    tiny_pack: Path,
    golden: Callable[[str], Golden],
    assert_close_to_golden: AssertClose,
    name: str,
    strengths: dict[str, float],
) -> None:
    config, weights = weights_2_3
    loras = [LoraSpec(tiny_pack / f"{stem}.safetensors", strength) for stem, strength in strengths.items()]
    model = make_transformer(config, {**weights, **fuse_loras(weights, loras).tensors})
    assert_run(model, golden("transformer_2.3"), name, assert_close_to_golden)


@torch.inference_mode()
def test_each_sample_of_a_batch_is_perturbed_alone(
    model_2_3: AVTransformer, golden: Callable[[str], Golden], assert_close_to_golden: AssertClose
) -> None:
    data = golden("transformer_2.3")
    video, audio = (twice(stream) for stream in streams(model_2_3, data))
    video_v, audio_v = model_2_3(video, audio, Perturbations(frozenset({1}), video=(False, True)))
    for sample, name in enumerate(("plain", "stg_block1_video_only")):
        assert_close_to_golden(video_v[sample : sample + 1], data[f"{name}.velocity_video"], 1e-5)
        assert_close_to_golden(audio_v[sample : sample + 1], data[f"{name}.velocity_audio"], 1e-5)
    _, isolated = model_2_3(video, audio, Perturbations(isolated=(True, False)))
    assert_close_to_golden(isolated[:1], data["isolated.velocity_audio"], 1e-5)
    assert_close_to_golden(isolated[1:], data["plain.velocity_audio"], 1e-5)


def twice(stream: StreamInput) -> StreamInput:
    return StreamInput(
        latent=stream.latent.repeat(2, 1, 1),
        timesteps=TokenLevels(torch.ones(1), None).at(stream.sigma.repeat(2)),
        sigma=stream.sigma.repeat(2),
        context=stream.context.repeat(2, 1, 1),
        rope=stream.rope,
        cross_rope=stream.cross_rope,
    )


@torch.inference_mode()
def test_modulation_runs_once_per_distinct_timestep(model_2_3: AVTransformer, golden: Callable[[str], Golden]) -> None:
    seen: list[int] = []
    hook = model_2_3.adaln_single.linear.register_forward_hook(lambda _m, args, _out: seen.append(args[0].shape[1]))
    data = golden("transformer_2.3")
    mask = (data["masked.video.timesteps"] / data["in.sigma"]).flatten()
    model_2_3(*streams(model_2_3, data, denoise_mask=mask))
    model_2_3(*streams(model_2_3, data))
    hook.remove()
    assert seen == [3, 1]


@torch.inference_mode()
def test_an_attention_slot_takes_another_kernel(model_2_3: AVTransformer, golden: Callable[[str], Golden]) -> None:
    shapes: list[tuple[int, ...]] = []

    def recording(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None) -> Tensor:
        shapes.append(tuple(k.shape))
        return dense_attention(q, k, v, bias)

    slots = [block.video_to_audio_attn for block in model_2_3.transformer_blocks]
    for slot in slots:
        slot.kernel = recording
    model_2_3(*streams(model_2_3, golden("transformer_2.3")))
    for slot in slots:
        slot.kernel = dense_attention
    assert shapes == [(1, 18, 8, 8)] * 4


@torch.inference_mode()
def test_compiled_blocks_give_the_same_and_say_which_shapes_are_new(
    weights_2_3: tuple[TransformerConfig, dict[str, Tensor]],
    golden: Callable[[str], Golden],
    assert_close_to_golden: AssertClose,
) -> None:
    model, data = make_transformer(*weights_2_3), golden("transformer_2.3")
    inputs = streams(model, data)
    assert not model.is_cold(*inputs)
    model.compile_blocks(backend="eager")
    assert model.is_cold(*inputs)
    video, audio = model(*inputs)
    assert_close_to_golden(video, data["plain.velocity_video"], 1e-5)
    assert_close_to_golden(audio, data["plain.velocity_audio"], 1e-5)
    assert not model.is_cold(*inputs)
    mask = (data["masked.video.timesteps"] / data["in.sigma"]).flatten()
    assert model.is_cold(*streams(model, data, denoise_mask=mask))


@torch.inference_mode()
@pytest.mark.parametrize(("keeps_order", "options"), [(False, None), (True, {"reorder_for_peak_memory": False})])
def test_the_compiler_is_told_when_the_order_of_a_block_matters(
    weights_2_3: tuple[TransformerConfig, dict[str, Tensor]],
    golden: Callable[[str], Golden],
    keeps_order: bool,
    options: dict[str, bool] | None,
) -> None:
    told: list[object] = []

    def backend(graph: torch.fx.GraphModule, _inputs: object, **kwargs: object) -> Callable[..., object]:
        told.append(kwargs.get("options"))
        return graph.forward

    model = make_transformer(*weights_2_3)
    model.compile_blocks(backend, keeps_order=keeps_order)
    model(*streams(model, golden("transformer_2.3")))
    assert told
    assert all(one == options for one in told)


@torch.inference_mode()
def test_a_pass_that_is_perturbed_otherwise_is_compiled_anew(
    weights_2_3: tuple[TransformerConfig, dict[str, Tensor]], golden: Callable[[str], Golden]
) -> None:
    model, data = make_transformer(*weights_2_3), golden("transformer_2.3")
    inputs = streams(model, data)
    model.compile_blocks(backend="eager")
    one = frozenset({1})
    kinds = [
        None,
        Perturbations(isolated=(True,)),
        Perturbations(one, video=(True,)),
        Perturbations(one, audio=(True,)),
        Perturbations(frozenset({2}), video=(True,)),
        Perturbations(one, video=(True,), audio=(True,), audio_blocks=frozenset({2})),
    ]
    for index, perturbations in enumerate(kinds):
        assert [model.is_cold(*inputs, other) for other in kinds] == [at >= index for at in range(len(kinds))]
        model(*inputs, perturbations)
    # What perturbs nothing is no other kind.
    assert not model.is_cold(*inputs, Perturbations(one, isolated=(False,)))
