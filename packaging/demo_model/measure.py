"""Measure an exported pack through Podium's own pipeline: what it follows, what its LoRAs do, what a picture does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import torch
from clips import ClipMaker, Order, generate, is_silent
from held_out import Wish, held_out, rendered
from latents import Colours, Style, as_tensor
from metric import is_hollow, is_night, look, scores
from sheets import contact_sheet
from torch import Tensor
from training import Run

from podium.jobs import ImageSpec, LoraSpec
from podium.media.stills import write_png
from podium.models.demo_pack import DemoPack

_NUM_ROWS = 12
"""Of the main contact sheet."""

GATES = {"background": 0.95, "colour": 0.9, "direction": 0.9}


@dataclass(slots=True)
class Measuring:
    """What is measured and where the figures go.

    Args:
        run: Takes figures and lines.
        maker: A running fleet.
        num_clips: Of the main figure.
        num_few: Of each LoRA, and with a start picture.
    """

    run: Run
    maker: ClipMaker
    num_clips: int
    num_few: int
    _is_met: bool = False

    def measure(self) -> bool:
        """Measure everything; return whether the gates are met."""
        wishes = held_out(self.num_clips)
        few = wishes[: self.num_few]
        plain = self._prompts(wishes)
        self._tell_seconds()
        self._same_as_command(wishes[0], plain[0])
        self._loras(few, plain[: len(few)])
        self._start_pictures(few, plain[: len(few)])
        self._ceiling(wishes)
        return self._is_met

    def _prompts(self, wishes: Sequence[Wish]) -> Tensor:
        """Make the clips of all prompts; return the first ones."""
        seen, first = [], []
        for seed, wish in enumerate(wishes):
            clip = self.maker.make(Order(wish.prompt, seed))
            seen.append(look(clip))
            if seed < max(_NUM_ROWS, self.num_few):
                first.append(clip)
        figures = scores(seen, [wish.attributes for wish in wishes])
        missed = {name: least for name, least in GATES.items() if figures[name] < least}
        self._is_met = not missed
        self._tell(clips=figures, gates=f"missed: {missed}" if missed else "met")
        contact_sheet(torch.stack(first[:_NUM_ROWS]), self.run.folder / "clips.png")
        self.run.say("; ".join(wish.prompt for wish in wishes[:_NUM_ROWS]))
        return torch.stack(first)

    def _ceiling(self, wishes: Sequence[Wish]) -> None:
        """Say what rendered scenes score."""
        rows = [wish.attributes for wish in wishes]
        seen = [look(rendered([row], Style(), seed)[0]) for seed, row in enumerate(rows)]
        self._tell(rendered=scores(seen, rows))
        contact_sheet(rendered(rows[:_NUM_ROWS], Style()), self.run.folder / "rendered.png")

    def _same_as_command(self, wish: Wish, ours: Tensor) -> None:
        """Compare a clip with the one that `podium generate` makes."""
        path = self.maker.folder / "command.mp4"
        theirs = generate(self.maker.pack, Order(wish.prompt, 0), path, self.maker.num_ranks)
        self._tell(command={"is_equal": torch.equal(ours, theirs), "is_silent": is_silent(path)})

    def _loras(self, wishes: Sequence[Wish], plain: Tensor) -> None:
        rows = [wish.attributes for wish in wishes]
        styles = ((Style(is_outline=True), "outline"), (Style(is_night=True), "night"))
        for (style, name), path in zip(styles, self.maker.pack.style_lora_paths, strict=True):
            if not path.exists():
                self.run.say(f"no LoRA {name}")
                continue
            loras = (LoraSpec(path, 1.0),)
            clips = self.maker.make_all(Order(wish.prompt, seed, loras) for seed, wish in enumerate(wishes))
            after = self.maker.make(Order(wishes[0].prompt, 0))
            told = {
                "ceiling": style_share(rendered(rows, style), rows, style),
                "with": style_share(clips, rows, style),
                "without": style_share(plain, rows, style),
                "motion_with": scores([look(clip) for clip in clips], rows)["direction"],
                "is_gone_after_swap_back": torch.equal(plain[0], after),
            }
            self._tell(**{f"lora_{name}": told})
            contact_sheet(clips[:6], self.run.folder / f"lora-{name}.png")

    def _start_pictures(self, wishes: Sequence[Wish], free: Tensor) -> None:
        """Start from pictures of the prompts' scenes, in places of the pictures' own."""
        rows = [wish.attributes for wish in wishes]
        truth = rendered(rows, Style(), seed=5)
        orders = []
        for seed, (wish, clip) in enumerate(zip(wishes, truth, strict=True)):
            path = self.maker.folder / f"start-{seed}.png"
            write_png(path, (clip[:, 0].permute(1, 2, 0) * 255).round().byte().numpy())
            orders.append(Order(wish.prompt, seed, images=(ImageSpec(path, 0, 1.0, 0),)))
        given = self.maker.make_all(orders)
        self._tell(
            start_picture={
                "first_frame_db": [psnr_db(clips[:, :, 0], truth[:, :, 0]) for clips in (given, free)],
                "whole_clip_db": [psnr_db(clips, truth) for clips in (given, free)],
                "kind": [scores([look(clip) for clip in clips], rows)["kind"] for clips in (given, free)],
                "direction": [scores([look(clip) for clip in clips], rows)["direction"] for clips in (given, free)],
                "each": "with the picture, without",
            }
        )
        contact_sheet(given[:6], self.run.folder / "start-picture.png")
        contact_sheet(truth[:6], self.run.folder / "start-picture-rendered.png")

    def _tell_seconds(self) -> None:
        maker = self.maker
        phases = {str(phase): round(median(durations), 2) for phase, durations in maker.phases_s.items()}
        self._tell(seconds={"ranks": maker.num_ranks, "median": round(median(maker.durations_s), 2), "phases": phases})

    def _tell(self, **figures: object) -> None:
        for name, value in figures.items():
            self.run.say(f"{name}: {value}")
        self.run.note(**{f"pack_{name}": value for name, value in figures.items()})


def style_share(clips: Tensor, rows: Sequence[object], style: Style) -> float:
    """Return the share of clips [B, 3, F, H, W] that are drawn in a style."""
    if style.is_outline:
        hits = [is_hollow(clip) for clip in clips]
    else:
        attributes = as_tensor(list(rows))  # type: ignore[arg-type]
        night = Colours.of(attributes, style).background / 2 + 0.5
        hits = [
            is_night(clip, int(row), colour) for clip, row, colour in zip(clips, attributes[:, 2], night, strict=True)
        ]
    return round(sum(hits) / len(hits), 3)


def psnr_db(clips: Tensor, truth: Tensor) -> float:
    """Return the peak signal-to-noise ratio of pixels from 0 to 1."""
    return round(float(-10 * torch.log10((clips - truth).square().mean())), 2)


def measure_pack(run: Run, pack: DemoPack, *, num_clips: int, num_few: int, num_ranks: int) -> bool:
    """Measure a pack on the CPU; return whether the gates are met."""
    with ClipMaker(pack, run.folder / "measured", num_ranks).running() as maker:
        return Measuring(run, maker, num_clips, num_few).measure()
