"""Reads claims (what a brief says about a number), and checks the rules that need nothing but the spec.

`claim gain "Up to {value:.0f}X the work of {hdd}" { value = max(ratio over threads) }` states one number. This module
finds the number's base, its direction and its range, and checks the words against them. Rules that need the data, about
rounding and whether a difference is real, are in `results/analysis/claim_verdicts.py`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Literal

from benchbrief.compiler.blocks.values import origin
from benchbrief.compiler.briefs import claim_errors as wrong
from benchbrief.compiler.briefs import claim_words as words
from benchbrief.compiler.briefs.element_queries import (
    FixedKeys,
    key_label,
    label_of,
    labelled_key,
    query,
    query_of_repeats,
    quote_of,
    sides_by_repeat,
    typed_at,
    without_single_keys,
)
from benchbrief.compiler.briefs.held_out_claims import PlacedExtreme, held_out
from benchbrief.compiler.briefs.held_out_errors import HeldOutOfParts, HighestNotHeldOut
from benchbrief.compiler.briefs.plan_prose import (
    ELLIPSIS,
    claim_named,
    ends_of_range,
    misspelt,
    plain_parts,
    prose,
    read_body,
    subject_of,
    unit_said,
)
from benchbrief.compiler.briefs.report_errors import UnitBehind
from benchbrief.compiler.frontend.declarations import dotted, text_of
from benchbrief.compiler.frontend.structure_errors import UnknownWord
from benchbrief.compiler.measure_catalogue import AXIS_UNITS
from benchbrief.compiler.metrics.curves import holds_percentiles
from benchbrief.compiler.metrics.expressions import Typer
from benchbrief.compiler.metrics.terms import has_repeats
from benchbrief.compiler.problems import CompileProblem, HeldBack
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model import plan
from benchbrief.model.held_out import WITHIN_CELLS, advised_times
from benchbrief.model.plan import Dimension, DimKey
from benchbrief.model.units import DIMENSIONLESS, Unit, parse_unit

KEYS = ("value", "against", "held_out", "allow")
_VALUE = "value"
_DEEPEST = 40
"""The most levels of metrics and operations that are searched for a base."""


# --- what a value is made of ---


@dataclass(frozen=True)
class _Base:
    """The base of a comparison, which a value is divided by: its dimension, its key, and the key's label."""

    dim: Dimension
    key: DimKey
    label: str


def _inlined(typer: Typer, expr: ast.Expr) -> ast.Expr:
    """Return the expression that a metric's name refers to, or the expression itself if it is not a metric's name."""
    for _ in range(_DEEPEST):
        if not isinstance(expr, ast.Name) or expr.text not in typer.metrics:
            break
        expr = typer.metrics[expr.text].expr
    return expr


def _bases(typer: Typer, expr: ast.Expr, level: int = 0) -> Iterator[tuple[_Base, ...]]:
    """Yield the base of each comparison in an expression: the keys on the right of a division or subtraction, without
    keys that every measure and fact on the left has, too."""
    expr = _inlined(typer, expr)
    if level > _DEEPEST:
        return
    if isinstance(expr, ast.Binary) and expr.operator in "/-":
        above = list(_leaves(typer, expr.left, level + 1))
        below = list(_leaves(typer, expr.right, level + 1))
        if above and below:
            everywhere = frozenset[_Base]().union(*above).intersection(*above)
            base = dict.fromkeys(each for keys in below for each in keys if each not in everywhere)
            if base:
                yield tuple(sorted(base, key=lambda each: (each.dim, str(each.key))))
    for inner in _inner(expr):
        yield from _bases(typer, inner, level + 1)


def _inner(expr: ast.Expr) -> Iterator[ast.Expr]:
    """Yield the operands of an expression."""
    match expr:
        case ast.Index():
            yield expr.base
        case ast.Call():
            yield from (argument.value for argument in expr.arguments if argument.key is None)
        case ast.Unary():
            yield expr.operand
        case ast.Binary():
            yield from (expr.left, expr.right)


def _leaves(
    typer: Typer, expr: ast.Expr, level: int, keys: frozenset[_Base] = frozenset()
) -> Iterator[frozenset[_Base]]:
    """Yield the fixed keys of each measure or fact in an expression, but not keys that name operations."""
    expr = _inlined(typer, expr)
    if level > _DEEPEST or isinstance(expr, ast.Quantity):
        return
    if isinstance(expr, ast.Name | ast.Attr):
        yield keys
        return
    keys |= _keys_of(typer, expr)
    for inner in _inner(expr):
        yield from _leaves(typer, inner, level + 1, keys)


def _keys_of(typer: Typer, expr: ast.Expr) -> frozenset[_Base]:
    """Return the keys that an expression's index fixes."""
    arguments = expr.arguments if isinstance(expr, ast.Index) else ()
    return frozenset(found for argument in arguments if (found := _fixed(typer, argument)))


def _fixed(typer: Typer, argument: ast.Argument) -> _Base | None:
    known = labelled_key(typer, argument)
    axis = argument.key.text if argument.key else ""
    if known and known[0] != "operation":
        return _Base(*known, key_label(typer, *known))
    if axis in AXIS_UNITS and isinstance(argument.value, ast.Quantity):
        return _Base(axis, argument.value.value, f"{axis} {text_of(argument.value)}")
    return None


_REDUCTIONS = ("max", "min", "mean", "median", "sum", "first", "last")


_Leaf = Callable[[bool], float]
"""A function that returns the value to assume for a fact (if called with True) or for a measure (False)."""


def _no_difference(typer: Typer, expr: ast.Expr) -> float | None:
    """Return the value that an expression has if both sides of its comparison are equal. Return None if that value
    depends on the sides' size."""

    def alike(measure: float, fact: float) -> _Leaf:
        return lambda is_fact: fact if is_fact else measure

    found = {_assumed(typer, expr, alike(*sizes)) for sizes in ((1.0, 1.0), (3.0, 2.0))}
    return found.pop() if len(found) == 1 else None


def _rises(typer: Typer, expr: ast.Expr, base: tuple[_Base, ...]) -> bool | None:
    """Return whether a comparison's value rises if the side that is not the base gets larger, or None if this can't be
    told."""
    low, high = (_compared(typer, expr, frozenset(base), by) for by in (1.0, _LARGER))
    return None if low is None or high is None or low == high else low < high


def _compared(
    typer: Typer,
    expr: ast.Expr,
    base: frozenset[_Base],
    by: float,
    keys: frozenset[_Base] = frozenset(),
    level: int = 0,
) -> float | None:
    """Return the value of an expression if each part of its base is 1 and each part of the other side is `by`."""
    expr = _inlined(typer, expr)
    if level > _DEEPEST:
        return None
    sides = {each >= base for each in _leaves(typer, expr, level, keys)}
    if len(sides) == 1:
        return 1.0 if True in sides else by
    keys |= _keys_of(typer, expr)
    return _combined(expr, [_compared(typer, each, base, by, keys, level + 1) for each in _inner(expr)])


_LARGER = 1.1


def _favours(typer: Typer, expr: ast.Expr, better: str | None, no_difference: float, base: Sequence[_Base]) -> bool:
    """Return whether a comparison is biased: it compares the best of one side with the worst, or with a single point,
    of the other. One side would then seem better even if both were equal."""
    extreme = _extreme(typer, expr)
    within = extreme.arguments[0].value if extreme and extreme.arguments else expr
    seen = _assumed(typer, within, lambda _: 1.0, ends={"max": _LARGER, "min": 1 / _LARGER})
    found = [call for call, _ in _extremes(typer, within)]
    along = {name.text for each in found for name in each.over}
    # The best of a ramp against one of its own points shows the ramp's range; another's point is a biased choice.
    unlike = len({each.function.text for each in found}) > 1 or any(each.dim not in along for each in base)
    if not found or not unlike or seen is None or math.isclose(seen, no_difference):
        return False
    return better is None or (seen > no_difference) is (better == "higher")


def _assumed(
    typer: Typer,
    expr: ast.Expr,
    leaf: _Leaf,
    level: int = 0,
    ends: Mapping[str, float] = MappingProxyType({}),
) -> float | None:
    """Return the value of an expression for assumed values of its measures and facts, or None if one of its functions
    makes that impossible. A highest or lowest value is the assumed value times its factor in `ends`."""
    expr = _inlined(typer, expr)
    if level > _DEEPEST:
        return None
    if isinstance(expr, ast.Name | ast.Attr):
        return leaf(bool(typer.facts.get(dotted(expr))))
    return _combined(expr, [_assumed(typer, each, leaf, level + 1, ends) for each in _inner(expr)], ends)


def _combined(
    expr: ast.Expr, inner: Sequence[float | None], ends: Mapping[str, float] = MappingProxyType({})
) -> float | None:
    """Return the value of an expression from the values of its operands."""
    match expr:
        case ast.Quantity():
            return expr.value / 100 if expr.unit == "%" else expr.value
        case ast.Index():
            return inner[0]
        case ast.Call() if expr.function.text in _REDUCTIONS and inner:
            return None if inner[0] is None else inner[0] * ends.get(expr.function.text, 1.0)
        case ast.Unary(operator="-"):
            return None if inner[0] is None else -inner[0]
        case ast.Binary() if inner[0] is not None and inner[1] is not None:
            return _computed(expr.operator, inner[0], inner[1])
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
    """Return the call that computes a highest or lowest value. The call may be the expression itself or the definition
    of the metric that it names. Return None for other expressions."""
    found = _inlined(typer, expr)
    return found if isinstance(found, ast.Call) and found.function.text in _ENDS and found.over else None


_ENDS = {"max": "min", "min": "max"}


_MOST_PARTS = 1_000
"""The most parts of a value that are searched."""


def _parts(typer: Typer, expr: ast.Expr) -> Iterator[ast.Expr]:
    """Yield all parts of an expression at every depth, including the parts of the metrics that it names."""
    left = list(_inner(_inlined(typer, expr)))
    for _ in range(_MOST_PARTS):
        if not left:
            return
        node = _inlined(typer, left.pop())
        yield node
        left += _inner(node)


def _placed_parts(typer: Typer, expr: ast.Expr) -> Iterator[tuple[ast.Expr, FixedKeys]]:
    """Yield the parts of an expression as `_parts` does, each with the keys that are fixed for it."""
    left = [(_inlined(typer, expr), FixedKeys())]
    for _ in range(_MOST_PARTS):
        if not left:
            return
        node, place = left.pop()
        for each in _keys_of(typer, node):
            place = place.at(each.dim, each.key)
        inside = [(_inlined(typer, inner), place) for inner in _inner(node)]
        yield from inside
        left += inside


def _is_unclear(typer: Typer, extreme: ast.Call) -> bool:
    """Return whether the point of an extreme can't be measured again. It can't if the value is an extreme of extremes,
    or if the point lies within one cell."""
    within = any(name.text in WITHIN_CELLS for name in extreme.over)
    return within or any(_extreme(typer, part) for part in _parts(typer, extreme))


def points_by_repeat(
    typer: Typer, sides: Sequence[ast.Expr], shown: Unit | None, better: Literal["higher", "lower"]
) -> tuple[tuple[plan.Query, ...], Literal["every", "any"]]:
    """If exactly one side of a comparison is a highest or lowest value, return the queries of both sides, for each
    repeat and each competing value. Otherwise, return no queries.

    Also return whether the comparison must hold at every point or only at one.
    """
    found = [_points_of(typer, side) for side in sides]
    if len([each for each in found if each]) != 1:
        return (), "every"
    at, extreme = next((at, each) for at, each in enumerate(found) if each)
    over = tuple(name.text for name in extreme.over)
    other = typer.typed(sides[1 - at])
    if other is None or set(over) & set(other.term.dims):
        return (), "every"
    among = [extreme.arguments[0].value if each else side for each, side in zip(found, sides, strict=True)]
    queries, _ = sides_by_repeat(typer, among, shown, over)
    is_lowest, is_left = extreme.function.text == "min", at == 0
    return queries, "every" if is_lowest == (is_left == (better == "higher")) else "any"


def _points_of(typer: Typer, side: ast.Expr) -> ast.Call | None:
    """Return one side of a comparison if it is an extreme over different points, so that each point can be measured
    again. Return None for other sides."""
    found = _extreme(typer, side)
    if found is None or found.when is not None or len(found.arguments) != 1:
        return None
    return None if {name.text for name in found.over} & {*WITHIN_CELLS, "repeat"} else found


def _extremes(typer: Typer, value: ast.Expr) -> Iterator[PlacedExtreme]:
    """Yield the expression itself if it is a highest or lowest value, or else the highest and lowest values among its
    parts."""
    if extreme := _extreme(typer, value):
        yield PlacedExtreme(extreme, FixedKeys())
    else:
        placed = _placed_parts(typer, value)
        yield from (PlacedExtreme(found, place) for part, place in placed if (found := _extreme(typer, part)))


def _nested_extreme(typer: Typer, value: ast.Expr) -> str:
    """Among the parts of an expression, find the first highest or lowest value of a comparison. Return its text, or ""
    if there is none."""
    nested = (node for node in _parts(typer, value) if _extreme(typer, node) and any(_bases(typer, node)))
    return next(map(text_of, nested), "")


# --- one claim ---


def claim(typer: Typer, block: ast.Block) -> plan.Claim | None:
    """Return the claim for the plan, or None after a mistake."""
    if block.name is None:
        return None
    body = read_body(typer, block, KEYS, repeated=("allow",))
    values = body.values(_VALUE)
    if block.label is None or len(values) != 1:
        return typer.refuse(wrong.ClaimWithoutValue(block.keyword.span, block.name.text))
    allowed = exceptions(typer, body.all("allow"))
    value = values[0]
    if no_number := _no_number(typer, value):
        return typer.refuse(no_number)
    sentence = _sentence(typer, block.label, value)
    if sentence is None:
        return None
    known, value = set(allowed), _judged(typer, value)
    base = _base(typer, value, body.values("against"), known, block.label)
    if isinstance(base, CompileProblem):
        return typer.refuse(base)
    no_difference = _no_difference(typer, value) if base else None
    if problem := broken_rule(typer, block.label, value, base, no_difference, known):
        return typer.refuse(problem)
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
    opposite = _reduced(typer, extreme, _ENDS[extreme.function.text], unit) if extreme else None
    # A median of percentiles is nobody's latency, so it is not shown beside the highest of them.
    typical = _reduced(typer, extreme, "median", unit) if extreme and not holds_percentiles(typed.term) else None
    asked, extremes, compared = body.values("held_out"), list(_extremes(typer, value)), no_difference is not None
    if asked and (vague := next((each for each in extremes if _is_unclear(typer, each.call)), None)):
        return typer.refuse(HeldOutOfParts(asked[-1].span, text_of(vague.call)))
    if compared and extremes and not extreme and not asked and "decided" not in allowed:
        unclear = any(_is_unclear(typer, each.call) for each in extremes)
        times = 0 if unclear else advised_times(typer.scope.claimed_numbers)
        typer.report(HighestNotHeldOut(value.span, text_of(value), len(extremes), times))
    advised = compared and bool(asked) and block.span.encloses(asked[-1].span)  # a rehearsal need not decide
    held = held_out(typer, asked, _inlined(typer, value), extremes, unit, advised=advised)
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
        typical=typical,
        against={each.dim: each.key for each in base},
        base=", ".join(each.label for each in base),
        base_label=_label_of(base),
        divisor=_divisor(typer, value, base),
        named=all(_names(typer, block.label, each) for each in base),
        no_difference=None if no_difference is None else no_difference / unit.factor,
        better=_better(typer, value),
        directed=no_difference == 0.0 and _says_direction(block.label),
        of_extremes=not extreme and bool(extremes),
        held_out=held,
        allowed=allowed,
        origin=origin(block.span),
    )


def _no_number(typer: Typer, value: ast.Expr) -> wrong.ClaimOfName | None:
    """Return the mistake if the value is a claim, a name or a list instead of an expression."""
    if named := claim_named(typer, value):
        return wrong.ClaimOfClaim(value.span, named.claim)
    what = "a list" if isinstance(value, ast.List) else "a name" if subject_of(typer, value) else ""
    return wrong.ClaimOfName(value.span, text_of(value), what) if what else None


def _judged(typer: Typer, value: ast.Expr) -> ast.Expr:
    """Return the value that a claim is judged by. For a range, this is the better end, or the highest value if neither
    end is better."""
    ends = ends_of_range(value)
    return ends[_better(typer, ends[0]) != "lower"] if ends else value


def _is_range(value: ast.Expr) -> bool:
    """Return whether the value that a claim is judged by comes from `range(...)`."""
    return isinstance(value, ast.Call) and value.function.span.text == "range"


def words_around(
    typer: Typer, text: ast.String, allowed: Collection[str], *, is_prose: bool, is_headline: bool = False
) -> Iterator[CompileProblem]:
    """Yield a problem for each rule that a claim keeps by itself, but breaks together with the words around its name in
    a text. Rules in `allowed` are skipped.

    The problem is a warning, except in a headline, where it is the same mistake as in a claim. In prose, only the
    claim's own sentence counts. Results that are typed into a title have a warning of their own.
    """
    for at, part in enumerate(text.parts):
        said = claim_named(typer, part.expr) if isinstance(part, ast.Hole) else None
        label = typer.scope.claims_by_name[said.claim].label if said else None
        if said is None or label is None:
            continue
        before, after = map(plain_parts, (text.parts[:at], text.parts[at + 1 :]))
        if is_prose:
            before, after = _lead_in(re.split(_SENTENCES, before)[-1]), re.split(_SENTENCES, after)[0]
        else:
            before, after = (re.sub(_CLAUSES, " ", each) for each in (before, after))
        own = _wrong_in(typer, said.claim, label, allowed)
        whole = _wrong_in(typer, said.claim, replace(label, parts=(before, *label.parts, after)), allowed)
        whole += _other_bases_around(typer, said.claim, text, at, allowed, is_prose=is_prose)
        for problem in whole:
            if problem not in own and (is_prose or not isinstance(problem, wrong.TypedResult)):
                around = wrong.WordsAround(text.span, said.claim, problem.summary, problem.code)
                yield replace(problem, span=text.span) if is_headline else around


def _other_bases_around(
    typer: Typer, claim_name: str, text: ast.String, at: int, allowed: Collection[str], *, is_prose: bool
) -> list[CompileProblem]:
    """Return the problems with a claim's context: words near the claim that name another base than its number has.
    Words on the far side of another claim do not count."""
    label = typer.scope.claims_by_name[claim_name].label
    is_claim = [isinstance(part, ast.Hole) and claim_named(typer, part.expr) is not None for part in text.parts]
    begin = max((index + 1 for index in range(at) if is_claim[index]), default=0)
    end = next((index for index in range(at + 1, len(text.parts)) if is_claim[index]), len(text.parts))
    before, after = _told(typer, text.parts[begin:at]), _told(typer, text.parts[at + 1 : end])
    if is_prose:
        before, after = re.split(_SENTENCES, before)[-1], re.split(_SENTENCES, after)[0]
    if label is None or not words.compared_with(_contenders(typer), f"{before}{ELLIPSIS}{after}"):
        return []
    problems = _wrong_in(typer, claim_name, replace(label, parts=(before, *label.parts, after)), allowed)
    return [problem for problem in problems if isinstance(problem, wrong.OtherBase)]


def _told(typer: Typer, parts: Sequence[str | ast.Hole]) -> str:
    """Return a text in which a label replaces each name, and an ellipsis replaces anything else that is computed."""
    said = []
    for part in parts:
        subject = None if isinstance(part, str) else subject_of(typer, part.expr)
        known = typer.scope.labels.get(subject[0], {}).get(subject[1] or "") if subject else None
        said.append(part if isinstance(part, str) else known or ELLIPSIS)
    return "".join(said)


def _contenders(typer: Typer, base: Sequence[_Base] = ()) -> dict[str, tuple[Dimension, DimKey]]:
    """Return the possible bases of a comparison by their labels. Hardware is also found by its name."""
    dims = dict.fromkeys(("hardware", *(each.dim for each in base)))
    found = {str(key): ("hardware", key) for key in typer.scope.labels.get("hardware", {})}
    return found | {label: (dim, key) for dim in dims for key, label in typer.scope.labels.get(dim, {}).items()}


def _check_base(typer: Typer, label: ast.String, value: ast.Expr, base: Sequence[_Base]) -> None:
    """Report words that compare a value with a contender other than its base."""
    if not words.compares(told := _told(typer, label.parts)):
        return
    known = {name.casefold(): place for name, place in _contenders(typer, base).items()}
    places, dims = {(each.dim, each.key) for each in base}, {each.dim for each in base}
    parts = (_inlined(typer, value), *_parts(typer, value))
    for part in (each for each in parts if isinstance(each, ast.Binary) and each.operator == "-"):
        # Of a difference, either side may be what the sentence compares with.
        places |= {(each.dim, each.key) for keys in _leaves(typer, part, 0) for each in keys}
    for name in words.compared_with(known, told):
        place = known[name.casefold()]
        if place not in places and place[0] in dims:
            typer.report(wrong.OtherBase(label.span, name, text_of(value), ", ".join(each.label for each in base)))


def _wrong_in(typer: Typer, name: str, label: ast.String, allowed: Collection[str]) -> list[CompileProblem]:
    """Return the problems that a claim with this sentence would have. Skips the rules in `allowed` and those that the
    claim has reasons to break."""
    block, outer = typer.scope.claims_by_name[name], typer.findings
    typer.findings = held_back = HeldBack()
    try:
        body = read_body(typer, block, KEYS, repeated=("allow",))
        values, excepted = body.values(_VALUE), {*allowed, *exceptions(typer, body.all("allow"))}
        if len(values) == 1 and sum(isinstance(part, ast.Hole) and _is_value(part) for part in label.parts) == 1:
            check_as_claim(typer, label, values[0], excepted, body.values("against"))
    finally:
        typer.findings = outer
    return held_back.problems


def check_as_claim(
    typer: Typer, label: ast.String, value: ast.Expr, allowed: set[str], against: Sequence[ast.Expr] = ()
) -> None:
    """Report the problems that a claim with this sentence and this value would have. The sentence contains
    `{value}`."""
    value = _judged(typer, value)
    base = _base(typer, value, against, allowed, label)
    if isinstance(base, CompileProblem):
        typer.report(base)
        return
    no_difference = _no_difference(typer, value) if base else None
    if problem := broken_rule(typer, label, value, base, no_difference, allowed):
        typer.report(problem)


_COUNTS = ("count", "p_value", "cv", "ci")
"""The functions that count the points where something holds, or compute how sure it is."""


def is_counted(typer: Typer, value: ast.Expr, level: int = 0) -> bool:
    """Return whether a number counts points, says how sure something is, or is computed only from such numbers. Such a
    number need not be a claim."""
    value = _inlined(typer, value)
    if isinstance(value, ast.Call) and value.function.text in _COUNTS:
        return True
    parts = [each for each in _inner(value) if not isinstance(each, ast.Quantity)]
    return bool(parts) and level < _DEEPEST and all(is_counted(typer, each, level + 1) for each in parts)


def kind_of_result(typer: Typer, value: ast.Expr) -> Literal["", "extreme", "comparison"]:
    """Return why a computed number has to be a claim: it is an extreme or a comparison. Return "" for other numbers."""
    ends = ends_of_range(value)
    value = ends[0].arguments[0].value if ends and ends[0].arguments else value  # a range is judged as a whole
    if is_counted(typer, value):
        return ""
    if any(_extreme(typer, part) for part in (value, *_parts(typer, value))):
        return "extreme" if not ends else "comparison"
    return "comparison" if any(_bases(typer, value)) else ""


def _lead_in(before: str) -> str:
    """Return the text before a claim. An introduction such as `On average: ` is joined to the claim's sentence."""
    parts = re.split(f"({_CLAUSES})", before)
    for at in range(len(parts) - 2, 0, -2):
        if not re.fullmatch(rf"\s*(?:{words.EVERYWHERE}|{words.AVERAGE})\s*", parts[at - 1], re.IGNORECASE):
            break
        parts[at] = " "
    return "".join(parts)


_CLAUSES = "[,;:、；：]"
_SENTENCES = r"[.!?](?=\s)|[。！？]|\n\s*(?:\n|[-*#>|]|\d+\.)"
"""Matches the end of a sentence, a paragraph, a list item or a table cell in Markdown text."""


def broken_rule(
    typer: Typer,
    label: ast.String,
    value: ast.Expr,
    base: tuple[_Base, ...],
    no_difference: float | None,
    allowed: set[str],
) -> CompileProblem | None:
    """Return why a value can't be a claim. If it can, check the words around it and return None."""
    if "typed" not in allowed and _is_typed(typer, value):
        return wrong.TypedValue(value.span, text_of(value), "the value of a claim")
    if base and _is_unclear_ratio(typer, value, base, no_difference, label) and "decided" not in allowed:
        return wrong.UndecidableClaim(value.span, text_of(value), ", ".join(each.label for each in base))
    better = _better(typer, value)
    if problem := _unfair(typer, value, better, no_difference, allowed, base):
        return problem
    _check_words(typer, label, value, no_difference, allowed)
    if base and "base" not in allowed:
        _check_base(typer, label, value, base)
    if no_difference == 0.0 and "direction" not in allowed:
        _check_direction(typer, label, value, better, rises=_rises(typer, value, base))
    return None


def _is_typed(typer: Typer, value: ast.Expr) -> bool:
    """Return whether a value is made only of numbers and parameters of the spec."""
    parts = (_inlined(typer, value), *_parts(typer, value))
    leaves = (part for part in parts if not any(_inner(part)))
    return all(isinstance(leaf, ast.Quantity) or text_of(leaf) in typer.scope.params for leaf in leaves)


def _is_unclear_ratio(
    typer: Typer, value: ast.Expr, base: tuple[_Base, ...], no_difference: float | None, label: ast.String
) -> bool:
    """Return whether a value is unclear as the multiple or share that the sentence states: its value for equal sides is
    unknown, or it does not double or halve when one side doubles."""
    behind = _around_value(label)[1]
    is_multiple = bool(words.found_in(words.MULTIPLE, behind))
    is_share = _hole_of(label).format.endswith("%") and bool(words.found_in(words.PER_CENT_OF, behind))
    if no_difference is None or not (is_multiple or is_share) or _nested_extreme(typer, value):
        return no_difference is None
    doubled = _compared(typer, value, frozenset(base), 2.0)
    multiples = (2 * no_difference, no_difference / 2)
    return (is_multiple and no_difference not in (0.0, 1.0)) or (
        no_difference == 1.0 and doubled is not None and not any(math.isclose(doubled, each) for each in multiples)
    )


def _unfair(
    typer: Typer,
    value: ast.Expr,
    better: str | None,
    no_difference: float | None,
    allowed: set[str],
    base: Sequence[_Base],
) -> CompileProblem | None:
    """Return the problem if a value compares unfairly chosen extremes, such as one side's best with the other's worst.
    Return None for other values."""
    if nested := _nested_extreme(typer, value):
        return wrong.NestedExtreme(value.span, text_of(value), nested)
    extremes = [call for call, _ in _extremes(typer, value)]
    if lucky := next((each for each in extremes if "repeat" in (name.text for name in each.over)), None):
        return wrong.LuckiestRepeat(value.span, text_of(lucky))
    if no_difference is not None and "alike" not in allowed and _favours(typer, value, better, no_difference, base):
        return wrong.BestAgainstWorst(value.span, text_of(value))
    return None


def exceptions(
    typer: Typer, attributes: Sequence[ast.Attribute], rules: tuple[str, ...] = plan.CLAIM_RULES
) -> dict[str, str]:
    """Return the author's reasons for breaking rules, by rule."""
    found: dict[str, str] = {}
    for attribute in attributes:
        rule = attribute.values[0] if len(attribute.values) == 1 else None
        reason = attribute.label.plain if attribute.label else None
        if not isinstance(rule, ast.Name) or rule.text not in rules:
            place = (rule or attribute.key).span
            typer.report(UnknownWord(place, "rule", text_of(rule) if rule else "", rules))
        elif not reason or not reason.strip():
            typer.report(wrong.NoReason(attribute.key.span, rule.text))
        elif rule.text in found:
            typer.report(wrong.AllowedTwice(rule.span, rule.text))
        else:
            found[rule.text] = reason
    return found


def _sentence(typer: Typer, label: ast.String, value: ast.Expr) -> ast.String | None:
    """Return the sentence with the value's expression in its hole and only names in all other holes."""
    holes = [part for part in label.parts if isinstance(part, ast.Hole)]
    values = [hole for hole in holes if isinstance(hole.expr, ast.Name) and hole.expr.text == _VALUE]
    numbers = [hole for hole in holes if hole not in values and not subject_of(typer, hole.expr)]
    lacking = () if values else (_VALUE,)
    if problem := next((found for hole in numbers if (found := misspelt(typer, hole.expr, lacking))), None):
        return typer.refuse(problem)
    if any(typer.number(hole.expr) is None for hole in numbers):
        return None  # an unknown name, say, has its own mistake
    if numbers or len(values) != 1:
        place = next((hole.span for hole in (*numbers, *values[1:])), label.span)
        return typer.refuse(wrong.OneValue(place, len(values) + len(numbers)))
    parts = (replace(part, expr=value) if part is values[0] else part for part in label.parts)
    return replace(label, parts=tuple(parts))


def _base(
    typer: Typer, value: ast.Expr, against: Sequence[ast.Expr], allowed: set[str], label: ast.String
) -> tuple[_Base, ...] | wrong.UnclearBase | wrong.NoSuchBase | wrong.RatioOfNothing:
    """Return the base that the value is compared with, or () if it is not compared."""
    found = list(dict.fromkeys(_bases(typer, value)))
    if against:
        subject = subject_of(typer, against[0])
        of_value = {(each.dim, each.key): each for divisor in found for each in divisor}
        if subject and (chosen := of_value.get((subject[0], subject[1] or ""))):
            return (chosen,)
        names = tuple(str(each.key) for each in of_value.values() if isinstance(each.key, str))
        return wrong.NoSuchBase(against[0].span, "base", text_of(against[0]), names)
    if len(found) > 1 and "base" not in allowed:
        labels = tuple(", ".join(each.label for each in divisor) for divisor in found)
        keys = (each.key for divisor in reversed(found) for each in divisor if isinstance(each.key, str))
        return wrong.UnclearBase(value.span, labels, next(keys, "hdd"))
    multiple = words.found_in(words.MULTIPLE, _around_value(label)[1])
    if not found and multiple and "ratio" not in allowed and not _is_share_of_extreme(typer, value):
        return wrong.RatioOfNothing(value.span, multiple, text_of(value))
    return found[0] if found else ()


def _is_share_of_extreme(typer: Typer, value: ast.Expr) -> bool:
    """Return whether a value is compared with the best or worst of several values: `a / min(a over hardware)`."""
    parts = (_inlined(typer, value), *_parts(typer, value))
    return any(isinstance(part, ast.Binary) and part.operator == "/" and _extreme(typer, part.right) for part in parts)


def _divisor(typer: Typer, value: ast.Expr, base: Sequence[_Base]) -> plan.Query | None:
    """Return the value's divisor if that is its base of comparison, or else None."""
    for part in (_inlined(typer, value), *_parts(typer, value)):
        if isinstance(part, ast.Binary) and part.operator == "/":
            keys = frozenset[_Base]().union(*_leaves(typer, part.right, 0))
            if base and keys.issuperset(base) and (typed := typed_at(typer, part.right, FixedKeys())):
                return query(typer, typed.term, typed.unit, part.right)
    return None


def _label_of(base: Sequence[_Base]) -> plan.Label:
    """If a base includes a point of a ramp, return a name for it, which is put into words in the report's language.
    Return "" for other bases."""
    points = tuple((each.dim, each.key) for each in base if isinstance(each.key, float) and each.dim in AXIS_UNITS)
    names = tuple(each.label for each in base if (each.dim, each.key) not in points)
    return plan.Wording(form="at", of=names, points=points) if points else ""


def _names(typer: Typer, label: ast.String, base: _Base) -> bool:
    """Return whether the sentence names the base of the comparison. In an English sentence, a name before the number is
    the subject and does not count, unless it follows words such as `against`."""
    number = next(at for at, part in enumerate(label.parts) if isinstance(part, ast.Hole) and _is_value(part))
    japanese = any(words.is_japanese(part) for part in label.parts if isinstance(part, str))
    before = ""
    for at, part in enumerate(label.parts):
        if isinstance(part, str):
            found = isinstance(base.key, float) and words.counts(base.key, base.dim, part)
            found = found or words.names(base.label, part)
            before = part[: part.casefold().find(base.label.casefold())] if at < number else ""
        else:
            subject = subject_of(typer, part.expr)
            found = subject is not None and subject == (base.dim, base.key, "label")
        if found and (at > number or japanese or words.found_in(words.COMPARED, before) or isinstance(base.key, float)):
            return True
        before = part if isinstance(part, str) else ""
    return False


def _reduced(typer: Typer, extreme: ast.Call, function: str, unit: Unit) -> plan.Query | None:
    """Return a query that reduces the extreme's values with another function: the opposite extreme, or the median."""
    other = replace(extreme, function=replace(extreme.function, text=function))
    typed = typed_at(typer, other, FixedKeys())
    if typed is None:
        return None
    typed, _ = without_single_keys(typed, ())  # as the claim's own number, which a source may state, has none left
    return query(typer, typed.term, unit, other, quote_of(typer, other, FixedKeys()))


def _better(typer: Typer, value: ast.Expr) -> Literal["higher", "lower"] | None:
    """Return whether a higher or a lower value is better, according to the metric that the value is or contains."""
    node: ast.Expr | None = value
    while node is not None:
        if isinstance(node, ast.Name):
            metric = typer.metrics.get(node.text)
            if metric is None:
                return plan.BETTER.get(node.text)
            if metric.better:
                return "higher" if metric.better == "higher" else "lower"
            node = metric.expr
        elif isinstance(node, ast.Index):
            node = node.base
        elif isinstance(node, ast.Call) and node.arguments:
            node = node.arguments[0].value
        else:
            return plan.BETTER.get(dotted(node).partition(".")[0])
    return None


def _check_words(
    typer: Typer, label: ast.String, value: ast.Expr, no_difference: float | None, allowed: set[str]
) -> None:
    """Report words that contradict the value."""
    hole, (before, after) = _hole_of(label), _around_value(label)
    if "bound" not in allowed:
        _check_bound(typer, label.span, value, before, after)
        _check_range(typer, label.span, value, before, after)
    if "ratio" not in allowed:
        in_per_cent = hole.format.endswith("%") or after.lstrip()[:1] in ("%", "％")
        by = words.found_in(words.TIMES_BY, before) if words.found_in(words.MULTIPLE, after) else ""
        if times := words.found_in(words.TIMES_MORE, after) or by:
            typer.report(wrong.TimesMore(label.span, times))
        elif (
            no_difference == 1.0
            and (in_per_cent or hole.format.startswith("+"))
            and (more := _change_words(before, after, hole.format))
        ):
            typer.report(wrong.RatioAsChange(label.span, more, text_of(value)))
        elif no_difference == 0.0 and (of := _ratio_words(before, after, in_per_cent=in_per_cent)):
            typer.report(wrong.ChangeAsRatio(label.span, of, text_of(value)))
        if no_difference is not None and (other := unit_said(after)) and _is_share(typer, value):
            why, instead = "the number compares two sides, and has no unit", "leave it out, or claim the measure itself"
            typer.report(UnitBehind(label.span, other, why, instead))
    if "typed" not in allowed:
        for text in typed_results(typer, label):
            typer.report(wrong.TypedResult(label.span, text, "the sentence of a claim"))


def _is_share(typer: Typer, value: ast.Expr) -> bool:
    typed = typer.typed(value)
    return typed is not None and typed.unit.dimension == DIMENSIONLESS


def _change_words(before: str, after: str, format_: str) -> str:
    """Return the words or the plus sign that make a value a change, or "" if there are none."""
    sign = "+" if format_.startswith("+") else ""
    return words.found_in(words.CHANGE, after) or words.found_in(words.CHANGE_OF, before) or sign


def _ratio_words(before: str, after: str, *, in_per_cent: bool) -> str:
    """Return the words that make a value a ratio (`saves 17 % of the time`), or "" if there are none."""
    saving = words.found_in(words.SAVING, before)
    left = words.found_in(words.SHARE_OF_JA, after) if re.search(r"の\s*\Z", before) else ""
    left = left or words.found_in(words.LEFT_JA, after) or words.found_in(words.LEFT, before)
    share = words.found_in(words.PER_CENT_OF, after) or left if in_per_cent and not saving else ""
    is_more = in_per_cent or _change_words(before, after, "") or words.LESS.found(before, after)
    each = "" if is_more else words.found_in(words.FOR_EVERY, f"{before}{after}")
    return share or words.found_in(words.TIMES, after) or each


def _check_direction(
    typer: Typer, label: ast.String, value: ast.Expr, better: str | None, *, rises: bool | None
) -> None:
    """Report words that contradict the value's direction. Examples are `more` for a value that rises as the measured
    quantity falls, and `slower` for a value that rises as the contender becomes better."""
    before, after = _around_value(label)
    better = better or _better_of_measure(typer, value, rises=rises)
    signs = [(words.MORE, "less", rises is False), (words.LESS, "more", rises is True)]
    worths = [(words.BETTER, "worse", better == "lower"), (words.WORSE, "better", better == "higher")]
    for direction, actual, is_wrong in (*signs, *worths):
        if is_wrong and (found := direction.found(before, after)):
            typer.report(wrong.OtherDirection(label.span, found, text_of(value), actual))
            return


def _better_of_measure(typer: Typer, value: ast.Expr, *, rises: bool | None) -> str | None:
    """For a value without a metric, return whether higher or lower is better, according to the first measure in it."""
    found = (plan.BETTER.get(dotted(part).partition(".")[0]) for part in _parts(typer, value))
    better = next((each for each in found if each), None)
    if better is None or rises is None:
        return None
    return better if rises else "lower" if better == "higher" else "higher"


def _says_direction(label: ast.String) -> bool:
    """Return whether the sentence states the size of an increase or a decrease. Its number then has to be above
    zero."""
    around = _around_value(label)
    return any(direction.found(*around) for direction in (words.MORE, words.LESS, words.BETTER, words.WORSE))


def _hole_of(label: ast.String) -> ast.Hole:
    """Return the hole that holds the number."""
    return next(part for part in label.parts if isinstance(part, ast.Hole) and _is_value(part))


def _around_value(label: ast.String) -> tuple[str, str]:
    """Return the text before the number and the text behind it."""
    at = next(i for i, part in enumerate(label.parts) if isinstance(part, ast.Hole) and _is_value(part))
    return plain_parts(label.parts[:at]), plain_parts(label.parts[at + 1 :])


def _check_bound(typer: Typer, span: Span, value: ast.Expr, before: str, after: str) -> None:
    """Report `up to` for a single value, and `at least` for the highest value."""
    if _is_range(value):
        return  # the sentence has both ends
    extreme = _extreme(typer, value)
    function = extreme.function.text if extreme else ""
    taken = extreme is not None or any(_extreme(typer, part) for part in _parts(typer, value))
    highest, lowest = (bound.found(before, after) for bound in (words.UP_TO, words.AT_LEAST))
    above = words.found_in(words.MORE_THAN, before) or words.found_in(words.BEYOND, after)
    below = words.found_in(words.LESS_THAN, before) or words.found_in(words.WITHIN, after)
    if not taken and (found := highest or lowest):
        typer.report(wrong.NoRange(span, found, text_of(value)))
    elif function == "min" and (found := highest or (below if not lowest else "")):
        typer.report(wrong.OtherEnd(span, found, text_of(value), "highest", "lowest", _instead(extreme, "max")))
    elif function == "max" and (found := lowest or (above if not highest else "")):
        typer.report(wrong.OtherEnd(span, found, text_of(value), "lowest", "highest", _instead(extreme, "min")))


_FUNCTION = r"\A\w+"


def _instead(extreme: ast.Call | None, function: str) -> str:
    """Return the text of the same reduction with another function, for a hint, or "" if the value
    is not a reduction."""
    return f", `value = {re.sub(_FUNCTION, function, text_of(extreme))}`" if extreme else ""


def _check_range(typer: Typer, span: Span, value: ast.Expr, before: str, after: str) -> None:
    """Report `on average` for a highest or lowest value, and `at every load` for the best one."""
    found = [call for call, _ in _extremes(typer, value)]
    ends = {each.function.text for each in found}
    if len(ends) != 1:
        return
    end = ends.pop()
    whole, clause = f"{before}{ELLIPSIS}{after}", words.clause_of(before, after)
    is_highest = bool(words.found_in(words.HIGHEST, clause))
    searched = clause if is_highest else whole
    typical = words.found_in(words.AVERAGE, searched) or words.found_in(words.AVERAGE_OF, before)
    everywhere = words.found_in(words.EVERYWHERE, searched)
    if not is_highest:
        everywhere = everywhere or words.found_in(words.ALL_OVER, whole) or words.found_in(words.EXPECTED, before)
    best = "min" if _better(typer, value) == "lower" else "max"
    said = {"max": "highest", "min": "lowest"}
    if typical and not _reads_means(typer, value):
        promised, instead, saying = "average", "mean", typical
    elif everywhere and end == best and not words.AT_LEAST.found(before, after) and not _is_range(value):
        promised, instead, saying = said[_ENDS[end]], _ENDS[end], everywhere
    else:
        return
    hint = _instead(_extreme(typer, value), instead)
    typer.report(wrong.OtherEnd(span, saying, text_of(value), promised, said[end], hint))


def _reads_means(typer: Typer, value: ast.Expr) -> bool:
    """Return whether a value contains a mean that a tool measured, such as `latency.mean`."""
    return any(isinstance(part, ast.Attr) and part.field.text == "mean" for part in (value, *_parts(typer, value)))


def _is_value(hole: ast.Hole) -> bool:
    return isinstance(hole.expr, ast.Name) and hole.expr.text == _VALUE


def typed_results(typer: Typer, string: ast.String) -> list[str]:
    """Return the results that are typed by hand in the plain parts of a text. Numbers in the spec's labels, facts and
    parameters do not count, nor do numbers that the spec sets or expects."""
    results: list[str] = []
    for at, part in enumerate(string.parts):
        if isinstance(part, str):
            results += words.results_in(ELLIPSIS + part if at else part)
    return [text for text in results if not _is_known(typer, text)]


def _is_known(typer: Typer, result: str) -> bool:
    amount = words.amount_of(result)
    return (amount is not None and typer.is_set(amount)) or words.without_blanks(result) in _labelled(typer)


def _labelled(typer: Typer) -> frozenset[str]:
    """Return the numbers with units in the spec's labels, facts and parameters, without blanks."""
    texts = [label for labels in typer.scope.labels.values() for label in labels.values()]
    texts += [text_of(value) for value in typer.scope.params.values()]
    for each in typer.scope.hardware:
        texts += [*(fact.text for fact in each.facts.values()), *each.texts.values()]
    return frozenset(words.without_blanks(result) for text in texts for result in words.results_in(text))
