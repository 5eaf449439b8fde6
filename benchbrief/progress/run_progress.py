"""Shows a run's progress: live lines on a terminal, or else one plain line for each finished cell."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from benchbrief.cli.terminal import (
    UNICODE,
    coloured,
    columns_of,
    duration,
    fold,
    last_words,
    latency,
    marks,
    one_line,
    pad,
    printable,
    progress_of_step,
    rate,
    shared_start,
    shorten,
    use_colour,
)
from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.dsl.source import display_width
from benchbrief.progress.run_view import KnownOfRun, LiveRun
from benchbrief.reports.text.merged_remarks import busy_host

if TYPE_CHECKING:
    from benchbrief.model import events as j
    from benchbrief.model.plan import Plan
    from benchbrief.runners.execution.live_numbers import JobReading, LiveLoad

HEARTBEAT_S = (30.0, 60.0, 120.0, 300.0)
"""How many seconds of silence pass before a line says what is running, if there is no live display. Later waits are
longer."""


_SHORTEST_NAME = 12


class Progress:
    """Follows the journal, and tells the user what is running, the result of each cell, and how long the run will take.

    Everything goes to standard error, so that standard output remains free for results. If standard error is closed,
    the run continues in silence.
    """

    def __init__(self, *, quiet: bool = False, heartbeat_s: Sequence[float] = HEARTBEAT_S) -> None:
        self._quiet = quiet
        self._stream = sys.stderr
        self._paint = use_colour(self._stream)
        # A dumb terminal can't move its cursor.
        self._is_live = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._marks = marks(self._stream.encoding)
        self._lock = threading.Lock()
        self._said_once: set[str] = set()
        self._lines: list[str] = []
        self._live: Any = None
        self.view: LiveRun | None = None
        self._readings: Callable[[], Sequence[JobReading]] = tuple
        self._width = 0
        self._shared = ""
        self._heartbeat_s = heartbeat_s
        self._spoke = time.monotonic()
        self._beats = 0
        self.phase = ""

    @contextmanager
    def of(
        self, plan: Plan, known: KnownOfRun | None = None, readings: Callable[[], Sequence[JobReading]] = tuple
    ) -> Iterator[None]:
        """Show this plan's progress during the block. The `known` cells count as finished.

        `readings` returns the current numbers of running jobs.
        """
        self._width = max((display_width(cell.id) for cell in plan.cells), default=0)
        self._shared = shared_start([cell.id for cell in plan.cells])
        self.view = LiveRun(plan, known)
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
                    self._show_what_goes_on()

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

    def _show_what_goes_on(self) -> None:
        with self._lock:
            line = self._what_goes_on()
        beats = self._beats + 1
        self._print([line])
        self._beats = beats

    def _what_goes_on(self) -> str:
        view = self.view
        if view is None:
            return ""
        now = view.now()
        left = view.left_text(now)
        end = f"; {left}" if left else ""
        if len(view.running) != 1:
            rates = [load.ops_per_s for cell in view.running if (load := self._load(cell))]
            together = f", {rate(sum(rates))} together" if rates else ""
            return f"... {view.finished}/{plural(view.total, 'cell')} done, {len(view.running)} running{together}{end}"
        [(cell_id, cell)] = view.running.items()
        load = self._load(cell_id)
        so_far = max(0.0, now - cell.step_began)
        what = f"{cell.step} {progress_of_step(so_far, cell.step_s)}" if cell.step else "begins"
        numbers = f", {view.load_rate(cell_id, load, now)}" if load else ""
        if load and load.latency_s is not None:
            numbers += f", {load.latency_of} {latency(load.latency_s)}"
        return one_line(f"... {cell_id}: {what}{numbers}{end}")

    def _load(self, cell: str) -> LiveLoad | None:
        from benchbrief.runners.execution.live_numbers import load_of

        return load_of(cell, self._readings())

    @contextmanager
    def doing(self, what: str) -> Iterator[None]:
        """During the block, show on a terminal that this work is being done."""
        if self._quiet or not self._is_live:
            yield
            return
        spinner = "dots" if self._marks is UNICODE else "line"
        with self._console().status(what, spinner=spinner):
            yield

    def leave_terminal(self) -> None:
        """Make the cursor visible again. Used when there is no time for a full clean-up."""
        if self._live is not None:
            last_words("\x1b[?25h\n")

    def note(self, text: str) -> None:
        """Print a note beside the progress."""
        self._print([self._style("note:", "yellow") + f" {one_line(text)}"])

    def warn(self, text: str) -> None:
        self._print([self._style("warning:", "yellow") + f" {one_line(text)}"])

    def record(self, record: j.AnyRecord) -> None:
        """Process a journal record and show it. Called from the lanes' threads."""
        with self._lock:
            if self.view is not None:
                self.view.apply(record)
            if handler := getattr(self, f"_on_{record.type}", None):
                handler(record)
            lines, self._lines = self._lines, []
        # Printing waits for the live display, whose own thread waits for our lock: never hold it here.
        self._print(lines)

    def catch_up(self, record: j.AnyRecord) -> None:
        """Process an earlier record without showing it."""
        with self._lock:
            if self.view is not None:
                self.view.apply(record)

    def show_position(self, run_id: str) -> None:
        """Show how far a run that is already in progress has come."""
        with self._lock:
            view = self.view
            left = view.left_text(view.now()) if view is not None else ""
        if view is not None:
            failed = f", {view.counts['failed']} failed" if view.counts["failed"] else ""
            more = f", {left}" if left else ""
            self._print(
                [f"run {one_line(run_id)}: {view.finished} of {plural(view.total, 'cell')} finished{failed}{more}"]
            )

    def _on_run_started(self, record: j.RunStarted) -> None:
        from benchbrief.compiler.estimates.estimate import of_which, rendering_text
        from benchbrief.dsl.diagnostics.plain_amounts import about

        view = self.view
        if view is None:
            return
        before = f", {view.finished} done before" if view.finished else ""
        budget_s = view.plan.budget_s
        ends_early = any(e.search or e.confident or e.budget_s or budget_s for e in view.plan.experiments.values())
        up_to = "up to " if ends_early else ""
        at_first, for_brief = view.expected_s(record.at), view.rendering_s
        fewer = of_which(view.plan)
        takes = f"{up_to}{about(at_first)}{fewer}{rendering_text(for_brief, at_first)}"
        takes = f"on real hosts {takes}" if record.simulated else takes
        most = "up to " if ends_early or fewer else ""
        self._say(f"run {record.run_id}: {most}{plural(view.total, 'cell')}{before}, {takes}")

    def _on_engine_facts(self, record: j.EngineFacts) -> None:
        for name in ("stand_in", "other_server"):
            if sentence := record.facts.get(name):
                self._once("note", sentence)

    def _on_remark(self, record: j.Remark) -> None:
        kind, text = "note" if record.severity == "info" else record.severity, record.text
        host = busy_host(text)
        self._once(kind, text, alike=f"{host} busy" if host else "")  # the end of the run counts them

    def _on_cell_resumed(self, record: j.CellResumed) -> None:
        step = record.step.replace("_", " ")
        what = (
            "its outputs are there"
            if record.step == "collect"
            else f"attached to what began {duration(record.at - record.began_at)} ago"
        )
        self._say(one_line(f"going on with {record.cell} in its {step} step: {what}"))

    def _on_cell_ended(self, record: j.CellEnded) -> None:
        from benchbrief.results.result_messages import shorten_reason
        from benchbrief.results.runs.run_summary import KEPT

        view = self.view
        if view is None or record.cell not in view.cells:
            return
        count = f"[{view.finished:>{len(str(view.total))}}/{view.total}] "
        if record.status == "ok":
            left = view.left_text(record.at)
            seconds = view.cells[record.cell].seconds or 0.0
            numbers = f" {record.ops_per_s or 0:>12,.0f} ops/s  {seconds:6.1f} s"
            if kept := KEPT.get(view.vote(record)):
                numbers += f"  promise {kept}"
            self._say(one_line(self._finished(count, record.cell, numbers, f"  {left}" if left else "")))
        else:
            word = self._style("failed, is tried again", "yellow") if record.retried else self._style("FAILED", "red")
            if view.is_answer(record) and not record.retried:
                said = KEPT.get(view.vote(record), "broken")
                word = self._style(said if said == "not offered" else f"promise {said}", "yellow")
            self._say(f"{one_line(self._name(count, record.cell))} {word}  {one_line(record.origin)}")
            self._say(f"    {one_line(shorten_reason(record.reason))}")

    def _finished(self, count: str, cell: str, numbers: str, left: str) -> str:
        """Return a finished cell's line. If the terminal is too narrow, the time left is dropped first, and then the
        name is shortened."""
        columns = columns_of(self._stream)
        whole = f"{count}{pad(cell, self._width)}{numbers}{left}"
        if columns is None or display_width(whole) <= columns:
            return whole
        room = max(_SHORTEST_NAME, columns - len(count) - len(numbers))
        return f"{count}{pad(shorten(cell, room, self._marks, self._shared), min(self._width, room))}{numbers}"

    def _name(self, count: str, cell: str) -> str:
        """Return the first line for a failed cell: its count and its name, shortened to fit."""
        columns = columns_of(self._stream)
        room = columns - len(count) if columns else self._width
        return f"{count}{pad(shorten(cell, room, self._marks, self._shared), min(self._width, room))}"

    def _on_search_ended(self, record: j.SearchEnded) -> None:
        from benchbrief.runners.scheduling.knee_search import load_text

        if record.knee is not None:  # if there is no knee, a remark tells it
            where = f"{record.experiment} (on {record.hardware}, with {record.levels.behind(record.workload)})"
            self._say(one_line(f"knee of {where}: {load_text(record.knee, record.axis)}"))

    def _on_promise_ended(self, record: j.PromiseEnded) -> None:
        from benchbrief.progress.finished_run import sentence
        from benchbrief.results.ingest.ingest_run import promised

        if self.view is not None and (said := sentence(promised(record, self.view.plan))):
            self._say(one_line(said))

    def _on_point_chosen(self, record: j.PointChosen) -> None:
        from benchbrief.runners.scheduling.knee_search import load_text

        where = f"{record.experiment} (on {', '.join(record.hardware)}, with {record.levels.behind(record.workload)})"
        self._say(one_line(f"next point of {where}: {load_text(record.point, record.axis)}, {record.why}"))

    def _on_held_out_began(self, record: j.HeldOutBegan) -> None:
        from benchbrief.model.plan import key_text

        where = "; ".join(
            ", ".join(f"{dim} {key_text(key)}" for dim, key in place.items() if key is not None)
            for place in record.places
        )
        number = f"{record.value:,.4g}" if abs(record.value) < 1e4 else f"{record.value:,.0f}"
        again = "" if record.attempt == 1 else f", attempt {record.attempt}"
        self._say(one_line(f"claim {record.claim}: measured again{again}, where its number was {number} ({where})"))

    def _render(self) -> Any:
        from rich.text import Text

        from benchbrief.progress.live_screen import screen

        console = self._live.console if self._live is not None else None
        readings = self._readings()
        with self._lock:
            if self.view is None or console is None:
                return Text()
            size = (console.size.width, console.size.height)
            return screen(self.view, readings, self.view.now(), size, self._marks, self.phase)

    def _once(self, kind: str, text: str, alike: str = "") -> None:
        """Show a remark only once, even if many cells repeat it. Remarks with the same `alike` count as one, even if
        their texts differ."""
        line = alike or f"{kind}: {text}"
        if line not in self._said_once:
            self._said_once.add(line)
            self._say(self._style(f"{kind}:", "yellow") + f" {one_line(text)}")

    def _say(self, line: str) -> None:
        """Queue a line. It is printed once the current record has been processed."""
        self._lines.append(line)

    def _print(self, lines: list[str]) -> None:
        live = self._live
        if lines:
            self._spoke, self._beats = time.monotonic(), 0
        try:
            columns = columns_of(self._stream)
            for line in (part for each in lines for part in fold(each, columns, len(each) - len(each.lstrip()) + 4)):
                if self._quiet:
                    return
                if live is not None:
                    from rich.text import Text

                    live.console.print(Text.from_ansi(coloured(line)), soft_wrap=True)
                else:
                    click.echo(coloured(line) if self._paint else printable(line), file=self._stream, color=self._paint)
        except OSError:  # the reader has gone
            self._quiet = True

    def _console(self) -> Any:
        from rich.console import Console

        return Console(file=self._stream, highlight=False, no_color=not self._paint)

    def _style(self, text: str, colour: str) -> str:
        return click.style(one_line(text), fg=colour) if self._paint else one_line(text)
