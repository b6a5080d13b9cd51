"""The text path: prompts to Gemma's hidden states to the contexts that the transformer attends.

The rule a caller must know: hidden states have no padding, only a prompt's own tokens; they get the positions that left
padding to 1024 would give them, so the numbers are those of the padded run without its cost.
Shapes: B batch (1), N tokens of a prompt, D hidden width, L layers (the embedding and every block).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from diffusers.pipelines.ltx2.connectors import LTX2ConnectorTransformer1d
from torch import nn

from podium.errors import JobRefusedError
from podium.models.builder import Headers, SingleGPUModelBuilder
from podium.models.configs import (
    JsonObject,
    config_section,
    connector_arguments,
    metadata_config,
    normalises_per_token,
    projects_per_modality,
    reading_config,
    scale_of_features,
)
from podium.models.errors import CheckpointError, CheckpointReason
from podium.models.gemma import TextConfig, embedding_of, gemma_sight_builder, gemma_text_config, make_language_model
from podium.models.key_maps import EMBEDDINGS_PROCESSOR, GEMMA3_TEXT
from podium.models.prompt_enhancement import GemmaWriter, WritingRequest, WrittenPrompt
from podium.models.registry import Registry
from podium.models.tokenizer import MAX_PROMPT_TOKENS, PromptTokenizer

_EPS = 1e-6
_LAYER_RANGE = 8
_MASKED = -1e9  # below the -9000 that the connector takes for "padding"


@dataclass(frozen=True, slots=True)
class PromptContext:
    """What the transformer attends of a prompt.

    Args:
        video: [1, 1024, Dv], the type of the connectors' weights.
        audio: [1, 1024, Da], the same.
    """

    video: torch.Tensor
    audio: torch.Tensor


@dataclass(frozen=True, slots=True)
class PromptFeatures:
    """A prompt's tokens projected for each connector: video [1, N, Dv] and audio [1, N, Da]."""

    video: torch.Tensor
    audio: torch.Tensor


class GemmaTextEncoder(nn.Module):
    """Gemma's language model, 3 or 4, as a text encoder; where it can, it also writes prompts out in more detail.

    Args:
        config: Of the language model.
        tokenizer: Of the same files.
        registry: Where the weights of its eyes are kept, which are read when a picture is to be looked at.
    """

    def __init__(self, config: TextConfig, tokenizer: PromptTokenizer, registry: Registry | None = None) -> None:
        super().__init__()
        self.model = make_language_model(config)
        self.tokenizer = tokenizer
        self._registry = registry

    def count_tokens(self, prompt: str) -> int:
        """Return the number of tokens of a prompt; at most `MAX_PROMPT_TOKENS` can be encoded."""
        return self.tokenizer.count(prompt)

    def encode(self, prompts: Sequence[str]) -> list[torch.Tensor]:
        """Return the hidden states [N, D, L] of each prompt, on the model's device and in its type.

        Raises:
            JobRefusedError: A prompt has more than `MAX_PROMPT_TOKENS` tokens; said before any is encoded.
        """
        ids = [self._checked_ids(prompt) for prompt in prompts]
        return [self.hidden_states(prompt_ids) for prompt_ids in ids]

    def hidden_states(self, token_ids: Sequence[int]) -> torch.Tensor:
        """Return the hidden states [N, D, L] of token ids, 1 to 1024 of them, the layer last."""
        device = self.device
        num_padding = MAX_PROMPT_TOKENS - len(token_ids)
        output = self.model(
            input_ids=torch.tensor([list(token_ids)], device=device),
            position_ids=torch.arange(num_padding, MAX_PROMPT_TOKENS, device=device)[None],
            output_hidden_states=True,
            use_cache=False,
        )
        # Layers may lie on several devices.
        return torch.stack([states.to(device) for states in output.hidden_states], dim=-1)[0]

    def write(self, request: WritingRequest) -> Generator[int, None, WrittenPrompt]:
        """Write a prompt out in more detail: yields each token, returns the text.

        Raises:
            JobRefusedError: This encoder cannot write, or the prompt is empty or too long.
        """
        sight_builder = partial(gemma_sight_builder, self.tokenizer.files, self._registry)
        return GemmaWriter(self.model, self.tokenizer, sight_builder).write(request)

    @property
    def device(self) -> torch.device:
        """Return where token ids go and hidden states come from."""
        return embedding_of(self.model).weight.device

    def _checked_ids(self, prompt: str) -> list[int]:
        ids = self.tokenizer.encode(prompt)
        if len(ids) > MAX_PROMPT_TOKENS:
            raise JobRefusedError(
                f"The prompt is too long: it has {len(ids)} tokens, and the model reads {MAX_PROMPT_TOKENS}. "
                "Please shorten it."
            )
        return ids


class EmbeddingsProcessor(nn.Module):
    """Projects hidden states for both streams and runs their connectors.

    Args:
        transformer: The `transformer` section of a checkpoint's configuration.
        num_hidden_states: L, which the section does not say.
    """

    def __init__(self, transformer: JsonObject, num_hidden_states: int) -> None:
        super().__init__()
        self.hidden_size: int = transformer["caption_channels"]
        self.normalises_per_token = normalises_per_token(transformer)
        self.projects_per_modality = projects_per_modality(transformer)
        video, audio = (connector_arguments(transformer, modality) for modality in ("video", "audio"))
        flat_size = self.hidden_size * num_hidden_states
        if self.projects_per_modality:
            self.video_projection = nn.Linear(flat_size, video["num_attention_heads"] * video["attention_head_dim"])
            self.audio_projection = nn.Linear(flat_size, audio["num_attention_heads"] * audio["attention_head_dim"])
        else:
            self.shared_projection = nn.Linear(flat_size, self.hidden_size, bias=False)
        self.video_connector = LTX2ConnectorTransformer1d(**video)
        self.audio_connector = LTX2ConnectorTransformer1d(**audio)

    @property
    def dtype(self) -> torch.dtype:
        """Type of the weights, which hidden states are brought to."""
        return next(self.parameters()).dtype

    def process(self, hidden_NDL: torch.Tensor) -> PromptContext:
        """Return the contexts of one prompt's hidden states [N, D, L]."""
        features = self.project(hidden_NDL)
        return PromptContext(
            video=self._connect(self.video_connector, features.video),
            audio=self._connect(self.audio_connector, features.audio),
        )

    forward = process

    def project(self, hidden_NDL: torch.Tensor) -> PromptFeatures:
        """Return the features of one prompt's tokens, in their order."""
        hidden = hidden_NDL[None].to(self.dtype)
        if self.normalises_per_token:
            normal = hidden * torch.rsqrt(hidden.square().mean(dim=2, keepdim=True) + _EPS)
        else:
            normal = _normalise_layers(hidden)
        flat = normal.flatten(2)
        if not self.projects_per_modality:
            shared = self.shared_projection(flat)
            return PromptFeatures(shared, shared)
        return PromptFeatures(
            self.video_projection(flat * scale_of_features(self.video_projection.out_features, self.hidden_size)),
            self.audio_projection(flat * scale_of_features(self.audio_projection.out_features, self.hidden_size)),
        )

    @staticmethod
    def _connect(connector: LTX2ConnectorTransformer1d, features_1ND: torch.Tensor) -> torch.Tensor:
        """Fill up to 1024 tokens with registers, by their absolute position, and run the connector."""
        num_tokens = features_1ND.shape[1]
        padded = nn.functional.pad(features_1ND, (0, 0, 0, MAX_PROMPT_TOKENS - num_tokens))
        mask = torch.zeros(1, 1, 1, MAX_PROMPT_TOKENS, dtype=padded.dtype, device=padded.device)
        mask[..., num_tokens:] = _MASKED
        context: torch.Tensor = connector(padded, mask)[0]
        return context


def text_encoder_builder(gemma_root: Path, registry: Registry | None = None) -> SingleGPUModelBuilder[GemmaTextEncoder]:
    """Return the builder of the language model in a Gemma 3 or 4 folder, or in the single text-encoder file of 2.5.

    Vision and audio towers, and the text projection that a single file holds too, are not read.

    Raises:
        CheckpointError: There are no safetensors weights.
    """
    tokenizer = PromptTokenizer(gemma_root)
    make = partial(_make_text_encoder, tokenizer, registry)
    return SingleGPUModelBuilder(tokenizer.files.weight_paths(), GEMMA3_TEXT, make, registry)


def embeddings_processor_builder(
    checkpoint_path: Path, *more_paths: Path, registry: Registry | None = None
) -> SingleGPUModelBuilder[EmbeddingsProcessor]:
    """Return the builder of text projection and connectors.

    Args:
        checkpoint_path: A monolith, or the transformer file of a split pack.
        more_paths: The text-encoder file of a split pack, which holds the projection.
        registry: As every builder's.
    """
    return SingleGPUModelBuilder((checkpoint_path, *more_paths), EMBEDDINGS_PROCESSOR, _make_processor, registry)


def _make_text_encoder(tokenizer: PromptTokenizer, registry: Registry | None, headers: Headers) -> GemmaTextEncoder:
    del headers  # a Gemma describes itself in its configuration
    return GemmaTextEncoder(gemma_text_config(tokenizer.files), tokenizer, registry)


def _make_processor(headers: Headers) -> EmbeddingsProcessor:
    path = headers[0].path
    transformer = config_section(path, metadata_config(path, headers[0].metadata), "transformer")
    with reading_config(path, "transformer"):
        return EmbeddingsProcessor(transformer, _num_hidden_states(headers, transformer["caption_channels"]))


def _num_hidden_states(headers: Headers, hidden_size: int) -> int:
    """Read off the projection how many hidden states it takes of each token."""
    for header in headers:
        for key, tensor in header.tensors.items():
            if key.startswith("text_embedding_projection.") and key.endswith("aggregate_embed.weight"):
                return tensor.shape[1] // hidden_size
    raise CheckpointError(
        f"“{headers[0].path.name}” holds no text projection, which turns the text encoder's output into what the model "
        "reads. The whole checkpoint is needed (for a split pack, its text-encoder file too).",
        path=headers[0].path,
        reason=CheckpointReason.INCOMPLETE,
        details="no key starts with 'text_embedding_projection.'",
    )


def _normalise_layers(hidden_BNDL: torch.Tensor) -> torch.Tensor:
    """Centre each layer over the prompt and scale its range to 8 (2.0)."""
    mean = hidden_BNDL.mean(dim=(1, 2), keepdim=True)
    low, high = hidden_BNDL.amin(dim=(1, 2), keepdim=True), hidden_BNDL.amax(dim=(1, 2), keepdim=True)
    return (hidden_BNDL - mean) / (high - low + _EPS) * _LAYER_RANGE
