"""The demo model: a tiny one that was trained on a small world of shapes.

What it is and how it is tried; `demo_cache` puts it into the cache. Nothing heavy is loaded.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from podium.assets import read_text
from podium.models.paths import ModelPaths

ARCHIVE_NAME = "demo/demo-model.zip"
"""The trained model as it ships; `packaging/demo_model` makes it."""

FOLDER_NAME = "demo-model"
"""What it is unpacked into, in the cache."""


@dataclass(frozen=True, slots=True)
class DemoPack:
    """Where the files of the trained demo model lie.

    Args:
        folder: Of the pack.
    """

    folder: Path

    @property
    def checkpoint_path(self) -> Path:
        """Return the monolith."""
        return self.folder / "ltx-2.3-demo.safetensors"

    @property
    def gemma_root(self) -> Path:
        """Return the Gemma 3 folder."""
        return self.folder / "gemma3"

    @property
    def spatial_upsampler_path(self) -> Path:
        """Return the x2 upscaler."""
        return self.folder / "spatial-upscaler-x2.safetensors"

    @property
    def distilled_lora_path(self) -> Path:
        """Return the distilled LoRA, which changes nothing: the model is distilled already."""
        return self.folder / "distilled-lora.safetensors"

    @property
    def outline_lora_path(self) -> Path:
        """Return the LoRA that draws outlines."""
        return self.folder / "outline.safetensors"

    @property
    def night_lora_path(self) -> Path:
        """Return the LoRA that paints in the colours of the night."""
        return self.folder / "night-colours.safetensors"

    @property
    def style_lora_paths(self) -> tuple[Path, ...]:
        """Return the LoRAs whose styles anyone sees at once."""
        return (self.outline_lora_path, self.night_lora_path)

    @property
    def model_paths(self) -> ModelPaths:
        """Return all of the model's files, the distilled LoRA included."""
        return ModelPaths(
            self.checkpoint_path,
            self.gemma_root,
            self.spatial_upsampler_path,
            distilled_lora_path=self.distilled_lora_path,
        )


@dataclass(frozen=True, slots=True)
class DemoModel:
    """The demo model, ready to be chosen.

    Args:
        paths: Its files, the distilled LoRA included.
        style_loras: LoRAs whose styles anyone sees at once.
    """

    paths: ModelPaths
    style_loras: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class DemoForm:
    """What the demo model is tried with: a prompt that it knows, and a size that it makes in seconds."""

    prompt: str
    height: int
    width: int
    num_frames: int


def demo_form() -> DemoForm:
    """Return what the demo model is tried with."""
    return DemoForm(read_text("prompts/demo.txt"), 256, 384, 33)


MOST_DEMO_WIDTH, MOST_DEMO_HEIGHT, MOST_DEMO_FRAMES = 576, 384, 49
"""What the demo model still makes rightly, though it was trained on 384 x 256 and 33 frames. Source: seen on held-out
prompts, of which at 576 x 384 eleven of twelve have the right shape, at 768 x 512 two; of 49 frames all move the right
way, of 65 half."""


def is_known_to_demo(width: int, height: int, num_frames: int) -> bool:
    """Return whether the demo model can be expected to make clips of a size in pixels and a length rightly."""
    is_small = max(width, height) <= MOST_DEMO_WIDTH and width * height <= MOST_DEMO_WIDTH * MOST_DEMO_HEIGHT
    return is_small and num_frames <= MOST_DEMO_FRAMES
