"""The cards of a suite's trends: a chart, the last value, and the last change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from benchbrief.reports.site.site_texts import change_text, date_of, point_text, quantity_name, same_dims, value_text
from benchbrief.reports.site.site_trends import TrendLine
from benchbrief.reports.site.site_view import TrendCard
from benchbrief.reports.site.suite_chart import Drawn, Mark, chart
from benchbrief.reports.words.brief_words import Words, counted


def trend_cards(lines: Sequence[TrendLine], labels: Mapping[str, str], words: Words) -> Iterator[TrendCard]:
    """Yield a card for each line. `labels` are those of hardware and workloads."""
    hidden = same_dims([line.point for line in lines])
    for line in lines:
        yield _card(line, point_text(line.point, words, hidden, labels), words)


def _card(line: TrendLine, point: str, words: Words) -> TrendCard:
    current, told, state = line.current, words["site_no_change"], "steady"
    if current is not None:
        state = "differs" if current.worse is None else "worse" if current.worse else "better"
        day = date_of(line.times[current.index])[:10]
        told = words["site_last_change"].format(change=change_text(current.ratio), date=day)
    last = [value for value in line.values if value is not None][-1]
    places = [(each.index, change_text(each.ratio)) for each in line.changes]
    return TrendCard(
        quantity_name(line.quantity, line.label, words),
        point,
        value_text(last, line.unit),
        told,
        state,
        _svg(line, point, words),
        tuple((line.runs[at], date_of(line.times[at]), change) for at, change in places),
    )


def _svg(line: TrendLine, point: str, words: Words) -> Markup:
    known = [value for value in line.values if value is not None]
    low, high = value_text(min(known), line.unit), value_text(max(known), line.unit)
    alt = words["site_chart"].format(
        quantity=quantity_name(line.quantity, line.label, words),
        point=point,
        n=len(known),
        low=low,
        high=high,
        last=value_text(known[-1], line.unit),
        changes=counted(words, "site_changes", len(line.changes)),
    )
    marks = [Mark(each.index, change_text(each.ratio), each.worse) for each in line.changes]
    return chart(Drawn(line.values, line.times, line.parts, marks, low, high, alt))
