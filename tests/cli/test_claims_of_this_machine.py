"""Tests that a run claims this machine while its brief is made. Otherwise, another run could measure during
rendering."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from tests.cli.specs import ONE_FOLDER
from tests.support.bench import Bench, Started, records_of
from tests.support.tools import system_tool
from tests.support.waiting import until

SPEC = ONE_FOLDER.replace("[1, 2]", "[1]") + (
    'report brief "B" { table "T" { rows = workload  columns = throughput by threads } }\n'
)
HALTED = """
import time
from pathlib import Path
import {module} as module
whole = module.{function}
def halted(*args):
    Path("{function}").touch()
    while not Path("go-on").exists():
        time.sleep(0.1)
    return whole(*args)
module.{function} = halted
"""


@contextmanager
def halted(bench: Bench, module: str, function: str, *words: str) -> Iterator[Started]:
    """Yield a command that pauses before a function until a file `go-on` exists."""
    with bench.started(*words, before=HALTED.format(module=module, function=function)) as going:
        until(lambda: (bench.folder / function).exists() or going.process.poll() is not None, 60)
        yield going


def rendering(bench: Bench, *words: str) -> AbstractContextManager[Started]:
    """Start a command that stops just before it renders a brief."""
    return halted(bench, "benchbrief.pipeline", "render_stored", *words)


def measuring(bench: Bench, *words: str) -> AbstractContextManager[Started]:
    """Start a command that has claimed its hosts, and stops just before it measures."""
    return halted(bench, "benchbrief.runners.execution.executor", "_run_lanes", *words)


def expect_held(bench: Bench, run: str) -> str:
    """Check the messages of commands while the brief of `run` is rendered. Returns the output of `bench doctor`."""
    refused = bench("run", "brief.bench", "--out", "other", "--no-report", "--quiet")
    assert refused.code == 2, refused.text
    assert f"local is held by run {run} of process " in refused.err
    assert "that process is gone" not in refused.err
    rendered = bench("report", run, "--html-only")
    assert rendered.code == 0, rendered.text
    note = rf"^note: run {run} of process \d+ on \S+ makes its brief on this machine now: "
    assert re.search(note, rendered.err, re.MULTILINE), rendered.text
    assert "measures now" not in rendered.err, "no cell is disturbed"
    status = bench("status", run)
    assert status.code == 0, status.text
    assert "; its brief is being made" in status.out
    return bench("doctor", "brief.bench").out


@pytest.mark.long
def test_no_other_run_measures_on_this_machine_while_a_brief_is_rendered(bench: Bench) -> None:
    system_tool("db_bench")
    bench.spec(SPEC)
    with rendering(bench, "run", "brief.bench") as run:
        found = expect_held(bench, bench.run_dir.name)
        (bench.folder / "go-on").touch()
        done = run.wait(60)
    assert done.code == 0, done.text
    assert "PDF" in done.out
    assert re.search(rf"^held +local +held +by run {bench.run_dir.name} ", found, re.MULTILINE), found
    assert "stray" not in found

    assert "held" not in bench("doctor", "brief.bench").out, "it is released with the brief"
    assert "this machine" not in bench("report", "--html-only").text
    assert "brief is being made" not in bench("status").text
    assert bench("run", "brief.bench", "--out", "other", "--no-report").code == 0


@pytest.mark.long
def test_a_run_that_waited_takes_what_was_measured_meanwhile(bench: Bench) -> None:
    system_tool("db_bench")
    bench.spec(ONE_FOLDER)
    with measuring(bench, "run", "brief.bench", "--no-report") as first:
        earlier = bench.run_dir.name
        with bench.started("run", "brief.bench", "--no-report", "--wait") as waiting:
            waiting.until_it_says(f"local is held by run {earlier} of process")
            (bench.folder / "go-on").touch()
            assert first.wait(60).code == 0
            second = waiting.wait(60)
    assert second.code == 0, second.text
    assert f"all 2 cells are taken from run {earlier}" in second.err
    later = bench.run_dirs()[-1]
    assert later.name != earlier
    kinds = [each["type"] for each in records_of(later)]
    assert kinds.count("cell_reused") == 2
    assert "cell_started" not in kinds[kinds.index("run_started") :], "none is measured again"
    assert bench("verify", later.name, "--raw").code == 0


@pytest.mark.long
def test_a_run_whose_brief_is_rendered_is_asked_to_stop(bench: Bench) -> None:
    system_tool("db_bench")
    bench.spec(SPEC)
    with rendering(bench, "run", "brief.bench") as run:
        stopped = bench("stop")
        done = run.wait(60)
    assert done.code == 130, done.text
    assert "what was measured is kept; for the brief, type: bench report" in done.err
    assert "stopped by its own controller, which leaves nothing on its hosts" in stopped.text
    assert "held" not in bench("doctor", "brief.bench").out


@pytest.mark.long
def test_no_other_run_measures_on_this_machine_while_the_brief_of_merged_lanes_is_rendered(bench: Bench) -> None:
    system_tool("db_bench")
    bench.spec(SPEC)
    assert bench("plan", "brief.bench", "--into", "nightly").code == 0
    assert bench("lane", "nightly", "1").code == 0
    with rendering(bench, "merge", "nightly") as merge:
        expect_held(bench, "nightly")
        (bench.folder / "go-on").touch()
        done = merge.wait(60)
    assert done.code == 0, done.text
    assert "held" not in bench("doctor", "brief.bench").out, "it is released with the brief"

    (bench.folder / "go-on").unlink()
    with measuring(bench, "run", "brief.bench", "--no-report", "--fresh"):
        disturbed = rf"warning: this machine is held by run {bench.run_dir.name} of process .* disturbs the cells"
        for words in (("merge", "nightly", "--no-report"), ("report", "nightly", "--html-only")):
            beside = bench(*words)
            assert beside.code == 0, beside.text
            assert re.search(disturbed, beside.err), beside.text
