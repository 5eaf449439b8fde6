"""Warns of results that a title, headline, callout or figure states without a `claim`, typed by hand or computed."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import count

from benchbrief.compiler.briefs import claim_errors as wrong
from benchbrief.compiler.briefs.claims import check_as_claim, is_counted, kind_of_result, typed_results
from benchbrief.compiler.briefs.plan_prose import claim_named, subject_of
from benchbrief.compiler.frontend.declarations import text_of
from benchbrief.compiler.metrics.expressions import Typer
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast

_SAID = {
    ("report", "subtitle"): "a subtitle",
    ("report", "headline"): "a headline",
    ("figure", "claim"): "the claim of a figure",
    ("callout", "column"): "the column of a callout",
    ("callout", "text"): "the text of a callout",
    **{(kind, "note"): f"the note of a {kind}" for kind in ("figure", "table", "callout")},
    ("report", "legal"): "the legal text",
}
"""For each kind of block, the attributes whose texts state results as a title does."""
_TYPED_ALONE = ("title of a", "note of a", "legal text")
"""Places that are searched for typed results, but not for computed ones."""
_ROWS = ("the column of a callout", "each ")
"""Places whose text is written once for several keys. A claim is not possible there, so a range will do."""


def warn_of_results(typer: Typer, report: ast.Block, allowed: Collection[str]) -> None:
    """Warn of results that no claim states. Rules in `allowed` are skipped."""
    names = _names(typer, report)
    for text, where, attribute in _places(report):
        is_headline = attribute is not None and attribute.key.text == "headline"
        if "typed" not in allowed and not is_headline:  # typed results in a headline are mistakes
            for found in typed_results(typer, text):
                typer.report(wrong.TypedInTitle(text.span, found, where))
        if "computed" in allowed or any(each in where for each in _TYPED_ALONE):
            continue
        for hole in _numbers(typer, text):
            kind = kind_of_result(typer, hole.expr)
            if kind == "extreme" or (kind and not where.startswith(_ROWS)):
                typer.report(_no_claim(typer, report, text, hole, where, attribute if is_headline else None, names))


def check_headline(typer: Typer, attribute: ast.Attribute, text: ast.String, allowed: Collection[str]) -> None:
    """Check a headline as if it were the sentence of a claim, and report its mistakes."""
    number = attribute.label
    if number is None:
        return
    for each in (number, text):
        for found in typed_results(typer, each) if "typed" not in allowed else ():
            typer.report(wrong.TypedResult(each.span, found, "a headline"))
    span = Span(number.span.source, number.span.start, text.span.end)
    whole = ast.String(span, (*number.parts, " ", *text.parts))
    for hole in _numbers(typer, whole):
        if not is_counted(typer, hole.expr):
            sentence = replace(whole, parts=tuple(_value_of(hole) if part is hole else part for part in whole.parts))
            check_as_claim(typer, sentence, hole.expr, {*allowed, "typed"})


def _value_of(hole: ast.Hole) -> ast.Hole:
    return replace(hole, expr=ast.Name(hole.expr.span, "value"))


def _numbers(typer: Typer, text: ast.String) -> list[ast.Hole]:
    """Return the holes of a text that are neither names nor claims."""
    holes = (part for part in text.parts if isinstance(part, ast.Hole))
    return [hole for hole in holes if not subject_of(typer, hole.expr) and not claim_named(typer, hole.expr)]


def _places(block: ast.Block, each: str = "") -> Iterator[tuple[ast.String, str, ast.Attribute | None]]:
    """Yield each text in a block that states results as a title does. With it comes a phrase that says which text it
    is, and its attribute (None for a title)."""
    kind = block.keyword.text
    each = "each " if kind == "each" else each
    if block.label:
        yield block.label, "a title" if kind == "report" else f"{each or 'the '}title of a {kind}", None
    for item in block.body:
        if isinstance(item, ast.Block):
            yield from _places(item, each)
        elif where := _SAID.get((kind, item.key.text)):
            where = where.replace("the ", each or "the ", 1)
            told = (item.label, *item.values) if item.key.text == "headline" else item.values
            yield from ((value, where, item) for value in told if isinstance(value, ast.String))


def _no_claim(
    typer: Typer,
    report: ast.Block,
    text: ast.String,
    hole: ast.Hole,
    where: str,
    headline: ast.Attribute | None,
    names: Iterator[str],
) -> wrong.ComputedWithoutClaim:
    """Return the warning about a computed result, with a claim that can replace its text. The claim gets the next of
    the `names`."""
    value = text_of(hole.expr)
    if where.startswith(_ROWS):
        return wrong.ComputedWithoutClaim(hole.span, value, where, can_be_claim=False)
    texts = (headline.label, *headline.values) if headline else (text,)
    strings = [each for each in texts if isinstance(each, ast.String)]
    holes = [each for one in strings for each in _numbers(typer, one)]
    shown = f":{hole.format}" if hole.format else ""
    sentence = " ".join(_written(one, hole, f"{{value{shown}}}") for one in strings)
    whole = Span(strings[0].span.source, strings[0].span.start, strings[-1].span.end)
    is_plain = len(holes) == 1 and all(_is_plain(typer, one) for one in strings)
    if not is_plain:
        return wrong.ComputedWithoutClaim(hole.span, value, where)
    claim = f'claim {(name := next(names))} "{sentence}" {{ value = {value} }}'
    mended = (whole, f"= {name}" if headline else f'"{{{name}}}"', report.keyword.span)
    return wrong.ComputedWithoutClaim(hole.span, value, where, claim=claim, mended=mended)


def _written(text: ast.String, hole: ast.Hole, instead: str) -> str:
    """Return a text as written in the spec, without quotes and with a hole replaced by the given text."""
    written, start = text.span.text, text.span.start
    if text.span.start <= hole.span.start < text.span.end:
        written = written[: hole.span.start - start] + instead + written[hole.span.end - start :]
    return written[1:-1]


def _is_plain(typer: Typer, text: ast.String) -> bool:
    """Return whether a text can be the sentence of a claim: it has one line, and contains neither claims nor the names
    of an `each`."""
    names = [hole.expr for hole in text.parts if isinstance(hole, ast.Hole)]
    subjects = (subject_of(typer, name) for name in names)
    return (
        not text.span.text.startswith('"""')
        and not any(claim_named(typer, name) for name in names)
        and all(subject is None or subject[1] is not None for subject in subjects)
    )


def _names(typer: Typer, report: ast.Block) -> Iterator[str]:
    """Yield new names for claims, each once. The spec and the claims of other reports do not use them."""
    stem = f"{report.name.text}_result" if report.name and len(typer.scope.reports) > 1 else "result"
    yield from (name for n in count(1) if not _is_taken(typer, name := f"{stem}_{n}" if n > 1 else stem))


def _is_taken(typer: Typer, name: str) -> bool:
    scope = typer.scope
    return name in scope.claims_by_name or name in typer.metrics or any(name in each for each in scope.labels.values())
