"""Searches for promises during a run: which rate is next, by the rule in `model/rate_search.py`.

All decisions follow from the journal's records about the cells. A resumed run therefore decides like the interrupted
run, and a later run reuses those results of an earlier run that the rule asks for. A resumed run tries failed cells
again. The repeats at a rate are cells of the plan, and are run in their order: first the repeats that judge the rate,
then the held-out repeats.

Each workload has its own search on each hardware group and at each level of a factor. If measured in turns
(`interleaved`), the searches of one lane alternate after each run, so that drift affects them alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from math import sqrt
from typing import TypeVar

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model.achieved_load import offered, to_serve
from benchbrief.model.measurement import Measurement
from benchbrief.model.message import Message, figure
from benchbrief.model.plan import Cell, Experiment, Knee, Plan, Promise
from benchbrief.model.rate_search import (
    LEAD,
    NONE,
    SearchAnswer,
    SearchRule,
    SearchStep,
    Tally,
    Vote,
    agreed,
    is_lower_bound,
    next_step,
)
from benchbrief.model.run_messages import say
from benchbrief.model.run_record import CellHistory, RunRecord
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.scheduling.knee_search import key_of, load_text
from benchbrief.runners.scheduling.parallel_lanes import lanes
from benchbrief.runners.scheduling.reported_statistics import latency_at
from benchbrief.runners.seams import Stopping

ERRORS, SERVED = "errors", "served"


def values_of(experiment: Experiment, cell: Cell, measurement: Measurement) -> dict[str, float]:
    """Return the measured value of everything that the promise limits, and the share of the offered load that was
    served.

    Latencies are in seconds. Errors are the share of the operations that failed or were never sent. A latency that the
    tool does not report is left out.
    """
    found: dict[str, float] = {SERVED: served_of(experiment, cell, measurement)}
    for limit in experiment.promise.limits if experiment.promise else ():
        if limit.measure == ERRORS:
            good, bad = measurement.total.count, measurement.total.errors + measurement.dropped
            found[limit.name] = bad / (good + bad) if good + bad else 1.0
        elif (value := latency_at(measurement, limit.statistic, limit.operation)) is not None:
            found[limit.name] = value
    return found


def served_of(experiment: Experiment, cell: Cell, measurement: Measurement) -> float:
    """Return which share of the operations that were due in the window was done. A failed operation counts as done.

    If the tool does not report how many operations were due, their number is computed from the rate. For random
    arrivals, two standard deviations are subtracted from it, so that only one run in 40 has fewer operations due.
    """
    total = measurement.total
    done = total.count + total.errors
    if measurement.due is not None:
        return done / measurement.due if measurement.due else 0.0
    rate = offered(cell.target or 0.0, experiment)
    if experiment.arrivals is not None and experiment.arrivals.kind == "poisson" and total.seconds > 0:
        rate -= min(rate, 2 * sqrt(rate / total.seconds))
    tried = done / total.count if total.count else 1.0
    return tried * total.ops_per_s / rate if rate else 1.0


def is_kept(promise: Promise, values: Mapping[str, float]) -> bool:
    """Return whether these values (see `values_of`) keep a promise. A missing value breaks it."""
    limits = all(limit.name in values and limit.keeps(values[limit.name]) for limit in promise.limits)
    return limits and values.get(SERVED, 0.0) >= to_serve(promise)


def is_kept_though_late(experiment: Experiment, cell: Cell, measurement: Measurement) -> bool:
    """Return whether a run keeps its search's promise even though its load generator was late.

    Lateness only adds to the latency since an operation was due, so limits that are kept despite it would also be kept
    without it. A run in which operations are missing proves nothing.
    """
    if experiment.promise is None or measurement.dropped or measurement.total.errors:
        return False
    return is_kept(experiment.promise, values_of(experiment, cell, measurement))


_Group = TypeVar("_Group")


def at_first_cells(
    cells: Iterable[Cell], group_of: Mapping[str, _Group], measured: Callable[[_Group], Iterator[Cell]]
) -> Iterator[Cell]:
    """Yield the cells. In place of a group's first cell, yield everything that `measured` yields for the group, and
    leave out the group's other cells.

    `group_of` maps cell ids to groups. Cells that are not in it have no group.
    """
    done: set[int] = set()
    for cell in cells:
        group = group_of.get(cell.id)
        if group is None:
            yield cell
        elif id(group) not in done:
            done.add(id(group))
            yield from measured(group)


def vote_of(history: CellHistory | None, cell: Cell, promise: Promise) -> Vote | None:
    """Return the vote of a cell's last verdict on the cell's rate (see `vote_by`)."""
    return vote_by(history.ended if history else None, cell, promise)


def vote_by(ended: j.CellEnded | None, cell: Cell, promise: Promise) -> Vote | None:
    """Return how an attempt's result counts in the search for a promise: as a vote that the promise was met or broken
    at the cell's rate, that the rate is beyond the load generator, or that the attempt failed.

    Returns None if the attempt has not ended, if it measured another definition of the cell, if another attempt was to
    replace it, or if the cell has no rate.
    """
    if ended is None or ended.retried or ended.hash != cell.hash or cell.target is None:
        return None
    if ended.status == "failed":
        return {"generator": "beyond", "system": "broken"}.get(ended.refused, "failed")  # type: ignore[return-value]
    known = [(limit, ended.asked.get(limit.name)) for limit in promise.limits]
    if SERVED not in ended.asked or any(value is None for _, value in known):
        return "failed"
    return "met" if is_kept(promise, ended.asked) else "broken"


def votes_of(plan: Plan, record: RunRecord) -> dict[str, Vote]:
    """Return the votes of all cells in searches for promises, by the cells' ids."""
    promises = {name: each.promise for name, each in plan.experiments.items() if each.promise}
    asked = [(cell, promise) for cell in plan.cells if promises and (promise := promises.get(cell.experiment))]
    votes = ((cell.id, vote_of(record.cells.get(cell.id), cell, promise)) for cell, promise in asked)
    return {cell_id: vote for cell_id, vote in votes if vote is not None}


@dataclass
class Search:
    """A search for the highest rate that keeps a promise.

    Its cells are grouped by rate, in the order of their repeats.
    """

    experiment: Experiment
    promise: Promise
    key: Knee
    cells: dict[float, list[Cell]] = field(default_factory=dict)

    @property
    def rule(self) -> SearchRule:
        return SearchRule(self.promise.judged, self.promise.held_out, self.promise.most)

    def judging(self, rate: float) -> list[Cell]:
        return self.cells[rate][: self.promise.judged]

    def held_out(self, rate: float) -> list[Cell]:
        return self.cells[rate][self.promise.judged :]

    def tallies(self, votes: Mapping[str, Vote]) -> tuple[dict[float, Tally], dict[float, Tally]]:
        """Return how the cells voted on each rate. The votes of the cells that judge the rate come first, then those of
        the held-out cells."""
        judged = {rate: _tally(self.judging(rate), votes) for rate in self.cells}
        return judged, {rate: _tally(self.held_out(rate), votes) for rate in self.cells}

    def next(self, votes: Mapping[str, Vote]) -> tuple[SearchStep | SearchAnswer, Cell | None]:
        """Return the next step and its cell. If the search has its answer, return the answer and None."""
        judged, held = self.tallies(votes)
        step = next_step(self.experiment.points, judged, held, self.rule)
        if isinstance(step, SearchAnswer):
            return step, None
        of = self.held_out(step.rate) if step.why == "held_out" else self.judging(step.rate)
        return step, next(cell for cell in of if cell.id not in votes)


def refused(error: RunnerError, said: str) -> Message:
    """Return the message that a cell's numbers were refused, because of the load generator or of the system. `said` is
    the error's text."""
    why = say.rate_refused if error.refused_by == "generator" else say.rate_broken
    return why(said=said)


def _tally(cells: Iterable[Cell], votes: Mapping[str, Vote]) -> Tally:
    tally = NONE
    for cell in cells:
        tally = tally.and_one(votes[cell.id]) if cell.id in votes else tally
    return tally


def searches_of(plan: Plan) -> list[Search]:
    """Return a plan's searches for promises, in the plan's order."""
    found: dict[Knee, Search] = {}
    for cell in plan.cells:
        experiment = plan.experiments[cell.experiment]
        if experiment.promise and cell.target is not None:
            search = found.setdefault(key_of(cell), Search(experiment, experiment.promise, key_of(cell)))
            search.cells.setdefault(cell.target, []).append(cell)
    for search in found.values():
        for cells in search.cells.values():
            cells.sort(key=lambda cell: cell.repeat)
    return list(found.values())


class PromiseSearches:
    """The searches for promises in a run, shared by its lanes. The cells of one search are in one lane.

    `record` is the run so far, and is extended by the journal. `tell` writes to the journal.
    """

    def __init__(self, plan: Plan, record: RunRecord, tell: Callable[[j.AnyRecord], None]) -> None:
        self._record, self._tell = record, tell
        self._searches = searches_of(plan)
        self._of = {cell.id: search for search in self._searches for of in search.cells.values() for cell in of}
        lane_of = {cell.id: number for number, lane in enumerate(lanes(plan.cells)) for cell in lane if self._searches}
        self._lane_of = {id(search): lane_of[next(iter(search.cells.values()))[0].id] for search in self._searches}
        self._turns: dict[str, tuple[Search, ...]] = {}
        """The searches that take turns with each other, by the ids of their cells."""
        for search in self._searches:
            together = tuple(each for each in self._searches if self._take_turns(each, search))
            theirs = (cell.id for each in together for of in each.cells.values() for cell in of)
            self._turns |= {} if search is not together[0] else dict.fromkeys(theirs, together)
        self._tried: set[str] = set()
        """The cells that this execution ran or took over. Only their failures count."""
        self._left_out: dict[str, str] = {}
        """Why cells are not run, by the cells' ids."""

    def taken_over(self, cell: Cell) -> None:
        """Note that a resumed attempt at the cell has its verdict."""
        self._tried.add(cell.id)

    def learns_from(self, cell: Cell, error: RunnerError) -> bool:
        """Return whether a failure answers the cell's search. It does if the numbers at this rate were refused."""
        return cell.id in self._of and bool(error.refused_by)

    def values(self, cell: Cell, measurement: Measurement) -> dict[str, float]:
        """Return the values that the cell's verdict must contain for the search, or nothing for a cell outside a
        search."""
        search = self._of.get(cell.id)
        return values_of(search.experiment, cell, measurement) if search else {}

    def not_needed(self, cell: Cell) -> str:
        """Return why a cell is not run, or "" if it is run."""
        return self._left_out.get(cell.id, "")

    def in_order(self, cells: Iterable[Cell], ending: Stopping) -> Iterator[Cell]:
        """Yield a lane's cells in running order. All cells of a search come in place of its first cell.

        Also yields the cells that are not run. For these, `not_needed` returns a reason. Chooses no more rates once
        `ending` is set.
        """

        def measured(together: tuple[Search, ...]) -> Iterator[Cell]:
            return _by_turns([self._measured(each, ending) for each in together])

        return at_first_cells(cells, self._turns, measured)

    def _take_turns(self, one: Search, other: Search) -> bool:
        alike = one.key.experiment == other.key.experiment and one.key.workload == other.key.workload
        by_turns = one.experiment.order == "interleaved" and self._lane_of[id(one)] == self._lane_of[id(other)]
        return one is other or (alike and by_turns)

    def _measured(self, search: Search, ending: Stopping) -> Iterator[Cell]:
        """Yield the cells of a search that are measured, and then its other cells."""
        number = len(self._votes(search))
        while not ending.is_set():
            votes = self._votes(search)
            step, cell = search.next(votes)
            if isinstance(step, SearchAnswer) or cell is None:
                break
            number = max(number + 1, len(votes) + 1)
            self._note(search, step, number, votes)
            self._tried.add(cell.id)
            yield cell
        else:
            return
        answered = isinstance(step, SearchAnswer) and self._end(search, step, votes)
        finished = (cell for of in search.cells.values() for cell in of)
        others = [cell for cell in finished if not self._is_over(cell) and cell.id not in self._tried]
        why = (say.rate_not_needed if answered else say.rate_unanswered)(n=len(votes))
        for cell in others:
            judged = say.rate_judged_late() if votes.get(cell.id) == "beyond" else say.rate_judged()
            self._left_out[cell.id] = judged if cell.id in votes else why
        yield from others

    def _votes(self, search: Search) -> dict[str, Vote]:
        votes: dict[str, Vote] = {}
        for of in search.cells.values():
            for cell in of:
                vote = vote_of(self._record.cells.get(cell.id), cell, search.promise)
                if vote is not None and (vote != "failed" or cell.id in self._tried):
                    votes[cell.id] = vote
                elif cell.id in self._tried:  # it could not begin
                    votes[cell.id] = "failed"
        return votes

    def _is_over(self, cell: Cell) -> bool:
        history = self._record.cells.get(cell.id)
        return history is not None and cell.hash in history.good

    def _note(self, search: Search, step: SearchStep, number: int, votes: Mapping[str, Vote]) -> None:
        """Write the choice of a rate to the journal, once for each reason."""
        judged, _ = search.tallies(votes)
        why = _why(step, judged)
        chosen = j.PointChosen(
            at=now(),
            experiment=search.key.experiment,
            hardware=(search.key.hardware,),
            workload=search.key.workload,
            levels=search.key.levels,
            axis="target",
            point=step.rate,
            number=number,
            why=why,
        )
        if (chosen.ramp, step.rate, why.code) not in self._record.chosen:
            self._tell(chosen)

    def _end(self, search: Search, answer: SearchAnswer, votes: Mapping[str, Vote]) -> bool:
        """Write the search's result to the journal unless it is already there, with a warning if no rate can be relied
        on.

        Returns whether the result is an answer: a rate, or the fact that every rate breaks the promise.
        """
        ended = ended_of(search, answer, votes)
        before = self._record.promises.get(search.key)
        answered = ended.sustained is not None or (ended.kind == "none" and not ended.by_generator)
        if before is not None and before.model_copy(update={"at": ended.at}) == ended:
            return answered
        self._tell(ended)
        if text := warning_of(search.experiment.points[0], ended):
            origin = str(search.experiment.origin)
            self._tell(j.Remark(at=now(), severity="warning", text=text, origin=origin))
        return answered


def ended_of(search: Search, answer: SearchAnswer, votes: Mapping[str, Vote]) -> j.PromiseEnded:
    """Return the journal record of a search's answer."""
    judged, held = search.tallies(votes)
    seen = [rate for rate in search.experiment.points if judged[rate].runs or held[rate].runs]
    rates = tuple(
        j.RateJudged(
            rate=rate,
            met=judged[rate].met,
            broken=judged[rate].broken,
            beyond=judged[rate].beyond,
            failed=judged[rate].failed,
            held_met=held[rate].met,
            held_out=held[rate].votes,
            held_beyond=held[rate].beyond,
        )
        for rate in seen
    )
    rate, above = answer.rate, answer.above
    keeps = rate is None or judged[rate].lead >= LEAD
    breaks = above is None or judged[above].lead <= -LEAD
    of_held = held[rate] if rate is not None else NONE
    return j.PromiseEnded(
        at=now(),
        experiment=search.key.experiment,
        hardware=search.key.hardware,
        workload=search.key.workload,
        levels=search.key.levels,
        kind=answer.kind,
        rate=rate,
        above=above,
        by_generator=above is not None and (judged[above].by_generator or held[above].by_generator),
        sure=answer.kind != "undecided" and keeps and breaks,
        lowered=rate is not None and any(each > rate and of.refutes for each, of in held.items()),
        held_met=of_held.met,
        held_out=of_held.votes,
        rates=rates,
    )


def bounds_of(ended: j.PromiseEnded, rates: Sequence[float]) -> tuple[float | None, float | None]:
    """Return two rates: no run at or below the first broke the promise, and no run at or above the second kept it.

    Each is None if there is no such rate. `rates` are the candidates. If the answer is only a lower bound, the second
    is None.
    """
    runs = ended.rates
    kept_to, broken_from = agreed([e.rate for e in runs if e.all_met], [e.rate for e in runs if e.all_broken])
    if ended.sustained is not None:
        if is_lower_bound(ended.kind, by_generator=ended.by_generator):
            broken_from = None
        elif broken_from is None:  # a run kept it at the highest rate that was tried
            tried = max(each.rate for each in runs if each.all_met)
            broken_from = next((rate for rate in rates if rate > tried), None)
    return kept_to, broken_from


def _by_turns(going: list[Iterator[Cell]]) -> Iterator[Cell]:
    while going:
        for each in list(going):
            cell = next(each, None)
            if cell is None:
                going.remove(each)
            else:
                yield cell


def _why(step: SearchStep, judged: Mapping[float, Tally]) -> Message:
    if step.why == "double" and step.low is not None:
        return say.rate_doubled(low=load_text(step.low, "target"))
    if step.why == "halve" and step.low is not None and step.high is not None:
        halved = say.rate_halved_late if judged[step.high].by_generator else say.rate_halved
        return halved(low=load_text(step.low, "target"), high=load_text(step.high, "target"))
    if step.why == "again":
        return say.rate_again()
    if step.why == "held_out":
        high = step.high
        return say.rate_held_out_below(high=load_text(high, "target")) if high is not None else say.rate_held_out()
    return say.rate_first()


def warning_of(lowest: float, ended: j.PromiseEnded) -> str:
    """Return why the search has no reliable rate, or "" if it has one. `lowest` is the search's lowest rate."""
    where: dict[str, object] = ended.model_dump(include={"experiment", "hardware"})
    where["workload"] = ended.levels.behind(ended.workload)
    rate = figure(ended.rate or 0.0, ",.0f")
    if ended.kind == "none":
        return (say.rate_none_offered if ended.by_generator else say.rate_none)(**where, rate=figure(lowest, ",.0f"))
    if ended.kind == "undecided":
        n = sum(each.met + each.broken + each.beyond + each.failed for each in ended.rates)
        return say.rate_failed(**where, rate=rate) if ended.rate is not None else say.rate_undecided(**where, n=n)
    if not ended.confirmed:
        return say.rate_unconfirmed(**where, rate=rate, met=ended.held_met, n=ended.held_out)
    if ended.kept_above is not None:
        broken = min((each.rate for each in ended.rates if each.all_broken), default=0.0)
        kept = figure(ended.kept_above, ",.0f")
        return say.rate_capped(**where, rate=rate, broken=figure(broken, ",.0f"), kept=kept)
    if ended.by_generator:
        return say.rate_by_generator(**where, rate=rate, above=figure(ended.above or 0.0, ",.0f"))
    return say.rate_at_least(**where, rate=rate) if ended.kind == "at_least" else ""
