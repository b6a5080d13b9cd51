"""Podium: video with sound from a prompt, on the artist's own machine."""

__version__ = "0.1.0"
