"""Where tests put their ranks: on GPUs in every way that this machine has, or on the CPU to try the tests themselves.

Two variables of the environment decide, since test cases are listed before anything else is known. No torch.
"""

from __future__ import annotations

import os
from typing import Any

from podium.multigpu.placement import visible_gpus

ON_CPU = "PODIUM_TESTS_RANKS_ON_CPU"
"""So many ranks on the CPU stand in for the GPUs of `tests/gpu`."""

ON_GPUS = "PODIUM_TESTS_RANKS_ON_GPUS"
"""Fleets of `tests/fleet` up to so many ranks get a GPU for each rank; larger ones stay on the CPU."""

# The tiny models have no more heads to share out.
_MOST_RANKS = 4

Place = dict[str, Any]


def all_places() -> dict[str, Place]:
    """Return a controller's arguments by what they mean."""
    if ON_CPU in os.environ:
        return {"ranks on the CPU": {"cpu_ranks": int(os.environ[ON_CPU])}}
    places: dict[str, Place] = {
        "one rank on NCCL": {"devices": [0]},
        "two ranks share a GPU over gloo": {"devices": [0, 0], "share_devices": True},
    }
    num_gpus = min(len(visible_gpus(os.environ)), _MOST_RANKS)
    for count in sorted({2, num_gpus}) if num_gpus > 1 else ():
        places[f"several GPUs ({count}), a rank on each, over NCCL"] = {"devices": list(range(count))}
    return places


def fleet_place(num_ranks: int) -> Place:
    """Return a controller's arguments for a fleet of the ordinary tests."""
    if num_ranks <= int(os.environ.get(ON_GPUS, "0")):
        return {"devices": list(range(num_ranks))}
    return {"cpu_ranks": num_ranks}


def num_ranks_of(place: Place) -> int:
    """Return how many ranks it has."""
    return int(place["cpu_ranks"]) if "cpu_ranks" in place else len(place["devices"])


def is_on_gpus(place: Place) -> bool:
    """Say whether its ranks are on GPUs."""
    return "devices" in place


def devices_of(place: Place) -> list[str]:
    """Return each rank's device, as torch writes it."""
    return [f"cuda:{index}" for index in place["devices"]] if is_on_gpus(place) else ["cpu"] * num_ranks_of(place)
