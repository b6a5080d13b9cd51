"""The demo model's networks: the real architecture of 2.3 at a small size, described by the official configuration."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import torch
from diffusers.models.autoencoders.autoencoder_kl_ltx2 import LTX2VideoDecoder3d, LTX2VideoEncoder3d
from diffusers.pipelines.ltx2.latent_upsampler import LTX2LatentUpsamplerModel
from latents import NUM_CHANNELS, NUM_LIVE
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from torch import Tensor, nn
from transformers import Gemma3TextConfig, Gemma3TextModel
from world import sample_attributes, sentence

from podium.models.configs import upsampler_arguments, video_decoder_arguments, video_encoder_arguments
from podium.models.text_encoder import EmbeddingsProcessor
from podium.models.transformer.config import TransformerConfig
from podium.models.transformer.inputs import StreamInput, Timesteps
from podium.models.transformer.model import AVTransformer, Ropes

Config = dict[str, Any]

MAX_TEXT = 1024
"""Text tokens that the connectors see, registers included."""

_FOLDER = Path(__file__).parent
_TOKENIZER = _FOLDER / "tokenizer.json"
# Written down whole: weights that were trained fit no other. Three halvings of everything, and a decoder that undoes
# them in four strides; the audio stream's parts are as small as they can be, for they only have to be silent.
_CONFIGS: dict[str, Config] = json.loads((_FOLDER / "configs.json").read_text(encoding="utf-8"))
_SPECIAL = ("<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "<end_of_turn>")
_BOS = 2
_NUM_INNER = 32


def checkpoint_config() -> Config:
    """Return the whole configuration of the monolith."""
    return _CONFIGS["checkpoint"]


def upsampler_config() -> Config:
    """Return the whole configuration of the x2 upscaler."""
    return _CONFIGS["upsampler"]


def gemma_config() -> Config:
    """Return the config.json of the text encoder's folder: the language model alone."""
    return _CONFIGS["gemma"]


def make_encoder() -> LTX2VideoEncoder3d:
    """Return the video encoder: pixels to 128 channels and more, of which the first 31 are used.

    Its width is 128 as in every encoder of this layout; inside its blocks 32 channels are in use. What is not, is
    zero, gets no gradient, and zips away.
    """
    encoder = LTX2VideoEncoder3d(**video_encoder_arguments(checkpoint_config()["vae"]))
    with torch.no_grad():
        for block in (*encoder.down_blocks, encoder.mid_block):
            for resnet in block.resnets:
                resnet.conv1.conv.weight[_NUM_INNER:] = 0
                resnet.conv1.conv.bias[_NUM_INNER:] = 0
                resnet.conv2.conv.weight[:, _NUM_INNER:] = 0
        encoder.conv_out.conv.weight[NUM_LIVE:] = 0
        encoder.conv_out.conv.bias[NUM_LIVE:] = 0
    return encoder


def make_decoder() -> LTX2VideoDecoder3d:
    """Return the video decoder, which reads the live channels only."""
    decoder = LTX2VideoDecoder3d(**video_decoder_arguments(checkpoint_config()["vae"]))
    with torch.no_grad():
        decoder.conv_in.conv.weight[:, NUM_LIVE:] = 0
    return decoder


def make_upsampler() -> LTX2LatentUpsamplerModel:
    """Return the x2 upscaler, which reads and writes the live channels only."""
    upsampler = LTX2LatentUpsamplerModel(**upsampler_arguments(upsampler_config()))
    with torch.no_grad():
        upsampler.initial_conv.weight[:, NUM_LIVE:] = 0
        upsampler.final_conv.weight[NUM_LIVE:] = 0
        upsampler.final_conv.bias[NUM_LIVE:] = 0
    return upsampler


def tokenizer_config() -> Config:
    """Return the tokenizer_config.json: without a chat template, since this Gemma cannot write."""
    named = {f"{name}_token": f"<{name}>" for name in ("bos", "eos", "pad", "unk")}
    return {"add_bos_token": True, "add_eos_token": False, **named, "tokenizer_class": "GemmaTokenizer"}


def make_tokenizer() -> Tokenizer:
    """Return the tokenizer, which stays as it is: another one would be another language to trained weights."""
    return Tokenizer.from_file(str(_TOKENIZER))


def train_tokenizer(num_sentences: int = 20000) -> Tokenizer:
    """Return a byte-pair tokenizer of the world's sentences; other words fall apart into bytes.

    `train_tokenizer().save("packaging/demo_model/tokenizer.json")` made the one in use.
    """
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Lowercase(), normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    rng = random.Random(0)
    texts = [sentence(rng, sample_attributes(rng, is_held_out=False)) for _ in range(num_sentences)]
    special = [AddedToken(text, special=True, normalized=False) for text in _SPECIAL]
    byte_tokens = [f"<0x{value:02X}>" for value in range(256)]
    trainer = trainers.BpeTrainer(
        vocab_size=gemma_config()["vocab_size"], special_tokens=[*special, *byte_tokens], show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    # Bytes are pieces of words and must not be found whole in a text.
    description = json.loads(tokenizer.to_str())
    description["added_tokens"] = [token for token in description["added_tokens"] if token["content"] in _SPECIAL]
    tokenizer = Tokenizer.from_str(json.dumps(description))
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.post_processor = processors.TemplateProcessing(single="<bos> $A", special_tokens=[("<bos>", _BOS)])
    return tokenizer


class DemoNetwork(nn.Module):
    """Everything that turns words and noise into latents: text encoder, projection, connectors, transformer.

    The audio stream stays silent: its weights are zero, and the video stream is trained without it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.gemma = Gemma3TextModel(Gemma3TextConfig.from_dict(gemma_config()))
        config = checkpoint_config()["transformer"]
        self.processor = EmbeddingsProcessor(config, gemma_config()["num_hidden_layers"] + 1)
        self.transformer = AVTransformer(TransformerConfig.from_official(config))
        self.reset()

    @torch.no_grad()
    def reset(self) -> None:
        """Draw the weights anew: small ones, none where nothing may flow."""
        for name, parameter in self.named_parameters():
            if "audio" in name or "a2v" in name or "v2a" in name:
                parameter.zero_()
            elif name.startswith("transformer."):
                _initialise(name, parameter)
        self.transformer.patchify_proj.weight[:, NUM_LIVE:] = 0
        self.transformer.proj_out.weight.zero_()
        self.transformer.proj_out.bias.zero_()

    def trained_parameters(self) -> list[nn.Parameter]:
        """Return the parameters that training moves; the audio stream's are none of them."""
        silent = ("audio", "a2v", "v2a", "av_ca")
        return [p for name, p in self.named_parameters() if not any(word in name for word in silent)]

    def context(self, ids: Tensor, lengths: Tensor, num_text: int) -> Tensor:
        """Return the video contexts [B, num_text, 128] of token ids [B, N], filled up on the right.

        Args:
            lengths: [B] tokens of each prompt.
            num_text: A multiple of 128, at least N; 1024 in use.
        """
        num_ids = ids.shape[1]
        place = torch.arange(num_ids, device=ids.device)
        # As if padded on the left to 1024; what lies right of a prompt is never attended, since attention is causal.
        positions = (MAX_TEXT - lengths[:, None] + place).clamp(max=MAX_TEXT - 1)
        causal = torch.full((num_ids, num_ids), -1e9, device=ids.device).triu(1)[None, None]
        states = self.gemma(
            input_ids=ids,
            attention_mask={"full_attention": causal, "sliding_attention": causal},
            position_ids=positions,
            output_hidden_states=True,
            use_cache=False,
        ).hidden_states
        hidden = torch.stack(states, dim=-1).float()
        normal = hidden * torch.rsqrt(hidden.square().mean(dim=2, keepdim=True) + 1e-6)
        projection = self.processor.video_projection
        scale = (projection.out_features / gemma_config()["hidden_size"]) ** 0.5
        features = projection(normal.flatten(2) * scale)
        padded = nn.functional.pad(features, (0, 0, 0, num_text - num_ids))
        text_place = torch.arange(num_text, device=ids.device)
        mask = torch.where(text_place[None] < lengths[:, None], 0.0, -1e9).to(padded.dtype)[:, None, None]
        context: Tensor = self.processor.video_connector(padded, mask)[0]
        return context

    def velocity(self, latent: Tensor, timesteps: Timesteps, sigma: Tensor, context: Tensor, ropes: Ropes) -> Tensor:
        """Return the velocity [B, T, 128] of noisy tokens [B, T, 128] at noise levels `sigma` [B]."""
        stream = StreamInput(
            latent=latent,
            timesteps=timesteps,
            sigma=sigma,
            context=context,
            rope=ropes.own,
            cross_rope=ropes.cross,
        )
        video, _ = self.transformer(stream, None)
        assert video is not None, "the video stream was given"
        return video


def _initialise(name: str, parameter: nn.Parameter) -> None:
    if name.endswith("scale_shift_table"):
        nn.init.normal_(parameter, std=0.02)
    elif parameter.ndim == 2:
        nn.init.xavier_uniform_(parameter)
        if "adaln_single.linear" in name or name.endswith((".to_out.0.weight", ".ff.net.2.weight")):
            parameter.mul_(0.2)
    elif name.endswith("bias"):
        nn.init.zeros_(parameter)


def live_only(tokens: Tensor) -> Tensor:
    """Return tokens [B, T, 128] from live channels [B, T, 31]."""
    return nn.functional.pad(tokens, (0, NUM_CHANNELS - NUM_LIVE))
