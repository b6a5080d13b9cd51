"""Write trained states as an LTX-2.3 pack in the published file layout, and zip it as it ships.

The sound is valid silence: the audio stream of the transformer, the audio VAE and the vocoder hold nothing but zeros,
so every latent becomes a waveform of zeros; and zeros take no room in a zip. The distilled LoRA is zeros as well: the
model is trained at the distilled sampler's noise levels and between them, and needs none.
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import torch
from diffusers.models.autoencoders.autoencoder_kl_ltx2_audio import LTX2AudioDecoder, LTX2AudioEncoder
from networks import (
    checkpoint_config,
    gemma_config,
    make_tokenizer,
    tokenizer_config,
    upsampler_config,
)
from official_names import (
    audio_name,
    decoder_name,
    embeddings_name,
    encoder_name,
    gemma_name,
    lora_name,
    transformer_name,
    vocoder_name,
)
from safetensors.torch import save_file
from torch import Tensor

from podium.models.audio import Vocoder
from podium.models.configs import audio_vae_arguments
from podium.models.demo_pack import DemoPack
from podium.models.module_weights import without_weights

MAX_SHIPPED_BYTES = 12_000_000
VERSION = "2.3.0"

_SILENT = ("audio", "a2v", "v2a", "av_ca")
# A zip keeps times; these files have none.
_NO_TIME = (1980, 1, 1, 0, 0, 0)

Tensors = Mapping[str, Tensor]
States = Mapping[str, Tensors]
"""Weights by what was trained: "decoder", "encoder", "upsampler", "transformer", and LoRAs under published names."""


def write_pack(folder: Path, states: States) -> DemoPack:
    """Write the files of the demo model.

    Args:
        folder: Where they go; made if missing.
        states: What was trained; a LoRA that was not is left out.
    """
    pack = DemoPack(folder)
    folder.mkdir(parents=True, exist_ok=True)
    monolith = _video(states) | _silence()
    _save(pack.checkpoint_path, monolith, {"config": json.dumps(checkpoint_config()), "model_version": VERSION})
    _save(pack.spatial_upsampler_path, states["upsampler"], {"config": json.dumps(upsampler_config())})
    _save(pack.distilled_lora_path, dict(_no_lora(monolith)), {"format": "pt"})
    for name, path in (("lora_outline", pack.outline_lora_path), ("lora_night", pack.night_lora_path)):
        if name in states:
            _save(path, states[name], {"format": "pt"})
    _write_gemma(pack.gemma_root, _part(states["transformer"], "gemma.", gemma_name))
    return pack


def zip_pack(folder: Path, path: Path) -> int:
    """Zip a pack's files, the same bytes for the same files; return the size.

    Raises:
        ValueError: It is larger than what may ship.
    """
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file() and not file.name.startswith("."):
                entry = zipfile.ZipInfo(file.relative_to(folder).as_posix(), _NO_TIME)
                entry.compress_type = zipfile.ZIP_LZMA
                archive.writestr(entry, file.read_bytes())
    size = path.stat().st_size
    if size > MAX_SHIPPED_BYTES:
        raise ValueError(f"{path} has {size:,} bytes; at most {MAX_SHIPPED_BYTES:,} may ship")
    return size


def _video(states: States) -> dict[str, Tensor]:
    network = states["transformer"]
    return {
        **_silenced(_part(network, "transformer.", transformer_name)),
        **_part(network, "processor.", embeddings_name),
        **_part(states["decoder"], "", decoder_name),
        **_part(states["encoder"], "", encoder_name(3)),
        "vae.per_channel_statistics.mean-of-means": torch.zeros(128),
        "vae.per_channel_statistics.std-of-means": torch.ones(128),
    }


def _silenced(transformer: Tensors) -> dict[str, Tensor]:
    # Training leaves some of them as they were drawn: what they modulate is zero.
    return {
        name: torch.zeros_like(tensor) if any(word in name for word in _SILENT) else tensor
        for name, tensor in transformer.items()
    }


def _silence() -> dict[str, Tensor]:
    arguments = audio_vae_arguments(checkpoint_config()["audio_vae"])
    with without_weights():
        parts = (
            (LTX2AudioEncoder(**arguments), audio_name("encoder")),
            (LTX2AudioDecoder(**arguments), audio_name("decoder")),
            (Vocoder(checkpoint_config()["vocoder"]).vocoder, vocoder_name),
        )
    zeros = {rule(name): torch.zeros(w.shape) for module, rule in parts for name, w in module.state_dict().items()}
    statistics = {"mean-of-means": torch.zeros(128), "std-of-means": torch.ones(128)}
    return zeros | {f"audio_vae.per_channel_statistics.{name}": values for name, values in statistics.items()}


def _no_lora(monolith: Tensors) -> Iterator[tuple[str, Tensor]]:
    prefix = transformer_name("")
    for key, weight in monolith.items():
        module = key.removeprefix(prefix).removesuffix(".weight")
        if key.startswith(f"{prefix}transformer_blocks.") and key.endswith(".weight") and weight.ndim == 2:
            yield lora_name(module, "A"), torch.zeros(1, weight.shape[1])
            yield lora_name(module, "B"), torch.zeros(weight.shape[0], 1)


def _write_gemma(folder: Path, weights: Tensors) -> None:
    folder.mkdir(exist_ok=True)
    _save(folder / "model.safetensors", weights, {"format": "pt"})
    (folder / "tokenizer.json").write_text(make_tokenizer().to_str(), encoding="utf-8")
    for name, content in (("config.json", gemma_config()), ("tokenizer_config.json", tokenizer_config())):
        (folder / name).write_text(json.dumps(content, indent=1), encoding="utf-8")


def _part(tensors: Tensors, prefix: str, rule: Callable[[str], str]) -> dict[str, Tensor]:
    names = [name for name in tensors if name.startswith(prefix)]
    found = {rule(name.removeprefix(prefix)): tensors[name] for name in names}
    assert len(found) == len(names), "no two parameters have the same published name"
    return found


def _save(path: Path, tensors: Tensors, metadata: Mapping[str, str]) -> None:
    stored = {name: tensor.to("cpu", torch.bfloat16).contiguous() for name, tensor in tensors.items()}
    assert all(math.isfinite(float(tensor.float().abs().max())) for tensor in stored.values()), "nothing has diverged"
    save_file(stored, path, metadata=dict(metadata))
