"""How large forwards may be that are recorded: what the memory plan and the transformer both go by. No torch."""

from __future__ import annotations

from collections.abc import Mapping

RECORDS_EXCHANGES = "PODIUM_RECORD_EXCHANGES"
"""The environment's word for recording forwards with the exchanges between ranks that are in them: "1"."""

MOST_RECORDED_TOKENS = 4096
"""Most video tokens, samples and a rank's share counted, of a forward that is recorded.

Up to there the host is slower than a GPU, and what a recording keeps stays below a gigabyte. Source: on an H200 the
host takes 96 to 164 ms for a forward, the GPU 55 µs for a token (`python -m tests.gpu.one_gpu FOLDER --parts share`).
"""


def records_exchanges(environment: Mapping[str, str]) -> bool:
    """Return whether forwards of several ranks are recorded too; not by default: it was never seen on several GPUs."""
    return environment.get(RECORDS_EXCHANGES) == "1"
