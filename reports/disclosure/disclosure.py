"""The test disclosure: everything that a reader needs to judge the numbers or to repeat the measurement."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from importlib.metadata import version
from typing import NamedTuple

from benchbrief.compiler.estimates.estimate import grouped_hardware, shares_points
from benchbrief.compiler.registry import ENGINE_SPECS, TOOL_SPECS
from benchbrief.model import plan as p
from benchbrief.model.achieved_load import to_serve
from benchbrief.model.budgets import LEVEL, Looks, is_budgeted, looks_at
from benchbrief.model.message import Message, share_figure
from benchbrief.model.plan import Event, Experiment
from benchbrief.model.points import Curve, Point
from benchbrief.model.precision import in_percent
from benchbrief.model.rate_search import CONFIDENCE, LEAD
from benchbrief.model.steadiness import BATCH_S
from benchbrief.model.tool_spec import Bound, ToolSpec
from benchbrief.reports.data import imported_briefs
from benchbrief.reports.data.expectations import describe, judge_expectations
from benchbrief.reports.data.gaps import Gaps, name_part, reason_of
from benchbrief.reports.data.imported_briefs import shown_names
from benchbrief.reports.data.place_labels import levels_label, place_holes, system_heading
from benchbrief.reports.data.report_data import (
    NOT_PUBLISHED,
    KneeFound,
    ReportedCell,
    Results,
    find_unasked,
    name_candidates,
    run_row,
)
from benchbrief.reports.data.view_model import CellLine, DisclosureGroup, DisclosureView, Item
from benchbrief.reports.disclosure import run_origin, systems_under_test
from benchbrief.reports.disclosure.levels import disclose_combinations, level_tables
from benchbrief.reports.disclosure.run_origin import reused_runs, time_text
from benchbrief.reports.disclosure.systems_under_test import (
    always_texts,
    data_set_text,
    disclose_systems,
    fact_name,
    fold_paths,
    property_texts,
    settings_text,
)
from benchbrief.reports.notices import result_limits, run_validity
from benchbrief.reports.notices.repeat_variation import paragraph
from benchbrief.reports.notices.run_validity import budget_setting
from benchbrief.reports.text.merged_remarks import merge_remarks
from benchbrief.reports.text.number_format import (
    automatic,
    bytes_text,
    duration,
    exact_percent,
    fixed,
    percent,
    points,
    quantity,
)
from benchbrief.reports.words.brief_words import Words, counted, denied_of, some_of
from benchbrief.results.analysis.promised_rates import Promised
from benchbrief.results.statistics.recovery import CHANCE


def disclose_expectations(results: Results) -> Iterator[Item]:
    """Yield each verdict, and then the rules for expectations that were looked at several times or concern several
    places."""
    found = judge_expectations(results)
    for one in found:
        label = one.expect.label if one.expect.label != one.expect.text else ""
        yield Item(label, describe(one, results), emphasis=one.verdict != "holds" or one.decided is False)
    asked = [one for one in found if one.decided is not None]
    several = [looks for looks in (looks_at(results.plan, one.expect) for one in asked) if looks.count > 1]
    if several:
        yield Item("", _looks(max(several, key=lambda each: each.count), results))
    if any(one.places > 1 for one in asked):
        yield Item("", results.words["d_expect_places"].format(wide=_percent(LEVEL, results)))


def _looks(looks: Looks, results: Results) -> str:
    first, last = (_percent(looks.share(repeats), results) for repeats in (looks.first, looks.first + looks.count - 1))
    chance, why = _percent(looks.chance, results), "joint" if looks.chance > 1 - LEVEL else "sum"
    named = {"first": first, "last": last, "chance": chance, "why": results.words[f"d_expect_looks_{why}"]}
    return results.words["d_expect_looks"].format(looks=looks.count, **named)


def _percent(share: float, results: Results) -> str:
    return results.words.locale.numerals(in_percent(share))


def disclose_events(results: Results) -> Iterator[Item]:
    """Yield each event with the longest duration of its command, and then each rule for judging events."""
    words = results.words
    found: dict[tuple[float, str, str], tuple[Event, dict[str, None]]] = {}
    for cell in results.plan.cells:
        for event in cell.events:
            _, hosts = found.setdefault((event.at_s, event.label, event.line), (event, {}))
            hosts.update(dict.fromkeys(event.hosts))
    if not found:
        return
    rows = results.store.sql("SELECT declared_s, label, max(seconds) FROM events GROUP BY ALL").rows
    took = {(float(row[0]), str(row[1])): float(row[2]) for row in rows}
    for event, hosts in found.values():
        seconds = took.get((event.at_s, event.label))
        if seconds is None:
            continue  # no good cell has it
        holes = {"label": event.label, "command": event.line, "hosts": words.locale.listed(list(hosts))}
        text = words["d_event"].format(**holes, seconds=automatic(event.at_s), took=automatic(round(seconds, 1)))
        yield Item(words["d_event_label"].format(seconds=automatic(event.at_s)), text)
    for rule in dict.fromkeys((e.window_s, e.steady_s, e.within, e.outage) for e, _ in found.values()):
        window_s, steady_s, within, outage = rule
        numbers = {"window": automatic(window_s), "steady": automatic(steady_s)}
        shares = {"within": share_figure(within), "outage": share_figure(outage)} | {"chance": share_figure(CHANCE)}
        yield Item("", words["d_event_rule"].format(**numbers, **shares))


def measured_for(experiment: p.Experiment, results: Results) -> Iterator[str]:
    """Yield how long an experiment's cells were measured, or which rule ended their measurement, and the number of
    phases."""
    words, rule = results.words, experiment.until_steady
    if rule is None:
        yield words["d_measure"].format(time=duration(experiment.measure_s))
    else:
        times = {"first": duration(rule.from_s), "last": duration(experiment.measure_s)}
        yield words["d_measure_until"].format(within=exact_percent(rule.within), **times)
    if experiment.phases > 1:
        yield words["d_phases"].format(n=experiment.phases)


class End(NamedTuple):
    """How a cell's measurement ended."""

    steady: bool
    lasted_s: float
    cut_s: float | None
    correlation: float | None
    """The highest correlation between successive batches, for throughput or latency."""


def disclose_steadiness(results: Results) -> Iterator[Item]:
    """Yield the rule for steadiness, how each experiment's measurements ended, and what that means for the numbers."""
    words = results.words
    ends = ends_of(results)
    if not ends:
        return
    title = words["d_until_label"]
    yield Item(title, words["d_until_rule"].format(batch=duration(BATCH_S)))
    for experiment in results.plan.experiments.values():
        if found := ends.get(experiment.name):
            late = not all(end.steady for end in found)
            yield Item(experiment.label, words["semicolon"].join(_counts(experiment, found, results)), emphasis=late)
    yield Item(title, words["d_until_bias"])


def ends_of(results: Results) -> dict[str, list[End]]:
    """For each experiment, return how the good measurements that follow the rule for steadiness ended."""
    rows = results.store.sql(
        "SELECT experiment, steady, lasted_s, cut_s, greatest(throughput_correlation, latency_correlation) "
        "FROM steady_ends JOIN cells USING (run_id, cell_id) WHERE status = 'ok' ORDER BY cell_id"
    ).rows
    found: dict[str, list[End]] = {}
    for experiment, *end in rows:
        found.setdefault(str(experiment), []).append(End(*end))
    return found


def _counts(experiment: p.Experiment, ends: list[End], results: Results) -> Iterator[str]:
    words = results.words
    steady = [end.lasted_s for end in ends if end.steady]
    which = some_of(words, len(steady), len(ends))
    if steady:
        yield counted(words, "d_until_steady", len(steady), which=which, times=_times(steady, results))
    if late := len(ends) - len(steady):
        most = duration(experiment.measure_s)
        yield denied_of(words, "d_until_late", "d_until_late_none", late, len(ends), most=most)
    cuts = [end.cut_s for end in ends if end.cut_s is not None]
    if cuts:
        yield words["d_until_cut"].format(times=_times(cuts, results))
    if uncut := len(ends) - len(cuts):
        yield counted(words, "d_until_uncut", uncut, which=some_of(words, uncut, len(ends)))
    if correlations := [end.correlation for end in ends if end.correlation is not None]:
        yield words["d_until_correlation"].format(values=fixed(max(correlations), 2))


def _times(seconds: list[float], results: Results) -> str:
    """Write times as a single duration or as a range."""
    low, high = duration(min(seconds)), duration(max(seconds))
    return low if low == high else results.words["d_until_times"].format(low=low, high=high)


def disclose_spacing(experiment: p.Experiment, results: Results) -> Iterator[str]:
    """Yield sentences on an experiment's arrivals. There are none for a closed loop, or for a tool with only one kind
    of arrivals."""
    words, arrivals = results.words, experiment.arrivals
    tools = {cell.tool.driver for cell in results.plan.cells if cell.experiment == experiment.name}
    spec = next((found for tool in tools if (found := TOOL_SPECS.usable(tool))), None)
    bounds = spec.bounds if spec is not None else ()
    if arrivals is None and spec is not None and bounds and experiment.axis == "target":
        arrivals = p.Arrivals(kind=spec.arrivals[0])
    if arrivals is not None:
        yield from _said(arrivals, bounds, experiment, results)
    if spec is not None and (seen := list(_seen(spec, experiment, results))):
        yield words["d_seen"].format(listed=words.locale.listed(seen))


def _said(arrivals: p.Arrivals, bounds: Sequence[Bound], experiment: p.Experiment, results: Results) -> Iterator[str]:
    """Yield sentences on when operations are due, as set by the spec or the tool's default, and on operations that may
    be missing."""
    words = results.words
    spacings = {
        "rates": words.locale.listed([quantity(rate, "ops/s") for rate in arrivals.rates]),
        "each": duration(arrivals.each_s),
        "burst": quantity(arrivals.burst_rate, "ops/s"),
        "every": duration(arrivals.every_s),
        "lasting": duration(arrivals.lasting_s),
        "file": arrivals.file,
        "spacing": words[f"d_arrivals_{arrivals.spacing}"],
    }
    yield words["d_arrivals"].format(said=words[f"d_arrivals_{arrivals.kind}"].format(**spacings))
    if "queue" in bounds and arrivals.kind != "closed":
        cells = [cell for cell in results.plan.cells if cell.experiment == experiment.name]
        if (together := max((len(cell.load_hosts) for cell in cells), default=1)) > 1:
            yield words["d_own_schedules"].format(n=together)
        if arrivals.queue is not None:
            yield words["d_queue"].format(n=f"{arrivals.queue:,}")
        yield words["d_drops"].format(share=exact_percent(arrivals.drops))
        yield words["d_lag"].format(share=exact_percent(arrivals.lag))
    if arrivals.stalls is not None:
        yield words["d_stalls"].format(share=exact_percent(arrivals.stalls))
    if arrivals.timeout_s is not None:
        yield words["d_op_timeout"].format(time=duration(arrivals.timeout_s))
    if arrivals.give_up_s is not None:
        yield words["d_give_up"].format(time=duration(arrivals.give_up_s))


def _seen(spec: ToolSpec, experiment: p.Experiment, results: Results) -> Iterator[str]:
    """Yield the highest value of each measure of a load generator's own performance."""
    disclosed = {name: said for name, said in spec.measures.items() if said.disclosed}
    if not disclosed:
        return
    rows = results.store.sql(
        "SELECT experiment, measure, max(value) FROM samples JOIN cells USING (run_id, cell_id) "
        "WHERE status = 'ok' AND value IS NOT NULL GROUP BY ALL"
    ).rows
    most = {measure: float(value) for of, measure, value in rows if of == experiment.name}
    for name, said in disclosed.items():
        if name in most:
            text = _share(most[name]) if said.disclosed == "share" else quantity(most[name], said.unit)
            yield f"{said.label(results.words.language)} {text}"


def _share(share: float) -> str:
    decimals = next((n for n, least in enumerate((0.1, 0.01)) if share >= least), 2)
    return percent(share, decimals if share else 0)


def chosen_points(experiment: p.Experiment, results: Results) -> str:
    """Return a text on how a run chose an experiment's points and which ones it measured, or "" if it did not choose
    them."""
    if experiment.promise:
        return promise_search(experiment, experiment.promise, results)
    return adaptive_ramp(experiment, experiment.adaptive, results) if experiment.adaptive else ""


def adaptive_ramp(experiment: p.Experiment, rule: p.Adaptive, results: Results) -> str:
    """Return the rule of an adaptive ramp, and the points that were measured for each of its curves."""
    words = results.words
    items = [
        words[f"d_points_on_{experiment.axis}"].format(
            points=points(tried_points(curve, experiment.axis, results)) or words["missing"],
            **place_holes(curve, results),
        )
        for curve in Curve.all_of(experiment)
    ]
    shared = shares_points(results.plan, experiment.name)
    return words["d_adaptive"].format(
        n=rule.points,
        candidates=len(experiment.points),
        own=words["d_adaptive_shared" if shared else "d_adaptive_own"],
        measured=words["semicolon"].join(items),
    )


def promise_search(experiment: p.Experiment, rule: p.Promise, results: Results) -> str:
    """Return the rule of a search for a promise, with its result and the runs at each rate."""
    words = results.words
    promises = [each for each in results.promises if each.experiment == experiment.name]
    found = [_promised(each, results) for each in promises]
    text = words["d_promise"].format(
        promise=rule.text,
        candidates=len(experiment.points),
        low=points(experiment.points[:1]),
        high=points(experiment.points[-1:]),
        apart=exact_percent(rule.within / 2),
        within=exact_percent(rule.within),
        lead=LEAD,
        confidence=percent(CONFIDENCE),
        judged=counted(words, "d_promise_times", rule.judged),
        served=exact_percent(to_serve(rule)),
        held_out=counted(words, "d_promise_times", rule.held_out),
        found=words["semicolon"].join(found) or words["missing"],
    )
    for sentence in (each for promised in promises for each in _remarkable(promised, results)):
        text = words["d_promise_and"].format(text=text, sentence=sentence)
    if any(rate.late for promised in promises for rate in promised.rates):
        text = words["d_promise_and"].format(text=text, sentence=words["d_not_known"])
    return text


def _promised(found: Promised, results: Results) -> str:
    words = results.words
    where = {
        **place_holes(found, results),
        "rates": words.locale.listed([_runs(r.rate, r.met, r.judged, r.beyond, words) for r in found.rates if r.judged])
        or words["missing"],
    }
    if found.sustained is None:
        return words["d_not_sustained"].format(**where, reason=words.said(found.reason) or words["no_reason"])
    key = "d_sustained_at_least" if found.kind == "at_least" else "d_sustained_found"
    key = "d_sustained_generator" if found.by_generator else key
    sure = words["d_edge_sure" if found.sure else "d_edge_majority"]
    held = {"met": found.held_met, "n": found.held_out}
    return words[key].format(**where, rate=found.doubt.mark + points([found.sustained]), sure=sure, **held)


def _runs(rate: float, met: int, runs: int, late: int, words: Words) -> str:
    """Return a text on how many of the runs at a rate kept the promise. Runs with a late load generator are counted
    separately."""
    key = "d_rate_unknown" if late == runs else "d_rate_late" if late else "d_rate_runs"
    return words[key].format(rate=points([rate]), met=met, n=runs - late, late=late)


def _remarkable(found: Promised, results: Results) -> Iterator[str]:
    """Yield sentences on searches whose held-out runs lowered the rate, and on results that contradict the search's
    assumptions."""
    words, where = results.words, place_holes(found, results)
    refuted = [rate for rate in found.rates if rate.refuted]
    if found.sustained is not None and refuted:
        rates = [_runs(r.rate, r.held_met, r.held_out, r.held_beyond, words) for r in refuted]
        yield words["d_lowered"].format(**where, rates=words.locale.listed(rates))
    broken = min((rate.rate for rate in found.rates if rate.verdict == "broken"), default=None)
    kept = max((rate.rate for rate in found.rates if rate.verdict == "kept"), default=None)
    if broken is not None and kept is not None and kept > broken:
        yield words["d_contradicted"].format(**where, broken=points([broken]), kept=points([kept]))


def tried_points(curve: Curve, axis: str, results: Results) -> list[float]:
    """Return the points that a search or a ramp measured."""
    cells = (c for c in results.cells if Curve.of(c) == curve and c.status == "ok")
    return sorted({float(value) for cell in cells if (value := getattr(cell, axis)) is not None})


_UNITS = {"B": 0, "KiB": 1, "MiB": 2, "GiB": 3, "TiB": 4, "PiB": 5}
_SIZE = re.compile(rf"([\d,]+(?:\.\d+)?)\s+({'|'.join(_UNITS)})")
_IN_MEMORY = {"tmpfs", "ramfs"}
_MEMORY = ("memory", "memory_limit")
"""The names of the facts on the host's memory and on the memory limit of the tool's control group. The page cache
counts toward that limit."""


def disclose_memory_fit(results: Results) -> Iterator[Item]:
    """For each hardware whose databases fit in the memory of its smallest host, yield the size of both.

    Databases that bypass the page cache, or are kept in memory anyway, are left out.
    """
    rows = results.store.sql(
        "SELECT hardware, database, max(value) FROM sizes JOIN cells USING (run_id, cell_id) "
        "WHERE status = 'ok' AND measure = 'database.size' AND value IS NOT NULL GROUP BY ALL"
    ).rows
    sizes: dict[str, dict[p.DatabaseKey, float]] = {}
    for hardware_key, database, size in rows:
        on = p.DatabaseKey(database)
        if not _goes_around_cache(results.plan, on) and not _is_in_memory(results, on):
            sizes.setdefault(str(hardware_key), {})[on] = float(size)
    for key, hardware in results.plan.hardware.items():
        memory, known = smallest_memory(hardware, results), sizes.get(key, {})
        # If levels have their own data sets, some may fit and others not.
        of_levels = {on.levels for on in known} - {""}
        fitting = {on: size for on, size in known.items() if memory is not None and size <= memory}
        if memory is not None and fitting and (of_levels or len(fitting) == len(known)):
            size, most = (bytes_text(amount, exact=False) for amount in (max(fitting.values()), memory))
            named = _fitting_label(hardware, known, fitting, results)
            text = results.words["d_fits_in_memory"].format(hardware=named, size=size, memory=most)
            yield Item("", text, emphasis=True)


def _fitting_label(
    hardware: p.Hardware, known: Collection[p.DatabaseKey], fitting: Collection[p.DatabaseKey], results: Results
) -> str:
    """Return a name for the systems that fit in memory: the hardware or the levels. If all levels of the only hardware
    fit, name the databases."""
    if len(fitting) < len(known):
        levels = dict.fromkeys(levels_label(on.levels, results) for on in fitting)
        named = [hardware.label] if len(results.plan.hardware) > 1 else []
        return results.words["semicolon"].join(filter(None, [*named, *levels]))
    if len(results.plan.hardware) > 1 or not any(on.levels for on in known):
        return hardware.label
    databases = (results.plan.databases[on].label for on in fitting if on in results.plan.databases)
    return results.words.locale.listed(dict.fromkeys(databases)) or hardware.label


def _goes_around_cache(plan: p.Plan, database: p.DatabaseKey) -> bool:
    found = plan.databases.get(database)
    return found is not None and found.options.get("direct_io") is True


def _is_in_memory(results: Results, database: p.DatabaseKey) -> bool:
    """Return whether the data are kept in memory, either by the engine or, according to the hosts' facts, by the file
    system."""
    found = results.plan.databases.get(database)
    if found and (engine := ENGINE_SPECS.usable(found.engine)) and engine.in_memory:
        return True
    names = (f"filesystem of {found.path}", "filesystem") if found is not None else ()
    kinds = {fact.value for fact in results.observed if fact.kind == "host" and fact.name in names}
    return bool(kinds) and kinds <= _IN_MEMORY


def smallest_memory(hardware: p.Hardware, results: Results) -> float | None:
    """Return the memory of the smallest host in bytes, or None if the memory of a host is unknown."""
    of_hosts: dict[str, float] = {}
    for fact in results.observed:
        if fact.kind == "host" and fact.name in _MEMORY and fact.node in hardware.hosts:
            if (match := _SIZE.fullmatch(fact.value.strip())) is None:
                return None
            found = float(match[1].replace(",", "")) * 1024 ** _UNITS[match[2]]
            of_hosts[fact.node] = min(found, of_hosts.get(fact.node, found))
    return min(of_hosts.values()) if of_hosts.keys() == set(hardware.hosts) else None


def disclose_overlaps(results: Results) -> Iterable[Item]:
    """Yield a sentence for each kind of work that may run during another cell's measurement, with the experiments that
    allow it."""
    words = results.words
    found: dict[str, list[str]] = {}
    for experiment in results.plan.experiments.values():
        if key := _key(experiment, results):
            found.setdefault(key, []).append(experiment.label)
    for key, labels in found.items():
        everywhere = len(found) == 1 and len(labels) == len(results.plan.experiments)
        yield Item("" if everywhere else words.locale.listed(labels), words[key])


def _key(experiment: Experiment, results: Results) -> str:
    """Return the key of the sentence on overlaps, or "" if there is only one hardware or all of them share hosts."""
    if len(experiment.hardware) < 2:
        return ""
    if experiment.overlap == "none":
        return "d_one_at_a_time"
    if len(grouped_hardware(results.plan, experiment.name)) < 2:
        return ""
    return "d_loaded_beside" if experiment.overlap == "loading" else "d_measured_beside"


def build_disclosure(
    results: Results,
    gaps: Gaps,
    *,
    facts_of: Collection[str],
    reports_from: Mapping[str, str] | None,
    claims: Callable[[], Iterable[Item]] = tuple,
) -> DisclosureView:
    """Return the test disclosure. `facts_of` is the hardware whose facts are already in a table.

    If reports and metrics are not from the run's own spec, `reports_from` lists their files with their SHA-256.
    `claims` makes the claims of the brief.
    """
    words = results.words
    sources: dict[str, Callable[[], Iterable[Item]]] = {
        "d_not_made": lambda: (Item(name_part(gap, words), reason_of(gap, words), True) for gap in gaps.found),
        "d_run": lambda: _run(results, reports_from or {}),
        **_conditions(results, facts_of),
        "d_repeatability": lambda: paragraph(results),
        "d_validity": lambda: _validity(results),
        "d_claims": claims,
        "d_expects": lambda: disclose_expectations(results),
        "d_warnings": lambda: _warnings(results),
    }
    tables = gaps.each("d_levels tables", lambda: level_tables(results), "disclosure", words["d_levels"])
    made = [
        DisclosureGroup(
            words[key],
            tuple(item for item in gaps.each(key, source, "disclosure", words[key]) if item.text),
            tables if key == "d_levels" else (),
        )
        for key, source in sources.items()
    ]
    lines = tuple(CellLine(c.cell_id, *_outcome(c, words), c.raw_dir) for c in results.cells)
    bad: dict[str, list[str]] = {}
    open_points = results.once(find_unasked)
    for line, cell in zip(lines, results.cells, strict=True):
        if cell.cell_id in open_points.get(cell.experiment, ()):
            ids = bad.setdefault(f"{line.status}{words['colon']}{line.reason}", [])
            if (name := name_candidates(cell.experiment, results)) not in ids:
                ids.append(name)
        elif words.status_of(cell.status, cell.reason) not in ("ok", "skipped", "left_out", "refused"):
            bad.setdefault(f"{line.status}{words['colon']}{line.reason or words['no_reason']}", []).append(line.id)
    remarks = tuple(Item(text, words.locale.listed(ids), emphasis=True) for text, ids in bad.items())
    needed = sum(cell.status != "skipped" for cell in results.cells)
    unpublished = sum(cell.reason == NOT_PUBLISHED for cell in results.cells)
    all_ok = counted(words, "d_all_imported" if imported_briefs.is_imported(results) else "d_all_ok", needed)
    if refused := sum(words.status_of(cell.status, cell.reason) == "refused" for cell in results.cells):
        all_ok = " ".join((all_ok, counted(words, "d_refused", refused)))
    if unpublished:
        all_ok = counted(words, "d_not_published", len(results.cells), missing=unpublished)
    return DisclosureView(tuple(group for group in made if group.items or group.tables), remarks, all_ok, lines)


def _conditions(results: Results, facts_of: Collection[str]) -> dict[str, Callable[[], Iterable[Item]]]:
    """Return the conditions of the measurement, as declared and observed. For imported results, return them as the
    source states them."""
    if imported_briefs.is_imported(results):
        return {"d_stated": lambda: _stated(results)}
    return {
        "d_systems": lambda: disclose_systems(results),
        "d_levels": lambda: disclose_combinations(results),
        "d_load": lambda: _tools(results),
        "d_settings": lambda: _settings(results),
        "d_workloads": lambda: _workloads(results),
        "d_hosts": lambda: _hosts(results, facts_of),
        "d_method": lambda: _method(results),
    }


def _stated(results: Results) -> Iterable[Item]:
    yield from run_origin.disclose_source(results)
    yield from () if results.published else _sampled(results)
    yield from disclose_latency(results)
    yield from _repeats_merged(results)


def _validity(results: Results) -> Iterable[Item]:
    if not results.published:  # these texts are about measurements, and none were made
        yield from run_validity.paragraphs(results)
    yield from result_limits.paragraphs(results)


def _outcome(cell: ReportedCell, words: Words) -> tuple[str, str]:
    """Return the status of a cell, with its reason if there is one."""
    if cell.reason == NOT_PUBLISHED:
        return words["not_published"], ""
    status = words.status_of(cell.status, cell.reason)
    return words.get(f"status_{status}", status), words.said(cell.reason)


# --- the groups --------------------------------------------------------------------------------------------------


def _run(results: Results, reports_from: Mapping[str, str]) -> Iterable[Item]:
    words, spec, run = results.words, results.plan.spec, run_row(results)
    yield Item(words["d_run_id"], str(run["run_id"] or ""))
    if run["simulated"]:
        yield Item(words["notice_simulated"], words["d_simulated"], emphasis=True)
    yield from imported_briefs.source_items(results)
    if imported_briefs.is_imported(results):  # the time of measurement is unknown
        yield Item(words["d_imported_at"], time_text(run["started_at"]))
    else:
        yield Item(words["d_started"], time_text(run["started_at"]))
        yield Item(words["d_ended"], time_text(run["ended_at"]))
    for earlier in reused_runs(results):
        times = {"first": time_text(earlier.first), "last": time_text(earlier.last)}
        which = some_of(words, earlier.cells, len(results.cells))
        text = counted(words, "d_reused_run", earlier.cells, which=which, run=earlier.run_id, **times)
        yield Item(words["d_reused"], text)
    ended = (words.named(str(run["status"])), words.said(str(run["message"] or "")))
    yield Item(words["d_status"], words["colon"].join(filter(None, ended)))
    shown = shown_names((*spec.files, *reports_from))
    for name, digest in spec.files.items():
        yield Item(words["d_spec"], f"{shown[name]} (SHA-256 {digest})")
    for name, digest in reports_from.items():
        yield Item(words["d_reports_from"], words["d_reports_from_file"].format(file=shown[name], sha256=digest))
    if spec.profile:
        yield Item(words["d_profile"], spec.profile)
    if spec.params:
        yield Item(words["d_params"], words.locale.listed(f"{k} = {v}" for k, v in spec.params.items()))
    yield Item(words["d_plan"], results.plan_sha256)
    yield Item(words["d_version"], f"benchbrief {run['benchbrief'] or version('benchbrief')}")
    if packages := _by_package(results.plan.extensions):
        named = (f"{package}{words['aside'].format(text=' / '.join(names))}" for package, names in packages.items())
        yield Item(words["d_extensions"], words.locale.listed(named))


def _by_package(extensions: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the names of the extensions of each package. `extensions` has the form of `Plan.extensions`."""
    found: dict[str, dict[str, None]] = {}
    for what, package in extensions.items():
        found.setdefault(package, {})[what.partition(" ")[2]] = None
    return {package: [*names] for package, names in found.items()}


def _tools(results: Results) -> Iterable[Item]:
    words = results.words
    used: dict[str, dict[str, None]] = {}
    for cell in results.plan.cells:
        used.setdefault(cell.tool.driver, {}).update(dict.fromkeys(cell.load_hosts))
    for driver, hosts in used.items():
        found = {f.name: f.value for f in results.observed if f.kind == "tool" and f.name.startswith(f"{driver}.")}
        versions = list(
            dict.fromkeys(f.value for f in results.observed if f.kind == "tool" and f.name == f"{driver}.version")
        )
        text = words.locale.listed(words.said(each) for each in versions) or driver
        text = words["d_on"].format(tool=text, hosts=words.locale.listed(hosts))
        if path := found.get(f"{driver}.path"):
            text += f"{words['semicolon']}{words['d_tool_path']} {path}"
        yield Item(driver, words["semicolon"].join([text, *property_texts(driver, results)]))


def _settings(results: Results) -> Iterable[Item]:
    words = results.words
    for experiment in results.plan.experiments.values():
        parts = list(_load_points(experiment, results))
        warm_up = words["d_warm_up"].format(time=duration(experiment.warm_up_s))
        parts.append(warm_up if experiment.warm_up_s else words["d_no_warm_up"])
        parts += measured_for(experiment, results)
        parts += disclose_spacing(experiment, results)
        if is_budgeted(results.plan, experiment):
            parts.append(budget_setting(experiment, results))
        elif experiment.confident:
            ends = {"low": experiment.confident.at_least, "high": experiment.repeats}
            parts.append(words["d_repeats_until"].format(within=exact_percent(experiment.confident.within), **ends))
        elif not experiment.promise:
            parts.append(words["d_repeats"].format(n=experiment.repeats))
        if experiment.cool_down_s:
            parts.append(words["d_cool_down"].format(time=duration(experiment.cool_down_s)))
        parts.append(_order(experiment, results))
        parts.append(words["d_errors"].format(share=exact_percent(result_limits.accepted_share(experiment, results))))
        parts.append(_probes(experiment.name, results))
        yield Item(experiment.label, words["semicolon"].join(parts))


def _order(experiment: p.Experiment, results: Results) -> str:
    if not experiment.levels or experiment.order == "random":
        return results.words[f"d_order_{experiment.order}"].format(seed=experiment.seed)
    dims = system_heading(experiment.levels, results, within=True)
    return results.words[f"d_order_{experiment.order}_levels"].format(dims=dims)


def _load_points(experiment: p.Experiment, results: Results) -> Iterable[str]:
    """Return a text on the ramp, or on the points that a search found, with the search's criterion and the knees."""
    words, axis = results.words, experiment.axis
    if experiment.adaptive or experiment.promise:
        yield chosen_points(experiment, results)
    elif experiment.points:
        yield words[f"d_points_{axis}"].format(points=points(experiment.points))
    for key, other in (("threads", experiment.threads_from), ("target", experiment.target_from)):
        if other:
            cells = (cell for cell in results.cells if cell.experiment == experiment.name)
            used = {value for cell in cells if (value := getattr(cell, key)) is not None}
            label = results.plan.experiments[other].label
            searches = [search for search in results.searches if search.experiment == other]
            none_found = bool(searches) and all(search.knee is None for search in searches)
            how = words[f"d_otherwise_{key}"] if none_found and used else words[f"d_found_{key}"]
            yield how.format(label=label, points=points(sorted(used)) or words["missing"])
        elif key == "threads" and axis == "target":
            cell = next((c for c in results.plan.cells if c.experiment == experiment.name), None)
            if cell and cell.threads is not None:
                yield words["d_fixed_threads"].format(points=points([float(cell.threads)]))
    if experiment.search:
        rise, gain = (exact_percent(share) for share in (experiment.search.rise, experiment.search.gain))
        found = [_knee(search, axis, results) for search in results.searches if search.experiment == experiment.name]
        yield words["d_search"].format(
            latency=experiment.search.latency,
            rise=rise,
            gain=gain,
            found=words["semicolon"].join(found) or words["missing"],
        )


def _knee(search: KneeFound, axis: str, results: Results) -> str:
    words = results.words
    key = "d_no_knee" if search.knee is None else f"d_knee_{axis}"
    return words[key].format(
        knee=points([search.knee or 0.0]),
        tried=points(tried_points(Curve.of(search), axis, results)) or words["missing"],
        **place_holes(search, results),
    )


def _probes(experiment: str, results: Results) -> str:
    words = results.words
    hosts: dict[tuple[str, float], dict[str, None]] = {}
    for cell in results.plan.cells:
        for probe in cell.probes if cell.experiment == experiment else ():
            hosts.setdefault((probe.name, probe.every_s), {}).update(dict.fromkeys(probe.hosts))
    parts = [
        words["d_probe"].format(name=name, time=duration(every), hosts=" / ".join(on))
        for (name, every), on in hosts.items()
    ]
    return words["d_probes"].format(probes=results.words.locale.listed(parts)) if parts else words["d_no_probes"]


def _workloads(results: Results) -> Iterable[Item]:
    by_name: dict[str, list[p.Workload]] = {}
    for workload in results.plan.workloads.values():
        by_name.setdefault(workload.name, []).append(workload)
    for workload, *at_levels in by_name.values():
        settings = settings_text(workload.properties, *(each.properties for each in at_levels))
        yield Item(workload.label, f"{workload.family} {workload.benchmark}{results.words['colon']}{settings}")
    yield from _data(results)


def _data(results: Results) -> Iterable[Item]:
    """Return the origin of each data set, with the workloads that use it."""
    words, plan = results.words, results.plan
    records: dict[str, dict[str, None]] = {}
    for name, count in dict.fromkeys((c.workload, c.dataset.records if c.dataset else None) for c in plan.cells):
        records.setdefault(name, {}).update({fixed(count, 0): None} if count is not None else {})
    users: dict[str, dict[str, None]] = {}
    for name, counts in records.items():
        workload = plan.workloads[name]
        how = data_set_text(workload.family, " / ".join(counts), results) if counts else words["d_data_none"]
        users.setdefault(how, {})[workload.label] = None
    for how, labels in users.items():
        yield Item(words["d_data"], f"{' / '.join(labels)}{words['colon']}{how}")


_BRIEF = ("node", "os", "kernel", "cpu", "memory", "memory_limit")


def _hosts(results: Results, facts_of: Collection[str]) -> Iterable[Item]:
    """Yield hosts with their facts. Hosts with equal facts are listed together, and most facts that are already in a
    table are left out."""
    words, plan = results.words, results.plan
    observed: dict[str | None, dict[str, str]] = {}
    for fact in results.observed:
        if fact.kind == "host":
            observed.setdefault(fact.node, {})[fact.name] = fact.value
    told = {host for key in facts_of for host in plan.hardware[key].hosts}
    alike: dict[tuple[str, ...], dict[str, str]] = {}
    for host in plan.hosts.values():
        facts = {
            name: value
            for name, value in observed.get(host.id, {}).items()
            if name in _BRIEF or (host.id not in told and name != "block_devices")
        }
        how = words["d_local"] if host.transport == "local" else f"{host.transport} {host.name}"
        if host.asked is not None:
            options = (f"{name} {value}" for name, value in host.asked.options)
            how = " ".join((host.asked.scheduler, host.asked.what, *options))
        own = facts.pop("hostname", "")
        how += f" ({fact_name('hostname', words)} {words.said(own)})" if own else ""
        facts = fold_paths(facts, words) if plan.factors else facts
        shown = tuple(f"{fact_name(name, words)} {words.said(value)}" for name, value in facts.items())
        alike.setdefault(shown, {})[host.id] = how
    for shown, hosts in alike.items():
        yield Item(words.locale.listed(hosts), words["semicolon"].join((*dict.fromkeys(hosts.values()), *shown)))


def _method(results: Results) -> Iterable[Item]:
    words, experiments = results.words, results.plan.experiments.values()
    if any(e.axis == "threads" for e in experiments):
        yield Item("", words["d_closed"])
    if any(e.axis == "target" for e in experiments):
        yield Item("", words["d_open"])
    yield from disclose_overlaps(results)
    yield from _sampled(results)
    yield from disclose_events(results)
    yield from disclose_steadiness(results)
    yield from disclose_memory_fit(results)
    yield from (Item("", text) for text in always_texts(results))
    yield from disclose_latency(results)
    yield Item("", words["d_repeat_mean" if any(e.repeats > 1 for e in experiments) else "d_single"])


def _sampled(results: Results) -> Iterable[Item]:
    """Return what processor and power samples cover."""
    if systems_under_test.probed_hardware("cpu", results):
        yield Item("", results.words["d_cpu"])
    yield from systems_under_test.disclose_power_meters(results)


def disclose_latency(results: Results) -> Iterable[Item]:
    """Return the origin of the percentiles, or a sentence saying that there are none."""
    words = results.words
    rows = results.store.sql(
        "SELECT origin, count(*) FROM latency WHERE value_s IS NOT NULL AND statistic LIKE 'p%' "
        "AND source IS NULL GROUP BY origin"
    ).rows
    found = {str(origin): int(n) for origin, n in rows}
    distributions = results.store.sql("SELECT count(*) FROM operations WHERE histogram IS NOT NULL").rows[0][0]
    if found.get("histogram"):
        yield Item("", counted(words, "d_histogram", int(distributions)))
    if found.get("printed"):
        yield Item("", counted(words, "d_printed", found["printed"]))
    if not found:
        others = results.store.sql("SELECT count(*) FROM latency WHERE value_s IS NOT NULL").rows[0][0]
        yield Item("", words["d_no_percentile" if others else "d_no_latency"])


def _repeats_merged(results: Results) -> Iterable[Item]:
    """If points have several repeats, return how these are combined."""
    good = [cell for cell in results.cells if cell.status == "ok"]
    repeats = Counter(Point.of(cell) for cell in good)
    if max(repeats.values(), default=0) > 1:
        yield Item("", results.words["d_repeat_mean"])


def _warnings(results: Results) -> Iterable[Item]:
    words = results.words
    notes = results.store.sql(
        "SELECT severity, text, count(DISTINCT cell_id) FROM notes GROUP BY severity, text ORDER BY ALL"
    ).rows
    said = ((severity, words.sentences.get(text, text), cells) for severity, text, cells in notes)
    # The section on validity has the failed assertions already.
    rows = merge_remarks(row for row in said if not (isinstance(row[1], Message) and row[1].code == "assertions"))
    order = {"error": 0, "warning": 1, "info": 2}
    for severity, text, cells in sorted(rows, key=lambda row: (order.get(row[0], 3), row[1])):
        where = words["aside"].format(text=words["d_occurrences"].format(n=fixed(cells, 0))) if cells > 1 else ""
        yield Item(words.get(f"severity_{severity}", severity), words.said(text) + where, emphasis=severity == "error")
    if not rows:
        yield Item("", words["d_no_warnings"])


def made_at(results: Results) -> str:
    """Return when the run ended or, if it has not ended, when it began, in ISO 8601 and UTC. Return "" if that is
    unknown."""
    run = run_row(results)
    at = run["ended_at"] or run["started_at"]
    return f"{at:%Y-%m-%dT%H:%M:%SZ}" if isinstance(at, datetime) else ""


def date_text(results: Results) -> str:
    """Return the day of the measurement in the report's language, or "" if the run has no start or is an import.

    If results of earlier runs are used, return the first and the last day.
    """
    started = run_row(results)["started_at"]
    if not isinstance(started, datetime) or imported_briefs.is_imported(results):
        return ""
    first, last = started, started
    if reused_runs(results):
        ((of_first, of_last),) = results.store.sql(
            "SELECT min(started_at), max(started_at) FROM cells WHERE status = 'ok'"
        ).rows
        first, last = of_first or started, of_last or started  # no cell may be good
    return results.words.locale.days(first.date(), last.date())


def keywords(plan: p.Plan) -> tuple[str, ...]:
    """Return keywords for searches: the things that were measured, and the tools that measured them."""
    engines = (database.engine for database in plan.databases.values())
    tools = (client.tool.driver for client in plan.clients.values())
    return tuple(dict.fromkeys((*engines, *tools, *(hardware.label for hardware in plan.hardware.values()))))
