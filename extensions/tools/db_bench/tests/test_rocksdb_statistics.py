"""Tests RocksDB's statistics as the probe `database` reports them, from a recording of db_bench and from the real
tool."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbrief.extensions.tools.db_bench.db_bench import DbBench
from benchbrief.extensions.tools.db_bench.db_bench_output import CounterSlice, make_samples, read_slices
from benchbrief.model.measurement import Sample
from benchbrief.model.plan import Probe
from benchbrief.runners.driver_contexts import CellContext
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.jobs.tasks import JobOutput
from tests.support import cells
from tests.support.bench import fresh_bench
from tests.support.plans import compile_spec
from tests.support.tools import system_tool

RECORDED = Path(__file__).parents[1] / "outputs" / "readwhilewriting-history"
FIRST, LAST = 1795271296, 1795271299
WINDOW = (FIRST - 0.7, LAST + 1.3)
DRIVER = DbBench()
RATIOS = ("database.cache_hit_ratio", "database.stalled", "database.write_amplification")


def cell(benchmark: str = "readwhilewriting", probes: bool = True, **options: str | float | bool) -> CellContext:
    made = cells.context(
        cells.db_bench(benchmark),
        cells.rocksdb("/data/db", None, **options),
        measure_s=5.0,
        warm_up_s=1.0,
        tool_path="/usr/bin/db_bench",
    )
    probe = Probe(name="database", every_s=1, hosts=("local",), on="tool", origin=cells.ORIGIN)
    return replace(made, cell=made.cell.model_copy(update={"probes": (probe,) if probes else ()}))


def output(directory: Path = RECORDED) -> JobOutput:
    return cells.recorded(directory, started_at=FIRST - 0.8, ended_at=LAST + 1.4)


def totals(name: str) -> int:
    """Return the total of a counter in the recording. Does not use the code under test."""
    text = (RECORDED / "stdout").read_text()
    return sum(map(int, re.findall(rf"^ \d+   {re.escape(name)}  (\d+)$", text, re.MULTILINE)))


def by_measure(found: tuple[Sample, ...]) -> dict[str, list[float]]:
    values: dict[str, list[float]] = {}
    for sample in found:
        values.setdefault(sample.measure, []).append(sample.value)
    return values


# --- from the recording ------------------------------------------------------------------------------------------


def test_each_interval_gives_rates_and_all_of_them_one_ratio_each() -> None:
    found = DRIVER.database_samples(cell(), output(), WINDOW)
    values = by_measure(found)
    assert {name: len(each) for name, each in values.items()} == {
        **dict.fromkeys((name for name in values if name not in RATIOS), 4),
        **dict.fromkeys(RATIOS, 1),
    }
    assert [s.time for s in found if s.measure == "database.flushed"] == pytest.approx([1.2, 2.2, 3.2, 4.2])
    for measure, counter in {
        "database.user_written": "rocksdb.bytes.written",
        "database.user_read": "rocksdb.bytes.read",
        "database.wal_written": "rocksdb.wal.bytes",
        "database.flushed": "rocksdb.flush.write.bytes",
        "database.compaction_read": "rocksdb.compact.read.bytes",
        "database.compaction_written": "rocksdb.compact.write.bytes",
        "database.cache_hits": "rocksdb.block.cache.hit",
        "database.cache_misses": "rocksdb.block.cache.miss",
    }.items():
        assert sum(values[measure]) == totals(counter), measure
    hits, misses = totals("rocksdb.block.cache.hit"), totals("rocksdb.block.cache.miss")
    assert values["database.cache_hit_ratio"] == [pytest.approx(hits / (hits + misses))]
    assert values["database.stalled"] == [pytest.approx(totals("rocksdb.stall.micros") / 4e6)]
    stored = [totals(f"rocksdb.{name}") for name in ("wal.bytes", "flush.write.bytes", "compact.write.bytes")]
    assert values["database.write_amplification"] == [pytest.approx(sum(stored) / totals("rocksdb.bytes.written"))]


def test_intervals_outside_of_the_window_are_left_out() -> None:
    found = DRIVER.database_samples(cell(), output(), (WINDOW[0] + 1, WINDOW[1] - 1.5))
    assert [s.time for s in found if s.measure == "database.flushed"] == pytest.approx([1.2, 2.2])
    assert DRIVER.database_samples(cell(), output(), (WINDOW[0] - 100, WINDOW[1] - 100)) == ()


def test_the_measurement_is_read_as_without_the_history(tmp_path: Path) -> None:
    shutil.copytree(RECORDED, tmp_path, dirs_exist_ok=True)
    text = (tmp_path / "stdout").read_text()
    without = re.sub(r"^(------ .* ------| \d+   rocksdb\..*)\n", "", text, flags=re.MULTILINE)
    assert len(without) < len(text) / 2
    (tmp_path / "stdout").write_text(without)
    with_it = DRIVER.parse(cell(), output())
    assert with_it == DRIVER.parse(cell(), output(tmp_path))
    assert dict(with_it.properties)["statistics"].startswith("on, counters alone; kept every 1 s of the measuring")
    assert with_it.total.count == 18298


def test_an_output_without_the_history_is_an_error() -> None:
    with pytest.raises(BadOutput, match="no history of RocksDB's statistics"):
        DRIVER.database_samples(cell(), output(RECORDED.parent / "readwhilewriting-statistics"), WINDOW)


def test_a_counter_that_the_output_lacks_is_missing_and_no_zero() -> None:
    names = ("rocksdb.stall.micros", "rocksdb.wal.bytes", "rocksdb.compact.write.bytes")
    kept = [line for line in (RECORDED / "stdout").read_text().splitlines() if not any(name in line for name in names)]
    values = by_measure(make_samples(read_slices(kept), 1, "local", WINDOW))
    gone = {"database.stalled", "database.wal_written", "database.compaction_written", "database.write_amplification"}
    assert not gone & values.keys()
    assert "database.flushed" in values


def test_what_nothing_was_written_to_has_no_amplification_and_what_nothing_was_looked_for_in_no_ratio() -> None:
    idle = re.sub(r"(rocksdb\.(?:block\.cache\.\w+|bytes\.written)) +\d+", r"\1  0", (RECORDED / "stdout").read_text())
    values = by_measure(make_samples(read_slices(idle.splitlines()), 1, "local", WINDOW))
    assert not {"database.write_amplification", "database.cache_hit_ratio"} & values.keys()
    assert values["database.cache_hits"] == [0, 0, 0, 0]


COUNT = st.integers(0, 1 << 62)
COUNTERS = ("block.cache.hit", "block.cache.miss", "stall.micros", "bytes.written", "wal.bytes", "flush.write.bytes")


@given(st.lists(st.dictionaries(st.sampled_from([f"rocksdb.{name}" for name in COUNTERS]), COUNT), max_size=5))
def test_shares_are_from_0_to_1_whatever_is_counted(grew: list[dict[str, int]]) -> None:
    found = make_samples([CounterSlice(FIRST + i, each) for i, each in enumerate(grew)], 1, "local", WINDOW)
    for sample in found:
        assert sample.value >= 0
        if sample.measure in ("database.cache_hit_ratio", "database.stalled"):
            assert sample.value <= 1


# --- the command -------------------------------------------------------------------------------------------------


def flags(context: CellContext, step: str = "measure") -> dict[str, str]:
    job = DRIVER.measure(context) if step == "measure" else DRIVER.warm_up(context)
    assert job is not None
    return dict(str(word).removeprefix("--").split("=", 1) for word in job.command.words[1:])


def test_the_probe_adds_to_the_measuring_command_alone() -> None:
    with_it, without = flags(cell()), flags(cell(probes=False))
    added = {key: value for key, value in with_it.items() if without.get(key) != value}
    assert added == {
        "benchmarks": "readwhilewriting,stats,stats_history",
        "statistics": "1",
        "stats_level": "1",
        "stats_persist_period_sec": "1",
        "persist_stats_to_disk": "0",
        "stats_history_buffer_size": "268435456",
    }
    assert not without.keys() - with_it.keys()
    assert flags(cell(), "warm_up") == flags(cell(probes=False), "warm_up")


def test_statistics_that_the_spec_asks_for_stay_as_they_are() -> None:
    assert "stats_level" not in flags(cell(statistics=True))
    assert flags(cell(stats_level=3.0))["stats_level"] == "3"
    assert flags(cell(statistics=False))["statistics"] == "1"


def test_a_library_is_sampled_by_its_tool_in_whole_seconds(tmp_path: Path) -> None:
    (tmp_path / "a.bench").write_text(
        'hardware box { hosts = "box.lab" }\n'
        'database rocks { engine = rocksdb  path = "/data/bench" }\n'
        "workload rr from db_bench.readrandom\n"
        "experiment e {\n"
        "  hardware = box  workloads = rr  threads = 4  measure = 1 min  probes = [database every 1.5 s]\n"
        "}\n"
    )
    [probe] = compile_spec(tmp_path / "a.bench").cells[0].probes
    assert (probe.on, probe.every_s, probe.hosts) == ("tool", 2, ("box.lab",))


# --- the real tool -----------------------------------------------------------------------------------------------

SPEC = """\
hardware here { hosts = local }
database rocks { engine = rocksdb  path = "FOLDER/db"  options { write_buffer = 1 MiB  cache = 1 MiB } }
workload over from db_bench.overwrite { records = 50k  value_size = 400 B }
experiment e {
  hardware = here  workloads = over  threads = 2  measure = 4 s  probes = [database every 1 s]
}
metric amplification = database.write_amplification
metric hits = database.cache_hit_ratio
metric stalls = database.stalled
metric log in MB/s = mean(database.wal_written over time)
"""


@pytest.mark.long
@pytest.mark.timeout(120)
def test_a_real_rocksdb_tells_what_it_wrote(tmp_path: Path) -> None:
    system_tool("db_bench")
    with fresh_bench(tmp_path) as bench:
        bench.spec(SPEC.replace("FOLDER", str(tmp_path)))
        ended = bench("run", "brief.bench", "--no-report", timeout=100)
        assert ended.code == 0, ended.text
        (verdict,) = bench.journal("cell_ended")
        rows = bench("query", "SELECT measure, avg(value) AS mean FROM samples GROUP BY ALL", "--json").json
        shares = bench("query", "SELECT share FROM coverage WHERE probe = 'database'", "--json").json
        jobs = {record["job"] for record in bench.journal("job_collected")}
    means = {row["measure"]: row["mean"] for row in rows}
    # A key of 16 B and a value of 400 B, in a batch with a header of 12 B and the lengths of both.
    assert means["database.user_written"] == pytest.approx(verdict["ops_per_s"] * 432, rel=0.3)
    assert means["database.wal_written"] == pytest.approx(means["database.user_written"], rel=0.05)
    assert means["database.write_amplification"] > 1.4, "the log, and flushes of what is half as large compressed"
    assert 0 <= means["database.stalled"] <= 1
    assert means["database.flushed"] > 0
    assert "database.connections" not in means
    assert shares[0]["share"] > 0.5
    assert not [job for job in jobs if job.startswith("probe:")], "nothing runs beside the load for it"
