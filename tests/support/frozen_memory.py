"""Exempts the memory of a process from garbage collection before other processes are forked from it."""

from __future__ import annotations

import gc

from benchbrief.compiler.compile import memory_is_frozen


def freeze_memory() -> None:
    """Freeze the memory, and record that. So forks need not spend a tenth of a second on finding out."""
    gc.collect()
    gc.freeze()
    memory_is_frozen.cache_clear()
    assert memory_is_frozen()
