"""`python packaging/demo_model train FOLDER [--seconds N]`: train the demo model's networks, or go on training."""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path

import numpy as np
import torch
from latents import Basis, Colours, Style, View, as_tensor, scene_pixels
from metric import look, scores
from networks import DemoNetwork, make_decoder, make_tokenizer, make_upsampler
from PIL import Image
from sampling import Networks, sample
from torch import Tensor
from training import Run
from transformer_training import fix_text_ropes, train_transformer
from upsampler_training import train_upsampler
from vae_training import train_vae
from world import Attributes, place, sample_attributes, sentence

GRID = (5, 4, 6)


def main() -> None:
    """Do what the arguments say."""
    parser = argparse.ArgumentParser(prog="packaging/demo_model", description=__doc__)
    parser.add_argument("verb", choices=("train", "look"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=3600.0, help="save the states and end after so many seconds")
    parser.add_argument("--stages", nargs="*", default=("vae", "upsampler", "transformer"))
    parser.add_argument("--steps", type=int, help="of every stage; for a trial")
    values = parser.parse_args()
    values.folder.mkdir(parents=True, exist_ok=True)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = torch.backends.cudnn.benchmark = True
    run = Run(values.folder, device, time.monotonic() + values.seconds)
    basis = Basis.fit().to(device)
    if values.verb == "train":
        trainings = {"vae": train_vae, "upsampler": train_upsampler, "transformer": train_transformer}
        for stage in values.stages:
            more = {} if values.steps is None else {"num_steps": values.steps}
            if not trainings[stage](run, basis, **more):
                run.say(f"the time is up in {stage}; run again to go on")
                break
    look_at_clips(run)


def look_at_clips(run: Run, num_clips: int = 64) -> None:
    """Sample clips of held-out prompts, score them, and draw a contact sheet."""
    networks = _networks(run)
    if networks is None:
        return
    rng = random.Random(777)
    wanted = [sample_attributes(rng, is_held_out=True) for _ in range(num_clips)]
    prompts = [sentence(rng, row) for row in wanted]
    tokens = [item.ids for item in make_tokenizer().encode_batch(prompts)]
    longest = max(map(len, tokens))
    ids = torch.tensor([item + [0] * (longest - len(item)) for item in tokens]).to(run.device)
    lengths = torch.tensor([len(item) for item in tokens]).to(run.device)
    large, small = sample(run, networks, ids, lengths, grid=GRID, seed=0)
    for name, clips in (("clips", large), ("drafts", small), ("rendered", _rendered(wanted))):
        figures = scores([look(clip / 2 + 0.5) for clip in clips], wanted)
        run.say(f"{name}: {figures}")
        run.note(**{name: figures})
    contact_sheet(large[:12], run.folder / "clips.png")
    run.say("; ".join(prompts[:12]))


def contact_sheet(clips: Tensor, path: Path, columns: int = 6) -> None:
    """Draw frames of clips [B, 3, F, H, W] from -1 to 1, a row a clip."""
    frames = torch.linspace(0, clips.shape[2] - 1, columns).round().long()
    pictures = ((clips[:, :, frames] + 1) * 127.5).clamp(0, 255).byte().cpu().permute(0, 3, 2, 4, 1)
    rows = pictures.reshape(len(clips) * clips.shape[3], columns * clips.shape[4], 3).numpy()
    Image.fromarray(np.ascontiguousarray(rows)).save(path)


def _rendered(wanted: list[Attributes]) -> Tensor:
    attributes = as_tensor(wanted)
    view = View.whole(len(wanted), (GRID[0], 2 * GRID[1], 2 * GRID[2]), torch.device("cpu"))
    uniform = torch.rand(len(wanted), 4, generator=torch.Generator().manual_seed(1))
    return scene_pixels(place(attributes, 1.5, uniform), Colours.of(attributes, Style()), view)[0]


def _networks(run: Run) -> Networks | None:
    states = [run.load(name) for name in ("transformer", "vae", "upsampler")]
    if any(state is None for state in states):
        return None
    transformer, vae, upsampler = (state.mean for state in states if state is not None)
    demo, decoder, network = DemoNetwork(), make_decoder(), make_upsampler()
    demo.load_state_dict(transformer)
    fix_text_ropes(demo.to(run.device))
    prefix = "decoder."
    decoder.load_state_dict({k.removeprefix(prefix): v for k, v in vae.items() if k.startswith(prefix)})
    network.load_state_dict(upsampler)
    return Networks(demo.eval(), decoder.to(run.device).eval(), network.to(run.device).eval())


if __name__ == "__main__":
    main()
