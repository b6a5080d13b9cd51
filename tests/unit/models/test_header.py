"""Headers of safetensors files: what is read, and what is refused in which words."""

from __future__ import annotations

import json
import os
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from podium.models.errors import CheckpointError, CheckpointReason
from podium.models.header import MAX_HEADER_BYTES, TensorInfo, read_header

ENTRY: dict[str, Any] = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


def write_raw(path: Path, header: object, data: bytes = b"") -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def refusal(path: Path) -> CheckpointError:
    with pytest.raises(CheckpointError) as caught:
        read_header(path)
    return caught.value


def test_a_header_tells_metadata_dtypes_shapes_and_where_the_bytes_are(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    values = {"b": np.arange(6, dtype=np.float32).reshape(2, 3), "a": np.arange(3, dtype=np.int8), "c": np.float16(5)}
    save_file({name: np.asarray(value) for name, value in values.items()}, path, metadata={"model_version": "2.3"})

    header = read_header(path)

    assert header.metadata == {"model_version": "2.3"}
    assert {name: (info.dtype, info.shape) for name, info in header.tensors.items()} == {
        "a": ("I8", (3,)),
        "b": ("F32", (2, 3)),
        "c": ("F16", ()),
    }
    assert header.file_bytes == path.stat().st_size == header.data_start + header.data_bytes
    info = header.tensors["b"]
    start = header.data_start + info.start
    assert path.read_bytes()[start : start + info.num_bytes] == values["b"].tobytes()
    assert info.num_elements == 6


def test_a_file_without_tensors_or_metadata_is_sound(tmp_path: Path) -> None:
    header = read_header(write_raw(tmp_path / "a", {}))
    assert (dict(header.tensors), dict(header.metadata), header.data_bytes) == ({}, {}, 0)


def test_a_truncated_download_is_refused_with_the_bytes_that_are_missing(tmp_path: Path) -> None:
    path = write_raw(tmp_path / "clip.safetensors", {"x": ENTRY}, b"\0" * 5)
    error = refusal(path)
    assert error.reason is CheckpointReason.TRUNCATED
    assert f"3 of {path.stat().st_size + 3} bytes are missing" in error.message
    assert error.path == path


def test_the_header_of_a_truncated_file_can_be_had_on_request(tmp_path: Path) -> None:
    header = read_header(write_raw(tmp_path / "a", {"x": ENTRY}, b"\0" * 5), allow_truncated=True)
    assert (header.missing_bytes, header.tensors["x"]) == (3, TensorInfo("F32", (2,), 0, 8))


def test_a_file_cut_off_inside_its_header_is_truncated(tmp_path: Path) -> None:
    path = tmp_path / "a"
    whole = write_raw(path, {"x": ENTRY}, b"\0" * 8).read_bytes()
    path.write_bytes(whole[:20])
    error = refusal(path)
    assert error.reason is CheckpointReason.TRUNCATED
    assert f"at least {len(whole) - 8 - 20} bytes" in error.message


@pytest.mark.parametrize(
    ("content", "reason", "words"),
    [
        (b"", CheckpointReason.EMPTY, "empty"),
        (b"GGUF\x03\0\0\0" + b"\x7b" + b"\0" * 99, CheckpointReason.GGUF, "GGUF"),
        (b"PK\x03\x04\0\0\x08\x08\0\0archive/data.pkl", CheckpointReason.PICKLE, "pickled"),
        (pickle.dumps({"state_dict": list(range(99))}), CheckpointReason.PICKLE, "pickled"),
        (b"\n<!DOCTYPE html><html><body>Sign in", CheckpointReason.WEB_PAGE, "web page"),
        (b"version https://git-lfs.example/spec/v1\noid sha256:00", CheckpointReason.LFS_POINTER, "git lfs pull"),
        (b"hello", CheckpointReason.NOT_SAFETENSORS, "no safetensors"),
        (b'{"error": "not found"}', CheckpointReason.NOT_SAFETENSORS, "no safetensors"),
        (b"\xff" * 64, CheckpointReason.NOT_SAFETENSORS, "no safetensors"),
    ],
)
def test_other_kinds_of_file_are_named(tmp_path: Path, content: bytes, reason: CheckpointReason, words: str) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    error = refusal(path)
    assert error.reason is reason
    assert words in error.message
    assert "“model.safetensors”" in error.message


def test_a_folder_in_a_files_place_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path).reason is CheckpointReason.IS_FOLDER


@pytest.mark.parametrize("path", ["gone.safetensors", "a-file/inside"])
def test_a_missing_file_is_refused_with_its_whole_path(tmp_path: Path, path: str) -> None:
    (tmp_path / "a-file").write_bytes(b"x")
    error = refusal(tmp_path / path)
    assert error.reason is CheckpointReason.MISSING
    assert str(tmp_path / path) in error.message


def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Permissions do not bind the superuser, as whom tests may run.
    path = write_raw(tmp_path / "a", {})

    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    error = refusal(path)
    assert error.reason is CheckpointReason.UNREADABLE
    assert "permissions" in error.message


def test_a_path_with_a_null_character_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "a\0b").reason in {CheckpointReason.UNREADABLE, CheckpointReason.MISSING}


@pytest.mark.parametrize(
    "header",
    [
        b"{not json",
        b'{"x": "\xff"}',
        b"{}" + b"]",
        {"x": 3},
        {"x": {"dtype": "F32"}},
        {"x": ENTRY | {"dtype": "F7"}},
        {"x": ENTRY | {"dtype": 3}},
        {"x": ENTRY | {"shape": [-2]}},
        {"x": ENTRY | {"shape": [True, 2]}},
        {"x": ENTRY | {"shape": "2"}},
        {"x": ENTRY | {"shape": [3]}},
        {"x": ENTRY | {"data_offsets": [0]}},
        {"x": ENTRY | {"data_offsets": [8, 0]}},
        {"x": ENTRY | {"data_offsets": [0.0, 8.0]}},
        {"x": ENTRY | {"data_offsets": [4, 12]}},
        {"x": ENTRY, "y": ENTRY},
        {"x": ENTRY, "y": ENTRY | {"data_offsets": [4, 12]}},
        {"x": ENTRY, "y": ENTRY | {"data_offsets": [12, 20]}},
        {"__metadata__": {"a": 3}},
        {"__metadata__": []},
        b'{"x": {}, "x": {}}',
        b'{"x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"x": {"dtype": "U8", "shape": [' + b"9" * 5000 + b'], "data_offsets": [0, 1]}}',
    ],
)
def test_a_header_that_contradicts_itself_is_damaged(tmp_path: Path, header: object) -> None:
    error = refusal(write_raw(tmp_path / "a", header, b"\0" * 8))
    assert error.reason is CheckpointReason.CORRUPT
    assert "damaged" in error.message


def test_bytes_after_the_last_tensor_are_damage(tmp_path: Path) -> None:
    assert refusal(write_raw(tmp_path / "a", {"x": ENTRY}, b"\0" * 9)).reason is CheckpointReason.CORRUPT


def test_a_garbage_header_length_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(struct.pack("<Q", MAX_HEADER_BYTES + 1) + b'{"a": 1}')
    assert refusal(path).reason is CheckpointReason.NOT_SAFETENSORS


def test_the_error_survives_the_way_to_another_process(tmp_path: Path) -> None:
    error = refusal(tmp_path / "gone")
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.path, copy.reason) == (CheckpointError, str(error), error.path, error.reason)


names = st.text("ab\x00é", max_size=3)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | names,
    lambda children: st.lists(children, max_size=3) | st.dictionaries(names, children, max_size=3),
    max_leaves=8,
)
offsets = st.integers(-1, 20)
entries = st.fixed_dictionaries(
    {},
    optional={
        "dtype": st.sampled_from(["F32", "BF16", "U8", "F4", "X"]) | json_values,
        "shape": st.lists(st.integers(-1, 5), max_size=3) | json_values,
        "data_offsets": st.lists(offsets, min_size=2, max_size=2) | json_values,
    },
)
headers = st.dictionaries(st.sampled_from(["a", "b", "__metadata__"]), entries | json_values, max_size=3)
framed = st.builds(
    lambda header, data: struct.pack("<Q", len(text := json.dumps(header).encode())) + text + data,
    headers,
    st.binary(max_size=24),
)
framed_noise = st.builds(lambda text: struct.pack("<Q", len(text)) + text, st.binary(max_size=64))


@settings(max_examples=80)
@given(content=st.binary(max_size=96) | framed | framed_noise)
def test_no_bytes_whatever_raise_anything_but_a_checkpoint_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "fuzz"
    path.write_bytes(content)
    try:
        header = read_header(path)
    except CheckpointError:
        return
    spans = [(info.start, info.end) for info in header.tensors.values()]
    assert sum(end - start for start, end in spans) + header.data_start == len(content)


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_pipe_or_a_device_is_not_waited_for(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "pipe.safetensors" if kind == "pipe" else Path("/dev/zero")
    if kind == "pipe":
        os.mkfifo(path)
    with pytest.raises(CheckpointError, match="is a pipe or a device, and no file"):
        read_header(path)
