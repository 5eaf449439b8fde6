"""Tests how the estimated time of a load depends on the number of load threads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchbrief.compiler.estimates.learned import with_history
from benchbrief.model.plan import Step
from tests.support.plans import compile_spec, compile_text

SPEC = """
hardware box {{ hosts = "box.lab" }}
client load {{ hosts = {hosts}  tool = {tool} }}
database mongo {{ engine = mongodb  uri = "mongodb://{{hosts}}/ycsb" }}
workload a from ycsb.a {{ records = 5M  {threads} }}
experiment ramp {{ hardware = box  client = load  workloads = {workload}  threads = 16  measure = 1 h }}
"""
ONE, FOUR = '"load.lab"', '"load-[1-4].lab"'


def step(tmp_path: Path, threads: str, hosts: str = ONE, tool: str = "ycsb", workload: str = "a") -> Step:
    """Return the load step of the only cell, which may be a measured load."""
    path = tmp_path / "spec.bench"
    path.write_text(SPEC.format(threads=threads, hosts=hosts, tool=tool, workload=workload), encoding="utf-8")
    (cell,) = compile_spec(path).cells
    return next(step for step in cell.steps if step.kind == ("load" if workload == "a" else "measure"))


@pytest.mark.parametrize("tool", ["ycsb", "go_ycsb"])
@pytest.mark.parametrize(
    ("threads", "hosts", "seconds"),
    [
        ("", ONE, 1001),
        ("load_threads = 8", ONE, 1001),
        ("load_threads = 4", ONE, 2001),
        ("load_threads = 16", ONE, 501),
        ("load_threads = 32", ONE, 251),
        ("load_threads = 640", ONE, 251),  # the server is the limit
        ("", FOUR, 1001),
        ("load_threads = 32", FOUR, 1001),  # as many as by default
        ("load_threads = 64", FOUR, 501),
        ("load_threads = 1", FOUR, 8001),  # a host has one at least
    ],
)
def test_a_load_takes_as_much_less_time_as_more_threads_load(
    tmp_path: Path, tool: str, threads: str, hosts: str, seconds: float
) -> None:
    assert step(tmp_path, threads, hosts, tool).seconds == seconds


def test_more_threads_do_not_shorten_the_time_out_of_a_load_and_fewer_lengthen_it(tmp_path: Path) -> None:
    usual = step(tmp_path, "").timeout_s
    assert step(tmp_path, "load_threads = 64").timeout_s == usual
    assert step(tmp_path, "load_threads = 1").timeout_s > 7 * usual


def test_a_measured_load_has_the_threads_of_its_cell(tmp_path: Path) -> None:
    assert step(tmp_path, "load_threads = 32", workload="load(a)").seconds == 1001


def test_the_rate_of_a_load_is_that_of_its_loading_beside_the_fixed_part(tmp_path: Path) -> None:
    plan = compile_text(
        """
hardware box { hosts = "box.lab" }
database rocks { engine = rocksdb  path = "/data" }
workload rr from db_bench.readrandom { records = 100M  value_size = 84 B }
experiment e { hardware = box  workloads = rr  threads = 1  measure = 1 min }
""",
        tmp_path,
    )
    estimated = with_history(plan, {})
    (load,) = [each for each in estimated.sources if each.activity == "loading"]
    (step,) = [each for cell in plan.cells for each in cell.steps if each.kind == "load"]
    rate = re.fullmatch(
        r".* a load, 5\.2 s of it to start and for the 5 s that its `waitforcompaction` sleeps, ([\d,]+) records/s",
        load.text,
    )
    assert rate
    assert float(rate[1].replace(",", "")) == pytest.approx(1e8 / (step.seconds - 5.2), rel=0.01)
