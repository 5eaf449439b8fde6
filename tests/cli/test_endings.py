"""Tests the end of a run's output: repeated messages appear once, and probes with too few samples are named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchbrief.cli import terminal
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.model.message import figure, share_figure
from benchbrief.model.run_messages import say
from benchbrief.progress.finished_run import Finished
from benchbrief.results.analysis.cautions import Patchy
from benchbrief.results.analysis.expectation_verdicts import ExpectVerdict
from benchbrief.running.run_output import Summary, as_dict, tell


def behind(achieved: float, offered: float) -> str:
    return say.behind_intended(
        achieved=figure(achieved, ",.0f"), offered=figure(offered, ",.0f"), share=share_figure(achieved / offered)
    )


FINISHED = Finished(
    Path("bench-out/20260314-091500-brief"),
    "done",
    "4 cells",
    sampled=(
        Patchy("cpu", 1, 4, 1, 0.0, "ramp/ssd/a/threads=4/r1"),
        Patchy("power", 2, 4, 0, 0.5, "ramp/hdd/a/threads=1/r1"),
    ),
)
SUMMARY = Summary(
    {"ok": 4, "failed": 0},
    tuple((behind(*of), 1) for of in ((900.0, 1000.0), (960.0, 2000.0))),
    (),
)


@pytest.mark.parametrize(
    ("held", "code"),
    [
        ((), ExitCode.DONE),
        ((True, True), ExitCode.DONE),
        ((True, None), ExitCode.CELL_FAILED),
        ((True, False), ExitCode.EXPECT_FAILED),
        ((None, False), ExitCode.EXPECT_FAILED),
    ],
)
def test_a_missing_verdict_has_the_code_of_a_missing_result_and_a_broken_expectation_its_own(
    held: tuple[bool | None, ...], code: ExitCode
) -> None:
    verdicts = tuple(ExpectVerdict("a > 0", "", each, "", "x.bench:1:1") for each in held)
    assert replace(FINISHED, verdicts=verdicts).code is code
    assert replace(FINISHED, verdicts=verdicts, simulated=True).code is ExitCode.DONE
    assert replace(FINISHED, verdicts=verdicts, status="failed").code is ExitCode.CELL_FAILED


def test_warnings_that_differ_only_in_their_numbers_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    tell(FINISHED, SUMMARY)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if "achieved" in line] == [
        (
            "  warning achieved 900–960 of 1,000–2,000 ops/s offered (48 %–90 %): its intended latencies count the "
            "wait behind late operations, its service latencies do not (2 cells)"
        )
    ]
    assert as_dict(FINISHED, SUMMARY)["warnings"] == [{"text": text, "cells": 1} for text, _ in SUMMARY.warnings]


def test_probes_that_sampled_too_little_are_reported_with_the_worst_cell(capsys: pytest.CaptureFixture[str]) -> None:
    tell(FINISHED, SUMMARY)
    lines = capsys.readouterr().out.splitlines()
    assert "  warning cpu was not sampled in 1 of 4 cells, such as ramp/ssd/a/threads=4/r1" in lines
    least, often = "for 50 % of the measured time in ramp/hdd/a/threads=1/r1", "for less than 95 % in 2 of 4 cells"
    assert f"  warning power was sampled {least}, and {often}" in lines


def test_sentences_end_between_words_at_the_terminal_s_width_and_commands_stay_whole(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "columns_of", lambda _stream: 80)
    command = "bench query --run 20260314-091500-brief 'FROM notes'"
    tell(
        FINISHED, replace(SUMMARY, next=(("see what its tools said of the cells above, and of others, with", command),))
    )
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    warned = lines.index(next(line for line in lines if line.startswith("  warning achieved")))
    assert lines[warned + 1].startswith(" " * 10), (
        "what follows stands below the sentence, and not below its first word"
    )
    assert f"  {command}" in lines


@pytest.mark.parametrize(
    ("lacks", "ended"),
    [
        ({}, "done"),
        ({"lost": ("raw/a is missing", "raw/b was changed")}, "done, but 2 raw outputs missing or changed"),
        ({"undrawn": ("figure 1 of `b`: out of range",)}, "done, but its brief lacks a part"),
        ({"made": False}, "done, but its tables or its brief could not be made"),
        ({"status": "failed", "lost": ("raw/a is missing",)}, "failed"),
    ],
)
def test_the_first_line_of_a_run_that_lacks_something_does_not_only_say_done(
    lacks: dict[str, Any], ended: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tell(replace(FINISHED, **lacks), SUMMARY)
    assert f"run 20260314-091500-brief: {ended}, 4 cells" in capsys.readouterr().out.splitlines()
