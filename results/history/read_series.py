"""Series of a quantity: at each point, what each run measured, apart by environment and by definition."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any, Literal, NamedTuple

from benchbrief.dsl.diagnostics.plural import plural
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.results.compare.comparison import Better
from benchbrief.results.history.environment import Facts, changed_facts, without_facts
from benchbrief.results.history.series_cache import SeriesTable
from benchbrief.results.store_errors import ResultsError

Origin = Literal["measured", "simulated", "imported"]
FIRST = datetime(2020, 1, 1, tzinfo=UTC)
"""No run is older: a clock that says so is wrong."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_AHEAD = timedelta(days=1)
_COLUMNS = (
    "run_id, epoch_us(measured_at) AS measured_at, spec, profile, revision, quantity, label, unit, better, "
    "percentile, point, value, reason, definition, environment, control, reused_from"
)


class Measured(NamedTuple):
    """A run's value over all its repeats; None where it is missing, and `reason` says why."""

    run_id: str
    at: datetime
    value: float | None
    reason: str
    revision: str


@dataclass(frozen=True)
class Part:
    """Values that can be compared: of one environment, definition and unit, the oldest first."""

    unit: str
    definition: str
    environment: str
    facts: Facts
    values: tuple[Measured, ...]

    @property
    def known(self) -> tuple[Measured, ...]:
        return tuple(each for each in self.values if each.value is not None)


@dataclass(frozen=True)
class Series:
    """A quantity of a spec at a point. Its `parts` are never compared with each other; the one that began last is
    the last."""

    spec: str
    profile: str
    quantity: str
    label: str
    better: Better
    percentile: bool
    point: Mapping[str, Any]
    control: bool
    parts: tuple[Part, ...]

    @property
    def at(self) -> str:
        """Return `experiment/hardware/workload/threads=4`, as in a cell's id."""
        order = ("experiment", "hardware", "workload", "threads", "target")
        dims = sorted(self.point, key=lambda dim: (order.index(dim) if dim in order else len(order), dim))
        return "/".join(key if isinstance(key := self.point[dim], str) else f"{dim}={key:g}" for dim in dims)

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.spec, self.profile, self.quantity, json.dumps(self.point, sort_keys=True)


@dataclass(frozen=True)
class Choice:
    """Which series, and of which runs. `where` has the allowed texts by dimension. `across` are facts, as patterns,
    that make no other environment: what is under test, such as `database version`."""

    quantities: tuple[str, ...] = ()
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tag: str = ""
    spec: str = ""
    origin: Origin = "measured"
    across: tuple[str, ...] = ()


class Found(NamedTuple):
    """Series in the order of spec, quantity and point. `notes` say which runs and values are left out, and why.

    `controls` are the control series of the same quantities and of throughput, also at points that were not chosen.
    """

    series: tuple[Series, ...]
    controls: tuple[Series, ...]
    notes: tuple[str, ...]


def read_series(table: SeriesTable, choice: Choice, now: datetime | None = None) -> Found:
    """Return the chosen series. Raises ResultsError when there is none, with what there is."""
    notes = [f"left out {run}: {problem}" for run, problem in sorted(table.problems.items())[:_SOME]]
    notes += [f"... and {plural(more, 'run')} more"] if (more := len(table.problems) - _SOME) > 0 else []
    names = _quantities(table, choice)
    rows = _rows(table, choice, names)
    rows, told = _possible(rows, now or datetime.now(UTC))
    notes += told
    rows, told = _own(rows)
    notes += told
    facts = _facts(table, {row["environment"] for row in rows})
    every = _series(rows, facts, choice.across)
    series = tuple(each for each in every if each.quantity in names and _is_at(each.point, choice.where))
    if not series:
        raise ResultsError("no run has a value of it at such a point", _hint(table, choice, names))
    return Found(series, tuple(each for each in every if each.control), tuple(notes))


_SOME = 5


def _quantities(table: SeriesTable, choice: Choice) -> list[str]:
    """Return the chosen quantities: `latency.p99` is that of all operations. Raises ResultsError."""
    known = [name for (name,) in table.connection.execute("SELECT DISTINCT quantity FROM series ORDER BY 1").fetchall()]
    if not known:
        raise ResultsError("there is no finished run", "start one with `bench run SPEC`, or name another place: --from")
    if not choice.quantities:
        return [name for name in known if not name.startswith("latency.") or name.startswith("latency.p99[")]
    chosen: dict[str, None] = {}
    for wanted in choice.quantities:
        named = [name for name in known if name == wanted or name.startswith(f"{wanted}[")]
        if not named:
            guess = did_you_mean(wanted, dict.fromkeys((*known, *(name.partition("[")[0] for name in known))))
            there = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
            raise ResultsError(
                f"no run has a `{wanted}`", f"did you mean `{guess}`?" if guess else f"there are {there}"
            )
        chosen |= dict.fromkeys(named)
    return list(chosen)


def _rows(table: SeriesTable, choice: Choice, names: Sequence[str]) -> list[dict[str, Any]]:
    conditions = ["repeat IS NULL", "origin = ?"]
    conditions.append("(quantity IN (SELECT unnest(?)) OR (control AND quantity = 'throughput'))")
    values: list[object] = [choice.origin, list(names)]
    if choice.spec:
        conditions.append("spec = ?")
        values.append(choice.spec)
    sql = f"SELECT {_COLUMNS} FROM series WHERE {' AND '.join(conditions)}"  # noqa: S608  # our own names
    answer = table.connection.execute(sql, values)
    columns = [column for column, *_ in answer.description or ()]
    at: dict[str, bool] = {}
    same: dict[str, str] = {}  # texts are alike in most rows, and are kept once
    found = []
    while batch := answer.fetchmany(20_000):
        for each in batch:
            row: dict[str, Any] = dict(
                zip(columns, (same.setdefault(c, c) if isinstance(c, str) else c for c in each), strict=True)
            )
            row["measured_at"] = _EPOCH + timedelta(microseconds=row["measured_at"])
            if row["point"] not in at:
                at[row["point"]] = _is_at(json.loads(row["point"]), choice.where)
            if (at[row["point"]] or row["control"]) and (
                not choice.tag or choice.tag in table.tags.get(row["run_id"], ())
            ):
                found.append(row)
    return found


def _is_at(point: Mapping[str, Any], where: Mapping[str, tuple[str, ...]]) -> bool:
    return all(any(_is_same(point.get(dim), text) for text in texts) for dim, texts in where.items())


def _is_same(key: object, text: str) -> bool:
    if isinstance(key, int | float):
        try:
            return float(text.replace("_", "").replace(",", "")) == key
        except ValueError:
            return False
    return isinstance(key, str) and fnmatchcase(key, text)


def _possible(rows: list[dict[str, Any]], now: datetime) -> tuple[list[dict[str, Any]], list[str]]:
    """Leave out the runs of a clock that can't be right: they would stand at a wrong place of the series."""
    wrong = {row["run_id"]: row["measured_at"] for row in rows if not FIRST <= row["measured_at"] <= now + _AHEAD}
    notes = [
        f"left out {run}: its controller's clock said {at:%Y-%m-%d}, which can't be right"
        for run, at in sorted(wrong.items())
    ]
    return [row for row in rows if row["run_id"] not in wrong], notes


def _own(rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """Leave out results that a run took from an earlier one: the same measurement does not count twice."""
    reused = {row["run_id"] for row in rows if row["reused_from"]}
    note = f"left out what {plural(len(reused), 'run')} took from earlier runs: `bench run --fresh` measures anew"
    return [row for row in rows if not row["reused_from"]], [note] if reused else []


def _facts(table: SeriesTable, environments: set[str]) -> dict[str, Facts]:
    rows = table.connection.execute(
        "SELECT environment, any_value(facts) FROM series WHERE environment IN (SELECT unnest(?)) GROUP BY 1",
        [sorted(environments)],
    ).fetchall()
    return {environment: json.loads(facts) for environment, facts in rows}


def _series(rows: Sequence[dict[str, Any]], facts: Mapping[str, Facts], across: Sequence[str]) -> tuple[Series, ...]:
    kept = {each: without_facts(of, across) for each, of in facts.items()}
    names: dict[str, str] = {}
    same = {each: names.setdefault(json.dumps(of, sort_keys=True), each) for each, of in kept.items()}
    found: dict[tuple[str, ...], dict[tuple[str, str, str], list[dict[str, Any]]]] = {}
    for row in sorted(rows, key=lambda row: (row["measured_at"], row["run_id"])):
        parts = found.setdefault(tuple(row[name] for name in ("spec", "profile", "quantity", "point")), {})
        parts.setdefault((row["unit"], row["definition"], same[row["environment"]]), []).append(row)
    told = []
    for (spec, profile, quantity, point), parts in found.items():
        last = max((rows[-1] for rows in parts.values()), key=lambda row: (row["measured_at"], row["run_id"]))
        told.append(
            Series(
                spec,
                profile,
                quantity,
                last["label"],
                last["better"],
                last["percentile"],
                json.loads(point),
                last["control"],
                tuple(
                    Part(*key, kept[key[2]], tuple(Measured(*(row[name] for name in _OF_RUN)) for row in rows))
                    for key, rows in parts.items()
                ),
            )
        )
    return tuple(sorted(told, key=lambda each: (each.spec, each.profile, each.quantity, _in_order(each.point))))


_OF_RUN = ("run_id", "measured_at", "value", "reason", "revision")


def _in_order(point: Mapping[str, Any]) -> list[tuple[str, float, str]]:
    return [(dim, 0.0, key) if isinstance(key, str) else (dim, float(key), "") for dim, key in sorted(point.items())]


def differences(before: Part, after: Part) -> list[str]:
    """Return in words what sets two parts apart."""
    told = []
    if before.unit != after.unit:
        told.append(f"the unit was {before.unit or 'none'}, and is {after.unit or 'none'}")
    if before.definition != after.definition and before.unit == after.unit:
        told.append("its definition, its workload, or the way of measuring has changed")
    told += [
        f"{name}: {was or 'not known'} → {now or 'not known'}"
        for name, was, now in changed_facts(before.facts, after.facts)
    ]
    return told


def _hint(table: SeriesTable, choice: Choice, names: Sequence[str]) -> str:
    """Say what there is instead of what was chosen."""
    ask = table.connection.execute
    origins = ask("SELECT origin, count(DISTINCT run_id) FROM series GROUP BY 1 ORDER BY 1").fetchall()
    if choice.origin not in dict(origins):
        some = " and ".join(f"{count} {origin}" for origin, count in origins)
        return f"the runs are {some}: say --origin {origins[0][0]}"
    if choice.tag and not any(choice.tag in tags for tags in table.tags.values()):
        tags = sorted(set[str]().union(*table.tags.values()))
        return f"no run has the tag {choice.tag!r}; there are: {', '.join(tags)}" if tags else "no run here has a tag"
    points = ask(
        "SELECT DISTINCT point FROM series WHERE quantity IN (SELECT unnest(?)) AND origin = ?", [names, choice.origin]
    ).fetchall()
    keys: dict[str, set[str]] = {}
    for (point,) in points:
        for dim, key in json.loads(point).items():
            keys.setdefault(dim, set()).add(key if isinstance(key, str) else f"{key:g}")
    for dim, texts in choice.where.items():
        if dim not in keys:
            return f"its points have no {dim}; they have {', '.join(sorted(keys))}"
        if not any(_is_at({dim: key}, {dim: texts}) for key in keys[dim]):
            return f"{dim} is one of {', '.join(sorted(keys[dim]))}"
    return "fewer conditions find more"
