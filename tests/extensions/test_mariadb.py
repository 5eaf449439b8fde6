"""Tests MariaDB and sysbench, from a separate package. The real servers are started by the run, or are already
running."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from bench_mariadb.mariadb_engine import Mariadb
from bench_mariadb.sysbench_output import NotWhole, contradictions, measurement, read_summary

from benchbrief.model.plan import Reference
from benchbrief.runners.hosts.host_connections import HostPool
from benchbrief.runners.journal.run_identity import RunName
from tests.extensions.installed import bench, scratch
from tests.support import cells
from tests.support.environment import REPOSITORY, Environment
from tests.support.mariadb import DATABASE, PASSWORD, USER, mariadb
from tests.support.ports import free_port
from tests.support.sshd import sshd
from tests.support.tools import system_tool

EXAMPLE = REPOSITORY / "examples" / "extensions" / "mariadb"
SPEC = """\
hardware box "This machine" { hosts = @HOST@ }
client load { hosts = @HOST@  tool = sysbench }
database shop "MariaDB" { engine = mariadb  @SERVER@ }
workload reads  "Reads"  from sysbench.point_select { records = 1000  tables = 2 }
workload writes "Writes" from sysbench.write_only   { records = 1000  tables = 2 }
experiment ramp {
  hardware  = box
  workloads = writes
  threads   = [1, 2]
  measure   = 2 s
  probes    = [mariadb every 250 ms]
}
experiment offered {
  hardware  = box
  workloads = reads
  threads   = 2
  target    = 500 ops/s
  warm_up   = 1 s
  measure   = 2 s
}
report english "MariaDB" {
  figure "Log" { line = mariadb.log_written[ramp, threads: 2] by time }
  text = "{latency.p99[transaction, offered]:.3gu}, {mean(sysbench.queue[offered] over time):.3g}"
  table "Hits" { rows = threads  column "Hits" = mariadb.buffer_hits[ramp] }
  disclosure = automatic
}
report japanese "MariaDB の測定" {
  language = ja
  figure "レイテンシー" { line = latency.p99[transaction, ramp] by threads }
  disclosure = automatic
}
"""


def written(folder: Path, server: str, host: str = "local") -> str:
    (folder / "shop.bench").write_text(SPEC.replace("@HOST@", host).replace("@SERVER@", server))
    return "shop.bench"


def asked(installed: Environment, folder: Path, sql: str) -> list[list[object]]:
    done = bench(installed, folder, "query", "--json", sql)
    assert done.returncode == 0, done.stderr
    return [list(row.values()) for row in json.loads(done.stdout)]


def test_the_example_is_right(installed: Environment, tmp_path: Path) -> None:
    done = bench(installed, tmp_path, "check", str(EXAMPLE / "mariadb.bench"))
    assert done.returncode == 0, done.stdout + done.stderr
    spec = written(tmp_path, 'uri = "mariadb://box/x"  options { flush_log = second }')
    text = (tmp_path / spec).read_text().replace("records = 1000", "records = 1001")
    (tmp_path / spec).write_text(text)
    said = " ".join(bench(installed, tmp_path, "check", spec).stderr.split())
    for wrong in ("with its own options", "1001 records in 2 tables"):
        assert wrong in said


@pytest.mark.long
def test_a_run_starts_its_server_measures_and_makes_briefs(installed: Environment, tmp_path: Path) -> None:
    system_tool("mariadbd")
    system_tool("sysbench")
    spec = written(tmp_path, f'server = start  path = "{tmp_path}/data"  port = {free_port()}')
    done = bench(installed, tmp_path, "run", spec, "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    rendered = bench(installed, tmp_path, "report", "--html-only")
    assert rendered.returncode == 0, rendered.stderr
    assert {each.name for each in tmp_path.rglob("*.html")} >= {"english.html", "japanese.html"}
    rates = asked(
        installed,
        tmp_path,
        "SELECT experiment, value FROM measure.throughput WHERE phase IS NULL AND operation = 'all'",
    )
    assert all(float(str(rate)) > 20 for _, rate in rates)
    assert all(400 < float(str(rate)) < 600 for experiment, rate in rates if experiment == "offered")
    kinds = asked(installed, tmp_path, "SELECT DISTINCT experiment, kind FROM latency ORDER BY experiment")
    assert kinds == [["offered", "intended"], ["ramp", "service"]]
    found = asked(installed, tmp_path, "SELECT DISTINCT measure FROM samples WHERE value IS NOT NULL")
    assert {"mariadb.log_written", "mariadb.buffer_hits", "mariadb.dirty", "sysbench.queries"} <= {
        each for (each,) in found
    }
    loads = list(tmp_path.glob("bench-out/*/raw/*/*/load-local"))
    assert len(loads) == 3, "one before each cell that follows a load or a write"


@pytest.mark.long
def test_a_server_that_runs_is_reached_over_ssh_with_a_password_that_nothing_shows(
    installed: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system_tool("sysbench")
    monkeypatch.setenv("DB_PASSWORD", PASSWORD)
    with mariadb() as port, sshd() as host:
        monkeypatch.setenv("HOME", str(host.home))
        uri = f"mariadb://{USER}:{{secret(DB_PASSWORD)}}@127.0.0.1:{port}/{DATABASE}"
        done = bench(installed, tmp_path, "run", written(tmp_path, f'uri = "{uri}"', '"box"'), "--no-report")
        assert done.returncode == 0, done.stdout + done.stderr
        monkeypatch.setenv("DB_PASSWORD", "another-word")
        refused = bench(installed, tmp_path, "doctor", "shop.bench")
    assert "Access denied" in " ".join(refused.stdout.split())
    shown = "".join(path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file())
    assert PASSWORD not in shown + refused.stdout


def test_a_cell_with_an_event_that_changes_data_is_loaded_again_after(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DB_PASSWORD", PASSWORD)
    with mariadb() as port:
        secret = Reference(kind="secret", name="DB_PASSWORD")
        uri = (f"mariadb://{USER}:", secret, f"@127.0.0.1:{port}/{DATABASE}")
        database = replace(cells.attached(""), engine="mariadb", uri=uri, reset="after_writes")
        plan = cells.context(replace(cells.ycsb("c", 1), writes=False), database).plan
        engine = Mariadb(plan, database, plan.hardware["box"], HostPool(plan, run_name=RunName(owner="anyone")))
        engine.start()
        engine._ask("CREATE TABLE sbtest1 SELECT 1 AS id")  # as a load does
        (cell,) = plan.cells
        engine.loaded(cell, 1)
        engine.begin(replace(cell, events=(cells.event("kept"),)))
        assert engine.holds(cell)
        engine.begin(replace(cell, events=(cells.event("changed"),)))
        assert not engine.holds(cell)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_it_conforms(installed: Environment, tmp_path: Path) -> None:
    """`bench extensions try` runs the package simulated and for real, with each reset, and killed and resumed. It also
    gives the code bad outputs."""
    system_tool("mariadbd")
    system_tool("sysbench")
    env = {**os.environ, "TMPDIR": str(scratch(installed))}
    for name in ("mariadb", "sysbench"):
        done = bench(installed, tmp_path, "extensions", "try", name, env=env)
        assert done.returncode == 0, done.stdout


OUTPUTS = sorted((EXAMPLE / "outputs").iterdir())


def test_an_output_is_read_and_held_to_itself() -> None:
    for path in OUTPUTS:
        lines = path.read_text().splitlines()
        found = read_summary(lines)
        assert list(contradictions(found)) == []
        measured = measurement(found, 0.0)
        (operation,) = measured.operations
        assert operation.histogram is not None
        assert operation.kind == ("intended" if path.stem == "offered" else "service")
        # What sysbench prints itself of the same histogram.
        percentile = next(float(line.split()[-1]) for line in lines if "99th percentile" in line)
        seen = 0
        for bucket in operation.histogram.buckets:
            seen += bucket[2]
            if seen >= round(0.99 * operation.count):
                assert 1000 * bucket[0] <= percentile <= 1000 * bucket[1]
                break
        with pytest.raises(NotWhole, match="a second run"):
            read_summary(lines * 2)
        for cut in range(len("\n".join(lines).rstrip().splitlines())):
            with pytest.raises(NotWhole):
                read_summary(lines[:cut])


@pytest.mark.parametrize(
    ("pattern", "other", "wrong"),
    [
        (r"transactions: +\d+", "transactions: 7", "events"),
        (r"(sum: +)\d", r"\g<1>9", "add up"),
        (r"(\| *\*+ +)\d+$", r"\g<1>999", "its histogram has"),
        (r"(max: +)\d+", r"\g<1>0", "is not between"),
        (r"threads: \d+", "threads: 3", "3 threads"),
    ],
)
def test_an_output_that_contradicts_itself_says_so(pattern: str, other: str, wrong: str) -> None:
    text = re.sub(pattern, other, OUTPUTS[-1].read_text(), count=1, flags=re.MULTILINE)
    assert any(wrong in each for each in contradictions(read_summary(text.splitlines())))
