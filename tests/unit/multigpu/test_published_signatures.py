"""Classes, methods and parameters are called as it was published: names, order, kinds and defaults."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import torch

from podium import multigpu
from podium.multigpu import MGPUController, MGPURunner, NCCLGroups
from podium.multigpu.bp_gemma_builder import BatchParallelGemmaBuilder
from podium.multigpu.gemma_builders import AccelerateGemmaBuilder
from podium.multigpu.weight_tracker import TransformerWeightTracker

ANY = "any number of further keywords"
NOTHING = inspect.Parameter.empty
Wanted = dict[str, Any]


def parameters(function: Callable[..., Any]) -> tuple[Wanted, Wanted]:
    """Return the defaults of positional parameters and of keywords, in order; `self` is none."""
    found = list(inspect.signature(function).parameters.values())
    positional = {one.name: one.default for one in found if one.kind is one.POSITIONAL_OR_KEYWORD}
    keywords = {one.name: one.default for one in found if one.kind is one.KEYWORD_ONLY}
    rest = next((one.name for one in found if one.kind is one.VAR_KEYWORD), None)
    if rest is not None:
        keywords[ANY] = rest
    positional.pop("self", None)
    return positional, keywords


@pytest.mark.parametrize(
    ("function", "positional", "keywords"),
    [
        (MGPUController.__init__, {"runner_cls": NOTHING}, {"num_gpus": None, "devices": None, "logs_specs": None}),
        (MGPUController.start, {}, {"timeout": timedelta(minutes=30), ANY: "setup_kwargs"}),
        (MGPUController.stream, {}, {"timeout": None, ANY: "kwargs"}),
        (MGPUController.shutdown, {}, {"graceful_timeout": 60.0}),
        (
            AccelerateGemmaBuilder.__init__,
            dict.fromkeys(("gemma_root_path", "gemma_group", "broadcast_group", "registry"), NOTHING),
            {"src_rank": NOTHING, "dtype": torch.bfloat16},
        ),
        (
            BatchParallelGemmaBuilder.__init__,
            dict.fromkeys(("gemma_root_path", "broadcast_group", "registry"), NOTHING),
            {"src_rank": NOTHING, "dtype": torch.bfloat16},
        ),
        (TransformerWeightTracker.__init__, {"group": NOTHING, "bucket_mb": 256, "no_lora_swap": False}, {}),
    ],
)
def test_parameters_are_the_published_ones_and_ours_beside_them_have_defaults(
    function: Callable[..., Any], positional: Wanted, keywords: Wanted
) -> None:
    ours = parameters(function)
    # Positions count, so nothing of ours stands among them.
    assert list(ours[0].items()) == list(positional.items())
    assert {name: ours[1].get(name, "missing") for name in keywords} == keywords
    assert NOTHING not in {default for name, default in ours[1].items() if name not in keywords}


def test_the_published_names_are_exported() -> None:
    published = {
        "AsymmetricRunnerError",
        "ControllerBusyError",
        "MGPUController",
        "MGPURunner",
        "NCCLGroups",
        "RunnerError",
        "Stream",
        "SymmetricRunnerError",
    }
    assert published <= set(multigpu.__all__)
    assert all(hasattr(multigpu, name) for name in published)


def test_a_controller_says_whether_it_is_alive_without_being_called() -> None:
    assert isinstance(inspect.getattr_static(MGPUController, "is_alive"), property)


def test_a_runner_has_to_say_what_it_does() -> None:
    assert MGPURunner.__abstractmethods__ == {"__call__"}
    assert callable(MGPURunner.setup)


def test_a_runner_is_given_a_group_for_each_component() -> None:
    assert {"gemma_group", "transformer_group", "vae_group"} <= set(inspect.signature(NCCLGroups).parameters)
