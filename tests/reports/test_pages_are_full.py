"""Tests how pages are filled by whole briefs, in both languages and on all papers: there is little blank space, and no
heading is alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pypdf import PdfReader

from benchbrief.model.extension_spec import Format
from benchbrief.reports.render.render_report import render
from benchbrief.reports.words.brief_words import CATALOGUES
from tests.reports.generated import rows_for
from tests.reports.world import make_store
from tests.support import paging
from tests.support.longer import longer
from tests.support.made_once import returned_once
from tests.support.plans import compile_spec

PDF: tuple[Format, ...] = ("pdf",)
EXAMPLES = {path.stem: path for path in (Path(__file__).parents[2] / "examples").rglob("*.bench")}
SLIDES = longer(*((name, "slide") for name in ("quickstart", "rocksdb_ssds", "cluster_shrink", "price_performance")))
PAPERS = (
    ("quickstart", "a4"),
    *longer(("power_efficiency", "letter"), ("rocksdb_ssds", "a4"), ("price_performance", "letter")),
)


def example_once(factory: pytest.TempPathFactory, name: str, paper: str) -> Path:
    """Return the PDF of an example on a paper, or on slides, for the tests of several modules."""

    def made(folder: Path) -> Path:
        plan = compile_spec(EXAMPLES[name])
        update = {"template": "slide"} if paper == "slide" else {"paper": paper}
        report = plan.reports[0].model_copy(update=update)
        plan = plan.model_copy(update={"reports": (report,)})
        pdf = render(plan, make_store(rows_for(plan)), report.name, folder, formats=PDF).pdf
        assert pdf
        return pdf

    return returned_once(factory, f"{name}-{paper}", made)


@pytest.fixture
def brief(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """Return a function that returns the PDF of an example on a paper, or on slides: see `example_once`."""
    return partial(example_once, tmp_path_factory)


@pytest.mark.parametrize(("name", "paper"), PAPERS)
def test_no_page_but_the_last_is_more_than_a_third_blank(name: str, paper: str, brief: Any) -> None:
    assert max(paging.blank_shares(brief(name, paper))[:-1]) < 1 / 3


@pytest.mark.parametrize(("name", "paper"), PAPERS)
def test_no_last_page_has_the_small_print_alone(name: str, paper: str, brief: Any) -> None:
    assert paging.blank_shares(brief(name, paper))[-1] < 0.55


@pytest.mark.long
@pytest.mark.parametrize(("name", "paper"), SLIDES)
def test_no_slide_has_a_few_lines_alone_that_fit_beside_others(name: str, paper: str, brief: Any) -> None:
    """The slides of single elements, and of the brief's end, are exempt."""
    pdf = brief(name, paper)
    shares = paging.blank_shares(pdf)
    ends = {words[key] for words in CATALOGUES.values() for key in ("method", "method_source")}
    end = next(one.page for one in headings(pdf) if " ".join(one.text.split()) in ends)
    assert end == len(shares), "method, limits and the way to the disclosure are the last slide"
    assert max(shares[: end - 2]) < 0.57


@pytest.mark.parametrize(("name", "paper"), [*PAPERS, *SLIDES])
def test_no_page_ends_with_a_heading(name: str, paper: str, brief: Any) -> None:
    pdf = brief(name, paper)
    foot = float(PdfReader(pdf).pages[0].mediabox.height) - (44 if paper == "slide" else 50)
    words = paging.words(pdf)
    found = list(headings(pdf))
    assert len(found) > 4
    for heading in found:
        of_its_own = heading.text.split()
        below = (w for w in words if w.page == heading.page and heading.top < w.top and w.bottom < foot)
        assert any(word.text not in of_its_own for word in below), f"{heading} ends its page"


class Heading(NamedTuple):
    """A heading. `top` is in points from the page's upper edge."""

    text: str
    page: int
    top: float


def headings(pdf: Path) -> Iterator[Heading]:
    """Return the headings according to the PDF's bookmarks."""
    reader: Any = PdfReader(pdf)

    def of(outline: Any) -> Iterator[Heading]:
        for one in outline:
            if isinstance(one, list):
                yield from of(one)
            else:
                page = reader.get_destination_page_number(one)
                yield Heading(str(one.title), page + 1, float(reader.pages[page].mediabox.height) - float(one.top))

    yield from of(reader.outline)
