"""A runner that prints how the end of its rank goes, and cannot close itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest import mock

from torch import distributed

from podium.multigpu import MGPURunner


class ClosingRunner(MGPURunner):
    """Its `close` fails."""

    def setup(self, *, fails: bool = False) -> None:
        destroy = distributed.destroy_process_group

        def destroy_aloud() -> None:
            destroy()
            print("destroyed")

        mock.patch.object(distributed, "destroy_process_group", destroy_aloud).start()
        if fails:
            raise RuntimeError("no setup")

    def close(self) -> None:
        print("closing")
        raise ValueError("cannot be closed")

    def __call__(self, **kwargs: Any) -> Iterator[Any]:
        yield self.rank
