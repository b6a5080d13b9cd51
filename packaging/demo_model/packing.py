"""From trained states to the file that ships, and from either to figures."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from export import MAX_SHIPPED_BYTES, write_pack, zip_pack
from lora_training import STYLES, published
from measure import measure_pack
from torch import Tensor
from training import Run

from podium.models.demo_cache import unpack_demo
from podium.models.demo_pack import ARCHIVE_NAME, DemoPack
from podium.models.pack import resolve_pack

_SHIPPED = Path(__file__).parents[2] / "resources" / "podium_resources" / ARCHIVE_NAME


def export_states(run: Run, *, is_installed: bool = False) -> DemoPack:
    """Zip the pack of the states in a folder, unpack it there as Podium does, and say how large both are.

    Args:
        run: Whose folder it is.
        is_installed: Copy the zip to where it ships from.
    """
    archive = run.folder / Path(ARCHIVE_NAME).name
    with tempfile.TemporaryDirectory() as place:
        write_pack(Path(place), _states(run))
        size = zip_pack(Path(place), archive)
    pack = unpack_demo(archive.read_bytes(), run.folder)
    resolve_pack(pack.model_paths)
    unpacked = sum(file.stat().st_size for file in pack.folder.rglob("*") if file.is_file())
    run.say(f"{archive}: {size:,} bytes of {MAX_SHIPPED_BYTES:,}; {unpacked:,} unpacked")
    run.note(shipped_bytes=size, unpacked_bytes=unpacked)
    if is_installed:
        _SHIPPED.parent.mkdir(exist_ok=True)
        shutil.copyfile(archive, _SHIPPED)
    return pack


def measure_folder(run: Run, *, num_clips: int, num_few: int, num_ranks: int) -> bool:
    """Measure the pack in a folder, or the one of the states there; return whether the gates are met."""
    pack = DemoPack(run.folder)
    if not pack.checkpoint_path.exists():
        pack = export_states(run)
    return measure_pack(run, pack, num_clips=num_clips, num_few=num_few, num_ranks=num_ranks)


def _states(run: Run) -> dict[str, dict[str, Tensor]]:
    found = {}
    for name in ("decoder", "encoder", "upsampler", "transformer"):
        state = run.load(name)
        if state is None:
            raise SystemExit(f"{run.folder} has no {name}.pt: train it first")
        found[name] = state.mean
    for name in STYLES:
        if (lora := run.load(name)) is not None:
            found[name] = published(lora.mean)
    return found
