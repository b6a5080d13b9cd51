"""Decoding one clip with a video decoder of true size: the part `decode` of `tests.gpu.two_gpus`.

Alone in the tiles of one device, and with the tiles dealt to all ranks; the frames that come out of the latter are
those that one process makes of the same tiles.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor

from podium.geometry import ClipFormat
from podium.models.tile_layout import TileSizeConfig
from podium.models.tiled_decoding import FramesDone, PixelDecoder, decode_parts
from podium.multigpu import MGPURunner
from podium.multigpu.decoder_tiling import decoder_tiling
from podium.multigpu.vae_builders import DistributedDecoder

from tests.gpu.bench import Bench, tell_all
from tests.gpu.figures import Figure
from tests.gpu.random_model import DTYPE, relative, scale_of, timed_s
from tests.gpu.random_networks import random_latent, random_networks

RUNNER = "tests.gpu.measure_decode:DecodeRunner"
ALLOWED_ERROR = 1e-2


class DecodeRunner(MGPURunner):
    """Decodes noise."""

    def setup(self, *, is_small: bool, folder: Path) -> None:
        self._clip: ClipFormat = scale_of(is_small=is_small).clip
        self._decoder = random_networks(folder / f"rank-{self.rank}", self.device, is_small=is_small).decoder

    def __call__(self) -> Iterator[Figure]:
        for figure in self._measured():
            if self.rank == 0:
                yield figure

    @torch.inference_mode()
    def _measured(self) -> Iterator[Figure]:
        clip, num_ranks = self._clip, self.world_size
        grid, tiling = clip.latent_grid, decoder_tiling(num_ranks)
        latent = random_latent((grid.frames, grid.height, grid.width), self.device)
        group = self.groups.vae_group
        together = DistributedDecoder(self._decoder, group, tiling, driver_rank=0, dtype=DTYPE)
        by_hand = DistributedDecoder(self._decoder, None, tiling, driver_rank=0, dtype=DTYPE)
        title, took_s = f"{clip.num_frames} frames of {clip.width} x {clip.height}", {}
        for name, decoder in (("one rank", self._decoder), (f"{num_ranks} ranks", together)):
            for told in (", the first time", ""):
                # Ranks begin together, or one would be told to be slow for another's sake.
                dist.barrier(group=self.groups.control_group)
                _, took_s[name] = timed_s(lambda decoder=decoder: self._frames(decoder, latent), self.device)  # type: ignore[misc]
                yield Figure(f"{title}, {name}{told}", took_s[name], "s")
        yield Figure(f"{title}: times as fast on {num_ranks} ranks", took_s["one rank"] / took_s[f"{num_ranks} ranks"])
        ours = self._frames(together, latent)
        if self.rank == 0:
            assert ours is not None
            theirs = self._frames(by_hand, latent)
            assert theirs is not None
            yield Figure(f"{title}: from one process's of the same tiles", relative(ours, theirs), limit=ALLOWED_ERROR)
            if self.device.type == "cuda":
                yield Figure("peak memory on the first rank", torch.cuda.max_memory_allocated() / 1e9, "GB")
        dist.barrier(group=self.groups.control_group)

    @staticmethod
    def _frames(decoder: PixelDecoder, latent: Tensor) -> Tensor | None:
        # As uint8, as the encoder takes them: what has to be done with every frame that comes.
        found = []
        for part in decode_parts(decoder, latent, TileSizeConfig()):
            if isinstance(part, FramesDone) and part.pixels_BCFHW is not None:
                found.append(part.pixels_BCFHW.float().add(1).mul(127.5).clamp(0, 255).to(torch.uint8))
        return torch.cat(found, dim=2) if found else None


def decode(bench: Bench) -> None:
    """Measure and tell."""
    with bench.fleet(RUNNER, folder=bench.folder) as fleet:
        tell_all(fleet.stream())
