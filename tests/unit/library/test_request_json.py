"""Requests as JSON: nothing of them is lost, and what a newer Podium wrote is not guessed at."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given

from podium.jobs import FileIdentity, GenerationRequest
from podium.library.request_json import (
    finished_from_dict,
    finished_to_dict,
    identity_from_dict,
    identity_to_dict,
    request_from_dict,
    request_to_dict,
    to_text,
)

from tests.fakes.requests import identities, make_clip, make_request, requests


@given(requests)
def test_a_request_comes_back_as_it_was(request: GenerationRequest) -> None:
    text = to_text(request_to_dict(request))
    assert text.isascii()
    assert request_from_dict(json.loads(text)) == request


@given(identities)
def test_a_files_identity_comes_back_as_it_was(identity: FileIdentity) -> None:
    assert identity_from_dict(json.loads(to_text(identity_to_dict(identity)))) == identity


def test_every_field_of_a_request_is_kept() -> None:
    names = {field.name for field in fields(GenerationRequest)}
    assert set(request_to_dict(make_request())) - {"version"} == names


def test_a_finished_clip_comes_back_as_it_was() -> None:
    clip = make_clip(Path("/clips/ünïcode 狐.mp4"))
    assert finished_from_dict(json.loads(to_text(finished_to_dict(clip)))) == clip


@pytest.mark.parametrize("change", [{"version": 2}, {"version": None}, {"clip": None}, {"pipeline": "warp"}])
def test_what_cannot_be_read_is_an_error_and_no_guess(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"request|pipeline|warp|version"):
        request_from_dict({**request_to_dict(make_request()), **change})
