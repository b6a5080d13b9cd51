"""Names in published files to names of modules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.models.key_maps import (
    AUDIO_DECODER,
    AUDIO_ENCODER,
    DIFFUSION_DECODER,
    DURATION_HEAD,
    EMBEDDINGS_PROCESSOR,
    FRAME_DECODER,
    GEMMA3_TEXT,
    LATENT_UPSAMPLER,
    TRANSFORMER,
    VIDEO_DECODER,
    VIDEO_ENCODER,
    VIDEO_STATISTICS,
    VOCODER,
    KeyMap,
    rename_components,
)

ALL_MAPS = (
    TRANSFORMER,
    EMBEDDINGS_PROCESSOR,
    GEMMA3_TEXT,
    VIDEO_ENCODER,
    VIDEO_DECODER,
    VIDEO_STATISTICS,
    AUDIO_ENCODER,
    AUDIO_DECODER,
    VOCODER,
    LATENT_UPSAMPLER,
    DIFFUSION_DECODER,
    FRAME_DECODER,
    DURATION_HEAD,
)
WORDS = st.sampled_from(["ups", "conv_pre", "upsamplers", "0", "weight", "q_norm", "norm_q"])


@pytest.mark.parametrize(
    ("key_map", "file_key", "module_key"),
    [
        (
            TRANSFORMER,
            "model.diffusion_model.transformer_blocks.0.attn1.q_norm.weight",
            "transformer_blocks.0.attn1.q_norm.weight",
        ),
        (TRANSFORMER, "diffusion_model.patchify_proj.bias", "patchify_proj.bias"),
        (VIDEO_ENCODER, "vae.encoder.conv_in.conv.weight", "encoder.conv_in.conv.weight"),
        (VIDEO_DECODER, "decoder.conv_out.conv.bias", "decoder.conv_out.conv.bias"),
        (VIDEO_DECODER, "vae.per_channel_statistics.std-of-means", "statistics.std"),
        (VIDEO_STATISTICS, "per_channel_statistics.mean-of-means", "mean"),
        (AUDIO_DECODER, "audio_vae.decoder.up.1.upsample.conv.conv.bias", "decoder.up.1.upsample.conv.conv.bias"),
        (AUDIO_ENCODER, "audio_vae.per_channel_statistics.mean-of-means", "statistics.mean"),
        (VOCODER, "vocoder.vocoder.ups.0.weight", "vocoder.vocoder.upsamplers.0.weight"),
        (VOCODER, "vocoder.conv_pre.weight", "vocoder.conv_in.weight"),
        (
            VOCODER,
            "vocoder.bwe_generator.resblocks.3.acts1.0.downsample.lowpass.filter",
            "vocoder.bwe_generator.resnets.3.acts1.0.downsample.filter",
        ),
        (VOCODER, "vocoder.vocoder.act_post.upsample.filter", "vocoder.vocoder.act_out.upsample.filter"),
        (
            EMBEDDINGS_PROCESSOR,
            "model.diffusion_model.audio_embeddings_connector.transformer_1d_blocks.1.attn1.k_norm.weight",
            "audio_connector.transformer_blocks.1.attn1.norm_k.weight",
        ),
        (EMBEDDINGS_PROCESSOR, "text_embedding_projection.video_aggregate_embed.bias", "video_projection.bias"),
        (EMBEDDINGS_PROCESSOR, "text_embedding_projection.aggregate_embed.weight", "shared_projection.weight"),
        (GEMMA3_TEXT, "language_model.model.layers.0.mlp.up_proj.weight", "model.layers.0.mlp.up_proj.weight"),
        (GEMMA3_TEXT, "model.language_model.norm.weight", "model.norm.weight"),
        (LATENT_UPSAMPLER, "res_blocks.0.norm1.bias", "network.res_blocks.0.norm1.bias"),
        (DURATION_HEAD, "duration_head.attention_pooler.query_tokens", "attention_pooler.query_tokens"),
        (DIFFUSION_DECODER, "decoder.det_stages.3.1.attn.qkv.weight", "decoder.det_stages.3.1.attn.qkv.weight"),
        (DIFFUSION_DECODER, "vae.decoder.diff_blocks.7.gate_ctx", "decoder.diff_blocks.7.gate_ctx"),
        (DIFFUSION_DECODER, "vae.per_channel_statistics.mean-of-means", "statistics.mean"),
        (FRAME_DECODER, "decoder.conv_in_x_t.weight", "decoder.conv_in_x_t.weight"),
        (FRAME_DECODER, "decoder.up_blocks.2.x", "decoder.up_blocks.0.x"),
    ],
)
def test_a_published_name_becomes_the_modules(key_map: KeyMap, file_key: str, module_key: str) -> None:
    assert key_map([file_key]) == {file_key: module_key}


@pytest.mark.parametrize(
    ("key_map", "file_key"),
    [
        (TRANSFORMER, "model.diffusion_model.video_embeddings_connector.learnable_registers"),
        (TRANSFORMER, "vae.decoder.conv_in.conv.bias"),
        (VIDEO_ENCODER, "vae.decoder.conv_in.conv.bias"),
        (VIDEO_DECODER, "vae.per_channel_statistics.mean-of-stds"),
        (VIDEO_STATISTICS, "vae.encoder.conv_in.conv.weight"),
        (AUDIO_DECODER, "audio_vae.encoder.conv_in.conv.weight"),
        (AUDIO_DECODER, "vae.decoder.conv_in.conv.bias"),
        (EMBEDDINGS_PROCESSOR, "model.diffusion_model.patchify_proj.bias"),
        (GEMMA3_TEXT, "vision_tower.vision_model.post_layernorm.bias"),
        (DURATION_HEAD, "model.diffusion_model.proj_out.bias"),
        (DIFFUSION_DECODER, "decoder.coarse_conv_out.weight"),
        (DIFFUSION_DECODER, "decoder.type_emb"),
        (DIFFUSION_DECODER, "encoder.conv_in.conv.weight"),
        (GEMMA3_TEXT, "multi_modal_projector.mm_soft_emb_norm.weight"),
    ],
)
def test_a_name_of_another_network_is_left_out(key_map: KeyMap, file_key: str) -> None:
    assert key_map([file_key]) == {}


@pytest.mark.parametrize("num_blocks", [7, 9])
def test_encoder_blocks_fold_into_stages_and_the_last_is_the_middle(num_blocks: int) -> None:
    named = VIDEO_ENCODER(
        [f"vae.encoder.down_blocks.{i}.res_blocks.0.conv1.conv.bias" for i in range(0, num_blocks, 2)]
    )
    stages = [name.split(".")[1:3] for name in named.values()]
    assert stages[:-1] == [["down_blocks", str(i)] for i in range(num_blocks // 2)]
    assert list(named.values())[-1] == "encoder.mid_block.resnets.0.conv1.conv.bias"


def test_a_middle_block_without_layers_leaves_the_last_downsampler_what_it_is() -> None:
    keys = ["encoder.down_blocks.1.conv.conv.weight", "encoder.down_blocks.3.conv.conv.weight"]
    assert list(VIDEO_ENCODER(keys).values()) == [
        "encoder.down_blocks.0.downsamplers.0.conv.conv.weight",
        "encoder.down_blocks.1.downsamplers.0.conv.conv.weight",
    ]


def test_odd_encoder_blocks_are_downsamplers() -> None:
    keys = ["vae.encoder.down_blocks.3.conv.conv.bias", "vae.encoder.down_blocks.4.res_blocks.0.conv1.conv.bias"]
    assert VIDEO_ENCODER(keys)[keys[0]] == "encoder.down_blocks.1.downsamplers.0.conv.conv.bias"


@pytest.mark.parametrize(
    ("index", "stage"), [(0, "mid_block"), (1, "up_blocks.0.upsamplers.0"), (2, "up_blocks.0"), (8, "up_blocks.3")]
)
def test_decoder_blocks_unfold_from_the_middle(index: int, stage: str) -> None:
    key = f"vae.decoder.up_blocks.{index}.x"
    assert VIDEO_DECODER([key]) == {key: f"decoder.{stage}.x"}


def test_prefixed_names_win_over_bare_ones() -> None:
    keys = ["vae.decoder.conv_in.conv.bias", "decoder.conv_in.conv.bias"]
    assert VIDEO_DECODER(keys) == {keys[0]: "decoder.conv_in.conv.bias"}


def test_a_transformer_without_prefix_takes_no_key_of_other_networks() -> None:
    keys = ["transformer_blocks.0.ff.net.2.bias", "proj_out.bias", "vae.x", "audio_vae.x", "vocoder.x"]
    assert TRANSFORMER(keys) == {keys[0]: keys[0], keys[1]: keys[1]}


def test_maps_have_names_of_their_own() -> None:
    assert len({key_map.name for key_map in ALL_MAPS}) == len(ALL_MAPS)


@given(st.lists(WORDS, min_size=1, max_size=6))
def test_renaming_touches_whole_components_only(parts: list[str]) -> None:
    renamed = rename_components(".".join(parts), {"ups": "upsamplers", "q_norm": "norm_q"})
    expected = [{"ups": "upsamplers", "q_norm": "norm_q"}.get(part, part) for part in parts]
    assert renamed.split(".") == expected
