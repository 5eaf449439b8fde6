"""A table of published figures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchbrief.model import events as j
from benchbrief.model.plan import Plan
from benchbrief.results.imports.cell_matching import NoPlace, Places
from benchbrief.results.imports.import_problems import ImportRefused, Problem
from benchbrief.results.imports.importer_seams import CellNumbers, TableImporter
from benchbrief.results.imports.importers.table.import_table import read_table
from benchbrief.results.imports.importers.table.spec import SPEC
from benchbrief.results.imports.keep_import import (
    CellImport,
    KeptJob,
    Manifest,
    Prepared,
    Source,
    describe_file,
    require,
)
from benchbrief.results.kept_jobs import MEASURE
from benchbrief.results.store_errors import ResultsError


class TableOfFigures(TableImporter):
    def prepare(
        self, path: Path, plan: Plan, given: Source, experiment: str = "", *, skip_bad: bool = False
    ) -> Prepared:
        problems: list[Problem] = []
        file = describe_file(path)
        places = Places(plan)
        if experiment:
            experiment = _experiment(places, experiment)
        table = read_table(path, plan, experiment, problems)
        problems += table.too_long
        source = table.source.given(given)
        good = bool(table.cells or table.published)
        if problems and not (skip_bad and good and all(problem.line in table.bad_lines for problem in problems)):
            raise ImportRefused(problems)
        require(source, str(path))
        cells = tuple(_of_cell(places, each, experiment) for each in table.cells.values())
        there = {cell.id for each in cells for cell in (each.cell, *each.not_needed)}
        return Prepared(
            SPEC.name,
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

    def numbers(self, path: Path, plan: Plan, experiment: str) -> Mapping[str, CellNumbers]:
        problems: list[Problem] = []
        table = read_table(path, plan, experiment, problems)
        # The import reported each bad row, and left it out.
        if whole := [problem for problem in problems if problem.line not in table.bad_lines]:
            raise ResultsError(f"an imported table can't be read any more: {whole[0]}", "import it again")
        return table.cells


def _experiment(places: Places, name: str) -> str:
    try:
        return places.experiment(name)
    except NoPlace as error:
        raise ResultsError(str(error), error.hint) from None


def _of_cell(places: Places, cell: CellNumbers, experiment: str) -> CellImport:
    total = [v.value for v in cell.values if v.measure == "throughput" and not v.operation and v.phase is None]
    manifest = Manifest(kind=SPEC.name, experiment=experiment)
    others = tuple(places.repeats(cell.cell)) if cell.all_repeats else ()
    return CellImport(cell.cell, (KeptJob(MEASURE, "table", manifest),), next(iter(total), None), others)
