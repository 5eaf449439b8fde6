"""Tests what a user sees on a real terminal."""

from __future__ import annotations

import re
import signal

import pytest

from benchbrief.cli.terminal import EndRequest, show_error
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.runners.journal.secret_masking import KNOWN
from tests.cli.specs import ONE_FOLDER
from tests.cli.test_watching import terminal
from tests.support.bench import Bench
from tests.support.tools import system_tool


def on_a_terminal(bench: Bench, *words: str, columns: int = 100, env: dict[str, str] | None = None) -> tuple[int, str]:
    """Return the exit code and the text on the terminal."""
    with terminal(bench, *words, columns=columns, rows=30, env=env) as shown:
        code = shown.process.wait(60)
    return code, shown.said.decode()


@pytest.mark.timeout(60)
def test_a_run_shows_live_progress_and_leaves_one_line_a_cell(bench: Bench) -> None:
    system_tool("db_bench")
    bench.spec(ONE_FOLDER)
    code, said = on_a_terminal(bench, "run", "brief.bench")
    assert code == 0, said
    assert re.search(r"0/2 cells  \d+ s gone, about \d+ s left", said)
    assert re.search(r"ramp/one/fill/threads=1\S*\s+(\x1b\[\d*m)*measure", said)
    assert re.search(r"\[1/2\] ramp/one/fill/threads=1\S* +[\d,]+ ops/s", said)
    assert "\x1b[?25h" in said, "the cursor is shown again"
    assert "\x1b[32m" in said, "the verdict is green"


@pytest.mark.timeout(60)
@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_colour_is_left_out_where_it_is_not_wanted(bench: Bench, env: dict[str, str]) -> None:
    bench.spec(ONE_FOLDER.replace("[fill]", "[fil]"))
    code, said = on_a_terminal(bench, "check", "brief.bench", env=env)
    assert code == 1
    assert "did you mean `fill`?" in said
    assert not re.search(r"\x1b\[\d*(;\d+)*m", said)


def test_errors_are_coloured_on_a_terminal(bench: Bench) -> None:
    bench.spec(ONE_FOLDER.replace("[fill]", "[fil]"))
    code, said = on_a_terminal(bench, "check", "brief.bench")
    assert code == 1
    assert "\x1b[" in said


@pytest.mark.parametrize("traceback", ["", "1"], ids=["a line", "a traceback"])
def test_an_unforeseen_error_tells_no_secret(
    traceback: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_TRACEBACK", traceback)
    with KNOWN.apart():
        KNOWN.add("hunter2-hunter2")
        error = show_error(ZeroDivisionError("no part of hunter2-hunter2, or hunter2%2Dhunter2"))
        assert show_error(FileNotFoundError(2, "No such file", "/ca/hunter2-hunter2.pem")).exit_code != 0
    said = capsys.readouterr().err
    assert error.exit_code is ExitCode.CELL_FAILED
    assert "ZeroDivisionError: no part of ***, or ***" in said
    assert "/ca/***.pem" in said
    assert "hunter2" not in said


def test_what_duckdb_makes_of_an_interrupt_is_one() -> None:
    interrupted = RuntimeError("Query interrupted")
    request = EndRequest()
    assert not request.caused(interrupted), "nobody asked to end"
    with pytest.raises(KeyboardInterrupt):
        request.on_interrupt(signal.SIGINT, None)
    assert request.caused(interrupted)
    assert request.caused(KeyboardInterrupt())
    assert not request.caused(ValueError("a mistake of ours"))
