"""Tests that nodes assigned by a scheduler replace a plan's hosts, including those in the addresses of databases."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchbrief.compiler.planning.plan_lanes import open_hosts, with_nodes
from benchbrief.model.plan import Plan
from tests.support.plans import compile_text

SPEC = """\
hardware box {{ hosts = slurm("nvme", {count}) }}
client load {{ hosts = slurm("load", 1)  tool = ycsb }}
database mongo {{ engine = mongodb  uri = "mongodb://{{hosts}}/ycsb?w=1"  reset = reuse }}
workload c from ycsb.c {{ records = 1k }}
experiment e {{ hardware = box  client = load  workloads = c  threads = 4  measure = 1 min }}
"""


def plan_of(folder: Path, count: int) -> Plan:
    return compile_text(SPEC.format(count=count), folder)


def uri_of(plan: Plan) -> str:
    (database,) = plan.databases.values()
    return "".join(part if isinstance(part, str) else "?" for part in database.uri)


@pytest.mark.parametrize("count", [1, 3, 12])
def test_the_address_of_a_database_has_the_names_of_the_nodes(count: int, tmp_path: Path) -> None:
    plan = plan_of(tmp_path, count)
    assert len(open_hosts(plan)) == count + 1
    nodes = {host: f"n{number}.box-1.slurm" for number, host in enumerate(open_hosts(plan), start=40)}
    given = with_nodes(plan, nodes)
    hosts = plan.hardware["box"].hosts
    written = re.fullmatch(r"mongodb://(.*)/ycsb\?w=1", uri_of(given))
    assert written
    assert [name.partition(":")[0] for name in written[1].split(",")] == [nodes[host] for host in hosts]
    assert open_hosts(given) == []
    assert [cell.hash for cell in given.cells] == [cell.hash for cell in plan.cells]


def test_without_nodes_an_address_keeps_the_hosts_of_the_plan(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, 2)
    assert uri_of(with_nodes(plan, {})) == uri_of(plan)
    assert "box-1.slurm" in uri_of(plan)
