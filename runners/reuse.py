"""Results of earlier runs that are reused for cells of a new run, and whether they are still valid.

The raw outputs of such results are linked (or copied) into the new run's directory. Their records come first in the new
run's journal. The records of each cell follow a record of their source. After that, the new run does not need the old
one.

A cell's hash covers what the spec says. Only a look at the host shows which machine it is, and which versions of tools
and servers it has. A measurement on another machine with the same name, or with another version, is another
measurement.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field
from pathlib import Path

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model.message import joined
from benchbrief.model.plan import Cell, DatabaseKey, Plan
from benchbrief.model.run_messages import say
from benchbrief.runners.engines import command_files
from benchbrief.runners.engines.command_files import rename_hosts
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.hosts import host_facts, tool_discovery
from benchbrief.runners.hosts.host_connections import HostPool
from benchbrief.runners.hosts.host_facts import find_contradictions
from benchbrief.runners.journal.atomic_files import flush, link_or_copy, write_durably
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.journal.journal_file import JOURNAL, START, write_line
from benchbrief.runners.journal.measurement_versions import Recorded
from benchbrief.runners.journal.run_folder import cell_directory
from benchbrief.runners.journal.secret_masking import hide, hide_throughout
from benchbrief.runners.plugins import driver, engine_class

Facts = j.HostFacts | j.EngineFacts | j.ToolFound
"""The facts that a result depends on, as observed when it was measured."""
_ATTEMPT = 1


@dataclass(frozen=True)
class Carried:
    """A good attempt that can be reused: the earlier run's cell `was` is the same measurement as the new plan's `cell`.

    `run_id` is the run that measured it, and `as_cell` is the cell's id there. `run_dir` is the run from which it is
    taken, which may itself have reused it. `called` maps that run's host names to the names in the new plan.
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
        """Return whether the cell was not measured because its search had already ended."""
        return all(isinstance(record, j.CellSkipped) for record in self.records)

    def own_records(self) -> Iterator[j.AnyRecord]:
        """Yield the attempt's records, changed so that they are about the new run's cell."""
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
        """Return the directory of a job's files in the new run, relative to the run's directory."""
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
    """Return a key for the subject of the facts. Newer facts with the same key replace older ones."""
    if isinstance(fact, j.HostFacts):
        return (fact.type, fact.host)
    if isinstance(fact, j.EngineFacts):
        return (fact.type, fact.database)
    return (fact.type, fact.host, fact.driver)


def _warning(text: str, origin: str = "") -> j.Remark:
    return j.Remark(at=now(), severity="warning", text=text, origin=origin)


_OF_THE_MACHINE = ("hostname", "cpu", "memory_limit")
_OF_THE_SERVER = ("server", "version", "topology", "storage engine", "options file")
_WORTH_A_WARNING = (
    *("os", "kernel", "memory", "swap", "virtualization", "clock_source", "governor", "transparent_huge_pages"),
    *("filesystem of ", "disks of "),
)
_AT_ONCE = 8


@dataclass
class Rechecked:
    """Results that are no longer valid. `changed` says what has changed, by cell. `warnings` do not prevent reuse."""

    changed: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def recheck(plan: Plan, carried: Sequence[Carried]) -> Rechecked:
    """Check on the hosts whether earlier results are still valid. Only the things on which the results depend are
    looked at.

    A host that can't be reached only causes a warning.
    """
    found = Rechecked()
    if not carried:
        return found
    hosts = list(dict.fromkeys(host for each in carried for host in each.cell.locks))
    with HostPool(plan) as pool, ThreadPoolExecutor(_AT_ONCE) as threads:
        for each in threads.map(lambda host: _host(plan, carried, pool, host), hosts):
            found.changed |= each.changed
            found.warnings += each.warnings
        left = [each for each in carried if each.cell.id not in found.changed]
        databases = list(dict.fromkeys(each.cell.database for each in left))
        for each in threads.map(lambda key: _database(plan, left, pool, key), databases):
            found.changed |= each.changed
            found.warnings += each.warnings
    found.warnings = list(dict.fromkeys(found.warnings))
    return found


def _host(plan: Plan, carried: Sequence[Carried], pool: HostPool, host: str) -> Rechecked:
    """Check whether the host is still the same machine, and has the same tools."""
    found = Rechecked()
    mine = [each for each in carried if host in each.cell.locks]
    paths = dict.fromkeys(path for each in mine if (path := plan.databases[each.cell.database].path))
    try:
        now = host_facts.observe(pool[host], list(paths))
        programs = {tool: _program(pool, host, *tool) for tool in _tools(mine, host)}
    except RunnerError:
        found.warnings.append(say.unseen(what=host))
        return found
    for each in mine:
        for fact in each.own_facts():
            if isinstance(fact, j.HostFacts) and fact.host == host:
                if differs := list(_differences(fact.facts, now, _OF_THE_MACHINE)):
                    found.changed[each.cell.id] = say.machine_changed(host=host, said=joined(differs, say.both))
                for text in _differences(fact.facts, now, _WORTH_A_WARNING):
                    found.warnings.append(say.host_changed(host=host, run=each.run_id, said=text))
            if isinstance(fact, j.ToolFound) and fact.host == host:
                program = programs.get((each.cell.tool.driver, each.cell.tool.path))
                if program and (text := program.differs_from(fact, host)):
                    found.changed.setdefault(each.cell.id, text)
    return found


def _tools(carried: Sequence[Carried], host: str) -> dict[tuple[str, str | None], None]:
    return {(each.cell.tool.driver, each.cell.tool.path): None for each in carried if host in each.cell.load_hosts}


@dataclass(frozen=True)
class _Program:
    """The version and the digest of a tool, as it is on a host now."""

    version: str
    sha256: str

    def differs_from(self, fact: j.ToolFound, host: str) -> str:
        if fact.version != self.version:
            return say.tool_version_changed(tool=fact.driver, host=host, now=self.version, before=fact.version)
        known = self.sha256 and fact.sha256
        return say.tool_build_changed(tool=fact.driver, host=host) if known and self.sha256 != fact.sha256 else ""


def _program(pool: HostPool, host: str, name: str, path: str | None) -> _Program:
    found = tool_discovery.find(pool[host], driver(name), path)
    return _Program(found.version, tool_discovery.digest(pool[host], found.path))


def _database(plan: Plan, carried: Sequence[Carried], pool: HostPool, key: DatabaseKey) -> Rechecked:
    """Check the attached server, or the library. An embedded server runs only for its cells, so its build is checked
    instead."""
    found = Rechecked()
    database = plan.databases[key]
    mine = [each for each in carried if each.cell.database == key]
    try:
        engine = engine_class(database.engine)(plan, database, plan.hardware[mine[0].cell.hardware], pool)
        try:
            engine.look()
            if database.server in ("embedded", "start"):  # a server that is not running can't be asked
                now = command_files.command_files(database, plan.hardware[mine[0].cell.hardware], pool)
            else:
                now = engine.describe()
            build = engine.build()
        finally:
            engine.stop()
    except RunnerError:
        found.warnings.append(say.unseen(what=say.the_database(database=database.name)))
        return found
    build_changed = say.embedded_build_changed if database.server == "embedded" else say.server_build_changed
    for each in mine:
        for fact in each.own_facts():
            if not isinstance(fact, j.EngineFacts):
                continue
            if differs := list(_differences(fact.facts, now, _OF_THE_SERVER)):
                found.changed[each.cell.id] = say.database_changed(
                    database=database.name, said=joined(differs, say.both)
                )
            elif build and fact.sha256 and fact.sha256 != build:
                found.changed[each.cell.id] = build_changed(database=database.name)
            elif files := list(_changed_files(fact.facts, now)):
                said = joined(files, say.both)
                found.changed[each.cell.id] = say.command_files_changed(database=database.name, said=said)
    return found


def _differences(before: Mapping[str, str], now: Mapping[str, str], names: Sequence[str]) -> Iterator[str]:
    """Yield the differences between the earlier facts and the current ones. A name that ends in a blank means all names
    that begin with it.

    The journal hides secrets in facts, so they are hidden on both sides before the comparison.
    """
    for name, value in before.items():
        wanted = any(name == each or (each.endswith(" ") and name.startswith(each)) for each in names)
        if wanted and name in now and (there := hide_throughout(now[name])) != (was := hide_throughout(value)):
            yield say.fact_changed(name=name.replace("_", " "), now=there, before=was)


def _changed_files(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """Yield the files of commands that have changed, appeared or disappeared."""
    for name in dict.fromkeys([*before, *now]):
        if not name.startswith(command_files.FACT):
            continue
        path = name.removeprefix(command_files.FACT)
        there, was = (hide(side.get(name, say.not_there())) for side in (now, before))
        if there != was:
            yield say.fact_changed(name=path, now=there, before=was)
