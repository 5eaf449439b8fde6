"""From files to what would be kept of them. Nothing is written here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchbrief.compiler.plan import Plan
from benchbrief.results.errors import ResultsError
from benchbrief.results.imports.keep import CellImport, KeptJob, Prepared, described
from benchbrief.results.imports.manifest import TABLE, Manifest
from benchbrief.results.imports.places import NoPlace, Places
from benchbrief.results.imports.problems import ImportRefused, Problem
from benchbrief.results.imports.source import require
from benchbrief.results.imports.table import OfCell, read_table
from benchbrief.results.measured import MEASURE
from benchbrief.runners import journal as j


def prepare_table(
    path: Path, plan: Plan, told: Mapping[str, str | None], experiment: str = "", *, skip_bad: bool = False
) -> Prepared:
    """A table of published figures. `told` is what the command line says of its source.

    Raises ImportRefused with all that is wrong, unless bad rows are to be skipped and some are good.
    """
    problems: list[Problem] = []
    file = described(path)
    places = Places(plan)
    if experiment:
        experiment = _experiment(places, experiment)
    table = read_table(path, plan, experiment, problems)
    source = table.source.given(told)
    good = bool(table.cells or table.published)
    if problems and not (skip_bad and good and all(problem.line in table.bad_lines for problem in problems)):
        raise ImportRefused(problems)
    require(source, str(path))
    cells = tuple(_of_cell(places, each, experiment) for each in table.cells.values())
    there = {cell.id for each in cells for cell in (each.cell, *each.not_needed)}
    return Prepared(
        TABLE,
        source,
        ((path, file),),
        cells,
        tuple(
            j.PublishedValue(
                at=0.0,
                metric=each.metric,
                bound=each.bound,
                keys=each.keys,
                value=each.value,
                unit=each.unit,
                origin=f"{path.name}:{each.line}",
            )
            for each in table.published
        ),
        shared=True,
        problems=tuple(problems),
        not_published=tuple(cell for cell in plan.cells if source.rest_not_published and cell.id not in there),
    )


def _experiment(places: Places, name: str) -> str:
    try:
        return places.experiment(name)
    except NoPlace as error:
        raise ResultsError(str(error), error.hint) from None


def _of_cell(places: Places, told: OfCell, experiment: str) -> CellImport:
    total = [v.value for v in told.values if v.measure == "throughput" and not v.operation and v.phase is None]
    manifest = Manifest(kind=TABLE, experiment=experiment)
    others = tuple(places.repeats(told.cell)) if told.all_repeats else ()
    return CellImport(told.cell, (KeptJob(MEASURE, "table", manifest),), next(iter(total), None), others)
