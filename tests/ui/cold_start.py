"""Measure the window's cold start: from exec to the first paint, after which input is taken.

    python -m tests.ui.cold_start [--runs 5] [--keep-caches]

prints the seconds of each run and their median. As root, the system's file caches are dropped before each run.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

# What stands behind the window is started by a timer of no time after the first paint.
CHILD = """
import sys, time
from pathlib import Path
from podium.ui import app

def tell(window):
    print(time.time(), flush=True)
    window._application.exit(0)

app.PodiumWindow._start_behind = tell
folder = Path(sys.argv[1])
sys.exit(app.run_window(app.WindowPlaces(folder / "settings.toml", folder, folder, folder)))
"""


def drop_caches() -> bool:
    """Drop the system's file caches; say whether that was possible."""
    os.sync()
    try:
        Path("/proc/sys/vm/drop_caches").write_text("3", encoding="ascii")
    except OSError:
        return False
    return True


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--keep-caches", action="store_true")
    values = parser.parse_args()
    environment = {"QT_QPA_PLATFORM": "offscreen", **os.environ}
    times_s = []
    for _ in range(values.runs):
        is_cold = not values.keep_caches and drop_caches()
        with tempfile.TemporaryDirectory() as folder:
            began_s = time.time()
            command = [sys.executable, "-c", CHILD, folder]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            times_s.append(float(done.stdout) - began_s)
        print(f"{times_s[-1]:.3f} s, caches {'dropped' if is_cold else 'warm'}")
    print(f"median of {values.runs}: {median(times_s):.3f} s")


if __name__ == "__main__":
    main()
