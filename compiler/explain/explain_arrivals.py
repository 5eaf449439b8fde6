"""When the operations of a load are due, and what of it is bounded, in words, for `bench plan`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from benchbrief.compiler.explain.plain_text import number
from benchbrief.compiler.extensions.tool_spec import Bound
from benchbrief.compiler.planning.plan import Arrivals
from benchbrief.dsl.diagnostics.plain_amounts import duration

_TIMES = {"timeout": "timeout_s", "give_up": "give_up_s"}
"""The fields of the bounds that are times."""


def describe_arrivals(arrivals: Arrivals) -> str:
    """Return their kind with the bounds that the spec sets: `poisson; drops 1 %, lag 50 %`."""
    bounds = ", ".join(_bounds(arrivals))
    return f"{arrivals.kind}; {bounds}" if bounds else arrivals.kind


def _bounds(arrivals: Arrivals) -> Iterator[str]:
    for name in get_args(Bound):
        field = _TIMES.get(name, name)
        value = getattr(arrivals, field)
        if value == Arrivals.model_fields[field].default:
            continue
        if name in _TIMES:
            yield f"{name} {duration(value)}"
        else:
            yield f"{name} {number(value) if name == 'queue' else f'{100 * value:g} %'}"
