"""What goes on beside the measurement of an experiment, as `bench plan` tells it: probes and events."""

from __future__ import annotations

from collections.abc import Iterable

from benchbrief.compiler.planning.plan import Cell, Event
from benchbrief.dsl.diagnostics.plain_amounts import duration


def describe_probes(cells: Iterable[Cell]) -> list[str]:
    devices: dict[str, list[str]] = {}
    for cell in cells:
        for probe in cell.probes:
            found = devices.setdefault(f"{probe.name} every {duration(probe.every_s)}", [])
            device = probe.options.get("device") or probe.options.get("interface")
            if device and device not in found:
                found.append(device)
    return [f"{name} on {' or '.join(on)}" if on else name for name, on in devices.items()]


def describe_events(cells: Iterable[Cell]) -> list[str]:
    """Return a line for each event, with all hosts on which it runs, each cell on its own ones."""
    found: dict[tuple[float, str], tuple[Event, dict[str, None]]] = {}
    for cell in cells:
        for event in cell.events:
            _, hosts = found.setdefault((event.at_s, event.line), (event, {}))
            hosts.update(dict.fromkeys(event.hosts))
    return [_told(event, hosts) for event, hosts in found.values()]


def _told(event: Event, hosts: Iterable[str]) -> str:
    data = "" if event.data == "kept" else "; the data set counts as changed"
    return f'at {duration(event.at_s)} "{event.label}" on {", ".join(hosts)}: {event.line}{data}'
