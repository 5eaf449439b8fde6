"""Every example's report, over generated results: the compiler's queries and the reports fit together."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchbrief.reports.provenance import fixed_keys
from benchbrief.reports.render import render
from tests.reports.generated import rows_for
from tests.reports.world import make_store
from tests.support.plans import compile_spec

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").rglob("*.bench"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_gives_a_report_in_which_nothing_is_missing(path: Path, tmp_path: Path) -> None:
    plan = compile_spec(path)
    store = make_store(rows_for(plan))
    assert plan.reports
    for report in plan.reports:
        html = render(plan, store, report.name, tmp_path, html_only=True).html.read_text("utf-8")
        assert report.title.split("&")[0] in html
        notes = re.findall(r'id="note-\d+"><sup>\d+</sup> ([^<]*)', html)
        assert all("at an offered load" in note or "confidence interval" in note for note in notes), notes
        assert "{" not in re.sub("<script.*?</script>", "", html.split("</style>")[1], flags=re.DOTALL)


def test_the_cells_behind_a_number_are_read_off_what_the_compiler_wrote() -> None:
    quickstart = compile_spec(next(path for path in EXAMPLES if path.stem == "quickstart"))
    gain = next(metric for metric in quickstart.metrics if metric.name == "gain")
    assert list(fixed_keys(gain.query.sql)) == [{"hardware": frozenset({"ram"})}, {"hardware": frozenset({"disk"})}]


def test_names_with_quotes_and_lists_of_names_are_read() -> None:
    conditions = "c.workload = 'it''s' AND c.threads = 4 AND c.experiment IN ('a', 'b')"
    sql = f"FROM measure.cells AS c\nWHERE {conditions}\nGROUP BY c.hardware"
    expected = {"workload": {"it's"}, "threads": {4.0}, "experiment": {"a", "b"}}
    assert list(fixed_keys(sql)) == [expected]
    assert list(fixed_keys("FROM measure.cells AS c\nGROUP BY c.threads")) == [{}]
