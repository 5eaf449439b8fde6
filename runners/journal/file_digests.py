"""The SHA-256 of a file, which journals and manifests keep."""

from __future__ import annotations

import hashlib
import os
from io import FileIO
from pathlib import Path

from benchbrief.runners.plain_files import open_plain

_BLOCK = 1 << 18


def sha256_of(path: Path | str, inside: Path | None = None) -> str:
    """Return the SHA-256 of a plain file (`open_plain`) in hexadecimal digits. It may be larger than the memory.
    Raises OSError."""
    with open_plain(path, inside) as file:
        return sha256_in(file)


def sha256_in(file: FileIO) -> str:
    """Return the SHA-256 of what follows in an open file. Raises OSError."""
    digest = hashlib.sha256()
    # Most files are small. A large buffer for each takes longer than its bytes.
    block = min(_BLOCK, os.fstat(file.fileno()).st_size + 1)
    while read := file.read(block):
        digest.update(read)
    return digest.hexdigest()
