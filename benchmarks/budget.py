"""Compares a budget with a fixed number of repeats, on simulated campaigns whose true answer is known.

A campaign has `WORKLOADS` workloads at `POINTS` points on two hardware groups, which take turns. Each point has its own
noise, between 0.5 and 8 %, and the second group is up to 10 % faster or slower. The question at each point is the
spec's expectation `throughput[two] > throughput[one]`. It is answered once the product's verdict says that the repeats
decide it (`judge` in `results/analysis/expectation_verdicts.py`).

With a fixed number, each point is repeated equally often, with a 95 % interval. With a budget, the product's own
allocator (`Budgets` in `runners/scheduling/budgeted_repeats.py`) chooses each cell from the records of a journal, as in
a simulated run. It stops when everything is decided or the time of the fixed campaign has passed. Budgets are tried
with a target for intervals and with a plain number of repeats. The last comparison uses the default order, one hardware
group after the other, and the second group has a tenth of the first one's noise. A cell has the same measured value in
every variant. The allocator judges the expectations by the product's rule, but from the drawn numbers instead of raw
outputs.
"""

from __future__ import annotations

import random
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchbrief.compiler.compile import check
from benchbrief.model import events as j
from benchbrief.model.budgets import LEVEL, Looks, looks_at, strictest_level
from benchbrief.model.plan import Cell, Expect, Plan, Query
from benchbrief.model.points import Point
from benchbrief.model.run_record import NOWHERE, RunRecord
from benchbrief.results.analysis.expectation_verdicts import Judgement, judge
from benchbrief.results.store.store import Key
from benchbrief.runners.scheduling.budgeted_repeats import Budgets, UndecidedPoints, spent_s
from benchbrief.runners.scheduling.confidence_interval import t_interval

CAMPAIGNS = 100
FIRST = 1000
"""The number of the first campaign. Lower numbers were used up when choosing how the successive looks at the results
share the allowed error."""
WORKLOADS, POINTS = 4, 5
FIXED = (5, 8, 10)
UNEQUAL = 5
"""The number of repeats in the comparison of hardware groups with unequal noise."""
CALM = 0.1
UNEQUAL_CAMPAIGNS = 10
MOST = 10
FEWEST = 3
CONFIDENT = f"confident(within: 5 %, from: {FEWEST}, to: {MOST})"
SPEC = """\
hardware box { hosts = "box.lab"  variant one { path = "/one" }  variant two { path = "/two" } }
database rocks { engine = rocksdb  path = "{path}" }
@WORKLOADS@
experiment ramp {
  hardware = box.variants  workloads = [@NAMES@]  threads = 1..@POINTS@  measure = 15 min
  repeats = @REPEATS@, @ORDER@
}
@EXPECTS@
"""

_Question = tuple[str, int | None]
"""A workload and its number of threads, which both hardware groups measure."""


@dataclass
class Tally:
    """How long the campaigns of one kind took, and how their questions were answered."""

    hours: list[float] = field(default_factory=list)
    right: int = 0
    wrong: int = 0
    missed: int = 0
    """How many intervals of a mean do not contain the true mean."""
    asked: int = 0

    def describe(self) -> str:
        share = [100 * each / self.asked for each in (self.right, self.wrong)]
        covered = 100 - 100 * self.missed / (2 * self.asked)
        return (
            f"{statistics.fmean(self.hours):6.1f} h, right {share[0]:5.1f} %, wrong {share[1]:4.2f} %, "
            f"open {100 - sum(share):5.1f} %, means within their intervals {covered:5.1f} %"
        )


class Campaign:
    """The true throughputs for each question, by hardware, and a method that measures a cell."""

    def __init__(self, plan: Plan, seed: int, calm: float = 1.0) -> None:
        self._seed = seed
        self._calm = {"one": 1.0, "two": calm}
        self.means: dict[_Question, dict[str, float]] = {}
        self._noise: dict[_Question, float] = {}
        chance = random.Random(f"campaign {seed}")  # noqa: S311
        for question in dict.fromkeys(map(question_of, plan.cells)):
            base, change = chance.uniform(1e3, 1e5), chance.uniform(-0.1, 0.1)
            self.means[question] = {"one": base, "two": base * (1 + change)}
            self._noise[question] = 0.005 * 16 ** chance.random()

    def measured(self, cell: Cell) -> float:
        question = question_of(cell)
        mean, noise = self.means[question][side_of(cell)], self._noise[question] * self._calm[side_of(cell)]
        return random.Random(f"{self._seed} {cell.id}").gauss(mean, noise * mean)  # noqa: S311


def question_of(cell: Cell) -> _Question:
    return cell.workload, cell.threads


def side_of(cell: Cell) -> str:
    return "two" if cell.hardware.endswith("two") else "one"


class Answers:
    """The measured values so far, by question, hardware and repeat."""

    def __init__(self, plan: Plan) -> None:
        self._values: defaultdict[_Question, dict[str, dict[int, float]]] = defaultdict(lambda: {"one": {}, "two": {}})
        questions = dict.fromkeys(map(question_of, plan.cells))
        self._asked: dict[_Question, tuple[Expect, Looks]] = {
            question: (expect, looks_at(plan, expect))
            for question, expect in zip(questions, _in_order(plan, questions), strict=True)
        }

    def add(self, cell: Cell, value: float) -> None:
        self._values[question_of(cell)][side_of(cell)][cell.repeat] = value

    def sides(self, question: _Question) -> tuple[list[float], list[float]]:
        found = self._values[question]
        return list(found["one"].values()), list(found["two"].values())

    def judged(self, question: _Question) -> Judgement:
        expect, looks = self._asked[question]
        one, two = (self._values[question][side] for side in ("one", "two"))

        def read(query: Query) -> list[tuple[list[Key], float | None]]:
            if query is expect.query:
                faster = statistics.fmean(two.values()) > statistics.fmean(one.values())
                return [([None for _ in query.dims], float(faster))]
            side = two if query is expect.repeats[0] else one
            return [([repeat if dim == "repeat" else None for dim in query.dims], side[repeat]) for repeat in side]

        return judge(expect, read, looks)

    def answer(self, question: _Question) -> bool | None:
        found = self.judged(question)
        return found.holds if found.decided else None

    def readings(self, cells: Sequence[Cell]) -> UndecidedPoints:
        judged = {question: self.judged(question) for question in map(question_of, cells)}
        found = {Point.of(cell): judged[question_of(cell)] for cell in cells}
        still = {point: each.vague[0].distance for point, each in found.items() if each.vague}
        sides = {question: {Point.of(cell) for cell in cells if question_of(cell) == question} for question in judged}
        compared = {Point.of(cell): sides[question_of(cell)] for cell in cells if Point.of(cell) in still}
        return UndecidedPoints(still, {point for point, each in found.items() if each.decided}, compared=compared)


def _in_order(plan: Plan, questions: Iterable[_Question]) -> list[Expect]:
    """Return the plan's expectation for each question, in the order of the questions."""
    by_text = {expect.text: expect for expect in plan.expects}
    return [by_text[asked(*question)] for question in questions]


def asked(workload: str, threads: int | None) -> str:
    place = f"{workload}, threads: {threads}"
    return f"throughput[two, {place}] > 1.0 * throughput[one, {place}]"


def planned(budget_s: float | None = None, repeats: str = CONFIDENT, order: str = "interleaved") -> Plan:
    names = [f"w{number}" for number in range(WORKLOADS)]
    text = SPEC.replace("@WORKLOADS@", "\n".join(f"workload {name} from db_bench.fillrandom" for name in names))
    expects = "\n".join(f"expect {asked(name, threads)}" for name in names for threads in range(1, POINTS + 1))
    text = text.replace("@EXPECTS@", expects)
    for hole, filled in (("NAMES", ", ".join(names)), ("POINTS", POINTS), ("REPEATS", repeats), ("ORDER", order)):
        text = text.replace(f"@{hole}@", str(filled))
    with tempfile.TemporaryDirectory(prefix="benchbrief-budget-") as folder:
        path = Path(folder) / "campaign.bench"
        path.write_text(text, encoding="utf-8")
        checked = check(path, budget_s=budget_s)
    if checked.plan is None:
        raise SystemExit(f"the spec of the campaigns is wrong: {checked.diagnostics}")
    return checked.plan


def hours_of(cells: Sequence[Cell]) -> float:
    return sum(step.seconds for cell in cells for step in cell.steps) / 3600


def fixed(plan: Plan, campaign: Campaign, repeats: int, tally: Tally) -> None:
    answers, cells = Answers(plan), [cell for cell in plan.cells if cell.repeat <= repeats]
    for cell in cells:
        answers.add(cell, campaign.measured(cell))
    count(campaign, answers, LEVEL, tally)
    tally.hours.append(hours_of(cells))


def budgeted(plan: Plan, campaign: Campaign, tally: Tally) -> None:
    answers, record, level = Answers(plan), RunRecord(), strictest_level(plan)
    points = list({Point.of(cell): cell for cell in plan.cells}.values())
    write: Callable[[j.AnyRecord], None] = lambda each: record.add(NOWHERE, each)  # noqa: E731
    start = {"run_id": "r", "plan_sha256": "", "benchbrief": "", "spec": "", "profile": None, "controller_pid": 1}
    write(j.RunStarted.model_validate({"at": 0.0, **start}))

    def read(_record: RunRecord) -> UndecidedPoints:
        return answers.readings(points)

    budgets = Budgets(plan, record, write, simulated=True, read_tables=read)
    for cell in budgets.in_order(plan.cells):
        named = {"at": 0.0, "cell": cell.id, "hash": cell.hash}
        if reason := budgets.not_needed(cell):
            write(j.CellSkipped.model_validate({**named, "reason": reason, "no_room": budgets.no_room(cell)}))
            continue
        value = campaign.measured(cell)
        answers.add(cell, value)
        write(j.CellStarted.model_validate({**named, "attempt": 1}))
        write(j.CellEnded.model_validate({**named, "attempt": 1, "status": "ok", "ops_per_s": value}))
    count(campaign, answers, level, tally)
    tally.hours.append(sum(spent_s(cell, record, simulated=True) for cell in plan.cells) / 3600)


def count(campaign: Campaign, answers: Answers, level: float, tally: Tally) -> None:
    for question, means in campaign.means.items():
        answer = answers.answer(question)
        tally.asked += 1
        tally.right += answer is not None and answer == (means["two"] > means["one"])
        tally.wrong += answer is not None and answer != (means["two"] > means["one"])
        for side, mean in zip(answers.sides(question), (means["one"], means["two"]), strict=True):
            low, high = t_interval(len(side), statistics.fmean(side), statistics.stdev(side), level)
            tally.missed += low is None or high is None or not low <= mean <= high


def compare_unequal(campaigns: int) -> None:
    for order in ("grouped", "interleaved"):
        whole, evenly, plainly = planned(None, str(MOST), order), Tally(), Tally()
        plan = planned(3600 * hours_of([cell for cell in whole.cells if cell.repeat <= UNEQUAL]), str(MOST), order)
        for seed in range(FIRST, FIRST + campaigns):
            campaign = Campaign(whole, seed, CALM)
            fixed(whole, campaign, UNEQUAL, evenly)
            budgeted(plan, campaign, plainly)
        print(f"  {order}, one side calmer, {UNEQUAL} repeats each: {evenly.describe()}")
        print(f"  {order}, one side calmer, a budget as long: {plainly.describe()}")


def main(campaigns: int = CAMPAIGNS) -> bool:
    held, whole = True, planned()
    for repeats in FIXED:
        evenly, by_budget, plainly = Tally(), Tally(), Tally()
        budget_s = 3600 * hours_of([cell for cell in whole.cells if cell.repeat <= repeats])
        plan, plain = planned(budget_s), planned(budget_s, str(MOST))
        for seed in range(FIRST, FIRST + campaigns):
            campaign = Campaign(whole, seed)
            fixed(whole, campaign, repeats, evenly)
            budgeted(plan, campaign, by_budget)
            budgeted(plain, campaign, plainly)
        print(f"  {repeats} repeats each:   {evenly.describe()}")
        print(f"  a budget as long: {by_budget.describe()}")
        print(f"  with `repeats = {MOST}`: {plainly.describe()}")
        for tally in (by_budget, plainly):
            held &= tally.missed <= 0.05 * 2 * tally.asked and max(tally.hours) * 3600 <= budget_s
    compare_unequal(min(campaigns, UNEQUAL_CAMPAIGNS))
    print(f"  within the budget, and intervals with the mean in 95 % of cases at least: {'yes' if held else 'NO'}")
    return held
