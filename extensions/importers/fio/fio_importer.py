"""Imports a finished fio output: the JSON of one run, whose jobs are a cell's threads.

An output that contradicts itself is refused: see the table of `fio_invariants.py`. If an option was not given, fio's
default is assumed (see "I/O type" and "I/O engine" in fio's HOWTO).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from benchbrief.extend.common import Cell, Plan
from benchbrief.extend.importers import (
    WRONG_CELL,
    ImportProblem,
    Options,
    OutputImporter,
    OutputProblem,
    Setting,
    only_file,
    read_lines,
    refuse_contradictions,
    tool_that_wrote,
    whole_run,
)
from benchbrief.extend.tools import Measurement, PhaseThroughput
from benchbrief.extensions.importers.fio.spec import SPEC
from benchbrief.extensions.tools.fio import fio_invariants, fio_output
from benchbrief.extensions.tools.fio.fio import describe, describe_own, read_operations, read_own_samples
from benchbrief.extensions.tools.fio.fio_invariants import number_of
from benchbrief.extensions.tools.fio.fio_output import FioJob, FioOutput, NotFio

_BEGIN = re.compile(r"(?:\}\s*)?\{")
_VERSION = re.compile(SPEC.line)
_DEFAULTS = {"rw": "read", "bs": "4k", "iodepth": "1", "ioengine": "psync", "direct": "0", "rwmixread": "50"}
_ALSO = {"rw": "readwrite", "bs": "blocksize", "direct": "buffered"}
"""Other names of options. `buffered` is the opposite of `direct`."""
_PATTERNS = {"rw": "readwrite"}
_MIXED = ("readwrite", "randrw")
_AS_LIMITED = 0.05
"""The largest difference between the measured rate of several sections and their common limit, as a share. fio prints
the limit of one section, and the common limit assumes that all sections have it."""
_DISCLOSED = ("rw", "bs", "iodepth", "ioengine", "direct", "numjobs", "size", "runtime", "ramp_time", "rwmixread")


class FioImporter(OutputImporter):
    def read(self, files: Mapping[str, Path], benchmark: str, options: Options) -> Measurement:
        del benchmark, options
        name, path = only_file(files, "fio")
        found = _read(name, path)
        failed = fio_invariants.failed_job(found)
        if failed:
            raise OutputProblem(name, None, f"its job {failed.name} ended with error {failed.error}")
        _require_alike(name, found)
        count = _completed(name, found)
        try:
            refuse_contradictions(name, fio_invariants.find_problems(found))
        except NotFio as error:
            raise OutputProblem(name, None, f"not an output of fio: {error}", error.hint) from error
        errors, seconds = sum(job.total_err for job in found.jobs), found.seconds
        warnings, own = describe_own(found)
        offered = _target(found) is not None
        first = found.jobs[0]
        disclosed = {each: found.option(first, each) for each in _DISCLOSED if found.option(first, each)}
        window = () if found.option(first, "ramp_time") else (whole_run(),)
        end = found.timestamp_ms / 1000
        return Measurement(
            window=(end - seconds, end),
            throughput=(PhaseThroughput(None, count, errors, seconds, count / seconds),),
            operations=tuple(read_operations(found)),
            warnings=warnings,
            tool_version=found.version.replace("-", " ", 1),
            properties=(*describe(offered=offered).items(), *own.items(), *window, *disclosed.items()),
            samples=tuple(read_own_samples(found)),
        )

    def settings(self, path: Path) -> Mapping[str, Setting]:
        found = _read(path.name, path)
        lines = read_lines(path.name, path)
        said = {name: _said(found, name) for name in _DEFAULTS}
        pattern = _pattern(found)
        settings = {
            "io_depth": _setting(lines, "iodepth", number_of(said["iodepth"]), said["iodepth"]),
            "block_size": _setting(lines, "bs", number_of(said["bs"]), said["bs"]),
            "direct": _setting(lines, "direct", number_of(said["direct"]), said["direct"]),
            "io_engine": _setting(lines, "ioengine", None, said["ioengine"]),
            "threads": Setting(_line(lines, "jobs"), float(_threads(found)), f"{_threads(found)} jobs"),
        }
        if pattern in _MIXED:
            share = number_of(said["rwmixread"])
            settings["read"] = _setting(
                lines, "rwmixread", share / 100 if share is not None else None, said["rwmixread"]
            )
        target = _target(found)
        if target is not None:
            settings["target"] = Setting(_line(lines, "rate_iops"), target, f"rate_iops of {target:g} in all")
        return settings

    def contradictions(self, path: Path, cell: Cell, plan: Plan) -> Iterator[ImportProblem]:
        """Yield a problem if the access pattern differs from the workload's, or if the rate limits are not fully
        known."""
        found = _read(path.name, path)
        pattern, wanted = _pattern(found), plan.workload_of(cell).benchmark
        if pattern != wanted:
            line = _line(read_lines(path.name, path), "rw")
            text = f"it was run with rw={pattern}, and workload {cell.workload} is {wanted}"
            yield ImportProblem(str(path), line, text, WRONG_CELL)
        limits = _limits(found)
        if any(limits) and not all(limits):
            line = _line(read_lines(path.name, path), "rate_iops")
            yield ImportProblem(str(path), line, "its rate_iops limits some of its I/Os, and others not", WRONG_CELL)
        yield from _unknown_limits(path, found)


def _read(name: str, path: Path) -> FioOutput:
    """Read a file that holds one JSON object. Raises OutputProblem."""
    text = read_lines(name, path)
    begins = [number for number, line in enumerate(text, start=1) if _BEGIN.match(line)]
    if not begins or not any(_VERSION.match(line) for line in text):
        problem = 'not an output of fio with --output-format=json+: it has no line "fio version"'
        raise OutputProblem(name, None, problem, tool_that_wrote(text))
    if len(begins) > 1:
        raise OutputProblem(name, begins[1], "a second output of fio begins here", "give each run a file of its own")
    try:
        return fio_output.parse_output("\n".join(text))
    except NotFio as error:
        raise OutputProblem(name, None, str(error), error.hint) from error


def _completed(name: str, found: FioOutput) -> int:
    """Return the number of I/Os completed in the measured time.

    Raises OutputProblem if there are no I/Os, or if latencies have no bins.
    """
    parts = [part for job in found.jobs for part in job.directions.values()]
    count = sum(part.clat_ns.count for part in parts)
    if not count or not found.seconds:
        raise OutputProblem(name, None, "it completed no I/O")
    if not any(part.clat_ns.bins for part in parts):
        hint = "run fio with --output-format=json+"
        raise OutputProblem(name, None, "its latencies have no bins, so that they are no histogram", hint)
    return count


def _require_alike(name: str, found: FioOutput) -> None:
    """Raise OutputProblem if the jobs have different options. Such jobs are not the threads of one cell."""
    first, *others = found.jobs
    mixed = _pattern(found) in _MIXED
    for option in _DEFAULTS:
        if option == "rwmixread" and not mixed:
            continue
        for job in others:
            if _meant(found, option, job) != _meant(found, option, first):
                runs = [f"{option}={_said(found, option, each)}" for each in (first, job)]
                text = f"its jobs are not alike: {first.name} was run with {runs[0]}, and {job.name} with {runs[1]}"
                raise OutputProblem(name, None, text, "give the jobs of one cell alone, run with the same options")


def _meant(found: FioOutput, option: str, job: FioJob) -> str | int:
    """Return an option's value in a normal form, so that two jobs have equal values exactly if they mean the same
    setting."""
    said = _said(found, option, job)
    if option == "rw":
        pattern, _, rest = said.partition(":")
        return f"{_PATTERNS.get(pattern, pattern)}:{rest}"
    number = number_of(said)
    return said if number is None else number


def _said(found: FioOutput, option: str, job: FioJob | None = None) -> str:
    """Return a job's option, or fio's default if the option was not given. By default the job is the first one, since
    all jobs are alike."""
    job = job or found.jobs[0]
    if option == "direct":
        return "1" if found.option(job, "direct", "0") != "0" or found.option(job, "buffered", "1") == "0" else "0"
    also = found.option(job, _ALSO[option]) if option in _ALSO else ""
    return found.option(job, option) or also or _DEFAULTS[option]


def _pattern(found: FioOutput) -> str:
    pattern = _said(found, "rw").partition(":")[0]
    return _PATTERNS.get(pattern, pattern)


def _threads(found: FioOutput) -> int:
    return sum(fio_invariants.lanes(found, job) for job in found.jobs)


def _target(found: FioOutput) -> float | None:
    """Return the limit of all jobs together (I/Os per second), or None if a job's limit is missing or unreadable."""
    limits = _limits(found)
    return sum(limits) if all(limits) else None


def _limits(found: FioOutput) -> list[float]:
    """Return each job's limit in each direction (I/Os per second), or 0 if the limit is missing or unreadable."""
    return [
        float(fio_invariants.rate_limit(found, job, name) or 0) * fio_invariants.lanes(found, job)
        for job in found.jobs
        for name in job.directions
    ]


def _unknown_limits(path: Path, found: FioOutput) -> Iterator[ImportProblem]:
    """Yield a problem if fio reported several sections as one job, and the limits of some sections are therefore
    unknown.

    fio prints the limit of only one section. The measured rate shows whether the other sections had the same limit.
    """
    for job in found.jobs:
        own, every = fio_invariants.own_lanes(found, job), fio_invariants.lanes(found, job)
        for name, part in job.directions.items() if every > own else ():
            limit = every * (fio_invariants.rate_limit(found, job, name) or 0)
            if limit and abs(part.iops - limit) > _AS_LIMITED * limit:
                did = f"it did {part.iops:.6g} I/Os a second in {every} jobs"
                text = f"{did}, and prints the rate_iops of {own} of them"
                hint = "run its sections without group_reporting, so that fio prints the options of each"
                line = _line(read_lines(path.name, path), "rate_iops")
                yield ImportProblem(str(path), line, text, hint)


def _setting(lines: list[str], option: str, number: float | None, text: str) -> Setting:
    """Return an option as a number, or as text if it is not a number. A text never equals a cell's value."""
    return Setting(_line(lines, option), text if number is None else float(number), f"{option}={text}")


def _line(lines: list[str], option: str) -> int:
    """Return the number of the first line that contains an option, or 1 if fio was run without the option."""
    names = {option, _ALSO.get(option, option)}
    key = re.compile(rf'\s*"(?:{"|".join(map(re.escape, sorted(names)))})"\s*:')
    return next(islice((number for number, line in enumerate(lines, start=1) if key.match(line)), 1), 1)
