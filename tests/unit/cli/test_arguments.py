"""What the command line's grammar takes, and how it says no."""

from __future__ import annotations

from pathlib import Path

import pytest

from podium import __version__
from podium.cli.arguments import parse_arguments
from podium.cli.options import ClipLength, DeviceOptions, GenerateOptions, GuidanceOptions, ModelOptions, ProbeOptions
from podium.jobs import GuidanceMode, GuidanceSpec, ImageSpec, LoraSpec, PipelineKind, Quantization

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


PUBLISHED = [
    "--pipeline {fast,quality,hq}", "--checkpoint-path FILE", "--gemma-root FOLDER", "--spatial-upsampler-path FILE",
    "--distilled-lora PATH [STRENGTH", "--distilled-lora-strengths S1 S2", "--lora PATH STRENGTH", "--prompt TEXT",
    "--negative-prompt TEXT", "--seed N", "--height PIXELS", "--width PIXELS", "--num-frames N", "--frame-rate FPS",
    "--num-inference-steps N", "--image PATH FRAME STRENGTH", "--quantization {none,fp8-cast,fp8-scaled}", "--dtype",
    "--image-crf CRF", "--compile", "--output-path PATH", "--transformer-path FILE", "--text-encoder-path FILE",
    "--video-vae-path FILE", "--audio-vae-path FILE", "--duration-head-path FILE", "--num-gpus N", "--devices I,J",
    "--cpu-ranks N", "--demo", "--enhance-prompt", "--duration SECONDS", "--generated-keyframes N|F1,F2",
    "--guidance-mode {auto,sequential,batched,mesh}",
    "--stage-2-tiles ROWS COLUMNS",
    *(f"--{stream}-{name}" for stream in ("video", "audio") for name in ("cfg", "stg", "stg-blocks", "rescale",
      "modality", "skip-step")),
]  # fmt: skip


@pytest.mark.parametrize("option", PUBLISHED)
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
        (["--pipeline", "draft"], "invalid choice"),
        (["--duration", "long"], "“long” is neither a number of seconds nor “auto”"),
        (["--duration", "5", "--num-frames", "9"], "not allowed with"),
        (["--distilled-lora", "d", "1", "2"], "expected a path and one strength"),
        (["--distilled-lora", "d", "strong"], "“strong” is no number"),
        (["--distilled-lora-strengths", "0.2", "x"], "argument --distilled-lora-strengths: “x” is no number"),
        (["--video-stg-blocks", "1,x"], "“x” is no whole number"),
        (["--generated-keyframes", "8,x"], "“x” is no whole number"),
        (["--image-crf", "20"], "there is no --image"),
        (["--transformer-path", "t"], "--transformer-path and --checkpoint-path name the same part"),
        (["--text-encoder-path", "t"], "--text-encoder-path and --gemma-root name the same part"),
        (["--pipeline", "hq"], "--distilled-lora must be given"),
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


def test_a_guided_pipeline_takes_its_options() -> None:
    options = parse_generate(
        "--pipeline", "quality", "--distilled-lora", "d.safetensors", "0.8", "--negative-prompt", "blurry",
        "--num-inference-steps", "12", "--video-cfg", "2.5", "--video-stg-blocks", "3", "4,5", "--audio-skip-step", "1",
        "--generated-keyframes", "8,16", "--stage-2-tiles", "1", "2", "--quantization", "fp8-cast", "--enhance-prompt",
        "--guidance-mode", "mesh",
    )  # fmt: skip
    assert options.pipeline is PipelineKind.QUALITY
    assert (options.model.distilled_lora_path, options.distilled_lora_strength) == (Path("d.safetensors"), 0.8)
    assert (options.negative_prompt, options.num_inference_steps, options.is_enhanced) == ("blurry", 12, True)
    assert options.video_guidance == GuidanceOptions(cfg=2.5, stg_blocks=(3, 4, 5))
    assert options.audio_guidance == GuidanceOptions(skip_step=1)
    assert (options.generated_keyframes, options.stage_2_tiles) == ((8, 16), (1, 2))
    assert options.quantization is Quantization.FP8_CAST
    assert options.guidance_mode is GuidanceMode.MESH


def test_the_distilled_lora_needs_no_strength() -> None:
    options = parse_generate("--pipeline", "hq", "--distilled-lora", "d", "--distilled-lora-strengths", "0.2", "-0.4")
    assert (options.distilled_lora_strength, options.distilled_lora_strengths) == (None, (0.2, -0.4))


@pytest.mark.parametrize(("given", "wanted"), [("3", 3), ("8,", (8,)), ("8,16", (8, 16))])
def test_generated_key_frames_are_a_count_or_frames(given: str, wanted: object) -> None:
    assert parse_generate("--generated-keyframes", given).generated_keyframes == wanted


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ([], ClipLength()),
        (["--num-frames", "9"], ClipLength(num_frames=9)),
        (["--duration", "2.5"], ClipLength(duration_s=2.5)),
        (["--duration", "auto"], ClipLength(is_predicted=True)),
    ],
)
def test_a_length_is_given_in_one_way(arguments: list[str], wanted: ClipLength) -> None:
    assert parse_generate(*arguments).length == wanted


SPLIT = ["--transformer-path", "t", "--text-encoder-path", "e", "--spatial-upsampler-path", "u", "--prompt", "A fox"]


def test_a_split_model_names_each_of_its_files() -> None:
    vaes = ["--video-vae-path", "v", "--audio-vae-path", "a", "--duration-head-path", "h"]
    options = parse_arguments(["generate", *SPLIT, *vaes])
    assert isinstance(options, GenerateOptions)
    assert options.model == ModelOptions(
        Path("t"),
        Path("e"),
        Path("u"),
        video_vae_path=Path("v"),
        audio_vae_path=Path("a"),
        duration_head_path=Path("h"),
    )


def test_a_split_model_needs_both_vaes(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--video-vae-path and --audio-vae-path must be given" in refusal(capsys, "generate", *SPLIT)


def test_what_is_given_of_a_guidance_replaces_the_pipelines_own() -> None:
    defaults = GuidanceSpec(3, 1, 0.7, 3, 0, (28,))
    assert GuidanceOptions().filled(defaults) is None
    assert GuidanceOptions(cfg=4, stg_blocks=(2,)).filled(defaults) == GuidanceSpec(4, 1, 0.7, 3, 0, (2,))
    assert GuidanceOptions(stg=0).filled(defaults) == GuidanceSpec(3, 0, 0.7, 3, 0, (28,))
