"""Makes tables of rankings and of compared pairs for a page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from benchbrief.history.site.site_texts import (
    MISSING,
    change_text,
    difference_text,
    metric_key,
    point_text,
    quantity_name,
    same_dims,
    shown_value,
    spread_text,
)
from benchbrief.history.site.site_view import ComparisonView, RankedCell, RankedRow, RankedTable
from benchbrief.reports.words.brief_words import Words, counted
from benchbrief.results.compare.comparison import Comparison, PointValues
from benchbrief.results.compare.rankings import Ranking


def ranking_view(
    title: str,
    rankings: Sequence[Ranking],
    heads: Sequence[str],
    words: Words,
    labels: Mapping[str, str],
) -> ComparisonView | None:
    """Return a ranking with a column for each contender, or None if there are no contenders. `labels` name metrics,
    workloads and so on."""
    by_quantity: dict[str, list[Ranking]] = {}
    for each in rankings:
        by_quantity.setdefault(each.quantity, []).append(each)
    if not by_quantity:
        return None
    hidden = same_dims([each.point for each in rankings])
    tables = [
        RankedTable(
            quantity_name(name, labels.get(metric_key(name), ""), words),
            words[f"site_{found[0].better or 'none'}_better"],
            tuple(_ranked_row(each, _greatest(found), heads, words, hidden, labels) for each in found),
        )
        for name, found in by_quantity.items()
    ]
    tests = sum(row.p is not None for each in rankings for row in each.pairs.values())
    tested = [counted(words, "compared", tests) if tests else words["compared_none"]]
    return ComparisonView(title, tuple(heads), tuple(tables), tuple(tested), words["site_best"])


def _greatest(rankings: Sequence[Ranking]) -> float:
    """Return the largest size in a table, to give all its bars the same scale."""
    values = [each.value for ranking in rankings for each in ranking.values if each and each.value is not None]
    return max((abs(value) for value in values if math.isfinite(value)), default=0.0)


def _ranked_row(
    ranking: Ranking,
    greatest: float,
    heads: Sequence[str],
    words: Words,
    hidden: set[str],
    labels: Mapping[str, str],
) -> RankedRow:
    best = set(ranking.leading) if ranking.order else set()
    alike = len(best) == len(ranking.order)
    cells = tuple(
        RankedCell(
            shown_value(values, ranking.unit),
            spread_text(values),
            ranking.letters[place].upper(),
            place in best and not alike,
            100 * abs(values.value) / greatest if values and values.value and greatest else 0.0,
        )
        for place, values in enumerate(ranking.values)
    )
    if not ranking.order:
        verdict = words["site_unjudged"].format(reason=words.said(str(ranking.reason)))
    elif alike:
        verdict = words["site_none_apart"]
    else:
        verdict = words.locale.listed([heads[place] for place in ranking.leading])
    point = point_text(ranking.point, words, hidden, labels)
    return RankedRow(point, cells, verdict, "" if ranking.order else "unknown")


def step_view(
    title: str,
    rows: Sequence[Comparison],
    heads: Sequence[str],
    words: Words,
    labels: Mapping[str, str],
    differing: Sequence[tuple[str, ...]] = (),
) -> ComparisonView | None:
    """Return a table that compares a run with another run: both values, the change, and the verdict."""
    by_quantity: dict[str, list[Comparison]] = {}
    for each in rows:
        by_quantity.setdefault(each.quantity, []).append(each)
    if not by_quantity:
        return None
    hidden = same_dims([each.point for each in rows])
    tables = tuple(
        RankedTable(
            quantity_name(name, labels.get(metric_key(name), ""), words),
            words[f"site_{found[0].better or 'none'}_better"],
            tuple(_step_row(each, words, hidden, labels) for each in found),
        )
        for name, found in by_quantity.items()
    )
    notes = (words["site_step_note"],)
    return ComparisonView(title, (*heads, words["site_change"]), tables, notes, words["site_verdict"], tuple(differing))


def _step_row(row: Comparison, words: Words, hidden: set[str], labels: Mapping[str, str]) -> RankedRow:
    def cell(values: PointValues | None) -> RankedCell:
        return RankedCell(shown_value(values, row.unit), spread_text(values), "", best=False)

    change = RankedCell(*_change(row, words), "", best=False)
    kind = row.verdict.replace(" ", "_")
    verdict = words[f"site_{kind}"]
    if row.verdict == "unknown" and row.reason:
        verdict = words["site_unjudged"].format(reason=words.said(str(row.reason)))
    return RankedRow(
        point_text(row.point, words, hidden, labels), (cell(row.first), cell(row.second), change), verdict, kind
    )


def _change(row: Comparison, words: Words) -> tuple[str, str]:
    """Return the change in words. If the change between the two shown values differs from the tested change, both are
    returned. For shares, and if there is no ratio, the change is given as a difference."""
    is_share = row.unit in ("share", "%")

    def text(ratio: float | None, difference: float | None) -> str:
        if ratio is not None and not is_share:
            return change_text(ratio)
        return MISSING if difference is None else difference_text(difference, row.unit, words)

    tested = text(row.ratio, row.difference)
    if not row.is_apart or row.first is None or row.second is None:
        return tested, ""
    first, second = row.first.value, row.second.value
    if first is None or second is None:
        return tested, ""
    of_values = second / first if row.ratio is not None else None
    return text(of_values, second - first), words["site_of_repeats"].format(change=tested)
