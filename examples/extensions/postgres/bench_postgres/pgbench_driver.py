"""The driver of pgbench, which runs on the load generator's host: https://www.postgresql.org/docs/15/pgbench.html.

How to read its numbers:
- Warm-up and measurement are one process (`-T` covers both), so that connections stay open. The log shows where the
  warm-up ends.
- Throughput counts the transactions that ended in the measured time, according to the log.
- Latency is measured for each transaction (`--log`). With an offered load (`--rate`), transactions are scheduled with
  Poisson arrivals, and the logged time counts from the scheduled start: it is the intended latency. The service time is
  the logged time without the schedule lag, which pgbench logs too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import ClassVar

from bench_postgres.libpq_environment import environment
from bench_postgres.pgbench_output import Summary, TwoRuns, against_log, contradictions, read_summary
from bench_postgres.postgres_messages import say_pg
from bench_postgres.transaction_log import NotALog, Transactions, read_folded
from benchbrief.extend.common import (
    Command,
    Job,
    JobFile,
    JobOutput,
    Message,
    Requirement,
    RunnerError,
    Secret,
    figure,
    read_script,
    say,
    with_values,
)
from benchbrief.extend.tools import (
    CellContext,
    Interim,
    Measurement,
    Operation,
    PhaseThroughput,
    bad_output,
    best_line,
    judge_window,
    read_output_lines,
    require_consistent,
    require_exit,
    require_few_errors,
    timeout_s,
)

BUILTIN = {
    "tpcb": ("tpcb-like", "<builtin: TPC-B (sort of)>"),
    "simple_update": ("simple-update", "<builtin: simple update>"),
    "select_only": ("select-only", "<builtin: select only>"),
}
"""The names of each workload's script: the one for pgbench's option `--builtin`, and the one that pgbench prints."""
FOLDED = "transactions"
_SCRIPT = "script.sql"
_PACKAGED = ("/usr/lib/postgresql/{}/bin/pgbench", "/usr/pgsql-{}/bin/pgbench")
_VERSIONS = range(19, 13, -1)
"""The PostgreSQL versions to look for, first in Debian's packages and then in PostgreSQL's own.

Debian's `pgbench` on the PATH can't be used: it is a wrapper that must be called by its own name, and resolving links
loses that name.
"""
_SHORT_S = 0.5
"""How many seconds shorter than requested a measurement may be, since pgbench's time begins before it connects."""
_LOADED = re.compile(r"(\d+) of (\d+) tuples \(100%\)(?: of \w+)? done.*")
_PROGRESS = re.compile(r"progress: [\d.]+ s, ([\d.]+) tps, lat ([\d.]+) ms")
_FIGURES = (
    r"(window|whole|failed|latency|bucket|second) [a-z0-9. ]+",
    r"(latency|rate limit|initial|number of|scaling factor|duration|tps|progress)[ :=].*",
)
_RUN = read_script(__file__, "run_pgbench.sh")


class Pgbench:
    """The driver of pgbench. Implements `seams.Driver` and `seams.TellsInterim`."""

    name: ClassVar[str] = "pgbench"

    def candidates(self, configured: str | None, tool_dirs: Sequence[str]) -> tuple[str, ...]:
        if configured:
            return (configured, f"{configured}/pgbench", f"{configured}/bin/pgbench")
        packaged = (place.format(version) for version in _VERSIONS for place in _PACKAGED)
        return (*(f"{folder}/postgresql/bin/pgbench" for folder in tool_dirs), *packaged, "pgbench")

    def requirements(self, path: str) -> tuple[Requirement, ...]:
        hint = 'install it (Debian and Ubuntu: the package postgresql-15) or name it: tool = pgbench("/path")'
        return (Requirement("pgbench", Command((path, "--version"), env={"LC_ALL": "C"}), hint),)

    def load(self, context: CellContext) -> Job:
        given = context.workload.properties
        words = (context.tool_path, "--initialize", "--quiet", f"--scale={_whole(given['scale'])}")
        fill = f"--fillfactor={_whole(given['fillfactor'])}"
        return Job("load", _command(context, (*words, fill)), timeout_s(context.cell, "load"))

    def check_load(self, context: CellContext, output: JobOutput) -> int:
        """Return how many accounts were created. Raises BadOutput."""
        del context
        require_exit(output, self.name)
        text = [line.rpartition("\r")[2] for line in read_output_lines(output.stderr)]
        loaded = [match for line in text if (match := _LOADED.match(line))]
        if not loaded or loaded[-1][1] != loaded[-1][2] or not any(line.startswith("done in ") for line in text):
            raise bad_output(output, say_pg.pg_load_cut(said=best_line(output)))
        return int(loaded[-1][1])

    def warm_up(self, context: CellContext) -> Job | None:
        del context  # the first part of the measured process
        return None

    def measure(self, context: CellContext) -> Job:
        """Return the measured job. Raises RunnerError for a cell that pgbench can't run."""
        cell = context.cell
        if cell.phases > 1:
            raise RunnerError("pgbench is run for one time, so it can't measure phases", "use `measure` instead")
        rate = context.target
        fold = files("bench_postgres").joinpath("fold_log.awk").read_text(encoding="utf-8")
        run = with_values(
            _RUN,
            clients=str(context.threads),
            warm_up=f"{cell.warm_up_s:.15g}",
            rate="1" if rate is not None else "0",
            fold=fold,
        )
        command = _command(context, ("sh", "-c", run, "sh", context.tool_path, *_flags(context)))
        own = context.workload.files.get("file")
        scripts = (JobFile(_SCRIPT, (own,)),) if own is not None else ()
        limit = timeout_s(cell, "measure")
        return Job("measure", command, limit, files=scripts, collect=(FOLDED,), figures=_FIGURES)

    def parse(self, context: CellContext, output: JobOutput) -> Measurement:
        require_exit(output, self.name)
        try:
            found = read_summary(read_output_lines(output.stdout))
            if not found.done:
                raise bad_output(output, say.no_operations(tool=self.name, said=best_line(output)))
            log = read_folded(output.directory / FOLDED)
        except TwoRuns as error:
            raise bad_output(output, say_pg.pg_two_runs()) from error
        except NotALog as error:
            raise bad_output(output, say_pg.pg_cut(what=str(error))) from error
        elapsed = output.ended_at - output.started_at
        problems = [*_foreign(context, found), *contradictions(found, elapsed), *against_log(found, log)]
        require_consistent(output, self.name, problems)
        wanted, seconds = context.cell.measure_s, log.measured_s
        if seconds < wanted - _SHORT_S:
            about = {"seconds": figure(seconds, ".1f"), "wanted": figure(wanted, "g"), "said": best_line(output)}
            raise bad_output(output, say.ended_early(tool=self.name, **about))
        return measurement(found, log, output, context)

    def interim(self, context: CellContext, text: str) -> Interim | None:
        """Implement `seams.TellsInterim`. The latency is the mean over all transactions, as in pgbench's progress
        lines."""
        del context
        shown = _PROGRESS.findall(text)
        return Interim(float(shown[-1][0]), float(shown[-1][1]) / 1000, "mean transaction") if shown else None


def measurement(found: Summary, log: Transactions, output: JobOutput, context: CellContext) -> Measurement:
    """Return the measurement. Raises BadOutput if nothing was measured, or too many transactions failed."""
    operations = operations_of(log)
    count = operations[0].count if operations else 0
    if not count:
        raise bad_output(output, say.no_operations(tool="pgbench", said=best_line(output)))
    require_few_errors(output, "pgbench", log.errors, count, context.experiment.max_error_share)
    intervals = log.intervals()
    unsteady, described = judge_window(intervals, say.remedy_warm_up(), context.cell.events)
    offered = context.cell.target is not None
    warm_up = context.cell.warm_up_s
    own: dict[str, str] = {"warm-up": say_pg.pg_one_process(seconds=figure(warm_up, "g"))} if warm_up else {}
    if context.workload.benchmark in BUILTIN:
        own["pgbench --no-vacuum"] = say_pg.pg_tidied()
    limit = context.workload.properties.get("latency_limit")
    return Measurement(
        window=log.window,
        throughput=(PhaseThroughput(None, count, log.errors, log.measured_s, count / log.measured_s),),
        operations=operations,
        intervals=intervals,
        warnings=(*unsteady, *remarks(found, log, limit)),
        tool_version=f"pgbench {found.version}".strip(),
        properties=tuple({**describe(offered=offered), **described, **disclosed(found), **own}.items()),
        tool_s=found.seconds,
        samples=log.schedule_lags() if offered else (),
    )


def operations_of(log: Transactions) -> tuple[Operation, ...]:
    """Return the transactions with their service times and, under an offered load, with their intended latencies."""
    return tuple(
        Operation(
            operation="transaction",
            count=each.count,
            errors=log.errors if kind == "service" else 0,
            mean_s=each.mean_s,
            min_s=each.low / 1e6,
            max_s=each.high / 1e6,
            histogram=each.histogram(),
            kind="intended" if kind == "intended" else "service",
            in_total=kind == "service",
        )
        for kind, each in sorted(log.kinds.items(), reverse=True)
    )


def describe(*, offered: bool) -> dict[str, Message]:
    """Describe how pgbench's latencies and percentiles are defined. `offered` is the offered rate, if there is one."""
    return {
        "latency": say.latency_both() if offered else say.latency_service(),
        "loop": say.loop_open() if offered else say.loop_closed(),
        "percentiles": say_pg.pg_percentiles(),
    }


def disclosed(found: Summary) -> dict[str, str]:
    """Return pgbench's own description of how it ran."""
    facts = {"pgbench --jobs": str(found.threads), "pgbench script": found.script, "pgbench --protocol": found.protocol}
    tries = {"pgbench --max-tries": str(found.tries)} if found.tries > 1 else {}
    return {name: text for name, text in {**facts, **tries}.items() if text}


def remarks(found: Summary, log: Transactions, limit: object = None) -> Iterator[Message]:
    if found.server and found.server.split(".")[0] != found.version.split(".")[0]:
        yield say_pg.pg_other_server(tool=found.version, server=found.server)
    skipped = log.failed_inside.get("skipped", 0)
    if skipped:
        yield say_pg.pg_skipped(n=skipped, limit=f"{1000 * float(str(limit)):g}" if limit else "?")
    others = [f"{reason} {n}" for reason, n in sorted(log.failed_inside.items()) if n and reason != "skipped"]
    if others:
        yield say_pg.pg_failures(said=", ".join(others))


def _flags(context: CellContext) -> Iterator[str]:
    cell, given = context.cell, context.workload.properties
    yield f"--client={context.threads}"
    yield f"--time={_whole(cell.warm_up_s + cell.measure_s)}"
    yield f"--protocol={given['protocol']}"
    yield "--progress=1"
    yield "--failures-detailed"
    # The engine vacuums once for all load generators. A user's own script may use other tables than pgbench's.
    yield "--no-vacuum"
    # Fixed, so that a cell asks for the same rows everywhere. Each repeat and each load generator has another seed.
    part = cell.load_hosts.index(context.load_host) if context.load_host in cell.load_hosts else 0
    yield f"--random-seed={1000 * cell.repeat + part}"
    if _whole(given["max_tries"]) > 1:
        yield f"--max-tries={_whole(given['max_tries'])}"
    if context.target is not None:
        yield f"--rate={context.target:.15g}"
        if "latency_limit" in given:
            yield f"--latency-limit={1000 * float(given['latency_limit']):.15g}"
    if context.workload.benchmark in BUILTIN:
        yield f"--builtin={BUILTIN[context.workload.benchmark][0]}"
        return
    if "file" not in context.workload.files:
        origin = context.workload.origin
        raise RunnerError(
            f"pgbench needs the SQL of workload {context.workload.name} ({origin})",
            'name its file: file = "orders.sql"',
        )
    yield f"--scale={_whole(given['scale'])}"
    yield f"--file={_SCRIPT}"


def _foreign(context: CellContext, found: Summary) -> Iterator[str]:
    """Yield each difference between the output and the cell. Any difference shows that the output belongs to another
    cell."""
    cell, given = context.cell, context.workload.properties
    script = BUILTIN.get(context.workload.benchmark, ("", _SCRIPT))[1]
    asked: dict[str, tuple[object, object]] = {
        "number of clients": (found.clients, context.threads),
        "duration": (found.asked_s, _whole(cell.warm_up_s + cell.measure_s)),
        "query mode": (found.protocol, given["protocol"]),
        "transaction type": (found.script, script),
        "scaling factor": (found.scale, _whole(given["scale"])),
    }
    for what, (said, wanted) in asked.items():
        if said != wanted:
            yield f"it ran with `{what}: {said}`, and the cell has {wanted}"
    if (found.lag_ms is not None) != (context.target is not None):
        yield f"it ran {'with' if found.lag_ms else 'without'} --rate, and the cell has a target of {context.target}"


def _command(context: CellContext, words: tuple[str, ...]) -> Command:
    uri = context.endpoint.uri
    if uri is None:
        raise RunnerError(f"pgbench needs the uri of database {context.database.name}", "add `uri` to it")
    return Command(words, env=environment(Secret(uri.value, uri.name, of=uri.of), context.database))


def _whole(value: object) -> int:
    return round(float(str(value)))
