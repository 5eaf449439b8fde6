"""Where the runs of a site are: a folder of runs, or a store that a team shares."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from benchbrief.compiler.planning.planned_cells import planned_cells
from benchbrief.dsl.bench_error import BenchError
from benchbrief.results.building.open_store import unchanged_store
from benchbrief.results.history.series_file import MOST_OF_A_SERIES, series_in
from benchbrief.results.history.series_rows import SERIES, labels_in, labels_of, rows_in
from benchbrief.results.many_runs.kept_runs import Brief, SiteRun, run_details, values_of
from benchbrief.results.runs.find_runs import require_folder, run_state, unreadable_runs
from benchbrief.results.runs.made_reports import recorded_files
from benchbrief.results.store_errors import ResultsError
from benchbrief.runners.journal.file_digests import sha256_of
from benchbrief.runners.journal.journal_file import JOURNAL
from benchbrief.runners.journal.run_folder import PLAN, load_plan
from benchbrief.runners.plain_files import read_plain

if TYPE_CHECKING:
    from benchbrief.results.shared_store.run_manifest import Manifest
    from benchbrief.results.shared_store.shared_store import SharedStore

SHOWN = (".html", ".pdf")
"""The files of a report that a site has."""
_CHANGED = "it is not the file that the run's journal names"
MOST_PROCESSES = 4
_ALONE = 8
"""So few runs are read without other processes, which take a second to start."""


class RunPlace(Protocol):
    @property
    def name(self) -> str: ...
    def stamps(self) -> Mapping[str, str]:
        """Return a text for each run that changes when the run does. Raises RunnerError."""
        ...

    def read(self, runs: Sequence[str]) -> Iterator[SiteRun]:
        """Yield each run; one that can't be read says why. Raises RunnerError when the place is away."""
        ...

    def fetch(self, run: SiteRun, brief: Brief, into: Path) -> None:
        """Write a brief's file. Raises RunnerError, OSError."""
        ...


class FolderOfRuns:
    def __init__(self, out: Path) -> None:
        self.out = out

    @property
    def name(self) -> str:
        return str(self.out)

    def stamps(self) -> Mapping[str, str]:
        require_folder(self.out)
        found = {}
        for journal in self.out.glob(f"*/{JOURNAL}"):
            try:
                state = journal.stat()
                plan = (journal.parent / PLAN).stat().st_mtime_ns if (journal.parent / PLAN).exists() else 0
            except OSError as error:
                found[journal.parent.name] = f"{error.strerror}"
            else:
                found[journal.parent.name] = f"{state.st_size} {state.st_mtime_ns} {plan}"
        for lost in self.out.glob(f"*/{PLAN}"):
            found.setdefault(lost.parent.name, "without a journal")
        return found | {path.name: error.message for path, error in unreadable_runs(self.out)}

    def read(self, runs: Sequence[str]) -> Iterator[SiteRun]:
        folders = [(str(self.out / run), stamp) for run, stamp in zip(runs, map(self.stamps().get, runs), strict=True)]
        count = min(os.cpu_count() or 1, MOST_PROCESSES)
        if len(runs) <= _ALONE or count == 1:
            yield from map(_read_folder, folders)
            return
        with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
            yield from pool.map(_read_folder, folders, chunksize=8)

    def fetch(self, run: SiteRun, brief: Brief, into: Path) -> None:
        _copy(self.out / run.id / brief.path, brief, into)


def _read_folder(of: tuple[str, str | None]) -> SiteRun:
    """Read a run's folder. Whatever is wrong with it is the run's problem, and not the site's."""
    run_dir, stamp = Path(of[0]), of[1] or ""
    try:
        plan = load_plan(run_dir)
        state = run_state(run_dir)
        if state == "running":
            return SiteRun(id=run_dir.name, stamp=f"{stamp} running", problem="it goes on")
        with unchanged_store(run_dir) as store:
            rows = list(rows_in(run_dir, plan, store))
            cells = dict(store.sql("SELECT status, count(*) FROM main.cells GROUP BY status").rows)
            left_out = store.sql("SELECT cell_id FROM main.cells WHERE status = 'skipped'").rows
        values, facts = values_of(rows)
        return SiteRun(
            id=run_dir.name,
            stamp=stamp,
            **{"title": Path(plan.spec.name).name, "spec": Path(plan.spec.name).name, **run_details(rows)},
            state=state,
            good=cells.get("ok", 0),
            failed=cells.get("failed", 0),
            planned=planned_cells(plan, (cell for (cell,) in left_out)),
            **labels_of(plan),
            values=values,
            facts=facts,
            briefs=tuple(_briefs(run_dir)),
        )
    except (BenchError, OSError, ValueError, KeyError) as error:
        message = error.message if isinstance(error, BenchError) else str(error) or type(error).__name__
        may_be_read_later = isinstance(error.__cause__ or error, PermissionError)
        return SiteRun(id=run_dir.name, stamp="unread" if may_be_read_later else stamp, problem=message)


def _briefs(run_dir: Path) -> Iterator[Brief]:
    """Yield the files of the run's reports as they were last made, in its folder."""
    for path, digest in recorded_files(run_dir / JOURNAL).items():
        if path.endswith(SHOWN) and _is_inside(path):
            try:
                yield Brief(path=path, sha256=digest, problem=_changed(sha256_of(run_dir / path, run_dir), digest))
            except FileNotFoundError:
                continue
            except OSError as error:
                yield Brief(path=path, sha256=digest, problem=error.strerror)


def _changed(found: str, recorded: str | None) -> str:
    return "" if found == recorded else _CHANGED


def _is_inside(path: str) -> bool:
    return not Path(path).is_absolute() and ".." not in Path(path).parts


def _copy(file: Path, brief: Brief, into: Path) -> None:
    """Copy a file whose digest is known: what is not what was made is not shown as if it were."""
    content = read_plain(file)
    if hashlib.sha256(content).hexdigest() != brief.sha256:
        raise ResultsError(f"{file} was changed while the site was made", "make the site again")
    into.parent.mkdir(parents=True, exist_ok=True)
    into.write_bytes(content)


class StoreOfRuns:
    def __init__(self, store: SharedStore) -> None:
        self.store = store

    @property
    def name(self) -> str:
        return str(self.store.url)

    def stamps(self) -> Mapping[str, str]:
        return self.store.stamps()

    def read(self, runs: Sequence[str]) -> Iterator[SiteRun]:
        left = dict.fromkeys(runs)
        stamps = self.stamps()
        for manifest in self.store.manifests(runs):
            left.pop(manifest.id, None)
            yield self._read(manifest, stamps.get(manifest.id, ""))
        for run in left:
            # A later benchbrief may read it as it is, so that it is read again each time.
            yield SiteRun(id=run, stamp="unread", problem=self.store.unread.get(run, "its manifest is gone"))

    def _read(self, manifest: Manifest, stamp: str) -> SiteRun:
        """Read a run. Whatever is wrong with it is the run's problem, and not the site's."""
        from benchbrief.results.object_stores.object_store import StoreAway, StoreFull, StoreRefuses

        run = SiteRun(
            id=manifest.id,
            stamp=stamp,
            title=manifest.title,
            spec=Path(manifest.spec).name,
            profile=manifest.profile or "",
            origin=manifest.origin,
            at=manifest.measured_at,
            state=manifest.state,
            good=manifest.cells.good,
            failed=manifest.cells.failed,
            planned=manifest.cells.total,
            hardware={key: key for key in manifest.hardware},
            tags=manifest.tags,
        )
        try:
            with tempfile.TemporaryDirectory(prefix="benchbrief-site-") as passing:
                table, problem = series_in(
                    self.store.fetch(manifest, SERIES, Path(passing), MOST_OF_A_SERIES), manifest.id
                )
                if table is None:
                    return run.model_copy(update={"problem": problem})
                briefs = tuple(self._briefs(manifest, Path(passing)))
            rows = table.to_pylist()
            values, facts = values_of(rows)
            known = {"values": values, "facts": facts, "briefs": briefs, **labels_in(table.schema.metadata)}
            return SiteRun(**{**dict(run), **known, "revision": run_details(rows).get("revision", "")})
        except (StoreAway, StoreFull, StoreRefuses):
            raise
        except (BenchError, ValueError, KeyError, TypeError, RecursionError) as error:
            message = error.message if isinstance(error, BenchError) else "its series file can't be read"
            return run.model_copy(update={"problem": message})

    def _briefs(self, manifest: Manifest, passing: Path) -> Iterator[Brief]:
        """Yield the files of the run's reports, each with whether it is what the run's journal names. Raises
        RunnerError."""
        shown = {path: file for path, file in manifest.briefs.items() if path.endswith(SHOWN)}
        recorded = recorded_files(self.store.fetch(manifest, JOURNAL, passing)) if shown else {}
        for path, file in shown.items():
            yield Brief(path=path, sha256=file.sha256, problem=_changed(file.sha256, recorded.get(path)))

    def fetch(self, run: SiteRun, brief: Brief, into: Path) -> None:
        (manifest,) = self.store.manifests([run.id])
        into.parent.mkdir(parents=True, exist_ok=True)
        self.store.fetch(manifest, brief.path, into)


def run_place(place: str) -> RunPlace:
    """Return the runs at a URL, or in a folder. A folder that holds a shared store is one. Raises RunnerError."""
    from benchbrief.results.shared_store.shared_store import MARKER, open_store

    if "://" in place or (Path(place) / MARKER).is_file():
        return StoreOfRuns(open_store(place))
    return FolderOfRuns(Path(place))
