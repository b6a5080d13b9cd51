"""How GPUs reach each other, what is said of it, and what NCCL is told."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pynvml
import pytest

from podium.multigpu import links
from podium.multigpu.links import LinkKind, Machine, NoPeerReason, look_at_links, read_links
from podium.multigpu.placement import FleetPlan, Placement

OK = pynvml.NVML_P2P_STATUS_OK
NO = pynvml.NVML_P2P_STATUS_NOT_SUPPORTED
CHIPSET = pynvml.NVML_P2P_STATUS_CHIPSET_NOT_SUPPORTED
PLENTY = Machine(is_translated=lambda _: False, shared_memory_bytes=lambda: 1 << 40)


class FakeNvml:
    """Cards by UUID, and what every two of them can do."""

    def __init__(self) -> None:
        self.nvlinked: set[frozenset[str]] = set()
        self.peers: dict[frozenset[str], int] = {}
        self.default = OK

    def status(self, first: str, second: str, capability: int) -> int:
        pair = frozenset((first, second))
        if capability == pynvml.NVML_P2P_CAPS_INDEX_NVLINK:
            return OK if pair in self.nvlinked else NO
        return self.peers.get(pair, self.default)


@pytest.fixture
def nvml(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeNvml]:
    fake, opened = FakeNvml(), []
    calls: dict[str, Callable[..., Any]] = {
        "nvmlInit": lambda: opened.append(1),
        "nvmlShutdown": opened.pop,
        "nvmlDeviceGetHandleByUUID": lambda uuid: uuid,
        "nvmlDeviceGetP2PStatus": fake.status,
        "nvmlDeviceGetPciInfo": lambda uuid: SimpleNamespace(busId=f"00000000:{uuid[-1]}1:00.0".encode()),
    }
    for name, call in calls.items():
        monkeypatch.setattr(links.pynvml, name, call)
    yield fake
    assert not opened, "NVML was left open"


def cards(letters: str) -> list[tuple[int, str]]:
    return [(index, f"GPU-{letter}") for index, letter in enumerate(letters)]


def pair(letters: str) -> frozenset[str]:
    return frozenset(f"GPU-{letter}" for letter in letters)


def test_wires_between_all_need_no_setting_and_one_sentence(nvml: FakeNvml) -> None:
    nvml.nvlinked = {pair("ab"), pair("ac"), pair("bc")}
    found = read_links(cards("abc"), {}, PLENTY)
    assert {link.kind for link in found.links} == {LinkKind.NVLINK}
    assert found.settings == {}
    assert found.sentences() == ("All GPUs of the fleet exchange over NVLink.",)
    assert read_links(cards("ab"), {}, PLENTY).sentences() == ("GPU 0 and GPU 1 exchange over NVLink.",)


def test_the_bus_carries_what_no_wire_does(nvml: FakeNvml) -> None:
    found = read_links(cards("ab"), {}, PLENTY)
    assert found.sentences() == ("GPU 0 and GPU 1 exchange directly over the PCI bus.",)
    assert found.settings == {}


def test_where_peers_are_ruled_out_nccl_is_told_and_so_is_the_artist(nvml: FakeNvml) -> None:
    nvml.default = CHIPSET
    found = read_links(cards("ab"), {}, PLENTY)
    assert found.settings == {"NCCL_P2P_DISABLE": "1"}
    assert found.sentences() == (
        "GPU 0 and GPU 1 have no direct link: the mainboard's chipset does not allow it.",
        "Steps that spread one forward over such GPUs will be slower; guidance is dealt out instead.",
        "NCCL_P2P_DISABLE=1 was set for this fleet.",
    )


def test_an_iommu_that_translates_rules_peers_out_though_nvml_allows_them(nvml: FakeNvml) -> None:
    asked: list[str] = []
    found = read_links(cards("ab"), {}, Machine(lambda bus: bool(asked.append(bus)) or True, lambda: 1 << 40))
    assert (found.links[0].kind, found.links[0].reason) == (LinkKind.HOST, NoPeerReason.IOMMU)
    assert found.settings == {"NCCL_P2P_DISABLE": "1"}
    assert asked == ["00000000:a1:00.0"]
    nvml.nvlinked = {pair("ab")}
    assert read_links(cards("ab"), {}, Machine(lambda _: True, lambda: 1 << 40)).settings == {}


def test_bridged_pairs_keep_their_wires(nvml: FakeNvml) -> None:
    nvml.nvlinked, nvml.default = {pair("ab"), pair("cd")}, NO
    found = read_links(cards("abcd"), {}, PLENTY)
    assert found.settings == {"NCCL_P2P_LEVEL": "NVL"}
    # Teams of neighbours have the wire, the whole fleet has not.
    assert found.by_team_size(4) == {2: "nvlink", 4: "host"}
    assert found.links[1].reason is NoPeerReason.GPU


def test_too_little_shared_memory_sends_nccl_over_loopback(nvml: FakeNvml) -> None:
    nvml.default = NO
    small = Machine(is_translated=lambda _: False, shared_memory_bytes=lambda: 60 << 20)
    assert read_links(cards("ab"), {}, small).settings == {"NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1"}
    nvml.default = OK
    assert read_links(cards("ab"), {}, small).settings == {}


def test_what_the_user_has_set_stays(nvml: FakeNvml) -> None:
    nvml.default = NO
    assert read_links(cards("ab"), {"NCCL_P2P_DISABLE": "0"}, PLENTY).settings == {}
    assert read_links(cards("ab"), {"NCCL_P2P_LEVEL": "PHB"}, PLENTY).settings == {}


def test_ranks_on_one_gpu_have_no_link(nvml: FakeNvml) -> None:
    found = read_links([(0, "GPU-a"), (0, "GPU-a"), (1, "GPU-b")], {}, PLENTY)
    assert [link.ranks for link in found.links] == [(0, 2), (1, 2)]


def test_an_nvml_that_does_not_answer_stops_no_fleet(nvml: FakeNvml, caplog: pytest.LogCaptureFixture) -> None:
    def refuse(*_: object) -> int:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(links.pynvml, "nvmlDeviceGetP2PStatus", refuse)
        assert read_links(cards("ab"), {}, PLENTY).links == ()
    assert "cannot be looked at" in caplog.text


def plan(*uuids: str | None) -> FleetPlan:
    return FleetPlan(tuple(Placement(rank, rank, uuid) for rank, uuid in enumerate(uuids)), "nccl")


def test_a_fleet_that_starts_says_its_links_in_the_log(nvml: FakeNvml, caplog: pytest.LogCaptureFixture) -> None:
    nvml.nvlinked = {pair("ab")}
    with caplog.at_level(logging.INFO, logger=links.__name__):
        assert len(look_at_links(plan("GPU-a", "GPU-b"), {}).links) == 1
    assert "GPU 0 and GPU 1 exchange over NVLink." in caplog.messages


@pytest.mark.parametrize(
    "fleet",
    [plan("GPU-a"), plan("GPU-a", None), FleetPlan((Placement(0, None), Placement(1, None)), "gloo")],
    ids=["one GPU", "an order that is not ours", "the CPU"],
)
def test_fleets_without_known_links_ask_nobody(fleet: FleetPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links.pynvml, "nvmlInit", lambda: pytest.fail("asked"))
    found = look_at_links(fleet, {})
    assert (found.links, found.settings, found.sentences()) == ((), {}, ())
