"""From settings to states when the window opens, and back when it closes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from podium.jobs import Quantization
from podium.settings import DeviceSettings, ModelSettings, Settings
from podium.ui.state.devices import DevicesState
from podium.ui.state.pack import PackState, models_of
from podium.ui.state.session import SessionState
from podium.ui.state.values import PackSlot


def restore(session: SessionState, settings: Settings) -> None:
    """Put the states back as the settings remember them; what cannot be any more becomes the nearest that can."""
    _restore_devices(session.devices, settings.devices)
    _restore_model(session.pack, settings.model)


def collect(session: SessionState, settings: Settings) -> Settings:
    """Return the settings as the states stand now; what states know nothing of stays as it was."""
    devices, pack = session.devices, session.pack
    return replace(
        settings,
        model=_collect_model(pack),
        devices=DeviceSettings(
            gpus=tuple(sorted(devices.wanted_uuids or ())),
            cpu_ranks=devices.cpu_ranks or 0,
        ),
    )


def _restore_devices(devices: DevicesState, settings: DeviceSettings) -> None:
    if settings.gpus:
        devices.choose_uuids(settings.gpus)
    if settings.cpu_ranks > 0:
        devices.use_cpu(settings.cpu_ranks)


def _restore_model(pack: PackState, settings: ModelSettings) -> None:
    if settings.quantization in list(Quantization):
        pack.set_quantization(Quantization(settings.quantization))
    if settings.is_demo:
        pack.choose_demo()
        return
    stored = {slot: getattr(settings, slot.value) for slot in PackSlot}
    paths = {slot: Path(path) for slot, path in stored.items() if path}
    if (models := models_of(paths)) is not None:
        pack.choose_models(models)
        return
    for slot, path in paths.items():
        pack.choose_file(slot, path)


def _collect_model(pack: PackState) -> ModelSettings:
    model = ModelSettings(is_demo=pack.is_demo, quantization=pack.wanted_quantization.value)
    # The demo model lies in the cache, wherever that is next time.
    if pack.is_demo:
        return model
    return replace(
        model,
        checkpoint=_text(pack.file(PackSlot.CHECKPOINT).path),
        text_encoder=_text(pack.file(PackSlot.TEXT_ENCODER).path),
        upscaler=_text(pack.file(PackSlot.UPSCALER).path),
        distilled_lora=_text(pack.file(PackSlot.DISTILLED_LORA).path),
        video_vae=_text(pack.file(PackSlot.VIDEO_VAE).path),
        audio_vae=_text(pack.file(PackSlot.AUDIO_VAE).path),
        duration_head=_text(pack.file(PackSlot.DURATION_HEAD).path),
    )


def _text(path: Path | None) -> str:
    return "" if path is None else str(path)
