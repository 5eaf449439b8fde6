"""Tests factors, the settings that an experiment varies, in the tables and views."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from benchbrief.compiler.measure_catalogue import VIEW_COLUMNS
from benchbrief.model.plan import DimKey
from benchbrief.results.build_store import rebuild
from benchbrief.results.open_store import open_store
from benchbrief.results.query import units_of
from benchbrief.results.store.store import Store
from benchbrief.results.store_errors import ResultsError
from tests.results.making import (
    READ,
    RunMaker,
    a_factor,
    a_plan,
    a_query,
    a_read,
    at_levels,
    measurement,
    rows,
    with_factors,
)

CODEC = a_factor("codec", "zstd", "lz4")
SIZE = a_factor("vsize", 100.0, 1000.0, unit="kB")
PLACES: tuple[dict[str, DimKey], ...] = (
    {"codec": "zstd", "vsize": 100.0},
    {"codec": "lz4", "vsize": 100.0},
    {"codec": "lz4", "vsize": 1000.0},
    {},
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Yield a store with three combinations of levels, two repeats each, and a point without varied settings. The last
    cell fails."""
    cells = [at_levels(place, repeat=repeat) for place in PLACES for repeat in (1, 2)]
    run = RunMaker(tmp_path / "run", with_factors(a_plan(cells), CODEC, SIZE))
    for number, cell in enumerate(cells[:-1], 1):
        run.ok(cell, {"load-1": measurement([READ], seconds=10.0 * number)})
    run.failed(cells[-1], "it was out of memory")
    with open_store(run.run_dir) as opened:
        yield opened


def test_each_view_has_a_column_for_each_factor_behind_the_workload(store: Store) -> None:
    views = ("throughput", "latency", "errors", "cells", "spread", "sustained")
    for view in (*views, "sample", "mean"):
        columns = [name for name, *_ in store.sql(f"DESCRIBE measure.{view}")]
        at = columns.index("workload") + 1
        assert columns[at : at + 2] == ["codec", "vsize"]
        assert "levels" not in columns
    assert rows(store, "SELECT DISTINCT typeof(codec), typeof(vsize) FROM measure.cells") == [("VARCHAR", "DOUBLE")]


def test_a_level_is_a_word_or_a_number_and_null_where_nothing_varies(store: Store) -> None:
    asked = "SELECT codec, vsize, repeat, value FROM measure.throughput WHERE operation = 'all' ORDER BY ALL"
    assert rows(store, asked) == [
        ("lz4", 100.0, 1, 100 / 30),
        ("lz4", 100.0, 2, 100 / 40),
        ("lz4", 1000.0, 1, 100 / 50),
        ("lz4", 1000.0, 2, 100 / 60),
        ("zstd", 100.0, 1, 10.0),
        ("zstd", 100.0, 2, 5.0),
        (None, None, 1, 100 / 70),
    ]
    assert rows(store, "SELECT levels FROM cells WHERE repeat = 1") == [
        ("codec=zstd,vsize=100",), ("codec=lz4,vsize=100",), ("codec=lz4,vsize=1000",), ("",),
    ]  # fmt: skip


def test_repeats_are_merged_at_each_combination_of_levels(store: Store) -> None:
    asked = "SELECT codec, vsize FROM measure.latency WHERE repeat IS NULL AND statistic = 'p99' ORDER BY ALL"
    assert rows(store, asked) == [("lz4", 100.0), ("lz4", 1000.0), ("zstd", 100.0), (None, None)]
    spread = "SELECT codec, vsize, repeats, mean FROM measure.spread WHERE operation = 'all' ORDER BY ALL"
    assert rows(store, spread)[0] == ("lz4", 100.0, 2, pytest.approx((100 / 30 + 100 / 40) / 2))


def test_the_levels_of_factors_are_a_table_in_the_order_of_the_spec(store: Store) -> None:
    assert rows(store, "SELECT factor, label, level, level_label, number, unit FROM factors") == [
        ("codec", "Codec", "zstd", "zstd!", None, None),
        ("codec", "Codec", "lz4", "lz4!", None, None),
        ("vsize", "Vsize", "100", "100.0!", 100.0, "B"),
        ("vsize", "Vsize", "1000", "1000.0!", 1000.0, "B"),
    ]


def test_values_come_in_the_order_of_the_levels_and_a_missing_one_has_its_own_reason(store: Store) -> None:
    sql = (
        "SELECT c.codec, c.vsize, CASE WHEN count(m.value) = count(*) THEN avg(m.value) END AS value "
        "FROM measure.cells AS c LEFT JOIN measure.throughput AS m ON m.codec IS NOT DISTINCT FROM c.codec "
        "AND m.vsize IS NOT DISTINCT FROM c.vsize AND m.repeat = c.repeat AND m.operation = 'all' GROUP BY ALL"
    )
    found = store.query(a_query(sql, "codec", "vsize"))
    assert [each.keys for each in found] == [(None, None), ("zstd", 100.0), ("lz4", 100.0), ("lz4", 1000.0)]
    assert found[0].value is None
    assert "out of memory" in str(found[0].reason)
    (gone,) = store.query(
        a_query("SELECT 'zstd' AS codec, NULL::DOUBLE AS value", "codec", reads=[a_read(codec="zstd")])
    )
    assert "out of memory" not in str(gone.reason), "that cell is at no level"


def test_a_value_whose_divisor_failed_has_the_reason_of_that_cell(tmp_path: Path) -> None:
    cells = [at_levels({"codec": level}) for level in ("zstd", "lz4")]
    run = RunMaker(tmp_path / "run", with_factors(a_plan(cells), CODEC))
    run.ok(cells[0], {"load-1": measurement([READ])})
    run.failed(cells[1], "it was out of memory")
    gone = "SELECT 'zstd' AS codec, NULL::DOUBLE AS value"
    with open_store(run.run_dir) as store:
        (relative,) = store.query(a_query(gone, "codec", reads=[a_read(), a_read(codec="lz4")]))
        assert "out of memory" in str(relative.reason)
        (own,) = store.query(a_query(gone, "codec", reads=[a_read(), a_read(codec="zstd")]))
        assert "out of memory" not in str(own.reason)


def test_numbers_have_their_unit_in_an_answer(store: Store) -> None:
    sql = "SELECT vsize, codec, value FROM measure.throughput"
    assert units_of(store.sql(sql), sql, store) == ("B", "", "ops/s")
    everything = "FROM measure.cells"
    assert (
        dict(zip(store.sql(everything).columns, units_of(store.sql(everything), everything, store), strict=True))[
            "vsize"
        ]
        == "B"
    )


@pytest.mark.parametrize("name", ["order", "Größe", "select"])
def test_a_factor_of_any_name_is_a_column_of_that_name(tmp_path: Path, name: str) -> None:
    cell = at_levels({name: "a'b"})
    run = RunMaker(tmp_path / "run", with_factors(a_plan([cell]), a_factor(name, "a'b")))
    run.ok(cell, {"load-1": measurement([READ])})
    with open_store(run.run_dir) as store:
        answer = store.sql("FROM measure.throughput")
        assert answer.columns[3] == name
        assert {row[3] for row in answer} == {"a'b"}
        assert len(store.sql("FROM cells")) == 1


@pytest.mark.parametrize(
    "name", ['x"; DROP TABLE cells; --', "it's", "a\0b", "", "threads", "Value", "levels", "CODEC"]
)
def test_a_factor_that_no_spec_can_have_is_refused(tmp_path: Path, name: str) -> None:
    cell = at_levels({"codec": "lz4", name: "a"})
    run = RunMaker(tmp_path / "run", with_factors(a_plan([cell]), CODEC, a_factor(name, "a")))
    run.ok(cell, {"load-1": measurement([READ])})
    with pytest.raises(ResultsError, match="the name of another column or no name at all"):
        open_store(run.run_dir)


def test_no_column_of_a_view_can_be_the_name_of_a_factor(store: Store) -> None:
    for view in ("throughput", "latency", "errors", "cells", "spread", "sustained", "sample", "mean"):
        assert {name for name, *_ in store.sql(f"DESCRIBE measure.{view}")} <= VIEW_COLUMNS | {"codec", "vsize"}


@pytest.mark.usefixtures("duckdb_file")
def test_the_file_for_duckdb_has_the_columns_too(tmp_path: Path) -> None:
    cell = at_levels({"codec": "lz4"})
    run = RunMaker(tmp_path / "run", with_factors(a_plan([cell]), CODEC))
    run.ok(cell, {"load-1": measurement([READ])})
    rebuild(run.run_dir)
    with duckdb.connect(str(run.run_dir / "store" / "results.duckdb"), read_only=True) as file:
        assert file.execute("SELECT DISTINCT codec FROM measure.throughput").fetchall() == [("lz4",)]
