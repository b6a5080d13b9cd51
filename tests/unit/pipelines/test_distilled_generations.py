"""The distilled pipeline on the generations that golden does not cover, with pictures, against the oracle."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor

from podium.jobs import GuidanceSpec, LoraSpec
from podium.pipelines.schedules import DISTILLED_STAGE_1_SIGMAS

from tests.fakes.closeness import relative_error
from tests.fakes.guided_runs import LATENTS, Oracle, Plan, distilled, traced
from tests.tiny_pack import TinyPack

CALL: dict[str, Any] = {
    "prompt": "a red fox",
    "seed": 7,
    "height": 64,
    "width": 128,
    "num_frames": 17,
    "frame_rate": 24,
}
Run = tuple[dict[str, Tensor], dict[str, Tensor]]


@pytest.fixture(scope="session")
def runs(
    tiny_pack_2_0: TinyPack,
    tiny_pack_2_3: TinyPack,
    tiny_pack_2_5: TinyPack,
    pictures: list[tuple[Path, int, float]],
) -> Callable[[str], Run]:
    """Return both runs on a generation, made once; that of 2.5 renews its noise in the first stage."""
    made: dict[str, Run] = {}
    packs = {"2.0": tiny_pack_2_0, "2.3": tiny_pack_2_3, "2.5": tiny_pack_2_5}

    def get(version: str) -> Run:
        if version not in made:
            pack, call = packs[version], {**CALL, "images": pictures}
            style = LoraSpec(pack.style_lora_path, 0.5)
            plan = Plan(
                list(DISTILLED_STAGE_1_SIGMAS),
                (GuidanceSpec(), GuidanceSpec()),
                18 if version == "2.5" else 33,
                ((style,), (style,)),
                samplers=("ancestral" if version == "2.5" else "euler", "euler"),
            )
            ours = traced(distilled(pack, loras=[style]), call)
            made[version] = ours, Oracle(pack).run(call, plan, ours)
        return made[version]

    return get


@pytest.mark.parametrize("name", LATENTS)
@pytest.mark.parametrize("version", ["2.0", "2.3", "2.5"])
def test_every_latent_is_the_oracles(runs: Callable[[str], Run], version: str, name: str) -> None:
    ours, oracle = runs(version)
    assert relative_error(ours[name], oracle[name]) < 1e-5


@pytest.mark.parametrize("version", ["2.0", "2.5"])
def test_a_whole_clip_comes_out(tiny_pack_2_0: TinyPack, tiny_pack_2_5: TinyPack, version: str) -> None:
    pack = {"2.0": tiny_pack_2_0, "2.5": tiny_pack_2_5}[version]
    video, audio = distilled(pack)(**{**CALL, "num_frames": 9})
    assert video.shape == (9, 64, 128, 3)
    assert audio.shape[0] == 2
