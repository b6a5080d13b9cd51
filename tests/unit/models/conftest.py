"""Networks of the tiny pack, each built once a session through one registry."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from podium.models.audio import (
    AudioDecoder,
    AudioEncoder,
    Vocoder,
    audio_decoder_builder,
    audio_encoder_builder,
    vocoder_builder,
)
from podium.models.latent_statistics import LatentStatistics
from podium.models.registry import StateDictRegistry
from podium.models.text_encoder import (
    EmbeddingsProcessor,
    GemmaTextEncoder,
    embeddings_processor_builder,
    text_encoder_builder,
)
from podium.models.video_vae import (
    VideoDecoder,
    VideoEncoder,
    video_decoder_builder,
    video_encoder_builder,
    video_statistics_builder,
)

CPU = torch.device("cpu")


@pytest.fixture(scope="session")
def monolith(tiny_pack: Path) -> Path:
    return tiny_pack / "ltx-2.3-tiny.safetensors"


@pytest.fixture(scope="session")
def registry() -> StateDictRegistry:
    return StateDictRegistry()


@pytest.fixture(scope="session")
def video_encoder(monolith: Path, registry: StateDictRegistry) -> VideoEncoder:
    return video_encoder_builder(monolith, registry).build(CPU, torch.float32)


@pytest.fixture(scope="session")
def video_decoder(monolith: Path, registry: StateDictRegistry) -> VideoDecoder:
    return video_decoder_builder(monolith, registry).build(CPU, torch.float32)


@pytest.fixture(scope="session")
def video_statistics(monolith: Path, registry: StateDictRegistry) -> LatentStatistics:
    return video_statistics_builder(monolith, registry).build(CPU, torch.float32)


@pytest.fixture(scope="session")
def audio_encoder(monolith: Path, registry: StateDictRegistry) -> AudioEncoder:
    return audio_encoder_builder(monolith, registry).build(CPU, torch.float32)


@pytest.fixture(scope="session")
def audio_decoder(monolith: Path, registry: StateDictRegistry) -> AudioDecoder:
    return audio_decoder_builder(monolith, registry).build(CPU, torch.float32)


@pytest.fixture(scope="session")
def vocoder(monolith: Path, registry: StateDictRegistry) -> Vocoder:
    return vocoder_builder(monolith, registry).build(CPU, torch.float32)


@pytest.fixture(scope="session")
def text_encoder(tiny_pack: Path, registry: StateDictRegistry) -> GemmaTextEncoder:
    return text_encoder_builder(tiny_pack / "gemma3", registry).build(CPU, torch.float32)


@pytest.fixture(scope="session")
def embeddings_processor(monolith: Path, registry: StateDictRegistry) -> EmbeddingsProcessor:
    return embeddings_processor_builder(monolith, registry=registry).build(CPU, torch.float32)
