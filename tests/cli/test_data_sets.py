"""Tests that a data set is reused only if nothing that shapes its bytes has changed. Uses real db_bench."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.specs import ROCKS
from tests.support import wrapped
from tests.support.bench import Bench, Ended, records_of

SPEC = (
    """\
hardware box "This machine" {
  hosts = local
  prepare = command("sh @DATA@/prepare.sh")
}
"""
    + ROCKS.replace("{path}", "@DATA@/db")
    + """\
experiment ramp {
  hardware  = box
  workloads = [rr]
  threads   = [1]
  measure   = 1 s
}
"""
)
CELL = "ramp/box/rr/threads=1/r1"


def ran(ended: Ended) -> Ended:
    assert ended.code == 0, ended.err
    return ended


def newest(bench: Bench) -> Path:
    return max((bench.folder / "bench-out").iterdir(), key=lambda run: (run / "plan.json").stat().st_mtime_ns)


def load_of(run: Path) -> str:
    """Return how the cell got its data: "loaded", or why no load was needed."""
    records = records_of(run)
    load = next(record for record in records if record["type"] == "step_ended" and record["step"] == "load")
    return load["skipped"] or "loaded"


@pytest.fixture
def rocks(bench: Bench) -> Bench:
    """Return a `bench` whose tool and prepare script may be changed by tests."""
    bench.tool = f'db_bench("{wrapped.db_bench(bench.folder / "tool")}")'
    bench.data.mkdir(parents=True, exist_ok=True)
    (bench.data / "prepare.sh").write_text("true\n")
    bench.spec(SPEC)
    return bench


def run(bench: Bench) -> Path:
    ran(bench("run", "brief.bench", "--fresh", "--no-report"))
    return newest(bench)


@pytest.mark.long
def test_data_are_loaded_again_for_another_content_of_the_options_file_alone(rocks: Bench) -> None:
    assert load_of(run(rocks)) == "loaded"
    made = max((rocks.data / "db").glob("OPTIONS-*"))
    options = rocks.data / "rocksdb.ini"
    shutil.copy(made, options)
    rocks.spec(SPEC.replace("  reset  = reuse", f'  options_file = "{options}"\n  reset  = reuse'))
    assert load_of(run(rocks)) == "loaded"
    assert load_of(run(rocks)) == "data set reused"
    options.write_text(options.read_text().replace("block_size=4096", "block_size=16384"))
    assert load_of(run(rocks)) == "loaded"
    assert any("block_size=16384" in made.read_text() for made in (rocks.data / "db").glob("OPTIONS-*"))


@pytest.mark.long
def test_another_build_of_the_load_generator_makes_another_data_set(rocks: Bench) -> None:
    run(rocks)
    wrapped.db_bench(rocks.folder / "tool", '"--built-again") exit 0;;')
    assert load_of(run(rocks)) == "loaded"


@pytest.mark.long
def test_another_line_that_prepares_a_host_makes_another_data_set(rocks: Bench) -> None:
    run(rocks)
    rocks.spec(SPEC.replace("prepare.sh", "prepare.sh again"))
    assert load_of(run(rocks)) == "loaded"


@pytest.mark.long
def test_neither_results_nor_data_under_another_content_of_a_script_are_taken(rocks: Bench) -> None:
    """The script may belong to the hardware or to the database. In both cases, a change of its content prevents the
    reuse of results and data."""
    scripts = rocks.data / "prepare.sh", rocks.data / "own.sh"
    scripts[1].write_text("true\n")
    rocks.spec(SPEC.replace("  reset  = reuse", '  prepare = command("sh @DATA@/own.sh")\n  reset  = reuse'))
    ran(rocks("run", "brief.bench", "--no-report"))
    again = ran(rocks("run", "brief.bench", "--no-report"))
    assert "the only cell is taken from run" in again.err, again.err
    printed = (
        "not taken from an earlier run: a file that the commands of database rocks or its hardware name has changed: "
    )
    for script in scripts:
        script.write_text("true # otherwise\n")
        done = ran(rocks("run", "brief.bench", "--no-report"))
        assert f"{printed}{script} on local is SHA-256 " in done.err
        assert load_of(newest(rocks)) == "loaded"


def test_a_script_that_changes_between_two_cells_is_noticed_and_disclosed(rocks: Bench) -> None:
    (rocks.data / "prepare.sh").write_text(f"echo '# changed' >>{rocks.data}/settings\n")
    rocks.spec(
        SPEC.replace("prepare.sh", "prepare.sh @DATA@/settings").replace("threads   = [1]", "threads   = [1, 2]")
    )
    records = records_of(run(rocks))
    loads = [each["skipped"] for each in records if each["type"] == "step_ended" and each["step"] == "load"]
    assert loads == ["", ""], "each cell has its own"
    facts = [each["facts"] for each in records if each["type"] == "engine_facts"]
    assert len({each[f"file {rocks.data}/settings on local"] for each in facts}) == 2
