"""Guidance: which forwards a step needs, and how their estimates become one.

The passes of a step are values. A `PassRunner` runs them, one after another, as one batch or spread over ranks, to the
same result. Each stream has scales of its own. Everything happens on estimates of the clean clip, float32 in token
layout [B, T, C].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from torch import Tensor

from podium.jobs import GuidanceSpec
from podium.models.transformer.inputs import Perturbations
from podium.pipelines.samplers import Denoised


class PassKind(StrEnum):
    """What a forward is for: a closed set.

    CONDITIONED: the prompt. UNCONDITIONED: the negative prompt. PERTURBED: the prompt, self-attention replaced by its
    values in some blocks. ISOLATED: the prompt, the streams not attending to each other.
    """

    CONDITIONED = "conditioned"
    UNCONDITIONED = "unconditioned"
    PERTURBED = "perturbed"
    ISOLATED = "isolated"


class ContextChoice(StrEnum):
    """Which text a pass attends: a closed set."""

    PROMPT = "prompt"
    NEGATIVE = "negative"


@dataclass(frozen=True, slots=True)
class Pass:
    """One forward of a step, for one sample.

    Args:
        kind: What it is for; no two passes of a step are of one kind.
        context: The text it attends.
        perturbations: Of one sample.
    """

    kind: PassKind
    context: ContextChoice = ContextChoice.PROMPT
    perturbations: Perturbations = field(default_factory=Perturbations)


CONDITIONED = Pass(PassKind.CONDITIONED)
_UNCONDITIONED = Pass(PassKind.UNCONDITIONED, ContextChoice.NEGATIVE)
_ISOLATED = Pass(PassKind.ISOLATED, perturbations=Perturbations(isolated=(True,)))


class PassForward(Protocol):
    """Runs passes at the step's state and noise level, as one batch of this rank's transformer."""

    @property
    def like(self) -> Denoised:
        """Return tensors shaped as every pass's estimates are: what a rank receives into."""
        ...

    def is_cold(self, passes: Sequence[Pass]) -> bool:
        """Say whether a forward of these passes, as one batch, would compile first."""
        ...

    def __call__(self, passes: Sequence[Pass]) -> list[Denoised]:
        """Return the estimates of one or more passes, in their order."""
        ...


class PassRunner(Protocol):
    """Runs the passes of a step; on several ranks all of them call it with the same passes."""

    def is_cold(self, forward: PassForward, passes: Sequence[Pass]) -> bool:
        """Say whether running these passes would compile first; alike on all ranks."""
        ...

    def __call__(self, forward: PassForward, passes: Sequence[Pass]) -> list[Denoised]:
        """Return the estimates of all passes, in their order, on every rank."""
        ...


@dataclass(frozen=True, slots=True)
class OneAfterAnother:
    """Runs a forward for each pass: the least memory."""

    def is_cold(self, forward: PassForward, passes: Sequence[Pass]) -> bool:
        """Say whether any pass alone would compile first: they are of one shape, and perturbed in unlike ways."""
        return any(forward.is_cold([one]) for one in passes)

    def __call__(self, forward: PassForward, passes: Sequence[Pass]) -> list[Denoised]:
        """Return the estimates of all passes."""
        return [forward([one])[0] for one in passes]


@dataclass(frozen=True, slots=True)
class OneBatch:
    """Runs all passes as one forward: the fewest kernels and exchanges, and as many activations as passes."""

    def is_cold(self, forward: PassForward, passes: Sequence[Pass]) -> bool:
        """Say whether the batch would compile first."""
        return forward.is_cold(passes)

    def __call__(self, forward: PassForward, passes: Sequence[Pass]) -> list[Denoised]:
        """Return the estimates of all passes."""
        return forward(passes)


@dataclass(frozen=True, slots=True)
class Guidance:
    """How both streams are guided; the default guides neither, with one forward a step.

    Args:
        video, audio: Of each stream; `stg_blocks` are named where `stg` is not 0.

    Raises:
        ValueError: A stream is perturbed in no block.
    """

    video: GuidanceSpec = field(default_factory=GuidanceSpec)
    audio: GuidanceSpec = field(default_factory=GuidanceSpec)

    def __post_init__(self) -> None:
        if any(spec.stg != 0 and not spec.stg_blocks for spec in (self.video, self.audio)):
            raise ValueError("a stream that is perturbed needs blocks to perturb it in")

    @property
    def needs_negative(self) -> bool:
        """Return whether any pass attends the negative prompt."""
        return self.video.cfg != 1 or self.audio.cfg != 1

    def passes_at(self, step: int) -> tuple[Pass, ...]:
        """Return the forwards that step `step` (from 0) needs; none where both streams skip it."""
        active = self._active(step)
        if not active:
            return ()
        passes = [CONDITIONED]
        if any(spec.cfg != 1 for spec in active):
            passes.append(_UNCONDITIONED)
        if any(spec.stg != 0 for spec in active):
            passes.append(self._perturbed(step))
        if any(spec.modality != 1 for spec in active):
            passes.append(_ISOLATED)
        return tuple(passes)

    def combine(self, step: int, estimates: Mapping[PassKind, Denoised], last: Denoised | None) -> Denoised:
        """Return the guided estimates of step `step`.

        Args:
            step: From 0.
            estimates: What the step's passes gave.
            last: The result of the forward before, which stays where a stream skips; None at the first.
        """
        video = self.video, {kind: both.video for kind, both in estimates.items()}, last.video if last else None
        audio = self.audio, {kind: both.audio for kind, both in estimates.items()}, last.audio if last else None
        return Denoised(_combine(step, *video), _combine(step, *audio))

    def _active(self, step: int) -> list[GuidanceSpec]:
        return [spec for spec in (self.video, self.audio) if _is_active(spec, step)]

    def _perturbed(self, step: int) -> Pass:
        video, audio = (_is_active(spec, step) and spec.stg != 0 for spec in (self.video, self.audio))
        perturbations = Perturbations(
            blocks=frozenset(self.video.stg_blocks),
            audio_blocks=frozenset(self.audio.stg_blocks),
            video=(video,),
            audio=(audio,),
        )
        return Pass(PassKind.PERTURBED, perturbations=perturbations)


def guide(spec: GuidanceSpec, estimates: Mapping[PassKind, Tensor]) -> Tensor:
    """Return one stream's guided estimate; estimates that a scale of no effect would weigh need not be there."""
    conditioned = estimates[PassKind.CONDITIONED]
    weights = (
        (PassKind.UNCONDITIONED, spec.cfg - 1),
        (PassKind.PERTURBED, spec.stg),
        (PassKind.ISOLATED, spec.modality - 1),
    )
    pulls = [weight * (conditioned - estimates[kind]) for kind, weight in weights if weight != 0]
    if not pulls:
        return conditioned
    guided = conditioned + sum(pulls[1:], start=pulls[0])
    if spec.rescale == 0:
        return guided
    # The spread over the whole tensor, conditioning tokens too.
    return guided * (spec.rescale * conditioned.std() / guided.std() + 1 - spec.rescale)


def stack_perturbations(passes: Sequence[Pass]) -> Perturbations:
    """Return the perturbations of a batch that runs one pass a sample.

    Raises:
        ValueError: Two passes are perturbed in unlike blocks, which one forward cannot do.
    """
    each = [one.perturbations for one in passes]
    return Perturbations(
        blocks=_shared_blocks([p.blocks for p in each if any(p.video)]),
        audio_blocks=_shared_blocks([_audio_blocks(p) for p in each if any(p.audio)]),
        video=tuple(any(p.video) for p in each),
        audio=tuple(any(p.audio) for p in each),
        isolated=tuple(any(p.isolated) for p in each),
    )


def _shared_blocks(of_passes: Sequence[frozenset[int]]) -> frozenset[int]:
    if len(set(of_passes)) > 1:
        raise ValueError("passes of one batch are perturbed in unlike blocks")
    return of_passes[0] if of_passes else frozenset()


def _audio_blocks(perturbations: Perturbations) -> frozenset[int]:
    return perturbations.blocks if perturbations.audio_blocks is None else perturbations.audio_blocks


def _combine(step: int, spec: GuidanceSpec, estimates: Mapping[PassKind, Tensor], last: Tensor | None) -> Tensor:
    return last if last is not None and not _is_active(spec, step) else guide(spec, estimates)


def _is_active(spec: GuidanceSpec, step: int) -> bool:
    return step % (spec.skip_step + 1) == 0
