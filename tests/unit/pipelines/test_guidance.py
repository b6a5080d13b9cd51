"""Which forwards a step needs, and what becomes of their estimates."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from podium.jobs import GuidanceSpec, count_passes
from podium.models.transformer.inputs import Perturbations
from podium.pipelines.guidance import (
    CONDITIONED,
    ContextChoice,
    Guidance,
    OneAfterAnother,
    OneBatch,
    Pass,
    PassKind,
    guide,
    stack_perturbations,
)
from podium.pipelines.samplers import Denoised

C, U, P, I = PassKind.CONDITIONED, PassKind.UNCONDITIONED, PassKind.PERTURBED, PassKind.ISOLATED  # noqa: E741


def kinds(guidance: Guidance, step: int = 0) -> list[PassKind]:
    return [one.kind for one in guidance.passes_at(step)]


def test_the_formula_is_the_originals(
    golden: Callable[[str], dict[str, Tensor]], assert_close_to_golden: Callable[..., None]
) -> None:
    data = golden("schedules_and_geometry")
    names = {C: "cond", U: "uncond", P: "ptb", I: "mod"}
    estimates = {kind: data[f"guidance.{name}"] for kind, name in names.items()}
    spec = GuidanceSpec(cfg=3, stg=1, rescale=0.7, modality=3, stg_blocks=(1,))
    assert_close_to_golden(guide(spec, estimates), data["guidance.out_cfg3_stg1_mod3_rescale0.7"], 1e-6)


@pytest.mark.parametrize(
    ("video", "audio", "expected"),
    [
        (GuidanceSpec(), GuidanceSpec(), [C]),
        (GuidanceSpec(cfg=3), GuidanceSpec(), [C, U]),
        (GuidanceSpec(), GuidanceSpec(stg=1, stg_blocks=(0,)), [C, P]),
        (GuidanceSpec(modality=3), GuidanceSpec(), [C, I]),
        (GuidanceSpec(cfg=0.5), GuidanceSpec(stg=-1, stg_blocks=(0,), modality=0), [C, U, P, I]),
        (GuidanceSpec(rescale=0.7), GuidanceSpec(rescale=1), [C]),
    ],
)
def test_a_pass_that_no_scale_needs_is_not_run(
    video: GuidanceSpec, audio: GuidanceSpec, expected: list[PassKind]
) -> None:
    assert kinds(Guidance(video, audio)) == expected
    assert count_passes(video, audio) == len(expected)


def test_only_the_unconditioned_pass_attends_the_negative_prompt() -> None:
    spec = GuidanceSpec(3, 1, 0.7, 3, 0, (2,))
    contexts = {one.kind: one.context for one in Guidance(spec, spec).passes_at(0)}
    assert contexts == {
        C: ContextChoice.PROMPT, U: ContextChoice.NEGATIVE, P: ContextChoice.PROMPT, I: ContextChoice.PROMPT
    }  # fmt: skip


def test_each_stream_is_perturbed_by_its_own_scale_and_in_its_own_blocks() -> None:
    both = Guidance(GuidanceSpec(stg=1, stg_blocks=(1, 2)), GuidanceSpec(stg=0.5, stg_blocks=(3,)))
    (_, perturbed) = both.passes_at(0)
    like = torch.zeros(1)
    keeps = perturbed.perturbations.keeps_of_blocks(4, like)
    assert [keep.video for keep in keeps] == [True, False, False, True]
    assert [keep.audio for keep in keeps] == [True, True, True, False]
    (_, one) = Guidance(GuidanceSpec(stg=1, stg_blocks=(1,)), GuidanceSpec(stg_blocks=(1,))).passes_at(0)
    assert (one.perturbations.video, one.perturbations.audio) == ((True,), (False,))


def test_a_perturbation_without_blocks_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="needs blocks"):
        Guidance(GuidanceSpec(stg=1))


def test_a_stream_that_skips_needs_no_pass_and_keeps_its_last_estimate() -> None:
    guidance = Guidance(GuidanceSpec(cfg=3, skip_step=1), GuidanceSpec(stg=1, stg_blocks=(0,)))
    assert [kinds(guidance, step) for step in range(3)] == [[C, U, P], [C, P], [C, U, P]]
    (_, perturbed) = guidance.passes_at(1)
    assert (perturbed.perturbations.video, perturbed.perturbations.audio) == ((False,), (True,))
    last = Denoised(torch.full((1, 2, 3), 5.0), torch.full((1, 2, 3), 6.0))
    now = {kind: Denoised(torch.randn(1, 2, 3), torch.randn(1, 2, 3)) for kind in (C, P)}
    combined = guidance.combine(1, now, last)
    assert combined.video is last.video
    assert torch.equal(combined.audio, guide(guidance.audio, {kind: both.audio for kind, both in now.items()}))


def test_where_both_streams_skip_no_forward_runs() -> None:
    guidance = Guidance(GuidanceSpec(cfg=3, skip_step=2), GuidanceSpec(skip_step=1))
    assert [bool(guidance.passes_at(step)) for step in range(7)] == [True, False, True, True, True, False, True]
    last = Denoised(torch.ones(1, 1, 1), torch.ones(1, 1, 1))
    skipped = guidance.combine(1, {}, last)
    assert (skipped.video, skipped.audio) == (last.video, last.audio)


SCALES = st.floats(-5, 10).map(lambda value: round(value, 2))


@given(SCALES, SCALES, SCALES, st.integers(0, 2**31))
def test_without_rescale_an_estimate_is_the_sum_of_its_pulls(
    cfg: float, stg: float, modality: float, seed: int
) -> None:
    parts = torch.randn(4, 1, 3, 5, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    estimates = dict(zip((C, U, P, I), parts, strict=True))
    guided = guide(GuidanceSpec(cfg, stg, 0, modality, 0, (0,)), estimates)
    weights = torch.tensor([cfg + stg + modality - 1, 1 - cfg, -stg, 1 - modality], dtype=torch.float64)
    assert torch.allclose(guided, (weights[:, None, None, None] * parts).sum(0))


@given(st.integers(0, 2**31))
def test_a_whole_rescale_brings_back_the_spread_over_all_tokens(seed: int) -> None:
    cond, uncond = torch.randn(2, 1, 8, 4, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    guided = guide(GuidanceSpec(cfg=4, rescale=1), {C: cond, U: uncond})
    assert torch.allclose(guided.std(), cond.std())
    # One factor for all: not one a token or a channel.
    assert torch.allclose(guided / (4 * cond - 3 * uncond), (guided / (4 * cond - 3 * uncond)).flatten()[0])


class Recorder:
    """A forward that says what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[PassKind]] = []

    @property
    def like(self) -> Denoised:
        return Denoised(torch.zeros(1), torch.zeros(1))

    def is_cold(self, passes: list[Pass] | tuple[Pass, ...]) -> bool:
        return len(passes) > 1

    def __call__(self, passes: list[Pass] | tuple[Pass, ...]) -> list[Denoised]:
        self.asked.append([one.kind for one in passes])
        return [Denoised(torch.tensor([float(len(one.kind))]), torch.zeros(1)) for one in passes]


def test_runners_ask_for_all_passes_in_order_as_often_as_they_say() -> None:
    passes = Guidance(GuidanceSpec(cfg=3), GuidanceSpec(modality=2)).passes_at(0)
    apart, together = Recorder(), Recorder()
    one_by_one, batch = OneAfterAnother()(apart, passes), OneBatch()(together, passes)
    assert (apart.asked, together.asked) == ([[C], [U], [I]], [[C, U, I]])
    assert [one.video for one in one_by_one] == [one.video for one in batch]
    # Each asks of the shape that it runs.
    assert (OneAfterAnother().is_cold(apart, passes), OneBatch().is_cold(together, passes)) == (False, True)


def test_passes_one_after_another_are_cold_while_any_of_them_is() -> None:
    passes = Guidance(GuidanceSpec(cfg=3), GuidanceSpec(modality=2)).passes_at(0)
    warm = {C, U}
    forward = Recorder()
    forward.is_cold = lambda of: any(one.kind not in warm for one in of)  # type: ignore[method-assign] # of one test
    assert OneAfterAnother().is_cold(forward, passes)
    warm.add(I)
    assert not OneAfterAnother().is_cold(forward, passes)


def test_a_batch_perturbs_each_sample_as_its_pass_says() -> None:
    spec = GuidanceSpec(3, 1, 0, 3, 0, (1,))
    stacked = stack_perturbations(Guidance(spec, GuidanceSpec()).passes_at(0))
    assert stacked.video == (False, False, True, False)
    assert stacked.audio == (False,) * 4
    assert stacked.isolated == (False, False, False, True)
    keep = stacked.keeps_of_blocks(2, torch.zeros(1))[1].video
    assert isinstance(keep, Tensor)
    assert keep.flatten().tolist() == [1, 1, 0, 1]


def test_a_batch_cannot_be_perturbed_in_unlike_blocks() -> None:
    unlike = [Pass(P, perturbations=Perturbations(frozenset({block}), video=(True,))) for block in (1, 2)]
    with pytest.raises(ValueError, match="unlike blocks"):
        stack_perturbations([CONDITIONED, *unlike])
