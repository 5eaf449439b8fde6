"""Claims: what a brief says of a number, and the rules that the spec decides.

`claim gain "Up to {value:.0f}X the work of {hdd}" { value = max(ratio over threads) }` says one number. Here its base,
its direction and the range behind it are found, and its words are checked against them. What only the data decide,
rounding and whether a difference is real, is in `results/analysis/claim_verdicts.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from benchbrief.compiler.blocks.values import origin
from benchbrief.compiler.briefs import claim_errors as wrong
from benchbrief.compiler.briefs.element_queries import (
    FixedKeys,
    key_label,
    label_of,
    labelled_key,
    query,
    query_of_repeats,
    typed_at,
)
from benchbrief.compiler.briefs.plan_prose import prose, read_body, subject_of
from benchbrief.compiler.frontend.declarations import dotted, text_of
from benchbrief.compiler.frontend.name_errors import UnknownName
from benchbrief.compiler.frontend.structure_errors import UnknownWord, WrongType
from benchbrief.compiler.measure_catalogue import AXIS_UNITS
from benchbrief.compiler.metrics.expressions import Typer
from benchbrief.compiler.metrics.terms import has_repeats
from benchbrief.compiler.schemas import RULES
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model import plan
from benchbrief.model.plan import Dimension, DimKey
from benchbrief.model.units import DIMENSIONLESS, Unit, parse_unit

KEYS = ("value", "against", "allow")
_VALUE = "value"
_DEEPEST = 40
"""The most levels of metrics and operations that are looked through for a base."""


# --- words ---

_UP_TO = re.compile(r"\b(?:up to|as (?:much|many|high|fast) as)\b|最大(?:で|\s*\{|\s*$)", re.IGNORECASE)
_AT_LEAST = re.compile(r"\bat least\b|\bno less than\b|以上", re.IGNORECASE)
_MORE = r"(?:more|higher|faster|larger|greater|better|less|fewer|lower|slower|smaller|shorter|longer|cheaper|worse)"
_MORE_JA = "(?:高|速|大き|多|低|遅|小さ|少な|短|長|安)"
_BLANKS = r"[\s\u00a0]"
_TIMES_MORE = re.compile(
    rf"\A{_BLANKS}*(?:times|[xX×]){_BLANKS}+{_MORE}\b|\A{_BLANKS}*倍(?:も)?{_BLANKS}*{_MORE_JA}", re.IGNORECASE
)
_PER_CENT_MORE = re.compile(
    rf"\A{_BLANKS}*(?:%|％|per cent|percent)?{_BLANKS}+{_MORE}\b|\A{_BLANKS}*(?:%|％|パーセント)?{_BLANKS}*{_MORE_JA}",
    re.IGNORECASE,
)
_NUMBER = r"[0-9０-９][0-9０-９.,．，]*"
_SPELLED = r"two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|hundred"
_TYPED = re.compile(
    rf"(?:{_NUMBER})[\s\u00a0-]*(?:[xX×](?![A-Za-z0-9])|times\b|-?fold\b|%|％|per ?cent\b|倍|パーセント|割)"
    rf"|\b(?:double|twice|triple|half)\b(?={_BLANKS}+(?:the|as|of|its|their)\b)"
    rf"|\b(?:doubles|doubled|triples|tripled|quadruples|quadrupled|halves|halved|(?:{_SPELLED})[ -](?:times|fold))\b"
    rf"|[一二三四五六七八九十百]+倍|半分|半減|倍増",
    re.IGNORECASE,
)
"""A result that is written by hand: with times or per cent, or as a word."""
_QUANTITY = re.compile(rf"(?P<number>{_NUMBER})[\s\u00a0]*(?P<unit>[kKMG]?ops/s|[µumn]s\b|ms\b|ops/s/W|[KMGT]i?B/s)")
_RESULTS = (_TYPED, _QUANTITY)


# --- what a value is made of ---


@dataclass(frozen=True)
class _Base:
    """What a value is divided by: its dimension, its key, and the label of the key."""

    dim: Dimension
    key: DimKey
    label: str


def _inlined(typer: Typer, expr: ast.Expr) -> ast.Expr:
    """Return the expression behind the name of a metric."""
    for _ in range(_DEEPEST):
        if not isinstance(expr, ast.Name) or expr.text not in typer.metrics:
            break
        expr = typer.metrics[expr.text].expr
    return expr


def _bases(typer: Typer, expr: ast.Expr, level: int = 0) -> Iterator[tuple[_Base, ...]]:
    """Yield the keys that are fixed in each divisor of an expression, and not in what it divides."""
    expr = _inlined(typer, expr)
    if level > _DEEPEST:
        return
    match expr:
        case ast.Index():
            yield from _bases(typer, expr.base, level + 1)
        case ast.Call():
            for argument in expr.arguments:
                yield from _bases(typer, argument.value, level + 1)
        case ast.Unary():
            yield from _bases(typer, expr.operand, level + 1)
        case ast.Binary(operator="/"):
            above = {(each.dim, each.key) for each in _keys(typer, expr.left, level + 1)}
            below = [each for each in _keys(typer, expr.right, level + 1) if (each.dim, each.key) not in above]
            if below:
                yield tuple(dict.fromkeys(below))
            yield from _bases(typer, expr.left, level + 1)
            yield from _bases(typer, expr.right, level + 1)
        case ast.Binary():
            yield from _bases(typer, expr.left, level + 1)
            yield from _bases(typer, expr.right, level + 1)


def _keys(typer: Typer, expr: ast.Expr, level: int) -> list[_Base]:
    """Return the keys that are fixed in an expression: of what is compared, not of operations or points of a ramp."""
    expr = _inlined(typer, expr)
    if level > _DEEPEST:
        return []
    found: list[_Base] = []
    match expr:
        case ast.Index():
            for argument in expr.arguments:
                known = labelled_key(typer, argument)
                axis = argument.key.text if argument.key else ""
                if known and known[0] != "operation":
                    found.append(_Base(*known, key_label(typer, *known)))
                elif axis in AXIS_UNITS and isinstance(argument.value, ast.Quantity):
                    found.append(_Base(axis, argument.value.value, f"{axis} {text_of(argument.value)}"))
            return [*found, *_keys(typer, expr.base, level + 1)]
        case ast.Call():
            return [each for argument in expr.arguments for each in _keys(typer, argument.value, level + 1)]
        case ast.Unary():
            return _keys(typer, expr.operand, level + 1)
        case ast.Binary():
            return [*_keys(typer, expr.left, level + 1), *_keys(typer, expr.right, level + 1)]
        case _:
            return []


_REDUCTIONS = ("max", "min", "mean", "median")


def _with_all_equal(typer: Typer, expr: ast.Expr, level: int = 0) -> float | None:
    """Return the value of an expression whose measures are all 1; None where that can't be told."""
    expr = _inlined(typer, expr)
    if level > _DEEPEST:
        return None
    match expr:
        case ast.Quantity():
            return expr.value / 100 if expr.unit == "%" else expr.value
        case ast.Index():
            return _with_all_equal(typer, expr.base, level + 1)
        case ast.Name() | ast.Attr():
            return 1.0
        case ast.Call() if expr.function.text in _REDUCTIONS and expr.arguments:
            return _with_all_equal(typer, expr.arguments[0].value, level + 1)
        case ast.Unary(operator="-"):
            inner = _with_all_equal(typer, expr.operand, level + 1)
            return None if inner is None else -inner
        case ast.Binary():
            left = _with_all_equal(typer, expr.left, level + 1)
            right = _with_all_equal(typer, expr.right, level + 1)
            return None if left is None or right is None else _computed(expr.operator, left, right)
        case _:
            return None


def _computed(operator: str, left: float, right: float) -> float | None:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/" if right:
            return left / right
        case _:
            return None


def _extreme(typer: Typer, expr: ast.Expr) -> ast.Call | None:
    """Return the reduction to a highest or lowest value that an expression is, also by the name of a metric."""
    found = _inlined(typer, expr)
    return found if isinstance(found, ast.Call) and found.function.text in _ENDS and found.over else None


_ENDS = {"max": "min", "min": "max"}


def _reduces(typer: Typer, expr: ast.Expr, function: str) -> bool:
    """Return whether an expression has this reduction anywhere in it."""
    left = [expr]
    for _ in range(1_000):
        if not left:
            break
        node = _inlined(typer, left.pop())
        if isinstance(node, ast.Call) and node.function.text == function:
            return True
        left += [each.value if isinstance(each, ast.Argument) else each for each in ast.children(node)]
    return False


# --- one claim ---


def claim(typer: Typer, block: ast.Block) -> plan.Claim | None:
    """Return the claim for the plan; None after a mistake."""
    if block.name is None:
        return None
    body = read_body(typer, block, KEYS, repeated=("allow",))
    values = body.values(_VALUE)
    if block.label is None or len(values) != 1:
        return typer.refuse(wrong.ClaimWithoutValue(block.keyword.span, block.name.text))
    allowed = _allowed(typer, body.all("allow"))
    value, sentence = values[0], _sentence(typer, block.label, values[0])
    if sentence is None:
        return None
    known = set(allowed)
    base = _base(typer, value, body.values("against"), known)
    if isinstance(base, wrong.UnclearBase):
        return typer.refuse(base)
    same = _with_all_equal(typer, value) if base else None
    no_difference = same if same in (0.0, 1.0) else None
    _check_words(typer, block.label, value, no_difference, known)
    said = prose(typer, sentence, FixedKeys(), markdown=False)
    number = next((part for part in said.parts if isinstance(part, plan.Value)), None) if said else None
    if said is None or number is None:
        return None
    unit = parse_unit(number.query.unit) if number.query.unit else Unit(DIMENSIONLESS, 1.0, "")
    extreme = _extreme(typer, value)
    among = extreme.arguments[0].value if extreme and extreme.when is None and len(extreme.arguments) == 1 else value
    over = tuple(name.text for name in extreme.over) if extreme and among is not value else ()
    typed = typed_at(typer, among, FixedKeys(), over)
    if typed is None:
        return None
    repeated = typer.side_by_repeat(among, ("repeat", *over))
    opposite = _opposite(typer, extreme, unit)
    return plan.Claim(
        name=block.name.text,
        sentence=said,
        what=label_of(typer, among, shown=False),
        bound=("high" if extreme.function.text == "max" else "low") if extreme else "",
        points=query(typer, typed.term, unit, among),
        repeats=query_of_repeats(typer, repeated.term, unit, among)
        if repeated and has_repeats(repeated.term)
        else None,
        opposite=opposite,
        base=", ".join(each.label for each in base),
        named=all(_names(typer, block.label, each) for each in base),
        no_difference=None if no_difference is None else no_difference / unit.factor,
        better=_better(typer, value),
        allowed=allowed,
        origin=origin(block.span),
    )


def _allowed(typer: Typer, attributes: Sequence[ast.Attribute]) -> dict[str, str]:
    """Return the reasons for exceptions, by rule."""
    found: dict[str, str] = {}
    for attribute in attributes:
        rule = attribute.values[0] if len(attribute.values) == 1 else None
        reason = attribute.label.plain if attribute.label else None
        if not isinstance(rule, ast.Name) or rule.text not in RULES:
            place = (rule or attribute.key).span
            typer.report(UnknownWord(place, "rule", text_of(rule) if rule else "", RULES))
        elif not reason or not reason.strip():
            typer.report(wrong.NoReason(attribute.key.span, rule.text))
        else:
            found[rule.text] = reason
    return found


def _sentence(typer: Typer, label: ast.String, value: ast.Expr) -> ast.String | None:
    """Return the sentence with the value's expression in its hole. Other holes are names."""
    holes = [part for part in label.parts if isinstance(part, ast.Hole)]
    values = [hole for hole in holes if isinstance(hole.expr, ast.Name) and hole.expr.text == _VALUE]
    numbers = [hole for hole in holes if hole not in values and not subject_of(typer, hole.expr)]
    if numbers or len(values) != 1:
        place = next((hole.span for hole in (*numbers, *values[1:])), label.span)
        return typer.refuse(wrong.OneValue(place, len(values) + len(numbers)))
    parts = (replace(part, expr=value) if part is values[0] else part for part in label.parts)
    return replace(label, parts=tuple(parts))


def _base(
    typer: Typer, value: ast.Expr, against: Sequence[ast.Expr], allowed: set[str]
) -> tuple[_Base, ...] | wrong.UnclearBase:
    """Return what the value is compared with; () for a value of its own, and after a mistake."""
    found = list(dict.fromkeys(_bases(typer, value)))
    if against:
        subject = subject_of(typer, against[0])
        if subject and subject[1] is not None:
            return (_Base(subject[0], subject[1], key_label(typer, subject[0], subject[1])),)
        if isinstance(against[0], ast.Name):
            names = tuple(str(each.key) for divisor in found for each in divisor)
            typer.report(UnknownName(against[0].span, "name", against[0].text, names))
        else:
            typer.report(
                WrongType(against[0].span, "against", "the name of what the value is compared with", "another")
            )
        return ()
    if len(found) > 1 and "base" not in allowed:
        labels = tuple(", ".join(each.label for each in divisor) for divisor in found)
        return wrong.UnclearBase(value.span, labels, str(found[0][0].key))
    return found[0] if found else ()


def _names(typer: Typer, label: ast.String, base: _Base) -> bool:
    """Return whether the sentence names what the value is compared with."""
    for part in label.parts:
        if isinstance(part, str):
            words = part.casefold()
            if base.label.casefold() in words or (isinstance(base.key, float) and _counts(base.key, words)):
                return True
        elif (subject := subject_of(typer, part.expr)) and subject[:2] == (base.dim, base.key):
            return True
    return False


def _counts(number: float, words: str) -> bool:
    """Return whether a text has the number, in digits or spelled out."""
    spelled = _SPELLED.split("|")[int(number) - 2] if 2 <= number <= 10 else "one" if number == 1 else ""
    return re.search(rf"(?<![0-9.]){number:g}(?![0-9.])", words) is not None or bool(
        spelled and re.search(rf"\b{spelled}\b|\bsingle\b", words)
    )


def _opposite(typer: Typer, extreme: ast.Call | None, unit: Unit) -> plan.Query | None:
    """Return the other end of the range in which an extreme is."""
    if extreme is None:
        return None
    other = replace(extreme, function=replace(extreme.function, text=_ENDS[extreme.function.text]))
    typed = typed_at(typer, other, FixedKeys())
    return query_of_repeats(typer, typed.term, unit, other) if typed else None


def _better(typer: Typer, value: ast.Expr) -> Literal["higher", "lower"] | None:
    """Return which direction of the value is better, by the metric that it is or is made of."""
    node: ast.Expr | None = value
    while node is not None:
        if isinstance(node, ast.Name):
            metric = typer.metrics.get(node.text)
            if metric is None:
                return _MEASURES.get(node.text)
            if metric.better:
                return "higher" if metric.better == "higher" else "lower"
            node = metric.expr
        elif isinstance(node, ast.Index):
            node = node.base
        elif isinstance(node, ast.Call) and node.arguments:
            node = node.arguments[0].value
        else:
            return _MEASURES.get(dotted(node).partition(".")[0])
    return None


_MEASURES: Mapping[str, Literal["higher", "lower"]] = {
    "throughput": "higher", "sustained": "higher", "latency": "lower", "errors": "lower",
}  # fmt: skip


def _check_words(
    typer: Typer, label: ast.String, value: ast.Expr, no_difference: float | None, allowed: set[str]
) -> None:
    """Report words that say another thing than the value is."""
    holes = ((i, part) for i, part in enumerate(label.parts) if isinstance(part, ast.Hole) and _is_value(part))
    at, hole = next(holes)
    before = "".join(part for part in label.parts[:at] if isinstance(part, str))
    after = next((part for part in label.parts[at + 1 : at + 2] if isinstance(part, str)), "")
    if "bound" not in allowed:
        _check_bound(typer, label.span, value, before, after)
    if "ratio" not in allowed:
        in_per_cent = hole.format.endswith("%") or after.lstrip()[:1] in ("%", "％")
        if times := _TIMES_MORE.match(after):
            typer.report(wrong.TimesMore(label.span, times.group().strip()))
        elif no_difference == 1.0 and in_per_cent and (more := _PER_CENT_MORE.match(after)):
            typer.report(wrong.RatioAsChange(label.span, more.group().strip(), text_of(value)))
    if "typed" not in allowed:
        for text in typed_results(typer, label):
            typer.report(wrong.TypedResult(label.span, text, "the sentence of a claim"))


def _check_bound(typer: Typer, span: Span, value: ast.Expr, before: str, after: str) -> None:
    """Report `up to` of one value, and `at least` of the highest."""
    extreme = _extreme(typer, value)
    if found := _UP_TO.search(before):
        if extreme is None and not any(_reduces(typer, value, each) for each in _ENDS):
            typer.report(wrong.NoRange(span, found.group().strip(), text_of(value)))
        return
    least = _AT_LEAST.search(before) or _AT_LEAST.match(after.lstrip(" %倍Xx\u00a0"))
    if least and extreme and extreme.function.text == "max":
        typer.report(wrong.LeastOfHighest(span, least.group(), text_of(value)))


def _is_value(hole: ast.Hole) -> bool:
    return isinstance(hole.expr, ast.Name) and hole.expr.text == _VALUE


def typed_results(typer: Typer, string: ast.String) -> list[str]:
    """Return the results that are written by hand in the plain parts of a text. A number in a label, a fact or a
    parameter of the spec is none."""
    parts = [part for part in string.parts if isinstance(part, str)]
    found = [match.group().strip() for part in parts for pattern in _RESULTS for match in pattern.finditer(part)]
    return [text for text in found if _plain(text) not in _known_numbers(typer)] if found else []


def _known_numbers(typer: Typer) -> frozenset[str]:
    """Return the numbers with units that stand in labels, facts and parameters of the spec, without blanks."""
    texts = [label for labels in typer.scope.labels.values() for label in labels.values()]
    texts += [text_of(value) for value in typer.scope.params.values()]
    for each in typer.scope.hardware:
        texts += [*(fact.text for fact in each.facts.values()), *each.texts.values()]
    return frozenset(_plain(found.group()) for text in texts for each in _RESULTS for found in each.finditer(text))


def _plain(number: str) -> str:
    return re.sub(r"[\s\u00a0]", "", number).casefold()
