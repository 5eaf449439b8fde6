"""The contenders of a comparison: runs, or parts of a run, such as its cells on one hardware group or at one level."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from typing import Any, NamedTuple, Protocol

from benchbrief.compiler.metrics.lower_to_sql import key_literal, sql_name
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.plan import DatabaseKey, Dimension, DimKey, Levels, Metric, Plan, Query
from benchbrief.results.result_messages import shorten_digests
from benchbrief.results.store.searched_doubts import Answering


class ReadSide(Answering, Protocol):
    """The part of `Store` that comparisons use."""

    def query(self, query: Query) -> Sequence[Sequence[Any]]: ...

    def each(self, text: str) -> AbstractContextManager[Iterable[Sequence[Any]]]: ...


@dataclass(frozen=True)
class Contender:
    """A finished run, or only its cells on one `hardware` and at the `levels` of some factors. `label` is the name that
    the user gave it.

    `origin` says whether its numbers were measured, simulated or imported.
    """

    label: str
    plan: Plan
    store: ReadSide
    hardware: str | None = None
    origin: str = "measured"
    levels: Levels = field(default_factory=Levels)

    @property
    def selected(self) -> dict[Dimension, DimKey]:
        """Return the dimensions that are compared, each with this contender's key."""
        return {**({} if self.hardware is None else {"hardware": self.hardware}), **self.levels.keys}

    def has(self, keys: Mapping[Dimension, object]) -> bool:
        """Return whether these keys belong to this contender's part of the run."""
        return all(keys.get(dim) == key for dim, key in self.selected.items())

    @property
    def condition(self) -> str:
        """Return the SQL condition on the rows `c` that selects this contender's part of the run."""
        return " AND ".join(f"c.{sql_name(dim)} = {key_literal(key)}" for dim, key in self.selected.items()) or "true"

    @property
    def columns(self) -> str:
        """Return the columns that give a cell's point in the rows `c`, in the order of the plan's `point_dims`."""
        return ", ".join(f"c.{sql_name(dim)}" for dim in self.plan.point_dims)


_PASSING = ("free space of ",)
"""Prefixes of facts that change from hour to hour, and therefore explain no difference."""


@dataclass(frozen=True)
class Difference:
    """A difference between two contenders: the property `what` is `first` on one side and `second` on the other. A
    missing value is ""."""

    what: str
    first: str
    second: str


def differences(first: Contender, second: Contender) -> list[Difference]:
    """Return the differences between the specs, then those between hosts, servers and tools. Raises RunnerError."""
    return [*_of_specs(first, second), *differing_facts(first, second)]


def _of_specs(first: Contender, second: Contender) -> Iterator[Difference]:
    one, other = first.plan.spec, second.plan.spec
    if one.name != other.name:
        yield Difference("spec", one.name, other.name)
    if one.profile != other.profile:
        yield Difference("profile", one.profile or "none", other.profile or "none")
    for name in dict.fromkeys((*one.params, *other.params)):
        if one.params.get(name) != other.params.get(name):
            yield Difference(f"param {name}", one.params.get(name, ""), other.params.get(name, ""))
    if set(one.files.values()) != set(other.files.values()):
        for name in dict.fromkeys((*one.files, *other.files)):
            ours, theirs = one.files.get(name, ""), other.files.get(name, "")
            if ours != theirs:
                yield Difference(f"text of {name}", *shorten_digests(ours, theirs))


def differing_facts(first: Contender, second: Contender) -> Iterator[Difference]:
    """Yield the differences between hosts, servers and tools."""
    return (each for each in facts_of_both(first, second) if each.first != each.second)


def facts_of_both(first: Contender, second: Contender) -> Iterator[Difference]:
    """Yield each fact about hosts, servers and tools, even if it is the same on both sides."""
    ours, theirs = _facts(first), _facts(second)
    for key in dict.fromkeys((*ours, *theirs)):
        yield Difference(key, ", ".join(ours.get(key, {})), ", ".join(theirs.get(key, {})))


def _facts(side: Contender) -> dict[str, dict[str, None]]:
    """Return the values of each fact over the compared hosts. If whole runs are compared, each hardware has its own
    facts."""
    rows = side.store.sql("SELECT kind, hardware, node, name, value, unit FROM facts ORDER BY ALL").rows
    found: dict[str, dict[str, None]] = {}
    for kind, hardware, node, name, value, unit in rows:
        # Facts without a hardware belong to the clients. A database may be at other levels.
        keys = {**side.levels.keys, "hardware": side.hardware if hardware is None else hardware}
        if is_passing(name) or not side.has(keys | (DatabaseKey(node).levels.keys if kind == "database" else {})):
            continue
        whose = "load generator" if hardware is None and kind == "host" else "" if kind == "hardware" else kind
        of = f" of {hardware}" if side.hardware is None and hardware is not None else ""
        found.setdefault(" ".join(word for word in (whose, f"{name}{of}") if word), {}).setdefault(
            _readable(value, unit)
        )
    return found


def is_passing(name: str) -> bool:
    """Return whether a fact can't explain a difference, because it changes from hour to hour or is the path of a
    program."""
    return name.startswith(_PASSING) or name.endswith(".path")


def _readable(value: str, unit: str | None) -> str:
    """Format `8388608` of unit B as `8 MiB`. Other values are returned unchanged."""
    if unit != "B" or not value.isdigit():
        return value
    count = int(value)
    size, name = next((step for step in _SIZES if count and count % step[0] == 0), (1, "B"))
    return f"{count // size:,} {name}"


_SIZES = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


class DefinedOtherwise(NamedTuple):
    """A metric that two plans define differently.

    `of` is the metric whose definition differs. It is either the metric itself, or another metric in its expression.
    `first` and `second` are the definitions of `of` in the two plans.
    """

    name: str
    of: str
    first: str
    second: str


def defined_otherwise(first: Plan, second: Plan) -> Iterator[DefinedOtherwise]:
    """Yield the metrics that the plans define differently, including those whose expression contains such a metric.

    Compares the expression, the values of parameters, the unit, which direction is better, and whether the metric is a
    percentile.
    """
    ours, theirs = ({each.name: each for each in plan.metrics} for plan in (first, second))
    for name in (name for name in ours if name in theirs):
        made = dict.fromkeys((*_made_of(name, ours), *_made_of(name, theirs)))
        texts = {of: (_definition(ours.get(of)), _definition(theirs.get(of))) for of in made}
        kinds = ours[name].percentile, theirs[name].percentile
        if of := next((of for of, (one, other) in texts.items() if one != other), None):
            yield DefinedOtherwise(name, of, *texts[of])
        elif None not in kinds and kinds[0] != kinds[1]:
            words = ("a percentile" if kind else "no percentile" for kind in kinds)
            yield DefinedOtherwise(name, name, *words)


def definition_of(metric: Metric, plan: Plan) -> dict[str, str]:
    """Return the definition of a metric, and of each metric in its expression, by name."""
    name = metric.name
    metrics = {**{each.name: each for each in plan.metrics}, name: metric}
    kind = "" if metric.percentile is None else f", percentile: {metric.percentile}"
    return {of: f"{_definition(metrics.get(of))}{kind if of == name else ''}" for of in _made_of(name, metrics)}


def _made_of(name: str, metrics: dict[str, Metric]) -> list[str]:
    """Return a metric, followed by all metrics that its expression names, directly or indirectly."""
    found, left = {name: None}, [name]
    while left:
        for each in metrics[left.pop()].query.names:
            if each in metrics and each not in found:
                found[each] = None
                left.append(each)
    return list(found)


def _definition(metric: Metric | None) -> str:
    if metric is None:
        return "no metric"
    unit = f" in {metric.query.unit}" if metric.query.unit not in ("", "1") else ""
    better = f", {metric.better} is better" if metric.better else ""
    params = "".join(f", {name} = {value}" for name, value in metric.params.items())
    return f"{metric.query.text}{unit}{better}{params}"
