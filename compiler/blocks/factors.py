"""Factors: settings that experiments vary. Their levels, and which of them an experiment measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from math import prod
from typing import Generic, TypeVar

from benchbrief.compiler.blocks import factor_errors as wrong
from benchbrief.compiler.blocks.values import Bound, Constant, Reader, listed, origin
from benchbrief.compiler.frontend.declarations import Entry, names_in
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model import plan
from benchbrief.model.plan import DimKey, Levels

MOST_COMBINATIONS = 100_000
OWN_WORDS = ("levels", "default")
"""The attributes of a factor; others are levels."""


@dataclass(frozen=True)
class DeclaredFactor:
    """A factor with the text of its levels. `bound` has what stands in place of its name at each level."""

    factor: plan.Factor
    bound: Mapping[DimKey, Mapping[str, Bound]]
    places: Mapping[DimKey, Span]
    span: Span
    imported: bool


Factors = Mapping[str, DeclaredFactor]


def read_factors(entries: Mapping[str, Entry], reader: Reader) -> Factors:
    """Return the factors without mistakes, by name, in the order of the spec."""
    found = {name: _read(entry, reader) for name, entry in entries.items()}
    return {name: factor for name, factor in found.items() if factor}


def _read(entry: Entry, reader: Reader) -> DeclaredFactor | None:
    found = list(_levels(entry, reader))
    if not found:
        return None
    levels = tuple(each.level for each in found)
    known = {each.level.key: each.bound for each in found}
    default = entry.attributes.get("default")
    numbers = [bound.constant for each in found if isinstance(each.level.key, float) for bound in each.bound.values()]
    return DeclaredFactor(
        factor=plan.Factor(
            name=entry.name,
            label=entry.label,
            unit=_unit(numbers[0]) if numbers and numbers[0] else None,
            levels=levels,
            default=level_key(default.values[0], known, reader) if default else levels[0].key,
            origin=origin(entry.head),
        ),
        bound=known,
        places={each.level.key: each.place for each in found},
        span=entry.head,
        imported=entry.imported,
    )


def level_key(expr: ast.Expr, known: Iterable[DimKey], reader: Reader) -> DimKey:
    """Return the key of a level that is named or written as its number."""
    if isinstance(expr, ast.Name) and expr.text in known:
        return expr.text
    constant = reader.constant(expr)
    return constant.value if constant else ""


def _unit(constant: Constant) -> str:
    """Return the unit of a number as written: `MiB` of `8 MiB`."""
    return constant.text.lstrip("-0123456789._kMGT ") if not constant.bare else ""


@dataclass(frozen=True)
class _Level:
    level: plan.Level
    bound: Mapping[str, Bound]
    place: Span


def _levels(entry: Entry, reader: Reader) -> Iterator[_Level]:
    for name, attribute in entry.attributes.items():
        if name == "levels":
            for item in listed(map(reader.deref, attribute.values)):
                yield _listed_level(entry.name, item, reader)
        elif name not in OWN_WORDS:
            label = (attribute.label.plain if attribute.label else None) or name
            value, bound = _value(attribute.values[0], reader)
            yield _Level(plan.Level(key=name, label=label, value=value), {entry.name: bound}, attribute.key.span)
    for block in entry.all("level"):
        values = {key: _value(each.values[0], reader) for key, each in block.attributes.items()}
        level = plan.Level(key=block.name, label=block.label, attributes={key: v for key, (v, _) in values.items()})
        yield _Level(level, {f"{entry.name}.{key}": bound for key, (_, bound) in values.items()}, block.head)


def _listed_level(name: str, item: ast.Expr, reader: Reader) -> _Level:
    value, bound = _value(item, reader)
    if bound.constant:
        level = plan.Level(key=bound.constant.value, label=bound.constant.text, value=value)
    else:
        key = str(value).lower() if isinstance(value, bool) else str(value)
        level = plan.Level(key=key, label=key, value=value)
    return _Level(level, {name: bound}, item.span)


def _value(written: ast.Expr, reader: Reader) -> tuple[plan.Option, Bound]:
    """Return a level's value, and what stands in place of the factor's name."""
    expr = reader.deref(written)
    match expr:
        case ast.Name(text="true" | "false"):
            return expr.text == "true", Bound(expr, None)
        case ast.Name():
            return expr.text, Bound(expr, None)
        case ast.String():
            return expr.plain or "", Bound(expr, None)
    constant = reader.constant(expr)
    return constant.value if constant else "", Bound(expr, constant)


# --- what uses a factor ------------------------------------------------------------------------------------------

Item = TypeVar("Item")


class BlocksAtLevels(Mapping[str, "Item | None"], Generic[Item]):
    """The blocks of a kind at the default level of each factor, by name, and at other levels by `at`. The value is None
    for one with a mistake."""

    def __init__(
        self,
        entries: Mapping[str, Entry],
        factors: Factors,
        reader: Reader,
        read: Callable[[Entry, Reader], Item | None],
    ) -> None:
        self._entries, self._factors, self._reader, self._read = entries, factors, reader, read
        self._uses = {name: uses(entry, factors) for name, entry in entries.items()}
        self._found: dict[tuple[str, Levels], Item | None] = {}
        for name in entries:
            self.at(name, Levels())

    def uses(self, name: str, attribute: str = "") -> tuple[str, ...]:
        """Return the factors that a block uses, or one of its attributes, in the order of the spec."""
        if not attribute or not self._uses[name]:
            return self._uses[name]
        entry = self._entries[name]
        kept = {key: each for key, each in entry.attributes.items() if key == attribute}
        return uses(replace(entry, attributes=kept, blocks=()), self._factors)

    def at(self, name: str, levels: Levels) -> Item | None:
        """Return a block at some levels; other factors have their defaults."""
        own = own_levels(self._uses[name], levels, self._factors)
        if (name, own) not in self._found:
            reader = self._reader.at(bound_to(own.keys, self._factors)) if own else self._reader
            self._found[name, own] = self._read(self._entries[name], reader)
        return self._found[name, own]

    def __getitem__(self, name: str) -> Item | None:
        return self._found[name, own_levels(self._uses[name], Levels(), self._factors)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def uses(entry: Entry, factors: Factors) -> tuple[str, ...]:
    """Return the factors that a block's attributes use, in the order of the spec."""
    if not factors:
        return ()
    named = {name.text for name in names_in([entry.attributes, *(block.attributes for block in entry.blocks)])}
    return tuple(name for name in factors if name in named)


def own_levels(used: Iterable[str], levels: Levels, factors: Factors) -> Levels:
    """Return the levels of the used factors: those given, or else their defaults."""
    keys = levels.keys
    return Levels.of({name: keys.get(name, factors[name].factor.default) for name in used})


def workload_key(name: str, used: Iterable[str], levels: Levels, factors: Factors) -> str:
    """Return the key of a workload in the plan: its name, unless it differs from that at the default levels."""
    own = own_levels(used, levels, factors)
    return name if own == own_levels(used, Levels(), factors) else f"{name}?{own}"


def bound_to(levels: Mapping[str, DimKey], factors: Factors) -> dict[str, Bound]:
    """Return what stands in place of the name of each factor at these levels."""
    return {name: bound for factor, key in levels.items() for name, bound in factors[factor].bound[key].items()}


def default_bound(factors: Factors) -> dict[str, Bound]:
    return bound_to({name: each.factor.default for name, each in factors.items()}, factors)


# --- what an experiment varies -----------------------------------------------------------------------------------


def read_vary(exprs: Iterable[ast.Expr], factors: Factors, reader: Reader) -> dict[str, tuple[DimKey, ...]]:
    """Return the levels of each factor that an experiment varies, in the order of the spec."""
    found: dict[str, tuple[DimKey, ...]] = {}
    for item in listed(expr if _is_factor(expr, factors) else reader.deref(expr) for expr in exprs):
        match item:
            case ast.Name(text=name) if name in factors:
                found[name] = tuple(factors[name].bound)
            case ast.Index(base=ast.Name(text=name), arguments=arguments) if name in factors:
                known = factors[name].bound
                keys = {level_key(argument.value, known, reader) for argument in arguments}
                found[name] = tuple(key for key in known if key in keys)
            case _:
                reader.report(wrong.NotAFactor(item.span, "factor", item.span.text, tuple(factors)))
    return {name: found[name] for name in factors if name in found}


def _is_factor(expr: ast.Expr, factors: Factors) -> bool:
    return isinstance(expr, ast.Name) and expr.text in factors


def combinations(varied: Mapping[str, tuple[DimKey, ...]]) -> tuple[Levels, ...]:
    """Return the combinations of levels, the first factor's in the outermost order; one without levels for none."""
    return tuple(Levels.of(dict(zip(varied, keys, strict=True))) for keys in product(*varied.values()))


def count(varied: Mapping[str, tuple[DimKey, ...]]) -> int:
    return prod(map(len, varied.values()))
