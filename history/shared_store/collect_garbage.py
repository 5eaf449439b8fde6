"""Removes old runs from a shared store, and objects that belong to no run.

A push writes a run's objects before its manifest. So young objects without a run are left alone, because their push may
be in progress. A push relies on an object in the store only if the object is younger than a day. It writes an older
object again. So an object that belongs to no run can be removed safely once it is older than the grace period, even
during a push. All ages are by the store's own clock, so a machine with a wrong clock does no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import field

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.history.object_stores.file_objects import INCOMING
from benchbrief.history.object_stores.object_store import ListedObject, SharedStoreError
from benchbrief.history.shared_store.push_and_pull import stored_at
from benchbrief.history.shared_store.run_manifest import RUNS, SIGNATURE, RunManifest, object_key, run_of_key, table_key
from benchbrief.history.shared_store.shared_store import MARKER, SharedStore

GRACE_S = 7 * 86_400.0
LEAST_GRACE_S = 2 * 86_400.0
"""The shortest grace period, in seconds. It is twice the age at which a push stops trusting an object in the store."""
_AT_ONCE = 200
"""How many objects to check again, and then to remove, at a time."""


@dataclass(frozen=True)
class Retention:
    """The rule for removing runs: runs that were pushed longer ago than `older_than_s` are removed, unless they have
    one of the tags in `keep`. If `older_than_s` is None, all runs are kept."""

    older_than_s: float | None = None
    keep: Collection[str] = ()
    grace_s: float = GRACE_S


@dataclass
class Garbage:
    """The runs, earlier revisions and objects that were removed, or that would be removed."""

    runs: list[RunManifest] = field(default_factory=list)
    revisions: list[str] = field(default_factory=list)
    objects: list[ListedObject] = field(default_factory=list)
    kept: int = 0
    """How many runs are kept."""
    foreign: list[str] = field(default_factory=list)
    """The first few keys of objects that benchbrief has not written and therefore leaves alone."""

    @property
    def size(self) -> int:
        return sum(each.size for each in self.objects)


_FOREIGN = 20


def collect_garbage(
    store: SharedStore,
    retention: Retention,
    *,
    remove: bool,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Garbage:
    """Find everything in the store that can be removed. With `remove`, remove it: first manifests, then the objects to
    which only these manifests refer.

    `progress` is called with the number of objects removed so far, and with their total number. Raises SharedStoreError
    and removes nothing if a manifest can't be read, because its objects are then unknown.
    """
    if retention.grace_s < LEAST_GRACE_S:
        what = f"a grace period of {retention.grace_s / 3600:.0f} h may remove what a push relies on"
        raise SharedStoreError(what, f"give at least {LEAST_GRACE_S / 86_400:.0f}d")
    if store.objects.look(MARKER) is None:
        what = f"{store.url} is no store of benchbrief: it has no {MARKER}"
        raise SharedStoreError(what, "check the address; nothing was removed")
    now, found = store.objects.now(), Garbage()
    manifests, listed = _all_manifests(store)
    newest = {each.id: each for each in manifests}  # in order of revisions
    for manifest in newest.values():
        age = now - listed[manifest.key].modified_at
        too_old = retention.older_than_s is not None and age > retention.older_than_s
        if too_old and not set(manifest.tags) & set(retention.keep):
            found.runs.append(manifest)
    gone = {each.id for each in found.runs}
    found.kept = len(newest) - len(gone)
    kept: set[str] = set()
    for manifest in manifests:
        if manifest.id in gone:
            continue
        if manifest != newest[manifest.id] and now - listed[newest[manifest.id].key].modified_at > retention.grace_s:
            found.revisions.append(manifest.key)
        else:
            kept |= _objects_of(store, manifest)
    lost = {manifest.key for manifest in manifests if manifest.id in gone} | set(found.revisions)
    for each in _objects(store, found):
        if each.key not in kept and now - each.modified_at > retention.grace_s:
            found.objects.append(each)
    if remove:
        store.objects.delete(sorted(lost))  # a run without its manifest is gone
        store.objects.delete(sorted(key for key in (name + SIGNATURE for name in lost) if key in listed))
        _remove(store, found, retention, progress)
    return found


def _all_manifests(store: SharedStore) -> tuple[list[RunManifest], dict[str, ListedObject]]:
    """Read every revision of every run, in order of revisions. Raises SharedStoreError if a revision can't be read."""
    listed = {each.key: each for each in store.objects.list(RUNS)}
    revisions = sorted((of for key in listed if (of := run_of_key(key))), key=lambda of: (of[0], of[1]))
    manifests = list(store.newest(revisions))
    if store.problems:
        problem = store.problems[0]
        raise type(problem)(f"{problem}: nothing was removed, as it may refer to anything", problem.hint)
    return manifests, listed


def _objects_of(store: SharedStore, manifest: RunManifest) -> set[str]:
    files = store.files(manifest)
    keys = {stored_at(manifest, path, file) for path, file in files.items()}
    keys |= {table_key(manifest.id, name, file.sha256) for name, file in manifest.tables.items()}
    return {object_key(manifest.list_sha256), *keys}


def _objects(store: SharedStore, found: Garbage) -> Iterator[ListedObject]:
    """Yield the objects that benchbrief has written, except manifests. Note the keys of all other objects."""
    for each in store.objects.list(""):
        top, _, rest = each.key.partition("/")
        is_ours = (
            (top == "objects" and object_key(rest[3:]) == each.key)
            or (top == "tables" and rest.startswith("run=") and rest.endswith(".parquet"))
            or top == INCOMING
        )
        if is_ours:
            yield each
        elif (
            each.key != MARKER
            and run_of_key(each.key.removesuffix(SIGNATURE)) is None
            and len(found.foreign) < _FOREIGN
        ):
            found.foreign.append(each.key)


def _remove(store: SharedStore, found: Garbage, retention: Retention, progress: Callable[[int, int], None]) -> None:
    """Remove objects. Right before an object is removed, check it again, because a push may have written it again."""
    removed: list[ListedObject] = []
    for at in range(0, len(found.objects), _AT_ONCE):
        some = found.objects[at : at + _AT_ONCE]
        now = store.objects.now()
        again = store.at_once(lambda each: store.objects.look(each.key), some)
        still = [each for each in again if each is not None and now - each.modified_at > retention.grace_s]
        store.objects.delete([each.key for each in still])
        removed += still
        progress(at + len(some), len(found.objects))
    found.objects = removed
