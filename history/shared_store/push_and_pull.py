"""Copies a run to a shared store and back. A push sends the files first and the manifest last. A pull copies the whole
folder of the run, byte for byte, or nothing."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shlex
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Literal

from benchbrief.compiler.metrics.lower_to_sql import sql_name
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.history.object_stores.object_store import (
    HashedFile,
    NoObject,
    SharedStoreError,
    StoreDamaged,
    hash_beside,
    hash_file,
)
from benchbrief.history.shared_store.run_manifest import (
    PUSHED,
    Cells,
    RunManifest,
    StoredFile,
    is_pushed,
    manifest_text,
    object_key,
    table_key,
    write_pushed,
)
from benchbrief.history.shared_store.shared_store import MARKER, MARKER_TEXT, SharedStore
from benchbrief.results.build_store import STORE
from benchbrief.results.open_store import fresh_store
from benchbrief.results.runs.find_runs import imported_from, run_state, started_at
from benchbrief.results.runs.kept_files import kept_outputs, recorded_files
from benchbrief.results.runs.run_summary import summarise
from benchbrief.results.store.store import Store
from benchbrief.results.store.store_schema import SCHEMA_VERSION, TABLES
from benchbrief.results.store_errors import NoRoom, ResultsError
from benchbrief.runners.journal.atomic_files import sha256_of
from benchbrief.runners.journal.journal_file import JOURNAL
from benchbrief.runners.journal.run_folder import REPORTS, load_plan
from benchbrief.runners.journal.run_identity import owner_in
from benchbrief.runners.plain_files import why_not_plain

_VIEWS = (
    "SELECT schema_name, view_name FROM duckdb_views() "
    "WHERE NOT internal AND schema_name IN ('measure', 'metric') ORDER BY ALL"
)


WriteTable = Callable[[Path, Path], None]
"""A function of two paths. It reads the run's folder at the first path, and writes a Parquet file about the run to the
second path."""


def write_partition(results: Store, folder: Path, more: Mapping[str, WriteTable]) -> dict[str, Path]:
    """Write the views of an open store, and the tables of `more`, to Parquet files in `folder`.

    Returns the paths by name, including those of the store's own tables. A view is left out if its metric needs data
    that this run lacks. Raises RunnerError, OSError.
    """
    import pyarrow.parquet as pq

    store = results.run_dir / STORE
    found = {table: store / f"{table}.parquet" for table in TABLES if (store / f"{table}.parquet").is_file()}
    for schema, view in results.sql(_VIEWS).rows:
        path = folder / f"{len(found)}.parquet"
        try:
            with (
                results.batches(f"FROM {sql_name(schema, view)} ORDER BY ALL") as batches,  # the same file at each push
                pq.ParquetWriter(path, batches.schema, compression="zstd") as writer,
            ):
                for batch in batches:
                    writer.write_batch(batch)
        except ResultsError:
            continue
        found[f"{schema}.{view}"] = path
    for name, write in more.items():
        found[name] = folder / f"{name}.parquet"
        write(results.run_dir, found[name])
    return found


_TAG = re.compile(r"[\w][\w.+-]{0,63}")
_RENEWED_S = 86_400.0
"""If an object is at least this old, in seconds, a push writes it again, because `bench gc` may be about to remove
it."""
_SKEW_S = 3600.0
_REVISIONS = 20
"""The most times that a push starts over because another push has stored the same run meanwhile."""


@dataclass
class Push:
    """The options of a push. `progress` is called with the number of bytes sent so far, and with the total number."""

    tags: Sequence[str] = ()
    sign: Callable[[bytes], bytes] | None = None
    """Returns a signature of a manifest's bytes. None if the manifest is not to be signed."""
    progress: Callable[[int, int], None] = lambda _done, _all: None
    more: Mapping[str, WriteTable] = field(default_factory=dict)
    """Further tables to make from the run's results, by name."""
    cautions: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Pushed:
    """The outcome of a push. `state` is `new`, `grown` (a later revision) or `same` (the store already had identical
    files)."""

    manifest: RunManifest
    state: Literal["new", "grown", "same"]
    sent: int
    """How many bytes were sent because the store lacked them."""


def push_run(run_dir: Path, store: SharedStore, push: Push) -> Pushed:
    """Push a run that no process drives. Existing contents of the store are not changed.

    Raises RunnerError, SharedStoreError, OSError. After an error, the store has no new run, but the next attempt is
    shorter, because the store keeps the files that it received.
    """
    for tag in push.tags:
        check_tag(tag)
    if run_state(run_dir) == "running":
        raise SharedStoreError(f"{run_dir.name} still runs", "push it when it has ended, or `bench run --push`")
    if _begin(store):
        push.cautions.append(f"{store.url} is a new store: if others push there already, the address is another")
    begun = [run_dir / path for path in run_files(run_dir) if not path.startswith(f"{STORE}/")]  # the rest may be built
    with (
        hash_beside(begun) as early,
        fresh_store(run_dir) as results,
        tempfile.TemporaryDirectory(prefix="benchbrief-push-") as folder,
    ):
        tables = write_partition(results, Path(folder), push.more)
        files = {path: _hashed(run_dir / path, early) for path in run_files(run_dir)}
        _refuse_damaged(run_dir, files)
        files = _only_recorded(run_dir, files, push)
        table_files = {name: files.get(f"{STORE}/{name}.parquet") or hash_file(path) for name, path in tables.items()}
        list_path = Path(folder) / "files.json"
        list_path.write_text(json.dumps({path: asdict(_stored(file)) for path, file in files.items()}, indent=0))
        list_file = hash_file(list_path)
        draft = replace(
            describe(run_dir),
            tags=tuple(dict.fromkeys(push.tags)),
            list_sha256=list_file.sha256,
            file_count=len(files),
            size=sum(file.size for file in files.values()),
            tables={name: _stored(file) for name, file in table_files.items()},
            briefs={path: _stored(file) for path, file in files.items() if path.startswith(f"{REPORTS}/")},
        )
        _warn_of_clocks(store, draft, push)
        if known := _same(store, draft):
            return _kept(run_dir, store, Pushed(known, "same", 0), push)
        local = {stored_at(draft, path, _stored(file)): file for path, file in files.items()}
        local |= {table_key(draft.id, name, file.sha256): file for name, file in table_files.items()}
        local[object_key(draft.list_sha256)] = list_file
        began_at = store.objects.now()
        sent, relied_on = _send(store, local, push, began_at)
        manifest = _finish(store, draft)
        # If the push took days (a laptop may have slept), `bench gc` considers what was sent at first as old, too.
        _look_again(store, relied_on if store.objects.now() - began_at < _RENEWED_S else local)
        if manifest is None:
            return _kept(run_dir, store, Pushed(_same(store, draft) or draft, "same", sent), push)
    return _kept(run_dir, store, Pushed(manifest, "new" if manifest.revision == 1 else "grown", sent), push)


def _refuse_damaged(run_dir: Path, files: Mapping[str, HashedFile]) -> None:
    """Raise SharedStoreError if a raw output behind the results is missing, or differs from the journal's digest."""
    kept = kept_outputs(run_dir)
    damaged = [path for path, sha256 in kept.items() if path not in files or files[path].sha256 != sha256]
    if damaged:
        what = "is not what was measured" if damaged[0] in files else "is missing"
        more = f", and so are {len(damaged) - 1} more of its raw outputs" if damaged[1:] else ""
        spec = shlex.quote(load_plan(run_dir).spec.name)
        raise SharedStoreError(
            f"{run_dir.name} is damaged: {damaged[0]} {what}{more}",
            "put it back from a copy (`bench verify --raw` names each); or `bench run "
            f"{spec}` takes the good cells from this run and measures the others again",
        )


def _only_recorded(run_dir: Path, files: Mapping[str, HashedFile], push: Push) -> dict[str, HashedFile]:
    """Leave out those files of reports that the journal does not record.

    Raises SharedStoreError if a file of a report was changed after it was made.
    """
    recorded = recorded_files(run_dir / JOURNAL)
    lying = [path for path in files if path.startswith(f"{REPORTS}/")]
    if edited := [path for path in lying if path in recorded and files[path].sha256 != recorded[path]]:
        more = f", and so were {len(edited) - 1} more" if edited[1:] else ""
        hint = f"make it again: bench report {shlex.quote(run_dir.name)}; nothing was pushed"
        raise SharedStoreError(f"{run_dir.name}: {edited[0]} was changed after it was made{more}", hint)
    if foreign := [path for path in lying if path not in recorded]:
        more = f" and {len(foreign) - 1} more" if foreign[1:] else ""
        push.cautions.append(
            f"{foreign[0]}{more} of {run_dir.name} stayed here: the run's journal has no record of it as a report"
        )
    return {path: file for path, file in files.items() if path not in set(foreign)}


def _stored(file: HashedFile) -> StoredFile:
    return StoredFile(file.sha256, file.size)


def _hashed(path: Path, early: Mapping[Path, Future[HashedFile]]) -> HashedFile:
    return early[path].result() if path in early else hash_file(path)


def _kept(run_dir: Path, store: SharedStore, pushed: Pushed, push: Push) -> Pushed:
    """Sign the manifest in the store if a signature was requested and is still missing. Also keep a copy in the run's
    folder if the folder is writable."""
    if push.sign is not None and store.signature(pushed.manifest) is None:
        content = store.objects.read(pushed.manifest.key)
        store.objects.create(pushed.manifest.signature_key, push.sign(content))
    try:
        write_pushed(run_dir, store, pushed.manifest)
    except OSError as error:
        push.cautions.append(f"{run_dir / PUSHED} can't be written ({error.strerror}): `bench verify` will not know it")
    return pushed


def check_tag(tag: str) -> None:
    """Raise SharedStoreError unless the tag is one word."""
    if not _TAG.fullmatch(tag):
        hint = "a tag has letters, digits, and after the first of them . _ + -"
        raise SharedStoreError(f"{tag!r} can't be a tag", hint)


def run_files(run_dir: Path) -> list[str]:
    """Return the path of each file of a run that must be pushed. Raises SharedStoreError for anything but a plain file,
    and for a name that is not UTF-8."""
    found, refused = [], []
    for at, folders, names in os.walk(run_dir):
        folders.sort()
        links = [name for name in folders if Path(at, name).is_symlink()]
        for name in sorted([*names, *links]):
            path = Path(at, name)
            inside = path.relative_to(run_dir).as_posix()
            if not is_pushed(inside):
                continue
            try:
                inside.encode()
                why = why_not_plain(path.lstat())
            except UnicodeEncodeError as error:
                raise SharedStoreError(f"{inside!r} is no name in UTF-8", "rename it, or remove it") from error
            except FileNotFoundError:  # removed since
                continue
            if why:
                refused.append(f"{inside}: {why}")
            found.append(inside)
    if refused:
        more = f", and {len(refused) - 1} more" if refused[1:] else ""
        hint = "remove it, or put the file itself in its place; nothing was pushed"
        raise SharedStoreError(f"{run_dir.name} has what can't be pushed: {refused[0]}{more}", hint)
    return found


def stored_at(manifest: RunManifest, path: str, file: StoredFile) -> str:
    """Return the key under which a file of a run is stored. Tables and other objects have different keys."""
    table = path.removeprefix("store/").removesuffix(".parquet")
    if path == f"store/{table}.parquet" and manifest.tables.get(table) == file:
        return table_key(manifest.id, table, file.sha256)
    return object_key(file.sha256)


def _begin(store: SharedStore) -> bool:
    """Make the store and return True, or return False if the store already exists.

    Raises SharedStoreError if this version can't write to the store, or if the place overwrites objects even in a write
    that must not overwrite.
    """
    there = store.objects.look(MARKER)
    if store.objects.create(MARKER, MARKER_TEXT):
        if there is None:
            return True
        what = f"{store.url} overwrites an object although it is asked not to, so two pushers may mix"
        raise SharedStoreError(what, "use a server that has conditional writes: AWS S3, MinIO, Ceph and others do")
    if store.objects.read(MARKER) != MARKER_TEXT:
        what = f"{store.url}/{MARKER} is not of a store that this benchbrief writes to"
        raise SharedStoreError(what, "use a later benchbrief, or another address")
    return False


def describe(run_dir: Path) -> RunManifest:
    """Return the parts of a manifest that describe the run itself, but not its files. Raises RunnerError."""
    from benchbrief.model.version import benchbrief_version

    plan, status = load_plan(run_dir), summarise(run_dir)
    title = next((report.title for report in plan.reports if report.title), "") or Path(plan.spec.name).stem
    return RunManifest(
        id=run_dir.resolve().name,
        owner=owner_in(run_dir),
        revision=1,
        pushed_at=time.time(),
        measured_at=started_at(run_dir),
        title=title,
        spec=status.spec,
        profile=status.profile,
        hardware=tuple(dict.fromkeys(cell.hardware for cell in plan.cells)),
        state=status.status,
        cells=Cells(status.done, status.failed, status.total),
        simulated=status.simulated,
        imported=imported_from(run_dir) is not None,
        tags=(),
        benchbrief=benchbrief_version(),
        schema_version=SCHEMA_VERSION,
        list_sha256="",
        file_count=0,
        size=0,
        tables={},
        briefs={},
    )


def _warn_of_clocks(store: SharedStore, draft: RunManifest, push: Push) -> None:
    now = store.objects.now()
    if abs(ahead := draft.pushed_at - now) > _SKEW_S:
        push.cautions.append(f"this machine's clock is {_far(ahead)} that of the store; the store's own times are used")
    if (ahead := draft.measured_at - now) > _SKEW_S:
        push.cautions.append(f"by its own clock the run was measured {_far(ahead)} the present of the store")


def _far(seconds: float) -> str:
    size = abs(seconds)
    amount = f"{size / 86_400:,.0f} days" if size >= 172_800 else f"{size / 3600:,.1f} h"
    return f"{amount} {'ahead of' if seconds > 0 else 'behind'}"


def _same(store: SharedStore, draft: RunManifest) -> RunManifest | None:
    """Return the store's newest manifest of the run if it has the same files and all the tags, or None otherwise.

    Raises SharedStoreError if the store has another run of this name.
    """
    revisions = store.revisions().get(draft.id, [])
    if not revisions:
        return None
    newest = store.read(draft.id, revisions[-1])
    if newest.owner != draft.owner:
        what = f"{store.url} has another run of the name {draft.id}, measured {newest.measured:%Y-%m-%d %H:%M} UTC"
        raise SharedStoreError(what, "nothing was overwritten: rename the folder of yours, then push it")
    return newest if newest.list_sha256 == draft.list_sha256 and set(newest.tags) >= set(draft.tags) else None


Local = Mapping[str, HashedFile]
"""The local files that a push needs in the store, by key."""


def _send(store: SharedStore, local: Local, push: Push, now: float) -> tuple[int, Local]:
    """Send the files that the store lacks. Returns the number of bytes sent, and the files that the store
    already had."""
    total, done, sent = sum(file.size for file in local.values()), 0, 0
    relied_on: dict[str, HashedFile] = {}

    def send(item: tuple[str, HashedFile]) -> bool:
        key, file = item
        there = store.objects.look(key)
        if there is not None and there.size != file.size:
            what = f"{store.url}/{key} has {there.size:,} bytes, and not the {file.size:,} of what it is named after"
            raise StoreDamaged(what, "it is left as it is: remove it when you know why, then push again")
        if there is not None and now - there.modified_at < _RENEWED_S:
            return False
        store.objects.upload(key, file)
        return True

    for (key, file), was_sent in zip(local.items(), store.at_once(send, local.items()), strict=True):
        done, sent = done + file.size, sent + file.size * was_sent
        if not was_sent:
            relied_on[key] = file
        push.progress(done, total)
    return sent, relied_on


def _finish(store: SharedStore, draft: RunManifest) -> RunManifest | None:
    """Write the manifest, or return None if another push has stored the same run meanwhile."""
    for _ in range(_REVISIONS):
        revisions = store.revisions().get(draft.id, [])
        if revisions and _same(store, draft):
            return None
        manifest = replace(draft, revision=revisions[-1] + 1 if revisions else 1, tags=_tags(store, draft, revisions))
        text = manifest_text(manifest)
        if store.objects.create(manifest.key, text) or _is_there(store, manifest.key, text):
            return manifest
    raise SharedStoreError(f"others push {draft.id} to {store.url} again and again", "push it once they have ended")


def _is_there(store: SharedStore, key: str, content: bytes) -> bool:
    """Return whether an object has this content.

    If `create` finds the key taken by an object with this content, `create` itself has written it: the store's answer
    was lost on the way, and the request was repeated.
    """
    try:
        return store.objects.read(key) == content
    except NoObject:
        return False


def _tags(store: SharedStore, draft: RunManifest, revisions: Sequence[int]) -> tuple[str, ...]:
    """Return the tags of the run: those that the store already has, and the new ones."""
    before = store.read(draft.id, revisions[-1]).tags if revisions else ()
    return tuple(dict.fromkeys((*before, *draft.tags)))


def _look_again(store: SharedStore, relied_on: Local) -> None:
    """Send again the objects that `bench gc` has removed since the push began. They are safe once the manifest is
    there."""

    def missing(item: tuple[str, HashedFile]) -> None:
        key, file = item
        if store.objects.look(key) is None:
            store.objects.upload(key, file)

    for _ in store.at_once(missing, relied_on.items()):
        pass


_PULLING = ".pulling-"
"""The prefix of folders while a pull writes them."""


def pull_run(
    store: SharedStore,
    manifest: RunManifest,
    out: Path,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Path:
    """Write a run's folder into `out`, and return that folder. `progress` is called with the number of bytes received
    so far, and with the total number.

    The folder is filled under another name, and renamed when it is complete. Raises StoreDamaged for a file that
    differs from the pushed one, SharedStoreError if another run has the folder, and NoRoom.
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
    """Yield an empty folder that is removed at the end. If the process is killed, the next pull removes the folder.
    Raises OSError."""
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
    """Lock a folder against other processes. If another process has the lock, raise OSError or, with `wait`, wait."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(descriptor)


def _require_room(folder: Path, manifest: RunManifest) -> None:
    """Raise NoRoom if the run is larger than the free space. The size comes from a manifest, which may be wrong."""
    free = shutil.disk_usage(folder).free
    if manifest.size > free:
        what = f"{manifest.id} has {manifest.size:,} bytes, and {folder.parent} has room for {free:,}"
        raise NoRoom(what, "free some space, or name another folder with --out")


def _refuse_other(target: Path, files: Mapping[str, StoredFile]) -> None:
    """Raise SharedStoreError unless the folder has each file of the run exactly as pushed."""
    for path, file in files.items():
        try:
            is_same = sha256_of(target / path, target) == file.sha256
        except OSError:
            is_same = False
        if not is_same:
            what = f"{target} is there already, and has another {path} than the run in the store"
            raise SharedStoreError(what, "nothing was overwritten: name another folder with --out")
