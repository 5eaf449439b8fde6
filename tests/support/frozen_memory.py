"""Exempts the memory of a process from garbage collection before other processes are forked from it."""

from __future__ import annotations

import gc

from benchbrief.dsl.pause_collection import memory_is_frozen


def freeze_memory() -> None:
    """Take the memory out of garbage collection, and remember that this is done. Otherwise, each forked process would
    spend a tenth of a second to find it out."""
    gc.collect()
    gc.freeze()
    memory_is_frozen.cache_clear()
    assert memory_is_frozen()
