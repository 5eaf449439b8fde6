"""The definitions and uses of every name that a spec declares, with their places.

The index needs only the syntax trees, so it also works for a spec with mistakes. A name without a declaration (a
measure, a dimension, a word of the language, a misspelt name) has no occurrence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Literal

from benchbrief.compiler.frontend.declarations import TOP_LEVEL, dotted
from benchbrief.compiler.measure_catalogue import KINDS
from benchbrief.compiler.schemas import FACTOR, HARDWARE
from benchbrief.dsl.lazy_dataclass import cached_property, dataclass
from benchbrief.dsl.source import Source, Span
from benchbrief.dsl.syntax import ast
from benchbrief.model.plan import DIMENSIONS

Kind = Literal[
    "hardware",
    "variant",
    "fact",
    "factor",
    "level",
    "setting",
    "client",
    "database",
    "workload",
    "probe",
    "experiment",
    "scheduler",
    "profile",
    "claim",
    "report",
    "metric",
    "param",
]
NOT_FACTS = frozenset({"hosts", "prepare", "power", "control"})
NOT_LEVELS = frozenset(FACTOR.keys)
"""Attributes of a factor that are not its levels."""
_KEYED: tuple[Kind, ...] = ("hardware", "workload", "experiment")
"""The kinds of keys in an index, in the order of lookup. Levels of factors come after them."""


@dataclass(frozen=True)
class Symbol:
    """A declared thing. Facts with the same name on all hardware are one symbol, and so is a setting at all levels.

    The name of a variant includes the name of its group (`box.small`). The name of a level (`codec.lz4`) or of a
    bundle's setting (`tuning.cache`) includes the name of its factor.
    """

    kind: Kind
    name: str

    @property
    def word(self) -> str:
        """The name as declared, without the name of a variant's group or of a level's factor."""
        return self.name.rpartition(".")[2]


@dataclass(frozen=True)
class Occurrence:
    """A place that declares (`defines`) or uses a symbol."""

    symbol: Symbol
    span: Span
    defines: bool = False


Node = ast.Block | ast.Metric | ast.Param | ast.Attribute


@dataclass
class NameIndex:
    """The places at which names are declared and used. `nodes` maps each symbol to its first declaration. For a fact or
    a setting, `occurrences` has all attributes that declare it."""

    occurrences: list[Occurrence] = field(default_factory=list)
    nodes: dict[Symbol, Node] = field(default_factory=dict)

    def of(self, symbol: Symbol) -> Iterator[Occurrence]:
        return (occurrence for occurrence in self.occurrences if occurrence.symbol == symbol)

    def names(self, kind: Kind) -> tuple[str, ...]:
        return tuple(symbol.name for symbol in self.nodes if symbol.kind == kind)

    def at(self, source: Source, offset: int) -> Occurrence | None:
        """Return the occurrence that contains an offset or ends at it."""
        here = self._by_source.get(source, ())
        return next((each for each in here if each.span.start <= offset <= each.span.end), None)

    @cached_property
    def _by_source(self) -> Mapping[Source, list[Occurrence]]:
        found: dict[Source, list[Occurrence]] = {}
        for occurrence in self.occurrences:
            found.setdefault(occurrence.span.source, []).append(occurrence)
        return found

    @cached_property
    def variants(self) -> Mapping[str, Symbol]:
        """The variants by their full names, and by their short names if these are unique."""
        return self._by_word("variant")

    @cached_property
    def levels(self) -> Mapping[str, Symbol]:
        """The levels by their names with the factor, and by their short names if only one factor has them."""
        return self._by_word("level")

    def _by_word(self, kind: Kind) -> Mapping[str, Symbol]:
        every = [symbol for symbol in self.nodes if symbol.kind == kind]
        counts = Counter(symbol.word for symbol in every)
        short = {symbol.word: symbol for symbol in every if counts[symbol.word] == 1}
        return {**short, **{symbol.name: symbol for symbol in every}}


def index(declarations: Iterable[ast.Declaration]) -> NameIndex:
    """Return the index of a spec and of the files that it uses."""
    every = tuple(declarations)
    found = NameIndex()
    for declaration in every:
        _define(declaration, found)
    uses = _Uses(found)
    for declaration in every:
        uses.declaration(declaration)
    places: dict[tuple[Source, int, int], Occurrence] = {}
    for occurrence in found.occurrences:  # two nodes of a formula name its metric at the same place
        places.setdefault((occurrence.span.source, occurrence.span.start, occurrence.span.end), occurrence)
    return NameIndex(list(places.values()), found.nodes)


def _define(declaration: ast.Declaration, found: NameIndex) -> None:
    match declaration:
        case ast.Param():
            _add(found, Symbol("param", declaration.name.text), declaration.name, declaration)
        case ast.Metric():
            _add(found, Symbol("metric", declaration.name.text), declaration.name, declaration)
        case ast.Block() if declaration.name is not None:
            name = declaration.name
            for kind in TOP_LEVEL:
                if declaration.keyword.text == kind:
                    _add(found, Symbol(kind, name.text), name, declaration)  # type: ignore[arg-type]  # all are Kinds
            if declaration.keyword.text == "factor":
                _define_levels(declaration, name.text, found)
            elif declaration.keyword.text == "hardware":
                _define_facts(declaration, found)
                for item in declaration.body:
                    if isinstance(item, ast.Block) and item.keyword.text == "variant" and item.name:
                        _add(found, Symbol("variant", f"{name.text}.{item.name.text}"), item.name, item)
                        _define_facts(item, found)
        case _:
            pass


def _define_facts(block: ast.Block, found: NameIndex) -> None:
    for item in block.body:
        if isinstance(item, ast.Attribute) and item.key.text not in NOT_FACTS:
            _add(found, Symbol("fact", item.key.text), item.key, item)


def _define_levels(factor: ast.Block, name: str, found: NameIndex) -> None:
    for item in factor.body:
        match item:
            case ast.Attribute(key=ast.Name(text="levels")):
                for value in items_of(item):
                    if isinstance(value, ast.Name):
                        _add(found, Symbol("level", f"{name}.{value.text}"), value, item)
            case ast.Attribute(key=key) if key.text not in NOT_LEVELS:
                _add(found, Symbol("level", f"{name}.{key.text}"), key, item)
            case ast.Block(keyword=ast.Name(text="level"), name=ast.Name() as level):
                _add(found, Symbol("level", f"{name}.{level.text}"), level, item)
                for setting in item.body:
                    if isinstance(setting, ast.Attribute):
                        _add(found, Symbol("setting", f"{name}.{setting.key.text}"), setting.key, setting)
            case _:
                pass


def items_of(attribute: ast.Attribute) -> Iterator[ast.Expr]:
    """Yield the values of an attribute. The values in a list are yielded one by one."""
    for value in attribute.values:
        yield from value.items if isinstance(value, ast.List) else (value,)


def _add(found: NameIndex, symbol: Symbol, name: ast.Name, node: Node) -> None:
    found.nodes.setdefault(symbol, node)
    found.occurrences.append(Occurrence(symbol, name.span, defines=True))


class _Uses:
    """Walks the trees for uses of names."""

    def __init__(self, found: NameIndex) -> None:
        self.found = found

    def _use(self, kind: Kind, name: ast.Name) -> bool:
        """If a symbol of this kind and name exists, record this use of it and return True; otherwise return False."""
        symbol = Symbol(kind, name.text)
        if symbol not in self.found.nodes:
            return False
        self.found.occurrences.append(Occurrence(symbol, name.span))
        return True

    def declaration(self, declaration: ast.Declaration) -> None:
        match declaration:
            case ast.Param():
                self.value(declaration.value, None)
            case ast.Metric():
                self.expression(declaration.expr)
            case ast.Expect():
                self.expression(declaration.condition)
            case ast.Block() if declaration.keyword.text in ("report", "claim"):
                self.element(declaration)
            case ast.Block(keyword=ast.Name(text="factor"), name=ast.Name(text=factor)):
                self.factor(declaration, factor)
            case ast.Block():
                self.block(declaration, declaration.keyword.text)
            case ast.Use():
                pass

    # --- values ---

    def block(self, block: ast.Block, kind: str) -> None:
        """Walk a block of values. `kind` is the kind of block that the attributes belong to."""
        if isinstance(block.base, ast.Name):
            self._named(kind, block.base)
        for item in block.body:
            if isinstance(item, ast.Attribute):
                for value in item.values:
                    if kind == "experiment" and item.key.text in ("vary", "when"):
                        self.expression(value)
                    else:
                        self.value(value, _WANTED.get((kind, item.key.text)))
            elif item.keyword.text == "override" and item.subject is not None:
                if item.name:
                    self._named(item.subject.text, item.name)
                self.block(item, item.subject.text)
            else:
                self.block(item, item.keyword.text)

    def factor(self, block: ast.Block, factor: str) -> None:
        """Walk a factor. Its `default` names one of its levels. The values of its levels may be any expressions."""
        for item in block.body:
            if isinstance(item, ast.Block):
                self.block(item, "level")
                continue
            for value in items_of(item):
                if item.key.text != "default" or not self._level(factor, value):
                    self.value(value, None)

    def _named(self, kind: str, name: ast.Name) -> None:
        for known in TOP_LEVEL:
            if known == kind:
                self._use(known, name)  # type: ignore[arg-type]  # all are Kinds

    def value(self, expr: ast.Expr, wanted: Kind | None) -> None:
        """Walk a value. Names in it may be parameters, declarations of the `wanted` kind, or factors."""
        match expr:
            case ast.Name():
                self._name_of(expr, wanted)
            case ast.Attr(base=ast.Name()) if wanted == "hardware":
                self._dotted(expr)
            case ast.Attr(base=ast.Name() as base):
                _ = self._use("experiment", base) or self._use("param", base) or self._setting(base, expr.field)
            case ast.Call():
                for argument in expr.arguments:
                    self.value(argument.value, wanted)
            case ast.Every():
                self.value(expr.subject, wanted)
                self.value(expr.interval, None)
                if isinstance(expr.target, ast.Name):
                    self._use("fact", expr.target)
            case ast.String():
                for hole in _holes(expr):
                    self.hole_of_value(hole.expr)
            case _:
                for inner in _inner(expr):
                    self.value(inner, wanted)

    def _name_of(self, name: ast.Name, wanted: Kind | None) -> None:
        if not self._use("param", name) and wanted == "hardware":
            self._hardware(name)
        elif not self.found.nodes.get(Symbol("param", name.text)):
            self._use(wanted or "factor", name)

    def hole_of_value(self, expr: ast.Expr) -> None:
        """Record the use of a fact (`{cache}`) or a factor (`{codec}`) in a hole of a database's path or options."""
        match expr:
            case ast.Name():
                _ = self._use("fact", expr) or self._use("param", expr) or self._use("factor", expr)
            case ast.Attr(base=ast.Name() as base):
                self._setting(base, expr.field)
            case _:
                pass

    # --- factors ---

    def _setting(self, factor: ast.Name, field: ast.Name) -> bool:
        """Walk a setting such as `tuning.cache`, or a level such as `codec.lz4`."""
        if not self._use("factor", factor):
            return False
        for kind in ("setting", "level"):
            symbol = Symbol(kind, f"{factor.text}.{field.text}")
            if symbol in self.found.nodes:
                self.found.occurrences.append(Occurrence(symbol, field.span))
        return True

    def _level(self, factor: str, expr: ast.Expr) -> bool:
        """If an expression is the short name of a level, record this use of it and return True; otherwise return False.
        `factor` is "" if the spec does not name the factor."""
        if not isinstance(expr, ast.Name):
            return False
        symbol = self.found.levels.get(f"{factor}.{expr.text}" if factor else expr.text)
        if symbol is not None:
            self.found.occurrences.append(Occurrence(symbol, expr.span))
        return symbol is not None

    def _levels_of(self, factor: ast.Name, levels: Iterable[ast.Expr]) -> None:
        """Walk the expressions that a factor is compared with or indexed by. These may be names of its levels or other
        expressions."""
        for level in levels:
            if not self._level(factor.text, level):
                self.expression(level)

    # --- hardware ---

    def _hardware(self, name: ast.Name) -> bool:
        if self._use("hardware", name):
            return True
        variant = self.found.variants.get(name.text)
        if variant is not None:
            self.found.occurrences.append(Occurrence(variant, name.span))
        return variant is not None

    def _dotted(self, expr: ast.Attr) -> bool:
        """Walk a dotted name: `box.small`, `box.variants`, `two.price`, `box.small.price`."""
        inner = self._dotted(expr.base) if isinstance(expr.base, ast.Attr) else None
        if inner is None and not (isinstance(expr.base, ast.Name) and self._hardware(expr.base)):
            return False
        symbol = Symbol("variant", dotted(expr))
        if symbol in self.found.nodes:
            self.found.occurrences.append(Occurrence(symbol, expr.field.span))
        else:
            self._use("fact", expr.field)
        return True

    # --- expressions ---

    def expression(self, expr: ast.Expr) -> None:
        match expr:
            case ast.Name():
                self._quantity(expr)
            case ast.Attr():
                if dotted(expr) not in KINDS:
                    self._subject(expr)
            case ast.Index(base=ast.Name() as base) if self._use("factor", base):
                self._levels_of(base, [argument.value for argument in expr.arguments])
            case ast.Index():
                self.expression(expr.base)
                for argument in expr.arguments:
                    self.key(argument)
            case ast.Binary(left=ast.Name() as left) if self._use("factor", left):
                self._levels_of(left, [expr.right])
            case ast.String():
                self._text(expr)
            case _:
                for dimension in _dimensions(expr):
                    self._use("factor", dimension)
                for inner in _inner(expr):
                    self.expression(inner)

    def _text(self, text: ast.String) -> None:
        for hole in _holes(text):
            if not self._subject(hole.expr):
                self.expression(hole.expr)

    def _quantity(self, name: ast.Name) -> None:
        if (
            not self._use("metric", name)
            and not self._use("claim", name)
            and name.text not in KINDS
            and name.text not in DIMENSIONS
        ):
            _ = self._use("fact", name) or self._use("param", name) or self._use("factor", name)

    def _subject(self, expr: ast.Expr) -> bool:
        """Walk a hole that is a name: `{two}`, `{workload.title}`, `{rr.description}`."""
        if isinstance(expr, ast.Name):
            if expr.text in KINDS or Symbol("metric", expr.text) in self.found.nodes:
                return False
            named = self._hardware(expr) or self._use("workload", expr) or self._use("experiment", expr)
            return named or self._use("factor", expr) or self._level("", expr)
        if not isinstance(expr, ast.Attr) or dotted(expr) in KINDS:
            return False
        if self._dotted(expr):
            return True
        if not isinstance(expr.base, ast.Name):
            return False
        if expr.base.text == "hardware":
            return self._use("fact", expr.field)
        base = expr.base
        named = self._use("workload", base) or self._use("experiment", base) or self._setting(base, expr.field)
        return named or self._level("", base) or base.text in DIMENSIONS

    def key(self, argument: ast.Argument) -> None:
        """Walk a key: `nvme`, `box.small`, `workload: a`, `codec: none`, `threads: 96`, `load(f)`."""
        kinds = _KEYED if argument.key is None else tuple(kind for kind in _KEYED if kind == argument.key.text)
        value = argument.value
        if isinstance(value, ast.Call) and value.function.text == "load":
            for inner in value.arguments:
                self.key(inner)
        elif isinstance(value, ast.Attr):
            self._dotted(value)
        elif argument.key is not None and self._use("factor", argument.key):
            self._levels_of(argument.key, [value])
        elif isinstance(value, ast.Name) and kinds:
            named = any(self._hardware(value) if kind == "hardware" else self._use(kind, value) for kind in kinds)
            _ = named or (argument.key is None and self._level("", value))
        else:
            self.expression(value)

    # --- reports ---

    def element(self, block: ast.Block) -> None:
        if block.label is not None:
            self.expression(block.label)
        if block.base is not None:
            self.expression(block.base)
        if block.keyword.text == "each" and block.subject is not None:
            self._use("factor", block.subject)
        for item in block.body:
            if isinstance(item, ast.Block):
                self.element(item)
                continue
            if item.label is not None:
                self.expression(item.label)
            elif block.keyword.text == "palette":
                self._subject(item.key)
            for value in item.values:
                self.expression(value)


_WANTED: Mapping[tuple[str, str], Kind] = {
    ("experiment", "hardware"): "hardware",
    ("experiment", "client"): "client",
    ("experiment", "database"): "database",
    ("experiment", "workloads"): "workload",
    ("experiment", "probes"): "probe",
}
"""Attributes whose values name other blocks."""

BUILT_IN_FACTS = frozenset(HARDWARE.keys)
"""Attributes of hardware that have a meaning in the language."""


def _holes(string: ast.String) -> Iterator[ast.Hole]:
    return (part for part in string.parts if isinstance(part, ast.Hole))


def _dimensions(expr: ast.Expr) -> tuple[ast.Name, ...]:
    """Return the dimensions that a function reduces, or the dimensions after `by`."""
    return expr.over if isinstance(expr, ast.Call) else expr.dimensions if isinstance(expr, ast.By) else ()


def _inner(expr: ast.Expr) -> Iterator[ast.Expr]:
    """Yield the direct parts of an expression, without words such as a function's name or a dimension."""
    match expr:
        case ast.List():
            yield from expr.items
        case ast.Unary():
            yield expr.operand
        case ast.Binary():
            yield from (expr.left, expr.right)
        case ast.By():
            yield expr.subject
        case ast.Option():
            yield expr.value
        case ast.Call():
            yield from (argument.value for argument in expr.arguments)
            if expr.when is not None:
                yield expr.when
        case ast.Every():
            yield from (expr.subject, expr.interval)
        case ast.Attr():
            yield expr.base
        case ast.Index():
            yield expr.base
            yield from (argument.value for argument in expr.arguments)
        case _:
            pass
