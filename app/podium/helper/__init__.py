"""The helper process: what would hold the window up is read, counted and looked through there.

Rule for callers: `requests` is light and for the window; `process` is heavy and for the helper process alone.
"""

__all__: list[str] = []
