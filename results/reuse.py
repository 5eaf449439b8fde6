"""Which cells of a plan need not be measured again: good results of earlier runs that are the same measurement.

Engineers distrust results of several days in one comparison, so results are taken by blocks, whole and from one run:

- the repeats of a point belong together: they say how far one measurement lies from the next;
- measured by turns (`interleaved`), so do all hardware at a point: they share the drift of their time;
- in a random order, so does the whole experiment: any cell may have been beside any other;
- what a rule for repeats did not need is not needed again by the same rule;
- a search belongs to the cells that were measured at what it found; what it did not need is not needed again. It is
  decided by a latency that is noted of each of its cells, so that only a search by the same one can do with them.

One measurement stands for one cell only, though several may be defined alike. Not taken is what failed, what another
version of the measurement measured, what has a raw output that is gone or changed, what depends on a value that is
read from the environment when a run starts, and anything of a simulated run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchbrief.compiler.plan import Cell, Plan, Reference
from benchbrief.results.evidence import Evidence, check_files, first_problem, read_evidence
from benchbrief.results.measured import MEASURE
from benchbrief.results.runs import list_real_runs, run_state
from benchbrief.results.verdicts import Verdict
from benchbrief.runners import journal as j
from benchbrief.runners.carry import Carried, Facts
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.rundir import PLAN

Block = tuple[Cell, ...]
Bond = tuple[object, ...]


@dataclass(frozen=True)
class Reuse:
    """`carried` are in the plan's order, with what a search did not need.

    `passed_over` says, a line each, why results that would fit are not taken.
    """

    plan: Plan
    carried: tuple[Carried, ...] = ()
    passed_over: tuple[str, ...] = ()

    @property
    def measured(self) -> tuple[Cell, ...]:
        """The cells that are left to be measured."""
        taken = {each.cell.id for each in self.carried}
        return tuple(cell for cell in self.plan.cells if cell.id not in taken)

    def without(self, changed: Mapping[str, str]) -> Reuse:
        """Itself without the blocks of these cells, which come with their reasons."""
        if not changed:
            return self
        dropped = {cell.id for block in blocks(self.plan) if any(c.id in changed for c in block) for cell in block}
        reasons = dict.fromkeys(changed.values())
        kept = tuple(each for each in self.carried if each.cell.id not in dropped)
        return Reuse(self.plan, kept, (*self.passed_over, *reasons))


def blocks(plan: Plan) -> list[Block]:
    """The cells that are taken from an earlier run together or not at all."""
    joined: dict[Bond, Bond] = {}

    def root(bond: Bond) -> Bond:
        while (further := joined.setdefault(bond, bond)) != bond:
            bond = further
        return bond

    first: dict[str, Bond] = {}
    for cell in plan.cells:
        first[cell.id], *others = _bonds(plan, cell)
        for other in others:
            joined[root(other)] = root(first[cell.id])
    found: dict[Bond, list[Cell]] = {}
    for cell in plan.cells:
        found.setdefault(root(first[cell.id]), []).append(cell)
    return [tuple(block) for block in found.values()]


def _bonds(plan: Plan, cell: Cell) -> Iterator[Bond]:
    """Cells that have one of these in common belong together."""
    experiment = plan.experiments[cell.experiment]
    knees = [knee for knee in (cell.threads_from, cell.target_from) if knee]
    point = (cell.workload, cell.threads, cell.target, *knees)
    match experiment.order:
        case "grouped":
            yield (cell.experiment, cell.hardware, *point)
        case "interleaved":
            yield (cell.experiment, *point)
        case "random":
            yield (cell.experiment,)
    if experiment.search:
        yield ("search", cell.experiment, cell.hardware, cell.workload)
    for knee in knees:
        yield ("search", knee.experiment, knee.hardware, knee.workload)


def find_reusable(plan: Plan, out: Path) -> Reuse:
    """Look through the runs of a folder, the newest first. No host is asked whether it still is as it was."""
    from_environment = {key: text for key in plan.databases if (text := _from_environment(plan, key))}
    wanted = [block for block in blocks(plan) if not any(cell.database in from_environment for cell in block)]
    reasons: dict[str, dict[str, None]] = {}
    """Why results that fit a block were not taken, by its first cell."""
    found: dict[str, Carried] = {}
    used: set[tuple[str, str]] = set()
    for run_dir in reversed(list_real_runs(out)):
        if not wanted:
            break
        if not _may_have(run_dir, wanted):
            continue
        try:
            run = _EarlierRun(plan, read_evidence(run_dir))
        except RunnerError:  # of another version, say: `bench status` tells
            continue
        left = []
        for block in wanted:
            taken, problems = run.take(block, used)
            if taken and not problems:
                found |= {each.cell.id: each for each in taken}
                used |= {_source(each) for each in taken}
            else:
                reasons.setdefault(block[0].id, {}).update(dict.fromkeys(problems))
                left.append(block)
        wanted = left
    texts = dict.fromkeys(from_environment.values())
    for block in wanted:
        texts |= reasons.get(block[0].id, {})
    return Reuse(plan, tuple(found[cell.id] for cell in plan.cells if cell.id in found), tuple(texts))


def _from_environment(plan: Plan, key: str) -> str:
    """Why the results of a database's cells can't be known to be of the same server; empty where they can."""
    names = [part.name for part in plan.databases[key].uri if isinstance(part, Reference) and part.kind == "env"]
    if not names:
        return ""
    return f"which server {key.partition('@')[0]} is depends on {', '.join(names)} of the environment"


def _may_have(run_dir: Path, wanted: Iterable[Block]) -> bool:
    """A quick look, since a folder may hold hundreds of runs. A run that goes on is left alone."""
    try:
        hashes = {cell["hash"] for cell in json.loads((run_dir / PLAN).read_bytes())["cells"]}
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return any(all(c.hash in hashes for c in block) for block in wanted) and run_state(run_dir) != "running"


class _EarlierRun:
    """The good results of a run, by what they measured."""

    def __init__(self, plan: Plan, evidence: Evidence) -> None:
        self._plan = plan
        self._evidence = evidence
        self._good: dict[str, list[Verdict]] = {}
        for verdict in evidence.verdicts:
            measured = verdict.status == "ok" and any(job.job == MEASURE for job in verdict.jobs)
            if measured or verdict.status == "skipped":
                self._good.setdefault(verdict.cell.hash, []).append(verdict)
        self._histories = _histories(evidence)

    def take(self, block: Block, used: set[tuple[str, str]]) -> tuple[list[Carried], list[str]]:
        """A result for every cell of the block that needs one, or none; and what is wrong with these results."""
        taken: list[Carried] = []
        used = set(used)
        for cell in block:
            # Its own namesake first: two cells may be defined alike.
            same = [verdict for verdict in self._good.get(cell.hash, ()) if self._stands_for(verdict, cell)]
            same.sort(key=lambda verdict: verdict.cell.id != cell.id)
            fitting = (each for each in (self._carried(cell, v) for v in same) if _source(each) not in used)
            if (each := next(fitting, None)) is None:
                return [], self._not_noted(cell)
            taken.append(each)
            used.add(_source(each))
        # What was measured by turns was so in one experiment.
        experiments = {(each.cell.experiment, each.was.experiment) for each in taken}
        if len(experiments) > len({experiment for experiment, _ in experiments}):
            return [], []
        return taken, [text for each in taken if (text := self._problem(each))]

    def _stands_for(self, verdict: Verdict, cell: Cell) -> bool:
        """What one search, or rule for repeats, did not need another may; a search decides by the latencies noted."""
        was, now = self._evidence.plan.experiments[verdict.cell.experiment], self._plan.experiments[cell.experiment]
        if verdict.status == "skipped":
            points = (was.points if was.search else None) == (now.points if now.search else None)
            same = (was.search, was.repeats, was.confident) == (now.search, now.repeats, now.confident)
            return points and same
        return now.search is None or (was.search is not None and was.search.latency == now.search.latency)

    def _not_noted(self, cell: Cell) -> list[str]:
        """That a cell's results lack the latency of its search, where they do."""
        search = self._plan.experiments[cell.experiment].search
        measured = [verdict for verdict in self._good.get(cell.hash, ()) if verdict.status != "skipped"]
        if search is None or not measured or any(self._stands_for(verdict, cell) for verdict in measured):
            return []
        told = f"did not note the {search.latency} latency, by which the search {cell.experiment} is decided"
        return [f"run {self._evidence.run_id} {told}"]

    def _problem(self, each: Carried) -> str:
        run_id = self._evidence.run_id
        if each.measurement != j.MEASUREMENT_VERSION:
            return f"run {run_id} is of a benchbrief that measured in another way"
        for record in each.records:
            if isinstance(record, j.JobCollected):
                problem = first_problem(check_files(self._evidence.run_dir, record).values())
                if problem:
                    return f"run {run_id}: {problem}"
        return ""

    def _carried(self, cell: Cell, verdict: Verdict) -> Carried:
        was, evidence = verdict.cell, self._evidence
        history = self._histories[was.id, verdict.attempt]
        before = history.reused
        return Carried(
            cell=cell,
            was=was,
            run_dir=evidence.run_dir,
            run_id=before.reused_from if before else evidence.run_id,
            as_cell=before.as_cell if before else was.id,
            measured_at=before.measured_at if before else verdict.started_at or 0.0,
            measurement=history.measurement,
            attempt=verdict.attempt or 0,
            records=tuple(history.records),
            facts=history.facts,
            called=dict(zip(_hosts(evidence.plan, was), _hosts(self._plan, cell), strict=True)),
        )


def _source(each: Carried) -> tuple[str, str]:
    return (each.run_id, each.as_cell)


def _hosts(plan: Plan, cell: Cell) -> Sequence[str]:
    return (*plan.hardware[cell.hardware].hosts, *cell.load_hosts)


@dataclass
class _History:
    """What the journal has of one attempt: its records, and what was known of its hosts, server and tools then."""

    records: list[j.AnyRecord]
    measurement: int = 1
    reused: j.CellReused | None = None
    facts: tuple[Facts, ...] = ()


def _histories(evidence: Evidence) -> dict[tuple[str, int | None], _History]:
    """By cell and attempt; None of a cell that was not needed."""
    cells = {cell.id: cell for cell in evidence.plan.cells}
    found: dict[tuple[str, int | None], _History] = {}
    last: dict[str, int] = {}
    known: dict[tuple[str, ...], Facts] = {}
    measurement = 1
    for record in evidence.records:
        match record:
            case j.RunStarted():
                measurement = record.measurement
            case j.HostFacts():
                known["host", record.host] = record
            case j.EngineFacts():
                known["engine", record.database] = record
            case j.ToolFound():
                known["tool", record.host, record.driver] = record
            case j.CellReused():
                found[record.cell, record.attempt] = _History([], record.measurement, record)
            case j.CellStarted():
                history = found.setdefault((record.cell, record.attempt), _History([], measurement))
                history.records.append(record)
                last[record.cell] = record.attempt
            case j.CellResumed() | j.StepStarted() | j.StepEnded() | j.JobCollected() | j.Counters() | j.ClockRead():
                if (record.cell, record.attempt) in found:
                    found[record.cell, record.attempt].records.append(record)
            case j.CellSkipped():
                found[record.cell, None] = _History([record], j.MEASUREMENT_VERSION)
            case j.Remark() if record.cell in last:
                found[record.cell, last[record.cell]].records.append(record)
            case j.CellEnded() if (record.cell, record.attempt) in found:
                history = found[record.cell, record.attempt]
                history.records.append(record)
                if record.cell in cells:
                    history.facts = tuple(_depended_on(cells[record.cell], known))
    return found


def _depended_on(cell: Cell, known: Mapping[tuple[str, ...], Facts]) -> Iterator[Facts]:
    keys: list[tuple[str, ...]] = [("host", host) for host in cell.locks]
    keys.append(("engine", cell.database))
    keys += [("tool", host, cell.tool.driver) for host in cell.load_hosts]
    yield from (known[key] for key in dict.fromkeys(keys) if key in known)
