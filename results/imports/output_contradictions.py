"""Comparing what an output says of its own run with the cell that it is imported for.

A file name is easily wrong. The file's own command line, settings and counts are not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchbrief.compiler.planning.plan import Cell, Plan, Workload
from benchbrief.compiler.rounding import share_text
from benchbrief.results.imports.import_problems import WRONG_CELL, Problem
from benchbrief.results.imports.importer_seams import OutputImporter
from benchbrief.results.messages.result_messages import say
from benchbrief.runners.drivers.ycsb.ycsb_measurement import transactions
from benchbrief.runners.measurement.measurement import Measurement

_PROPORTIONS = ("read", "update", "insert", "scan", "read_modify_write")
_OFF = 0.02
"""How far the mix of operations may be from the declared one, beside chance, as a share."""
_MOST_BUSY = 1.1
"""How much of the threads' time latencies may add up to, as a share: clocks differ, and buckets have widths."""
_LEAST_BUSY = 0.3
"""How much of a closed loop's time its threads are at least waiting for the server (Little's law), as a share."""
_CLIENT_S = 200e-6
"""Below this mean latency, in seconds, what a client does between operations may take most of the time."""
_CONNECTING_S = 10.0
"""How long a run may have connected before its first operation, in seconds."""
_FAILED = 0.05
"""With a larger share of failed operations, the mix of those that are counted proves nothing."""


def contradictions(
    importer: OutputImporter,
    outputs: Mapping[str, Path],
    files: Mapping[str, Path],
    measured: Mapping[str, Measurement],
    cell: Cell,
    plan: Plan,
) -> Iterator[Problem]:
    """Yield the contradictions between outputs and their cell.

    `outputs` are the tool's own, by load generator, if it has one. `files` are one of each load generator, to be
    named, with what was measured by it.
    """
    workload = plan.workloads[cell.workload]
    for path in outputs.values():
        yield from importer.contradictions(path, cell, plan)
    said = {host: importer.settings(path) for host, path in outputs.items()}
    for host, path in outputs.items():
        for name, each in said[host].items():
            if workload.phase == "load" and name in _PROPORTIONS:
                continue  # those of the run that may follow
            planned = workload.properties.get(name, 0.0 if name in _PROPORTIONS else None)
            if planned is not None and not _same(each.value, planned) and name not in ("threads", "target"):
                has = f"{planned:.15g}" if isinstance(planned, float) else planned
                text = f"it was run with {each.text}, and workload {workload.name} has {name} = {has}"
                yield Problem(str(path), each.line, text, WRONG_CELL)
    for host, each_measured in measured.items():
        if workload.phase == "load" or all(name in workload.properties for name in _PROPORTIONS):
            yield from _mix(files[host], each_measured, workload)
    closed = bool(said) and all(each and "target" not in each for each in said.values())
    yield from _busy(files, measured, cell, workload, closed=closed)
    for name, wanted in (("threads", cell.threads), ("target", cell.target)):
        values = [each.get(name) for each in said.values()]
        known = [each for each in values if each is not None]
        if len(known) < len(values) or not known:
            continue
        total = sum(float(each.value) for each in known)
        planned_at = cell.threads_from if name == "threads" else cell.target_from
        if planned_at is None and not (wanted is not None and math.isclose(total, wanted, rel_tol=0.001)):
            words = f"{name} = {wanted:g}" if wanted is not None else f"no {name}"
            beside = f", {total:g} with the other load generators" if len(known) > 1 else ""
            text = f"it was run with {known[0].text}{beside}, and cell {cell.id} has {words}"
            yield Problem(str(next(iter(outputs.values()))), known[0].line, text, WRONG_CELL)


def _same(said: float | str, planned: float | str | bool) -> bool:
    if isinstance(said, str) or isinstance(planned, str):
        return said == planned
    return math.isclose(said, planned, rel_tol=1e-9, abs_tol=1e-9)


def _busy(
    files: Mapping[str, Path], measured: Mapping[str, Measurement], cell: Cell, workload: Workload, *, closed: bool
) -> Iterator[Problem]:
    """Yield a problem when all latencies together are longer than the time of the cell's threads.

    A thread, and with `io_depth` each place in its queue, has one operation after the other. An operation at each end
    may reach out of the window. Intended latencies hold waits, which overlap: at an offered load, files must tell that
    theirs are service times. Those of a `closed` loop, whose outputs tell settings and no target, fill much of the time
    (Little's law).
    """
    if cell.threads is None or not files:
        return
    offered = cell.target is not None or cell.target_from is not None
    kinds = {dict(each.properties).get("latency") for each in measured.values()}
    if offered and kinds != {str(say.latency_service())}:
        return
    at_once = cell.threads * float(workload.properties.get("io_depth", 1.0))
    seconds = max(each.total.seconds for each in measured.values())
    done = [op for each in measured.values() for op in each.operations if op.phase is None and op.in_total]
    timed = [op for op in done if op.kind == "service" and op.mean_s is not None]
    busy = sum(op.count * (op.mean_s or 0.0) for op in timed)
    longest = max((op.max_s or op.mean_s or 0.0 for op in timed), default=0.0)
    if busy > _MOST_BUSY * at_once * (seconds + min(longest, seconds)):
        has = f"the {at_once:g} threads of cell {cell.id} have {at_once * seconds:.4g} s in {seconds:.4g} s"
        hint = "name the unit of its values, with --unit where they have none, and the cell that it is of"
        yield Problem(str(files[min(files)]), None, f"its latencies add up to {busy:.4g} s, and {has}", hint)
    known = timed and len(timed) == sum(op.count > 0 for op in done) and not any(op.errors for op in done)
    mean = busy / max(1, sum(op.count for op in timed))
    if workload.family == "ycsb" and known and closed and not offered and mean > _CLIENT_S:
        least = _LEAST_BUSY * cell.threads * (seconds - _CONNECTING_S)
        if busy < least:
            ran = f"by its latencies and its rate about {busy / seconds:.2g} threads ran at once"
            hint = "say how many threads ran, or the `target` that held them back"
            text = f"{ran}, and cell {cell.id} has threads = {cell.threads}"
            yield Problem(str(files[min(files)]), None, text, hint)


def _mix(path: Path, measured: Measurement, workload: Workload) -> Iterator[Problem]:
    """Yield a problem when the operations are not those of the workload, except for chance."""
    done = [each for each in measured.operations if each.phase is None]
    done = [each for each in done if each.kind == "service"] or done
    count, failed = transactions(done), sum(each.errors for each in done)
    if count <= 0 or failed > _FAILED * count:
        return
    counts = {name: sum(each.count for each in done if each.operation == name) for name in _PROPORTIONS}
    for half in ("read", "update"):
        counts[half] -= counts["read_modify_write"]
    for name, number in counts.items():
        wanted, share = _wanted(workload, name), number / count
        if abs(share - wanted) > max(_OFF, 5 * math.sqrt(wanted * (1 - wanted) / count)):
            problem = f"{share_text(share)} of its operations are {name.replace('_', '-')}s"
            where = f"workload {workload.name} ({workload.family}.{workload.benchmark})"
            text = f"{problem}, and {share_text(wanted)} are in {where}"
            yield Problem(str(path), None, text, WRONG_CELL)
            return


def _wanted(workload: Workload, name: str) -> float:
    """Return the wanted share of an operation. A measured load has only inserts."""
    if workload.phase == "load":
        return 1.0 if name == "insert" else 0.0
    return float(workload.properties.get(name, 0.0))
