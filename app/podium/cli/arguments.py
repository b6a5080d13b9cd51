"""The command line's grammar: argv to typed options. Loads nothing but the standard library and `podium.jobs`.

Rule for callers: what is wrong with the grammar itself ends the process with exit code 2 here; whether the values can
be used is for `podium.pipelines.checks`.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from podium import __version__
from podium.jobs import ImageSpec, LoraSpec

QUANTIZATIONS = ("none",)
DTYPES = ("bfloat16", "float32")
DEFAULT_SEED = 0
DEFAULT_HEIGHT, DEFAULT_WIDTH = 1024, 1536
DEFAULT_NUM_FRAMES = 121
DEFAULT_FRAME_RATE = "24"


@dataclass(frozen=True, slots=True)
class DeviceOptions:
    """Which devices to use; at most one field is set, and none means as many GPUs as there are.

    Args:
        num_gpus: The first so many GPUs.
        devices: GPUs by index, in PCI order.
        cpu_ranks: So many processes on the CPU instead.
    """

    num_gpus: int | None = None
    devices: tuple[int, ...] | None = None
    cpu_ranks: int | None = None


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The model's files as given; None where the demo model may stand in."""

    checkpoint_path: Path | None = None
    gemma_root: Path | None = None
    spatial_upsampler_path: Path | None = None


@dataclass(frozen=True, slots=True)
class GenerateOptions:
    """What `podium generate` was asked for; None where a default depends on other options."""

    model: ModelOptions
    devices: DeviceOptions
    is_demo: bool
    prompt: str | None
    seed: int
    height: int | None
    width: int | None
    num_frames: int | None
    frame_rate: str | None
    images: tuple[ImageSpec, ...]
    loras: tuple[LoraSpec, ...]
    quantization: str
    is_compiled: bool
    dtype: str | None
    output_path: Path | None
    is_verbose: bool


@dataclass(frozen=True, slots=True)
class ProbeOptions:
    """What `podium probe` was asked for."""

    paths: tuple[Path, ...]
    as_json: bool
    is_verbose: bool


@dataclass(frozen=True, slots=True)
class LogsOptions:
    """What `podium logs` was asked for.

    Args:
        export_path: The file to write; None prints.
    """

    export_path: Path | None
    is_verbose: bool


Options = GenerateOptions | ProbeOptions | LogsOptions


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence instead of behind the whole usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\nTry: {self.prog} --help\n")


def parse_arguments(arguments: Sequence[str]) -> Options:
    """Return what the arguments ask for.

    Raises:
        SystemExit: With 0 after help or version, with 2 after a sentence on stderr that says what is wrong.
    """
    parser, generate = _parsers()
    values = parser.parse_args(arguments)
    if values.command == "probe":
        return ProbeOptions(tuple(values.paths), values.as_json, values.is_verbose)
    if values.command == "logs":
        return LogsOptions(values.export_path, values.is_verbose)
    options = _generate_options(values, generate)
    if missing := _missing(options):
        generate.error(f"{' and '.join(missing)} must be given; or --demo, to try the demo model")
    return options


def _parsers() -> tuple[_Parser, _Parser]:
    parser = _Parser(
        prog="podium",
        description="Video with sound from a prompt, on your own machine. Without a command the window opens.",
        epilog="“podium COMMAND --help” lists a command's options.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"Podium {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    generate = commands.add_parser(
        "generate",
        help="make one clip",
        description="Make one clip with the distilled pipeline (two stages, 8 + 3 steps).",
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _add_model_arguments(generate)
    _add_clip_arguments(generate)
    _add_conditioning_arguments(generate)
    _add_device_arguments(generate)
    _add_output_arguments(generate)
    probe = commands.add_parser(
        "probe",
        help="say what model files are",
        description="Say what model files are, whether they are whole, and what they can be used for. Reads headers "
        "only, no weights.",
        allow_abbrev=False,
    )
    probe.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a checkpoint, LoRA or text encoder folder")
    probe.add_argument("--json", action="store_true", dest="as_json", help="print a JSON list instead of text")
    _add_verbose(probe)
    _add_logs_command(commands)
    return parser, generate


def _add_logs_command(commands: argparse._SubParsersAction[_Parser]) -> None:
    logs = commands.add_parser(
        "logs",
        help="show or export what the processes of a fleet logged",
        description="Print the logs of the last fleet, rank by rank. With --export, write those of the last fleets to "
        "one file, in which home, user name and folders are replaced.",
        allow_abbrev=False,
    )
    logs.add_argument("--export", type=Path, dest="export_path", metavar="FILE", help="a text file to write")
    _add_verbose(logs)


_EXIT_CODES = textwrap.dedent(
    """\
    examples:
      podium generate --demo --cpu-ranks 1
      podium generate --checkpoint-path ltx-2.3-22b-distilled.safetensors --gemma-root gemma-3-12b \\
          --spatial-upsampler-path ltx-2.3-spatial-upscaler-x2.safetensors --lora style.safetensors 0.8 \\
          --prompt "A red fox trots across a snowy field at dawn; snow crunches under its paws."

    exit codes: 0 done, 2 the request was refused, 3 the job failed, 130 interrupted. The clip's path goes to stdout,
    everything else to stderr.
    """
)


def _add_model_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("model")
    group.add_argument("--checkpoint-path", type=Path, metavar="FILE", help="distilled LTX-2.3 checkpoint")
    group.add_argument("--gemma-root", type=Path, metavar="FOLDER", help="Gemma 3 text encoder")
    group.add_argument("--spatial-upsampler-path", type=Path, metavar="FILE", help="spatial latent upsampler")
    group.add_argument(
        "--lora",
        action="append",
        nargs=2,
        default=[],
        metavar=("PATH", "STRENGTH"),
        help="apply a LoRA; repeat for several. 1 applies it as trained, a negative number its opposite",
    )
    group.add_argument(
        "--quantization", choices=QUANTIZATIONS, default="none", help="how the transformer keeps its weights"
    )
    group.add_argument(
        "--compile",
        action="store_true",
        dest="is_compiled",
        help="compile the transformer: a minute at the first clip of a size, and a fifth less time for every step",
    )
    group.add_argument("--dtype", choices=DTYPES, help="type to compute in (default: bfloat16; float32 on the CPU)")
    group.add_argument(
        "--demo",
        action="store_true",
        dest="is_demo",
        help="use the demo model that comes with Podium, a prompt and a small size; options override each of them. "
        "It is a random-weight pack: coloured noise until a trained one ships",
    )


def _add_clip_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("clip")
    group.add_argument("--prompt", metavar="TEXT", help="what to show and what to hear")
    group.add_argument(
        "--seed", type=_whole_number, default=DEFAULT_SEED, metavar="N", help="0 to 2**64 - 1 (default: %(default)s)"
    )
    sizes = (("--height", DEFAULT_HEIGHT), ("--width", DEFAULT_WIDTH))
    for name, default in sizes:
        group.add_argument(
            name, type=_whole_number, metavar="PIXELS", help=f"a multiple of 64 (default: {default}; demo: smaller)"
        )
    group.add_argument(
        "--num-frames",
        type=_whole_number,
        metavar="N",
        help=f"8 times a whole number, plus 1 (default: {DEFAULT_NUM_FRAMES}; demo: fewer)",
    )
    group.add_argument(
        "--frame-rate", metavar="FPS", help=f"24, 23.976, 30000/1001, ... (default: {DEFAULT_FRAME_RATE})"
    )


def _add_conditioning_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("pictures")
    group.add_argument(
        "--image",
        action="append",
        nargs=3,
        default=[],
        metavar=("PATH", "FRAME", "STRENGTH"),
        help="start from a picture: FRAME 0, STRENGTH from 0 (ignored) to 1 (kept as it is)",
    )
    group.add_argument(
        "--image-crf",
        type=_whole_number,
        metavar="CRF",
        help="H.264 quality at which pictures are re-compressed, 0 (not at all) to 51 (default: the model's own)",
    )


def _add_device_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("devices (default: all GPUs)").add_mutually_exclusive_group()
    group.add_argument("--num-gpus", type=_whole_number, metavar="N", help="the first N GPUs")
    group.add_argument("--devices", type=_indices, metavar="I,J,...", help="these GPUs, counted from 0 in PCI order")
    group.add_argument("--cpu-ranks", type=_whole_number, metavar="N", help="N processes on the CPU, no GPU: slow")


def _add_output_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument(
        "--output-path",
        "--output",
        type=Path,
        metavar="PATH",
        help="the .mp4 to write, or a folder for a name of its own (default: the folder Podium among your videos). "
        "A file that is there is kept, and the request refused",
    )
    _add_verbose(group)


def _add_verbose(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--verbose", action="store_true", dest="is_verbose", help="print technical details and log lines as well"
    )


def _generate_options(values: argparse.Namespace, parser: argparse.ArgumentParser) -> GenerateOptions:
    try:
        loras = tuple(LoraSpec(Path(path), _number(strength)) for path, strength in values.lora)
        images = tuple(
            ImageSpec(Path(path), _whole_number(frame), _number(strength), values.image_crf)
            for path, frame, strength in values.image
        )
    except argparse.ArgumentTypeError as error:
        parser.error(f"argument --lora or --image: {error}")
    return GenerateOptions(
        model=ModelOptions(values.checkpoint_path, values.gemma_root, values.spatial_upsampler_path),
        devices=DeviceOptions(values.num_gpus, values.devices, values.cpu_ranks),
        is_demo=values.is_demo,
        prompt=values.prompt,
        seed=values.seed,
        height=values.height,
        width=values.width,
        num_frames=values.num_frames,
        frame_rate=values.frame_rate,
        images=images,
        loras=loras,
        quantization=values.quantization,
        is_compiled=values.is_compiled,
        dtype=values.dtype,
        output_path=values.output_path,
        is_verbose=values.is_verbose,
    )


def _missing(options: GenerateOptions) -> list[str]:
    if options.is_demo:
        return []
    needed = {
        "--checkpoint-path": options.model.checkpoint_path,
        "--gemma-root": options.model.gemma_root,
        "--spatial-upsampler-path": options.model.spatial_upsampler_path,
        "--prompt": options.prompt,
    }
    return [name for name, value in needed.items() if value is None]


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"“{text}” is no whole number") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"“{text}” is no number") from None


def _indices(text: str) -> tuple[int, ...]:
    return tuple(_whole_number(index) for index in text.split(","))
