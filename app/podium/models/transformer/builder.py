"""The transformer's builder: from a checkpoint's configuration and weights to the module."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from torch import nn

from podium.jobs import Quantization
from podium.models.builder import Headers, SingleGPUModelBuilder
from podium.models.cast_layers import is_cast_layer
from podium.models.configs import config_section, metadata_config
from podium.models.key_maps import TRANSFORMER
from podium.models.quantization import check_quantization, policy_of, stored_in_fp8
from podium.models.quantized_linear import quantise_linears
from podium.models.registry import Registry
from podium.models.transformer.config import TransformerConfig
from podium.models.transformer.model import AVTransformer


def transformer_builder(
    checkpoint_path: Path,
    registry: Registry | None = None,
    *,
    quantization: Quantization | str = Quantization.NONE,
) -> SingleGPUModelBuilder[AVTransformer]:
    """Return the builder of the transformer inside a monolith or a split transformer file.

    Args:
        checkpoint_path: The file.
        registry: Where loaded weights are kept.
        quantization: How the weights are held; a build refuses a file that does not fit it.

    Raises:
        ValueError: `quantization` is none of `Quantization`.
    """
    asked = Quantization(quantization)
    maker = _TransformerMaker(asked)
    return SingleGPUModelBuilder((checkpoint_path,), TRANSFORMER, maker, registry, policy=policy_of(asked))


@dataclass(frozen=True, slots=True)
class _TransformerMaker:
    # A value, so that builders of one file compare equal.
    quantization: Quantization

    def __call__(self, headers: Headers) -> AVTransformer:
        header = headers[0]
        check_quantization(header, self.quantization)
        section = config_section(header.path, metadata_config(header.path, header.metadata), "transformer")
        model = AVTransformer(TransformerConfig.from_official(section))
        if self.quantization is Quantization.FP8_SCALED:
            layers = stored_in_fp8(header, TRANSFORMER(header.tensors))
        else:
            layers = frozenset(name for name, layer in model.named_modules() if _is_cast(name, layer))
        if self.quantization is not Quantization.NONE:
            has_scales = self.quantization is Quantization.FP8_SCALED
            quantise_linears(model, layers, header.path, has_scales=has_scales)
        return model


def _is_cast(name: str, layer: nn.Module) -> bool:
    return isinstance(layer, nn.Linear) and is_cast_layer(name)
