"""A store of runs at an address. Runs are pushed to it, each with a manifest (`run_manifest.py`)."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path, PurePosixPath
from typing import TypeVar

from benchbrief.history.object_stores.object_store import (
    NOT_OURS,
    NoObject,
    ObjectStore,
    SharedStoreError,
    StoreAway,
    StoreDamaged,
    StoreFull,
    StoreRefuses,
    open_objects,
)
from benchbrief.history.series_cache import user_cache
from benchbrief.history.shared_store.run_manifest import (
    MOST_OF_A_LIST,
    MOST_OF_A_MANIFEST,
    RUNS,
    SIGNATURE,
    RunManifest,
    StoredFile,
    is_pushed,
    manifest_key,
    object_key,
    path_problem,
    read_list,
    read_manifest,
    run_of_key,
    table_key,
)
from benchbrief.results.store_errors import NoRoom

_WAIT_S = 2.0
"""How long to wait, in seconds, for another process that is writing."""
_TABLE = "CREATE TABLE IF NOT EXISTS manifests (key TEXT PRIMARY KEY, stamp TEXT NOT NULL, content BLOB NOT NULL)"
_KEPT = "SELECT content FROM manifests WHERE key = ? AND stamp = ?"


class ManifestCache:
    """A cache on this machine of the manifests in the store at one address."""

    def __init__(self, url: str) -> None:
        self._path = user_cache("manifests", url).with_suffix(".sqlite")

    def read(self, stamps: Mapping[str, str]) -> dict[str, bytes]:
        """Return the cached manifests that have these stamps, by key."""
        if not stamps or not self._path.exists():
            return {}
        try:
            with closing(self._opened()) as database:
                found: dict[str, bytes] = {}
                for asked in stamps.items():
                    if (row := database.execute(_KEPT, asked).fetchone()) is not None:
                        found[asked[0]] = row[0]
                return found
        except sqlite3.Error:
            self._forget()
            return {}

    def write(self, read: Mapping[str, bytes], stamps: Mapping[str, str], listed: Collection[str]) -> None:
        """Cache manifests with their stamps. Manifests that are no longer `listed` are dropped."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._opened()) as database, database:
                database.execute(_TABLE)
                gone = [(key,) for (key,) in database.execute("SELECT key FROM manifests") if key not in listed]
                database.executemany("DELETE FROM manifests WHERE key = ?", gone)
                rows = [(key, stamps[key], content) for key, content in read.items()]
                database.executemany("INSERT OR REPLACE INTO manifests VALUES (?, ?, ?)", rows)
        except (OSError, sqlite3.Error):
            self._forget()

    def _opened(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=_WAIT_S)

    def _forget(self) -> None:
        """Remove a cache file that is not a database, unless it is in use or can't be written."""
        try:
            with self._path.open("rb") as file:
                is_ours = file.read(15) == b"SQLite format 3"
            if not is_ours:
                self._path.unlink()
        except OSError:
            return


MARKER = "benchbrief-store.json"
MARKER_TEXT = b'{"format": "benchbrief-store", "version": 1}\n'
THREADS = 16
"""How many requests to make at the same time. Each request mostly waits for the network."""
T = TypeVar("T")
U = TypeVar("U")


class SharedStore:
    """Read access to a store of runs. Use `open_store` to make one. To write to a store, see `push_and_pull.py`; to
    remove from it, see `collect_garbage.py`."""

    def __init__(self, objects: ObjectStore) -> None:
        self.objects = objects
        self.problems: list[SharedStoreError] = []
        """The errors of the manifests that `manifests` could not read."""
        self.unread: dict[str, str] = {}
        """The reasons why runs can't be read, by run."""
        self._is_far = not objects.url.startswith("file:")
        self._stamps: dict[str, str] = {}
        """The stamps of manifests and signatures from the last listing of a remote store."""

    @property
    def url(self) -> str:
        return self.objects.url

    def revisions(self) -> dict[str, list[int]]:
        """Return the revisions of each run, the oldest first, without reading the manifests.
        Raises SharedStoreError."""
        if self._is_far:  # S3 lists all of it at once
            self._stamps = {each.key: each.stamp for each in self.objects.list(RUNS)}
            return _revisions(self._stamps)
        return _revisions(self.objects.keys(RUNS))

    def stamps(self) -> dict[str, str]:
        """For each run, return a text that changes when the run gets a new revision, or when its newest one is written
        again. Raises SharedStoreError."""
        listed = {each.key: each.stamp for each in self.objects.list(RUNS)}
        newest = {run: revisions[-1] for run, revisions in _revisions(listed).items()}
        return {run: f"revision {number} {listed[manifest_key(run, number)]}" for run, number in newest.items()}

    def manifests(self, runs: Iterable[str] | None = None) -> Iterator[RunManifest]:
        """Yield the newest manifest of each run, in order of the runs' names. If `runs` are given, only their manifests
        are yielded.

        A manifest that can't be read is left out, and its error is in `problems`. Raises SharedStoreError.
        """
        newest = {run: revisions[-1] for run, revisions in self.revisions().items()}
        chosen = newest if runs is None else {run: newest[run] for run in runs if run in newest}
        yield from self.newest(chosen.items())

    def newest(self, revisions: Iterable[tuple[str, int]]) -> Iterator[RunManifest]:
        """Yield the manifests of these revisions, as `manifests` does."""
        wanted = list(revisions)
        stamps = {key: self._stamps[key] for of in wanted if (key := manifest_key(*of)) in self._stamps}
        cache = ManifestCache(self.url)
        kept, new = cache.read(stamps), dict[str, bytes]()

        def read(of: tuple[str, int]) -> RunManifest | SharedStoreError | None:
            key = manifest_key(*of)
            try:
                content = kept.get(key) or self.objects.read(key, MOST_OF_A_MANIFEST)
                found = read_manifest(content, key, self.url)
            except NoObject:  # removed since the listing
                return None
            except SharedStoreError as error:
                if isinstance(error, StoreAway | StoreFull) or (isinstance(error, StoreRefuses) and self._is_far):
                    raise
                return error
            if key in stamps and key not in kept:
                new[key] = content
            return found

        try:
            fetched = self.at_once(read, [of for of in wanted if manifest_key(*of) not in kept])
            for of in wanted:
                found = read(of) if manifest_key(*of) in kept else next(fetched)
                if isinstance(found, RunManifest):
                    yield found
                elif found is not None:
                    self.problems.append(found)
                    self.unread[of[0]] = found.message
        finally:
            if new:  # a copy, as requests may still run when the reader stops early
                cache.write(dict(new), stamps, self._stamps)

    def read(self, run: str, revision: int) -> RunManifest:
        """Read the manifest of a revision. Raises NoObject, StoreDamaged, SharedStoreError."""
        key = manifest_key(run, revision)
        return read_manifest(self.objects.read(key, MOST_OF_A_MANIFEST), key, self.url)

    def find(self, name: str) -> RunManifest:
        """Return the run with this name, or the only run whose name begins with it. Raises SharedStoreError if no run
        or several runs fit."""
        revisions = self.revisions()
        fitting = [run for run in revisions if run == name] or [run for run in revisions if run.startswith(name)]
        if len(fitting) == 1:
            return self.read(fitting[0], revisions[fitting[0]][-1])
        some = ", ".join(list(fitting or revisions)[-5:])
        if fitting:
            raise SharedStoreError(f"{len(fitting)} runs in {self.url} begin with {name}", f"say more of it: {some}")
        hint = f"the last ones are {some}" if some else "push one: bench push RUN --to " + self.url
        raise SharedStoreError(f"no run {name} in {self.url}", hint)

    def files(self, manifest: RunManifest) -> Mapping[str, StoredFile]:
        """Return all files of a run by their path in the run's folder. Raises NoObject, StoreDamaged."""
        key = object_key(manifest.list_sha256)
        content = self.objects.read(key, MOST_OF_A_LIST)
        if hashlib.sha256(content).hexdigest() != manifest.list_sha256:
            raise StoreDamaged(f"{self.url}/{key} does not have the SHA-256 of its name", "push the run again")
        try:
            files = read_list(content)
        except ValueError as error:
            raise StoreDamaged(f"{self.url}/{key} is not the list of a run's files", "push the run again") from error
        if problem := _list_problem(manifest, files):
            raise StoreDamaged(f"run {manifest.id} in {self.url} {problem}", "don't use this run")
        return files

    def fetch(self, manifest: RunManifest, name: str, into: Path, most: int = 1 << 62) -> Path:
        """Write one table or file of a run to the folder or file `into`, and return the file. A table has a name such
        as `throughput`, `series` or `series.parquet`, and a file has a path such as `reports/brief.html`. The SHA-256
        is checked, and an incomplete file is never left behind.

        Raises NoObject if the run has no such file, StoreDamaged if the file is damaged or has more than `most` bytes,
        and SharedStoreError.
        """
        table = name.removesuffix(".parquet")
        if table in manifest.tables:
            name, stored = f"{table}.parquet", manifest.tables[table]
            key = table_key(manifest.id, table, stored.sha256)
        elif (found := manifest.briefs.get(name) or self.files(manifest).get(name)) is not None:
            stored, key = found, object_key(found.sha256)
        else:
            raise NoObject(f"run {manifest.id} in {self.url} has no {name}", "it has " + ", ".join(manifest.tables))
        if stored.size > most:
            raise StoreDamaged(f"{name} of run {manifest.id} in {self.url} has {stored.size:,} bytes", NOT_OURS)
        path = into / Path(name).name if into.is_dir() else into
        self.fetch_object(key, stored, path)
        return path

    def fetch_object(self, key: str, stored: StoredFile, path: Path) -> None:
        """Write an object to a file. The object's SHA-256 and size are known. Raises NoObject, StoreDamaged, NoRoom."""
        temporary = path.with_name(f".{path.name[:100]}.{uuid.uuid4().hex}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            sha256 = self.objects.download(key, temporary, stored.size)
            if sha256 != stored.sha256:
                size = temporary.stat().st_size
                why = f"{size:,} bytes instead of {stored.size:,}" if size != stored.size else "another SHA-256"
                raise StoreDamaged(f"{self.url}/{key} is not what was pushed: {why}", "push the run again, elsewhere")
            temporary.replace(path)
        except OSError as error:
            raise NoRoom(
                f"{path} can't be written: {os.strerror(error.errno or 0)}", "free some space there"
            ) from error
        finally:
            with suppress(OSError):
                temporary.unlink()

    def signature(self, manifest: RunManifest) -> bytes | None:
        """Return the signature of a manifest, as `ssh-keygen -Y sign` wrote it, or None if the manifest is
        not signed."""
        try:
            return self.objects.read(manifest.signature_key)
        except NoObject:
            return None

    def signed(self) -> set[str]:
        """Return the keys of the manifests that have a signature, from the last listing if there was one.

        The signatures are not checked.
        """
        keys = self._stamps or self.objects.keys(RUNS)
        return {key.removesuffix(SIGNATURE) for key in keys if key.endswith(SIGNATURE)}

    def at_once(self, do: Callable[[T], U], each: Iterable[T]) -> Iterator[U]:
        """Yield the results of calling `do` for each item, in order. For a remote store, several calls run at the same
        time."""
        if not self._is_far:
            yield from map(do, each)
            return
        with ThreadPoolExecutor(THREADS) as pool:
            yield from pool.map(do, each)


def _revisions(keys: Iterable[str]) -> dict[str, list[int]]:
    """Return the revisions of each run that has a manifest among these keys."""
    found: dict[str, list[int]] = {}
    for key in keys:
        if of := run_of_key(key):
            found.setdefault(of[0], []).append(of[1])
    return {run: sorted(revisions) for run, revisions in sorted(found.items())}


def _list_problem(manifest: RunManifest, files: Mapping[str, StoredFile]) -> str:
    """Return the problem with the list of a run's files, or "" if the list may be the one that was pushed."""
    for path in files:
        if problem := path_problem(path):
            return f"has a file that {problem}: {path[:200]!r}"
        if not is_pushed(path):
            return f"has a file that no push sends: {path!r}"
        if any(above.as_posix() in files for above in PurePosixPath(path).parents):
            return f"has a file in the place of a folder of {path!r}"
    if (len(files), sum(file.size for file in files.values())) != (manifest.file_count, manifest.size):
        return "has other files, or of other sizes, than its manifest counts"
    return ""


def open_store(url: str) -> SharedStore:
    """Return the store at an address: `s3://bucket/prefix`, `file:///folder` or a path. Nothing is read yet.

    Raises SharedStoreError for any other kind of address, or for one on S3 if boto3 is not installed.
    """
    return SharedStore(open_objects(url))
