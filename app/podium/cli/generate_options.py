"""What the parsed arguments of `podium generate` ask for. Loads nothing but the standard library and `podium.jobs`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from podium.cli.argument_values import AUTO, number, number_of, whole_number
from podium.cli.options import ClipLength, DeviceOptions, GenerateOptions, GuidanceOptions, ModelOptions
from podium.jobs import GuidanceMode, ImageSpec, LoraSpec, PipelineKind, Quantization

# A part of a split model has a name of its own and fills the place of another.
_PARTS_OF_SPLIT = {"transformer_path": "checkpoint_path", "text_encoder_path": "gemma_root"}


def options_of(values: argparse.Namespace) -> GenerateOptions:
    """Return what parsed arguments ask for.

    Raises:
        ArgumentTypeError: They contradict each other, or one makes no sense.
    """
    distilled_lora, strength = _distilled_lora(values.distilled_lora)
    strengths = values.distilled_lora_strengths
    return GenerateOptions(
        model=_model(values, distilled_lora),
        devices=DeviceOptions(values.num_gpus, values.devices, values.cpu_ranks),
        is_demo=values.is_demo,
        pipeline=PipelineKind(values.pipeline),
        prompt=values.prompt,
        negative_prompt=values.negative_prompt,
        is_enhanced=values.is_enhanced,
        seed=values.seed,
        height=values.height,
        width=values.width,
        length=_length(values),
        frame_rate=values.frame_rate,
        images=tuple(_image(given, values.image_crf) for given in values.image),
        generated_keyframes=values.generated_keyframes,
        loras=tuple(LoraSpec(Path(path), number_of("--lora", text)) for path, text in values.lora),
        distilled_lora_strength=strength,
        distilled_lora_strengths=None if strengths is None else _pair("--distilled-lora-strengths", strengths),
        num_inference_steps=values.num_inference_steps,
        video_guidance=_guidance(values, "video"),
        audio_guidance=_guidance(values, "audio"),
        stage_2_tiles=None if values.stage_2_tiles is None else (values.stage_2_tiles[0], values.stage_2_tiles[1]),
        guidance_mode=GuidanceMode(values.guidance_mode),
        quantization=None if values.quantization is None else Quantization(values.quantization),
        is_compiled=values.is_compiled,
        dtype=values.dtype,
        output_path=values.output_path,
        is_verbose=values.is_verbose,
    )


def _model(values: argparse.Namespace, distilled_lora: Path | None) -> ModelOptions:
    for part, place in _PARTS_OF_SPLIT.items():
        if getattr(values, part) is not None and getattr(values, place) is not None:
            raise argparse.ArgumentTypeError(
                f"{_option(part)} and {_option(place)} name the same part of the model; give one of them"
            )
    return ModelOptions(
        values.checkpoint_path or values.transformer_path,
        values.gemma_root or values.text_encoder_path,
        values.spatial_upsampler_path,
        distilled_lora,
        values.video_vae_path,
        values.audio_vae_path,
        values.duration_head_path,
    )


def missing_options(options: GenerateOptions, values: argparse.Namespace) -> list[str]:
    """Return the options that would have to be given, too."""
    if options.is_demo:
        return []
    is_split = values.transformer_path is not None
    model = options.model
    needed: dict[str, object] = {
        "--checkpoint-path": model.checkpoint_path,
        "--text-encoder-path" if is_split else "--gemma-root": model.gemma_root,
        "--spatial-upsampler-path": model.spatial_upsampler_path,
        "--prompt": options.prompt,
    }
    if is_split:
        needed |= {"--video-vae-path": model.video_vae_path, "--audio-vae-path": model.audio_vae_path}
    if options.pipeline.is_guided:
        needed["--distilled-lora"] = model.distilled_lora_path
    return [name for name, value in needed.items() if value is None]


def _distilled_lora(given: Sequence[str] | None) -> tuple[Path | None, float | None]:
    if given is None:
        return None, None
    path, *strengths = given
    if len(strengths) > 1:
        raise argparse.ArgumentTypeError("argument --distilled-lora: expected a path and one strength")
    return Path(path), number_of("--distilled-lora", strengths[0]) if strengths else None


def _length(values: argparse.Namespace) -> ClipLength:
    if values.duration == AUTO:
        return ClipLength(is_predicted=True)
    return ClipLength(values.num_frames, values.duration)


def _image(given: Sequence[str], crf: int | None) -> ImageSpec:
    path, frame, strength = given
    try:
        return ImageSpec(Path(path), whole_number(frame), number(strength), crf)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"argument --image: {error}") from None


def _guidance(values: argparse.Namespace, stream: str) -> GuidanceOptions:
    given = {name: getattr(values, f"{stream}_{name}") for name in ("cfg", "stg", "rescale", "modality", "skip_step")}
    blocks = getattr(values, f"{stream}_stg_blocks")
    return GuidanceOptions(**given, stg_blocks=None if blocks is None else tuple(i for some in blocks for i in some))


def _pair(option: str, texts: Sequence[str]) -> tuple[float, float]:
    first, second = (number_of(option, text) for text in texts)
    return first, second


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
