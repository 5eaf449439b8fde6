"""Tests full disks and other limits on files. Exit code 5 means that the results are kept, and is used only if they
are."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.test_import import OUTPUTS, SAID, SPEC
from tests.faults.conftest import small_disk
from tests.support.bench import PROGRAM, Bench, Ended
from tests.support.waiting import until

__all__ = ["small_disk"]
_IMPORT = ("import", "ycsb", "out.txt", "--spec", "brief.bench", "--cell", "hardware=eco,threads=96", *SAID)

_SIMULATED = """
hardware a { hosts = "a" }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
client la { hosts = "la"  tool = ycsb }
workload w from ycsb.a { records = 10k }
experiment e { hardware = a  client = la  workloads = w  threads = [1, 2, 4, 8]  measure = 1 min }
"""


def limited(bench: Bench, bytes_a_file: int, *words: str) -> Ended:
    """Run a command that can't write files longer than `bytes_a_file`. It writes no bytecode of its modules, because
    later commands would use a truncated file."""
    limits = (bytes_a_file, bytes_a_file)
    limit = f"resource.setrlimit(resource.RLIMIT_FSIZE, {limits})"
    return bench(*words, before=f"import resource, sys; sys.dont_write_bytecode = True; {limit}")


@pytest.mark.long
def test_a_simulated_run_that_finds_no_room_says_so_wherever_it_ends(
    bench: Bench, small_disk: Callable[[str], Path]
) -> None:
    bench.spec(_SIMULATED)
    codes = set()
    for pages in range(8, 20):
        out = small_disk(f"{4 * pages}k")
        ended = bench("run", "brief.bench", "--simulate", "--no-report", "--out", str(out))
        assert "internal error" not in ended.text, ended.text
        assert ended.code == 0 or "o space left on" in ended.text, ended.text
        codes.add(ended.code)
    assert codes <= {0, 5, 130}
    assert 130 in codes


def test_what_finds_no_room_and_is_no_brief_is_not_reported_as_one(bench: Bench) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [PROGRAM, "words"], cwd=bench.folder, env=bench.env, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr.decode()) == (2, "error: can't be written: No space left on device\n")


@pytest.mark.long
def test_a_brief_that_finds_no_room_is_one(copied_run: Bench) -> None:
    ended = limited(copied_run, 3000, "report")
    assert ended.code == 5, ended.text
    assert "File too large" in ended.err


def prepared(bench: Bench) -> Bench:
    bench.spec(SPEC.partition("report ")[0])
    shutil.copy(OUTPUTS / "ycsb-0.12-some-failed.txt", bench.folder / "out.txt")
    return bench


@pytest.mark.long
def test_an_import_whose_tables_find_no_room_is_kept_until_there_is_some(bench: Bench) -> None:
    ended = limited(prepared(bench), 20_000, *_IMPORT)
    assert ended.code == 5, ended.text
    assert "free some space, then `bench rebuild`" in ended.err
    assert bench("rebuild", bench.run_dir.name).code == 0
    assert "1/4 cells imported" in bench("status", "imported").out


@pytest.mark.long
def test_an_import_whose_journal_finds_no_room_leaves_nothing_and_names_no_resume(
    bench: Bench, small_disk: Callable[[str], Path]
) -> None:
    prepared(bench)
    printed = ""
    for pages in range(1, 24):
        out = small_disk(f"{4 * pages}k")
        ended = bench(*_IMPORT, "--out", str(out))
        printed += ended.err
        assert ended.code == 5, ended.text
        assert "bench resume" not in ended.err
        if "nothing was imported" not in ended.err:
            break
        assert not list(out.glob("*-imported"))
    assert "journal.jsonl can't be written: No space left on device\n  help: nothing was imported" in printed


@pytest.mark.long
def test_tables_that_find_no_room_in_the_temporary_folder_are_reported_with_it(
    copied_run: Bench, small_disk: Callable[[str], Path]
) -> None:
    assert copied_run("report", "--html-only").code == 0
    brief = min(copied_run.folder.glob("bench-out/*/reports/*.html"), key=lambda page: len(page.name))
    folder = small_disk("40k")
    copied_run.env["TMPDIR"] = str(folder)
    ended = copied_run("verify", "--from-raw", str(brief))
    assert ended.code == 5, ended.text
    assert f"error: {folder}/benchbrief-" in ended.err
    assert "has no room for the tables of" in ended.err
    assert "name another folder in TMPDIR" in ended.err


def test_an_import_that_is_interrupted_leaves_nothing(bench: Bench) -> None:
    prepared(bench)
    out = bench.folder / "bench-out"
    with bench.started(*_IMPORT) as started:
        until(lambda: any(out.glob("*/plan.json")))
        started.signal(signal.SIGINT)
        assert started.wait().code == 130
    assert not list(out.iterdir())


def test_what_to_do_next_is_said_once_where_the_tables_of_a_run_without_a_brief_find_no_room(bench: Bench) -> None:
    bench.spec(
        _SIMULATED + 'report r "T" {\n  table "How much?" {\n    rows = threads\n    column = throughput\n  }\n}\n'
    )
    ended = limited(bench, 40_000, "run", "brief.bench", "--simulate", "--no-report")
    assert ended.code == 5, ended.text
    assert [line for line in ended.out.splitlines() if "bench report" in line] == [
        f"what was measured is kept; make the brief with: bench report {bench.run_dir.name}"
    ]
