"""Checkpoints, their inspection, the builders of modules, and LoRAs.

Rule for callers: import the module that does the work. The package itself loads nothing, so that its torch-free modules
stay torch-free for the window and the command line.
"""

__all__: list[str] = []
