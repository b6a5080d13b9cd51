"""Gemma's language model, and its eyes where it has any: transformers' classes behind one door.

Shapes: N tokens, D hidden width, C colours, H and W pixels.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import (
    Gemma3Config,
    Gemma3TextConfig,
    Gemma3TextModel,
    Gemma4UnifiedConfig,
    Gemma4UnifiedTextConfig,
    Gemma4UnifiedTextModel,
    PreTrainedModel,
    SiglipVisionConfig,
    SiglipVisionModel,
)
from transformers.models.gemma3.modeling_gemma3 import Gemma3MultiModalProjector

from podium.models.builder import Headers, SingleGPUModelBuilder
from podium.models.gemma_files import GemmaFiles
from podium.models.header import read_header
from podium.models.key_maps import FileToModule, KeyMap, first_prefix
from podium.models.registry import Registry

TextConfig = Gemma3TextConfig | Gemma4UnifiedTextConfig

_CONFIGS: dict[str, Any] = {
    "gemma3": Gemma3Config,
    "gemma3_text": Gemma3TextConfig,
    "gemma4_unified": Gemma4UnifiedConfig,
    "gemma4_unified_text": Gemma4UnifiedTextConfig,
}

_TOWER_PREFIXES = ("vision_tower.vision_model.", "model.vision_tower.vision_model.", "vision_tower.")
_PROJECTOR_PREFIXES = ("multi_modal_projector.", "model.multi_modal_projector.")


def gemma_text_config(files: GemmaFiles) -> TextConfig:
    """Return the configuration of the language model.

    Raises:
        CheckpointError: There is none, or it is that of another model than Gemma 3 or 4.
    """
    text_config = _whole_config(files).get_text_config()
    assert isinstance(text_config, TextConfig), "each of the known configurations has such a part"
    return text_config


def make_language_model(config: TextConfig) -> PreTrainedModel:
    """Return the language model without its head, which is tied to the embedding."""
    if isinstance(config, Gemma3TextConfig):
        return Gemma3TextModel(config)
    return Gemma4UnifiedTextModel(config)


def embedding_of(model: PreTrainedModel) -> nn.Embedding:
    """Return the layer that turns token ids into the language model's input."""
    embedding = model.get_input_embeddings()
    assert isinstance(embedding, nn.Embedding), "Gemma's scaled embedding is one"
    return embedding


class GemmaSight(nn.Module):
    """What turns a picture into tokens of a Gemma 3: its vision tower and the projection behind it.

    Args:
        config: Of the whole model.
    """

    def __init__(self, config: Gemma3Config) -> None:
        super().__init__()
        vision = config.vision_config
        assert isinstance(vision, SiglipVisionConfig), "Gemma 3's configuration makes it one"
        tower = SiglipVisionModel(vision)
        # Releases of transformers differ in whether the network lies one level deeper; files do not.
        self.vision_tower = getattr(tower, "vision_model", tower)
        self.multi_modal_projector = Gemma3MultiModalProjector(config)
        assert isinstance(vision.image_size, int), "Gemma 3 looks at squares"
        self.side_px = vision.image_size

    def look(self, rgb_HWC: NDArray[np.uint8]) -> Tensor:
        """Return the tokens [N, D] of a picture of any size, on the model's device and in its type.

        Source of the preparation: the preprocessor_config.json that Gemma 3 is published with (bilinear, squeezed to a
        square, mean and deviation 0.5).
        """
        weight = self.multi_modal_projector.mm_input_projection_weight
        # A picture may lie in memory that must not be written to, which torch warns about.
        pixels_1CHW = torch.from_numpy(np.array(rgb_HWC)).permute(2, 0, 1)[None].float()
        side = (self.side_px, self.side_px)
        scaled = nn.functional.interpolate(pixels_1CHW, side, mode="bilinear", antialias=True)
        normal = (scaled.round() / 255 - 0.5) / 0.5
        features = self.vision_tower(pixel_values=normal.to(weight.device, weight.dtype)).last_hidden_state
        tokens: Tensor = self.multi_modal_projector(features)[0]
        return tokens


def gemma_sight_builder(files: GemmaFiles, registry: Registry | None) -> SingleGPUModelBuilder[GemmaSight] | None:
    """Return the builder of a text encoder's eyes; None if its files hold none that Podium can use (those of Gemma 3).

    Raises:
        CheckpointError: The files cannot be read.
    """
    if not isinstance(_whole_config(files), Gemma3Config):
        return None
    paths = files.weight_paths()
    keys = [key for path in paths for key in read_header(path).tensors]
    if not GEMMA3_SIGHT(keys):
        return None
    return SingleGPUModelBuilder(paths, GEMMA3_SIGHT, partial(_make_sight, files), registry)


def image_tokens(files: GemmaFiles) -> tuple[int, int, int, int]:
    """Return how a picture stands in a Gemma 3's chat: its begin, token and end by id, and the number of tokens."""
    config = _whole_config(files)
    return config.boi_token_index, config.image_token_index, config.eoi_token_index, config.mm_tokens_per_image


def _whole_config(files: GemmaFiles) -> Any:  # noqa: ANN401 - transformers' configurations are made at run time
    config = files.config()
    model_type = config.get("model_type")
    kind = _CONFIGS.get(model_type) if isinstance(model_type, str) else None
    if kind is None:
        raise files.refusal(f"model_type is {model_type!r}; one of {', '.join(_CONFIGS)} is expected")
    try:
        return kind.from_dict(dict(config))
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise files.refusal(f"its configuration: {error}") from error


def _make_sight(files: GemmaFiles, headers: Headers) -> GemmaSight:
    del headers  # a Gemma describes itself in its configuration
    return GemmaSight(_whole_config(files))


def _resolve_sight(keys: Collection[str]) -> FileToModule:
    found: FileToModule = {}
    for prefixes, part in ((_TOWER_PREFIXES, "vision_tower."), (_PROJECTOR_PREFIXES, "multi_modal_projector.")):
        prefix = first_prefix(keys, prefixes)
        if prefix is None:
            return {}
        found |= {key: part + key.removeprefix(prefix) for key in keys if key.startswith(prefix)}
    return found


GEMMA3_SIGHT = KeyMap("gemma3_sight", _resolve_sight)
"""The vision tower and its projector of a Gemma 3 folder."""
