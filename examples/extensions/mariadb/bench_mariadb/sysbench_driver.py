"""The driver of sysbench, which runs on the load generator's host: https://github.com/akopytov/sysbench.

A warm-up is a separate run. Latencies come from sysbench's histogram. With an offered load (`--rate`), transactions are
due at random times. Their latencies count from those times, so they are intended latencies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import ClassVar

from bench_mariadb.mariadb_login import read_login
from bench_mariadb.messages import say_mariadb
from bench_mariadb.sysbench_output import NotWhole, Summary, contradictions, measurement, read_summary
from benchbrief.extend.common import Command, Job, JobOutput, Requirement, StepKind, figure, say
from benchbrief.extend.tools import (
    CellContext,
    Interim,
    Measurement,
    bad_output,
    best_line,
    read_output_lines,
    require_consistent,
    require_exit,
    timeout_s,
)

_LOADED = re.compile(r"Inserting (\d+) records into 'sbtest\d+'")
_INTERIM = re.compile(r"\[ (\d+)s \] thds: \d+ tps: ([\d.]+) .* lat \(ms,99%\): ([\d.]+)")
_FIGURES = (r" *[0-9.]+ \|.*", r"\[ [0-9]+s \] .*", r" *[a-zA-Z0-9/() ]+:[ 0-9./s]+.*")
_MOST_LOADING = 8


class Sysbench:
    """The driver of sysbench. Implements `tools.Driver` and `tools.TellsInterim`."""

    name: ClassVar[str] = "sysbench"

    def candidates(self, configured: str | None, tool_dirs: Sequence[str]) -> tuple[str, ...]:
        return (configured or "sysbench",)

    def requirements(self, path: str) -> tuple[Requirement, ...]:
        return (Requirement("sysbench", Command((path, "--version")), "install the package sysbench"),)

    def load(self, context: CellContext) -> Job:
        return _job(context, "load", "prepare", {"threads": min(_whole(context, "tables"), _MOST_LOADING)})

    def check_load(self, context: CellContext, output: JobOutput) -> int:
        """Return how many rows were created."""
        require_exit(output, self.name)
        lines = list(read_output_lines(output.stdout))
        indexed = sum(line.startswith("Creating a secondary index on") for line in lines)
        if indexed != _whole(context, "tables"):
            raise bad_output(output, say.load_unfinished(tool=self.name, said=best_line(output)))
        return sum(int(match[1]) for line in lines if (match := _LOADED.match(line)))

    def warm_up(self, context: CellContext) -> Job | None:
        seconds = context.cell.warm_up_s
        return _job(context, "warm_up", "run", _how(context, seconds)) if seconds else None

    def measure(self, context: CellContext) -> Job:
        how = {"histogram": "on", "percentile": 99, "report-interval": 1}
        return _job(context, "measure", "run", {**_how(context, context.cell.measure_s), **how})

    def parse(self, context: CellContext, output: JobOutput) -> Measurement:
        require_exit(output, self.name)
        try:
            found = read_summary(read_output_lines(output.stdout))
        except NotWhole as error:
            raise bad_output(output, say_mariadb.sysbench_not_whole(why=error)) from error
        problems = [*_foreign(context, found), *contradictions(found)]
        if found.took > output.ended_at - output.started_at + 0.1:
            problems.append(f"it took {found.took} s, and its job {output.ended_at - output.started_at:.1f} s")
        require_consistent(output, self.name, problems)
        if not found.count:
            raise bad_output(output, say.no_operations(tool=self.name, said=best_line(output)))
        if found.took < context.cell.measure_s - 0.05:
            about = {"seconds": figure(found.took, ".1f"), "wanted": figure(context.cell.measure_s, "g")}
            raise bad_output(output, say.ended_early(tool=self.name, said=best_line(output), **about))
        # sysbench tells no time of day. Its job ends as soon as its threads have.
        return measurement(found, output.ended_at - found.took, context.cell)

    def interim(self, context: CellContext, text: str) -> Interim | None:
        found = _INTERIM.findall(text)
        if not found:
            return None
        elapsed, rate, latency = found[-1]
        return Interim(float(rate), float(latency) / 1000, "p99 transaction", elapsed_s=float(elapsed))


def _how(context: CellContext, seconds: float) -> dict[str, object]:
    # Fixed, so that a cell asks for the same rows everywhere. Each repeat and each load generator has another seed.
    seed = 1000 * context.cell.repeat + context.part + 1
    rate = {} if context.target is None else {"rate": round(context.target)}
    return {"threads": context.threads, "time": round(seconds), "rand-seed": seed, **rate}


def _job(context: CellContext, step: StepKind, command: str, how: dict[str, object]) -> Job:
    to, tables = read_login(context.endpoint.uri, context.database), _whole(context, "tables")
    said = {
        "mysql-host": to.host,
        "mysql-port": to.port,
        "mysql-user": to.user,
        "mysql-db": to.database,
        "tables": tables,
        "table-size": _whole(context, "records") // tables,
        "rand-type": context.workload.properties["distribution"],
        **how,
    }
    flags = tuple(f"--{name}={value}" for name, value in said.items())
    words = (context.tool_path, f"oltp_{context.workload.benchmark}", *flags, command)
    # The client library takes the password from there: an argument would show it.
    ran = Command(words, env={"MYSQL_PWD": to.password})
    return Job(step, ran, timeout_s(context.cell, step), figures=_FIGURES)


def _foreign(context: CellContext, found: Summary) -> Iterator[str]:
    if found.value["Number of threads"] != context.threads:
        yield f"it ran with {found.value['Number of threads']:.0f} threads, and the cell has {context.threads}"
    if found.offered != context.target:
        yield f"its rate was {found.offered}, and the target of the cell is {context.target}"


def _whole(context: CellContext, name: str) -> int:
    return round(float(context.workload.properties[name]))
