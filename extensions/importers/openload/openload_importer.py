"""Imports a finished openload output: its record, and the histogram log beside it.

openload checks its own numbers. If openload refused a run, the import refuses it as well. It also refuses a run that
breaks the rules of `openload_invariants.py`. `bench run` applies the same rules to its own measurements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from benchbrief.extend.common import Cell, Experiment, Plan
from benchbrief.extend.importers import (
    STDOUT,
    WRONG_CELL,
    CellFiles,
    ImportProblem,
    Options,
    OutputImporter,
    OutputProblem,
    Places,
    Setting,
    Where,
    read_lines,
    refuse_contradictions,
    tool_that_wrote,
)
from benchbrief.extend.invariants import parse_printed
from benchbrief.extend.tools import Arrivals, Measurement, UntilSteady
from benchbrief.extensions.tools.openload import openload_invariants
from benchbrief.extensions.tools.openload.openload_measurement import AskedLoad, measurement_of
from benchbrief.extensions.tools.openload.openload_record import (
    LOG,
    OPERATIONS,
    BadOpenloadLog,
    NotRecord,
    OpenloadRun,
    read_log,
    read_run_file,
)
from benchbrief.extensions.tools.openload.openload_refusals import found_by

_NUMBERS = {
    "workers": "threads",
    "record-count": "records",
    "field-count": "fields",
    "field-length": "field_length",
    "read": "read",
    "update": "update",
    "insert": "insert",
    "scan": "scan",
    "read-modify-write": "read_modify_write",
}
_KINDS = ("constant", "poisson", "steps", "burst", "trace")
_RATED = ("constant", "poisson", "burst")
_SAME = 1e-9


def asked_of(run: OpenloadRun) -> AskedLoad:
    arrivals, within = _arrivals(run), _number(run, "steady-within")
    return AskedLoad(
        arrivals,
        _number(run, "rate"),
        phases=len(arrivals.rates) if arrivals and arrivals.rates else 1,
        rule=UntilSteady(within=within, from_s=_number(run, "steady-from")) if within else None,
        latencies=frozenset(
            f"{'' if each in ('mean', 'max') else 'p'}{each} {operation}".strip()
            for each in map(str.strip, run.settings.get("judge", "").split(","))
            for operation in ("", *map(OPERATIONS.__getitem__, run.operations))
            if each
        ),
        due=run.warm_up.offered + run.offered,
        operations="" if run.settings.get("operations", "0") == "0" else run.settings["operations"],
    )


def planned(run: OpenloadRun) -> Mapping[str, Setting]:
    """Return the settings under the plan's names."""
    return dict(_planned(run))


def difference(run: OpenloadRun, cell: Cell, experiment: Experiment) -> str:
    """Return how a run's schedule of operations or its stopping rule differs from the cell's, or "" if they agree."""
    said, wanted = _arrivals(run), experiment.arrivals
    if wanted is not None and wanted.kind == "closed":
        wanted = None
    if wanted is None and cell.target is not None:
        wanted = Arrivals(kind="poisson")
    if said is None or wanted is None:
        if (said is None) != (wanted is None):
            arrivals = [each.kind if each else "closed" for each in (said, wanted)]
            return f"it was run with --arrivals={arrivals[0]}, and cell {cell.id} has {arrivals[1]} ones"
    else:
        for name, is_, has in _compared(said, wanted, whole=len(cell.load_hosts) == 1):
            if is_ != has:
                return f"it was run with arrivals whose {name} is {_text(is_)}, and cell {cell.id} has {_text(has)}"
    rule, asked = experiment.until_steady, asked_of(run).rule
    if (rule is None) != (asked is None):
        ends = [f"until it is steady within {each.within:g}" if each else "for a set time" for each in (asked, rule)]
        return f"it was run {ends[0]}, and cell {cell.id} is measured {ends[1]}"
    if rule and asked and rule != asked:
        return (
            f"it was run until it is steady within {asked.within:g} from {asked.from_s:g} s on, and cell {cell.id} "
            f"is measured until it is within {rule.within:g} from {rule.from_s:g} s on"
        )
    return ""


def _compared(said: Arrivals, wanted: Arrivals, *, whole: bool) -> Iterator[tuple[str, object, object]]:
    """Yield each property that must be equal, with the run's value and the plan's. Rates are compared only if the run
    had the `whole` load, and was not one of several load generators."""
    yield "kind", said.kind, wanted.kind
    if said.kind in ("steps", "burst"):
        yield "spacing", said.spacing, wanted.spacing
    if said.kind == "steps":
        yield "number of steps", len(said.rates), len(wanted.rates)
        for number, (is_, has) in enumerate(zip(said.rates, wanted.rates, strict=False) if whole else (), start=1):
            yield f"step {number} of ops/s", is_, has
        yield "time of a step", said.each_s, wanted.each_s
    if said.kind == "burst":
        if whole:
            yield "rate in a burst", said.burst_rate, wanted.burst_rate
        yield "time between bursts", said.every_s, wanted.every_s
        yield "time of a burst", said.lasting_s, wanted.lasting_s


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _planned(run: OpenloadRun) -> Iterator[tuple[str, Setting]]:
    for flag, name in _NUMBERS.items():
        if (number := parse_printed(run.settings.get(flag, ""))) is not None:
            yield name, Setting(1, number.value, f"--{flag}={run.settings[flag]}")
    if _number(run, "scan"):
        yield "scan_length", Setting(1, _number(run, "scan-length"), f"--scan-length={run.settings['scan-length']}")
    if run.settings.get("distribution"):
        yield "distribution", Setting(1, run.settings["distribution"], f"--distribution={run.settings['distribution']}")
    if run.settings.get("arrivals") in _RATED:
        yield "target", Setting(1, _number(run, "rate"), f"--rate={run.settings['rate']}")


def _arrivals(run: OpenloadRun) -> Arrivals | None:
    """Return the run's schedule of operations as the plan describes it, or None for a closed loop."""
    kind = run.settings.get("arrivals", "")
    if kind not in _KINDS:
        return None
    rates, each_s = _steps(run) if kind == "steps" else ((), 0.0)
    burst = kind == "burst"
    settings = {
        "kind": kind,
        "spacing": "constant" if run.settings.get("spacing") == "constant" else "poisson",
        "rates": rates,
        "each_s": each_s,
        "burst_rate": _number(run, "burst-rate") if burst else 0.0,
        "every_s": _number(run, "burst-every") if burst else 0.0,
        "lasting_s": _number(run, "burst-length") if burst else 0.0,
        "file": run.settings.get("trace", ""),
        "drops": _number(run, "accept-drops"),
        "lag": _number(run, "accept-lag"),
    }
    return Arrivals.model_validate(settings)


def _steps(run: OpenloadRun) -> tuple[tuple[float, ...], float]:
    """Return the rates of the steps in the measured window, and the seconds of each step. If the steps differ in
    length, return no rates.

    A first step that is as long as the warm-up is left out.
    """
    parts = [each.partition("x") for each in run.settings.get("steps", "").split(",")]
    steps = [
        (float(rate), float(seconds)) for rate, _, seconds in parts if parse_printed(rate) and parse_printed(seconds)
    ]
    if run.warm_up_s and steps and abs(steps[0][1] - run.warm_up_s) < _SAME:
        steps = steps[1:]
    alike = steps and all(abs(one[1] - other[1]) < _SAME for one, other in pairwise(steps))
    return (tuple(rate for rate, _ in steps), steps[0][1]) if alike else ((), 0.0)


def _number(run: OpenloadRun, flag: str) -> float:
    found = parse_printed(run.settings.get(flag, ""))
    return found.value if found else 0.0


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
        except BadOpenloadLog as error:
            raise OutputProblem(LOG, None, str(error)) from error
        refuse_contradictions(STDOUT, openload_invariants.find_problems(run, log))
        measured = measurement_of(asked_of(run), run, log)
        if not measured.total.count:
            raise OutputProblem(STDOUT, None, "it completed no operation in its window")
        settings = {name: run.settings[name] for name in _DISCLOSED if run.settings.get(name, "0") != "0"}
        return replace(measured, properties=(*measured.properties, *settings.items()))

    def settings(self, path: Path) -> Mapping[str, Setting]:
        return planned(_record(path.name, path))

    def contradictions(self, path: Path, cell: Cell, plan: Plan) -> Iterator[ImportProblem]:
        """Yield a problem if the run's schedule of operations or its stopping rule differs from the cell's."""
        if text := difference(_record(path.name, path), cell, plan.experiments[cell.experiment]):
            yield ImportProblem(str(path), 1, text, WRONG_CELL)

    def kept_name(self, path: Path, said: Mapping[str, str]) -> str:
        del said
        return LOG if path.name == LOG else STDOUT

    def outputs_of(self, path: Path, paths: Sequence[Path]) -> Sequence[Path]:
        """Return the record that lies in a log's folder."""
        return [other for other in paths if other.parent == path.parent and other != path]

    def complete(
        self, cells: Mapping[str, CellFiles], paths: Sequence[Path], places: Places, where: Where
    ) -> Iterator[ImportProblem]:
        """Add to each record the histogram log beside it."""
        del paths, places, where
        for files in (each for of in cells.values() for each in of.files.values()):
            beside = files[STDOUT].with_name(LOG) if STDOUT in files else None
            if beside and beside.is_file():
                files.setdefault(LOG, beside)
        return iter(())


def _record(name: str, path: Path) -> OpenloadRun:
    """Read one run's record. Raises OutputProblem for a file that is not a complete record."""
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


def _whole(name: str, path: Path) -> OpenloadRun:
    """Return a run's record. Raises OutputProblem unless the run ended by itself and openload accepts its numbers."""
    run = _record(name, path)
    if run.refusals:
        codes = ", ".join(dict.fromkeys(each.code for each in run.refusals))
        said = found_by(run, run.refusals[0].code)
        hint = "its numbers are not those of the database: measure again, on a host with idle cores, or with less load"
        raise OutputProblem(name, 1, f"openload refuses its own numbers ({codes}): {said}", hint)
    if not run.complete:
        raise OutputProblem(name, 1, f"it did not end by itself (`{run.ended}`), so it is no whole measurement")
    return run
