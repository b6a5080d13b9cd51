"""Which generation of LTX-2 a file belongs to."""

from __future__ import annotations

import re
from collections.abc import Mapping

from podium.models.probe.contents import Contents
from podium.models.probe.report import Generation, Slot

# Oldest first; a version belongs to the newest that is not newer than itself.
_FIRST_VERSIONS = (
    ((2, 0), Generation.LTX_2_0),
    ((2, 3), Generation.LTX_2_3),
    ((2, 5), Generation.LTX_2_5),
)
_LEADING_DIGITS = re.compile(r"[0-9]{1,9}")
_AUDIO_PROJECTION = "text_embedding_projection.audio_aggregate_embed.weight"
_DIFFUSION_DECODER = ("vae.decoder.conv_in_x_t.weight", "decoder.conv_in_x_t.weight")


def parse_model_version(text: str) -> tuple[int, ...]:
    """Return the leading numbers of a checkpoint's `model_version`: (2, 3) for "2.3.rc1" and "2.3-rc2".

    Empty where the text begins with no number.
    """
    numbers: list[int] = []
    for part in text.strip().replace("-", ".").split("."):
        digits = _LEADING_DIGITS.match(part)
        if digits is None:
            break
        numbers.append(int(digits.group()))
        if digits.end() != len(part):
            break
    return tuple(numbers)


def generation_of_version(version: tuple[int, ...]) -> Generation:
    """Return the generation of a parsed version; a newer one than any known takes the newest known."""
    fitting = [generation for first, generation in _FIRST_VERSIONS if first <= version]
    return fitting[-1] if fitting else Generation.LTX_2_0


def detect_generation(contents: Contents, metadata: Mapping[str, str]) -> Generation | None:
    """Return a file's generation: by its metadata, else by its tensors; None where neither tells."""
    version = parse_model_version(metadata.get("model_version", ""))
    return generation_of_version(version) if version else generation_of_tensors(contents)


def generation_of_tensors(contents: Contents) -> Generation | None:
    """Return the generation that a file's tensors tell; None for those that all generations share."""
    if has_keyframe_embedding(contents) or has_diffusion_decoder(contents):
        return Generation.LTX_2_5
    if contents.has(Slot.TEXT_PROJECTION) and contents.has(Slot.TEXT_ENCODER):
        return Generation.LTX_2_5
    if contents.has(Slot.DURATION_HEAD) and not contents.has(Slot.TRANSFORMER):
        return Generation.LTX_2_5
    if _AUDIO_PROJECTION in contents.tensors or _has_prompt_tables(contents):
        return Generation.LTX_2_3
    if contents.has(Slot.TRANSFORMER) or contents.has(Slot.TEXT_PROJECTION):
        return Generation.LTX_2_0
    return None


def has_keyframe_embedding(contents: Contents) -> bool:
    """Tell whether a file's transformer has the learned marker of key frames."""
    return contents.transformer_tensor("keyframes_abs_pos_embedding") is not None


def has_diffusion_decoder(contents: Contents) -> bool:
    """Tell whether a file's video decoder is the diffusion decoder of 2.5."""
    return any(name in contents.tensors for name in _DIFFUSION_DECODER)


def _has_prompt_tables(contents: Contents) -> bool:
    return any(contents.transformer_tensor(f"transformer_blocks.{block}.prompt_scale_shift_table") for block in (0, 1))
