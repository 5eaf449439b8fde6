"""Values of a test that the nightly run adds to those of the quick one."""

from __future__ import annotations

import pytest
from _pytest.mark import ParameterSet


def longer(*values: object) -> list[ParameterSet]:
    """Each as a parameter that is marked long; a tuple as the values of several arguments."""
    return [
        pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.long) for value in values
    ]
