"""Draws the live screen of a run: its cells, hosts and numbers, in as many lines as the terminal has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.text import Text

from benchbrief.cli.terminal import UNICODE, Marks, duration, latency, one_line, pad, power, progress_of_step, shorten
from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import display_width
from benchbrief.model.precision import share_text
from benchbrief.progress.run_view import CellView, LiveRun
from benchbrief.results.runs.run_summary import CellState
from benchbrief.runners.execution.live_numbers import JobReading, load_of, measures_of

_BAR = 30
_MOST_HOSTS = 12
"""If there are more hosts than this, they are summed up in one line even if there is room for all."""


def screen(
    view: LiveRun, readings: Sequence[JobReading], now: float, size: tuple[int, int], marks: Marks, phase: str = ""
) -> Any:
    """Return a `rich` text that fits in `size` (columns, rows), leaving one row for the cursor."""
    columns, rows = size
    room = max(1, rows - 1)
    lines = [_head(view, now, columns, marks)]
    if phase:
        lines.append(Text(f"  {phase}"))
    hosts = _hosts(view, readings, columns, marks)
    cells = _cells(view, readings, now, columns, marks)
    # The hosts' summary always has a line; the single hosts are shown only if the cells leave room.
    if len(lines) + len(cells) + len(hosts.lines) > room:
        hosts = _Hosts((hosts.summary,) if hosts.summary else (), hosts.summary)
    left = max(0, room - len(lines) - len(hosts.lines))
    lines += _fitted(cells, left, len(view.running))
    lines += [Text(f"  {line}") for line in hosts.lines]
    for line in lines:
        line.truncate(columns, overflow="ellipsis" if marks is UNICODE else "crop")
    return Text("\n", no_wrap=True).join(lines[:room])


def _head(view: LiveRun, now: float, columns: int, marks: Marks) -> Any:
    parts = ["SIMULATED"] if view.start and view.start.simulated else []
    parts.append(f"{view.finished}/{plural(view.total, 'cell')}")
    ended: dict[CellState, str] = {
        "failed": "failed",
        "refused": "refused",
        "no_room": "without room",
        "skipped": "skipped",
    }
    parts += [f"{count} {word}" for state, word in ended.items() if (count := view.of(state))]
    left = view.left_text(now)
    parts.append(f"{duration(view.elapsed_s(now))} gone" + (f", {left}" if left else ""))
    words = "  ".join(parts)
    bar = min(_BAR, columns - display_width(words) - 2)
    text = Text(no_wrap=True)
    if bar >= 5:
        full = round(bar * view.share_done(now))
        text.append(marks.full * full, "green")
        text.append(marks.empty * (bar - full), "dim")
        text.append("  ")
    before, failed, after = words.partition(f"{view.counts['failed']} failed" if view.counts["failed"] else "\0")
    text.append(before).append(failed, "red")
    return text.append(after)


def _cells(view: LiveRun, readings: Sequence[JobReading], now: float, columns: int, marks: Marks) -> list[list[Any]]:
    """Return the lines of each running cell. A cell has one line if everything fits beside its name, and otherwise
    two."""
    rows = [(one_line(cell_id), *_doing(view, cell_id, cell, readings, now)) for cell_id, cell in view.running.items()]
    widest = max((display_width(name) for name, *_ in rows), default=0)
    longest = max((display_width(step) + display_width(numbers) + 2 for _, step, numbers in rows), default=0)
    beside = 2 + widest + 2 + longest <= columns
    found = []
    for name, step, numbers in rows:
        rest = Text(step, "dim").append(f"  {numbers}" if numbers else "", "default")
        if beside:
            found.append([Text(f"  {pad(name, widest)}  ").append_text(rest)])
        else:
            found.append([Text(f"  {shorten(name, columns - 2, marks)}"), Text("    ").append_text(rest)])
    return found


def _doing(view: LiveRun, cell_id: str, cell: CellView, readings: Sequence[JobReading], now: float) -> tuple[str, str]:
    """Return a cell's step with its progress, and the numbers of its load generators."""
    step = cell.step or "begins"
    if cell.step:
        so_far = max(0.0, now - cell.step_began)
        step += f"  {progress_of_step(so_far, cell.step_s)}"
    load = load_of(cell_id, readings)
    numbers = view.load_rate(cell_id, load, now) if load else ""
    if load and load.latency_s is not None:
        numbers += f"  {load.latency_of} {latency(load.latency_s)}"
    return one_line(step), one_line(numbers)


def _fitted(cells: list[list[Any]], room: int, running: int) -> list[Any]:
    """Return as many whole cells as fit, and how many do not fit."""
    lines = [line for cell in cells for line in cell]
    if len(lines) <= room:
        return lines
    lines, shown = [], 0
    for cell in cells:
        if len(lines) + len(cell) > room - 1:
            break
        lines += cell
        shown += 1
    if room:
        more = running - shown
        lines.append(Text(f"  and {more} more cell{'s' if more > 1 else ''} running" if shown else f"  {more} running"))
    return lines


@dataclass(frozen=True)
class _Hosts:
    """The lines about hosts: one for each host, and a summary that replaces them if there are too many hosts."""

    lines: tuple[str, ...]
    summary: str


def _hosts(view: LiveRun, readings: Sequence[JobReading], columns: int, marks: Marks) -> _Hosts:
    steps, measures = view.hosts(), measures_of(readings)
    if len(steps) < 2 and not measures:
        return _Hosts((), "")
    summary = host_summary(steps, measures)
    if len(steps) > _MOST_HOSTS:
        return _Hosts((summary,), summary)
    widest = min(max(map(display_width, steps), default=0), max(8, columns // 3))
    longest = max(display_width(step or "idle") for step in steps.values())
    lines = tuple(
        f"{pad(shorten(one_line(host), widest, marks), widest)}  {pad(step or 'idle', longest)}  "
        f"{host_numbers(measures.get(host, {}), 5)}".rstrip()
        for host, step in steps.items()
    )
    return _Hosts(lines, summary)


def host_summary(steps: dict[str, str], measures: dict[str, dict[str, float]]) -> str:
    """Sum up the hosts: `50 hosts: 40 measure, 6 load, 4 idle; cpu 43 % on average; 12.3 kW of 48`."""
    doing = Counter(step or "idle" for step in steps.values())
    parts = [
        f"{len(steps)} host{'s' if len(steps) != 1 else ''}: " + ", ".join(f"{n} {s}" for s, n in doing.most_common())
    ]
    cpus = [said["cpu.utilisation"] for said in measures.values() if "cpu.utilisation" in said]
    watts = [said["power"] for said in measures.values() if "power" in said]
    if cpus:
        parts.append(f"cpu {share_text(sum(cpus) / len(cpus))} on average")
    if watts:
        parts.append(power(sum(watts)) + (f" of {len(watts)} together" if len(watts) > 1 else ""))
    return "; ".join(parts)


def host_numbers(said: dict[str, float], pad: int = 0) -> str:
    """Write the readings of a host's probes, such as `cpu 43 %, 212 W`."""
    numbers = [f"cpu {share_text(said['cpu.utilisation']):>{pad}}"] if "cpu.utilisation" in said else []
    return "  ".join([*numbers, power(said["power"])] if "power" in said else numbers)
