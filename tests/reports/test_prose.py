"""Tests Markdown with computed numbers: what an author may write, and what nobody may write."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from markupsafe import Markup

from benchbrief.model.plan import Prose, Value
from benchbrief.reports.text import render_prose
from benchbrief.reports.text.render_prose import Citation, Inserted
from tests.reports import world as w


class Tags(HTMLParser):
    """The tags that a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)
        self.attributes |= {name for name, _ in attrs}


ANY = Value(query=w.constant(1.0, "1", "x < y"), format=".0f")


def span(text: str, expression: str) -> Markup:
    return Markup('<a class="num" id="n1" href="#source-1" data-expression="{}">{}</a>').format(expression, text)


def shown(*parts: str | Value, number: str = "42") -> str:
    def insert(value: Value | Citation, _follows: str) -> Inserted:
        if isinstance(value, Citation):
            return Inserted("", Markup(""), notes=(3,))
        return Inserted(number, span(number, value.query.text))

    return str(render_prose.blocks(Prose(parts=parts), insert, 3))


def test_a_number_stands_where_its_hole_was_with_its_expression() -> None:
    assert shown("It is **", ANY, "** ops.") == (
        '<p>It is <strong><a class="num" id="n1" href="#source-1" data-expression="x &lt; y">42</a></strong> ops.</p>\n'
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [("It is **", "** ops."), ("It is **", " %** of it."), ("**", "**倍"), ("約**", " %**に"), ("は**(", ")**で")],
)
def test_a_number_may_be_bold_whatever_stands_beside_it(before: str, after: str) -> None:
    html = shown(before, ANY, after)
    assert "*" not in html
    assert "<strong>" in html
    assert html.isascii() or not any("\ue000" <= letter <= "\uf8ff" for letter in html)


def test_the_mark_of_a_footnote_is_its_number_but_not_in_code_or_behind_a_backslash() -> None:
    mark = '<sup>\N{NO-BREAK SPACE}<a href="#note-3" role="doc-noteref">c</a></sup>'
    assert shown("As **said**[^src], and [^b-2].") == f"<p>As <strong>said</strong>{mark}, and {mark}.</p>\n"
    assert shown("`[^src]` \\[^src] [^no name]") == "<p><code>[^src]</code> [^src] [^no name]</p>\n"


def test_a_missing_number_points_to_its_footnote() -> None:
    html = render_prose.blocks(Prose(parts=("It is ", ANY)), lambda *_: Inserted("–", span("–", "x"), notes=(7,)), 3)
    assert '<sup>\N{NO-BREAK SPACE}<a href="#note-7" role="doc-noteref">g</a></sup>' in html


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](data:text/html,<script>)",
        "[x](file:///etc/passwd)",
        "<iframe src='http://203.0.113.9'>",
        "```<script>\nalert(1)\n```",
        "&lt;script&gt;",
    ],
)
def test_nothing_in_a_text_becomes_markup_or_fetches_anything(hostile: str) -> None:
    tags = Tags()
    tags.feed(shown(hostile))
    assert tags.found <= {"p", "pre", "code"}
    assert tags.attributes == set()


def test_an_image_is_never_fetched_but_offered_as_a_link() -> None:
    assert shown("![x](http://203.0.113.9/a.png)") == '<p>!<a href="http://203.0.113.9/a.png">x</a></p>\n'


def test_a_value_can_not_open_a_tag_or_an_emphasis() -> None:
    assert "&lt;b&gt;*x*" in shown("a ", ANY, number="<b>*x*")


def test_the_marks_of_numbers_can_not_be_forged() -> None:
    assert shown("\ue0000\ue001 and \ue0009\ue001", ANY).count("42") == 1


def test_a_number_in_an_address_stays_inside_it() -> None:
    html = shown("[x](https://example.org/?q=", ANY, ")", number='"><script>')
    assert "<script" not in html
    assert '"><' not in html.replace('">x', "")


def test_headings_in_a_text_go_below_those_of_the_page() -> None:
    assert shown("# One\n\n## Two") == "<h3>One</h3>\n<h4>Two</h4>\n"


def test_a_line_end_between_japanese_characters_is_no_blank() -> None:
    assert shown("各点は\n二十分間の測定") == "<p>各点は二十分間の測定</p>\n"
    assert shown("one\ntwo") == "<p>one\ntwo</p>\n"


def test_plain_text_has_neither_markup_nor_escapes() -> None:
    text = Prose(parts=("**A** & B", ANY))
    assert render_prose.plain(text, lambda *_: Inserted("<1>", span("<1>", "x"))) == "A & B<1>"


_NOTES = re.compile(r"#note-(\d)")


def with_note(*parts: str | Value) -> str:
    """Return the text of a prose. Its numbers have note 1, marked as ¹, and the author's own note is marked as ³."""

    def insert(value: Value | Citation, _follows: str) -> Inserted:
        if isinstance(value, Citation):
            return Inserted("", Markup(""), notes=(3,))
        return Inserted("42", Markup('<a class="num" href="#s">42</a>'), notes=(1,))

    html = str(render_prose.blocks(Prose(parts=parts), insert, 3))
    text = re.sub(
        r"<[^>]*>", "", re.sub(r"<sup>(.*?)</sup>", lambda marks: f"^{','.join(_NOTES.findall(marks[1]))}", html)
    )
    return " ".join(text.split())


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (("It does ", ANY, " % of the work."), "It does 42 % of the work.^1"),
        (("At ", ANY, " of ", ANY, " loads, so many."), "At 42 of 42 loads,^1 so many."),
        (("At ", ANY, " loads, and ", ANY, " rates; more"), "At 42 loads,^1 and 42 rates;^1 more"),
        (("**", ANY, " ops/s** with it\n\nNext."), "42 ops/s with it^1 Next."),
        (("It is ", ANY, " MB/s[^a] here."), "It is 42 MB/s^1,3 here."),
        (("最大 ", ANY, " %です。次"), "最大 42 %です^1。次"),
        (("Up to ", ANY, "X (against A, once). More"), "Up to 42X (against A, once).^1 More"),
        (("最大 ", ANY, "X（A、B）です。次"), "最大 42X（A、B）です^1。次"),
        (("In [a link of ", ANY, " words.](https://example.com) And"), "In a link of 42 words. And^1"),
    ],
)
def test_the_mark_of_a_numbers_note_stands_where_its_clause_ends(parts: tuple[str | Value, ...], said: str) -> None:
    found = with_note(*parts)
    assert found == said


def test_a_title_leaves_the_marks_of_its_notes_to_what_is_behind_it() -> None:
    def insert(_value: Value | Citation, _follows: str) -> Inserted:
        return Inserted("42", Markup("42"), notes=(1,))

    assert render_prose.heading(Prose(parts=("Saves ", ANY, " %")), insert) == ("Saves 42 %", "Saves 42 %", (1,))
