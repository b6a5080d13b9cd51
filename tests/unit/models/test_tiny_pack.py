"""The tiny pack: its numbers are fixed, and its formats are those of the libraries."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import load_file

from tests.tiny_pack import pack_digests, write_tiny_pack
from tests.tiny_pack.number_formats import e4m3_bits, e4m3_values, rounded_to_bfloat16
from tests.tiny_pack.writing import stored, stored_bytes, write_safetensors

DIGESTS = Path(__file__).parents[2] / "data" / "PACK_DIGESTS.txt"


DIFFUSION_VAE = "ltx-2.5/video_vae_diffusion.safetensors"
SMALL = ("spatial-upscaler-x2", "temporal-upscaler-x2")
FEW = settings(max_examples=40)


def expected_digests() -> dict[str, str]:
    lines = (line.split() for line in DIGESTS.read_text(encoding="utf-8").splitlines())
    return {name: digest for digest, name in lines}


def test_the_numbers_of_seed_0_are_those_the_golden_tensors_were_made_with(tiny_pack: Path) -> None:
    assert len(expected_digests()) == 34
    digests = pack_digests(tiny_pack)
    assert {name: digest for name, digest in digests.items() if name != DIFFUSION_VAE} == expected_digests()


def test_the_file_that_no_golden_tensor_was_made_with_has_numbers_of_its_own_that_stay(tiny_pack: Path) -> None:
    assert pack_digests(tiny_pack / "ltx-2.5")[Path(DIFFUSION_VAE).name] == "590a99ba2f08abdd"


def test_the_library_reads_what_we_write(tmp_path: Path) -> None:
    values = {"wide": np.arange(6, dtype=np.float32).reshape(2, 3), "scalar": np.asarray(2.5, np.float32)}
    tensors = {name: stored(value, "float32") for name, value in values.items()}
    path = tmp_path / "a.safetensors"
    write_safetensors(path, tensors | {"bytes": stored_bytes(b"abc")}, {"format": "pt", "config": {"a": [1, None]}})

    read = load_file(path)
    assert set(read) == {"wide", "scalar", "bytes"}
    assert all(np.array_equal(read[name], value) for name, value in values.items())
    assert read["bytes"].tobytes() == b"abc"
    with safe_open(path, "np") as file:
        assert file.metadata() == {"format": "pt", "config": '{"a": [1, null]}'}


finite_floats = st.floats(width=32, allow_nan=False, allow_infinity=False)


@FEW
@given(st.lists(finite_floats.filter(lambda value: abs(value) < 3e38), min_size=1, max_size=20))
def test_bfloat16_rounds_as_torch_does(numbers: list[float]) -> None:
    values = np.asarray(numbers, np.float32)
    expected = torch.from_numpy(values).to(torch.bfloat16).to(torch.float32).numpy()
    assert np.array_equal(rounded_to_bfloat16(values), expected)


@FEW
@given(st.lists(st.floats(-448, 448, width=32), min_size=1, max_size=20))
def test_float8_rounds_as_torch_does(numbers: list[float]) -> None:
    values = np.asarray(numbers, np.float32)
    expected = torch.from_numpy(values).to(torch.float8_e4m3fn)
    assert np.array_equal(e4m3_bits(values), expected.view(torch.uint8).numpy())
    assert np.array_equal(e4m3_values(e4m3_bits(values)), expected.to(torch.float32).numpy())


def test_every_tie_between_two_float8_numbers_goes_to_the_even_one() -> None:
    codes = np.arange(126, dtype=np.uint8)
    ties = (e4m3_values(codes) + e4m3_values(codes + np.uint8(1))) / 2
    assert np.array_equal(e4m3_bits(ties), codes + codes % 2)


def test_both_stored_dtypes_hold_the_same_numbers(tiny_pack: Path, tmp_path: Path) -> None:
    write_tiny_pack(tmp_path, dtype="bfloat16", parts=["spatial-upscaler-x2"])
    name = "spatial-upscaler-x2.safetensors"
    assert pack_digests(tmp_path) == {name: expected_digests()[name]}
    assert (tmp_path / name).stat().st_size < 0.7 * (tiny_pack / name).stat().st_size


def test_another_seed_makes_other_numbers(tmp_path: Path) -> None:
    write_tiny_pack(tmp_path, seed=1, parts=["spatial-upscaler-x2"])
    name = "spatial-upscaler-x2.safetensors"
    assert pack_digests(tmp_path)[name] != expected_digests()[name]


def test_progress_names_each_part_in_turn(tmp_path: Path) -> None:
    seen: list[str] = []
    write_tiny_pack(tmp_path, parts=SMALL, progress=seen.append)
    assert seen == list(SMALL)


def test_a_part_that_does_not_exist_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="ltx-9"):
        write_tiny_pack(tmp_path / "new", parts=["temporal-upscaler-x2", "ltx-9"])
    assert not (tmp_path / "new").exists()
