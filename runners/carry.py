"""Results of earlier runs that stand for cells of a new one.

Their raw outputs are linked (or copied) into the new run's directory, and their records stand at the beginning of its
journal, each cell's after a record of where it is from: the new run needs the old one no more.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchbrief.compiler.plan import Cell, Plan
from benchbrief.runners import facts
from benchbrief.runners import journal as j
from benchbrief.runners.journal_io import JOURNAL
from benchbrief.runners.rundir import cell_directory, write_durably

Facts = j.HostFacts | j.EngineFacts | j.ToolFound
"""What a result depends on, and was observed when it was measured."""
_ATTEMPT = 1


@dataclass(frozen=True)
class Carried:
    """The good attempt of an earlier run's cell `was`, which is the same measurement as `cell` of the new plan.

    `run_id` is the run that measured it, as `as_cell`; `run_dir` the run that it is taken from, which may have taken it
    itself. `called` maps the names of that run's hosts to those of the new plan.
    """

    cell: Cell
    was: Cell
    run_dir: Path
    run_id: str
    as_cell: str
    measured_at: float
    measurement: int
    attempt: int
    records: tuple[j.AnyRecord, ...]
    facts: tuple[Facts, ...]
    called: Mapping[str, str]

    @property
    def skipped(self) -> bool:
        """Not measured, since the search that it belongs to was over before."""
        return all(isinstance(record, j.CellSkipped) for record in self.records)

    def own_records(self) -> Iterator[j.AnyRecord]:
        """The attempt's records as those of the new run's cell."""
        for record in self.records:
            changes: dict[str, object] = {"cell": self.cell.id}
            if not isinstance(record, j.Remark | j.CellSkipped):
                changes["attempt"] = _ATTEMPT
            if isinstance(record, j.JobCollected):
                changes["host"] = self.called.get(record.host, record.host)
                changes["job"] = self._job(record.job)
                changes["directory"] = str(self.directory_of(record))
            if isinstance(record, j.ClockRead):
                changes["host"] = self.called.get(record.host, record.host)
            if isinstance(record, j.Counters):
                changes["node"] = self.called.get(record.node, record.node)
            yield record.model_copy(update=changes)

    def own_facts(self) -> Iterator[Facts]:
        for fact in self.facts:
            if isinstance(fact, j.EngineFacts):
                yield fact.model_copy(update={"database": self.cell.database})
            else:
                yield fact.model_copy(update={"host": self.called.get(fact.host, fact.host)})

    def directory_of(self, job: j.JobCollected) -> Path:
        """Where a job's files lie in the new run, relative to its directory."""
        return cell_directory(self.cell.id, _ATTEMPT) / Path(job.directory).name

    def _job(self, job: str) -> str:
        kind, _, rest = job.partition(":")
        name, _, host = rest.partition(":")
        return f"{kind}:{name}:{self.called.get(host, host)}" if host else job


def carry(run_dir: Path, plan: Plan, carried: Sequence[Carried], warnings: Iterable[str]) -> None:
    """Begin a run's directory with earlier results: their files first, then the journal, whole. Raises OSError."""
    if not carried:
        return
    for each in carried:
        for job in each.records:
            if isinstance(job, j.JobCollected):
                for name in job.files:
                    _take(each.run_dir / job.directory / name, run_dir / each.directory_of(job) / name)
    records = [*_records(plan, carried), *(_warning(text) for text in warnings)]
    write_durably(run_dir / JOURNAL, b"".join(record.model_dump_json().encode() + b"\n" for record in records))


def _take(source: Path, to: Path) -> None:
    """A raw output is never written again, so that two names of one file serve as two files would."""
    to.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, to)
    except OSError:  # on another file system, or on one without links
        shutil.copy2(source, to)
        with to.open("rb") as file:
            os.fsync(file.fileno())


def _records(plan: Plan, carried: Sequence[Carried]) -> Iterator[j.AnyRecord]:
    """The oldest results first, so that the facts that were observed last stand last."""
    known: dict[tuple[str, ...], Mapping[str, object]] = {}
    contradictions: dict[str, j.Remark] = {}
    for each in sorted(carried, key=lambda c: c.measured_at):
        for fact in each.own_facts():
            told = fact.model_dump(exclude={"at"})
            if known.get(_subject(fact)) != told:
                known[_subject(fact)] = told
                yield fact
            hardware = plan.hardware[each.cell.hardware]
            if isinstance(fact, j.HostFacts) and fact.host in hardware.hosts:
                for text in facts.contradictions(hardware, fact.facts):
                    line = f"{hardware.label} on {fact.host}: {text}"
                    contradictions[line] = _warning(line, str(hardware.origin))
        if not each.skipped:
            yield j.CellReused(
                at=time.time(),
                cell=each.cell.id,
                hash=each.cell.hash,
                attempt=_ATTEMPT,
                reused_from=each.run_id,
                as_cell=each.as_cell,
                measured_at=each.measured_at,
                measurement=each.measurement,
            )
        yield from each.own_records()
    yield from contradictions.values()


def _subject(fact: Facts) -> tuple[str, ...]:
    if isinstance(fact, j.HostFacts):
        return (fact.type, fact.host)
    if isinstance(fact, j.EngineFacts):
        return (fact.type, fact.database)
    return (fact.type, fact.host, fact.driver)


def _warning(text: str, origin: str = "") -> j.Remark:
    return j.Remark(at=time.time(), severity="warning", text=text, origin=origin)
