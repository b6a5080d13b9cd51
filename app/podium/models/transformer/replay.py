"""Forwards recorded as CUDA graphs and replayed, so that small ones do not wait for the host to launch their kernels.

The rules a caller must know: a forward runs as it is written the first time (compilers and libraries get ready), is
recorded the second time and replayed from then on; weights that are written in place stay good, and what a forward
decides in Python is decided for ever, so all of that has to be in its key.
"""

from __future__ import annotations

import logging
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from podium.models.transformer.inputs import Perturbations, RotaryTables, StreamInput, Timesteps
from podium.models.transformer.replay_limits import MOST_RECORDED_TOKENS

logger = logging.getLogger(__name__)

Streams = tuple[StreamInput, StreamInput]
Velocities = tuple[Tensor, Tensor]
Capture = Callable[[Callable[[], Velocities]], tuple[Velocities, Callable[[], None]]]
"""Records what work does to a device without doing it; gives the tensors it is going to fill, and how to do it."""

# A day's work has fewer sizes at a time; each keeps its inputs and a list of some thousand kernels.
_MAX_RECORDINGS = 12


class GraphCapture:
    """Records work as CUDA graphs, all of which share the memory that they compute in: one runs at a time."""

    def __init__(self) -> None:
        self._pool: Any = None
        self._alive: weakref.WeakSet[torch.cuda.CUDAGraph] = weakref.WeakSet()

    def __call__(self, work: Callable[[], Velocities]) -> tuple[Velocities, Callable[[], None]]:
        """Return the tensors that a replay fills, and the replay."""
        if not self._alive:
            # torch takes no pool whose last graph is gone.
            self._pool = torch.cuda.graph_pool_handle()
        graph = torch.cuda.CUDAGraph()
        # Where a recording cannot be ended, torch stays on the stream it was made on: the outer context leads back.
        # Other threads of a rank (NCCL's watchdog) may ask the device meanwhile.
        with (
            torch.cuda.stream(torch.cuda.current_stream()),
            torch.cuda.graph(graph, pool=self._pool, capture_error_mode="thread_local"),
        ):
            filled = work()
        self._alive.add(graph)
        return filled, graph.replay


@dataclass(slots=True)
class _Entry:
    # Of one kind of forward: inputs in places of their own, and from the second forward on what was recorded.
    inputs: Streams
    filled: Velocities | None = None
    replay: Callable[[], None] | None = None
    num_collectives: int = 0


class ForwardReplays:
    """Keeps what was recorded of a transformer's forwards.

    Args:
        capture: Records work.
        most_tokens: Most video tokens, samples counted, of a forward that is recorded.
        num_begun: Counts the collectives that this rank has begun, as far as a replay hides them from whoever counts.
        on_replayed: Called before a replay with the collectives that it begins.
    """

    def __init__(
        self,
        capture: Capture,
        *,
        most_tokens: int = MOST_RECORDED_TOKENS,
        num_begun: Callable[[], int] = int,
        on_replayed: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._capture: Capture | None = capture
        self._most_tokens = most_tokens
        self._num_begun, self._on_replayed = num_begun, on_replayed
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._num_captures = 0
        self._size: Hashable = None

    @property
    def num_captures(self) -> int:
        """Return how many forwards were recorded so far."""
        return self._num_captures

    def takes(self, video: StreamInput, audio: StreamInput, perturbations: Perturbations) -> bool:
        """Say whether a forward can be recorded and is worth it; alike on all ranks whose shares are alike."""
        # A batch of which some samples are perturbed makes masks on the host, and masks between tokens are large.
        batch, num_tokens = video.latent.shape[:2]
        return (
            self._capture is not None
            and batch * num_tokens <= self._most_tokens
            and video.attention_mask is None
            and audio.attention_mask is None
            and perturbations.is_alike
            and torch.is_inference_mode_enabled()
        )

    def run(self, key: Hashable, forward: Callable[[StreamInput, StreamInput], Velocities], of: Streams) -> Velocities:
        """Run a forward, or replay it; the result is the caller's own.

        Args:
            key: All that the forward depends on beside the content of its inputs and of the weights. Shapes are added.
            forward: Takes both streams.
            of: The inputs; `takes` has allowed them.
        """
        key = (key, *map(_kind, of))
        entry = self._entries.get(key)
        if entry is None:
            if len(self._entries) == _MAX_RECORDINGS:
                self._entries.popitem(last=False)
            entry = _Entry((_copied(of[0]), _copied(of[1])))
            velocities = forward(*entry.inputs)
            # Not before: one that failed has made nothing ready.
            self._entries[key] = entry
            return velocities
        self._entries.move_to_end(key)
        for mine, given in zip(entry.inputs, of, strict=True):
            _write(mine, given)
        if entry.replay is not None:
            self._on_replayed(entry.num_collectives)
        elif not self._record(entry, forward):
            return forward(*entry.inputs)
        assert entry.replay is not None, "it was recorded"
        assert entry.filled is not None, "with what it fills"
        entry.replay()
        video_v, audio_v = entry.filled
        return video_v.clone(), audio_v.clone()

    def begin_job(self, size: Hashable) -> None:
        """Forget what jobs of another size have left: no memory plan counts it."""
        if size != self._size:
            self._size = size
            self.clear()

    def clear(self) -> None:
        """Forget everything recorded, and give its memory back."""
        self._entries.clear()

    def _record(self, entry: _Entry, forward: Callable[[StreamInput, StreamInput], Velocities]) -> bool:
        assert self._capture is not None, "`takes` said so"
        began = self._num_begun()
        try:
            entry.filled, entry.replay = self._capture(lambda: forward(*entry.inputs))
        except RuntimeError:
            # Memory is short, or something cannot be recorded here. The kernels are the same, only slower to launch.
            logger.warning("Forwards are not recorded from now on.", exc_info=True)
            self._on_replayed(began - self._num_begun())
            self._capture = None
            self.clear()
            return False
        entry.num_collectives = self._num_begun() - began
        self._num_captures += 1
        return True


def _kind(stream: StreamInput) -> tuple[object, ...]:
    return tuple(None if tensor is None else (tensor.shape, tensor.dtype) for tensor in _tensors(stream))


def _tensors(stream: StreamInput) -> tuple[Tensor | None, ...]:
    timesteps, ropes = stream.timesteps, (stream.rope, stream.cross_rope)
    return (
        stream.latent,
        timesteps.values,
        timesteps.index,
        stream.sigma,
        stream.context,
        *(table for rope in ropes for table in (rope.cos, rope.sin)),
        stream.keyframes_mask,
    )


def _copied(stream: StreamInput) -> StreamInput:
    timesteps, index, keyframes = stream.timesteps, stream.timesteps.index, stream.keyframes_mask
    return replace(
        stream,
        latent=stream.latent.clone(),
        timesteps=Timesteps(timesteps.values.clone(), None if index is None else index.clone()),
        sigma=stream.sigma.clone(),
        context=stream.context.clone(),
        rope=RotaryTables(stream.rope.cos.clone(), stream.rope.sin.clone()),
        cross_rope=RotaryTables(stream.cross_rope.cos.clone(), stream.cross_rope.sin.clone()),
        keyframes_mask=None if keyframes is None else keyframes.clone(),
    )


def _write(mine: StreamInput, given: StreamInput) -> None:
    for target, source in zip(_tensors(mine), _tensors(given), strict=True):
        if target is not None and source is not None:
            target.copy_(source)
