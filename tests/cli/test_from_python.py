"""Tests that notebooks and scripts with `import benchbrief as bb` get the same numbers, figures and errors as
commands."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

import benchbrief as bb
from benchbrief.reports.charts.svg_converter import Converter
from tests.cli.conftest import FinishedRun
from tests.cli.specs import SMALL, WRONG
from tests.docs.samples import samples
from tests.support.bench import Bench

PANELS = SMALL.replace(
    'figure "Throughput by threads" { line = throughput by threads, color hardware }',
    'figure "Throughput by threads" { line = throughput by threads  multiples = hardware }\n'
    '  figure "Twice" { line = throughput by threads, color hardware }\n'
    '  figure "Twice" { line = latency.p99[read] by threads, color hardware }',
)


@pytest.fixture
def run(finished_run: FinishedRun) -> Any:
    with bb.open(out=finished_run.bench.folder / "bench-out") as opened:
        yield opened


def _points(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the points of all lines of a chart."""
    own = [each for each in spec.get("data", {}).get("values", ()) if each.get("y") is not None and "order" in each]
    parts = [part for key in ("layer", "concat") for part in spec.get(key, ())]
    return own + [point for part in parts for point in _points(part)]


def test_tables_views_and_metrics_have_the_rows_that_queries_have(finished_run: FinishedRun, run: bb.Run) -> None:
    for name, asked in (("cells", "FROM cells"), ("spread", "FROM measure.spread"), ("measure.mean", None)):
        answer = run.table(name)
        assert sorted(map(str, answer.rows())) == sorted(map(str, run.sql(asked or f"FROM {name}").rows()))
        assert len(answer) > 0
    throughput = "SELECT cell_id, ops_per_s FROM throughput ORDER BY ALL"
    assert run.sql(throughput).rows() == finished_run.bench("query", throughput, "--json").json
    gain = finished_run.bench("query", "FROM metric.gain", "--json").json
    assert run.metrics == ["gain"]
    assert run.metric("gain").rows() == gain
    assert len(gain) == 2


@pytest.mark.long
def test_a_comparison_has_the_numbers_and_refusals_of_the_command(finished_run: FinishedRun) -> None:
    bench = finished_run.bench
    out, hardware = bench.folder / "bench-out", list(bb.open(out=bench.folder / "bench-out").plan.hardware)[:2]
    named = [f"last:{key}" for key in hardware]
    found, printed = bb.compare(*named, out=out), bench("compare", *named, "--json").json
    assert list(found.runs) == ["A", "B"]
    assert found.worse == printed["worse"]
    columns = ("metric", "ratio", "p_holm", "verdict", "reason")
    assert [[row[name] for name in columns] for row in found.pairs.rows()] == [
        [row[name] for name in columns] for row in printed["comparisons"]
    ]
    assert {row["contender"] for row in found.ranking.rows()} == {"A", "B"}
    assert "<table>" in found._repr_html_()
    assert set(found.differences[0]) == {"what", "A", "B"}
    for wrong, said in (
        (("last",), "takes 2 to 26"),
        (("last", "last"), "are the same run"),
        (("last", "x"), "no run x"),
    ):
        with pytest.raises(bb.BenchError, match=rf"{said}.*\nhelp: .") as raised:
            bb.compare(*wrong, out=out)
        assert raised.value.hint


@pytest.mark.long
def test_an_answer_is_taken_by_pandas_polars_and_duckdb(run: bb.Run) -> None:
    import polars as pl  # it starts a thread

    answer = run.sql("SELECT hardware, threads, mean FROM measure.spread WHERE phase IS NULL AND operation = 'all'")
    rows = answer.rows()
    assert answer.df().to_dict("records") == rows
    assert answer.pl().to_dicts() == rows
    assert pl.DataFrame(answer).to_dicts() == rows
    assert duckdb.from_arrow(answer.arrow()).fetchall() == [tuple(row.values()) for row in rows]
    assert answer.columns == ["hardware", "threads", "mean"]
    assert "<th>threads</th>" in answer._repr_html_()


def test_a_figure_has_the_points_of_the_brief(run: bb.Run) -> None:
    ((report, number, title),) = run.figures
    assert (report, number, title) == ("brief", 1, "Throughput by threads")
    drawn = run.figure("Throughput by threads").to_dict()
    values = [datum["y"] for datum in _points(drawn)]
    measured = run.sql("SELECT mean FROM measure.spread WHERE phase IS NULL AND operation = 'all'").rows()
    for row in measured:
        assert any(abs(value * factor - row["mean"]) < 1e-6 * row["mean"] for value in values for factor in (1, 1e3))
    assert run.figure(1).to_dict() == drawn


@pytest.mark.long
def test_panels_of_a_figure_have_data_of_their_own(bench: Bench) -> None:
    bench.spec(PANELS)
    assert bench("run", "brief.bench", "--simulate", "--no-report").code == 0
    with bb.open("simulated", out=bench.folder / "bench-out") as run:
        assert run.simulated
        assert "(simulated)" in run._repr_html_()
        assert all(row["simulated"] is True for row in run.table("cells").rows())
        drawn = run.figure("Throughput by threads").to_dict()
        assert len(drawn["concat"]) == 2
        assert drawn["title"]["text"] == "Throughput by threads (simulated)"
        first, second = ([datum["y"] for datum in _points(panel)] for panel in drawn["concat"])
        assert first != second
        with Converter().running() as converter:
            lines = re.findall(r'class="mark-line[^>]*>\s*<path[^>]* d="([^"]+)"', converter.svg(drawn))
        assert len(lines) == len({*lines}) == 2
        with pytest.raises(bb.BenchError, match="2 figures are meant by 'Twice': 2 of 'brief', 3 of 'brief'"):
            run.figure("Twice")
        assert run.figure(3).to_dict() != run.figure(2).to_dict()


def test_what_is_not_there_is_reported_with_what_is(run: bb.Run, tmp_path: Path) -> None:
    for ask, printed, hint in (
        (lambda: run.table("cell"), "there is no table 'cell'", "did you mean 'cells'?"),
        (lambda: run.metric("gian"), "there is no metric 'gian'", "did you mean 'gain'?"),
        (lambda: run.figure("Throughput"), "there is no figure 'Throughput'", "did you mean 'Throughput by threads'?"),
        (lambda: run.sql("DROP TABLE cells"), "DROP is not allowed", "read-only"),
        (lambda: bb.open(out=tmp_path), f"no run in {tmp_path}", "bench run SPEC"),
    ):
        with pytest.raises(bb.BenchError) as raised:
            ask()
        assert printed in raised.value.message
        assert hint in raised.value.hint
        assert str(raised.value) == f"{raised.value.message}\nhelp: {raised.value.hint}"


def test_a_spec_is_checked_and_planned(tmp_path: Path) -> None:
    right, wrong = tmp_path / "right.bench", tmp_path / "wrong.bench"
    right.write_text(SMALL.replace("@DATA@", "/data").replace("@TOOL@", "db_bench"))
    wrong.write_text(WRONG.replace("@DATA@", "/data").replace("@TOOL@", "db_bench"))
    checked = bb.check(right)
    assert checked
    assert checked.cells == 4
    planned = bb.plan(right)
    cells = planned.cells.rows()
    assert [(cell["hardware"], cell["threads"]) for cell in cells] == [("one", 1), ("one", 2), ("two", 1), ("two", 2)]
    assert 4 < sum(cell["seconds"] for cell in cells) <= planned.seconds
    refused = bb.check(wrong)
    assert not refused
    assert refused.cells is None
    assert "did you mean `rr`?" in str(refused)
    with pytest.raises(bb.SpecWrong, match="did you mean `rr`") as raised:
        bb.plan(wrong)
    assert raised.value.diagnostics
    unit = bb.check(tmp_path / "missing.bench")
    assert "missing.bench" in str(unit)


def test_what_is_offered_is_what_is_there() -> None:
    assert {*bb.__all__} <= {*dir(bb)}
    for name in bb.__all__:
        assert getattr(bb, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nope'"):
        bb.nope  # type: ignore[attr-defined]  # noqa: B018 - the lookup itself is tried


def test_the_import_brings_no_library_along() -> None:
    heavy = "{'duckdb', 'altair', 'pyarrow', 'pydantic', 'weasyprint', 'click', 'rich'}"
    asked = f"import sys, benchbrief; print(*({heavy} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout == "\n"


def test_the_samples_of_the_page_run_as_they_stand(
    finished_run: FinishedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(finished_run.bench.folder / "bench-out", tmp_path / "bench-out")
    spec = SMALL.replace("@DATA@", "/data").replace("@TOOL@", "db_bench").replace("records = 2k", "records = records")
    profile = "profile smoke { override experiment { threads = [1] } }"
    (tmp_path / "brief.bench").write_text(f"param records = 2k\n{spec}\n{profile}\n")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    parts = [sample.text for sample in samples("docs/python.md") if sample.language == "python"]
    for part in parts:
        exec(compile(part, "docs/python.md", "exec"), names)  # noqa: S102 - our own page
    assert len(parts) == 3
    assert names["found"].runs["B"].endswith(":two")
    assert names["checked"].cells == 2
    assert names["planned"].seconds > 0
