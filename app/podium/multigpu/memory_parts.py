"""What each part of a model takes in memory, told by the headers of its files. No torch; no weight is read.

The rule a caller must know: sizes are those the parts have once they are loaded, in the dtype and quantisation asked
for, and not those of the files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from podium.jobs import Quantization
from podium.models.cast_layers import is_cast_layer
from podium.models.gemma_files import GemmaFiles
from podium.models.header import TensorInfo, read_header
from podium.models.key_maps import GEMMA3_TEXT, TRANSFORMER
from podium.models.pack import DecoderKind, Pack
from podium.models.probe import Slot
from podium.models.residency import ModelPart

ITEM_BYTES: Mapping[str, int] = MappingProxyType({"float32": 4, "bfloat16": 2})
_FLOAT32_BYTES = 4
_FP8 = "F8_E4M3"
_SCALE = ".weight_scale"
_INPUT_SCALE = ".input_scale"
_SLOTS = (
    (ModelPart.CONNECTORS, (Slot.CONNECTORS, Slot.TEXT_PROJECTION)),
    (ModelPart.VIDEO_ENCODER, (Slot.VIDEO_ENCODER,)),
    (ModelPart.VIDEO_DECODER, (Slot.VIDEO_DECODER,)),
    (ModelPart.AUDIO_DECODER, (Slot.AUDIO_DECODER,)),
    (ModelPart.VOCODER, (Slot.VOCODER,)),
)


@dataclass(frozen=True, slots=True)
class ModelMemory:
    """What a model's parts take, and the sizes that its activations hang on.

    Args:
        item_bytes: Of a number of an activation.
        quantization: How the transformer's weights are held.
        transformer_bytes: By official name, as owners are told by it.
        largest_weight: Numbers of the transformer's largest tensor.
        part_bytes: Every other part, whole.
        text_block_bytes: The largest block of the text encoder.
        text_embedding_bytes: Its table of tokens.
        features_dim: Width of all hidden states of a token side by side.
        video_dim: Width of the transformer's video stream.
        upsampler_channels: Width of the upscaler.
        decoder: What turns video latents into pixels.
        spatial_scale: Of the upscaler.
    """

    item_bytes: int
    quantization: Quantization
    transformer_bytes: Mapping[str, int] = field(repr=False)
    largest_weight: int
    part_bytes: Mapping[ModelPart, int]
    text_block_bytes: int
    text_embedding_bytes: int
    features_dim: int
    video_dim: int
    upsampler_channels: int
    decoder: DecoderKind
    spatial_scale: float

    @property
    def working_bytes(self) -> int:
        """Return what a whole copy of the transformer takes."""
        return sum(self.transformer_bytes.values())


def weigh_model(pack: Pack, *, dtype: str, quantization: Quantization) -> ModelMemory:
    """Return what a model takes in memory.

    Args:
        dtype: "bfloat16" or "float32".
        quantization: How the transformer's weights are held.

    Raises:
        CheckpointError: A header cannot be read.
    """
    item_bytes = ITEM_BYTES[dtype]
    header = read_header(pack.paths.checkpoint_path)
    transformer = {name: header.tensors[key] for key, name in TRANSFORMER(header.tensors.keys()).items()}
    text_tensors = _text_tensors(pack)
    parts = {part: _slots_bytes(pack, slots, item_bytes) for part, slots in _SLOTS}
    # In float32 whatever the rest is in.
    parts[ModelPart.VOCODER] = _slots_bytes(pack, (Slot.VOCODER,), _FLOAT32_BYTES)
    parts[ModelPart.TEXT_ENCODER] = sum(info.num_elements for info in text_tensors.values()) * item_bytes
    upsampler = read_header(pack.paths.spatial_upsampler_path).tensors
    parts[ModelPart.UPSAMPLER] = sum(info.num_elements for info in upsampler.values()) * item_bytes
    blocks = _block_elements(text_tensors)
    shape = pack.checkpoint.transformer
    return ModelMemory(
        item_bytes=item_bytes,
        quantization=quantization,
        transformer_bytes=_transformer_bytes(transformer, quantization, item_bytes),
        largest_weight=max(info.num_elements for info in transformer.values()),
        part_bytes=MappingProxyType(parts),
        text_block_bytes=max((n for name, n in blocks.items() if "layers." in name), default=0) * item_bytes,
        text_embedding_bytes=sum(n for name, n in blocks.items() if "embed_tokens" in name) * item_bytes,
        features_dim=pack.text_encoder.gemma.features_dim if pack.text_encoder.gemma else 0,
        video_dim=pack.num_heads * ((shape.head_dim if shape else None) or 0),
        upsampler_channels=max(info.shape[0] for info in upsampler.values() if info.shape),
        decoder=pack.decoder_kind,
        spatial_scale=pack.spatial_scale,
    )


def _transformer_bytes(
    tensors: Mapping[str, TensorInfo], quantization: Quantization, item_bytes: int
) -> Mapping[str, int]:
    sizes = {}
    for name, info in tensors.items():
        if quantization is Quantization.FP8_SCALED and name.endswith(_INPUT_SCALE):
            continue
        sizes[name] = info.num_elements * _item_bytes(name, info, quantization, item_bytes)
    return MappingProxyType(sizes)


def _item_bytes(name: str, info: TensorInfo, quantization: Quantization, item_bytes: int) -> int:
    if info.dtype == _FP8:
        return 1
    if quantization is Quantization.FP8_CAST and is_cast_layer(name.rpartition(".")[0]):
        return 1
    if quantization is Quantization.FP8_SCALED and name.endswith(_SCALE):
        return _FLOAT32_BYTES
    return item_bytes


def _text_tensors(pack: Pack) -> dict[str, TensorInfo]:
    """Return the tensors of the language model by module key; towers and projections stay on disk."""
    found: dict[str, TensorInfo] = {}
    for path in GemmaFiles(pack.paths.gemma_root).weight_paths():
        found |= read_header(path).tensors
    return {name: found[key] for key, name in GEMMA3_TEXT(found.keys()).items()}


def _block_elements(tensors: Mapping[str, TensorInfo]) -> dict[str, int]:
    blocks: dict[str, int] = {}
    for name, info in tensors.items():
        parts = name.split(".")
        block = ".".join(parts[:3] if parts[1] == "layers" else parts[:2])
        blocks[block] = blocks.get(block, 0) + info.num_elements
    return blocks


def _slots_bytes(pack: Pack, slots: tuple[Slot, ...], item_bytes: int) -> int:
    """Return the size of what fills slots: each is in one of the files."""
    found = (report.component(slot) for report in pack.files for slot in slots)
    return sum(part.num_parameters * item_bytes for part in found if part is not None)
