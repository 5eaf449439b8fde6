"""A finished output of openload: its record, and the histogram log beside it.

openload judges itself. What it refused stays refused here, and so does what contradicts itself: the rules are those of
`openload_invariants.py`, which a measurement of `bench run` is held to as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from benchbrief.compiler.planning.plan import Cell, Plan
from benchbrief.results.imports.cell_files import STDOUT, CellFiles, Options, Where
from benchbrief.results.imports.cell_matching import Places
from benchbrief.results.imports.import_problems import WRONG_CELL, Problem
from benchbrief.results.imports.imported_files import OutputProblem, read_lines, require_consistent, tool_that_wrote
from benchbrief.results.imports.importer_seams import OutputImporter, Setting
from benchbrief.results.imports.importers.openload.asked_settings import asked_of, difference, planned
from benchbrief.runners.drivers.openload import openload_invariants
from benchbrief.runners.drivers.openload.openload_log import LOG, BadLog, read_log
from benchbrief.runners.drivers.openload.openload_measurement import measurement_of
from benchbrief.runners.drivers.openload.openload_record import NotRecord, Run, read_run_file
from benchbrief.runners.drivers.openload.openload_refusals import found_by
from benchbrief.runners.measurement.measurement import Measurement

_DISCLOSED = ("workers", "duration", "warm-up", "seed", "distribution", "record-count", "steady-within", "steady-from")


class OpenloadImporter(OutputImporter):
    def read(self, files: Mapping[str, Path], benchmark: str, options: Options) -> Measurement:
        del benchmark, options
        if STDOUT not in files:
            raise OutputProblem(next(iter(files)), None, "a histogram log without its record: give its record.json")
        run = _whole(STDOUT, files[STDOUT])
        if LOG not in files:
            hint = "openload writes both into the folder of --output: keep them together"
            raise OutputProblem(STDOUT, None, f"its histogram log, {LOG}, is not beside it", hint)
        try:
            log = read_log(files[LOG])
        except BadLog as error:
            raise OutputProblem(LOG, None, str(error)) from error
        require_consistent(STDOUT, openload_invariants.find_problems(run, log))
        measured = measurement_of(asked_of(run), run, log)
        if not measured.total.count:
            raise OutputProblem(STDOUT, None, "it completed no operation in its window")
        settings = {name: run.settings[name] for name in _DISCLOSED if run.settings.get(name, "0") != "0"}
        return replace(measured, properties=(*measured.properties, *settings.items()))

    def settings(self, path: Path) -> Mapping[str, Setting]:
        return planned(_record(path.name, path))

    def contradictions(self, path: Path, cell: Cell, plan: Plan) -> Iterator[Problem]:
        """Yield a problem for operations that were due at other times, or that ended by another rule."""
        if text := difference(_record(path.name, path), cell, plan.experiments[cell.experiment]):
            yield Problem(str(path), 1, text, WRONG_CELL)

    def kept_name(self, path: Path, said: Mapping[str, str]) -> str:
        del said
        return LOG if path.name == LOG else STDOUT

    def outputs_of(self, path: Path, paths: Sequence[Path]) -> Sequence[Path]:
        """A log belongs to the record in its folder."""
        return [other for other in paths if other.parent == path.parent and other != path]

    def complete(
        self, cells: Mapping[str, CellFiles], paths: Sequence[Path], places: Places, where: Where
    ) -> Iterator[Problem]:
        """Add the log beside each record."""
        del paths, places, where
        for files in (each for of in cells.values() for each in of.files.values()):
            beside = files[STDOUT].with_name(LOG) if STDOUT in files else None
            if beside and beside.is_file():
                files.setdefault(LOG, beside)
        return iter(())


def _record(name: str, path: Path) -> Run:
    """Raises OutputProblem for a file that is no whole record of one run."""
    text = read_lines(name, path)
    said = [number for number, line in enumerate(text, start=1) if line.strip()]
    if len(said) > 1:
        known = '"kind":"second"' in text[0]
        hint = "give the record.json in the folder of its --output" if known else tool_that_wrote(text)
        raise OutputProblem(name, said[1], "not one record of openload, which is a line", hint)
    if '"command":"load"' in "".join(text):
        raise OutputProblem(name, 1, "the record of a load, which no measurement is")
    try:
        return read_run_file(path)
    except NotRecord as error:
        raise OutputProblem(name, None, f"{error}", tool_that_wrote(text) or "was it cut off?") from error


def _whole(name: str, path: Path) -> Run:
    """Raises OutputProblem for a run that did not end by itself, and for one that refuses its own numbers."""
    run = _record(name, path)
    if run.refusals:
        codes = ", ".join(dict.fromkeys(each.code for each in run.refusals))
        said = found_by(run, run.refusals[0].code)
        hint = "its numbers are not those of the database: measure again, on a host with idle cores, or with less load"
        raise OutputProblem(name, 1, f"openload refuses its own numbers ({codes}): {said}", hint)
    if not run.complete:
        raise OutputProblem(name, 1, f"it did not end by itself (`{run.ended}`), so it is no whole measurement")
    return run
