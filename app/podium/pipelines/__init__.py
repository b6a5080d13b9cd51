"""Recipes that turn a request into a clip, each made of blocks with public builder slots.

Rule for callers: import the module that does the work. The package itself loads nothing, so that its torch-free modules
stay torch-free for the window and the command line.
"""

__all__: list[str] = []
