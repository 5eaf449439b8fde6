"""Tests that all fixed text of a brief comes from the catalogue. The test puts marks around each text of the catalogue,
draws a brief, and looks for fixed words outside the marks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from benchbrief.model.node import adapter
from benchbrief.reports.render.render_report import render
from benchbrief.reports.text.number_format import unit_text
from benchbrief.reports.words.brief_words import words
from tests.reports.generated import rows_for
from tests.reports.world import make_store
from tests.support.plans import compile_spec

EXAMPLES = Path(__file__).parents[2] / "examples"
BEGIN, END = "⟦", "⟧"

_UNSEEN = re.compile(r"<(style|script|pre)\b.*?</\1>|<p class=\"byline\">.*?</p>|\b[0-9a-f]{16,}\b", re.DOTALL)
_INLINE = re.compile(r"</?(?:a|b|bdi|code|sup|span|strong|em)\b[^>]*>")
_TAG = re.compile(r"<[^>]*>")
_SHOWN = re.compile(r'(?:alt|aria-label|title|content)="([^"]*)"')
_SIGNS = {"SHA", "UTC", "benchbrief", "ops", "op", "ms", "min", "kB", "MB", "GB", "MiB", "GiB", "KiB", "TB", "µs"}
"""Units and names that are the same in all languages."""


def marked() -> dict[str, str | dict[str, str]]:
    """Return each text of the English catalogue between marks."""
    return {
        key: f"{BEGIN}{entry}{END}"
        if isinstance(entry, str)
        else {form: f"{BEGIN}{text}{END}" for form, text in entry.items()}
        for key, entry in words("en").entries.items()
    }


def texts(html: str) -> Iterator[str]:
    """Yield each text that a reader sees or hears, one per element."""
    body = _UNSEEN.sub("\n", html.split("</head>")[1])
    yield from (unescape(found) for found in _SHOWN.findall(body))
    yield from (unescape(part) for part in _TAG.sub("\n", _INLINE.sub("", body)).splitlines() if part.strip())


def unmarked(text: str) -> list[str]:
    """Return the words outside of all marks. The words of a Japanese spec itself do not count."""
    depth, outside = 0, []
    for sign in text:
        depth += (sign == BEGIN) - (sign == END)
        outside.append(sign if depth == 0 and sign not in (BEGIN, END) else " ")
    return re.findall(r"[A-Za-zµ]{2,}", "".join(outside))


@pytest.mark.parametrize(
    "example",
    ["rocksdb_ssds", *(pytest.param(each, marks=pytest.mark.long) for each in ("flash_cache", "price_performance"))],
)
def test_a_brief_has_no_fixed_word_that_is_not_from_the_catalogue(example: str, tmp_path: Path) -> None:
    plan = compile_spec(next(EXAMPLES.rglob(f"{example}.bench")))
    report = plan.reports[0].model_copy(update={"language": "xx", "words": marked()})
    plan = plan.model_copy(update={"reports": (report,)})
    rows = list(rows_for(plan))
    html = render(plan, make_store(rows), report.name, tmp_path, html_only=True).html.read_text("utf-8")
    of_the_spec = adapter(type(plan)).dump_json(plan, exclude={"reports": {"__all__": {"words"}}}).decode() + repr(rows)
    of_the_spec = of_the_spec.replace("\\n", " ")
    known = {"html", *re.findall(r"[^\W\d_]+", of_the_spec), *_SIGNS, *re.findall("[A-Za-z]+", unit_text(of_the_spec))}
    known = {word.lower() for word in known}
    assert html.count(BEGIN) > 100
    hard_coded = {text: left for text in texts(html) if (left := [w for w in unmarked(text) if w.lower() not in known])}
    assert hard_coded == {}
