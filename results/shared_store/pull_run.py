"""Pulling a run from a shared store: its folder, byte for byte, or nothing."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from benchbrief.results.object_stores.object_store import SharedStoreError
from benchbrief.results.shared_store.push_run import stored_at
from benchbrief.results.shared_store.pushed_record import write_pushed
from benchbrief.results.shared_store.run_manifest import Manifest, StoredFile
from benchbrief.results.shared_store.shared_store import SharedStore
from benchbrief.results.store.digests import sha256_of
from benchbrief.results.store_errors import NoRoom

_PULLING = ".pulling-"


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
    folder = out / f"{_PULLING}{uuid.uuid4().hex[:12]}"
    done = 0

    def fetch(item: tuple[str, StoredFile]) -> int:
        path, file = item
        store.fetch_object(stored_at(manifest, path, file), file, folder / path)
        return file.size

    try:
        folder.mkdir(parents=True)
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
    finally:
        with suppress(OSError):
            shutil.rmtree(folder)
    return target


def _refuse_other(target: Path, files: Mapping[str, StoredFile]) -> None:
    """Raise SharedStoreError unless the folder has each file of the run as it was pushed."""
    for path, file in files.items():
        here = target / path
        if not here.is_file() or here.stat().st_size != file.size or sha256_of(here) != file.sha256:
            what = f"{target} is there already, and has another {path} than the run in the store"
            raise SharedStoreError(what, "nothing was overwritten: name another folder with --out")
