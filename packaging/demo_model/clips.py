"""Make clips with an exported pack as `podium generate` does: its runner, its fleet, its mp4 files."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Self

import numpy as np
import torch
from torch import Tensor

from podium.cli.fleet_job import RUNNERS, FleetOptions, setup_kwargs
from podium.cli.options import DeviceOptions
from podium.geometry import ClipFormat
from podium.jobs import GenerationRequest, ImageSpec, LoraSpec, Phase, PhaseEnded, PipelineKind
from podium.media.clip_reader import read_frames, read_sound
from podium.models.demo_pack import DemoPack
from podium.multigpu import MGPUController, preload_forkserver
from podium.pipelines.checks import check_request
from podium.pipelines.parameters import clip_parameters

CLIP = ClipFormat(256, 384, 33, Fraction(24))
DTYPE = "float32"
"""What `podium generate` takes on the CPU."""


@dataclass(frozen=True, slots=True)
class Order:
    """One clip that is wanted."""

    prompt: str
    seed: int
    loras: tuple[LoraSpec, ...] = ()
    images: tuple[ImageSpec, ...] = ()


@dataclass(slots=True)
class ClipMaker:
    """A fleet with the pack loaded.

    Args:
        pack: What makes the clips.
        folder: Where they go.
        num_ranks: Of the fleet, on the CPU.
        pipeline: The way to make them.
    """

    pack: DemoPack
    folder: Path
    num_ranks: int = 2
    pipeline: PipelineKind = PipelineKind.FAST
    durations_s: list[float] = field(default_factory=list)
    phases_s: dict[Phase, list[float]] = field(default_factory=dict)
    num_made: int = 0
    _controller: MGPUController | None = None

    @contextmanager
    def running(self) -> Iterator[Self]:
        """Start the fleet, and stop it in the end."""
        preload_forkserver()
        self.folder.mkdir(parents=True, exist_ok=True)
        options = FleetOptions(DeviceOptions(cpu_ranks=self.num_ranks), DTYPE)
        with MGPUController(RUNNERS[self.pipeline], cpu_ranks=self.num_ranks) as controller:
            controller.start(**setup_kwargs(self.pack.model_paths, options), preview_folder=self.folder)
            self._controller = controller
            yield self

    def make(self, order: Order) -> Tensor:
        """Make a clip and return its pixels [3, F, H, W] from 0 to 1, as the mp4 has them."""
        assert self._controller is not None, "the fleet is running"
        self.num_made += 1
        path = self.folder / f"{self.num_made:03}.mp4"
        for old in (path, path.with_suffix(".json")):
            old.unlink(missing_ok=True)
        request = GenerationRequest(
            order.prompt, order.seed, CLIP, path, loras=order.loras, images=order.images, pipeline=self.pipeline
        )
        models = self.pack.model_paths
        request = check_request(request, models).resolved
        began_s = time.perf_counter()
        for event in self._controller.stream(request=request, parameters=clip_parameters(request, models, dtype=DTYPE)):
            if isinstance(event, PhaseEnded):
                self.phases_s.setdefault(event.phase, []).append(event.duration_s)
        self.durations_s.append(time.perf_counter() - began_s)
        return pixels_of(path)

    def make_all(self, orders: Iterable[Order]) -> Tensor:
        """Make clips one after another: [B, 3, F, H, W]."""
        return torch.stack([self.make(order) for order in orders])


def pixels_of(path: Path) -> Tensor:
    """Return the pixels [3, F, H, W], 0 to 1, of an mp4."""
    return torch.from_numpy(np.stack(list(read_frames(path)))).permute(3, 0, 1, 2) / 255


def is_silent(path: Path) -> bool:
    """Return whether every sample of an mp4's sound is zero."""
    return not read_sound(path).any()


def generate(pack: DemoPack, order: Order, path: Path, num_ranks: int) -> Tensor:
    """Return the pixels of a clip that the command itself makes."""
    for old in (path, path.with_suffix(".json")):
        old.unlink(missing_ok=True)
    models = pack.model_paths
    options: dict[str, object] = {
        "--checkpoint-path": models.checkpoint_path,
        "--gemma-root": models.gemma_root,
        "--spatial-upsampler-path": models.spatial_upsampler_path,
        "--prompt": order.prompt,
        "--seed": order.seed,
        "--height": CLIP.height,
        "--width": CLIP.width,
        "--num-frames": CLIP.num_frames,
        "--cpu-ranks": num_ranks,
        "--output-path": path,
    }
    words = [str(word) for option in options.items() for word in option]
    subprocess.run([sys.executable, "-m", "podium", "generate", *words], check=True, capture_output=True)
    return pixels_of(path)
