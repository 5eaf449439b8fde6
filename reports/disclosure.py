"""The test disclosure: everything a reader needs to judge the numbers or to measure them again, gathered by itself."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import version

from benchbrief.compiler import plan as p
from benchbrief.reports.facts import fact_name
from benchbrief.reports.source import Fact, Results
from benchbrief.reports.values import duration, points
from benchbrief.reports.view import CellLine, DisclosureGroup, DisclosureView, Item


def disclosure(results: Results, *, facts_shown: bool) -> DisclosureView:
    """`facts_shown`: the report has a table of the hosts' facts, which need not be told twice."""
    words = results.words
    made = [
        DisclosureGroup(words["d_run"], tuple(_run(results))),
        DisclosureGroup(words["d_systems"], tuple(_systems(results))),
        DisclosureGroup(words["d_load"], tuple(_tools(results))),
        DisclosureGroup(words["d_settings"], tuple(_settings(results))),
        DisclosureGroup(words["d_workloads"], tuple(_workloads(results))),
        DisclosureGroup(words["d_hosts"], tuple(_hosts(results, brief=facts_shown))),
        DisclosureGroup(words["d_method"], tuple(_method(results))),
        DisclosureGroup(words["d_expects"], tuple(_expects(results))),
        DisclosureGroup(words["d_warnings"], tuple(_warnings(results))),
    ]
    lines = tuple(
        CellLine(c.cell_id, words.get(f"status_{c.status}", c.status), c.reason, c.raw_dir) for c in results.cells
    )
    bad: dict[str, list[str]] = {}
    for line, cell in zip(lines, results.cells, strict=True):
        if cell.status != "ok":
            bad.setdefault(f"{line.status}{words['colon']}{line.reason or words['no_reason']}", []).append(line.id)
    told = tuple(Item(text, ", ".join(ids), emphasis=True) for text, ids in bad.items())
    groups = (DisclosureGroup(g.title, tuple(item for item in g.items if item.text)) for g in made)
    return DisclosureView(tuple(group for group in groups if group.items), told, lines)


def plan_sha256(plan: p.Plan) -> str:
    """The digest of plan.json as it is kept with the run (`runners/rundir.py`)."""
    return hashlib.sha256(plan.model_dump_json(indent=1).encode()).hexdigest()


def stand_ins(results: Results) -> dict[str, list[str]]:
    """For each stand-in's sentence, the labels of the databases that it served in place of the real server."""
    found: dict[str, list[str]] = {}
    for fact in results.observed:
        if fact.kind == "database" and fact.name == "stand_in" and fact.value:
            database = results.plan.databases.get(fact.node or "")
            labels = found.setdefault(fact.value, [])
            label = database.label if database else fact.node or ""
            if label not in labels:
                labels.append(label)
    return found


def run_row(results: Results) -> dict[str, object]:
    names = ("run_id", "started_at", "ended_at", "status", "message", "benchbrief")
    rows = results.store.sql(f"SELECT {', '.join(names)} FROM runs").rows  # noqa: S608  # the names just above
    return dict(zip(names, rows[0], strict=True)) if rows else dict.fromkeys(names)


def time_text(value: object) -> str:
    """Coordinated universal time, to the second; empty for none."""
    if not isinstance(value, datetime):
        return "" if value is None else str(value)
    at = value.astimezone(UTC) if value.tzinfo else value
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"


def failed_expects(results: Results) -> list[str]:
    return [e.label or e.text for e in results.plan.expects if 0.0 in results.rows(e.query).values()]


# --- the groups --------------------------------------------------------------------------------------------------


def _run(results: Results) -> Iterable[Item]:
    words, spec, run = results.words, results.plan.spec, run_row(results)
    yield Item(words["d_run_id"], str(run["run_id"] or ""))
    yield Item(words["d_started"], time_text(run["started_at"]))
    yield Item(words["d_ended"], time_text(run["ended_at"]))
    status = str(run["status"] or "")
    yield Item(words["d_status"], f"{status}{words['colon']}{run['message']}" if run["message"] else status)
    for name, digest in spec.files.items():
        yield Item(words["d_spec"], f"{name} (SHA-256 {digest})")
    if spec.profile:
        yield Item(words["d_profile"], spec.profile)
    if spec.params:
        yield Item(words["d_params"], ", ".join(f"{k} = {v}" for k, v in spec.params.items()))
    yield Item(words["d_plan"], plan_sha256(results.plan))
    yield Item(words["d_version"], f"benchbrief {run['benchbrief'] or version('benchbrief')}")


def _systems(results: Results) -> Iterable[Item]:
    """One item for each database; what differs between the hardware groups is named with the group."""
    words = results.words
    by_name: dict[str, list[tuple[str, p.Database]]] = {}
    for key, database in results.plan.databases.items():
        by_name.setdefault(database.name, []).append((key, database))
    for same in by_name.values():
        first = same[0][1]
        parts = [f"{first.engine}, {words[f'd_server_{first.server}']}"]
        observed = _common([f for f in results.observed if f.kind == "database"], [key for key, _ in same], results)
        parts += [f"{fact_name(name, words)} {value}" for name, value in observed.items() if name != "stand_in"]
        parts += [first.topology] if first.topology else []
        if first.options:
            parts.append(f"{words['d_options']} " + ", ".join(f"{k} = {_plain(v)}" for k, v in first.options.items()))
        parts.append(words[f"d_reset_{first.reset}"])
        yield Item(first.label, words["semicolon"].join(parts))
    for sentence, labels in stand_ins(results).items():
        yield Item(words["d_stand_in"], f"{', '.join(labels)}{words['colon']}{sentence}", emphasis=True)


def _common(facts: list[Fact], nodes: list[str], results: Results) -> dict[str, str]:
    found: dict[str, dict[str, list[str]]] = {}
    for fact in facts:
        if fact.node in nodes:
            found.setdefault(fact.name, {}).setdefault(fact.value, []).append(fact.node or "")
    texts = {}
    for name, values in found.items():
        if len(values) == 1:
            texts[name] = next(iter(values))
        else:
            groups = {v: ", ".join(_hardware_label(n, results) for n in where) for v, where in values.items()}
            texts[name] = ", ".join(f"{v} ({where})" for v, where in groups.items())
    return texts


def _hardware_label(database_key: str, results: Results) -> str:
    key = database_key.rpartition("@")[2]
    return results.plan.hardware[key].label if key in results.plan.hardware else database_key


def _plain(value: str | float | bool) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else f"{value:,.15g}"


def _tools(results: Results) -> Iterable[Item]:
    words = results.words
    used: dict[str, list[str]] = {}
    for cell in results.plan.cells:
        hosts = used.setdefault(cell.tool.driver, [])
        hosts += [h for h in cell.load_hosts if h not in hosts]
    for driver, hosts in used.items():
        found = {f.name: f.value for f in results.observed if f.kind == "tool" and f.name.startswith(f"{driver}.")}
        versions = list(
            dict.fromkeys(f.value for f in results.observed if f.kind == "tool" and f.name == f"{driver}.version")
        )
        text = words["d_on"].format(tool=" / ".join(versions) or driver, hosts=", ".join(hosts))
        if path := found.get(f"{driver}.path"):
            text += f"{words['semicolon']}{words['d_tool_path']} {path}"
        yield Item(driver, text)


def _settings(results: Results) -> Iterable[Item]:
    words = results.words
    for experiment in results.plan.experiments.values():
        parts = [words[f"d_points_{experiment.axis}"].format(points=points(experiment.points))]
        warm_up = words["d_warm_up"].format(time=duration(experiment.warm_up_s))
        parts.append(warm_up if experiment.warm_up_s else words["d_no_warm_up"])
        parts.append(words["d_measure"].format(time=duration(experiment.measure_s)))
        if experiment.phases > 1:
            parts.append(words["d_phases"].format(n=experiment.phases))
        parts.append(words["d_repeats"].format(n=experiment.repeats))
        parts.append(words[f"d_order_{experiment.order}"].format(seed=experiment.seed))
        parts.append(words["d_errors"].format(share=f"{experiment.max_error_share:.3g}"))
        yield Item(experiment.label, words["semicolon"].join(parts))


def _workloads(results: Results) -> Iterable[Item]:
    for workload in results.plan.workloads.values():
        settings = ", ".join(f"{k} = {_plain(v)}" for k, v in workload.properties.items())
        yield Item(workload.label, f"{workload.family} {workload.benchmark}: {settings}")


_BRIEF = ("os", "kernel", "cpu", "memory", "memory_limit")


def _hosts(results: Results, *, brief: bool) -> Iterable[Item]:
    for host in results.plan.hosts.values():
        facts = {f.name: f.value for f in results.observed if f.kind == "host" and f.node == host.id}
        facts = {k: v for k, v in facts.items() if k in _BRIEF or (not brief and k != "block_devices")}
        how = results.words["d_local"] if host.transport == "local" else f"ssh {host.name}"
        shown = [how, *(f"{fact_name(k, results.words)} {v}" for k, v in facts.items())]
        yield Item(host.id, results.words["semicolon"].join(shown))


def _method(results: Results) -> Iterable[Item]:
    words, experiments = results.words, results.plan.experiments.values()
    if any(e.axis == "threads" for e in experiments):
        yield Item("", words["d_closed"])
    if any(e.axis == "target" for e in experiments):
        yield Item("", words["d_open"])
    rows = results.store.sql(
        "SELECT origin, count(*) FROM latency WHERE value_s IS NOT NULL AND statistic LIKE 'p%' "
        "AND source IS NULL GROUP BY origin"
    ).rows
    found = {str(origin): int(n) for origin, n in rows}
    distributions = results.store.sql("SELECT count(*) FROM operations WHERE histogram IS NOT NULL").rows[0][0]
    if found.get("histogram"):
        yield Item("", words["d_histogram"].format(n=f"{int(distributions):,}"))
    if found.get("printed"):
        yield Item("", words["d_printed"].format(n=f"{found['printed']:,}"))
    if not found:
        yield Item("", words["d_no_latency"])
    yield Item("", words["d_repeat_mean" if any(e.repeats > 1 for e in experiments) else "d_single"])


def _expects(results: Results) -> Iterable[Item]:
    words = results.words
    for expect in results.plan.expects:
        values = list(results.rows(expect.query).values()) or [None]
        verdict = "fails" if 0.0 in values else "unknown" if None in values else "holds"
        text = f"{expect.text}{words['colon']}{words[f'd_expect_{verdict}']}"
        yield Item(expect.label if expect.label != expect.text else "", text, emphasis=verdict != "holds")


def _warnings(results: Results) -> Iterable[Item]:
    words = results.words
    rows = results.store.sql("SELECT severity, text FROM notes").rows
    counted = Counter((str(severity), str(text)) for severity, text in rows)
    order = {"error": 0, "warning": 1, "info": 2}
    for (severity, text), n in sorted(counted.items(), key=lambda kv: (order.get(kv[0][0], 3), kv[0][1])):
        times = f" ({words['d_occurrences'].format(n=n)})" if n > 1 else ""
        yield Item(words.get(f"severity_{severity}", severity), text + times, emphasis=severity == "error")
    if not counted:
        yield Item("", words["d_no_warnings"])


def date_text(results: Results, language: str) -> str:
    """The day of the measurement, as the language writes it; empty when the run has no start."""
    started = run_row(results)["started_at"]
    if not isinstance(started, datetime):
        return ""
    if language == "ja":
        return f"{started.year}年{started.month}月{started.day}日"
    return f"{started.day} {_MONTHS[started.month - 1]} {started.year}"


_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
