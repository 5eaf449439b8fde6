"""This machine is held while a brief is made: no run measures beside the rendering."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.cli.specs import ONE_FOLDER
from tests.support.bench import PROGRAM, Bench, records_of
from tests.support.tools import system_tool
from tests.support.waiting import until

SPEC = ONE_FOLDER + 'report brief "B" { table "T" { rows = workload  columns = throughput by threads } }\n'
PATCHED = """
import subprocess, sys, time
from pathlib import Path
import benchbrief.pipeline as pipeline
whole, program = pipeline.render_stored, sys.argv.pop(1)
def render_stored(run_dir, *others):
@DOING@
    return whole(run_dir, *others)
pipeline.render_stored = render_stored
from benchbrief.cli.command_line import main
main()
"""
BESIDE = """
    for name, command in (
        ("run", ("run", "brief.bench", "--out", "other", "--no-report", "--quiet")),
        ("doctor", ("doctor", "brief.bench")),
        ("report", ("report", run_dir, "--html-only")),
        ("status", ("status", run_dir)),
    ):
        done = subprocess.run((program, *command), capture_output=True, text=True)
        Path(f"{name}.txt").write_text(f"{done.returncode} {done.stdout}{done.stderr}")
"""
STOPPED = """
    with open("stop.txt", "w") as file:
        subprocess.Popen((program, "stop"), stdout=file, stderr=file)
    time.sleep(60)
"""


def render_doing(doing: str, bench: Bench, *words: str) -> subprocess.CompletedProcess[str]:
    """Give a command that renders a brief, and do this when it is about to."""
    return subprocess.run(
        [sys.executable, "-c", PATCHED.replace("@DOING@", doing), str(PROGRAM), *words],
        cwd=bench.folder,
        env=bench.env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def said(folder: Path, name: str) -> tuple[int, str]:
    code, _, text = (folder / f"{name}.txt").read_text().partition(" ")
    return int(code), text


def expect_held(bench: Bench, run: str) -> None:
    """Read what the commands of BESIDE said while the brief of `run` was rendered."""
    code, refused = said(bench.folder, "run")
    assert code == 2, refused
    assert f"local is held by run {run} of process " in refused
    assert "that process is gone" not in refused
    code, rendered = said(bench.folder, "report")
    assert code == 0, rendered
    note = rf"^note: run {run} of process \d+ on \S+ makes its brief on this machine now: "
    assert re.search(note, rendered, re.MULTILINE), rendered
    assert "measures now" not in rendered, "no cell is disturbed"
    code, status = said(bench.folder, "status")
    assert code == 0, status
    assert "; its brief is being made" in status


def test_no_other_run_measures_on_this_machine_while_a_brief_is_rendered(bench: Bench) -> None:
    system_tool("db_bench")
    bench.spec(SPEC)
    done = render_doing(BESIDE, bench, "run", "brief.bench")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PDF" in done.stdout
    expect_held(bench, bench.run_dir.name)
    _, found = said(bench.folder, "doctor")
    assert re.search(rf"^held +local +held +by run {bench.run_dir.name} ", found, re.MULTILINE), found
    assert "stray" not in found
    assert "held" not in bench("doctor", "brief.bench").out, "it is released with the brief"
    assert "this machine" not in bench("report", "--html-only").text
    assert "brief is being made" not in bench("status").text
    assert bench("run", "brief.bench", "--out", "other", "--no-report").code == 0


def test_a_run_that_waited_takes_what_was_measured_meanwhile(bench: Bench) -> None:
    system_tool("db_bench")
    bench.spec(ONE_FOLDER)
    with bench.started("run", "brief.bench", "--no-report") as first:
        until(lambda: list(bench.folder.glob("bench-out/*/journal.jsonl")) and bench.journal("cell_started"), 60)
        earlier = bench.run_dir.name
        second = bench("run", "brief.bench", "--no-report", "--wait")
        assert first.wait(60).code == 0
    assert second.code == 0, second.text
    assert f"local is held by run {earlier} of process" in second.err
    assert f"all 2 cells are taken from run {earlier}" in second.err
    later = bench.run_dirs()[-1]
    assert later.name != earlier
    kinds = [each["type"] for each in records_of(later)]
    assert kinds.count("cell_reused") == 2
    assert "cell_started" not in kinds[kinds.index("run_started") :], "none is measured again"
    assert bench("verify", later.name, "--raw").code == 0


def test_a_run_whose_brief_is_rendered_is_asked_to_stop(bench: Bench) -> None:
    system_tool("db_bench")
    bench.spec(SPEC)
    done = render_doing(STOPPED, bench, "run", "brief.bench")
    assert done.returncode == 130, done.stdout + done.stderr
    assert "what was measured is kept; for the brief, type: bench report" in done.stderr
    stopped = "stopped by its own controller, which leaves nothing on its hosts"
    until(lambda: stopped in (bench.folder / "stop.txt").read_text())
    assert "held" not in bench("doctor", "brief.bench").out


def test_no_other_run_measures_on_this_machine_while_the_brief_of_merged_lanes_is_rendered(bench: Bench) -> None:
    system_tool("db_bench")
    bench.spec(SPEC)
    assert bench("plan", "brief.bench", "--into", "nightly").code == 0
    assert bench("lane", "nightly", "1").code == 0
    done = render_doing(BESIDE, bench, "merge", "nightly")
    assert done.returncode == 0, done.stdout + done.stderr
    expect_held(bench, "nightly")
    assert "held" not in bench("doctor", "brief.bench").out, "it is released with the brief"

    with bench.started("run", "brief.bench", "--no-report", "--fresh"):
        until(lambda: list(bench.folder.glob("bench-out/*/journal.jsonl")) and bench.journal("cell_started"), 60)
        disturbed = rf"warning: this machine is held by run {bench.run_dir.name} of process .* disturbs the cells"
        for words in (("merge", "nightly", "--no-report"), ("report", "nightly", "--html-only")):
            beside = bench(*words)
            assert beside.code == 0, beside.text
            assert re.search(disturbed, beside.err), beside.text
