"""Recorded forwards: what a replay gives is what the forward would, and nothing is recorded that may change."""

from __future__ import annotations

import gc
import logging
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import torch
from torch import Tensor

from podium.models.registry import StateDictRegistry
from podium.models.transformer.builder import transformer_builder
from podium.models.transformer.inputs import Perturbations, StreamInput
from podium.models.transformer.model import AVTransformer
from podium.models.transformer.replay import ForwardReplays, _kind, _tensors
from podium.multigpu.attention import AttentionManager
from podium.multigpu.sp_builder import SequenceParallelTransformer
from podium.multigpu.tdp_builder import TiledTransformer
from podium.pipelines.latents import audio_positions

from tests.fakes.reruns import FailingCapture, RerunCapture, storage_of
from tests.fakes.tiled_jobs import CPU, NUM_AUDIO, Stage, make_stage, tiling_of

Inputs = tuple[StreamInput, StreamInput]


@pytest.fixture(scope="module")
def model(tiny_pack: Path) -> AVTransformer:
    checkpoint = tiny_pack / "ltx-2.5" / "transformer.safetensors"
    return transformer_builder(checkpoint, StateDictRegistry()).build(CPU, torch.float32)


@pytest.fixture
def capture() -> RerunCapture:
    return RerunCapture()


@pytest.fixture
def replays(capture: RerunCapture) -> ForwardReplays:
    return ForwardReplays(capture)


@pytest.fixture
def spread(model: AVTransformer, replays: ForwardReplays) -> SequenceParallelTransformer:
    return spread_with(model, replays)


def spread_with(model: AVTransformer, replays: ForwardReplays | None) -> SequenceParallelTransformer:
    heads = model.config.video
    manager = AttentionManager(1000, heads.num_heads, heads.head_dim, torch.float32, None)
    return SequenceParallelTransformer(model, manager, replays)


def inputs_of(transformer: SequenceParallelTransformer, stage: Stage, scale: float = 1.0) -> Inputs:
    """Return inputs without a mask; another scale gives others in every tensor that changes between steps."""
    ropes = transformer.video_ropes(stage.positions), transformer.audio_ropes(audio_positions(NUM_AUDIO))
    video, audio = stage.video(ropes[0]), stage.audio(ropes[1])
    return (
        replace(video, latent=video.latent * scale, sigma=video.sigma * scale, attention_mask=None),
        replace(audio, latent=audio.latent * scale, context=audio.context * scale),
    )


def assert_same(ours: tuple[Tensor | None, ...], theirs: tuple[Tensor | None, ...]) -> None:
    for mine, wanted in zip(ours, theirs, strict=True):
        assert mine is not None
        assert wanted is not None
        assert torch.equal(mine, wanted)


@torch.inference_mode()
def test_forwards_after_the_second_are_replays_and_give_the_same(
    model: AVTransformer, spread: SequenceParallelTransformer, replays: ForwardReplays, capture: RerunCapture
) -> None:
    plain, stage = spread_with(model, None), make_stage(model)
    for number, scale in enumerate((1.0, 0.7, 0.4, 0.2)):
        assert_same(spread(*inputs_of(spread, stage, scale)), plain(*inputs_of(plain, stage, scale)))
        assert capture.num_replays == number
    assert replays.num_captures == 1


@torch.inference_mode()
def test_a_result_stays_when_the_next_forward_comes(model: AVTransformer, spread: SequenceParallelTransformer) -> None:
    stage = make_stage(model)
    results = [spread(*inputs_of(spread, stage, scale)) for scale in (1.0, 0.7, 0.4)]
    plain = spread_with(model, None)
    for scale, result in zip((1.0, 0.7, 0.4), results, strict=True):
        assert_same(result, plain(*inputs_of(plain, stage, scale)))


@torch.inference_mode()
def test_inputs_of_a_caller_are_never_written(
    spread: SequenceParallelTransformer, model: AVTransformer, replays: ForwardReplays
) -> None:
    first = inputs_of(spread, make_stage(model))
    given = [tensor for stream in first for tensor in _tensors(stream) if tensor is not None]
    kept = [tensor.clone() for tensor in given]
    spread(*first)
    for scale in (0.7, 0.4):
        spread(*inputs_of(spread, make_stage(model), scale))
    assert all(torch.equal(tensor, was) for tensor, was in zip(given, kept, strict=True))
    # Nor those that do not change in here: later forwards are copied over what the first one's were copied to.
    (entry,) = replays._entries.values()
    own = {storage_of(tensor) for stream in entry.inputs for tensor in _tensors(stream) if tensor is not None}
    assert own.isdisjoint(map(storage_of, given))


@torch.inference_mode()
def test_weights_that_are_written_in_place_are_those_of_the_next_replay(
    model: AVTransformer, spread: SequenceParallelTransformer, replays: ForwardReplays
) -> None:
    stage, weight = make_stage(model), model.transformer_blocks[1].attn1.to_q.weight  # type: ignore[union-attr]
    for _ in range(3):
        before = spread(*inputs_of(spread, stage))
    kept = weight.detach().clone()
    try:
        weight.mul_(1.5)
        plain = spread_with(model, None)
        swapped = spread(*inputs_of(spread, stage))
        assert_same(swapped, plain(*inputs_of(plain, stage)))
        assert not torch.equal(swapped[0], before[0])  # type: ignore[arg-type]
        assert replays.num_captures == 1
    finally:
        weight.copy_(kept)


@torch.inference_mode()
def test_passes_that_are_perturbed_otherwise_are_recorded_apart(
    model: AVTransformer, spread: SequenceParallelTransformer, replays: ForwardReplays
) -> None:
    plain, stage, one = spread_with(model, None), make_stage(model), frozenset({1})
    kinds = [Perturbations(), Perturbations(one, video=(True,)), Perturbations(isolated=(True,))]
    for _ in range(3):
        for kind in kinds:
            assert_same(spread(*inputs_of(spread, stage), kind), plain(*inputs_of(plain, stage), kind))
    assert replays.num_captures == len(kinds)


def longer(spread: SequenceParallelTransformer, audio: StreamInput) -> StreamInput:
    """Return the sound of as many frames at a lower rate."""
    latent = audio.latent.repeat(1, 2, 1)
    ropes = spread.audio_ropes(audio_positions(latent.shape[1]))
    return replace(audio, latent=latent, rope=ropes.own, cross_rope=ropes.cross)


@torch.inference_mode()
@pytest.mark.parametrize(
    "changed",
    [
        lambda spread, video, audio: (video, longer(spread, audio)),
        lambda _, video, audio: (replace(video, keyframes_mask=None), audio),
        lambda _, video, audio: (replace(video, context=video.context[:, :5]), audio),
        lambda _, video, audio: (replace(video, sigma=video.sigma.double()), audio),
    ],
    ids=["longer sound", "no key frames", "a shorter prompt", "another precision"],
)
def test_streams_of_another_shape_or_type_are_recorded_apart(
    model: AVTransformer,
    spread: SequenceParallelTransformer,
    replays: ForwardReplays,
    changed: Callable[[SequenceParallelTransformer, StreamInput, StreamInput], Inputs],
) -> None:
    plain, stage = spread_with(model, None), make_stage(model)
    kinds = [inputs_of(spread, stage), changed(spread, *inputs_of(spread, stage))]
    for _ in range(3):
        for kind in kinds:
            assert_same(spread(*kind), plain(*kind))
    assert replays.num_captures == 2


class Keys:
    """Notes the keys of forwards, and runs none."""

    def __init__(self) -> None:
        self.seen: list[tuple[Any, Any]] = []

    def takes(self, *_: object) -> bool:
        return True

    def run(self, key: Any, _: object, of: Inputs) -> tuple[Tensor, Tensor]:
        self.seen.append((key, tuple(map(_kind, of))))
        return of[0].latent, of[1].latent


@torch.inference_mode()
def test_clips_whose_shares_are_alike_and_whose_tokens_are_not_are_recorded_apart(model: AVTransformer) -> None:
    # Two ranks hold as many of an odd number of tokens as of the even one above.
    keys = Keys()
    spread = spread_with(model, keys)  # type: ignore[arg-type]
    spread._attn_mgr.num_ranks = 2
    with mock.patch.object(AttentionManager, "can_be_recorded", True):
        for num_tokens in (5, 6, 5):
            spread(*inputs_of(spread, make_stage(model).cut(list(range(num_tokens)), torch.zeros(3, 1))))
    (odd, of_odd), (even, of_even), (odd_again, _) = keys.seen
    assert of_odd == of_even
    assert odd == odd_again != even


@torch.inference_mode()
def test_what_the_host_exchanges_is_never_recorded(model: AVTransformer) -> None:
    keys = Keys()
    spread = spread_with(model, keys)  # type: ignore[arg-type]
    with mock.patch.object(AttentionManager, "can_be_recorded", False):
        spread(*inputs_of(spread, make_stage(model)))
    assert not keys.seen


@torch.inference_mode()
def test_tiles_of_passes_that_are_perturbed_otherwise_are_recorded_apart(model: AVTransformer) -> None:
    keys, tiling = Keys(), tiling_of((1, 1, 1), (0, 0, 0))
    tiled: Any = TiledTransformer(model, None, tiling, normalize_positions=False, replays=keys)  # type: ignore[arg-type]
    for kind in (Perturbations(), Perturbations(isolated=(True,))):
        tiled(*inputs_of(tiled, make_stage(model)), kind)
    assert len({key for key, _ in keys.seen}) == 2


@torch.inference_mode()
def test_forwards_of_a_team_are_recorded_apart(
    model: AVTransformer, spread: SequenceParallelTransformer, replays: ForwardReplays
) -> None:
    stage, manager = make_stage(model), spread._attn_mgr
    team = manager.for_team(None)
    for _ in range(2):
        spread(*inputs_of(spread, stage))
        with manager.replaced_by(team):
            spread(*inputs_of(spread, stage))
    assert replays.num_captures == 2


@torch.inference_mode()
def test_another_module_is_recorded_apart_and_one_that_is_gone_is_not_kept(
    tiny_pack: Path, model: AVTransformer, replays: ForwardReplays
) -> None:
    checkpoint = tiny_pack / "ltx-2.5" / "transformer.safetensors"
    other = transformer_builder(checkpoint, StateDictRegistry()).build(CPU, torch.float32)
    gone, stage, manager = weakref.ref(other), make_stage(model), spread_with(model, None)._attn_mgr
    for tiling in (None, tiling_of((1, 1, 1), (0, 0, 0))):
        for module in (model, other):
            spread: Any = SequenceParallelTransformer(module, manager, replays)
            if tiling is not None:
                spread = TiledTransformer(module, None, tiling, normalize_positions=False, replays=replays)
            inputs = inputs_of(spread, stage)
            for _ in range(2):
                spread(*inputs)
    assert replays.num_captures == 4
    del other, module, spread, inputs
    gc.collect()
    assert gone() is None


@torch.inference_mode()
@pytest.mark.parametrize(
    "changed",
    [
        lambda video: replace(video, attention_mask=torch.ones(1, *(video.latent.shape[1],) * 2)),
        lambda video: replace(video, latent=video.latent),
    ],
    ids=["a mask", "too large"],
)
def test_what_is_too_large_or_masked_is_never_recorded(
    model: AVTransformer, capture: RerunCapture, changed: Callable[[StreamInput], StreamInput]
) -> None:
    stage = make_stage(model)
    num_tokens = stage.latent.shape[1]
    masked = changed(inputs_of(spread_with(model, None), stage)[0]).attention_mask is not None
    replays = ForwardReplays(capture, most_tokens=num_tokens if masked else num_tokens - 1)
    spread, plain = spread_with(model, replays), spread_with(model, None)
    for _ in range(3):
        (video, audio), theirs = inputs_of(spread, stage), inputs_of(plain, stage)
        assert_same(spread(changed(video), audio), plain(changed(theirs[0]), theirs[1]))
    assert (replays.num_captures, capture.num_replays) == (0, 0)


def test_a_batch_of_unlike_passes_and_a_forward_that_keeps_gradients_are_not_taken(
    model: AVTransformer, replays: ForwardReplays
) -> None:
    video, audio = inputs_of(spread_with(model, None), make_stage(model))
    assert not replays.takes(video, audio, Perturbations())
    with torch.inference_mode():
        assert replays.takes(video, audio, Perturbations())
        assert replays.takes(video, audio, Perturbations(isolated=(True, True)))
        assert not replays.takes(video, audio, Perturbations(isolated=(True, False)))
        mask = torch.ones(1, *(audio.latent.shape[1],) * 2)
        assert not replays.takes(video, replace(audio, attention_mask=mask), Perturbations())


@torch.inference_mode()
def test_the_limit_is_of_all_samples_tokens_together(model: AVTransformer, capture: RerunCapture) -> None:
    video, audio = inputs_of(spread_with(model, None), make_stage(model))
    two, num_tokens = replace(video, latent=video.latent.repeat(2, 1, 1)), video.latent.shape[1]
    exact, short = (ForwardReplays(capture, most_tokens=most) for most in (2 * num_tokens, 2 * num_tokens - 1))
    assert exact.takes(two, audio, Perturbations())
    assert not short.takes(two, audio, Perturbations())


@torch.inference_mode()
def test_where_nothing_can_be_recorded_forwards_go_on_as_they_are(
    model: AVTransformer, caplog: pytest.LogCaptureFixture
) -> None:
    failing, told = FailingCapture(), []
    # The collectives that the try had begun are begun again: they count once.
    begun = iter((10, 17))
    replays = ForwardReplays(failing, num_begun=lambda: next(begun), on_replayed=told.append)
    spread, plain, stage = spread_with(model, replays), spread_with(model, None), make_stage(model)
    with caplog.at_level(logging.WARNING):
        for scale in (1.0, 0.7, 0.4, 0.2):
            assert_same(spread(*inputs_of(spread, stage, scale)), plain(*inputs_of(plain, stage, scale)))
    assert failing.num_tries == 1
    assert told == [-7]
    assert [record.message for record in caplog.records] == ["Forwards are not recorded from now on."]


@torch.inference_mode()
def test_a_forward_that_failed_has_made_nothing_ready(
    model: AVTransformer, replays: ForwardReplays, capture: RerunCapture
) -> None:
    inputs, tries = inputs_of(spread_with(model, None), make_stage(model)), iter((0.0, 1.0, 1.0, 1.0))

    def forward(video: StreamInput, audio: StreamInput) -> tuple[Tensor, Tensor]:
        if next(tries) == 0:
            raise RuntimeError("cannot be compiled")
        return video.latent * 2, audio.latent * 3

    with pytest.raises(RuntimeError, match="cannot be compiled"):
        replays.run("a kind", forward, inputs)
    for num_captures in (0, 1, 1):
        replays.run("a kind", forward, inputs)
        assert replays.num_captures == num_captures


@torch.inference_mode()
def test_a_recording_reads_its_own_inputs_and_the_weights_alone(
    model: AVTransformer, spread: SequenceParallelTransformer, replays: ForwardReplays, capture: RerunCapture
) -> None:
    stage = make_stage(model)
    for _ in range(2):
        spread(*inputs_of(spread, stage))
    ((entry,), (tape,)) = replays._entries.values(), capture.tapes
    own = [tensor for stream in entry.inputs for tensor in _tensors(stream) if tensor is not None]
    weights = model.state_dict().values()
    assert set(tape.outside) <= {storage_of(tensor) for tensor in (*own, *weights)}


@torch.inference_mode()
def test_replays_count_the_collectives_that_their_recording_had(model: AVTransformer, capture: RerunCapture) -> None:
    begun, told = iter((100, 107)), []
    replays = ForwardReplays(capture, num_begun=lambda: next(begun), on_replayed=told.append)
    spread, stage = spread_with(model, replays), make_stage(model)
    for number in range(4):
        # The first two are counted by torch: one is run, one recorded.
        assert told == [7] * max(0, number - 2)
        spread(*inputs_of(spread, stage))


@torch.inference_mode()
def test_the_kind_that_was_used_longest_ago_is_forgotten(
    model: AVTransformer, spread: SequenceParallelTransformer, replays: ForwardReplays
) -> None:
    stage = make_stage(model)

    def run(num_context: int) -> None:
        video, audio = inputs_of(spread, stage)
        spread(replace(video, context=video.context.repeat(1, num_context, 1)), audio)

    for num_context in (1, 1, *range(2, 14), 1, 1):
        run(num_context)
    assert replays.num_captures == 2


@torch.inference_mode()
@pytest.mark.parametrize(("sizes", "num_captures"), [(("a", "a", "a"), 1), (("a", "b", "a"), 3)])
def test_a_job_of_another_size_lets_go_of_what_was_recorded(
    model: AVTransformer,
    spread: SequenceParallelTransformer,
    replays: ForwardReplays,
    sizes: tuple[str, ...],
    num_captures: int,
) -> None:
    stage = make_stage(model)
    for size in sizes:
        replays.begin_job(size)
        for _ in range(2):
            spread(*inputs_of(spread, stage))
    assert replays.num_captures == num_captures


@torch.inference_mode()
def test_nothing_is_left_of_recordings_that_were_let_go(
    model: AVTransformer, spread: SequenceParallelTransformer, replays: ForwardReplays
) -> None:
    stage = make_stage(model)
    for _ in range(2):
        spread(*inputs_of(spread, stage))
    replays.clear()
    for _ in range(2):
        spread(*inputs_of(spread, stage))
    assert replays.num_captures == 2


@torch.inference_mode()
def test_tiles_of_one_shape_share_a_recording(model: AVTransformer, capture: RerunCapture) -> None:
    stage = replace(make_stage(model), attention_mask=None)  # type: ignore[arg-type] # tiles without masks
    tiling, replays = tiling_of((2, 1, 3), (1, 0, 1)), ForwardReplays(capture)
    ours = TiledTransformer(model, None, tiling, normalize_positions=True, replays=replays)
    plain = TiledTransformer(model, None, tiling, normalize_positions=True)
    for _ in range(3):
        assert_same(stage.run(ours), stage.run(plain))
    assert capture.num_replays > 0
    assert replays.num_captures <= tiling.num_tiles
