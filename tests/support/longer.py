"""Values of a test that only the nightly run uses, in addition to those of the quick one."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from _pytest.mark import ParameterSet


def longer(*values: object) -> list[ParameterSet]:
    """Return each as a parameter marked long. A tuple has the values of several arguments."""
    return [
        pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.long) for value in values
    ]


def one_in(many: int, values: Iterable[object]) -> list[object]:
    """Return all values. Of every `many` values in a row, the first is for the quick run, and the others are marked
    long."""
    return [value if place % many == 0 else longer(value)[0] for place, value in enumerate(values)]
