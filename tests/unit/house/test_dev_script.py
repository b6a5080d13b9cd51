"""The development script decides rightly when to set up again; its commands themselves run wherever it is used."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[3] / "packaging" / "dev"
PYPROJECT = """
[build-system]
requires = ["hatchling"]
[project]
name = "podium"
dependencies = ["torchvision>=1", "{torch}", "tqdm"]
[tool.ruff]
line-length = {line_length}
"""


@pytest.fixture(scope="module")
def dev() -> Iterator[ModuleType]:
    loader = SourceFileLoader("podium_dev_script", str(SCRIPT))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    # dataclasses look their module up by its name
    sys.modules[loader.name] = module
    loader.exec_module(module)
    yield module
    del sys.modules[loader.name]


@pytest.fixture
def clone(dev: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a clone as a finished set-up leaves it, with the script at work in it."""
    (tmp_path / "app" / "podium").mkdir(parents=True)
    (tmp_path / "app" / "podium" / "__init__.py").write_text('__version__ = "0.1.0"\n')
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").touch()
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("version = 3.11.7\n")
    write_pyproject(tmp_path)
    monkeypatch.setattr(dev, "ROOT", tmp_path)
    monkeypatch.setattr(dev, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(dev, "STAMP", tmp_path / ".venv" / ".podium-setup")
    dev.STAMP.write_text(dev.set_up_digest())
    return tmp_path


def write_pyproject(clone: Path, *, torch: str = "torch>=2.11,<3", line_length: int = 120) -> None:
    (clone / "pyproject.toml").write_text(PYPROJECT.format(torch=torch, line_length=line_length))


def test_a_second_set_up_has_nothing_to_do(dev: ModuleType, clone: Path) -> None:
    assert dev.is_set_up()


def test_a_changed_dependency_sets_up_again(dev: ModuleType, clone: Path) -> None:
    write_pyproject(clone, torch="torch>=2.12,<3")
    assert not dev.is_set_up()


def test_a_changed_tool_setting_does_not_set_up_again(dev: ModuleType, clone: Path) -> None:
    write_pyproject(clone, line_length=100)
    assert dev.is_set_up()


def test_another_python_sets_up_again(dev: ModuleType, clone: Path) -> None:
    (clone / ".venv" / "pyvenv.cfg").write_text("version = 3.12.1\n")
    assert not dev.is_set_up()


def test_an_environment_whose_python_is_gone_is_made_again(dev: ModuleType, clone: Path) -> None:
    python = clone / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to(clone / "no-such-python")
    assert not dev.is_set_up()


def test_a_set_up_that_was_broken_off_is_done_again(dev: ModuleType, clone: Path) -> None:
    dev.STAMP.unlink()
    assert not dev.is_set_up()


def test_torch_is_found_among_dependencies_that_only_begin_like_it(dev: ModuleType, clone: Path) -> None:
    assert dev.torch_requirement(dev.read_pyproject()) == "torch>=2.11,<3"


def test_a_missing_debian_package_is_named_with_its_command(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dev.os, "geteuid", lambda: 1000)
    with pytest.raises(dev.DevError, match="sudo apt-get install --yes python3-venv"):
        dev.install_debian_packages(["python3-venv"])


def test_what_leaks_packages_into_an_interpreter_is_left_out(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    environ = dev.sealed_environ(HOME="/new")
    assert "PYTHONPATH" not in environ
    assert environ["HOME"] == "/new"


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_alone_it_prints_every_verb(dev: ModuleType, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert dev.main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:]] == list(dev.VERBS)


def test_an_unknown_verb_is_refused_with_those_that_exist(dev: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert dev.main(["tset"]) == 2
    assert "setup, demo, run, test" in capsys.readouterr().err


def test_a_check_stops_at_the_stage_that_fails_and_names_it(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[str, object]] = []

    def stage(name: str, code: int) -> None:
        def run(arguments: object = None) -> int:
            asked.append((name, arguments))
            return code

        monkeypatch.setattr(dev, name, run)

    for name, code in {"lint": 0, "types": 0, "test": 3, "check_wheel": 0}.items():
        stage(name, code)
    assert dev.check(["-k", "lora"]) == 3
    assert asked == [("lint", []), ("types", []), ("test", ["-k", "lora"])]
    assert "check: test failed after" in capsys.readouterr().out


@pytest.fixture
def asked(dev: ModuleType, clone: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return the commands tried on a machine without PyTorch, a wheel at hand or a GPU; each of them failed."""
    commands: list[list[str]] = []

    def fail(command: list[object]) -> bool:
        commands.append([str(word) for word in command[1:]])
        return False

    monkeypatch.setattr(dev, "succeeds", fail)
    monkeypatch.setattr(dev, "has_nvidia_gpu", lambda: False)
    return commands


def test_without_a_wheel_at_hand_the_size_of_the_download_is_announced(
    dev: ModuleType, asked: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    dev.install_torch(dev.VENV)
    assert asked[1][-4:] == ["--no-index", "--no-deps", "--no-compile", "torch>=2.11,<3"]
    assert "a download of some GB" in capsys.readouterr().out


def test_torch_that_can_be_imported_is_kept(
    dev: ModuleType, asked: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dev, "has_torch", lambda venv: venv == dev.VENV)
    dev.install_torch(dev.VENV)
    assert asked == []


def test_with_a_gpu_the_choice_of_the_build_is_left_to_pip(
    dev: ModuleType, asked: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dev, "has_nvidia_gpu", lambda: True)
    dev.install_torch(dev.VENV)
    assert asked == [["-c", "import torch"]]
    assert "CUDA" in capsys.readouterr().out
