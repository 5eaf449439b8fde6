"""Keeps what a process has in memory out of collections, before others are forked from it."""

from __future__ import annotations

import gc

from benchbrief.compiler.compile import memory_is_frozen


def freeze_memory() -> None:
    """Freeze it, and let each fork know it: to find out would take a tenth of a second."""
    gc.collect()
    gc.freeze()
    memory_is_frozen.cache_clear()
    assert memory_is_frozen()
