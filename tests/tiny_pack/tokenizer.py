"""The tokenizer files of a tiny Gemma folder: a byte-fallback BPE trained on a handful of sentences."""

from __future__ import annotations

import json

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from tests.tiny_pack.traits import NUM_VOCABULARY, Config

_CORPUS = (
    "A red fox runs across a snowy field at dawn while the wind howls and birds sing in the distance.",
    "The camera slowly pans from left to right and follows a woman in a yellow coat who walks along the pier.",
    "Waves crash against the rocks, a dog barks, and soft piano music plays in the background of the scene.",
    "Close up of hands kneading dough on a wooden table, warm light, shallow depth of field, quiet kitchen sounds.",
    "A robot says hello to a child; the child laughs and the crowd claps. Cinematic lighting, high detail, 24 fps.",
    "blurry, out of focus, low quality, distorted hands, flickering, robotic voice, echo, background noise, static.",
    "An astronaut floats over a blue planet as radio chatter fades in and out, stars shimmer, slow motion.",
    "User prompt: describe the video and the audio in one paragraph, keep the actions in order and the style plain.",
)
_SPECIAL_TOKENS = (
    "<pad>",
    "<eos>",
    "<bos>",
    "<unk>",
    "<start_of_turn>",
    "<end_of_turn>",
    "<start_of_image>",
    "<end_of_image>",
    "<image_soft_token>",
    "<audio_soft_token>",
    "<start_of_audio>",
    "<end_of_audio>",
)
_CHAT_TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<start_of_turn>{{ 'model' if m['role'] == 'assistant' else m['role'] }}\n"
    "{% if m['content'] is string %}{{ m['content'] | trim }}{% else %}{% for c in m['content'] %}"
    "{% if c['type'] == 'image' %}<start_of_image>{% else %}{{ c['text'] | trim }}{% endif %}{% endfor %}{% endif %}"
    "<end_of_turn>\n{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
_NAMED_TOKENS: tuple[tuple[str, str], ...] = (
    ("bos_token", "<bos>"),
    ("eos_token", "<eos>"),
    ("pad_token", "<pad>"),
    ("unk_token", "<unk>"),
)
_SPACE_MARK = "\u2581"


def tokenizer_files(gemma: int) -> dict[str, bytes]:
    """Return the tokenizer, its configuration and the chat template of Gemma 3 or 4, by file name."""
    tokenizer = _trained_tokenizer(adds_bos=gemma == 3)
    generation: Config = {"bos_token_id": 2, "eos_token_id": [1, 5], "pad_token_id": 0, "do_sample": True}
    return {
        "tokenizer.json": tokenizer.to_str(pretty=True).encode(),
        "tokenizer_config.json": json_bytes(_tokenizer_config(gemma)),
        "special_tokens_map.json": json_bytes(dict(_NAMED_TOKENS)),
        "chat_template.json": json_bytes({"chat_template": _CHAT_TEMPLATE}),
        "generation_config.json": json_bytes(generation),
    }


def json_bytes(value: Config) -> bytes:
    """Return `value` in the one JSON layout that the pack's digests know."""
    return json.dumps(value, indent=1).encode()


def _trained_tokenizer(*, adds_bos: bool) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Replace(" ", _SPACE_MARK)
    tokenizer.pre_tokenizer = pre_tokenizers.Split(_SPACE_MARK, "merged_with_next")
    byte_tokens = [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(
        vocab_size=NUM_VOCABULARY,
        special_tokens=[AddedToken(token, special=True, normalized=False) for token in _SPECIAL_TOKENS] + byte_tokens,
        show_progress=False,
    )
    tokenizer.train_from_iterator(_CORPUS, trainer)
    tokenizer = _without_added_byte_tokens(tokenizer)
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace(_SPACE_MARK, " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    if adds_bos:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<bos> $A", pair="<bos> $A <bos> $B", special_tokens=[("<bos>", _SPECIAL_TOKENS.index("<bos>"))]
        )
    return tokenizer


def _without_added_byte_tokens(tokenizer: Tokenizer) -> Tokenizer:
    # The trainer keeps byte tokens only if told they are special; in Gemma's files they are plain vocabulary.
    data = json.loads(tokenizer.to_str())
    data["added_tokens"] = [token for token in data["added_tokens"] if token["content"] in _SPECIAL_TOKENS]
    return Tokenizer.from_str(json.dumps(data))


def _tokenizer_config(gemma: int) -> Config:
    config: Config = {
        "add_bos_token": gemma == 3,
        "add_eos_token": False,
        **dict(_NAMED_TOKENS),
        "boi_token": "<start_of_image>",
        "eoi_token": "<end_of_image>",
        "image_token": "<image_soft_token>",
        "clean_up_tokenization_spaces": False,
        "model_max_length": 4096,
        "padding_side": "left",
        "processor_class": "Gemma3Processor" if gemma == 3 else "Gemma4UnifiedProcessor",
        "tokenizer_class": "GemmaTokenizer",
        "chat_template": _CHAT_TEMPLATE,
    }
    if gemma == 4:
        config |= {
            "audio_token": "<audio_soft_token>",
            "boa_token": "<start_of_audio>",
            "eoa_token": "<end_of_audio>",
        }
    return config
