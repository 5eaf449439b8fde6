"""Measures suspicious points again, using the run's own plan reduced to those cells."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from benchbrief.cli.terminal import Stop
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.history.gate_rule import JudgedSeries, Remeasured
from benchbrief.history.read_series import HistorySeries, SeriesPart, differences
from benchbrief.history.series_rows import PlacedCells, SeriesRow, canonical, metrics_in, series_rows, without_facts
from benchbrief.model.plan import Cell, Plan
from benchbrief.pipeline import run_plan
from benchbrief.progress.run_progress import Progress
from benchbrief.runners.journal.run_folder import create_run, load_plan, revision_in, simulation_of
from benchbrief.running.reduced_plan import kept_spec_files, reduced_plan

FOLDER = "measured-again"
"""The folder for runs that measure again. It is inside the folder of runs, and hidden from all other commands."""


@dataclass
class MeasuredAgain:
    """The new values, notes on values that do not count, and the runs that measured them."""

    values: Remeasured
    notes: dict[str, None] = field(default_factory=dict)
    runs: list[Path] = field(default_factory=list)


def measure_again(
    run_dir: Path, judged: Sequence[JudgedSeries], times: int, across: Sequence[str], say: Callable[[str], None]
) -> MeasuredAgain:
    """Run the cells behind suspicious values this many times, together with the cells of their controls.

    Raises RunnerError, and Stop if a run is interrupted.
    """
    plan = load_plan(run_dir)
    values: dict[int, list[float]] = {}
    of_controls: dict[tuple[str, str, str, str], list[float]] = {}
    found = MeasuredAgain(Remeasured(values, of_controls))
    suspects = [place for place, each in enumerate(judged) if each.state == "suspect"]
    chosen = {place: cells for place in suspects if (cells := _cells(plan, judged[place].series, found.notes))}
    controls = {each.series.key: each.series for place in chosen for each in judged[place].controls}
    beside = [cell for series in controls.values() for cell in _cells(plan, series, found.notes)]
    if not chosen:
        return found
    wanted = {cell.id for cells in (*chosen.values(), beside) for cell in cells}
    reduced = reduced_plan(plan, (cell for cell in plan.cells if cell.id in wanted))
    files = dict(kept_spec_files(run_dir, plan))
    simulated, revision = simulation_of(run_dir), revision_in(run_dir)
    for turn in range(1, times + 1):
        say(f"measuring {plural(len(wanted), 'cell')} again, {turn} of {times}")
        model = simulated and simulated.model_copy(update={"seed": simulated.seed + 1_000_003 * turn})
        made = create_run(run_dir.parent / FOLDER, reduced, files, simulated=model, revision=revision)
        finished = run_plan(made, Progress(quiet=True), report=False)
        found.runs.append(made)
        if finished.status == "interrupted":
            raise Stop(ExitCode.INTERRUPTED)
        rows = {(row.quantity, row.point): row for row in series_rows(made) if row.repeat is None}
        for place in chosen:
            part = judged[place].part
            values.setdefault(place, []).append(_value(rows, judged[place].series, part, across, made, found.notes))
        for key, series in controls.items():
            part = series.parts[-1]
            of_controls.setdefault(key, []).append(_value(rows, series, part, across, made, found.notes))
    return found


def _value(
    rows: Mapping[tuple[str, str], SeriesRow],
    series: HistorySeries,
    part: SeriesPart | None,
    across: Sequence[str],
    made: Path,
    notes: dict[str, None],
) -> float:
    """Return a run's value. It is NaN if the run lacks it, or if the value's environment or definition has changed."""
    row = rows.get((series.quantity, canonical(dict(series.point))))
    if part is None or row is None or row.value is None:
        why = row.reason if row else "it has no such point"
        notes[f"{made.name} has no {series.quantity} at {series.at}: {why}"] = None
        return math.nan
    facts = without_facts(json.loads(row.facts), across)
    if (row.unit, row.definition, facts) != (part.unit, part.definition, part.facts):
        now = replace(part, unit=row.unit, definition=row.definition, facts=facts, redefined=())
        changes = "; ".join(differences(part, now)[:3])
        notes[f"{made.name} does not count, as it was measured in another environment: {changes}"] = None
        return math.nan
    return row.value


def _cells(plan: Plan, series: HistorySeries, notes: dict[str, None]) -> list[Cell]:
    """Return the cells behind a value, or no cells if they can't be measured on their own."""
    cells = list(PlacedCells(plan).at(tuple(series.point.items()), metrics_in(plan).get(series.quantity)))
    alone = f"{series.quantity} at {series.at} can't be measured again alone"
    for name in dict.fromkeys(cell.experiment for cell in cells):
        experiment = plan.experiments[name]
        if experiment.search or experiment.adaptive or experiment.promise:
            notes[f"{alone}: experiment {name} chooses its points"] = None
            return []
    if any(cell.threads_from or cell.target_from for cell in cells):
        notes[f"{alone}: its load is that of a knee"] = None
        return []
    return cells
