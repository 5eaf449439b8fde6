"""The test disclosure: everything that a reader needs to judge the numbers or to repeat the measurement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from importlib.metadata import version

from benchbrief.compiler.planning import plan as p
from benchbrief.compiler.planning.budgets import is_budgeted
from benchbrief.reports.data import imported_briefs
from benchbrief.reports.data.gaps import Gaps, name_part, reason_of
from benchbrief.reports.data.report_data import NOT_PUBLISHED, CellRow, Results, Search
from benchbrief.reports.data.unasked_candidates import find_unasked, name_candidates
from benchbrief.reports.data.view_model import CellLine, DisclosureGroup, DisclosureView, Item
from benchbrief.reports.disclosure import disclosed_source, memory_fit, overlapped_groups, power_meters
from benchbrief.reports.disclosure.disclosed_outcomes import disclose_events, disclose_expectations
from benchbrief.reports.disclosure.disclosed_steadiness import disclose_steadiness, measured_for
from benchbrief.reports.disclosure.load_spacing import disclose_spacing
from benchbrief.reports.disclosure.measured_points import chosen_points, tried_points
from benchbrief.reports.disclosure.run_origin import reused_runs, run_row, time_text
from benchbrief.reports.disclosure.systems_under_test import disclose_systems, settings_text
from benchbrief.reports.disclosure.test_configuration import fact_name
from benchbrief.reports.disclosure.tool_texts import always_texts, data_set_text, property_texts
from benchbrief.reports.notices import result_limits, run_validity
from benchbrief.reports.notices.budget_notice import budget_setting
from benchbrief.reports.notices.repeat_variation import paragraph
from benchbrief.reports.text.document_names import shown_names
from benchbrief.reports.text.merged_remarks import merge_remarks
from benchbrief.reports.text.number_format import NBSP, duration, fixed, points
from benchbrief.reports.words.brief_words import Words, counted, some_of


def build_disclosure(
    results: Results, gaps: Gaps, *, facts_shown: bool, reports_from: Mapping[str, str] | None
) -> DisclosureView:
    """`facts_shown`: the report has a table of the hosts' facts, so the disclosure has none.

    `reports_from`: the files of reports and metrics, if not the run's own spec, with their SHA-256.
    """
    words = results.words
    sources: dict[str, Callable[[], Iterable[Item]]] = {
        "d_not_made": lambda: (Item(name_part(gap, words), reason_of(gap, words), True) for gap in gaps.found),
        "d_run": lambda: _run(results, reports_from or {}),
        **_conditions(results, facts_shown=facts_shown),
        "d_repeatability": lambda: paragraph(results),
        "d_validity": lambda: _validity(results),
        "d_expects": lambda: disclose_expectations(results),
        "d_warnings": lambda: _warnings(results),
    }
    made = [
        DisclosureGroup(words[key], gaps.each(key, source, "disclosure", words[key])) for key, source in sources.items()
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
    groups = (DisclosureGroup(g.title, tuple(item for item in g.items if item.text)) for g in made)
    needed = sum(cell.status != "skipped" for cell in results.cells)
    unpublished = sum(cell.reason == NOT_PUBLISHED for cell in results.cells)
    all_ok = counted(words, "d_all_imported" if imported_briefs.is_imported(results) else "d_all_ok", needed)
    if refused := sum(words.status_of(cell.status, cell.reason) == "refused" for cell in results.cells):
        all_ok = " ".join((all_ok, counted(words, "d_refused", refused)))
    if unpublished:
        all_ok = counted(words, "d_not_published", len(results.cells), missing=unpublished)
    return DisclosureView(tuple(group for group in groups if group.items), remarks, all_ok, lines)


def _conditions(results: Results, *, facts_shown: bool) -> dict[str, Callable[[], Iterable[Item]]]:
    """Return the conditions: what the source of imported results states; else what is declared and was observed."""
    if imported_briefs.is_imported(results):
        return {"d_stated": lambda: _stated(results)}
    return {
        "d_systems": lambda: disclose_systems(results),
        "d_load": lambda: _tools(results),
        "d_settings": lambda: _settings(results),
        "d_workloads": lambda: _workloads(results),
        "d_hosts": lambda: _hosts(results, brief=facts_shown),
        "d_method": lambda: _method(results),
    }


def _stated(results: Results) -> Iterable[Item]:
    yield from disclosed_source.disclose_source(results)
    yield from () if results.published else _sampled(results)
    yield from _latency_origins(results)
    yield from _repeats_merged(results)


def _validity(results: Results) -> Iterable[Item]:
    if not results.published:  # of what this plan would have measured
        yield from run_validity.paragraphs(results)
    yield from result_limits.paragraphs(results)


def _outcome(cell: CellRow, words: Words) -> tuple[str, str]:
    """Return the status of a cell, with its reason if it has one."""
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
            parts.append(words["d_repeats_until"].format(within=f"{100 * experiment.confident.within:g} %", **ends))
        elif not experiment.promise:
            parts.append(words["d_repeats"].format(n=experiment.repeats))
        if experiment.cool_down_s:
            parts.append(words["d_cool_down"].format(time=duration(experiment.cool_down_s)))
        parts.append(words[f"d_order_{experiment.order}"].format(seed=experiment.seed))
        parts.append(
            words["d_errors"].format(share=f"{100 * result_limits.accepted_share(experiment, results):.12g}{NBSP}%")
        )
        parts.append(_probes(experiment.name, results))
        yield Item(experiment.label, words["semicolon"].join(parts))


def _load_points(experiment: p.Experiment, results: Results) -> Iterable[str]:
    """Return the ramp, or the points that a search found, with its criterion and knees."""
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
        rise, gain = (f"{100 * share:g} %" for share in (experiment.search.rise, experiment.search.gain))
        found = [_knee(search, axis, results) for search in results.searches if search.experiment == experiment.name]
        yield words["d_search"].format(
            latency=experiment.search.latency,
            rise=rise,
            gain=gain,
            found=results.words.locale.listed(found) or words["missing"],
        )


def _knee(search: Search, axis: str, results: Results) -> str:
    words, plan = results.words, results.plan
    key = "d_no_knee" if search.knee is None else f"d_knee_{axis}"
    return words[key].format(
        knee=points([search.knee or 0.0]),
        tried=points(tried_points(search, axis, results)) or words["missing"],
        hardware=plan.hardware[search.hardware].label,
        workload=plan.workloads[search.workload].label,
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
    for workload in results.plan.workloads.values():
        settings = settings_text(workload.properties)
        yield Item(workload.label, f"{workload.family} {workload.benchmark}{results.words['colon']}{settings}")
    yield from _data(results)


def _data(results: Results) -> Iterable[Item]:
    """Return the origin of each data set, with its workloads."""
    words, plan = results.words, results.plan
    users: dict[str, dict[str, None]] = {}
    for name, records in dict.fromkeys((c.workload, c.dataset.records if c.dataset else None) for c in plan.cells):
        workload, how = plan.workloads[name], words["d_data_none"]
        if records is not None:
            how = data_set_text(workload.family, fixed(records, 0), results)
        users.setdefault(how, {})[workload.label] = None
    for how, labels in users.items():
        yield Item(words["d_data"], f"{' / '.join(labels)}{words['colon']}{how}")


_BRIEF = ("node", "os", "kernel", "cpu", "memory", "memory_limit")


def _hosts(results: Results, *, brief: bool) -> Iterable[Item]:
    observed: dict[str | None, dict[str, str]] = {}
    for fact in results.observed:
        if fact.kind == "host":
            observed.setdefault(fact.node, {})[fact.name] = fact.value
    for host in results.plan.hosts.values():
        facts = observed.get(host.id, {})
        facts = {k: v for k, v in facts.items() if k in _BRIEF or (not brief and k != "block_devices")}
        how = results.words["d_local"] if host.transport == "local" else f"{host.transport} {host.name}"
        if host.asked is not None:
            options = (f"{name} {value}" for name, value in host.asked.options)
            how = " ".join((host.asked.scheduler, host.asked.what, *options))
        shown = [how, *(f"{fact_name(k, results.words)} {results.words.said(v)}" for k, v in facts.items())]
        yield Item(host.id, results.words["semicolon"].join(shown))


def _method(results: Results) -> Iterable[Item]:
    words, experiments = results.words, results.plan.experiments.values()
    if any(e.axis == "threads" for e in experiments):
        yield Item("", words["d_closed"])
    if any(e.axis == "target" for e in experiments):
        yield Item("", words["d_open"])
    yield from overlapped_groups.disclose_overlaps(results)
    yield from _sampled(results)
    yield from disclose_events(results)
    yield from disclose_steadiness(results)
    yield from memory_fit.disclose_memory_fit(results)
    yield from (Item("", text) for text in always_texts(results))
    yield from _latency_origins(results)
    yield Item("", words["d_repeat_mean" if any(e.repeats > 1 for e in experiments) else "d_single"])


def _sampled(results: Results) -> Iterable[Item]:
    """Return what the samples of processors and of power cover."""
    if power_meters.probed_hardware("cpu", results):
        yield Item("", results.words["d_cpu"])
    yield from power_meters.disclose_power_meters(results)


def _latency_origins(results: Results) -> Iterable[Item]:
    """Return the origin of the percentiles, or that there are none."""
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
    """Return how the repeats of a point are combined, where the source has several."""
    good = [cell for cell in results.cells if cell.status == "ok"]
    repeats = Counter((cell.experiment, cell.hardware, cell.workload, cell.threads, cell.target) for cell in good)
    if max(repeats.values(), default=0) > 1:
        yield Item("", results.words["d_repeat_mean"])


def _warnings(results: Results) -> Iterable[Item]:
    words = results.words
    notes = results.store.sql(
        "SELECT severity, text, count(DISTINCT cell_id) FROM notes GROUP BY severity, text ORDER BY ALL"
    ).rows
    rows = merge_remarks((severity, words.sentences.get(text, text), cells) for severity, text, cells in notes)
    order = {"error": 0, "warning": 1, "info": 2}
    for severity, text, cells in sorted(rows, key=lambda row: (order.get(row[0], 3), row[1])):
        where = words["aside"].format(text=words["d_occurrences"].format(n=fixed(cells, 0))) if cells > 1 else ""
        yield Item(words.get(f"severity_{severity}", severity), words.said(text) + where, emphasis=severity == "error")
    if not rows:
        yield Item("", words["d_no_warnings"])


def made_at(results: Results) -> str:
    """Return when the run ended (or began), in ISO 8601 and UTC; "" when unknown."""
    run = run_row(results)
    at = run["ended_at"] or run["started_at"]
    return f"{at:%Y-%m-%dT%H:%M:%SZ}" if isinstance(at, datetime) else ""


def date_text(results: Results) -> str:
    """Return the day of the measurement in the language; "" when the run has no start, or is an import.

    With results of earlier runs: the first and the last day of measurement.
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
    """Return what was measured and with what, for searches."""
    engines = (database.engine for database in plan.databases.values())
    tools = (client.tool.driver for client in plan.clients.values())
    return tuple(dict.fromkeys((*engines, *tools, *(hardware.label for hardware in plan.hardware.values()))))
