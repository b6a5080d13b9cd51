"""From the names of our modules' parameters to those in published files: what `podium.models.key_maps` undoes."""

from __future__ import annotations

from collections.abc import Callable

from podium.models.key_maps import rename_components

TRANSFORMER_PREFIX = "model.diffusion_model."

_CONNECTOR_RENAMES = {
    "video_connector": f"{TRANSFORMER_PREFIX}video_embeddings_connector",
    "audio_connector": f"{TRANSFORMER_PREFIX}audio_embeddings_connector",
    "transformer_blocks": "transformer_1d_blocks",
    "norm_q": "q_norm",
    "norm_k": "k_norm",
    "video_projection": "text_embedding_projection.video_aggregate_embed",
    "audio_projection": "text_embedding_projection.audio_aggregate_embed",
}
_VOCODER_RENAMES = {
    "conv_in": "conv_pre",
    "conv_out": "conv_post",
    "upsamplers": "ups",
    "resnets": "resblocks",
    "act_out": "act_post",
}

Rule = Callable[[str], str]


def transformer_name(name: str) -> str:
    """Return the name of a parameter of `AVTransformer`."""
    return TRANSFORMER_PREFIX + name


def embeddings_name(name: str) -> str:
    """Return the name of a parameter of `EmbeddingsProcessor`."""
    return rename_components(name, _CONNECTOR_RENAMES)


def gemma_name(name: str) -> str:
    """Return the name of a parameter of transformers' `Gemma3TextModel`."""
    return f"model.{name}"


def encoder_name(num_levels: int) -> Rule:
    """Return the rule for a video encoder that shrinks `num_levels` times."""

    def rule(name: str) -> str:
        parts = name.split(".")
        if parts[0] == "mid_block":
            parts[0:1] = ["down_blocks", str(2 * num_levels)]
        elif parts[0] == "down_blocks":
            parts[1:] = _stage(int(parts[1]), parts[2:], "downsamplers", first=0)
        return "vae.encoder." + rename_components(".".join(parts), {"resnets": "res_blocks"})

    return rule


def decoder_name(name: str) -> str:
    """Return the name of a parameter of the video decoder."""
    parts = name.split(".")
    if parts[0] == "mid_block":
        parts[0:1] = ["up_blocks", "0"]
    elif parts[0] == "up_blocks":
        parts[1:] = _stage(int(parts[1]), parts[2:], "upsamplers", first=2)
    return "vae.decoder." + rename_components(".".join(parts), {"resnets": "res_blocks"})


def audio_name(half: str) -> Rule:
    """Return the rule for "encoder" or "decoder" of the audio VAE."""
    return lambda name: f"audio_vae.{half}.{name}"


def vocoder_name(name: str) -> str:
    """Return the name of a parameter of the vocoder of two generators."""
    renamed = rename_components(name, _VOCODER_RENAMES)
    return "vocoder." + renamed.replace(".downsample.filter", ".downsample.lowpass.filter")


def lora_name(module: str, factor: str) -> str:
    """Return the name of a LoRA's factor, "A" or "B", of a linear layer of `AVTransformer`."""
    return f"diffusion_model.{module}.lora_{factor}.weight"


def _stage(index: int, rest: list[str], scaling: str, *, first: int) -> list[str]:
    # Published files count layers and scalings together; a decoder's stage scales before its layers.
    if rest[0] == scaling:
        return [str(2 * index + 1), *rest[2:]]
    return [str(2 * index + first), *rest]
