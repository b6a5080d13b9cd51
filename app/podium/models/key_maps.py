"""From the names in published checkpoints to the parameter names of our modules. No torch.

Renames touch whole components of a dotted name, never parts of a word. A map sees all names of a checkpoint at once,
since some names mean something only beside the others (which down block is the last one).

Source of the names: the headers of the published LTX-2.0, 2.3 and 2.5 files and Gemma 3 shards.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

FileToModule = dict[str, str]
Rule = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class KeyMap:
    """A named map of the keys of one or several files to the keys of a module; keys it leaves out are not loaded.

    Args:
        name: Unique: weights are cached under it.
        resolve: From all file keys to `{file key: module key}`.
    """

    name: str
    resolve: Callable[[Collection[str]], FileToModule] = field(repr=False, compare=False)

    def __call__(self, file_keys: Collection[str]) -> FileToModule:
        """Return the module key of every file key that the module wants."""
        return self.resolve(file_keys)


def identity_key_map(name: str) -> KeyMap:
    """Return a map that takes every key as it is."""
    return KeyMap(name, lambda keys: {key: key for key in keys})


def each_key(rule: Rule) -> Callable[[Collection[str]], FileToModule]:
    """Return a `resolve` that asks `rule` for every key alone; None leaves the key out."""
    return lambda keys: {key: renamed for key in keys if (renamed := rule(key)) is not None}


def rename_components(key: str, renames: Mapping[str, str]) -> str:
    """Replace each whole component of a dotted key that `renames` names."""
    return ".".join(renames.get(part, part) for part in key.split("."))


def first_prefix(keys: Collection[str], prefixes: tuple[str, ...]) -> str | None:
    """Return the first of `prefixes` that any key starts with; None if there is none."""
    return next((prefix for prefix in prefixes if any(key.startswith(prefix) for key in keys)), None)


_TRANSFORMER_PREFIXES = ("model.diffusion_model.", "diffusion_model.", "transformer_blocks.")
_CONNECTORS = ("video_embeddings_connector", "audio_embeddings_connector")
_OTHER_ROOMS = ("vae.", "audio_vae.", "vocoder.", "text_embedding_projection.", "duration_head.", "text_encoder.")


def _resolve_transformer(keys: Collection[str]) -> FileToModule:
    prefix = first_prefix(keys, _TRANSFORMER_PREFIXES)
    prefix = "" if prefix == "transformer_blocks." else prefix
    if prefix is None:
        return {}

    def rule(key: str) -> str | None:
        if not key.startswith(prefix) or (not prefix and key.startswith(_OTHER_ROOMS)):
            return None
        name = key.removeprefix(prefix)
        return None if name.split(".", 1)[0] in _CONNECTORS else name

    return each_key(rule)(keys)


TRANSFORMER = KeyMap("transformer", _resolve_transformer)
"""The transformer keeps the official names; prefix and connectors go."""


_CONNECTOR_RENAMES = {
    "video_embeddings_connector": "video_connector",
    "audio_embeddings_connector": "audio_connector",
    "transformer_1d_blocks": "transformer_blocks",
    "q_norm": "norm_q",
    "k_norm": "norm_k",
}
_PROJECTION_RENAMES = {
    "aggregate_embed": "shared_projection",
    "video_aggregate_embed": "video_projection",
    "audio_aggregate_embed": "audio_projection",
}
_PROJECTION_PREFIX = "text_embedding_projection."


def _embeddings_rule(key: str) -> str | None:
    if key.startswith(_PROJECTION_PREFIX):
        return rename_components(key.removeprefix(_PROJECTION_PREFIX), _PROJECTION_RENAMES)
    for prefix in ("model.diffusion_model.", "diffusion_model.", ""):
        name = key.removeprefix(prefix)
        if key.startswith(prefix) and name.split(".", 1)[0] in _CONNECTORS:
            return rename_components(name, _CONNECTOR_RENAMES)
    return None


EMBEDDINGS_PROCESSOR = KeyMap("embeddings_processor", each_key(_embeddings_rule))
"""Text projection and both connectors, from one file or from the two that a split pack keeps them in."""

_GEMMA3_PREFIXES = ("language_model.model.", "model.language_model.", "model.")


def _resolve_gemma3(keys: Collection[str]) -> FileToModule:
    prefix = first_prefix(keys, _GEMMA3_PREFIXES)
    if prefix is None:
        return {}
    return {key: "model." + key.removeprefix(prefix) for key in keys if key.startswith(prefix)}


GEMMA3_TEXT = KeyMap("gemma3_text", _resolve_gemma3)
"""The language model of Gemma, 3 or 4, in a folder or in a single file under flattened names; towers, projectors and
the tied output head stay on disk."""


_STATISTICS_RENAMES = {"mean-of-means": "statistics.mean", "std-of-means": "statistics.std"}


def _statistics_name(name: str) -> str | None:
    """Map the two statistics that latents are normalised by; published files hold others, which nothing reads."""
    return _STATISTICS_RENAMES.get(name.removeprefix("per_channel_statistics."))


def _component_keys(keys: Collection[str], prefix: str) -> dict[str, str]:
    """Return `{file key: key without prefix}`; a split file has the same names without the prefix."""
    used = prefix if first_prefix(keys, (prefix,)) else ""
    return {key: key.removeprefix(used) for key in keys if key.startswith(used)}


def _encoder_block(parts: list[str], last: int) -> list[str]:
    """Rename `down_blocks.i...`: even blocks hold layers, odd ones shrink, the last is the middle block."""
    index = int(parts[1])
    if index == last:
        return ["mid_block", *parts[2:]]
    stage = ["down_blocks", str(index // 2)]
    return [*stage, *parts[2:]] if index % 2 == 0 else [*stage, "downsamplers", "0", *parts[2:]]


def _decoder_block(parts: list[str]) -> list[str]:
    """Rename `up_blocks.i...`: the first is the middle block, odd blocks grow, even ones hold layers."""
    index = int(parts[1])
    if index == 0:
        return ["mid_block", *parts[2:]]
    stage = ["up_blocks", str((index - 1) // 2)]
    return [*stage, *parts[2:]] if index % 2 == 0 else [*stage, "upsamplers", "0", *parts[2:]]


def _resolve_video_encoder(keys: Collection[str]) -> FileToModule:
    named = _component_keys(keys, "vae.")
    blocks = [int(n.split(".")[2]) for n in named.values() if n.startswith("encoder.down_blocks.")]
    # An odd block shrinks; after it comes the middle one, though it may hold no layer.
    last = max(blocks, default=-1)
    last += last % 2

    def rename(name: str) -> str | None:
        if name.startswith("per_channel_statistics."):
            return _statistics_name(name)
        if not name.startswith("encoder."):
            return None
        parts = name.split(".")[1:]
        parts = _encoder_block(parts, last) if parts[0] == "down_blocks" else parts
        return rename_components(".".join(["encoder", *parts]), {"res_blocks": "resnets"})

    return {key: renamed for key, name in named.items() if (renamed := rename(name)) is not None}


def _video_decoder_name(name: str) -> str | None:
    if name.startswith("per_channel_statistics."):
        return _statistics_name(name)
    if not name.startswith("decoder."):
        return None
    parts = name.split(".")[1:]
    parts = _decoder_block(parts) if parts[0] == "up_blocks" else parts
    return rename_components(".".join(["decoder", *parts]), {"res_blocks": "resnets"})


def _resolve_video_decoder(keys: Collection[str]) -> FileToModule:
    named = _component_keys(keys, "vae.")
    return {key: renamed for key, name in named.items() if (renamed := _video_decoder_name(name)) is not None}


# Heads of training, which published files carry and no decoder reads.
_UNREAD_DECODER_PARTS = ("coarse_", "type_emb")


def _diffusion_decoder_name(name: str) -> str | None:
    if name.startswith("per_channel_statistics."):
        return _statistics_name(name)
    is_unread = any(part.startswith(_UNREAD_DECODER_PARTS) for part in name.split("."))
    return name if name.startswith("decoder.") and not is_unread else None


def _resolve_diffusion_decoder(keys: Collection[str]) -> FileToModule:
    named = _component_keys(keys, "vae.")
    return {key: renamed for key, name in named.items() if (renamed := _diffusion_decoder_name(name)) is not None}


def _resolve_video_statistics(keys: Collection[str]) -> FileToModule:
    named = _component_keys(keys, "vae.")
    pairs = ((key, _statistics_name(n)) for key, n in named.items() if n.startswith("per_channel_statistics."))
    return {key: renamed.removeprefix("statistics.") for key, renamed in pairs if renamed is not None}


VIDEO_ENCODER = KeyMap("video_encoder", _resolve_video_encoder)
VIDEO_DECODER = KeyMap("video_decoder", _resolve_video_decoder)


def _resolve_frame_decoder(keys: Collection[str]) -> FileToModule:
    resolve = _resolve_diffusion_decoder if has_diffusion_decoder(keys) else _resolve_video_decoder
    return resolve(keys)


def has_diffusion_decoder(keys: Collection[str]) -> bool:
    """Say whether a file's video decoder is the diffusion decoder, by the names of its tensors."""
    return any(key in keys for key in ("vae.decoder.conv_in_x_t.weight", "decoder.conv_in_x_t.weight"))


FRAME_DECODER = KeyMap("frame_decoder", _resolve_frame_decoder)
"""Whichever decoder a video VAE's file has."""

DIFFUSION_DECODER = KeyMap("diffusion_decoder", _resolve_diffusion_decoder)
"""The diffusion decoder of 2.5 keeps the official names; heads that only training used stay on disk."""
VIDEO_STATISTICS = KeyMap("video_statistics", _resolve_video_statistics)


def _audio_half(half: str) -> Rule:
    def rule(key: str) -> str | None:
        if not key.startswith("audio_vae."):
            return None
        name = key.removeprefix("audio_vae.")
        if name.startswith("per_channel_statistics."):
            return _statistics_name(name)
        return name if name.startswith(f"{half}.") else None

    return rule


AUDIO_ENCODER = KeyMap("audio_encoder", each_key(_audio_half("encoder")))
AUDIO_DECODER = KeyMap("audio_decoder", each_key(_audio_half("decoder")))

_VOCODER_RENAMES = {
    "conv_pre": "conv_in",
    "conv_post": "conv_out",
    "ups": "upsamplers",
    "resblocks": "resnets",
    "act_post": "act_out",
}


def _vocoder_rule(key: str) -> str | None:
    if not key.startswith("vocoder."):
        return None
    name = rename_components(key.removeprefix("vocoder."), _VOCODER_RENAMES)
    return "vocoder." + name.replace(".downsample.lowpass.filter", ".downsample.filter")


VOCODER = KeyMap("vocoder", each_key(_vocoder_rule))


def _duration_head_rule(key: str) -> str | None:
    return key.removeprefix("duration_head.") if key.startswith("duration_head.") else None


DURATION_HEAD = KeyMap("duration_head", each_key(_duration_head_rule))
"""The duration head keeps its official names."""

LATENT_UPSAMPLER = KeyMap("latent_upsampler", each_key(lambda key: f"network.{key}"))
