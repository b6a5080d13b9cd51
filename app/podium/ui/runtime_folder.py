"""Where the processes of one login meet."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def runtime_folder() -> Path:
    """Return the login's folder for sockets; the folder for temporary files where there is none.

    Not by platformdirs, which warns in the second case and makes a folder that anybody may have made before.
    """
    named = os.environ.get("XDG_RUNTIME_DIR", "")
    usual = Path("/run/user") / str(os.getuid() if hasattr(os, "getuid") else 0)
    found = (path for path in (Path(named) if named else None, usual) if path is not None and path.is_dir())
    return next(found, Path(tempfile.gettempdir()))
