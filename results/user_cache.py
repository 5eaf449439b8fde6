"""Where benchbrief keeps what it can read again: below `$XDG_CACHE_HOME`, else `~/.cache`."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path


def user_cache(kind: str, place: str) -> Path:
    """Return the path of what is kept of a place, such as the address of a store. It may not be there."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "benchbrief" / kind
    return base / hashlib.sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:32]
