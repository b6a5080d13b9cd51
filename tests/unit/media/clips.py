"""Small clips for the tests of this room."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from podium.geometry import ClipFormat, parse_fps
from podium.media.mp4_muxer import VideoEncoding
from podium.media.video_writer import ClipWriter

PARAMETERS = {"prompt": "a fox 🦊 in “snow”\n/second line", "seed": 2**64 - 1, "loras": [{"name": "ink.safetensors"}]}
FAST = VideoEncoding(preset="ultrafast", num_threads=1)


def clip_format(num_frames: int = 9, fps: str = "24") -> ClipFormat:
    return ClipFormat(64, 64, num_frames, parse_fps(fps))


def model_sound(clip: ClipFormat, sample_rate_hz: int) -> NDArray[np.float32]:
    """Return a tone as long as the model's sound for this clip: it ends a little before the picture."""
    num_samples = (4 * clip.num_audio_latents - 3) * 160 * sample_rate_hz // 16_000
    tone = 0.25 * np.sin(2 * np.pi * 440 * np.arange(num_samples) / sample_rate_hz)
    return np.stack([tone, -tone]).astype(np.float32)


def grey_frames(clip: ClipFormat) -> NDArray[np.uint8]:
    """Return pictures that each have a grey of their own."""
    levels = np.linspace(20, 230, clip.num_frames).round().astype(np.uint8)
    return np.broadcast_to(levels[:, None, None, None], (clip.num_frames, clip.height, clip.width, 3))


def write_clip(path: Path, clip: ClipFormat, sound: NDArray[np.float32] | None = None, rate_hz: int = 48_000) -> None:
    with ClipWriter(
        path, clip, sample_rate_hz=None if sound is None else rate_hz, parameters=PARAMETERS, encoding=FAST
    ) as writer:
        writer.add_frames(grey_frames(clip))
        if sound is not None:
            writer.add_sound(sound)
