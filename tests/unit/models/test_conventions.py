"""Conventions of the published networks that no recorded number covers, each against an oracle of its own."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from diffusers import LTX2VideoTransformer3DModel
from safetensors import safe_open
from torch import Tensor

from podium.models.audio import Vocoder, vocoder_builder
from podium.models.configs import connector_arguments, extended_vocoder_arguments
from podium.models.transformer.builder import transformer_builder
from podium.models.transformer.config import TransformerConfig
from podium.models.transformer.inputs import Perturbations, StreamInput, TokenLevels
from podium.models.transformer.model import AVTransformer
from podium.models.transformer.rotary import rotary_frequencies

from tests.fakes.closeness import relative_error
from tests.tiny_pack import TinyPack

CPU = torch.device("cpu")
PREFIX = "model.diffusion_model."
# Whole components of a name, from the published to diffusers' own.
RENAMED = {
    "patchify_proj": "proj_in",
    "audio_patchify_proj": "audio_proj_in",
    "adaln_single": "time_embed",
    "audio_adaln_single": "audio_time_embed",
    "prompt_adaln_single": "prompt_adaln",
    "audio_prompt_adaln_single": "audio_prompt_adaln",
    "av_ca_video_scale_shift_adaln_single": "av_cross_attn_video_scale_shift",
    "av_ca_audio_scale_shift_adaln_single": "av_cross_attn_audio_scale_shift",
    "av_ca_a2v_gate_adaln_single": "av_cross_attn_video_a2v_gate",
    "av_ca_v2a_gate_adaln_single": "av_cross_attn_audio_v2a_gate",
    "scale_shift_table_a2v_ca_video": "video_a2v_cross_attn_scale_shift_table",
    "scale_shift_table_a2v_ca_audio": "audio_a2v_cross_attn_scale_shift_table",
    "q_norm": "norm_q",
    "k_norm": "norm_k",
}
# 3 x 2 x 3 video tokens, a second of nothing but its first frame kept; 9 audio tokens.
GRID, NUM_AUDIO, FPS = (3, 2, 3), 9, 24.0
VIDEO_SIGMA, AUDIO_SIGMA = 0.9, 0.3


def config_of(pack: TinyPack, section: str = "transformer", path: Path | None = None) -> dict[str, Any]:
    with safe_open(path or pack.checkpoint_path, "pt") as file:
        found: dict[str, Any] = json.loads(file.metadata()["config"])[section]
    return found


def diffusers_transformer(pack: TinyPack, *, timesteps: tuple[Tensor, Tensor], gate_scale: int = 1000) -> Any:
    """Return diffusers' class on a pack's weights, the scale and shift between its streams by each one's own tokens."""
    config, has_gates = config_of(pack), pack.version != "2.0"
    network: Any = LTX2VideoTransformer3DModel(
        num_attention_heads=8,
        attention_head_dim=16,
        cross_attention_dim=128,
        audio_num_attention_heads=8,
        audio_attention_head_dim=8,
        audio_cross_attention_dim=64,
        num_layers=4,
        caption_channels=48,
        gated_attn=has_gates,
        audio_gated_attn=has_gates,
        cross_attn_mod=has_gates,
        audio_cross_attn_mod=has_gates,
        use_prompt_embeddings=not has_gates,
        rope_type="split",
        rope_double_precision=config["frequencies_precision"] == "float64",
        ff_bias=pack.version != "2.5",
        use_keyframes_abs_pos_embedding=pack.version == "2.5",
        perturbed_attn=True,
        cross_attn_timestep_scale_multiplier=gate_scale,
    )
    with safe_open(pack.checkpoint_path, "pt") as file:
        keys = [key for key in file.keys() if key.startswith(PREFIX) and "embeddings_connector" not in key]  # noqa: SIM118
        weights = {
            ".".join(RENAMED.get(part, part) for part in key.removeprefix(PREFIX).split(".")): file.get_tensor(key)
            for key in keys
        }
    network.load_state_dict(weights)
    layers = network.av_cross_attn_video_scale_shift, network.av_cross_attn_audio_scale_shift
    for layer, own in zip(layers, timesteps, strict=True):
        layer.register_forward_pre_hook(lambda _module, args, own=own: (own.flatten(), *args[1:]))
    return network.eval()


class Forward:
    """One forward of both: the first latent frame kept, unlike noise levels of the streams."""

    def __init__(self, pack: TinyPack, *, is_marked: bool = True) -> None:
        generator = torch.Generator().manual_seed(4)
        frames, height, width = GRID
        num_video, area = frames * height * width, height * width
        self.pack, self.dims = pack, (48, 48) if pack.version == "2.0" else (128, 64)
        self.video, self.audio = (torch.randn(1, n, 128, generator=generator) for n in (num_video, NUM_AUDIO))
        self.contexts = [torch.randn(1, 11, dim, generator=generator) for dim in self.dims]
        self.mask = torch.ones(num_video)
        self.mask[:area], self.mask[area : area + 2] = 0.0, 0.25
        self.marker = torch.zeros(1, num_video, 1)
        self.marker[:, :area] = float(is_marked)
        times = [(max(0, 8 * frame - 7) / FPS, (8 * frame + 1) / FPS) for frame in range(frames)]
        boxes = [
            [time, (32.0 * row, 32.0 * row + 32), (32.0 * column, 32.0 * column + 32)]
            for time in times
            for row in range(height)
            for column in range(width)
        ]
        self.video_positions = torch.tensor(boxes).permute(1, 0, 2)[None]
        steps = [(max(0, 4 * step - 3) * 0.01, (4 * step + 1) * 0.01) for step in range(NUM_AUDIO)]
        self.audio_positions = torch.tensor(steps)[None, None]

    @torch.inference_mode()
    def ours(self, model: AVTransformer, perturbations: Perturbations | None = None) -> tuple[Tensor, Tensor]:
        inputs = []
        for latent, mask, sigma, context, ropes, marker in (
            (
                self.video,
                self.mask,
                VIDEO_SIGMA,
                self.contexts[0],
                model.video_ropes(self.video_positions),
                self.marker,
            ),
            (
                self.audio,
                torch.ones(NUM_AUDIO),
                AUDIO_SIGMA,
                self.contexts[1],
                model.audio_ropes(self.audio_positions),
                None,
            ),
        ):
            level = torch.tensor([sigma])
            levels = TokenLevels.from_mask(mask, CPU).at(level)
            inputs.append(StreamInput(latent, levels, level, context, ropes.own, ropes.cross, keyframes_mask=marker))
        video, audio = model(*inputs, perturbations)
        assert video is not None
        assert audio is not None
        return video, audio

    @torch.inference_mode()
    def diffusers(self, *, gate_scale: int = 1000, **changes: Any) -> tuple[Tensor, Tensor]:
        timesteps = (self.mask[None] * VIDEO_SIGMA * 1000, torch.full((1, NUM_AUDIO), AUDIO_SIGMA * 1000))
        network = diffusers_transformer(self.pack, timesteps=timesteps, gate_scale=gate_scale)
        video, audio = network(
            self.video,
            self.audio,
            *self.contexts,
            timestep=timesteps[0],
            audio_timestep=timesteps[1],
            sigma=torch.tensor([VIDEO_SIGMA * 1000]),
            audio_sigma=torch.tensor([AUDIO_SIGMA * 1000]),
            video_coords=self.video_positions,
            audio_coords=self.audio_positions,
            use_cross_timestep=True,
            video_keyframes_mask=self.marker,
            return_dict=False,
            **changes,
        )
        return video, audio


@pytest.fixture(scope="module", params=["2.0", "2.3", "2.5"])
def pack(request: pytest.FixtureRequest, tiny_pack: Path) -> TinyPack:
    return TinyPack(tiny_pack, request.param)


@pytest.fixture(scope="module")
def model(pack: TinyPack) -> AVTransformer:
    return transformer_builder(pack.checkpoint_path).build(CPU, torch.float32)


@pytest.fixture(scope="module")
def model_2_5(tiny_pack_2_5: TinyPack) -> AVTransformer:
    return transformer_builder(tiny_pack_2_5.checkpoint_path).build(CPU, torch.float32)


def assert_equal(ours: tuple[Tensor, Tensor], theirs: tuple[Tensor, Tensor]) -> None:
    assert [relative_error(*pair) < 1e-5 for pair in zip(ours, theirs, strict=True)] == [True, True]


def test_a_forward_is_that_of_diffusers_with_scales_by_own_tokens_and_gates_by_the_other_stream(
    pack: TinyPack, model: AVTransformer
) -> None:
    forward = Forward(pack)
    assert_equal(forward.ours(model), forward.diffusers())


def test_perturbed_and_isolated_forwards_are_those_of_diffusers(pack: TinyPack, model: AVTransformer) -> None:
    forward = Forward(pack)
    both = Perturbations(frozenset({1, 2}), video=(True,), audio=(True,))
    assert_equal(forward.ours(model, both), forward.diffusers(spatio_temporal_guidance_blocks=[1, 2]))
    alone = forward.ours(model, Perturbations(isolated=(True,)))
    assert_equal(alone, forward.diffusers(isolate_modalities=True))


def test_the_marker_of_the_first_frame_is_learned_by_2_5(tiny_pack_2_5: TinyPack, model_2_5: AVTransformer) -> None:
    marked, unmarked = (Forward(tiny_pack_2_5, is_marked=flag).ours(model_2_5) for flag in (True, False))
    assert relative_error(unmarked[0], marked[0]) > 0.05


def test_and_by_none_before(tiny_pack_2_3: TinyPack) -> None:
    model = transformer_builder(tiny_pack_2_3.checkpoint_path).build(CPU, torch.float32)
    marked, unmarked = (Forward(tiny_pack_2_3, is_marked=flag).ours(model) for flag in (True, False))
    assert all(torch.equal(*pair) for pair in zip(marked, unmarked, strict=True))


def test_noise_levels_count_in_thousandths_and_those_of_gates_in_ones_where_a_file_does_not_say(
    tiny_pack_2_3: TinyPack,
) -> None:
    config = config_of(tiny_pack_2_3)
    told = TransformerConfig.from_official(config)
    assert (told.timestep_scale, told.gate_timestep_scale) == (1000, 1000)
    del config["timestep_scale_multiplier"], config["av_ca_timestep_scale_multiplier"]
    silent = TransformerConfig.from_official(config)
    assert (silent.timestep_scale, silent.gate_timestep_scale) == (1000, 1)


def test_gates_take_the_noise_level_by_their_own_factor(tiny_pack_2_3: TinyPack) -> None:
    model = transformer_builder(tiny_pack_2_3.checkpoint_path).build(CPU, torch.float32)
    forward = Forward(tiny_pack_2_3)
    usual = forward.ours(model)
    model.config = replace(model.config, gate_timestep_scale=1.0)
    assert_equal(forward.ours(model), forward.diffusers(gate_scale=1))
    assert relative_error(forward.ours(model)[0], usual[0]) > 1e-3


def test_rotary_frequencies_are_rounded_to_float32_once_at_the_end() -> None:
    exponents = np.linspace(0, 1, 21, dtype=np.float64)
    expected = (np.float64(10000.0) ** exponents * np.pi / 2).astype(np.float32)
    ours = rotary_frequencies(dim=128, num_axes=3, theta=10000.0, is_float64=True)
    assert np.array_equal(ours.numpy(), expected)
    assert not torch.equal(rotary_frequencies(dim=128, num_axes=3, theta=10000.0, is_float64=False), ours)


def test_tokens_are_rotated_in_the_models_own_type(tiny_pack_2_3: TinyPack) -> None:
    half = transformer_builder(tiny_pack_2_3.checkpoint_path).build(CPU, torch.bfloat16)
    exact = transformer_builder(tiny_pack_2_3.checkpoint_path).build(CPU, torch.float32)
    positions = Forward(tiny_pack_2_3).video_positions
    for ours, wanted in zip(
        (half.video_ropes(positions).own, half.video_ropes(positions).cross),
        (exact.video_ropes(positions).own, exact.video_ropes(positions).cross),
        strict=True,
    ):
        # Angles in float32, their cosines and sines rounded after that.
        assert torch.equal(ours.cos, wanted.cos.bfloat16())
        assert torch.equal(ours.sin, wanted.sin.bfloat16())


def test_connectors_have_128_registers_whatever_a_file_says(tiny_pack_2_3: TinyPack) -> None:
    config = config_of(tiny_pack_2_3) | {"connector_num_learnable_registers": 64}
    assert connector_arguments(config, "audio")["num_learnable_registers"] == 128


def test_connectors_without_biases_are_refused() -> None:
    with pytest.raises(ValueError, match="connector_ff_bias"):
        connector_arguments({"connector_ff_bias": False}, "video")


@pytest.fixture(scope="module")
def vocoder(tiny_pack_2_3: TinyPack) -> Vocoder:
    """Return the pair of generators of 2.3, both many times louder than they are."""
    loud = vocoder_builder(tiny_pack_2_3.checkpoint_path).build(CPU, torch.float32)
    for generator in (loud.vocoder.vocoder, loud.vocoder.bwe_generator):
        generator.conv_out.weight = torch.nn.Parameter(generator.conv_out.weight * 200, requires_grad=False)
    return loud


@torch.inference_mode()
def test_a_loud_base_generator_is_cut_at_one_and_the_extender_is_not(vocoder: Vocoder) -> None:
    heard: list[Tensor] = []
    hooks = [
        generator.register_forward_hook(lambda _module, _args, out: heard.append(out))
        for generator in (vocoder.vocoder.vocoder, vocoder.vocoder.bwe_generator)
    ]
    whole = vocoder.synthesize(torch.randn(1, 2, 5, 64, generator=torch.Generator().manual_seed(1)))
    for hook in hooks:
        hook.remove()
    base, extension = heard
    # Cut, not bent: many samples stand at one exactly, and between them nothing is squeezed.
    assert float(base.abs().max()) == 1.0
    assert int((base.abs() == 1.0).sum()) > 100
    assert float(extension.abs().max()) > 1.5
    assert float(whole.abs().max()) == 1.0


@pytest.mark.parametrize("final", [None, False, True])
def test_the_extender_has_no_activation_at_its_end_whatever_a_file_says(
    tiny_pack_2_3: TinyPack, final: bool | None
) -> None:
    config = config_of(tiny_pack_2_3, "vocoder")
    section = config["bwe"] | {"apply_final_activation": final}
    config["bwe"] = {key: value for key, value in section.items() if value is not None}
    arguments = extended_vocoder_arguments(config)
    assert (arguments["final_act_fn"], arguments["bwe_final_act_fn"]) == ("clamp", None)
