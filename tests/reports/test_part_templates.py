"""Tests that the layouts provide the names that `bench check` allows in the parts of a house style."""

from __future__ import annotations

import tracemalloc
from dataclasses import fields

import pytest
from jinja2 import Environment
from markupsafe import Markup

from benchbrief.compiler.briefs import themes as known
from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.data import view_model
from benchbrief.reports.render import templating
from benchbrief.reports.view.house_style import House
from tests.support.tools import REPOSITORY

TEMPLATES = REPOSITORY / "reports" / "templates"
VIEWS: dict[str, type] = {
    "report": view_model.ReportView,
    "house": House,
    "notice": view_model.Notice,
    "section": view_model.SectionView,
    "text": view_model.TextView,
    "headline": view_model.HeadlineView,
    "callout": view_model.CalloutView,
    "table": view_model.TableView,
    "figure": view_model.FigureView,
    "figures": view_model.FigureRow,
    "formula": view_model.FormulaView,
    "facts": view_model.FactsView,
    "disclosure": view_model.DisclosureView,
}


def problems(part: str, text: str) -> list[known.BrokenTemplate | known.Unknown]:
    return list(known.template_problems(part, text))


def test_the_fields_are_those_of_the_view_model() -> None:
    for name, kind in VIEWS.items():
        properties = {key for key, value in vars(kind).items() if isinstance(value, property)}
        assert set(known.FIELDS[name]) == {field.name for field in fields(kind)} | properties, name
    assert set(known.FIELDS) == set(VIEWS)


def test_filters_templates_and_macros_are_those_that_there_are() -> None:
    made = templating.make_environment({})
    assert set(made.filters) - set(Environment(autoescape=True).filters) == set(known.FILTERS)
    assert all((TEMPLATES / file).is_file() for file in known.BASE)
    macros = (TEMPLATES / known.BASE[1]).read_text("utf-8")
    assert all(f"{{% macro {name}(" in macros for name in known.MACROS)
    assert macros.count("{% macro ") == len(known.MACROS)


@pytest.mark.parametrize("part", known.PARTS)
def test_our_own_parts_are_in_order(part: str) -> None:
    assert problems(part, (TEMPLATES / "parts" / f"{part}.html.j2").read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("legal", '<hr>{% include "ours/legal.html.j2" %}{{ report.run_id | upper }}{{ range(3) | list }}'),
        ("legal", '{% for row in query("SELECT 1 AS x") %}{{ row.x }}{{ loop.index }}{% endfor %}'),
        ("legal", "{% if report.sponsor is defined %}{{ w.table }}{% endif %}"),
        ("legal", '{% include "mine.html.j2" ignore missing %}{% include report.title %}'),
        ("figures", "{% for block in block.figures %}{{ block.title }}{% endfor %}"),
        ("text", "{% set block = {} %}{{ block.anything }}"),
        ("callout", "{% macro mine(x) %}{{ x }}{% endmacro %}{{ mine(block.title) }}"),
    ],
)
def test_a_sequence_that_would_be_laid_out_is_accepted(part: str, text: str) -> None:
    assert problems(part, text) == []


def test_a_block_is_none_of_what_a_part_of_the_page_gets() -> None:
    (found,) = problems("legal", "<p>\n{{ block.title }}</p>")
    assert isinstance(found, known.Unknown)
    assert (found.line, found.kind, found.word) == (2, "name", "block")


def test_a_template_nested_without_end_is_reported_and_ends_nothing() -> None:
    (found,) = problems("legal", "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}")
    assert isinstance(found, known.BrokenTemplate)


@pytest.mark.parametrize(
    "text",
    [
        "{{ 'a' * N }}",
        "{{ [0] * N }}",
        "{{ 7 ** 10 ** 7 }}",
        "{{ '%Nd' % 1 }}",
        "{{ ('%Nd' | format(1)) | length }}",
        "{{ 'a' | center(N) }}",
        "{{ 'a'.ljust(N) }}",
        "{% for x in 'a' * N %}{% endfor %}",
        "{% if 7 ** 10 ** 7 is divisibleby 3 %}{% endif %}",
        "{% autoescape 'a' * N %}{% endautoescape %}",
        "{% include 'a' * N %}",
        "{% macro m(a='a' * N) %}{% endmacro %}",
    ],
)
def test_a_check_computes_nothing_that_a_template_says(text: str) -> None:
    problems("legal", "{{ 1 }}")
    tracemalloc.start()
    try:
        assert problems("legal", text.replace("N", "50000000")) == []
        assert tracemalloc.get_traced_memory()[1] < 1 << 20, "bytes"
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("digits", ["9" * 5000, "0x" + "f" * 5000])
def test_a_number_of_too_many_digits_is_reported_with_its_line(digits: str) -> None:
    assert problems("legal", f"<p>\n{{{{ {digits} }}}}") == [known.BrokenTemplate(2, "a number of too many digits")]


def printed(text: str, **given: object) -> str:
    """Return the output of a user's part that consists of this text."""
    made = templating.make_environment({"legal.html.j2": ("house/legal.html.j2", text)})
    return templating.render_template("legal.html.j2", made, ("house/legal.html.j2",), given)


def test_an_object_that_is_printed_as_a_whole_gives_its_text() -> None:
    cell = view_model.TableCell(Markup("<b>7.1</b>"), numeric=True, value=7120.0, unit="ops/s")
    assert printed("{{ c }}", c=cell) == "<b>7.1</b>"
    assert printed("{{ c }}", c=view_model.TableHead("Throughput", "ops/s")) == "Throughput"
    assert printed("{{ c }}", c=view_model.Card("Gain <1", Markup("28 %"))) == "28 %"
    assert printed("{{ c }}{{ t }}", c=view_model.Footnote(1, "a & b"), t=None) == "a &amp; b"


def test_cells_and_cards_have_their_values_to_compute_with() -> None:
    cell = view_model.TableCell(Markup("7.1k"), numeric=True, value=7120.0, unit="ops/s")
    assert printed("{{ (c.value * 2) | round | int }} {{ c.unit }}", c=cell) == "14240 ops/s"
    missing = view_model.TableCell(Markup("–"), numeric=True)
    assert printed("{{ 'none' if c.value is none }}", c=missing) == "none"


@pytest.mark.parametrize(
    ("given", "said", "hint"),
    [
        ([view_model.Footnote(1, "a")], "house/legal.html.j2:2: a list is no text", "go through it"),
        (
            view_model.TableRow(view_model.TableHead("a"), ()),
            "house/legal.html.j2:2: TableRow is no text",
            "head, cells, group",
        ),
        ({}, "a list is no text", "go through it"),
    ],
)
def test_a_value_without_a_text_is_reported_with_its_place_and_never_printed(
    given: object, said: str, hint: str
) -> None:
    with pytest.raises(ReportError, match=said) as caught:
        printed("<p>\n{{ c }}", c=given)
    assert hint in str(caught.value.hint)
