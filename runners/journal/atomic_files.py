"""Writes files of a run so that each is either complete and flushed to disk, or absent."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from io import FileIO
from pathlib import Path

from benchbrief.runners.plain_files import open_plain, why_not_plain

_BLOCK = 1 << 18


def sha256_of(path: Path | str, inside: Path | None = None) -> str:
    """Return the SHA-256 of a plain file (`open_plain`) in hexadecimal digits. The file may be larger than memory.
    Raises OSError."""
    with open_plain(path, inside) as file:
        return sha256_in(file)


def sha256_in(file: FileIO) -> str:
    """Return the SHA-256 of the rest of an open file. Raises OSError."""
    digest = hashlib.sha256()
    # Most files are small. A large buffer for each takes longer than its bytes.
    block = min(_BLOCK, os.fstat(file.fileno()).st_size + 1)
    while read := file.read(block):
        digest.update(read)
    return digest.hexdigest()


_AT_ONCE = 16


def write_durably(path: Path, content: bytes) -> None:
    """Write a file completely or not at all, by writing to a temporary name, fsync and renaming. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def link_or_copy(source: Path, to: Path) -> bool:
    """Link a file, or copy it if linking is impossible. Both are equivalent for a file that is never written again.
    Returns whether the file was copied.

    A copy is not flushed yet. Raises OSError, in particular if the source is not a plain file.
    """
    if why := why_not_plain(source.lstat()):
        raise OSError(errno.EINVAL, why, str(source))
    try:
        os.link(source, to)
    except FileNotFoundError:
        raise
    except OSError:  # another file system, or one without links
        shutil.copy2(source, to)
        return True
    return False


def flush(path: Path) -> None:
    """Flush a file, or the names in a folder, to disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def flush_all(paths: Iterable[Path]) -> None:
    """Flush several files and folders at the same time, which takes a disk much less time than flushing them one after
    another."""
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="flush") as pool:
        for _ in pool.map(flush, paths):
            pass
