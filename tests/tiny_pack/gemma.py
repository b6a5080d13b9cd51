"""The text encoders of a tiny pack: Gemma 3 and Gemma 4 folders, and Gemma 4's tensors in the single-file layout.

Shapes are written out here rather than asked of transformers: the names and nesting of its modules change between
releases, those of published files do not. Each tensor is drawn under the module name it bore when the pack was defined,
and renamed for the file it goes to.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.tiny_pack.number_formats import Float32Array
from tests.tiny_pack.random_source import TensorCollection
from tests.tiny_pack.tokenizer import json_bytes, tokenizer_files
from tests.tiny_pack.traits import (
    GEMMA_4_VERSION,
    GEMMA_HIDDEN_DIM,
    NUM_GEMMA_LAYERS,
    NUM_VOCABULARY,
    Config,
    JsonValue,
)

_MLP_DIM = 96
_NUM_HEADS, _NUM_KEY_HEADS, _HEAD_DIM = 4, 2, 16
_NUM_GLOBAL_KEY_HEADS, _GLOBAL_HEAD_DIM = 1, 32
_VISION_DIM, _VISION_MLP_DIM, _VISION_PATCH_PX, _VISION_SIDE_PX = 16, 32, 7, 28
_PATCH_PX, _POOLING, _NUM_POSITIONS = 4, 2, 16
_AUDIO_DIM = 32
_LANGUAGE = "model.language_model."

_GEMMA_3_FILE_PREFIXES = (
    (_LANGUAGE, "language_model.model."),
    ("model.vision_tower.", "vision_tower.vision_model."),
    ("model.multi_modal_projector.", "multi_modal_projector."),
)
_EMBED_VISION, _PROJECTION = "model.embed_vision.", "multimodal_embedder."
_GEMMA_4_FILE_PREFIXES = (
    (_EMBED_VISION + _PROJECTION, _EMBED_VISION),
    (_EMBED_VISION, "model.vision_embedder."),
)
_GEMMA_4_SINGLE_FILE_PREFIXES = (
    (_LANGUAGE, "model."),
    ("model.embed_audio.", "audio_projector."),
    (_EMBED_VISION + _PROJECTION, "multi_modal_projector."),
    (_EMBED_VISION, "vision_model."),
)


@dataclass(frozen=True, slots=True)
class _Shape:
    """A tensor's name and shape."""

    name: str
    sizes: tuple[int, ...]


def gemma_3_config() -> Config:
    """Return the config.json of the Gemma 3 folder."""
    return {
        "architectures": ["Gemma3ForConditionalGeneration"],
        "model_type": "gemma3",
        "boi_token_index": 6,
        "eoi_token_index": 7,
        "image_token_index": 8,
        "eos_token_id": [1, 5],
        "mm_tokens_per_image": 4,
        "initializer_range": 0.02,
        "text_config": {
            **_text_config("gemma3_text"),
            "head_dim": _HEAD_DIM,
            "query_pre_attn_scalar": 16,
            "sliding_window": 1024,
            "layer_types": _layer_types(),
            "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
            "max_position_embeddings": 4096,
        },
        "vision_config": {
            "model_type": "siglip_vision_model",
            "hidden_size": _VISION_DIM,
            "intermediate_size": _VISION_MLP_DIM,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "image_size": _VISION_SIDE_PX,
            "patch_size": _VISION_PATCH_PX,
            "vision_use_head": False,
        },
    }


def gemma_4_config() -> Config:
    """Return the config.json of the Gemma 4 folder, which the single-file text encoder carries as metadata."""
    return {
        "architectures": ["Gemma4UnifiedForConditionalGeneration"],
        "model_type": "gemma4_unified",
        "gemma_version": GEMMA_4_VERSION,
        "boi_token_id": 6,
        "eoi_token_id": 7,
        "image_token_id": 8,
        "audio_token_id": 9,
        "boa_token_id": 10,
        "eoa_token_index": 11,
        "video_token_id": 12,
        "text_config": {
            **_text_config("gemma4_unified_text"),
            "num_global_key_value_heads": _NUM_GLOBAL_KEY_HEADS,
            "head_dim": _HEAD_DIM,
            "global_head_dim": _GLOBAL_HEAD_DIM,
            "attention_k_eq_v": True,
            "sliding_window": 1024,
            "layer_types": _layer_types(),
            "final_logit_softcapping": 30.0,
            "max_position_embeddings": 4096,
        },
        "vision_config": {
            "model_type": "gemma4_unified_vision",
            "patch_size": _PATCH_PX,
            "pooling_kernel_size": _POOLING,
            "mm_embed_dim": GEMMA_HIDDEN_DIM,
            "mm_posemb_size": _NUM_POSITIONS,
            "output_proj_dims": GEMMA_HIDDEN_DIM,
        },
        "audio_config": {"model_type": "gemma4_unified_audio", "audio_embed_dim": _AUDIO_DIM},
    }


def gemma_3_files() -> dict[str, bytes]:
    """Return every file of the Gemma 3 folder but its weights, by name."""
    return {
        "config.json": json_bytes(gemma_3_config()),
        **tokenizer_files(3),
        "preprocessor_config.json": json_bytes(_gemma_3_image_processor()),
        "processor_config.json": json_bytes({"image_seq_length": 4, "processor_class": "Gemma3Processor"}),
    }


def gemma_4_files() -> dict[str, bytes]:
    """Return every file of the Gemma 4 folder but its weights, by name."""
    return {
        "config.json": json_bytes(gemma_4_config()),
        **tokenizer_files(4),
        "processor_config.json": json_bytes(_gemma_4_processor()),
    }


def gemma_3_tensors(seed: int) -> dict[str, Float32Array]:
    """Return the weights under the names of the published Gemma 3 shards."""
    collection = TensorCollection(seed, "gemma3")
    for shape in (*_siglip_shapes(), *_gemma_3_projector_shapes(), *_language_shapes(is_gemma_4=False)):
        # Gemma 3 multiplies by one plus the weight of a norm; its vision tower by the weight.
        is_offset = _LANGUAGE in shape.name or "soft_emb_norm" in shape.name
        _draw(collection, shape, norm_mean=0.0 if is_offset else 1.0)
    return _renamed(collection.tensors, _GEMMA_3_FILE_PREFIXES)


def gemma_4_tensors(seed: int) -> dict[str, Float32Array]:
    """Return the weights under the names of the published Gemma 4 folder."""
    return _renamed(_gemma_4_streams(seed), _GEMMA_4_FILE_PREFIXES)


def gemma_4_single_file_tensors(seed: int) -> dict[str, Float32Array]:
    """Return the same weights under the flattened names of the single-file text encoder of 2.5."""
    return _renamed(_gemma_4_streams(seed), _GEMMA_4_SINGLE_FILE_PREFIXES)


def _gemma_4_streams(seed: int) -> dict[str, Float32Array]:
    collection = TensorCollection(seed, "gemma4")
    for shape in (*_language_shapes(is_gemma_4=True), *_gemma_4_embedder_shapes()):
        _draw(collection, shape, norm_mean=1.0)
    return collection.tensors


def _draw(collection: TensorCollection, shape: _Shape, *, norm_mean: float) -> None:
    name, sizes = shape.name, shape.sizes
    if name.endswith("layer_scalar"):
        collection.normal(name, sizes, 0.05, 1.0)
    elif "norm" in name and name.endswith("weight"):
        collection.normal(name, sizes, 0.1, norm_mean)
    elif "embed_tokens" in name:
        collection.normal(name, sizes, 0.3)
    elif len(sizes) >= 2:
        collection.normal(name, sizes, 1.0 / math.sqrt(math.prod(sizes[1:])))
    else:
        collection.normal(name, sizes, 0.05)


def _renamed(tensors: Mapping[str, Float32Array], prefixes: tuple[tuple[str, str], ...]) -> dict[str, Float32Array]:
    def file_name(name: str) -> str:
        for ours, theirs in prefixes:
            if name.startswith(ours):
                return theirs + name.removeprefix(ours)
        return name

    return {file_name(name): tensor for name, tensor in tensors.items()}


def _language_shapes(*, is_gemma_4: bool) -> Iterator[_Shape]:
    yield _Shape(f"{_LANGUAGE}embed_tokens.weight", (NUM_VOCABULARY, GEMMA_HIDDEN_DIM))
    for index in range(NUM_GEMMA_LAYERS):
        prefix = f"{_LANGUAGE}layers.{index}."
        if is_gemma_4:
            yield _Shape(f"{prefix}layer_scalar", (1,))
        yield from _attention_shapes(f"{prefix}self_attn.", is_global=is_gemma_4 and index == NUM_GEMMA_LAYERS - 1)
        yield _Shape(f"{prefix}mlp.gate_proj.weight", (_MLP_DIM, GEMMA_HIDDEN_DIM))
        yield _Shape(f"{prefix}mlp.up_proj.weight", (_MLP_DIM, GEMMA_HIDDEN_DIM))
        yield _Shape(f"{prefix}mlp.down_proj.weight", (GEMMA_HIDDEN_DIM, _MLP_DIM))
        for norm in ("input", "post_attention", "pre_feedforward", "post_feedforward"):
            yield _Shape(f"{prefix}{norm}_layernorm.weight", (GEMMA_HIDDEN_DIM,))
    yield _Shape(f"{_LANGUAGE}norm.weight", (GEMMA_HIDDEN_DIM,))


def _attention_shapes(prefix: str, *, is_global: bool) -> Iterator[_Shape]:
    """Yield one attention's shapes; Gemma 4's global layers have wider heads and use their keys as values."""
    head_dim = _GLOBAL_HEAD_DIM if is_global else _HEAD_DIM
    key_dim = (_NUM_GLOBAL_KEY_HEADS if is_global else _NUM_KEY_HEADS) * head_dim
    yield _Shape(f"{prefix}q_proj.weight", (_NUM_HEADS * head_dim, GEMMA_HIDDEN_DIM))
    yield _Shape(f"{prefix}k_proj.weight", (key_dim, GEMMA_HIDDEN_DIM))
    if not is_global:
        yield _Shape(f"{prefix}v_proj.weight", (key_dim, GEMMA_HIDDEN_DIM))
    yield _Shape(f"{prefix}o_proj.weight", (GEMMA_HIDDEN_DIM, _NUM_HEADS * head_dim))
    yield _Shape(f"{prefix}q_norm.weight", (head_dim,))
    yield _Shape(f"{prefix}k_norm.weight", (head_dim,))


def _siglip_shapes() -> Iterator[_Shape]:
    prefix, dim = "model.vision_tower.", _VISION_DIM
    yield _Shape(f"{prefix}embeddings.patch_embedding.weight", (dim, 3, _VISION_PATCH_PX, _VISION_PATCH_PX))
    yield _Shape(f"{prefix}embeddings.patch_embedding.bias", (dim,))
    num_patches = (_VISION_SIDE_PX // _VISION_PATCH_PX) ** 2
    yield _Shape(f"{prefix}embeddings.position_embedding.weight", (num_patches, dim))
    layer = f"{prefix}encoder.layers.0."
    for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
        yield from _with_bias(f"{layer}self_attn.{name}", (dim, dim))
    yield from _with_bias(f"{layer}mlp.fc1", (_VISION_MLP_DIM, dim))
    yield from _with_bias(f"{layer}mlp.fc2", (dim, _VISION_MLP_DIM))
    for name in (f"{layer}layer_norm1", f"{layer}layer_norm2", f"{prefix}post_layernorm"):
        yield from _with_bias(name, (dim,))


def _gemma_3_projector_shapes() -> Iterator[_Shape]:
    prefix = "model.multi_modal_projector."
    yield _Shape(f"{prefix}mm_input_projection_weight", (_VISION_DIM, GEMMA_HIDDEN_DIM))
    yield _Shape(f"{prefix}mm_soft_emb_norm.weight", (_VISION_DIM,))


def _gemma_4_embedder_shapes() -> Iterator[_Shape]:
    prefix, dim = "model.embed_vision.", GEMMA_HIDDEN_DIM
    patch_values = 3 * (_PATCH_PX * _POOLING) ** 2
    yield _Shape(f"{prefix}pos_embedding", (_NUM_POSITIONS, 2, dim))
    yield from _with_bias(f"{prefix}patch_ln1", (patch_values,))
    yield from _with_bias(f"{prefix}patch_dense", (dim, patch_values))
    yield from _with_bias(f"{prefix}patch_ln2", (dim,))
    yield from _with_bias(f"{prefix}pos_norm", (dim,))
    yield _Shape(f"{prefix}{_PROJECTION}embedding_projection.weight", (dim, dim))
    yield _Shape("model.embed_audio.embedding_projection.weight", (dim, _AUDIO_DIM))


def _with_bias(name: str, sizes: tuple[int, ...]) -> Iterator[_Shape]:
    yield _Shape(f"{name}.weight", sizes)
    yield _Shape(f"{name}.bias", sizes[:1])


def _text_config(model_type: str) -> Config:
    return {
        "model_type": model_type,
        "vocab_size": NUM_VOCABULARY,
        "hidden_size": GEMMA_HIDDEN_DIM,
        "intermediate_size": _MLP_DIM,
        "num_hidden_layers": NUM_GEMMA_LAYERS,
        "num_attention_heads": _NUM_HEADS,
        "num_key_value_heads": _NUM_KEY_HEADS,
    }


def _layer_types() -> list[JsonValue]:
    return [*["sliding_attention"] * (NUM_GEMMA_LAYERS - 1), "full_attention"]


def _gemma_3_image_processor() -> Config:
    return {
        "image_processor_type": "Gemma3ImageProcessor",
        "processor_class": "Gemma3Processor",
        "do_resize": True,
        "do_rescale": True,
        "do_normalize": True,
        "do_convert_rgb": None,
        "do_pan_and_scan": None,
        "image_mean": [0.5, 0.5, 0.5],
        "image_std": [0.5, 0.5, 0.5],
        "image_seq_length": 4,
        "resample": 2,
        "rescale_factor": 1 / 255,
        "size": {"height": _VISION_SIDE_PX, "width": _VISION_SIDE_PX},
    }


def _gemma_4_processor() -> Config:
    patches: Config = {"patch_size": _PATCH_PX, "pooling_kernel_size": _POOLING}
    soft_tokens: Config = {"model_patch_size": _PATCH_PX * _POOLING, "max_soft_tokens": 70}
    return {
        "processor_class": "Gemma4UnifiedProcessor",
        "image_seq_length": 4,
        "audio_seq_length": 8,
        "image_processor": {"image_processor_type": "Gemma4UnifiedImageProcessor", **patches, **soft_tokens},
        "video_processor": {"video_processor_type": "Gemma4UnifiedVideoProcessor", **patches, **soft_tokens},
        "feature_extractor": {
            "feature_extractor_type": "Gemma4UnifiedAudioFeatureExtractor",
            "sampling_rate": 16000,
            "audio_samples_per_token": _AUDIO_DIM,
            "feature_size": _AUDIO_DIM,
        },
    }
