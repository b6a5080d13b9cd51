"""The scripted runner where float32 means float32, for comparisons across devices."""

from __future__ import annotations

from typing import Any

import torch

from tests.fakes.runners import ScriptedRunner


class FullPrecisionRunner(ScriptedRunner):
    """Do what a job says, without the shortcuts that convolutions take by default."""

    def setup(self, **kwargs: Any) -> None:
        torch.backends.cudnn.allow_tf32 = False
        super().setup(**kwargs)
