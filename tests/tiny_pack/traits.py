"""The tiny geometry, and what sets the three generations apart. Every other module of the package draws on this one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
Config: TypeAlias = dict[str, JsonValue]

# The published loaders require equal numbers of video and audio heads.
NUM_HEADS = 8
VIDEO_HEAD_DIM, AUDIO_HEAD_DIM = 16, 8
VIDEO_DIM, AUDIO_DIM = NUM_HEADS * VIDEO_HEAD_DIM, NUM_HEADS * AUDIO_HEAD_DIM
NUM_BLOCKS = 4
NUM_CONNECTOR_BLOCKS = 2
NUM_REGISTERS = 128
NUM_CONNECTOR_HEADS_2_0 = 4

GEMMA_HIDDEN_DIM, NUM_GEMMA_LAYERS, NUM_VOCABULARY = 48, 4, 512
GEMMA_4_VERSION = "gemma4-tiny-ltx-v1"

# Fixed by the formats: 128 video latent channels; an audio token is 8 channels of 16 mel bins, 128 as well.
LATENT_CHANNELS = 128
LORA_RANK = 4

KERNEL_3D = (3, 3, 3)


@dataclass(frozen=True, slots=True)
class GenerationTraits:
    """What one generation's files have that another's have not.

    Args:
        version: "2.0", "2.3" or "2.5".
        has_gates: Gated attention, prompt AdaLN rows and a text projection per stream.
        has_prompt_mlp: Timestep networks for the prompt's AdaLN.
        has_ff_bias: Biases in the video stream's feed-forward layers.
        has_keyframe_embedding: The learned marker of key frames.
    """

    version: str
    has_gates: bool
    has_prompt_mlp: bool
    has_ff_bias: bool
    has_keyframe_embedding: bool

    @property
    def num_adaln_rows(self) -> int:
        """Return the rows of a block's modulation table."""
        return 9 if self.has_gates else 6


LTX_2_0 = GenerationTraits("2.0", False, False, True, False)
LTX_2_3 = GenerationTraits("2.3", True, True, True, False)
LTX_2_5 = GenerationTraits("2.5", True, True, False, True)
