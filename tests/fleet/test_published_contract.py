"""A runner and its caller, written from the published description alone: only the import line is ours."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from podium.multigpu import MGPUController, SymmetricRunnerError

from tests.fakes.processes import Script
from tests.fleet.test_jobs import result_of

RUNNER = """
from collections.abc import Iterator

import torch
import torch.distributed as dist
from ltx_pipelines.multigpu import MGPURunner, RunnerError


class MyRunner(MGPURunner):
    @torch.inference_mode()
    def setup(self, *, checkpoint_path: str, scale: float) -> None:
        self.path = checkpoint_path
        self.weight = torch.full((3,), scale)
        dist.broadcast(self.weight, src=0, group=self.groups.gemma_group)

    @torch.inference_mode()
    def __call__(self, *, latent: torch.Tensor, extra: dict, steps: int) -> Iterator[dict]:
        if steps < 1:
            raise ValueError("steps has to be 1 or more")
        if latent.numel() == 0:
            raise RunnerError("latent is empty")
        for step in range(steps):
            latent = latent * self.weight
            dist.all_reduce(latent, group=self.groups.transformer_group)
            if dist.get_rank() == 0:
                yield {"step": step, "latent": latent, "nested": [extra["bias"] + step]}
        gathered = [torch.empty_like(latent) for _ in range(dist.get_world_size())]
        dist.all_gather(gathered, latent, group=self.groups.vae_group)
        assert all(torch.equal(part, latent) for part in gathered)
        return self.path
"""


def write_runner(folder: Path) -> type[Any]:
    """Return the class, from a module whose import line alone was changed."""
    import importlib

    text = textwrap.dedent(RUNNER).replace("from ltx_pipelines.multigpu import", "from podium.multigpu import")
    (folder / "my_pipeline.py").write_text(text, encoding="utf-8")
    kind: type[Any] = importlib.import_module("my_pipeline").MyRunner
    return kind


def test_a_runner_written_from_the_description_works_unchanged(
    own_fleet: Callable[..., MGPUController], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    monkeypatch.syspath_prepend(str(tmp_path))
    fleet = own_fleet(2, runner=write_runner(tmp_path), checkpoint_path="a file", scale=2.0)
    job = {"latent": torch.ones(3), "extra": {"bias": torch.tensor([0.5])}}
    items, returned = result_of(fleet.stream(**job, steps=2))
    assert returned == ("a file", "a file")
    assert [item["step"] for item in items] == [0, 1]
    assert [item["latent"].tolist() for item in items] == [[4.0] * 3, [16.0] * 3]
    assert [item["nested"][0].item() for item in items] == [0.5, 1.5]
    for wrong, words in (({"steps": 0}, "1 or more"), ({"steps": 1, "latent": torch.empty(0)}, "is empty")):
        with pytest.raises(SymmetricRunnerError, match=words):
            list(fleet.stream(**{**job, **wrong}))
    assert len(list(fleet.stream(**job, steps=1))) == 1
    del sys.modules["my_pipeline"]


USAGE = """
controller = MGPUController(MyRunner, cpu_ranks=2)
controller.start(checkpoint_path="...", gemma_root="...") # setup kwargs
stream = controller.stream(prompt="a cat", seed=42)
try:
    for item in stream: # one element per yield, as it arrives (NOT gathered across ranks)
        show(item)
finally:
    stream.drain() # free the controller even on early exit
controller.shutdown()
"""
USAGE_RUNNER = """
import torch
from podium.multigpu import MGPUController, MGPURunner

class MyRunner(MGPURunner):
    @torch.inference_mode()
    def setup(self, *, checkpoint_path: str, gemma_root: str) -> None:
        self.paths = (checkpoint_path, gemma_root)

    @torch.inference_mode()
    def __call__(self, *, prompt: str, seed: int):
        yield self.rank, prompt, seed, self.paths, torch.is_inference_mode_enabled()

show = lambda item: print("shown", item, flush=True)
"""


def test_the_published_usage_runs_as_it_is_written_in_a_script(run_script: Callable[..., Script]) -> None:
    script = run_script(USAGE_RUNNER + USAGE)
    lines = sorted(script.wait_for("shown") for _ in range(2))
    assert lines == [f"shown ({rank}, 'a cat', 42, ('...', '...'), True)\n" for rank in (0, 1)]
    assert script.process.wait(timeout=20) == 0
