"""Values of a test that only the nightly run uses, in addition to the values of the quick run."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from _pytest.mark import ParameterSet


def longer(*values: object) -> list[ParameterSet]:
    """Return each value as a parameter that is marked long. A tuple has the values of several arguments."""
    return [_longer(value) for value in values]


def _longer(value: object) -> ParameterSet:
    if isinstance(value, ParameterSet):
        return pytest.param(*value.values, marks=[*value.marks, pytest.mark.long], id=value.id)
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.long)


def one_in(many: int, values: Iterable[object]) -> list[object]:
    """Return all values. In each group of `many` successive values, the first is for the quick run, and the others are
    marked long."""
    return [value if place % many == 0 else longer(value)[0] for place, value in enumerate(values)]
