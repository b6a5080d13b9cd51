"""The files of a text encoder: a Gemma folder, or one file with everything inside. No torch; no weight is read.

The rule a caller must know: both layouts answer alike. A single file carries a folder's small files as tensors of bytes
(`tokenizer_json`, `hf_asset__<name>`) and its configuration as the metadata `gemma_config`.

Source: the published Gemma 3 folders and the header of LTX-2.5's text encoder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from podium.models.errors import CheckpointError, CheckpointReason
from podium.models.header import SafetensorsHeader, read_header

TOKENIZER_NAME = "tokenizer.json"
TOKENIZER_CONFIG_NAME = "tokenizer_config.json"
CONFIG_NAME = "config.json"

_INDEX_NAME = "model.safetensors.index.json"
_GENERATION_CONFIG_NAME = "generation_config.json"
_CONFIG_METADATA = "gemma_config"
_BYTES_DTYPES = ("U8", "I8")


class GemmaFiles:
    """Reads what a text encoder carries beside its weights.

    Args:
        path: A Gemma folder, or a single text-encoder file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def is_single_file(self) -> bool:
        """Return whether everything lies in one file."""
        return not self.path.is_dir()

    def read(self, name: str) -> bytes | None:
        """Return a small file by the name it has in a folder; None if the encoder has no such file.

        Raises:
            OSError: It is there and cannot be read.
            CheckpointError: The single file is missing or damaged.
        """
        if self.is_single_file:
            return self._embedded(name)
        path = self.path / name
        return path.read_bytes() if path.exists() else None

    def config(self) -> Mapping[str, Any]:
        """Return the configuration of the network.

        Raises:
            CheckpointError: There is none, or it is no JSON object.
        """
        try:
            text = self._header().metadata.get(_CONFIG_METADATA) if self.is_single_file else self.read(CONFIG_NAME)
            config = json.loads(text) if text is not None else None
        except (OSError, ValueError) as error:
            raise self.refusal(f"{self._config_place}: {error}") from error
        if not isinstance(config, dict):
            raise self.refusal(f"{self._config_place}: missing, or no JSON object")
        return config

    def weight_paths(self) -> tuple[Path, ...]:
        """Return the weight files: those a folder's index names, else every safetensors file in it, by name.

        Raises:
            CheckpointError: There is none, or the index cannot be read.
        """
        if self.is_single_file:
            read_header(self.path)
            return (self.path,)
        index = self.path / _INDEX_NAME
        try:
            if index.exists():
                names = json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()
                return tuple(self.path / name for name in sorted(set(names)))
        except (OSError, ValueError, KeyError, AttributeError) as error:
            raise self.refusal(f"{index.name}: {error}") from error
        paths = tuple(sorted(self.path.glob("*.safetensors")))
        if not paths:
            raise self.refusal("no *.safetensors file")
        return paths

    def chat_template(self) -> str | None:
        """Return how the model is talked to, as a Jinja template; None if the encoder does not say.

        Raises:
            CheckpointError: A file that may say it cannot be read.
        """
        plain = self._read_or_refuse("chat_template.jinja")
        if plain is not None:
            return plain.decode("utf-8", "replace")
        for name in ("chat_template.json", TOKENIZER_CONFIG_NAME):
            template = self._json(name).get("chat_template")
            if isinstance(template, list):
                named = {entry["name"]: entry["template"] for entry in template}
                template = named.get("default")
            if isinstance(template, str):
                return template
        return None

    def end_token_ids(self) -> frozenset[int]:
        """Return the tokens that end what the model writes, as far as its files say.

        Raises:
            CheckpointError: The file that says it cannot be read.
        """
        told = self._json(_GENERATION_CONFIG_NAME).get("eos_token_id")
        if told is None:
            told = self.config().get("eos_token_id", ())
        return frozenset([told] if isinstance(told, int) else told)

    def can_write(self) -> bool:
        """Return whether the language model can write, too: it says how it is talked to, and its head is its embedding.

        Raises:
            CheckpointError: A file that says so cannot be read.
        """
        config = self.config()
        text_config = config.get("text_config")
        told = text_config if isinstance(text_config, dict) else config
        return self.chat_template() is not None and bool(told.get("tie_word_embeddings", True))

    def refusal(self, details: str) -> CheckpointError:
        """Return the error that says what is wanted in the place of these files."""
        wanted = (
            "The text encoder in one file as its publisher made it, with tokenizer and description inside, is needed."
            if self.is_single_file
            else "The folder with config.json, tokenizer.json and all *.safetensors files is needed."
        )
        what = "text-encoder file" if self.is_single_file else "folder"
        return CheckpointError(
            f"“{self.path.name}” is not a complete Gemma {what}, which this model's text encoder is. {wanted}",
            path=self.path,
            reason=CheckpointReason.WRONG_KIND,
            details=details,
        )

    @property
    def _config_place(self) -> str:
        return f"metadata {_CONFIG_METADATA!r}" if self.is_single_file else CONFIG_NAME

    def _header(self) -> SafetensorsHeader:
        return read_header(self.path)

    def _embedded(self, name: str) -> bytes | None:
        header = self._header()
        info = header.tensors.get("tokenizer_json" if name == TOKENIZER_NAME else f"hf_asset__{name}")
        if info is None or info.dtype not in _BYTES_DTYPES:
            return None
        with self.path.open("rb") as file:
            file.seek(header.data_start + info.start)
            return file.read(info.num_bytes)

    def _read_or_refuse(self, name: str) -> bytes | None:
        try:
            return self.read(name)
        except OSError as error:
            raise self.refusal(f"{name}: {error}") from error

    def _json(self, name: str) -> Mapping[str, Any]:
        data = self._read_or_refuse(name)
        try:
            value = json.loads(data) if data is not None else {}
        except ValueError as error:
            raise self.refusal(f"{name}: {error}") from error
        return value if isinstance(value, dict) else {}
