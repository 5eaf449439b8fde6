"""The interface of object stores, their errors, and files with a SHA-256 that shows whether they have changed."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import unquote

from benchbrief.dsl.bench_error import ExitCode
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.results.store_errors import ResultsError
from benchbrief.runners.journal.atomic_files import sha256_of
from benchbrief.runners.plain_files import SMALL

NOT_OURS = "remove it, if benchbrief has not written it; or push the run again"
_ONE_SLASH = re.compile(r"(s3|file):/(?!/)", re.IGNORECASE)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)


class SharedStoreError(ResultsError):
    """Raised if a shared store can't do what was requested."""

    code = "shared_store"


class StoreAway(SharedStoreError):
    """Raised if the store can't be reached now or in time. The same request may work later."""

    code = "store_away"


class StoreRefuses(SharedStoreError):
    """Raised when the store does not know the credentials, or does not allow the request with them."""

    code = "store_refuses"


class StoreFull(SharedStoreError):
    """Raised when the store has no space left."""

    code = "store_full"
    ends_with = ExitCode.BRIEF_NOT_MADE


class StoreDamaged(SharedStoreError):
    """Raised when the content of an object in the store does not match the object's name or manifest."""

    code = "store_damaged"
    ends_with = ExitCode.CELL_FAILED


class NoObject(SharedStoreError):
    """Raised if nothing is stored under a key: either nothing ever was, or the object was removed after the listing."""

    code = "no_object"


def too_large(place: str, most: int) -> StoreDamaged:
    return StoreDamaged(f"{place} has more than the {most:,} bytes that it should have at most", NOT_OURS)


class ListedObject(NamedTuple):
    """An object in a listing. `modified_at` is in epoch seconds, by the store's clock. `mark` is the object's ETag, or
    a file's inode."""

    key: str
    size: int
    modified_at: float
    mark: str = ""

    @property
    def stamp(self) -> str:
        """Return a text that changes whenever the object is written again."""
        return f"{self.mark} {self.size} {self.modified_at!r}"


class ObjectStore(Protocol):
    """Objects by key, in a folder or on S3. Each method raises StoreAway, StoreRefuses, StoreFull
    or SharedStoreError."""

    url: str
    """The address, without credentials."""

    def list(self, prefix: str) -> Iterator[ListedObject]:
        """Yield the objects whose keys begin with `prefix`, in any order. S3 returns 1,000 objects per request."""

    def keys(self, prefix: str) -> Iterator[str]:
        """Yield the keys that begin with `prefix`, in any order. In a folder, this is cheaper than `list`."""

    def look(self, key: str) -> ListedObject | None:
        """Return one object as a listing would show it, or None if there is no such object."""

    def read(self, key: str, most: int = SMALL) -> bytes:
        """Return a small object. Raises NoObject, and StoreDamaged if the object has more than `most` bytes."""

    def download(self, key: str, path: Path, most: int) -> str:
        """Write an object to a new file, and return the SHA-256 of the received bytes.

        Raises NoObject, StoreDamaged if the object has more than `most` bytes, and OSError for the file.
        """

    def create(self, key: str, content: bytes) -> bool:
        """Write an object unless its key is taken. Return whether the object was written."""

    def upload(self, key: str, file: HashedFile) -> None:
        """Write a file under the key that follows from its SHA-256. If the file has changed since it was hashed, write
        nothing.

        Raises SharedStoreError, and OSError for the file.
        """

    def delete(self, keys: Iterable[str]) -> None:
        """Remove objects. Missing objects are ignored."""

    def now(self) -> float:
        """Return the current time in epoch seconds, by the same clock as `modified_at`."""


def open_objects(url: str) -> ObjectStore:
    """Return the object store at an address: `s3://bucket/prefix`, `file:///folder` or a path.
    Raises SharedStoreError."""
    found = _SCHEME.fullmatch(url)
    if found is None:
        if _ONE_SLASH.match(url):
            hint = f"write s3://BUCKET/PREFIX or file:///FOLDER; ./{url} is a folder of that name"
            raise SharedStoreError(f"{url} lacks a slash", hint)
        from benchbrief.history.object_stores.file_objects import FileObjects

        return FileObjects(Path(url).expanduser())
    scheme, rest = found[1].lower(), found[2]
    host = rest.partition("/")[0]
    if "@" in host:
        raise SharedStoreError(
            f"the address of a store holds no credentials: {scheme}://...@{host.rpartition('@')[2]}",
            "give them by the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_PROFILE) or by ~/.aws",
        )
    if scheme == "file":
        from benchbrief.history.object_stores.file_objects import FileObjects

        if host not in ("", "localhost"):
            hint = f"three slashes begin a path on this machine: file:///{host}"
            raise SharedStoreError(f"{url} names another machine: {host}", hint)
        return FileObjects(Path(unquote(rest.removeprefix(host))))
    if scheme == "s3":
        from benchbrief.history.object_stores.s3_objects import S3Objects

        bucket, _, prefix = rest.partition("/")
        if not bucket:
            raise SharedStoreError(f"{url} names no bucket", "write s3://BUCKET/PREFIX")
        return S3Objects(bucket, prefix.strip("/"))
    raise SharedStoreError(f"{url} is of no known kind", "a store is s3://BUCKET/PREFIX, file:///FOLDER or a path")


_SETTLED_S = 2.0
"""A file's times reveal every later change only if they are at least this many seconds old. Changes within one time
step of the file system get the same time, and some file systems have steps of two seconds. So if a file was changed
shortly before it was hashed, another change may leave its times the same.
"""
_AT_ONCE = 4


@dataclass(frozen=True)
class HashedFile:
    """A file as it was when it was hashed. `marks` are its inode, size and two times, which show whether the file has
    changed since."""

    path: Path
    sha256: str
    size: int
    marks: tuple[int, int, int, int]
    is_settled: bool

    def require_unchanged(self) -> None:
        """Raise SharedStoreError if the file has changed. The file is hashed again only if its times do not settle the
        question. Raises OSError."""
        if self.is_settled and _marks_of(self.path) == self.marks:
            return
        if sha256_of(self.path) != self.sha256:
            raise changed(self.path)


def changed(path: Path) -> SharedStoreError:
    return SharedStoreError(f"{path} was changed while it was pushed", "push the run again when it is at rest")


def hash_file(path: Path) -> HashedFile:
    """Return a file with its SHA-256, and with the marks that show later changes. Raises OSError."""
    marks = _marks_of(path)
    is_settled = time.time() - max(marks[2:]) / 1e9 > _SETTLED_S
    return HashedFile(path, sha256_of(path), marks[1], marks, is_settled)


def _marks_of(path: Path) -> tuple[int, int, int, int]:
    found = path.lstat()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


@contextmanager
def hash_beside(paths: Iterable[Path]) -> Iterator[Mapping[Path, Future[HashedFile]]]:
    """Hash files in the background. Files that have not been started by the end of the block are skipped."""
    pool = ThreadPoolExecutor(_AT_ONCE)
    try:
        yield {path: pool.submit(hash_file, path) for path in paths}
    finally:
        pool.shutdown(cancel_futures=True)
