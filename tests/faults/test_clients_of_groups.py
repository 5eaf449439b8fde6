"""Tests `client = [one_load, two_load]` over sshd: the hardware groups take turns, and each is loaded by its own
client."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.bench import Bench
from tests.support.mongo import running_stand_in
from tests.support.tools import built_tool
from tests.support.two_hosts import two_hosts
from tests.support.wrapped import PROGRAMS

SPEC = """
hardware one { hosts = "one"  server_port = "@ONE@" }
hardware two { hosts = "two"  server_port = "@TWO@" }
client one_load { hosts = "one-load"  tool = go_ycsb("@TOOL@") }
client two_load { hosts = "two-load"  tool = go_ycsb("@TOOL@") }
database mongo { engine = mongodb  uri = "mongodb://127.0.0.1:{server_port}/ycsb"  reset = drop_and_load }
workload c from ycsb.c { records = 1k }
experiment ramp {
  hardware = [one, two]  client = [one_load, two_load]  workloads = c  threads = [1, 2]  measure = 2 s
  overlap  = loading
}
"""


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with two_hosts(tmp_path, names=("one", "two", "one-load", "two-load")) as fresh:
        yield fresh


@pytest.mark.long
@pytest.mark.timeout(240)
def test_each_group_is_loaded_by_its_own_client_beside_the_measurement_of_the_other(bench: Bench) -> None:
    stand_in = built_tool("mongo-stand-in")
    built_tool("go-ycsb/bin/go-ycsb")
    with running_stand_in(stand_in.parent) as (_, one), running_stand_in(stand_in.parent) as (_, two):
        bench.spec(SPEC, TOOL=f"{PROGRAMS}/go-ycsb", ONE=str(one), TWO=str(two))
        done = bench("run", "brief.bench", "--no-report", timeout=220)
    assert done.code == 0, done.text
    jobs = [each for each in bench.journal("job_collected") if each["job"] in ("load", "measure")]
    assert {(each["cell"].split("/")[1], each["host"]) for each in jobs} == {("one", "one-load"), ("two", "two-load")}
    measured = {each["cell"]: (each["started_at"], each["ended_at"]) for each in jobs if each["job"] == "measure"}
    assert len(measured) == 4
    in_turn = sorted(measured.values())
    assert all(end <= start for (_, end), (start, _) in pairwise(in_turn)), "one at a time"
    texts = [each["text"] for each in bench.journal("remark") if each["text"].startswith("measured while ")]
    assert texts, "a group was loaded beside a measurement"
