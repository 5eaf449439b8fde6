"""Where the runs of a history are: a folder of runs, or a store that a team shares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from benchbrief.results.history.series_file import MOST_OF_A_SERIES
from benchbrief.results.history.series_rows import SERIES, write_series
from benchbrief.results.runs.find_runs import require_folder, run_state, unreadable_runs
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.journal.journal_file import JOURNAL
from benchbrief.runners.journal.run_folder import PLAN

if TYPE_CHECKING:
    from benchbrief.results.shared_store.shared_store import SharedStore


class Fetched(NamedTuple):
    """A run's series file, or why there is none. `is_final`: asking again gives the same."""

    run_id: str
    path: Path | None
    tags: tuple[str, ...] = ()
    problem: str = ""
    is_final: bool = True


class RunSource(Protocol):
    @property
    def name(self) -> str:
        """Return what no other source is called."""

    def stamps(self) -> Mapping[str, str]:
        """Return a text for each run that changes when its results do. Raises RunnerError."""

    def fetch(self, runs: Sequence[str], into: Path) -> Iterator[Fetched]:
        """Yield the series file of each run, written to a folder. Raises RunnerError when the source is away."""


class RunFolder:
    """A folder of this machine. Series are computed from the runs' tables."""

    def __init__(self, out: Path) -> None:
        self.out = out

    @property
    def name(self) -> str:
        return str(self.out.resolve())

    def stamps(self) -> Mapping[str, str]:
        require_folder(self.out)
        found = {}
        for plan in self.out.glob(f"*/{PLAN}"):
            try:
                journal = (plan.parent / JOURNAL).stat()
            except OSError:
                continue  # it never began
            found[plan.parent.name] = f"{journal.st_size} {journal.st_mtime_ns}"
        return found | {path.name: error.message for path, error in unreadable_runs(self.out)}

    def fetch(self, runs: Sequence[str], into: Path) -> Iterator[Fetched]:
        for run in runs:
            run_dir = self.out / run
            if run_state(run_dir) == "running":
                yield Fetched(run, None, problem="it goes on", is_final=False)
                continue
            try:
                write_series(run_dir, into / SERIES)
            except RunnerError as error:
                may_be_read_later = isinstance(error.__cause__, PermissionError)
                yield Fetched(run, None, problem=error.message, is_final=not may_be_read_later)
            else:
                yield Fetched(run, into / SERIES)


class RunStore:
    """A shared store. Each run was pushed with its series."""

    def __init__(self, store: SharedStore) -> None:
        self.store = store

    @property
    def name(self) -> str:
        return self.store.url

    def stamps(self) -> Mapping[str, str]:
        return self.store.stamps()

    def fetch(self, runs: Sequence[str], into: Path) -> Iterator[Fetched]:
        from benchbrief.results.object_stores.object_store import NoObject, StoreDamaged

        left = dict.fromkeys(runs)
        for manifest in self.store.manifests(runs):
            left.pop(manifest.id, None)
            try:
                path = self.store.fetch(manifest, SERIES, into, MOST_OF_A_SERIES)
            except (StoreDamaged, NoObject) as error:  # it stays so until the run is pushed again
                yield Fetched(manifest.id, None, manifest.tags, error.message)
            else:
                yield Fetched(manifest.id, path, manifest.tags)
        for run in left:
            problem = self.store.unread.get(run, "its manifest is gone")
            yield Fetched(run, None, problem=problem, is_final=False)


def run_source(place: str) -> RunSource:
    """Return the source at a URL, or in a folder. A folder that holds a shared store is one.

    Raises RunnerError.
    """
    from benchbrief.results.shared_store.shared_store import MARKER, open_store

    if "://" in place or (Path(place) / MARKER).is_file():
        return RunStore(open_store(place))
    return RunFolder(Path(place))
