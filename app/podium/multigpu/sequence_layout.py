"""Who holds which tokens and heads under sequence parallelism: arithmetic that every rank does alike. No torch."""

from __future__ import annotations

from dataclasses import dataclass

from podium.errors import JobRefusedError


def split_heads(num_heads: int, num_ranks: int) -> tuple[int, ...]:
    """Return how many heads each rank attends with; the first ranks take one more where they do not divide.

    Raises:
        JobRefusedError: There are more ranks than heads.
    """
    if num_ranks > num_heads:
        raise JobRefusedError(
            f"This model can be spread over at most {num_heads} devices, and {num_ranks} were chosen. "
            f"Choose {num_heads} or fewer."
        )
    share, rest = divmod(num_heads, num_ranks)
    return tuple(share + (rank < rest) for rank in range(num_ranks))


@dataclass(frozen=True, slots=True)
class TokenLayout:
    """Where a stream's tokens lie: padded at the end to a multiple of the ranks, and split evenly.

    Args:
        num_tokens: Tokens of the stream.
        num_ranks: Ranks that share them.
        rank: This rank.
    """

    num_tokens: int
    num_ranks: int
    rank: int

    @property
    def share(self) -> int:
        """Return the tokens that each rank holds, padding included."""
        return -(-self.num_tokens // self.num_ranks)

    @property
    def num_padded(self) -> int:
        """Return all tokens, padding included."""
        return self.share * self.num_ranks

    @property
    def start(self) -> int:
        """Return this rank's first token."""
        return self.share * self.rank

    @property
    def num_own(self) -> int:
        """Return this rank's tokens without padding; the last ranks may have none."""
        return max(0, min(self.share, self.num_tokens - self.start))
