"""Texts of the command line to values; what is no such value is refused with its sentence."""

from __future__ import annotations

import argparse

AUTO = "auto"
"""In place of a number of seconds: as long as the prompt asks for."""


def whole_number(text: str) -> int:
    """Return a whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"“{text}” is no whole number") from None


def number(text: str) -> float:
    """Return a number."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"“{text}” is no number") from None


def seconds(text: str) -> float | str:
    """Return a number of seconds, or `AUTO`."""
    if text == AUTO:
        return text
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"“{text}” is neither a number of seconds nor “{AUTO}”") from None


def indices(text: str) -> tuple[int, ...]:
    """Return whole numbers with commas between them."""
    return tuple(whole_number(index) for index in text.split(","))


def keyframes(text: str) -> int | tuple[int, ...]:
    """Return how many key frames, or at which frames: “8,” is the one frame 8, where “8” is eight of them."""
    return indices(text.rstrip(",")) if "," in text else whole_number(text)


def number_of(option: str, text: str) -> float:
    """Return a number that belongs to an option."""
    try:
        return number(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"argument {option}: {error}") from None
