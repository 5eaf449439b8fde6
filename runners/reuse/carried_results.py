"""Results of earlier runs that stand for cells of a new one.

Their raw outputs are linked (or copied) into the new run's directory. Their records come first in its journal, each
cell's after a record of its source. The new run does not need the old one any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchbrief.model import events as j
from benchbrief.model.plan import Cell, Plan
from benchbrief.model.run_messages import say
from benchbrief.runners.engines.command_files import rename_hosts
from benchbrief.runners.hosts.facts.declared_facts import find_contradictions
from benchbrief.runners.journal.atomic_files import flush, link_or_copy, write_durably
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.journal.journal_file import JOURNAL, START, write_line
from benchbrief.runners.journal.measurement_versions import Recorded
from benchbrief.runners.journal.run_folder import cell_directory

Facts = j.HostFacts | j.EngineFacts | j.ToolFound
"""What a result depends on, as observed when it was measured."""
_ATTEMPT = 1


@dataclass(frozen=True)
class Carried:
    """The good attempt of an earlier run's cell `was`, which is the same measurement as the new plan's `cell`.

    `run_id` is the run that measured it, as `as_cell`. `run_dir` is the run that it is taken from, which may have
    reused it, too. `called` maps host names of that run to those of the new plan.
    """

    cell: Cell
    was: Cell
    run_dir: Path
    run_id: str
    as_cell: str
    measured_at: float
    measurement: Recorded
    attempt: int
    records: tuple[j.AnyRecord, ...]
    facts: tuple[Facts, ...]
    called: Mapping[str, str]

    @property
    def skipped(self) -> bool:
        """Return whether the cell was not measured, since its search ended before."""
        return all(isinstance(record, j.CellSkipped) for record in self.records)

    def own_records(self) -> Iterator[j.AnyRecord]:
        """Yield the attempt's records as those of the new run's cell."""
        for record in self.records:
            changes: dict[str, object] = {"cell": self.cell.id}
            if not isinstance(record, j.Remark | j.CellSkipped):
                changes["attempt"] = _ATTEMPT
            if isinstance(record, j.JobCollected):
                changes["host"] = self.called.get(record.host, record.host)
                changes["job"] = self._job(record.job)
                changes["directory"] = str(self.directory_of(record))
            if isinstance(record, j.ClockRead | j.EventRan):
                changes["host"] = self.called.get(record.host, record.host)
            if isinstance(record, j.Counters | j.DatabaseSize):
                changes["node"] = self.called.get(record.node, record.node)
            yield record.model_copy(update=changes)

    def own_facts(self) -> Iterator[Facts]:
        for fact in self.facts:
            if isinstance(fact, j.EngineFacts):
                files = rename_hosts(fact.facts, self.called)
                yield fact.model_copy(update={"database": self.cell.database, "facts": files})
            else:
                yield fact.model_copy(update={"host": self.called.get(fact.host, fact.host)})

    def directory_of(self, job: j.JobCollected) -> Path:
        """Return where a job's files are in the new run, relative to its directory."""
        return cell_directory(self.cell.id, _ATTEMPT) / Path(job.directory).name

    def _job(self, job: str) -> str:
        kind, _, rest = job.partition(":")
        name, _, host = rest.partition(":")
        return f"{kind}:{name}:{self.called.get(host, host)}" if host else job


def carry(run_dir: Path, plan: Plan, carried: Sequence[Carried], warnings: Iterable[str]) -> None:
    """Begin a run's directory with earlier results: first their files, then the complete journal. Raises OSError."""
    if not carried:
        return
    for each in carried:
        for job in each.records:
            if isinstance(job, j.JobCollected):
                for name in job.files:
                    to = run_dir / each.directory_of(job) / name
                    to.parent.mkdir(parents=True, exist_ok=True)
                    if link_or_copy(each.run_dir / job.directory / name, to):
                        flush(to)
    lines, chain = [], START
    for record in (*_records(plan, carried), *(_warning(text) for text in warnings)):
        line, chain = write_line(record, chain)
        lines.append(line)
    write_durably(run_dir / JOURNAL, b"".join(lines))


def _records(plan: Plan, carried: Sequence[Carried]) -> Iterator[j.AnyRecord]:
    """Yield the records with the oldest results first, so that the latest facts come last."""
    known: dict[tuple[str, ...], Mapping[str, object]] = {}
    warnings: dict[str, j.Remark] = {}
    for each in sorted(carried, key=lambda c: c.measured_at):
        for fact in each.own_facts():
            values = fact.model_dump(exclude={"at"})
            if known.get(subject(fact)) != values:
                known[subject(fact)] = values
                yield fact
            hardware = plan.hardware[each.cell.hardware]
            if isinstance(fact, j.HostFacts) and fact.host in hardware.hosts:
                for text in find_contradictions(hardware, fact.facts):
                    line = say.at(group=hardware.label, host=fact.host, what=text)
                    warnings[line] = _warning(line, str(hardware.origin))
        if not each.skipped:
            yield j.CellReused(
                at=now(),
                cell=each.cell.id,
                hash=each.cell.hash,
                attempt=_ATTEMPT,
                reused_from=each.run_id,
                as_cell=each.as_cell,
                measured_at=each.measured_at,
                measurement=each.measurement.shared,
                tool_measurement=each.measurement.tool,
            )
        yield from each.own_records()
    yield from warnings.values()


def subject(fact: Facts) -> tuple[str, ...]:
    """Return what the facts are of: newer ones with the same subject take their place."""
    if isinstance(fact, j.HostFacts):
        return (fact.type, fact.host)
    if isinstance(fact, j.EngineFacts):
        return (fact.type, fact.database)
    return (fact.type, fact.host, fact.driver)


def _warning(text: str, origin: str = "") -> j.Remark:
    return j.Remark(at=now(), severity="warning", text=text, origin=origin)
