"""Runners for the fleet's tests: each job names what the ranks do, and where it matters the rank that does it."""

from __future__ import annotations

import ctypes
import importlib
import logging
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import distributed

from podium.jobs import Phase
from podium.multigpu import MGPURunner, RunnerError


class ScriptedRunner(MGPURunner):
    """Do what a job says. `setup` takes the same script, to fail early."""

    def setup(self, *, action: str = "nothing", rank: int = 0, **kwargs: Any) -> None:
        self.setup_kwargs = kwargs
        self.num_jobs = 0
        for _ in getattr(self, f"do_{action}")(rank=rank, **kwargs):
            pass

    def __call__(self, *, action: str = "nothing", rank: int = 0, **kwargs: Any) -> Iterator[Any]:
        self.num_jobs += 1
        return (yield from getattr(self, f"do_{action}")(rank=rank, **kwargs))

    def do_nothing(self, *, rank: int, **kwargs: Any) -> Iterator[Any]:
        yield from ()
        return self.rank

    def do_count(self, *, rank: int, num_items: int) -> Iterator[Any]:
        """Yield from the first rank only, as the product does."""
        yield from range(num_items if self.rank == 0 else 0)
        return self.rank * 10

    def do_describe(self, *, rank: int) -> Iterator[Any]:
        yield {
            "rank": self.rank,
            "pid": os.getpid(),
            "group": os.getpgrp(),
            "device": str(self.device),
            "world_size": self.world_size,
            "environment": dict(os.environ),
            "folder": str(Path.cwd()),
            "num_threads": torch.get_num_threads(),
            "niceness": os.nice(0),
            "setup": self.setup_kwargs,
            "num_jobs": self.num_jobs,
            "job_id": self.job.job_id,
            "backends": [
                distributed.get_backend(self.groups.transformer_group),
                distributed.get_backend(self.groups.control_group),
            ],
        }

    def do_echo(self, *, rank: int, **kwargs: Any) -> Iterator[Any]:
        """Give one rank's arguments back."""
        if self.rank == rank:
            yield kwargs

    def do_call(self, *, rank: int, function: str, **kwargs: Any) -> Iterator[Any]:
        """Yield what `module:function(runner, **kwargs)` yields."""
        module, _, name = function.partition(":")
        yield from getattr(importlib.import_module(module), name)(self, **kwargs)

    def do_many_tensors(self, *, rank: int, num_items: int) -> Iterator[Any]:
        """Yield tensors that are too large to travel inside a message."""
        if self.rank == rank:
            for k in range(num_items):
                yield torch.full((20_000,), float(k))

    def do_sum(self, *, rank: int, tensor: torch.Tensor) -> Iterator[Any]:
        """Use the transformer group for what it is for."""
        total = tensor.double() * (self.rank + 1)
        self.job.collective_begun()
        distributed.all_reduce(total, group=self.groups.transformer_group)
        yield total

    def do_steps(self, *, rank: int, num_steps: int, step_s: float = 0.0) -> Iterator[Any]:
        for step in range(1, num_steps + 1):
            time.sleep(step_s)
            self.job.checkpoint(Phase.STAGE_1, step, num_steps)
            if self.rank == 0:
                yield step
        return num_steps

    def do_refuse(self, *, rank: int, ranks: tuple[int, ...], kind: type[Exception] = RunnerError) -> Iterator[Any]:
        yield from ()
        if self.rank in ranks:
            raise kind(f"rank {self.rank} says no")

    def do_desert(self, *, rank: int, num_steps: int) -> Iterator[Any]:
        """One rank refuses, and the others go on as if it were there."""
        if self.rank == rank:
            raise RunnerError(f"rank {rank} has had enough")
        return (yield from self.do_steps(rank=rank, num_steps=num_steps))

    def do_raise(self, *, rank: int, kind: type[BaseException] = RuntimeError) -> Iterator[Any]:
        yield from ()
        if self.rank == rank:
            raise kind(f"boom on rank {self.rank}")
        yield from self.do_wait(rank=rank)

    def do_raise_after_barrier(self, *, rank: int) -> Iterator[Any]:
        """One rank is killed and the others fail in the collective because of it."""
        yield from ()
        if self.rank == rank:
            os.kill(os.getpid(), signal.SIGKILL)
        self.job.check_cancelled()

    def do_yield_then_die(self, *, rank: int, num_items: int) -> Iterator[Any]:
        if self.rank == rank:
            for k in range(num_items):
                yield torch.full((1000, 100), float(k))
            os.kill(os.getpid(), signal.SIGKILL)
        yield from self.do_wait(rank=rank)

    def do_yield_unpicklable(self, *, rank: int) -> Iterator[Any]:
        if self.rank == rank:
            yield time.sleep, (x for x in ())
        yield from self.do_wait(rank=rank)

    def do_kill(self, *, rank: int, signal_number: int = signal.SIGKILL) -> Iterator[Any]:
        yield from ()
        if self.rank == rank:
            logging.getLogger("tests.runner").info("these are the last words of rank %d", rank)
            os.kill(os.getpid(), signal_number)
        yield from self.do_wait(rank=rank)

    def do_exit(self, *, rank: int, code: int) -> Iterator[Any]:
        yield from ()
        if self.rank == rank:
            os._exit(code)
        yield from self.do_wait(rank=rank)

    def do_segfault(self, *, rank: int) -> Iterator[Any]:
        yield from ()
        if self.rank == rank:
            ctypes.string_at(0)
        yield from self.do_wait(rank=rank)

    def do_wait(self, *, rank: int) -> Iterator[Any]:
        """Wait for what never comes, in a collective, as ranks do whose peer is gone."""
        yield from ()
        time.sleep(3600)

    def do_hang_in_collective(self, *, rank: int) -> Iterator[Any]:
        """All but one rank enter a collective."""
        yield self.rank
        self.job.begin_phase(Phase.STAGE_1, 4)
        if self.rank == rank:
            time.sleep(3600)
        self.job.check_cancelled()

    def do_load(self, *, rank: int, bytes_total: int) -> Iterator[Any]:
        """Report a load, half of it done, and wait."""
        yield from ()
        self.job.begin_phase(Phase.LOADING, bytes_total=bytes_total)
        self.job.report_progress(bytes_done=bytes_total // 2)
        time.sleep(3600)

    def do_stop_one_and_wedge_another(self, *, rank: int) -> Iterator[Any]:
        """Stop one rank by signal; have the next hold the interpreter lock in C."""
        yield self.rank
        time.sleep(0.3)
        if self.rank == rank:
            os.kill(os.getpid(), signal.SIGSTOP)
        ctypes.PyDLL(None).sleep(3600)

    def do_start_child(self, *, rank: int) -> Iterator[Any]:
        """Leave a process of its own behind, as a compiler does."""
        import subprocess

        child = subprocess.Popen(["sleep", "3600"])
        yield child.pid

    def do_log(self, *, rank: int, text: str) -> Iterator[Any]:
        yield from ()
        if self.rank == rank:
            logging.getLogger("tests.runner").warning("%s", text)
            print(f"printed {text}", flush=True)
