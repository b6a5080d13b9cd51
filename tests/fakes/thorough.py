"""Cases that `packaging/dev thorough` runs and the gate leaves out: more of what other cases show already."""

from __future__ import annotations

import pytest
from _pytest.mark import ParameterSet


def thorough(*values: object) -> ParameterSet:
    """Return a case of a parametrised test that takes minutes in all and is left out unless asked for."""
    return pytest.param(*values, marks=pytest.mark.thorough)
