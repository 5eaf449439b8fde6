"""Tests `bench run` with real db_bench, as users see it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import pytest

from tests.cli.conftest import FinishedRun
from tests.cli.specs import ONE_FOLDER, SMALL
from tests.support.bench import PROGRAM, Bench
from tests.support.longer import longer
from tests.support.tools import system_tool
from tests.support.warm import Forked, warm

ONE_CELL = ONE_FOLDER.replace("[1, 2]", "[1]") + "expect min(throughput over threads, hardware) > 0\n"


def test_a_run_ends_with_the_paths_of_a_pdf_and_an_html_brief(finished_run: FinishedRun) -> None:
    done = finished_run.ended
    assert done.code == 0, done.err
    pdf, html = (re.search(rf"^{kind} +(\S+)$", done.out, re.MULTILINE) for kind in ("PDF", "HTML"))
    assert pdf
    assert html
    folder = finished_run.bench.folder
    assert (folder / pdf[1]).read_bytes().startswith(b"%PDF-")
    page = (folder / html[1]).read_text(encoding="utf-8")
    assert "What a second folder buys" in page
    assert "operations per second" in page


def test_progress_is_one_plain_line_a_cell_on_standard_error(finished_run: FinishedRun) -> None:
    done = finished_run.ended
    run_id = finished_run.bench.run_dir.name
    assert re.search(rf"^run {run_id}: 4 cells, about \d+ ", done.err, re.MULTILINE)
    lines = re.findall(r"^\[(\d)/4\] (\S+) +([\d,]+) ops/s +[\d.]+ s(?:  (.*))?$", done.err, re.MULTILINE)
    assert [number for number, *_ in lines] == ["1", "2", "3", "4"]
    assert [cell for _, cell, *_ in lines] == [cell["cell"] for cell in finished_run.bench.journal("cell_ended")]
    assert all(int(rate.replace(",", "")) > 1000 for _, _, rate, _ in lines)
    assert all("left" in left for *_, left in lines[:-1])
    assert "[1/4]" not in done.out


def test_a_run_keeps_plan_spec_journal_raw_outputs_and_tables(finished_run: FinishedRun) -> None:
    run_dir = finished_run.bench.run_dir
    assert json.loads((run_dir / "plan.json").read_text())["format"] == "benchbrief-plan"
    (kept,) = (run_dir / "spec").iterdir()
    assert kept.read_bytes() == finished_run.spec.read_bytes()
    for record in finished_run.bench.journal("job_collected"):
        for name in record["files"]:
            assert (run_dir / record["directory"] / name).is_file()
    assert (run_dir / "store" / "results.duckdb").is_file()
    assert (run_dir / "store" / "cells.parquet").is_file()
    assert all(status == "ok" for status, _ in finished_run.bench.verdicts().values())


def test_a_run_leaves_no_process_and_no_job_directory_behind(finished_run: FinishedRun) -> None:
    assert finished_run.left == []


@pytest.mark.long
def test_the_outcome_as_json(bench: Bench) -> None:
    system_tool("db_bench")
    bench.spec(ONE_CELL)
    done = bench("run", "brief.bench", "--json", "--quiet")
    assert done.code == 0, done.err
    assert "[1/1]" not in done.err
    outcome = done.json
    assert outcome["status"] == "done"
    assert outcome["exit_code"] == 0
    assert outcome["failed"] == []
    assert [(each["expect"], each["holds"]) for each in outcome["expects"]] == [
        ("min(throughput over threads, hardware) > 0", True)
    ]
    assert (bench.folder / outcome["directory"]).samefile(bench.run_dir)


def test_an_expectation_that_fails_gives_code_4_and_is_named_with_its_line(bench: Bench) -> None:
    system_tool("db_bench")
    spec = bench.spec(ONE_CELL.replace("hardware) > 0", "hardware) > 900G ops/s"))
    done = bench("run", "brief.bench")
    assert done.code == 4, done.err
    number = next(i for i, line in enumerate(spec.read_text().splitlines(), start=1) if line.startswith("expect"))
    assert "expect does not hold: min(throughput over threads, hardware) > 900G ops/s" in done.out
    assert f"brief.bench:{number}:" in done.out
    assert bench.journal("run_ended")[-1]["status"] == "done"


@pytest.mark.long
def test_params_and_profiles_change_what_is_run(bench: Bench) -> None:
    system_tool("db_bench")
    bench.spec(
        "param records = 1k\n"
        + ONE_CELL.replace("records = 2k", "records = records")
        + "profile two { override experiment { threads = [2] } }\n"
    )
    done = bench("run", "brief.bench", "--profile", "two", "--param", "records=3k", "--quiet")
    assert done.code == 0, done.err
    plan = json.loads((bench.run_dir / "plan.json").read_text())
    assert (plan["spec"]["profile"], plan["spec"]["params"]) == ("two", {"records": "3k"})
    (cell,) = plan["cells"]
    assert cell["threads"] == 2
    command = next((bench.run_dir / "raw").rglob("measure-local/command.txt")).read_text()
    assert "--num=3000" in command
    assert "--compression_type=none" in command
    assert "--threads=2" in command


def test_a_wrong_spec_runs_nothing(bench: Bench) -> None:
    bench.spec(SMALL.replace("[rr]", "[rrr]"))
    done = bench("run", "brief.bench")
    assert done.code == 1
    assert "did you mean `rr`?" in done.err
    assert not (bench.folder / "bench-out").exists()


def test_a_folder_that_can_not_be_written_is_named(bench: Bench) -> None:
    bench.spec(ONE_FOLDER)
    (bench.folder / "taken").write_text("a file")
    done = bench("run", "brief.bench", "--out", "taken")
    assert done.code == 2
    assert done.err.startswith("error: taken can't be written: ")
    assert "choose another folder with --out" in done.err


def test_a_reader_that_goes_away_early_is_no_error(finished_run: FinishedRun, tmp_path: Path) -> None:
    with read_in_part(finished_run.bench, tmp_path, "query", "FROM range(200000)", "--csv") as (ended, reader):
        assert [reader.readline(), reader.readline()] == ["range\n", "0\n"]
    assert ended.wait(60) == 141  # as any program that SIGPIPE ends
    assert (tmp_path / "errors").read_text() == ""


@contextmanager
def read_in_part(bench: Bench, folder: Path, *words: str, together: bool = False) -> Iterator[tuple[Forked, TextIO]]:
    """Yield a command whose output (with `together`, also its errors) goes to a pipe. The reader closes the pipe when
    the block ends."""
    ours, theirs = os.pipe()
    with os.fdopen(ours) as reader, (folder / "errors").open("wb") as errors:
        err = theirs if together else errors.fileno()
        started = warm().start(words, bench.folder, bench.env, theirs, err, paper=False)
        os.close(theirs)
        yield started, reader


@pytest.mark.parametrize(
    "words",
    [
        *("check brief.bench", "plan brief.bench", "plan brief.bench --json", "doctor brief.bench"),
        *("status", "status --json", "watch", "query 'FROM cells'", "verify {brief}"),
        *("explain E0101", "explain", "extensions", "--help", "run --help", "--version"),
    ],
)
def test_no_command_takes_a_reader_that_has_gone_for_anything_else(
    finished_run: FinishedRun, words: str, tmp_path: Path
) -> None:
    bench = finished_run.bench
    typed = shlex.split(words.format(brief=f"{bench.run_dir}/reports/brief.pdf"))
    reader, out = os.pipe()
    os.close(reader)
    with (tmp_path / "errors").open("wb") as errors:
        ended = warm().start(typed, bench.folder, bench.env, out, errors.fileno(), paper=False)
    os.close(out)
    assert ended.wait(60) == 141
    assert (tmp_path / "errors").read_text() == ""


def test_a_run_goes_on_when_nobody_reads_its_progress_any_more(bench: Bench, tmp_path: Path) -> None:
    system_tool("db_bench")
    bench.spec(ONE_FOLDER)
    with read_in_part(bench, tmp_path, "run", "brief.bench", "--no-report", together=True) as (run, reader):
        assert reader.readline().startswith("run ")
    run.wait(60)
    assert bench.strays() == {}
    assert [status for status, _ in bench.verdicts().values()] == ["ok", "ok"]
    assert bench.journal("run_ended")[-1]["status"] == "done"


@pytest.mark.long
@pytest.mark.parametrize("closed", ["<&- >&- 2>&-", *longer(">&-")])
def test_without_standard_streams_files_do_not_take_their_place(finished_run: FinishedRun, closed: str) -> None:
    """If standard streams were left closed, the first file that is opened would receive the output."""
    bench = finished_run.bench
    words = ("status --json", "query 'FROM cells' --csv")
    line = "; ".join(f"'{PROGRAM}' {each} {closed}" for each in words)
    before = {path: path.read_bytes() for path in bench.run_dir.rglob("*") if path.is_file()}
    done = subprocess.run(["sh", "-c", line], cwd=bench.folder, env=bench.env, capture_output=True, check=False)
    assert done.returncode == 0
    assert done.stderr == b""
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.long
def test_the_end_of_a_run_repeats_the_warnings_of_its_spec_and_how_a_brief_is_made(bench: Bench) -> None:
    spec = ONE_FOLDER.partition("report ")[0].replace("[1, 2]", "[1]").replace("every 200 ms", "every 1 s")
    bench.spec(spec)
    ended = bench("run", "brief.bench")
    assert ended.code == 0, ended.text
    assert "the spec has 1 warning: bench check brief.bench" in ended.out
    assert "done, 1 cell\n" in ended.out
    assert "all in the brief" not in ended.out
    asked = (
        f"add a `report` block to the spec, and make a brief with: bench report {bench.run_dir.name} --spec brief.bench"
    )
    assert ended.out.splitlines()[-1] == asked
