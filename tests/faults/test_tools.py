"""Tests tools that exit with code 0 although they measured nothing, or the wrong thing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faults.conftest import FaultyRun
from tests.faults.specs import AND_ROCKS, MONGO, rocks, variants
from tests.support import wrapped
from tests.support.bench import Bench, fresh_bench
from tests.support.tools import built_tool, system_tool

# What the tool does where the database's path ends in the name (the shell's words), and what the reason then says.
FAULTS = {
    "only_an_error": (
        'echo "put error: IO error: broken pipe dream" >&2; exit 0',
        ("db_bench printed no result for fillrandom", "IO error: broken pipe dream"),
    ),
    "nothing": ("exit 0", ("db_bench printed no result for fillrandom", "it printed nothing")),
    "half_a_line": (
        '@REAL@ "$@" 2>&1 | grep -m 1 -o "^fillrandom   *: *[0-9.]* micros"; exit 0',
        ("db_bench printed no result for fillrandom", "fillrandom"),
    ),
    "half_a_histogram": (
        '@REAL@ "$@" | sed "/^Percentiles:/q"; exit 0',
        ("db_bench's histogram for fillrandom is missing or cut off",),
    ),
    "a_code_and_a_reason": (
        'echo "open error: Corruption: truncated record" >&2; exit 1',
        ("db_bench ended with code 1", "Corruption: truncated record"),
    ),
    "a_signal": ("kill -9 $$", ("db_bench was killed by signal 9 (SIGKILL) from outside",)),
    "an_early_end": ('exec @REAL@ "$@" --duration=0 --num=1000', ("fillrandom ended after", "of 1 s")),
    "control_characters": (
        r"printf '\033]0;owned\007\033[2J error: \342\200\256 bad\n' >&2; exit 7",
        ("db_bench ended with code 7", "owned"),
    ),
    "no_text_at_all": (
        "head -c 3000000 /dev/urandom; exit 0",
        ("db_bench printed no result for fillrandom",),
    ),
}


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultyRun]:
    """Make one run with a cell for each fault, followed by a good cell."""
    real = str(system_tool("db_bench"))
    with fresh_bench(tmp_path_factory.mktemp("tools")) as bench:
        cases = "\n".join(f"*/{name}\\ *) {script.replace('@REAL@', real)};;" for name, (script, _) in FAULTS.items())
        tool = wrapped.db_bench(bench.folder / "tool", cases)
        names = [*FAULTS, "good"]
        bench.spec(rocks(variants(*names), [f"here.{name}" for name in names], tool=f'tool = db_bench("{tool}")'))
        yield FaultyRun(bench, bench("run", "brief.bench"))


def test_only_the_cells_whose_tool_goes_wrong_fail(faulty: FaultyRun) -> None:
    assert len(faulty.verdicts) == 1 + len(FAULTS)
    faulty.fails_only(r"^e/(?!good/)")


@pytest.mark.parametrize("name", FAULTS)
def test_the_reason_has_the_tools_own_words_when_it_gives(faulty: FaultyRun, name: str) -> None:
    faulty.says_why(f"^e/{name}/", *FAULTS[name][1])


def test_what_a_failed_tool_printed_is_kept_byte_for_byte(faulty: FaultyRun) -> None:
    (kept,) = (faulty.bench.run_dir / "raw").glob("*no_text_at_all*/1/measure-local/stdout")
    assert kept.stat().st_size == 3_000_000


@pytest.mark.long
def test_the_folder_of_a_tool_may_be_named_instead_of_the_tool(bench: Bench) -> None:
    tool = wrapped.db_bench(bench.folder / "tool")
    bench.spec(rocks(variants("good"), ["here.good"], tool=f'tool = db_bench("{tool.parent}")'))
    ended = bench("run", "brief.bench", "--quiet")
    assert ended.code == 0, ended.text
    assert {record["path"] for record in bench.journal("tool_found")} == {str(tool)}


@pytest.mark.long
def test_a_load_that_ends_short_or_vanishes_is_not_measured(bench: Bench) -> None:
    cases = f'*/short\\ *=fillseq,*) set -- "$@" --num=500;;\n*/gone\\ *duration=*) rm -rf {bench.data}/gone;;'
    tool = wrapped.db_bench(bench.folder / "tool", cases)
    names = ["short", "gone", "good"]
    hardware = [f"here.{name}" for name in names]
    bench.spec(rocks(variants(*names), hardware, benchmark="readrandom", tool=f'tool = db_bench("{tool}")'))
    run = FaultyRun(bench, bench("run", "brief.bench"))
    run.fails_only("/(short|gone)/")
    run.says_why("/short/", "2000 records were to be loaded into", "/short, and 500 were")
    run.says_why("/gone/", "readrandom found none of the", "keys it looked up")
    measured = {record["cell"] for record in bench.journal("step_started") if record["step"] == "measure"}
    assert not any("/short/" in cell for cell in measured)


@pytest.mark.long
def test_a_ycsb_that_loads_too_little_or_says_nothing_fails_its_cells_alone(bench: Bench) -> None:
    built_tool("mongo-stand-in")
    tool = wrapped.ycsb(
        bench.folder / "tool",
        'load*/workloadb*) set -- "$@" -p insertcount=50 -p batchsize=1;;\nrun*/workloada*) echo starting; exit 0;;',
    )
    text = (
        MONGO.replace("[a]", "[a, b]").replace("[1, 2]", "[1]")
        + "workload b from ycsb.b { records = 200 }\n"
        + AND_ROCKS
    )
    bench.spec(text, TOOL=f'ycsb("{tool}")', SERVER="server = embedded  reset = drop_and_load", SECONDS=1)
    run = FaultyRun(bench, bench("run", "brief.bench"))
    run.fails_only("/here/b/|/here/a/threads=1/")
    run.says_why("/here/b/", "200 records were to be loaded", "the load generator says 50", "holds 50")
    run.says_why("/here/a/threads=1/", "YCSB printed no [OVERALL] result", "starting")
