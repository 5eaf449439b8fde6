"""Tests one load from two hosts, each with its own sshd, into one server. The load is split and added up, and fails as
a whole."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.support import wrapped
from tests.support.bench import Bench
from tests.support.sshd import Sshd, sshd
from tests.support.tools import built_tool, system_tool

SPEC = """
hardware box "Box" { hosts = local }
client load { hosts = "load-[1-2]"  tool = @TOOL@ }
database mongo { engine = mongodb  server = embedded  reset = reuse }
workload c from ycsb.c { records = 2k  load_threads = 10 }
experiment ramp    { hardware = box  workloads = c  threads = 5  warm_up = 1 s  measure = 2 s }
experiment broken  { hardware = box  workloads = c  threads = 8  measure = 1 s }
experiment offered { hardware = box  workloads = c  threads = 3  target = 301 ops/s  warm_up = 8 s  measure = 5 s }
experiment loading { hardware = box  workloads = load(c)  threads = 3  measure = 30 s }
"""
BROKEN = "broken/box/c/threads=8/r1"


@pytest.fixture
def load_hosts(bench: Bench) -> Iterator[tuple[Sshd, Sshd]]:
    """Yield `load-1` and `load-2`, which the user's own SSH configuration knows."""
    built_tool("mongo-stand-in")
    system_tool("sshd")
    with sshd() as one, sshd() as two:
        blocks, known = [], []
        for number, server in enumerate((one, two), start=1):
            lines = ("HostName 127.0.0.1", f"Port {server.port}", f"User {server.user}", f"IdentityFile {server.key}")
            blocks.append("\n    ".join([f"Host load-{number}", *lines]))
            known.append(f"[127.0.0.1]:{server.port} {server.host_key}")
        (one.home / ".ssh" / "config").write_text("\n".join(blocks) + "\n")
        one.write_known_hosts(*known)
        bench.env["HOME"] = str(one.home)
        yield one, two


def job(bench: Bench, cell: str, host: str) -> tuple[str, str]:
    """Return the command and the properties of a load generator's measured job."""
    (record,) = [
        record
        for record in bench.journal("job_collected")
        if record["cell"] == cell and record["job"] == "measure" and record["host"] == host
    ]
    folder = bench.run_dir / record["directory"]
    return (folder / "command.txt").read_text(), (folder / "job.properties").read_text()


@pytest.mark.long
def test_a_load_is_split_over_two_hosts_and_added_up_unless_one_of_them_fails(
    bench: Bench, load_hosts: tuple[Sshd, Sshd]
) -> None:
    """YCSB on the second host fails in the experiment `broken`, which is the only one with four threads."""
    broken_there = f'*"{load_hosts[1].port}"*) case "$*" in *" -threads 4 "*) echo broken >&2; exit 7;; esac;;'
    tool = wrapped.ycsb(bench.folder / "tool", f'*) case "$SSH_CONNECTION" in {broken_there} esac;;')
    bench.spec(SPEC, TOOL=f'ycsb("{tool}")')
    ended = bench("run", "brief.bench", timeout=220)
    assert ended.code == 3, ended.text
    verdicts = {cell: status for cell, (status, _) in bench.verdicts().items()}
    assert verdicts.pop(BROKEN) == "failed"
    assert set(verdicts.values()) == {"ok"}
    cells = {
        "ramp/box/c/threads=5/r1": ([3, 2], None),
        "offered/box/c/threads=3/target=301/r1": ([2, 1], [200, 101]),
        "loading/box/load(c)/threads=3/r1": ([2, 1], None),
    }
    assert verdicts.keys() == cells.keys()
    for cell, (threads, targets) in cells.items():
        commands = [job(bench, cell, host)[0] for host in ("load-1", "load-2")]
        assert [int(re.findall(r"-threads (\d+)", text)[0]) for text in commands] == threads
        assert [int(found) for text in commands for found in re.findall(r"-target (\d+)", text)] == (targets or [])
    loads = [record for record in bench.journal("job_collected") if record["job"] == "load"]
    loads.sort(key=lambda record: str(record["host"]))
    assert [record["host"] for record in loads] == ["load-1", "load-2"], "both load a half, once"
    for record, start in zip(loads, (0, 1000), strict=True):
        folder = bench.run_dir / record["directory"]
        assert "-threads 5 " in (folder / "command.txt").read_text()
        properties = (folder / "job.properties").read_text().splitlines()
        assert {f"insertstart={start}", "insertcount=1000", "batchsize=100"} <= set(properties)
        assert "[INSERT], Return=BATCHED_OK, 990" in (folder / "stdout").read_text()
    starts = [record for record in bench.journal("remark") if "were started within" in record["text"]]
    assert [record["cell"] for record in starts if record["cell"] != BROKEN] == list(cells)
    assert all(float(re.findall(r"within (\S+) s", record["text"])[0]) < 2 for record in starts)

    def asked(sql: str) -> list[dict[str, float | str | None]]:
        answer = bench("query", sql, "--json")
        assert answer.code == 0, answer.text
        rows: list[dict[str, float | str | None]] = answer.json
        return rows

    sources = asked(
        "SELECT cell_id, count(DISTINCT source) AS sources, sum(count) AS done FROM operations "
        "WHERE kind = 'service' AND phase IS NULL GROUP BY cell_id"
    )
    totals = {
        row["cell_id"]: row for row in asked("SELECT * FROM throughput WHERE operation = 'all' AND phase IS NULL")
    }
    assert {row["cell_id"] for row in sources} == cells.keys(), "nothing is counted of half a cell"
    assert {row["sources"] for row in sources} == {2}
    assert all(totals[row["cell_id"]]["count"] == row["done"] for row in sources)
    offered = totals["offered/box/c/threads=3/target=301/r1"]
    done, rate = (float(offered[name] or 0) for name in ("count", "ops_per_s"))
    # On a machine so busy that the generators were behind their schedules, they did more, and a remark says so.
    late = any("caught up" in record["text"] for record in bench.journal("remark"))
    assert done >= 301 * 5 * 0.9
    assert late or done <= 301 * 5 * 1.1
    # Windows that lie apart on a busy machine are rated over the time of all: never above what was done in one of them.
    assert late or rate <= 301 * 1.1
    assert rate * 5 <= done * 1.1
    percentiles = asked(
        "SELECT source, value_s, origin FROM latency WHERE statistic = 'p99' AND experiment = 'ramp' AND threads = 5 "
        "AND repeat = 1 AND kind = 'service'"
    )
    assert {row["source"] for row in percentiles} == {"load-1", "load-2", None}
    assert {row["origin"] for row in percentiles} == {"histogram"}
    assert all(row["value_s"] for row in percentiles)

    ranges = [job(bench, "loading/box/load(c)/threads=3/r1", host)[1] for host in ("load-1", "load-2")]
    assert "insertstart=0\ninsertcount=1333\n" in ranges[0]
    assert "insertstart=1333\ninsertcount=667\n" in ranges[1]
    assert totals["loading/box/load(c)/threads=3/r1"]["count"] == 2000
    assert totals["loading/box/load(c)/threads=3/r1"]["errors"] == 0
    loaded = totals["loading/box/load(c)/threads=3/r1"]
    assert float(loaded["ops_per_s"] or 0) * float(loaded["duration_s"] or 0) == pytest.approx(2000), (
        "all records over the time from the first start to the last end"
    )
    alone = asked(
        "SELECT source, count FROM operations WHERE cell_id = 'loading/box/load(c)/threads=3/r1' AND phase IS NULL "
        "AND kind = 'service'"
    )
    assert {row["source"]: row["count"] for row in alone} == {"load-1": 1333, "load-2": 667}
    (verdict,) = [r for r in bench.journal("cell_ended") if r["cell"] == "loading/box/load(c)/threads=3/r1"]
    assert verdict["ops_per_s"] == pytest.approx(loaded["ops_per_s"])
