"""The SHA-256 of a file, which journals and manifests keep."""

from __future__ import annotations

import hashlib
from pathlib import Path


def sha256_of(path: Path) -> str:
    """Return the SHA-256 in hexadecimal digits. The file may be larger than the memory. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
