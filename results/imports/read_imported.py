"""Loads importers by name, and reads imported files with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from benchbrief.compiler.registry import IMPORTER_SPECS
from benchbrief.model.measurement import Measurement, Sample
from benchbrief.results.imports.cell_matching import Options
from benchbrief.results.imports.import_problems import why_packed
from benchbrief.results.imports.importer_seams import BadLog, OutputImporter, SampleImporter, TableImporter
from benchbrief.results.store_errors import ResultsError
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.plugins import create, spec_of

SORTS: Mapping[str, type] = {"outputs": OutputImporter, "samples": SampleImporter, "tables": TableImporter}
"""The base class of an importer, by what its spec `reads`."""


def output_importer(name: str) -> OutputImporter:
    """Return the importer of that name. Raises ResultsError when it reads other files, else RunnerError."""
    return cast(OutputImporter, _load(name, "outputs"))


def sample_importer(name: str) -> SampleImporter:
    """Return the importer of that name. Raises as `output_importer` does."""
    return cast(SampleImporter, _load(name, "samples"))


def table_importer(name: str) -> TableImporter:
    """Return the importer of that name. Raises as `output_importer` does."""
    return cast(TableImporter, _load(name, "tables"))


def _load(name: str, reads: str) -> object:
    spec = spec_of(IMPORTER_SPECS, name)
    if spec.reads != reads:
        raise ResultsError(
            f"the importer `{name}` can't be used here: its {spec.implementation} is no {SORTS[reads].__name__}",
            f"it reads {spec.reads}: `bench import --help` says where each is given",
        )
    return create(IMPORTER_SPECS, name, SORTS[reads])


def read_output(kind: str, files: Mapping[str, Path], benchmark: str, options: Options | None = None) -> Measurement:
    """Read an output. `files` are by the names under which they are kept; `benchmark` is the workload's, in its
    tool's words. Raises OutputProblem, RunnerError."""
    return output_importer(kind).read(files, benchmark, options or {})


def read_samples(kind: str, path: Path, node: str, window: tuple[float, float], device: str = "") -> tuple[Sample, ...]:
    """Return the samples inside a window of epoch seconds, for the probe's `device` if it has one.

    Raises BadLog for a file that is no such log, that does not show which device or day is meant, or that is from
    another time.
    """
    if (problem := why_packed(path)) is not None:
        raise BadLog(None, str(problem), problem.hint)
    try:
        found = sample_importer(kind).read(path, node, window, device)
    except BadOutput as error:
        raise BadLog(None, str(error)) from error
    start, end = window
    if found and not any(start <= each.time <= end for each in found):
        spans = [(found[0].time, found[-1].time), window]
        log, measured = (
            " to ".join(f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}" for at in span) for span in spans
        )
        hint = "is it in local time? run it with TZ=UTC, or write its times with their zone (2026-11-21T17:01:02+0900)"
        raise BadLog(None, f"nothing of it lies in the measured time: it is from {log} UTC, and that {measured}", hint)
    _refuse_steps(found, window)
    inside = []
    for each in found:
        # A rate covers the interval up to its time. A gauge, with no seconds, is read at its time.
        began, ended = max(each.time - each.seconds, start), min(each.time, end)
        if ended > began or (not each.seconds and start <= each.time <= end):
            seconds = ended - began if each.seconds else 0.0
            inside.append(each._replace(time=ended - start, seconds=seconds))
    return tuple(inside)


def _refuse_steps(found: Sequence[Sample], window: tuple[float, float]) -> None:
    """Raise BadLog for times in the window that the log has twice: its clock was set back, or one has two values."""
    last: dict[tuple[str, str, str], Sample] = {}
    for each in found:
        of = each.measure, each.node, each.device
        before = last.setdefault(of, each)
        last[of] = each
        if each.time > window[1] or before.time < window[0]:
            continue
        if each.time < before.time:
            raise BadLog(None, f"its times go back by {before.time - each.time:g} s: when it was read is not known")
        if each.time == before.time and each.value != before.value and not each.seconds:
            raise BadLog(None, f"two readings of one time: {before.value:g} and {each.value:g} {each.unit}".rstrip())
