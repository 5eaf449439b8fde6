"""Progress of a run: live lines on a terminal, one plain line a finished cell elsewhere."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from benchbrief.terminal import printable, use_colour

if TYPE_CHECKING:
    from benchbrief.compiler.plan import Plan
    from benchbrief.results.summary import CellState
    from benchbrief.runners import journal as j

_BAR = 30


class Progress:
    """Listens to the journal and tells the user: what runs now, what each cell gave, and how long it will take.

    All goes to standard error, so that standard output stays free for results. When nobody can read it any more, the
    run goes on in silence.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._stream = sys.stderr
        self._paint = use_colour(self._stream)
        self._lock = threading.Lock()
        self._told: set[str] = set()
        self._lines: list[str] = []
        self._live: Any = None
        self._began = time.monotonic()
        self._plan: Plan | None = None
        self._width = 0
        self._states: dict[str, CellState] = {}
        self._steps: dict[str, tuple[str, float, float]] = {}  # name, when it began, how long it is to take
        self._started: dict[str, float] = {}
        self._seconds: dict[str, float] = {}

    @contextmanager
    def of(self, plan: Plan, done: Collection[str] = ()) -> Iterator[None]:
        """Show the progress of this plan while the block runs. Cells that are `done` already count as finished."""
        self._began = time.monotonic()
        self._plan = plan
        self._width = max((len(cell.id) for cell in plan.cells), default=0)
        self._states = {cell.id: "ok" if cell.id in done else "waiting" for cell in plan.cells}
        if self._quiet or not self._stream.isatty():
            yield
            return
        from rich.console import Console
        from rich.live import Live

        console = Console(file=self._stream, highlight=False, no_color=not self._paint)
        live = Live(console=console, refresh_per_second=4, get_renderable=self._render, transient=True)
        with suppress(OSError):  # the terminal has gone
            live.start()
        self._live = live
        try:
            yield
        finally:
            self._live = None
            with suppress(OSError):
                live.stop()

    @contextmanager
    def doing(self, what: str) -> Iterator[None]:
        """On a terminal, show what is being done while the block runs."""
        if self._quiet or not self._stream.isatty():
            yield
            return
        from rich.console import Console

        with Console(file=self._stream, highlight=False, no_color=not self._paint).status(what):
            yield

    def leave_terminal(self) -> None:
        """Show the cursor again, when there is no time for more."""
        if self._live is not None:
            os.write(self._stream.fileno(), b"\x1b[?25h\n")

    def note(self, text: str) -> None:
        """Say something beside the progress."""
        self._print([self._style("note:", "yellow") + f" {printable(text)}"])

    def warn(self, text: str) -> None:
        self._print([self._style("warning:", "yellow") + f" {printable(text)}"])

    def record(self, record: j.AnyRecord) -> None:
        """Take note of a journal record. Called from the lanes' threads."""
        handler = getattr(self, f"_on_{record.type}", None)
        if handler is None:
            return
        with self._lock:
            handler(record)
            lines, self._lines = self._lines, []
        # Printing waits for the live display, whose own thread waits for our lock: never hold it here.
        self._print(lines)

    def _on_run_started(self, record: j.RunStarted) -> None:
        left = duration(self.remaining_s() or 0)
        before = f", {done} done before" if (done := self._finished()) else ""
        up_to = "up to " if self._plan and any(e.search for e in self._plan.experiments.values()) else ""
        self._say(f"run {record.run_id}: {up_to}{len(self._states)} cells{before}, {up_to}about {left}")

    def _on_engine_facts(self, record: j.EngineFacts) -> None:
        if sentence := record.facts.get("stand_in"):
            self._once("note", sentence)

    def _on_remark(self, record: j.Remark) -> None:
        self._once("note" if record.severity == "info" else record.severity, record.text)

    def _on_cell_started(self, record: j.CellStarted) -> None:
        self._states[record.cell] = "running"
        self._started[record.cell] = time.monotonic()

    def _on_step_started(self, record: j.StepStarted) -> None:
        self._steps[record.cell] = (record.step.replace("_", " "), time.monotonic(), record.seconds)

    def _on_cell_ended(self, record: j.CellEnded) -> None:
        self._states[record.cell] = record.status
        self._steps.pop(record.cell, None)
        seconds = self._seconds[record.cell] = time.monotonic() - self._started.pop(record.cell, time.monotonic())
        total = len(self._states)
        head = f"[{self._finished():>{len(str(total))}}/{total}] {record.cell:<{self._width}}"
        if record.status == "ok":
            left = self.remaining_s()
            more = f"  about {duration(left)} left" if left else ""
            self._say(printable(f"{head} {record.ops_per_s or 0:>12,.0f} ops/s  {seconds:6.1f} s{more}"))
        else:
            self._say(f"{printable(head)} {self._style('FAILED', 'red')}  {printable(record.origin)}")
            self._say(f"    {printable(record.reason)}")

    def _on_cell_skipped(self, record: j.CellSkipped) -> None:
        self._states[record.cell] = "skipped"

    def _on_search_ended(self, record: j.SearchEnded) -> None:
        from benchbrief.runners.searches import shown

        if record.knee is not None:  # a remark tells that there is none
            where = f"{record.experiment} (on {record.hardware}, with {record.workload})"
            self._say(printable(f"knee of {where}: {shown(record.knee, record.axis)}"))

    def _finished(self) -> int:
        return sum(state in ("ok", "failed", "skipped") for state in self._states.values())

    def remaining_s(self) -> float | None:
        """Estimated seconds left."""
        from benchbrief.results.summary import remaining_s

        cells = self._plan.cells if self._plan else ()
        now = time.monotonic()
        return remaining_s(
            (
                cell,
                self._states[cell.id],
                now - self._started[cell.id] if cell.id in self._started else self._seconds.get(cell.id),
            )
            for cell in cells
        )

    def _render(self) -> Any:
        from rich.text import Text

        with self._lock:
            finished, total, now = self._finished(), len(self._states), time.monotonic()
            full = round(_BAR * finished / total) if total else _BAR
            left = self.remaining_s()
            text = Text(no_wrap=True, overflow="ellipsis")
            text.append("━" * full, "green")
            text.append("━" * (_BAR - full) if self._paint else " " * (_BAR - full), "dim")
            text.append(f"  {finished}/{total} cells  {duration(now - self._began)} gone")
            text.append(f", about {duration(left)} left" if left else ", almost done")
            for cell, (step, began, planned) in self._steps.items():
                text.append(f"\n  {printable(cell):<{self._width}}  {step}")
                text.append(f"  {now - began:.0f} s of about {duration(planned)}", "dim")
        return text

    def _once(self, kind: str, text: str) -> None:
        """A remark is told once, however many cells repeat it."""
        line = f"{kind}: {text}"
        if line not in self._told:
            self._told.add(line)
            self._say(self._style(f"{kind}:", "yellow") + f" {printable(text)}")

    def _say(self, line: str) -> None:
        """Have a line printed once the record is dealt with."""
        self._lines.append(line)

    def _print(self, lines: list[str]) -> None:
        live = self._live
        try:
            for line in lines:
                if self._quiet:
                    return
                if live is not None:
                    from rich.text import Text

                    live.console.print(Text.from_ansi(line), soft_wrap=True)
                else:
                    click.echo(line, file=self._stream, color=self._paint)
        except OSError:  # who read it has gone
            self._quiet = True

    def _style(self, text: str, colour: str) -> str:
        return click.style(printable(text), fg=colour) if self._paint else printable(text)


def duration(seconds: float) -> str:
    """`45 s`, `3 min 20 s`, `2 h 05 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
