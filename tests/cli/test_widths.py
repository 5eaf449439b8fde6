"""Tests progress on narrow terminals: no line is wider than the terminal, and no word is broken."""

from __future__ import annotations

import re

import pytest

from tests.cli.test_watching import terminal
from tests.support.bench import Bench
from tests.support.waiting import until

SPEC = """
hardware one { hosts = "a-host-with-a-long-name.lab" }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload a_workload_with_a_long_name from ycsb.a { records = 100k }
experiment a_ramp_with_a_long_name {
  hardware = one  workloads = a_workload_with_a_long_name  threads = [1, 16]  measure = 10 s
}
"""


@pytest.mark.parametrize(
    ("columns", "term", "failing"),
    [(60, "xterm-256color", False), (60, "dumb", True), (80, "xterm-256color", True), (80, "dumb", False)],
)
def test_lines_of_progress_fit_the_terminal(bench: Bench, columns: int, term: str, failing: bool) -> None:
    bench.spec(SPEC)
    wrong = ("--errors", "50%") if failing else ()
    asked = ("run", "brief.bench", "--simulate", "--no-report", *wrong)
    with terminal(bench, *asked, columns=columns, rows=50, env={"TERM": term}) as shown:
        until(lambda: shown.process.poll() is not None)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.said.decode())
    progress = re.split(r"\n\s*run \S+: (?:done|failed)", text)[0].replace("\r", "\n").splitlines()
    printed = [line for line in progress if line.strip()]
    assert len(printed) > 3
    wide = [line for line in printed if len(line) > columns and " " in line.strip()]
    assert not wide
    assert [line for line in printed if re.match(r"\[[12]/2\] (a_ramp|…threads=)", line)]
