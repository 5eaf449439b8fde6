"""Tools that end with code 0 and have measured nothing, or not what was asked."""

from __future__ import annotations

import pytest

from tests.faults.conftest import OnlyFails
from tests.faults.specs import AND_ROCKS, MONGO, TWO_FOLDERS
from tests.support import wrapped
from tests.support.bench import Bench
from tests.support.tools import built_tool, system_tool

REAL = str(system_tool("db_bench"))
FAULTS = {
    "exits 0 with an error": (
        'echo "put error: IO error: broken pipe dream" >&2; exit 0',
        ("db_bench printed no result for fillrandom", "IO error: broken pipe dream"),
    ),
    "prints nothing": ("exit 0", ("db_bench printed no result for fillrandom", "it printed nothing")),
    "prints half a line": (
        f'{REAL} "$@" 2>&1 | grep -m 1 -o "^fillrandom   *: *[0-9.]* micros"; exit 0',
        ("db_bench printed no result for fillrandom",),
    ),
    "prints its histogram in half": (
        f'{REAL} "$@" | sed "/^Percentiles:/q"; exit 0',
        ("histogram for fillrandom is missing or cut off",),
    ),
    "ends with a code and a reason": (
        'echo "open error: Corruption: truncated record" >&2; exit 1',
        ("db_bench ended with code 1", "Corruption: truncated record"),
    ),
    "is killed": ("kill -9 $$", ("db_bench was ended by signal 9",)),
    "ends early": (
        f'exec {REAL} "$@" --duration=0 --num=1000',
        ("fillrandom ended after", "of 1 s"),
    ),
    "prints what a terminal would obey": (
        r"printf '\033]0;owned\007\033[2J error: \342\200\256 bad\n' >&2; exit 7",
        ("db_bench ended with code 7", "owned"),
    ),
    "prints no text at all": (
        "head -c 3000000 /dev/urandom; exit 0",
        ("db_bench printed no result for fillrandom",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_tool_that(bench: Bench, only_fails: OnlyFails, fault: str) -> None:
    script, saying = FAULTS[fault]
    tool = wrapped.db_bench(bench.folder / "tool", f"*/bad*duration=*) {script};;")
    bench.spec(TWO_FOLDERS, TOOL=f'tool = db_bench("{tool}")', BENCHMARK="fillrandom")
    only_fails(bench("run", "brief.bench"), "/bad/", *saying)


def test_the_folder_of_a_tool_may_be_named_instead_of_the_tool(bench: Bench) -> None:
    tool = wrapped.db_bench(bench.folder / "tool", "")
    bench.spec(TWO_FOLDERS, TOOL=f'tool = db_bench("{tool.parent}")', BENCHMARK="fillrandom")
    ended = bench("run", "brief.bench", "--quiet")
    assert ended.code == 0, ended.text
    assert {record["path"] for record in bench.journal("tool_found")} == {str(tool)}


def test_a_load_that_ends_with_fewer_records_than_asked(bench: Bench, only_fails: OnlyFails) -> None:
    tool = wrapped.db_bench(bench.folder / "tool", '*/bad*=fillseq,*) set -- "$@" --num=500;;')
    bench.spec(TWO_FOLDERS, TOOL=f'tool = db_bench("{tool}")', BENCHMARK="readrandom")
    only_fails(bench("run", "brief.bench"), "/bad/", "2000 records were to be loaded into", "/bad, and 500 were")
    assert not [record for record in bench.journal("step_started") if "/bad/" in record["cell"]
                and record["step"] == "measure"]  # fmt: skip


def test_a_database_that_vanishes_after_its_load(bench: Bench, only_fails: OnlyFails) -> None:
    tool = wrapped.db_bench(
        bench.folder / "tool", "*/bad*duration=*) rm -rf @DATA@/bad;;".replace("@DATA@", str(bench.data))
    )
    bench.spec(TWO_FOLDERS, TOOL=f'tool = db_bench("{tool}")', BENCHMARK="readrandom")
    only_fails(bench("run", "brief.bench"), "/bad/", "readrandom found none of the", "keys it looked up")


def test_a_ycsb_load_that_ends_with_fewer_records_than_asked(bench: Bench, only_fails: OnlyFails) -> None:
    built_tool("mongo-stand-in")
    tool = wrapped.ycsb(bench.folder / "tool", 'load*) set -- "$@" -p insertcount=50;;')
    bench.spec(
        MONGO.replace("tool = ycsb", f'tool = ycsb("{tool}")') + AND_ROCKS, SERVER="server = embedded", SECONDS=1
    )
    only_fails(bench("run", "brief.bench"), "^documents/", "200 records were to be loaded", "50")


def test_a_ycsb_run_that_says_nothing(bench: Bench, only_fails: OnlyFails) -> None:
    built_tool("mongo-stand-in")
    tool = wrapped.ycsb(bench.folder / "tool", "run*threads\\ 1\\ *) echo starting; exit 0;;")
    bench.spec(
        MONGO.replace("tool = ycsb", f'tool = ycsb("{tool}")') + AND_ROCKS, SERVER="server = embedded", SECONDS=1
    )
    only_fails(bench("run", "brief.bench"), "^documents/.*threads=1/", "YCSB printed no [OVERALL] result", "starting")
