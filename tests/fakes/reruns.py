"""A stand-in for CUDA graphs: the operations of what was recorded are done again, from the same places to the same."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from podium.models.transformer.replay import ForwardReplays, Velocities
from podium.multigpu.attention import AttentionManager
from podium.multigpu.groups import NCCLGroups, num_begun

from tests.fakes import guidance_jobs
from tests.fakes.guidance_jobs import GuidedCase, Way
from tests.fakes.traced_runner import TracedDistilledRunner
from tests.tiny_pack import TinyPack

# What a device cannot do while it is recorded: numbers that the host reads or makes, and others with each replay.
_NEEDS_HOST = (torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape, torch.Tag.nondeterministic_seeded)


@dataclass(frozen=True, slots=True)
class _Operation:
    # One that wrote something: into `made`, which nothing else holds, or into what it was given.
    func: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    made: tuple[Tensor, ...]

    def redo(self) -> None:
        results = _tensors(self.func(*self.args, **self.kwargs))
        if _is_exchange(self.func):
            results = [torch.ops._c10d_functional.wait_tensor(result) for result in results]
        if self.made:
            for target, source in zip(self.made, results, strict=True):
                target.copy_(source)


class Tape(TorchDispatchMode):
    """Writes down every operation; what is only another view of a tensor stays good by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.operations: list[_Operation] = []
        self.outside: dict[int, Tensor] = {}
        self._inside: set[int] = set()

    def num_exchanges(self, group_name: str) -> int:
        """Return how many exchanges of a group it holds."""
        return sum(_is_exchange(done.func) and done.args[-1] == group_name for done in self.operations)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if _needs_host(func):
            raise RuntimeError(f"{func} is not permitted while a stream is recorded")
        given = {storage_of(tensor): tensor for tensor in _tensors((args, kwargs or {}))}
        self.outside.update((key, tensor) for key, tensor in given.items() if key not in self._inside)
        result = _received(func, args) if _is_exchange(func) else func(*args, **kwargs or {})
        made = [tensor for tensor in _tensors(result) if storage_of(tensor) not in given]
        self._inside.update(map(storage_of, made))
        if made or func._schema.is_mutable:
            self.operations.append(_Operation(func, tuple(args), dict(kwargs or {}), tuple(made)))
        return result


class RerunCapture:
    """Records work as its operations, without any of the Python that decided on them.

    As with a graph, nothing is filled in or sent before the first replay; nor is there anything left of the last one.

    Args:
        group_name: Whose exchanges are counted when they are recorded, and not when they are made.
        count: Takes them; the host's backend counts what it does.
    """

    def __init__(self, group_name: str = "", count: Callable[[int], None] = lambda _: None) -> None:
        self.num_tries = self.num_replays = 0
        self.tapes: list[Tape] = []
        self._group_name, self._count = group_name, count

    def __call__(self, work: Callable[[], Velocities]) -> tuple[Velocities, Callable[[], None]]:
        self.num_tries += 1
        with Tape() as tape:
            filled = work()
        self.tapes.append(tape)
        num_counted = tape.num_exchanges(self._group_name)
        self._count(num_counted)
        _spoil(tape.operations)

        def replay() -> None:
            self.num_replays += 1
            self._count(-num_counted)
            _spoil(tape.operations)
            for operation in tape.operations:
                operation.redo()

        return filled, replay


class FailingCapture:
    """Cannot record: on a device whose memory is short, say.

    Args:
        group_name, count: See `RerunCapture`.
    """

    def __init__(self, group_name: str = "", count: Callable[[int], None] = lambda _: None) -> None:
        self.num_tries = 0
        self._group_name, self._count = group_name, count

    def __call__(self, work: Callable[[], Velocities]) -> tuple[Velocities, Callable[[], None]]:
        self.num_tries += 1
        with Tape() as tape:
            work()
        self._count(tape.num_exchanges(self._group_name))
        raise torch.OutOfMemoryError("CUDA out of memory")


class RerunDistilledRunner(TracedDistilledRunner):
    """The runner on CPUs, its forwards recorded as on GPUs."""

    def setup(self, **kwargs: Any) -> None:
        # The host makes the exchanges, and makes them again at each replay.
        mock.patch.object(AttentionManager, "can_be_recorded", True).start()
        super().setup(**kwargs)

    def _make_replays(self) -> ForwardReplays | None:
        group = self.groups.transformer_group
        return _make_replays(self.groups, RerunCapture(group.group_name, self.groups.replayed.add))


def recorded_guidance_job(
    runner: Any, *, pack: TinyPack, runs: list[tuple[GuidedCase, Way]], failing_ranks: Collection[int] = ()
) -> Iterator[Any]:
    """Yield what `guidance_job` does of recorded forwards, which some ranks fail to record."""
    kind = FailingCapture if runner.rank in failing_ranks else RerunCapture
    captures: list[RerunCapture | FailingCapture] = []

    def make_replays(groups: NCCLGroups, _: torch.device) -> ForwardReplays:
        captures.append(kind(groups.transformer_group.group_name, groups.replayed.add))
        return _make_replays(groups, captures[0])

    with (
        mock.patch.object(AttentionManager, "can_be_recorded", True),
        mock.patch.object(guidance_jobs, "make_replays", make_replays),
    ):
        yield from guidance_jobs.guidance_job(runner, pack=pack, runs=runs)
    assert [capture.num_tries > 0 for capture in captures] == [True], "nothing was recorded"


def _make_replays(groups: NCCLGroups, capture: RerunCapture | FailingCapture) -> ForwardReplays:
    group, replayed = groups.transformer_group, groups.replayed
    return ForwardReplays(
        capture,
        num_begun=lambda: num_begun([group]) + replayed.num_begun,
        on_replayed=replayed.add,
    )


def _is_exchange(func: Any) -> bool:
    return bool(func.namespace == "_c10d_functional")


def _received(func: Any, args: Sequence[Any]) -> Tensor:
    # What an exchange is going to fill.
    sent: Tensor = args[0]
    match func._schema.name.partition("::")[2]:
        case "wait_tensor":
            return sent
        case "broadcast":
            return torch.empty_like(sent)
        case "all_gather_into_tensor":
            return sent.new_empty(sent.shape[0] * args[1], *sent.shape[1:])
        case "all_to_all_single":
            return sent.new_empty(sum(args[1]), *sent.shape[1:])
        case name:
            raise NotImplementedError(name)


def _needs_host(func: Any) -> bool:
    if "scaled_dot_product" in str(func):
        # It draws numbers for dropout alone, of which there is none.
        return False
    return func is torch.ops.aten.lift_fresh.default or any(tag in func.tags for tag in _NEEDS_HOST)


def _tensors(values: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(values) if isinstance(leaf, Tensor)]


def storage_of(tensor: Tensor) -> int:
    """Return what tells apart the memory that tensors lie in."""
    return int(tensor.untyped_storage()._cdata)


def _spoil(operations: Sequence[_Operation]) -> None:
    for operation in operations:
        for tensor in operation.made:
            tensor.fill_(torch.nan if tensor.is_floating_point() else 0)
