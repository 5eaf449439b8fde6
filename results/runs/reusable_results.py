"""Finds cells of a plan that need no new measurement, because earlier runs have good results of the same measurement.

Engineers distrust a comparison of results from several days. So results are reused in blocks, each complete and from a
single run:

- The repeats of a point belong together, because they show the spread of measurements.
- When measured in turns (`interleaved`), all hardware at a point belongs together, because it shares the drift
  over time.
- In a random order, the whole experiment belongs together, because any two cells may have been neighbours.
- Cells that a rule for repeats skipped remain skipped under the same rule. With a budget, the budget must also be the
  same, and the plan must not ask for more at their point.
- An adaptive ramp reuses points as long as its rule would choose them, given only the reused points. So it chooses the
  same points as it would without reuse. If an earlier run left out a candidate, the ramp decides again about it.
- A search for a promise reuses cells one by one, as long as its rule asks for them. If the earlier search left out a
  cell, or the cell's numbers were refused, the search decides again.
- A knee search and the cells that were measured at its knee belong together, and cells that it skipped remain skipped.
  The search is decided by a latency that each of its cells records, so only a search with the same statistic can
  reuse them.
- A cell is reused only if its run allowed no more work on other hardware, during the cell, than the plan allows now.

A measurement is reused for only one cell, even if several cells have the same definition. The following are never
reused: failed cells, other versions of the measurement, raw outputs that are missing or changed, results that depend on
a value read from the environment at the run's start, and simulated runs.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model.budgets import is_budgeted
from benchbrief.model.events import MEASURE
from benchbrief.model.plan import Cell, DatabaseKey, Experiment, Plan, Reference
from benchbrief.model.points import Curve, Point
from benchbrief.model.rate_search import Vote
from benchbrief.model.run_record import NOWHERE, Kept, RunRecord
from benchbrief.results.ingest.run_evidence import CellVerdict, Evidence, check_files, first_problem, read_evidence
from benchbrief.results.runs.find_runs import RUN_NAME, list_real_runs, list_runs, run_state
from benchbrief.results.runs.interim_results import AskedSamples
from benchbrief.runners.errors import Damaged, RunnerError
from benchbrief.runners.journal.measurement_versions import Recorded, recorded_at, way_now, way_of
from benchbrief.runners.journal.run_folder import MOST_OF_A_PLAN, PLAN
from benchbrief.runners.plain_files import read_plain
from benchbrief.runners.reuse import Carried, Facts
from benchbrief.runners.scheduling.parallel_lanes import lanes
from benchbrief.runners.scheduling.point_choice import curves, next_point, ramps_of
from benchbrief.runners.scheduling.promise_search import SERVED, Search, searches_of, vote_of
from benchbrief.runners.scheduling.reported_statistics import AskedStatistics


def without_unchosen(plan: Plan, found: Mapping[str, Carried]) -> dict[str, Carried]:
    """Return the results without those that adaptive ramps and searches for promises would no longer choose, given the
    other results.

    A ramp's rule is applied from its beginning, up to the first point that lacks a result for some cell. A point that
    an earlier ramp left out has no results, so the decision to leave it out is never reused.
    """
    kept = dict(found)
    ramps, searches = ramps_of(plan), searches_of(plan)
    if not ramps and not searches:
        return kept
    record = RunRecord.of(record for each in found.values() for record in each.own_records())
    for search in searches:
        asked = _asked_for(search, record)
        for cells in search.cells.values():
            for cell in cells:
                if cell.id not in asked:
                    kept.pop(cell.id, None)
    for ramp in ramps:
        chosen: list[float] = []
        count = ramp.experiment.adaptive.points if ramp.experiment.adaptive else 0
        while len(chosen) < count:
            choice = next_point(ramp.experiment.points, list(curves(ramp, chosen, record).values()))
            if choice is None or not _is_measured(ramp.cells[choice.point], found):
                break
            chosen.append(choice.point)
        for point, cells in ramp.cells.items():
            for cell in cells if point not in chosen else ():
                kept.pop(cell.id, None)
    return kept


def _asked_for(search: Search, record: RunRecord) -> set[str]:
    """Return the ids of the cells that a new search would ask for, up to the first cell without a good result."""
    votes: dict[str, Vote] = {}
    while (cell := search.next(votes)[1]) is not None:
        vote = vote_of(record.cells.get(cell.id), cell, search.promise)
        if vote is None or vote == "failed":
            break
        votes[cell.id] = vote
    return set(votes)


def _is_measured(cells: Iterable[Cell], found: Mapping[str, Carried]) -> bool:
    """Return whether all cells of a point have results, and at least one cell of each curve was measured.

    At most some cells of a measured point are skipped, by a rule for repeats. All of them are skipped if an adaptive
    ramp does not choose the point.
    """
    cells = list(cells)
    measured = {Curve.of(cell) for cell in cells if cell.id in found and not found[cell.id].skipped}
    return all(cell.id in found and Curve.of(cell) in measured for cell in cells)


_NOTHING, _LOADS, _MEASUREMENTS = range(3)
_RANKS = {"none": _NOTHING, "loading": _LOADS, "measuring": _MEASUREMENTS}
_Unit = tuple[str, str]
"""An experiment and a hardware. All cells of such a pair hold the same hosts and equipment."""
_Group = tuple[str, bool]
"""Another hardware, and whether the cells there belong to the same experiment."""


class Neighbours:
    """The work that may run on other hardware while a cell of the plan is measured."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._cells: dict[_Unit, Cell] = {}
        for cell in plan.cells:
            self._cells.setdefault(_unit(cell), cell)
        self._lane = {_unit(cell): number for number, lane in enumerate(lanes(plan.cells)) for cell in lane}
        self._found: dict[tuple[_Unit, bool], dict[_Group, int]] = {}

    def rank(self, cell: Cell) -> int:
        """Return how much work the cell's experiment allows on other hardware at the same time, as a rank: nothing,
        loads or measurements."""
        return _RANKS[self._plan.experiments[cell.experiment].overlap]

    def of(self, cell: Cell, *, by_lane: bool) -> dict[_Group, int]:
        """For each other hardware, return the rank of the work that may run there while the cell runs.

        With `by_lane`, hardware of the cell's own lane runs nothing meanwhile, even if it shares no host with the cell
        and only a third group links the two. Otherwise, only hardware that itself shares a host or equipment with the
        cell runs nothing.
        """
        unit = _unit(cell)
        if (unit, by_lane) not in self._found:
            found: dict[_Group, int] = {}
            held = set(cell.holds)
            for of, other in self._cells.items():
                if other.hardware == cell.hardware:
                    continue
                apart = self._lane[of] != self._lane[unit] if by_lane else held.isdisjoint(other.holds)
                takes_turns = bool(cell.turn) and other.turn == cell.turn
                level = (_LOADS if takes_turns else _MEASUREMENTS) if apart else _NOTHING
                group = other.hardware, other.experiment == cell.experiment
                found[group] = max(level, found.get(group, _NOTHING))
            self._found[unit, by_lane] = found
        return self._found[unit, by_lane]


def ran_beside(earlier: Neighbours, was: Cell, now: Neighbours, cell: Cell, *, reused: bool) -> str:
    """Describe work that may have run beside an earlier cell, although the plan that would reuse its result forbids it.
    Returns "" if there is none.

    `reused` means that the earlier run had itself reused the result. Then only one thing is known about the run that
    measured it: its plan allowed no more work beside the cell than the earlier run's plan.
    """
    before, allowed = earlier.of(was, by_lane=not reused), now.of(cell, by_lane=False)
    if reused:
        before = {group: earlier.rank(was) for group in allowed if group[1]} | before
    for (hardware, same), level in before.items():
        if level > allowed.get((hardware, same), now.rank(cell) if same else level):
            what = "a measurement" if level == _MEASUREMENTS else "a load"
            return f"{what} on {hardware} may have run beside {was.id}, which is not allowed now"
    return ""


def _unit(cell: Cell) -> _Unit:
    return cell.experiment, cell.hardware


def stays_left_out(left_out: CellVerdict, then: Plan, cell: Cell, now: Plan) -> bool:
    """Return whether the rules of the plan `now` would leave `cell` out, as the rules of the plan `then` left out the
    earlier cell."""
    before, after = then.experiments[left_out.cell.experiment], now.experiments[cell.experiment]
    if (before.search, before.repeats, before.confident) != (after.search, after.repeats, after.confident):
        return False
    if is_budgeted(then, before) != is_budgeted(now, after):
        return False
    if not is_budgeted(now, after):
        return True
    if left_out.no_room and _budgets(then, before) != _budgets(now, after):
        return False
    more = set(AskedStatistics(now).of(cell)) - set(AskedStatistics(then).of(left_out.cell))
    more |= AskedSamples(now).of(cell) - AskedSamples(then).of(left_out.cell)
    return not more and set(_compared(now, cell)) <= set(_compared(then, left_out.cell))


def _budgets(plan: Plan, experiment: Experiment) -> tuple[float | None, float | None]:
    return experiment.budget_s, plan.budget_s


def _compared(plan: Plan, cell: Cell) -> Iterator[tuple[str, ...]]:
    """For each expectation that compares repeats and reads the cell, yield the SQL of its two sides."""
    known = {**dict.fromkeys(plan.factors), **Point.of(cell).known_keys}
    for expect in plan.expects:
        if expect.repeats and any(read.covers(known) for read in expect.query.reads or ()):
            yield tuple(side.sql for side in expect.repeats)


Block = tuple[Cell, ...]
Bond = tuple[object, ...]


@dataclass(frozen=True)
class Reuse:
    """The results to reuse. `carried` are in the plan's order, including the cells that a search skipped.

    `passed_over` has a sentence for each reason why results that fit are not reused.
    """

    plan: Plan
    carried: tuple[Carried, ...] = ()
    passed_over: tuple[str, ...] = ()

    @property
    def measured(self) -> tuple[Cell, ...]:
        """Return the cells that still need to be measured."""
        taken = {each.cell.id for each in self.carried}
        return tuple(cell for cell in self.plan.cells if cell.id not in taken)

    def without(self, changed: Mapping[str, str]) -> Reuse:
        """Return the reuse without the blocks that contain changed cells. `changed` has the reason for each changed
        cell."""
        if not changed:
            return self
        dropped = {cell.id for block in blocks(self.plan) if any(c.id in changed for c in block) for cell in block}
        reasons = dict.fromkeys(changed.values())
        left = without_unchosen(self.plan, {e.cell.id: e for e in self.carried if e.cell.id not in dropped})
        return Reuse(self.plan, tuple(left.values()), (*self.passed_over, *reasons))


def blocks(plan: Plan) -> list[Block]:
    """Return the cells in blocks. Each block is reused as a whole from one earlier run, or not at all."""
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
    """Yield the bonds of a cell. Cells that share a bond are in the same block."""
    experiment = plan.experiments[cell.experiment]
    if experiment.promise:
        yield ("promise", cell.id)
        return
    knees = [knee for knee in (cell.threads_from, cell.target_from) if knee]
    point = (cell.workload, cell.threads, cell.target, *knees)
    match experiment.order:
        case "grouped":
            yield (cell.experiment, cell.hardware, cell.levels, *point)
        case "interleaved":
            yield (cell.experiment, *point)
        case "random":
            yield (cell.experiment,)
    if experiment.search:
        yield ("search", *Curve.of(cell))
    for knee in knees:
        yield ("search", *Curve.of(knee))


def find_reusable(plan: Plan, out: Path) -> Reuse:
    """Search the runs of a folder for results to reuse, from the newest run on. Does not check whether the hosts have
    changed."""
    from_environment = {key: text for key in plan.databases if (text := _from_environment(plan, key))}
    wanted = [block for block in blocks(plan) if not any(cell.database in from_environment for cell in block)]
    reasons: dict[str, dict[str, None]] = {}
    """The reasons why results that fit a block were not reused, by the block's first cell."""
    found: dict[str, Carried] = {}
    used: set[tuple[str, str]] = set()
    beside = Neighbours(plan)
    for run_dir in reversed(list_real_runs(out)):
        if not wanted:
            break
        if not _may_have(run_dir, wanted):
            continue
        try:
            run = _EarlierRun(plan, beside, read_evidence(run_dir))
        except Damaged as error:
            for block in wanted:
                reasons.setdefault(block[0].id, {})[f"nothing is taken from run {run_dir.name}: {error}"] = None
            continue
        except RunnerError:  # another version's run, for example: `bench status` reports it
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
    kept = without_unchosen(plan, found)
    return Reuse(plan, tuple(kept[cell.id] for cell in plan.cells if cell.id in kept), tuple(texts))


def _from_environment(plan: Plan, key: DatabaseKey) -> str:
    """If the environment decides which server a database has, return why the database's results can't be reused.
    Otherwise, return ""."""
    names = [part.name for part in plan.databases[key].uri if isinstance(part, Reference) and part.kind == "env"]
    if not names:
        return ""
    return f"which server {key.database} is depends on {', '.join(names)} of the environment"


def _may_have(run_dir: Path, wanted: Iterable[Block]) -> bool:
    """Return whether a run may have a wanted block. A run in progress never does. This must be fast, because a folder
    may hold hundreds of runs."""
    try:
        hashes = {cell["hash"] for cell in json.loads(read_plain(run_dir / PLAN, most=MOST_OF_A_PLAN))["cells"]}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False
    return any(all(c.hash in hashes for c in block) for block in wanted) and run_state(run_dir) != "running"


class _EarlierRun:
    """An earlier run, with its good results keyed by cell hash."""

    def __init__(self, plan: Plan, beside: Neighbours, evidence: Evidence) -> None:
        self._plan, self._beside = plan, beside
        self._evidence = evidence
        self._was_beside = Neighbours(evidence.plan)
        self._good: dict[str, list[CellVerdict]] = {}
        for verdict in evidence.verdicts:
            measured = verdict.status == "ok" and any(job.job == MEASURE for job in verdict.jobs)
            if measured or verdict.status == "skipped":
                self._good.setdefault(verdict.cell.hash, []).append(verdict)
        self._histories = _histories(evidence)

    def take(self, block: Block, used: set[tuple[str, str]]) -> tuple[list[Carried], list[str]]:
        """Return a result for every cell of the block, or none if the run lacks a result for one of them. Also return
        the problems that were found."""
        taken: list[Carried] = []
        used = set(used)
        for cell in block:
            # Prefer the cell of the same name: two cells may have the same definition.
            same = [verdict for verdict in self._good.get(cell.hash, ()) if self._stands_for(verdict, cell)]
            same.sort(key=lambda verdict: verdict.cell.id != cell.id)
            fitting = (each for each in (self._carried(cell, v) for v in same) if _source(each) not in used)
            if (each := next(fitting, None)) is None:
                return [], self._not_noted(cell)
            taken.append(each)
            used.add(_source(each))
        if self._is_left_out(taken):
            return [], []  # the points to leave out are chosen again
        # Cells that take turns belong to one experiment, so their results must also come from a single one.
        experiments = {(each.cell.experiment, each.was.experiment) for each in taken}
        if len(experiments) > len({experiment for experiment, _ in experiments}):
            return [], []
        return taken, [text for each in taken if (text := self._problem(each))]

    def _stands_for(self, verdict: CellVerdict, cell: Cell) -> bool:
        """Return whether an earlier cell's result can be used for a cell. The result must have the latency that the
        cell's search uses. A cell that the earlier run skipped must be skipped by this plan's rules, too."""
        was, now = self._evidence.plan.experiments[verdict.cell.experiment], self._plan.experiments[cell.experiment]
        if verdict.status == "skipped":
            if was.promise or now.promise:
                return False
            points = (was.points if was.search else None) == (now.points if now.search else None)
            return points and stays_left_out(verdict, self._evidence.plan, cell, self._plan)
        if now.promise:
            ended = self._evidence.record.cells[verdict.cell.id].ended
            return ended is not None and {SERVED, *(limit.name for limit in now.promise.limits)} <= ended.asked.keys()
        return now.search is None or (was.search is not None and was.search.latency == now.search.latency)

    def _is_left_out(self, taken: Iterable[Carried]) -> bool:
        """Return whether the results can't be reused because they skip points that an adaptive ramp left out.

        If hardware takes turns without sharing hosts, one ramp may have chosen a point that another left out. An
        adaptive ramp reuses the chosen points. Other experiments need all points.
        """
        curves: dict[tuple[object, ...], bool] = {}
        for each in taken:
            was = self._evidence.plan.experiments[each.was.experiment].adaptive is not None
            now = self._plan.experiments[each.cell.experiment].adaptive is not None
            if was or now:
                key = (now, *Point.of(each.cell)[1:])
                curves[key] = curves.get(key, True) and each.skipped
        left_out = [key[0] for key, skipped in curves.items() if skipped]
        return bool(left_out) and (len(left_out) == len(curves) or not all(left_out))

    def _not_noted(self, cell: Cell) -> list[str]:
        """Return the reasons why a cell's results are incomplete: they lack the latency that decides its search, or
        repeats that a different budget left out."""
        search = self._plan.experiments[cell.experiment].search
        found = self._good.get(cell.hash, ())
        if is_budgeted(self._plan, self._plan.experiments[cell.experiment]) and any(each.no_room for each in found):
            return [f"run {self._evidence.run_id} had no room for all repeats in its budget, which is another now"]
        measured = [verdict for verdict in self._good.get(cell.hash, ()) if verdict.status != "skipped"]
        if search is None or not measured or any(self._stands_for(verdict, cell) for verdict in measured):
            return []
        problem = f"did not note the {search.latency} latency, by which the search {cell.experiment} is decided"
        return [f"run {self._evidence.run_id} {problem}"]

    def _problem(self, each: Carried) -> str:
        run_id = self._evidence.run_id
        if not each.skipped:
            if way_of(self._evidence.plan, each.was, each.measurement) != way_now(self._plan, each.cell):
                return f"run {run_id} is of a benchbrief that measured in another way"
            reused = each.run_id != run_id
            if text := ran_beside(self._was_beside, each.was, self._beside, each.cell, reused=reused):
                return f"run {run_id}: {text}"
        for record in each.records:
            if isinstance(record, j.JobCollected):
                problem = first_problem(check_files(self._evidence.root, record).values())
                if problem:
                    return f"run {run_id}: {problem}"
        return ""

    def _carried(self, cell: Cell, verdict: CellVerdict) -> Carried:
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


_OfAttempt = j.CellResumed | j.StepStarted | j.StepEnded | j.CellEnded | Kept


@dataclass
class _History:
    """The journal's records of one attempt, and the facts about its hosts, servers and tools at that time."""

    records: list[j.AnyRecord]
    measurement: Recorded
    reused: j.CellReused | None = None
    facts: tuple[Facts, ...] = ()


def _histories(evidence: Evidence) -> dict[tuple[str, int | None], _History]:
    """Return the histories by cell and attempt. If a cell was not needed, the attempt is None."""
    cells = {cell.id: cell for cell in evidence.plan.cells}
    found: dict[tuple[str, int | None], _History] = {}
    so_far = RunRecord()
    for record in evidence.records:
        so_far.add(NOWHERE, record)
        match record:
            case j.CellReused():
                measurement = Recorded(record.measurement, record.tool_measurement)
                found[record.cell, record.attempt] = _History([], measurement, record)
            case j.CellSkipped():
                found[record.cell, None] = _History([record], Recorded())
            case j.Remark(cell=str(cell)) if cell in so_far.cells and so_far.cells[cell].attempt:
                found[cell, so_far.cells[cell].attempt].records.append(record)
            case j.CellStarted():
                start = so_far.starts[-1] if so_far.starts else None
                measurement = recorded_at(start, cells[record.cell]) if record.cell in cells else Recorded()
                found.setdefault((record.cell, record.attempt), _History([], measurement)).records.append(record)
            case _ if isinstance(record, _OfAttempt) and (history := found.get((record.cell, record.attempt))):
                history.records.append(record)
                if isinstance(record, j.CellEnded) and record.cell in cells:
                    history.facts = tuple(_depended_on(cells[record.cell], so_far))
    return found


def _depended_on(cell: Cell, so_far: RunRecord) -> Iterator[Facts]:
    yield from (so_far.hosts[host] for host in dict.fromkeys(cell.locks) if host in so_far.hosts)
    if cell.database in so_far.engines:
        yield so_far.engines[cell.database]
    tools = ((host, cell.tool.driver) for host in dict.fromkeys(cell.load_hosts))
    yield from (so_far.tools[tool] for tool in tools if tool in so_far.tools)


_MOST_FOLDERS = 200
_MOST_RUNS = 20
"""The most folders to search besides the usual one, and the most runs to search in each folder, the newest first."""
_LARGEST = 1 << 26
"""The size, in bytes, of the largest plan to read in another folder."""


def why_nothing(plan: Plan, out: Path) -> str:
    """Return why nothing could be reused from the runs of a folder, or "" if the folder has no earlier run of
    the spec."""
    hashes = {cell.hash for cell in plan.cells}
    for run_dir in reversed(list_real_runs(out)):
        spec, planned = _planned(run_dir)
        has_same = not hashes.isdisjoint(planned)
        name = run_dir.name
        if has_same and run_state(run_dir) == "running":
            return f"run {name} of the same cells goes on: bench watch {name}"
        if has_same and (torn := _torn(plan, planned)):
            return f"run {name} lacks cells that are measured together with those it has, such as {torn}"
        if has_same:
            return f"run {name} has no good results of the same cells that could be taken: bench status {name}"
        if spec == Path(plan.spec.name).name:
            diff = f"bench plan {shlex.quote(plan.spec.name)} --diff {name}"
            return f"no cell of run {name}, the last one of this spec, is the same: {diff}"
    for run_dir in _elsewhere(Path(plan.spec.name).parent, out):
        if not hashes.isdisjoint(_planned(run_dir)[1]):
            folder = shlex.quote(str(run_dir.parent))
            return f"none is in {out}; run {run_dir.name} of the same cells is in another folder: --out {folder}"
    if list_runs(out) and not list_real_runs(out):
        return f"all runs in {out} are simulated or imported"
    return ""


def _torn(plan: Plan, planned: Collection[str]) -> str:
    """Return a cell that a block lacks in the run. Return "" if the run has at least one whole block of the plan."""
    torn = ""
    for block in blocks(plan):
        lacking = [cell.id for cell in block if cell.hash not in planned]
        if not lacking:
            return ""
        if len(lacking) < len(block):
            torn = torn or lacking[0]
    return torn


def _planned(run_dir: Path) -> tuple[str, frozenset[str]]:
    """Return the name of a run's spec, and the hashes of its planned cells. Both are empty if the plan can't
    be read."""
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        if (run_dir / PLAN).stat().st_size <= _LARGEST:
            plan = json.loads((run_dir / PLAN).read_bytes())
            return Path(plan["spec"]["name"]).name, frozenset(cell["hash"] for cell in plan["cells"])
    return "", frozenset()


def _elsewhere(spec_folder: Path, out: Path) -> Iterator[Path]:
    """Yield the runs of other folders, which are beside the spec or in the working directory, with each folder's newest
    run first."""
    seen = {out.resolve()}
    for root in (spec_folder, Path()):
        for folder in _folders(root):
            if folder.resolve() not in seen:
                seen.add(folder.resolve())
                runs = (each for each in _folders(folder) if RUN_NAME.match(each.name))
                yield from sorted(runs, reverse=True)[:_MOST_RUNS]


def _folders(root: Path) -> list[Path]:
    """Return some of a folder's subfolders, but no links."""
    found: list[Path] = []
    with suppress(OSError), os.scandir(root) as entries:
        for entry in entries:
            if len(found) == _MOST_FOLDERS:
                break
            if entry.is_dir(follow_symlinks=False):
                found.append(root / entry.name)
    return sorted(found)
