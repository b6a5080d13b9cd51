"""One traced run of the distilled pipeline on golden noise, shared by all that look at it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from podium.pipelines.distilled import DistilledPipeline

from tests.fakes.guided_runs import make_picture

PROMPT = "A red fox runs across a snowy field at dawn while the wind howls. A robot says: hello!"
GOLDEN_NOISE = {
    "stage_1.video": "noise.1",
    "stage_1.audio": "noise.2",
    "stage_2.video": "noise.3",
    "stage_2.audio": "noise.4",
}
GOLDEN_CALL = {"prompt": PROMPT, "seed": 7, "height": 128, "width": 192, "num_frames": 17, "frame_rate": 24}


class RecordedNoise:
    """The noise that the original drew."""

    def __init__(self, tensors: dict[str, Tensor]) -> None:
        self._tensors = tensors

    def draw(self, name: str, shape: tuple[int, ...]) -> Tensor:
        noise = self._tensors[GOLDEN_NOISE[name]]
        assert tuple(noise.shape) == shape
        return noise


@pytest.fixture(scope="session")
def pipeline(tiny_pack: Path) -> DistilledPipeline:
    return DistilledPipeline(
        checkpoint_path=tiny_pack / "ltx-2.3-tiny.safetensors",
        gemma_root=tiny_pack / "gemma3",
        spatial_upsampler_path=tiny_pack / "spatial-upscaler-x2.safetensors",
        device=torch.device("cpu"),
        dtype=torch.float32,
    )


@pytest.fixture(scope="session")
def traced_run(pipeline: DistilledPipeline, golden: Callable[[str], dict[str, Tensor]]) -> dict[str, Tensor]:
    trace: dict[str, Tensor] = {}
    noise = RecordedNoise(golden("distilled_2.3_t2v"))
    video, audio = pipeline(**GOLDEN_CALL, noise_source=noise, trace=trace.__setitem__)  # type: ignore[arg-type]
    return {**trace, "result.video": video, "result.audio": audio}


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, int, float]]:
    folder = tmp_path_factory.mktemp("pictures")
    first, later = (make_picture(folder / f"{seed}.png", seed) for seed in (1, 2))
    return [(first, 0, 0.8), (later, 11, 0.6)]
