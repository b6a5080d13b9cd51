"""What ranks say never queues up, and nothing that matters is dropped."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podium.jobs import JobEvent, MotionPreview, Phase, PhaseEnded, PhaseStarted, PreviewPicture, RankMemory, StepDone
from podium.ui.mailbox import Mailbox


def picture(step: int) -> PreviewPicture:
    return PreviewPicture(Phase.STAGE_1, step, 1, 1, bytes([step % 256] * 3))


def test_only_the_first_word_in_an_empty_box_has_to_be_told_of() -> None:
    box = Mailbox()
    assert box.put(1, PhaseStarted(Phase.STAGE_1, 3))
    assert not box.put(1, picture(1))
    assert not box.put(2, picture(1))
    box.take()
    assert box.put(1, picture(2))


def test_of_previews_only_the_newest_of_each_kind_is_kept() -> None:
    box = Mailbox()
    motion = MotionPreview(Phase.STAGE_1, 2, 1, 1, 1, 0.1, b"rgb")
    for event in (picture(1), motion, picture(2), picture(3)):
        box.put(1, event)
    (mail,) = box.take()
    assert set(mail.previews) == {picture(3), motion}
    assert box.take() == ()


events = st.lists(
    st.one_of(
        st.sampled_from([PhaseStarted(Phase.STAGE_1, 9), PhaseEnded(Phase.STAGE_1, 1.0), PhaseStarted(Phase.DECODING)]),
        st.builds(RankMemory, st.integers(0, 3), st.integers(0, 99), st.integers(0, 99)),
        st.builds(
            StepDone, st.sampled_from([Phase.STAGE_1, Phase.DECODING]), st.integers(1, 9), st.just(9), st.just(0.25)
        ),
    ),
    max_size=40,
)


@given(events)
def test_phases_stay_in_order_and_no_second_of_a_step_is_lost(said: list[JobEvent]) -> None:
    box = Mailbox()
    for event in said:
        box.put(1, event)
    kept = [event for mail in box.take() for event in mail.events]
    marks = (PhaseStarted, PhaseEnded)
    assert [event for event in kept if isinstance(event, marks)] == [e for e in said if isinstance(e, marks)]
    steps_s = [sum(e.duration_s for e in found if isinstance(e, StepDone)) for found in (kept, said)]
    assert steps_s[0] == steps_s[1]
    last = [[e for e in found if isinstance(e, StepDone)][-1:] for found in (kept, said)]
    assert [step.step for step in last[0]] == [step.step for step in last[1]]
    memories = {event.rank: event for event in said if isinstance(event, RankMemory)}
    assert sorted(memories.values(), key=lambda m: m.rank) == sorted(
        (event for event in kept if isinstance(event, RankMemory)), key=lambda m: m.rank
    )
