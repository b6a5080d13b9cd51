"""What ranks send each other in a step of the true size, fewer blocks of it: they are all alike."""

from __future__ import annotations

import pytest

from tests.unit.multigpu.print_messages import CLIPS, RANKS, count_ours, reckon_ours, reckon_published

LAYERS = 2


@pytest.mark.parametrize("num_tokens", list(CLIPS))
@pytest.mark.parametrize("num_ranks", RANKS)
def test_ranks_send_what_arithmetic_says_and_less_than_the_published_code(num_ranks: int, num_tokens: int) -> None:
    clip = CLIPS[num_tokens]
    ours, published = count_ours(num_ranks, clip, LAYERS), reckon_published(num_ranks, clip, LAYERS)
    assert ours == reckon_ours(num_ranks, clip, LAYERS)
    assert ours.messages.total() < 0.6 * published.messages.total()
    assert ours.sent_bytes.total() < published.sent_bytes.total()


def test_a_batch_sends_as_many_messages_as_one_pass() -> None:
    one, four = (count_ours(4, CLIPS[6144], LAYERS, batch) for batch in (1, 4))
    assert four.messages == one.messages
    assert four.sent_bytes.total() == 4 * one.sent_bytes.total()
