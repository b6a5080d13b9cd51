"""Print how many bytes of the true-size transformer each rank owns.

    python -m tests.unit.multigpu.print_ownership

One line for each number of ranks, 2 to 8: every rank's share in GB, and the largest as a part of an even one.
"""

from __future__ import annotations

from podium.models.cast_layers import is_cast_layer
from podium.models.module_weights import without_weights
from podium.models.transformer.model import AVTransformer
from podium.multigpu.ownership import shares_of

from tests.gpu.random_model import TRUE

RANKS = range(2, 9)


def true_size_bytes() -> dict[str, tuple[int, int]]:
    """Return the bytes of each tensor of the 2.3 transformer, in bf16 and as fp8-cast."""
    with without_weights():
        model = AVTransformer(TRUE.config)
    return {
        key: (2 * tensor.numel(), (1 if is_cast_layer(key.rpartition(".")[0]) else 2) * tensor.numel())
        for key, tensor in model.state_dict().items()
    }


def table(sizes: dict[str, int]) -> list[str]:
    """Return a line for each number of ranks."""
    total = sum(sizes.values())
    lines = [f"{len(sizes)} tensors, {total / 1e9:.2f} GB"]
    for num_ranks in RANKS:
        shares = shares_of(sizes, num_ranks)
        told = " ".join(f"{share / 1e9:.2f}" for share in shares)
        lines.append(f"{num_ranks} ranks: {told}; largest {max(shares) * num_ranks / total:.3f} of an even share")
    return lines


def main() -> None:
    """Print."""
    sizes = true_size_bytes()
    for index, name in enumerate(("bf16", "fp8-cast")):
        print(name, *table({key: of_both[index] for key, of_both in sizes.items()}), sep="\n")


if __name__ == "__main__":
    main()
