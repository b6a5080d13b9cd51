"""What transformers makes of prompts by itself: the whole model, in one padded batch of one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor
from transformers import AutoModelForImageTextToText, AutoTokenizer

NUM_TOKENS = 1024


def padded_hidden_states(folder: Path, prompts: Sequence[str]) -> list[Tensor]:
    """Return the hidden states [N, D, L] of each prompt's own tokens, from a Gemma 3 or 4 folder, in float32."""
    tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
    whole = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32)
    # The tokenizer of Gemma 4 leaves the first token out.
    adds_first = tokenizer("")["input_ids"] == [tokenizer.bos_token_id]
    states = []
    for prompt in prompts:
        text = prompt if adds_first else tokenizer.bos_token + prompt
        padded = tokenizer(text, padding="max_length", max_length=NUM_TOKENS, return_tensors="pt")
        with torch.no_grad():
            hidden = whole(**padded, output_hidden_states=True).hidden_states
        states.append(torch.stack(hidden, dim=-1)[0, -int(padded["attention_mask"].sum()) :])
    return states
