"""Who holds which tokens and heads under sequence parallelism: arithmetic that every rank does alike. No torch."""

from __future__ import annotations

import math
from dataclasses import dataclass

from podium.errors import JobRefusedError
from podium.geometry import ClipFormat
from podium.jobs import GenerationRequest

# 20 s at 24 fps and 1920 x 1088: the longest clip the model places on its time axis, at the largest usual size.
DEFAULT_MAX_TOKENS = 61 * 34 * 60


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


def num_frames_behind(request: GenerationRequest) -> int:
    """Return the frames whose tokens stand behind a clip's own: pictures but at the first frame, and key frames.

    Key frames are those that the model makes itself.
    """
    keyframes = request.generated_keyframes
    num_slots = keyframes if isinstance(keyframes, int) else len(keyframes)
    return sum(image.frame != 0 for image in request.images) + num_slots


def num_video_tokens(clip: ClipFormat, num_pictures: int = 0) -> int:
    """Return the most video tokens of a clip's forwards.

    Args:
        clip: Of the second stage, which has more of them than the first.
        num_pictures: Frames whose tokens stand behind the clip's own; see `num_frames_behind`.
    """
    grid = clip.latent_grid
    return grid.num_tokens + num_pictures * grid.height * grid.width


def check_num_tokens(clip: ClipFormat, max_tokens: int = DEFAULT_MAX_TOKENS, *, num_pictures: int = 0) -> None:
    """Check that a fleet started for `max_tokens` can make a clip.

    Args:
        clip: The finished one.
        max_tokens: Most tokens of a stream.
        num_pictures: See `num_video_tokens`.

    Raises:
        JobRefusedError: It has more tokens of video, or of sound.
    """
    num_tokens = max(num_video_tokens(clip, num_pictures), clip.num_audio_latents)
    if num_tokens > max_tokens:
        raise JobRefusedError(too_many_tokens(num_tokens, max_tokens))


def too_many_tokens(num_tokens: int, max_tokens: int) -> str:
    """Return the sentence for a clip that is too large for its fleet."""
    return (
        f"This clip is too large: it makes {num_tokens:,} tokens, and {max_tokens:,} are the most that a fleet is "
        f"started for. Choose a smaller size or fewer frames: about {math.ceil(100 - 100 * max_tokens / num_tokens)} % "
        "of its pixels have to go."
    )


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
