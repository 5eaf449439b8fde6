"""Objects in a folder, which several machines may share over a network file system.

An object is first written under another name in the store, and then linked or renamed to its own name. So only complete
objects appear. `create` fails if the name is already taken.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import stat
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from benchbrief.dsl.bench_error import FULL
from benchbrief.history.object_stores.object_store import (
    NOT_OURS,
    HashedFile,
    ListedObject,
    NoObject,
    SharedStoreError,
    StoreAway,
    StoreDamaged,
    StoreFull,
    StoreRefuses,
    changed,
    too_large,
)
from benchbrief.runners.plain_files import SMALL, NotPlain, open_plain, read_plain, why_not_plain

_AT_FDCWD = -100
_RENAME_NOREPLACE = 1
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)


def give_name(file: Path, name: Path) -> None:
    """Link a file to a name. If its file system has no hard links (exFAT, SMB), rename the file.

    Raises FileExistsError if the name is taken, and OSError with ENOTSUP if the file system has neither links nor a
    rename that never replaces a file.
    """
    try:
        os.link(file, name)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _rename_only(file, name)


def _rename_only(file: Path, name: Path) -> None:
    """Rename a file unless the name is taken. Calls `renameat2` with RENAME_NOREPLACE, which Python lacks."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError as error:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP), str(name)) from error
    if rename(_AT_FDCWD, os.fsencode(file), _AT_FDCWD, os.fsencode(name), _RENAME_NOREPLACE) != 0:
        code = ctypes.get_errno()
        code = errno.ENOTSUP if code in (errno.EINVAL, errno.ENOSYS) else code
        raise OSError(code, os.strerror(code), str(file), None, str(name))


INCOMING = ".incoming"
"""The folder of files that are still being written. `bench gc` removes files left there by killed pushes."""
_BLOCK = 1 << 20


class FileObjects:
    """An `ObjectStore` in a folder. The first push makes the folder."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self.url = f"file://{self.root}"

    def list(self, prefix: str) -> Iterator[ListedObject]:
        folder, _, begin = prefix.rpartition("/")
        if not self.root.is_dir():
            raise self._away()
        with self._explaining():
            self._require_folders(prefix)
            yield from self._below(self.root / folder, f"{folder}/" if folder else "", begin)

    def _below(self, folder: Path, above: str, begin: str = "") -> Iterator[ListedObject]:
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except FileNotFoundError:
            if above:
                return
            raise
        for entry in entries:
            if not entry.name.startswith(begin):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from self._below(folder / entry.name, f"{above}{entry.name}/")
            else:  # also other things than files: their readers report them
                with suppress(FileNotFoundError):  # removed meanwhile
                    found = entry.stat(follow_symlinks=False)
                    yield ListedObject(f"{above}{entry.name}", found.st_size, found.st_mtime, str(found.st_ino))

    def keys(self, prefix: str) -> Iterator[str]:
        if "/" in prefix.rstrip("/") or not prefix.endswith("/"):
            yield from (each.key for each in self.list(prefix))
            return
        if not self.root.is_dir():
            raise self._away()
        with self._explaining():
            self._require_folders(prefix)
            try:
                names = os.listdir(self.root / prefix)  # noqa: PTH208 - Path.iterdir makes an object of each
            except FileNotFoundError:
                return
        yield from (prefix + name for name in names)

    def look(self, key: str) -> ListedObject | None:
        with self._explaining():
            self._require_folders(key)
            try:
                found = (self.root / key).lstat()
            except (FileNotFoundError, NotADirectoryError):
                return None
            if why := why_not_plain(found):
                raise NotPlain(errno.EINVAL, why, str(self.root / key))
        return ListedObject(key, found.st_size, found.st_mtime, str(found.st_ino))

    def read(self, key: str, most: int = SMALL) -> bytes:
        with self._explaining():
            try:
                return read_plain(self.root / key, self.root, most)
            except FileNotFoundError as error:
                raise self._missing(key) from error

    def download(self, key: str, path: Path, most: int) -> str:
        digest, left = hashlib.sha256(), most
        with self._explaining():
            try:
                source = open_plain(self.root / key, self.root)
            except FileNotFoundError as error:
                raise self._missing(key) from error
        with source, path.open("xb") as target:
            while True:
                with self._explaining():
                    block = source.read(_BLOCK)
                if not block:
                    return digest.hexdigest()
                left -= len(block)
                if left < 0:
                    raise too_large(f"{self.url}/{key}", most)
                digest.update(block)
                target.write(block)

    def create(self, key: str, content: bytes) -> bool:
        with self._explaining(), self._incoming() as temporary:
            with temporary.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            return self._link(temporary, key)

    def upload(self, key: str, file: HashedFile) -> None:
        digest = hashlib.sha256()
        with open_plain(file.path) as source, self._explaining(), self._incoming() as temporary:
            with temporary.open("xb") as target:
                while block := source.read(_BLOCK):
                    digest.update(block)
                    target.write(block)
                target.flush()
                os.fsync(target.fileno())
            if digest.hexdigest() != file.sha256:
                raise changed(file.path)
            self._rename(temporary, key)

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            with self._explaining(), suppress(FileNotFoundError):
                self._require_folders(key)
                (self.root / key).unlink()
            if not key.startswith(INCOMING):  # a push may be about to write there
                with suppress(OSError):  # other files are in it
                    (self.root / key).parent.rmdir()

    def now(self) -> float:
        with self._explaining(), self._incoming() as temporary:
            temporary.touch()
            return temporary.stat().st_mtime

    def _require_folders(self, key: str) -> None:
        """Raise NotPlain if a folder on the way to a key is a link, because a link's target does not belong to the
        store."""
        for above in Path(key).parents[:-1]:
            with suppress(FileNotFoundError):
                if stat.S_ISLNK((self.root / above).lstat().st_mode):
                    raise NotPlain(errno.EINVAL, f"it is behind a link: {self.root / above}", str(self.root / key))

    def _away(self) -> StoreAway:
        if self.root.is_file():
            return StoreAway(f"{self.url} is a file, and a store is a folder", "name another folder")
        return StoreAway(f"{self.url} is not there", "check the address, and whether it is mounted")

    def _missing(self, key: str) -> NoObject:
        return NoObject(f"{self.url} has no {key}", "look at what it has: bench runs --from " + self.url)

    def _rename(self, temporary: Path, key: str) -> None:
        target = self.root / key
        self._require_folders(key)
        while True:
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                temporary.replace(target)
            except FileNotFoundError:
                if not temporary.exists():
                    raise
            else:  # or else a cleaner took the empty folder
                return

    def _link(self, temporary: Path, key: str) -> bool:
        target = self.root / key
        self._require_folders(key)
        while True:
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                give_name(temporary, target)
            except FileExistsError:
                return False
            except FileNotFoundError:
                if temporary.exists():  # a cleaner took the empty folder
                    continue
                raise
            except OSError as error:
                if error.errno != errno.ENOTSUP:
                    raise
                what = f"the file system of {self.root} can't keep two pushers apart: it has no hard links"
                hint = "put the store on another file system (ext4, XFS, NFS, or exFAT by the kernel), or on S3"
                raise SharedStoreError(what, hint) from error
            return True

    @contextmanager
    def _incoming(self) -> Iterator[Path]:
        """Yield a path to write to. If the file is still there at the end, remove it."""
        folder = self.root / INCOMING
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / uuid.uuid4().hex
        try:
            yield temporary
        finally:
            with suppress(OSError):
                temporary.unlink()

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Raise each OSError inside the block as an error of the store."""
        try:
            yield
        except OSError as error:
            raise self._explained(error) from error

    def _explained(self, error: OSError) -> SharedStoreError:
        why = error.strerror or str(error)
        if isinstance(error, NotPlain):
            return StoreDamaged(f"{error.filename} can't be read: {why}", NOT_OURS)
        if error.errno in FULL:
            return StoreFull(f"{self.url} is full: {why}", "free some space there (bench gc), then push again")
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            return StoreRefuses(f"{error.filename or self.root} is not allowed: {why}", "check its permissions")
        if isinstance(error, (NotADirectoryError, FileExistsError)) and self.root.is_file():
            return self._away()
        if isinstance(error, (FileNotFoundError, NotADirectoryError, FileExistsError)):
            return StoreAway(f"{self.url} is not there: {why}", "check the address, and whether it is mounted")
        return StoreAway(f"{self.url} can't be used: {why}", "try again once it can")
