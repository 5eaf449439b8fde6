"""Tests every example's report with generated results: the compiler's queries and the reports fit together.

Three more examples are read as a whole in `tests/examples/test_pages.py`.
"""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from benchbrief.model import plan as p
from benchbrief.reports.render.render_report import render
from tests.examples.test_pages import GENERATED
from tests.reports.generated import rows_for
from tests.reports.world import make_store
from tests.support.examples import EXAMPLES
from tests.support.plans import compile_spec


@pytest.mark.parametrize("path", [path for path in EXAMPLES if path.stem not in GENERATED], ids=lambda path: path.stem)
def test_an_example_gives_a_report_in_which_nothing_is_missing(path: Path, tmp_path: Path) -> None:
    plan = compile_spec(path)
    store = make_store(rows_for(plan))
    assert plan.reports
    for report in plan.reports:
        html = render(plan, store, report.name, tmp_path, html_only=True).html.read_text("utf-8")
        titled = report.heading.parts if report.heading else ()
        if not any(isinstance(part, p.Said) for part in titled):  # a claim may be left open
            assert all(part in unescape(html) for part in report.title.split("…"))
        notes = re.findall(r'id="note-\d+"><sup class="of-note">[a-z]+</sup> ([^<]*)', html)
        written = " ".join(path.read_text("utf-8").split())  # an author's own footnotes are there as they stand
        assert all(
            re.search(
                "^Tied: |at an offered load|confidence interval|^All values are for |^Filled points: |in all, median"
                r"|repeats: .* interval\)$",
                note,
            )
            or " ".join(note.split()) in written
            for note in notes
        ), notes
        assert "{" not in re.sub("<script.*?</script>", "", html.split("</style>")[1], flags=re.DOTALL)


def test_a_number_has_the_measures_that_it_reads_and_where() -> None:
    quickstart = compile_spec(next(path for path in EXAMPLES if path.stem == "quickstart"))
    speedup = next(metric for metric in quickstart.metrics if metric.name == "speedup")
    assert [(read.measure, read.keys) for read in speedup.query.reads or ()] == [
        ("throughput", {"hardware": ("ram",)}),
        ("throughput", {"hardware": ("disk",)}),
    ]


def test_each_measure_that_a_query_joins_is_one_that_it_says_it_reads() -> None:
    plans = [compile_spec(path) for path in EXAMPLES]
    queries = [metric.query for plan in plans for metric in plan.metrics]
    assert any(len(query.reads or ()) > 1 for query in queries)
    for query in queries:
        assert query.reads is not None
        assert query.sql.count("FROM measure.cells AS c") == len(query.reads), query.text
