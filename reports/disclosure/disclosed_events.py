"""What a disclosure says of the events during the measurement, and by which rule recovery is judged."""

from __future__ import annotations

from collections.abc import Iterator

from benchbrief.compiler.messages.text import share_figure
from benchbrief.compiler.planning.plan import Event
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.data.view_model import Item
from benchbrief.reports.text.number_format import automatic
from benchbrief.results.statistics.recovery import CHANCE


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
