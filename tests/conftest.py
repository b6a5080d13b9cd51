"""Fixtures that every test can ask for, and the isolation that every test gets. Imports are made on demand."""

from __future__ import annotations

import importlib.util
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import torch

    from tests.tiny_pack import TinyPack

DATA_FOLDER = Path(__file__).parent / "data"

# Before anything loads torch: the networks are tiny, and threads that wait for a busy core cost them 20 times more.
os.environ["OMP_NUM_THREADS"] = "1"

_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE", "DIFFUSERS_OFFLINE", "DO_NOT_TRACK")
_PLACES = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_VIDEOS_DIR", "HF_HOME")


def pytest_configure() -> None:
    """Let properties take their time, for on a busy machine a single example may, and share a folder or a pack."""
    # A machine that is lent for its GPUs may lack it.
    if importlib.util.find_spec("hypothesis") is not None:
        from hypothesis import HealthCheck, settings

        kept_quiet = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
        settings.register_profile("unhurried", deadline=None, suppress_health_check=kept_quiet)
        settings.load_profile("unhurried")


@pytest.fixture(scope="session", autouse=True)
def _session_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep every test, and every process it starts, off the network and off the user's own folders."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # In a shell's background it is ignored, and by all that is started as well.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in _OFFLINE:
            patch.setenv(name, "1")
        for name in _PLACES:
            folder = home / name.lower()
            folder.mkdir()
            patch.setenv(name, str(folder))
        patch.setenv("TOKENIZERS_PARALLELISM", "false")
        yield


@pytest.fixture(scope="session")
def tiny_pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the whole tiny pack, seed 0, in float32. It is shared: no test changes it."""
    from tests.tiny_pack import write_tiny_pack

    folder = tmp_path_factory.mktemp("tiny-pack")
    write_tiny_pack(folder, dtype="float32")
    return folder


@pytest.fixture(scope="session")
def tiny_pack_2_0(tiny_pack: Path) -> TinyPack:
    """Return the model of 2.0 in the tiny pack."""
    from tests.tiny_pack import TinyPack

    return TinyPack(tiny_pack, "2.0")


@pytest.fixture(scope="session")
def tiny_pack_2_3(tiny_pack: Path) -> TinyPack:
    """Return the model of 2.3 in the tiny pack."""
    from tests.tiny_pack import TinyPack

    return TinyPack(tiny_pack)


@pytest.fixture(scope="session")
def tiny_pack_2_5(tiny_pack: Path) -> TinyPack:
    """Return the model of 2.5 in the tiny pack, in split files, with the convolutional video decoder."""
    from tests.tiny_pack import TinyPack

    return TinyPack(tiny_pack, "2.5")


@pytest.fixture(scope="session")
def tiny_pack_2_5_diffusion(tiny_pack: Path) -> TinyPack:
    """Return the model of 2.5 in the tiny pack, in split files, with the diffusion decoder."""
    from tests.tiny_pack import TinyPack

    return TinyPack(tiny_pack, "2.5", has_diffusion_decoder=True)


@pytest.fixture(scope="session")
def tiny_pack_fp8(tiny_pack: Path) -> TinyPack:
    """Return the model of 2.3 in the tiny pack whose inner blocks are in fp8 with scales."""
    from tests.tiny_pack import TinyPack

    return TinyPack(tiny_pack, is_fp8=True)


@pytest.fixture(scope="session")
def golden() -> Callable[[str], dict[str, torch.Tensor]]:
    """Return a reader of the golden tensors: `golden("text_2.3")`. Each file is read once; no test changes a tensor."""
    from safetensors.torch import load_file

    loaded: dict[str, dict[str, torch.Tensor]] = {}

    def load(name: str) -> dict[str, torch.Tensor]:
        if name not in loaded:
            loaded[name] = load_file(DATA_FOLDER / f"{name}.safetensors")
        return loaded[name]

    return load


@pytest.fixture(scope="session")
def golden_metadata() -> Callable[[str], dict[str, str]]:
    """Return a reader of a golden file's metadata, which holds the prompts of its run."""
    from podium.models.header import read_header

    return lambda name: dict(read_header(DATA_FOLDER / f"{name}.safetensors").metadata)


@pytest.fixture(scope="session")
def assert_close_to_golden() -> Callable[..., None]:
    """Return the check `(ours, golden, tolerance=1e-5, *, name="")` of ||ours - golden|| / ||golden|| (2-norms)."""
    from tests.fakes.closeness import assert_close_to_golden as check

    return check
