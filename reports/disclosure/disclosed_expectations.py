"""What a disclosure says of the expectations, and by which rule the repeats decide them."""

from __future__ import annotations

from collections.abc import Iterator

from benchbrief.compiler.planning.budgets import LEVEL, Looks, looks_at
from benchbrief.compiler.rounding import formatted
from benchbrief.reports.data.expectations import describe, judge_expectations
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.data.view_model import Item


def disclose_expectations(results: Results) -> Iterator[Item]:
    """Yield each verdict, then how several looks and several places are judged, where an expectation has them."""
    found = judge_expectations(results)
    for one in found:
        label = one.expect.label if one.expect.label != one.expect.text else ""
        yield Item(label, describe(one, results), emphasis=one.verdict != "holds" or one.decided is False)
    asked = [one for one in found if one.decided is not None]
    several = [looks for looks in (looks_at(results.plan, one.expect) for one in asked) if looks.count > 1]
    if several:
        yield Item("", _looks(max(several, key=lambda each: each.count), results))
    if any(one.places > 1 for one in asked):
        yield Item("", results.words["d_expect_places"].format(wide=_percent(LEVEL, results)))


def _looks(looks: Looks, results: Results) -> str:
    first, last = (_percent(looks.share(repeats), results) for repeats in (looks.first, looks.first + looks.count - 1))
    chance, why = _percent(looks.chance, results), "joint" if looks.chance > 1 - LEVEL else "sum"
    named = {"first": first, "last": last, "chance": chance, "why": results.words[f"d_expect_looks_{why}"]}
    return results.words["d_expect_looks"].format(looks=looks.count, **named)


def _percent(share: float, results: Results) -> str:
    return results.words.locale.numerals(formatted(100 * share, ".4g"))
