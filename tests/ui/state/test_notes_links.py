"""What is said without refusing anything: notes of a clip's check, LoRAs for another model, links between GPUs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from podium.helper.requests import CheckedJob, CheckRequest, ReadLora
from podium.models.lora_keys import LayerCount, LoraReport
from podium.models.lora_origin import is_for_another
from podium.multigpu.links import FleetLinks as FoundLinks
from podium.multigpu.links import Link, LinkKind, NoPeerReason
from podium.ui.owner import _links_of
from podium.ui.state.events import FleetReady, FleetStarting, FleetStopped, JobEnded
from podium.ui.state.links import FleetLinks, LinkWay
from podium.ui.state.loras import LoraStackState
from podium.ui.state.session import SessionState
from podium.ui.state.values import DeviceChoice, EntryStatus, ErrorMessage, JobPhase

from tests.fakes.ui import SPEC, FakeControls, FakeHelper, make_ready

World = tuple[SessionState, FakeHelper, FakeControls]
NOTES = ("It may do little.", "It may do something else.")
GRAIN, DOLLY = Path("/loras/grain.safetensors"), Path("/loras/dolly.safetensors")


def begin(world: World) -> None:
    """Have a clip checked whose check has something to say."""
    session, helper, _ = world
    make_ready(session, helper, prompt="a fox")
    session.generate()
    helper.answer(CheckRequest, CheckedJob(5, (), {}, notes=NOTES))


def test_what_a_check_has_to_say_stands_at_the_clip_and_at_its_entry(world: World) -> None:
    begin(world)
    session, *_ = world
    assert session.job.notes == session.queue.entries[0].notes == NOTES


def test_an_entry_that_failed_keeps_what_its_check_had_to_say_until_it_is_retried(world: World) -> None:
    begin(world)
    session, *_ = world
    key = session.queue.entries[0].key
    session.queue.pause()
    session.apply(JobEnded(key, JobPhase.FAILED, message=ErrorMessage("No.")))
    assert (session.queue.entries[0].status, session.queue.entries[0].notes) == (EntryStatus.FAILED, NOTES)
    session.queue.retry(key)
    assert session.queue.entries[0].notes == ()


def test_the_next_clip_begins_without_the_last_ones_notes(world: World) -> None:
    begin(world)
    session, helper, _ = world
    session.job.kill()
    session.apply(JobEnded(session.queue.entries[0].key, JobPhase.STOPPED))
    session.generate()
    assert (session.job.phase, session.job.notes) == (JobPhase.CHECKING, ())
    helper.answer(CheckRequest, CheckedJob(5, (), {}))
    assert session.job.notes == ()


def read_loras(origins: dict[Path, str], model_name: str) -> LoraStackState:
    helper = FakeHelper()
    stack = LoraStackState(helper)
    stack.set_checkpoint(Path("/model.safetensors"), model_name)
    stack.add(list(origins))
    for path, origin in origins.items():
        helper.answer(ReadLora, LoraReport(path.name, LayerCount(1, ("a",)), trained_for=origin))
    return stack


def test_a_lora_for_another_model_is_said_before_generate_is_pressed(qapp: object) -> None:
    stack = read_loras({GRAIN: "LTX-2.0", DOLLY: "LTX-2.3"}, "LTX-2.3")
    assert [item.is_for_another for item in stack.items] == [True, False]
    assert "“grain” was trained for LTX-2.0, and this model is LTX-2.3" in stack.note
    stack.set_on(stack.items[0].key, False)
    assert stack.note == ""


def test_several_for_other_models_are_counted(qapp: object) -> None:
    assert read_loras({GRAIN: "LTX-2.0", DOLLY: "LTX-2.5"}, "LTX-2.3").note.startswith("2 LoRAs were trained for")


def test_nothing_is_said_of_a_lora_whose_origin_or_model_is_not_known_exactly() -> None:
    assert not is_for_another("LTX-2", "LTX-2.3")
    assert not is_for_another("LTX-2.3 or later", "LTX-2.5")
    assert not is_for_another("", "LTX-2.3")
    assert not is_for_another("LTX-2.0", "")
    assert is_for_another("LTX-2.0", "LTX-2.3")


def test_the_ways_of_the_window_are_those_of_the_fleet() -> None:
    assert [way.value for way in LinkWay] == [kind.value for kind in LinkKind]


class Linked:
    """A controller as far as its links go."""

    def __init__(self, *links: Link) -> None:
        self.links = FoundLinks(links)


def test_the_owner_tells_the_slowest_link_and_all_that_is_known() -> None:
    fast = Link((0, 1), (0, 1), LinkKind.NVLINK)
    slow = Link((1, 2), (1, 2), LinkKind.HOST, NoPeerReason.IOMMU)
    told = _links_of(Linked(fast, slow), replace(SPEC, choice=DeviceChoice((0, 1, 2))))  # type: ignore[arg-type]  # a part
    assert told.way is LinkWay.HOST
    assert told.sentences[0] == "GPU 0 and GPU 1 exchange over NVLink."
    assert "no direct link: the IOMMU stands between them" in told.sentences[1]


def test_a_fleet_on_the_cpu_has_no_links_to_tell_of() -> None:
    assert _links_of(Linked(), SPEC) == FleetLinks()  # type: ignore[arg-type]  # a part


def test_links_are_those_of_the_fleet_that_is_up(world: World) -> None:
    session, *_ = world
    links = FleetLinks(LinkWay.PEER, ("GPU 0 and GPU 1 exchange directly over the PCI bus.",))
    session.apply(FleetStarting(SPEC))
    session.apply(FleetReady(SPEC, 2.0, links))
    assert session.fleet.links == links
    session.apply(FleetStopped())
    assert session.fleet.links == FleetLinks()
