"""Lists runs as single lines, from a shared store or a folder."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.history.shared_store.push_and_pull import describe
from benchbrief.history.shared_store.run_manifest import RunManifest, read_pushed
from benchbrief.history.shared_store.shared_store import SharedStore
from benchbrief.results.runs.find_runs import list_runs
from benchbrief.results.store_errors import ResultsError
from benchbrief.runners.errors import RunnerError


@dataclass(frozen=True)
class ListedRun:
    """A run in a list. `measured_at` and `pushed_at` are in UTC. `signed` says whether a signature exists, not whether
    it is valid."""

    run: str
    measured_at: datetime
    title: str
    hardware: tuple[str, ...]
    state: str
    good: int
    failed: int
    total: int
    origin: str
    """measured | simulated | imported"""
    tags: tuple[str, ...]
    signed: bool
    pushed_at: datetime | None


def runs_in_store(store: SharedStore) -> list[ListedRun]:
    """Return the runs of a store, the oldest first. The errors of unreadable runs are in the store's `problems`. Raises
    SharedStoreError."""
    manifests = list(store.manifests())
    signed = store.signed()
    found = [_listed(each, signed=each.key in signed) for each in manifests]
    return sorted(found, key=lambda each: (each.measured_at, each.run))


def runs_in_folder(out: Path) -> Iterator[ListedRun | RunnerError]:
    """Yield the runs of a folder, the oldest first, or the reason why a run can't be read."""
    for run_dir in list_runs(out):
        try:
            draft, record = describe(run_dir), read_pushed(run_dir)
        except (RunnerError, OSError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            yield ResultsError(f"{run_dir.name} can't be read: {why}", getattr(error, "hint", ""))
            continue
        yield ListedRun(
            run_dir.name,
            datetime.fromtimestamp(draft.measured_at, UTC),
            draft.title,
            draft.hardware,
            draft.state,
            draft.cells.good,
            draft.cells.failed,
            draft.cells.total,
            draft.origin,
            record.manifest.tags if record else (),
            signed=record is not None and record.signature is not None,
            pushed_at=record.manifest.pushed if record else None,
        )


def _listed(manifest: RunManifest, *, signed: bool) -> ListedRun:
    cells = manifest.cells
    return ListedRun(
        manifest.id,
        manifest.measured,
        manifest.title,
        manifest.hardware,
        manifest.state,
        cells.good,
        cells.failed,
        cells.total,
        manifest.origin,
        manifest.tags,
        signed,
        manifest.pushed,
    )
