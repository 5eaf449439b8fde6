"""go-ycsb: YCSB's core workloads in Go.

It reads no `maxexecutiontime`, so `timeout` interrupts it when the time is over; it then prints its final rows and
ends in order, and `timeout` with 124. Its percentiles are printed ones, which can't be merged with others. Its keys
differ from YCSB's: data loaded with one are not found by the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import ClassVar
from urllib.parse import urlsplit

from benchbrief.compiler.plan import StepKind
from benchbrief.runners.contexts import CellContext
from benchbrief.runners.drivers import go_ycsb_output as text
from benchbrief.runners.drivers import ycsb_properties as properties
from benchbrief.runners.drivers.evidence import bad, lines, require_exit, require_few_errors, timeout_s
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.measurement import Interval, Measurement, Operation, PhaseThroughput
from benchbrief.runners.seams import Interim, Requirement
from benchbrief.runners.steady import MEASURE, WARM_UP, judged
from benchbrief.runners.tasks import Command, File, Job, JobOutput

_INTERRUPTED = 124
"""The exit code of `timeout` when the time was over."""
_STRAY_ERRORS = 0.001
"""Accepted where the spec allows none: healthy servers show a few `no documents` errors (see `_key_space` for most)."""
_STRAYS = (
    "{own} of {total} operations of go-ycsb failed, which is accepted up to "
    f"{_STRAY_ERRORS:.1%} of them although the spec allows none: declare `max_errors` to set the limit"
)
_SHORT_S = 1.0
_LOAD_THREADS = 8
_DATABASE = "ycsb"

# The version stands in the program as Go's build information.
_CHECK = """\
LC_ALL=C grep -aom 1 'github.com/pingcap/go-ycsb[[:space:]]v[0-9][0-9.]*' "$1" | cut -c 1-60
"$1" --help >/dev/null
"""


class GoYcsb:
    """See `seams.Driver`."""

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
        records = properties.records(context.workload)
        # It gives each thread records // threads and forgets the rest.
        threads = next(n for n in range(_LOAD_THREADS, 0, -1) if records % n == 0)
        words = (context.tool_path, "load", "mongodb", "-P", properties.FILE, "--threads", str(threads))
        return Job("load", Command(words), timeout_s(context.cell, "load"), files=(_file(context),))

    def check_load(self, context: CellContext, output: JobOutput) -> int:
        require_exit(output, "go-ycsb")
        found = text.read(lines(output.stdout))
        row = found.final.get("INSERT")
        failed = found.final.get("INSERT_ERROR")
        if failed:
            raise bad(output, f"{failed.count} of {properties.records(context.workload)} inserts of go-ycsb failed")
        if row is None:
            raise bad(output, "go-ycsb did not finish the load")
        return row.count

    def warm_up(self, context: CellContext) -> Job | None:
        """A process of its own: with an offered load, go-ycsb's `warmuptime` is caught up with in a burst."""
        if not context.cell.warm_up_s:
            return None
        return _timed(context, "warm_up", context.cell.warm_up_s)

    def measure(self, context: CellContext) -> Job:
        if context.cell.phases > 1:
            raise RunnerError(
                "go-ycsb prints percentiles of a whole run only, so it can't measure phases",
                "use YCSB (tool = ycsb), or `measure = ...` instead of `phases`",
            )
        return _timed(context, "measure", context.cell.measure_s)

    def parse(self, context: CellContext, output: JobOutput) -> Measurement:
        require_exit(output, "go-ycsb", accepted=(0, _INTERRUPTED))
        found = text.read(lines(output.stdout))
        total = found.final.get("TOTAL")
        if total is None or not total.count:
            raise bad(output, "go-ycsb printed no final TOTAL row")
        wanted = context.cell.measure_s
        loaded = properties.is_load(context.workload) and total.count >= _loadable(context)
        limited = loaded or "operations" in context.workload.properties
        if not limited and total.seconds < wanted - max(_SHORT_S, 0.05 * wanted):
            raise bad(output, f"go-ycsb ended after {total.seconds:.1f} s of {wanted:g} s")

        count = transactions(found.final)
        failed = {name: row.count for name, row in found.final.items() if name.endswith("_ERROR")}
        errors = sum(failed.values())
        # The plan does not tell `max_errors = 0 %` from a spec that is silent: none is allowed by either.
        allowed = context.experiment.max_error_share or _STRAY_ERRORS
        # Interrupting it fails the operation that each thread has under way: those are not the server's failures.
        own = max(0, errors - context.threads)
        require_few_errors(output, "go-ycsb", own, count, allowed)
        tolerated = bool(own) and not context.experiment.max_error_share
        by_second = intervals(found, total.seconds)
        unsteady, told = judged(by_second, MEASURE if properties.is_load(context.workload) else WARM_UP)
        return Measurement(
            window=(output.ended_at - total.seconds, output.ended_at),
            throughput=(PhaseThroughput(None, count, errors, total.seconds, count / total.seconds),),
            operations=tuple(operations(found.final, failed)),
            intervals=by_second,
            warnings=(*((_STRAYS.format(own=own, total=own + count),) if tolerated else ()), *unsteady),
            tool_version="go-ycsb",
            properties=(
                ("latency", "service"),
                ("loop", "open, closed when it falls behind" if context.cell.target else "closed"),
                ("percentiles", "as printed by go-ycsb: they can't be merged with others"),
                ("warm-up", "in a process of its own" if context.cell.warm_up_s else "none"),
                (
                    "errors",
                    f"up to {allowed * 100:.3g}% are accepted; {context.threads} may be from the interrupt",
                ),
                *((("throughput", "a read-modify-write is one operation"),) if _rmw(found.final) else ()),
                *told.items(),
            ),
        )

    def interim(self, context: CellContext, text_so_far: str) -> Interim | None:
        """See `seams.TellsInterim`."""
        return text.interim(text_so_far)


def _loadable(context: CellContext) -> int:
    """The records of a load: each thread has records // threads, and the rest is forgotten."""
    return properties.own_records(context) // context.threads * context.threads


def _timed(context: CellContext, step: StepKind, seconds: float) -> Job:
    cell, verb = context.cell, "load" if properties.is_load(context.workload) else "run"
    words = [
        *("timeout", "--foreground", "--signal=INT", "--kill-after=30", f"{seconds:g}"),
        *(context.tool_path, verb, "mongodb", "-P", properties.FILE, "--threads", str(context.threads)),
    ]
    if context.target:
        words += ["--target", str(max(1, round(context.target)))]
    return Job(step, Command(tuple(words)), timeout_s(cell, step), files=(_file(context, _key_space(context)),))


def _file(context: CellContext, own: Mapping[str, str] = MappingProxyType({})) -> File:
    """Raises RunnerError for a URI that names another database than the one go-ycsb always uses."""
    uri = context.endpoint.uri
    if uri is not None:
        database = urlsplit(uri.value).path.strip("/")
        if database not in ("", _DATABASE):
            raise RunnerError(
                f"go-ycsb always uses the database `{_DATABASE}`, and the URI names `{database}`",
                f"end the database's uri in /{_DATABASE}",
            )
    # Its profiler listens on port 6060 of every interface unless told otherwise.
    return properties.file(context, {"measurement.interval": "1", "debug.pprof": "127.0.0.1:0", **own})


def _key_space(context: CellContext) -> dict[str, str]:
    """Settings that keep go-ycsb to the keys that were loaded.

    Its zipfian choice takes the record count itself for a key (pkg/workload/core.go: the upper bound is not lowered by
    one), which no load makes: some share of the operations would fail, a hot key's in the worst case.
    """
    given = context.workload.properties
    if given.get("distribution") != "zipfian" or given.get("insert"):
        return {}
    return {"recordcount": str(max(1, properties.records(context.workload) - 1))}


def _rmw(rows: Mapping[str, text.Row]) -> int:
    row = rows.get("READ_MODIFY_WRITE")
    return row.count if row else 0


def transactions(rows: Mapping[str, text.Row]) -> int:
    """A read-modify-write is one operation, though READ and UPDATE count it again."""
    return rows["TOTAL"].count - _rmw(rows)


def operations(rows: Mapping[str, text.Row], failed: dict[str, int]) -> list[Operation]:
    """Of the final rows; `failed` are the counts of the rows of failures, by their names."""
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


def intervals(found: text.Output, seconds: float) -> tuple[Interval, ...]:
    """The differences of the cumulative rows: their times are those of the TOTAL rows."""
    points = [(0.0, 0)]
    for rows in (*found.interim, found.final):
        if "TOTAL" in rows and points[-1][0] + 0.5 < rows["TOTAL"].seconds <= seconds:
            points.append((rows["TOTAL"].seconds, transactions(rows)))
    return tuple(Interval(t0, t1 - t0, c1 - c0) for (t0, c0), (t1, c1) in pairwise(points))
