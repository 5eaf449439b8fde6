"""Progress of a run: live lines on a terminal, one plain line a finished cell elsewhere."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from benchbrief.marks import UNICODE, marks
from benchbrief.quantities import duration, latency, of_planned, rate
from benchbrief.run_view import RunView
from benchbrief.terminal import last_words, printable, use_colour

if TYPE_CHECKING:
    from benchbrief.compiler.plan import Plan
    from benchbrief.runners import journal as j
    from benchbrief.runners.live import Load, Reading

HEARTBEAT_S = (30.0, 60.0, 120.0, 300.0)
"""Without a live display, when nothing was told for so long, a line tells what goes on; then ever more rarely."""


def _nothing() -> Sequence[Reading]:
    return ()


class Progress:
    """Listens to the journal and tells the user: what runs now, what each cell gave, and how long it will take.

    All goes to standard error, so that standard output stays free for results. When nobody can read it any more, the
    run goes on in silence.
    """

    def __init__(self, *, quiet: bool = False, heartbeat_s: Sequence[float] = HEARTBEAT_S) -> None:
        self._quiet = quiet
        self._stream = sys.stderr
        self._paint = use_colour(self._stream)
        # A dumb terminal can't move its cursor.
        self._is_live = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._marks = marks(self._stream.encoding)
        self._lock = threading.Lock()
        self._told: set[str] = set()
        self._lines: list[str] = []
        self._live: Any = None
        self.view: RunView | None = None
        self._readings: Callable[[], Sequence[Reading]] = _nothing
        self._width = 0
        self._heartbeat_s = heartbeat_s
        self._spoke = time.monotonic()
        self._beats = 0
        self.phase = ""

    @contextmanager
    def of(
        self, plan: Plan, done: Collection[str] = (), readings: Callable[[], Sequence[Reading]] = _nothing
    ) -> Iterator[None]:
        """Show the progress of this plan while the block runs. Cells that are `done` already count as finished.

        `readings` gives the numbers of what runs now.
        """
        self._width = max((len(cell.id) for cell in plan.cells), default=0)
        self.view = RunView(plan, done)
        self._readings = readings
        if self._quiet:
            yield
        elif self._is_live:
            with self._live_display():
                yield
        else:
            with self._heartbeat():
                yield

    @contextmanager
    def _live_display(self) -> Iterator[None]:
        from rich.live import Live

        live = Live(console=self._console(), refresh_per_second=4, get_renderable=self._render, transient=True)
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
    def _heartbeat(self) -> Iterator[None]:
        over = threading.Event()

        def beat() -> None:
            while not over.wait(self._next_beat_s()):
                if self._next_beat_s() <= 0:
                    self._tell_what_goes_on()

        thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _next_beat_s(self) -> float:
        pause = self._heartbeat_s[min(self._beats, len(self._heartbeat_s) - 1)]
        return self._spoke + pause - time.monotonic()

    def _tell_what_goes_on(self) -> None:
        with self._lock:
            line = self._what_goes_on()
        beats = self._beats + 1
        self._print([line])
        self._beats = beats

    def _what_goes_on(self) -> str:
        view, now = self.view, time.time()
        if view is None:
            return ""
        left = view.remaining_s(now)
        end = f"; about {duration(left)} left" if left else ""
        if len(view.running) != 1:
            rates = [load.ops_per_s for cell in view.running if (load := self._load(cell))]
            together = f", {rate(sum(rates))} together" if rates else ""
            return f"... {view.finished}/{view.total} cells done, {len(view.running)} running{together}{end}"
        [(cell_id, cell)] = view.running.items()
        load = self._load(cell_id)
        so_far = max(0.0, now - cell.step_began)
        what = f"{cell.step} {of_planned(so_far, cell.step_s)}" if cell.step else "begins"
        numbers = f", {rate(load.ops_per_s)}" if load else ""
        if load and load.latency_s is not None:
            numbers += f", {load.latency_of} {latency(load.latency_s)}"
        return printable(f"... {cell_id}: {what}{numbers}{end}")

    def _load(self, cell: str) -> Load | None:
        from benchbrief.runners.live import load_of

        return load_of(cell, self._readings())

    @contextmanager
    def doing(self, what: str) -> Iterator[None]:
        """On a terminal, show what is being done while the block runs."""
        if self._quiet or not self._is_live:
            yield
            return
        spinner = "dots" if self._marks is UNICODE else "line"
        with self._console().status(what, spinner=spinner):
            yield

    def leave_terminal(self) -> None:
        """Show the cursor again, when there is no time for more."""
        if self._live is not None:
            last_words("\x1b[?25h\n")

    def note(self, text: str) -> None:
        """Say something beside the progress."""
        self._print([self._style("note:", "yellow") + f" {printable(text)}"])

    def warn(self, text: str) -> None:
        self._print([self._style("warning:", "yellow") + f" {printable(text)}"])

    def record(self, record: j.AnyRecord) -> None:
        """Take note of a journal record and tell of it. Called from the lanes' threads."""
        with self._lock:
            if self.view is not None:
                self.view.apply(record)
            if handler := getattr(self, f"_on_{record.type}", None):
                handler(record)
            lines, self._lines = self._lines, []
        # Printing waits for the live display, whose own thread waits for our lock: never hold it here.
        self._print(lines)

    def catch_up(self, record: j.AnyRecord) -> None:
        """Take note of a record of the past, and say nothing of it."""
        with self._lock:
            if self.view is not None:
                self.view.apply(record)

    def where_it_is(self, run_id: str) -> None:
        """Tell how far a run has come that goes on already."""
        with self._lock:
            view = self.view
            left = view.remaining_s(time.time()) if view is not None else None
        if view is not None:
            failed = f", {view.counts['failed']} failed" if view.counts["failed"] else ""
            more = f", about {duration(left)} left" if left else ""
            self._print([f"run {printable(run_id)}: {view.finished} of {view.total} cells finished{failed}{more}"])

    def _on_run_started(self, record: j.RunStarted) -> None:
        view = self.view
        if view is None:
            return
        left = duration(view.remaining_s(record.at) or 0)
        before = f", {view.finished} done before" if view.finished else ""
        up_to = "up to " if any(e.search or e.confident for e in view.plan.experiments.values()) else ""
        self._say(f"run {record.run_id}: {up_to}{view.total} cells{before}, {up_to}about {left}")

    def _on_engine_facts(self, record: j.EngineFacts) -> None:
        if sentence := record.facts.get("stand_in"):
            self._once("note", sentence)

    def _on_remark(self, record: j.Remark) -> None:
        self._once("note" if record.severity == "info" else record.severity, record.text)

    def _on_cell_resumed(self, record: j.CellResumed) -> None:
        step = record.step.replace("_", " ")
        what = (
            "its outputs are there"
            if record.step == "collect"
            else f"attached to what began {duration(record.at - record.began_at)} ago"
        )
        self._say(printable(f"going on with {record.cell} in its {step} step: {what}"))

    def _on_cell_ended(self, record: j.CellEnded) -> None:
        view = self.view
        if view is None or record.cell not in view.cells:
            return
        head = f"[{view.finished:>{len(str(view.total))}}/{view.total}] {record.cell:<{self._width}}"
        if record.status == "ok":
            left = view.remaining_s(record.at)
            more = f"  about {duration(left)} left" if left else ""
            seconds = view.cells[record.cell].seconds or 0.0
            self._say(printable(f"{head} {record.ops_per_s or 0:>12,.0f} ops/s  {seconds:6.1f} s{more}"))
        else:
            word = self._style("failed, is tried again", "yellow") if record.retried else self._style("FAILED", "red")
            self._say(f"{printable(head)} {word}  {printable(record.origin)}")
            self._say(f"    {printable(record.reason)}")

    def _on_search_ended(self, record: j.SearchEnded) -> None:
        from benchbrief.runners.searches import shown

        if record.knee is not None:  # a remark tells that there is none
            where = f"{record.experiment} (on {record.hardware}, with {record.workload})"
            self._say(printable(f"knee of {where}: {shown(record.knee, record.axis)}"))

    def _render(self) -> Any:
        from rich.text import Text

        from benchbrief.live_screen import screen

        console = self._live.console if self._live is not None else None
        readings = self._readings()
        with self._lock:
            if self.view is None or console is None:
                return Text()
            size = (console.size.width, console.size.height)
            return screen(self.view, readings, time.time(), size, self._marks, self.phase)

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
        if lines:
            self._spoke, self._beats = time.monotonic(), 0
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

    def _console(self) -> Any:
        from rich.console import Console

        return Console(file=self._stream, highlight=False, no_color=not self._paint)

    def _style(self, text: str, colour: str) -> str:
        return click.style(printable(text), fg=colour) if self._paint else printable(text)
