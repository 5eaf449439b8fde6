"""Tests openload on RocksDB: its command line, and measurements with the real program and library."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchbrief.extensions.engines.rocksdb.rocksdb import RocksDB
from benchbrief.extensions.tools.db_bench.db_bench_output import COUNTERS
from benchbrief.extensions.tools.openload_rocksdb.openload_rocksdb import STATISTICS, OpenloadRocksdb
from benchbrief.model.plan import Arrivals, Probe
from benchbrief.runners.driver_contexts import CellContext, Endpoint
from benchbrief.runners.errors import BadOutput, PlanRefused, ToolMissing
from benchbrief.runners.hosts import tool_discovery
from benchbrief.runners.hosts.host_connections import HostPool
from benchbrief.runners.jobs.tasks import Job
from tests.support import cells
from tests.support.longer import longer
from tests.support.tools import built_tool, system_tool

DRIVER = OpenloadRocksdb()
ANY_LAG = Arrivals(kind="poisson", lag=1e6)


def cell(path: Path | str, *, fields: float = 10.0, probes: tuple[Probe, ...] = (), **options: Any) -> CellContext:
    file = options.pop("options_file", None)
    made = cells.context(
        cells.ycsb("a", 2000, fields=fields, field_length=100.0),
        cells.rocksdb(path, file, **options),
        driver="openload_rocksdb",
        tool_path=str(built_tool("openload/bin/openload-rocksdb")),
        endpoint=Endpoint(path=str(path)),
        threads=4,
        target=500.0,
        measure_s=3.0,
    )
    experiment = made.experiment.model_copy(update={"arrivals": ANY_LAG})
    plan = made.plan.model_copy(update={"experiments": {"e": experiment}})
    return replace(made, plan=plan, cell=made.cell.model_copy(update={"probes": probes}))


def flags(job: Job | None) -> dict[str, str]:
    assert job
    words = [str(word)[2:].partition("=") for word in job.command.words if str(word).startswith("--")]
    return {name: value for name, _, value in words}


def of_database() -> Probe:
    return Probe(name="database", every_s=1.0, hosts=("local",), on="tool", origin=cells.ORIGIN)


def test_options_of_the_language_and_of_rocksdb_become_its_flags() -> None:
    made = cell(
        "/data/db",
        cache=2.0**20,
        sync=True,
        wal=False,
        compression="lz4",
        write_buffer=4096.0,
        direct_io=True,
        bloom_bits=10.0,
        block_size=8192.0,
        level0_slowdown_writes_trigger=8.0,
        ttl=0.0,
    )
    given = flags(DRIVER.measure(made))
    assert (given["db-path"], given["layout"]) == ("/data/db", "ycsb")
    assert (given["cache-size"], given["sync"], given["disable-wal"]) == ("1048576", "true", "true")
    assert given["options"] == (
        "compression=kLZ4Compression;write_buffer_size=4096;use_direct_reads=true;"
        "use_direct_io_for_flush_and_compaction=true;level0_slowdown_writes_trigger=8;ttl=0;"
        "block_based_table_factory={filter_policy=bloomfilter:10:false;block_size=8192}"
    )
    loading = flags(DRIVER.load(made))
    assert (loading["sync"], loading["disable-wal"]) == ("false", "true")
    assert loading["options"] == given["options"]


def test_records_of_one_field_are_laid_out_as_db_bench_does() -> None:
    given = flags(DRIVER.load(cell("/data/db", fields=1.0)))
    assert (given["layout"], given["value-size"]) == ("db_bench", "100")


def test_a_text_that_would_begin_another_option_is_refused() -> None:
    with pytest.raises(PlanRefused, match="`compaction_pri` has a `;`"):
        DRIVER.measure(cell("/data/db", compaction_pri="kByCompensatedSize;wal_dir=/else"))


@pytest.fixture
def pool() -> Iterator[HostPool]:
    with HostPool(cell("/data/db").plan, run_name=cells.OWN_RUN) as made:
        yield made


def loaded_and_measured(made: CellContext, pool: HostPool, folder: Path) -> tuple[CellContext, Path]:
    engine = RocksDB(made.plan, made.database, made.hardware, pool)
    made = replace(made, endpoint=engine.start())
    cells.load(pool["local"], DRIVER, engine, made, folder / "load")
    job = DRIVER.measure(made)
    done = cells.run_job(pool["local"], job, folder / "measure")
    measured = DRIVER.parse(made, done)
    assert measured.total.ops_per_s == pytest.approx(500, rel=0.1)
    assert measured.tool_version == "openload-rocksdb 1.4.0 (librocksdb 7.8.3)"
    assert engine.describe()["version"] == "7.8.3"
    engine.stop()
    return made, folder / "measure"


@pytest.mark.parametrize("fields", [*longer(1.0), 10.0])
def test_what_is_asked_of_a_database_is_in_its_own_options_file(fields: float, tmp_path: Path, pool: HostPool) -> None:
    asked: dict[str, Any] = {
        "compression": "none",
        "block_size": 16384.0,
        "bloom_bits": 12.0,
        "max_background_jobs": 3.0,
    }
    made, _ = loaded_and_measured(cell(tmp_path / "db", fields=fields, **asked), pool, tmp_path)
    written = max((tmp_path / "db").glob("OPTIONS-*")).read_text()
    family = "usertable" if fields > 1 else "default"
    own = written.partition(f'[CFOptions "{family}"]')[2].partition("[CFOptions")[0]
    assert "max_background_jobs=3" in written
    for each in ("compression=kNoCompression", "block_size=16384", "filter_policy=bloomfilter:12:false"):
        assert f"\n  {each}\n" in own
    # The load is in sorted files, and left nothing in a log that a reset by links would have to copy.
    assert made.cell.dataset


@pytest.mark.long
def test_an_options_file_is_read_and_options_go_before_it(tmp_path: Path, pool: HostPool) -> None:
    file = tmp_path / "options.ini"
    file.write_text(
        "[Version]\n  rocksdb_version=7.8.3\n  options_file_version=1.1\n[DBOptions]\n  max_background_jobs=7\n"
        '[CFOptions "default"]\n  write_buffer_size=1000000\n  num_levels=5\n'
    )
    loaded_and_measured(cell(tmp_path / "db", options_file=str(file), write_buffer=2e6), pool, tmp_path)
    written = max((tmp_path / "db").glob("OPTIONS-*")).read_text()
    assert "max_background_jobs=7" in written
    assert written.count("\n  write_buffer_size=2000000\n") == written.count("\n  num_levels=5\n") == 2


def test_rocksdb_s_counters_are_samples_of_the_probe_database(tmp_path: Path, pool: HostPool) -> None:
    made, folder = loaded_and_measured(cell(tmp_path / "db", probes=(of_database(),)), pool, tmp_path)
    done = cells.recorded(folder)
    window = DRIVER.parse(made, done).window
    found = DRIVER.database_samples(made, done, window)
    by_name = {sample.measure: sample for sample in found}
    assert by_name["database.user_written"].value > 0
    assert by_name["database.wal_written"].value > by_name["database.user_written"].value * 0.9
    assert {"database.cache_hits", "database.stalled", "database.write_amplification"} <= set(by_name)
    assert all(0 < sample.time <= window[1] - window[0] for sample in found)
    lines = (folder / STATISTICS).read_text().splitlines()
    (folder / STATISTICS).write_text(lines[0] + '\n{"ended_at": 1, "seco')
    assert 0 < len(DRIVER.database_samples(made, done, window)) < len(found)
    (folder / STATISTICS).unlink()
    with pytest.raises(BadOutput, match="openload wrote no counters of RocksDB's statistics"):
        DRIVER.database_samples(made, done, window)


@pytest.mark.long
def test_the_program_knows_every_counter_that_is_asked_for(tmp_path: Path, pool: HostPool) -> None:
    _, folder = loaded_and_measured(cell(tmp_path / "db", probes=(of_database(),)), pool, tmp_path)
    first = (folder / STATISTICS).read_text().splitlines()[0]
    assert all(f'"{name}":' in first for name in COUNTERS)


@pytest.mark.long
def test_db_bench_reads_what_was_loaded_as_it_lays_records_out(tmp_path: Path, pool: HostPool) -> None:
    loaded_and_measured(cell(tmp_path / "db", fields=1.0), pool, tmp_path)
    words = [f"--db={tmp_path / 'db'}", "--benchmarks=readrandom", "--use_existing_db=1", "--num=2000"]
    printed = subprocess.run([system_tool("db_bench"), *words], capture_output=True, text=True, check=True).stdout
    assert "(2000 of 2000 found)" in printed


def test_a_library_of_another_version_ends_with_what_to_install(
    tmp_path: Path, pool: HostPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    built_tool("openload/bin/openload-rocksdb")
    shutil.copy("/usr/lib/x86_64-linux-gnu/librocksdb.so.7.8", tmp_path / "librocksdb.so.8.1.1")
    (tmp_path / "librocksdb.so.7.8").symlink_to(tmp_path / "librocksdb.so.8.1.1")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    with pytest.raises(ToolMissing, match=r"librocksdb\.so\.8\.1\.1, is not RocksDB 7\.8\.x") as caught:
        tool_discovery.find(pool["local"], DRIVER, None)
    assert "`sudo apt-get install librocksdb7.8`" in caught.value.hint
