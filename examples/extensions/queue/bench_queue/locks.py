"""File locks, which are released when the process that holds them ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


def take(path: Path) -> int | None:
    """Lock a file and return its descriptor. Closing the descriptor releases the lock. Returns None if another process
    has the lock."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def is_free(path: Path) -> bool:
    """Return whether no process holds the lock."""
    descriptor = take(path)
    if descriptor is not None:
        os.close(descriptor)
    return descriptor is not None
