"""A decoder that begins as the inverse of the fold: its strides lay out what a latent cell says of the shape's edge.

A cell's 24 components are unfolded to the 64 distances that they were folded from (4 moments, 4 x 4 points), and those
are dealt out in time and space by the decoder's own strides, until every point of the last one's grid (4 pixels, one
frame) knows its distance to the edge, the colours, the style, and that it lies within the picture. What is left to be
learnt is to paint that: such a decoder is after 125 steps where one of random weights is after 400.
"""

from __future__ import annotations

from itertools import product

import torch
from diffusers.models.autoencoders.autoencoder_kl_ltx2 import LTX2VideoDecoder3d
from latents import NUM_COMPONENTS, NUM_LIVE, Basis
from torch import Tensor, nn

_NUM_SEEN = NUM_LIVE - NUM_COMPONENTS  # Of a cell, the same all over it: colours and style.
_SPARE = 0.3
# Samples of a cell: moments, of which a half is dealt out at once, and points along each side.
_HALF, _SIDE = 2, 4
# A point's middle lies a quarter of a step off that of the coarser one it is part of.
_BETWEEN = ((0.25, 0.75, 0.0), (0.0, 0.75, 0.25))


@torch.no_grad()
def unfold(decoder: LTX2VideoDecoder3d, basis: Basis) -> None:
    """Set a decoder's weights so that its last blocks get distances and colours; what is spare stays random.

    Args:
        decoder: Of one width from end to end, at least 40; with strides in time, in space, and twice in both.
        basis: What the latents were folded with.
    """
    in_time, in_space, in_both, last = (block.upsamplers[0].conv.conv for block in decoder.up_blocks)
    # Residual blocks add nothing at first, except the last ones, which shall paint.
    for block in (decoder.mid_block, *decoder.up_blocks):
        for resnet in block.resnets:
            resnet.conv2.conv.weight.mul_(_SPARE if block is decoder.up_blocks[-1] else 0.0)
            nn.init.zeros_(resnet.conv2.conv.bias)
    _take_latents(_Outputs(decoder.conv_in.conv, ()))
    _undo_the_fold(_Outputs(in_time, (2,)), basis)
    _deal_out_quarters(_Outputs(in_space, (2, 2)))
    _deal_out_samples(_Outputs(in_both, (2, 2, 2)))
    _look_between_samples(_Outputs(last, (2, 2, 2)))


class _Outputs:
    """A convolution's outputs by channel and by the place that its stride deals them out to."""

    def __init__(self, conv: nn.Conv3d, strides: tuple[int, ...]) -> None:
        # Spare channels whisper, so that what is known is heard.
        conv.weight.mul_(_SPARE)
        nn.init.zeros_(conv.bias)
        self.weight: Tensor = conv.weight.view(-1, *strides, *conv.weight.shape[1:])
        self.bias: Tensor = conv.bias.view(-1, *strides)
        self.last = len(self.bias) - 1

    def clear(self, channel: int, *place: int) -> None:
        self.weight[(channel, *place)] = 0

    def take(self, channel: int, place: tuple[int, ...], source: int) -> None:
        self.clear(channel, *place)
        self.weight[(channel, *place, source, 1, 1, 1)] = 1

    def pass_on(self, channel: int, place: tuple[int, ...], source: int) -> None:
        """Take what is the same all over a cell, and the last channel, which says that this is within the picture."""
        for offset in range(_NUM_SEEN):
            self.take(channel + offset, place, source + offset)
        self.take(self.last, place, self.last)


def _take_latents(outputs: _Outputs) -> None:
    for channel in range(NUM_LIVE):
        outputs.take(channel, (), channel)
    outputs.clear(outputs.last)
    outputs.bias[outputs.last] = 1.0


def _undo_the_fold(outputs: _Outputs, basis: Basis) -> None:
    num_samples = _HALF * _SIDE * _SIDE
    inverse, mean = basis.inverse.view(2, num_samples, NUM_COMPONENTS), basis.mean.view(2, num_samples)
    for half in range(2):
        for sample in range(num_samples):
            outputs.clear(sample, half)
            outputs.weight[sample, half, :NUM_COMPONENTS, 1, 1, 1] = inverse[half, sample]
            outputs.bias[sample, half] = mean[half, sample]
        outputs.pass_on(num_samples, (half,), NUM_COMPONENTS)


def _deal_out_quarters(outputs: _Outputs) -> None:
    side = _SIDE // 2
    for y, x in product(range(2), range(2)):
        samples = product(range(_HALF), range(side), range(side))
        for channel, (moment, row, column) in enumerate(samples):
            outputs.take(channel, (y, x), (moment * _SIDE + y * side + row) * _SIDE + x * side + column)
        outputs.pass_on(_HALF * side * side, (y, x), _HALF * _SIDE * _SIDE)


def _deal_out_samples(outputs: _Outputs) -> None:
    places = list(product(range(2), range(2), range(2)))
    for source, place in enumerate(places):
        outputs.take(0, place, source)
        outputs.pass_on(1, place, len(places))


def _look_between_samples(outputs: _Outputs) -> None:
    between = torch.tensor(_BETWEEN, device=outputs.weight.device)
    for t, y, x in product(range(2), range(2), range(2)):
        outputs.clear(0, t, y, x)
        outputs.weight[0, t, y, x, 0] = torch.einsum("i,j,k->ijk", between[t], between[y], between[x])
        outputs.pass_on(1, (t, y, x), 1)
