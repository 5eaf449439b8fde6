"""Writes a run's state as OpenMetrics text, for a Prometheus server or node_exporter's textfile collector.

See https://github.com/prometheus/OpenMetrics (text format 1.0). The textfile collector reads the older text format of
Prometheus. Therefore, all families are gauges and counters, which both formats have. No sample has a timestamp, because
the collector would refuse it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from benchbrief.dsl.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from benchbrief.progress.run_progress import Progress
    from benchbrief.progress.run_view import LiveRun
    from benchbrief.results.runs.run_summary import CellState
    from benchbrief.runners.execution.live_numbers import JobReading

_EVERY_S = 5.0
_FIRST_S = 0.2
_CELL_STATES: tuple[CellState, ...] = ("waiting", "running", "ok", "failed", "refused", "no_room", "skipped")
_MEASURES = (
    ("power", "host_power", "watts", "Power that a probe reads now."),
    ("cpu.utilisation", "host_cpu", "ratio", "Share of the processors that are busy now."),
)

Labels = Mapping[str, str]
_OURS = ("cell", "of")
"""The names of our own labels. If a factor has one of these names, its label gets an `_` at the end."""


@dataclass(frozen=True)
class MetricFamily:
    """A metric family. `unit` is the suffix of its name, or "" if it has no unit. A counter's samples end in
    `_total`."""

    name: str
    kind: Literal["gauge", "counter"]
    unit: str
    help: str
    samples: Sequence[tuple[Labels, float]]

    def lines(self) -> Iterable[str]:
        if not self.samples:
            return
        yield f"# TYPE {self.name} {self.kind}"
        if self.unit:
            yield f"# UNIT {self.name} {self.unit}"
        yield f"# HELP {self.name} {_escaped(self.help)}"
        suffix = "_total" if self.kind == "counter" else ""
        for labels, value in self.samples:
            listed = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items())
            yield f"{self.name}{suffix}{{{listed}}} {value:.17g}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def text(view: LiveRun, readings: Sequence[JobReading], state: str, now: float) -> str:
    """Return the whole exposition, with `# EOF`. `state` is the run's state: running, done, failed or interrupted."""
    lines = [line for family in families(view, readings, state, now) for line in family.lines()]
    return "".join(f"{line}\n" for line in (*lines, "# EOF"))


def families(view: LiveRun, readings: Sequence[JobReading], state: str, now: float) -> Iterable[MetricFamily]:
    from benchbrief.model.plan import key_text
    from benchbrief.results.runs.find_runs import RUN_STATES
    from benchbrief.runners.execution.live_numbers import load_of, measures_of

    marks = {"simulated": view.start and view.start.simulated, "imported": view.start and view.start.imported}
    run = {"run": view.run_id, **{mark: "true" for mark, holds in marks.items() if holds}}
    cells = {cell.id: cell for cell in view.plan.cells}

    def of_cell(name: str) -> Labels:
        cell = cells[name]
        keys = cell.levels.keys.items()
        levels = {f"{factor}_" if factor in _OURS else factor: key_text(key) for factor, key in keys}
        return {**run, "cell": name, "hardware": cell.hardware, "workload": cell.workload, **levels}

    def gauge(name: str, unit: str, about: str, samples: Iterable[tuple[Labels, float | None]]) -> MetricFamily:
        known = [(labels, value) for labels, value in samples if value is not None]
        return MetricFamily(f"benchbrief_{name}{unit and '_'}{unit}", "gauge", unit, about, known)

    spec, done = view.plan.spec.name, view.cells.items()
    of_state = (({**run, "spec": spec, "state": each}, float(each == state)) for each in RUN_STATES)
    yield gauge("run_state", "", "1 for the state that the run is in.", of_state)
    counts = (({**run, "state": each}, float(view.of(each))) for each in _CELL_STATES)
    yield gauge("cells", "", "Cells of the run by their state.", counts)
    yield MetricFamily(
        "benchbrief_attempts", "counter", "", "Attempts at cells that were begun.", [(run, view.attempts)]
    )
    yield MetricFamily("benchbrief_failures", "counter", "", "Attempts at cells that failed.", [(run, view.failures)])
    elapsed = [(run, view.elapsed_s(now))]
    yield gauge("elapsed", "seconds", "Since the controller that drives the run began.", elapsed)
    left = view.remaining_s(now) if state == "running" else None
    yield gauge("remaining", "seconds", "Estimated time left.", [(run, left)])
    about = "When the run's journal had its last record, in seconds since the epoch."
    yield gauge("last_record_timestamp", "seconds", about, [(run, view.record.last_at)])
    gave = ((of_cell(name), cell.ops_per_s) for name, cell in done if cell.state == "ok")
    yield gauge("cell_throughput", "ops_per_second", "Throughput of the cells that ended well.", gave)
    loads = {name: load for name in list(view.running) if (load := load_of(name, readings))}
    about = "What the load generators of a running cell say now"
    rates = ((of_cell(name), load.ops_per_s) for name, load in loads.items())
    yield gauge("current_throughput", "ops_per_second", f"{about}.", rates)
    latencies = (({**of_cell(name), "of": load.latency_of}, load.latency_s) for name, load in loads.items())
    yield gauge("current_latency", "seconds", f"{about}; `of` names the latency.", latencies)
    measures = measures_of(readings)
    for measure, name, unit, about in _MEASURES:
        values = (({**run, "host": host}, said.get(measure)) for host, said in measures.items())
        yield gauge(name, unit, about, values)


class MetricsFile:
    """Keeps a file up to date within a `with` block. The file is always replaced as a whole. Does nothing without a
    path.

    The file is left alone until the run has started here, because a command that is refused must not overwrite the file
    of the process that drives the run. After the block, the file stays, because it shows how the run ended.
    """

    def __init__(self, path: Path | None, progress: Progress, readings: Callable[[], Sequence[JobReading]]) -> None:
        self._path = path
        self._progress = progress
        self._readings = readings
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="metrics", daemon=True)

    def __enter__(self) -> Self:
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._temporary(self._path).touch()  # a place that can't be written is reported before anything runs
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._path is not None:
            self._over.set()
            self._thread.join()
            with suppress(OSError):
                self._write(self._path, "interrupted")
            with suppress(OSError):
                self._temporary(self._path).unlink(missing_ok=True)

    def _begun(self) -> bool:
        return self._progress.view is not None and bool(self._progress.view.run_id)

    def _keep(self) -> None:
        while self._path is not None and not self._over.wait(_EVERY_S if self._begun() else _FIRST_S):
            with suppress(OSError):  # readers see that the file is old; the run must not fail for it
                self._write(self._path, "running")

    def _write(self, path: Path, unless_ended: str) -> None:
        """Replace the file, if the run was started here. If the run has not ended, `unless_ended` is the state to
        write. Raises OSError."""
        view = self._progress.view
        if view is None or not self._begun():
            return
        state = view.record.end.status if view.record.end is not None else unless_ended
        contents = text(view, self._readings(), state, view.now())
        temporary = self._temporary(path)
        temporary.write_text(contents, encoding="utf-8")
        temporary.chmod(0o644)
        temporary.replace(path)

    @staticmethod
    def _temporary(path: Path) -> Path:
        """Return a name that the collector ignores, as it reads only *.prom."""
        return path.with_name(f".{path.name}.{os.getpid()}")
