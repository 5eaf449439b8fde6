"""Files with their SHA-256, and whether they are still what it was computed of."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchbrief.results.object_stores.object_store import SharedStoreError
from benchbrief.results.store.digests import sha256_of

_SETTLED_S = 2.0
"""File systems give changes of one moment the same time, some with steps of two seconds. So a file that was changed
shortly before it was hashed may change once more unseen."""
_AT_ONCE = 4


@dataclass(frozen=True)
class HashedFile:
    """A file as it was when it was hashed. `marks` are what a change of it changes: inode, size, and both times."""

    path: Path
    sha256: str
    size: int
    marks: tuple[int, int, int, int]
    is_settled: bool

    def require_unchanged(self) -> None:
        """Raise SharedStoreError when the file has changed. It is hashed again only where its times can't tell.
        Raises OSError."""
        if self.is_settled and _marks_of(self.path) == self.marks:
            return
        if sha256_of(self.path) != self.sha256:
            raise changed(self.path)


def changed(path: Path) -> SharedStoreError:
    return SharedStoreError(f"{path} was changed while it was pushed", "push the run again when it is at rest")


def hash_file(path: Path) -> HashedFile:
    """Raises OSError."""
    marks = _marks_of(path)
    is_settled = time.time() - max(marks[2:]) / 1e9 > _SETTLED_S
    return HashedFile(path, sha256_of(path), marks[1], marks, is_settled)


def _marks_of(path: Path) -> tuple[int, int, int, int]:
    found = path.lstat()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


@contextmanager
def hash_beside(paths: Iterable[Path]) -> Iterator[Mapping[Path, Future[HashedFile]]]:
    """Hash files beside other work. At the end, those that were not begun are left."""
    pool = ThreadPoolExecutor(_AT_ONCE)
    try:
        yield {path: pool.submit(hash_file, path) for path in paths}
    finally:
        pool.shutdown(cancel_futures=True)
