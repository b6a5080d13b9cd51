"""Check a clip that the wheel made: `python -I clip_check.py CLIP VENV`, in the environment that holds the wheel.

Fails with a sentence unless Podium came from VENV and CLIP decodes to moving pictures and to sound of the same length.
"""

from __future__ import annotations

import sys
from pathlib import Path

import av

import podium


def decoded(clip: Path) -> tuple[int, float, float]:
    """Return how many pictures a clip decodes to, and the seconds of its pictures and of its sound."""
    with av.open(str(clip)) as container:
        if not container.streams.video or not container.streams.audio:
            sys.exit(f"{clip.name} lacks pictures or sound: {', '.join(one.type for one in container.streams)}.")
        num_pictures = sum(1 for _ in container.decode(video=0))
        rate = container.streams.video[0].average_rate
        assert rate is not None
    with av.open(str(clip)) as container:
        sound = container.streams.audio[0]
        num_samples = sum(frame.samples for frame in container.decode(sound))
        return num_pictures, float(num_pictures / rate), num_samples / sound.rate


def main(clip: Path, venv: Path) -> None:
    """Check the clip and say what it holds."""
    if not Path(podium.__file__).resolve().is_relative_to(venv.resolve()):
        sys.exit(f"Podium was imported from {podium.__file__}, not from the environment in {venv}.")
    num_pictures, picture_s, sound_s = decoded(clip)
    if num_pictures < 2 or abs(picture_s - sound_s) > 0.1:
        sys.exit(f"{clip.name} has {num_pictures} pictures ({picture_s:.2f} s) and {sound_s:.2f} s of sound.")
    print(f"{clip.name}: {num_pictures} pictures ({picture_s:.2f} s), {sound_s:.2f} s of sound.")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
