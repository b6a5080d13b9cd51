"""How LoRA files name things, and what those names are in the model. No torch, no files opened.

`parse_key` splits a key into the layer it is about and the part it plays; `LayerNames` turns the layer's name, in
whatever spelling, into the official name of a weight. Names are only looked up in the model at hand, never guessed:
`lora_unet_transformer_blocks_0_attn1_to_out_0` has more than one reading, but only one of them is a layer.

Source: spellings as trainers and other applications write them; renamed modules as in diffusers' LTX-2 classes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum


class Branch(StrEnum):
    """Which of the transformer's four branches a weight works in."""

    VIDEO = "video"
    AUDIO = "audio"
    AUDIO_TO_VIDEO = "audio_to_video"
    VIDEO_TO_AUDIO = "video_to_audio"


class Part(StrEnum):
    """What a tensor of a LoRA file is for the layer it names."""

    A = "lora_A"
    B = "lora_B"
    ALPHA = "alpha"
    DIFFERENCE = "difference"
    OTHER_ALGORITHM = "other algorithm"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ParsedKey:
    """A key, split.

    Args:
        layer: The layer's name as the file spells it, prefix included.
        part: What the tensor is.
        adapter: The adapter's name where the key carries one ("default"); else empty.
        algorithm: The method's name for `Part.OTHER_ALGORITHM` and `Part.DIFFERENCE`; else empty.
    """

    layer: str
    part: Part
    adapter: str = ""
    algorithm: str = ""


_ADAPTER = r"(?:\.(?!weight$|bias$)(?P<adapter>[^.]+))?(?:\.weight)?$"
_PAIRED = (
    re.compile(r"(?P<layer>.+)\.lora_(?P<part>A|B)" + _ADAPTER),
    re.compile(r"(?P<layer>.+?)[._]lora[._](?:linear_layer\.)?(?P<part>down|up)" + _ADAPTER),
)
_ALPHA = re.compile(r"(?P<layer>.+)\.(?:lora_)?alpha$")
_DIFFERENCE = re.compile(r"(?P<layer>.+)\.(?:diff|diff_b|set_weight|w_norm|b_norm)$")
_OTHER_ALGORITHMS = tuple(
    (re.compile(rf"(?P<layer>.+)\.(?:{tail})$"), algorithm)
    for tail, algorithm in (
        (r"lokr_\w+(?:\.weight)?", "LoKr"),
        (r"hada_\w+(?:\.weight)?", "LoHa"),
        (r"dora_scale(?:\.weight)?|lora_magnitude_vector(?:\..+)?", "DoRA"),
        (r"b?oft_\w+(?:\..+)?", "OFT"),
        (r"(?:a1|a2|b1|b2|bm1|bm2)\.weight", "GLoRA"),
        (r"on_input|ia3_l(?:\..+)?", "IA3"),
        (r"reshape_weight", "reshaping LoRA"),
        (r"lora_mid(?:\.weight)?", "Tucker LoRA"),
        (r"lora_(?:B|up)(?:\.[^.]+)?\.bias", "LoRA with biases"),
    )
)
_PART_OF = {"A": Part.A, "down": Part.A, "B": Part.B, "up": Part.B}

_DOTTED_PREFIXES = (
    "model.diffusion_model.",
    "diffusion_model.",
    "base_model.model.",
    "model.",
    "transformer.",
    "net.",
)
_FLAT_PREFIXES = ("lora_unet_", "lora_transformer_", "lycoris_")
_OFFICIAL_COMPONENT = {
    "proj_in": "patchify_proj",
    "audio_proj_in": "audio_patchify_proj",
    "time_embed": "adaln_single",
    "audio_time_embed": "audio_adaln_single",
    "prompt_adaln": "prompt_adaln_single",
    "audio_prompt_adaln": "audio_prompt_adaln_single",
    "av_cross_attn_video_scale_shift": "av_ca_video_scale_shift_adaln_single",
    "av_cross_attn_audio_scale_shift": "av_ca_audio_scale_shift_adaln_single",
    "av_cross_attn_video_a2v_gate": "av_ca_a2v_gate_adaln_single",
    "av_cross_attn_audio_v2a_gate": "av_ca_v2a_gate_adaln_single",
    "norm_q": "q_norm",
    "norm_k": "k_norm",
}
_DIFFUSERS_COMPONENT = {official: diffusers for diffusers, official in _OFFICIAL_COMPONENT.items()}
_CONNECTOR_ROOTS = (
    "video_embeddings_connector",
    "audio_embeddings_connector",
    "embeddings_connector",
    "text_embedding_projection",
    "connectors",
    "video_connector",
    "audio_connector",
    "text_proj_in",
    "video_text_proj_in",
    "audio_text_proj_in",
    "aggregate_embed",
    "video_aggregate_embed",
    "audio_aggregate_embed",
)


def parse_key(key: str) -> ParsedKey:
    """Split a key of a LoRA file into layer and part; what fits no known suffix is `Part.UNKNOWN`."""
    for pattern in _PAIRED:
        if match := pattern.match(key):
            return ParsedKey(match["layer"], _PART_OF[match["part"]], match["adapter"] or "")
    if match := _ALPHA.match(key):
        return ParsedKey(match["layer"], Part.ALPHA)
    for pattern, algorithm in _OTHER_ALGORITHMS:
        if match := pattern.match(key):
            return ParsedKey(match["layer"], Part.OTHER_ALGORITHM, algorithm=algorithm)
    if match := _DIFFERENCE.match(key):
        return ParsedKey(match["layer"], Part.DIFFERENCE, algorithm="full difference")
    return ParsedKey(key, Part.UNKNOWN)


class LayerNames:
    """Find the official weight behind a layer's name in any known spelling.

    Args:
        weight_keys: The transformer's official parameter names, without `model.diffusion_model.`. Only those that end
            in `.weight` can be found.
    """

    def __init__(self, weight_keys: Iterable[str]) -> None:
        self._layers = frozenset(key.removesuffix(".weight") for key in weight_keys if key.endswith(".weight"))
        self._by_flat_name = _flat_table(self._layers)

    def find_weight_key(self, layer: str) -> str | None:
        """Return the official weight key of a layer, such as "patchify_proj.weight", or None if the model lacks it."""
        for spelling in _spellings(layer):
            official = _official_name(spelling)
            for name in (spelling, official, self._by_flat_name.get(spelling)):
                if name in self._layers:
                    return f"{name}.weight"
        return None


def is_connector_layer(layer: str) -> bool:
    """Tell whether a layer belongs to the text connectors or the text projection, which lie outside the transformer."""
    for spelling in _spellings(layer):
        root = spelling.split(".", 1)[0]
        if root in _CONNECTOR_ROOTS or spelling.startswith(tuple(f"{name}_" for name in _CONNECTOR_ROOTS)):
            return True
    return False


def branch_of(weight_key: str) -> Branch:
    """Return the branch that a weight of the transformer works in.

    The two cross-attentions and their gates are branches of their own; what carries `audio` in the name of its module
    is the audio stream's; all else is the video stream's.

    Args:
        weight_key: Official name, with or without its suffix.
    """
    for component in weight_key.split("."):
        if component.startswith(("audio_to_video_", "av_ca_a2v_")):
            return Branch.AUDIO_TO_VIDEO
        if component.startswith(("video_to_audio_", "av_ca_v2a_")):
            return Branch.VIDEO_TO_AUDIO
        if component.startswith(("audio_", "av_ca_audio_")) or component.endswith("_ca_audio"):
            return Branch.AUDIO
    return Branch.VIDEO


def _spellings(layer: str) -> Iterator[str]:
    """Yield the name as it is, then with one known prefix after the other taken off."""
    prefixes: tuple[str, ...] = _DOTTED_PREFIXES
    for flat_prefix in _FLAT_PREFIXES:
        if layer.startswith(flat_prefix):
            layer = layer.removeprefix(flat_prefix)
            prefixes = tuple(prefix.replace(".", "_") for prefix in _DOTTED_PREFIXES)
            break
    yield layer
    while stripped := next((layer.removeprefix(prefix) for prefix in prefixes if layer.startswith(prefix)), ""):
        layer = stripped
        yield layer


def _official_name(layer: str) -> str:
    return ".".join(_OFFICIAL_COMPONENT.get(component, component) for component in layer.split("."))


def _diffusers_name(layer: str) -> str:
    return ".".join(_DIFFUSERS_COMPONENT.get(component, component) for component in layer.split("."))


def _flat_table(layers: Iterable[str]) -> Mapping[str, str]:
    """Map flattened names, official and diffusers', to official ones; a name that two layers share finds neither."""
    table: dict[str, str] = {}
    shared: set[str] = set()
    for layer in layers:
        for flat in {layer.replace(".", "_"), _diffusers_name(layer).replace(".", "_")}:
            if table.setdefault(flat, layer) != layer:
                shared.add(flat)
    return {flat: layer for flat, layer in table.items() if flat not in shared}
