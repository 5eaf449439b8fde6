"""Tests expressions over factors, computed from the views of a small store."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from benchbrief.compiler.compile import check
from benchbrief.compiler.frontend.scope import Scope
from benchbrief.model import plan
from benchbrief.model.plan import DimKey, key_text
from benchbrief.results.build_store import arrow_schema
from benchbrief.results.store.measure_views import create_measures
from benchbrief.results.store.store_schema import TABLES
from tests.compiler.metrics.lowering import element, lowered, metric
from tests.compiler.metrics.measured import run, scope_of

WORLD = Path(__file__).parent / "errors" / "base" / "factors.bench"
MIB = 1024.0 * 1024.0

RATES: dict[DimKey, float] = {"none": 1_000.0, "lz4": 900.0, "zstd": 500.0}
SIZES: dict[DimKey, float] = {"none": 100.0, "lz4": 60.0, "zstd": 40.0}

LEVELS = [("none", 100.0), ("none", 1000.0), ("lz4", 1000.0), ("zstd", 100.0), ("zstd", 1000.0)]
"""The combinations of levels that the matrix measures."""


@cache
def world() -> Scope:
    return scope_of(WORLD)


def rate(cell: plan.Cell) -> float:
    """Return the rate of a cell. In the matrix, the rate is lower for larger values, and the workload that also writes
    has a tenth of it. Other cells have their own rates."""
    levels, threads = cell.levels.keys, cell.threads or 0
    if cell.experiment != "matrix":
        return {"small": 7.0, "large": 70.0}[str(levels["tuning"])] if levels else 3.0 * threads
    return RATES[levels["codec"]] * threads / (levels["vsize"] if levels["vsize"] == 100 else 200.0) / divisor(cell)


def divisor(cell: plan.Cell) -> float:
    return 10.0 if cell.workload == "rw" else 1.0


def size(cell: plan.Cell) -> float:
    levels = cell.levels.keys
    return SIZES[levels["codec"]] * float(levels["vsize"]) if "codec" in levels else 1.0


@pytest.fixture(scope="module")
def store() -> Iterator[duckdb.DuckDBPyConnection]:
    planned = check(WORLD).plan
    assert planned is not None
    tables: dict[str, list[dict[str, object]]] = {"cells": [], "throughput": [], "sizes": [], "factors": []}
    for cell in planned.cells:
        where = {"run_id": "r", "cell_id": cell.id}
        point = {name: getattr(cell, name) for name in ("experiment", "hardware", "workload", "levels", "threads")}
        tables["cells"].append({**where, **point, "repeat": cell.repeat, "status": "ok"})
        tables["throughput"].append({**where, "operation": "all", "ops_per_s": rate(cell)})
        tables["sizes"].append({**where, "measure": "database.size_loaded", "node": "box", "value": size(cell)})
    for factor in planned.factors.values():
        for level in factor.levels:
            number = None if isinstance(level.key, str) else level.key
            tables["factors"].append({"factor": factor.name, "level": key_text(level.key), "number": number})
    with duckdb.connect() as connection:
        for table, row in TABLES.items():
            filled = [{**dict.fromkeys(row._fields), **found} for found in tables.get(table, [])]  # type: ignore[attr-defined]  # a named tuple
            arrow = pa.Table.from_pylist(filled, schema=arrow_schema(row))
            connection.execute(f"CREATE TABLE {table} AS FROM arrow")
            del arrow  # DuckDB found it by its name
        create_measures(connection)
        yield connection


Values = dict[tuple[object, ...], float | None]


def values(store: duckdb.DuckDBPyConnection, expr: str) -> tuple[tuple[str, ...], Values]:
    query = metric(expr, world())
    return query.dims, run(store, query)


def test_a_factor_is_a_dimension_where_its_levels_differ(store: duckdb.DuckDBPyConnection) -> None:
    dims, found = values(store, "throughput[rr, matrix, threads: 2]")
    assert dims == ("hardware", "codec", "vsize")
    assert found == {
        ("box", "none", 100.0): 20.0,
        ("box", "none", 1000.0): 10.0,
        ("box", "lz4", 1000.0): 9.0,
        ("box", "zstd", 100.0): 10.0,
        ("box", "zstd", 1000.0): 5.0,
    }
    assert metric("throughput[rr, matrix, zstd, threads: 2]", world()).dims == ("hardware", "vsize")
    assert metric("throughput[lz4]", world()).dims == ("hardware", "workload", "threads")


def test_a_level_is_chosen_by_its_name_or_its_number(store: duckdb.DuckDBPyConnection) -> None:
    by_name = metric("throughput[rr, zstd, vsize: 1 kB, threads: 4]", world())
    by_factor = metric("throughput[workload: rr, codec: zstd, vsize: 1000, threads: 4]", world())
    assert by_name.dims == by_factor.dims == ("hardware",)
    assert run(store, by_name) == run(store, by_factor) == {("box",): 10.0}
    assert by_name.reads is not None
    assert by_name.reads[0].keys == {"workload": ("rr",), "codec": ("zstd",), "vsize": (1000.0,), "threads": (4.0,)}


def test_arithmetic_matches_the_levels_that_both_sides_have(store: duckdb.DuckDBPyConnection) -> None:
    dims, found = values(store, "1 - database.size_loaded[rr] / database.size_loaded[rr, none]")
    assert dims == ("hardware", "codec", "vsize", "threads")
    assert {key[1:3]: value for key, value in found.items()} == {
        ("none", 100.0): 0.0,
        ("none", 1000.0): 0.0,
        ("lz4", 1000.0): pytest.approx(0.4),
        ("zstd", 100.0): pytest.approx(0.6),
        ("zstd", 1000.0): pytest.approx(0.6),
    }
    assert all(threads in (1, 2, 4) for *_, threads in found)


def test_a_side_with_a_single_level_meets_the_other_at_that_level(store: duckdb.DuckDBPyConnection) -> None:
    """`lz4` is only measured at 1 kB, so the right side alone lacks the dimension `vsize`."""
    dims, found = values(store, "throughput[rr, zstd, threads: 1] / throughput[rr, lz4, threads: 1]")
    assert dims == ("hardware", "vsize")
    assert found == {("box", 1000.0): pytest.approx(500 / 900)}


def test_a_reduction_goes_over_the_levels_that_are_measured(store: duckdb.DuckDBPyConnection) -> None:
    dims, found = values(store, "max(throughput[rr] over threads, codec)")
    assert dims == ("hardware", "vsize")
    assert found == {("box", 100.0): 40.0, ("box", 1000.0): 20.0}
    _, counted = values(store, "count(throughput[rr, threads: 1] over vsize)")
    assert counted == {("box", "none"): 2.0, ("box", "lz4"): 1.0, ("box", "zstd"): 2.0}


def test_runs_of_other_experiments_stay_apart_without_a_dimension_of_experiments(
    store: duckdb.DuckDBPyConnection,
) -> None:
    dims, found = values(store, "max(throughput[rr] over threads)")
    assert dims == ("hardware", "codec", "vsize", "tuning")
    assert found[("box", None, None, "large")] == 70.0
    assert found[("box", None, None, None)] == 6.0
    assert len(found) == 5 + 2 + 1


def test_levels_that_are_numbers_are_numbers(store: duckdb.DuckDBPyConnection) -> None:
    dims, found = values(store, "throughput[rr, threads: 1] * vsize")
    assert dims == ("hardware", "codec", "vsize")
    assert found[("box", "zstd", 100.0)] == 500.0
    enough = metric("in B = min(vsize over vsize, when throughput[rr, threads: 1] >= 10 ops/s)", world())
    assert enough.dims == ("hardware", "codec")
    assert run(store, enough) == {("box", "none"): 100.0, ("box", "lz4"): None, ("box", "zstd"): None}
    assert metric("max(vsize over vsize)", world()).unit == "B"


def test_a_curve_is_read_at_each_level_and_along_levels_that_are_numbers(store: duckdb.DuckDBPyConnection) -> None:
    dims, found = values(store, "knee(throughput[rr, matrix] over threads)")
    assert dims == ("hardware", "codec", "vsize")
    assert set(found) == {("box", *keys) for keys in LEVELS}
    assert set(found.values()) == {None}, "a straight line has no knee"
    along = metric("knee(throughput[rr, matrix, threads: 4] over vsize)", world())
    assert (along.dims, along.unit) == (("hardware", "codec"), "B")
    assert run(store, along) == {("box", "none"): None, ("box", "lz4"): None, ("box", "zstd"): None}


def test_repeats_and_conditions_stay_with_their_level(store: duckdb.DuckDBPyConnection) -> None:
    dims, found = values(store, "max(throughput[rr, matrix] over threads, when throughput[rr, zstd] > 5 ops/s)")
    assert dims == ("hardware", "codec", "vsize")
    assert found[("box", "none", 100.0)] == 40.0
    assert found[("box", "lz4", 1000.0)] == 18.0
    tested = metric("p_value(throughput[rr, none], throughput[rr, zstd])", world())
    assert tested.dims == ("hardware", "vsize", "threads")


def test_attributes_of_a_bundle_are_numbers(store: duckdb.DuckDBPyConnection) -> None:
    dims, found = values(store, "throughput / tuning.cache")
    assert dims == ("hardware", "workload", "tuning", "threads")
    assert found == {("box", "rr", "small", 4): 7 / (8 * MIB), ("box", "rr", "large", 4): 70 / (64 * MIB)}
    assert metric("tuning.cache", world()).dims == ("tuning",)
    found = values(store, "min(tuning.cache over tuning, when throughput > 10 ops/s)")[1]
    assert found == {("box", "rr", 4): 64.0}


@pytest.mark.parametrize(
    ("body", "x_dims"),
    [
        ("line = throughput[rr] by threads, color codec  multiples = vsize", ["threads"]),
        ("line = throughput[rr, threads: 4] by vsize, color codec, log x  mark = 500 B", ["vsize", "vsize"]),
        ("bars = throughput[rr, threads: 4] by codec, color vsize", ["codec"]),
        ("curve = throughput[rw], errors[rw] along threads, color codec  multiples = vsize", ["threads"]),
    ],
)
def test_figures_go_by_factors_in_each_channel(body: str, x_dims: list[str], store: duckdb.DuckDBPyConnection) -> None:
    figure = element(f"figure {{ {body} }}", world())
    assert isinstance(figure, plan.FigureElement)
    assert [series.x_dim for series in figure.series] == x_dims
    assert [key.label for key in figure.keys["codec"]] == ["No compression", "LZ4", "Zstandard"]
    assert [(key.value, key.label) for key in figure.keys["vsize"]] == [(100.0, "100 B"), (1000.0, "1 kB")]
    for series in figure.series:
        assert run(store, series.query)


def test_a_mark_in_the_unit_of_a_factor_stands_upright_in_its_base_unit(store: duckdb.DuckDBPyConnection) -> None:
    figure = element("figure { line = throughput[rr, zstd, threads: 4] by vsize  mark = 0.5 kB }", world())
    assert isinstance(figure, plan.FigureElement)
    mark = figure.series[1]
    assert (mark.mark, mark.x_dim, mark.query.unit) == ("rule", "vsize", "B")
    assert run(store, mark.query) == {(): 500.0}


def test_a_bare_number_that_is_fixed_is_named_with_its_factor(tmp_path: Path) -> None:
    spec = tmp_path / "bits.bench"
    spec.write_text("""
hardware box { hosts = "box.lab" }
factor bits "Bits" { levels = [0, 10] }
database rocks { engine = rocksdb  path = "/data/{bits}"  size = 100 MB  options { bloom_bits = bits } }
workload rr from db_bench.readrandom
experiment e { hardware = box  workloads = rr  threads = [1, 2]  measure = 10 s  vary = bits }
""")
    figure = element("figure { line = throughput[bits: 0] by threads }", scope_of(spec))
    assert isinstance(figure, plan.FigureElement)
    assert figure.series[0].label == "throughput, Bits 0"


def test_tables_leave_combinations_out_that_are_not_measured(store: duckdb.DuckDBPyConnection) -> None:
    table = element("table { rows = codec  columns = throughput[rr, threads: 1] by vsize }", world())
    assert isinstance(table, plan.TableElement)
    assert [key.value for key in table.keys] == ["none", "lz4", "zstd"]
    assert [line.label for line in table.lines] == ["100 B", "1 kB"]
    queries = [line.query for line in table.lines if line.query]
    assert [run(store, query) for query in queries] == [
        {("none",): 10.0, ("zstd",): 5.0},
        {("none",): 5.0, ("lz4",): 4.5, ("zstd",): 2.5},
    ]


def test_a_comparison_tests_the_levels_of_a_setting(store: duckdb.DuckDBPyConnection) -> None:
    body = "rows = vsize  columns = throughput[rr, threads: 1] by codec"
    compared = element(f"compare {{ {body} }}", world())
    assert isinstance(compared, plan.TableElement)
    tested = [line.tested for line in compared.lines if line.tested]
    assert {each.of for each in tested} == {"throughput[rr, threads: 1]"}
    repeats = [run(store, each.repeats) for each in tested if each.repeats]
    assert [sorted(found, key=str) for found in repeats] == [
        [(100.0, 1), (100.0, 2), (100.0, 3), (1000.0, 1), (1000.0, 2), (1000.0, 3)],
        [(1000.0, 1), (1000.0, 2), (1000.0, 3)],
        [(100.0, 1), (100.0, 2), (100.0, 3), (1000.0, 1), (1000.0, 2), (1000.0, 3)],
    ]


def test_nothing_names_the_hardware_where_levels_are_compared_on_only_one() -> None:
    table = element("table { rows = codec  columns = throughput[rr, threads: 1] by vsize }", world())
    assert isinstance(table, plan.TableElement)
    assert all("hardware" not in line.query.sql for line in table.lines if line.query)


def test_a_table_of_bundles_shows_their_attributes_as_written() -> None:
    table = element('table { rows = tuning  column "Cache" = tuning.cache  column = tuning.memtablerep }', world())
    assert isinstance(table, plan.TableElement)
    assert [[text.parts for text in line.texts] for line in table.lines] == [
        [("8 MiB",), ("64 MiB",)],
        [("skip\\_list",), ("prefix\\_hash",)],
    ]


def test_each_level_has_its_part_of_a_report(store: duckdb.DuckDBPyConnection) -> None:
    text = '"{codec.label} ({codec.name}): {max(throughput[rr] over threads, vsize):.0f}"'
    _, reports, codes = lowered(f'report it "It" {{ each codec {{ text = {text} }} }}', world())
    assert set(codes) == {"W0718"}
    found: list[tuple[object, Values]] = []
    for part in reports[0].elements:
        assert isinstance(part, plan.TextElement)
        words, value = part.prose.parts
        assert isinstance(value, plan.Value)
        assert value.query.ragged == ("codec", "vsize")
        found.append((words, run(store, value.query)))
    assert found == [
        ("No compression (none): ", {(): 40.0}),
        ("LZ4 (lz4): ", {(): 18.0}),
        ("Zstandard (zstd): ", {(): 20.0}),
    ]


def test_reductions_over_the_same_points_everywhere_have_no_note() -> None:
    whole = metric("mean(throughput[rr] over threads)", world())
    assert whole.ragged == ()
    assert metric("mean(throughput[rr] over threads, vsize)", world()).ragged == ("codec", "vsize")
    assert metric("max(throughput[rr, matrix] over threads, vsize, codec)", world()).ragged == ("codec", "vsize")
    assert metric("mean(throughput[rr, vsize: 1 kB] over threads, codec)", world()).ragged == ()


EXPERIMENTS = """
hardware one { hosts = "one.lab" }
hardware two { hosts = "two.lab" }
factor codec { none = "none"  lz4 = "lz4" }
database rocks { engine = rocksdb  path = "/var/tmp/{codec}"  size = 100 MB  options { compression = codec } }
workload rr from db_bench.readrandom
workload rw from db_bench.readrandomwriterandom
experiment first  { hardware = [one, two]  workloads = rr  threads = [1, 2]  measure = 10 s }
experiment second { hardware = one  workloads = [rr, rw]  threads = [1, 2]  measure = 10 s }
experiment third  { hardware = two  workloads = rw  threads = 1  measure = 10 s  vary = codec[none] }
experiment fourth { hardware = two  workloads = rw  threads = 1  measure = 10 s  vary = codec[lz4] }
"""


@pytest.mark.parametrize(
    ("expr", "dims"),
    [
        ("throughput[one, rr]", ("experiment", "threads")),  # both experiments measure it
        ("throughput[one, rw]", ("threads",)),
        ("throughput[two, rr]", ("threads",)),
        ("throughput[two, rw]", ("codec", "threads")),  # the levels tell the experiments apart
        ("throughput[one]", ("experiment", "workload", "threads")),
        ("throughput[rw]", ("hardware", "codec", "threads")),
        ("throughput[two, rw] / throughput[two, rw, third]", ("codec", "threads")),
        ("max(throughput[two, rw] over experiment)", ("codec", "threads")),
        ("throughput[one, first] / throughput[one]", ("experiment", "workload", "threads")),
    ],
)
def test_experiment_is_a_dimension_where_runs_of_several_repeat(
    expr: str, dims: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "experiments.bench"
    path.write_text(EXPERIMENTS, encoding="utf-8")
    assert metric(expr, scope_of(path)).dims == dims


def test_a_quotient_goes_over_the_points_that_both_of_its_sides_have() -> None:
    """LZ4 is measured only with large values, so a quotient with LZ4 as its divisor exists only for these."""
    assert metric("mean(throughput[rr] / throughput[rr, lz4] over vsize)", world()).ragged == ()
    assert metric("mean(throughput[rr] / throughput[rr, none] over vsize)", world()).ragged == ("codec", "vsize")
    assert metric("mean(throughput[rr] / max(throughput[rr] over codec) over vsize)", world()).ragged != ()


def test_the_numbers_of_a_factor_are_of_one_type_in_all_tables(store: duckdb.DuckDBPyConnection) -> None:
    for expression in ("vsize", "throughput[rr, matrix, zstd, threads: 1]", "max(vsize over vsize, when vsize > 0 B)"):
        query = metric(expression, world())
        if "vsize" in query.dims:
            columns = store.sql(query.sql)
            types = dict(zip(columns.columns, map(str, columns.types), strict=True))
            assert types["vsize"] == "DOUBLE", expression


def test_a_level_that_a_profile_does_not_vary_is_missing_with_a_warning(tmp_path: Path) -> None:
    spec = tmp_path / "world.bench"
    when = "  when      = codec != lz4 or vsize > 100 B\n"
    assert when in WORLD.read_text()
    spec.write_text(
        WORLD.read_text().replace(when, "")
        + "metric cost = throughput[rr, matrix, threads: 1] / throughput[rr, matrix, codec: none, threads: 1]\n"
        + "metric gone = throughput[rr, matrix, zstd, threads: 1]\n"
        + "profile flat { override experiment matrix { vary = [] } }\n"
    )
    found = check(spec, profile="flat").diagnostics
    assert [(each.code, each.help) for each in found] == [("W0702", "the profile does not vary `codec`")] * 2
