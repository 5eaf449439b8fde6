"""Tests tables of published figures: what is read from them, what is refused, and that the briefs show the right
numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchbrief.compiler.compile import check
from benchbrief.extensions.importers.table.figure_tables import TableOfFigures, read_table
from benchbrief.model.plan import Plan
from benchbrief.results.imports.imported_files import ImportProblem, ImportRefused
from benchbrief.results.imports.keep_import import (
    MANIFEST,
    Prepared,
    StatedSource,
    imported_before,
    keep_run,
    read_manifest,
)
from benchbrief.results.open_store import open_store
from benchbrief.results.runs.find_runs import list_real_runs
from benchbrief.results.runs.reusable_results import find_reusable
from benchbrief.results.store.store import KeyedValue, Store
from benchbrief.results.store_errors import ResultsError
from tests.support.plans import compile_text
from tests.support.tools import REPOSITORY

SPEC = """
hardware eco    "5100 ECO" { hosts = "eco-[1-2].lab" }
hardware legacy "Legacy"   { hosts = "hdd-[1-2].lab" }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload a from ycsb.a
workload f from ycsb.f
experiment ramp { hardware = [eco, legacy]  workloads = [a, f]  threads = [48, 96]  measure = 1 min  repeats = 3 }
metric multiplier = throughput[eco] / throughput[legacy]
metric best = max(throughput over threads)
metric gain in % = throughput[eco] / throughput[legacy] - 1
"""
SOURCE = """# title: A brief
# publisher: Example Ltd
# document: EX-1
# licence: cited with its source
"""


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return compile_text(SPEC, tmp_path_factory.mktemp("spec"))


def example(name: str) -> Plan:
    found = check(REPOSITORY / "examples" / name / f"{name}.bench").plan
    assert found is not None
    return found


def prepared(tmp_path: Path, plan: Plan, text: str, *, skip_bad: bool = False) -> Prepared:
    path = tmp_path / "published.csv"
    path.write_text(text)
    return TableOfFigures().prepare(path, plan, StatedSource(), skip_bad=skip_bad)


def stored(tmp_path: Path, plan: Plan, what: Prepared) -> Store:
    return open_store(keep_run(tmp_path / "out", plan, {}, what))


def published(tmp_path: Path, name: str) -> tuple[Plan, Store]:
    plan = example(name)
    path = REPOSITORY / "examples" / name / "published.csv"
    return plan, stored(tmp_path, plan, TableOfFigures().prepare(path, plan, StatedSource()))


def metric(plan: Plan, store: Store, name: str) -> list[KeyedValue]:
    return store.query(next(each.query for each in plan.metrics if each.name == name))


def refused(tmp_path: Path, plan: Plan, text: str) -> str:
    with pytest.raises(ImportRefused) as caught:
        prepared(tmp_path, plan, text)
    return str(caught.value).replace(f"{tmp_path}/", "") + f"\nhelp: {caught.value.hint}"


# --- the published briefs ----------------------------------------------------------------------------------------


def test_the_multipliers_and_node_counts_of_the_cluster_shrink_come_out_as_published(tmp_path: Path) -> None:
    plan, store = published(tmp_path, "cluster_shrink")
    with store:
        assert {row.keys[0]: round(row.value or 0, 1) for row in metric(plan, store, "multiplier")} == {
            "a": 8.7,
            "b": 9.6,
            "c": 8.5,
            "d": 11.6,
            "f": 7.9,
        }
        nodes = {row.keys[0]: round(row.value or 0) for row in metric(plan, store, "legacy_nodes")}
        assert nodes == {"a": 26, "b": 29, "c": 26, "d": 35, "f": 24}
        shown = dict(store.sql("SELECT workload, value FROM published WHERE metric = 'multiplier'").rows)
        assert shown == {"a": 8.7, "b": 9.6, "c": 8.5, "d": 11.6, "f": 7.9}


def test_the_published_improvements_of_power_efficiency_lie_in_what_the_published_ranges_allow(tmp_path: Path) -> None:
    """The source computed its ratios point by point, and did not publish all points. So their range differs from the
    one that follows from the ends of the published ranges."""
    plan, store = published(tmp_path, "power_efficiency")
    with store:
        assert all(row.value is None for row in metric(plan, store, "efficiency"))
        rows = store.sql("SELECT workload, metric, hardware, bound, value FROM published").rows
    shown = {tuple(key): value for *key, value in rows}
    for workload, low, high in (("a", 28, 37), ("b", 26, 43), ("c", 32, 49), ("d", 19, 44), ("f", 63, 69)):
        assert shown[workload, "improvement", None, "low"] == low
        assert shown[workload, "improvement", None, "high"] == high
        least = shown[workload, "efficiency", "nvme", "low"] / shown[workload, "efficiency", "hdd", "high"]
        most = shown[workload, "efficiency", "nvme", "high"] / shown[workload, "efficiency", "hdd", "low"]
        assert round(least) <= low < high <= round(most)


def test_the_price_performance_of_the_two_instances_comes_out_as_published(tmp_path: Path) -> None:
    plan, store = published(tmp_path, "price_performance")
    with store:
        best = {row.keys: row.value for row in metric(plan, store, "best") if row.value is not None}
        assert set(best) == {("r6g", "load(f)"), ("r5", "load(f)")}
        r6g, r5 = best["r6g", "load(f)"], best["r5", "load(f)"]
        assert r6g is not None
        assert r5 is not None
        advantage = next(row.value for row in metric(plan, store, "advantage") if row.value is not None)
    assert r6g / r5 - 1 == pytest.approx(1.17, abs=0.005)
    assert advantage == pytest.approx(2.7, abs=0.05)
    price = {key: plan.hardware[key].facts["price"] for key in ("r6g", "r5")}
    assert 1 - price["r6g"].value / price["r5"].value == pytest.approx(0.20)  # type: ignore[union-attr]  # quantities


def test_the_gains_and_reductions_of_the_flash_cache_are_kept_as_written(tmp_path: Path) -> None:
    _, store = published(tmp_path, "flash_cache")
    with store:
        rows = store.sql("SELECT metric, workload, value, unit FROM published ORDER BY ALL").rows
        assert store.sql("SELECT count(*) FROM measure.throughput WHERE value IS NOT NULL").rows == ((0,),)
    assert rows == (
        ("gain", "b", 117.0, "%"),
        ("gain", "f", 111.0, "%"),
        ("least_gain", None, 2.0, ""),
        ("most_reduction", None, 60.0, "%"),
        ("read_reduction", "b", 45.0, "%"),
        ("read_reduction", "f", 50.0, "%"),
        ("update_reduction", "b", 55.0, "%"),
        ("update_reduction", "f", 43.0, "%"),
        ("usual_reduction", None, 50.0, "%"),
    )


def test_the_published_numbers_of_the_three_ssds_are_kept(tmp_path: Path) -> None:
    _, store = published(tmp_path, "rocksdb_ssds")
    with store:
        assert store.sql("SELECT metric, hardware, workload, value, unit FROM published ORDER BY ALL").rows == (
            ("fewer", "solidigm_p5430", "rr", 30.0, "%"),
            ("fewer", "solidigm_p5430", "rrw", 30.0, "%"),
            ("of_best", "solidigm_p5430", "rr", 70.0, "%"),
            ("of_best", "solidigm_p5430", "rrw", 70.0, "%"),
            ("of_best", "solidigm_p5430", "rww", 65.0, "%"),
            ("slower", "solidigm_p5430", "rr", 1.8, ""),
            ("slower", "solidigm_p5430", "rrw", 1.5, ""),
            ("slower", "solidigm_p5430", "rww", 2.0, ""),
        )


# --- what is kept ------------------------------------------------------------------------------------------------


def test_units_operations_nodes_and_repeats_of_a_table_are_kept_and_the_rest_is_missing(
    tmp_path: Path, plan: Plan
) -> None:
    head = "hardware, workload, threads, repeat, node, throughput (kops/s), latency.p99[read] (ms), power (W)\n"
    rows = "Legacy, a, 48, 1, hdd-1.lab, 1.5, 4, 210\nlegacy, a, 48, 2, , 1.7, , \neco, f, 96, 2, , , 3, \n"
    with stored(tmp_path, plan, prepared(tmp_path, plan, SOURCE + head + rows)) as store:
        assert store.sql(
            "SELECT hardware, threads, repeat, value FROM measure.throughput WHERE operation = 'all' ORDER BY ALL"
        ).rows == (("eco", 96, 2, None), ("legacy", 48, 1, 1500.0), ("legacy", 48, 2, 1700.0))
        assert store.sql(
            "SELECT hardware, repeat, operation, statistic, value FROM measure.latency ORDER BY ALL"
        ).rows == (
            ("eco", 2, "read", "p99", 0.003),
            ("eco", None, "read", "p99", 0.003),
            ("legacy", 1, "read", "p99", 0.004),
            ("legacy", None, "read", "p99", None),
        )
        assert store.sql("SELECT measure, node, value, unit FROM samples").rows == (("power", "hdd-1.lab", 210.0, "W"),)
        assert store.sql("SELECT count(*) FROM throughput WHERE count IS NOT NULL OR duration_s IS NOT NULL").rows == (
            (0,),
        )
        assert store.sql("SELECT DISTINCT reason FROM cells WHERE status = 'missing'").rows == (
            ("not in what was imported",),
        )


def test_one_number_for_all_repeats_stands_for_the_point(tmp_path: Path, plan: Plan) -> None:
    text = SOURCE + "hardware, workload, threads, throughput (ops/s)\neco, a, 96, 700\nlegacy, a, 96, 70\n"
    with stored(tmp_path, plan, prepared(tmp_path, plan, text)) as store:
        values = {row.keys: row.value for row in metric(plan, store, "multiplier") if row.value is not None}
        assert values == {("a", 96): 10.0}
        assert store.sql(
            "SELECT status, count(*) FROM cells WHERE threads = 96 AND workload = 'a' GROUP BY ALL ORDER BY 1"
        ).rows == (
            ("ok", 2),
            ("skipped", 4),
        )


def test_the_run_says_what_it_is_and_nothing_takes_it_for_a_measured_one(tmp_path: Path, plan: Plan) -> None:
    what = prepared(tmp_path, plan, SOURCE + "hardware, workload, threads, throughput (ops/s)\neco, a, 96, 700\n")
    with stored(tmp_path, plan, what) as store:
        assert store.sql("SELECT origin, simulated FROM runs").rows == (("imported", False),)
        (source,) = store.sql("SELECT title, publisher, document, licence, url FROM sources").rows
        assert source == ("A brief", "Example Ltd", "EX-1", "cited with its source", None)
        assert store.sql("SELECT started_at FROM cells WHERE started_at IS NOT NULL").rows == ()
    out = tmp_path / "out"
    assert list_real_runs(out) == []
    assert find_reusable(plan, out).carried == ()
    assert "was imported before, as" in imported_before(out, (file for _, file in what.files))


def test_the_numbers_of_an_import_are_in_the_table_that_was_kept_alone(tmp_path: Path, plan: Plan) -> None:
    what = prepared(tmp_path, plan, SOURCE + "hardware, workload, threads, throughput (ops/s)\neco, a, 96, 712.25\n")
    run_dir = keep_run(tmp_path / "out", plan, {}, what)
    holding = [path.name for path in (run_dir / "raw").rglob("*") if path.is_file() and b"712.25" in path.read_bytes()]
    assert holding == [path.name for path in (run_dir / "raw" / "imported").iterdir()]
    with open_store(run_dir) as store:
        assert store.sql("SELECT value FROM measure.throughput").rows == ((712.25,),)


def test_a_table_that_was_changed_in_the_run_takes_its_numbers_along(tmp_path: Path, plan: Plan) -> None:
    what = prepared(tmp_path, plan, SOURCE + "hardware, workload, threads, throughput (ops/s)\neco, a, 96, 700\n")
    run_dir = keep_run(tmp_path / "out", plan, {}, what)
    (kept,) = (run_dir / "raw" / "imported").iterdir()
    kept.write_text(kept.read_text().replace("700", "900"))
    with open_store(run_dir) as store:
        assert store.sql("SELECT count(*) FROM measure.throughput").rows == ((0,),)
        ((reason,),) = store.sql("SELECT reason FROM cells WHERE status = 'failed'").rows
        assert "was changed after it was measured" in reason
        assert store.sql("SELECT DISTINCT text FROM notes WHERE severity = 'error'").rows == ((reason,),)


# --- what is refused ---------------------------------------------------------------------------------------------


def test_a_table_without_its_source_is_refused(tmp_path: Path, plan: Plan) -> None:
    text = "# title: A brief\nhardware, workload, threads, throughput (ops/s)\neco, a, 96, 700\n"
    shown = refused(tmp_path, plan, text)
    assert "published.csv: who published these numbers is not said: publisher, licence, url or document" in shown
    assert "--licence" in shown


@pytest.mark.parametrize(
    ("head", "row", "message"),
    [
        ("hardware, workload, threads, throughput", "eco, a, 96, 1", "throughput is a throughput in ops/s"),
        ("hardware, workload, threads, throughput (ops/sec)", "eco, a, 96, 1", "unknown unit `sec`\nnothing"),
        ("hardware, workload, threads, throuhgput (ops/s)", "eco, a, 96, 1", "did you mean `throughput`?"),
        ("hardware, workload, threads, throughput (ops/s)", "ecoo, a, 96, 1", "did you mean `eco`?"),
        ("hardware, workload, threads, throughput (ops/s)", "eco, a, 64, 1", "no cell at 64 threads\n"),
        ("hardware, workload, threads, throughput (ops/s)", "eco, a, , 1", "say its threads: 48, 96"),
        ("hardware, workload, threads, throughput (ops/s)", 'eco, a, 96, "7,120.1"', "`7,120.1` is not a number"),
        ("hardware, workload, threads, throughput (ops/s)", "eco, a, 96, nan", "nan can't have been measured"),
        ("hardware, workload, threads, throughput (ops/s)", "eco, a, 96", "3 fields, and 4 columns"),
        (
            "hardware, workload, threads, throughput (ops/s)",
            "eco, a, 96, 1\neco, a, 96, 2",
            "line 6 has this throughput",
        ),
        ("hardware, workload, threads, latency.p99 (ms)", "eco, a, 96, 1", "latency.p99 of which operation?"),
        ("hardware, workload, threads, power (W)", "eco, a, 96, 1", "power is of one node: which of 2?"),
        ("hardware, workload, threads, repeat, throughput (ops/s)", "eco, a, 96, 4, 1", "the plan has no repeat 4"),
        ("hardware, workload, threads, errors (%)", "eco, a, 96, 1", "without the number of operations"),
        ("workload, threads, gain", "a, 96, 0.5", "5: `gain`: whether gain is in % is not clear"),
        ("workload, threads, gain", "a, 96, 0.5", "gain (%), or gain (x) for a number that is not in %"),
        ("workload, threads, gain (ms)", "a, 96, 0.5", "whether gain is in % is not clear, or it is in another unit"),
        ("workload, threads, multiplier", "a, 96, 8", "multiplier (%), or multiplier (x)"),
        ("workload, threads, best", "a, 96, 8", "name its unit, as in best (ops/s)"),
        ("workload, threads, cpu.utilisation", "a, 96, 0.5", "cpu.utilisation (%), or cpu.utilisation (x)"),
        ("workload, threads, gain.low (%), gain.high (x)", "a, 96, 40, 0.5", "gain has values in % and in x"),
        ("threads (ms), workload, best (ops/s)", "96, a, 8", "threads has no unit"),
        ("threads, workload, target (ms), best (ops/s)", "96, a, 1, 8", "write target (ops/s)"),
        ("hardware, workload, threads, latency.p99[raed] (ms)", "eco, a, 96, 1", "did you mean `read`?"),
        ("hardware, workload, threads, latency.p98[read] (ms)", "eco, a, 96, 1", "did you mean `latency.p90`?"),
        ("hardware, workload, threads, latency.p99[read_modify_write] (ms)", "eco, a, 96, 1", "it has read, update"),
        (
            "hardware, workload, threads, operation, latency.p99 (ms)",
            "eco, a, 96, updaet, 1",
            "6: workload a has no op",
        ),
        ("hardware, workload, threads, operation, latency.p99 (ms)", "eco, a, 96, updaet, 1", "mean `update`?"),
        ("hardware, workload, threads, operation, throughput (ops/s)", "eco, a, 96, all, 1", "no operation `all`"),
        (
            "hardware, workload, threads, operation, latency.p99[read] (ms)",
            "eco, a, 96, update, 1",
            "latency.p99 is of read by its head, and of update by its row",
        ),
        ("hardware, workload, threads, node, power (W)", "eco, a, 96, ecko-1.lab, 1", "did you mean `eco-1.lab`?"),
        ("hardware, workload, experiment, best (ops/s)", "eco, a, rampe, 1", "did you mean `ramp`?"),
        ("hardware, workload, threads, phase, throughput (ops/s)", "eco, a, 96, 2, 1", "no phase 2"),
        ("hardware, workload, threads, phas, throughput (ops/s)", "eco, a, 96, 2, 1", "did you mean `phase`?"),
        ("workload, phase, gain (%)", "a, 2, 1", "no phase 2"),
        ("workload, threads, gain (%)", "a, 64, 1", "no cell at 64 threads"),
        ("workload, target, gain (%)", "a, 64, 1", "no cell at an offered load of 64 ops/s"),
        ("workload, threads, gain[eco] (%)", "a, 96, 1", "gain is a metric, which takes nothing in [ ]"),
        ("workload[a], threads, gain (%)", "a, 96, 1", "a column `workload` has no operations"),
        ("workload, threads, operation, gain (%)", "a, 96, read, 1", "gain can't be kept of one operation"),
        ("workload, threads, repeat, gain (%)", "a, 96, 2, 1", "gain can't be kept of one repeat"),
        (
            "hardware, workload, threads, operation, node, power (W)",
            "eco, a, 96, read, each, 1\neco, a, 96, update, each, 2",
            "line 6 has this power already",
        ),
        (
            "hardware, workload, threads, latency.p99[read] (ms), latency.p50[read] (ms)",
            "eco, a, 96, 3, 9",
            "6: latency.p99[read] is below latency.p50 (line 6)",
        ),
        ("hardware, workload, threads, throughput (ms)", "eco, a, 96, 1", "name its unit, as in throughput (ops/s)"),
        ("hardware, workload, threads, throughput (ops/s)", "eco, a, 96, -1", "-1 can't have been measured"),
        (
            "hardware, workload, threads, throughput (ops/s)",
            "eco, a, 96.5, 1",
            "threads is a whole number from 1, not 96.5",
        ),
        (
            "hardware, workload, threads, operation, latency.p50 (ms), latency.p99 (ms)",
            "eco, a, 96, read, 9,\neco, a, 96, read, , 3",
            "latency.p99[read] is below latency.p50 (line 6)",
        ),
        (
            "hardware, workload, threads, operation, latency.mean (ms), latency.max (us)",
            "eco, a, 96, read, 3, 9",
            "latency.max[read] is below latency.mean",
        ),
    ],
)
def test_a_wrong_line_is_reported_with_its_number(
    tmp_path: Path, plan: Plan, head: str, row: str, message: str
) -> None:
    said = refused(tmp_path, plan, f"{SOURCE}{head}\n{row}\n")
    assert message in said
    assert said.startswith("published.csv:")
    assert "nothing was imported" in said


def test_each_number_of_a_table_is_in_the_store_in_the_unit_that_its_column_says(tmp_path: Path, plan: Plan) -> None:
    head = (
        "hardware, workload, threads, repeat, operation, throughput[read] (ops/s), throughput (kops/s), "
        "latency.p50[read] (us), latency.p99 (ms), latency.mean (ms), latency.max[update] (s)\n"
    )
    rows = "eco, a, 48, 1, read, 101, , 102, 103, 104,\neco, a, 48, 2, update, , 0.105, , 106, 107, 108\n"
    with stored(tmp_path, plan, prepared(tmp_path, plan, SOURCE + head + rows)) as store:
        rates = store.sql("SELECT value FROM measure.throughput WHERE value IS NOT NULL").rows
        latencies = store.sql("SELECT value_s FROM latency WHERE repeat IS NOT NULL AND value_s IS NOT NULL").rows
    assert sorted(value for (value,) in rates) == [101, 105]
    assert sorted(value for (value,) in latencies) == pytest.approx([102e-6, 0.103, 0.104, 0.106, 0.107, 108])


@pytest.mark.parametrize(("head", "unit"), [("gain (%)", "%"), ("gain (x)", "")])
def test_a_published_share_is_kept_in_the_unit_of_its_column(tmp_path: Path, plan: Plan, head: str, unit: str) -> None:
    with stored(tmp_path, plan, prepared(tmp_path, plan, f"{SOURCE}workload, threads, {head}\na, 96, 0.5\n")) as store:
        assert store.sql("SELECT value, unit FROM published").rows == ((0.5, unit),)


def test_all_that_is_wrong_is_reported_at_once_and_the_rest_is_kept_when_asked(tmp_path: Path, plan: Plan) -> None:
    head = "hardware, workload, threads, throughput (ops/s)\n"
    text = f"{SOURCE}{head}eco, a, 96, 700\nnone, a, 96, 1\neco, z, 96, 1\n"
    shown = refused(tmp_path, plan, text)
    assert "published.csv:7: no hardware `none`" in shown
    assert "published.csv:8: no workload `z`" in shown
    what = prepared(tmp_path, plan, text, skip_bad=True)
    assert [each.cell.hardware for each in what.cells] == ["eco"]
    assert [problem.line for problem in what.problems] == [7, 8]


def test_a_number_over_a_ramp_is_missing_unless_the_source_says_that_the_rest_was_not_published(
    tmp_path: Path, plan: Plan
) -> None:
    head = "hardware, workload, threads, throughput (ops/s)\neco, a, 96, 700\n"
    for rest, best in (("", None), ("# rest: not published\n", 700.0)):
        what = prepared(tmp_path, plan, SOURCE + rest + head)
        with open_store(keep_run(tmp_path / "out", plan, {}, what)) as store:
            values = {row.keys: row.value for row in metric(plan, store, "best")}
        assert values.get(("eco", "a")) == best


HEAD = "hardware{0}workload{0}threads{0}throughput (ops/s)"


@pytest.mark.parametrize(
    ("content", "rate"),
    [
        ("\ufeff" + HEAD.format(",") + "\r\neco,a,48,7120.5\r\n", 7120.5),
        (HEAD.format(";") + "\neco;a;48;7120,5\n", 7120.5),
        ("sep=;\n" + HEAD.format(";") + "\neco;a;48;7120,5\n", 7120.5),
        (HEAD.format("\t") + "\neco\ta\t48\t7120.5\n", 7120.5),
        (HEAD.format(";") + "\neco;a;48;7120.125\n", 7120.125),
        (HEAD.format(";") + "\neco;a;48;0.125\n", 0.125),
        (HEAD.format(";") + ";repeat\neco;a;48;7.1200;1\n", 7.12),
        (HEAD.format(",") + "\neco,a,48,7.125\n", 7.125),
        (HEAD.format(",") + ",,\neco,a,48,7120.5,,\n,,,,\n", 7120.5),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_table_is_read_as_spreadsheets_save_it(
    tmp_path: Path, plan: Plan, content: str, rate: float, encoding: str
) -> None:
    path = tmp_path / "sheet.csv"
    path.write_bytes(content.removeprefix("\ufeff" if encoding == "utf-16" else "").encode(encoding))
    problems: list[ImportProblem] = []
    (of,) = read_table(path, plan, "", problems).cells.values()
    assert not problems
    assert [value.value for value in of.values] == [rate]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (HEAD.format(";") + "\neco;a;48;7,120\n", "whether 7,120 is 7120 or 7.120 is not clear"),
        (HEAD.format(";") + "\neco;a;48;818,3\neco;a;96;7.120\n", "what the point in 7.120 is, is not clear"),
        (HEAD.format(";") + "\neco;a;48;7.120\n", "whether 7.120 is 7120 or 7.1200 is not clear"),
        (HEAD.format("\t") + "\neco\ta\t48\t7.120\n", "whether 7.120 is 7120 or 7.1200 is not clear"),
        (HEAD.format(",") + "\neco,a,48,7_120\n", "`7_120` is not a number"),
        (HEAD.format(",") + "\neco,a,48,\uff17\n", "`\uff17` is not a number"),
        (HEAD.format(",") + "\neco,a,48,7120.5 ops/s\n", "`7120.5 ops/s` is not a number"),
        (HEAD.format(",") + '\neco,a,48,"7,120.5"\n', "`7,120.5` is not a number"),
        ("\x1f\x8b\x08\x00", "packed by gzip"),
        ("PK\x03\x04\x14", "a workbook or another archive"),
    ],
)
def test_an_ambiguous_number_is_refused_and_not_guessed(tmp_path: Path, plan: Plan, content: str, message: str) -> None:
    path = tmp_path / "sheet.csv"
    path.write_bytes(content.encode("latin-1" if content.startswith("\x1f") else "utf-8"))
    problems: list[ImportProblem] = []
    read_table(path, plan, "", problems)
    assert any(message in problem.text for problem in problems), problems


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"kind": "table", "values": []}', "is of an import by another benchbrief, 0.0.9, which this one can't read"),
        ('{"kind": "tab', "does not say what was imported"),
        (None, "does not say what was imported"),
    ],
)
def test_an_import_that_another_version_kept_is_reported_as_such(
    tmp_path: Path, content: str | None, message: str
) -> None:
    if content is not None:
        (tmp_path / MANIFEST).write_text(content)
    with pytest.raises(ResultsError, match=re.escape(message)) as raised:
        read_manifest(tmp_path, "0.0.9")
    assert raised.value.hint == "import the files again"


# --- what the source says ---------------------------------------------------------------------------------------


def test_versions_and_settings_of_the_source_are_kept_in_their_order(tmp_path: Path, plan: Plan) -> None:
    shown = "# told: Load generator: YCSB 0.1.4, 8 threads\n# told: Data: 75,000,000 documents, 100 GB\n"
    shown += "# limit: No p99\n"
    what = prepared(tmp_path, plan, SOURCE + shown + "hardware, workload, threads, throughput (ops/s)\neco,a,48,100\n")
    with stored(tmp_path, plan, what) as store:
        rows = store.sql("SELECT name, value, origin FROM facts WHERE kind = 'source'").rows
        limits = store.sql("SELECT name FROM facts WHERE kind = 'source limit'").rows
    assert list(limits) == [("No p99",)]
    assert list(rows) == [
        ("Load generator", "YCSB 0.1.4, 8 threads", "told"),
        ("Data", "75,000,000 documents, 100 GB", "told"),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("# told: YCSB 0.1.4", "`told` needs a name, a colon and a text, and has `YCSB 0.1.4`"),
        ("# told: : 0.1.4", "`told` needs a name, a colon and a text"),
        ("# facts: storag", "no hardware of the spec declares a fact `storag`"),
        ("# fact: storage", "did you mean `facts`?"),
    ],
)
def test_a_slip_in_a_statement_of_the_source_is_refused(tmp_path: Path, plan: Plan, line: str, message: str) -> None:
    text = f"{SOURCE}{line}\nhardware, workload, threads, throughput (ops/s)\neco,a,48,100\n"
    found = refused(tmp_path, plan, text)
    assert message in found


def test_a_source_that_says_too_much_of_itself_is_refused_with_its_line(tmp_path: Path, plan: Plan) -> None:
    head = "hardware,workload,threads,repeat,throughput (ops/s),note"
    row = "eco,a,48,1,100,"
    text = SOURCE.replace("A brief", "A " * 200) + f"# told: Driver: {'x' * 400}\n{head}\n{row}{'n' * 4001}\n"
    words = refused(tmp_path, plan, text)
    assert "published.csv:1: the source's title has 399 characters; the limit is 300" in words
    assert "published.csv:5: the source's told has 408 characters; the limit is 300" in words
    assert "published.csv:7: a note has 4,001 characters; the limit is 4,000" in words
    fitting = SOURCE.replace("A brief", "A " * 100) + f"{head}\n{row}{'n' * 4000}\n"
    assert len(prepared(tmp_path, plan, fitting).cells) == 1


def test_a_long_title_that_an_earlier_version_has_kept_is_still_read(tmp_path: Path, plan: Plan) -> None:
    path = tmp_path / "published.csv"
    path.write_text(
        SOURCE.replace("A brief", "A " * 200) + "hardware,workload,threads,throughput (ops/s)\neco,a,48,1\n"
    )
    problems: list[ImportProblem] = []
    assert len(read_table(path, plan, "", problems).cells) == 1
    assert problems == []


# --- factors -----------------------------------------------------------------------------------------------------

FACTORS = """
hardware box { hosts = "box.lab" }
factor codec "Compression" { none "No compression" = "none"  lz4 "LZ4" = "lz4" }
factor vsize "Value size" { levels = [100 B, 1 kB] }
database rocks { engine = rocksdb  path = "/b/{codec}-{vsize}"  options { compression = codec } }
workload rr from db_bench.readrandom { value_size = vsize }
experiment matrix { hardware = box  workloads = rr  threads = [1, 2]  vary = [codec, vsize]  measure = 10 s }
experiment plain { hardware = box  workloads = rr  threads = 4  measure = 10 s }
"""


@pytest.fixture(scope="module")
def of_factors(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return compile_text(FACTORS, tmp_path_factory.mktemp("factors"))


@pytest.mark.parametrize(
    ("head", "small", "large"),
    [("vsize", "100", "1000"), ("vsize (kB)", "0.1", "1"), ("vsize", "100 B", "1 kB"), ("vsize (B)", "100", "1 kB")],
)
def test_columns_of_factors_say_the_level_by_name_label_or_number(
    tmp_path: Path, of_factors: Plan, head: str, small: str, large: str
) -> None:
    rows = f"LZ4,{small},1,5000\nlz4,{large},1,4000\nNo compression,{small},2,9000\nnone,{small},4,12000\n"
    what = prepared(tmp_path, of_factors, f"{SOURCE}codec,{head},threads,throughput (ops/s)\n{rows}")
    assert {each.cell.id: each.ops_per_s for each in what.cells} == {
        "matrix/box/rr/codec=lz4,vsize=100/threads=1/r1": 5000,
        "matrix/box/rr/codec=lz4,vsize=1000/threads=1/r1": 4000,
        "matrix/box/rr/codec=none,vsize=100/threads=2/r1": 9000,
        "plain/box/rr/threads=4/r1": 12000,
    }


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("codec,threads\nlz4,1", "6: its vsize is not said", "it is one of 100 B, 1 kB"),
        ("codec,vsize,threads\nlz5,100,1", "6: no codec `lz5` in the plan", "did you mean `lz4`?"),
        ("codec,vsize,threads\nlz4,200,1", "6: no vsize `200` in the plan", "it has 100 B, 1 kB"),
        ("codec,vsize (s),threads\nlz4,100,1", "5: `vsize (s)`: vsize has another unit", "write vsize (B)"),
        ("codec (B),vsize,threads\nlz4,100,1", "5: `codec (B)`: codec has no unit", "write codec"),
        ("codec,vsize,threads\nlz4,100,4", "6: the plan has no cell at 4 threads", "it has 1, 2"),
    ],
)
def test_a_row_at_no_level_of_the_plan_is_refused(
    tmp_path: Path, of_factors: Plan, text: str, said: str, hint: str
) -> None:
    table = "".join(f"{line},{each}\n" for line, each in zip(text.split("\n"), ("throughput (ops/s)", 5), strict=True))
    assert refused(tmp_path, of_factors, SOURCE + table) == f"published.csv:{said}\nnothing was imported\nhelp: {hint}"


def test_a_level_that_is_the_only_one_at_a_point_need_not_be_said(tmp_path: Path, of_factors: Plan) -> None:
    what = prepared(tmp_path, of_factors, f"{SOURCE}threads,throughput (ops/s)\n4,5000\n")
    assert [each.cell.id for each in what.cells] == ["plain/box/rr/threads=4/r1"]
