"""Whether the ranks of a job still are in step: told by the collectives that each has begun. No torch."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def find_deserter(refused: Collection[int], ended: Collection[int], num_collectives: Sequence[int]) -> int | None:
    """Return the rank that ended a job which another went on with; None if they are in step.

    Where somebody began a collective that a rank which has ended the job will never join, he waits for ever; or, if he
    was its source and waits for nobody, what he sent is taken for something else in the next job. A job that no rank
    refused is nobody's desertion: a runner may have collectives of some ranks only.

    Args:
        refused: The ranks that ended the job by a refusal.
        ended: All that ended it, these included.
        num_collectives: How many each rank has begun in this job, by rank.
    """
    if not refused:
        return None
    first = min(ended, key=lambda rank: (num_collectives[rank], rank))
    return first if max(num_collectives) > num_collectives[first] else None
