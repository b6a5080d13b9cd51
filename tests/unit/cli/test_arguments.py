"""What the command line's grammar takes, and how it says no."""

from __future__ import annotations

from pathlib import Path

import pytest

from podium import __version__
from podium.cli.arguments import DeviceOptions, GenerateOptions, ProbeOptions, parse_arguments
from podium.jobs import ImageSpec, LoraSpec

MODEL = ["--checkpoint-path", "m.safetensors", "--gemma-root", "gemma", "--spatial-upsampler-path", "up.safetensors"]
MINIMAL = ["generate", *MODEL, "--prompt", "A fox"]


def parse_generate(*arguments: str) -> GenerateOptions:
    options = parse_arguments([*MINIMAL, *arguments])
    assert isinstance(options, GenerateOptions)
    return options


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        parse_arguments(arguments)
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


def test_the_help_names_the_commands_and_the_window(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_arguments(["--help"])
    assert ended.value.code == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "generate" in said
    assert "probe" in said
    assert "Without a command the window opens." in said


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_arguments(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"Podium {__version__}\n"


@pytest.mark.parametrize("option", ["--lora PATH STRENGTH", "--image PATH FRAME STRENGTH", "--cpu-ranks N", "--demo"])
def test_the_help_of_generate_shows_every_option(capsys: pytest.CaptureFixture[str], option: str) -> None:
    with pytest.raises(SystemExit):
        parse_arguments(["generate", "--help"])
    assert option in capsys.readouterr().out


def test_loras_and_images_come_in_the_order_given_and_may_repeat() -> None:
    options = parse_generate(
        "--lora", "a.safetensors", "0.8", "--lora", "b.safetensors", "-0.5", "--image", "i.png", "0", "1", "--lora",
        "a.safetensors", "1", "--image-crf", "0",
    )  # fmt: skip
    assert options.loras == (
        LoraSpec(Path("a.safetensors"), 0.8),
        LoraSpec(Path("b.safetensors"), -0.5),
        LoraSpec(Path("a.safetensors"), 1.0),
    )
    assert options.images == (ImageSpec(Path("i.png"), 0, 1.0, 0),)


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ([], DeviceOptions()),
        (["--num-gpus", "2"], DeviceOptions(num_gpus=2)),
        (["--devices", "1,0"], DeviceOptions(devices=(1, 0))),
        (["--cpu-ranks", "1"], DeviceOptions(cpu_ranks=1)),
    ],
)
def test_devices_are_named_in_one_way(arguments: list[str], wanted: DeviceOptions) -> None:
    assert parse_generate(*arguments).devices == wanted


def test_two_ways_of_naming_devices_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert "not allowed with" in refusal(capsys, *MINIMAL, "--devices", "0", "--cpu-ranks", "1")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--seed", "x"], "“x” is no whole number"),
        (["--height", "1.5"], "“1.5” is no whole number"),
        (["--lora", "a.safetensors", "strong"], "“strong” is no number"),
        (["--image", "i.png", "first", "1"], "“first” is no whole number"),
        (["--devices", "0,,1"], "“” is no whole number"),
        (["--lora", "a.safetensors"], "expected 2 arguments"),
        (["--quantization", "int3"], "invalid choice"),
        (["--heigth", "64"], "unrecognized arguments"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_in_two_lines(
    capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    said = refusal(capsys, *MINIMAL, *arguments)
    assert sentence in said
    assert len(said.splitlines()) == 2


def test_missing_files_are_all_named_and_the_demo_is_offered(capsys: pytest.CaptureFixture[str]) -> None:
    said = refusal(capsys, "generate", "--prompt", "A fox", "--gemma-root", "gemma")
    assert "--checkpoint-path and --spatial-upsampler-path must be given; or --demo" in said


def test_the_demo_needs_nothing_more() -> None:
    options = parse_arguments(["generate", "--demo"])
    assert isinstance(options, GenerateOptions)
    assert (options.is_demo, options.prompt, options.height, options.model.gemma_root) == (True, None, None, None)


def test_probe_takes_several_paths() -> None:
    options = parse_arguments(["probe", "a.safetensors", "gemma", "--json"])
    assert options == ProbeOptions((Path("a.safetensors"), Path("gemma")), as_json=True, is_verbose=False)


def test_output_is_another_name_for_the_output_path() -> None:
    assert parse_generate("--output", "x.mp4") == parse_generate("--output-path", "x.mp4")
