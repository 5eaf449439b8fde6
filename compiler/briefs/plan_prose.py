"""Reads the bodies of a report's blocks, and texts with holes: names become labels, and expressions become computed
numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchbrief.compiler.blocks.values import described, wrong_value
from benchbrief.compiler.briefs import report_errors as wrong
from benchbrief.compiler.briefs.element_queries import (
    FixedKeys,
    examples,
    key_label,
    query,
    quote_of,
    typed_at,
    without_single_keys,
)
from benchbrief.compiler.briefs.report_errors import UnitBehind
from benchbrief.compiler.frontend.declarations import dotted
from benchbrief.compiler.frontend.name_errors import UnknownName
from benchbrief.compiler.frontend.structure_errors import (
    DuplicateAttribute,
    MisplacedBlock,
    StrayLabel,
    UnknownAttribute,
    UnknownWord,
    WrongType,
)
from benchbrief.compiler.measure_catalogue import KINDS, NAMED
from benchbrief.compiler.metrics.expressions import Typer, described_names
from benchbrief.compiler.metrics.indexing import scope_key, word_of
from benchbrief.compiler.metrics.metric_errors import unit_words
from benchbrief.compiler.metrics.terms import Typed
from benchbrief.compiler.problems import CompileProblem
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.dsl.late_pattern import compile_late
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model import plan
from benchbrief.model.plan import Dimension, DimKey, escaped, key_text
from benchbrief.model.units import DIMENSIONLESS, Unit, UnknownUnitError, base_unit, larger_units, parse_unit

_JAPANESE = {
    "ナノ秒": "ns",
    "マイクロ秒": "us",
    "ミリ秒": "ms",
    "秒": "s",
    "時間": "h",
    "キロワット時": "kWh",
    "ワット時": "Wh",
    "キロワット": "kW",
    "ワット": "W",
    "パーセント": "%",
    "％": "%",
}
"""Japanese names of units, without 分, since 3 分の 1 is a third."""
_UNSURE = ("時間", "パーセント", "％")
"""Japanese names of units that may also follow other kinds of numbers."""
_BETWEEN = r"(?P<blanks>[\s\u00a0]*)(?P<marks>[*_`]*)(?P<more>[\s\u00a0]*)"
_BEHIND = compile_late(rf"{_BETWEEN}(?P<unit>%|per cent\b|{'|'.join(_JAPANESE)}|[A-Za-zµμ]+(?:[/*][A-Za-zµμ]+)*)")
_TIMES = compile_late(rf"{_BETWEEN}(?P<unit>times\b|[xX×](?![A-Za-z]|\s*\d)|-?fold\b|倍)")
_POINTS = compile_late(rf"{_BETWEEN}(?P<unit>percentage points?\b|ポイント)")
_PLAIN_WORDS = compile_late(
    r"(?:nano|micro|milli)seconds?|seconds|minutes|hours|(?:kilo)?watts|joules|(?:kilo|mega|giga|tera)?bytes|percent"
)
"""Names of units that have no other meaning."""
_PER = compile_late(r"[\s\u00a0]+(?:per|an?|in[\s\u00a0]+an?|each|every)[\s\u00a0]+(?P<below>[A-Za-z]+)\b")
_ONE = r"(?:(?<!half )\ban?|\bone|\beach|\bevery|\bper|\bthe|(?<![\d.,])1)\s+"
_SPELLED = {
    "k": rf"{_ONE}thousand\b|\b1\s?k\b|\b1,?000\b(?!,)|千",
    "M": rf"{_ONE}million\b|\b1\s?M\b|\b1,?000,?000\b(?!,)|100\s?万|百万",
    "G": rf"{_ONE}billion\b|\b1\s?G\b|10\s?億",
    "h": rf"\bhourly\b|{_ONE}hour\b|[1１一毎]\s?時間|時間(?:あたり|当たり|ごと|毎)",
    "s": rf"{_ONE}second\b|[1１一毎]\s?秒|秒(?:あたり|当たり|ごと|毎)",
    "W": rf"{_ONE}watt\b|[1１一]\s?ワット|ワット(?:あたり|当たり|ごと|毎)",
}
"""The spellings of a unit's divisor in sentences (such as `Mop` in `USD/Mop`), by the divisor's first letter."""
_SENTENCE = compile_late(r"[.!?](?=\s)|[。！？]|\n\s*\n")
_GOES_ON = compile_late(r"[A-Za-z0-9µ]")
_SCALES = compile_late(r"[*_`]*[kKMGT](?![A-Za-z0-9µ])|[\s\u00a0*_`]*(?:thousand|million|billion|trillion)s?\b")
_SCALED = ("s", "B", "B/s")
"""Units that briefs scale by the size of the number (see `reports/text/number_format.py`)."""


_NEAR = 20
"""The most characters between a hole and the unit that belongs to it."""


@dataclass(frozen=True)
class WrittenUnit:
    """A unit behind a hole, and the text that remains after it."""

    unit: Unit
    rest: str


def unit_behind(before: str, follows: str, typed: Typed, format_: str, span: Span) -> WrittenUnit | UnitBehind | None:
    """Return the unit behind a hole if it fits the number, the mistake if it does not fit, or None if there is no unit.
    The text `before` the hole may spell the unit's divisor.

    A `%` is a mistake behind a plain share, and behind a number whose format prints a `%` already.
    """
    found = _unit_behind(before, follows, typed, format_, span)
    return replace(found, span=_written(span, found.text)) if isinstance(found, UnitBehind) else found


def _written(hole: Span, unit: str) -> Span:
    """Return the span of the unit that is written behind the hole, or of the hole itself if there is none."""
    start = hole.source.text.find(unit, hole.end, hole.end + len(unit) + _NEAR)
    return hole if start < 0 else Span(hole.source, start, start + len(unit))


def _unit_behind(before: str, follows: str, typed: Typed, format_: str, span: Span) -> WrittenUnit | UnitBehind | None:
    dimension = typed.unit.dimension
    if dimension == DIMENSIONLESS and (mistake := _other_than_a_share(follows, typed, format_, span)):
        return mistake
    if dimension != DIMENSIONLESS and (scale := _SCALES.match(follows)):
        instead = f"write a unit that is as large, such as `k{typed.unit.text}`: the number is converted to it"
        return UnitBehind(span, scale.group().strip(" \u00a0\n*_`"), "a number is scaled by its unit", instead)
    found = _BEHIND.match(follows)
    if not found or _GOES_ON.match(follows, found.end()):
        return None
    text = found["unit"]
    if per := _PER.match(follows, found.end()):  # `kops per second`, `ops a minute`
        rate, _ = _meant(f"{text}/{per['below']}")
        if rate is not None and rate.dimension == dimension:
            return WrittenUnit(rate, found["marks"] + follows[per.end() :])
    unit, surely = _meant(text)
    if unit is None:
        return None
    if dimension == DIMENSIONLESS:
        if unit.text != "%" or (typed.unit.text == "%" and not format_.endswith("%")):
            return None
        why = "the format prints it" if format_.endswith("%") else "the number is a share of 1"
        instead = (
            "write only one of the two"
            if format_.endswith("%")
            else "write `:.0%` for the format, and nothing after it"
        )
        return UnitBehind(span, text, why, instead)
    if unit.dimension != dimension and typed.unit.text.startswith(f"{unit.text}/"):
        below = typed.unit.text.removeprefix(f"{unit.text}/")
        around = f"{_SENTENCE.split(before)[-1]} {_SENTENCE.split(follows[found.end() :])[0]}"
        spelled = rf"{_SPELLED.get(below[:1], '(?!)')}|{_ONE}{re.escape(below)}\b"
        if re.search(spelled, around, re.IGNORECASE):
            return None  # `a million operations cost … USD`, whose words spell the whole unit
    if unit.dimension != dimension:
        own = f"`{base_unit(dimension)}`" + (
            "" if typed.unit.text == base_unit(dimension) else f" or `{typed.unit.text}`"
        )
        why = f"the number is {unit_words(typed.unit)}"
        return (
            UnitBehind(span, text, why, f"write {own}, or end the format in `u`, which prints the unit")
            if surely
            else None
        )
    return WrittenUnit(unit, found["marks"] + follows[found.end() :])


def _other_than_a_share(follows: str, typed: Typed, format_: str, span: Span) -> UnitBehind | None:
    """Return the mistake if `times` follows a percentage. Also return a mistake if percentage points follow a number
    that is not in per cent, or that is printed with a `%`."""
    in_per_cent = typed.unit.text == "%" or format_.endswith("%")
    if in_per_cent and (times := _TIMES.match(follows)):
        instead = "write `%` after it; for `times`, divide the two in a metric that has no `in %` and no `- 1`"
        return UnitBehind(span, times["unit"], "the number is in per cent", instead, surely=True)
    if (points := _POINTS.match(follows)) and format_.endswith("%"):
        instead = (
            f"write `:{format_[:-1]}f` for the format"
            if typed.unit.text == "%"
            else "leave the `%` of the format out, and declare the metric `in %`"
        )
        return UnitBehind(span, points["unit"], "the format prints a `%`", instead, surely=True)
    if points and not in_per_cent:
        return UnitBehind(span, points["unit"], "the number is a share of 1", "declare its metric `in %`", surely=True)
    return None


def unit_said(follows: str) -> str:
    """Return the unit named in the text after a number, for a number without a unit of its own. Return "" if the text
    names no unit or may mean something else."""
    found = _BEHIND.match(follows)
    if not found or _GOES_ON.match(follows, found.end()):
        return ""
    unit, surely = _meant(found["unit"])
    if not unit or not surely or unit.dimension == DIMENSIONLESS:
        return ""
    # A ratio may have its unit on both sides: `8 hours of the one take an hour of the other`.
    stem = re.escape(found["unit"].removesuffix("s"))
    again = rf"\b(?:an?|one|each|every|single|1)\s+{stem}\b|\b(?:takes?|in|into)\s+(?:only\s+)?one\b"
    return "" if re.search(again, follows[found.end() :], re.IGNORECASE) else found["unit"]


def is_scaled(typed: Typed) -> bool:
    """Return whether a number must be printed with its unit. This is so if the unit may be scaled and no metric
    declares it."""
    return typed.display is None and (typed.unit.text in _SCALED or bool(larger_units(typed.unit.text)))


def _meant(text: str) -> tuple[Unit | None, bool]:
    """Return the unit that a text means, even if the text is a unit's name (`seconds`) or misspelt (`KB`). Also return
    whether the text can mean nothing else."""
    if text in _JAPANESE:
        return parse_unit(_JAPANESE[text]), text not in _UNSURE
    text = "percent" if text == "per cent" else text
    surely, meant = _PLAIN_WORDS.fullmatch(text) is not None, text
    for _ in text.split("/"):
        try:
            return parse_unit(meant), surely or meant == text
        except UnknownUnitError as error:
            if error.hint is None:
                return None, False
            meant = meant[: error.start] + error.hint + meant[error.start + len(error.part) :]
    try:
        return parse_unit(meant), surely
    except UnknownUnitError:
        return None, False


_Part = str | plan.Value | plan.Said

_FORMAT = compile_late(r"(?!.*[,_].*n)[+\- ]?0?\d{0,2}[,_]?(\.\d{1,2})?[eEfFgGn%]?")
_EXAMPLES = "formats are such as `.1f`, `+.0%`, `,.0f`, `.3g`, and with the unit `.1fu`"
_FRACTION = Unit(DIMENSIONLESS, 1.0, "")


def prose(typer: Typer, string: ast.String, place: FixedKeys, *, markdown: bool = True) -> plan.Prose | None:
    """Return a text with computed numbers, as Markdown or as plain text, or None after a mistake."""
    parts: list[_Part] = []
    failed = False
    pieces = list(string.parts)
    for at, part in enumerate(pieces):
        if isinstance(part, str):
            parts.append(part)
            continue
        follows = pieces[at + 1] if at + 1 < len(pieces) else ""
        around = plain_parts(pieces[:at]), follows if isinstance(follows, str) else ""
        filled = _filled(typer, part, place, around, markdown=markdown)
        failed = failed or filled is None
        if isinstance(filled, _WithUnit):
            parts.append(filled.value)
            pieces[at + 1] = filled.rest
        else:
            parts += filled or []
    return None if failed else plan.Prose.of(parts)


ELLIPSIS = "…"


def plain_parts(parts: Sequence[str | ast.Hole]) -> str:
    """Return a text with an ellipsis in place of each hole."""
    return "".join(part if isinstance(part, str) else ELLIPSIS for part in parts)


def heading(typer: Typer, string: ast.String | None, place: FixedKeys) -> tuple[str, plan.Prose | None]:
    """Return a text of the brief's head in two forms: as plain text with an ellipsis for each computed number, and with
    its numbers, or None if it has none.

    If there is no text or a mistake in it, the first form is empty.
    """
    found = prose(typer, string, place, markdown=False) if string else None
    parts = found.parts if found else ()
    text = "".join(part if isinstance(part, str) else _sentence_of(typer, part) for part in parts)
    return text, found if any(not isinstance(part, str) for part in parts) else None


def _sentence_of(typer: Typer, part: plan.Value | plan.Said) -> str:
    """Return a claim's sentence with its names, and with an ellipsis for its number. For a plain number, return just an
    ellipsis."""
    label = typer.scope.claims_by_name[part.claim].label if isinstance(part, plan.Said) else None
    if label is None:
        return ELLIPSIS
    said = []
    for each in label.parts:
        subject = None if isinstance(each, str) else subject_of(typer, each.expr)
        if isinstance(each, str):
            said.append(each)
        else:
            said.append((subject and _words(typer, each, subject, FixedKeys())) or ELLIPSIS)
    return "".join(said)


def element_title(typer: Typer, block: ast.Block, place: FixedKeys) -> tuple[str, plan.Prose | None] | None:
    """Return the title of an element as `heading` does, with names and claims in its holes, or None after a mistake."""
    string = block.label
    if string is None:
        return "", None
    holes = [part for part in string.parts if isinstance(part, ast.Hole)]
    said = [hole for hole in holes if claim_named(typer, hole.expr)]
    if not said:
        plain = title(typer, string, place, "title")
        return None if plain is None else (plain, None)
    names = replace(string, parts=tuple(part for part in string.parts if part not in said))
    if title(typer, names, place, "title") is None:
        return None
    text, found = heading(typer, string, place)
    return (text, found) if found else None


def title(typer: Typer, string: ast.String, place: FixedKeys, what: str) -> str | None:
    """Return a title as plain text. Its holes may contain only names."""
    parts: list[str] = []
    failed = False
    for part in string.parts:
        if isinstance(part, str):
            words: str | None = part
        elif subject := subject_of(typer, part.expr):
            words = _words(typer, part, subject, place)
        else:
            typer.report(misspelt(typer, part.expr) or wrong.NumberInTitle(part.span, what))
            words = None
        failed = failed or words is None
        parts.append(words or "")
    return None if failed else "".join(parts)


def misspelt(typer: Typer, expr: ast.Expr, more: Sequence[str] = ()) -> CompileProblem | None:
    """Return the mistake in a hole whose name is misspelt, as in `{worlkoad.label}`, or None for other holes. The hole
    may also mean one of the `more` names."""
    name = expr.base if isinstance(expr, ast.Attr) else expr
    if not isinstance(name, ast.Name) or name.text in typer.metrics or name.text in KINDS:
        return None
    names = (*described_names(typer), *typer.scope.claims_by_name, *more)
    return UnknownName(name.span, "name", name.text, names) if did_you_mean(name.text, names) else None


def number_terms(typer: Typer, string: ast.String, place: FixedKeys) -> list[Typed]:
    """Return the terms of the numbers in a text, leaving out numbers with a mistake."""
    exprs = (part.expr for part in string.parts if isinstance(part, ast.Hole))
    inner = (ends[0].arguments[0].value if (ends := ends_of_range(e)) and ends[0].arguments else e for e in exprs)
    numbers = (expr for expr in inner if not subject_of(typer, expr) and not claim_named(typer, expr))
    typed = (typed_at(typer, expr, place) for expr in numbers)
    return [term for term in typed if term is not None]


@dataclass(frozen=True)
class _WithUnit:
    """A number that is printed with its unit, and the rest of the text after it, without that unit."""

    value: plan.Value
    rest: str


def _filled(
    typer: Typer, hole: ast.Hole, place: FixedKeys, around: tuple[str, str], *, markdown: bool
) -> list[_Part] | _WithUnit | None:
    if said := claim_named(typer, hole.expr):
        if hole.format:
            why = "a claim is a sentence with a format of its own"
            return typer.refuse(wrong.BadFormat(hole.span, hole.format, why, f"write `{{{said.claim}}}`"))
        return [said]
    subject = subject_of(typer, hole.expr)
    if subject is None:
        return _number(typer, hole, place, around)
    words = _words(typer, hole, subject, place)
    if words is None:
        return None
    is_prose = isinstance(hole.expr, ast.Attr) and hole.expr.field.text == "description"
    return [words if is_prose or not markdown else escaped(words)]


def claim_named(typer: Typer, expr: ast.Expr) -> plan.Said | None:
    """Return the claim that an expression names, if any."""
    if not isinstance(expr, ast.Name) or expr.text not in typer.scope.claims_by_name:
        return None
    return plan.Said(claim=expr.text)


# --- holes that are names ---


_Subject = tuple[Dimension, str | None, str]


def subject_of(typer: Typer, expr: ast.Expr) -> _Subject | None:
    """Return the dimension, key and field that an expression names, or None if it names none. If the key is None, it
    means the key that is fixed by the surrounding `each` block."""
    word = (word_of(expr) if isinstance(expr, ast.Call) else None) or dotted(expr)
    if isinstance(expr, ast.Call) and scope_key(typer.scope, "workload", word) is None:  # other than `load(a)`
        return None
    if not isinstance(expr, ast.Name | ast.Attr | ast.Call) or word in typer.metrics or word in KINDS:
        return None
    stem, _, field = word.rpartition(".")
    nameable = [dim for dim in (*NAMED, *typer.scope.factors_by_name) if dim != "operation"]
    for text, asked in ((word, "label"), (stem, field)):
        for dim in nameable:
            if text == dim:
                return dim, None, asked
            key = scope_key(typer.scope, dim, text)
            if key is not None:
                return dim, key, asked
    return None


def _words(typer: Typer, hole: ast.Hole, subject: _Subject, place: FixedKeys) -> str | None:
    dim, named, field = subject
    key = named or place.key(dim)
    if key is None:
        return typer.refuse(wrong.NotFixedHere(hole.expr.span, dim))
    if hole.format:
        return typer.refuse(wrong.BadFormat(hole.span, hole.format, "this is a text", "remove the format"))
    fields = _fields(typer, dim, key)
    if field not in fields:
        span = hole.expr.field.span if isinstance(hole.expr, ast.Attr) else hole.expr.span
        what = f"{dim} `{key}`" if named else f"a {dim}"
        return typer.refuse(wrong.UnknownReportField(span, what, field, tuple(fields)))
    return fields[field]


def _fields(typer: Typer, dim: Dimension, key: DimKey) -> dict[str, str]:
    label = key_label(typer, dim, key)
    fields = {"label": label, "title": label, "name": key_text(key)}
    for factor in typer.scope.factors:
        for level in factor.levels:
            if (factor.key, level.key) == (dim, key):
                return {**{name: fact_text(fact) for name, fact in level.facts.items()}, **fields}
    for workload in typer.scope.workloads:
        if dim == "workload" and workload.key == key:
            fields["description"] = workload.description
    for hardware in typer.scope.hardware:
        if dim == "hardware" and hardware.key == key:
            facts = {name: quantity.text for name, quantity in hardware.facts.items()}
            return {**facts, **hardware.texts, **fields}
    return fields


def fact_text(fact: plan.Quantity | str) -> str:
    """Return a fact as written in the spec."""
    return fact if isinstance(fact, str) else fact.text


# --- holes that are numbers ---


def ends_of_range(expr: ast.Expr) -> tuple[ast.Call, ...]:
    """Return the lowest and the highest value of a `range(...)`, or nothing for another expression."""
    if not isinstance(expr, ast.Call) or expr.function.text != "range":
        return ()
    return tuple(replace(expr, function=replace(expr.function, text=end)) for end in ("min", "max"))


def _number(typer: Typer, hole: ast.Hole, place: FixedKeys, around: tuple[str, str]) -> list[_Part] | _WithUnit | None:
    """Return the number of a hole, in the unit behind the hole. `around` has the texts before and behind the hole.

    If no unit follows, a number with a format is in the metric's own unit. That unit is printed if the format ends with
    `u`, and wherever a reader could not know it.
    """
    expr = hole.expr
    exprs: Sequence[ast.Expr] = ends_of_range(expr) or (expr,)
    ends = [_one_number(typer, end, place) for end in exprs]
    typed = [end for end in ends if end is not None]
    if len(typed) < len(ends):
        return None
    asked, format_ = hole.format.endswith("u"), hole.format.removesuffix("u")
    unit = printed_unit(typer, hole.span, format_, typed[0])
    if unit is None:
        return None
    spelled = unit_behind(*around, typed[0], format_, hole.span)
    if isinstance(spelled, wrong.UnitBehind):
        if (format_ and not asked) or spelled.surely:
            return typer.refuse(spelled)
        spelled = None  # the number prints its own unit, and another word follows: `a 64 GiB node`
    if spelled:
        unit = spelled.unit
    quotes = [quote_of(typer, end, place) for end in exprs]
    queries = [query(typer, end.term, unit, expr, quote) for end, quote in zip(typed, quotes, strict=True)]
    value = plan.Value(query=queries[0], format=format_, high=queries[1] if len(queries) > 1 else None)
    if spelled:
        return [value] if format_ else _WithUnit(value, spelled.rest)
    with_unit = format_ and (asked or is_scaled(typed[0]))
    return [value, f"\N{NO-BREAK SPACE}{unit.text}"] if with_unit and unit.text else [value]


def printed_unit(typer: Typer, span: Span, format_: str, typed: Typed) -> Unit | None:
    """Return the unit in which a Python format prints a number, or None if the format is wrong. A format with `%`
    prints per cent by itself, so it needs a plain share."""
    if not _FORMAT.fullmatch(format_):
        return typer.refuse(wrong.BadFormat(span, format_, "", _EXAMPLES))
    unit = typed.unit
    if not format_.endswith("%"):
        return unit
    if unit.dimension != DIMENSIONLESS:
        why = f"it is {unit_words(unit.dimension)}, not a share"
        return typer.refuse(wrong.BadFormat(span, format_, why, "remove the `%`, or divide by a whole"))
    return _FRACTION  # `%` multiplies by 100 itself


def _one_number(typer: Typer, expr: ast.Expr, place: FixedKeys) -> Typed | None:
    typed = typed_at(typer, expr, place)
    if typed is None:
        return None
    typed, left = without_single_keys(typed, ())
    if left:
        return typer.refuse(wrong.DimensionsLeft(expr.span, left, examples(typer, typed.term, left)))
    return typed


@dataclass(frozen=True)
class Body:
    """The attributes of a block by key, in their order."""

    typer: Typer
    found: Mapping[str, tuple[ast.Attribute, ...]]

    def said(self, *keys: str) -> bool:
        return any(key in self.found for key in keys)

    def all(self, key: str) -> tuple[ast.Attribute, ...]:
        return self.found.get(key, ())

    def values(self, key: str) -> tuple[ast.Expr, ...]:
        return self.found[key][0].values if key in self.found else ()

    def string(self, key: str) -> ast.String | None:
        """Return a quoted text, and report any other value."""
        values = self.values(key)
        if not values:
            return None
        if isinstance(values[0], ast.String) and len(values) == 1:
            return values[0]
        found = described(values[0]) if len(values) == 1 else "more than one value"
        return self.typer.refuse(WrongType(values[-1].span, key, "a quoted text", found))

    def number(self, key: str, choices: tuple[int, ...]) -> int | None:
        """Return one of the allowed numbers, and report any other value."""
        values = self.values(key)
        if not values:
            return None
        value = values[-1]
        if isinstance(value, ast.Quantity) and value.value in choices and not value.unit and len(values) == 1:
            return int(value.value)
        found = described(value) if len(values) == 1 else "more than one value"
        return self.typer.refuse(WrongType(value.span, key, " or ".join(f"`{each}`" for each in choices), found))

    def word(self, key: str, choices: tuple[str, ...]) -> str | None:
        """Return one of the allowed words, and report any other value."""
        values = self.values(key)
        if not values:
            return None
        value = values[0]
        if not isinstance(value, ast.Name) or len(values) > 1:
            wanted = f"one of `{'`, `'.join(choices)}`" if len(choices) > 1 else f"only `{choices[0]}`"
            if len(values) > 1:
                self.typer.report(WrongType(values[-1].span, key, wanted, "more than one value"))
            else:
                self.typer.report(wrong_value(value, key, wanted, choices))
        elif value.text not in choices:
            self.typer.report(UnknownWord(value.span, key, value.text, choices))
        else:
            return value.text
        return None


def read_body(
    typer: Typer,
    block: ast.Block,
    allowed: tuple[str, ...],
    repeated: tuple[str, ...] = (),
    blocks: tuple[str, ...] = (),
) -> Body:
    """Return the attributes of a block. Attributes in `repeated` may occur several times, with labels. Inner blocks in
    `blocks` are left for the caller to read."""
    attributes = []
    for item in block.body:
        if isinstance(item, ast.Attribute):
            attributes.append(item)
        elif item.keyword.text not in blocks:
            typer.report(MisplacedBlock(item.keyword.span, block.keyword.text, item.keyword.text, blocks))
    return read_attributes(typer, block.keyword.text, attributes, allowed, repeated)


def read_attributes(
    typer: Typer,
    kind: str,
    attributes: Sequence[ast.Attribute],
    allowed: tuple[str, ...],
    repeated: tuple[str, ...] = (),
) -> Body:
    found: dict[str, tuple[ast.Attribute, ...]] = {}
    for attribute in attributes:
        key = attribute.key.text
        if key not in allowed:
            problem = UnknownAttribute(attribute.key.span, kind, key, allowed)
            typer.report(problem)
            if problem.replacement is None or problem.replacement in found:
                continue
            key = problem.replacement  # without this value, other things would seem wrong
        if key in found and key not in repeated:
            typer.report(DuplicateAttribute(attribute.key.span, found[key][0].key.span, key))
        else:
            found[key] = (*found.get(key, ()), attribute)
        if attribute.label is not None and key not in repeated:
            typer.report(StrayLabel(attribute.label.span, key))
    return Body(typer, found)


def split_options(
    typer: Typer, values: Sequence[ast.Expr], known: tuple[str, ...]
) -> tuple[tuple[ast.Expr, ...], dict[str, ast.Option], bool]:
    """Split a series into its expressions and its options, such as `color hardware`, by `_key`. Also return whether all
    options are known."""
    exprs: list[ast.Expr] = []
    options: dict[str, ast.Option] = {}
    good = True
    for value in values:
        option = value
        bare = [word for word in ("dashed", "estimated", "band") if word in known]
        if isinstance(value, ast.Name) and exprs and (value.text in bare or _slip(typer, value, bare)):
            option = ast.Option(value.span, value, value)  # an option of one word
        if not isinstance(option, ast.Option):
            exprs.append(value)
        elif option.word.text not in known:
            typer.report(wrong.UnknownOption(option.word.span, "option", option.word.text, known))
            good = False
        elif (key := _key(option)) in options:
            earlier = options[key].word.span
            typer.report(DuplicateAttribute(option.word.span, earlier, option.word.text))
        else:
            options[key] = option
    return tuple(exprs), options, good


def _key(option: ast.Option) -> str:
    """Return the key of an option. `log x` and `log y` have different keys, as both may be given."""
    word, value = option.word.text, option.value
    return f"log {value.text}" if word == "log" and isinstance(value, ast.Name) else word


def _slip(typer: Typer, name: ast.Name, words: Sequence[str]) -> bool:
    """Return whether a name misspells one of `words` and is neither a metric nor a measure."""
    return name.text not in typer.metrics and name.text not in KINDS and did_you_mean(name.text, words) is not None


def option_title(typer: Typer, options: Mapping[str, ast.Option], word: str, place: FixedKeys) -> str | None:
    """Return the text of an option such as `label "ideal"`, or None if it is missing or has a mistake."""
    option = options.get(word)
    if option is None:
        return None
    if isinstance(option.value, ast.String):
        return title(typer, option.value, place, word)
    found = described(option.value)
    return typer.refuse(wrong.BadOption(option.value.span, word, found, f'it in quotes: `{word} "..."`'))


def option_format(typer: Typer, options: Mapping[str, ast.Option], typed: Typed) -> tuple[str, Unit] | None:
    """Return the format of a series' numbers ("" if it has none) and the unit that the format prints, or None after a
    mistake."""
    option = options.get("format")
    if option is None:
        return "", typed.unit
    if not isinstance(option.value, ast.String) or not all(isinstance(part, str) for part in option.value.parts):
        found = described(option.value)
        return typer.refuse(wrong.BadOption(option.value.span, "format", found, '`format ",.0f"`'))
    format_ = "".join(part for part in option.value.parts if isinstance(part, str))
    unit = printed_unit(typer, option.value.span, format_, typed)
    return None if unit is None else (format_, unit)


def option_word(typer: Typer, options: Mapping[str, ast.Option], word: str, choices: tuple[str, ...]) -> str | None:
    """Return the word of an option such as `axis right`, or None if it is missing or has a mistake."""
    option = options.get(word)
    if option is None:
        return None
    if isinstance(option.value, ast.Name) and option.value.text in choices:
        return option.value.text
    usage = " or ".join(f"`{word} {choice}`" for choice in choices)
    meant = did_you_mean(option.value.text, choices) if isinstance(option.value, ast.Name) else None
    return typer.refuse(wrong.BadOption(option.value.span, word, described(option.value), usage, meant))
