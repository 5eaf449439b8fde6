"""The difference between two plans: new, changed, equal and gone cells, and their changed parts.

Cells with equal content hashes are equal, even if they have different names. All other cells are matched by name. The
result is data, which `explain_diff.py` puts into words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.fingerprint import identity
from benchbrief.model.node import Node
from benchbrief.model.plan import Cell, Experiment, Plan, key_text

Kind = Literal["new", "changed", "same", "gone"]


@dataclass(frozen=True)
class ChangedPart:
    """A named part of a cell's identity with its old and new values in base units. An absent value is None.

    `owner` is the block that the part belongs to, such as `workload a`. It is "" for a part of the experiment itself.
    """

    owner: str
    name: str
    before: object
    after: object


@dataclass(frozen=True)
class CellDiff:
    """A cell of one plan or of both. `cell` comes from the newer plan unless it is gone there, and `was` is its
    counterpart in the older plan.

    `parts` are the cell's changed parts. There are none if only the hash differs, because an older benchbrief computed
    it in another way.
    """

    kind: Kind
    cell: Cell
    was: Cell | None = None
    parts: tuple[ChangedPart, ...] = ()

    @property
    def renamed(self) -> bool:
        return self.was is not None and self.was.id != self.cell.id


@dataclass(frozen=True)
class OutsideDiff:
    """A difference that does not affect results. `what` is the kind of thing (report, metric, ...), and `fields` are
    its changed fields."""

    kind: Literal["new", "changed", "gone"]
    what: str
    name: str
    fields: tuple[str, ...] = ()


@dataclass(frozen=True)
class SearchDiff:
    """An experiment whose search criterion, adaptive ramp or promise differs between the plans, or exists in only one
    of them.

    Its cells may be equal, but other points may be measured. `parts` have the same form as in `CellDiff`.
    """

    experiment: str
    parts: tuple[ChangedPart, ...]


@dataclass(frozen=True)
class PlanDiff:
    """The difference between two plans. `cells` are in the order of the newer plan, with gone ones last."""

    before: Plan
    after: Plan
    cells: tuple[CellDiff, ...]
    searches: tuple[SearchDiff, ...]
    outside: tuple[OutsideDiff, ...]

    @property
    def differs(self) -> bool:
        return bool(self.searches or self.outside) or any(cell.kind != "same" or cell.renamed for cell in self.cells)


def diff(before: Plan, after: Plan) -> PlanDiff:
    searches, outside = tuple(search_diffs(before, after)), tuple(_outside(before, after))
    return PlanDiff(before, after, tuple(_cells(before, after)), searches, outside)


# --- cells -------------------------------------------------------------------------------------------------------


def _cells(before: Plan, after: Plan) -> Iterator[CellDiff]:
    same = _same(before, after)
    claimed = {cell.id for cell in same.values()}
    left = {cell.id: cell for cell in before.cells if cell.id not in claimed}
    for cell in after.cells:
        if was := same.get(cell.id):
            yield CellDiff("same", cell, was)
        elif was := left.pop(cell.id, None):
            yield CellDiff("changed", cell, was, tuple(changed_parts(before, was, after, cell)))
        else:
            yield CellDiff("new", cell)
    for cell in left.values():
        yield CellDiff("gone", cell)


def _same(before: Plan, after: Plan) -> dict[str, Cell]:
    """For the id of each newer cell, return the older cell with the same measurement."""
    olds = {cell.id: cell for cell in before.cells}
    found = {cell.id: old for cell in after.cells if (old := olds.get(cell.id)) and old.hash == cell.hash}
    free: dict[str, list[Cell]] = {}
    for cell in before.cells:
        if cell.id not in found:
            free.setdefault(cell.hash, []).append(cell)
    for cell in after.cells:
        if cell.id not in found and free.get(cell.hash):
            found[cell.id] = free[cell.hash].pop(0)
    return found


def changed_parts(before: Plan, was: Cell, after: Plan, cell: Cell) -> Iterator[ChangedPart]:
    """Return the parts of a cell's identity that differ from its counterpart in another plan."""
    old, new = dict(_flat(identity(before, was))), dict(_flat(identity(after, cell)))
    for path in dict.fromkeys((*old, *new)):
        if old.get(path) != new.get(path):
            owner, name = _called(path, cell)
            yield ChangedPart(owner, name, old.get(path), new.get(path))


def _flat(parts: Mapping[str, object], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    for name, value in parts.items():
        if name == "probes" and not path:
            yield from _probes(value)
        elif isinstance(value, dict) and (value or not path):
            yield from _flat(value, (*path, name))
        elif value != {}:
            yield (*path, name), _plain(value)


def _probes(value: object) -> Iterator[tuple[tuple[str, ...], object]]:
    """Return each probe as a separate part. A second probe of the same name gets a number."""
    seen: dict[str, int] = {}
    for probe in value if isinstance(value, list | tuple) else ():
        name = str(probe["name"])
        seen[name] = number = seen.get(name, 0) + 1
        yield ("probes", name if number == 1 else f"{name} {number}"), _plain(probe)


def _plain(value: object) -> object:
    """Turn the tuples of a plan into lists, as they are in a stored plan."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _called(path: tuple[str, ...], cell: Cell) -> tuple[str, str]:
    """Return the block that a part belongs to, and the part's name in the block. Both are in users' words if
    possible."""
    first, *rest = path
    match first:
        case "hosts" | "prepare":
            return f"hardware {cell.hardware}", first
        case "load_hosts":
            return (f"client {cell.client}", "hosts") if cell.client else (f"hardware {cell.hardware}", "hosts")
        case "database":
            return f"database {cell.database.database}", ".".join(rest)
        case "workload":
            return f"workload {cell.workload}", ".".join(rest[1:] if rest[0] == "properties" else rest)
        case "tool":
            return "", ".".join(("tool", *(rest[1:] if rest[0] == "options" else rest)))
        case _:
            return "", ".".join(path)


# --- searches ----------------------------------------------------------------------------------------------------


def search_diffs(before: Plan, after: Plan) -> Iterator[SearchDiff]:
    for name, experiment in after.experiments.items():
        if name not in before.experiments:
            continue
        old, new = _choosing(before.experiments[name]), _choosing(experiment)
        fields = [field for field in dict.fromkeys((*new, *old)) if old.get(field) != new.get(field)]
        if fields:
            yield SearchDiff(name, tuple(ChangedPart("", field, old.get(field), new.get(field)) for field in fields))


def _choosing(experiment: Experiment) -> dict[str, object]:
    """Return the rules, by name, that a run uses to choose the experiment's points."""
    rules = {"search": experiment.search, "adaptive": experiment.adaptive, "promise": experiment.promise}
    found = {
        f"{kind}.{field}": value for kind, rule in rules.items() if rule for field, value in rule.model_dump().items()
    }
    return {**found, "promise.limits": experiment.promise.text} if experiment.promise else found


# --- the rest ----------------------------------------------------------------------------------------------------


def _outside(before: Plan, after: Plan) -> Iterator[OutsideDiff]:
    olds, news = _named(before), _named(after)
    for what, name in dict.fromkeys((*news, *olds)):
        old, new = olds.get((what, name)), news.get((what, name))
        if old is None or new is None:
            if what in _OF_ITS_OWN:
                yield OutsideDiff("gone" if new is None else "new", what, name)
        elif old != new:
            fields = tuple(field for field in dict.fromkeys((*new, *old)) if old.get(field) != new.get(field))
            yield OutsideDiff("changed", what, name, () if what in ("report", "metric", "expect") else fields)


_FOLLOWING = ("origin", "divides", "keys", "ranges")
"""Fields that are not compared, because they are places in the spec or follow from the expression and the cells."""

_OF_ITS_OWN = ("metric", "expect", "report", "profile", "param")
"""The kinds of things that can be added or removed without affecting any cell."""


def _named(plan: Plan) -> dict[tuple[str, str], Mapping[str, object]]:
    """Return each named thing of a plan, with its fields that are not part of a cell's identity."""
    found: dict[tuple[str, str], Mapping[str, object]] = {}
    for name, value in plan.spec.params.items():
        found["param", name] = {"value": value}
    if plan.spec.profile:
        found["profile", plan.spec.profile] = {}
    for key, hardware in plan.hardware.items():
        found["hardware", key] = _fields(hardware, "label", "group_label", "facts")
    for name, client in plan.clients.items():
        found["client", name] = _fields(client, "label", "switch")
    for key, database in plan.databases.items():
        found["database", key.database] = _fields(database, "label", "size_bytes")
    for key, workload in plan.workloads.items():
        if key == workload.name:  # the other keys are this workload at other levels
            found["workload", key] = _fields(workload, "label", "description")
    for name, factor in plan.factors.items():
        labels = {f"label of {key_text(level.key)}": level.label for level in factor.levels}
        found["factor", name] = {"label": factor.label, **labels, "default": factor.default}
    for name, experiment in plan.experiments.items():
        found["experiment", name] = _fields(experiment, "label", "overlap")
    found |= {("metric", metric.name): _fields(metric) for metric in plan.metrics}
    found |= {("expect", expect.text): _fields(expect) for expect in plan.expects}
    found |= {("report", report.name): _fields(report) for report in plan.reports}
    return found


def _fields(node: Node, *names: str) -> Mapping[str, object]:
    """Return the fields with these names, or all fields, except places in the spec. Each fact is a field of its own."""
    dumped = node.model_dump(include=set(names) or None, exclude={"origin"})
    facts = dumped.pop("facts", {})
    fields = {**facts, **dumped} if isinstance(facts, dict) else dumped
    return {name: _without_origins(value) for name, value in fields.items()}


def _without_origins(value: object) -> object:
    if isinstance(value, dict):
        return {name: _without_origins(each) for name, each in value.items() if name not in _FOLLOWING}
    if isinstance(value, list | tuple):
        return [_without_origins(each) for each in value]
    return value
