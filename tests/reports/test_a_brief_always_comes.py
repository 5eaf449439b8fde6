"""Tests that no failure after the measurement prevents a brief. If something can't be computed or drawn, the brief
gives the reason in its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from benchbrief.model.extension_spec import Format
from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.charts import draw_chart
from benchbrief.reports.data.gaps import Gaps
from benchbrief.reports.data.view_model import MissingPart
from benchbrief.reports.disclosure import disclosure
from benchbrief.reports.render.render_report import Rendered, render
from benchbrief.reports.verify_brief import read_brief
from benchbrief.reports.view import build_view
from benchbrief.reports.view.build_view import _Builder
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.analysis.expectation_verdicts import evaluate
from benchbrief.results.store.store_schema import (
    CellRow,
    LatencyRow,
    PromiseRow,
    RateRow,
    RunRow,
    SampleRow,
    ThroughputRow,
)
from benchbrief.results.store_errors import NoRoom, ResultsError
from tests.cli.specs import SMALL
from tests.reports.odd_results import LANGUAGES, NAMES, SEARCHES, STATUSES, TEMPLATES, VALUES, Odd
from tests.reports.world import make_store
from tests.support.bench import fresh_bench
from tests.support.drawn_once import CONVERTER
from tests.support.longer import one_in

PLAIN = Odd(0, "plain", "technical_brief", "en", "full", "usual", 2, "usual", "noisy", "good", "found", 30)
PLANTED = "planted in the test"
LONG = pytest.mark.long


def brief_of(odd: Odd, folder: Path, *formats: Format) -> Rendered:
    plan, store = odd.plan(), make_store(odd.rows())
    assert len(evaluate(plan, store)) == len(plan.expects)
    store.confidence()
    return render(plan, store, "brief", folder, formats=formats, converter=CONVERTER)


def disclosure_of(made: Rendered) -> str:
    """Return the page of the full disclosure report beside a brief. If there is none, return the brief, which contains
    the disclosure."""
    apart = made.html.with_name(f"{made.html.stem}-disclosure.html")
    return (apart if apart.exists() else made.html).read_text("utf-8")


def require_whole(odd: Odd, folder: Path, *formats: Format) -> None:
    made = brief_of(odd, folder, *formats)
    assert made.undrawn == (), odd
    assert all(path.stat().st_size for path in made.files)
    for page in (made.html.read_text("utf-8"), disclosure_of(made)):
        assert not re.search(r">\s*(?:nan|-?inf|NaN|None)\s*<", page), odd
        links, ids = set(re.findall(r'href="#([^"]+)"', page)), set(re.findall(r'\bid="([^"]+)"', page))
        assert links <= ids, odd
    assert all(read_brief(path).edited == () for path in (made.html, made.pdf) if path), odd


@pytest.mark.long
def test_a_value_that_is_missing_without_a_reason_has_a_sentence(tmp_path: Path) -> None:
    require_whole(replace(PLAIN, values="NULL"), tmp_path, "html")


# A prime step, so that few seeds meet each kind of value, name, template and language.
@pytest.mark.parametrize("seed", [pytest.param(7 * n, marks=() if n == 4 else LONG) for n in range(9)])
def test_any_results_have_a_brief_with_all_of_its_parts(seed: int, tmp_path: Path) -> None:
    require_whole(Odd.of(seed), tmp_path, "html", "markdown")


@pytest.mark.long
@pytest.mark.parametrize("template", [TEMPLATES[0], *(pytest.param(name, marks=LONG) for name in TEMPLATES[1:])])
def test_any_results_have_a_pdf(template: str, tmp_path: Path) -> None:
    at = TEMPLATES.index(template)
    values = ("anything", "far apart", "some NaN", "wild")[at]
    odd = replace(PLAIN, template=template, language=LANGUAGES[at % 2], values=values, statuses="some failed")
    require_whole(odd, tmp_path, "pdf", "html")


@pytest.mark.long
def test_a_pdf_with_characters_that_no_font_has_is_read_again(tmp_path: Path) -> None:
    made = brief_of(replace(PLAIN, name="emoji"), tmp_path, "pdf")
    assert made.pdf is not None
    assert read_brief(made.pdf).edited == ()


@LONG
@pytest.mark.parametrize("seed", [*range(9 * 7, 18 * 7, 7), *range(1000, 1500), 2000])
def test_more_results_have_a_brief_with_all_of_its_parts(seed: int, tmp_path: Path) -> None:
    formats: tuple[Format, ...] = ("html", "markdown", "pdf") if seed % 20 == 0 else ("html", "markdown")
    require_whole(Odd.of(seed), tmp_path, *formats)


def test_the_tried_results_are_of_every_kind() -> None:
    tried = [Odd.of(seed) for seed in (*range(0, 18 * 7, 7), *range(1000, 1500))]
    for name, kinds in (
        ("values", VALUES), ("statuses", STATUSES), ("name", NAMES), ("searches", SEARCHES), ("template", TEMPLATES),
        ("language", LANGUAGES), ("moments", (0, 1, 10_000)), ("repeats", (1, 2)), ("ramp", ("one point",)),
    ):  # fmt: skip
        assert set(kinds) <= {getattr(odd, name) for odd in tried}, name


# --- what can't be made ----------------------------------------------------------------------------------------------


@contextmanager
def failing(monkeypatch: pytest.MonkeyPatch, place: object, name: str, error: Exception) -> Iterator[None]:
    """Make the first call fail, and every later call that has the same arguments."""
    true, failed = getattr(place, name), list[object]()

    def fails(*arguments: object, **more: object) -> object:
        key = [each for each in arguments if not isinstance(each, _Builder)][:1]
        if not failed or failed == key:
            failed[:] = key
            raise error
        return true(*arguments, **more)

    with monkeypatch.context() as patch:
        patch.setenv("BENCH_STRICT", "")
        patch.setattr(place, name, fails)
        yield


PARTS = (
    (_Builder, "text", "a text"),
    (_Builder, "computed", "a number in a text"),
    (_Builder, "callout", "the box Plain claims"),
    (_Builder, "table", "the box Plain gain"),
    (_Builder, "figure", "figure 1"),
    (_Builder, "facts", "table 5"),
    (_Builder, "formula", "worked example Plain gain"),
    (draw_chart, "draw", "figure 1"),
    (build_view, "sketched", "figure 1"),
    (build_view, "finished", "figure 1"),
    (build_view, "script_data", "figure 1"),
    (build_view, "Columns", "the common decimals of the tables"),
    (disclosure, "_settings", "test disclosure Load settings"),
)


QUICK = {"text", "sketched"}
WITHOUT_A_PLACE = {"script_data", "Columns", "_settings"}
"""Parts that have no place of their own in the brief, because they belong to the disclosure, to several tables, or to a
script."""


@pytest.mark.parametrize(
    ("place", "name", "part"),
    [pytest.param(*each, marks=() if each[1] in QUICK else LONG, id=each[1]) for each in PARTS],
)
def test_a_part_that_fails_leaves_its_place_with_a_reason_and_all_others_stay(
    place: object, name: str, part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = brief_of(PLAIN, tmp_path / "whole", "html").html.read_text("utf-8")
    with failing(monkeypatch, place, name, ZeroDivisionError(PLANTED)):
        made = brief_of(PLAIN, tmp_path / "with a gap", "html")
    reason = f"a mistake in benchbrief: ZeroDivisionError: {PLANTED}"
    assert any(text.lower().startswith(f"{part.lower()} of `brief`: {reason.lower()}") for text in made.undrawn), made
    page, disclosure_page = made.html.read_text("utf-8"), disclosure_of(made)
    assert reason in page or name in WITHOUT_A_PLACE, "its place in the brief has the reason"
    (first_limit,) = re.findall(r'<li id="limit-1">(.*?)</li>', page)
    assert re.search(rf"{re.escape(part)}.* could not be (made|drawn)", first_limit, re.IGNORECASE), first_limit
    (first_notices,) = re.findall(r'<div id="notice-1">.*?</div>', disclosure_page, re.DOTALL)
    assert reason in first_notices
    disclosed = disclosure_page.split('id="disclosure"')[1]
    assert reason in disclosed.split("<h3>")[1] or reason in disclosed.split("<h3>")[2]
    assert page.count("<figure") >= whole.count("<figure") - 1
    for each in (page, disclosure_page):
        links, ids = set(re.findall(r'href="#([^"]+)"', each)), set(re.findall(r'\bid="([^"]+)"', each))
        assert links <= ids, "the failed part left links behind"
    assert made.numbers.exists()


@pytest.mark.long
@pytest.mark.parametrize("language", [pytest.param("en", marks=LONG), "ja"])
def test_a_gap_is_named_in_the_language_of_the_brief(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = CATALOGUES[language]
    with failing(monkeypatch, _Builder, "facts", ResultsError("out of range")):
        made = brief_of(replace(PLAIN, language=language), tmp_path, "html", "markdown")
    assert made.undrawn == ("table 5 of `brief`: out of range",)
    page = made.html.read_text("utf-8")
    assert words["not_made"].format(part=f"{words['table']} 5", reason="out of range") in page
    assert words["notice_not_made"] in disclosure_of(made)
    assert words["d_not_made"] in disclosure_of(made)
    assert "out of range" in made.html.with_suffix(".md").read_text("utf-8")


def test_a_users_mistake_and_a_full_disk_are_no_gaps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_STRICT", "")
    full = OSError(28, "No space left on device")
    no_room = NoRoom("no room")
    no_room.__cause__ = full
    for error in (ReportError("the plan is old"), full, no_room):

        def fails(error: Exception = error) -> None:
            raise error

        with pytest.raises(type(error)):
            Gaps().made("part", fails, "text")


def test_a_mistake_of_ours_fails_each_test_that_does_not_plant_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Gaps().made("part", fails, "text")
    with pytest.raises(ZeroDivisionError):
        Gaps().tried(fails, None)
    monkeypatch.setenv("BENCH_STRICT", "")
    gaps = Gaps()
    assert gaps.made("part", fails, "table", "2") == MissingPart("table", "2", "ZeroDivisionError", is_ours=True)
    monkeypatch.setenv("BENCH_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        Gaps().made("part", fails, "text")
    assert gaps.made("part", fails, "text") is gaps.found[0], "a known gap is not tried again"


def test_the_terminal_names_what_is_missing(tmp_path: Path) -> None:
    with fresh_bench(tmp_path / "bench") as bench:
        bench.spec(SMALL)
        assert bench("run", "brief.bench", "--simulate", "--no-report").code == 0
        before = f"""
import benchbrief.reports.view.build_view as b
def fails(*_): raise ZeroDivisionError('{PLANTED}')
b.finished = fails
"""
        shown = bench("report", "simulated", "--html-only", "--json", env={"BENCH_STRICT": ""}, before=before).plainly()
        assert shown.code == 3
        reason = f"a mistake in benchbrief: ZeroDivisionError: {PLANTED}"
        assert shown.json["undrawn"] == [f"figure 1 of `brief`: {reason}"]
        assert f"warning: missing from the brief: figure 1 of `brief`: {reason}" in shown.err


@pytest.mark.parametrize("language", one_in(2, LANGUAGES))
def test_a_search_whose_rates_were_all_refused_has_a_brief_that_says_so(language: str, tmp_path: Path) -> None:
    odd = replace(PLAIN, language=language, statuses="all refused", searches="none")
    made = brief_of(odd, tmp_path, "html")
    assert made.undrawn == ()
    page, words = made.html.read_text("utf-8"), CATALOGUES[language]
    (first_limit,) = re.findall(r'<li id="limit-1">.*?</li>', page)
    assert first_limit.count("428") == 2, "all 428 of 428 measurements"
    assert "it was failed" in page
    assert words["notice_failed"] in disclosure_of(made)
    assert "it was failed" in disclosure_of(made)


@pytest.mark.long
@pytest.mark.parametrize("part", ["text", *(pytest.param(part, marks=LONG) for part in ("table", "figure"))])
def test_a_brief_with_a_gap_is_verified_and_the_gap_is_named(part: str, tmp_path: Path) -> None:
    with fresh_bench(tmp_path / "bench") as bench:
        bench.spec(SMALL)
        assert bench("run", "brief.bench", "--simulate", "--no-report").code == 0
        before = f"""
import benchbrief.reports.view.build_view as b
def fails(*_, **__): raise ZeroDivisionError('{PLANTED}')
b._Builder.{part} = fails
"""
        made = bench("report", "simulated", "--html-only", "--json", env={"BENCH_STRICT": ""}, before=before).json
        assert made["undrawn"]
        shown = bench("verify", "simulated")
        assert shown.code == 0, shown.text
        found = bench("verify", "simulated", "--json").json
        assert found["holds"] is True
        assert len(found["not_made"]) == len(made["undrawn"])
        for gap in found["not_made"]:
            assert f"missing from the brief since it was made: {gap}" in shown.err


@pytest.mark.long
@pytest.mark.parametrize(
    ("language", "good"), [("en", "34 measurements were good"), pytest.param("ja", "34 件の測定", marks=LONG)]
)
def test_an_interrupted_run_says_that_it_shows_what_was_measured_only_where_it_does(language: str, good: str) -> None:
    odd = replace(PLAIN, language=language)
    rows = [
        row._replace(status="interrupted") if isinstance(row, RunRow) else row
        for row in odd.rows()
        if not isinstance(row, LatencyRow | ThroughputRow | SampleRow | PromiseRow | RateRow)
    ]
    cells = [row for row in rows if isinstance(row, CellRow)]
    kept = [row for row in rows if not isinstance(row, CellRow)] + cells[:34]
    report = odd.plan().reports[0]
    (said,) = [
        notice.text
        for notice in build_view.build(odd.plan(), make_store(kept), report, CATALOGUES[language]).notices
        if notice.title == CATALOGUES[language]["notice_status"]
    ]
    assert good in said
    shown = [row._replace(status="interrupted") if isinstance(row, RunRow) else row for row in odd.rows()]
    notices = build_view.build(odd.plan(), make_store(shown), report, CATALOGUES[language]).notices
    assert CATALOGUES[language]["notice_status_body"].format(status=CATALOGUES[language].named("interrupted")) in {
        notice.text for notice in notices
    }
