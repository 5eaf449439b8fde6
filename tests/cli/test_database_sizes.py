"""Tests the size of a cell's database on disk: with real db_bench, with a server that does not report the size, and
simulated."""

from __future__ import annotations

import re

import pytest

from tests.cli.test_data_sets import newest, ran
from tests.support import wrapped
from tests.support.bench import Bench, pages_of
from tests.support.longer import longer
from tests.support.tools import built_tool

VARIANTS = """\
hardware box "This machine" {
  hosts = local
  variant plain "No compression" { codec = "none" }
  variant packed "LZ4"           { codec = "lz4" }
}
database rocks "RocksDB" {
  engine = rocksdb
  tool   = @TOOL@
  path   = "@DATA@/db"
  options { compression = "{codec}" }
}
workload rr "Random reads" from db_bench.readrandom { records = 50k  value_size = 400 B }
experiment ramp {
  hardware  = box.variants
  workloads = [rr]
  threads   = [1]
  repeats   = 2, interleaved
  measure   = 1 s
}
metric saved "Space saved by LZ4" in % = 1 - database.size[packed] / database.size[plain], higher is better
metric loaded "Size after the load" in MiB = database.size_loaded, lower is better
metric space "Space amplification" = database.space_amplification, lower is better
expect saved >= 20 %
report brief "What compression saves" {
  text = "LZ4 takes {saved:.0%} less: {space[packed]:.2f} for {space[plain]:.2f}."
  table "Sizes" { rows = hardware  column "On disk" = "{loaded:.1fu}" }
  figure "Sizes" { bars = loaded by hardware }
  disclosure = automatic
}
"""
SIZES = "SELECT hardware, measure, value FROM sizes JOIN cells USING (run_id, cell_id) ORDER BY ALL"
RECORDS = 50_000 * (16 + 400)


@pytest.mark.long
def test_interleaved_variants_on_one_path_have_each_its_own_size(bench: Bench) -> None:
    bench.tool = f'db_bench("{wrapped.db_bench(bench.folder / "tool")}")'
    bench.spec(VARIANTS)
    ran(bench("run", "brief.bench", "--no-report"))
    found: dict[tuple[str, str], list[float]] = {}
    for hardware, measure, value in (row.values() for row in bench("query", SIZES, "--json").json):
        found.setdefault((hardware, measure), []).append(value)
    for measure in ("database.size", "database.size_loaded"):
        assert max(found["packed", measure]) < 0.8 * min(found["plain", measure])
        assert RECORDS < min(found["plain", measure]) < 1.3 * RECORDS
    assert found["plain", "database.space_amplification"] == pytest.approx(
        [size / RECORDS for size in found["plain", "database.size"]]
    )
    html = re.sub("<[^>]+>", "", bench.page().replace("\u00a0", " "))
    sizes = re.findall(r"on disk (\S+) MiB after the measurement", html)
    assert len(sizes) == 2
    assert len(re.findall(r"on disk, and its hosts have [^:]+ of memory or more: reads may be served", html)) == 2
    assert "Size on disk when last opened" not in html


@pytest.mark.long
@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "a faster system has a larger database"),
        *longer(("ja", "書き込みの速いシステムほどデータベースは大きくなります")),
    ],
)
def test_a_size_after_a_timed_write_workload_is_said_to_measure_how_fast_it_wrote(
    bench: Bench, language: str, said: str
) -> None:
    writing = VARIANTS.replace("db_bench.readrandom {", "db_bench.readrandomwriterandom {")
    writing = writing.replace("rows = hardware  column", 'rows = hardware  column "Now" = "{space:.2f}"  column')
    for spec, warned in ((VARIANTS, False), (writing, True)):
        bench.spec(spec.replace("disclosure =", f"language = {language}\n  disclosure ="))
        assert ("W0716" in bench("check", "brief.bench").text) is warned
        ran(bench("run", "brief.bench", "--simulate", "--seed", "1"))
        assert (said in re.sub("<[^>]+>", "", pages_of(newest(bench)))) is warned


@pytest.mark.long
def test_the_sizes_of_simulated_databases_can_be_had_too(bench: Bench) -> None:
    bench.spec(VARIANTS.replace("expect saved >= 20 %", "expect space[plain] <= 2"))
    ran(bench("run", "brief.bench", "--simulate", "--no-report"))
    rows = bench("query", SIZES, "--json", "--run", newest(bench)).json
    assert {row["measure"] for row in rows if row["value"]} == {
        "database.size",
        "database.size_loaded",
        "database.space_amplification",
    }


@pytest.mark.long
def test_a_server_that_does_not_tell_its_size_leaves_it_missing_with_the_reason(bench: Bench) -> None:
    for name in ("mongo-stand-in", "go-ycsb"):
        built_tool(name)
    bench.spec("""\
hardware box { hosts = local }
client load { hosts = local  tool = go_ycsb }
database mongo "MongoDB" { engine = mongodb  server = embedded }
workload a from ycsb.a { records = 500  field_length = 10 B }
experiment ramp { hardware = box  workloads = [a]  threads = [1]  measure = 1 s }
metric size in MB = database.size, lower is better
report brief "A brief" { text = "It takes {size:.1fu}." }
""")
    ran(bench("run", "brief.bench", "--no-report", timeout=120))
    rows = bench("query", "SELECT value, reason FROM sizes", "--json").json
    why = "the server does not tell its storageSize (`dbStats`)"
    assert [tuple(row.values()) for row in rows] == [(None, why)] * 3
    assert "does not tell its storageSize" in bench.page()
