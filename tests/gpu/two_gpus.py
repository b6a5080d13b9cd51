"""Everything that is measured on two GPUs or more, one rank on each over NCCL, with one command.

    python -m tests.gpu.two_gpus FOLDER [--parts forwards,swap] [--small] [--seconds 580]

prints each figure as it comes, with what is allowed, and keeps them in FOLDER/figures.md and figures.json, all that was
printed in FOLDER/output.log. `--small` runs every part tiny, on two ranks on the CPU over gloo. NVLink multicast is
left off.
"""

from __future__ import annotations

import sys

from tests.gpu.parts import Part, run_parts

PARTS = (
    Part("forwards", "tests.gpu.measure_forwards:forwards", limit_s=320, expected_s=230),
    Part("replays", "tests.gpu.measure_forwards:replays", limit_s=200, expected_s=130),
    Part("builders", "tests.gpu.run_tests:builders", limit_s=150, expected_s=60),
    Part("swap", "tests.gpu.measure_lora_swap:swap", limit_s=120, expected_s=70),
    Part("decode", "tests.gpu.measure_decode:decode", limit_s=90, expected_s=40),
    Part("stop", "tests.gpu.measure_stop:stop", limit_s=90, expected_s=40),
    Part("apart", "tests.gpu.measure_apart:apart", limit_s=60, expected_s=25),
    Part("fleet", "tests.gpu.run_tests:fleet", limit_s=200, expected_s=120),
    Part("memory", "tests.gpu.measure_plan:memory", limit_s=100, expected_s=50),
)

if __name__ == "__main__":
    sys.exit(run_parts(PARTS, "On several GPUs", num_ranks=None))
