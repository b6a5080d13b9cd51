"""Requests and clips for tests, and hypothesis strategies that fill every field of them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from hypothesis import strategies as st

from podium.geometry import ClipFormat
from podium.jobs import (
    BranchStrengths,
    ClipFinished,
    FileIdentity,
    GenerationRequest,
    GuidanceMode,
    GuidanceSpec,
    ImageSpec,
    LoraSpec,
    PipelineKind,
)

CLIP = ClipFormat(192, 256, 25, Fraction(24))


def make_request(prompt: str = "a fox", *, seed: int = 1, loras: tuple[LoraSpec, ...] = ()) -> GenerationRequest:
    return GenerationRequest(prompt, seed, CLIP, Path(f"/clips/{seed}.mp4"), loras=loras)


def make_clip(path: Path) -> ClipFinished:
    return ClipFinished(path, path.with_suffix(".json"), CLIP, 24_000, 1234)


_texts = st.text(max_size=30)
_floats = st.floats(allow_nan=False)
# As a name on a Linux disk may be: bytes that are no UTF-8 come as lone surrogates.
_paths = st.binary(min_size=1, max_size=12).map(
    lambda data: Path("/", data.replace(b"\0", b"").replace(b"/", b"").decode("utf-8", "surrogateescape") or "x")
)
_clips = st.builds(
    ClipFormat,
    st.integers(1, 10**5),
    st.integers(1, 10**5),
    st.integers(1, 10**4),
    st.fractions(min_value=Fraction(1), max_value=Fraction(120)),
)
_branches = st.builds(BranchStrengths, _floats, _floats, _floats, _floats)
_guidance = st.builds(
    GuidanceSpec,
    _floats,
    _floats,
    _floats,
    _floats,
    st.integers(0, 9),
    st.lists(st.integers(0, 47), max_size=3).map(tuple),
)
requests = st.builds(
    GenerationRequest,
    prompt=_texts,
    seed=st.integers(0, 2**64 - 1),
    clip=_clips,
    output_path=_paths,
    images=st.lists(
        st.builds(ImageSpec, _paths, st.integers(0, 999), _floats, st.none() | st.integers(0, 51)), max_size=2
    ).map(tuple),
    loras=st.lists(st.builds(LoraSpec, _paths, _floats, _branches), max_size=2).map(tuple),
    pipeline=st.sampled_from(PipelineKind),
    negative_prompt=_texts,
    num_inference_steps=st.none() | st.integers(1, 100),
    video_guidance=st.none() | _guidance,
    audio_guidance=st.none() | _guidance,
    distilled_lora_strengths=st.none() | st.tuples(_floats, _floats),
    generated_keyframes=st.integers(0, 9) | st.lists(st.integers(0, 99), max_size=3).map(tuple),
    stage_2_tiles=st.none() | st.tuples(st.integers(1, 8), st.integers(1, 8)),
    guidance_mode=st.sampled_from(GuidanceMode),
)
identities = st.builds(
    FileIdentity, _paths, st.integers(0, 2**40), st.integers(0, 2**62), st.text("0123456789abcdef", max_size=16)
)
