"""What is exported is a model of 2.3 that the ordinary loaders take whole, silent, and no larger than may ship."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import export
import pytest
import torch
from export import write_pack, zip_pack
from official_names import decoder_name, encoder_name
from safetensors.torch import load_file

from podium.models.audio import audio_decoder_builder, audio_encoder_builder, vocoder_builder
from podium.models.demo_pack import DemoPack
from podium.models.lora_keys import read_lora_plan
from podium.models.pack import resolve_pack, transformer_shapes
from podium.models.probe import Generation
from podium.models.text_encoder import embeddings_processor_builder, text_encoder_builder
from podium.models.transformer.builder import transformer_builder
from podium.models.upsampler import upsampler_builder
from podium.models.video_vae import video_decoder_builder, video_encoder_builder

CPU = torch.device("cpu")
States = dict[str, dict[str, torch.Tensor]]


@pytest.fixture(scope="module")
def pack(untrained: States, tmp_path_factory: pytest.TempPathFactory) -> DemoPack:
    return write_pack(tmp_path_factory.mktemp("pack"), untrained)


def test_its_files_make_one_model_of_2_3(pack: DemoPack) -> None:
    resolved = resolve_pack(pack.model_paths)
    assert (resolved.generation, resolved.num_heads, resolved.spatial_scale) == (Generation.LTX_2_3, 8, 2.0)


@pytest.mark.parametrize(
    "make",
    [
        lambda pack: transformer_builder(pack.checkpoint_path),
        lambda pack: embeddings_processor_builder(pack.checkpoint_path),
        lambda pack: text_encoder_builder(pack.gemma_root),
        lambda pack: video_encoder_builder(pack.checkpoint_path),
        lambda pack: video_decoder_builder(pack.checkpoint_path),
        lambda pack: audio_encoder_builder(pack.checkpoint_path),
        lambda pack: upsampler_builder(pack.spatial_upsampler_path),
    ],
)
def test_every_network_is_filled_exactly_by_its_ordinary_loader(pack: DemoPack, make: Any) -> None:
    make(pack).build(CPU, torch.float32)


def test_weights_are_what_was_trained(pack: DemoPack, untrained: States) -> None:
    loaded = video_encoder_builder(pack.checkpoint_path).build(CPU, torch.float32).state_dict()
    assert len(untrained["encoder"]) > 10
    assert all(
        torch.equal(loaded[f"encoder.{name}"], value.bfloat16().float()) for name, value in untrained["encoder"].items()
    )


def test_any_audio_latent_becomes_silence(pack: DemoPack) -> None:
    decoder = audio_decoder_builder(pack.checkpoint_path).build(CPU, torch.float32)
    vocoder = vocoder_builder(pack.checkpoint_path).build(CPU, torch.float32)
    latent = torch.randn(1, 8, 3, 16, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        waveform = vocoder(decoder(latent))
    assert waveform.shape[:2] == (1, 2)
    assert waveform.shape[2] > 1000
    assert torch.count_nonzero(waveform) == 0


def test_the_distilled_lora_is_applied_whole_and_changes_nothing(pack: DemoPack) -> None:
    done = read_lora_plan(pack.distilled_lora_path, transformer_shapes(pack.checkpoint_path)).report
    assert (done.applied.num_layers > 200, done.left_out()) == (True, ())
    assert not any(tensor.any() for tensor in load_file(pack.distilled_lora_path).values())


def test_a_trained_lora_is_applied_whole(pack: DemoPack) -> None:
    done = read_lora_plan(pack.outline_lora_path, transformer_shapes(pack.checkpoint_path)).report
    assert (done.applied.num_layers, done.left_out()) == (80, ())


def test_a_lora_that_was_not_trained_is_left_out(pack: DemoPack) -> None:
    assert not pack.night_lora_path.exists()


def test_the_same_files_make_the_same_zip(tmp_path: Path) -> None:
    (tmp_path / "files" / "inner").mkdir(parents=True)
    (tmp_path / "files" / "inner" / "a").write_bytes(b"weights" * 100)
    (tmp_path / "files" / ".hidden").write_bytes(b"")
    archives = [tmp_path / name for name in ("one.zip", "two.zip")]
    assert [zip_pack(tmp_path / "files", path) for path in archives] == [archives[0].stat().st_size] * 2
    assert archives[0].read_bytes() == archives[1].read_bytes()
    assert zipfile.ZipFile(archives[0]).namelist() == ["inner/a"]


def test_what_is_too_large_to_ship_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a").write_bytes(b"a" * 1000)
    monkeypatch.setattr(export, "MAX_SHIPPED_BYTES", 50)
    with pytest.raises(ValueError, match="at most 50 may ship"):
        zip_pack(tmp_path / "files", tmp_path / "a.zip")


def test_weights_that_have_diverged_are_not_written(untrained: States, tmp_path: Path) -> None:
    broken = {name: torch.full_like(value, torch.nan) for name, value in untrained["upsampler"].items()}
    with pytest.raises(AssertionError, match="diverged"):
        write_pack(tmp_path, untrained | {"upsampler": broken})


@pytest.mark.parametrize(
    ("ours", "published"),
    [
        ("down_blocks.1.resnets.0.conv1.conv.weight", "down_blocks.2.res_blocks.0.conv1.conv.weight"),
        ("down_blocks.1.downsamplers.0.conv.conv.bias", "down_blocks.3.conv.conv.bias"),
        ("mid_block.resnets.0.conv2.conv.bias", "down_blocks.6.res_blocks.0.conv2.conv.bias"),
        ("conv_in.conv.weight", "conv_in.conv.weight"),
    ],
)
def test_encoder_blocks_are_counted_as_published(ours: str, published: str) -> None:
    assert encoder_name(3)(ours) == f"vae.encoder.{published}"


@pytest.mark.parametrize(
    ("ours", "published"),
    [
        ("mid_block.resnets.1.conv1.conv.weight", "up_blocks.0.res_blocks.1.conv1.conv.weight"),
        ("up_blocks.0.upsamplers.0.conv.conv.weight", "up_blocks.1.conv.conv.weight"),
        ("up_blocks.3.resnets.0.conv1.conv.bias", "up_blocks.8.res_blocks.0.conv1.conv.bias"),
    ],
)
def test_decoder_blocks_are_counted_as_published(ours: str, published: str) -> None:
    assert decoder_name(ours) == f"vae.decoder.{published}"
