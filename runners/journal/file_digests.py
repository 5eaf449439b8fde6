"""The SHA-256 of a file, which journals and manifests keep."""

from __future__ import annotations

import hashlib
import os
from io import FileIO
from pathlib import Path

_BLOCK = 1 << 18


def sha256_of(path: Path | str) -> str:
    """Return the SHA-256 in hexadecimal digits. The file may be larger than the memory. Raises OSError."""
    with FileIO(path) as file:
        return sha256_in(file)


def sha256_in(file: FileIO) -> str:
    """Return the SHA-256 of what follows in an open file. Raises OSError."""
    digest = hashlib.sha256()
    # Most files are small. A large buffer for each takes longer than its bytes.
    block = min(_BLOCK, os.fstat(file.fileno()).st_size + 1)
    while read := file.read(block):
        digest.update(read)
    return digest.hexdigest()
