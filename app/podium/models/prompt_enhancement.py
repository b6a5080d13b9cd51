"""Prompts written out in more detail by the text encoder's own language model.

The rule a caller must know: writing is a generator that yields after every token, so that whoever runs it can stop
between two of them, and returns the text. The same seed, prompt and weights give the same words.
Shapes: N tokens so far, V vocabulary, D hidden width.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Generator, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from jinja2 import TemplateError
from numpy.typing import NDArray
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel
from transformers.utils.chat_template_utils import render_jinja_template

from podium.assets import read_text
from podium.errors import JobRefusedError
from podium.models.builder import SingleGPUModelBuilder
from podium.models.gemma import GemmaSight, embedding_of, image_tokens
from podium.models.tokenizer import MAX_PROMPT_TOKENS, PromptTokenizer

Picture = NDArray[np.uint8]
"""A picture, uint8 [height, width, 3], sRGB."""

MAX_NEW_TOKENS = 512
"""Most tokens that are written: half of what the video model reads."""

_NOT_SEEN = "The picture was not looked at, since this text encoder reads words only."
_SENTENCE_ENDS = ".!?\u3002\uff01\uff1f"
_MASKED = float("-inf")


@dataclass(frozen=True, slots=True)
class WritingRequest:
    """What is to be written out.

    Args:
        prompt: The artist's words; not empty, at most 1024 tokens.
        seed: 0 to 2**64 - 1; decides the words.
        read_picture: Reads the picture that the clip starts from; called only where it can be looked at.
    """

    prompt: str
    seed: int = 0
    read_picture: Callable[[], Picture] | None = None


@dataclass(frozen=True, slots=True)
class WrittenPrompt:
    """The prompt written out, and a sentence on what was left aside; empty if nothing was."""

    prompt: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is drawn.

    Args:
        temperature: Above 0; 0 takes the likeliest token always.
        top_k: Draw among this many likeliest tokens, at least 1.
        top_p: And among those that together have this share of probability, above 0 to 1.
        max_new_tokens: Most tokens that are written, at least 1.

    Source of top_k and top_p: the generation_config.json that Gemma 3 is published with.
    """

    temperature: float = 0.7
    top_k: int = 64
    top_p: float = 0.95
    max_new_tokens: int = MAX_NEW_TOKENS


@runtime_checkable
class PromptWriter(Protocol):
    """Writes prompts out in more detail; on a fleet all ranks call it and get the same."""

    def write(self, request: WritingRequest) -> Generator[int, None, WrittenPrompt]:
        """Yield each token as it is written; return the whole text."""
        ...


def enhance(writer: PromptWriter, prompt: str, seed: int = 0, picture: Picture | None = None) -> str:
    """Return a prompt written out in more detail.

    Raises:
        JobRefusedError: The writer cannot write, or the prompt is empty or too long.
    """
    writing = writer.write(WritingRequest(prompt, seed, None if picture is None else lambda: picture))
    while True:
        try:
            next(writing)
        except StopIteration as end:
            written: WrittenPrompt = end.value
            return written.prompt


class GemmaWriter:
    """Writes with a Gemma whose output head is its embedding.

    Args:
        model: The language model, without a head.
        tokenizer: Of the same files, which also say how the model is talked to.
        find_sight: Returns the builder of its eyes, or None if it has none; called when there is a picture.
        sampling: How tokens are drawn.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PromptTokenizer,
        find_sight: Callable[[], SingleGPUModelBuilder[GemmaSight] | None] = lambda: None,
        sampling: Sampling | None = None,
    ) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._find_sight = find_sight
        self._sampling = sampling or Sampling()

    def write(self, request: WritingRequest) -> Generator[int, None, WrittenPrompt]:
        """Yield each token as it is written; return the whole text.

        Raises:
            JobRefusedError: This Gemma cannot write, or the prompt is empty or too long.
            CheckpointError: A file of the text encoder cannot be read.
            MediaError: The picture cannot be read.
        """
        template = self._check(request)
        seen, note = self._look(request)
        ids = self._chat_ids(template, request.prompt, has_picture=seen is not None)
        written: list[int] = []
        for token in self._tokens(_Decoder(self._model, self._prefill_masks(ids, seen)), ids, seen, request.seed):
            written.append(token)
            yield token
        return WrittenPrompt(self._text(written), note)

    def _check(self, request: WritingRequest) -> str:
        template = self._tokenizer.files.chat_template()
        is_tied = bool(self._config.tie_word_embeddings)
        if template is None or not is_tied:
            raise JobRefusedError(
                f"The text encoder “{self._tokenizer.gemma_root.name}” reads prompts and cannot write them. "
                "A Gemma folder as Google published it, with its chat template, can.",
                details="no chat template" if template is None else "tie_word_embeddings is false",
            )
        if not request.prompt.strip():
            raise JobRefusedError("There is no prompt to write out. Type a few words first.")
        num_tokens = self._tokenizer.count(request.prompt)
        if num_tokens > MAX_PROMPT_TOKENS:
            raise JobRefusedError(
                f"The prompt is too long: it has {num_tokens} tokens, and the model reads {MAX_PROMPT_TOKENS}. "
                "Please shorten it."
            )
        return template

    def _look(self, request: WritingRequest) -> tuple[Tensor | None, str]:
        """Return the picture's tokens [N, D], or None and a sentence if it cannot be looked at."""
        if request.read_picture is None:
            return None, ""
        builder = self._find_sight()
        if builder is None:
            return None, _NOT_SEEN
        weight = self._embedding
        sight = builder.build(weight.device, weight.dtype)
        with torch.inference_mode():
            return sight.look(request.read_picture()), ""

    def _chat_ids(self, template: str, prompt: str, *, has_picture: bool) -> list[int]:
        tokenizer = self._tokenizer
        system = read_text(f"prompts/enhance_{'image' if has_picture else 'text'}_to_video.txt")
        words = {"type": "text", "text": tokenizer.without_special_tokens(prompt).strip()}
        user = [{"type": "image"}, words] if has_picture else [words]
        messages = [
            {"role": "system", "content": [{"type": "text", "text": system}]},
            {"role": "user", "content": user},
        ]
        try:
            rendered: Any = render_jinja_template(
                conversations=[messages],
                chat_template=template,
                add_generation_prompt=True,
                bos_token=tokenizer.bos_token,
            )
        except (TemplateError, ValueError, TypeError) as error:
            raise tokenizer.files.refusal(f"chat template: {error}") from error
        # Releases of transformers return the chats alone, or with what they know of the assistant's parts.
        chats = rendered[0] if isinstance(rendered, tuple) else rendered
        (chat,) = chats
        return tokenizer.encode_chat(self._with_image_tokens(chat) if has_picture else chat)

    def _with_image_tokens(self, chat: str) -> str:
        """Put a picture's tokens where the template marks it. Source: Gemma 3's published processor."""
        begin, soft, end, num_tokens = image_tokens(self._tokenizer.files)
        names = [self._tokenizer.token(token_id) or "" for token_id in (begin, soft, end)]
        return chat.replace(names[0], f"\n\n{names[0]}{names[1] * num_tokens}{names[2]}\n\n")

    def _tokens(self, decoder: _Decoder, ids: list[int], seen: Tensor | None, seed: int) -> Iterator[int]:
        """Yield tokens until the model ends its turn, or has written as much as it may."""
        # A file may name tokens that this network does not have.
        ends = frozenset(end for end in self._tokenizer.files.end_token_ids() if 0 <= end < len(self._embedding))
        sampler = _Sampler(self._sampling, seed, frozenset(self._tokenizer.special_tokens) - ends, ends)
        hidden = decoder.step(self._embedded(ids, seen))
        num_written = 0
        while num_written < self._sampling.max_new_tokens:
            token = sampler.choose(self._logits(hidden), may_end=num_written > 0)
            if token in ends:
                return
            if num_written == 0 and not self._tokenizer.decode([token]).strip():
                # No text begins with white space, and one of nothing else would be none.
                sampler.forbid(token)
                continue
            yield token
            num_written += 1
            hidden = decoder.step(self._embedded([token], None))

    def _embedded(self, ids: list[int], seen: Tensor | None) -> Tensor:
        with torch.inference_mode():
            tokens = torch.tensor([ids], device=self._embedding.device)
            embedded: Tensor = embedding_of(self._model)(tokens)
            if seen is not None:
                embedded[tokens == image_tokens(self._tokenizer.files)[1]] = seen.to(embedded.dtype)
            return embedded

    def _prefill_masks(self, ids: list[int], seen: Tensor | None) -> dict[str, Tensor] | None:
        """Return masks by kind of layer in which a picture's tokens attend each other both ways; None without one."""
        if seen is None:
            return None
        device = self._embedding.device
        position = torch.arange(len(ids), device=device)
        is_image = torch.tensor(ids, device=device) == image_tokens(self._tokenizer.files)[1]
        distance = position[:, None] - position[None, :]
        may_see = (distance >= 0) | (is_image[:, None] & is_image[None, :])
        window = distance < self._config.sliding_window
        blank = torch.zeros((), device=device, dtype=self._embedding.dtype)
        masks = {"full_attention": may_see, "sliding_attention": may_see & window}
        return {kind: blank.expand(mask.shape).masked_fill(~mask, _MASKED)[None, None] for kind, mask in masks.items()}

    def _logits(self, hidden_D: Tensor) -> Tensor:
        """Return the logits [V], float32."""
        with torch.inference_mode():
            weight = self._embedding
            logits = (weight @ hidden_D.to(weight.device, weight.dtype)).float()
            cap: float | None = getattr(self._config, "final_logit_softcapping", None)
            return logits if cap is None else torch.tanh(logits / cap) * cap

    def _text(self, written: list[int]) -> str:
        text = self._tokenizer.decode(written).strip()
        if len(written) == self._sampling.max_new_tokens:
            # It was cut off: half a sentence would be taken for a wish.
            end = max(text.rfind(mark) for mark in _SENTENCE_ENDS)
            text = text[: end + 1] or text
        if not text:
            raise JobRefusedError("The language model wrote nothing. Try another seed, or other words.")
        return text

    @property
    def _config(self) -> Any:  # noqa: ANN401 - transformers' configurations are made at run time
        return self._model.config

    @property
    def _embedding(self) -> Tensor:
        return embedding_of(self._model).weight


class _Decoder:
    # A language model and what it remembers of the tokens so far.

    def __init__(self, model: PreTrainedModel, prefill_masks: dict[str, Tensor] | None) -> None:
        self._model = model
        self._masks = prefill_masks
        # transformers renamed the argument, and warns about the old name.
        parameters = inspect.signature(type(model).forward).parameters
        name = "cache" if "cache" in parameters else "past_key_values"
        self._memory = {name: DynamicCache(config=model.config)}

    def step(self, embedded_1ND: Tensor) -> Tensor:
        """Take tokens in and return the last one's hidden state [D]."""
        with torch.inference_mode():
            output = self._model(inputs_embeds=embedded_1ND, attention_mask=self._masks, use_cache=True, **self._memory)
        self._masks = None
        last: Tensor = output.last_hidden_state[0, -1]
        return last


class _Sampler:
    # Draws tokens from their likeliest, with one generator on the CPU, so that a seed means the same on every device.

    def __init__(self, sampling: Sampling, seed: int, never: Collection[int], ends: Collection[int]) -> None:
        self._sampling = sampling
        self._generator = torch.Generator().manual_seed(seed)
        self._never = torch.tensor(sorted(never), dtype=torch.long)
        self._ends = torch.tensor(sorted(ends), dtype=torch.long)

    def forbid(self, token: int) -> None:
        """Never draw this token again."""
        self._never = torch.cat([self._never, torch.tensor([token])])

    def choose(self, logits_V: Tensor, *, may_end: bool) -> int:
        """Draw the next token; not one that ends the text unless it `may_end`."""
        logits = logits_V.clone()
        logits[self._never.to(logits.device)] = _MASKED
        if not may_end:
            logits[self._ends.to(logits.device)] = _MASKED
        values, ids = (part.cpu() for part in logits.topk(min(self._sampling.top_k, len(logits))))
        if self._sampling.temperature == 0:
            return int(ids[0])
        shares = torch.softmax(values / self._sampling.temperature, dim=0)
        # The likeliest token stays always: nothing came before it.
        shares[shares.cumsum(dim=0) - shares >= self._sampling.top_p] = 0
        return int(ids[torch.multinomial(shares, 1, generator=self._generator)])
