"""Tests whole reports: the page, the PDF, and the statements that no reader may miss."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader

import benchbrief.reports
from benchbrief.extensions.tools.db_bench.db_bench_output import say
from benchbrief.model import plan as p
from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.charts.build_figure import drawing
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.render.render_report import Rendered, render
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.store import store_schema as s
from benchbrief.results.store.store_schema import SizeRow
from tests.reports import briefs
from tests.reports import world as w
from tests.reports.test_pdf_ua import sheet_once
from tests.support.pages import as_text

GOLDENS = Path(__file__).parent / "goldens"


def made(world: w.World, report: p.Report, out: Path, *, html_only: bool = False) -> Rendered:
    return render(world.plan(report), world.store(), report.name, out, html_only=html_only)


def page(world: w.World, report: p.Report, out: Path) -> str:
    return made(world, report, out, html_only=True).html.read_text("utf-8")


def pdf(world: w.World, report: p.Report, out: Path) -> PdfReader:
    path = made(world, report, out).pdf
    assert path is not None
    return PdfReader(BytesIO(path.read_bytes()))


@pytest.fixture(scope="module")
def japanese(tmp_path_factory: pytest.TempPathFactory) -> PdfReader:
    """A brief in Japanese as PDF."""
    return PdfReader(sheet_once(tmp_path_factory, "technical_brief"))


@pytest.fixture(scope="module")
def incomplete(tmp_path_factory: pytest.TempPathFactory) -> PdfReader:
    """Return a PDF of a run with failed measurements."""
    return pdf(*briefs.quickstart(failed=True), tmp_path_factory.mktemp("incomplete"))


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the pages of three whole briefs, by name."""
    names = ("quickstart", "three_ssds", "cluster_shrink")
    return {name: page(*briefs.made(name), tmp_path_factory.mktemp(name)) for name in names}


def words_of(reader: PdfReader, *pages: int) -> str:
    chosen = pages or range(len(reader.pages))
    return re.sub(r"\s+", " ", " ".join(reader.pages[i].extract_text() for i in chosen))


def small(*elements: p.Element, **more: str) -> tuple[w.World, p.Report]:
    return w.World({"disk": "Disk"}, {"a": "Sessions"}), w.report("A report", *elements, **more)


class Outline(HTMLParser):
    """Collects the levels of headings and the resources, and checks that every element is closed in the right place."""

    def __init__(self) -> None:
        super().__init__()
        self.levels: list[int] = []
        self.resources: list[str] = []
        self.ids: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        self.resources += [found[name] or "" for name in ("src", "href", "xlink:href") if name in found]
        self.ids += [found["id"] or ""] if "id" in found else []
        if tag not in ("meta", "img", "br", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def outline(html: str) -> Outline:
    found = Outline()
    found.feed(html)
    assert found.open == []
    return found


@pytest.mark.parametrize("name", ["quickstart", "three_ssds", "cluster_shrink"])
def test_the_page_reads_as_it_did(name: str, pages: dict[str, str], golden: Callable[[Path, str], None]) -> None:
    golden(GOLDENS / f"{name}.html", as_text(pages[name]))


@pytest.mark.parametrize("name", ["quickstart", "three_ssds", "cluster_shrink"])
def test_the_page_is_whole_and_fetches_nothing(name: str, pages: dict[str, str]) -> None:
    html = pages[name]
    found = outline(html)
    assert [r for r in found.resources if not r.startswith(("#", "data:text/csv;"))] == []
    assert "url(http" not in html
    assert "@import" not in html
    assert len(found.ids) == len(set(found.ids))
    assert found.levels[0] == 1
    assert all(b - a <= 1 for a, b in zip(found.levels, found.levels[1:], strict=False))
    for target in (r[1:] for r in found.resources if r.startswith("#")):
        assert target in found.ids


@pytest.mark.long
def test_published_figures_give_the_published_results(tmp_path: Path) -> None:
    text = words_of(pdf(*briefs.cluster_shrink(), tmp_path))
    for multiplier in ("8.7X", "9.6X", "8.5X", "11.6X", "7.9X"):
        assert multiplier in text
    for ops in (
        "7,120.1",
        "10,404.4",
        "11,455.4",
        "28,671.5",
        "6,315.0",
        "818.3",
        "1,080.4",
        "1,347.2",
        "2,464.6",
        "794.7",
    ):
        assert ops in text
    assert "= Nodes, legacy × multiplier = 3 nodes × 8.701 = 26.10, rounded up to 27 nodes" in text
    assert re.search(r"Workload A 7,120.1 818.3 8.7 27 Workload B 10,404.4 1,080.4 9.6 29", text)


def test_the_pdf_is_tagged_titled_and_in_its_language(japanese: PdfReader) -> None:
    reader = japanese
    root: Any = reader.trailer["/Root"].get_object()  # a dictionary of dictionaries
    assert root["/Lang"] == "ja"
    assert root["/MarkInfo"]["/Marked"].value is True
    assert root["/StructTreeRoot"]
    assert root["/ViewerPreferences"]["/DisplayDocTitle"].value is True
    assert b"pdfuaid" in root["/Metadata"].get_object().get_data()
    assert reader.metadata is not None
    assert reader.metadata.title == "3種の NVMe SSD を RocksDB で比較する"
    outline_of: Any = reader.outline  # nested lists of bookmarks
    assert outline_of[0]["/Title"] == "3種の NVMe SSD を RocksDB で比較する"
    assert [b["/Title"] for b in outline_of[1] if isinstance(b, dict)] == [
        "スループットとレイテンシー",
        "帯域幅",
        "テスト情報の開示",
        "数値の出所",
    ]


def test_the_pdf_embeds_every_font_it_uses(japanese: PdfReader) -> None:
    names = set()
    for sheet in japanese.pages:
        resources: Any = sheet["/Resources"]
        for font in resources["/Font"].values():
            (inner,) = font.get_object()["/DescendantFonts"]
            descriptor = inner.get_object()["/FontDescriptor"]
            assert {"/FontFile2", "/FontFile3"} & set(descriptor)
            names.add(str(descriptor["/FontName"]))
    assert any("Noto-Sans-CJK" in name or "NotoSansCJK" in name for name in names)


def test_nothing_is_see_through_on_paper() -> None:
    """The PDF writer draws transparent elements separately, and they would lose their tags: PDF/UA-1, 7.1."""
    templates = Path(next(iter(benchbrief.reports.__path__))) / "templates"
    styles = {path.name: path.read_text() for path in templates.rglob("*.css")}
    assert "style.css" in styles
    assert [name for name, style in styles.items() if "opacity" in style] == []


def test_every_figure_has_an_alternative_text_with_its_numbers(pages: dict[str, str]) -> None:
    html = pages["quickstart"]
    alts = re.findall(r'<div class="plot"><svg role="img" aria-label="([^"]*)"', html)
    assert len(alts) == 9
    assert alts[0].startswith("Line chart: Throughput (ops/s) by Threads. RAM disk is the highest everywhere, 1.")
    assert " times the next one. Local disk: " in alts[0]
    assert "at 1 to" in alts[0]


def test_a_japanese_report_is_japanese_throughout(japanese: PdfReader) -> None:
    text = words_of(japanese)
    for expected in (
        "テクニカルブリーフ",
        "図 1：",
        "表 2：",
        "テスト情報の開示",
        "スレッド数",
        "読み取り p99 レイテンシー (ms)",
        "2026年3月14日",
    ):
        assert expected in text
    for english in ("Figure", "Table 1", "Test disclosure", "Declared", "Warnings"):
        assert english not in text
    assert "読み取りでは、最も遅い SSD の最大スループットは最速の SSD の 65 % でした" in text


@pytest.mark.long
def test_the_first_page_says_that_the_server_is_a_stand_in(tmp_path: Path) -> None:
    first = words_of(pdf(*briefs.quickstart(stand_in=True), tmp_path), 0)
    assert "Not a real database server. MongoDB in this brief: the server is mongo-java-server" in first
    assert "Not a real MongoDB" not in page(*briefs.quickstart(stand_in=False), tmp_path)


@pytest.mark.long
def test_the_first_page_names_failed_measurements_with_their_reasons(incomplete: PdfReader) -> None:
    first = words_of(incomplete, 0)
    assert "Incomplete results. 2 of 24 measurements failed or are missing" in first
    assert "ended with 12 failed operations of 60,000" in first
    assert "ramp/ram/b/threads=2/1" in words_of(incomplete)


def test_a_missing_number_is_a_dash_with_its_reason_below_and_never_zero(tmp_path: Path) -> None:
    html = page(*briefs.quickstart(failed=True), tmp_path)
    row = re.search(r'<tr><th scope="row">Session store</th>(.*?)</tr>', html, flags=re.DOTALL)
    assert row is not None
    number = re.search(r'>–</a><sup class="beside">\xa0<a href="#note-(\d+)" ', row[1])
    assert number is not None
    assert f'<p id="note-{number[1]}"><sup class="of-note">c</sup> the measurement failed: YCSB ended with 12' in html
    of_b = re.search(r"<h2>Photo tagging</h2>.*?</section>", html, flags=re.DOTALL)
    assert of_b is not None
    assert "YCSB ended" not in of_b[0]  # the reason of another cell
    assert re.search(
        r"1 of 6 points are missing and left as gaps \(the measurement failed: the server went away\)", html
    )


def test_a_cell_that_the_store_does_not_know_is_missing_and_noticed(tmp_path: Path) -> None:
    world, report = small(p.DisclosureElement())
    bigger = w.World(world.hardware, world.workloads, (1, 2, 4, 8))
    text = render(bigger.plan(report), world.store(), "brief", tmp_path, html_only=True).html.read_text()
    assert "1 of 4 measurements failed or are missing" in text
    assert ": ramp/disk/a/threads=8/1 (the run ended before it)." in text


def test_a_contradiction_of_a_declared_fact_is_marked_and_noticed(pages: dict[str, str]) -> None:
    html = pages["quickstart"]
    assert "<strong>Declared and observed differ. </strong>" in html
    assert html.count('class="differs"') == 1
    assert re.search(r'class="differs"><th scope="row">Processor</th><td>AMD EPYC 7402, 2 cores</td>', html)


def test_the_disclosure_suffices_to_judge_and_repeat_the_test(tmp_path: Path) -> None:
    world, report = small(p.DisclosureElement())
    world.expects = (
        p.Expect(text="throughput > 0", label="", query=w.query("SELECT 1.0 AS value", (), "1", "x"), origin=w.HERE),
        p.Expect(text="gain > 2", label="fast", query=w.query("SELECT 0.0 AS value", (), "1", "x"), origin=w.HERE),
    )
    html = page(world, report, tmp_path)
    for expected in (
        w.RUN,
        "2026-03-14 09:15:00 UTC",
        "quickstart.bench (SHA-256 " + "3f" * 32,
        "smoke",
        "db_bench 1.0 on local",
        "threads 1, 2, 4; warm-up 1\u00a0min; measured 20\u00a0min; repeats: 1; order: grouped by hardware",
        "coordinated omission",
        "merged latency histograms (3 distributions)",
        "Each point was measured once",
        "compression = none, cache = 8\u00a0MiB, sync = true",
        "In 3 measurements, the tool says that assertions are enabled in it",
        "None: all 3 planned measurements succeeded.",
        "throughput &gt; 0: holds",
        "gain &gt; 2: does not hold",
        "raw/ramp_disk_a_threads=1_1/1",
    ):
        assert expected in html
    assert "<strong>Expectations not met. </strong>1 of 2: fast" in html


def test_the_disclosure_says_that_a_declared_power_is_not_measured(tmp_path: Path) -> None:
    watts = p.Quantity(text="200 W", value=200.0, unit="W")
    world = w.World({"small": "Small", "large": "Large"}, {"a": "Sessions"}, facts={"small": {"power": watts}})
    html = page(world, w.report("A report", p.DisclosureElement()), tmp_path)
    assert "The power of Small is declared (200 W), not measured." in html
    assert "The power of Large" not in html


def test_options_that_differ_between_variants_are_reported_for_each(tmp_path: Path) -> None:
    world = w.World({"small": "Small", "large": "Large"}, {"a": "Sessions"})
    report = w.report("A report", p.DisclosureElement())
    plan = world.plan(report)
    database = plan.databases[p.DatabaseKey("db@large")]
    larger = database.model_copy(update={"options": {**database.options, "cache": 67108864.0}})
    plan = plan.model_copy(update={"databases": {**plan.databases, p.DatabaseKey("db@large"): larger}})
    cells = [row for row in world.rows() if isinstance(row, s.CellRow) and row.hardware == "large"]
    sizes = [
        SizeRow(w.RUN, cell.cell_id, measure, "db-2", size, "B", None)
        for cell, size in zip(cells, (206381056.0, 216381056.0), strict=False)
        for measure in ("database.size", "database.size_loaded")
    ]
    before_its_load = s.FactRow(w.RUN, "database", "large", "db@large", "size on disk", "4096 B", None, "observed")
    store = w.make_store([*world.rows(), *sizes, before_its_load])
    html = render(plan, store, "brief", tmp_path, html_only=True).html.read_text("utf-8").replace("\u00a0", " ")
    assert "Options compression = none, sync = true; data loaded once" in html
    assert "<b>RocksDB, Small</b> Options cache = 8 MiB</p>" in html
    on_disk = "on disk 197 MiB – 206 MiB after the load; on disk 197 MiB – 206 MiB after the measurement"
    assert f"<b>RocksDB, Large</b> Options cache = 64 MiB; {on_disk}</p>" in html


def test_repeats_that_lie_far_apart_are_noticed_first_and_reported_with_their_ends(tmp_path: Path) -> None:
    world, report = small(p.DisclosureElement())
    world.repeats = 2
    rows = [
        row._replace(ops_per_s=3000.0) if isinstance(row, s.ThroughputRow) and row.cell_id.endswith("=1/2") else row
        for row in world.rows()
    ]
    html = render(world.plan(report), w.make_store(rows), "brief", tmp_path, html_only=True).html.read_text("utf-8")
    html = re.sub('<bdi class="whole">(.*?)</bdi>', r"\1", html.replace("\u00a0", " "))
    shown = "71% (Disk, Sessions, 1 thread: 2 repeats, from 1,000 ops/s to 3,000 ops/s)"
    assert "At 1 of 3 points the throughput of the repeats has a coefficient of variation above 10%" in html
    assert f"median 2.8%, highest {shown}" in html
    assert html.index("at the most 71% (Disk, Sessions, 1 thread)") < html.index('id="disclosure"')


def test_repeats_that_agree_give_no_notice(tmp_path: Path) -> None:
    world, report = small(p.DisclosureElement())
    world.repeats = 2
    html = page(world, report, tmp_path)
    assert "Repeats differ widely" not in html
    assert "3 points were measured more than once" in html


def test_probes_data_set_and_compressible_values_are_disclosed(tmp_path: Path) -> None:
    world, report = small(p.DisclosureElement())
    plan = world.plan(report)
    probe = p.Probe(name="cpu", every_s=2, hosts=("local",), origin=w.HERE)
    data = p.Dataset(hash="d", records=200000, reuse=True)
    cells = tuple(c.model_copy(update={"probes": (probe,), "dataset": data}) for c in plan.cells)
    plan = plan.model_copy(update={"cells": cells})
    html = render(plan, world.store(), "brief", tmp_path, html_only=True).html.read_text("utf-8")
    assert "sampled: cpu every 2\u00a0s on local" in html
    assert "busy cores of the whole host" in html
    assert "values compress to half" in html
    assert "200,000 records, loaded by db_bench with fillseq" in html


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        (
            "en",
            "background thread: its operations are left out of the throughput and of <code>all</code>; --statistics",
        ),
        ("ja", "バックグラウンドスレッド：その操作はスループットと <code>all</code> に含みません。"),
    ],
)
def test_operations_that_a_throughput_leaves_out_are_disclosed_in_sentences(
    tmp_path: Path, language: str, sentence: str
) -> None:
    world, report = small(p.DisclosureElement(), language=language)
    first, second, *_ = (cell.id for cell in world.plan().cells)
    said = ((first, say.background_timed()), (second, say.background_unknown()))
    rows = [s.PropertyRow(w.RUN, cell, "db_bench", "background thread", text) for cell, text in said]
    store = w.make_store([*world.rows(), *rows])
    html = render(world.plan(report), store, "brief", tmp_path, html_only=True).html.read_text("utf-8")
    assert sentence in html.replace("\u00a0", " ")
    elsewhere = CATALOGUES[language]["d_elsewhere"].partition("{first}")[2].partition("{second}")[0]
    assert elsewhere in html, "another measurement has a sentence of its own"


def test_reports_of_another_spec_than_the_run_are_disclosed(tmp_path: Path) -> None:
    world, report = small(p.DisclosureElement())
    newer = {"newer.bench": "ab" * 32}
    made_of = render(world.plan(report), world.store(), "brief", tmp_path, html_only=True, reports_from=newer)
    expected = f"<b>Reports and metrics</b> from newer.bench (SHA-256 {'ab' * 32}), not from"
    assert expected in made_of.html.read_text("utf-8")


def test_a_column_of_a_number_of_threads_says_so_in_its_head(tmp_path: Path) -> None:
    lines = tuple(p.Line(label=f"{n}", query=w.throughput("workload", threads=n)) for n in (1, 4))
    table = p.TableElement(title="", dim="workload", dim_label="Workload", keys=w.keys({"a": "Sessions"}), lines=lines)
    assert re.findall(r'class="n">(\d threads?)<', page(*small(table), tmp_path)) == ["1 thread", "4 threads"]
    assert re.findall(r'class="n">(\dスレッド)<', page(*small(table, language="ja"), tmp_path)) == [
        "1スレッド",
        "4スレッド",
    ]


def test_a_formula_shows_a_declared_price_as_it_was_declared(tmp_path: Path) -> None:
    price = w.constant(0.1 / 3600, "USD/s", "price")
    terms = (p.Term(text="throughput", query=w.reduce("max", w.throughput("threads"), "threads")),
             p.Term(text="price", query=price))  # fmt: skip
    result = w.constant(4000 / (0.1 / 3600) / 1e6, "Mops/USD", "per_dollar")
    world, report = small(
        p.FormulaElement(name="Operations per dollar", for_label="", text="{0} / {1}", terms=terms, result=result)
    )
    world.facts = {"disk": {"price": p.Quantity(value=0.1 / 3600, unit="USD/s", text="0.10 USD/h")}}
    html = page(world, report, tmp_path).replace("\u00a0", " ")
    assert "= 4,000 ops/s × 3,600 s/h ÷ 0.10 USD/h" in re.sub("<[^>]*>", "", html)
    assert "= 144 Mops/USD" in re.sub("<[^>]*>", "", html)
    slides = page(world, report.model_copy(update={"template": "slide"}), tmp_path)
    assert "<h2>Operations per dollar</h2>" in slides


def test_every_number_comes_with_its_expression_and_its_sql(tmp_path: Path) -> None:
    html = page(*briefs.cluster_shrink(), tmp_path)
    assert "<code>nodes[legacy] * multiplier</code>" in html
    assert "FROM measure.cells AS c\nLEFT JOIN measure.throughput AS m" in html
    both = "ramp/eco/a/threads=96/1 ramp/legacy/a/threads=96/1"
    assert re.search(f'href="#source-[0-9]+" data-expression="multiplier" data-cells="{both}">8.7</a>', html)
    assert re.search('data-expression="throughput" data-cells="ramp/legacy/d/threads=96/1">2,464.6</a></td>', html)
    assert f'<body data-run="{w.RUN}">' in html


BAD = "<script>alert('1')</script>"


def of_bad_texts() -> tuple[w.World, p.Report]:
    """Return a brief in which each text of a spec and of a host is `BAD`."""
    bad = BAD
    world = w.World({"h": bad}, {"a": bad}, stand_in=True, engine="mongodb", observed={"kernel": bad, bad: bad},
                    failed={"ramp/h/a/threads=4/1": bad}, facts={"h": {"storage": bad}})  # fmt: skip
    keys = {"threads": w.keys([1, 2, 4]), "hardware": w.keys(world.hardware)}
    report = w.report(
        bad,
        p.CalloutElement(title=bad, table=p.TableElement(
            title=bad, dim="workload", dim_label=bad, keys=w.keys(world.workloads),
            lines=(p.Line(label=bad, unit=bad, query=w.throughput("workload")),))),
        p.TextElement(prose=w.text(bad)),
        w.figure(bad, w.series("line", w.throughput("hardware", "threads"), bad, "threads", color_dim="hardware"),
                 by=keys),
        p.FormulaElement(name=bad, for_label=bad, text="{0}", terms=(p.Term(text=bad, query=w.constant(1, "1", bad)),),
                         result=w.constant(1, bad, bad)),
        p.FactsElement(title=bad, hardware=("h",)), p.SectionElement(title=bad, elements=()), p.DisclosureElement(),
        subtitle=bad, author=bad, legal=w.text(bad),
    )  # fmt: skip
    return world, report


def test_nothing_from_a_spec_or_a_host_becomes_markup(tmp_path: Path) -> None:
    world, report = of_bad_texts()
    html = page(world, report, tmp_path)
    outline(html)
    assert set(re.findall("<script[^>]*>.", html)) == {'<script type="application/json">{', "<script>/"}
    drawings = html.count('<script type="application/json">{')
    assert drawings == html.count("<svg") == 2, "a figure for wide windows and one for phones, with the points of each"
    assert html.count("</script>") == drawings + html.count("<script>") == 3
    assert html.count("&lt;script&gt;alert") > 20


@pytest.mark.long
def test_a_pdf_shows_such_texts_as_they_are(tmp_path: Path) -> None:
    assert "alert('1')" in words_of(pdf(*of_bad_texts(), tmp_path))


def test_a_report_without_content_says_so(tmp_path: Path) -> None:
    reader = pdf(*small(), tmp_path)
    assert len(reader.pages) == 1
    assert "This report has no content" in words_of(reader)


def test_a_figure_without_any_value_says_so_instead_of_drawing(tmp_path: Path) -> None:
    none = w.query(
        "SELECT threads, NULL::DOUBLE AS value FROM measure.cells",
        ("threads",),
        "ops/s",
        "none",
        [w.read("throughput")],
    )
    element = w.figure("Empty", w.series("line", none, "Throughput", "threads"), by={"threads": w.keys([1, 2, 4])})
    html = page(*small(element), tmp_path)
    assert "Nothing to draw: no value was measured." in html
    assert "3 of 3 points are missing" in html
    assert "<svg" not in html


def test_repeats_give_an_interval_only_where_a_figure_asks_for_it(tmp_path: Path) -> None:
    sql = "SELECT threads, repeat, value FROM measure.throughput WHERE operation = 'all'"
    each = w.query(sql, ("threads", "repeat"), "ops/s", "throughput")
    by = {"threads": w.keys([1, 2, 4])}
    html = []
    for repeats, band in ((3, True), (1, True), (3, False)):
        world = w.World({"disk": "Disk"}, {"a": "A"}, repeats=repeats)
        more = {"band": True, "repeats": each} if band else {}
        element = w.figure("F", w.series("line", w.throughput("threads"), "Throughput", "threads", **more), by=by)
        html.append(page(world, w.report("R", element), tmp_path))
    assert "95% confidence interval (Student&#39;s t)" in html[0]
    assert "Each point was measured once, so no confidence interval" in html[1]
    assert "confidence" not in html[2]
    assert "1,040" in html[2]  # the mean of 1000, 1040 and 1080


@pytest.mark.parametrize("repeats", [(2.0, 2.1, 2.2, 2.1), (1.0, 1.0, 1.0, 40.0)], ids=["beside the point", "skewed"])
def test_a_confidence_interval_stands_around_the_point_that_is_drawn(repeats: tuple[float, ...]) -> None:
    """The point of a percentile comes from the histograms of all repeats, and may be far from the mean of the
    repeats."""
    merged = w.query("SELECT 1.0::DOUBLE AS threads, 9.0::DOUBLE AS value", ("threads",), "s", "p99")
    rows = ", ".join(f"(1.0::DOUBLE, {number}, {value}::DOUBLE)" for number, value in enumerate(repeats, 1))
    sql = f"SELECT * FROM (VALUES {rows}) AS t (threads, repeat, value)"  # noqa: S608  # numbers of this test
    own = w.query(sql, ("threads", "repeat"), "s", "p99")
    line = w.series("line", merged, "p99", "threads", band=True, repeats=own)
    element = w.figure("F", line, by={"threads": w.keys([1])})
    world = w.World({"disk": "Disk"}, {"a": "A"}, repeats=4)
    drawn = drawing(element, Results(world.plan(w.report("R", element)), world.store(), CATALOGUES["en"]))
    (chart,) = drawn.charts
    ((point,),) = (trace.points for trace in chart.traces)
    half = 3.182446 * statistics.stdev(repeats) / 2
    # A latency can't be negative, so neither does its interval say so.
    assert (point.low, point.y, point.high) == pytest.approx((max(0.0, 9.0 - half), 9.0, 9.0 + half))


@pytest.mark.long
def test_a_brief_fits_its_pages(incomplete: PdfReader) -> None:
    reader = incomplete
    assert len(reader.pages) <= 6  # the last one or two are the disclosure and the appendix on provenance
    for number, sheet in enumerate(reader.pages, 1):
        assert [round(float(v)) for v in sheet.mediabox[2:]] == [595, 842]
        assert f"{number} / {len(reader.pages)}" in sheet.extract_text()


@pytest.mark.parametrize(
    ("change", "message", "hint"),
    [
        ({"template": "poster"}, "there is no template `poster`", "blog, slide, technical_brief, white_paper"),
        ({"language": "tlh"}, "reports can't be written in `tlh`", "en, ja"),
    ],
)
def test_an_unknown_template_or_language_is_one_clear_error(
    change: dict[str, str], message: str, hint: str, tmp_path: Path
) -> None:
    with pytest.raises(ReportError, match=re.escape(message)) as raised:
        made(*small(**change), tmp_path)
    assert hint in raised.value.hint
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_report_is_one_clear_error(tmp_path: Path) -> None:
    world, report = small()
    with pytest.raises(ReportError, match="there is no report `other`") as raised:
        render(world.plan(report), world.store(), "other", tmp_path)
    assert raised.value.hint == "the spec has: brief"


def test_a_folder_that_can_not_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ReportError, match="can't be written"):
        made(*small(), tmp_path / "file")


def test_a_report_is_written_whole_and_leaves_nothing_else(tmp_path: Path) -> None:
    made(*small(), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["brief.html", "brief.json", "brief.pdf"]
    made(*small(), tmp_path, html_only=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["brief.html", "brief.json", "brief.pdf"]
