"""Tests factors in a brief: the settings that an experiment varies, in every element and in both languages."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import NamedTuple

import pytest
from pypdf import PdfReader

from benchbrief.model.plan import Plan
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.data.view_model import (
    Block,
    CalloutView,
    DisclosureGroup,
    DisclosureView,
    FigureView,
    LevelTable,
    ReportView,
    TableView,
    TextView,
)
from benchbrief.reports.disclosure.levels import level_tables
from benchbrief.reports.disclosure.systems_under_test import fold_paths
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import CATALOGUES
from tests.reports import generated
from tests.reports.marked_notes import flat, marked_notes
from tests.reports.world import make_store
from tests.support.bench import fresh_bench
from tests.support.plans import compile_text

DECLARED = """
hardware box { hosts = local }
factor codec "Compression" { none "No compression" = "none"  lz4 "LZ4" = "lz4"  zstd "Zstandard" = "zstd" }
factor vsize "Value size" { levels = [100 B, 1 kB] }
factor tuning "Tuning" {
  level plain "As shipped" { cache = 8 MiB  cores = 2 }
  level tuned "Tuned" { cache = 256 MiB  cores = 8 }
}
database rocks "RocksDB" {
  engine = rocksdb  path = "/var/tmp/b/{codec}-{vsize}"
  options { compression = codec  cache = tuning.cache  max_background_jobs = tuning.cores }
}
workload rr "Random reads" from db_bench.readrandom { value_size = vsize }
workload rw "Mixed" from db_bench.readrandomwriterandom { value_size = vsize }
experiment matrix "Matrix" {
  hardware = box  workloads = [rr, rw]  threads = [1, 2, 4]  vary = [codec, vsize, tuning]
  when = codec != none or vsize > 100 B or tuning == plain
  measure = 10 s  repeats = 3
}
metric speed "Speed" in ops/s = max(throughput[rr] over threads), higher is better
expect throughput[rr, tuned] > 1 ops/s
"""
REPORT = """
report brief "Which compression?" {
  text = "LZ4 reads at {speed[lz4, vsize: 1 kB, tuned]}; on average it is {mean(speed over codec, vsize, tuning)}."
  callout "Best" { rows = codec  columns = mean(speed over vsize, tuning) }
  table "Speed" { rows = codec  columns = speed[tuned] by vsize }
  table "Whole" { rows = codec  columns = mean(speed[vsize: 1 kB] over tuning) }
  figure "Ramp" { line = throughput[rr, tuned] by threads, color codec  multiples = vsize }
  figure "Bars" { bars = speed[tuned] by vsize, color codec }
  figure "Two" { line = throughput[rr, tuned, vsize: 1 kB, codec: lz4] by threads }
  figure "Some" { line = latency.p99[read, rr, tuned, vsize: 1 kB] by threads, color codec }
  table "Configuration" { rows = facts }
  disclosure = automatic
}
"""
CACHE = """
hardware box { hosts = local }
factor block_cache "Block cache" { levels = range(8 MiB, 1 GiB, factor: 2) }
database rocks { engine = rocksdb  path = "/var/tmp/b/x"  options { cache = block_cache } }
workload rr from db_bench.readrandom
experiment ramp { hardware = box  workloads = rr  threads = 8  vary = block_cache  measure = 30 s  repeats = 3 }
metric most in ops/s = max(throughput over block_cache), higher is better
metric enough "Enough" in MiB = min(block_cache over block_cache, when throughput >= 0.95 * most)
report brief "How much cache?" {
  figure "Line" { line = throughput by block_cache  mark = enough }
  figure "Bars" { bars = throughput by block_cache }
  table "All" { rows = block_cache  columns = throughput }
  disclosure = automatic
}
"""


class Made(NamedTuple):
    plan: Plan
    view: ReportView

    @property
    def blocks(self) -> dict[str, Block]:
        return {getattr(block, "title", ""): block for block in flat(self.view.blocks)}

    def figure(self, title: str) -> FigureView:
        found = self.blocks[title]
        assert isinstance(found, FigureView)
        return found

    def table(self, title: str) -> TableView:
        found = self.blocks[title]
        assert isinstance(found, TableView)
        return found

    def notes(self, block: Block) -> list[str]:
        return marked_notes(self.view, block)

    def group(self, title: str) -> DisclosureGroup:
        (disclosure,) = (block for block in self.view.disclosed if isinstance(block, DisclosureView))
        return next(group for group in disclosure.groups if group.title == title)


def make(text: str, folder: Path, language: str = "en") -> Made:
    plan = compile_text(text, folder)
    (report,) = plan.reports
    return Made(plan, build(plan, make_store(generated.rows_for(plan)), report, CATALOGUES[language]))


@pytest.fixture(scope="module")
def compression(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make(DECLARED + REPORT, tmp_path_factory.mktemp("compression"))


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make(CACHE, tmp_path_factory.mktemp("cache"))


def plain(text: str) -> str:
    return text.replace("\u00a0", " ")


# --- what a combination lacks ------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_combination_that_the_spec_leaves_out_is_blank_in_a_table_and_nothing_is_missing(compression: Made) -> None:
    table = compression.table("Speed")
    texts = [[cell.html.striptags() for cell in row.cells] for row in table.rows]
    assert texts[0][0] == ""
    assert all(text for row in (texts[0][1:], *texts[1:]) for text in row)
    assert not any("missing" in note.text or "planned" in note.text for note in table.notes)


def test_a_combination_that_the_spec_leaves_out_has_no_point_and_no_gap_in_a_figure(compression: Made) -> None:
    ramp, bars = compression.figure("Ramp"), compression.figure("Bars")
    assert all("gap" not in note.text and "missing" not in note.text for note in (*ramp.notes, *bars.notes))
    assert {(plain(panel), name) for panel, name, *_ in ramp.data} == {
        (panel, name)
        for panel in ("Value size 100 B", "Value size 1 kB")
        for name in ("No compression", "LZ4", "Zstandard")
    } - {("Value size 100 B", "No compression")}
    assert not any("–" in row for figure in (ramp, bars) for row in figure.data)


def test_a_line_breaks_where_a_combination_is_left_out_and_its_data_have_no_row(tmp_path: Path) -> None:
    text = CACHE.partition("metric")[0].replace("range(8 MiB, 1 GiB, factor: 2)", "[1 MiB, 4 MiB, 16 MiB]")
    text = text.replace(
        "vary = block_cache", "vary = [block_cache, codec]  when = block_cache != 4 MiB or codec != lz4"
    )
    text = text.replace("cache = block_cache }", "cache = block_cache  compression = codec }")
    text += 'factor codec { none = "none"  lz4 = "lz4" }\n'
    figure = make(
        f'{text}report b "B" {{ figure "F" {{ line = throughput by block_cache, color codec }} }}', tmp_path
    ).figure("F")
    assert [note.text for note in figure.notes] == ["A line breaks where the specification leaves out a combination."]
    assert [plain(row[1]) for row in figure.data if row[0] == "codec lz4"] == ["1 MiB", "16 MiB"]
    assert len([row for row in figure.data if row[0] == "codec none"]) == 3


def test_the_file_of_numbers_has_none_for_a_combination_that_is_left_out(compression: Made) -> None:
    found = [number.at for number in compression.view.numbers.numbers if number.place == "Table 1"]
    assert sum(at.get("codec") == "none" for at in found) == 1
    assert sum(at.get("codec") == "lz4" for at in found) == 2


def test_a_value_over_levels_says_where_the_spec_leaves_combinations_out(compression: Made) -> None:
    callout, text = compression.blocks["Best"], compression.view.blocks[0]
    assert isinstance(callout, CalloutView)
    assert isinstance(text, TextView)
    said = "These values go over different points: not all combinations are measured (Compression, Value size, Tuning)."
    assert said in compression.notes(callout)
    assert said in compression.notes(text)
    assert said not in compression.notes(compression.table("Whole"))


# --- names -------------------------------------------------------------------------------------------------------


def test_a_level_that_is_a_number_is_named_with_its_factor_unless_an_axis_or_a_corner_names_it(
    compression: Made, cache: Made
) -> None:
    assert [plain(head.label) for head in compression.table("Speed").columns] == ["Value size 100 B", "Value size 1 kB"]
    assert compression.table("Speed").corner == "Compression"
    assert [row.head.label for row in compression.table("Speed").rows] == ["No compression", "LZ4", "Zstandard"]
    assert cache.table("All").corner == "Block cache"
    assert plain(cache.table("All").rows[0].head.label) == "8 MiB"


def test_levels_in_brackets_are_named_once_for_all_values(compression: Made) -> None:
    assert "All values are for Tuned." in {note.text for note in compression.table("Speed").notes}
    figure = compression.figure("Two")
    assert figure.alt.startswith("Line chart: Throughput, Random reads, Tuned, 1 kB, LZ4 (ops/s)")
    assert [plain(text) for text in compression.notes(figure)] == ["All values are for Value size 1 kB."]


def test_a_level_has_one_colour_in_every_figure(compression: Made) -> None:
    lz4 = {
        re.search(r'stroke="(#[0-9a-fA-F]{6})"[^>]*>|fill="(#E69F00)"', figure.svg, re.IGNORECASE) is not None
        for figure in map(compression.figure, ("Ramp", "Bars", "Some"))
        if "#E69F00".casefold() in figure.svg.casefold()
    }
    assert lz4 == {True}


def test_sentences_name_the_levels_and_not_the_only_hardware(compression: Made) -> None:
    (repeats, *_) = compression.group("Repeatability").items
    assert re.search(
        r"\((No compression|LZ4|Zstandard), Value size (100 B|1 kB), (As shipped|Tuned), ", plain(repeats.text)
    )
    (judged, *_) = compression.group("Expectations").items
    assert "(Value size 1 kB, No compression" in plain(judged.text) or "(No compression, Value size 1 kB" in plain(
        judged.text
    )
    assert "box" not in judged.text


def test_named_levels_are_compared_with_each_other_and_amounts_are_not(compression: Made, cache: Made) -> None:
    said = " ".join(item.text for item in compression.group("Repeatability").items)
    assert "between 4 pairs" in said  # three codecs, and two tunings
    assert "pairs" not in " ".join(item.text for item in cache.group("Repeatability").items)


@pytest.mark.long
def test_sentences_name_hardware_and_levels_where_both_differ(tmp_path: Path) -> None:
    text = DECLARED.replace(
        "{ hosts = local }", '"Box" { hosts = local }\nhardware rack "Rack" { hosts = "rack.lab" }', 1
    )
    report = """
report brief "B" {
  table "Speed" { rows = codec  columns = speed[tuned, vsize: 1 kB] by hardware }
  disclosure = automatic
}
"""
    made = make(text.replace("hardware = box ", "hardware = [box, rack] ") + report, tmp_path)
    (repeats, *_) = made.group("Repeatability").items
    assert re.search(r"\((Box|Rack), (No compression|LZ4|Zstandard), Value size ", plain(repeats.text))
    assert made.view.provenance.system == "Hardware, Compression, Value size, Tuning"


def test_the_appendix_names_the_levels_of_each_measurement(compression: Made) -> None:
    assert compression.view.provenance.system == "Compression, Value size, Tuning"
    assert plain(compression.view.provenance.measurements[0].hardware) == "No compression, 100 B, As shipped"


# --- amounts on an axis ------------------------------------------------------------------------------------------


def test_amounts_are_an_axis_in_their_unit_with_a_mark_that_stands_upright(cache: Made) -> None:
    line = cache.figure("Line")
    assert "Throughput (ops/s) by Block cache (MiB)" in line.alt
    assert ">1,024<" in line.svg
    marked = next(row for row in line.data if row[0] == "Enough")
    assert re.fullmatch(r"\d+ MiB", plain(marked[-1]))
    bars = cache.figure("Bars")
    assert "Throughput (ops/s) by Block cache." in bars.alt
    assert ">8<" in bars.svg  # and the unit below, as the bars are narrow
    assert ">MiB<" in bars.svg


def test_the_data_of_a_figure_have_amounts_in_base_units(cache: Made) -> None:
    head, first, *_ = cache.figure("Line").csv.splitlines()
    assert head.startswith("series,block_cache,value,unit")
    assert first.startswith("Throughput,8388608,")


# --- the disclosure ----------------------------------------------------------------------------------------------


def test_the_disclosure_has_each_levels_configuration_once_as_a_table(compression: Made) -> None:
    group = compression.group("Settings that vary")
    assert group.tables == (
        LevelTable(("Compression", "Value"), (("No compression", "none"), ("LZ4", "lz4"), ("Zstandard", "zstd"))),
        LevelTable(("Tuning", "cache", "cores"), (("As shipped", "8\u00a0MiB", "2"), ("Tuned", "256\u00a0MiB", "8"))),
    )
    assert [(item.term, plain(item.text)) for item in group.items] == [
        ("Value size", "100 B, 1 kB"),
        (
            "Matrix",
            "Compression × Value size × Tuning: 11 of 12 combinations; the others were left out by the specification",
        ),
    ]
    systems = compression.group("Systems under test").items
    assert [item.term for item in systems] == ["RocksDB"]
    workloads = {item.term: plain(item.text) for item in compression.group("Workloads").items}
    assert workloads["Random reads"].endswith("value_size = 100 B / 1 kB")


def test_a_level_that_some_experiment_has_without_varying_it_says_so(tmp_path: Path) -> None:
    more = """
experiment alone "Alone" { hardware = box  workloads = rr  threads = 8  vary = [vsize, tuning]  measure = 10 s }
"""
    plan = compile_text(DECLARED + more, tmp_path)
    results = Results(plan, make_store(generated.rows_for(plan)), CATALOGUES["en"])
    codec, tuning = level_tables(results)
    assert codec.rows[0] == ("No compression (where it does not vary)", "none")
    assert tuning.rows[0][0] == "As shipped"


def test_what_hosts_say_alike_of_the_data_sets_of_levels_is_said_once() -> None:
    facts = {f"device of /data/{level}": "/dev/sda" for level in "abcde"} | {"device of /": "/dev/sdb", "os": "Linux"}
    assert fold_paths(facts, CATALOGUES["en"]) == {
        "device of /data/a, /data/b, /data/c, and 2 more": "/dev/sda",
        "device of /": "/dev/sdb",
        "os": "Linux",
    }


# --- the measure of the design -----------------------------------------------------------------------------------

FORBIDDEN = re.compile("hardware|ハードウェア", re.IGNORECASE)


@pytest.mark.long
@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_brief_on_a_factor_never_speaks_of_hardware(tmp_path: Path, language: str) -> None:
    """This applies to all pages, to tables of data, and to lines on the terminal."""
    report = REPORT.replace("{\n", f"{{\n  language = {language}\n", 1)
    with fresh_bench(tmp_path, paper=True) as bench:
        (bench.folder / "brief.bench").write_text(DECLARED + report, encoding="utf-8")
        ran = bench("run", "brief.bench", "--simulate").plainly()
        assert ran.code == 0, ran.text
        assert not FORBIDDEN.search(ran.text)
        require_no_hardware(bench.folder)
        assert "all hold" in bench("verify", "simulated").plainly().out


def require_no_hardware(folder: Path) -> None:
    pdfs, pages = list(folder.rglob("*.pdf")), list(folder.rglob("reports/*.html"))
    assert len(pdfs) == len(pages) == 2
    assert not any(FORBIDDEN.search(page.extract_text()) for pdf in pdfs for page in PdfReader(pdf).pages)
    assert not any(FORBIDDEN.search(unescape(page.read_text(encoding="utf-8"))) for page in pages)
    tables = list(folder.rglob("reports/**/*.csv"))
    assert len(tables) == 4
    assert not any(FORBIDDEN.search(each.read_text(encoding="utf-8")) for each in tables)
