"""Tests YCSB's command lines, and how YCSB proves a load."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from benchbrief.extensions.tools.ycsb.tests.ycsb_runs import (
    DATABASE,
    DRIVER,
    URI,
    at,
    copied,
    offered,
    output,
    rmw,
    settings,
)
from benchbrief.runners.driver_contexts import CellContext, Endpoint
from benchbrief.runners.errors import BadOutput, RunnerError
from benchbrief.runners.hosts.host_connections import HostPool
from benchbrief.runners.jobs.tasks import Command
from benchbrief.runners.journal.secret_masking import Secret
from tests.support.cells import context, run_job, ycsb

# --- loading ---------------------------------------------------------------------------------------------------------


def test_a_load_proves_its_count_by_return_codes() -> None:
    assert DRIVER.check_load(rmw(), output("load-short")) == 732


def test_a_load_without_its_insert_row_is_an_error(tmp_path: Path) -> None:
    made = copied("load-short", tmp_path)
    made.stdout.write_text(re.sub(r"\[INSERT\].*\n", "", made.stdout.read_text()))
    with pytest.raises(BadOutput, match="did not finish the load"):
        DRIVER.check_load(rmw(), made)


def test_failed_inserts_fail_the_load(tmp_path: Path) -> None:
    made = copied("load-short", tmp_path)
    with made.stdout.open("a") as stdout:
        stdout.write("[INSERT], Return=ERROR, 3\n")
    with pytest.raises(BadOutput, match="3 of YCSB's inserts failed, 732 of 5000 succeeded"):
        DRIVER.check_load(rmw(), made)


# --- commands --------------------------------------------------------------------------------------------------------


def test_the_uri_travels_in_the_property_file_only() -> None:
    job = DRIVER.measure(at(offered()))
    assert "open-sesame" not in repr(job.command)
    (file,) = job.files
    assert [word.value for word in file.content if isinstance(word, Secret)] == [URI.value]


@pytest.mark.parametrize("password", ["open-sesame", "open%3Asesame%40", "open\\sesame", "s\u00e9same"])
@pytest.mark.parametrize("step", ["load", "measure"])
def test_the_property_file_is_kept_without_its_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, password: str, step: str
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    cell = context(ycsb("c"), DATABASE)
    there = Endpoint(uri=Secret(f"mongodb://user:{password}@db-1/ycsb", name="uri"))
    asked = CellContext(cell.plan, cell.cell, "/opt/ycsb/bin/ycsb.sh", there)
    job = DRIVER.measure(asked) if step == "measure" else DRIVER.load(asked)
    assert job
    with HostPool(cell.plan) as hosts:
        idle = replace(job, command=Command(("cat", "job.properties")))
        made = run_job(hosts["local"], idle, tmp_path / "out")
    kept = (made.directory / "job.properties").read_text()
    assert kept == made.stdout.read_text()
    assert kept.endswith("\nmongodb.url=***\n")
    assert "recordcount=1000\n" in kept
    assert "same" not in kept


def test_the_command_speaks_the_release_s_layout() -> None:
    job = DRIVER.measure(at(offered()))
    assert " ".join(map(str, job.command.words)) == (
        "/opt/ycsb/bin/ycsb.sh run mongodb -P /opt/ycsb/workloads/workloadf -P job.properties -threads 4 -target 500 -s"
    )
    assert job.collect == ("*.hdr", "job.properties")


def test_the_property_file_holds_the_workload_and_the_times() -> None:
    assert {
        "recordcount": "5000",
        "operationcount": "2000000000",
        "maxexecutiontime": "10",
        "readproportion": "0.5",
        "updateproportion": "0",
        "readmodifywriteproportion": "0.5",
        "requestdistribution": "zipfian",
        "fieldcount": "10",
        "fieldlength": "100",
        "hdrhistogram.fileoutput": "true",
        "status.interval": "1",
        "measurement.interval": "op",
    }.items() <= settings(rmw()).items()
    assert settings(offered())["measurement.interval"] == "both"


def test_a_load_has_an_operation_count_and_no_time_limit() -> None:
    load = settings(rmw(), "load")
    assert load["operationcount"] == "2000000000", "zipfian fails without one"
    assert "maxexecutiontime" not in load


def test_zipfian_with_inserts_keeps_the_key_space_near_the_records() -> None:
    """YCSB reserves keys for twice the expected inserts, and draws again whenever a drawn key does not exist yet."""
    cell = context(ycsb("e", 100_000), DATABASE, measure_s=10)
    assert int(settings(cell)["operationcount"]) * 0.05 * 2 <= 100_000
    assert settings(context(ycsb("d", 100_000), DATABASE))["operationcount"] == "2000000000"


def test_declared_operations_limit_the_run() -> None:
    assert settings(context(ycsb("a", operations=5000.0), DATABASE))["operationcount"] == "5000"


def test_a_property_can_t_smuggle_in_another() -> None:
    evil = Endpoint(uri=Secret("mongodb://h/ycsb\nexporter=evil"))
    with pytest.raises(RunnerError, match="line break"):
        DRIVER.measure(CellContext(rmw().plan, rmw().cell, "/opt/ycsb/bin/ycsb.sh", evil))
