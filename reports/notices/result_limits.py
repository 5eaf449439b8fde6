"""Finds further limits of a brief's numbers: errors, busy load generators, single repeats, earlier runs, one machine.

The brief states each limit in few words, and the disclosure states it in full.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

from benchbrief.compiler.registry import accepted_errors, stray_errors
from benchbrief.model import plan as p
from benchbrief.model.plan import Levels
from benchbrief.model.points import Curve
from benchbrief.reports.data.imported_briefs import is_imported
from benchbrief.reports.data.place_labels import place_holes
from benchbrief.reports.data.report_data import Results, run_row
from benchbrief.reports.data.view_model import Item, Notice
from benchbrief.reports.text.number_format import duration, fixed, percent, quantity
from benchbrief.reports.words.brief_words import as_sentence, counted, denied_of, some_of
from benchbrief.results.analysis.cautions import BUSY, BusyGenerator, busy_generators, read_other_work
from benchbrief.results.analysis.superlinear import Superlinear, rest_on, superlinear_points

MUCH_OTHER_WORK = 0.25
"""The share of a host's processors above which other work on the host is a grave limit."""
REHEARSED_S = 60.0
"""If each point was measured once and for less than this many seconds, the run is a rehearsal."""
STILL_GAINS = 1.10
"""If a ramp's last point is this many times as high as the point before, it does not count as the peak."""

_PROCESSORS = ("usable_threads", "threads", "cores")
"""The facts on the number of a host's processors. The first known one limits the host most."""


class ResultLimit(NamedTuple):
    """A limit of the results. `short` is a part of a sentence, or empty for a limit that only the disclosure states. A
    grave limit is on page 1."""

    short: str
    full: str
    is_grave: bool = False


def notice(results: Results, *, of_sizes: bool = False) -> Iterable[Notice]:
    """Yield a notice with the grave limits, and another with the other limits in few words. If the headline has only
    sizes (`of_sizes`), the grave limits say that they do not apply to sizes."""
    words, found = results.words, [limit for limit in limits(results) if limit.short]
    if of_sizes:
        found = [
            ResultLimit(words["l_of_times"].format(limit=limit.short), limit.full) if limit.is_grave else limit
            for limit in found
        ]
    for title, is_grave in (("notice_limits_first", True), ("notice_limits", False)):
        if short := [limit.short for limit in found if limit.is_grave == is_grave]:
            text, *each = (as_sentence(part, words) for part in (words["semicolon"].join(short), *short))
            yield Notice(words[title], text, "warning", limits=tuple(each), is_grave=is_grave)


def paragraphs(results: Results) -> Iterable[Item]:
    for limit in limits(results):
        yield Item("", as_sentence(limit.full, results.words), emphasis=bool(limit.short))


def limits(results: Results) -> Iterator[ResultLimit]:
    yield from _errors(results)
    yield from _busy_clients(results)
    yield from _doubtful_points(results)
    yield from _still_rising(results)
    yield from _other_work(results)
    yield from _crowded(results)
    yield from _beside_servers(results)
    yield from _unsteady(results)
    yield from _assertions(results)
    yield from _shared_machines(results)
    yield from _single_repeats(results)
    yield from _retried(results)
    yield from _earlier(results)


def _errors(results: Results) -> Iterator[ResultLimit]:
    """Yield the failed operations of counted measurements as limits, beginning with those above the accepted share.

    go-ycsb also counts the operations that it interrupts at the end, one for each thread. Those do not count here, and
    the disclosure says how many measurements have them.
    """
    accepted = {e.name: accepted_share(e, results) for e in results.plan.experiments.values()}
    rows = results.once(_failed_operations)
    failed = sorted((row for row in rows if row[3] > 0), key=lambda row: -row[3])
    if failed:
        _, cell, _, most = failed[0]
        over = sum(own > accepted.get(experiment, 0.0) for experiment, _, _, own in failed)
        holes = {"most": percent(most, 2, unlike=0.0), "cell": cell}
        short = counted(results.words, "l_errors", over, **holes) if over else ""
        yield ResultLimit(short, counted(results.words, "l_errors_full", len(failed), **holes))
    if cut := [share for _, _, share, own in rows if share > own]:
        share = percent(max(cut), 2, unlike=0.0)
        yield ResultLimit("", counted(results.words, "l_cut_off_full", len(cut), most=share))


def failed_cells(results: Results) -> frozenset[str]:
    """Return the ids of the counted cells with failed operations."""
    return frozenset(cell for _, cell, _, own in results.once(_failed_operations) if own > 0)


def failures(results: Results) -> str:
    """Return the sentence on the failed operations of all counted measurements, with the operations' kinds. A brief has
    one sentence for all its numbers, so that no page repeats it with other numbers."""
    words, failed = results.words, [row for row in results.once(_failed_operations) if row[3] > 0]
    cells = {cell: share > own for _, cell, share, own in failed}
    rows = results.store.sql(
        "SELECT DISTINCT cell_id, operation, errors > coalesce(threads, 0) FROM operations "
        "JOIN cells USING (run_id, cell_id) WHERE phase IS NULL AND errors > 0 ORDER BY operation"
    ).rows
    # Of a load generator that was stopped, up to one failure for each thread is the stop's.
    named = dict.fromkeys(
        words.get(f"operation_{name}", name) for cell, name, many in rows if cell in cells and (many or not cells[cell])
    )
    what = words["c_failed_kinds"].format(kinds=words.locale.listed(named)) if named else words["c_failed_any"]
    share = percent(max(own for *_, own in failed), 2, unlike=0.0)
    return counted(words, "c_failed", len(failed), what=what, share=share)


def _failed_operations(results: Results) -> list[tuple[str, str, float, float]]:
    """Return the counted measurements with failed operations, the highest share first. Each has its experiment, its
    cell, its share, and its share without the operations that the load generator interrupted."""
    stopped = () if is_imported(results) else results.plan.cells  # nobody knows whether someone stopped the others
    cut_off = {cell.id for cell in stopped if stray_errors(cell.tool.driver)}
    rows = results.store.sql(
        "SELECT experiment, cell_id, errors / (count + errors) AS share, "
        "(errors - coalesce(threads, 0)) / (count + errors) AS own "
        "FROM throughput JOIN cells USING (run_id, cell_id) "
        "WHERE status = 'ok' AND phase IS NULL AND operation = 'all' AND errors > 0 ORDER BY share DESC, cell_id"
    ).rows
    return [(experiment, cell, share, own if cell in cut_off else share) for experiment, cell, share, own in rows]


def accepted_share(experiment: p.Experiment, results: Results) -> float:
    """Return the accepted share of failed operations in an experiment's measurements."""
    drivers = {cell.tool.driver for cell in results.plan.cells if cell.experiment == experiment.name}
    return max(accepted_errors(experiment.max_error_share, driver) for driver in sorted(drivers) or [""])


def busy_generators_of(results: Results) -> list[BusyGenerator]:
    return busy_generators(results.plan, results.store)


def _busy_clients(results: Results) -> Iterator[ResultLimit]:
    """Yield a limit for load generators whose processors were busy."""
    busy = results.once(busy_generators_of)
    if not busy:
        return
    cells = len({each.cell for each in busy})
    measured = sum(cell.status == "ok" for cell in results.cells)
    _, host, share = busy[0]
    ends = dict.fromkeys(percent(each.share) for each in (busy[-1], busy[0]))
    holes = {
        "which": some_of(results.words, cells, measured),
        "host": host,
        "share": percent(share),
        "ends": results.words["to"].join(ends),
        "limit": percent(BUSY),
    }
    full = counted(results.words, "l_busy_full", cells, **holes)
    if any(host in group.hosts for group in results.plan.hardware.values() for _, host, _ in busy):
        full += " " + results.words["l_busy_shared"]
    yield ResultLimit(counted(results.words, "l_busy", cells, **holes), full, is_grave=2 * cells > measured)


def doubtful_points_of(results: Results) -> list[Superlinear]:
    return [] if run_row(results)["simulated"] else superlinear_points(results.plan, results.store)


def are_doubtful(queries: Iterable[p.Query], results: Results) -> bool:
    """Return whether a query reads a throughput or latency at a point that the rest of its curve contradicts."""
    reads = [read for query in queries for read in query.reads or ()]
    return rest_on(results.once(doubtful_points_of), reads, results.plan)


def _doubtful_points(results: Results) -> Iterator[ResultLimit]:
    """Yield a limit for points that the rest of their curves contradict, grave ones first. It is grave if one of them
    is, unless a source states them."""
    found, words = sorted(results.once(doubtful_points_of), key=lambda one: not one.is_grave), results.words
    if not found:
        return
    said = [
        {
            **place_holes(each.point, results),
            "more": fixed(each.more, 0),
            "fewer": fixed(each.point.threads or 0, 0),
            "times": fixed(each.more_rate / each.rate, 1),
            "at": counted(words, "at_threads", each.point.threads or 0),
            "rate": quantity(each.rate, "ops/s"),
            "more_rate": quantity(each.more_rate, "ops/s"),
        }
        for each in found
    ]
    listed = words["semicolon"].join(words["l_doubtful_point"].format(**holes) for holes in said)
    yield ResultLimit(
        counted(words, "l_doubtful", len(found), **said[0]),
        words["l_doubtful_full"].format(listed=listed),
        is_grave=found[0].is_grave and not is_imported(results),
    )


def _still_rising(results: Results) -> Iterator[ResultLimit]:
    """Yield a limit for ramps whose throughput grew up to the last thread count, because the load generator's threads
    were the bottleneck.

    In a closed loop, all threads are always busy (throughput times latency is their number), so only the gain from more
    threads reveals the bottleneck. A search is left out because it ends by its own rule.
    """
    rows = results.store.sql(
        "SELECT experiment, hardware, workload, levels, threads, avg(ops_per_s) AS rate "
        "FROM throughput JOIN cells USING (run_id, cell_id) "
        "WHERE status = 'ok' AND phase IS NULL AND operation = 'all' AND ops_per_s > 0 AND threads IS NOT NULL "
        "GROUP BY experiment, hardware, workload, levels, threads "
        "QUALIFY row_number() OVER (PARTITION BY experiment, hardware, workload, levels ORDER BY threads DESC) <= 2 "
        "ORDER BY experiment, hardware, workload, threads"
    ).rows
    ramps: dict[Curve, list[tuple[int, float]]] = {}
    for experiment, hardware, workload, levels, threads, rate in rows:
        planned = results.plan.experiments[experiment]
        if planned.axis == "threads" and planned.search is None:
            ramps.setdefault(Curve(experiment, hardware, workload, Levels(levels)), []).append((threads, rate))
    ends = [(key, points[-2], points[-1]) for key, points in ramps.items() if len(points) > 1]
    rising = [(last[1] / before[1], key, last[0]) for key, before, last in ends if last[1] > STILL_GAINS * before[1]]
    if not rising:
        return
    most, place, threads = max(rising)
    holes = {
        "which": some_of(results.words, len(rising), len(ends), "ramp"),
        "gain": percent(most - 1),
        **place_holes(place, results),
        "threads": f"{threads:,}",
    }
    yield ResultLimit("", counted(results.words, "l_rising_full", len(rising), **holes))


def _other_work(results: Results) -> Iterator[ResultLimit]:
    """Yield a limit for measurements during which a load generator's host is known to have done other work.

    A load generator on a server's machine cannot be judged, because it is unknown how much of the load is the server's.
    """
    found = read_other_work(results.store)
    busy = [hosts for hosts in found.values() if hosts]
    if not busy:
        return
    unjudged = {cell.id for cell in results.plan.cells if _shares_hosts(cell, results.plan)}
    unjudged_count = sum(cell in unjudged and not hosts for cell, hosts in found.items())
    words, cells = results.words, len(busy)
    which = some_of(words, cells, len(found) - unjudged_count, "judged" if unjudged_count else "measurement")
    sizes = {host: _processors(host, results) for hosts in busy for host in hosts}
    processors = min(sizes.values()) if len({*sizes.values()}) == 1 else 0  # several sizes: none is named
    is_much = any(0 < sizes[host] < cores / MUCH_OTHER_WORK for hosts in busy for host, cores in hosts.items())
    amounts = [max(hosts.values()) for hosts in busy]
    ends = dict.fromkeys(fixed(cores, 1) for cores in (min(amounts), max(amounts)))
    holes = {"which": which, "amount": words["to"].join(ends), "most": fixed(max(amounts), 1), "processors": processors}
    key = "l_other_work" if processors else "l_other_work_of_unknown"
    short, full = words[key].format(**holes), counted(words, "l_other_work_full", cells, **holes)
    if unjudged_count:
        short += counted(words, "l_other_work_unjudged", unjudged_count)
        full += " " + counted(words, "l_other_work_unjudged_full", unjudged_count)
    yield ResultLimit(short, full, is_grave=is_much)


def _processors(host: str, results: Results) -> int:
    """Return the number of a host's processors, or 0 if the number was not observed."""
    of_host = [fact for fact in results.observed if (fact.kind, fact.node) == ("host", host) and fact.value.isdecimal()]
    known = {fact.name: int(fact.value) for fact in of_host if fact.name in _PROCESSORS}
    return next((known[name] for name in _PROCESSORS if name in known), 0)


def _crowded(results: Results) -> Iterator[ResultLimit]:
    """Yield a limit for load generators with more threads than their hosts have processors. It gives the numbers of
    threads and processors for the most crowded of them."""
    if is_imported(results):
        return
    threads = {cell.cell_id: int(cell.threads) for cell in results.cells if cell.status == "ok" and cell.threads}
    loads = [
        (p.share_of(threads[cell.id], part, len(cell.load_hosts)), host)
        for cell in results.plan.cells
        if cell.id in threads
        for part, host in enumerate(cell.load_hosts)
    ]
    processors = {host: _processors(host, results) for _, host in loads}
    if crowded := [(own, processors[host]) for own, host in loads if 0 < processors[host] < own]:
        most, shared = max(crowded, key=lambda pair: (pair[0] / pair[1], pair))
        holes = {"threads": fixed(most, 0), "processors": fixed(shared, 0)}
        short, full = (counted(results.words, key, shared, **holes) for key in ("l_crowded", "l_crowded_full"))
        yield ResultLimit(short, full)


def _beside_servers(results: Results) -> Iterator[ResultLimit]:
    """Yield a limit for measurements with load generator and server on one machine. There, each takes processor time
    from the other, and work by other programs can't be recognized."""
    if is_imported(results):
        return
    shared = {cell.id for cell in results.plan.cells if _shares_hosts(cell, results.plan)}
    measured = [cell.cell_id for cell in results.cells if cell.status == "ok"]
    if beside := sum(cell in shared for cell in measured):
        which = some_of(results.words, beside, len(measured))
        short, full = (results.words[key].format(which=which) for key in ("l_beside", "l_beside_full"))
        yield ResultLimit(short, full)


def _shares_hosts(cell: p.Cell, plan: p.Plan) -> bool:
    """Return whether each of the cell's load generators runs on a server's machine."""
    return cell.client is not None and set(cell.load_hosts) <= set(plan.hardware[cell.hardware].hosts)


def _unsteady(results: Results) -> Iterator[ResultLimit]:
    """Yield a limit for measurements that reached no steady state by SNIA's rule, which may not suit a warm system."""
    rows = results.store.sql(
        "SELECT count(DISTINCT cell_id), (SELECT count(*) FROM cells WHERE status = 'ok') FROM notes "
        "JOIN cells USING (run_id, cell_id) JOIN sentences USING (run_id, text) "
        "WHERE status = 'ok' AND code = 'unsteady_snia'"
    ).rows
    unsteady, measured = rows[0]
    if unsteady:
        words = results.words
        full = counted(words, "l_unsteady_full", unsteady, which=some_of(words, unsteady, measured))
        short = denied_of(words, "l_unsteady", "l_unsteady_none", unsteady, measured)
        yield ResultLimit(short, full, is_grave=unsteady == measured)


def _assertions(results: Results) -> Iterator[ResultLimit]:
    rows = results.store.sql(
        "SELECT count(DISTINCT cell_id) FROM notes JOIN sentences USING (run_id, text) WHERE code = 'assertions'"
    ).rows
    (cells,) = rows[0]
    if cells:
        words = results.words
        yield ResultLimit(counted(words, "l_assertions", cells), counted(words, "l_assertions_full", cells))


def _shared_machines(results: Results) -> Iterator[ResultLimit]:
    """Yield a limit for compared hardware groups that share a host. Variants are meant to share a machine."""
    if is_imported(results):  # the plan's hosts did not measure these results
        return
    used = dict.fromkeys(cell.hardware for cell in results.plan.cells)
    groups: dict[str, p.Hardware] = {}
    for key in used:
        groups.setdefault(results.plan.hardware[key].group, results.plan.hardware[key])
    for one, other in combinations(groups.values(), 2):
        common = [host for host in one.hosts if host in other.hosts]
        if common:
            holes = {"one": one.group_label, "other": other.group_label, "hosts": results.words.locale.listed(common)}
            yield ResultLimit(results.words["l_shared"].format(**holes), results.words["l_shared_full"].format(**holes))


def measures_all_once(results: Results) -> bool:
    """Return whether the first page says that all points were measured once."""
    return bool(said_once(results))


def said_once(results: Results) -> str:
    """Return the first page's sentence that all points were measured once, or "" if the page has no such sentence."""
    found = (limit.short for limit in _single_repeats(results) if limit.is_grave and limit.short)
    return next((as_sentence(short, results.words) for short in found), "")


def rehearsed_for(results: Results) -> float | None:
    """If the run was a rehearsal, return the longest time of a measurement in seconds. A rehearsal measures each point
    once, and only for a short time."""
    measured = {cell.experiment for cell in results.cells if cell.status == "ok"}
    planned = [each for each in results.plan.experiments.values() if each.name in measured]
    longest = max((each.measure_s for each in planned), default=REHEARSED_S)
    once = all(each.repeats == 1 for each in planned)
    return longest if once and longest < REHEARSED_S and not is_imported(results) else None


def _single_repeats(results: Results) -> Iterator[ResultLimit]:
    """Yield a limit for points with a single measurement, beginning with the points that the report's claims and
    expectations use."""
    once = [e for e in results.plan.experiments.values() if e.repeats == 1]
    measured = {cell.experiment for cell in results.cells if cell.status == "ok"}
    labels = [e.label for e in once if e.name in measured]
    if not labels or is_imported(results):  # a source's value may be a mean of many
        return
    claims = bool(results.plan.expects) or any(_claims(report.elements) for report in results.plan.reports)
    words, are_all = results.words, len(labels) == len(measured)
    named = words.locale.in_a_sentence(words["l_once_of"].format(experiment=label) for label in labels)
    times = {e.measure_s if e.phases == 1 and not e.until_steady else None for e in once if e.name in measured}
    (time,) = times if len(times) == 1 else (None,)
    lasting = words["l_once_for"].format(time=duration(time)) if time else ""
    holes = {"experiments": named, "lasting": lasting}
    short = words["l_once" if are_all else "l_once_some"].format(**holes) if claims else ""
    full = words["l_once_full" if are_all else "l_once_some_full"].format(**holes)
    yield ResultLimit(short, full, is_grave=are_all)


def _claims(elements: Iterable[p.Element]) -> bool:
    return any(
        isinstance(element, p.CalloutElement | p.HeadlineElement)
        or (isinstance(element, p.SectionElement) and _claims(element.elements))
        for element in elements
    )


def _retried(results: Results) -> Iterator[ResultLimit]:
    """Yield a limit for good measurements whose first attempt failed."""
    rows = results.store.sql("SELECT count(*) FROM cells WHERE status = 'ok' AND attempt > 1").rows
    ((again,),) = rows
    if again and not is_imported(results):
        words = results.words
        yield ResultLimit(counted(words, "l_retried", again), counted(words, "l_retried_full", again))


def _earlier(results: Results) -> Iterator[ResultLimit]:
    """Yield a limit for measurements from earlier runs. The disclosure names these runs."""
    rows = results.store.sql(
        "SELECT count(*), count(reused_from), count(DISTINCT reused_from) FROM cells WHERE status = 'ok'"
    ).rows
    total, taken, runs = rows[0]
    if taken:
        words = results.words
        holes = {"which": some_of(words, taken, total), "runs": counted(words, "l_runs", runs)}
        yield ResultLimit(counted(words, "l_earlier", taken, **holes), counted(words, "l_earlier_full", taken, **holes))
