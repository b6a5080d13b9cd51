"""The diffusion decoder against diffusers' class, loaded by itself, and its promises on frames that go in order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
import torch
from diffusers.models.autoencoders.ltx2_diffusion_decoder import (
    LTX2VideoDiffusionDecoderModel,
    LTX2VideoVaeNeighborhoodAttention,
    LTX2VideoVaeNeighborhoodAttnProcessor,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from torch import Tensor

from podium.models.diffusion_decoder import (
    DiffusionVideoDecoder,
    SeededFrameNoise,
    diffusion_decoder_builder,
    frame_decoder_builder,
)
from podium.models.diffusion_decoder_blocks import Frames, Step, push_through
from podium.models.diffusion_decoder_config import DiffusionDecoderConfig
from podium.models.errors import CheckpointError
from podium.models.neighborhood_attention import Axis, Neighborhood
from podium.models.tile_layout import TileSizeConfig
from podium.models.tiled_decoding import FramesDone, TileDone
from podium.models.video_vae import VideoDecoder, video_encoder_builder, video_statistics_builder

from tests.fakes.closeness import assert_close_to_golden, relative_error
from tests.tiny_pack import TinyPack

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def path(tiny_pack_2_5_diffusion: TinyPack) -> Path:
    return tiny_pack_2_5_diffusion.model_paths.video_path


@pytest.fixture(scope="module")
def decoder(path: Path) -> DiffusionVideoDecoder:
    return diffusion_decoder_builder(path).build(CPU, torch.float32)


class GatheredWindows:
    """Attention by its definition: each query gathers its own window, found one axis at a time."""

    def __call__(
        self, attn: LTX2VideoVaeNeighborhoodAttention, hidden_states: Tensor, block_mask: object = None
    ) -> Tensor:
        del block_mask
        query, key, value = (tensor.flatten(1, 3) for tensor in attn.project_qkv(hidden_states))
        cells = window_cells(hidden_states.shape[1:4], attn.kernel_size)
        scores = torch.einsum("bqnd,bqknd->bqkn", query, key[:, cells])
        read = torch.einsum("bqkn,bqknd->bqnd", scores.softmax(2), value[:, cells])
        out: Tensor = attn.to_out[0](read.flatten(2).view(hidden_states.shape))
        return out


def window_cells(grid: torch.Size, kernel: tuple[int, ...]) -> Tensor:
    """Return the numbers [queries, keys] of the cells in each cell's window."""
    axes = []
    for length, size in zip(grid, kernel, strict=True):
        first = (torch.arange(length) - size // 2).clamp(0, length - size)
        axes.append(first[:, None] + torch.arange(size))
    times, rows, columns = axes
    numbers = (
        times[:, None, None, :, None, None] * grid[1] * grid[2]
        + rows[None, :, None, None, :, None] * grid[2]
        + columns[None, None, :, None, None, :]
    )
    return numbers.flatten(0, 2).flatten(1)


FOLDED = {".attn.proj": "gate_msa", ".mlp.w_down": "gate_mlp", ".context_proj": "gate_ctx"}
RENAMED = {
    "t_embedder.mlp.0": "t_embedder.timestep_embedder.linear_1",
    "t_embedder.mlp.2": "t_embedder.timestep_embedder.linear_2",
    ".attn.proj.": ".attn.to_out.0.",
    ".q_norm.": ".norm_q.",
    ".k_norm.": ".norm_k.",
    "per_channel_statistics.mean-of-means": "latents_mean",
    "per_channel_statistics.std-of-means": "latents_std",
}
UNREAD = ("coarse_", "type_emb", ".gate_")


def diffusers_weights(stored: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the weights of the file under diffusers' names: gates folded, and the joint projection in three."""
    weights = {}
    for key, tensor in stored.items():
        if key.startswith("encoder.") or any(word in key for word in UNREAD):
            continue
        layer, _, kind = key.rpartition(".")
        ending = next((end for end in FOLDED if layer.endswith(end)), "")
        gate = stored.get(f"{layer.removesuffix(ending)}.{FOLDED[ending]}") if ending else None
        weight = tensor if gate is None else tensor * (gate[:, None] if kind == "weight" else gate)
        name = key
        for old, new in RENAMED.items():
            name = name.replace(old, new)
        if ".qkv." not in name:
            weights[name] = weight
            continue
        for letter, part in zip("qkv", weight.chunk(3), strict=True):
            weights[name.replace("qkv", f"to_{letter}")] = part
    return weights


@pytest.fixture(scope="module")
def oracle(path: Path) -> LTX2VideoDiffusionDecoderModel:
    with safe_open(path, "pt") as file:
        config = json.loads(file.metadata()["config"])["vae"]["decoder"]
        stored = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - it is no mapping
    network = LTX2VideoDiffusionDecoderModel(
        decoder_head_dim=config["head_dim"],
        decoder_stage_channels=config["stage_channels"],
        decoder_stage_depths=config["stage_depths"],
        decoder_stage_kernels=config["stage_kernels"][:4],
        decoder_upsample_strides=[stride for stride, _ in config["upsamples"]],
        decoder_upsample_channel_reductions=[reduction for _, reduction in config["upsamples"]],
        decoder_stage5_kernel=config["stage5_kernel"],
        decoder_t_emb_dim=config["t_emb_dim"],
    )
    network.load_state_dict(diffusers_weights(stored))
    network.set_attn_processor(GatheredWindows())
    return network.eval()


def latent(num_frames: int, height: int = 3, width: int = 3, seed: int = 1) -> Tensor:
    return torch.randn(1, 128, num_frames, height, width, generator=torch.Generator().manual_seed(seed))


def expected_pixels(oracle: LTX2VideoDiffusionDecoderModel, normal: Tensor) -> Tensor:
    """Return what diffusers' class decodes, given the noise that is ours."""
    natural = normal * oracle.latents_std.view(1, -1, 1, 1, 1) + oracle.latents_mean.view(1, -1, 1, 1, 1)
    context = oracle.decoder.forward_stage_4(oracle.decoder.forward_stages_1_to_3(natural))
    shape = (3, 32 * normal.shape[3], 32 * normal.shape[4])
    noise = torch.stack([SeededFrameNoise()(frame, shape) for frame in range(context.shape[1])], dim=1)
    pixels: Tensor = oracle.decoder.denoise(context, noise.expand(len(normal), -1, -1, -1, -1), 1)
    return pixels


@torch.inference_mode()
@pytest.mark.parametrize("shape", [(3, 3, 3), (4, 3, 4)])
def test_a_latent_is_decoded_to_the_pixels_of_diffusers(
    decoder: DiffusionVideoDecoder, oracle: LTX2VideoDiffusionDecoderModel, shape: tuple[int, int, int]
) -> None:
    assert_close_to_golden(decoder.decode(latent(*shape)), expected_pixels(oracle, latent(*shape)))


@torch.inference_mode()
@pytest.mark.parametrize("num_frames", [1, 2])
def test_a_clip_shorter_than_the_first_window_is_decoded_as_if_its_last_frame_stood_on(
    decoder: DiffusionVideoDecoder, oracle: LTX2VideoDiffusionDecoderModel, num_frames: int
) -> None:
    short = latent(num_frames)
    filled = torch.cat([short, short[:, :, -1:].expand(-1, -1, 3 - num_frames, -1, -1)], dim=2)
    expected = expected_pixels(oracle, filled)[:, :, : 8 * num_frames - 7]
    assert_close_to_golden(decoder.decode(short), expected)


@torch.inference_mode()
def test_parts_are_the_whole_and_come_in_order(decoder: DiffusionVideoDecoder) -> None:
    whole = decoder.decode(latent(5))
    parts = list(decoder.decode_parts(latent(5), TileSizeConfig()))
    frames = [part for part in parts if isinstance(part, FramesDone)]
    ends = list(accumulate(part.num_frames for part in frames))
    assert [part.first_frame for part in frames] == [0, *ends[:-1]]
    assert torch.equal(torch.cat([part.pixels_BCFHW for part in frames], dim=2), whole)  # type: ignore[misc] # none is None
    assert isinstance(parts[0], TileDone)
    assert max(part.num_frames for part in frames) <= 8


@torch.inference_mode()
def test_frames_come_out_before_the_last_latent_frame_has_gone_in(decoder: DiffusionVideoDecoder) -> None:
    done = [part for part in decoder.decode_parts(latent(9), TileSizeConfig()) if isinstance(part, TileDone)]
    parts = decoder.decode_parts(latent(9), TileSizeConfig())
    taken = next(index for index, part in enumerate(parts) if isinstance(part, FramesDone))
    assert taken < done[-1].total - 4


@torch.inference_mode()
def test_what_is_kept_between_frames_does_not_grow_with_the_clip(decoder: DiffusionVideoDecoder) -> None:
    def most_kept(num_frames: int) -> int:
        steps, grid = decoder.decoder.context_steps((num_frames + 2, 3, 3))
        steps += decoder.decoder.denoising_steps((8 * num_frames - 7, *grid[1:]), decoder.noise)
        kept = []
        for _ in push_frames(steps, num_frames):
            kept.append(sum(numbers_of(vars(step)) for step in steps))
        return max(kept)

    assert most_kept(12) == most_kept(8)


def push_frames(steps: list[Step], num_frames: int) -> Iterator[Frames]:
    for index in range(num_frames):
        yield from push_through(steps, Frames(torch.full((1, 1, 3, 3, 128), float(index))))


def numbers_of(value: object) -> int:
    """Count the numbers in all tensors that an attribute holds."""
    if isinstance(value, Tensor):
        return value.numel()
    if isinstance(value, dict):
        return sum(map(numbers_of, value.values()))
    if isinstance(value, tuple | list):
        return sum(map(numbers_of, value))
    return sum(numbers_of(getattr(value, name)) for name in ("hidden", "context") if hasattr(value, name))


@torch.inference_mode()
def test_noise_hangs_on_seed_and_frame_alone(decoder: DiffusionVideoDecoder, path: Path) -> None:
    torch.manual_seed(5)
    first = decoder.decode(latent(3))
    state = torch.get_rng_state()
    torch.manual_seed(6)
    assert torch.equal(decoder.decode(latent(3)), first)
    torch.manual_seed(5)
    assert torch.equal(torch.get_rng_state(), state)
    other = diffusion_decoder_builder(path).build(CPU, torch.float32)
    other.noise = SeededFrameNoise(1)
    assert 0.05 < relative_error(other.decode(latent(3)), first) < 2.0


@torch.inference_mode()
def test_samples_of_a_batch_are_decoded_alone(decoder: DiffusionVideoDecoder) -> None:
    both = torch.cat([latent(3), latent(3, seed=2)])
    for sample, pixels in zip(both, decoder.decode(both), strict=True):
        assert_close_to_golden(pixels[None], decoder.decode(sample[None]))


@torch.inference_mode()
def test_in_bfloat16_the_pixels_stay_close(decoder: DiffusionVideoDecoder, path: Path) -> None:
    half = diffusion_decoder_builder(path).build(CPU, torch.bfloat16)
    assert half.dtype is torch.bfloat16
    assert_close_to_golden(half.decode(latent(3)), decoder.decode(latent(3)), 2e-2)


def test_the_file_shares_encoder_and_statistics_with_the_convolutional_one(path: Path, tiny_pack_2_5: TinyPack) -> None:
    other = tiny_pack_2_5.model_paths.video_path
    for builder in (video_encoder_builder, video_statistics_builder):
        weights = builder(path).load_weights(CPU, torch.float32).tensors
        others = builder(other).load_weights(CPU, torch.float32).tensors
        assert set(weights) == set(others)
        assert all(torch.equal(weights[name], others[name]) for name in weights)


def test_one_builder_takes_either_decoder(path: Path, tiny_pack: Path, tiny_pack_2_5: TinyPack) -> None:
    assert isinstance(frame_decoder_builder(path).build(CPU, torch.float32), DiffusionVideoDecoder)
    for other in (tiny_pack / "ltx-2.0-tiny.safetensors", tiny_pack_2_5.model_paths.video_path):
        assert isinstance(frame_decoder_builder(other).build(CPU, torch.float32), VideoDecoder)


def test_a_convolutional_decoder_in_the_place_of_the_diffusion_decoder_is_refused(tiny_pack_2_5: TinyPack) -> None:
    with pytest.raises(CheckpointError, match="is not that of an LTX-2 model"):
        diffusion_decoder_builder(tiny_pack_2_5.model_paths.video_path).make_empty_module()


def official_config() -> dict[str, Any]:
    return {
        "decoder": {
            "in_channels": 128,
            "head_dim": 64,
            "stage_channels": [2048, 1024, 512, 512, 256],
            "stage_depths": [4, 6, 4, 2, 8],
            "stage_kernels": [[3, 7, 7], [3, 7, 7], [3, 5, 5], [3, 5, 5], [11, 11, 11]],
            "stage5_kernel": [11, 11, 11],
            "upsamples": [[[1, 2, 2], 2], [[2, 1, 1], 2], [[2, 2, 2], 1], [[2, 2, 2], 2]],
        }
    }


def test_the_published_decoders_sizes_are_those_of_diffusers_defaults() -> None:
    config = DiffusionDecoderConfig.from_official(official_config())
    with torch.device("meta"):
        ours, theirs = DiffusionVideoDecoder(official_config()), LTX2VideoDiffusionDecoderModel()
    assert sum(p.numel() for p in ours.decoder.parameters()) == sum(p.numel() for p in theirs.parameters())
    assert (config.time_factor, config.num_ghosts, config.min_latent_frames) == (8, 2, 3)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"default_num_inference_steps": 4}, "default_num_inference_steps is 4"),
        ({"resampler_kind": "conv"}, "resampler_kind is 'conv'"),
        ({"stage5_channels": 128}, "stage5_channels is 128"),
        ({"stage_channels": [2048, 1024, 512, 256, 256]}, "do not shrink"),
        ({"stage_depths": [1, 1]}, "stages"),
        ({"head_dim": 12}, "heads of 12"),
    ],
)
def test_what_no_published_decoder_has_is_refused(changes: dict[str, Any], words: str) -> None:
    config = official_config()
    config["decoder"] |= changes
    with pytest.raises(ValueError, match=words):
        DiffusionDecoderConfig.from_official(config)


SIZES = st.tuples(st.integers(1, 9), st.integers(1, 19), st.integers(1, 19))
KERNELS = st.tuples(*[st.sampled_from([1, 3, 5, 7])] * 3)


@settings(max_examples=25)
@given(grid=SIZES, kernel=KERNELS, data=st.data())
def test_tiles_attend_exactly_the_window_of_each_query(
    grid: tuple[int, int, int], kernel: tuple[int, int, int], data: st.DataObject
) -> None:
    generator = torch.Generator().manual_seed(1)
    query, key, value = torch.randn(3, 1, *grid, 2, 8, generator=generator).unbind(0)
    neighborhood = Neighborhood(*map(Axis, grid, kernel))
    first = data.draw(st.integers(0, grid[0] - 1))
    last = data.draw(st.integers(first, grid[0] - 1))
    keys = neighborhood.time.keys_of(range(first, last + 1))
    near = slice(keys.start, keys.stop)
    ours = neighborhood.attend(query[:, first : last + 1], (key[:, near], value[:, near]), (first, keys.start))

    clamped = tuple(min(size, length) for size, length in zip(kernel, grid, strict=True))
    cells = window_cells(torch.Size(grid), clamped)
    scores = torch.einsum("bqnd,bqknd->bqkn", query.flatten(1, 3), key.flatten(1, 3)[:, cells]) / 8**0.5
    whole = torch.einsum("bqkn,bqknd->bqnd", scores.softmax(2), value.flatten(1, 3)[:, cells]).view_as(query)
    assert torch.allclose(ours, whole[:, first : last + 1], atol=1e-5)


@given(num_cells=st.integers(1, 40), kernel=st.sampled_from([1, 3, 5, 11]), num_arrived=st.integers(0, 40))
def test_a_query_is_ready_when_the_last_cell_of_its_window_has_arrived(
    num_cells: int, kernel: int, num_arrived: int
) -> None:
    axis = Axis(num_cells, kernel)
    ready = [axis.first_key(query) + axis.window <= num_arrived for query in range(num_cells)]
    assert axis.num_ready(num_arrived) == sum(ready)


@torch.inference_mode()
def test_windows_are_those_of_diffusers_own_attention(oracle: LTX2VideoDiffusionDecoderModel) -> None:
    attention = oracle.decoder.det_stages[3][0].attn
    hidden = torch.randn(1, 4, 6, 7, 32, generator=torch.Generator().manual_seed(1))
    with pytest.warns(UserWarning, match="without torch.compile"):
        expected = LTX2VideoVaeNeighborhoodAttnProcessor()(attention, hidden)
    assert_close_to_golden(GatheredWindows()(attention, hidden), expected)
