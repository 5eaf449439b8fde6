"""Options of a database may be a fact of the hardware, so that variants can differ in them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from benchbrief.compiler.compile import check
from benchbrief.compiler.planning.plan import DatabaseKey
from benchbrief.runners.drivers.db_bench.db_bench_flags import KNOWN

SPEC = """
hardware box {{
  hosts = local  path = "/var/tmp/x"
  variant small {{ cache = 8 MiB }}
  variant large {{ cache = {large} }}
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


def test_a_flag_that_begins_like_an_option_of_ours_is_passed_on(tmp_path: Path) -> None:
    path = write(tmp_path)
    path.write_text(path.read_text().replace('compression = "none"', "compression_ratio = 1.0  wal_size_limit_MB = 5"))
    checked = check(path)
    assert checked.diagnostics == ()
    assert checked.plan is not None
    assert checked.plan.databases[DatabaseKey("rocks@small")].options["compression_ratio"] == 1.0
