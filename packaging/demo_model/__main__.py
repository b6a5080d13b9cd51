"""Train the demo model's networks, look at what they make, export them as a pack, and measure that pack.

python packaging/demo_model train FOLDER [--seconds N] [--stages STAGE ...] [--steps N]
python packaging/demo_model look FOLDER
python packaging/demo_model export FOLDER [--install]
python packaging/demo_model measure FOLDER|PACK [--clips N] [--few N] [--ranks N]
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from held_out import GRID, held_out, rendered
from latents import Basis, Style
from lengthening import lengthen
from lora_training import STYLES, train_lora
from metric import look, scores
from networks import DemoNetwork, make_decoder, make_tokenizer, make_upsampler
from sampling import Networks, sample
from sheets import contact_sheet
from training import Run
from transformer_training import fix_text_ropes, train_transformer
from upsampler_training import train_upsampler
from vae_training import train_decoder, train_encoder

STAGES: dict[str, Callable[..., bool]] = {
    "decoder": train_decoder,
    "encoder": train_encoder,
    "upsampler": train_upsampler,
    "transformer": train_transformer,
    **{name: partial(train_lora, name=name) for name in STYLES},
}
"""In an order in which each has what it needs: LoRAs a transformer."""

ALL_STAGES = {**STAGES, "lengthen": lengthen}
"""The last is for a transformer that was trained with fewer text tokens than pipelines give it."""


def main() -> int:
    """Do what the arguments say; return the exit code."""
    values = _arguments()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = torch.backends.cudnn.benchmark = True
    values.folder.mkdir(parents=True, exist_ok=True)
    run = Run(values.folder, device, time.monotonic() + values.seconds)
    if values.verb == "train":
        _train(run, values)
    if values.verb in ("train", "look"):
        _look(run)
        return 0
    # What writes and measures packs needs all of Podium, which a machine that trains need not have.
    from packing import export_states, measure_folder  # noqa: PLC0415

    if values.verb == "export":
        export_states(run, is_installed=values.install)
        return 0
    are_met = measure_folder(run, num_clips=values.clips, num_few=values.few, num_ranks=values.ranks)
    return 0 if are_met else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="packaging/demo_model", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("verb", choices=("train", "look", "export", "measure"))
    parser.add_argument("folder", type=Path, help="of the states; measure takes that of a pack, too")
    parser.add_argument("--seconds", type=float, default=math.inf, help="train: save the states and end after so many")
    parser.add_argument("--stages", nargs="*", choices=ALL_STAGES, default=list(STAGES), help="train: which of them")
    parser.add_argument("--steps", type=int, help="train: of every stage; for a trial")
    parser.add_argument("--install", action="store_true", help="export: put the zip where it ships from")
    parser.add_argument("--clips", type=int, default=64, help="measure: of the main figure")
    parser.add_argument("--few", type=int, default=16, help="measure: of each LoRA, and with a start picture")
    parser.add_argument("--ranks", type=int, default=2, help="measure: of the fleet, on the CPU")
    return parser.parse_args()


def _train(run: Run, values: argparse.Namespace) -> None:
    basis = Basis.load().to(run.device)
    for stage in values.stages:
        more = {} if values.steps is None else {"num_steps": values.steps}
        if not ALL_STAGES[stage](run, basis, **more):
            run.say(f"the time is up in {stage}; run again to go on")
            break


def _look(run: Run, num_clips: int = 64) -> None:
    """Sample clips of held-out prompts by the networks themselves, score them, and draw a contact sheet."""
    networks = _networks(run)
    if networks is None:
        return
    wishes = held_out(num_clips)
    tokens = [item.ids for item in make_tokenizer().encode_batch([wish.prompt for wish in wishes])]
    longest = max(map(len, tokens))
    ids = torch.tensor([item + [0] * (longest - len(item)) for item in tokens]).to(run.device)
    lengths = torch.tensor([len(item) for item in tokens]).to(run.device)
    large, small = sample(run, networks, ids, lengths, grid=(GRID[0], GRID[1] // 2, GRID[2] // 2), seed=0)
    wanted = [wish.attributes for wish in wishes]
    sheets = {"clips": large / 2 + 0.5, "drafts": small / 2 + 0.5, "rendered": rendered(wanted, Style())}
    for name, clips in sheets.items():
        figures = scores([look(clip) for clip in clips], wanted)
        run.say(f"{name}: {figures}")
        run.note(**{name: figures})
    contact_sheet(sheets["clips"][:12], run.folder / "clips.png")
    run.say("; ".join(wish.prompt for wish in wishes[:12]))


def _networks(run: Run) -> Networks | None:
    states = [run.load(name) for name in ("transformer", "decoder", "upsampler")]
    if any(state is None for state in states):
        return None
    transformer, decoder_weights, upsampler = (state.mean for state in states if state is not None)
    demo, decoder, network = DemoNetwork(), make_decoder(), make_upsampler()
    demo.load_state_dict(transformer)
    fix_text_ropes(demo.to(run.device))
    decoder.load_state_dict(decoder_weights)
    network.load_state_dict(upsampler)
    return Networks(demo.eval(), decoder.to(run.device).eval(), network.to(run.device).eval())


if __name__ == "__main__":
    sys.exit(main())
