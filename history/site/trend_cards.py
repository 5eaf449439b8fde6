"""The cards of a suite's trends: a chart, the last value, and the last change with whose it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from benchbrief.history.site.change_texts import p_text, worth
from benchbrief.history.site.site_texts import change_text, point_text, quantity_name, same_dims, value_text
from benchbrief.history.site.site_trends import PlacedChange, TrendLine
from benchbrief.history.site.site_view import TrendCard
from benchbrief.history.site.suite_chart import Drawn, Mark, chart
from benchbrief.reports.words.brief_words import Words, counted
from benchbrief.results.statistics.change_points import FEWEST


def trend_cards(lines: Sequence[TrendLine], labels: Mapping[str, str], words: Words) -> Iterator[TrendCard]:
    """Yield a card for each line. `labels` are those of hardware and workloads."""
    hidden = same_dims([line.point for line in lines])
    for line in lines:
        point = point_text(line.point, words, hidden, labels)
        if line.series.control:
            point += words["aside"].format(text=words["site_control"])
        yield _card(line, point, words)


def _card(line: TrendLine, point: str, words: Words) -> TrendCard:
    text = words["site_too_few_runs" if has_few_runs(line) else "site_no_change"]
    is_noise = bool(line.changes) and line.changes[-1].change.is_noise
    if (shown := line.current or (line.changes[-1] if is_noise else None)) is not None:
        text = words["site_last_change"].format(change=_by(shown), date=f"{shown.change.first.at:%Y-%m-%d}")
        text = " · ".join((text, *_known(shown, words)))
    last = [each for each in line.values if each.value is not None][-1]
    return TrendCard(
        quantity_name(line.series.quantity, line.series.label, words),
        point,
        last.doubt.mark + value_text(last.value, line.unit),
        text,
        _state(line, line.current) if line.current else "steady",
        _svg(line, point, words),
        tuple(
            (
                each.change.first.run_id,
                f"{each.change.first.at:%Y-%m-%d %H:%M}",
                _by(each),
                " · ".join((_sure(each), *_known(each, words))),
            )
            for each in line.changes
        ),
    )


def has_few_runs(line: TrendLine) -> bool:
    """Return whether no change is known, and there are too few runs to know one."""
    return not line.changes and len(line.series.parts[-1].known) <= FEWEST


def _state(line: TrendLine, placed: PlacedChange) -> str:
    """Return worse, better or differs; lab for what a control shows, and accepted for what people accept."""
    if line.series.control or (placed.change.lab is not None and placed.change.lab.is_lab):
        return "lab"
    if placed.change.verdict is not None and placed.change.verdict.verdict == "accept":
        return "accepted"
    return worth(placed.change)


def _by(placed: PlacedChange) -> str:
    """Return `−5.1 %`; where there is no ratio, the difference in the unit."""
    change = placed.change
    if change.ratio is not None:
        return change_text(change.ratio)
    apart = change.after - change.before
    return f"{'−' if apart < 0 else '+'}{value_text(abs(apart), placed.unit)}"


def _sure(placed: PlacedChange) -> str:
    """Return the 95 % interval, where there is one, and the p-value."""
    p, ends = p_text(placed.change.p), placed.change.interval
    return f"({' … '.join(change_text(end) for end in ends)}) {p}" if ends else p


def _known(placed: PlacedChange, words: Words) -> Iterator[str]:
    """Yield what the control series and people say of a change."""
    lab, verdict = placed.change.lab, placed.change.verdict
    if lab is not None and lab.is_lab:
        yield words["site_lab"].format(change=change_text(lab.change))
    elif lab is not None and lab.is_part:
        yield words["site_lab_part"].format(change=change_text(lab.change), rest=change_text(lab.rest))
    if verdict is not None:
        text = words[f"site_said_{verdict.verdict}"]
        yield f"{text}{words['colon']}{verdict.note}" if verdict.note else text


def _svg(line: TrendLine, point: str, words: Words) -> Markup:
    values = tuple(each.value for each in line.values)
    known = [value for value in values if value is not None]
    (last,) = [each for each in line.values if each.value is not None][-1:]
    low, high = value_text(min(known), line.unit), value_text(max(known), line.unit)
    marks = [
        Mark(each.index, _by(each), _state(line, each))
        for each in line.changes
        if each.index is not None and not each.change.is_noise
    ]
    alt = words["site_chart"].format(
        quantity=quantity_name(line.series.quantity, line.series.label, words),
        point=point,
        n=len(known),
        low=low,
        high=high,
        last=last.doubt.mark + value_text(last.value, line.unit),
        changes=words["site_too_few_runs"] if has_few_runs(line) else counted(words, "site_changes", len(marks)),
    )
    times = tuple(each.at.timestamp() for each in line.values)
    return chart(Drawn(values, times, line.parts, marks, low, high, alt))
