"""The form as plain values that become JSON, and back: to be kept from one window to the next, and as presets."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from podium.jobs import PipelineKind
from podium.ui.state.compose import ComposeState
from podium.ui.state.form import FormReader
from podium.ui.state.values import ALL_PARTS, ReusePart

FORM_VERSION = 1


def form_of(compose: ComposeState, parts: Collection[ReusePart] = ALL_PARTS) -> dict[str, object]:
    """Return parts of the form as plain values that become JSON."""
    values: dict[ReusePart, dict[str, object]] = {
        ReusePart.PIPELINE: {"pipeline": compose.pipeline.value},
        ReusePart.PROMPT: {"prompt": compose.prompt},
        ReusePart.NEGATIVE_PROMPT: {"negative_prompt": compose.negative_prompt},
        ReusePart.SEED: {
            "seed": str(compose.seed),
            "is_seed_locked": compose.is_seed_locked,
            "num_seeds": compose.num_seeds,
        },
        ReusePart.SIZE: {"width": compose.width, "height": compose.height, "size_step_px": compose.size_step_px},
        ReusePart.DURATION: {"num_frames": compose.num_frames, "fps": str(compose.fps)},
        ReusePart.IMAGES: {"images": compose.images.form(), "generated_keyframes": compose.keyframes.form()},
        ReusePart.GUIDANCE: {"guidance": compose.guidance.form()},
    }
    chosen = (part for part in values if part in parts)
    return {"version": FORM_VERSION, **{name: value for part in chosen for name, value in values[part].items()}}


def restore_form(compose: ComposeState, form: Mapping[str, object]) -> None:
    """Take in what `form_of` gave, also by another version; what is missing or cannot be stays as it is."""
    read = FormReader(form)
    if (pipeline := read.text("pipeline")) in list(PipelineKind):
        compose.set_pipeline(PipelineKind(pipeline))
    compose.set_prompt(read.text("prompt", compose.prompt))
    compose.set_negative_prompt(read.text("negative_prompt", compose.negative_prompt))
    compose.set_seed(read.digits("seed", compose.seed))
    compose.set_seed_locked(read.flag("is_seed_locked", compose.is_seed_locked))
    compose.set_num_seeds(read.number("num_seeds", compose.num_seeds))
    compose.restore_size_step(read.number("size_step_px", compose.size_step_px))
    compose.set_size(read.number("width", compose.width), read.number("height", compose.height))
    compose.set_fps(read.text("fps", str(compose.fps)))
    compose.set_num_frames(read.number("num_frames", compose.num_frames))
    if "images" in form:
        compose.images.restore_form(read.tables("images"))
    compose.keyframes.restore(form.get("generated_keyframes"))
    if "guidance" in form:
        compose.guidance.restore_form(read.table("guidance"))
