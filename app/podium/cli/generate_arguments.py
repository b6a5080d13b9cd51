"""The grammar of `podium generate`, group by group. Loads nothing but the standard library and `podium.jobs`."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path
from typing import NoReturn

from podium.cli.argument_values import AUTO, indices, keyframes, number, seconds, whole_number
from podium.cli.generate_options import missing_options, options_of
from podium.cli.options import GenerateOptions
from podium.jobs import GuidanceMode, PipelineKind, Quantization

DTYPES = ("bfloat16", "float32")
DEFAULT_SEED = 0
DEFAULT_FRAME_RATE = "24"

_DESCRIPTION = """\
Make one clip, with sound, in two stages: a draft at half size, and its refinement.

  fast     a distilled checkpoint: 8 + 3 steps, no guidance
  quality  a full checkpoint and its distilled LoRA: 30 guided steps (40 with LTX-2.0), 3 refining ones
  hq       the same files: 15 guided steps of second order, 3 refining ones; by default a larger clip
"""
_EXIT_CODES = textwrap.dedent(
    """\
    examples:
      podium generate --demo --cpu-ranks 1
      podium generate --checkpoint-path ltx-2.3-22b-distilled.safetensors --gemma-root gemma-3-12b \\
          --spatial-upsampler-path ltx-2.3-spatial-upscaler-x2.safetensors --lora style.safetensors 0.8 \\
          --prompt "A red fox trots across a snowy field at dawn; snow crunches under its paws."
      podium generate --pipeline quality --checkpoint-path ltx-2.3-22b-dev.safetensors --gemma-root gemma-3-12b \\
          --spatial-upsampler-path ltx-2.3-spatial-upscaler-x2.safetensors \\
          --distilled-lora ltx-2.3-22b-distilled-lora-384.safetensors --negative-prompt "blurry, static" \\
          --image first.png 0 1 --image last.png 120 1 --prompt "A fox turns its head."

    exit codes: 0 done, 2 the request was refused, 3 the job failed, 130 interrupted. The clip's path goes to stdout,
    everything else to stderr.
    """
)


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence instead of behind the whole usage."""

    def error(self, message: str) -> NoReturn:
        """End the process with exit code 2 after a sentence on stderr."""
        self.exit(2, f"{self.prog}: {message}\nTry: {self.prog} --help\n")


def add_generate_command(commands: argparse._SubParsersAction[Parser]) -> Parser:
    """Add the command and return its parser."""
    parser = commands.add_parser(
        "generate",
        help="make one clip",
        usage="%(prog)s [--pipeline fast|quality|hq] MODEL FILES --prompt TEXT [OPTIONS]",
        description=_DESCRIPTION,
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _add_pipeline_arguments(parser)
    _add_model_arguments(parser)
    _add_split_arguments(parser)
    _add_prompt_arguments(parser)
    _add_clip_arguments(parser)
    _add_picture_arguments(parser)
    _add_guidance_arguments(parser)
    _add_device_arguments(parser)
    _add_output_arguments(parser)
    return parser


def generate_options(values: argparse.Namespace, parser: Parser) -> GenerateOptions:
    """Return what parsed arguments ask for.

    Raises:
        SystemExit: With 2 after a sentence on stderr: the arguments contradict each other, or some are missing.
    """
    try:
        options = options_of(values)
    except argparse.ArgumentTypeError as error:
        parser.error(str(error))
    if values.image_crf is not None and not options.images:
        parser.error("--image-crf says how pictures are re-compressed, and there is no --image")
    if missing := missing_options(options, values):
        parser.error(f"{' and '.join(missing)} must be given; or --demo, to try the demo model")
    return options


def add_verbose(parser: argparse._ActionsContainer) -> None:
    """Add the flag that every command has."""
    parser.add_argument(
        "--verbose", action="store_true", dest="is_verbose", help="print technical details and log lines as well"
    )


def _add_pipeline_arguments(parser: Parser) -> None:
    group = parser.add_argument_group("pipeline")
    group.add_argument(
        "--pipeline",
        choices=[kind.value for kind in PipelineKind],
        default=PipelineKind.FAST.value,
        help="the way to make the clip (default: %(default)s)",
    )
    group.add_argument(
        "--demo",
        action="store_true",
        dest="is_demo",
        help="use the demo model that comes with Podium, a prompt and a small size; options override each of them",
    )


def _add_model_arguments(parser: Parser) -> None:
    group = parser.add_argument_group("model")
    group.add_argument(
        "--checkpoint-path", type=Path, metavar="FILE", help="LTX-2 checkpoint in one file; a distilled one for fast"
    )
    group.add_argument("--gemma-root", type=Path, metavar="FOLDER", help="Gemma 3 text encoder")
    group.add_argument("--spatial-upsampler-path", type=Path, metavar="FILE", help="latent upscaler, x2 or x1.5")
    group.add_argument(
        "--distilled-lora",
        nargs="+",
        metavar=("PATH", "STRENGTH"),
        help="quality and hq: the model's distilled LoRA; STRENGTH, in stage 2 of quality, may be left out "
        "(default: 1)",
    )
    group.add_argument(
        "--distilled-lora-strengths",
        nargs=2,
        metavar=("S1", "S2"),
        help="quality and hq: its strengths in stage 1 and stage 2 (default: 0 1; hq: 0.25 0.5)",
    )
    group.add_argument(
        "--lora",
        action="append",
        nargs=2,
        default=[],
        metavar=("PATH", "STRENGTH"),
        help="apply a LoRA; repeat for several. 1 applies it as trained, a negative number its opposite",
    )
    group.add_argument(
        "--quantization",
        choices=[kind.value for kind in Quantization],
        help="how the transformer keeps its weights: fp8-cast rounds a full checkpoint's, fp8-scaled takes an official "
        "fp8 file as it is (default: none; for an fp8 file fp8-scaled)",
    )
    group.add_argument(
        "--compile",
        action="store_true",
        dest="is_compiled",
        help="compile the transformer: a minute at the first clip of a size, and a fifth less time for every step",
    )
    group.add_argument("--dtype", choices=DTYPES, help="type to compute in (default: bfloat16; float32 on the CPU)")


def _add_split_arguments(parser: Parser) -> None:
    group = parser.add_argument_group(
        "model in split files (LTX-2.5)", "in place of --checkpoint-path and --gemma-root"
    )
    parts = {
        "--transformer-path": "transformer and connectors",
        "--text-encoder-path": "text encoder in one file, its tokenizer inside",
        "--video-vae-path": "video VAE, with either decoder",
        "--audio-vae-path": "audio VAE and vocoder",
        "--duration-head-path": "duration head, for --duration auto",
    }
    for name, words in parts.items():
        group.add_argument(name, type=Path, metavar="FILE", help=words)


def _add_prompt_arguments(parser: Parser) -> None:
    group = parser.add_argument_group("prompt")
    group.add_argument("--prompt", metavar="TEXT", help="what to show and what to hear")
    group.add_argument("--negative-prompt", metavar="TEXT", default="", help="quality and hq: what to stay away from")
    group.add_argument(
        "--enhance-prompt",
        action="store_true",
        dest="is_enhanced",
        help="have the text encoder's language model write the prompt out in more detail. It is printed before it is "
        "used; on a terminal you are asked whether to use it",
    )
    group.add_argument(
        "--seed", type=whole_number, default=DEFAULT_SEED, metavar="N", help="0 to 2**64 - 1 (default: %(default)s)"
    )


def _add_clip_arguments(parser: Parser) -> None:
    group = parser.add_argument_group("clip")
    for name, sizes in (("--height", "1024; hq: 1088"), ("--width", "1536; hq: 1920")):
        group.add_argument(
            name,
            type=whole_number,
            metavar="PIXELS",
            help=f"a multiple of 64, or of 96 with the x1.5 upscaler (default: {sizes}; demo: smaller)",
        )
    length = group.add_mutually_exclusive_group()
    length.add_argument(
        "--num-frames",
        type=whole_number,
        metavar="N",
        help="8 times a whole number, plus 1 (default: 121; demo: fewer)",
    )
    length.add_argument(
        "--duration",
        type=seconds,
        metavar="SECONDS",
        help=f"in place of --num-frames: about so long; or “{AUTO}”, as long as the prompt asks for, where the model "
        "has a duration head",
    )
    group.add_argument(
        "--frame-rate", metavar="FPS", help=f"24, 23.976, 30000/1001, ... (default: {DEFAULT_FRAME_RATE})"
    )


def _add_picture_arguments(parser: Parser) -> None:
    group = parser.add_argument_group("pictures")
    group.add_argument(
        "--image",
        action="append",
        nargs=3,
        default=[],
        metavar=("PATH", "FRAME", "STRENGTH"),
        help="hold a frame to a picture: FRAME 0 is the first, STRENGTH goes from 0 (ignored) to 1 (kept as it is); "
        "repeat for several",
    )
    group.add_argument(
        "--image-crf",
        type=whole_number,
        metavar="CRF",
        help="H.264 quality at which pictures are re-compressed, 0 (not at all) to 51 (default: the model's own, 33, "
        "from LTX-2.4 on 18)",
    )
    group.add_argument(
        "--generated-keyframes",
        type=keyframes,
        default=0,
        metavar="N|F1,F2,...",
        help="LTX-2.5: have the model make so many key frames of its own, spread evenly, or at these frames",
    )


def _add_guidance_arguments(parser: Parser) -> None:
    group = parser.add_argument_group(
        "guidance (quality and hq)",
        "Defaults as quality / hq. A scale that changes nothing spares a forward in every step.",
    )
    group.add_argument(
        "--num-inference-steps",
        type=whole_number,
        metavar="N",
        help="steps of stage 1 (default: 30 / 15; quality with LTX-2.0: 40)",
    )
    defaults = {"video": ("3 / 3", "1 / 0", "0.7 / 0.45", "3 / 3"), "audio": ("7 / 7", "1 / 0", "0.7 / 1", "3 / 3")}
    for stream, (cfg, stg, rescale, modality) in defaults.items():
        for name, words in (
            ("cfg", f"pull away from the negative prompt; 1 is none (default: {cfg})"),
            ("stg", f"pull away from perturbed self-attention; 0 is none (default: {stg})"),
            ("rescale", f"bring the spread back, 0 to 1 (default: {rescale})"),
            ("modality", f"pull away from deaf and blind streams; 1 is none (default: {modality})"),
        ):
            group.add_argument(f"--{stream}-{name}", type=number, metavar="SCALE", help=f"{stream}: {words}")
        group.add_argument(
            f"--{stream}-stg-blocks",
            type=indices,
            nargs="+",
            metavar="I",
            help=f"{stream}: blocks whose self-attention is perturbed (default: 28; with LTX-2.0: 29)",
        )
        group.add_argument(
            f"--{stream}-skip-step",
            type=whole_number,
            metavar="N",
            help=f"{stream}: guide only every step that N + 1 divides (default: 0, every step)",
        )
    group.add_argument(
        "--guidance-mode",
        choices=[mode.value for mode in GuidanceMode],
        default=GuidanceMode.AUTO.value,
        help="how the forwards of a step run: one after another takes the least memory, as one batch the fewest "
        "messages between devices, mesh spreads them over the devices. The clip is the same but for rounding "
        "(default: %(default)s, what is reckoned to be the quickest)",
    )
    group.add_argument(
        "--stage-2-tiles",
        nargs=2,
        type=whole_number,
        metavar=("ROWS", "COLUMNS"),
        help="make stage 2 in so many tiles; 1 1 is the whole picture at once. The same tiles give the same clip on "
        "any number of devices (default: one tile a device, where they are large enough)",
    )


def _add_device_arguments(parser: Parser) -> None:
    group = parser.add_argument_group("devices (default: all GPUs)").add_mutually_exclusive_group()
    group.add_argument("--num-gpus", type=whole_number, metavar="N", help="the first N GPUs")
    group.add_argument("--devices", type=indices, metavar="I,J,...", help="these GPUs, counted from 0 in PCI order")
    group.add_argument("--cpu-ranks", type=whole_number, metavar="N", help="N processes on the CPU, no GPU: slow")


def _add_output_arguments(parser: Parser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument(
        "--output-path",
        "--output",
        type=Path,
        metavar="PATH",
        help="the .mp4 to write, or a folder for a name of its own (default: the folder Podium among your videos). "
        "A file that is there is kept, and the request refused",
    )
    add_verbose(group)
