"""Tests how `bench query`, `compare`, `trend`, `site` and Python show runs with factors."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import benchbrief as bb
from tests.support.bench import Bench, fresh_bench

SPEC = """
hardware box { hosts = "box.lab"  path = "/data" }
factor codec "Compression" { none "No compression" = "none"  lz4 "LZ4" = "lz4" }
factor vsize "Value size" { levels = [100 B, 1 kB] }
database rocks { engine = rocksdb  path = "{path}/{codec}-{vsize}"  options { compression = codec } }
workload rr "Random reads" from db_bench.readrandom { records = 10k  value_size = vsize }
experiment matrix {
  hardware = box  workloads = rr  threads = [1, 8]  vary = [codec, vsize]  measure = 10 s  repeats = 3
}
experiment plain { hardware = box  workloads = rr  threads = 1  measure = 10 s  repeats = 3 }
"""
OF = ("--origin", "simulated")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with fresh_bench(tmp_path_factory.mktemp("levels")) as bench:
        (bench.folder / "levels.bench").write_text(SPEC)
        for seed in ("1", "2"):
            bench("run", "levels.bench", "--simulate", "--seed", seed, "--no-report", "-q").plainly()
        yield bench


@pytest.mark.long
def test_a_query_and_its_files_have_a_column_for_each_factor(measured: Bench) -> None:
    sql = (
        "SELECT codec, vsize, threads, repeats FROM measure.spread "
        "WHERE operation = 'all' AND phase IS NULL ORDER BY ALL"
    )
    asked = ("query", "--run", "simulated", sql)
    rows = measured(*asked, "--json").json
    assert len(rows) == 9, "four combinations at two thread counts, and the point that varies nothing"
    assert {(row["codec"], row["vsize"]) for row in rows} == {
        *((codec, size) for codec in ("none", "lz4") for size in (100.0, 1000.0)),
        (None, None),
    }
    assert {row["repeats"] for row in rows} == {3}
    measured(*asked, "--parquet", "out.parquet").plainly()
    exported = list(csv.DictReader(io.StringIO(measured(*asked, "--csv").out)))
    assert [row["codec"] for row in exported] == [row["codec"] or "" for row in rows]
    table = pq.read_table(measured.folder / "out.parquet")
    assert table.column("vsize").to_pylist() == [row["vsize"] for row in rows]
    assert "vsize (B)" in measured(*asked).out


def test_levels_are_compared_as_hardware_is(measured: Bench) -> None:
    codecs = measured("compare", "simulated:codec=none", "simulated:codec=lz4", "--json").json
    assert codecs["first"]["levels"] == {"codec": "none"}
    throughput = [row for row in codecs["comparisons"] if row["metric"] == "throughput"]
    assert {(row["vsize"], row["threads"]) for row in throughput} == {(s, t) for s in (100.0, 1000.0) for t in (1, 8)}
    assert all("codec" not in row for row in throughput)
    assert codecs["differences"] == [], "what the levels set is compared, and no other difference"
    assert {row["verdict"] for row in throughput} <= {"better", "worse", "within noise"}
    sizes = measured("compare", "simulated:vsize=100", "simulated:vsize=1 kB").plainly()
    assert "rr/codec=lz4/threads=8" in sizes.out, "another value size is no other load where it is what is compared"
    both = measured("compare", "simulated:codec=lz4,vsize=100", "simulated:codec=none,vsize=1000").plainly()
    assert "rr/threads=8" in both.out
    whole = measured("compare", "simulated~1", "simulated", "--metric", "throughput", "--json").json
    assert len(whole["comparisons"]) == 9


@pytest.mark.long
def test_an_experiment_of_one_level_alone_is_no_other_load_where_another_factor_varies(
    tmp_path: Path, measured: Bench
) -> None:
    (measured.folder / "alone.bench").write_text(SPEC.replace("threads = 1 ", "threads = 2  vary = codec[lz4] "))
    ran = measured("run", "alone.bench", "--simulate", "--no-report", "--out", str(tmp_path), "--json").json["run"]
    sides = (f"{ran}:codec=none", f"{ran}:codec=lz4")
    rows = measured("compare", *sides, "--out", str(tmp_path), "--json").json["comparisons"]
    assert len(rows) == 8, "two measures at two value sizes and two thread counts"
    assert {row["verdict"] for row in rows} <= {"better", "worse", "within noise"}


@pytest.mark.long
def test_a_level_is_found_by_its_value_whatever_it_is_called(tmp_path: Path, measured: Bench) -> None:
    renamed = SPEC.replace('lz4 "LZ4" = "lz4"', 'quick "Quick" = "lz4"').replace("[100 B, 1 kB]", "[100 B, 1000 B]")
    assert renamed.count("quick") == 1
    assert "1000 B" in renamed
    (measured.folder / "renamed.bench").write_text(renamed)
    ran = measured("run", "renamed.bench", "--simulate", "--no-report", "--out", str(tmp_path), "--json").json["run"]
    for one, other in (("codec=lz4", "codec=quick"), ("vsize=1kB", "vsize=1000")):
        rows = measured("compare", f"{ran}:{one}", f"{ran}:{other}", "--out", str(tmp_path), "--json").json
        assert {row["verdict"] for row in rows["comparisons"]} == {"same measurement"}


@pytest.mark.parametrize(
    ("part", "said", "hint"),
    [
        ("codec=lz5", "factor codec of run", "did you mean `lz4`?"),
        ("codec=", "has no level", "it has none, lz4"),
        ("codec", "codec is a factor of run", "name a level: `simulated:codec=none`, `simulated:codec=lz4`"),
        ("code=lz4", "has no factor code", "did you mean `codec`?"),
        ("vsize=7", "has no level 7", "it has 100, 1000"),
    ],
)
def test_a_level_that_is_not_there_is_named_with_those_that_are(
    measured: Bench, part: str, said: str, hint: str
) -> None:
    refused = measured("compare", f"simulated:{part}", "simulated:codec=none").plainly()
    assert refused.code == 2
    assert said in refused.err
    assert hint in refused.err


def test_a_factor_that_is_named_as_hardware_is_told_from_it_on_one_side_too(measured: Bench) -> None:
    refused = measured("compare", "simulated:codec", "simulated~1").plainly()
    assert "codec is a factor of run" in refused.err


@pytest.mark.long
def test_a_series_is_at_each_combination_of_levels(measured: Bench) -> None:
    found = measured("trend", "throughput", *OF, "--all", "--json").json
    points = [series["point"] for series in found["series"]]
    assert len(points) == 9
    assert {"experiment": "matrix", "hardware": "box", "workload": "rr", "codec": "lz4", "vsize": 1000.0,
            "threads": 8} in points  # fmt: skip
    chosen = measured("trend", "throughput", *OF, "--all", "--where", "codec=lz4", "--where", "vsize=1000").plainly()
    assert "matrix/box/rr/codec=lz4/vsize=1000/threads=8" in chosen.out
    assert "codec=none" not in chosen.out
    none = measured("trend", "throughput", *OF, "--where", "codec=lz5").plainly()
    assert "codec is one of lz4, none" in none.err
    assert measured("gate", *OF).code == 0


@pytest.mark.long
def test_python_has_the_columns_in_tables_comparisons_and_plans(measured: Bench) -> None:
    out = measured.folder / "bench-out"
    with bb.open("simulated", out=out) as run:
        assert "factors" in run.tables
        cells = run.table("measure.cells").rows()
        assert {row["codec"] for row in cells} == {"none", "lz4", None}
    compared = bb.compare("simulated:codec=none", "simulated:codec=lz4", out=out)
    assert {row["vsize"] for row in compared.pairs.rows()} == {100.0, 1000.0}
    assert compared.runs["B"].endswith(":codec=lz4")
    planned = bb.plan(measured.folder / "levels.bench").cells.rows()
    assert {(row["codec"], row["vsize"]) for row in planned} >= {("lz4", 1000.0), (None, None)}


@pytest.mark.long
def test_the_pages_of_all_runs_name_levels_by_their_labels(measured: Bench, tmp_path: Path) -> None:
    measured("site", "--to", str(tmp_path / "site"), "--from", "bench-out").plainly()
    pages = "\n".join(path.read_text() for path in (tmp_path / "site").rglob("*.html"))
    assert "Random reads, LZ4, 1 kB, 8 threads" in pages
    assert "Compression ranked" in pages
    assert "Hardware ranked" not in pages
    assert "codec=" not in pages
