"""Imports finished pgbench outputs, with the transaction logs beside them.

The measured time is the whole run, which may include a warm-up. Without logs, the date is unknown, and of the latencies
only the mean is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench_postgres.pgbench_driver import BUILTIN, describe, disclosed, operations_of, remarks
from bench_postgres.pgbench_output import Summary, TwoRuns, against_log, contradictions, read_summary, script_of
from bench_postgres.postgres_messages import say_pg
from bench_postgres.transaction_log import LogFile, NotALog, Transactions, fold_logs
from benchbrief.extend.common import Cell, Plan, say
from benchbrief.extend.importers import (
    STDOUT,
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
    refuse_no_text,
    tool_that_wrote,
    whole_run,
)
from benchbrief.extend.tools import Measurement, Operation, PhaseThroughput, judge_window

_LOG = re.compile(r".+?\.(\d{1,10})(?:\.(\d{1,4}))?")
"""The names of logs: `prefix.PID` for the first thread, and `prefix.PID.N` for the others."""
_SETTINGS = {
    re.compile(r"number of clients: (\d+)"): "threads",
    re.compile(r"scaling factor: (\d+)"): "scale",
    re.compile(r"query mode: (\w+)"): "protocol",
    re.compile(r"maximum number of tries: (\d+)"): "max_tries",
}
_SCRIPT = re.compile(r"transaction type: (.+)")


class PgbenchImporter(OutputImporter):
    def read(self, files: Mapping[str, Path], benchmark: str, options: Options) -> Measurement:
        del benchmark, options
        if STDOUT not in files:
            name = next(iter(files))
            raise OutputProblem(name, None, "a log of transactions without its output", "give pgbench's output as well")
        text = read_lines(STDOUT, files[STDOUT])
        found = _summary(text)
        if not found.done or not found.seconds:
            raise OutputProblem(STDOUT, len(text), "no transaction was done")
        refuse_contradictions(STDOUT, list(contradictions(found)))
        logs = {name: path for name, path in files.items() if name != STDOUT}
        return _with_logs(found, logs) if logs else _without_logs(found)

    def settings(self, path: Path) -> Mapping[str, Setting]:
        found: dict[str, Setting] = {}
        for number, line in enumerate(read_lines(path.name, path), start=1):
            for pattern, name in _SETTINGS.items():
                if match := pattern.fullmatch(line):
                    value = float(match[1]) if match[1].isdecimal() else match[1]
                    found.setdefault(name, Setting(number, value, line))
        return found

    def contradictions(self, path: Path, cell: Cell, plan: Plan) -> Iterator[ImportProblem]:
        wanted = BUILTIN.get(plan.workloads[cell.workload].benchmark)
        for number, line in enumerate(read_lines(path.name, path), start=1):
            match = _SCRIPT.fullmatch(line)
            ran = script_of(match[1]) if match else ""
            if match and (ran != wanted[1] if wanted else ran.startswith("<builtin")):
                said = f"it ran {match[1]}, and workload {cell.workload} is {wanted[1] if wanted else 'a file of SQL'}"
                yield ImportProblem(str(path), number, said, "give each cell its own output")

    def kept_name(self, path: Path, said: Mapping[str, str]) -> str:
        match = _LOG.fullmatch(path.name)
        return f"log.{match[2] or 0}" if match and not _is_output(path) else STDOUT

    def outputs_of(self, path: Path, paths: Sequence[Path]) -> Sequence[Path]:
        if _LOG.fullmatch(path.name) is None or _is_output(path):
            return ()
        return [each for each in paths if each.parent == path.parent and _is_output(each)]

    def complete(
        self, cells: Mapping[str, CellFiles], paths: Sequence[Path], places: Places, where: Where
    ) -> Iterator[ImportProblem]:
        """Add a remark to each output that has no logs."""
        del paths, places, where
        for of in cells.values():
            for host, files in of.files.items():
                if STDOUT in files and len(files) == 1:
                    of.remarks[host] = "without its logs (`pgbench --log`): of latency the mean alone is known"
        return iter(())


def _is_output(path: Path) -> bool:
    """Return whether the file is an output and not a log. An empty log, from a thread that completed no transaction, is
    recognized by its name."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            first = file.readline(200)
        if not first:
            return _LOG.fullmatch(path.name) is None
        return re.match(r"\d+ \d+ (\d+|[a-z]+) \d+ \d+ \d+", first) is None
    except OSError:
        return True


def _summary(text: Sequence[str]) -> Summary:
    try:
        return read_summary(text)
    except TwoRuns as error:
        raise OutputProblem(
            STDOUT, error.line, "a second run of pgbench ends here", "give each run a file of its own"
        ) from error
    except NotALog as error:
        some = any(re.match(r"pgbench \(\d|transaction type: |number of clients: ", line) for line in text)
        why = f"cut: it has {error}" if some else "not an output of pgbench"
        raise OutputProblem(STDOUT, len(text) if some else None, why, "" if some else tool_that_wrote(text)) from error


def _with_logs(found: Summary, logs: Mapping[str, Path]) -> Measurement:
    for name, path in logs.items():
        if path.stat().st_size:
            refuse_no_text(name, path)
    texts = {name: LogFile(path) for name, path in logs.items() if path.stat().st_size}
    try:
        log = fold_logs(texts, found.seconds, 0.0, offered=found.lag_ms is not None)
    except NotALog as error:
        name = next((each for each in texts if str(error).startswith(f"{each} ")), next(iter(logs)))
        raise OutputProblem(name, error.line, str(error), "give the logs of `--log` alone") from error
    refuse_contradictions(STDOUT, list(against_log(found, log)))
    return _measured(found, log)


def _measured(found: Summary, log: Transactions) -> Measurement:
    intervals = log.intervals()
    unsteady, described = judge_window(intervals, say.remedy_warm_up())
    properties = {**describe(offered=found.lag_ms is not None), **described, **disclosed(found)}
    return Measurement(
        window=log.window,
        throughput=(PhaseThroughput(None, log.done, log.errors, found.seconds, found.rate),),
        operations=operations_of(log),
        intervals=intervals,
        warnings=(*unsteady, *remarks(found, log)),
        tool_version=f"pgbench {found.version}".strip(),
        properties=(*properties.items(), whole_run()),
        samples=log.schedule_lags() if found.lag_ms is not None else (),
    )


def _without_logs(found: Summary) -> Measurement:
    """Return the measurement from the summary alone. Under an offered load, the printed mean latency counts from the
    scheduled start, so the mean lag is subtracted from it to get the mean service time."""
    errors = found.failed + found.skipped
    mean = found.mean_ms / 1000 if found.mean_ms is not None else None
    lag = found.lag_ms[0] / 1000 if found.lag_ms else 0.0
    service = None if mean is None else max(0.0, mean - lag)
    operations = [Operation("transaction", found.done, errors, mean_s=service)]
    if found.lag_ms:
        operations.append(Operation("transaction", found.done, mean_s=mean, kind="intended", in_total=False))
    properties = {**describe(offered=bool(found.lag_ms)), "percentiles": say_pg.pg_mean_only(), **disclosed(found)}
    return Measurement(
        window=(0.0, found.seconds),
        throughput=(PhaseThroughput(None, found.done, errors, found.seconds, found.rate),),
        operations=tuple(operations),
        tool_version=f"pgbench {found.version}".strip(),
        properties=(*properties.items(), whole_run()),
    )
