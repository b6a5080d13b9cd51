"""What a probe says of a file: plain values that cross process borders and become JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from podium.models.errors import CheckpointReason


class Slot(StrEnum):
    """A place in a pipeline that a file's tensors can fill: a closed set."""

    TRANSFORMER = "transformer"
    CONNECTORS = "connectors"
    TEXT_PROJECTION = "text_projection"
    TEXT_ENCODER = "text_encoder"
    TOKENIZER = "tokenizer"
    VIDEO_ENCODER = "video_encoder"
    VIDEO_DECODER = "video_decoder"
    AUDIO_ENCODER = "audio_encoder"
    AUDIO_DECODER = "audio_decoder"
    VOCODER = "vocoder"
    SPATIAL_UPSAMPLER = "spatial_upsampler"
    TEMPORAL_UPSAMPLER = "temporal_upsampler"
    DURATION_HEAD = "duration_head"
    LORA = "lora"

    @property
    def words(self) -> str:
        """Return the slot's name for a sentence."""
        return self.value.replace("_", " ").replace("lora", "LoRA")


class FileKind(StrEnum):
    """What a file is as a whole: a closed set."""

    CHECKPOINT = "checkpoint"
    TEXT_ENCODER = "text_encoder"
    UPSAMPLER = "upsampler"
    LORA = "lora"
    UNRECOGNISED = "unrecognised"
    UNREADABLE = "unreadable"

    @property
    def words(self) -> str:
        """Return the kind with its article, for a sentence."""
        return _KIND_WORDS[self]


_KIND_WORDS = {
    FileKind.CHECKPOINT: "a checkpoint",
    FileKind.TEXT_ENCODER: "a text encoder",
    FileKind.UPSAMPLER: "a latent upscaler",
    FileKind.LORA: "a LoRA",
    FileKind.UNRECOGNISED: "no part of an LTX-2 model",
    FileKind.UNREADABLE: "unreadable",
}


class Generation(StrEnum):
    """A generation of LTX-2 models whose files differ in architecture from the one before."""

    LTX_2_0 = "2.0"
    LTX_2_3 = "2.3"
    LTX_2_5 = "2.5"


class Quantisation(StrEnum):
    """How weights are reduced, told by the file's tensors and metadata: a closed set."""

    NONE = "none"
    FP8_SCALED = "fp8-scaled"
    FP8_UNSCALED = "fp8-unscaled"
    FP8_OLD_COMFY = "fp8-old-comfy"
    COMFY_QUANT = "comfy-quant"
    NVFP4 = "nvfp4"
    QUANTO = "quanto"
    GGUF = "gguf"
    UNKNOWN = "unknown"

    @property
    def words(self) -> str:
        """Return the name for a sentence."""
        return _QUANTISATION_WORDS[self]


_QUANTISATION_WORDS = {
    Quantisation.NONE: "full precision",
    Quantisation.FP8_SCALED: "fp8 with scales",
    Quantisation.FP8_UNSCALED: "fp8 without scales",
    Quantisation.FP8_OLD_COMFY: "ComfyUI's older fp8",
    Quantisation.COMFY_QUANT: "ComfyUI's quantisation",
    Quantisation.NVFP4: "NVFP4",
    Quantisation.QUANTO: "Quanto",
    Quantisation.GGUF: "GGUF",
    Quantisation.UNKNOWN: "a quantisation that Podium does not know",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a file cannot be used as it is.

    Args:
        reason: For code.
        sentence: For the artist: what is wrong and what would be accepted.
    """

    reason: CheckpointReason
    sentence: str

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, slots=True)
class Component:
    """The tensors of a file that fill one slot.

    Args:
        slot: Which.
        num_tensors: How many tensors, scales of quantised ones included.
        num_bytes: Their size in the file.
        num_parameters: Count of numbers; nibbles packed into bytes count as bytes.
        dtypes: The format's names of their dtypes, largest share first.
    """

    slot: Slot
    num_tensors: int
    num_bytes: int
    num_parameters: int
    dtypes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TransformerShape:
    """Size of a transformer; a number that neither config nor tensors tell is None.

    Args:
        num_layers: Blocks.
        num_heads: Heads of the video stream, which bound the ranks of a fleet.
        head_dim: Width of such a head.
        audio_num_heads: Heads of the audio stream.
        audio_head_dim: Width of such a head.
    """

    num_layers: int | None
    num_heads: int | None
    head_dim: int | None
    audio_num_heads: int | None
    audio_head_dim: int | None


@dataclass(frozen=True, slots=True)
class GemmaFacts:
    """What a text encoder is.

    Args:
        model_type: As its config.json has it, such as "gemma3".
        family: 3 or 4.
        hidden_dim: Width of a hidden state.
        num_layers: Layers, the embedding not counted.
    """

    model_type: str
    family: int
    hidden_dim: int
    num_layers: int

    @property
    def features_dim(self) -> int:
        """Return the width of all hidden states of a token side by side, the embedding's included."""
        return self.hidden_dim * (self.num_layers + 1)


@dataclass(frozen=True, slots=True)
class UpsamplerFacts:
    """What a latent upscaler does.

    Args:
        in_channels: Channels of the latents it takes.
        scale: Factor of its enlargement; None where the file does not tell.
        is_temporal: It adds frames and not pixels.
    """

    in_channels: int
    scale: float | None
    is_temporal: bool


@dataclass(frozen=True, slots=True)
class FileReport:
    """What one file, or one text-encoder folder, is and can be used for. No weight was read for it.

    Args:
        path: The file or folder.
        kind: What it is as a whole.
        file_bytes: Size of the file, or of a folder's weights.
        is_whole: Nothing is cut off, no block of the transformer and no shard is missing.
        components: One per slot it can fill.
        generation: None where the file does not tell (upscalers, LoRAs, text encoders of Gemma 3).
        model_version: The metadata's own text, such as "2.3.rc1"; None without.
        is_distilled: None where the file does not tell; a name says nothing.
        quantisation: Of the most reduced component.
        quantisation_formats: Names of formats as the metadata has them, such as "float8_e4m3fn".
        stored_dtype: The dtype that most bytes are stored in; None for a file without tensors.
        prefix: What stands before the transformer's names; None without a transformer.
        transformer: Its size; None without a transformer.
        text_projection_dim: Width of the features the text projection takes; None without.
        has_keyframe_embedding: Its transformer has the learned marker of key frames.
        has_diffusion_decoder: The video decoder is the diffusion decoder of 2.5.
        gemma: The text encoder; None without.
        gemma_version: Of the text encoder that the file is, or was made with; None where it does not tell.
        upsampler: The upscaler; None without.
        num_lora_layers: How many layers a LoRA changes; 0 for other files.
        problems: Why it cannot be used as it is; empty for a sound file.
    """

    path: Path
    kind: FileKind
    file_bytes: int = 0
    is_whole: bool = False
    components: tuple[Component, ...] = ()
    generation: Generation | None = None
    model_version: str | None = None
    is_distilled: bool | None = None
    quantisation: Quantisation = Quantisation.NONE
    quantisation_formats: tuple[str, ...] = ()
    stored_dtype: str | None = None
    prefix: str | None = None
    transformer: TransformerShape | None = None
    text_projection_dim: int | None = None
    has_keyframe_embedding: bool = False
    has_diffusion_decoder: bool = False
    gemma: GemmaFacts | None = None
    gemma_version: str | None = None
    upsampler: UpsamplerFacts | None = None
    num_lora_layers: int = 0
    problems: tuple[Problem, ...] = ()

    @property
    def slots(self) -> frozenset[Slot]:
        """Return the slots it can fill."""
        return frozenset(component.slot for component in self.components)

    @property
    def num_heads(self) -> int | None:
        """Return the video heads of its transformer, if it has one and tells."""
        return self.transformer.num_heads if self.transformer else None

    def component(self, slot: Slot) -> Component | None:
        """Return what fills a slot, if anything does."""
        return next((component for component in self.components if component.slot is slot), None)

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain JSON values: paths and enumerations as texts, tuples as lists."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self), default=str))
        return plain
