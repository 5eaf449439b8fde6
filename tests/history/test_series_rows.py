"""Tests a run's series file: its information on each quantity, and what puts the values of two runs into one series."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from benchbrief.comparing.trend_output import name_redefinitions
from benchbrief.history.read_series import SeriesChoice, differences, read_series
from benchbrief.history.series_cache import open_series, run_source, series_in
from benchbrief.history.series_rows import SERIES_VERSION, VERSION_KEY, SeriesRow, series_rows, write_series
from benchbrief.model import events as j
from benchbrief.model.measurement import Operation
from benchbrief.model.plan import Database, Experiment, Hardware, Metric, Plan, Promise, PromiseLimit, Tool
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.journal.measurement_versions import tool_version
from tests.results.making import HERE, RunMaker, a_cell, a_plan, a_query, histogram, measurement

FACTS = {"cpu": "EPYC", "kernel": "6.1", "free space of /data": "7 GiB"}
RATES = (100.0, 110.0, 120.0)
SQL = "SELECT hardware, value FROM measure.throughput WHERE phase IS NULL AND operation = 'all'"


def a_read(rate: float) -> Operation:
    return Operation("read", int(rate * 10), histogram=histogram((0.001, 0.002, int(rate * 10))))


def a_metric(text: str = "throughput", unit: str = "ops/s") -> Metric:
    query = a_query(SQL, "hardware", text=text, unit=unit)
    return Metric(name="speed", label="Speed", better="higher", query=query, origin=HERE)


def a_run(
    path: Path,
    rates: Sequence[float | None] = RATES,
    facts: Mapping[str, str] = FACTS,
    metrics: Sequence[Metric] = (),
    change: Callable[[Plan], Plan] = lambda plan: plan,
    **hardware: object,
) -> Path:
    """Measure a cell with a repeat for each rate. A rate of None makes a failed repeat."""
    cells = [a_cell(repeat=repeat) for repeat in range(1, len(rates) + 1)]
    plan = change(a_plan(cells))
    groups = {key: Hardware.model_validate(group.model_dump() | hardware) for key, group in plan.hardware.items()}
    run = RunMaker(path, plan.model_copy(update={"hardware": groups, "metrics": tuple(metrics)}))
    for host in ("nvme-1", "nvme-2"):
        run.write(j.HostFacts(at=run.now, host=host, facts=dict(facts)))
    for cell, rate in zip(cells, rates, strict=True):
        if rate is None:
            run.failed(cell, "the tool died")
        else:
            run.ok(cell, {"load-1": measurement([a_read(rate)])})
    run.end("done")
    return run.run_dir


def overall(path: Path, quantity: str = "throughput") -> SeriesRow:
    (row,) = [row for row in series_rows(path) if (row.quantity, row.repeat) == (quantity, None)]
    return row


def test_each_quantity_has_its_value_over_all_repeats_and_each_repeat(tmp_path: Path) -> None:
    rows = [row for row in series_rows(a_run(tmp_path / "run")) if row.quantity == "throughput"]
    assert [(row.repeat, row.value) for row in rows] == [(None, 110.0), (1, 100.0), (2, 110.0), (3, 120.0)]
    assert {(row.unit, row.better, row.run_id, row.title) for row in rows} == {
        ("ops/s", "higher", "run", "brief.bench")
    }
    assert json.loads(rows[0].point) == {"experiment": "ramp", "hardware": "nvme", "threads": 4, "workload": "a"}
    assert rows[0].measured_at.isoformat() == "2023-11-14T22:13:20+00:00"


def test_errors_have_a_series_from_the_first_night_on_though_there_are_none(tmp_path: Path) -> None:
    assert overall(a_run(tmp_path / "run"), "errors").value == 0.0


def test_a_percentile_that_the_tool_does_not_give_has_no_series(tmp_path: Path) -> None:
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    run.ok(cell, {"load-1": measurement([a_read(100.0), Operation("write", 50, mean_s=0.002)])})
    run.end("done")
    latencies = {row.quantity for row in series_rows(run.run_dir) if row.quantity.startswith("latency.")}
    assert {"latency.p99[read]", "latency.mean[write]"} <= latencies
    assert "latency.p99[write]" not in latencies


def test_a_point_of_which_a_repeat_failed_has_no_value_and_says_why(tmp_path: Path) -> None:
    row = overall(a_run(tmp_path / "run", [100.0, None, 120.0]))
    assert (row.value, row.reason) == (None, "1 of 3 repeats without a value")


def test_free_space_does_not_make_another_environment_and_a_kernel_does(tmp_path: Path) -> None:
    runs = [
        a_run(tmp_path / name, facts={**FACTS, **more})
        for name, more in (("a", {}), ("b", {"free space of /data": "1 GiB"}), ("c", {"kernel": "6.2"}))
    ]
    first, fuller, other = (overall(run) for run in runs)
    assert first.environment == fuller.environment != other.environment
    assert json.loads(other.facts) == {"cpu": "EPYC", "kernel": "6.2", "nodes": "2"}


def test_another_expression_or_unit_of_a_metric_is_another_definition(tmp_path: Path) -> None:
    metrics = [a_metric(), a_metric("throughput * 1"), a_metric(unit="kops/s")]
    found = [overall(a_run(tmp_path / str(n), [100.0], metrics=[metric]), "speed") for n, metric in enumerate(metrics)]
    assert [row.value for row in found] == [100.0] * 3
    assert len({row.definition for row in found}) == 3


def test_another_way_of_measuring_of_its_tool_is_another_definition_and_that_of_other_tools_is_not(
    tmp_path: Path,
) -> None:
    def definition_as(name: str, **recorded: object) -> str:
        run = a_run(tmp_path / name, change=of_ycsb)
        path = run / "journal.jsonl"
        first, *others = path.read_text().splitlines(keepends=True)
        left_out = {key for key, value in recorded.items() if value is None}
        start = {key: value for key, value in (json.loads(first) | recorded).items() if key not in left_out}
        path.write_text(json.dumps(start, separators=(",", ":")) + "\n" + "".join(others))
        return overall(run).definition

    def of_ycsb(plan: Plan) -> Plan:
        tool = Tool(driver="ycsb")
        return plan.model_copy(update={"cells": tuple(c.model_copy(update={"tool": tool}) for c in plan.cells)})

    today = definition_as("today")
    assert definition_as("fio", measurements={"ycsb": tool_version("ycsb"), "fio": 99}) == today
    # Journals with one version for all tools: YCSB has changed in 4, and others since.
    assert {definition_as(f"as {n}", measurement=n, measurements=None) for n in (4, 5, 6)} == {today}
    others = [definition_as("as 3", measurement=3, measurements=None), definition_as("new", measurements={"ycsb": 99})]
    assert len({today, *others}) == 3


def a_limit(most: float, text: str = "latency.p99 < 3 ms", **more: Any) -> PromiseLimit:
    return PromiseLimit(measure="latency", statistic="p99", most=most, text=text, **more)


def a_search(**more: Any) -> Callable[[Plan], Plan]:
    """Return a function that makes an experiment of a plan search for a promise."""
    points = more.pop("points", (4.0, 5.0))
    said = {"limits": (a_limit(0.003),), "within": 0.1, "judged": 3, "held_out": 2, "usual": 9, "most": 30}
    promise = Promise.model_validate(said | more)

    def changed(plan: Plan) -> Plan:
        ramp: Experiment = plan.experiments["ramp"].model_copy(update={"promise": promise, "points": points})
        return plan.model_copy(update={"experiments": {"ramp": ramp}})

    return changed


def a_database(**more: Any) -> Callable[[Plan], Plan]:
    """Return a function that changes how a plan describes its database."""

    def changed(plan: Plan) -> Plan:
        made = {key: Database.model_validate({**vars(each), **more}) for key, each in plan.databases.items()}
        return plan.model_copy(update={"databases": made})

    return changed


def definitions(path: Path, changes: Sequence[Callable[[Plan], Plan]]) -> list[str]:
    """For each plan, return the definition of the throughput in a run of it."""
    return [overall(a_run(path / str(n), [100.0], change=each)).definition for n, each in enumerate(changes)]


def test_another_promise_or_a_search_that_looks_otherwise_is_another_definition(tmp_path: Path) -> None:
    changes = [
        lambda plan: plan,
        a_search(),
        a_search(limits=(a_limit(0.06, "latency.p99 < 60 ms"),)),
        a_search(limits=(a_limit(0.003), a_limit(0.001, operation="read"))),
        a_search(limits=(a_limit(0.003, strict=False),)),
        a_search(held_out=3),
        a_search(within=0.05),
        a_search(points=(4.0, 50.0)),
    ]
    assert len(set(definitions(tmp_path, changes))) == len(changes)


def test_the_same_promise_in_other_words_and_order_is_the_same_definition(tmp_path: Path) -> None:
    first, second = a_limit(0.003), a_limit(0.001, operation="read")
    same = a_limit(0.003, "latency.p99 < 3000 us")
    found = definitions(tmp_path, [a_search(limits=(first, second)), a_search(limits=(second, same))])
    assert len(set(found)) == 1


def test_another_option_or_setting_of_a_database_is_another_definition(tmp_path: Path) -> None:
    changes = [a_database(options={"block_cache": 2.0**20 * size}) for size in (8, 32, 64)]
    changes += [
        a_database(),
        a_database(options_file="/etc/rocksdb/small.ini"),
        a_database(settings={"journal": True}),
        a_database(reset="snapshot"),
        a_database(drop_caches=True),
        a_database(size_bytes=1e9),
    ]
    assert len(set(definitions(tmp_path, changes))) == len(changes)


def test_another_name_place_or_version_of_a_database_is_the_same_definition(tmp_path: Path) -> None:
    changes = [
        a_database(options_file="/etc/rocksdb/small.ini"),
        a_database(options_file="/build/17/small.ini", path="/data/17", version="8.0.4", name="other", label="Other"),
        a_database(options_file="/etc/rocksdb/small.ini", uri=("mongodb://db-7:27017",), package="engine 1.2"),
    ]
    assert len(set(definitions(tmp_path, changes))) == 1
    devices = [a_database(path=path, settings={"destroys": path}) for path in ("/dev/nvme1n1", "/dev/nvme2n1")]
    assert len(set(definitions(tmp_path / "raw", devices))) == 1


def test_a_value_that_is_no_finite_number_is_missing(tmp_path: Path) -> None:
    query = a_query(SQL.replace("value", "'inf'::DOUBLE AS value"), "hardware")
    metric = Metric(name="speed", label="Speed", better="higher", query=query, origin=HERE)
    row = overall(a_run(tmp_path / "run", [100.0], metrics=[metric]), "speed")
    assert row.value is None
    assert row.reason


@pytest.mark.parametrize("control", [True, False])
def test_rows_of_control_hardware_are_marked(tmp_path: Path, control: bool) -> None:
    assert {row.control for row in series_rows(a_run(tmp_path / "run", control=control))} == {control}


def test_the_file_has_the_rows_and_changes_nothing_in_the_run(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run")
    before = sorted(run.rglob("*"))
    write_series(run, tmp_path / "elsewhere" / "series.parquet")
    table = pq.read_table(tmp_path / "elsewhere" / "series.parquet")
    shown: list[dict[str, Any]] = table.to_pylist()
    assert [SeriesRow(**row) for row in shown] == series_rows(run)
    assert table.schema.metadata[VERSION_KEY] == str(SERIES_VERSION).encode()
    assert sorted(run.rglob("*")) == before


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunnerError):
        write_series(tmp_path, tmp_path / "series.parquet")
    assert not (tmp_path / "series.parquet").exists()


def test_a_file_that_was_pushed_before_values_had_bounds_is_read_with_none(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run")
    write_series(run, tmp_path / "now.parquet")
    now = pq.read_table(tmp_path / "now.parquet")
    before = now.drop_columns(["bound", "decided"]).replace_schema_metadata({VERSION_KEY: b"2"})
    pq.write_table(before, tmp_path / "before.parquet")
    read, problem = series_in(tmp_path / "before.parquet", run.name)
    assert problem == ""
    assert read is not None
    assert read.to_pylist() == now.to_pylist()
    pq.write_table(before.replace_schema_metadata({VERSION_KEY: b"1"}), tmp_path / "older.parquet")
    _, problem = series_in(tmp_path / "older.parquet", run.name)
    assert problem == "its series file has another version: push the run again"


def test_a_break_of_a_series_names_the_field_whose_value_differs(tmp_path: Path) -> None:
    def changed(plan: Plan) -> Plan:
        workload = plan.workloads["a"]
        other = workload.model_copy(update={"properties": {**workload.properties, "records": 5000.0}})
        newer = {key: each.model_copy(update={"version": "7.0"}) for key, each in plan.databases.items()}
        return plan.model_copy(update={"workloads": {**plan.workloads, "a": other}, "databases": newer})

    a_run(tmp_path / "first")
    a_run(tmp_path / "later", change=changed)
    with open_series(run_source(str(tmp_path))) as table:
        found = read_series(table, SeriesChoice(("throughput",)))
    (series,) = name_redefinitions(found.series, tmp_path)
    before, after = series.parts
    assert [line.partition(": ")[0] for line in differences(before, after)] == ["workload a.records"]
    assert differences(before, after)[0].endswith(" → 5,000")
    (elsewhere,) = name_redefinitions(found.series, tmp_path / "no folder")
    assert differences(*elsewhere.parts) == [
        "its definition, workload, promise or database, or the way of measuring has changed"
    ]
