"""Tests hosts that are requested from Slurm by feature: a lane gets its nodes when it begins, and the brief discloses
them."""

from __future__ import annotations

import pytest

from tests.support.bench import Bench, records_of
from tests.support.longer import longer
from tests.support.mongo import running_stand_in
from tests.support.slurm import Slurm
from tests.support.slurm_runs import CELLS, ROLES, SAME, SPEC, ended_cells, nodes_of, rows, spec
from tests.support.tools import built_tool, tools_dir

pytestmark = pytest.mark.timeout(240)


@pytest.fixture
def bench(slurm_bench: Bench) -> Bench:
    spec(slurm_bench, text=ROLES)
    return slurm_bench


def without_names(table: list[str]) -> list[str]:
    """Return rows without the names of hosts and the hashes of cells, since the plan's names for hosts are not the
    names of nodes."""
    return sorted({row.split("'cell_hash'")[0].replace("-1.slurm", "") for row in table})


@pytest.mark.long
def test_asked_hosts_have_the_store_of_named_ones_and_their_nodes_are_disclosed_and_compared(
    bench: Bench, cluster: Slurm
) -> None:
    done = bench("run", "brief.bench", "--on", "slurm", "--json")
    assert done.code == 0, done.text
    assert ended_cells(bench.run_dir) == CELLS
    given = {lane: nodes_of(bench, lane=lane) for lane in (1, 2)}
    assert [len(each) for each in given.values()] == [1, 1]
    nodes = given[1][0] | given[2][0]
    assert set(nodes) == {"one-1.slurm", "two-1.slurm"}
    assert len(set(nodes.values())) == 2
    assert set(nodes.values()) <= {"one", "two", "three"}
    asked = bench("query", "SELECT DISTINCT source, value FROM properties WHERE name = 'node'", "--json")
    assert {row["source"]: row["value"] for row in asked.json} == nodes
    by_name = SPEC.replace('hosts = "one"', f'hosts = "{nodes["one-1.slurm"]}"')
    spec(bench, text=by_name.replace('hosts = "two"', f'hosts = "{nodes["two-1.slurm"]}"'))
    alone = bench("run", "brief.bench", "--fresh", "--no-report", "--out", "alone")
    assert alone.code == 0, alone.text
    (single,) = (path.parent for path in (bench.folder / "alone").glob("*/plan.json"))
    for table in {*SAME} - {"properties", "facts", "coverage", "files"}:
        assert without_names(rows(single, table)) == without_names(rows(bench.run_dir, table)), table
    assert len(rows(single, "files")) == len(rows(bench.run_dir, "files"))
    assert bench.strays() == {}

    spec(bench, text=ROLES)
    taken = nodes["one-1.slurm"]
    cluster.asked("scontrol", "update", f"NodeName={taken}", "State=DRAIN", "Reason=test")
    try:
        second = bench("run", "brief.bench", "--on", "slurm", "--no-report", "--out", "other")
    finally:
        cluster.asked("scontrol", "update", f"NodeName={taken}", "State=RESUME")
    assert second.code == 0, second.text
    (other,) = (path.parent for path in (bench.folder / "other").glob("*/plan.json"))
    hashes = [
        {each["cell"]: each["hash"] for each in records_of(run) if each["type"] == "cell_started"}
        for run in (bench.run_dir, other)
    ]
    assert hashes[0] == hashes[1], "which node it was is no part of a cell's definition"
    compared = bench("compare", str(bench.run_dir), str(other))
    assert "a scheduler gave other nodes:" in compared.out
    assert f"was {taken} in A, and" in compared.out


@pytest.mark.long
def test_clients_are_asked_for_by_the_same_words_and_matched_by_feature(bench: Bench) -> None:
    built_tool("mongo-stand-in")
    with running_stand_in(tools_dir()) as (host, port):
        bench.spec(
            f"""\
hardware box {{ hosts = slurm("nvme", 2) }}
client load {{ hosts = slurm("load", 2)  tool = ycsb }}
database mongo {{ engine = mongodb  uri = "mongodb://{host}:{port}/ycsb"  reset = reuse }}
workload c from ycsb.c {{ records = 1k }}
experiment e {{ hardware = box  client = load  workloads = c  threads = 4  warm_up = 0 s  measure = 2 s }}
"""
        )
        done = bench("run", "brief.bench", "--on", "slurm", "--no-report", "--json")
    assert done.code == 0, done.text
    (nodes,) = nodes_of(bench, lane=1)
    assert {nodes["box-1.slurm"], nodes["box-2.slurm"]} == {"one", "two"}
    assert {nodes["load-1.slurm"], nodes["load-2.slurm"]} == {"three", "four"}


def test_a_plan_shows_its_jobs_and_what_slurm_has(bench: Bench) -> None:
    shown = bench("plan", "brief.bench", "--on", "slurm")
    assert shown.code == 0, shown.text
    assert "--partition=bench --constraint=nvme --nodes=1" in shown.out
    assert "load on 2, nvme on 3" in shown.out
    jobs = bench("plan", "brief.bench", "--on", "slurm", "--json").json["jobs"]
    assert [each["hosts"][0]["asked"] for each in jobs["lanes"]] == [{"what": "nvme"}] * 2
    assert jobs["pools"] == [
        {"name": "bench", "nodes": 4, "usable": 4, "idle": 4, "limit_s": None, "features": {"nvme": 3, "load": 2}}
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"nvme"', '"nvmee"', "has 0 nodes with `nvmee` (its features: load, nvme)"),
        *longer(
            ('partition = "bench"', 'partition = "bnech"', "Slurm has no partition `bnech`: did you mean `bench`?"),
            ('partition = "bench"', "time = 1 min", "no job would end it"),
        ),
        ('partition = "bench"', 'partition = "short"  time = 2 h', "it asks for 2 h, and the partition allows 3 min"),
        ('slurm("nvme", 1)', 'slurm("nvme&fast", 1)', "has 0 nodes with `fast` and `nvme`"),
    ],
)
def test_what_slurm_does_not_have_is_reported_before_anything_is_submitted(
    bench: Bench, cluster: Slurm, old: str, new: str, said: str
) -> None:
    spec(bench, text=ROLES.replace(old, new))
    shown = bench("plan", "brief.bench", "--on", "slurm")
    assert shown.code == 2
    assert said in " ".join(shown.out.split())
    ran = bench("run", "brief.bench", "--on", "slurm")
    assert ran.code == 2
    assert said in ran.err
    assert bench.run_dirs() == []
    assert cluster.live() == []


@pytest.mark.long
def test_asked_hosts_without_slurm_are_refused_with_what_to_do(bench: Bench) -> None:
    for words in (("run", "brief.bench"), ("doctor", "brief.bench"), ("stop", "--strays", "brief.bench")):
        ended = bench(*words)
        assert ended.code == 2, ended.text
        assert "the spec asks slurm for its hosts (one-1.slurm, two-1.slurm)" in ended.err
        assert "--on slurm" in ended.err
    assert bench.run_dirs() == []
    assert bench("plan", "brief.bench", "--into", "nightly").code == 0
    outside = bench("lane", "nightly", "1")
    assert outside.code == 2
    assert "this process is no job of Slurm" in outside.err
    assert bench("run", "brief.bench", "--simulate", "--no-report").code == 0


def test_slurm_that_is_not_installed_is_said_plainly(bench: Bench) -> None:
    bench.env["PATH"] = str(bench.folder / "empty")
    for words in (("plan", "brief.bench", "--on", "slurm"), ("run", "brief.bench", "--on", "slurm")):
        ended = bench(*words)
        assert ended.code == 2, ended.text
        assert "there is no `sinfo` on this machine" in ended.err
    assert bench.run_dirs() == []
