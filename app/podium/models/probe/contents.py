"""Which tensors of a file fill which slot, told by their names alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from podium.models.header import TensorInfo
from podium.models.probe.report import Component, Slot

# The longest first: each is tried in turn.
TRANSFORMER_PREFIXES = ("model.diffusion_model.", "diffusion_model.", "")

_PREFIXES: tuple[tuple[str, Slot], ...] = (
    ("vae.encoder.", Slot.VIDEO_ENCODER),
    ("vae.decoder.", Slot.VIDEO_DECODER),
    ("vae.per_channel_statistics.", Slot.VIDEO_DECODER),
    ("audio_vae.encoder.", Slot.AUDIO_ENCODER),
    ("audio_vae.decoder.", Slot.AUDIO_DECODER),
    ("audio_vae.per_channel_statistics.", Slot.AUDIO_DECODER),
    ("vocoder.", Slot.VOCODER),
    ("duration_head.", Slot.DURATION_HEAD),
    ("text_embedding_projection.", Slot.TEXT_PROJECTION),
    ("tokenizer_json", Slot.TOKENIZER),
    ("hf_asset__", Slot.TOKENIZER),
    ("model.layers.", Slot.TEXT_ENCODER),
    ("model.embed_tokens.", Slot.TEXT_ENCODER),
    ("model.norm.", Slot.TEXT_ENCODER),
    ("model.language_model.", Slot.TEXT_ENCODER),
    ("language_model.", Slot.TEXT_ENCODER),
    ("model.vision_tower.", Slot.TEXT_ENCODER),
    ("vision_tower.", Slot.TEXT_ENCODER),
    ("vision_model.", Slot.TEXT_ENCODER),
    ("model.vision_embedder.", Slot.TEXT_ENCODER),
    ("model.embed_vision.", Slot.TEXT_ENCODER),
    ("model.embed_audio.", Slot.TEXT_ENCODER),
    ("model.multi_modal_projector.", Slot.TEXT_ENCODER),
    ("multi_modal_projector.", Slot.TEXT_ENCODER),
    ("audio_projector.", Slot.TEXT_ENCODER),
)
_CONNECTORS = ("video_embeddings_connector.", "audio_embeddings_connector.")
_BARE_VAE = ("encoder.", "decoder.", "per_channel_statistics.")
_UPSAMPLER = ("initial_conv.weight", "final_conv.weight")
_LORA = re.compile(
    r"\.(lora_[AB]|lora_(up|down)|lora\.(up|down)|lokr_w[12]|hada_w[12]|oft_\w+|lora_magnitude_vector|dora_scale)\b"
    r"|\.(lokr|hada)_[wt]\d?(_[ab])?$|\.diff(_b)?$"
)
_LORA_LAYER = re.compile(r"\.(lora_|lora\.|lokr_|hada_|oft_|dora_scale|diff(_b)?$).*$")


@dataclass(frozen=True, slots=True)
class Contents:
    """A file's tensors sorted into slots.

    Args:
        tensors: What the file holds.
        by_slot: Names by slot; names that fit no slot are left out.
        prefix: What stands before the transformer's and connectors' names; None without either.
        num_lora_layers: How many layers a LoRA changes; 0 for other files.
    """

    tensors: Mapping[str, TensorInfo]
    by_slot: Mapping[Slot, tuple[str, ...]]
    prefix: str | None
    num_lora_layers: int = 0

    def has(self, slot: Slot) -> bool:
        """Tell whether any tensor fills a slot."""
        return slot in self.by_slot

    def transformer_tensor(self, name: str) -> TensorInfo | None:
        """Return a tensor of the transformer by its official name without prefix."""
        return self.tensors.get(f"{self.prefix or ''}{name}")

    def shape(self, name: str) -> tuple[int, ...] | None:
        """Return the shape of a tensor by its whole name."""
        info = self.tensors.get(name)
        return info.shape if info else None

    def components(self) -> tuple[Component, ...]:
        """Return the sums of each slot, in the order of `Slot`."""
        return tuple(self._component(slot) for slot in Slot if slot in self.by_slot)

    def _component(self, slot: Slot) -> Component:
        infos = [self.tensors[name] for name in self.by_slot[slot]]
        return Component(
            slot,
            len(infos),
            sum(info.num_bytes for info in infos),
            sum(info.num_elements for info in infos),
            tuple(dtype for dtype, _ in bytes_by_dtype(infos).most_common()),
        )


def sort_into_slots(tensors: Mapping[str, TensorInfo]) -> Contents:
    """Sort a file's tensors into slots."""
    if any(_LORA.search(name) for name in tensors):
        layers = {_LORA_LAYER.sub("", name) for name in tensors if _LORA.search(name)}
        return Contents(tensors, {Slot.LORA: tuple(tensors)}, None, len(layers))
    if all(name in tensors for name in _UPSAMPLER):
        slot = Slot.TEMPORAL_UPSAMPLER if is_temporal_upsampler(tensors) else Slot.SPATIAL_UPSAMPLER
        return Contents(tensors, {slot: tuple(tensors)}, None)
    prefix = _transformer_prefix(tensors)
    bare = _bare_vae_slots(tensors)
    by_slot: dict[Slot, list[str]] = {}
    for name in tensors:
        if found := _slot(name, prefix, bare):
            by_slot.setdefault(found, []).append(name)
    return Contents(tensors, {slot: tuple(names) for slot, names in by_slot.items()}, prefix)


def is_temporal_upsampler(tensors: Mapping[str, TensorInfo]) -> bool:
    """Tell an upscaler that adds frames by its kernel, which spans time."""
    info = tensors.get("upsampler.0.weight")
    return info is not None and len(info.shape) == 5


def missing_numbers(present: set[int], expected: int) -> tuple[int, int]:
    """Return how many of the numbers below `expected` are not present, and the first that is not."""
    # Counted without a list of them all: the expectation comes from a stranger's file.
    first = next(number for number in range(len(present) + 1) if number not in present)
    return expected - sum(number < expected for number in present), first


def bytes_by_dtype(infos: Iterable[TensorInfo]) -> Counter[str]:
    """Return how many bytes are stored in each dtype."""
    count: Counter[str] = Counter()
    for info in infos:
        count[info.dtype] += info.num_bytes
    return count


def _transformer_prefix(tensors: Mapping[str, TensorInfo]) -> str | None:
    for prefix in TRANSFORMER_PREFIXES:
        starts = tuple(prefix + part for part in ("transformer_blocks.", *_CONNECTORS))
        if any(name.startswith(starts) for name in tensors):
            return prefix
    return None


def _bare_vae_slots(tensors: Mapping[str, TensorInfo]) -> Mapping[str, Slot]:
    """Return the slots of unprefixed VAE names: a split file's; kernels of three dimensions are a video VAE's."""
    video = dict(zip(_BARE_VAE, (Slot.VIDEO_ENCODER, Slot.VIDEO_DECODER, Slot.VIDEO_DECODER), strict=True))
    audio = dict(zip(_BARE_VAE, (Slot.AUDIO_ENCODER, Slot.AUDIO_DECODER, Slot.AUDIO_DECODER), strict=True))
    if "per_channel_statistics.mean-of-means" not in tensors:
        return {}
    for name in ("encoder.conv_in.conv.weight", "decoder.conv_in.conv.weight", "decoder.conv_in_x_t.weight"):
        if name in tensors:
            is_audio = len(tensors[name].shape) == 4 and "x_t" not in name
            return audio if is_audio else video
    return {}


def _slot(name: str, prefix: str | None, bare_vae: Mapping[str, Slot]) -> Slot | None:
    for start, slot in _PREFIXES:
        if name.startswith(start):
            return slot
    for start, slot in bare_vae.items():
        if name.startswith(start):
            return slot
    if prefix is None or not name.startswith(prefix):
        return None
    return Slot.CONNECTORS if name.removeprefix(prefix).startswith(_CONNECTORS) else Slot.TRANSFORMER
