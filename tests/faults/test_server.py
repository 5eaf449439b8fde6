"""Tests MongoDB servers that die during the measurement."""

from __future__ import annotations

import os
import re
import signal

import pytest

from tests.faults.conftest import FaultyRun
from tests.faults.specs import AND_ROCKS, MONGO
from tests.support.bench import Bench
from tests.support.mongo import mortal_stand_in
from tests.support.tools import built_tool, tools_dir
from tests.support.waiting import until
from tests.support.wrapped import PROGRAMS


@pytest.fixture(autouse=True)
def _real_parts() -> None:
    built_tool("mongo-stand-in")
    built_tool("ycsb")


def measuring(bench: Bench, threads: int) -> bool:
    """Return whether the measured job of the cell with this many threads is running."""
    return any("site.ycsb.Client -t " in line and f"-threads {threads} " in line for line in bench.strays().values())


@pytest.mark.long
def test_an_attached_server_that_dies_fails_its_cells_and_no_others(bench: Bench) -> None:
    with mortal_stand_in(tools_dir()) as (host, port, server):
        # Clients give a dead server 30 s unless an option says otherwise.
        uri = f"mongodb://{host}:{port}/ycsb?serverSelectionTimeoutMS=2000"
        bench.spec(MONGO + AND_ROCKS, TOOL="ycsb", SERVER=f'uri = "{uri}"', SECONDS=2)
        with bench.started("run", "brief.bench") as run:
            until(lambda: measuring(bench, 2), 60)
            server.kill()
            ended = run.wait(90)
    faulty = FaultyRun(bench, ended)
    faulty.fails_only("^documents/.*threads=2/")
    faulty.says_why("^documents/.*threads=2/", "the server of database mongo can't be reached", "is it running")


LATE_ONCE = """\
#!/bin/sh
# Runs YCSB. The first measured run finds a server that says nothing, up to the seventh second of its threads.
case "$*" in
run\\ *) [ -e @FOLDER@/late-once ] || held=1 ;;
esac
[ -n "$held" ] || exec @YCSB@/bin/ycsb.sh "$@"
: >@FOLDER@/late-once
mkfifo @FOLDER@/errors
kill -STOP @SERVER@
@YCSB@/bin/ycsb.sh "$@" 2>@FOLDER@/errors &
while IFS= read -r line; do
  echo "$line" >&2
  case $line in *" "[6-9]" sec: "*|*" "[1-9][0-9]" sec: "*) kill -CONT @SERVER@ ;; esac
done <@FOLDER@/errors
kill -CONT @SERVER@
wait $!
"""


@pytest.mark.long
def test_a_cell_whose_client_begins_late_is_measured_once_more(bench: Bench) -> None:
    slow = bench.folder / "slow"
    (slow / "bin").mkdir(parents=True)
    for part in ("lib", "mongodb-binding", "workloads"):
        (slow / part).symlink_to(PROGRAMS / "ycsb" / part)
    with mortal_stand_in(tools_dir()) as (host, port, server):
        program = slow / "bin/ycsb.sh"
        text = LATE_ONCE.replace("@FOLDER@", str(slow)).replace("@YCSB@", f"{PROGRAMS}/ycsb")
        program.write_text(text.replace("@SERVER@", str(server.pid)))
        program.chmod(0o755)
        spec = MONGO.replace("[1, 2]", "[1]")
        bench.spec(spec, TOOL=f'ycsb("{slow}")', SERVER=f'uri = "mongodb://{host}:{port}/ycsb"', SECONDS=2)
        ended = bench("run", "brief.bench")
    assert ended.code == 0, ended.text
    late, good = bench.journal("cell_ended")
    assert (late["status"], late["attempt"], late["retried"]) == ("failed", 1, True)
    assert re.fullmatch(
        r"YCSB measured \d\.\d s of 2 s: its first operation came \d+\.\d s after its threads' start \(.*\)",
        late["reason"],
    ), late["reason"]
    assert (good["status"], good["attempt"]) == ("ok", 2)
    (remark,) = [each for each in bench.journal("remark") if "its first operation came" in str(each["text"])]
    assert remark["severity"] == "warning"


@pytest.mark.long
def test_an_embedded_server_that_dies_is_started_again_for_the_next_cell(bench: Bench) -> None:
    # The next cell must be good, on a busy machine too: go-ycsb starts in milliseconds, YCSB's Java in seconds.
    client = built_tool("go-ycsb/bin/go-ycsb")
    bench.spec(MONGO, TOOL="go_ycsb", SERVER="server = embedded", SECONDS=2)
    with bench.started("run", "brief.bench") as run:
        until(lambda: any(f"{client} run mongodb " in line for line in bench.strays().values()), 60)
        # The client goes too, as when memory runs out: alone it would wait for the server to come back.
        for pid, line in bench.strays().items():
            if "benchbrief.MongoStandIn" in line or f"{client} run" in line:
                os.kill(pid, signal.SIGKILL)
        ended = run.wait(90)
    faulty = FaultyRun(bench, ended)
    faulty.fails_only("threads=1/")
    faulty.says_why("threads=1/", "the server of database mongo can't be reached", "its last words")
    kept = bench.run_dir / "raw/servers/mongo@here"
    assert sorted(path.name for path in kept.iterdir()) == ["1", "2"], "one for each start"
    for number in ("1", "2"):
        assert (kept / number / "stdout").read_text().startswith("listening 127.0.0.1:")


@pytest.mark.long
def test_a_server_that_starts_for_the_second_cell_only_is_disclosed_all_the_same(bench: Bench) -> None:
    data = bench.folder / "mongo-data"
    in_the_way = data / "stand-in.mv"
    prepare = f"if [ -e {in_the_way} ]; then rmdir {in_the_way}; else mkdir -p {in_the_way}; fi"
    spec = MONGO.replace("{ hosts = local }", f'{{ hosts = local  prepare = command("{prepare}") }}', 1)
    bench.spec(spec, TOOL="go_ycsb", SERVER=f'server = embedded  path = "{data}"', SECONDS=1)
    faulty = FaultyRun(bench, bench("run", "brief.bench"))
    faulty.fails_only("threads=1/")
    faulty.says_why("threads=1/", "the embedded MongoDB server on local ended at once")
    (facts,) = bench.journal("engine_facts")
    assert "not MongoDB but a stand-in" in facts["facts"]["stand_in"]
    printed = (bench.run_dir / "raw/servers/mongo@here/1/stderr").read_text()
    assert "cannot open the data" in printed, "of the first one too"
