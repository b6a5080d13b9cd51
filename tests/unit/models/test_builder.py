"""From checkpoint files to modules."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from podium.jobs import LoraSpec
from podium.models import builder as builder_module
from podium.models.builder import Headers, SingleGPUModelBuilder
from podium.models.errors import CheckpointError, CheckpointReason
from podium.models.key_maps import KeyMap, each_key, identity_key_map
from podium.models.lora_keys import LoraReport
from podium.models.module_weights import without_weights
from podium.models.registry import StateDictRegistry
from podium.models.video_vae import VideoEncoder, video_encoder_builder
from podium.models.weight_reader import WeightPolicy

CPU = torch.device("cpu")
WEIGHTS = {
    "transformer_blocks.0.attn1.to_q.weight": torch.arange(12, dtype=torch.float32).reshape(3, 4),
    "transformer_blocks.0.attn1.to_q.bias": torch.ones(3),
    "statistics": torch.tensor([2.0, 3.0, 4.0]),
}
TO_Q = "transformer_blocks.0.attn1.to_q.weight"


class Toy(nn.Module):
    """One layer by an official name, a buffer from the file, and one that the constructor computes."""

    statistics: torch.Tensor
    computed: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        block = nn.Module()
        block.attn1 = nn.Module()
        block.attn1.to_q = nn.Linear(4, 3)
        self.transformer_blocks = nn.ModuleList([block])
        self.register_buffer("statistics", torch.zeros(3))
        self.register_buffer("computed", torch.linspace(0, 1, 5), persistent=False)


def make_toy(headers: Headers) -> Toy:
    assert headers
    return Toy()


def write(path: Path, tensors: Mapping[str, torch.Tensor] = WEIGHTS) -> Path:
    save_file(dict(tensors), path)
    return path


def toy_builder(path: Path, registry: StateDictRegistry | None = None) -> SingleGPUModelBuilder[Toy]:
    return SingleGPUModelBuilder((path,), identity_key_map("toy"), make_toy, registry)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    return write(tmp_path / "toy.safetensors")


@pytest.fixture
def lora(tmp_path: Path) -> LoraSpec:
    stem = "diffusion_model.transformer_blocks.0.attn1.to_q"
    factors = {f"{stem}.lora_A.weight": torch.ones(1, 4), f"{stem}.lora_B.weight": torch.ones(3, 1)}
    return LoraSpec(write(tmp_path / "lora.safetensors", factors), 0.5)


def count_reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    reads: list[str] = []

    def watch(name: str) -> None:
        original = getattr(builder_module, name)

        def counted(*args: object, **kwargs: object) -> object:
            reads.append(name)
            return original(*args, **kwargs)

        monkeypatch.setattr(builder_module, name, counted)

    watch("read_header")
    watch("read_weights")
    return reads


def test_a_built_module_holds_the_files_values_ready_to_run(checkpoint: Path) -> None:
    toy = toy_builder(checkpoint).build(CPU, torch.float32)
    assert toy.state_dict().keys() == WEIGHTS.keys()
    for name, tensor in toy.state_dict().items():
        assert torch.equal(tensor, WEIGHTS[name]), name
    assert not toy.training
    assert not any(parameter.requires_grad for parameter in toy.parameters())


def test_computed_buffers_keep_their_values(checkpoint: Path) -> None:
    toy = toy_builder(checkpoint).build(CPU, torch.bfloat16)
    assert torch.equal(toy.computed, torch.linspace(0, 1, 5))


def test_weights_take_no_memory_before_they_are_read() -> None:
    with without_weights():
        layer = nn.Linear(100_000, 100_000)
    assert layer.weight.is_meta
    assert not torch.empty(1).is_meta


def test_floating_weights_are_cast_and_codes_are_not(tmp_path: Path) -> None:
    tensors = {
        "a": torch.ones(2),
        "codes": torch.ones(2, dtype=torch.float8_e4m3fn),
        "count": torch.ones(2, dtype=torch.int64),
    }

    class Three(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            for name, tensor in tensors.items():
                self.register_buffer(name, torch.empty_like(tensor))

    path = write(tmp_path / "three.safetensors", tensors)
    module = SingleGPUModelBuilder((path,), identity_key_map("three"), lambda _: Three()).build(CPU, torch.bfloat16)
    assert [b.dtype for _, b in module.named_buffers()] == [torch.bfloat16, torch.float8_e4m3fn, torch.int64]


def test_weights_made_in_inference_mode_are_ordinary_tensors(checkpoint: Path) -> None:
    with torch.inference_mode():
        toy = toy_builder(checkpoint).build(CPU, torch.float32)
    assert not any(tensor.is_inference() for tensor in (*toy.parameters(), *toy.buffers()))


def test_a_file_overwritten_in_place_does_not_change_built_weights(checkpoint: Path) -> None:
    toy = toy_builder(checkpoint).build(CPU, torch.float32)
    num_bytes = checkpoint.stat().st_size
    with checkpoint.open("r+b") as file:
        file.write(b"\0" * num_bytes)
    assert torch.equal(toy.statistics, WEIGHTS["statistics"])


def test_a_second_build_reads_nothing_and_shares_the_weights(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builder = toy_builder(checkpoint, StateDictRegistry())
    first = builder.build(CPU, torch.float32)
    reads = count_reads(monkeypatch)
    second = builder.build(CPU, torch.float32)
    assert reads == []
    assert second is not first
    assert [t.data_ptr() for t in second.parameters()] == [t.data_ptr() for t in first.parameters()]


def test_without_a_registry_every_build_reads(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = count_reads(monkeypatch)
    for _ in range(2):
        toy_builder(checkpoint).build(CPU, torch.float32)
    assert reads == ["read_header", "read_weights"] * 2


def test_a_replaced_file_is_read_anew(checkpoint: Path) -> None:
    builder = toy_builder(checkpoint, StateDictRegistry())
    builder.build(CPU, torch.float32)
    write(checkpoint, {**WEIGHTS, "statistics": torch.tensor([9.0, 9.0, 9.0])})
    status = checkpoint.stat()
    os.utime(checkpoint, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert builder.build(CPU, torch.float32).statistics.tolist() == [9.0, 9.0, 9.0]


def test_a_file_replaced_while_it_is_read_is_refused(checkpoint: Path) -> None:
    registry = StateDictRegistry()

    def replace_it(num_read: int, num_bytes: int) -> None:
        if num_read == num_bytes:
            os.utime(checkpoint, ns=(1, 1))

    with pytest.raises(CheckpointError, match="was replaced while it was read"):
        toy_builder(checkpoint, registry).build(CPU, torch.float32, on_progress=replace_it)
    assert len(registry) == 0


def test_progress_counts_bytes_up_to_all_of_them(checkpoint: Path) -> None:
    seen: list[tuple[int, int]] = []
    toy_builder(checkpoint).build(CPU, torch.bfloat16, on_progress=lambda *counts: seen.append(counts))
    total = sum(tensor.nbytes for tensor in WEIGHTS.values())
    assert [num_bytes for _, num_bytes in seen] == [total] * 3
    assert [num_read for num_read, _ in seen] == sorted(num_read for num_read, _ in seen)
    assert seen[-1][0] == total


def test_a_load_that_is_cancelled_leaves_nothing_behind(checkpoint: Path) -> None:
    registry = StateDictRegistry()

    def cancel(num_read: int, num_bytes: int) -> None:
        raise InterruptedError(f"{num_read} of {num_bytes}")

    with pytest.raises(InterruptedError):
        toy_builder(checkpoint, registry).build(CPU, torch.float32, on_progress=cancel)
    assert len(registry) == 0
    assert torch.equal(toy_builder(checkpoint, registry).build(CPU, torch.float32).statistics, WEIGHTS["statistics"])


def without(name: str) -> dict[str, torch.Tensor]:
    return {key: tensor for key, tensor in WEIGHTS.items() if key != name}


@pytest.mark.parametrize(
    ("tensors", "problem"),
    [
        (without(TO_Q), f"missing: {TO_Q} [3, 4]"),
        ({**WEIGHTS, "stray": torch.ones(1)}, "unexpected: stray [1]"),
        ({**WEIGHTS, TO_Q: torch.ones(4, 3)}, f"wrong shape: {TO_Q} is [4, 3], [3, 4] is expected"),
    ],
)
def test_weights_that_do_not_fit_are_refused_by_name_before_any_is_read(
    tensors: dict[str, torch.Tensor], problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "odd.safetensors", tensors)
    reads = count_reads(monkeypatch)
    with pytest.raises(CheckpointError, match=r"“odd\.safetensors” does not hold the network it describes") as refusal:
        toy_builder(path).build(CPU, torch.float32)
    assert refusal.value.details == problem
    assert refusal.value.path == path
    assert refusal.value.reason is CheckpointReason.MISMATCHED
    assert reads == ["read_header"]


def test_a_refusal_names_the_first_few_of_many(tmp_path: Path) -> None:
    path = write(tmp_path / "many.safetensors", {**WEIGHTS, **{f"stray_{i}": torch.ones(1) for i in range(9)}})
    with pytest.raises(CheckpointError, match="9 of its weights do not fit") as refusal:
        toy_builder(path).build(CPU, torch.float32)
    assert refusal.value.details.splitlines()[0] == "unexpected: stray_0 [1]"
    assert refusal.value.details.splitlines()[-1] == "and 4 more"


def test_a_missing_file_is_refused_as_missing(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError) as refusal:
        toy_builder(tmp_path / "nowhere.safetensors").build(CPU, torch.float32)
    assert refusal.value.reason is CheckpointReason.MISSING


def test_two_tensors_for_one_parameter_are_refused(checkpoint: Path) -> None:
    same = KeyMap("same", each_key(lambda _: "statistics"))
    with pytest.raises(CheckpointError, match="the same weight twice"):
        toy_builder(checkpoint).with_key_map(same).build(CPU, torch.float32)


def test_keys_of_several_files_fill_one_module(tmp_path: Path) -> None:
    paths = (
        write(tmp_path / "a.safetensors", without("statistics")),
        write(tmp_path / "b.safetensors", {"statistics": WEIGHTS["statistics"]}),
    )
    toy = SingleGPUModelBuilder(paths, identity_key_map("toy"), make_toy).build(CPU, torch.float32)
    assert torch.equal(toy.statistics, WEIGHTS["statistics"])


def test_a_builder_never_changes(checkpoint: Path, lora: LoraSpec) -> None:
    builder = toy_builder(checkpoint)
    other = builder.with_loras((lora,)).with_registry(StateDictRegistry()).with_key_map(identity_key_map("other"))
    assert builder == toy_builder(checkpoint).with_key_map(builder.key_map)
    assert (builder.loras, builder.registry, builder.key_map.name) == ((), None, "toy")
    assert (other.loras, other.key_map.name) == ((lora,), "other")
    with pytest.raises(FrozenInstanceError):
        builder.loras = ()  # type: ignore[misc] # what is tested


def test_a_lora_changes_its_weights_and_leaves_the_registry_clean(checkpoint: Path, lora: LoraSpec) -> None:
    registry = StateDictRegistry()
    builder = toy_builder(checkpoint, registry)
    clean = builder.build(CPU, torch.float32)
    built = builder.with_loras((lora,)).build_with_report(CPU, torch.float32)
    fused = built.module.state_dict()
    assert torch.equal(fused[TO_Q], WEIGHTS[TO_Q] + 0.5)
    assert torch.equal(clean.state_dict()[TO_Q], WEIGHTS[TO_Q])
    assert torch.equal(builder.build(CPU, torch.float32).state_dict()[TO_Q], WEIGHTS[TO_Q])
    assert fused["statistics"].data_ptr() == clean.statistics.data_ptr()
    assert len(registry) == 1
    assert all(isinstance(report, LoraReport) for report in built.lora_reports)
    assert len(built.lora_reports) == 1


def test_a_policy_treats_weights_as_they_are_read_and_is_cached_apart(checkpoint: Path) -> None:
    registry = StateDictRegistry()
    doubled = WeightPolicy("doubled", lambda key, tensor, dtype: (2 * tensor).to(dtype) if key == TO_Q else tensor)
    toy = toy_builder(checkpoint, registry).with_policy(doubled).build(CPU, torch.float32)
    assert torch.equal(toy.state_dict()[TO_Q], 2 * WEIGHTS[TO_Q])
    assert torch.equal(toy_builder(checkpoint, registry).build(CPU, torch.float32).state_dict()[TO_Q], WEIGHTS[TO_Q])


def test_an_empty_module_is_checked_against_the_headers_alone(
    checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = count_reads(monkeypatch)
    assert toy_builder(checkpoint).make_empty_module().get_parameter(TO_Q).is_meta
    assert reads == ["read_header"]
    with pytest.raises(CheckpointError):
        toy_builder(write(tmp_path / "less.safetensors", without(TO_Q))).make_empty_module()


def test_clean_weights_can_be_had_without_the_module(checkpoint: Path, lora: LoraSpec) -> None:
    loaded = toy_builder(checkpoint, StateDictRegistry()).with_loras((lora,)).load_weights(CPU, torch.float32)
    assert torch.equal(loaded.tensors[TO_Q], WEIGHTS[TO_Q])


def test_modules_of_one_registry_can_be_copied_apart(checkpoint: Path) -> None:
    builder = toy_builder(checkpoint, StateDictRegistry())
    own = copy.deepcopy(builder.build(CPU, torch.float32))
    own.statistics.zero_()
    assert torch.equal(builder.build(CPU, torch.float32).statistics, WEIGHTS["statistics"])


@pytest.mark.parametrize(
    ("config", "details"),
    [
        (None, "no key 'config'"),
        ("{", "no JSON"),
        ("[]", "no JSON object"),
        ("{}", "no section 'vae'"),
        ('{"vae": {"latent_channels": 8}}', "lacks the key 'encoder_blocks'"),
        ('{"vae": {"latent_channels": 8, "encoder_blocks": [["attn", {}]]}}', "block 'attn'"),
    ],
)
def test_a_file_that_does_not_describe_its_network_is_refused(config: str | None, details: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.safetensors"
    save_file({"vae.encoder.conv_in.conv.bias": torch.ones(1)}, path, {} if config is None else {"config": config})
    with pytest.raises(CheckpointError) as refusal:
        video_encoder_builder(path).build(CPU, torch.float32)
    assert details in refusal.value.details


def test_builders_of_one_registry_read_a_monolith_once_each_map(
    monolith: Path, video_encoder: VideoEncoder, registry: StateDictRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = count_reads(monkeypatch)
    again = video_encoder_builder(monolith, registry).build(CPU, torch.float32)
    assert reads == []
    assert again.statistics.mean.data_ptr() == video_encoder.statistics.mean.data_ptr()
