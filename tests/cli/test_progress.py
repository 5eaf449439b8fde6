"""Tests that the live display keeps up with several lanes that report at once."""

from __future__ import annotations

import os
import pty
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from benchbrief.cli.terminal import progress_of_step
from benchbrief.model.events import PromiseEnded, RateJudged, Remark
from benchbrief.progress.run_progress import Progress
from tests.support.plans import compile_spec, compile_text

QUICKSTART = Path(__file__).parents[2] / "examples" / "quickstart.bench"
REMARKS = 1500
SEARCH = """
hardware box { hosts = "box.lab" }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb"  reset = drop_and_load }
workload a from ycsb.a { records = 1k }
experiment e {
  hardware = box  workloads = a  threads = 8  measure = 60 s
  target   = highest(1k ops/s..20k ops/s, where: errors < 1 %, within: 5 %)
}
"""


@pytest.mark.long
@pytest.mark.timeout(60)
def test_lanes_that_report_while_the_display_is_redrawn_never_wait_for_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours, theirs = pty.openpty()
    read = bytearray()

    def drain() -> None:
        # Once its other side is closed, reading a terminal is an error on Linux.
        with suppress(OSError):
            while chunk := os.read(ours, 65536):
                read.extend(chunk)

    reader = threading.Thread(target=drain, daemon=True)
    reader.start()
    with os.fdopen(theirs, "w", buffering=1) as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        progress = Progress()
        with progress.of(compile_spec(QUICKSTART)):

            def lane(name: int) -> None:
                for number in range(REMARKS):
                    progress.record(Remark(at=0.0, severity="info", text=f"lane {name} remark {number}"))
                    if number % 50 == 0:
                        progress._live.refresh()

            lanes = [threading.Thread(target=lane, args=(name,), daemon=True) for name in range(3)]
            for thread in lanes:
                thread.start()
            for thread in lanes:
                thread.join(timeout=30)
            assert not any(thread.is_alive() for thread in lanes)
    reader.join(timeout=30)  # a character may lie across two reads: all of it, then the text
    assert not reader.is_alive()
    assert f"remark {REMARKS - 1}" in read.decode()


@pytest.mark.parametrize(
    ("so_far", "planned", "printed"),
    [(3, 9, "3 s of about 9 s"), (9, 3, "9 s, planned 3 s"), (61, 600, "1 min 01 s of about 10 min 00 s")],
)
def test_a_step_that_takes_longer_than_planned_is_not_a_part_of_its_plan(
    so_far: float, planned: float, printed: str
) -> None:
    assert progress_of_step(so_far, planned) == printed


@pytest.mark.parametrize(
    ("sure", "known"),
    [
        (False, "; not decided with 98 % confidence: no run broke it up to 1,000, none kept it from 4,000 ops/s on"),
        (True, ""),
    ],
)
def test_a_rate_that_its_search_did_not_decide_is_reported_with_what_its_runs_agree_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], sure: bool, known: str
) -> None:
    judged = (
        RateJudged(rate=1000.0, met=1, broken=0),
        RateJudged(rate=2000.0, met=2, broken=1, held_met=1, held_out=1),
        RateJudged(rate=3000.0, met=1, broken=2),
        RateJudged(rate=4000.0, met=0, broken=1),
    )
    ended = PromiseEnded(
        at=0.0,
        experiment="e",
        hardware="box",
        workload="a",
        kind="found",
        rate=2000.0,
        above=3000.0,
        sure=sure,
        held_met=1,
        held_out=1,
        rates=judged,
    )
    progress = Progress()
    with progress.of(compile_text(SEARCH, tmp_path)):
        progress.record(ended)
    printed = f"e (on box, with a) keeps its promise at {'' if sure else '≈ '}2,000 ops/s"
    printed += ": 3 of 4 runs there kept it, 1 of them held out"
    assert capsys.readouterr().err == f"{printed}{known}\n"
