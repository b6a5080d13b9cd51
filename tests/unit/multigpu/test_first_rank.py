"""Parts that only the first rank holds; on one process."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from podium.multigpu.first_rank import EmptyVideoDecoder, FirstRankVideoDecoderBuilder

CPU = torch.device("cpu")


class Decoder:
    """Decodes to ones."""

    def decode(self, latent_BCFHW: Tensor) -> Tensor:
        """Return one pixel."""
        return torch.ones_like(latent_BCFHW[:, :1])


class DecoderBuilder:
    """Counts its builds."""

    def __init__(self) -> None:
        self.num_builds = 0

    def build(
        self, device: torch.device, dtype: torch.dtype, *, on_progress: Callable[[int, int], None] | None = None
    ) -> Decoder:
        """Return a decoder."""
        self.num_builds += 1
        return Decoder()


@pytest.mark.parametrize("is_first", [True, False])
def test_only_the_first_rank_builds_the_decoder(is_first: bool) -> None:
    inner = DecoderBuilder()
    decoder = FirstRankVideoDecoderBuilder(inner, is_first).build(CPU, torch.float32)
    assert inner.num_builds == is_first
    assert isinstance(decoder, Decoder if is_first else EmptyVideoDecoder)


def test_an_empty_decoder_gives_black_of_the_right_size_and_takes_no_memory() -> None:
    pixels = EmptyVideoDecoder(CPU, torch.bfloat16).decode(torch.zeros(1, 128, 3, 2, 4))
    assert pixels.shape == (1, 3, 17, 64, 128)
    assert pixels.dtype == torch.bfloat16
    assert not pixels.any()
    assert pixels.untyped_storage().nbytes() == pixels.element_size()
