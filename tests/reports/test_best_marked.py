"""Tests `mark = best`: which values are bold, depending on direction and repeats, and the line below the table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchbrief.reports.render.render_report import render
from benchbrief.results.store.store_schema import LatencyRow, ThroughputRow
from tests.reports.generated import rows_for
from tests.reports.world import make_store
from tests.support.longer import longer
from tests.support.plans import compile_text

SPEC = """
hardware old "Old" { hosts = "old.lab" }
hardware new "New" { hosts = "new.lab" }
hardware next "Next" { hosts = "next.lab" }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload a "A" from ycsb.a { records = 100k }
workload c "C" from ycsb.c { records = 100k }
experiment ramp {
  hardware = [old, new, next]  workloads = [a, c]  threads = [1, 16]  measure = 10 s  repeats = REPEATS
}
metric best = max(throughput over threads, hardware), higher is better
report brief "Best" {
  template = technical_brief
  language = LANGUAGE
  disclosure = automatic
  table "T" { TABLE  mark = best }
}
"""
BY = "rows = workload  columns = throughput[threads: 16] by hardware"


def made(
    folder: Path, table: str, ops: Mapping[str, float], *, repeats: int = 4, language: str = "en", noise: float = 1e-3
) -> str:
    """Return the HTML. `ops` has the rate of each hardware. Workload c has a tenth of that rate, and latencies are the
    inverse of rates."""
    text = SPEC.replace("TABLE", table).replace("REPEATS", str(repeats)).replace("LANGUAGE", language)
    plan = compile_text(text, folder)
    cells = {cell.id: cell for cell in plan.cells}
    rows: list[tuple[Any, ...]] = []
    for row in rows_for(plan):
        if isinstance(row, ThroughputRow):
            cell = cells[row.cell_id]
            value = ops[cell.hardware] * (0.1 if cell.workload == "c" else 1) * (1 + noise * cell.repeat)
            rows.append(row._replace(ops_per_s=value))
        elif isinstance(row, LatencyRow):
            rows.append(row._replace(value_s=1 / ops[row.hardware] * (1 + noise * (row.repeat or 0))))
        else:
            rows.append(row)
    return render(plan, make_store(rows), "brief", folder, formats=("html", "markdown")).html.read_text("utf-8")


def bold(page: str) -> list[str]:
    """For each row of the first table, return a text with "B" for each bold number and "-" for each other one."""
    body = re.search(r'id="table-1">.*?<tbody>(.*?)</tbody>', page, re.DOTALL)
    assert body
    return [
        "".join("B" if "best" in kind else "-" for kind in re.findall(r'<td class="(n[^"]*)"', row))
        for row in body[1].split("</tr>")[:-1]
    ]


def said(page: str) -> str:
    found = re.search(r'<p class="remark compared">(.*?)</p>', page)
    assert found
    return found[1].replace("&#39;", "'")


FAR, NEAR = {"old": 1000.0, "new": 2000.0, "next": 4000.0}, {"old": 1000.0, "new": 4000.0, "next": 4000.5}


@pytest.mark.parametrize(
    ("table", "ops", "expected"),
    [
        (BY, FAR, ["--B", "--B"]),
        (BY, NEAR, ["-BB", "-BB"]),
        *longer(
            ("columns = workload  rows = throughput[threads: 16] by hardware", FAR, ["--", "--", "BB"]),
            ("rows = workload  columns = latency.p99[read][threads: 16] by hardware", FAR, ["--B", "--B"]),
            ("rows = workload  columns = [throughput[threads: 16], latency.p99[read][threads: 16]] by hardware", FAR,
             ["--B--B", "--B--B"]),
        ),
        ("rows = hardware  columns = [throughput[a, threads: 16], latency.p99[read][a, threads: 16]]", NEAR,
         ["--", "BB", "BB"]),
        *longer(
            ("rows = hardware  columns = throughput[threads: 16] by workload", FAR, ["--", "--", "BB"]),
            ("rows = workload  columns = throughput by hardware, threads", FAR, ["----BB", "----BB"]),
            ("rows = workload  columns = [throughput[old, threads: 16], throughput[next, threads: 16]]", FAR,
             ["-B", "-B"]),
        ),
    ],
)  # fmt: skip
def test_the_best_of_what_is_compared_is_bold_with_all_that_the_repeats_do_not_tell_from_it(
    table: str, ops: Mapping[str, float], expected: list[str], tmp_path: Path
) -> None:
    page = made(tmp_path, table, ops)
    assert bold(page) == expected
    along = table.startswith(("rows = hardware", "columns"))
    assert said(page).startswith(f"Bold: the best in each {'column' if along else 'row'}, or within noise of it")


def test_a_contender_without_others_has_its_own_values_compared(tmp_path: Path) -> None:
    table = "rows = workload  columns = [throughput[old, threads: 16], best]"
    page = made(tmp_path, table, FAR)
    assert bold(page) == ["BB", "--"]


def test_markdown_has_the_best_in_bold(tmp_path: Path) -> None:
    made(tmp_path, BY, FAR)
    text = (tmp_path / "brief.md").read_text("utf-8")
    assert re.search(r"\| A \| [^*|]+ \| [^*|]+ \| \*\*[^*|]+\*\* \|", text)


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "No value is marked as the best: without repeats, noise is unknown."),
        ("ja", "最良値の印はありません（反復がなく、ばらつきが不明なため）。"),
    ],
)
def test_what_was_measured_once_has_no_best_value_and_the_line_says_so(
    language: str, line: str, tmp_path: Path
) -> None:
    page = made(tmp_path, BY, FAR, repeats=1, language=language)
    assert bold(page) == ["---"] * 2
    assert line in said(page)


def test_a_japanese_brief_says_what_bold_means(tmp_path: Path) -> None:
    assert said(made(tmp_path, BY, FAR, language="ja")).startswith("太字は各行の最良値と")
