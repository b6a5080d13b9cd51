"""Where each part of a model lives while a fleet stands: what a memory plan decides, and builders ask. No torch."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ModelPart(StrEnum):
    """What a rank's memory goes to: a closed set."""

    CONTEXT = "context"
    TRANSFORMER = "transformer"
    CLEAN = "clean"
    TEXT_ENCODER = "text_encoder"
    CONNECTORS = "connectors"
    VIDEO_ENCODER = "video_encoder"
    VIDEO_DECODER = "video_decoder"
    AUDIO_DECODER = "audio_decoder"
    VOCODER = "vocoder"
    UPSAMPLER = "upsampler"
    BUCKET = "bucket"
    RECORDINGS = "recordings"
    ACTIVATIONS = "activations"


class Place(StrEnum):
    """Where a part lives: a closed set, from the quickest on.

    DEVICE: on the GPU, always. VISITING: in pinned host memory; it comes to the GPU whole for as long as it is at work.
    STREAMED: in pinned host memory; its blocks come to the GPU one ahead of the one at work. HOST: in pinned host
    memory, from which single tensors are copied when they are needed.
    """

    DEVICE = "device"
    VISITING = "visiting"
    STREAMED = "streamed"
    HOST = "host"


_ALLOWED = {
    "transformer": (Place.DEVICE,),
    "clean": (Place.DEVICE, Place.HOST),
    "text_encoder": (Place.DEVICE, Place.VISITING, Place.STREAMED),
    "decoders": (Place.DEVICE, Place.VISITING),
}


@dataclass(frozen=True, slots=True)
class ResidencyPlan:
    """Where each part of a model lives; alike on all ranks of a fleet. Everything stays on the GPUs by default.

    Args:
        transformer: The working copy; DEVICE.
        clean: The rank's share of the weights without LoRAs; DEVICE or HOST.
        text_encoder: DEVICE, VISITING or STREAMED.
        decoders: The VAEs, the vocoder, the upscaler, and the connectors with the text projection; DEVICE or VISITING.

    Raises:
        ValueError: A part is in a place where it cannot live.
    """

    transformer: Place = Place.DEVICE
    clean: Place = Place.DEVICE
    text_encoder: Place = Place.DEVICE
    decoders: Place = Place.DEVICE

    def __post_init__(self) -> None:
        for name, places in _ALLOWED.items():
            if getattr(self, name) not in places:
                raise ValueError(f"{name} cannot be {getattr(self, name)}; it can be {', '.join(places)}")

    def describe(self) -> str:
        """Return it in words, for a log."""
        parts = {"text encoder": self.text_encoder, "decoders": self.decoders, "clean copy": self.clean}
        moved = [f"{name} {place}" for name, place in parts.items() if place is not Place.DEVICE]
        return ", ".join(moved) or "everything stays on the devices"

    @property
    def keeps_all(self) -> bool:
        """Return whether everything stays on the GPUs."""
        return self == ResidencyPlan()
