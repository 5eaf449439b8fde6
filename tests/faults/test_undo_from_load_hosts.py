"""Tests that inserted records are deleted through the load generators' hosts, each with its own sshd."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pymongo
import pytest

from tests.support.bench import Bench
from tests.support.mongo import running_stand_in
from tests.support.sshd import Sshd, sshd
from tests.support.tools import built_tool, system_tool, tools_dir

SPEC = """
hardware box { hosts = local }
client load { hosts = "load-[1-2]"  tool = go_ycsb }
database mongo { engine = mongodb  uri = "mongodb://@SERVER@/ycsb"  reset = undo }
workload c from ycsb.c { records = 2k }
workload d from ycsb.d { records = 2k  read = 0 %  insert = 100 % }
experiment first { hardware = box  workloads = d  threads = 2  measure = 2 s }
experiment then  { hardware = box  workloads = c  threads = 2  measure = 1 s }
"""
NO_FORWARDS = "AllowTcpForwarding no"


@contextmanager
def load_hosts(bench: Bench, first: str, second: str) -> Iterator[tuple[Sshd, Sshd]]:
    """Yield `load-1` and `load-2`. `first` and `second` are lines of their servers' configuration."""
    with sshd(config=first) as one, sshd(config=second) as two:
        blocks, known = [], []
        for number, server in enumerate((one, two), start=1):
            lines = ("HostName 127.0.0.1", f"Port {server.port}", f"User {server.user}", f"IdentityFile {server.key}")
            blocks.append("\n    ".join([f"Host load-{number}", *lines]))
            known.append(f"[127.0.0.1]:{server.port} {server.host_key}")
        (one.home / ".ssh" / "config").write_text("\n".join(blocks) + "\n")
        one.write_known_hosts(*known)
        bench.env["HOME"] = str(one.home)
        yield one, two


@pytest.mark.timeout(240)
@pytest.mark.long
@pytest.mark.parametrize(
    ("first", "second", "sent"),
    [
        pytest.param("", "", "asked for from load-1, load-2", id="both forward"),
        pytest.param(NO_FORWARDS, "", "asked for from load-2", id="one forwards"),
        pytest.param(
            NO_FORWARDS,
            NO_FORWARDS,
            "asked for from the controller: load-1: ",
            id="none forwards",
        ),
    ],
)
def test_inserts_are_deleted_from_the_load_hosts_that_forward_a_port(
    bench: Bench, first: str, second: str, sent: str
) -> None:
    for name in ("mongo-stand-in", "go-ycsb"):
        built_tool(name)
    system_tool("sshd")
    with load_hosts(bench, first, second), running_stand_in(tools_dir()) as (host, port):
        bench.spec(SPEC, SERVER=f"{host}:{port}")
        ended = bench("run", "brief.bench", "--no-report", timeout=220)
        assert ended.code == 0, ended.text
        left = pymongo.MongoClient[dict[str, object]](f"mongodb://{host}:{port}/")["ycsb"]["usertable"]
        assert left.count_documents({}) == 2000
    jobs = [each for each in bench.journal("job_collected") if each["job"] == "load"]
    assert [each["host"] for each in jobs] == ["load-1"], "loaded once, by the one that inserts"
    (undone,) = [each["text"] for each in bench.journal("remark") if "deleted by key" in each["text"]]
    assert f"the 2,000 records of the load are left ({sent}" in undone
