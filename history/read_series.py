"""Reads the series of a quantity: the values that the runs measured at a point, separated by environment and by
definition."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from itertools import pairwise
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.history.series_cache import SeriesTable
from benchbrief.history.series_rows import CLAIM, Facts, changed_facts, reason_of, without_facts
from benchbrief.model.plan import DIMENSIONS, key_text
from benchbrief.model.points import place_of, word_of_key
from benchbrief.results.compare.comparison import Better
from benchbrief.results.store.searched_doubts import KNOWN, Doubt
from benchbrief.results.store_errors import ResultsError

Origin = Literal["measured", "simulated", "imported"]
FIRST = datetime(2020, 1, 1, tzinfo=UTC)
"""The earliest time that a run can have. A run that seems older had a wrong clock."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_AHEAD = timedelta(days=1)


class SeriesValue(NamedTuple):
    """A run's value over all its repeats. A missing value is None, and `reason` says why."""

    run_id: str
    at: datetime
    value: float | None
    reason: str
    revision: str
    doubt: Doubt = KNOWN


@dataclass(frozen=True)
class SeriesPart:
    """Values that can be compared because they share environment, definition and unit, the oldest first.

    `redefined` names the changes in the definition since the previous part, if they are known.
    """

    unit: str
    definition: str
    environment: str
    facts: Facts
    values: tuple[SeriesValue, ...]
    redefined: tuple[str, ...] = ()

    @property
    def known(self) -> tuple[SeriesValue, ...]:
        return tuple(each for each in self.values if each.value is not None)


SeriesKey = tuple[str, str, str, str]
"""What identifies a series: the spec, the profile, the quantity and the point."""


def _canonical(point: Mapping[str, Any]) -> str:
    return json.dumps(point, sort_keys=True)


@dataclass(frozen=True)
class HistorySeries:
    """A quantity of a spec at a point.

    `parts` are sorted by their beginning. Values of different parts are never compared.
    """

    spec: str
    profile: str
    quantity: str
    label: str
    better: Better
    percentile: bool
    point: Mapping[str, str | float]
    control: bool
    parts: tuple[SeriesPart, ...]
    chosen: bool = False
    """Whether the point is at a load that the runs themselves choose."""

    @property
    def at(self) -> str:
        """Return the point in the form `experiment/hardware/workload/threads=4`, as in a cell's id."""
        return "/".join(word_of_key(dim, self.point[dim]) for dim in sorted(self.point, key=place_of))

    @property
    def key(self) -> SeriesKey:
        return self.spec, self.profile, self.quantity, _canonical(self.point)


@dataclass(frozen=True)
class SeriesChoice:
    """Which series to read, and from which runs.

    `where` has the allowed texts for each dimension. `across` are patterns of facts that do not separate environments,
    because the user wants to compare across them, such as `database version`.
    """

    quantities: tuple[str, ...] = ()
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tag: str = ""
    spec: str = ""
    origin: Origin = "measured"
    across: tuple[str, ...] = ()


class FoundSeries(NamedTuple):
    """Series in the order of spec, quantity and point. `notes` name the runs and values that are left out, with the
    reasons.

    `controls` are the control series of the same quantities and of throughput, including those at points that were not
    chosen. `wrong_clocks` are runs that are left out because their time can't be right. `reused` has the keys of the
    series that each run took from earlier runs. These values are left out, too.
    """

    series: tuple[HistorySeries, ...]
    controls: tuple[HistorySeries, ...]
    notes: tuple[str, ...]
    wrong_clocks: tuple[str, ...] = ()
    reused: Mapping[str, frozenset[SeriesKey]] = {}


def read_series(table: SeriesTable, choice: SeriesChoice, now: datetime | None = None) -> FoundSeries:
    """Return the chosen series. Raises ResultsError if there are none. The error says which series exist.

    If no quantities are chosen, a search for a promise has a series only of its result, because the rates that it tries
    differ from run to run.
    """
    notes = [f"left out {run}: {problem}" for run, problem in sorted(table.problems.items())[:_SOME]]
    notes += [f"... and {plural(more, 'run')} more"] if (more := len(table.problems) - _SOME) > 0 else []
    names = _quantities(table, choice)
    _choose(table, choice, names)
    wrong = _leave_out_impossible(table, now or datetime.now(UTC))
    notes += [
        f"left out {run}: its controller's clock said {_at(moment):%Y-%m-%d}, which can't be right"
        for run, moment in wrong
    ]
    if reused := _leave_out_reused(table):
        runs = plural(len(reused), "run")
        notes.append(f"left out what {runs} took from earlier runs: `bench run --fresh` measures anew")
    every = _series(table, choice.across)
    if not choice.quantities:
        every = _without_searched_rates(every)
    series = tuple(each for each in every if each.quantity in names and _is_at(each.point, choice.where))
    if not series:
        raise ResultsError(_nothing(table, choice), _hint(table, choice, names))
    notes += _new_by_version(series)
    controls = tuple(each for each in every if each.control)
    return FoundSeries(series, controls, tuple(notes), tuple(run for run, _ in wrong), reused)


_SOME = 5


def _quantities(table: SeriesTable, choice: SeriesChoice) -> list[str]:
    """Return the chosen quantities. `latency.p99` stands for the latencies of all operations. If several claims state
    one number, each of their names stands for the first of these claims. Raises ResultsError."""
    known = [name for (name,) in table.connection.execute("SELECT DISTINCT quantity FROM series ORDER BY 1").fetchall()]
    if not known:
        raise ResultsError("there is no finished run", "start one with `bench run SPEC`, or name another place: --from")
    if not choice.quantities:
        return [name for name in known if not name.startswith(("latency.", CLAIM)) or name.startswith("latency.p99[")]
    also = table.connection.execute("SELECT DISTINCT also, quantity FROM series WHERE also <> ''").fetchall()
    other_names = {name: quantity for names, quantity in also for name in names.split()}
    chosen: dict[str, None] = {}
    for wanted in choice.quantities:
        named = [name for name in known if name == wanted or name.startswith((f"{wanted}[", f"{wanted}."))]
        if not named and wanted in other_names:
            named = [other_names[wanted]]
        if not named:
            guess = did_you_mean(wanted, dict.fromkeys((*known, *(name.partition("[")[0] for name in known))))
            there = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
            raise ResultsError(
                f"no run has a `{wanted}`", f"did you mean `{guess}`?" if guess else f"there are {there}"
            )
        chosen |= dict.fromkeys(named)
    return list(chosen)


def _choose(table: SeriesTable, choice: SeriesChoice, names: Sequence[str]) -> None:
    """Make the table `chosen`, with the values that were asked for and the matching controls."""
    ask = table.connection.execute
    conditions = ["repeat IS NULL", "origin = ?"]
    conditions.append("(quantity IN (SELECT unnest(?)) OR (control AND quantity = 'throughput'))")
    values: list[object] = [choice.origin, list(names)]
    if choice.spec:
        conditions.append("spec = ?")
        values.append(choice.spec)
    if choice.tag:
        conditions.append("run_id IN (SELECT unnest(?))")
        values.append([run for run, tags in table.tags.items() if choice.tag in tags])
    ask(
        "CREATE OR REPLACE TEMP TABLE chosen AS SELECT * EXCLUDE (measured_at, title, origin, repeat, facts), "  # noqa: S608  # our own names
        f"epoch_us(measured_at) AS moment FROM series WHERE {' AND '.join(conditions)}",
        values,
    )
    if choice.where:
        points = [point for (point,) in ask("SELECT DISTINCT point FROM chosen").fetchall()]
        away = [point for point in points if not _is_at(json.loads(point), choice.where)]
        ask("DELETE FROM chosen WHERE NOT control AND point IN (SELECT unnest(?))", [away])


def _is_at(point: Mapping[str, Any], where: Mapping[str, tuple[str, ...]]) -> bool:
    return all(any(_is_same(point.get(dim), text) for text in texts) for dim, texts in where.items())


def _is_same(key: object, text: str) -> bool:
    if isinstance(key, int | float):
        try:
            return float(text.replace("_", "").replace(",", "")) == key
        except ValueError:
            return False
    return isinstance(key, str) and fnmatchcase(key, text)


def _leave_out_impossible(table: SeriesTable, now: datetime) -> list[tuple[str, int]]:
    """Leave out runs with an impossible time, because they would be sorted wrongly. Return each of them with its
    time."""
    ask = table.connection.execute
    bounds = [_moment(FIRST), _moment(now + _AHEAD)]
    wrong = ask(
        "SELECT run_id, any_value(moment) FROM chosen WHERE moment NOT BETWEEN ? AND ? GROUP BY ALL ORDER BY ALL",
        bounds,
    ).fetchall()
    ask("DELETE FROM chosen WHERE run_id IN (SELECT unnest(?))", [[run for run, _ in wrong]])
    return wrong


def _leave_out_reused(table: SeriesTable) -> dict[str, frozenset[SeriesKey]]:
    """Leave out results that a run took from an earlier one, so that no measurement counts twice. Return the keys of
    their series, by run."""
    ask = table.connection.execute
    reused: dict[str, set[SeriesKey]] = {}
    for run, spec, profile, quantity, point in ask(
        f"SELECT DISTINCT run_id, {_KEY} FROM chosen WHERE reused_from <> '' ORDER BY ALL"  # noqa: S608  # our own names
    ).fetchall():
        reused.setdefault(run, set()).add((spec, profile, quantity, _canonical(json.loads(point))))
    ask("DELETE FROM chosen WHERE reused_from <> ''")
    return {run: frozenset(keys) for run, keys in reused.items()}


def _without_searched_rates(series: Sequence[HistorySeries]) -> tuple[HistorySeries, ...]:
    """Leave out the rates that searches for promises tried.

    If a point does not name an experiment, its rates are left out only if all experiments with rates are such searches.
    """
    searching: dict[tuple[str, str], set[object]] = {}
    with_rates: dict[tuple[str, str], set[object]] = {}
    for each in series:
        of = searching if each.quantity == "sustained" else with_rates if "target" in each.point else None
        if of is not None and (experiment := each.point.get("experiment")) is not None:
            of.setdefault((each.spec, each.profile), set()).add(experiment)

    def is_searched(each: HistorySeries) -> bool:
        found = searching.get((each.spec, each.profile), set())
        experiment = each.point.get("experiment")
        named = {experiment} if experiment is not None else with_rates.get((each.spec, each.profile), set())
        return "target" in each.point and bool(found) and named <= found

    return tuple(each for each in series if not is_searched(each))


def _moment(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(microseconds=1)


def _at(moment: int) -> datetime:
    return _EPOCH + timedelta(microseconds=moment)


def _facts(table: SeriesTable) -> dict[str, Facts]:
    rows = table.connection.execute(
        "SELECT environment, any_value(facts) FROM series WHERE environment IN (SELECT environment FROM chosen) "
        "GROUP BY 1"
    ).fetchall()
    return {environment: json.loads(facts) for environment, facts in rows}


_ORDERED = "ORDER BY moment, run_id"
_KEY = "spec, profile, quantity, point"
_KEYS = 4
_PARTS = (
    f"SELECT {_KEY}, unit, definition, environment, list(run_id {_ORDERED}), list(moment {_ORDERED}), "  # noqa: S608  # our own names
    f"list(value {_ORDERED}), list(reason {_ORDERED}), list(message {_ORDERED}), list(revision {_ORDERED}), "
    f"list(struct_pack(bound, decided) {_ORDERED}) FROM chosen "
    f"GROUP BY ALL ORDER BY min((moment, run_id)), environment"
)
_LAST = (
    f"SELECT {_KEY}, arg_max(struct_pack(label, better, percentile, control, chosen, place), (moment, run_id)) "  # noqa: S608  # our own names
    "FROM chosen GROUP BY ALL"
)


def _series(table: SeriesTable, across: Sequence[str]) -> tuple[HistorySeries, ...]:
    """Return the series of the table `chosen`. Only its values become objects, because there may be thousands of
    runs."""
    kept = {each: without_facts(of, across) for each, of in _facts(table).items()}
    names: dict[str, str] = {}
    same = {each: names.setdefault(json.dumps(of, sort_keys=True), each) for each, of in kept.items()}
    found: dict[tuple[str, ...], dict[tuple[str, str, str], list[SeriesValue]]] = {}
    times: dict[int, datetime] = {}
    texts: dict[str, str] = {}  # alike in most rows, and kept once
    for row in table.connection.execute(_PARTS).fetchall():
        key, (unit, definition, environment), columns = row[:_KEYS], row[_KEYS : _KEYS + 3], row[_KEYS + 3 :]
        parts = found.setdefault(key, {})
        values_of = parts.setdefault((unit, definition, same[environment]), [])
        for run, moment, value, reason, message, revision, doubt in zip(*columns, strict=True):
            at = times.get(moment) or times.setdefault(moment, _at(moment))
            once = texts.setdefault
            known = KNOWN if not doubt["bound"] and doubt["decided"] else Doubt(**doubt)
            if message and message not in texts:
                texts[message] = reason_of(reason, message)
            why = texts[message] if message else once(reason, reason)
            values_of.append(SeriesValue(once(run, run), at, value, why, once(revision, revision), known))
    series: list[tuple[int, HistorySeries]] = []
    for spec, profile, quantity, point, last in table.connection.execute(_LAST).fetchall():
        parts = found[spec, profile, quantity, point]
        if across:  # each of the joined environments was in order
            for values_of in parts.values():
                values_of.sort(key=lambda each: (each.at, each.run_id))
        one = HistorySeries(
            spec,
            profile,
            quantity,
            last["label"],
            last["better"],
            last["percentile"],
            json.loads(point),
            last["control"],
            tuple(SeriesPart(*of, kept[of[2]], tuple(values_of)) for of, values_of in parts.items()),
            last["chosen"],
        )
        series.append((last["place"], one))
    return _in_order(series)


def _in_order(series: Sequence[tuple[int, HistorySeries]]) -> tuple[HistorySeries, ...]:
    """Sort series by spec, quantity and point. Levels of a factor are in the order of the spec, numbers in ascending
    order, and other words in alphabetical order. Each series comes with its position in its last run."""
    levels: dict[tuple[str, str, str, str | float], float] = {}
    for _, each in sorted(series, key=itemgetter(0)):
        for dim in each.point.keys() - set(DIMENSIONS):
            levels.setdefault((each.spec, each.profile, dim, each.point[dim]), float(len(levels)))

    def rank(each: HistorySeries, dim: str) -> tuple[str, float, str]:
        key = each.point[dim]
        if isinstance(key, str):
            return dim, levels.get((each.spec, each.profile, dim, key), 0.0), key
        return dim, float(key), ""

    def ranks(placed: tuple[int, HistorySeries]) -> tuple[str, str, str, list[tuple[str, float, str]]]:
        each = placed[1]
        return each.spec, each.profile, each.quantity, [rank(each, dim) for dim in sorted(each.point)]

    return tuple(each for _, each in sorted(series, key=ranks))


def differences(before: SeriesPart, after: SeriesPart) -> list[str]:
    """Return a text on each difference between two parts: in unit, in definition, and in facts."""
    found = []
    if before.unit != after.unit:
        found.append(f"the unit was {before.unit or 'none'}, and is {after.unit or 'none'}")
    if before.definition != after.definition and before.unit == after.unit:
        general = ("its definition, workload, promise or database, or the way of measuring has changed",)
        found += after.redefined or general
    found += [
        f"{name}: {was or 'not known'} → {now or 'not known'}"
        for name, was, now in changed_facts(before.facts, after.facts)
    ]
    return found


def _new_by_version(series: Sequence[HistorySeries]) -> list[str]:
    """Return hints on how to join the versions of a database into one series, if most runs are separated by their
    versions."""
    runs: set[str] = set()
    begun: dict[str, set[str]] = {}
    for each in series:
        runs.update(value.run_id for part in each.parts for value in part.values)
        for before, after in pairwise(each.parts):
            names = [name for name, was, now in changed_facts(before.facts, after.facts) if was and now]
            is_version = any("version" in name for name in names)
            if is_version and before.unit == after.unit and all(name.startswith("database ") for name in names):
                fact = names[0] if len(names) == 1 else "database *"
                begun.setdefault(fact, set()).add(after.values[0].run_id)
    return [
        f"another version of the database began a new series in {len(of)} of {plural(len(runs), 'run')}: if it is what "
        f"is under test, say --across '{fact}'"
        for fact, of in sorted(begun.items())
        if len(of) > 1 and 2 * len(of) >= len(runs)
    ]


def _nothing(table: SeriesTable, choice: SeriesChoice) -> str:
    origins = table.connection.execute("SELECT DISTINCT origin FROM series").fetchall()
    if (choice.origin,) not in origins:
        return f"no run is {choice.origin}"
    return "no run has a value of it at such a point"


def _hint(table: SeriesTable, choice: SeriesChoice, names: Sequence[str]) -> str:
    """Return a hint for a choice that matches nothing. It lists the possible choices."""
    ask = table.connection.execute
    origins = ask("SELECT origin, count(DISTINCT run_id) FROM series GROUP BY 1 ORDER BY 1").fetchall()
    if choice.origin not in dict(origins):
        some = " and ".join(f"{count} {origin}" for origin, count in origins)
        return f"the runs are {some}: say --origin {origins[0][0]}"
    if choice.tag and not any(choice.tag in tags for tags in table.tags.values()):
        tags = sorted(set[str]().union(*table.tags.values()))
        return f"no run has the tag {choice.tag!r}; there are: {', '.join(tags)}" if tags else "no run here has a tag"
    specs = [spec for (spec,) in ask("SELECT DISTINCT spec FROM series ORDER BY 1").fetchall()]
    if choice.spec and choice.spec not in specs:
        return f"no run is of the spec {choice.spec}; there are: {', '.join(specs)}"
    points = ask(
        "SELECT DISTINCT point FROM series WHERE quantity IN (SELECT unnest(?)) AND origin = ?", [names, choice.origin]
    ).fetchall()
    keys: dict[str, set[str]] = {}
    for (point,) in points:
        for dim, key in json.loads(point).items():
            keys.setdefault(dim, set()).add(key if isinstance(key, str) else key_text(key))
    for dim, texts in choice.where.items():
        if dim not in keys:
            return f"its points have no {dim}; they have {', '.join(sorted(keys))}"
        if not any(_is_at({dim: key}, {dim: texts}) for key in keys[dim]):
            return f"{dim} is one of {', '.join(sorted(keys[dim]))}"
    return "fewer conditions find more"
