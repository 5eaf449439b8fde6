"""YCSB (Java), in its release's layout: bin/ycsb.sh, lib/, <binding>-binding/lib/, workloads/.

Warm-up and measurement are one process, so that connections, caches and the JIT stay warm. YCSB writes one HDR
histogram for each operation and second, and all numbers come from the seconds inside the measured window. `[OVERALL]`
includes start and warm-up, and counts failed operations, so it only serves to prove that the logs are complete. The
property file is kept beside the logs, so that anyone can run the same client again.

A measured load is YCSB's `load`. It keeps the same logs, and ends with the last record or when its time is over.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import ClassVar

from benchbrief.extend.common import BadOutput, Command, Job, JobOutput, Requirement, read_script
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
from benchbrief.extensions.tools.ycsb import ycsb_invariants
from benchbrief.extensions.tools.ycsb import ycsb_output as text
from benchbrief.extensions.tools.ycsb import ycsb_properties as properties
from benchbrief.extensions.tools.ycsb.ycsb_measurement import measurement_of_logs, measurement_of_rows, run_s
from benchbrief.extensions.tools.ycsb.ycsb_output import say
from benchbrief.extensions.tools.ycsb.ycsb_properties import inserted_key

_BINDING = "mongodb"

_NEEDS_JAVA = "install one with `sudo apt-get install default-jre-headless`, or set JAVA_HOME"
_JAVA = '"${JAVA_HOME:+$JAVA_HOME/bin/}java"'
_CORE_CHECK = 'cd -- "$1/lib" && set -- core-*.jar && [ -f "$1" ] && echo "$1"'
_BINDING_CHECK = 'set -- "$1"/mongodb-binding/lib/mongodb-binding-*.jar && [ -f "$1" ] && echo "${1##*/}"'
_HDR_CHECK = read_script(__file__, "check_hdr.sh")


class Ycsb:
    """The driver of YCSB. Implements `seams.Driver`."""

    name: ClassVar[str] = "ycsb"

    def candidates(self, configured: str | None, tool_dirs: Sequence[str]) -> tuple[str, ...]:
        if configured:
            return (f"{configured.rstrip('/')}/bin/ycsb.sh", configured)
        return (*(f"{folder}/ycsb/bin/ycsb.sh" for folder in tool_dirs), "ycsb.sh")

    def requirements(self, path: str) -> tuple[Requirement, ...]:
        home = _home(path)
        return (
            Requirement(
                "YCSB",
                Command(("sh", "-c", _CORE_CHECK, "sh", home)),
                f"{home} is not laid out like a YCSB release: unpack one, or build YCSB first when it is a checkout",
            ),
            Requirement(
                "YCSB's MongoDB binding",
                Command(("sh", "-c", _BINDING_CHECK, "sh", home)),
                "unpack the full YCSB release, or its mongodb-binding beside its lib/",
            ),
            Requirement("java", Command(("sh", "-c", f"{_JAVA} -version")), _NEEDS_JAVA),
            Requirement("HdrHistogram", Command(("sh", "-c", _HDR_CHECK, "sh", home)), say.hint_histogram()),
        )

    def load(self, context: CellContext) -> Job | None:
        part = properties.load_part(context)
        own = {"status.interval": "2", **part.properties, "batchsize": str(part.batch)}
        file = properties.property_file(context, own)
        command = _command(context, "load", part.threads)
        timeout = timeout_s(context.cell, "load")
        return Job("load", command, timeout, files=(file,), collect=(properties.FILE,), figures=text.FIGURES)

    def check_load(self, context: CellContext, output: JobOutput) -> int:
        found = text.read_text(read_output_lines(output.stdout))
        require_exit(output, "YCSB")
        row = found.rows.get("INSERT")
        if "Throughput(ops/sec)" not in found.overall or row is None or row.ok is None:
            raise bad_output(output, say.load_unfinished(tool="YCSB", said=best_line(output)))
        if row.failed:
            raise bad_output(
                output,
                say.inserts_failed(
                    failed=row.failed, done=row.ok, n=properties.count_records(context.workload), said=best_line(output)
                ),
            )
        require_consistent(output, "YCSB", ycsb_invariants.find_problems(found))
        return row.ok

    def warm_up(self, context: CellContext) -> Job | None:
        del context  # the warm-up is the first part of the measured process, and is cut off when its logs are read
        return None

    def measure(self, context: CellContext) -> Job:
        cell = context.cell
        own = {
            "maxexecutiontime": str(run_s(cell)),
            "measurementtype": "hdrhistogram",
            "hdrhistogram.fileoutput": "true",
            "hdrhistogram.output.path": "",
            "hdrhistogram.percentiles": "50,75,90,95,99,99.9,99.99",
            "status.interval": "1",
            # Intended latency counts the wait for an operation's turn, which only an offered load has.
            "measurement.interval": "both" if cell.target else "op",
        }
        verb = "load" if properties.is_load(context.workload) else "run"
        command = _command(context, verb, context.threads, context.target)
        # The plan's time-out covers warm-up and measurement with at least a minute to spare, which includes the start.
        file, timeout = properties.property_file(context, own), timeout_s(cell, "measure")
        collect = ("*.hdr", properties.FILE)
        return Job("measure", command, timeout, files=(file,), collect=collect, figures=text.FIGURES)

    def parse(self, context: CellContext, output: JobOutput) -> Measurement:
        found = _proven(context, output)
        try:
            logs = text.read_hdr_logs(output.directory)
        except ValueError as error:
            raise BadOutput(say.damaged_log(said=error), say.hint_see(path=output.directory)) from error
        if any(logs.values()):
            return measurement_of_logs(context, output, found, logs)
        return measurement_of_rows(context, output, found)

    def interim(self, context: CellContext, text_so_far: str) -> Interim | None:
        """Implement `seams.TellsInterim`. YCSB prints a status line each second."""
        return text.interim(text_so_far)

    def key(self, number: int, *, ordered: bool = False, padding: int = 1) -> str:
        """Implement `seams.NamesKeys`, for any `insertorder` and `zeropadding`."""
        return inserted_key(number, None if ordered else "little", padding)


def _home(path: str) -> str:
    return str(PurePosixPath(path).parent.parent)


def _command(context: CellContext, verb: str, threads: int, target: float | None = None) -> Command:
    path = context.tool_path
    # The release's own file names the workload's class, which differs before 0.15.
    release = f"{_home(path)}/workloads/workload{context.workload.benchmark}"
    words = [path, verb, _BINDING, "-P", release, "-P", properties.FILE, "-threads", str(threads)]
    if target:
        words += ["-target", str(max(1, round(target)))]
    return Command((*words, "-s"))


def _proven(context: CellContext, output: JobOutput) -> text.YcsbText:
    """Return the rows of a run that ended normally. Raises BadOutput for any other run."""
    for path in (output.stderr, output.stdout):
        if any("javax/xml/bind" in line or "DatatypeConverter" in line for line in read_output_lines(path)):
            raise BadOutput(say.old_histogram(), say.hint_histogram())
    require_exit(output, "YCSB")
    found = text.read_text(read_output_lines(output.stdout))
    if not {"RunTime(ms)", "Throughput(ops/sec)"} <= found.overall.keys():
        raise bad_output(output, say.no_overall(said=best_line(output)))
    if not any(row.count for row in found.rows.values()):
        raise bad_output(output, say.no_operations(tool="YCSB", said=best_line(output)))
    # MongoDB's binding has one connection a thread.
    problems = ycsb_invariants.find_problems(found, context.threads, connections=context.threads)
    require_consistent(output, "YCSB", problems)
    return found
