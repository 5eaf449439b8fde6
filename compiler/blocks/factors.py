"""Factors, which are settings that experiments vary: their levels, their uses, and the levels that an experiment
measures."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import product
from math import prod
from typing import Any, Generic, TypeVar

from benchbrief.compiler.blocks import factor_errors as wrong
from benchbrief.compiler.blocks.ramps import Numbers, read_points
from benchbrief.compiler.blocks.values import Bound, Constant, Reader, Values, described, listed, origin
from benchbrief.compiler.frontend import name_errors
from benchbrief.compiler.frontend.declarations import Declarations, Entry, names_in
from benchbrief.compiler.frontend.name_index import NOT_LEVELS
from benchbrief.compiler.frontend.structure_errors import MisplacedBlock
from benchbrief.dsl.diagnostics.plain_amounts import quantity_of_bytes
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model import plan
from benchbrief.model.plan import DimKey, Levels
from benchbrief.model.units import base_unit, dimension_name, parse_unit
from benchbrief.model.value_shapes import NAME, Number, Text

MOST_COMBINATIONS = 100_000
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_BYTES = parse_unit("B").dimension


@dataclass(frozen=True)
class DeclaredFactor:
    """A factor with the text of its levels. For each level, `bound` maps the factor's name to the value that replaces
    it. For a bundle, it maps each setting's name (`tuning.cache`)."""

    factor: plan.Factor
    bound: Mapping[DimKey, Mapping[str, Bound]]
    span: Span
    imported: bool

    @property
    def is_bundle(self) -> bool:
        return self.factor.levels[0].value is None

    @property
    def words(self) -> Mapping[DimKey, str]:
        """The levels by their keys, as a spec writes them."""
        return {each.key: each.key if isinstance(each.key, str) else each.label for each in self.factor.levels}

    @property
    def told_apart(self) -> str:
        """The name that best tells the levels apart: the factor's name, or the bundle's setting with the most different
        values."""
        values = {each: {level.attributes[each] for level in self.factor.levels} for each in self.settings}
        return f"{self.factor.name}.{max(values, key=lambda each: len(values[each]))}" if values else self.factor.name

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings of a bundle. Any other factor has none."""
        return tuple(self.factor.levels[0].attributes)


class Factors(dict[str, DeclaredFactor]):
    """The factors by name, in the order of the spec. `broken` are factors with a mistake. Blocks that use a broken
    factor are not read, and no mistakes are reported in them."""

    def __init__(self, found: Mapping[str, DeclaredFactor] | None = None, broken: Iterable[str] = ()) -> None:
        super().__init__(found or {})
        self.broken = frozenset(broken)
        self.own: dict[tuple[tuple[str, ...], Levels], Levels] = {}
        """A cache for `own_levels`, which is called again and again."""

    @property
    def defaults(self) -> dict[str, Bound]:
        """The values that replace the factors' names at their default levels."""
        return bound_to({name: each.factor.default for name, each in self.items()}, self)


def read_factors(entries: Mapping[str, Entry], reader: Reader) -> Factors:
    found = {name: _Levels(entry, reader).factor() for name, entry in entries.items()}
    good = {name: factor for name, factor in found.items() if factor}
    return Factors(good, broken=found.keys() - good.keys())


@dataclass(frozen=True)
class _Level:
    level: plan.Level
    bound: Mapping[str, Bound]
    place: Span

    @property
    def name(self) -> str:
        """The name of the level, or its number as written in the spec."""
        return self.level.key if isinstance(self.level.key, str) else self.level.label

    @property
    def content(self) -> object:
        """The value or the settings of the level. No two levels have the same content."""
        level = self.level
        return (
            (type(level.value), level.value) if level.value is not None else sorted(level.attributes.items(), key=str)
        )


class _Levels:
    """Reads a factor's levels from its list, range or group."""

    def __init__(self, entry: Entry, reader: Reader) -> None:
        self.entry, self.reader = entry, reader

    def factor(self) -> DeclaredFactor | None:
        """Return the factor, or None after a mistake."""
        found = self._found()
        if found is None or not (self._alike(found) and self._differ(found) and self._are_told_apart(found)):
            return None
        words = {each.level.key: each.name for each in found}
        default, key = self.entry.attributes.get("default"), found[0].level.key
        if default is not None:
            said = level_key(self.entry.name, default.values[0], words, self.reader)
            if said is None:
                return None
            key = said
        return DeclaredFactor(
            factor=plan.Factor(
                name=self.entry.name,
                label=self.entry.label,
                unit=self._unit(found),
                levels=tuple(each.level for each in found),
                default=key,
                origin=origin(self.entry.head),
            ),
            bound={each.level.key: each.bound for each in found},
            span=self.entry.head,
            imported=self.entry.imported,
        )

    def _found(self) -> list[_Level] | None:
        entry = self.entry
        named = {name: each for name, each in entry.attributes.items() if name not in NOT_LEVELS}
        kinds = [
            *([entry.attributes["levels"].key.span] if "levels" in entry.attributes else []),
            *[each.key.span for each in named.values()][:1],
            *[block.head for block in entry.all("level")][:1],
        ]
        if len(kinds) > 1:
            return self.reader.refuse(wrong.TwoKindsOfLevels(kinds[1], kinds[0], entry.name))
        for block in entry.blocks:
            if block.kind != "level":
                return self.reader.refuse(MisplacedBlock(block.keyword, "factor", block.kind, ("level",)))
        if "levels" in entry.attributes:
            levels = list(self._listed(entry.attributes["levels"]))
        elif named:
            levels = [self._named(name, attribute) for name, attribute in named.items()]
        else:
            levels = [self._bundle(block) for block in entry.all("level")]
        if None in levels:
            return None
        if len(levels) < 2:
            place = entry.attributes["levels"].values[0].span if "levels" in entry.attributes else entry.head
            return self.reader.refuse(wrong.TooFewLevels(place, entry.name, len(levels)))
        return [each for each in levels if each]

    def _alike(self, found: Sequence[_Level]) -> bool:
        """Report bundles that lack settings of the first bundle, and numbers of a different kind."""
        settings = found[0].level.attributes
        for each in found[1:]:
            lacking = tuple(key for key in settings if key not in each.level.attributes)
            surplus = tuple(key for key in each.level.attributes if key not in settings)
            if lacking or surplus:
                first = str(found[0].level.key)
                self.reader.report(wrong.OtherSettings(each.place, str(each.level.key), first, lacking, surplus))
                return False
        return True

    def _differ(self, found: Sequence[_Level]) -> bool:
        seen: dict[object, _Level] = {}
        for each in found:
            for what in (("key", each.level.key), ("value", str(each.content))):
                earlier = seen.setdefault(what, each)
                if earlier is not each:
                    names = (earlier.name, each.name)
                    self.reader.report(wrong.SameLevels(each.place, earlier.place, self.entry.name, *names))
                    return False
        return True

    def _are_told_apart(self, found: Sequence[_Level]) -> bool:
        """Return whether all labels are non-empty and readers can tell them apart. Report a label that is empty or can
        be confused with another."""
        seen: dict[str, _Level] = {}
        for each in found:
            label = each.level.label.strip()
            if not label:
                self.reader.report(wrong.NoLabel(each.place, each.name))
                return False
            earlier = seen.setdefault(label, each)
            if earlier is not each:
                self.reader.report(wrong.SameLabels(each.place, earlier.place, label, earlier.name, each.name))
                return False
        return True

    def _unit(self, found: Sequence[_Level]) -> str | None:
        """Return the unit of the levels as written in the spec, or None if the levels are words."""
        if isinstance(found[0].level.key, str):
            return None
        bound = found[0].bound[self.entry.name]
        if isinstance(bound.expr, ast.Quantity):
            return bound.expr.unit
        return base_unit(bound.constant.dimension) if bound.constant else ""

    def _listed(self, attribute: ast.Attribute) -> Iterator[_Level | None]:
        written = attribute.values[0]
        if attribute.label or len(attribute.values) > 1:
            self.reader.attribute(attribute, _NO_SERIES)  # reports the mistake
        exprs = listed((self.reader.deref(written),))
        first = self.reader.deref(exprs[0]) if exprs else written
        if not exprs or isinstance(first, ast.Name | ast.String):
            yield from (self._word(item) for item in exprs)
            return
        one = self.reader.deref(_first_number(first))
        number = self.reader.constant(one)
        unit = one.unit if isinstance(one, ast.Quantity) else base_unit(number.dimension) if number else ""
        points = read_points("levels", written, self.reader, _numbers(number, unit)) if number else None
        if number is None or points is None:
            yield None
            return
        single = {expr.span: expr for expr in map(self.reader.deref, exprs) if not _is_range(expr)}
        for value, place in points:
            yield self._number(value, single.get(place), place, replace(number, text=unit))

    def _word(self, item: ast.Expr) -> _Level | None:
        expr = self.reader.deref(item)
        word = expr.text if isinstance(expr, ast.Name) else expr.plain if isinstance(expr, ast.String) else None
        if word is None or not _WORD.match(word) or len(word) > NAME:
            return self.reader.refuse(wrong.NoLevelWord(item.span, self.entry.name, described(expr)))
        value = {"true": True, "false": False}.get(word, word) if isinstance(expr, ast.Name) else word
        return _Level(plan.Level(key=word, label=word, value=value), {self.entry.name: Bound(expr, None)}, item.span)

    def _number(self, value: float, written: ast.Expr | None, place: Span, first: Constant) -> _Level:
        """Return a level that is a number, either written in the spec or from a range. Numbers from a range get their
        unit from the text of `first`."""
        if written is not None:
            expr, constant = written, self.reader.constant(written)
        else:
            unit = first.text
            number = value / parse_unit(unit).factor
            text = quantity_of_bytes(value) if first.dimension == _BYTES else f"{number:g} {unit}".strip()
            constant = Constant(value, first.dimension, text, place, first.bare)
            expr = ast.Quantity(place, number, unit, None, value == round(value))
        label = constant.text if constant else ""
        level = plan.Level(key=value, label=label, value=value)
        return _Level(level, {self.entry.name: Bound(expr, constant)}, place)

    def _named(self, name: str, attribute: ast.Attribute) -> _Level | None:
        label = name if attribute.label is None or attribute.label.plain is None else attribute.label.plain
        found = self._value(attribute)
        if found is None:
            return None
        value, bound = found
        return _Level(plan.Level(key=name, label=label, value=value), {self.entry.name: bound}, attribute.key.span)

    def _bundle(self, block: Entry) -> _Level | None:
        found = {key: self._value(each) for key, each in block.attributes.items()}
        values = {key: each for key, each in found.items() if each}
        if len(values) < len(found):
            return None
        level = plan.Level(
            key=block.name, label=block.label, attributes={key: value for key, (value, _) in values.items()}
        )
        return _Level(level, {f"{self.entry.name}.{key}": bound for key, (_, bound) in values.items()}, block.head)

    def _value(self, attribute: ast.Attribute) -> tuple[plan.Option, Bound] | None:
        """Return the value of a level for the plan, and the expression that replaces the factor's name at this level,
        or None after a mistake."""
        expr = self.reader.deref(attribute.values[0])
        if len(attribute.values) > 1:
            return self.reader.refuse(wrong.NoLevelValue(attribute.values[1].span, attribute.key.text, "a series"))
        match expr:
            case ast.Name(text="true" | "false"):
                return expr.text == "true", Bound(expr, None)
            case ast.Name():
                return expr.text, Bound(expr, None)
            case ast.String(plain=str(text)):
                return text, Bound(expr, None)
            case ast.Quantity() | ast.Unary() | ast.Binary(operator="+" | "-" | "*" | "/"):
                constant = self.reader.constant(expr)
                return (constant.value, Bound(expr, constant)) if constant else None
        return self.reader.refuse(wrong.NoLevelValue(expr.span, attribute.key.text, described(expr)))


_NO_SERIES = Text()


def _is_range(expr: ast.Expr) -> bool:
    return isinstance(expr, ast.Call) or (isinstance(expr, ast.Binary) and expr.operator == "..")


def _first_number(expr: ast.Expr) -> ast.Expr:
    """Return the first number of a list or a range."""
    match expr:
        case ast.Call(function=ast.Name(text="range"), arguments=[ast.Argument(key=None, value=value), *_]):
            return value
        case ast.Binary(operator="..", left=left):
            return left
    return expr


def _numbers(first: Constant, unit: str) -> Numbers:
    """Return the rule for a factor's numbers: all are of the same kind as the first number, and have a unit if the
    first number has one."""
    low, high = (f"{number} {unit}".strip() for number in (8, 64))
    usage = f"`range({low}, {high}, factor: 2)`"
    shape = Number(base_unit(first.dimension), low, plain=first.bare, minimum=float("-inf"))
    return Numbers(
        shape, usage, f"numbers such as `[{low}, {high}]` or {usage}", whole=first.dimension == _BYTES, unit=unit
    )


def level_key(factor: str, expr: ast.Expr, known: Mapping[DimKey, str], reader: Reader) -> DimKey | None:
    """Return the key of a level that is named or written as its number. Report an unknown level and return None.

    `known` maps the keys of the levels to their text in the spec.
    """
    if isinstance(expr, ast.Name | ast.String):
        key: DimKey | None = expr.text if isinstance(expr, ast.Name) else expr.plain
        if key not in known and isinstance(found := reader.deref(expr), ast.Quantity):
            return level_key(factor, found, known, reader)
    elif isinstance(expr, ast.Quantity | ast.Unary | ast.Binary):
        constant = reader.constant(expr)
        if constant is None:
            return None
        key = constant.value
    else:
        key = None
    if key in known:
        return key
    said = " ".join(expr.span.text.split())
    return reader.refuse(wrong.UnknownLevel(expr.span, "level", said, tuple(known.values()), factor))


# --- what uses a factor ------------------------------------------------------------------------------------------

Item = TypeVar("Item")


class BlocksAtLevels(Mapping[str, "Item | None"], Generic[Item]):
    """The blocks of a kind by name, at the default level of each factor; `at` returns them at other levels. A block
    with a mistake has the value None."""

    def __init__(
        self,
        kind: str,
        found: Declarations,
        factors: Factors,
        reader: Reader,
        read: Callable[[Entry, Reader], Item | None],
        misused: Collection[tuple[str, str]] = (),
        filled_later: Collection[str] | None = None,
    ) -> None:
        """`misused` are the kinds and names of blocks that use a factor in a place where none is allowed.

        If `filled_later` is given, a block at the levels of several factors is merged from blocks that were each read
        at one factor's level. This is possible only if no attribute uses several factors. The attributes in
        `filled_later` may, because the block keeps them as they are written.
        """
        self._entries, self._factors, self._read = found.blocks[kind], factors, read
        self._reader = reader.at(factors.defaults)
        entries = self._entries
        self._uses = {name: uses(entry, factors) for name, entry in entries.items()}
        broken = factors.broken
        self._broken = {
            name for name, entry in entries.items() if (kind, name) in misused or (broken and broken & _names(entry))
        }
        self._found: dict[tuple[str, Levels], Item | None] = {}
        self._changes: dict[tuple[str, str, DimKey], dict[str, Any] | None] = {}
        """For each field, the values at one level of a factor that differ from the defaults. If the field is a table,
        only its changed entries are kept."""
        self._apart = {name for name in entries if filled_later is not None and self._is_apart(name, filled_later)}
        for name in entries:
            self.at(name, Levels())

    def uses(self, name: str, attribute: str = "") -> tuple[str, ...]:
        """Return the factors that a block or one of its attributes uses, in the order of the spec."""
        if not attribute or not self._uses[name]:
            return self._uses[name]
        entry = self._entries[name]
        kept = {key: each for key, each in entry.attributes.items() if key == attribute}
        return uses(replace(entry, attributes=kept, blocks=()), self._factors)

    def at(self, name: str, levels: Levels) -> Item | None:
        """Return a block at the given levels, and at the default levels of all other factors."""
        own = own_levels(self._uses[name], levels, self._factors)
        if (name, own) not in self._found:
            if name in self._broken:
                self._found[name, own] = None
            elif (parts := self._parts(name, own)) is not None:
                self._found[name, own] = parts
            else:
                reader = self._reader.at(bound_to(own.keys, self._factors)) if own else self._reader
                self._found[name, own] = self._read(self._entries[name], reader)
        return self._found[name, own]

    def _parts(self, name: str, own: Levels) -> Item | None:
        """Return a block merged from blocks at one level each, or None if the block must be read at each combination of
        levels."""
        if name not in self._apart:
            return None
        keys = {factor: key for factor, key in own.keys.items() if key != self._factors[factor].factor.default}
        usual = self._found.get((name, own_levels(self._uses[name], Levels(), self._factors)))
        if len(keys) < 2 or usual is None:
            return None
        changed: dict[str, Any] = {}
        for factor, key in keys.items():
            if (factor, name, key) not in self._changes:
                one = self.at(name, Levels.of({factor: key}))
                self._changes[factor, name, key] = _changes(usual, one) if one is not None else None
            changes = self._changes[factor, name, key]
            if changes is None:
                return None
            for of, value in changes.items():
                if not isinstance(value, dict):
                    if of in changed:  # such as commands, of which each has a factor of its own
                        return None
                    changed[of] = value
                else:
                    changed[of] = {**changed.get(of, getattr(usual, of)), **value}
        return replace(usual, **changed)  # type: ignore[type-var]  # the blocks that are put together are dataclasses

    def _is_apart(self, name: str, filled_later: Collection[str]) -> bool:
        """Return whether each attribute, except those in `filled_later`, uses at most one factor."""
        entry = self._entries[name]
        attributes = {key: each for key, each in entry.attributes.items() if key not in filled_later}
        every = (*attributes.values(), *(each for block in entry.blocks for each in block.attributes.values()))
        return all(len({each.text for each in names_in(one)} & self._factors.keys()) < 2 for one in every)

    def __getitem__(self, name: str) -> Item | None:
        return self._found[name, own_levels(self._uses[name], Levels(), self._factors)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def _changes(usual: Any, one: Any) -> dict[str, Any] | None:
    """Return the fields in which a block differs from the block at the default levels, or None if an entry of a table
    is missing."""
    found: dict[str, Any] = {}
    for each in fields(usual):
        before, after = getattr(usual, each.name), getattr(one, each.name)
        if before is after or before == after:
            continue
        if isinstance(before, dict) and isinstance(after, dict):
            if before.keys() - after.keys():
                return None
            after = {key: value for key, value in after.items() if key not in before or before[key] != value}
        found[each.name] = after
    return found


def uses(entry: Entry, factors: Factors) -> tuple[str, ...]:
    """Return the factors that a block's attributes use, in the order of the spec."""
    if not factors:
        return ()
    named = _names(entry)
    return tuple(name for name in factors if name in named)


def _names(entry: Entry) -> set[str]:
    return {name.text for name in names_in([entry.attributes, *(block.attributes for block in entry.blocks)])}


def own_levels(used: tuple[str, ...], levels: Levels, factors: Factors) -> Levels:
    """Return a level for each used factor: the given one, or else the default."""
    found = factors.own.get((used, levels))
    if found is None:
        keys = levels.keys
        found = Levels.of({name: keys.get(name, factors[name].factor.default) for name in used})
        factors.own[used, levels] = found
    return found


def workload_key(name: str, used: tuple[str, ...], levels: Levels, factors: Factors) -> str:
    """Return the key of a workload in the plan: its name, unless the workload differs from the one at the default
    levels."""
    own = own_levels(used, levels, factors)
    return name if own == own_levels(used, Levels(), factors) else f"{name}?{own}"


def bound_to(levels: Mapping[str, DimKey], factors: Factors) -> dict[str, Bound]:
    """Return the values that replace the name of each factor at these levels."""
    return {name: bound for factor, key in levels.items() for name, bound in factors[factor].bound[key].items()}


# --- what an experiment varies -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Varied:
    """The factors that an experiment varies, with their levels and places in `vary`, and the combinations to
    measure."""

    levels: Mapping[str, tuple[DimKey, ...]]
    places: Mapping[str, Span]
    combinations: tuple[Levels, ...]
    """The combinations of levels. If nothing is varied, there is a single combination without levels."""


def read_varied(values: Values, factors: Factors, reader: Reader) -> Varied | None:
    """Return the factors and levels that an experiment varies, or None after a mistake."""
    found = _Vary(factors, reader)
    levels = found.read(values.series("vary"))
    if levels is None:
        return None
    count = prod(map(len, levels.values()))
    if count > MOST_COMBINATIONS:
        sizes = tuple(f"{len(keys)} of {name}" for name, keys in levels.items())
        return reader.refuse(
            wrong.TooManyCombinations(values.span("vary"), values.entry.name, count, MOST_COMBINATIONS, sizes)
        )
    every: Iterator[_Keys] = (dict(zip(levels, keys, strict=True)) for keys in product(*levels.values()))
    conditions = values.series("when")
    if conditions:
        holds = _Condition(levels, factors, reader).read(conditions[0])
        if holds is None:
            return None
        every = filter(holds, every)
    combinations = tuple(map(Levels.of, every))
    if not combinations:
        return reader.refuse(wrong.NothingLeft(conditions[0].span, values.entry.name, count))
    return Varied(levels, found.places, combinations)


class _Vary:
    """Reads an attribute such as `vary = [codec[none, zstd], vsize]`."""

    def __init__(self, factors: Factors, reader: Reader) -> None:
        self.factors, self.reader = factors, reader
        self.places: dict[str, Span] = {}

    def read(self, exprs: Iterable[ast.Expr]) -> dict[str, tuple[DimKey, ...]] | None:
        """Return the levels of each factor, in the order of the spec, or None after a mistake."""
        found: dict[str, tuple[DimKey, ...]] = {}
        for item in listed(map(self.reader.deref, exprs)):
            name = item.base if isinstance(item, ast.Index) else item
            if isinstance(name, ast.Name) and name.text in self.factors.broken:
                return None
            if not isinstance(name, ast.Name) or name.text not in self.factors:
                return self.reader.refuse(wrong.NotAFactor(name.span, "factor", name.span.text, tuple(self.factors)))
            if name.text in found:
                return self.reader.refuse(
                    name_errors.NamedTwice(name.span, self.places[name.text], "factor", name.text)
                )
            known = self.factors[name.text].words
            keys = self._keys(name.text, item, known) if isinstance(item, ast.Index) else tuple(known)
            if keys is None:
                return None
            found[name.text], self.places[name.text] = keys, name.span
        return {name: found[name] for name in self.factors if name in found}

    def _keys(self, name: str, index: ast.Index, known: Mapping[DimKey, str]) -> tuple[DimKey, ...] | None:
        places: dict[DimKey, Span] = {}
        for argument in index.arguments:
            if argument.key is not None and argument.key.text != name:
                words = tuple(known.values())
                return self.reader.refuse(wrong.UnknownLevel(argument.span, "level", argument.span.text, words, name))
            key = level_key(name, argument.value, known, self.reader)
            if key is None:
                return None
            if key in places:
                span = argument.value.span
                return self.reader.refuse(name_errors.NamedTwice(span, places[key], "level", known[key]))
            places[key] = argument.value.span
        return tuple(key for key in known if key in places)


_Keys = Mapping[str, DimKey]
_Test = Callable[[_Keys], bool]
_COMPARED: Mapping[str, Callable[[float, float], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True)
class _Condition:
    """Reads the condition of `when`, which compares factors with their levels or with numbers."""

    varied: Mapping[str, tuple[DimKey, ...]]
    factors: Factors
    reader: Reader

    def read(self, expr: ast.Expr) -> _Test | None:
        """Return a function that takes a combination's keys and returns whether the combination is measured. After a
        mistake, return None."""
        match expr:
            case ast.Binary(operator="and" | "or" as word):
                left, right = self.read(expr.left), self.read(expr.right)
                if left is None or right is None:
                    return None
                one, other = left, right
                if word == "and":
                    return lambda keys: one(keys) and other(keys)
                return lambda keys: one(keys) or other(keys)
            case ast.Unary(operator="not"):
                inner = self.read(expr.operand)
                return inner and (lambda keys: not inner(keys))
            case ast.Binary(operator=sign) if sign in _COMPARED:
                return self._comparison(expr)
        return self.reader.refuse(wrong.NoCondition(expr.span, f"is {described(expr)}, and no comparison"))

    def _comparison(self, expr: ast.Binary) -> _Test | None:
        left, right, sign = expr.left, expr.right, expr.operator
        if self._factor(left) is None and self._factor(right) is not None:
            left, right, sign = right, left, _TURNED.get(sign, sign)
        factor = self._factor(left)
        if factor is None:
            return self.reader.refuse(wrong.NoCondition(expr.span, "compares no factor that the experiment varies"))
        setting = left.field.text if isinstance(left, ast.Attr) else ""
        known = self.factors[factor]
        if (
            isinstance(right, ast.Name | ast.String)
            and not setting
            and not isinstance(self.reader.deref(right), ast.Quantity)
        ):
            key = level_key(factor, right, known.words, self.reader)
            if key is None:
                return None
            if sign not in ("==", "!="):
                return self.reader.refuse(
                    wrong.NoCondition(expr.span, f"puts levels of `{factor}` in an order, but they are words")
                )
            return lambda keys: (keys[factor] == key) == (sign == "==")
        return self._with_number(expr, factor, setting, right, sign)

    def _with_number(self, expr: ast.Binary, factor: str, setting: str, right: ast.Expr, sign: str) -> _Test | None:
        word = f"{factor}.{setting}" if setting else factor
        numbers: dict[DimKey, float] = {}
        texts: dict[str, None] = {}
        constant = self.reader.constant(right)
        if constant is None:
            return None
        for key, bound in self.factors[factor].bound.items():
            found = bound[word].constant if word in bound else None
            if found is None:
                return self.reader.refuse(
                    wrong.NoCondition(expr.span, f"compares `{word}` with a number, but `{plan.key_text(key)}` is none")
                )
            if found.dimension != constant.dimension:
                kinds = (dimension_name(found.dimension), dimension_name(constant.dimension))
                why = f"compares `{word}`, {kinds[0]}, with `{constant.text}`, {kinds[1]}"
                return self.reader.refuse(wrong.NoCondition(expr.span, why))
            numbers[key], texts[found.text] = found.value, None
        if sign in ("==", "!=") and constant.value not in numbers.values():
            return self.reader.refuse(wrong.UnknownLevel(right.span, "level", constant.text, tuple(texts), word))
        compare = _COMPARED[sign]
        return lambda keys: compare(numbers[keys[factor]], constant.value)

    def _factor(self, expr: ast.Expr) -> str | None:
        """Return the varied factor that an expression names, or None if it does not name one."""
        name = expr.base if isinstance(expr, ast.Attr) else expr
        return name.text if isinstance(name, ast.Name) and name.text in self.varied else None
