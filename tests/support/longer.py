"""Values of a test that only the nightly run uses, in addition to those of the quick one."""

from __future__ import annotations

import pytest
from _pytest.mark import ParameterSet


def longer(*values: object) -> list[ParameterSet]:
    """Return each as a parameter marked long. A tuple has the values of several arguments."""
    return [
        pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.long) for value in values
    ]
