"""From settings to states when the window opens, and back when it closes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from podium.models.paths import ModelPaths
from podium.settings import ClipSettings, DeviceSettings, ModelSettings, Settings
from podium.ui.state.devices import DevicesState
from podium.ui.state.pack import PackState
from podium.ui.state.session import SessionState
from podium.ui.state.values import PackSlot


def restore(session: SessionState, settings: Settings) -> None:
    """Put the states back as the settings remember them; what cannot be any more becomes the nearest that can."""
    compose, clip = session.compose, settings.clip
    compose.set_fps(clip.frame_rate)
    compose.set_size(clip.width, clip.height)
    compose.set_num_frames(clip.num_frames)
    compose.set_seed_locked(clip.is_seed_locked)
    _restore_devices(session.devices, settings.devices)
    _restore_model(session.pack, settings.model)


def collect(session: SessionState, settings: Settings) -> Settings:
    """Return the settings as the states stand now; what states know nothing of stays as it was."""
    compose, devices, pack = session.compose, session.devices, session.pack
    checkpoint, text_encoder, upscaler = (_text(pack.file(slot).path) for slot in PackSlot)
    # The demo model lies in the cache, wherever that is next time.
    model = (
        ModelSettings(is_demo=True)
        if pack.is_demo
        else ModelSettings(checkpoint=checkpoint, text_encoder=text_encoder, upscaler=upscaler)
    )
    return replace(
        settings,
        model=model,
        devices=DeviceSettings(
            gpus=tuple(sorted(devices.wanted_uuids or ())),
            cpu_ranks=devices.cpu_ranks or 0,
        ),
        clip=ClipSettings(
            folder=settings.clip.folder,
            width=compose.width,
            height=compose.height,
            num_frames=compose.num_frames,
            frame_rate=str(compose.fps),
            is_seed_locked=compose.is_seed_locked,
        ),
    )


def _restore_devices(devices: DevicesState, settings: DeviceSettings) -> None:
    if settings.gpus:
        devices.choose_uuids(settings.gpus)
    if settings.cpu_ranks > 0:
        devices.use_cpu(settings.cpu_ranks)


def _restore_model(pack: PackState, settings: ModelSettings) -> None:
    if settings.is_demo:
        pack.choose_demo()
        return
    paths = (settings.checkpoint, settings.text_encoder, settings.upscaler)
    if all(paths):
        pack.choose_models(ModelPaths(*map(Path, paths)))
        return
    for slot, path in zip(PackSlot, paths, strict=True):
        if path:
            pack.choose_file(slot, Path(path))


def _text(path: Path | None) -> str:
    return "" if path is None else str(path)
