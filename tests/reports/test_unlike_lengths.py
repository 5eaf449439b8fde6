"""Tests that a number from measurements with different measured times or warm-ups has a footnote about this."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.reports.render.render_report import render
from tests.reports.generated import rows_for
from tests.reports.world import make_store
from tests.support.plans import compile_spec

SPEC = """\
hardware box { hosts = local }
database rocks { engine = rocksdb  path = "/data/rocks" }
workload rr "Reads" from db_bench.readrandom { records = 1M }
experiment short "Short" { hardware = box  workloads = [rr]  threads = [1]  measure = 10 s  warm_up = 5 s }
experiment long "Long" { hardware = box  workloads = [rr]  threads = [1]  measure = 10 s  warm_up = 5 s }
metric gain "Gain" = throughput[long] / throughput[short]
report brief "A brief" { table "Gain" { rows = workload  column "Gain" = "{gain:.2f}" } }
"""


@pytest.mark.parametrize(("measure", "warned"), [("measure = 10 s", False), ("measure = 1 min", True)])
def test_a_ratio_of_unlike_measurements_has_a_footnote(measure: str, warned: bool, tmp_path: Path) -> None:
    before, long = SPEC.split("experiment long")
    (tmp_path / "brief.bench").write_text(f"{before}experiment long{long.replace('measure = 10 s', measure)}")
    plan = compile_spec(tmp_path / "brief.bench")
    page = render(plan, make_store(rows_for(plan)), "brief", tmp_path, html_only=True).html.read_text("utf-8")
    html = page.replace("\u00a0", " ")
    shown = "The measurements behind this are not alike in length"
    assert (shown in html) == warned
    if warned:
        assert "“Long” 1 min after 5 s of warm-up" in html
        assert "“Short” 10 s after 5 s of warm-up" in html
