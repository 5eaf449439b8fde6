"""Tests answers as text, JSON, CSV and Parquet."""

import csv
import io
import json
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from benchbrief.dsl.source import display_width
from benchbrief.model.measurement import Operation
from benchbrief.results import query
from benchbrief.results.open_store import open_store
from benchbrief.results.query import units_of
from benchbrief.results.store.user_query import QueryAnswer
from benchbrief.results.store_errors import ResultsError
from tests.results.making import RunMaker, a_cell, a_plan, measurement

NASTY = "\x1b[31mred\x07\u202e\x9b"


def table(columns: list[str], *rows: tuple[object, ...]) -> QueryAnswer:
    return QueryAnswer(tuple(columns), ("",) * len(columns), rows)


def test_columns_are_aligned_by_their_width_on_a_terminal() -> None:
    text = query.to_text(table(["hardware", "value"], ("ディスク", 1234567.8), ("é", 2.5), ("x", None)))
    assert text == "\n".join(
        [
            "hardware      value",
            "────────  ─────────",
            "ディスク  1,234,568",
            "é               2.5",
            "x                 –",
        ]
    )
    assert {display_width(line) for line in text.splitlines()} == {19}


def test_numbers_of_one_column_are_written_alike_below_and_above_100_000() -> None:
    values = table(["throughput"], (104_560.2,), (37_094.0,), (999.5,))
    assert [line.strip() for line in query.to_text(values).splitlines()[2:]] == ["104,560", "37,094", "999.5"]
    assert query.to_csv(values).splitlines()[1:] == ["104560.2", "37094.0", "999.5"]
    assert [row["throughput"] for row in json.loads(query.to_json(values))] == [104_560.2, 37_094.0, 999.5]


def test_a_column_of_one_unit_has_it_in_its_head_and_times_and_shares_are_readable() -> None:
    answer = table(["threads", "mean", "p99", "cv"], (1, 90823.4567, 0.00012345678, 0.368496), (8, 5.25, 3.2e-06, None))
    lines = query.to_text(answer, ["", "ops/s", "s", "share"]).splitlines()
    assert lines[0].split("  ") == ["threads", "mean (ops/s)", "p99 (us)", "cv (%)"]
    assert lines[2].split() == ["1", "90,823", "123.5", "36.85"]
    assert lines[3].split() == ["8", "5.25", "3.2", "–"]
    assert query.to_csv(answer).splitlines()[1] == "1,90823.4567,0.00012345678,0.368496", "a file keeps all digits"


def test_no_rows_are_said_to_be_none() -> None:
    assert query.to_text(table(["a", "bc"])) == "a  bc\n─  ──\n(no rows)"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (True, "true"),
        (0.000812345678, "0.0008123"),
        (47494.9, "47,495"),
        (123456.7, "123,457"),
        (1e20, "1e+20"),
        (float("inf"), "–"),
        (float("nan"), "–"),
        (12345678, "12345678"),
        (Decimal("1.50"), "1.5"),
        (datetime(2026, 3, 1, 10, 15), "2026-03-01T10:15:00"),  # noqa: DTZ001 - as DuckDB gives a TIMESTAMP
        ([{"lo_s": 0.1}], '[{"lo_s": 0.1}]'),
        ("two\nlines", "two\\x0alines"),
    ],
)
def test_values_are_shown_on_one_line(value: object, shown: str) -> None:
    assert query.to_text(table(["v"], (value,))).splitlines()[2].strip() == shown


@pytest.mark.parametrize("render", [query.to_text, query.to_json, query.to_csv])
def test_nothing_that_a_terminal_obeys_comes_from_the_data(render: object) -> None:
    assert callable(render)
    text = render(table([NASTY], (NASTY,)))
    assert all(char == "\n" or (char.isprintable() and char != "\u202e") for char in text)
    assert "red" in text


def test_json_keeps_what_a_name_was_and_has_no_nan() -> None:
    row = (NASTY, float("nan"), date(2026, 3, 1), timedelta(seconds=90), b"\x01\xff", Decimal("0.5"), ("x", 1), "😀 é")
    (found,) = json.loads(query.to_json(table(["a", "b", "c", "d", "e", "f", "g", "h"], row)))
    assert found == {
        "a": NASTY,
        "b": None,
        "c": "2026-03-01",
        "d": 90.0,
        "e": "01ff",
        "f": 0.5,
        "g": ["x", 1],
        "h": "😀 é",
    }


def test_columns_of_one_name_have_keys_of_their_own_in_json() -> None:
    assert json.loads(query.to_json(table(["x", "x", "x_1"], (1, 2, 3)))) == [{"x": 1, "x_1": 2, "x_1_1": 3}]


def test_csv_reads_back_at_full_precision_with_empty_fields_for_what_is_missing() -> None:
    text = query.to_csv(table(["name", "value"], ('a "b", c\nd', 0.1 + 0.2), (None, None)))
    assert list(csv.reader(io.StringIO(text))) == [
        ["name", "value"],
        ['a "b", c\nd', "0.30000000000000004"],
        ["", ""],
    ]
    assert "\r" not in text


def test_a_parquet_file_has_the_types_of_the_answer(tmp_path: Path) -> None:
    cell = a_cell()
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    run.ok(cell, {"load-1": measurement([Operation("read", 100)])})
    with open_store(run.run_dir) as store:
        sql = "SELECT cell_id, cell_id, ops_per_s, count FROM throughput"
        assert query.to_parquet(store, sql, tmp_path / "out.parquet") == 2
        found = pq.read_table(tmp_path / "out.parquet")
        assert found.to_pylist()[0] == {"cell_id": cell.id, "cell_id_1": cell.id, "ops_per_s": 10.0, "count": 100}
        assert [str(t) for t in found.schema.types] == ["string", "string", "double", "int64"]
        with pytest.raises(ResultsError, match="nope"):
            query.to_parquet(store, "FROM nope", tmp_path / "bad.parquet")
        with pytest.raises(ResultsError, match="can't be written"):
            query.to_parquet(store, sql, tmp_path / "no" / "such.parquet")
        with pytest.raises(ResultsError, match="can't be written"):
            query.to_parquet(store, sql, tmp_path / f"{'x' * 300}.parquet")
        assert len(store.sql(sql)) == 2  # after an export that broke off
        assert query.to_parquet(store, "EXPLAIN SELECT 1", tmp_path / "explain.parquet") == 1
        (tmp_path / "explain.parquet").unlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.parquet", "run"]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ('=HYPERLINK("http://x","y")', '\'=HYPERLINK("http://x","y")'),
        ("+1+cmd|' /C calc'!A0", "'+1+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        (" =1+1", "' =1+1"),
        ("\uff1d1+1", "'\uff1d1+1"),
        ("a\n=1+1", "a\n=1+1"),
        ("\n=1+1", "'\n=1+1"),
        ("-12.5e-3", "-12.5e-3"),
        ("+7", "+7"),
        ("-", "-"),
        ("db-1=x", "db-1=x"),
        (-1.5, "-1.5"),
        (-3, "-3"),
    ],
)
def test_no_text_of_a_csv_is_a_formula_and_numbers_stay_numbers(value: object, written: str) -> None:
    head, row = csv.reader(io.StringIO(query.to_csv(table(["=head()"], (value,)))))
    assert head == ["'=head()"]
    assert row == [written]


@pytest.mark.parametrize("char", ["\t", "\r"])
def test_a_blank_that_opens_a_formula_does_not_open_a_cell(char: str) -> None:
    (row,) = csv.reader(io.StringIO(query.to_csv(table(["v"], (f"{char}=1+1",))).partition("\n")[2]))
    assert row == [f"\\x{ord(char):02x}=1+1"]
    assert query.defuse_formula(f"{char}=1") == f"'{char}=1"


@pytest.mark.parametrize(
    ("sql", "units"),
    [
        ("FROM measure.spread", ["", "", "", "", "", "", "", "", "ops/s", "ops/s", "share"]),
        ("SELECT threads, avg(value) FROM measure.throughput GROUP BY ALL", ["", "ops/s"]),
        ("SELECT t.value AS p99, 2 * value FROM measure.latency t", ["s", ""]),
        ("SELECT round(value) FROM measure.latency", [""]),
        ("SELECT l.value FROM measure.latency l JOIN measure.throughput t USING (threads)", [""]),
        ("WITH spread AS (SELECT 1 AS mean) FROM spread", [""]),
        ("SELECT value FROM (SELECT threads AS value FROM measure.latency)", [""]),
        ("SELECT value FROM measure.latency UNION ALL SELECT value FROM measure.throughput", [""]),
        ("SELECT measured_s FROM cells", [""]),
        ("DESCRIBE measure.spread", [""] * 6),
    ],
)
def test_a_column_has_the_unit_of_its_view_where_the_question_leaves_no_doubt(
    tmp_path: Path, sql: str, units: list[str]
) -> None:
    cell = a_cell(threads=4)
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    run.ok(cell, {"load-1": measurement([Operation("read", 100)])})
    with open_store(run.run_dir) as store:
        assert list(units_of(store.sql(sql), sql, store)) == units
