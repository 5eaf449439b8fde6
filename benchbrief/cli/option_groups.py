"""Groups of options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def with_options(function: F, *options: Callable[[Any], Any]) -> F:
    """Give a command these options, which its help lists in this order."""
    for option in reversed(options):
        function = option(function)
    return function
