"""Prompts to Gemma's token ids and back, without torch: the window counts tokens with it.

The rule a caller must know: a prompt is stripped of outer white space, and the beginning-of-sequence token comes first
and counts, whether the tokenizer's own file adds it (Gemma 3) or not (Gemma 4). Nothing is cut off here;
`MAX_PROMPT_TOKENS` is for the caller to hold prompts against.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from tokenizers import Tokenizer

from podium.models.errors import CheckpointError, CheckpointReason
from podium.models.gemma_files import TOKENIZER_CONFIG_NAME, TOKENIZER_NAME, GemmaFiles

MAX_PROMPT_TOKENS = 1024
"""Text tokens the model was trained with; a prompt may fill all of them. Source: LTX-2's released pipelines."""

_DEFAULT_BOS = "<bos>"


class PromptTokenizer:
    """The tokenizer of a text encoder; its file (25 MB) is read at the first use.

    Args:
        gemma_root: The folder with `tokenizer.json`, or a single text-encoder file that carries it.
    """

    def __init__(self, gemma_root: Path) -> None:
        self.gemma_root = gemma_root
        self.files = GemmaFiles(gemma_root)

    def count(self, prompt: str) -> int:
        """Return the number of tokens of a prompt, the beginning-of-sequence token included.

        Raises:
            CheckpointError: The tokenizer cannot be read.
        """
        return len(self.encode(prompt))

    def encode(self, prompt: str) -> list[int]:
        """Return the token ids of a prompt, beginning-of-sequence first, neither padded nor cut.

        Raises:
            CheckpointError: The tokenizer cannot be read.
        """
        ids: list[int] = self._tokenizer.encode(_sound(prompt).strip()).ids
        return self._with_bos(ids)

    def encode_chat(self, chat: str) -> list[int]:
        """Return the token ids of a rendered chat, in which special tokens stand by name and white space counts."""
        ids: list[int] = self._tokenizer.encode(_sound(chat), add_special_tokens=False).ids
        return self._with_bos(ids)

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of token ids; special tokens leave nothing."""
        text: str = self._tokenizer.decode(list(ids), skip_special_tokens=True)
        return text

    def token(self, token_id: int) -> str | None:
        """Return a token's name in the vocabulary; None if it has no such token."""
        name: str | None = self._tokenizer.id_to_token(token_id)
        return name

    def without_special_tokens(self, text: str) -> str:
        """Return a text without the names of special tokens, which would act as such in a chat."""
        for name in self.special_tokens.values():
            text = text.replace(name, "")
        return text

    @cached_property
    def bos_token(self) -> str:
        """Return the name of the beginning-of-sequence token."""
        try:
            data = self.files.read(TOKENIZER_CONFIG_NAME)
            named = json.loads(data).get("bos_token") if data is not None else None
        except (OSError, ValueError, AttributeError) as error:
            raise self._unreadable(TOKENIZER_CONFIG_NAME, error) from error
        name: str | None = named.get("content") if isinstance(named, dict) else named
        return name or _DEFAULT_BOS

    @cached_property
    def special_tokens(self) -> dict[int, str]:
        """Return the names of all special tokens, by id."""
        added = self._tokenizer.get_added_tokens_decoder()
        return {token_id: token.content for token_id, token in added.items() if token.special}

    def _with_bos(self, ids: list[int]) -> list[int]:
        return ids if ids[:1] == [self._bos_id] else [self._bos_id, *ids]

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        try:
            data = self.files.read(TOKENIZER_NAME)
            if data is None:
                raise FileNotFoundError(TOKENIZER_NAME)
            tokenizer = Tokenizer.from_str(data.decode("utf-8"))
        except CheckpointError:
            raise
        except Exception as error:  # the Rust side raises Exception itself for a file that is no tokenizer
            raise self._unreadable(TOKENIZER_NAME, error) from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    @cached_property
    def _bos_id(self) -> int:
        bos_id: int | None = self._tokenizer.token_to_id(self.bos_token)
        if bos_id is None:
            raise CheckpointError(
                f"The tokenizer in “{self.gemma_root.name}” has no beginning-of-sequence token; "
                "the text encoder as it was published is needed.",
                path=self.gemma_root,
                reason=CheckpointReason.WRONG_KIND,
            )
        return bos_id

    def _unreadable(self, name: str, error: Exception) -> CheckpointError:
        return CheckpointError(
            f"The text encoder's tokenizer cannot be read: “{name}” in “{self.gemma_root.name}” is missing or damaged.",
            path=self.gemma_root,
            reason=CheckpointReason.UNREADABLE,
            details=f"{self.gemma_root}, {name}: {error}",
        )


def _sound(text: str) -> str:
    # Text pasted into a window may hold half a surrogate pair, which has no UTF-8 form.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
