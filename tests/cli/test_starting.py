"""Tests that Ctrl-C or a closed terminal ends `bench` even while it starts, with one line of output."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.cli.specs import ONE_FOLDER
from tests.support.bench import Bench
from tests.support.longer import longer
from tests.support.tools import system_tool

# Sends a signal to itself when a module is about to be imported; `lost`: as in a library that drops all exceptions.
_PROGRAM = """\
import os, signal, sys, time
module, number, lost = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "lost"
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            sys.meta_path.remove(self)
            try:
                os.kill(os.getpid(), number)
                time.sleep(0)
            except BaseException:
                if not lost:
                    raise
sys.meta_path.insert(0, Interrupting())
sys.argv = ["bench", *sys.argv[4:]]
from benchbrief.start import main
main()
"""


def interrupted_at(bench: Bench, module: str, number: int, *words: str, lost: bool = False) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, module, str(int(number)), "lost" if lost else "", *words],
        cwd=bench.folder,
        env=bench.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("module", "number"),
    [
        ("benchbrief.commands.running.run", signal.SIGHUP),
        *longer(
            ("benchbrief.cli.command_line", signal.SIGINT),
            ("click", signal.SIGHUP),
            ("benchbrief.cli.terminal", signal.SIGINT),
            ("benchbrief.dsl.syntax.parse", signal.SIGINT),
            ("pydantic", signal.SIGHUP),
        ),
    ],
)
def test_a_command_that_starts_ends_at_once_and_says_so(bench: Bench, module: str, number: int) -> None:
    bench.spec(ONE_FOLDER)
    code, said = interrupted_at(bench, module, number, "run", "brief.bench")
    assert (code, said.strip()) == (130, "interrupted")
    assert bench.run_dirs() == []


def test_an_interruption_that_a_library_has_dropped_stops_the_run(bench: Bench) -> None:
    system_tool("db_bench")
    bench.spec(ONE_FOLDER)
    code, said = interrupted_at(
        bench, "benchbrief.runners.execution.executor", signal.SIGINT, "run", "brief.bench", lost=True
    )
    assert code == 130, said
    assert "go on with: bench resume" in said
    assert bench.journal("cell_started") == []
