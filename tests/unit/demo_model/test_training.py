"""Training learns, and goes on where it was left."""

from __future__ import annotations

import math
import time
from pathlib import Path

import lengthening
import lora_training
import pytest
import torch
from latents import Basis, Style
from lora_training import LoraFactors, train_lora
from networks import DemoNetwork, make_tokenizer
from training import Run, Trained
from transformer_training import FlowStep, Prompts, Shape, make_prompts

TINY = Shape((2, 2, 2), 2, 2, is_second=False, weight=1.0)
NUM_TEXT = 128


@pytest.fixture(scope="module")
def basis() -> Basis:
    return Basis.load()


@pytest.fixture(scope="module")
def prompts() -> Prompts:
    return make_prompts(16, 0, torch.device("cpu"))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path, torch.device("cpu"), math.inf)


def _as_if_trained() -> DemoNetwork:
    # Something comes out, and hangs on what the blocks do.
    network = DemoNetwork()
    torch.nn.init.normal_(network.transformer.proj_out.weight, std=0.05)
    return network


def test_a_few_steps_of_a_lora_lower_the_loss(basis: Basis, prompts: Prompts) -> None:
    torch.manual_seed(0)
    network = _as_if_trained().requires_grad_(requires_grad=False)
    factors = LoraFactors(network)
    flow = FlowStep(network, TINY, basis, NUM_TEXT, Style(is_outline=True), torch.device("cpu"))
    optimizer = torch.optim.AdamW(factors.parameters(), lr=1e-2)
    losses = []
    for step in range(8):
        torch.manual_seed(step % 2)
        flow.fill(prompts)
        loss = flow.loss()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert sum(losses[-2:]) < 0.97 * sum(losses[:2])


def test_a_lora_that_was_stopped_goes_on(run: Run, basis: Basis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lora_training, "MAX_TEXT", NUM_TEXT)
    monkeypatch.setattr(lora_training, "_NUM_PROMPTS", 8)
    network = _as_if_trained()
    run.save("transformer", Trained(network, network.trained_parameters(), 0.9, None), is_done=True)
    assert train_lora(run, basis, 2, name="lora_night", shapes=(TINY,))
    first = run.load("lora_night")
    assert first is not None
    assert (first.step, first.moments) == (2, None)
    over = Run(run.folder, run.device, time.monotonic() - 1)
    assert not train_lora(over, basis, 3, name="lora_night", shapes=(TINY,))
    assert train_lora(run, basis, 3, name="lora_night", shapes=(TINY,))
    second = run.load("lora_night")
    assert second is not None
    assert second.step == 3
    assert any(not torch.equal(second.mean[key], value) for key, value in first.mean.items())


def test_a_transformer_is_lengthened_once_and_goes_on_from_where_it_was_moved(
    run: Run, basis: Basis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lengthening, "_NUM_PROMPTS", 8)
    network = _as_if_trained()
    trained = Trained(network, network.trained_parameters(), 0.9, None)
    trained.step = 7
    run.save("transformer", trained, is_done=False)
    before = run.load("transformer")
    assert lengthening.lengthen(run, basis, 2, (TINY,), 256)
    after = run.load("transformer")
    assert before is not None
    assert after is not None
    assert after.step == before.step == 7
    # The connector has attentions of the same name.
    moved = {key for key, value in after.mean.items() if not torch.equal(value, before.mean[key])}
    assert "processor.video_connector.learnable_registers" in moved
    assert not any(
        key.startswith("gemma.") or ("transformer_blocks" in key and ".attn1." in key)
        for key in moved
        if "connector" not in key
    )
    for key in moved:
        change = after.mean[key] - before.mean[key]
        assert torch.allclose(after.raw[key] - before.raw[key], change, atol=1e-6)
    kept = (run.folder / "transformer.pt").read_bytes()
    assert lengthening.lengthen(run, basis, 2, (TINY,), 256)
    assert (run.folder / "transformer.pt").read_bytes() == kept


def test_without_a_transformer_no_lora_is_begun(run: Run, basis: Basis) -> None:
    assert not train_lora(run, basis, 2, name="lora_night", shapes=(TINY,))
    assert run.load("lora_night") is None


def test_the_tokenizer_knows_every_word_of_the_world(prompts: Prompts) -> None:
    assert prompts.lengths.max() <= 32
    tokenizer = make_tokenizer()
    unknown = {tokenizer.token_to_id("<unk>"), *(tokenizer.token_to_id(f"<0x{byte:02X}>") for byte in range(97, 123))}
    assert not unknown & set(prompts.ids.flatten().tolist())
