"""How tests compare tensors with golden ones."""

from __future__ import annotations

import os

import torch

COMPARED: list[tuple[str, float]] = []
"""Every comparison of this process, by the test it was made in; `tests.fakes.figures` prints them."""


def relative_error(ours: torch.Tensor, golden: torch.Tensor) -> float:
    """Return ||ours - golden|| / ||golden|| in float64; infinite where they cannot be compared."""
    error = _relative_error(ours, golden)
    COMPARED.append((os.environ.get("PYTEST_CURRENT_TEST", ""), error))
    return error


def _relative_error(ours: torch.Tensor, golden: torch.Tensor) -> float:
    if ours.shape != golden.shape:
        return float("inf")
    difference = (ours.detach().to(torch.float64) - golden.to(torch.float64)).norm().item()
    size = golden.to(torch.float64).norm().item()
    if size == 0.0:
        return 0.0 if difference == 0.0 else float("inf")
    error = difference / size
    return error if error == error else float("inf")  # noqa: PLR0124 -- NaN is what differs from itself


def assert_close_to_golden(
    ours: torch.Tensor, golden: torch.Tensor, tolerance: float = 1e-5, *, name: str = ""
) -> None:
    """Fail unless the relative error of `ours` is at most `tolerance`; NaN and a wrong shape always fail."""
    error = relative_error(ours, golden)
    assert error <= tolerance, (
        f"{name or 'tensor'}: relative error {error:.3e} exceeds {tolerance:.1e} "
        f"(ours {tuple(ours.shape)} {ours.dtype}, golden {tuple(golden.shape)} {golden.dtype})"
    )
