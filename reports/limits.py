"""What else limits what a brief's numbers say: errors, busy load generators, single repeats, earlier runs, one machine.

Each limit is told in few words on the first page, and in full in the disclosure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

from benchbrief.compiler import plan as p
from benchbrief.reports.imported import is_imported
from benchbrief.reports.source import Results
from benchbrief.reports.validity import percent
from benchbrief.reports.view import Item, Notice
from benchbrief.reports.words import counted

BUSY = 0.90
"""The share of a load generator's processors from which on it may be what limits the throughput."""
STILL_GAINS = 1.10
"""Times the throughput of the point before, from which on a ramp's last point does not tell where its peak is."""
_ASSERTIONS = "Assertions are enabled"  # db_bench's own words
_UNSTEADY = "Throughput was not steady within the measured time"  # as runners/steady.py notes it


class Limit(NamedTuple):
    """`short` is part of a sentence; empty for what the disclosure alone tells."""

    short: str
    full: str


def notice(results: Results) -> Iterable[Notice]:
    """All of them in one, so that the first page stays one."""
    short = [limit.short for limit in limits(results) if limit.short]
    if short:
        text = results.words["semicolon"].join(short) + results.words["stop"].rstrip()
        yield Notice(results.words["notice_limits"], text[:1].upper() + text[1:], "warning")


def paragraphs(results: Results) -> Iterable[Item]:
    for limit in limits(results):
        yield Item("", limit.full, emphasis=bool(limit.short))


def limits(results: Results) -> Iterator[Limit]:
    yield from _errors(results)
    yield from _busy_clients(results)
    yield from _still_rising(results)
    yield from _unsteady(results)
    yield from _assertions(results)
    yield from _shared_machines(results)
    yield from _single_repeats(results)
    yield from _earlier(results)


def _errors(results: Results) -> Iterator[Limit]:
    """Operations that failed in measurements that count: told in full, and first where they exceed what is accepted."""
    accepted = {e.name: e.max_error_share for e in results.plan.experiments.values()}
    rows = results.store.sql(
        "SELECT experiment, cell_id, errors / (count + errors) AS share "
        "FROM throughput JOIN cells USING (run_id, cell_id) "
        "WHERE status = 'ok' AND phase IS NULL AND operation = 'all' AND errors > 0 ORDER BY share DESC, cell_id"
    ).rows
    if not rows:
        return
    _, cell, most = rows[0]
    over = sum(share > accepted.get(experiment, 0.0) for experiment, _, share in rows)
    told = {"most": percent(most, 2), "cell": cell}
    short = counted(results.words, "l_errors", over, **told) if over else ""
    yield Limit(short, counted(results.words, "l_errors_full", len(rows), **told))


def _busy_clients(results: Results) -> Iterator[Limit]:
    """Load generators whose processors had nothing left, where a probe tells; in RocksDB's hosts that is the engine."""
    loads = {cell.id: cell.load_hosts for cell in results.plan.cells if cell.client is not None}
    rows = results.store.sql(
        "SELECT cell_id, node, avg(value) AS busy FROM samples JOIN cells USING (run_id, cell_id) "
        "WHERE measure = 'cpu.utilisation' AND status = 'ok' AND value IS NOT NULL "
        "GROUP BY cell_id, node ORDER BY busy DESC, cell_id, node"
    ).rows
    known = [(cell, node, busy) for cell, node, busy in rows if node in loads.get(cell, ())]
    busy = [row for row in known if row[2] >= BUSY]
    if not busy:
        return
    cells = len({cell for cell, _, _ in busy})
    total = len({cell for cell, _, _ in known})
    _, host, share = busy[0]
    told = {"total": f"{total:,}", "host": host, "share": percent(share, 0), "limit": percent(BUSY, 0)}
    full = counted(results.words, "l_busy_full", cells, **told)
    if any(host in group.hosts for group in results.plan.hardware.values() for _, host, _ in busy):
        full += " " + results.words["l_busy_shared"]
    yield Limit(counted(results.words, "l_busy", cells, **told), full)


def _still_rising(results: Results) -> Iterator[Limit]:
    """Ramps whose throughput grew up to their last thread count: the load generator's threads were what limited it.

    In a closed loop, threads are always all in use (throughput times latency is their number), so that only the gain of
    more of them tells. A search ends by a rule of its own.
    """
    rows = results.store.sql(
        "SELECT experiment, hardware, workload, threads, avg(ops_per_s) AS rate "
        "FROM throughput JOIN cells USING (run_id, cell_id) "
        "WHERE status = 'ok' AND phase IS NULL AND operation = 'all' AND ops_per_s > 0 "
        "GROUP BY experiment, hardware, workload, threads ORDER BY experiment, hardware, workload, threads"
    ).rows
    ramps: dict[tuple[str, str, str], list[tuple[int, float]]] = {}
    for experiment, hardware, workload, threads, rate in rows:
        planned = results.plan.experiments[experiment]
        if planned.axis == "threads" and planned.search is None and threads is not None:
            ramps.setdefault((experiment, hardware, workload), []).append((threads, rate))
    ends = [(key, points[-2], points[-1]) for key, points in ramps.items() if len(points) > 1]
    rising = [(last[1] / before[1], key, last[0]) for key, before, last in ends if last[1] > STILL_GAINS * before[1]]
    if not rising:
        return
    most, (_, hardware, workload), threads = max(rising)
    told = {
        "total": f"{len(ends):,}",
        "gain": percent(most - 1, 0),
        "hardware": results.plan.hardware[hardware].label,
        "workload": results.plan.workloads[workload].label,
        "threads": f"{threads:,}",
    }
    yield Limit("", counted(results.words, "l_rising_full", len(rising), **told))


def _unsteady(results: Results) -> Iterator[Limit]:
    """Measurements without the steady state that SNIA's rule wants: what a brief says of a warm system may not hold."""
    rows = results.store.sql(
        f"SELECT count(DISTINCT cell_id) FILTER (starts_with(text, '{_UNSTEADY}')), "  # noqa: S608  # ours
        "(SELECT count(*) FROM cells WHERE status = 'ok') FROM notes JOIN cells USING (run_id, cell_id) "
        "WHERE status = 'ok'"
    ).rows
    unsteady, measured = rows[0]
    if unsteady:
        words, told = results.words, {"total": f"{measured:,}"}
        yield Limit(counted(words, "l_unsteady", unsteady, **told), counted(words, "l_unsteady_full", unsteady, **told))


def _assertions(results: Results) -> Iterator[Limit]:
    rows = results.store.sql(
        f"SELECT count(DISTINCT cell_id) FROM notes WHERE contains(text, '{_ASSERTIONS}')"  # noqa: S608  # ours
    ).rows
    (cells,) = rows[0]
    if cells:
        words = results.words
        yield Limit(counted(words, "l_assertions", cells), counted(words, "l_assertions_full", cells))


def _shared_machines(results: Results) -> Iterator[Limit]:
    """Hardware groups that are compared, and have a host in common; variants are meant to be one machine."""
    used = dict.fromkeys(cell.hardware for cell in results.plan.cells)
    groups: dict[str, p.Hardware] = {}
    for key in used:
        groups.setdefault(results.plan.hardware[key].group, results.plan.hardware[key])
    for one, other in combinations(groups.values(), 2):
        common = [host for host in one.hosts if host in other.hosts]
        if common:
            told = {"one": one.group_label, "other": other.group_label, "hosts": results.words.locale.listed(common)}
            yield Limit(results.words["l_shared"].format(**told), results.words["l_shared_full"].format(**told))


def _single_repeats(results: Results) -> Iterator[Limit]:
    """Points that were measured once: told first where the report claims or expects something."""
    once = [e for e in results.plan.experiments.values() if e.repeats == 1]
    measured = {cell.experiment for cell in results.cells if cell.status == "ok"}
    labels = [e.label for e in once if e.name in measured]
    if not labels or is_imported(results):  # what a source tells may be a mean of many
        return
    claims = bool(results.plan.expects) or any(_claims(report.elements) for report in results.plan.reports)
    told = {"experiments": results.words.locale.listed(labels)}
    short = results.words["l_once"].format(**told) if claims else ""
    yield Limit(short, results.words["l_once_full"].format(**told))


def _claims(elements: Iterable[p.Element]) -> bool:
    return any(
        isinstance(element, p.CalloutElement) or (isinstance(element, p.SectionElement) and _claims(element.elements))
        for element in elements
    )


def _earlier(results: Results) -> Iterator[Limit]:
    """Measurements that earlier runs made: the disclosure names these already."""
    rows = results.store.sql(
        "SELECT count(*), count(reused_from), count(DISTINCT reused_from) FROM cells WHERE status = 'ok'"
    ).rows
    total, taken, runs = rows[0]
    if taken:
        words = results.words
        told = {"total": f"{total:,}", "runs": counted(words, "l_runs", runs)}
        yield Limit(counted(words, "l_earlier", taken, **told), counted(words, "l_earlier_full", taken, **told))
