"""The command line: arguments to requests, events to lines, errors to sentences and exit codes.

Rule for callers: building the parser loads nothing heavy; a command loads what it needs.
"""

__all__: list[str] = []
