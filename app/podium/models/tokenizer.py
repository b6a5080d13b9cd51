"""Prompts to Gemma's token ids, without torch: the window counts tokens with it.

The rule a caller must know: a prompt is stripped of outer white space, and the beginning-of-sequence token comes first
and counts. Nothing is cut off here; `MAX_PROMPT_TOKENS` is for the caller to hold prompts against.
"""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path

from tokenizers import Tokenizer

from podium.models.errors import CheckpointError, CheckpointReason

MAX_PROMPT_TOKENS = 1024
"""Text tokens the model was trained with; a prompt may fill all of them. Source: LTX-2's released pipelines."""

_DEFAULT_BOS = "<bos>"


class PromptTokenizer:
    """The tokenizer of a Gemma folder; its file (25 MB) is read at the first use.

    Args:
        gemma_root: The folder with `tokenizer.json`.
    """

    def __init__(self, gemma_root: Path) -> None:
        self.gemma_root = gemma_root

    def count(self, prompt: str) -> int:
        """Return the number of tokens of a prompt, the beginning-of-sequence token included.

        Raises:
            CheckpointError: The folder's tokenizer cannot be read.
        """
        return len(self.encode(prompt))

    def encode(self, prompt: str) -> list[int]:
        """Return the token ids of a prompt, beginning-of-sequence first, neither padded nor cut.

        Raises:
            CheckpointError: The folder's tokenizer cannot be read.
        """
        # Text pasted into a window may hold half a surrogate pair, which has no UTF-8 form.
        text = prompt.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        ids: list[int] = self._tokenizer.encode(text.strip()).ids
        return ids if ids[:1] == [self._bos_id] else [self._bos_id, *ids]

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        path = self.gemma_root / "tokenizer.json"
        try:
            tokenizer = Tokenizer.from_str(path.read_text(encoding="utf-8"))
        except Exception as error:  # the Rust side raises Exception itself for a file that is no tokenizer
            raise _unreadable(path, error) from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    @cached_property
    def _bos_id(self) -> int:
        path = self.gemma_root / "tokenizer_config.json"
        try:
            named = json.loads(path.read_text(encoding="utf-8")).get("bos_token") if path.exists() else None
        except (OSError, ValueError, AttributeError) as error:
            raise _unreadable(path, error) from error
        token = named.get("content") if isinstance(named, dict) else named
        bos_id = self._tokenizer.token_to_id(token or _DEFAULT_BOS)
        if bos_id is None:
            raise CheckpointError(
                f"The tokenizer in “{self.gemma_root.name}” has no beginning-of-sequence token; "
                "the text encoder's folder as Google publishes it is needed.",
                path=self.gemma_root,
                reason=CheckpointReason.WRONG_KIND,
            )
        return bos_id


def _unreadable(path: Path, error: Exception) -> CheckpointError:
    return CheckpointError(
        f"The text encoder's tokenizer cannot be read: “{path.name}” in “{path.parent.name}” is missing or damaged.",
        path=path,
        reason=CheckpointReason.UNREADABLE,
        details=f"{path}: {error}",
    )
