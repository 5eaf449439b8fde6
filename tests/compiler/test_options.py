"""Tests that options of a database may be facts of the hardware, so that variants can differ in them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from benchbrief.compiler.compile import check
from benchbrief.extensions.tools.db_bench.db_bench import _options as flags_of
from benchbrief.extensions.tools.db_bench.db_bench_flags import KNOWN, TYPES
from benchbrief.model.plan import DatabaseKey
from tests.support.longer import one_in

SPEC = """
hardware box {{
  hosts = local  path = "/var/tmp/x"
  variant small {{ cache = 8 MiB }}
  variant large {{ cache = {large}  path = "/var/tmp/y" }}
}}
database rocks {{ engine = rocksdb  path = "{{path}}"  options {{ cache = "{{{fact}}}"  compression = "none" }} }}
workload rr from db_bench.readrandom
experiment one {{ hardware = box.variants  workloads = [rr]  threads = [1]  measure = 1 s }}
"""


def write(tmp_path: Path, large: str = "1 GiB", fact: str = "cache") -> Path:
    path = tmp_path / "options.bench"
    path.write_text(SPEC.format(large=large, fact=fact))
    return path


def test_an_option_is_filled_in_by_each_variant_and_changes_its_cells(tmp_path: Path) -> None:
    plan = check(write(tmp_path)).plan
    assert plan is not None
    assert {key: each.options["cache"] for key, each in plan.databases.items()} == {
        "rocks@small": 8 * 2**20,
        "rocks@large": 2**30,
    }
    assert len({cell.hash for cell in plan.cells}) == 2


def test_a_fact_of_another_unit_is_refused_where_it_is_declared(tmp_path: Path) -> None:
    checked = check(write(tmp_path, large="1 GHz"))
    assert checked.plan is None
    assert [each.span.text for each in checked.diagnostics if each.span] == ["1 GHz"]


def test_an_undeclared_fact_is_refused(tmp_path: Path) -> None:
    checked = check(write(tmp_path, fact="nix"))
    assert checked.plan is None
    assert {each.code for each in checked.diagnostics} == {"E0512"}


@pytest.mark.skipif(shutil.which("db_bench") is None, reason="needs db_bench of the system")
def test_every_flag_of_the_installed_db_bench_is_known() -> None:
    told = subprocess.run(["db_bench", "--help"], check=False, capture_output=True, text=True).stdout
    own = re.split(r"Flags from ", told.partition("db_bench_tool.cc:")[2])[0]
    flags = set(re.findall(r"^    -(\w+) ", own, re.MULTILINE))
    assert len(flags) > 100
    assert flags - KNOWN == set()


@pytest.mark.skipif(shutil.which("db_bench") is None, reason="needs db_bench of the system")
def test_what_a_flag_of_the_installed_db_bench_takes_is_known() -> None:
    told = subprocess.run(["db_bench", "--help"], check=False, capture_output=True, text=True).stdout
    own = re.sub(r"\s+", " ", re.split(r"Flags from ", told.partition("db_bench_tool.cc:")[2])[0])
    types = dict(re.findall(r" -(\w+) \((?:(?! type: ).)*\) type: (\w+) default:", own))
    assert len(types) > 100
    kinds = {"bool": "bool", "double": "number", "string": "text"}
    for name, kind in types.items():
        if name in TYPES:  # one that another version has with another type is in none
            assert TYPES[name].kind == kinds.get(kind, "integer"), name


JUDGED = {
    "level0_file_num_compaction_trigger": ("2", '"2"', '"0x10"', "1.5", '"1.5"', '"1e3"', "3 GiB", '"4 "'),
    "use_fsync": ("true", "1", '"YES"', "3", '"maybe"'),
    "rate_limiter_bytes_per_sec": ("0", "20 MB/s", "-1"),
    "readahead_size": ("1 MiB", "4 GiB"),
    "memtable_bloom_size_ratio": ("0.5", "50 %", '"1e-3"', '".5"', '"a lot"'),
    "cache_numshardbits": ("19", "-1", "20"),
    "readwritepercent": ("50", "0", "50 %"),
    "wal_compression": ('"none"', '"zsdt"'),
}


@pytest.mark.skipif(shutil.which("db_bench") is None, reason="needs db_bench of the system")
@pytest.mark.parametrize(
    ("flag", "value"), one_in(4, ((flag, value) for flag, values in JUDGED.items() for value in values))
)
def test_a_flag_s_value_is_refused_just_where_db_bench_refuses_it(flag: str, value: str, tmp_path: Path) -> None:
    path = write(tmp_path)
    path.write_text(path.read_text().replace('compression = "none"', f"{flag} = {value}"))
    codes = [each.code for each in check(path).diagnostics]
    with_any = tmp_path / "any.bench"  # a flag that is unknown takes anything
    with_any.write_text(path.read_text().replace(flag, "no_such_flag_of_it"))
    plan = check(with_any).plan
    assert plan is not None
    passed = flags_of(plan.databases[DatabaseKey("rocks@small")].options)["no_such_flag_of_it"]
    told = subprocess.run(
        ["db_bench", f"--{flag}={passed}", "--benchmarks=stats", "--num=1", f"--db={tmp_path / 'db'}"],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert codes == (["E0575"] if told.returncode else []), told.stderr[:200]


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ("slow_usecs = 1 s", "`1000000`"),
        ("wal_size_limit_MB = 1 GiB", "`1024`"),
        ("fifo_compaction_ttl = 1 MiB", "a number without a unit, in what the flag counts"),
        ("num_levels = 7 s", "a number without a unit, in what the flag counts"),
        ("max_background_jobs = true", "a number"),
        ("fifo_compaction_ttl = 1 h", ""),
        ("ttl_seconds = 90 min", ""),
        ("disable_seek_compaction = true", ""),
        ("target_file_size_base = 64 MiB", ""),
    ],
)
def test_a_time_or_size_that_a_flag_counts_otherwise_is_refused(written: str, instead: str, tmp_path: Path) -> None:
    path = write(tmp_path)
    path.write_text(path.read_text().replace('compression = "none"', written))
    found = [(each.code, each.help) for each in check(path).diagnostics]
    assert found == ([("E0575", f"write {instead}")] if instead else [])


@pytest.mark.parametrize(("sign", "instead"), [("", "2147483647"), ("-", "-2147483648")])
def test_a_number_of_thousands_of_digits_is_out_of_range(sign: str, instead: str, tmp_path: Path) -> None:
    path = write(tmp_path)
    path.write_text(path.read_text().replace('compression = "none"', f'num_levels = "{sign}{"9" * 5000}"'))
    found = [(each.code, each.help) for each in check(path).diagnostics]
    assert found == [("E0418", "shorten it"), ("E0575", f"write `{instead}`")]


def test_a_flag_that_begins_like_an_option_of_ours_is_passed_on(tmp_path: Path) -> None:
    path = write(tmp_path)
    path.write_text(path.read_text().replace('compression = "none"', "compression_ratio = 1.0  wal_size_limit_MB = 5"))
    checked = check(path)
    assert checked.diagnostics == ()
    assert checked.plan is not None
    assert checked.plan.databases[DatabaseKey("rocks@small")].options["compression_ratio"] == 1.0
