"""What a run's folder keeps of its pushes: the manifest and its signature, and pushes that are to be tried again.

These files are no part of the run, and are not pushed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchbrief.results.object_stores.object_store import SharedStoreError, StoreDamaged
from benchbrief.results.shared_store.run_manifest import (
    MOST_OF_A_LIST,
    MOST_OF_A_MANIFEST,
    PUSHED,
    SIGNATURE,
    Manifest,
    StoredFile,
    manifest_key,
    object_key,
    read_list,
    read_manifest,
)
from benchbrief.results.store.digests import sha256_of
from benchbrief.runners.journal.atomic_files import write_durably
from benchbrief.runners.plain_files import own_folder, read_plain

if TYPE_CHECKING:
    from benchbrief.results.shared_store.shared_store import SharedStore

_MANIFEST = "manifest.json"
_LIST = "files.json"
_QUEUE = "queue.json"


@dataclass(frozen=True)
class QueuedPush:
    """A push that is to be tried again. `key` is the path of the signing key, or ""."""

    url: str
    tags: tuple[str, ...] = ()
    key: str = ""


@dataclass(frozen=True)
class PushedRecord:
    """A run's manifest as it lies in its folder, to the byte, with its signature, and the files that it lists."""

    manifest: Manifest
    content: bytes
    signature: bytes | None
    files: dict[str, StoredFile]


def write_pushed(run_dir: Path, store: SharedStore, manifest: Manifest) -> None:
    """Keep a manifest as the store has it. Raises SharedStoreError, OSError."""
    folder = own_folder(run_dir, PUSHED)
    write_durably(folder / _LIST, store.objects.read(object_key(manifest.list_sha256), MOST_OF_A_LIST))
    signature = store.signature(manifest)
    if signature is not None:
        write_durably(folder / (_MANIFEST + SIGNATURE), signature)
    else:
        (folder / (_MANIFEST + SIGNATURE)).unlink(missing_ok=True)
    write_durably(folder / _MANIFEST, store.objects.read(manifest.key, MOST_OF_A_MANIFEST))


def read_pushed(run_dir: Path) -> PushedRecord | None:
    """Return what a run's folder has of its last push or its pull; None when it has nothing.

    Raises StoreDamaged when it can't be read, or belongs to another run, OSError.
    """
    folder = run_dir / PUSHED
    try:
        content = read_plain(folder / _MANIFEST, run_dir)
    except FileNotFoundError:
        return None
    try:
        found = json.loads(content)
        key = manifest_key(str(found["id"]), int(found["revision"]))
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise StoreDamaged(
            f"{folder / _MANIFEST} is not the manifest of a run", "push or pull the run again"
        ) from error
    manifest = read_manifest(content, key)
    try:
        if sha256_of(folder / _LIST, run_dir) != manifest.list_sha256:
            raise StoreDamaged(f"{folder / _LIST} was changed", "push or pull the run again")
        files = read_list(read_plain(folder / _LIST, run_dir, MOST_OF_A_LIST))
    except (FileNotFoundError, ValueError) as error:
        raise StoreDamaged(f"{folder / _LIST} can't be read", "push or pull the run again") from error
    signature = None
    with suppress(FileNotFoundError):
        signature = read_plain(folder / (_MANIFEST + SIGNATURE), run_dir)
    return PushedRecord(manifest, content, signature, files)


def queued(run_dir: Path) -> tuple[QueuedPush, ...]:
    """Return the pushes of a run that wait for their store. Raises StoreDamaged, OSError."""
    path = run_dir / PUSHED / _QUEUE
    try:
        pushes = json.loads(read_plain(path, run_dir))
        return tuple(QueuedPush(str(each["url"]), tuple(map(str, each["tags"])), str(each["key"])) for each in pushes)
    except FileNotFoundError:
        return ()
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreDamaged(f"{path} does not say what waits", "remove it, then push the run again") from error


def enqueue(run_dir: Path, push: QueuedPush) -> None:
    """Keep a push in the run's folder. Raises OSError."""
    try:
        before = queued(run_dir)
    except SharedStoreError:
        before = ()
    _write_queue(run_dir, [*(each for each in before if each.url != push.url), push])


def dequeue(run_dir: Path, url: str) -> None:
    """Forget the push to a store. Raises StoreDamaged, OSError."""
    before = queued(run_dir)
    left = [each for each in before if each.url != url]
    if len(left) != len(before):
        _write_queue(run_dir, left)


def _write_queue(run_dir: Path, pushes: Sequence[QueuedPush]) -> None:
    path = own_folder(run_dir, PUSHED) / _QUEUE
    if pushes:
        write_durably(path, json.dumps([asdict(each) for each in pushes], indent=1).encode())
    else:
        path.unlink(missing_ok=True)
