"""Pulling a run from a shared store: its folder, byte for byte, or nothing."""

from __future__ import annotations

import fcntl
import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from benchbrief.history.object_stores.object_store import SharedStoreError
from benchbrief.history.shared_store.push_run import stored_at
from benchbrief.history.shared_store.run_manifest import Manifest, StoredFile, write_pushed
from benchbrief.history.shared_store.shared_store import SharedStore
from benchbrief.results.store_errors import NoRoom
from benchbrief.runners.journal.atomic_files import sha256_of

_PULLING = ".pulling-"
"""How the names of folders begin that a pull fills."""


def pull_run(
    store: SharedStore, manifest: Manifest, out: Path, progress: Callable[[int, int], None] = lambda _done, _all: None
) -> Path:
    """Write a run's folder into `out`, and return it. `progress` is called with the bytes that are done and all bytes.

    The folder is filled beside its place and renamed when it is whole. Raises StoreDamaged for a file that is not what
    was pushed, SharedStoreError when another run has the folder, NoRoom.
    """
    if "/" in manifest.id or "\0" in manifest.id or manifest.id in ("", ".", ".."):
        raise SharedStoreError(f"{manifest.id!r} can't be the name of a folder", "take single files of it by `fetch`")
    target, files = out / manifest.id, store.files(manifest)
    if target.exists():
        _refuse_other(target, files)
        return target
    done = 0

    def fetch(item: tuple[str, StoredFile]) -> int:
        path, file = item
        store.fetch_object(stored_at(manifest, path, file), file, folder / path)
        return file.size

    try:
        with _passing(out) as folder:
            _require_room(folder, manifest)
            for size in store.at_once(fetch, files.items()):
                done += size
                progress(done, manifest.size)
            write_pushed(folder, store, manifest)
            try:
                folder.rename(target)
            except OSError:
                if not target.exists():
                    raise
                _refuse_other(target, files)  # another pull was faster
    except OSError as error:
        why = f"{out} can't be written: {os.strerror(error.errno or 0)}"
        raise NoRoom(why, "free some space, or name another folder with --out") from error
    return target


@contextmanager
def _passing(out: Path) -> Iterator[Path]:
    """Yield an empty folder that is removed at the end: by the next pull where this one was killed. Raises OSError."""
    out.mkdir(parents=True, exist_ok=True)
    folder = out / f"{_PULLING}{uuid.uuid4().hex[:12]}"
    with ExitStack() as held:
        with suppress(OSError), _held(out, wait=True):  # on a file system without such locks, nothing is cleared away
            for left in out.glob(f"{_PULLING}*"):
                with suppress(OSError), _held(left, wait=False):
                    shutil.rmtree(left)
            folder.mkdir()
            held.enter_context(_held(folder, wait=False))
        folder.mkdir(exist_ok=True)
        try:
            yield folder
        finally:
            with suppress(OSError):
                shutil.rmtree(folder)


@contextmanager
def _held(folder: Path, *, wait: bool) -> Iterator[None]:
    """Hold a folder against other processes. Raises OSError when one holds it, unless it is to `wait`."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(descriptor)


def _require_room(folder: Path, manifest: Manifest) -> None:
    """Raise NoRoom when the run is larger than what is free: it may say any size of itself."""
    free = shutil.disk_usage(folder).free
    if manifest.size > free:
        what = f"{manifest.id} has {manifest.size:,} bytes, and {folder.parent} has room for {free:,}"
        raise NoRoom(what, "free some space, or name another folder with --out")


def _refuse_other(target: Path, files: Mapping[str, StoredFile]) -> None:
    """Raise SharedStoreError unless the folder has each file of the run as it was pushed."""
    for path, file in files.items():
        try:
            is_same = sha256_of(target / path, target) == file.sha256
        except OSError:
            is_same = False
        if not is_same:
            what = f"{target} is there already, and has another {path} than the run in the store"
            raise SharedStoreError(what, "nothing was overwritten: name another folder with --out")
