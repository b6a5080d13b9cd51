"""Observable state without widgets: what the window shows, and what can be asked of it.

Rule for callers: everything here lives in the window's thread; values are always valid, and setting an equal one is
silent.
"""

__all__: list[str] = []
