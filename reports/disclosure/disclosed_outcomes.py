"""What a disclosure says of the events of a run, of its expectations, and by which rule the repeats decide them."""

from __future__ import annotations

from collections.abc import Iterator

from benchbrief.compiler.messages.text import share_figure
from benchbrief.compiler.planning.budgets import LEVEL, Looks, looks_at
from benchbrief.compiler.planning.plan import Event
from benchbrief.compiler.rounding import formatted
from benchbrief.reports.data.expectations import describe, judge_expectations
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.data.view_model import Item
from benchbrief.reports.text.number_format import automatic
from benchbrief.results.statistics.recovery import CHANCE


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


def disclose_events(results: Results) -> Iterator[Item]:
    """Yield each event with how long its command took at most, then each rule by which events are judged."""
    words = results.words
    found: dict[tuple[float, str, str], tuple[Event, dict[str, None]]] = {}
    for cell in results.plan.cells:
        for event in cell.events:
            _, hosts = found.setdefault((event.at_s, event.label, event.line), (event, {}))
            hosts.update(dict.fromkeys(event.hosts))
    if not found:
        return
    rows = results.store.sql("SELECT declared_s, label, max(seconds) FROM events GROUP BY ALL").rows
    took = {(float(row[0]), str(row[1])): float(row[2]) for row in rows}
    for event, hosts in found.values():
        seconds = took.get((event.at_s, event.label))
        if seconds is None:
            continue  # no good cell has it
        holes = {"label": event.label, "command": event.line, "hosts": words.locale.listed(list(hosts))}
        text = words["d_event"].format(**holes, seconds=automatic(event.at_s), took=automatic(round(seconds, 1)))
        yield Item(words["d_event_label"].format(seconds=automatic(event.at_s)), text)
    for rule in dict.fromkeys((e.window_s, e.steady_s, e.within, e.outage) for e, _ in found.values()):
        window_s, steady_s, within, outage = rule
        numbers = {"window": automatic(window_s), "steady": automatic(steady_s)}
        shares = {"within": share_figure(within), "outage": share_figure(outage)} | {"chance": share_figure(CHANCE)}
        yield Item("", words["d_event_rule"].format(**numbers, **shares))
