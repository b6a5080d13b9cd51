"""Text projection and connectors of every generation against diffusers' class, loaded by itself on padded prompts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from diffusers.pipelines.ltx2.connectors import LTX2TextConnectors
from safetensors import safe_open
from torch import Tensor

from podium.models.text_encoder import EmbeddingsProcessor, embeddings_processor_builder

from tests.fakes.closeness import assert_close_to_golden
from tests.tiny_pack import TinyPack

CPU = torch.device("cpu")
NUM_TOKENS, WIDTH, NUM_STATES = 1024, 48, 5
RENAMED = {
    "model.diffusion_model.": "",
    "video_embeddings_connector": "video_connector",
    "audio_embeddings_connector": "audio_connector",
    "transformer_1d_blocks": "transformer_blocks",
    "q_norm": "norm_q",
    "k_norm": "norm_k",
    "text_embedding_projection.video_aggregate_embed": "video_text_proj_in",
    "text_embedding_projection.audio_aggregate_embed": "audio_text_proj_in",
    "text_embedding_projection.aggregate_embed": "text_proj_in",
}


def files_of(pack: TinyPack) -> tuple[Path, ...]:
    """Return the files that projection and connectors lie in."""
    return (pack.checkpoint_path, *([pack.gemma_root] if pack.model_paths.is_split else []))


def stored_weights(paths: tuple[Path, ...]) -> dict[str, Tensor]:
    weights = {}
    for path in paths:
        with safe_open(path, "pt") as file:
            for key in file.keys():  # noqa: SIM118 - it is no mapping
                if "embeddings_connector" in key or key.startswith("text_embedding_projection"):
                    name = key
                    for old, new in RENAMED.items():
                        name = name.replace(old, new)
                    weights[name] = file.get_tensor(key)
    return weights


def transformer_section(path: Path) -> dict[str, Any]:
    with safe_open(path, "pt") as file:
        section: dict[str, Any] = json.loads(file.metadata()["config"])["transformer"]
    return section


def oracle_2_0(config: dict[str, Any]) -> LTX2TextConnectors:
    """Return the connectors of 2.0 by what is published of them: one projection, sizes of video for both streams."""
    heads, dim = config["connector_num_attention_heads"], config["connector_attention_head_dim"]
    return LTX2TextConnectors(
        caption_channels=WIDTH,
        text_proj_in_factor=NUM_STATES,
        video_connector_num_attention_heads=heads,
        video_connector_attention_head_dim=dim,
        audio_connector_num_attention_heads=heads,
        audio_connector_attention_head_dim=dim,
        connector_rope_base_seq_len=config["connector_positional_embedding_max_pos"][0],
        rope_type="split",
    )


def oracle_2_3(config: dict[str, Any]) -> LTX2TextConnectors:
    """Return those of 2.3 and later: a projection and sizes for each stream, and gates."""
    video = (config["connector_num_attention_heads"], config["connector_attention_head_dim"])
    audio = (config["audio_connector_num_attention_heads"], config["audio_connector_attention_head_dim"])
    return LTX2TextConnectors(
        caption_channels=WIDTH,
        text_proj_in_factor=NUM_STATES,
        video_connector_num_attention_heads=video[0],
        video_connector_attention_head_dim=video[1],
        audio_connector_num_attention_heads=audio[0],
        audio_connector_attention_head_dim=audio[1],
        connector_rope_base_seq_len=config["connector_positional_embedding_max_pos"][0],
        rope_type="split",
        video_gated_attn=True,
        audio_gated_attn=True,
        per_modality_projections=True,
        video_hidden_dim=video[0] * video[1],
        audio_hidden_dim=audio[0] * audio[1],
        proj_bias=True,
    )


@pytest.fixture(scope="module", params=["2.0", "2.3", "2.5"])
def both(request: pytest.FixtureRequest, tiny_pack: Path) -> tuple[EmbeddingsProcessor, LTX2TextConnectors]:
    pack = TinyPack(tiny_pack, request.param)
    files = files_of(pack)
    config = transformer_section(pack.checkpoint_path)
    theirs = oracle_2_0(config) if request.param == "2.0" else oracle_2_3(config)
    theirs.load_state_dict(stored_weights(files))
    return embeddings_processor_builder(*files).build(CPU, torch.float32), theirs.eval()


@torch.inference_mode()
@pytest.mark.parametrize("num_tokens", [3, 37, NUM_TOKENS])
def test_a_prompts_contexts_equal_those_of_diffusers_on_the_padded_prompt(
    both: tuple[EmbeddingsProcessor, LTX2TextConnectors], num_tokens: int
) -> None:
    ours, theirs = both
    hidden = torch.randn(num_tokens, WIDTH, NUM_STATES, generator=torch.Generator().manual_seed(num_tokens)) * 3 + 1
    padded = torch.full((1, NUM_TOKENS, WIDTH, NUM_STATES), 7.0)
    padded[0, NUM_TOKENS - num_tokens :] = hidden
    mask = (torch.arange(NUM_TOKENS) >= NUM_TOKENS - num_tokens)[None].int()
    video, audio, _ = theirs(padded, mask)
    context = ours.process(hidden)
    assert_close_to_golden(context.video, video)
    assert_close_to_golden(context.audio, audio)
