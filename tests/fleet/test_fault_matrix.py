"""Every fault at every site. The diagonal runs always; all cells, on two and four ranks, when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fakes.faults import Fault, Site
from tests.fleet.fault_matrix import FaultBench, why_not

# Each site and each fault once, and twice where there are more of the one than of the other.
DIAGONAL = [
    (Site.FORKSERVER, Fault.SIGKILL),
    (Site.FORK, Fault.EXIT),
    (Site.RENDEZVOUS, Fault.SEGFAULT),
    (Site.SETUP, Fault.EXCEPTION),
    (Site.BETWEEN_JOBS, Fault.CLOSED_PIPE),
    (Site.INPUTS, Fault.SIGKILL),
    (Site.STEP, Fault.RUNNER_ERROR),
    (Site.COLLECTIVE, Fault.VALUE_ERROR),
    (Site.DECODE, Fault.SIGKILL),
    (Site.YIELD, Fault.UNPICKLABLE),
    (Site.SHUTDOWN, Fault.SIGSTOP),
]
ALL = [(site, fault) for site in Site for fault in Fault]


@pytest.fixture(scope="module")
def bench(
    _session_environment: None, tmp_path_factory: pytest.TempPathFactory, tiny_pack: Path
) -> Iterator[FaultBench]:
    bench = FaultBench(tmp_path_factory.mktemp("faults"), tiny_pack)
    yield bench
    bench.close()


@pytest.mark.parametrize(("site", "fault"), DIAGONAL)
def test_a_fault_is_told_at_once_and_leaves_nothing(bench: FaultBench, site: Site, fault: Fault) -> None:
    bench.run(site, fault, 2)


@pytest.mark.faults
@pytest.mark.parametrize("num_ranks", [2, 4])
@pytest.mark.parametrize(("site", "fault"), ALL)
def test_every_fault_at_every_site_is_told_at_once_and_leaves_nothing(
    bench: FaultBench, site: Site, fault: Fault, num_ranks: int, record_property: Callable[[str, object], None]
) -> None:
    reason, seen = why_not(site, fault), "failed"
    try:
        seen = f"n/a: {reason}" if reason else bench.run(site, fault, num_ranks).text
    finally:
        record_property("cell", (num_ranks, site, fault, seen))
