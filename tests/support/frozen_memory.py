"""Exempts the memory of a process from garbage collection before other processes are forked from it."""

from __future__ import annotations

import gc

from benchbrief.compiler.compile import memory_is_frozen


def freeze_memory() -> None:
    """Freeze the memory, and record that it is frozen. Otherwise, each fork would take a tenth of a second to find this
    out."""
    gc.collect()
    gc.freeze()
    memory_is_frozen.cache_clear()
    assert memory_is_frozen()
