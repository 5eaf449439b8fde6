"""The records that a run's folder keeps of its pushes: the manifest, its signature, and pushes that must be retried.

The files of these records are not part of the run, and are not pushed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import quote, unquote

from pydantic import AfterValidator, Field, StringConstraints, TypeAdapter, ValidationError

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.history.object_stores.object_store import SharedStoreError, StoreDamaged
from benchbrief.runners.journal.atomic_files import sha256_of, write_durably
from benchbrief.runners.journal.run_folder import REPORTS
from benchbrief.runners.plain_files import own_folder, read_plain

if TYPE_CHECKING:
    from benchbrief.history.shared_store.shared_store import SharedStore

VERSION = 1
"""The version of manifests. Raise it with every change that earlier versions of benchbrief would misread."""
RUNS = "runs/"
SIGNATURE = ".sig"
MOST_OF_A_MANIFEST = 4 << 20
MOST_OF_A_LIST = 512 << 20
"""The largest allowed size of a list of files, in bytes. The list of a run with a million raw outputs has half this
size."""
_FORMAT = "benchbrief-run"
_KEY = re.compile(r"runs/(?P<name>[^/@]+)@(?P<revision>[1-9][0-9]{0,8})\.json")
_TABLE = re.compile(r"((measure|metric)\.)?[^\W\d]\w{0,199}")
PUSHED = "pushed"
"""The folder in a run that keeps the records of its pushes."""
_NOT_PUSHED = (f"{PUSHED}/", "store/.lock", "store/.building/", "live.json")


def _table_name(name: str) -> str:
    """Raise ValueError for a name that no version of benchbrief gives to a table. A later version may have tables that
    this one lacks, so readers still have to check whether they know the table."""
    if not _TABLE.fullmatch(name):
        raise ValueError(f"{name[:80]!r} can't be the name of a table")
    return name


def path_problem(path: str) -> str:
    """Return why a path can't belong to a file in a run's folder, or "" if it can."""
    if path.startswith("/") or "\0" in path or any(part in ("", ".", "..") for part in path.split("/")):
        return "lies outside its folder"
    if len(path) > 4096 or any(len(part.encode(errors="surrogatepass")) > 255 for part in path.split("/")):
        return "has a name that is too long"
    return ""


def is_pushed(path: str) -> bool:
    """Return whether a push copies a file of a run. It copies neither the records of earlier pushes nor files that
    exist only while a process runs."""
    return not path.startswith(_NOT_PUSHED)


def _brief_path(path: str) -> str:
    if path_problem(path) or not path.startswith(f"{REPORTS}/"):
        raise ValueError(f"{path[:80]!r} is no file of a report")
    return path


Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Time = Annotated[float, Field(ge=0, lt=253_402_300_800, allow_inf_nan=False)]  # until the year 9999
Count = Annotated[int, Field(ge=0, lt=1 << 63, strict=True)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=255)]
Line = Annotated[str, StringConstraints(max_length=4096)]
TableName = Annotated[str, AfterValidator(_table_name)]
BriefPath = Annotated[str, AfterValidator(_brief_path)]


@dataclass(frozen=True)
class _Head:
    format: Literal["benchbrief-run"]
    version: Count


@dataclass(frozen=True)
class StoredFile:
    """A pushed file: its SHA-256, and its size in bytes."""

    sha256: Sha256
    size: Count


@dataclass(frozen=True)
class Cells:
    """How many cells of a run have results, how many failed, and how many were planned."""

    good: Count
    failed: Count
    total: Count


@dataclass(frozen=True)
class RunManifest:
    """A run in a shared store. Times are in epoch seconds, by the clock of the controller or of the machine that
    pushed.

    `tables` are the Parquet files of the run's results by name, such as `throughput`, `measure.latency` or
    `metric.cost`. `briefs` are the files of its reports by their path in the run.
    """

    id: Name
    owner: Line
    """The run's own identity, which tells apart two runs of the same name."""
    revision: Count
    pushed_at: Time
    measured_at: Time
    title: Line
    spec: Line
    profile: Line | None
    hardware: tuple[Line, ...]
    state: Line
    """done | failed | interrupted."""
    cells: Cells
    simulated: bool
    imported: bool
    tags: tuple[Line, ...]
    benchbrief: Line
    schema_version: Count
    list_sha256: Sha256
    """The SHA-256 of the object that lists the run's files."""
    file_count: Count
    size: Count
    """The total size of the run's files in bytes."""
    tables: Mapping[TableName, StoredFile]
    briefs: Mapping[BriefPath, StoredFile]

    @property
    def key(self) -> str:
        return manifest_key(self.id, self.revision)

    @property
    def signature_key(self) -> str:
        return self.key + SIGNATURE

    @property
    def origin(self) -> str:
        """measured | simulated | imported"""
        return "simulated" if self.simulated else "imported" if self.imported else "measured"

    @property
    def measured(self) -> datetime:
        """Return when the run was measured, in UTC."""
        return datetime.fromtimestamp(self.measured_at, UTC)

    @property
    def pushed(self) -> datetime:
        """Return when the run was pushed, in UTC."""
        return datetime.fromtimestamp(self.pushed_at, UTC)


def key_name(run_id: str) -> str:
    """Return a run's id in a form that can be part of a key, with slashes, line ends and the like encoded."""
    quoted = quote(run_id, safe="", errors="surrogateescape")
    return quoted.replace(".", "%2E") if set(quoted) == {"."} else quoted


def manifest_key(run_id: str, revision: int) -> str:
    return f"{RUNS}{key_name(run_id)}@{revision}.json"


def run_of_key(key: str) -> tuple[str, int] | None:
    """Return the run and the revision in a manifest's key, or None for the key of any other object."""
    found = _KEY.fullmatch(key)
    return (unquote(found["name"], errors="surrogateescape"), int(found["revision"])) if found else None


def object_key(sha256: str) -> str:
    return f"objects/{sha256[:2]}/{sha256}"


def table_folder(run_id: str) -> str:
    return f"tables/run={key_name(run_id)}/"


def table_key(run_id: str, table: str, sha256: str) -> str:
    """Return the key of a table. The key includes a part of the SHA-256, because a later revision of the run has
    different tables."""
    return f"{table_folder(run_id)}{key_name(table)}-{sha256[:16]}.parquet"


def manifest_text(manifest: RunManifest) -> bytes:
    return (
        json.dumps({"format": _FORMAT, "version": VERSION, **asdict(manifest)}, separators=(",", ":")).encode() + b"\n"
    )


def read_manifest(content: bytes, key: str, url: str = "") -> RunManifest:
    """Parse the content stored under a manifest's key in the store at `url`.

    Raises StoreDamaged, and SharedStoreError for a manifest of a newer version.
    """
    place = f"{url}/{key}" if url else key
    try:
        version = _reader(_Head).validate_json(content).version
    except ValueError as error:
        raise StoreDamaged(
            f"{place} is not the manifest of a run", "remove it, if benchbrief has not written it"
        ) from error
    if version > VERSION:
        raise SharedStoreError(
            f"{place} is a manifest of version {version}, and this benchbrief reads version {VERSION}",
            "use the benchbrief that pushed it, or a later one",
        )
    try:
        manifest: RunManifest = _reader(RunManifest).validate_json(content)
    except ValueError as error:
        what = f"{place} lacks what a manifest has, or has it in another form: {_first(error)}"
        raise StoreDamaged(what, "push the run again") from error
    if run_of_key(key) != (manifest.id, manifest.revision):
        what = f"{place} is the manifest of another run: {manifest.id}, revision {manifest.revision}"
        raise StoreDamaged(what, "give it its own name again")
    return manifest


def _first(error: ValueError) -> str:
    """Return the first problem, cut to a few hundred characters."""
    if not isinstance(error, ValidationError):
        return str(error)[:200]
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))[:100]}: {first['msg'][:200]}".lstrip(": ")


def read_list(content: bytes) -> dict[str, StoredFile]:
    """Read the list of a run's files. Raises ValueError."""
    files: dict[str, StoredFile] = _reader(dict[str, StoredFile]).validate_json(content)
    return files


@cache
def _reader(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


_MANIFEST = "manifest.json"
_LIST = "files.json"
_QUEUE = "queue.json"


@dataclass(frozen=True)
class QueuedPush:
    """A push that must be retried. `key` is the path of the signing key, or ""."""

    url: str
    tags: tuple[str, ...] = ()
    key: str = ""


@dataclass(frozen=True)
class PushedRecord:
    """A run's manifest with its exact bytes from the run's folder, its signature, and the files that it lists."""

    manifest: RunManifest
    content: bytes
    signature: bytes | None
    files: dict[str, StoredFile]


def write_pushed(run_dir: Path, store: SharedStore, manifest: RunManifest) -> None:
    """Keep a copy of the store's manifest in the run's folder. Raises SharedStoreError, OSError."""
    folder = own_folder(run_dir, PUSHED)
    write_durably(folder / _LIST, store.objects.read(object_key(manifest.list_sha256), MOST_OF_A_LIST))
    signature = store.signature(manifest)
    if signature is not None:
        write_durably(folder / (_MANIFEST + SIGNATURE), signature)
    else:
        (folder / (_MANIFEST + SIGNATURE)).unlink(missing_ok=True)
    write_durably(folder / _MANIFEST, store.objects.read(manifest.key, MOST_OF_A_MANIFEST))


def read_pushed(run_dir: Path) -> PushedRecord | None:
    """Return the record of a run's last push or pull from the run's folder, or None if there is none.

    Raises OSError, and StoreDamaged if the record can't be read or belongs to another run.
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
    """Return the pushes of a run that are waiting for their store. Raises StoreDamaged, OSError."""
    path = run_dir / PUSHED / _QUEUE
    try:
        pushes = json.loads(read_plain(path, run_dir))
        return tuple(QueuedPush(str(each["url"]), tuple(map(str, each["tags"])), str(each["key"])) for each in pushes)
    except FileNotFoundError:
        return ()
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreDamaged(f"{path} does not say what waits", "remove it, then push the run again") from error


def enqueue(run_dir: Path, push: QueuedPush) -> None:
    """Keep a push in the run's folder for a later retry. Raises OSError."""
    try:
        before = queued(run_dir)
    except SharedStoreError:
        before = ()
    _write_queue(run_dir, [*(each for each in before if each.url != push.url), push])


def dequeue(run_dir: Path, url: str) -> None:
    """Forget the waiting push to a store. Raises StoreDamaged, OSError."""
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
