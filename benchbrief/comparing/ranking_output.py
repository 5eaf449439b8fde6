"""Formats the output of `bench compare` for three or more contenders: for a terminal, as JSON, as Markdown, and as the
cases of a JUnit file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from benchbrief.cli.terminal import align_columns, one_line
from benchbrief.cli.verdict_files import Case, inline, table
from benchbrief.comparing.compare_output import (
    cases,
    count_verdicts,
    describe_pair,
    describe_side,
    describe_values,
    find_constant_dimensions,
    format_point,
    format_values,
    shorten_reason,
)
from benchbrief.comparing.comparison_cautions import say, some_of
from benchbrief.dsl.source import display_width
from benchbrief.model.message import mapped

if TYPE_CHECKING:
    from benchbrief.comparing.judged_contenders import JudgedContenders
    from benchbrief.results.compare.rankings import Ranking

_MOST_NAMED = 2


class RankedLine(NamedTuple):
    """A line of the table. A line whose `colour` is None is plain."""

    text: str
    colour: str | None = None


def best_of(ranking: Ranking, names: str) -> str:
    """Return the contenders that no other contender beats (such as `B`, or `A, B`), or say that none can be told
    apart."""
    if not ranking.order:
        return "can't tell"
    if len(ranking.leading) == len(ranking.order):
        return "none told apart"
    return ", ".join(names[place] for place in ranking.leading)


def ranked_table(judged: JudgedContenders, columns: int | None) -> list[RankedLine]:
    """Return the table, if possible in at most this many columns. Contenders are columns, or lines if the columns do
    not fit."""
    for with_spread in (True, False):
        lines = _aligned(judged, with_spread=with_spread)
        if columns is None or max((display_width(line.text) for line in lines), default=0) <= columns:
            return lines
    return _stacked(judged)


def _cell(ranking: Ranking, place: int, *, with_spread: bool = True) -> str:
    text = format_values(ranking.values[place], ranking.unit, with_spread=with_spread)
    return f"{text} {ranking.letters[place]}".rstrip()


def _heads(ranking: Ranking) -> str:
    sense = {"higher": "higher is better", "lower": "lower is better", None: "highest first"}[ranking.better]
    return f"{one_line(ranking.quantity)} ({sense})"


def _points(rankings: Sequence[Ranking]) -> list[str]:
    rows = [next(iter(each.pairs.values())) for each in rankings]
    hidden = find_constant_dimensions(rows)
    return [one_line(format_point(row, hidden)) for row in rows]


def _aligned(judged: JudgedContenders, *, with_spread: bool) -> list[RankedLine]:
    head = ("metric, point", *judged.names, "best")
    cells = [
        (
            f"  {point}",
            *(_cell(each, at, with_spread=with_spread) for at in range(len(judged.names))),
            best_of(each, judged.names),
        )
        for point, each in zip(_points(judged.rankings), judged.rankings, strict=True)
    ]
    first, rule, *texts = align_columns([head, *cells])
    lines = [RankedLine(first), RankedLine(rule)]
    for _, pairs in groupby(zip(judged.rankings, texts, strict=True), key=lambda pair: pair[0].quantity):
        of = list(pairs)
        lines.append(RankedLine(_heads(of[0][0])))
        lines += [RankedLine(text, None if each.order else "yellow") for each, text in of]
    return lines


def _stacked(judged: JudgedContenders) -> list[RankedLine]:
    lines = []
    points = zip(_points(judged.rankings), judged.rankings, strict=True)
    for _, of in groupby(points, key=lambda pair: pair[1].quantity):
        for place, (point, each) in enumerate(of):
            if not place:
                lines.append(RankedLine(_heads(each)))
            lines.append(RankedLine(f"  {point}: {best_of(each, judged.names)}", None if each.order else "yellow"))
            lines += [RankedLine(f"    {name}  {_cell(each, at)}") for at, name in enumerate(judged.names)]
    return lines


def explain_unranked(judged: JudgedContenders) -> Iterator[str]:
    """Explain why points are not ranked and why values are missing. Each reason comes with the points that it applies
    to."""
    found: dict[tuple[str, str], list[str]] = {}
    for point, each in zip(_points(judged.rankings), judged.rankings, strict=True):
        reasons = [("", each.reason)] if each.reason else []
        if each.order:
            reasons = list(_missing(each, judged.names))
        for why in reasons:
            found.setdefault(why, []).append(say.at_place(what=each.quantity, place=point))
    for (name, reason), at in found.items():
        points, said = some_of(at, _MOST_NAMED), mapped(reason, shorten_reason)
        if name:
            yield say.left_out_there(name=name, said=said, points=points)
        else:
            yield say.not_told_apart(said=said, points=points)


def _missing(ranking: Ranking, names: str) -> Iterator[tuple[str, str]]:
    for place, values in enumerate(ranking.values):
        if place not in ranking.order:
            yield names[place], (values.reason if values else "") or say.not_measured()


def summary(judged: JudgedContenders) -> Iterator[str]:
    """Yield a line about each contender, such as `B against A: 2 worse, 5 within noise`."""
    for name, outcome in judged.against_first.items():
        yield f"{name} against {judged.names[0]}: {count_verdicts(outcome) or 'no point in common'}"


def ranking_cases(judged: JudgedContenders, *, strict: bool) -> Iterator[Case]:
    """Yield the cases of a JUnit file. Each case compares a contender with the first one."""
    for name, outcome in judged.against_first.items():
        called = (judged.names[0], name)
        for each in cases(outcome, called, strict=strict):
            yield replace(each, name=f"{each.name} ({name} against {called[0]})")


def ranking_rows(judged: JudgedContenders) -> list[tuple[str, ...]]:
    """Return a row for each point: the metric (only in its first row), the point, each contender's value with its
    letters, and the best contenders."""
    before, rows = "", []
    for point, each in zip(_points(judged.rankings), judged.rankings, strict=True):
        name = _heads(each) if each.quantity != before else ""
        before = each.quantity
        cells = (_cell(each, at) for at in range(len(judged.names)))
        rows.append((name, point, *cells, best_of(each, judged.names)))
    return rows


def ranking_markdown(title: str, judged: JudgedContenders) -> str:
    lines = [f"## {inline(title)}", "", *(f"- {inline(line)}" for line in summary(judged)), ""]
    head = ("metric", "point", *judged.names, "best")
    rows = ranking_rows(judged)
    lines += [*table(head, rows), ""]
    if judged.differing:
        lines += ["What else differs:", ""]
        differing = [(each.what, *(value or "–" for value in each.each)) for each in judged.differing]
        lines += [*table(("", *judged.names), differing), ""]
    lines += [f"- {inline(note)}" for note in (*explain_unranked(judged), *judged.notes)]
    return "\n".join(lines) + "\n"


def ranking_dict(judged: JudgedContenders) -> dict[str, object]:
    sides = zip(judged.names, judged.references, judged.origins, strict=True)
    return {
        "contenders": [{"name": name, **describe_side(reference, origin)} for name, reference, origin in sides],
        "threshold": judged.threshold,
        "correction": {"method": "holm", "family": "all pairs at all points of a metric"},
        "differences": [
            {"what": each.what, **dict(zip(judged.names, each.each, strict=True))} for each in judged.differing
        ],
        "rankings": [_ranking(each, judged.names) for each in judged.rankings],
        "worse": len(judged.worse),
    }


def _ranking(ranking: Ranking, names: str) -> dict[str, object]:
    values = {
        name: values and {**describe_values(values), "letters": ranking.letters[place]}
        for place, (name, values) in enumerate(zip(names, ranking.values, strict=True))
    }
    return {
        "metric": ranking.quantity,
        "unit": ranking.unit,
        "better": ranking.better,
        **dict(ranking.point),
        "values": values,
        "order": [names[place] for place in ranking.order],
        "best": [names[place] for place in ranking.leading] if ranking.order else [],
        "reason": ranking.reason,
        "pairs": [
            {"first": names[a], "second": names[b], **describe_pair(row)} for (a, b), row in ranking.pairs.items()
        ],
    }
