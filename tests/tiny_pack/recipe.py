"""Which parts a tiny pack has and how each is written."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import numpy as np

from tests.tiny_pack.audio import add_audio_vae, audio_vae_config
from tests.tiny_pack.diffusion_decoder import add_diffusion_decoder, diffusion_vae_config
from tests.tiny_pack.gemma import (
    gemma_3_files,
    gemma_3_tensors,
    gemma_4_config,
    gemma_4_files,
    gemma_4_single_file_tensors,
    gemma_4_tensors,
)
from tests.tiny_pack.loras import add_lora, is_distilled_target, is_style_target
from tests.tiny_pack.number_formats import E4M3_MAX, Float32Array, e4m3_bits
from tests.tiny_pack.random_source import TensorCollection
from tests.tiny_pack.traits import (
    GEMMA_4_VERSION,
    LTX_2_0,
    LTX_2_3,
    LTX_2_5,
    NUM_BLOCKS,
    Config,
    GenerationTraits,
    JsonValue,
)
from tests.tiny_pack.transformer import (
    PREFIX,
    add_connectors,
    add_text_projection,
    add_transformer,
    transformer_config,
)
from tests.tiny_pack.upsamplers import (
    SPATIAL_X1_5,
    SPATIAL_X2,
    TEMPORAL_X2,
    UpsamplerTraits,
    add_duration_head,
    add_upsampler,
    duration_head_config,
    upsampler_config,
)
from tests.tiny_pack.video_vae import add_video_encoder, add_video_vae, video_vae_config
from tests.tiny_pack.vocoder import add_vocoder, vocoder_config
from tests.tiny_pack.writing import StoredDtype, StoredTensor, stored, stored_bytes, write_safetensors

# A part is the file it writes, without its suffix, or the folder.
ALL_PARTS = (
    "gemma3",
    "ltx-2.3-tiny",
    "spatial-upscaler-x2",
    "distilled-lora",
    "style-lora",
    "ltx-2.0-tiny",
    "ltx-2.3-tiny-fp8",
    "gemma4",
    "ltx-2.5",
    "spatial-upscaler-x1.5",
    "temporal-upscaler-x2",
    "distilled-lora-2.0",
    "style-lora-2.0",
    "distilled-lora-2.5",
    "style-lora-2.5",
)

_FP8_LAYERS = ("attn1.to_", "attn2.to_", "ff.net.", "audio_to_video_attn.to_", "video_to_audio_attn.to_")


def write_tiny_pack(
    folder: Path,
    *,
    seed: int = 0,
    dtype: StoredDtype = "bfloat16",
    parts: Collection[str] = ALL_PARTS,
    progress: Callable[[str], None] | None = None,
) -> None:
    """Write parts of a pack of tiny models with random weights, in the published file layouts.

    Args:
        folder: Where the parts go; made if missing. A part already there is overwritten.
        seed: Decides every value.
        dtype: How weights are stored; both hold the same numbers.
        parts: Which of `ALL_PARTS`.
        progress: Called with each part's name before it is written.

    Raises:
        ValueError: An unknown part.
        OSError: The folder cannot be written.
    """
    unknown = sorted(set(parts) - set(ALL_PARTS))
    if unknown:
        raise ValueError(f"no such part of a tiny pack: {unknown}")
    writer = _PackWriter(folder, seed, dtype)
    folder.mkdir(parents=True, exist_ok=True)
    for part in ALL_PARTS:
        if part in parts:
            if progress is not None:
                progress(part)
            writer.write(part)


class _PackWriter:
    """Write single parts; the tensors of a transformer are drawn once, whichever parts need them."""

    def __init__(self, folder: Path, seed: int, dtype: StoredDtype) -> None:
        self._folder = folder
        self._seed = seed
        self._dtype = dtype
        self._transformers: dict[str, dict[str, Float32Array]] = {}
        self._writers: Mapping[str, Callable[[], None]] = {
            "gemma3": self._write_gemma_3,
            "gemma4": self._write_gemma_4,
            "ltx-2.0-tiny": functools.partial(self._write_monolith, LTX_2_0),
            "ltx-2.3-tiny": functools.partial(self._write_monolith, LTX_2_3),
            "ltx-2.3-tiny-fp8": self._write_fp8,
            "ltx-2.5": self._write_split,
            **{
                traits.name: functools.partial(self._write_upsampler, traits)
                for traits in (SPATIAL_X2, SPATIAL_X1_5, TEMPORAL_X2)
            },
            **self._lora_writers(),
        }

    def write(self, part: str) -> None:
        self._writers[part]()

    def _lora_writers(self) -> dict[str, Callable[[], None]]:
        writers: dict[str, Callable[[], None]] = {}
        for traits in (LTX_2_0, LTX_2_3, LTX_2_5):
            suffix = "" if traits is LTX_2_3 else f"-{traits.version}"
            for kind, is_target in (("distilled", is_distilled_target), ("style", is_style_target)):
                writers[f"{kind}-lora{suffix}"] = functools.partial(
                    self._write_lora, f"{kind}-lora{suffix}", traits, f"{kind}-{traits.version}", is_target
                )
        return writers

    def _write_gemma_3(self) -> None:
        folder = self._folder_with("gemma3", gemma_3_files())
        self._save(folder / "model.safetensors", gemma_3_tensors(self._seed), {"format": "pt"})

    def _write_gemma_4(self) -> None:
        folder = self._folder_with("gemma4", gemma_4_files())
        self._save(folder / "model.safetensors", gemma_4_tensors(self._seed), {"format": "pt"})

    def _write_monolith(self, traits: GenerationTraits) -> None:
        path = self._folder / f"ltx-{traits.version}-tiny.safetensors"
        self._save(path, self._monolith(traits), _monolith_metadata(traits))

    def _write_fp8(self) -> None:
        tensors: dict[str, StoredTensor] = {}
        layers: Config = {}
        for name, values in self._monolith(LTX_2_3).items():
            if _is_fp8(name, values):
                scale = np.abs(values).max() / np.float32(E4M3_MAX)
                tensors[name] = StoredTensor("F8_E4M3", e4m3_bits(values / scale))
                tensors[f"{name}_scale"] = StoredTensor("F32", np.asarray(scale, np.float32))
                tensors[name.removesuffix("weight") + "input_scale"] = StoredTensor("F32", np.asarray(1, np.float32))
                layers[name.removeprefix(PREFIX).removesuffix(".weight")] = {"format": "float8_e4m3fn"}
            else:
                tensors[name] = stored(values, self._dtype)
        quantisation: Config = {"format_version": "1.0", "layers": layers}
        metadata = _monolith_metadata(LTX_2_3) | {"_quantization_metadata": quantisation}
        write_safetensors(self._folder / "ltx-2.3-tiny-fp8.safetensors", tensors, metadata)

    def _write_split(self) -> None:
        folder = self._folder_with("ltx-2.5", {})
        config = transformer_config(LTX_2_5)
        self._save(folder / "transformer.safetensors", self._transformer(LTX_2_5), _split_metadata(transformer=config))

        self._write_split_text_encoder(folder / "text_encoder.safetensors", config)

        video = TensorCollection(self._seed, "ltx-2.5-vae")
        add_video_vae(video, LTX_2_5, "")
        metadata = _split_metadata(vae=video_vae_config(LTX_2_5))
        self._save(folder / "video_vae.safetensors", video.tensors, metadata)
        self._write_diffusion_vae(folder / "video_vae_diffusion.safetensors")

        audio = TensorCollection(self._seed, "ltx-2.5-avae")
        add_audio_vae(audio)
        add_vocoder(audio, LTX_2_5)
        metadata = _split_metadata(audio_vae=audio_vae_config(), vocoder=vocoder_config(LTX_2_5))
        self._save(folder / "audio_vae.safetensors", audio.tensors, metadata)

        duration = TensorCollection(self._seed, "ltx-2.5-dur")
        add_duration_head(duration)
        self._save(folder / "duration_head.safetensors", duration.tensors, _split_metadata(**duration_head_config()))

    def _write_diffusion_vae(self, path: Path) -> None:
        # Of the other VAE's family: equal names get equal numbers, and both files share encoder and statistics.
        collection = TensorCollection(self._seed, "ltx-2.5-vae")
        add_video_encoder(collection, "")
        add_diffusion_decoder(collection, "decoder.")
        self._save(path, collection.tensors, _split_metadata(vae=diffusion_vae_config(LTX_2_5)))

    def _write_split_text_encoder(self, path: Path, config: Config) -> None:
        projection = TensorCollection(self._seed, "ltx-2.5-te")
        add_text_projection(projection, LTX_2_5)
        weights = gemma_4_single_file_tensors(self._seed) | projection.tensors
        tensors = {name: stored(values, self._dtype) for name, values in weights.items()}
        metadata = _split_metadata(transformer=config) | {"format": "pt", "gemma_config": gemma_4_config()}
        write_safetensors(path, tensors | _embedded_files(), metadata)

    def _write_upsampler(self, traits: UpsamplerTraits) -> None:
        collection = TensorCollection(self._seed, traits.name)
        add_upsampler(collection, traits)
        path = self._folder / f"{traits.name}.safetensors"
        self._save(path, collection.tensors, {"config": upsampler_config(traits)})

    def _write_lora(self, name: str, traits: GenerationTraits, family: str, is_target: Callable[[str], bool]) -> None:
        collection = TensorCollection(self._seed, family)
        add_lora(collection, self._transformer(traits), is_target)
        self._save(self._folder / f"{name}.safetensors", collection.tensors, {"format": "pt"})

    def _transformer(self, traits: GenerationTraits) -> dict[str, Float32Array]:
        if traits.version not in self._transformers:
            collection = TensorCollection(self._seed, f"ltx-{traits.version}")
            add_transformer(collection, traits)
            add_connectors(collection, traits)
            self._transformers[traits.version] = collection.tensors
        return self._transformers[traits.version]

    def _monolith(self, traits: GenerationTraits) -> dict[str, Float32Array]:
        rest = TensorCollection(self._seed, f"ltx-{traits.version}")
        add_text_projection(rest, traits)
        add_video_vae(rest, traits, "vae.")
        add_audio_vae(rest)
        add_vocoder(rest, traits)
        return self._transformer(traits) | rest.tensors

    def _folder_with(self, name: str, files: Mapping[str, bytes]) -> Path:
        folder = self._folder / name
        folder.mkdir(exist_ok=True)
        for file_name, data in files.items():
            (folder / file_name).write_bytes(data)
        return folder

    def _save(self, path: Path, tensors: Mapping[str, Float32Array], metadata: Mapping[str, str | Config]) -> None:
        write_safetensors(path, {name: stored(values, self._dtype) for name, values in tensors.items()}, metadata)


def _is_fp8(name: str, values: Float32Array) -> bool:
    """Tell whether the fp8 file stores a tensor in fp8: the large layers of all blocks but the first and last."""
    block = name.removeprefix(f"{PREFIX}transformer_blocks.").split(".")[0]
    is_inner = block.isdigit() and 0 < int(block) < NUM_BLOCKS - 1
    is_layer = name.endswith(".weight") and values.ndim == 2 and "to_gate_logits" not in name
    return is_inner and is_layer and any(layer in name for layer in _FP8_LAYERS)


def _monolith_metadata(traits: GenerationTraits) -> dict[str, str | Config]:
    config: Config = {
        "transformer": transformer_config(traits),
        "vae": video_vae_config(traits),
        "audio_vae": audio_vae_config(),
        "vocoder": vocoder_config(traits),
        "scheduler": {"_class_name": "RectifiedFlowScheduler", "sampler": "LinearQuadratic"},
    }
    return {"config": config, "model_version": f"{traits.version}.0"}


def _split_metadata(**sections: JsonValue) -> dict[str, str | Config]:
    return {
        "config": sections,
        "model_version": "2.5.0",
        "gemma_source_checkpoint": {"ltx_version": "2.5.0", "gemma_version": GEMMA_4_VERSION},
    }


def _embedded_files() -> dict[str, StoredTensor]:
    """Return the tokenizer and processor files that 2.5's text encoder carries as tensors."""
    files = gemma_4_files()
    del files["config.json"]
    return {
        "tokenizer_json" if name == "tokenizer.json" else f"hf_asset__{name}": stored_bytes(data)
        for name, data in files.items()
    }
