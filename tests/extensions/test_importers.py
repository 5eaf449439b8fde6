"""Tests that another package's importer, installed beside benchbrief, works like ours."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchbrief.compiler.registry import IMPORTER_SPECS
from benchbrief.model.extension_spec import ImporterSpec
from benchbrief.results.imports.importer_seams import output_importer, sample_importer, table_importer
from tests.extensions.installed import bench
from tests.support.environment import Environment

HERE = Path(__file__).parent
SPEC = """\
hardware box { hosts = "box-1.lab" }
client load { hosts = "load.lab"  tool = ycsb }
database store { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload points from ycsb.c
experiment ramp { hardware = box  workloads = points  threads = [4, 8]  measure = 30 s }
report brief "Imported" {
  table "Points" { rows = threads  columns = [throughput, latency.p95[read]] }
  disclosure = automatic
}
"""
SAID = ("--title", "Lab", "--publisher", "Example Ltd", "--document", "book 12", "--licence", "internal")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "brief.bench").write_text(SPEC)
    shutil.copy(HERE / "sysbench" / "oltp_point_select.txt", tmp_path / "out.txt")
    return tmp_path


@pytest.mark.parametrize("name", IMPORTER_SPECS.own)
def test_each_of_our_own_importers_is_right_and_is_of_the_sort_that_it_says(name: str) -> None:
    spec = IMPORTER_SPECS.own[name]
    assert spec.mistake(name, own=True) == ""
    {"outputs": output_importer, "samples": sample_importer, "tables": table_importer}[spec.reads](name)


def test_what_is_wrong_with_a_spec_is_said() -> None:
    def wrong(**changed: Any) -> str:
        given = {"tells": "All.", "implementation": "a:B", "name": "x-y", "doc": "A log.", "api": 3, **changed}
        return ImporterSpec(**given).mistake("x-y")

    assert wrong() == ""
    assert "none of outputs, samples, tables" in wrong(reads="logs")
    assert "`probe` names the probe" in wrong(reads="samples")
    assert "`probe` names the probe" in wrong(probe="disk")
    assert "no regular expression" in wrong(line="(")
    assert "in `tells`" in wrong(tells="")
    assert "it is registered as `x-y`" in wrong(name="z")


def test_its_output_is_imported_with_its_option_and_shown(installed: Environment, folder: Path) -> None:
    asked = ("import", "sysbench_plain", "out.txt", "--spec", "brief.bench", "--cell", "threads=8", *SAID)
    done = bench(installed, folder, *asked, "--json", "--operation", "read")
    assert done.returncode == 0, done.stdout + done.stderr
    run = json.loads(done.stdout)["run"]
    sql = "SELECT operation, ops_per_s, count FROM throughput WHERE ops_per_s IS NOT NULL AND operation = 'all'"
    (row,) = json.loads(bench(installed, folder, "query", "--run", run, "--json", sql).stdout)
    assert (round(row["ops_per_s"], 2), row["count"]) == (4999.98, 150024)
    sql = "SELECT DISTINCT statistic, value_s FROM latency WHERE value_s IS NOT NULL ORDER BY value_s"
    rows = json.loads(bench(installed, folder, "query", "--run", run, "--json", sql).stdout)
    assert [(each["statistic"], round(1e3 * each["value_s"], 6)) for each in rows] == [
        ("min", 0.41),
        ("mean", 1.6),
        ("p95", 2.71),
        ("max", 20.15),
    ]
    built = bench(installed, folder, "rebuild", run)
    assert built.returncode == 0, built.stderr
    rendered = bench(installed, folder, "report", run, "--html-only")
    assert rendered.returncode == 0, rendered.stderr
    (page,) = folder.rglob("*-imported.html")
    text = re.sub("<[^>]+>", " ", page.read_text(encoding="utf-8"))
    assert "as printed by sysbench" in text
    assert "sysbench 1.0.20" in text


def test_an_output_that_is_not_of_its_cell_or_contradicts_itself_is_refused(
    installed: Environment, folder: Path
) -> None:
    asked = ("import", "sysbench_plain", "out.txt", "--spec", "brief.bench", *SAID)
    done = bench(installed, folder, *asked, "--cell", "threads=4")
    assert done.returncode == 2
    assert "out.txt:4: it was run with Number of threads: 8, and cell ramp/box/points/threads=4/r1 has" in done.stderr
    done = bench(installed, folder, *asked, "--cell", "threads=8", "--operation", "update")
    assert "0 % of its operations are reads, and 100 % are in workload points" in done.stderr
    path = folder / "out.txt"
    path.write_text(path.read_text().replace("transactions:                        150024", "transactions: 130024"))
    done = bench(installed, folder, *asked, "--cell", "threads=8")
    assert "it contradicts itself: 130024 transactions in 30.0049 s are not 4999.98 a second" in done.stderr


def test_help_names_all_and_loads_what_is_asked_for_alone(installed: Environment, folder: Path) -> None:
    loaded = folder / "broken-was-loaded"
    general = bench(installed, folder, "import", "--help").stdout
    own = bench(installed, folder, "import", "sysbench_plain", "--help").stdout
    assert not loaded.exists()
    assert "See `bench import sysbench_plain --help`." in " ".join(general.split())
    assert "--operation" not in general
    assert "--operation [read|update|insert]" in own
    assert "sysbench's output of a database test" in own
    done = bench(installed, folder, "import", "ycsb", "out.txt", "--operation", "read", "--spec", "brief.bench")
    assert done.returncode == 2
    assert "No such option" in done.stderr
    bench(installed, folder, "import", "broken", "--help")
    assert loaded.exists(), "a package that is loaded is seen to be"


def test_a_broken_one_is_named_to_who_uses_it(installed: Environment, folder: Path) -> None:
    done = bench(installed, folder, "import", "broken", "out.txt", "--spec", "brief.bench", *SAID)
    assert done.returncode == 2
    assert "the importer `broken` of bench-broken 9 can't be used" in done.stderr
    assert (folder / "broken-was-loaded").exists()
    assert "RuntimeError: it is broken" in done.stderr
    assert "install bench-broken again" in done.stderr
    assert "Traceback" not in done.stderr
