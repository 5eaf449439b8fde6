"""go-ycsb: YCSB's core workloads in Go.

go-ycsb ignores `maxexecutiontime`, so `timeout` interrupts it when the time is over. go-ycsb then prints its final rows
and ends normally, and `timeout` exits with 124. Of the latencies, go-ycsb prints only percentiles, which can't be
merged with others. Its keys differ from YCSB's, so neither program finds data that the other has loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import ClassVar
from urllib.parse import urlsplit

from benchbrief.extend.common import (
    Command,
    Job,
    JobFile,
    JobOutput,
    PlanRefused,
    PrintedNumber,
    Requirement,
    StepKind,
    figure,
    read_script,
    share_figure,
)
from benchbrief.extend.tools import (
    CellContext,
    Interim,
    Interval,
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
from benchbrief.extensions.tools.go_ycsb import go_ycsb_invariants
from benchbrief.extensions.tools.go_ycsb import go_ycsb_output as text
from benchbrief.extensions.tools.go_ycsb.go_ycsb_output import say
from benchbrief.extensions.tools.go_ycsb.spec import SPEC
from benchbrief.extensions.tools.ycsb import ycsb_properties as properties
from benchbrief.extensions.tools.ycsb.ycsb_properties import inserted_key

_INTERRUPTED = 124
"""The exit code of `timeout` if it had to stop the command."""
_SHORT_S = 1.0
_DATABASE = "ycsb"

_CHECK = read_script(__file__, "check.sh")


class GoYcsb:
    """The driver of go-ycsb. Implements `seams.Driver`."""

    name: ClassVar[str] = "go_ycsb"

    def candidates(self, configured: str | None, tool_dirs: Sequence[str]) -> tuple[str, ...]:
        if configured:
            return (configured, f"{configured.rstrip('/')}/bin/go-ycsb")
        return (*(f"{folder}/go-ycsb/bin/go-ycsb" for folder in tool_dirs), "go-ycsb")

    def requirements(self, path: str) -> tuple[Requirement, ...]:
        return (
            Requirement("go-ycsb", Command(("sh", "-c", _CHECK, "sh", path)), "build it again for this machine"),
            Requirement("timeout", Command(("timeout", "--version")), "install GNU coreutils"),
        )

    def load(self, context: CellContext) -> Job | None:
        part = properties.load_part(context)
        # go-ycsb gives each thread records // threads, and drops the remainder.
        threads = next(n for n in range(part.threads, 0, -1) if len(part.keys) % n == 0)
        words = (context.tool_path, "load", "mongodb", "-P", properties.FILE, "--threads", str(threads))
        timeout = timeout_s(context.cell, "load")
        return Job("load", Command(words), timeout, files=(_file(context, part.properties),), figures=text.FIGURES)

    def check_load(self, context: CellContext, output: JobOutput) -> int:
        require_exit(output, "go-ycsb")
        found = text.read(read_output_lines(output.stdout))
        row = found.final.get("INSERT")
        failed = found.final.get("INSERT_ERROR")
        if failed:
            raise bad_output(
                output,
                say.go_inserts_failed(
                    failed=failed.count, n=properties.count_records(context.workload), said=best_line(output)
                ),
            )
        if row is None:
            raise bad_output(output, say.load_unfinished(tool="go-ycsb", said=best_line(output)))
        require_consistent(output, "go-ycsb", go_ycsb_invariants.find_problems(found))
        return row.count

    def warm_up(self, context: CellContext) -> Job | None:
        """Run the workload in a separate process. `warmuptime` can't be used for this: under an offered load, go-ycsb
        catches up in a burst after it."""
        if not context.cell.warm_up_s:
            return None
        return _timed(context, "warm_up", context.cell.warm_up_s)

    def key(self, number: int, *, ordered: bool = False, padding: int = 1) -> str:
        """Implement `seams.NamesKeys`, for any `insertorder` and `zeropadding`."""
        return inserted_key(number, None if ordered else "big", padding)

    def measure(self, context: CellContext) -> Job:
        if context.cell.phases > 1:
            raise PlanRefused(say.go_ycsb_no_phases(), say.hint_go_ycsb_phases())
        return _timed(context, "measure", context.cell.measure_s)

    def parse(self, context: CellContext, output: JobOutput) -> Measurement:
        require_exit(output, "go-ycsb", accepted=(0, _INTERRUPTED))
        found = text.read(read_output_lines(output.stdout))
        total = found.final.get("TOTAL")
        if total is None or not total.count:
            raise bad_output(output, say.no_total(said=best_line(output)))
        wanted = context.cell.measure_s
        loaded = properties.is_load(context.workload) and total.count >= _loadable(context)
        limited = loaded or "operations" in context.workload.properties
        if not limited and total.seconds < wanted - max(_SHORT_S, 0.05 * wanted):
            raise bad_output(
                output,
                say.ended_early(
                    tool="go-ycsb",
                    seconds=figure(total.seconds, ".1f"),
                    wanted=figure(wanted, "g"),
                    said=best_line(output),
                ),
            )

        require_consistent(output, "go-ycsb", go_ycsb_invariants.find_problems(found, context.threads))
        count = read_transactions(found.final)
        failed = {name: row.count for name, row in found.final.items() if name.endswith("_ERROR")}
        errors = sum(failed.values())
        allowed = context.accepted_errors  # `_key_space` explains most of them
        # An interrupt fails the operation of each thread that is under way. Those are not the server's failures.
        own = max(0, errors - context.threads)
        require_few_errors(output, "go-ycsb", own, count, allowed)
        tolerated = bool(own) and not context.experiment.max_error_share
        by_second = read_intervals(found, total.seconds)
        remedy = say.hint_longer() if properties.is_load(context.workload) else say.remedy_warm_up()
        unsteady, judged = judge_window(by_second, remedy, context.cell.events)
        return Measurement(
            window=(output.ended_at - total.seconds, output.ended_at),
            throughput=(PhaseThroughput(None, count, errors, total.seconds, count / total.seconds),),
            operations=tuple(read_operations(found.final, failed)),
            intervals=by_second,
            warnings=(
                *(
                    (say.strays(errors=own, n=own + count, share=share_figure(SPEC.stray_errors, 1)),)
                    if tolerated
                    else ()
                ),
                *unsteady,
            ),
            tool_version="go-ycsb",
            properties=(
                ("latency", say.latency_service()),
                ("loop", say.loop_open() if context.cell.target else say.loop_closed()),
                ("percentiles", say.percentiles_go_ycsb()),
                ("warm-up", say.warm_up_process() if context.cell.warm_up_s else say.none()),
                # The wording does not depend on the threads, so that a brief prints it once.
                ("errors", say.errors_accepted(share=PrintedNumber(allowed, f"{allowed * 100:.3g} %"))),
                *((("throughput", say.read_modify_write()),) if _rmw(found.final) else ()),
                *judged.items(),
            ),
        )

    def interim(self, context: CellContext, text_so_far: str) -> Interim | None:
        """Implement `seams.TellsInterim`, from the cumulative rows that go-ycsb prints at intervals."""
        return text.interim(text_so_far)


def _loadable(context: CellContext) -> int:
    """Return how many records a load inserts. Each thread inserts records // threads, and the remainder is dropped."""
    return properties.count_own_records(context) // context.threads * context.threads


def _timed(context: CellContext, step: StepKind, seconds: float) -> Job:
    cell, verb = context.cell, "load" if properties.is_load(context.workload) else "run"
    # A warm-up is complete if the tool ends normally. A measurement is complete if its time was over.
    own_code = ("--preserve-status",) if step == "warm_up" else ()
    words = [
        *("timeout", "--foreground", "--signal=INT", "--kill-after=30", *own_code, f"{seconds:g}"),
        *(context.tool_path, verb, "mongodb", "-P", properties.FILE, "--threads", str(context.threads)),
    ]
    if context.target:
        words += ["--target", str(max(1, round(context.target)))]
    files = (_file(context, _key_space(context)),)
    return Job(step, Command(tuple(words)), timeout_s(cell, step), files=files, figures=text.FIGURES)


def _file(context: CellContext, own: Mapping[str, str] = MappingProxyType({})) -> JobFile:
    """Return the property file. Raises PlanRefused if the URI names a database that go-ycsb does not use."""
    uri = context.endpoint.uri
    if uri is not None:
        database = urlsplit(uri.value).path.strip("/")
        if database not in ("", _DATABASE):
            raise PlanRefused(
                say.go_ycsb_database(own=_DATABASE, named=database), say.hint_go_ycsb_database(own=_DATABASE)
            )
    # By default, its profiler listens on port 6060 of every interface.
    return properties.property_file(context, {"measurement.interval": "1", "debug.pprof": "127.0.0.1:0", **own})


def _key_space(context: CellContext) -> dict[str, str]:
    """Return settings that keep go-ycsb to the keys that were loaded.

    go-ycsb's zipfian generator may return the record count itself as a key (pkg/workload/core.go does not lower the
    upper bound by one), and no load inserts that key. Without these settings, a share of the operations fails; in the
    worst case, the missing key is among the most frequent ones.
    """
    given = context.workload.properties
    if given.get("distribution") != "zipfian" or given.get("insert"):
        return {}
    return {"recordcount": str(max(1, properties.count_records(context.workload) - 1))}


def _rmw(rows: Mapping[str, text.GoYcsbRow]) -> int:
    row = rows.get("READ_MODIFY_WRITE")
    return row.count if row else 0


def read_transactions(rows: Mapping[str, text.GoYcsbRow]) -> int:
    """Return how many operations were done. A read-modify-write is one operation, although READ and UPDATE count it
    again."""
    return rows["TOTAL"].count - _rmw(rows)


def read_operations(rows: Mapping[str, text.GoYcsbRow], failed: dict[str, int]) -> list[Operation]:
    """Return the operations of the final rows. `failed` has the counts from the rows about failures, by row name."""
    done = []
    for name, operation in text.OPERATIONS.items():
        row = rows.get(name)
        errors = failed.get(f"{name}_ERROR", 0)
        if row is None:
            if errors:
                done.append(Operation(operation=operation, count=0, errors=errors))
            continue
        done.append(
            Operation(
                operation=operation,
                count=row.count,
                errors=errors,
                mean_s=row.mean_s,
                min_s=row.min_s,
                max_s=row.max_s,
                printed=row.printed,
                in_total=name != "READ_MODIFY_WRITE",
            )
        )
    return done


def read_intervals(found: text.GoYcsbOutput, seconds: float) -> tuple[Interval, ...]:
    """Return the operations between successive cumulative rows, at the times of the TOTAL rows."""
    points = [(0.0, 0)]
    for rows in (*found.interim, found.final):
        if "TOTAL" in rows and points[-1][0] + 0.5 < rows["TOTAL"].seconds <= seconds:
            points.append((rows["TOTAL"].seconds, read_transactions(rows)))
    return tuple(Interval(t0, t1 - t0, c1 - c0) for (t0, c0), (t1, c1) in pairwise(points))
