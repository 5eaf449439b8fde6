"""Tests what tables, figures and texts say about the points that their values come from, such as a single fixed point,
or a ramp's unmeasured points."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from benchbrief.model import events as j
from benchbrief.reports.data.view_model import ReportView, TableView
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.build_store import rebuild
from benchbrief.results.open_store import open_store
from benchbrief.runners.execution.executor import execute
from benchbrief.runners.journal.run_folder import create_run
from tests.reports.marked_notes import flat, marked_notes
from tests.support.longer import longer
from tests.support.plans import compile_text

SPEC = """
hardware box "Shared" {{
  hosts = "box.lab"
  variant plain "Plain"    {{ path = "/p" }}
  variant zstd "Zstandard" {{ path = "/z" }}
}}
database rocks {{ engine = rocksdb  path = "{{path}}" }}
workload rr  "Reads" from db_bench.readrandom {{ records = 10k }}
workload rww "Both"  from db_bench.readwhilewriting {{ records = 10k }}
experiment ramp {{ hardware = box.variants  workloads = [rr, rww]  threads = {threads}  measure = 1 min }}
report brief "B" {{
  text = "At most {{max(throughput over threads, workload, hardware)}}, and {{throughput[plain, rr, threads: 8]}}."
  table "Fixed"    {{ rows = hardware  columns = throughput[threads: 8] by workload }}
  table "Zstd"     {{ rows = threads   columns = throughput[zstd] by workload }}
  table "Ramp"     {{ rows = hardware  columns = throughput[rr] by threads }}
  table "At 8 threads" {{ rows = hardware  columns = throughput[threads: 8] by workload }}
  figure "Bars"    {{ bars = throughput[rr, threads: 8] by hardware }}
  figure "Curve"   {{ curve = throughput[rr], latency.p99[rr, read] along threads, color hardware }}
  figure "Line"    {{ line = throughput[rr] by threads, color hardware }}
}}
"""


RAGGED = """
hardware box {{ hosts = "box.lab" }}
factor codec "Compression" {{ none "No compression" = "none"  lz4 "LZ4" = "lz4" }}
factor cached "Cache" {{ levels = [8 MiB, 64 MiB] }}
database rocks {{ engine = rocksdb  path = "/var/tmp/b"  options {{ compression = codec  cache = cached }} }}
workload rr  "Reads" from db_bench.readrandom {{ records = 10k }}
experiment ramp {{
  hardware = box  workloads = rr  threads = {threads}  measure = 1 min
  vary = [codec, cached]  when = codec != none or cached > 8 MiB
}}
report brief "B" {{
  text = "At most {{max(throughput over threads, codec, cached)}}, and {{max(throughput[lz4] over threads, cached)}}."
  table "All"     {{ rows = codec   columns = max(throughput over threads, cached) }}
  table "Apart"   {{ rows = codec   columns = max(throughput over threads) by cached }}
  figure "Line"   {{ line = max(throughput over cached) by threads, color codec }}
  figure "Panels" {{ line = throughput by threads, color codec  multiples = cached }}
}}
"""


def notes_of(folder: Path, threads: str, language: str = "en", spec: str = SPEC) -> Mapping[str, list[str]]:
    """Return the footnotes of each block in the brief of a simulated run, including footnotes of other blocks that it
    refers to. The keys are the blocks' titles, or "" for the text."""
    view = view_of(folder, threads, language, spec)
    return {getattr(block, "title", ""): marked_notes(view, block) for block in flat(view.blocks)}


def view_of(folder: Path, threads: str, language: str = "en", spec: str = SPEC) -> ReportView:
    plan = compile_text(spec.format(threads=threads), folder)
    run_dir = create_run(folder / "out", plan, {}, simulated=j.Simulated())
    execute(plan, "", run_dir)
    rebuild(run_dir, plan)
    with open_store(run_dir) as store:
        (report,) = plan.reports
        return build(plan, store, report, CATALOGUES[language])


@pytest.mark.parametrize(
    ("language", "fixed"),
    [("en", "All values are for 8 threads."), *longer(("ja", "値はすべて 8 スレッドのものです。"))],
)
def test_a_point_fixed_by_brackets_is_reported_where_no_label_says_it(
    tmp_path: Path, language: str, fixed: str
) -> None:
    found = notes_of(tmp_path, "[1, 2, 8]", language)
    assert found["Fixed"] == [fixed]
    assert fixed in found["Bars"], "its axis says `Reads`, and not how many threads"
    assert found["At 8 threads"] == ([] if language == "en" else [fixed]), "its title says it in English"
    assert not found[""], "a text says what it means itself"
    assert [("Zstandard" in text) for text in found["Zstd"]] == [True]
    assert [("Reads" in text) for text in found["Ramp"]] == [True]


@pytest.mark.long
def test_unmeasured_candidates_of_an_adaptive_ramp_are_reported_beside_all_that_is_over_it(tmp_path: Path) -> None:
    found = notes_of(tmp_path, "adaptive(1..8, points: 4)")
    said = {title: [text for text in texts if text.startswith("Adaptive ramp: ")] for title, texts in found.items()}
    assert len(found[""]) == 1, "the maximum is over the ramp, and the other number is not"
    for title in ("", "Zstd", "Ramp", "Curve"):
        assert len(said[title]) == 1, (title, found[title])
        assert "of 8 candidates" in said[title][0]
    assert not said["Fixed"], "one point is no ramp"
    assert not said["Bars"]
    assert not said["Line"], "its axis marks them"
    (tmp_path / "ja").mkdir()
    japanese = notes_of(tmp_path / "ja", "adaptive(1..8, points: 4)", "ja")
    assert any(text.startswith("適応ランプ：候補 8 点のうち、") for text in japanese["Curve"])


def test_a_table_has_no_columns_for_points_that_its_ramp_has_not_chosen(tmp_path: Path) -> None:
    view = view_of(tmp_path, "adaptive(1..8, points: 4)")
    ramp, fixed = (next(b for b in view.blocks if isinstance(b, TableView) and b.title == t) for t in ("Ramp", "Fixed"))
    assert len(ramp.columns) == 4
    assert all(cell.value is not None for row in ramp.rows for cell in row.cells)
    assert len(fixed.columns) == 2
    of_the_text_above, own = fixed.notes
    assert fixed.marks == (own.number,)
    assert str(of_the_text_above.text).startswith("Adaptive ramp")


def test_a_ramp_whose_points_are_all_measured_needs_no_remark(tmp_path: Path) -> None:
    found = notes_of(tmp_path, "adaptive(6..8, points: 3)")
    assert not [text for texts in found.values() for text in texts if text.startswith("Adaptive ramp")]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "These values go over different points: not all combinations are measured (Compression, Cache)."),
        (
            "ja",
            "測定していない組み合わせがあるため、これらの値は同じ点を対象としていません（Compression、Cache）。",
        ),
    ],
)
def test_values_over_combinations_that_are_left_out_have_a_footnote(tmp_path: Path, language: str, said: str) -> None:
    found = notes_of(tmp_path, "[1, 2]", language, RAGGED)
    assert {title: said in texts for title, texts in found.items()} == {
        "": True,
        "All": True,
        "Apart": False,
        "Line": True,
        "Panels": False,
    }


def test_a_combination_that_is_left_out_is_blank_and_not_missing(tmp_path: Path) -> None:
    view = view_of(tmp_path, "[1, 2]", spec=RAGGED)
    (apart,) = (block for block in view.blocks if isinstance(block, TableView) and block.title == "Apart")
    assert [[cell.value is None for cell in row.cells] for row in apart.rows] == [[True, False], [False, False]]
    assert [[bool(cell.html) for cell in row.cells] for row in apart.rows] == [[False, True], [True, True]]
