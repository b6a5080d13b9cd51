"""How much of a forward goes to collectives, by torch's profiler.

What counts are the device's kernels: those of NCCL, and how long none but those ran. On the CPU it is the operators.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from tests.gpu.figures import Figure
from tests.gpu.random_model import synchronise

# A kernel's category, and how NCCL's kernels and torch's collective operators are called.
_DEVICE_WORK = ("kernel", "gpu_memcpy", "gpu_memset")
_NCCL, _OPERATOR = "nccl", "c10d"
Spans = list[tuple[float, float]]


def collective_figures(call: Callable[[], object], device: torch.device, title: str) -> list[Figure]:
    """Return what share of a forward collectives take.

    Ranks: every rank, each with the same call, which is made twice: the profiler's own start takes time the first time.
    """
    figures: list[Figure] = []
    for _ in range(2):
        figures = _figures_of_one(call, device, title)
    return figures


def _figures_of_one(call: Callable[[], object], device: torch.device, title: str) -> list[Figure]:
    activities = [ProfilerActivity.CPU] if device.type == "cpu" else [ProfilerActivity.CUDA]
    profiler, problem = profile(activities=activities), ""
    synchronise(device)
    # The other ranks wait in the call, whatever becomes of the profiler here.
    try:
        profiler.start()
    except Exception as error:  # noqa: BLE001 - whatever the machine's profiler has against it
        problem = repr(error)
    call()
    synchronise(device)
    if not problem:
        try:
            profiler.stop()
            return _read(profiler, device, title)
        except Exception as error:  # noqa: BLE001 - the same
            problem = repr(error)
    return [Figure(f"{title}: time in collectives", f"the profiler failed: {problem}")]


def _read(profiler: profile, device: torch.device, title: str) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(path))
        events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    if device.type == "cpu":
        return _figures(*spans_of(events, ("cpu_op",), _OPERATOR), title)
    return _figures(*spans_of(events, _DEVICE_WORK, _NCCL), title)


def spans_of(events: Iterable[dict[str, Any]], categories: tuple[str, ...], word: str) -> tuple[Spans, Spans]:
    """Return from when to when collectives ran, and everything else, in microseconds."""
    found: tuple[Spans, Spans] = ([], [])
    for event in events:
        if event.get("ph") == "X" and event.get("cat") in categories:
            is_other = word not in event["name"].lower()
            found[is_other].append((float(event["ts"]), float(event["ts"]) + float(event["dur"])))
    return found


def covered_us(spans: Spans) -> float:
    """Return how long at least one of the spans lasted."""
    total, end = 0.0, float("-inf")
    for start, stop in sorted(spans):
        total += max(0.0, stop - max(start, end))
        end = max(end, stop)
    return total


def _figures(collectives: Spans, others: Spans, title: str) -> list[Figure]:
    spans = [*collectives, *others]
    if not spans or not collectives:
        return [
            Figure(f"{title}: time in collectives", f"the profiler saw {len(spans)} pieces of work, none of them one")
        ]
    whole_us = max(stop for _, stop in spans) - min(start for start, _ in spans)
    exposed_us = covered_us(spans) - covered_us(others)
    return [
        Figure(f"{title}: collectives, kernels", len(collectives)),
        Figure(
            f"{title}: share of time in collectives, waiting for the other ranks included",
            covered_us(collectives) / whole_us,
        ),
        Figure(f"{title}: share of time in nothing but collectives", exposed_us / whole_us),
        Figure(f"{title}: share of time in which the device had work", covered_us(spans) / whole_us),
    ]
