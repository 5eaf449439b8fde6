"""Errors that say their hint themselves: Python shows of an exception what `str` says."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from benchbrief.dsl.bench_error import BenchError

Params = ParamSpec("Params")
Made = TypeVar("Made")


def with_hints(function: Callable[Params, Made]) -> Callable[Params, Made]:
    """Return the function; `str` of a BenchError that it raises has the hint in a second line."""

    @wraps(function)
    def called(*args: Params.args, **named: Params.kwargs) -> Made:
        try:
            return function(*args, **named)
        except BenchError as error:
            error.says_hint = True
            raise

    return called
