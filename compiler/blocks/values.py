"""The values of attributes, read by their shapes and converted to base units. Wrong values are reported."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from copy import copy
from pathlib import Path
from typing import Literal, TypeVar

from benchbrief.compiler.frontend import name_errors, structure_errors, value_errors
from benchbrief.compiler.frontend.declarations import Entry
from benchbrief.compiler.frontend.value_errors import UnreadableFile
from benchbrief.compiler.problems import CompileProblem, Findings
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.read_files_below import require_below
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model import plan
from benchbrief.model.units import (
    DIMENSIONLESS,
    Dimension,
    UnknownUnitError,
    base_unit,
    dimension_name,
    divide,
    multiply,
    parse_unit,
)
from benchbrief.model.value_shapes import BlockSchema, Fact, Flag, Key, Login, Number, Shape, Special, Text, Word

_NUMBER = re.compile(r"[0-9][0-9_.]*(?:[kMGT](?![A-Za-z]))?\s*(.*)")
_NUMBERS = re.compile(r"\s*[0-9]+(?:\s*,\s*[0-9]+|\s+[0-9]+)+\s*")
_VARIED = ("workload", "options")
"""The kinds of blocks whose attributes may use a factor."""
_PREFIXES = ("var", "param", "params", "vars")


def wrong_value(
    expr: ast.Expr, key: str, wanted: str, words: Iterable[str] = (), *, numbers: bool = False, texts: bool = False
) -> CompileProblem:
    """Return the problem with a value that does not have the `wanted` form, or that misspells one of `words`. With
    `numbers`, a number is allowed too. With `texts`, a quoted text is allowed in place of a word."""
    known = tuple(words)
    name = expr.function if isinstance(expr, ast.Call) else expr
    if isinstance(name, ast.Name) and did_you_mean(name.text, known):
        return structure_errors.UnknownWord(name.span, key, name.text, known)
    if isinstance(expr, ast.Binary) and expr.span.text.replace("-", "_") in known:
        return structure_errors.UnknownWord(expr.span, key, expr.span.text, known)  # `white-paper`
    meant = f'"{expr.text}"' if texts and isinstance(expr, ast.Name) else _meant(expr, known, numbers)
    return structure_errors.WrongType(expr.span, key, wanted, described(expr), meant)


def _meant(expr: ast.Expr, known: tuple[str, ...], numbers: bool) -> str | None:
    """Return what the author most likely meant by a value with needless quotes, braces or prefix, such as `"5 min"`,
    `"nvme"`, `"{records}"` or `var.records`. Return None for other values."""
    text = ""
    match expr:
        case ast.String(plain=plain) if plain is not None:
            text = plain.strip()
        case ast.String(parts=[ast.Hole(expr=ast.Name(text=text), format="")]):
            pass
        case ast.Attr(base=ast.Name(text=prefix), field=ast.Name(text=text)) if prefix in _PREFIXES:
            pass
        case _:
            return None
    if text in known:
        return text
    if numbers and _NUMBERS.fullmatch(text):
        return "[" + ", ".join(re.findall(r"[0-9]+", text)) + "]"
    number = _NUMBER.fullmatch(text) if numbers else None
    if number is None:
        return None
    try:
        parse_unit(number[1])
    except UnknownUnitError:
        return None
    return text


def product(expr: ast.Expr) -> Literal["phases", "count", ""]:
    """Return the meaning of a product: "phases" for `6 x 10 min`, "count" for `2 x 16 cores`, and "" for anything
    else."""
    match expr:
        case ast.Binary(operator="x", right=ast.Quantity(unit=unit)):
            return "phases" if unit in ("s", "ms", "min", "h", "d") else "count"
        case ast.Binary(operator="x"):
            return "count"
    return ""


def described(expr: ast.Expr) -> str:
    """Return a description of an expression for messages."""
    match expr:
        case ast.Name():
            return f"the word `{expr.text}`"
        case ast.Quantity():
            return f"the number `{expr.span.text}`"
        case ast.String():
            return "a quoted text"
        case ast.List():
            return "a list"
        case ast.Call():
            return f"a call of `{expr.function.text}`"
        case ast.Attr() | ast.Index() | ast.Binary() | ast.Unary():
            return f"the expression `{' '.join(expr.span.text.split())}`"
        case ast.Every() | ast.By() | ast.Option():
            return f"`{' '.join(expr.span.text.split())}`"


MOST_BYTES = 64 << 10


def read_spec_file(what: str, name: str, span: Span, findings: Findings) -> str | None:
    """Return the text of a file that the spec names, or None if the file can't be used. `span` is the place of the
    file's path, which starts from the spec's folder.

    A file that can't be read or is too large is reported. `what` is the file's description in messages.
    """
    path = Path(span.source.name).parent / name
    findings.of_files = True
    try:
        require_below(path)
        if path.exists() and not (path.is_file() or path.is_dir()):  # reading a FIFO blocks
            raise ValueError("it is not a regular file")
        if path.stat().st_size > MOST_BYTES:
            raise ValueError(f"it has more than {MOST_BYTES >> 10} KiB")
        return path.read_bytes().decode()
    except (OSError, ValueError) as error:
        why = error.strerror or "it can't be read" if isinstance(error, OSError) else _decoded(error)
        findings.add(UnreadableFile(span, what, name, why[:1].lower() + why[1:]))
        return None


def _decoded(error: ValueError) -> str:
    return "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)


def check_path(span: Span, key: str, path: str, findings: Findings) -> bool:
    """Check that a path is absolute, is not the root, and has no `..`."""
    problem = None
    if not path.startswith("/"):
        problem = "it does not start with `/`"
    elif ".." in path.split("/"):
        problem = "it goes up with `..`"
    elif not path.strip("/"):
        problem = "it is the root directory"
    if problem:
        findings.add(value_errors.BadPath(span, key, path, problem))
    return problem is None


@dataclass(frozen=True)
class Constant:
    """A computed number in base units. `text` is the number as the user wrote it, and `bare` means that it has no
    unit."""

    value: float
    dimension: Dimension
    text: str
    span: Span
    bare: bool

    @property
    def quantity(self) -> plan.Quantity:
        return plan.Quantity(value=self.value, unit=base_unit(self.dimension), text=self.text)


@dataclass(frozen=True)
class Bound:
    """The value that replaces a factor's name at one level. `constant` is set if the value is a number."""

    expr: ast.Expr
    constant: Constant | None


Value = str | bool | Constant | plan.Reference | ast.String | tuple[ast.Expr, ...]


"""The value of an attribute after reading. Depending on the attribute's shape, it is a text, a word, a flag, a number,
a reference that the run reads, a text with holes, or a series."""


def setting(value: Value | None) -> str | float | bool | None:
    """Return a value as a setting of a tool or an engine, with a number in base units, or None if it can't be a
    setting."""
    if isinstance(value, Constant):
        return value.value
    return value if isinstance(value, str | bool) else None


@dataclass(frozen=True)
class Values:
    """The valid values of one block. If a key is missing, its attribute is absent or has a mistake.

    `meant` are the keys that misspelt keys most likely mean.
    """

    entry: Entry
    found: Mapping[str, Value]
    meant: frozenset[str | None]

    def span(self, key: str) -> Span:
        """Return the place of the attribute's value, or of the block's head if the attribute has no value."""
        attribute = self.entry.attributes.get(key)
        if attribute is None:
            return self.entry.head
        return attribute.values[0].span.to(attribute.values[-1].span)

    def said(self, key: str) -> bool:
        return key in self.entry.attributes or key in self.meant

    def text(self, key: str) -> str | None:
        value = self.found.get(key)
        return value if isinstance(value, str) else None

    def flag(self, key: str) -> bool | None:
        value = self.found.get(key)
        return value if isinstance(value, bool) else None

    def constant(self, key: str) -> Constant | None:
        value = self.found.get(key)
        return value if isinstance(value, Constant) else None

    def number(self, key: str) -> float | None:
        constant = self.constant(key)
        return constant.value if constant else None

    def string(self, key: str) -> ast.String | None:
        value = self.found.get(key)
        return value if isinstance(value, ast.String) else None

    def series(self, key: str) -> tuple[ast.Expr, ...]:
        value = self.found.get(key)
        return value if isinstance(value, tuple) else ()


def origin(span: Span) -> plan.Origin:
    line, column = span.source.position(span.start)
    return plan.Origin(file=span.source.name, line=line, column=column)


T = TypeVar("T")

_FLAGS = {"true": True, "false": False}


_ONE_LINE = "it on one line, without tabs or other control characters"
_MOST_FACTORS = 64  # the most factors of a unit: `s*s*s` has three


_WITH_COMMAS = re.compile(r"[0-9]{1,3}(,[0-9]{3})+(?![0-9]).*")


class Reader:
    """Reads blocks by their schemas, and adds mistakes to the findings."""

    def __init__(self, params: Mapping[str, ast.Expr], findings: Findings) -> None:
        self._params = params
        self.findings = findings
        self._constants: dict[str, Constant | None] = {}
        self._levels: Mapping[str, Bound] = {}
        """The values that replace the names of factors."""
        for name, expr in params.items():
            # In this order, each needs only those before it.
            if isinstance(expr, ast.Quantity | ast.Unary | ast.Binary) and not _is_range(expr):
                self._constants[name] = self.constant(expr)

    def at(self, bound: Mapping[str, Bound]) -> Reader:
        """Return a reader that replaces these names (`codec`, or `tuning.cache` for a bundle) by the values of
        levels."""
        reader = copy(self)
        reader._levels = {**self._levels, **bound}
        reader._params = {**self._params, **{name: each.expr for name, each in bound.items()}}
        reader._constants = {
            **self._constants,
            **{name: each.constant for name, each in bound.items() if each.constant},
        }
        return reader

    def report(self, problem: CompileProblem) -> None:
        self.findings.add(problem)

    def refuse(self, problem: CompileProblem) -> T | None:
        """Report a mistake, and return None in place of the unusable value."""
        self.findings.add(problem)
        return None

    def block(self, entry: Entry, schema: BlockSchema, *, complete: bool = True) -> Values:
        """Return the values of a block. With `complete`, report missing attributes. Overrides are read without it,
        since they may lack some."""
        found: dict[str, Value] = {}
        meant: set[str | None] = set()
        for name, attribute in entry.attributes.items():
            key = schema.keys.get(name)
            if key is None and schema.open_keys is not None and not _misspelt(attribute, entry, schema):
                key = Key(schema.open_keys, "")
            if key is None:
                at, known = attribute.key.span, tuple(schema.keys)
                problem = structure_errors.UnknownAttribute(at, entry.kind, name, known, schema)
                self.report(problem)
                meant.add(problem.replacement)
                self._recover(attribute, problem.replacement, entry, schema, found)
                continue
            value = self._of_block(entry, attribute, key.shape)
            if value is not None:
                found[name] = value
        for rivals in schema.exclusive:
            said = [entry.attributes[key] for key in rivals if key in entry.attributes]
            if len(said) > 1:
                one, other = said[0].key, said[1].key
                self.report(structure_errors.ExclusiveAttributes(other.span, one.span, other.text, one.text))
        for block in entry.blocks:
            if block.kind not in schema.blocks:
                self.report(structure_errors.MisplacedBlock(block.keyword, entry.kind, block.kind, schema.blocks))
        if complete:
            for name, key in schema.keys.items():
                if key.required and name not in entry.attributes and name not in meant:
                    of, wanted = (entry.head, entry.kind, entry.name), key.shape.described
                    self.report(structure_errors.MissingAttribute(*of, name, wanted))
        return Values(entry, found, frozenset(meant))

    def _of_block(self, entry: Entry, attribute: ast.Attribute, shape: Shape) -> Value | None:
        """Return the value of an attribute. If a factor is allowed there, a list is reported, since the author probably
        meant it as the levels of a factor."""
        written = attribute.values[0]
        if isinstance(written, ast.List) and entry.kind in _VARIED and not isinstance(shape, Special):
            found = (attribute.key.text, shape.described, described(written))
            return self.refuse(structure_errors.WrongType(written.span, *found, varies=True))
        return self.attribute(attribute, shape)

    def _recover(
        self, attribute: ast.Attribute, meant: str | None, entry: Entry, schema: BlockSchema, found: dict[str, Value]
    ) -> None:
        """Read a misspelt attribute as the attribute that it most likely means, since a missing value would cause false
        reports elsewhere."""
        earlier = entry.attributes.get(meant or "")
        inherited = earlier is not None and (
            earlier.span.source is not entry.head.source or earlier.span.start < entry.head.start
        )
        if meant is not None and (earlier is None or inherited):
            reported, self.findings = self.findings, Findings()  # the name is only a guess, so the value is not judged
            value = self.attribute(attribute, schema.keys[meant].shape)
            self.findings = reported
            if value is not None:
                found[meant] = value

    def attribute(self, attribute: ast.Attribute, shape: Shape) -> Value | None:
        key = attribute.key.text
        if attribute.label is not None:
            self.report(structure_errors.StrayLabel(attribute.label.span, key))
        if len(attribute.values) > 1 and not (isinstance(shape, Special) and shape.series):
            span, usage = attribute.values[1].span, "only one value"
            written = attribute.values[0].span.to(attribute.values[-1].span)
            mended, why = None, "takes one value"
            if _WITH_COMMAS.fullmatch(written.text):
                mended = written.text.replace(",", "")
                span, usage = written, f"`{mended}`: digits have no commas"
            elif "[" in shape.wanted and not written.text.startswith("["):
                mended, why = f"[{written.text}]", "takes one value, or a list"
                span, usage = written, f"`{' '.join(mended.split())}`"
            self.report(structure_errors.BadArgument(span, key, why, usage, mended))
            if isinstance(shape, Special) and mended:
                return (ast.List(written, attribute.values),)  # the measures are known in any case
            return None
        if isinstance(shape, Special):
            return attribute.values
        return self.value(key, attribute.values[0], shape)

    def value(self, key: str, expr: ast.Expr, shape: Shape) -> Value | None:
        """Return the value of an expression, or None after a mistake."""
        match shape:
            case Word(choices=choices):
                if isinstance(expr, ast.Name) and expr.text in choices:
                    return expr.text
                return self._word(key, self.deref(expr), shape)
            case Text():
                return self._text(key, self.deref(expr), shape)
            case Flag():
                expr = self.deref(expr)
                if isinstance(expr, ast.Name) and expr.text in _FLAGS:
                    return _FLAGS[expr.text]
                return self._wrong(expr, key, shape.wanted, _FLAGS)
            case Number():
                return self.quantity(key, expr, shape)
            case Fact():
                return self._fact(key, expr, shape)
            case Login():
                return self._login(key, self.deref(expr), shape)
            case Special():
                return (expr,)

    def deref(self, expr: ast.Expr) -> ast.Expr:
        """Return the expression that a parameter or a factor's level stands for. Return any other expression
        unchanged."""
        while True:
            match expr:
                case ast.Name(text=name):
                    pass
                case ast.Attr() if self._levels:
                    name = _named(expr)
                case _:
                    return expr
            if name not in self._params:
                return expr
            expr = self._params[name]

    def printed(self, expr: ast.Expr) -> str | None:
        """Return the text that a parameter's or a factor's name stands for, or None for other expressions."""
        found = self.deref(expr)
        return found.plain if found is not expr and isinstance(found, ast.String) else self.level(expr)

    def level_of(self, expr: ast.Expr) -> ast.String | None:
        """Return the text of a factor's level as written in the spec, or None if the expression is not a factor."""
        found = self._levels.get(_named(expr))
        return found.expr if found and isinstance(found.expr, ast.String) else None

    def level(self, expr: ast.Expr) -> str | None:
        """Return a factor's level as a text, with a number in base units, or None if the expression is not a factor."""
        found = self._levels.get(_named(expr))
        if found is None:
            return None
        if found.constant:
            return plan.key_text(found.constant.value)
        return found.expr.plain if isinstance(found.expr, ast.String) else found.expr.span.text

    @property
    def factors(self) -> tuple[str, ...]:
        """The names of the factors, with the settings of bundles: `codec`, `tuning.cache`."""
        return tuple(self._levels)

    def _wrong(self, expr: ast.Expr, key: str, wanted: str, words: Iterable[str] = ()) -> T | None:
        return self.refuse(wrong_value(expr, key, wanted, words))

    def _word(self, key: str, expr: ast.Expr, shape: Word) -> str | None:
        quoted = expr.plain if shape.quoted and isinstance(expr, ast.String) else None
        text = expr.text if isinstance(expr, ast.Name) else quoted
        if text is None:
            return self._wrong(expr, key, shape.wanted, shape.choices)
        if text not in shape.choices:
            return self.refuse(structure_errors.UnknownWord(expr.span, key, text, shape.choices))
        return text

    def _text(self, key: str, expr: ast.Expr, shape: Text) -> str | ast.String | None:
        if not isinstance(expr, ast.String):
            return self.refuse(wrong_value(expr, key, shape.wanted, texts=True))
        plain = expr.plain
        if plain is None and not shape.holes:
            hole = next(part for part in expr.parts if isinstance(part, ast.Hole))
            return self.refuse(structure_errors.HoleNotAllowed(hole.span, key))
        if plain is not None and not plain.strip():
            return self.refuse(value_errors.BadText(expr.span, key, "empty", shape.wanted))
        if plain is not None and any(ord(char) < 32 for char in plain) and key != "description":
            return self.refuse(value_errors.BadText(expr.span, key, "not plain text on one line", _ONE_LINE))
        if shape.absolute and plain is not None and not check_path(expr.span, key, plain, self.findings):
            return None
        return expr if shape.holes else plain

    def _login(self, key: str, expr: ast.Expr, shape: Login) -> str | plan.Reference | None:
        found = reference(expr)
        if found is not None and found.kind == ("secret" if shape.secret else "env"):
            return found
        if isinstance(expr, ast.String) and not shape.secret:
            text = self._text(key, expr, Text())
            return text if isinstance(text, str) else None
        if found is not None and shape.secret:
            why = "what `env` names is shown in plans and messages"
            return self.refuse(value_errors.SecretInTheOpen(expr.span, key, why, found.name))
        if isinstance(expr, ast.String) and shape.secret:
            why = "a spec goes into version control"
            return self.refuse(value_errors.SecretInTheOpen(expr.span, key, why, shape.example))
        return self._wrong(expr, key, shape.wanted, ["secret" if shape.secret else "env"])

    def _fact(self, key: str, written: ast.Expr, shape: Fact) -> Value | None:
        expr = self.deref(written)
        if isinstance(expr, ast.String):
            return self._text(key, expr, Text())
        if isinstance(expr, ast.Name) and expr.text in _FLAGS:
            return _FLAGS[expr.text]
        if shape.removable and isinstance(expr, ast.Name) and expr.text == "none":
            return None
        if isinstance(expr, ast.Quantity | ast.Binary | ast.Unary):
            return self._computed(written)
        return self.refuse(wrong_value(expr, key, shape.wanted, _FLAGS, texts=True))

    def quantity(self, key: str, expr: ast.Expr, shape: Number) -> Constant | None:
        """Return a number of the wanted dimension within its bounds."""
        resolved = self.deref(expr)
        if not isinstance(resolved, ast.Quantity | ast.Unary | ast.Binary):
            if isinstance(resolved, ast.Name) and did_you_mean(resolved.text, self._params):
                self.report(name_errors.NotAName(resolved.span, resolved.text, tuple(self._params)))
            else:
                self.report(wrong_value(resolved, key, shape.described, self._params, numbers=True))
            return None
        constant = self._computed(expr)
        if constant is None:
            return None
        if constant.dimension != shape.dimension:
            if constant.bare and constant.dimension == DIMENSIONLESS and shape.plain:
                constant = Constant(constant.value, shape.dimension, constant.text, constant.span, bare=True)
            elif constant.bare:
                return self.refuse(
                    value_errors.MissingUnit(constant.span, key, shape.wanted, shape.example, constant.text)
                )
            else:
                found = dimension_name(constant.dimension)
                return self.refuse(
                    value_errors.WrongDimension(constant.span, key, shape.wanted, shape.example, constant.text, found)
                )
        return constant if self._within(key, constant, shape) else None

    def _within(self, key: str, constant: Constant, shape: Number) -> bool:
        bound = shape.broken_bound(constant.value)
        if bound:
            self.report(
                value_errors.OutOfRange(
                    constant.span, key, constant.text, bound, shape.example, _as_percent(constant, shape)
                )
            )
        elif shape.integer and constant.value != math.floor(constant.value):
            self.report(value_errors.NotInteger(constant.span, key, constant.text))
            return False
        return not bound

    def _computed(self, expr: ast.Expr) -> Constant | None:
        """Return the value of a constant expression, or of the parameter that an expression names."""
        while (name := _named(expr)) in self._params:
            if name in self._constants:
                return self._constants[name]
            expr = self._params[name]
        return self.constant(expr)

    def constant(self, expr: ast.Expr) -> Constant | None:
        """Compute a number in base units from literals and parameters. Return None after a mistake."""
        match expr:
            case ast.Quantity():
                return self._literal(expr)
            case ast.Name() | ast.Attr() if (name := _named(expr)) in self._constants:
                inner = self._constants[name]
                return inner and Constant(inner.value, inner.dimension, inner.text, expr.span, inner.bare)
            case ast.Name() | ast.Attr() if _named(expr) in self._params:
                return self.constant(self.deref(expr))
            case ast.Name():
                return self.refuse(name_errors.NotAName(expr.span, expr.text, tuple(self._params)))
            case ast.Unary(operator="-"):
                inner = self.constant(expr.operand)
                return inner and Constant(-inner.value, inner.dimension, f"-{inner.text}", expr.span, inner.bare)
            case ast.Binary(operator="+" | "-" | "*" | "/"):
                return self._binary(expr)
            case _:
                return self.refuse(value_errors.NotConstant(expr.span, described(expr), product(expr)))

    def _literal(self, expr: ast.Quantity) -> Constant | None:
        try:
            unit = parse_unit(expr.unit)
        except UnknownUnitError as error:
            span = expr.unit_span or expr.span
            part = Span(span.source, span.start + error.start, span.start + error.start + len(error.part))
            return self.refuse(value_errors.UnknownUnit(part, error.part, error.hint))
        value = unit.to_base(expr.value)
        if not math.isfinite(value):
            return self.refuse(value_errors.NotFinite(expr.span))
        return Constant(value, unit.dimension, " ".join(expr.span.text.split()), expr.span, not expr.unit)

    def _binary(self, expr: ast.Binary) -> Constant | None:
        left, right = self.constant(expr.left), self.constant(expr.right)
        if left is None or right is None:
            return None
        match expr.operator:
            case "+" | "-":
                if left.dimension != right.dimension:
                    return self.refuse(
                        value_errors.MixedDimensions(
                            expr.operator_span,
                            expr.operator,
                            left.text,
                            dimension_name(left.dimension),
                            right.text,
                            dimension_name(right.dimension),
                        )
                    )
                value = left.value + right.value if expr.operator == "+" else left.value - right.value
                dimension = left.dimension
            case "/":
                if right.value == 0:
                    return self.refuse(value_errors.DivisionByZero(expr.right.span))
                value, dimension = left.value / right.value, divide(left.dimension, right.dimension)
            case _:
                value, dimension = left.value * right.value, multiply(left.dimension, right.dimension)
        if not math.isfinite(value):
            return self.refuse(value_errors.NotFinite(expr.span))
        if any(abs(power) > _MOST_FACTORS for _, power in dimension):
            return self.refuse(value_errors.NotFinite(expr.span, "product of units"))
        unit = base_unit(dimension)
        text = f"{value:,.6g} {unit}".strip()
        return Constant(value, dimension, text, expr.span, left.bare and right.bare)


def _named(expr: ast.Expr) -> str:
    """Return the name of the parameter, factor or bundle's attribute that the expression may be, or "" for other
    expressions."""
    match expr:
        case ast.Name(text=text):
            return text
        case ast.Attr(base=ast.Name(text=text), field=field):
            return f"{text}.{field.text}"
    return ""


def _misspelt(attribute: ast.Attribute, entry: Entry, schema: BlockSchema) -> bool:
    """Return whether a fact is really a misspelt key. It is if the key is required and missing, or if no fact can have
    such a value."""
    unsaid = [key for key in schema.keys if key not in entry.attributes]
    if attribute.key.text in structure_errors.NO_FACTS and isinstance(attribute.values[0], ast.Name | ast.Call):
        return True
    no_fact = isinstance(attribute.values[0], ast.Call | ast.List)
    if not no_fact and not any(schema.keys[key].required for key in unsaid):
        return False
    guess = did_you_mean(attribute.key.text, unsaid)
    return guess is not None and (no_fact or schema.keys[guess].required)


def reference(expr: ast.Expr) -> plan.Reference | None:
    """Return the reference of `env("NAME")` or `secret("NAME")`, with or without quotes, or None for other
    expressions."""
    match expr:
        case ast.Call(
            function=ast.Name(text=("env" | "secret") as kind),
            arguments=[ast.Argument(key=None, value=ast.Name() | ast.String() as value)],
        ) if name := (value.text if isinstance(value, ast.Name) else value.plain):
            return plan.Reference(kind="env" if kind == "env" else "secret", name=name)
    return None


def _as_percent(constant: Constant, shape: Number) -> str | None:
    """If a share is too large, it was probably meant in per cent: return `5 %` for 5. Return None if the percentage
    would be wrong too."""
    if not constant.bare or not shape.example.endswith("%") or shape.broken_bound(constant.value / 100):
        return None
    return f"{constant.text} %"


def _is_range(expr: ast.Expr) -> bool:
    """Return whether the expression is a range such as `1..16` or a product such as `6 x 10 min`."""
    return isinstance(expr, ast.Binary) and expr.operator in ("..", "x")


def listed(exprs: Iterable[ast.Expr]) -> tuple[ast.Expr, ...]:
    """Return the items of a list. Any other expression counts as a list of one item."""
    items: list[ast.Expr] = []
    for expr in exprs:
        items.extend(expr.items if isinstance(expr, ast.List) else (expr,))
    return tuple(items)


def named_arguments(call: ast.Call, known: Collection[str], reader: Reader) -> dict[str, ast.Argument] | None:
    """Return the named arguments of a call by name. Report an argument that is unknown or given twice, and return
    None."""
    named: dict[str, ast.Argument] = {}
    for argument in call.arguments:
        if argument.key is None:
            continue
        key, name = argument.key, argument.key.text
        if name not in known:
            return reader.refuse(structure_errors.UnknownArgument(key.span, call.function.text, name, tuple(known)))
        if name in named:
            return reader.refuse(structure_errors.DuplicateAttribute(key.span, named[name].span, name))
        named[name] = argument
    return named
