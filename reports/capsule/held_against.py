"""Compares a run with the capsule of a brief: judges the brief's statements, and lists the differences between the two
environments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from benchbrief.compiler.planning.plan_file import read_plan
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.node import adapter
from benchbrief.model.plan import Plan, Query, Report
from benchbrief.model.version import benchbrief_version
from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.capsule.capsule_file import FACTS, PLAN, STATED, Capsule, OpenCapsule
from benchbrief.reports.capsule.pack_capsule import FactRow, facts_in
from benchbrief.reports.capsule.same_settings import measured_otherwise, spec_differences
from benchbrief.reports.data.report_data import AskedStore, Results
from benchbrief.reports.disclosure.number_ledger import kind_of
from benchbrief.reports.text.number_format import written_as
from benchbrief.reports.view.said_claims import claims_of, state_numbers
from benchbrief.reports.words.brief_words import words_of
from benchbrief.results.analysis.reproduction import MARGIN, Reproduced, Unlike, judge_reproduction
from benchbrief.results.analysis.stated_numbers import StatedNumber
from benchbrief.results.compare.contender import Contender, Difference, facts_of_both

_MACHINE = re.compile(r"(host|load generator) (cpu|cores|threads|sockets|memory|numa_nodes|disk \S+)( of .*)?")
"""Matches the facts that identify a machine. No update changes them."""
_SAME = re.compile(r"(host|load generator) hostname( of .*)?")
"""Matches facts that are host names. These differ even between machines of the same kind."""


_OWN = "benchbrief"
"""The name of benchbrief's own version in the list of differences."""
_SMALLEST, _LARGEST = 1e-100, 1e100


@dataclass(frozen=True)
class HeldAgainst:
    """The result of comparing a run with a brief. `alike` lists the facts that both environments share. `unlike` is the
    reason why their absolute numbers cannot be compared, or "" if they can."""

    about: Capsule
    run: str
    verdicts: tuple[Reproduced, ...]
    differences: tuple[Difference, ...]
    alike: tuple[Difference, ...]
    unlike: Unlike
    simulated: bool

    def count(self, verdict: str) -> int:
        return sum(each.verdict == verdict for each in self.verdicts)

    @property
    def of_shown_numbers(self) -> bool:
        """Return whether the verdicts are on the numbers that the brief shows, because the brief has neither claims nor
        expectations."""
        return all(each.stated.kind == "number" for each in self.verdicts)

    @property
    def versions(self) -> Difference | None:
        """Return the two versions of benchbrief if they differ."""
        return next((each for each in self.differences if each.what == _OWN), None)


def stated_in(capsule: OpenCapsule) -> tuple[StatedNumber, ...]:
    """Return the statements of a brief from its capsule. Raises ReportError."""
    try:
        found = adapter(tuple[StatedNumber, ...]).validate_json(capsule.parts[STATED])
    except (ValidationError, ValueError) as error:
        raise _damaged(STATED) from error
    if not all(map(_can_be_judged, found)):
        raise _damaged(STATED)
    return found


def _can_be_judged(stated: StatedNumber) -> bool:
    """Return whether the ratios and the squares of all numbers in a statement are finite."""
    of_values = (number for at in stated.values for number in (at.value, *at.repeats))
    known = (each for each in (stated.no_difference, *of_values) if each)
    return 0 < stated.level < 1 and all(_SMALLEST < abs(each) < _LARGEST for each in known)


def plan_in(capsule: OpenCapsule) -> Plan:
    """Return the plan that was run for a brief, from its capsule. Raises ReportError."""
    try:
        return read_plan(capsule.parts[PLAN])
    except (ValidationError, ValueError, RecursionError) as error:
        raise _damaged(PLAN) from error


def facts_of_capsule(capsule: OpenCapsule) -> list[FactRow]:
    """Return the facts in a capsule. Raises ReportError if they are damaged."""
    try:
        found = json.loads(capsule.parts[FACTS])
    except (ValueError, RecursionError) as error:
        raise _damaged(FACTS) from error
    rows = found if isinstance(found, list) else [()]
    for row in rows:
        if not isinstance(row, list) or len(row) != 6 or not all(each is None or isinstance(each, str) for each in row):
            raise _damaged(FACTS)
        if not isinstance(row[0], str) or not isinstance(row[3], str) or not isinstance(row[4], str):
            raise _damaged(FACTS)
    return [tuple(row) for row in rows]


def _damaged(part: str) -> ReportError:
    return ReportError(
        f"the capsule's {part} is not what benchbrief writes", "take the brief from where it was published"
    )


class _Rows(NamedTuple):
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class _FactsAlone:
    """Stands in for a run's tables, and contains only its facts."""

    facts: Sequence[FactRow]

    def sql(self, _text: str) -> _Rows:
        return _Rows(("kind", "hardware", "node", "name", "value", "unit"), self.facts)

    def query(self, _query: Query) -> Sequence[Sequence[Any]]:
        return ()

    def each(self, _text: str) -> AbstractContextManager[Iterable[Sequence[Any]]]:
        return nullcontext(())


def hold_against(
    capsule: OpenCapsule, plan: Plan, store: AskedStore, report: Report, margin: float = MARGIN
) -> HeldAgainst:
    """Compare the results in a store with a brief. `report` is the brief's report in the run's own plan. Raises
    ReportError."""
    results = Results(plan, store, words_of(report))
    with written_as(results.words.locale):
        now = tuple(state_numbers(report, claims_of(report, results), results))
    before, stated = plan_in(capsule), stated_in(capsule)
    versions = capsule.about.benchbrief, benchbrief_version()
    facts = _facts_of_both(facts_of_capsule(capsule), facts_in(store), plan)
    differing = [each for each in facts if each.first != each.second]
    alike = tuple(each for each in facts if each.first == each.second)
    differences = (*_of_versions(*versions), *spec_differences(before, plan), *differing)
    kind = kind_of(results)
    unlike = _why_unlike(capsule.about, plan, kind, differences)
    shown = [each.name for each in stated if each.kind == "number"]
    verdicts = judge_reproduction(stated, now, unlike, margin, measured_otherwise(before, plan, shown))
    run = Path(store.run_dir).name
    return HeldAgainst(capsule.about, run, tuple(verdicts), differences, alike, unlike, kind == "simulated")


def _of_versions(before: str, now: str) -> Iterator[Difference]:
    if before != now:
        yield Difference(_OWN, before, now)


def _facts_of_both(before: Sequence[FactRow], now: Sequence[FactRow], plan: Plan) -> list[Difference]:
    sides = (Contender(name, plan, _FactsAlone(facts)) for name, facts in (("brief", before), ("here", now)))
    return [each for each in facts_of_both(*sides) if not each.what.startswith("spec ")]


def _why_unlike(about: Capsule, plan: Plan, kind: str, differences: Sequence[Difference]) -> Unlike:
    if (about.kind == "simulated") != (kind == "simulated"):
        return "origin"
    if about.profile != plan.spec.profile or about.params != plan.spec.params:
        return "settings"
    return "machine" if any(_MACHINE.fullmatch(each.what) for each in differences) else ""


def other_machine(before: Sequence[FactRow], observed: Mapping[str, Mapping[str, str]]) -> list[Difference]:
    """Return how the machines that are used now differ from the machines that a brief was measured on. `observed` has
    the facts of each host."""
    kinds = {name for _, _, _, name, _, _ in before}

    def of(rows: Sequence[FactRow]) -> dict[str, dict[str, None]]:
        found: dict[str, dict[str, None]] = {}
        for kind, _, _, name, value, _ in rows:
            known = kind == "host" and name is not None and name in kinds
            if known and (_MACHINE.fullmatch(f"host {name}") or _SAME.fullmatch(f"host {name}")):
                found.setdefault(str(name), {})[str(value)] = None
        return found

    now = of(
        [("host", None, host, name, value, None) for host, facts in observed.items() for name, value in facts.items()]
    )
    then = of(before)
    return [
        Difference(name, ", ".join(sorted(then.get(name, {}))), ", ".join(sorted(now.get(name, {}))))
        for name in dict.fromkeys((*then, *now))
        if sorted(then.get(name, {})) != sorted(now.get(name, {}))
    ]
