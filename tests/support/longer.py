"""Values of a test that only the nightly run uses, in addition to the values of the quick run."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from _pytest.mark import ParameterSet


def longer(*values: object) -> list[ParameterSet]:
    """Return each value as a parameter that is marked long. A tuple has the values of several arguments."""
    return [
        pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.long) for value in values
    ]


def one_in(many: int, values: Iterable[object]) -> list[object]:
    """Return all values. In each group of `many` successive values, the first is for the quick run, and the others are
    marked long."""
    return [value if place % many == 0 else longer(value)[0] for place, value in enumerate(values)]
