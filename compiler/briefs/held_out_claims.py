"""Finds the held-out repeats of claims, which measure winning points again, and the values that the claims read from
these repeats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from benchbrief.compiler.blocks.values import Reader
from benchbrief.compiler.briefs import held_out_errors as wrong
from benchbrief.compiler.briefs.element_queries import FixedKeys, query_of_repeats, typed_at
from benchbrief.compiler.frontend.declarations import text_of
from benchbrief.compiler.metrics.expressions import Typer
from benchbrief.compiler.metrics.terms import Measure, leaves
from benchbrief.compiler.schemas import HELD_OUT_TIMES
from benchbrief.dsl.syntax import ast
from benchbrief.model import plan
from benchbrief.model.held_out import advised_times, number_of
from benchbrief.model.units import Unit


class PlacedExtreme(NamedTuple):
    """A highest or lowest value that is part of a claim's value, and its fixed keys."""

    call: ast.Call
    place: FixedKeys


def held_out(
    typer: Typer,
    said: Sequence[ast.Expr],
    value: ast.Expr,
    extremes: Iterable[PlacedExtreme],
    unit: Unit,
    *,
    advised: bool,
) -> plan.HeldOut | None:
    """Return the repeats that measure the value's extremes again, as `held_out` in the spec demands. Return None if
    there is no `held_out`, or after a mistake. If `advised`, warn of too few repeats to decide whether there is a
    difference.
    """
    if not said:
        return None
    asked = said[-1]
    times = Reader(typer.scope.params, typer.findings).quantity("held_out", asked, HELD_OUT_TIMES)
    placed = list(extremes)
    found = [each.call for each in placed]
    if times is None or not found:
        return None if found else typer.refuse(wrong.HeldOutOfOne(asked.span, text_of(value)))
    if (some := next((each for each in found if each.when or len(each.arguments) != 1), None)) is not None:
        return typer.refuse(wrong.HeldOutOfSome(asked.span, text_of(some)))
    # Of an extreme itself, each repeat has the value at each point; of one that is computed with, the extreme.
    among = found[0].arguments[0].value if len(found) == 1 and value is found[0] else value
    over = tuple(name.text for name in found[0].over) if among is not value else ()
    repeated = typer.side_by_repeat(among, ("repeat", *over))
    if repeated is None or any(map(_is_searched, leaves(repeated.term))):
        return typer.refuse(wrong.HeldOutAlready(asked.span, text_of(value))) if repeated else None
    claims, chosen = typer.scope.claimed_numbers, int(times.value)
    if advised and chosen < (enough := advised_times(claims)):
        typer.report(wrong.FewHeldOut(asked.span, chosen, claims, enough))
    return plan.HeldOut(
        times=chosen,
        extremes=tuple(_extremes(typer, placed)),
        repeats=query_of_repeats(typer, repeated.term, unit, among),
    )


def held_out_alike(claims: Iterable[plan.Claim]) -> tuple[plan.Claim, ...]:
    """Make all claims about the same number ask for the same number of held-out repeats: the largest that any of them
    asks for. The number then has only one verdict."""
    found = tuple(claims)
    most: dict[str, plan.HeldOut] = {}
    for claim in found:
        asked, number = claim.held_out, number_of(claim)
        if asked and (number not in most or asked.times > most[number].times):
            most[number] = asked
    return tuple(claim.model_copy(update={"held_out": most.get(number_of(claim))}) for claim in found)


def _is_searched(leaf: object) -> bool:
    return isinstance(leaf, Measure) and leaf.kind.view == "sustained"


def _extremes(typer: Typer, found: Iterable[PlacedExtreme]) -> Iterator[plan.Extreme]:
    for each, place in found:
        among, over = each.arguments[0].value, tuple(name.text for name in each.over)
        if typed := typed_at(typer, among, place, over):
            points = query_of_repeats(typer, typed.term, typed.unit, among)
            yield plan.Extreme(bound="high" if each.function.text == "max" else "low", points=points)
