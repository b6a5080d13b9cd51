"""What clips need in memory to be decoded: `python -m tests.fleet.decode_memory CHECKPOINT SIDE_PX NUM_FRAMES ...`.

Decodes each length in a process of its own, and prints the most memory that it had resident beyond what it began with.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import torch

from podium.models.tile_layout import TileSizeConfig
from podium.models.tiled_decoding import FramesDone, decode_parts
from podium.models.video_vae import video_decoder_builder


def main(checkpoint: str, side_px: str, *lengths: str) -> None:
    """Measure each length in a child: imports cost seconds, a fork nothing."""
    for num_frames in lengths:
        if os.fork() == 0:
            print(needed_bytes(Path(checkpoint), int(side_px), int(num_frames)), flush=True)
            os._exit(0)
        assert os.wait()[1] == 0, f"decoding {num_frames} frames failed"


def needed_bytes(checkpoint: Path, side_px: int, num_frames: int) -> int:
    """Decode noise, in tiles of the usual size."""
    torch.set_num_threads(1)
    decoder = video_decoder_builder(checkpoint).build(torch.device("cpu"), torch.float32)
    cells = side_px // 32
    latent = torch.randn(1, 128, (num_frames - 1) // 8 + 1, cells, cells)
    with torch.inference_mode():
        # What the first convolution sets up stays, whatever the length.
        decoder.decode(latent[:, :, :1, :1, :1])
    # Forgets the peak of all that came before.
    Path("/proc/self/clear_refs").write_text("5")
    before = resident_bytes("VmRSS")
    num_decoded = 0
    for part in decode_parts(decoder, latent, TileSizeConfig()):
        num_decoded += part.num_frames if isinstance(part, FramesDone) else 0
    assert num_decoded == num_frames
    return resident_bytes("VmHWM") - before


def resident_bytes(field: str) -> int:
    """Return this process's resident memory: VmRSS now, VmHWM the most so far."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith(f"{field}:")]
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    main(*sys.argv[1:])
