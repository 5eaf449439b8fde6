"""Lets the garbage collector run rarely, or not at all for a while."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache


@cache
def memory_is_frozen() -> bool:
    """Return whether this process exempts some memory from garbage collection. The result is kept, since finding out
    means looking at every exempted object."""
    return gc.get_freeze_count() > 0


@contextmanager
def no_collection() -> Iterator[None]:
    """Pause the garbage collector, and count all objects as old afterwards.

    A compilation makes many objects that all stay in use and form no cycles. Scanning them repeatedly would take a
    sixth of its time, and even scanning them once at the end would take a twelfth.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if not memory_is_frozen():
                gc.freeze()
                gc.unfreeze()  # all objects count as old now
            gc.enable()


@contextmanager
def rare_collection() -> Iterator[None]:
    """Let the garbage collector scan only after half a million new objects, which an average brief does not make. So
    the memory stays bounded, however many cells a brief has."""
    before = gc.get_threshold()
    gc.set_threshold(500_000, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
