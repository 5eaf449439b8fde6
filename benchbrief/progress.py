"""Progress of a run: a live line on a terminal, one plain line a finished cell elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from benchbrief.terminal import printable, use_colour

if TYPE_CHECKING:
    from benchbrief.compiler.plan import Plan
    from benchbrief.runners.journal import AnyRecord, CellEnded


class Progress:
    """Listens to the journal and tells the user: what runs now, what each cell gave, and how long it will take.

    All goes to standard error, so that standard output stays free for results.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._stream = sys.stderr
        self._paint = use_colour(self._stream)
        self._lock = threading.Lock()
        self._began = 0.0
        self._estimates: dict[str, float] = {}
        self._labels: dict[str, str] = {}
        self._total = 0
        self._finished = 0
        self._spent_estimate = 0.0
        self._cell_began: dict[str, float] = {}
        self._now: dict[str, str] = {}
        self._live: Any = None

    @contextmanager
    def of(self, plan: Plan) -> Iterator[None]:
        """Show the progress of this plan while the block runs."""
        self._began = time.monotonic()
        self._total = len(plan.cells)
        self._estimates = {cell.id: sum(step.seconds for step in cell.steps) for cell in plan.cells}
        self._plan_estimate = plan.estimate_s
        if self._quiet:
            yield
            return
        if not self._stream.isatty():
            yield
            return
        from rich.console import Console
        from rich.live import Live

        console = Console(file=self._stream, highlight=False, no_color=not self._paint)
        with Live(console=console, refresh_per_second=4, get_renderable=self._render, transient=True) as live:
            self._live = live
            try:
                yield
            finally:
                self._live = None

    def record(self, record: AnyRecord) -> None:
        """Take note of a journal record. Called from the lanes' threads."""
        with self._lock:
            handler = getattr(self, f"_on_{record.type}", None)
            if handler:
                handler(record)

    def _on_cell_started(self, record: Any) -> None:
        self._cell_began[record.cell] = time.monotonic()

    def _on_step_started(self, record: Any) -> None:
        self._now[record.cell] = record.step.replace("_", " ")

    def _on_run_started(self, record: Any) -> None:
        self._say(f"run {record.run_id}: {self._total} cells, about {duration(self._plan_estimate)}")

    def _on_engine_facts(self, record: Any) -> None:
        if sentence := record.facts.get("stand_in"):
            self._say(self._style(f"note: {sentence}", "yellow"))

    def _on_remark(self, record: Any) -> None:
        key = f"{record.severity}:{record.text}"
        if key not in self._labels:  # each remark is told once, however many cells repeat it
            self._labels[key] = record.text
            self._say(self._style(f"{record.severity}: {record.text}", "yellow"))

    def _on_cell_ended(self, record: CellEnded) -> None:
        self._finished += 1
        self._spent_estimate += self._estimates.get(record.cell, 0.0)
        self._now.pop(record.cell, None)
        seconds = time.monotonic() - self._cell_began.pop(record.cell, time.monotonic())
        count = f"[{self._finished:>{len(str(self._total))}}/{self._total}]"
        if record.status == "ok":
            verdict = f"{record.ops_per_s or 0:>12,.0f} ops/s  {seconds:6.1f} s  {self._left()}"
        else:
            verdict = self._style("FAILED", "red") + f"  {record.origin}\n      {record.reason}"
        self._say(f"{count} {record.cell:<44} {verdict}")

    def _left(self) -> str:
        remaining = self.remaining_s()
        return f"about {duration(remaining)} left" if remaining else ""

    def remaining_s(self) -> float:
        """Estimated seconds left: the plan's estimate, corrected by how long the finished cells really took."""
        total = sum(self._estimates.values())
        if not total or not self._spent_estimate:
            return self._plan_estimate
        elapsed = time.monotonic() - self._began
        return max(0.0, (total - self._spent_estimate) * elapsed / self._spent_estimate)

    def _render(self) -> Any:
        from rich.text import Text

        with self._lock:
            share = self._finished / self._total if self._total else 1.0
            bar = "━" * round(30 * share)
            gone = duration(time.monotonic() - self._began)
            left = duration(self.remaining_s())
            lines = [f"{bar:<30} {self._finished}/{self._total} cells  {gone} gone, about {left} left"]
            lines += [
                f"  {cell}  {step}  {time.monotonic() - self._cell_began.get(cell, time.monotonic()):.0f} s"
                for cell, step in self._now.items()
            ]
        return Text("\n".join(printable(line) for line in lines), no_wrap=True, overflow="ellipsis")

    def _say(self, line: str) -> None:
        if self._quiet:
            return
        if self._live is not None:
            from rich.text import Text

            self._live.console.print(Text.from_ansi(line))
        else:
            click.echo(line, file=self._stream, color=self._paint)

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
