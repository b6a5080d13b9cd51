"""Everything that is measured on one GPU, with one command.

    python -m tests.gpu.one_gpu FOLDER [--parts share,swap] [--small] [--seconds 580]

prints each figure as it comes, with what is allowed, and keeps them in FOLDER/figures.md and figures.json, all that was
printed in FOLDER/output.log. `--small` runs every part tiny and on the CPU.
"""

from __future__ import annotations

import sys

from tests.gpu.parts import Part, run_parts

PARTS = (
    Part("share", "tests.gpu.measure_share:share", limit_s=300, expected_s=160),
    Part("drafts", "tests.gpu.measure_share:drafts", limit_s=120, expected_s=70),
    Part("swap", "tests.gpu.measure_lora_swap:swap", limit_s=180, expected_s=90),
    Part("builders", "tests.gpu.run_tests:builders", limit_s=200, expected_s=100),
    Part("memory", "tests.gpu.measure_plan:memory", limit_s=100, expected_s=50),
    Part("fp8", "tests.gpu.measure_fp8:fp8", limit_s=240, expected_s=140),
    Part("guided", "tests.gpu.measure_share:guided", limit_s=240, expected_s=150),
)

if __name__ == "__main__":
    sys.exit(run_parts(PARTS, "On one GPU", num_ranks=1))
