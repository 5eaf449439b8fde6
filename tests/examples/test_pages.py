"""Tests the pages of the examples of published briefs, read as a whole. If possible, they are made from the published
figures."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from benchbrief.dsl.formatter import format_source
from benchbrief.dsl.source import Source
from benchbrief.reports.render.render_report import render
from tests.reports.generated import rows_for
from tests.reports.world import make_store
from tests.support.bench import fresh_bench
from tests.support.drawn_once import CONVERTER
from tests.support.longer import longer
from tests.support.made_once import made_once
from tests.support.pages import as_text
from tests.support.plans import compile_spec
from tests.support.tools import REPOSITORY

EXAMPLES = REPOSITORY / "examples"
GOLDENS = Path(__file__).parent / "goldens"
IMPORTED = ("cluster_shrink", "price_performance")
"""The examples with imported figures. The others were published as ranges and changes, from which no measure can be
computed."""
GENERATED = ("compression", "flash_cache", "power_efficiency", "rocksdb_ssds")


def visible(html: str) -> str:
    """Return the brief's own words and numbers, without the lists of cells and the appendix."""
    body = as_text(html).split("</head>")[1]
    body = re.sub(r'<section class="provenance".*?</section>\n', "", body, flags=re.DOTALL)
    body = re.sub(r'(<div class="qr"[^>]*>).*?</div>', r"\1QR</div>", body, flags=re.DOTALL)
    body = re.sub(r"begins <code>[0-9a-f]{16}</code>", "begins <code>DIGEST</code>", body)
    body = re.sub(r"<details.*?</details>\n", "", body, flags=re.DOTALL)  # the data of figures
    body = re.sub(r'(data-cells=)"([^"]*)"', lambda cells: f'{cells[1]}"{len(cells[2].split(" "))} cells"', body)
    body = re.sub(r"\d{8}-\d{6}-", "RUN-", body)
    return re.sub(r"20[0-9]{2}-\d\d-\d\d \d\d:\d\d:\d\d UTC|\d+ [A-Z][a-z]+ 20\d\d(?=</)", "DAY", body)


@pytest.mark.parametrize("name", [*longer("compression"), "flash_cache", *longer("power_efficiency", "rocksdb_ssds")])
def test_the_page_of_generated_results_reads_as_it_did(
    name: str, tmp_path: Path, golden: Callable[[Path, str], None]
) -> None:
    plan = compile_spec(EXAMPLES / name / f"{name}.bench")
    (report,) = plan.reports
    made = render(plan, make_store(rows_for(plan)), report.name, tmp_path, html_only=True, converter=CONVERTER)
    golden(GOLDENS / f"{name}.html", visible(made.html.read_text("utf-8")).replace(str(EXAMPLES), "examples"))


def test_an_experiment_on_settings_takes_thirty_lines_and_its_brief_never_calls_them_hardware() -> None:
    """Blank lines, comments, the report, and the profile for a trial do not count."""
    path = EXAMPLES / "compression" / "compression.bench"
    laid_out = format_source(Source(path.name, path.read_text(encoding="utf-8"))).partition("\nreport")[0]
    assert len([line for line in laid_out.splitlines() if line and not line.startswith("#")]) <= 30
    assert "hardware" not in (GOLDENS / "compression.html").read_text(encoding="utf-8").lower()


def commands(name: str) -> list[str]:
    """Return the commands in the example's README that make a brief of published figures."""
    readme = (EXAMPLES / name / "README.md").read_text(encoding="utf-8")
    blocks = [block for block in re.findall(r"```sh\n(.*?)```", readme, re.DOTALL) if "bench import" in block]
    return [line.removeprefix("bench ") for block in blocks for line in block.splitlines()]


Pages = Callable[[str], tuple[str, str]]


@pytest.fixture
def pages_of_published_figures(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    """Return a function that returns the page of an example's brief and the page of its disclosure. Each is made once
    for all tests."""

    def pages(name: str) -> tuple[str, str]:
        folder = made_once(tmp_path_factory, f"published-{name}", partial(make_brief_of_published_figures, name))
        made = sorted(folder.glob("bench-out/*/reports/*.html"), key=lambda page: "disclosure" in page.stem)
        brief, disclosure = (page.read_text(encoding="utf-8") for page in made)
        return brief, disclosure

    return pages


def make_brief_of_published_figures(name: str, folder: Path) -> None:
    with fresh_bench(folder) as bench:
        for file in (f"{name}.bench", "published.csv"):
            bench.spec((EXAMPLES / name / file).read_text(encoding="utf-8"), file)
        for command in commands(name):
            more = ["--html-only"] if command.startswith("report") else []
            done = bench(*shlex.split(command.replace(f"examples/{name}/", "")), *more)
            assert done.code == 0, done.text


@pytest.mark.parametrize("name", ["cluster_shrink", *longer("price_performance")])
def test_the_page_of_the_published_figures_reads_as_it_did(
    name: str, pages_of_published_figures: Pages, golden: Callable[[Path, str], None]
) -> None:
    brief, _ = pages_of_published_figures(name)
    golden(GOLDENS / f"{name}.html", visible(brief))


@pytest.mark.parametrize(
    ("name", "remarks"),
    [
        *longer(
            ("flash_cache", ("60%", "50%", "at least 2")),
            ("price_performance", ("+2%", "1.3%", "16%", "−9% to −3%")),
            ("rocksdb_ssds", ("30%", "1.5", "1.8")),
            ("power_efficiency", ("30",)),
        ),
        ("cluster_shrink", ("26 to 29", "35")),
    ],
)
def test_what_a_source_says_in_words_stands_among_its_published_values(
    name: str, remarks: tuple[str, ...], pages_of_published_figures: Pages
) -> None:
    brief, disclosure = pages_of_published_figures(name)
    title = {"rocksdb_ssds": "公表された値", "price_performance": "What else the source says"}
    head = title.get(name, "Published values")
    own = name == "price_performance"  # its brief has the table itself
    assert own or f"{head}</" not in brief
    table = (brief if own else disclosure).partition(head)[2].partition("</figure>")[0]
    said = " ".join(re.sub("<[^>]+>", " ", table).replace("\u00a0", " ").split())
    assert [remark for remark in remarks if remark not in said] == []


@pytest.mark.parametrize("readme", sorted(EXAMPLES.glob("*/README.md")), ids=lambda path: path.parent.name)
def test_the_pictures_of_a_readme_are_there_and_small(readme: Path) -> None:
    pictures = re.findall(r"\]\((pages/[^)]+)\)", readme.read_text(encoding="utf-8"))
    assert [name for name in pictures if not (readme.parent / name).is_file()] == []
    assert [path.name for path in readme.parent.glob("pages/*") if path.stat().st_size > 80_000] == []


@pytest.mark.long
def test_the_page_on_claims_quotes_what_the_briefs_of_published_figures_say(
    pages_of_published_figures: Pages,
) -> None:
    page = (REPOSITORY / "docs" / "claims.md").read_text(encoding="utf-8")
    said = re.findall(r"\]\(\.\./examples/(\w+)/README\.md\) says (.*?)\n\n", page, re.DOTALL)
    assert len(said) == len({name for name, _ in said}) == 5
    for name, text in said:
        brief, _ = pages_of_published_figures(name)
        quoted = re.findall(r"[“「]([^”」]*\d[^”」]*)[”」]", text)
        assert quoted
        assert [said for said in quoted if " ".join(said.split()) not in words_of(brief)] == []


def words_of(page: str) -> str:
    unlinked = re.sub(r"</?a\b[^>]*>", "", visible(page).replace("\xa0", " "))  # numbers are links in their sentences
    return " ".join(re.sub(r"<[^>]+>", " ", unlinked).split())


def test_the_pages_of_published_ranges_show_them_in_a_figure_and_none_that_is_empty(
    pages_of_published_figures: Pages,
) -> None:
    brief, disclosure = map(words_of, pages_of_published_figures("power_efficiency"))
    assert "Power efficiency, Micron 7100 MAX, Session recording (A) 150.6 to 198.5 ops/s/W" in disclosure
    assert "Ratio of efficiencies, User record change (F) 63 to 69" in disclosure
    assert "120 of the 120 planned measurements were not published." in disclosure
    assert "Imported at" in disclosure
    assert "19X to 69X the work of Legacy HDD per watt" in brief
    assert "Figure 1" in brief
    for text in ("Nothing to draw", "None: all", "not needed", "Started"):
        assert text not in brief
        assert text not in disclosure
