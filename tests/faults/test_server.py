"""MongoDB servers that die while they are measured."""

from __future__ import annotations

import os
import signal

import pytest

from tests.faults.conftest import FaultyRun
from tests.faults.specs import AND_ROCKS, MONGO
from tests.support.bench import Bench
from tests.support.mongo import mortal_stand_in
from tests.support.tools import built_tool, tools_dir
from tests.support.waiting import until


@pytest.fixture(autouse=True)
def _real_parts() -> None:
    built_tool("mongo-stand-in")
    built_tool("ycsb")


def measuring(bench: Bench, threads: int) -> bool:
    """Whether the measured job of the cell with so many threads runs."""
    return any("site.ycsb.Client -t " in line and f"-threads {threads} " in line for line in bench.strays().values())


def test_an_attached_server_that_dies_fails_its_cells_and_no_others(bench: Bench) -> None:
    with mortal_stand_in(tools_dir()) as (host, port, server):
        # Clients give a dead server 30 s unless told otherwise.
        uri = f"mongodb://{host}:{port}/ycsb?serverSelectionTimeoutMS=2000"
        bench.spec(MONGO + AND_ROCKS, TOOL="ycsb", SERVER=f'uri = "{uri}"', SECONDS=2)
        with bench.started("run", "brief.bench") as run:
            until(lambda: measuring(bench, 2), 60)
            server.kill()
            ended = run.wait(90)
    faulty = FaultyRun(bench, ended)
    faulty.fails_only("^documents/.*threads=2/")
    faulty.says_why("^documents/.*threads=2/", "the server of database mongo can't be reached", "is it running")


def test_an_embedded_server_that_dies_is_started_again_for_the_next_cell(bench: Bench) -> None:
    bench.spec(MONGO, TOOL="ycsb", SERVER="server = embedded", SECONDS=2)
    with bench.started("run", "brief.bench") as run:
        until(lambda: measuring(bench, 1), 60)
        # The client goes too, as when memory runs out: alone it would wait 30 s for the server to come back.
        for pid, line in bench.strays().items():
            if "benchbrief.MongoStandIn" in line or "site.ycsb.Client" in line:
                os.kill(pid, signal.SIGKILL)
        ended = run.wait(90)
    faulty = FaultyRun(bench, ended)
    faulty.fails_only("threads=1/")
    faulty.says_why("threads=1/", "the server of database mongo can't be reached", "its last words")
