"""What the window keeps from one day to the next: queue, history, timings, prompts. SQLite; no Qt, no torch.

One `Library` is opened in the composition root and used in one thread.
"""

from podium.library.errors import LibraryError
from podium.library.store import Library

__all__ = ["Library", "LibraryError"]
