"""The JSON text that a clip carries."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.media.parameters import decode_parameters, encode_parameters, sidecar_path

KEYS = st.text().filter(lambda key: key != "podium")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYS.map(lambda key: key + "prompt"), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=30)
@given(st.dictionaries(KEYS.map(lambda key: key + "prompt"), VALUES, max_size=4))
def test_parameters_come_back_as_they_went_and_their_text_is_utf8(parameters: dict[str, object]) -> None:
    text = encode_parameters(parameters)
    text.encode("utf-8")
    assert decode_parameters(text) == {"podium": 1, **parameters}
    assert next(iter(json.loads(text))) == "podium"


@pytest.mark.parametrize(
    "value",
    [
        Path("ink.safetensors"),
        "/home/artist/ink.safetensors",
        r"C:\models\ink.safetensors",
        r"\\server\share\ink.safetensors",
        "file:///home/artist/ink.safetensors",
        float("nan"),
        float("inf"),
        b"bytes",
        {1: "number as key"},
        object(),
    ],
)
@pytest.mark.parametrize("depth", [0, 2])
def test_paths_and_what_json_cannot_hold_are_refused_at_any_depth(value: object, depth: int) -> None:
    with pytest.raises(ValueError, match="'lora' holds"):
        encode_parameters({"lora": value} if depth == 0 else {"loras": [{"lora": value}]})


@pytest.mark.parametrize(
    "value", ["ink.safetensors", "styles/ink.safetensors", "a / b", "", "sha256:00ff", "24000/1001"]
)
def test_names_hashes_and_rates_are_taken(value: str) -> None:
    assert json.loads(encode_parameters({"lora": value}))["lora"] == value


def test_a_prompt_may_begin_with_a_slash() -> None:
    assert (
        json.loads(encode_parameters({"negative_prompt": "/imagine nothing"}))["negative_prompt"] == "/imagine nothing"
    )


def test_the_mark_is_the_writers_own() -> None:
    with pytest.raises(ValueError, match="podium"):
        encode_parameters({"podium": 2})


@pytest.mark.parametrize("text", ["", "not json", "[]", "{}", '{"a": 1}', "[" * 100_000])
def test_text_that_podium_did_not_write_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no object with the key|Expecting value|nested too deeply"):
        decode_parameters(text)


def test_a_sidecar_has_the_clips_name_with_json_in_place_of_mp4() -> None:
    assert sidecar_path(Path("/clips/20261129T155531-123Z-fox.mp4")) == Path("/clips/20261129T155531-123Z-fox.json")
