"""Tests claims in a brief: decided claims are stated as precisely as the data allow, and other claims are not
stated."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader

from benchbrief.model import plan as p
from benchbrief.model.points import Point
from benchbrief.model.precision import formatted, stepped
from benchbrief.reports.claim_sides import note_on_sides
from benchbrief.reports.claims_sheet import claims_sheet
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.render.render_report import render
from benchbrief.reports.text.line_ends import close_up
from benchbrief.reports.text.number_format import written_as
from benchbrief.reports.verify_brief import read_brief
from benchbrief.reports.view.said_claims import sentence_text
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.analysis.claim_verdicts import ClaimVerdict, claim_verdicts
from benchbrief.results.analysis.held_out_repeats import HeldOutRepeats, Winner
from benchbrief.results.store.store_schema import FactRow
from tests.reports import world as w
from tests.support.longer import longer

OPEN = ": repeats vary more than the two differ"
WORLD = w.World({"disk": "Disk", "flash": "Flash"}, {"a": "Sessions"}, repeats=3)


def values(dims: Sequence[str], rows: Sequence[tuple[Any, ...]], unit: str = "", **known: bool) -> p.Query:
    listed = ", ".join(
        "(" + ", ".join(f"'{v}'" if isinstance(v, str) else f"{v!r}::DOUBLE" for v in row) + ")" for row in rows
    )
    sql = f"SELECT * FROM (VALUES {listed}) AS t ({', '.join((*dims, 'value'))})"  # noqa: S608  # made-up values
    return w.query(sql, dims, unit, "ratio", [w.read("throughput")], **known)


def claim(*repeats: float, format: str = ".1f", words: str = "X the work of Disk", **more: Any) -> p.Claim:  # noqa: A002  # the field's name
    mean = sum(repeats) / len(repeats)
    number = p.Value(query=values((), [(mean,)], more.pop("unit", "")), format=format)
    given = {
        "name": "said",
        "sentence": w.text("Up to ", number, words),
        "what": "Ratio",
        "points": values((), [(mean,)], number.query.unit, by_ratio=True),
        "repeats": values(("repeat",), [(float(n), one) for n, one in enumerate(repeats, 1)], number.query.unit)
        if len(repeats) > 1
        else None,
        "base": "Disk",
        "named": True,
        "no_difference": 1.0,
        "better": "higher",
        "origin": w.HERE,
        **more,
    }
    return p.Claim(**given)


def verdicts(*claims: p.Claim, published: bool = False) -> list[ClaimVerdict]:
    store = WORLD.store()
    return claim_verdicts(
        WORLD.plan(), lambda q: [(row.keys, row.value) for row in store.query(q)], claims, published=published
    )


def page(tmp_path: Path, *claims: p.Claim, title: str = "Brief", language: str = "en", **more: Any) -> str:
    report = w.report(
        title,
        p.HeadlineElement(numbers=tuple(p.Said(claim=each.name) for each in claims)),
        p.TextElement(prose=w.text("We found: ", *[p.Said(claim=claims[0].name)], ".")),  # type: ignore[arg-type]  # a part of a text
        language=language,
        **more,
    )
    plan = WORLD.plan(report).model_copy(update={"claims": claims})
    made = render(plan, WORLD.store(), "brief", tmp_path, formats={"html"})
    assert read_brief(made.html).edited == ()
    text = made.html.read_text("utf-8")
    return " ".join(re.sub(r"<[^>]*>", "", text[text.index("<body") :]).split())


def test_a_decided_claim_is_said_large_and_in_texts(tmp_path: Path) -> None:
    text = page(tmp_path, claim(8.71, 8.72, 8.73))
    assert "Up to 8.7X the work of Disk" in text
    assert "We found: Up to 8.7X the work of Disk." in text


def test_rounding_hardly_favours() -> None:
    (up,) = verdicts(claim(12.64, 12.66, 12.68, format=".0f"))
    assert up.printed is not None
    assert (up.printed.step, up.printed.rounded) == (0.1, "down"), "13 would favour 12.66"
    (little,) = verdicts(claim(37.14, 37.16, 37.18, format=".0f"))
    assert little.printed is not None
    assert (little.printed.step, little.printed.rounded) == (1.0, "down")
    (favoured,) = verdicts(claim(37.51, 37.52, 37.53, format=".0f"))
    assert favoured.printed is not None
    assert favoured.printed.step == 0.1, "38 would favour 37.52"
    (unknown,) = verdicts(claim(0.4001, 0.4002, 0.4003, format=".1f", better=None))
    assert unknown.printed is not None
    assert (unknown.state, unknown.printed.rounded) == ("decided", "up")
    (latency,) = verdicts(claim(1.289, 1.29, 1.291, better="lower"))
    assert latency.printed is not None
    assert (latency.state, latency.printed.rounded) == ("opposed", "up")
    (cost,) = verdicts(claim(4.51, 4.52, 4.53, format=".0f", no_difference=None, base="", better="lower"))
    assert cost.printed is not None
    assert (cost.state, cost.printed.rounded) == ("absolute", "up")
    (allowed,) = verdicts(claim(11.64, 11.66, 11.68, format=".0f", allowed={"rounding": "as published"}))
    assert allowed.printed is not None
    assert allowed.printed.rounded == "nearest"


def test_the_larger_end_of_a_range_has_no_more_significant_digits_than_the_other() -> None:
    points = values(("threads",), [(1.0, 2.26), (2.0, 17.63)], by_ratio=True)
    (found,) = verdicts(
        claim(17.63, format=".0f", bound="high", points=points, opposite=values((), [(2.26,)]), sentence=_range_of("x"))
    )
    assert found.printed is not None
    assert [formatted(end, found.printed.format) for end in (2.26, 17.63)] == ["2.26", "17.6"]


def _range_of(words: str) -> p.Prose:
    return w.text(p.Value(query=values((), [(1.9,)]), format=".2g", high=values((), [(8.72,)])), words)


@pytest.mark.parametrize(
    ("value", "step", "rounded", "printed"),
    [
        (11.64, 1.0, "down", 11.0),
        (0.41, 0.1, "up", 0.5),
        (0.4, 0.1, "up", 0.4),
        (-0.61, 0.01, "up", -0.61),
        (9_499.0, 100.0, "down", 9_400.0),
        (2.0, 0.0, "down", 2.0),
        (0.3 - 1e-17, 0.1, "down", 0.3),
    ],
)
def test_a_number_is_a_multiple_of_its_step(value: float, step: float, rounded: Any, printed: float) -> None:
    assert stepped(value, step, rounded) == pytest.approx(printed, abs=1e-12)


def test_digits_that_the_interval_does_not_know_are_not_printed(tmp_path: Path) -> None:
    assert "Up to 8.5X the work of Disk." in page(tmp_path, claim(8.1, 8.9, 8.6, format=".2f"))


def test_a_claim_that_the_repeats_leave_open_is_not_said(tmp_path: Path) -> None:
    text = page(tmp_path, claim(0.9, 1.3, 1.1))
    assert "X the work" not in text
    assert text.count(f"Not decided (Ratio{OPEN})") == 1
    assert "Not decidedRepeats vary more than the two differ (Ratio); 3 repeats: 0.7X to 1.7X (95% interval)" in text


def test_an_open_claim_may_be_said_for_a_reason_which_the_sheet_tells(tmp_path: Path) -> None:
    said = claim(0.9, 1.3, 1.1, allowed={"decided": "an estimate"})
    assert "X the work of Disk" in page(tmp_path, said)
    report = w.report("B", p.TextElement(prose=w.text(p.Said(claim="said"))))  # type: ignore[arg-type]  # a part of a text
    (row,) = claims_sheet(WORLD.plan(report).model_copy(update={"claims": (said,)}), WORLD.store())
    assert row.document()["exceptions"] == {"decided": "an estimate"}
    assert "exception from the rule `decided`: an estimate" in row.lines


def test_the_base_stands_behind_a_sentence_that_does_not_name_it(tmp_path: Path) -> None:
    text = page(tmp_path, claim(8.71, 8.72, 8.73, named=False, words="X the work"))
    assert "We found: Up to 8.7X the work (against Disk)." in text


def test_a_claim_that_was_measured_once_says_so(tmp_path: Path) -> None:
    text = page(tmp_path, claim(8.71))
    assert "We found: Up to 8.7X the work of Disk (measured once)." in text


def test_one_value_of_another_source_is_said_as_published_and_repeats_decide() -> None:
    alone = claim(8.7).model_copy(update={"repeats": values(("repeat",), [(1.0, 8.7)])})
    assert [each.state for each in verdicts(alone, published=True)] == ["published"]
    assert [each.state for each in verdicts(alone)] == ["undecided"]
    assert [each.state for each in verdicts(claim(8.71, 8.72, 8.73), published=True)] == ["decided"]


def test_a_source_that_states_both_ends_and_no_points_gives_a_range() -> None:
    none = w.query(
        "SELECT 1::DOUBLE AS threads, 1::DOUBLE AS value WHERE false", ("threads",), "", "", [w.read("throughput")]
    )
    (found,) = verdicts(claim(8.7, bound="high", points=none, opposite=values((), [(7.9,)])), published=True)
    assert (found.state, found.points) == ("published", 0)
    assert found.ends is not None


def test_a_highest_value_has_the_interval_of_its_point_and_the_range_beside_it(tmp_path: Path) -> None:
    points = values(("threads",), [(1.0, 7.9), (2.0, 8.72), (4.0, 8.1)], by_ratio=True)
    repeats = [(n, 2.0, one) for n, one in enumerate((8.71, 8.72, 8.73), 1)]
    repeats += [(n, 1.0, one) for n, one in enumerate((2.0, 7.0, 14.7), 1)]
    said = claim(
        8.72,
        bound="high",
        points=points,
        repeats=values(("repeat", "threads"), repeats),
        opposite=values((), [(7.9,)]),
        format=".1f",
    )
    (found,) = verdicts(said)
    assert (found.state, dict(found.at), found.repeats, found.points) == ("decided", {"threads": 2.0}, 3, 3)
    assert found.low is not None
    assert found.low > 8.6
    assert found.level == pytest.approx(1 - 0.05 / 3)  # the highest of three points
    assert re.search(
        r"the work of Disk \(7.9X to 8.7X over 3 points; about \d+% of the highest is chance\)", page(tmp_path, said)
    )


def _of_a_range(least: float = 1.9) -> p.Claim:
    points = values(("threads",), [(1.0, least), (2.0, 8.72), (4.0, 8.1)], by_ratio=True)
    return claim(8.72, bound="high", points=points, opposite=values((), [(least,)]), typical=values((), [(8.1,)]))


def test_a_claim_of_a_range_says_both_ends_and_no_range_behind_them(tmp_path: Path) -> None:
    made = _of_a_range().model_copy(update={"sentence": _range_of("X the work of Disk")})
    text = page(tmp_path, made, title="Brief")
    assert "1.9X to 8.7Xthe work of Disk (measured once)" in text
    assert "We found: 1.9X to 8.7X the work of Disk (measured once)." in text
    assert "in all" not in text


def _elements(title: str) -> tuple[p.Element, ...]:
    """Return an element of each kind that has the claim in its title, and a text that states the claim."""
    said: dict[str, Any] = {"title": title, "heading": p.Prose(parts=(f"{title}: ", p.Said(claim="said")))}
    work, disks = w.throughput("hardware", threads=1.0, workload="a"), w.keys(WORLD.hardware)
    bars = w.series("bar", work, "Work", "hardware")
    lines = (p.Line(label="Work", unit="ops/s", query=work),)
    return (
        p.SectionElement(**said, elements=(p.TextElement(prose=w.text("Text.")),)),
        p.CalloutElement(**said, prose=p.Prose(parts=("Boxed: ", p.Said(claim="said")))),
        p.FigureElement(**said, series=(bars,), keys={"hardware": disks}),
        p.TableElement(**said, dim="hardware", dim_label="", keys=disks, lines=lines),
        p.FactsElement(**said, hardware=tuple(WORLD.hardware)),
    )


def _made(tmp_path: Path, said: p.Claim, template: str, language: str) -> tuple[str, str, str]:
    """Return a brief with these elements as HTML, its text, and the text of its PDF. Verifies the brief first."""
    report = w.report("Brief", *_elements("Head"), template=template, language=language)
    plan = WORLD.plan(report).model_copy(update={"claims": (said,)})
    made = render(plan, WORLD.store(), "brief", tmp_path)
    assert read_brief(made.html).edited == ()
    assert made.pdf is not None
    assert read_brief(made.pdf).edited == ()
    html = made.html.read_text("utf-8")
    printed = " ".join(page.extract_text() for page in PdfReader(made.pdf).pages)
    return html, re.sub(r"<[^>]*>", "", html[html.index("<body") :]), " ".join(printed.split())


@pytest.mark.parametrize(
    ("template", "language", "sentence", "note"),
    [
        ("technical_brief", "en", "Up to 8.7X the work of Disk (measured once)",
         "Ratio (1.9X to 8.7X in all, median 8.1X)"),
        *longer(
            ("technical_brief", "ja", "Up to 8.7X the work of Disk（測定は1回）",
             "Ratio（全体で 1.9X〜8.7X、中央値 8.1X）"),
            ("slide", "en", "Up to 8.7X the work of Disk (measured once)", "1.9X to 8.7X in all, median 8.1X"),
        ),
    ],
)  # fmt: skip
def test_titles_say_a_claim_alike_with_its_range_below(
    tmp_path: Path, template: str, language: str, sentence: str, note: str
) -> None:
    page, html, printed = _made(tmp_path, _of_a_range(), template, language)
    if template == "slide":
        assert re.search(r"<h2>Head: Up to 8.7X the work of Disk \(measured once\)<sup>", page)
    places = 6 if template != "slide" else 5  # whose table has the slide's head for its title
    assert html.count(sentence) >= places, html
    assert printed.replace(" ", "").count(sentence.replace(" ", "")) >= places
    assert note in html


def test_a_claim_that_is_the_head_of_a_slide_has_its_range_on_it(tmp_path: Path) -> None:
    *_, table, _facts = _elements("Head")
    text = p.TextElement(prose=p.Prose(parts=(p.Said(claim="said"),)))
    plain = table.model_copy(update={"title": "Work", "heading": None})
    plan = WORLD.plan(w.report("Brief", text, plain, template="slide")).model_copy(update={"claims": (_of_a_range(),)})
    html = render(plan, WORLD.store(), "brief", tmp_path, formats={"html"}).html.read_text("utf-8")
    slide = re.sub("<[^>]*>", "", html[html.index("<h2>Up to ") :].partition("</section>")[0])
    assert slide.startswith("Up to 8.7X the work of Disk (measured once)")
    assert slide.count("1.9X to 8.7X in all, median 8.1X") == 1


@pytest.mark.parametrize("told_below", [True, False])
def test_the_range_of_a_claim_is_under_each_title_that_says_it_or_its_mark_leads_there(
    tmp_path: Path, *, told_below: bool
) -> None:
    said = p.Prose(parts=("In short: ", p.Said(claim="said")))
    elements = _elements("Head") if told_below else (p.TextElement(prose=w.text("Text.")),)
    report = w.report("Brief", *elements).model_copy(update={"heading": said, "subheading": said, "subtitle": "S"})
    plan = WORLD.plan(report).model_copy(update={"claims": (_of_a_range(),)})
    html = render(plan, WORLD.store(), "brief", tmp_path, formats={"html"}).html.read_text("utf-8")
    titles = re.findall(
        r'<(h1|h2|figcaption|p class="(?:subtitle|callout-title)")[^>]*>(.*?)</(?:h1|h2|figcaption|p)>', html
    )
    those = {kind: title for kind, title in titles if "the work of Disk" in title}
    assert len(those) == (5 if told_below else 2)
    notes = dict(re.findall(r'<p id="note-(\d+)">(.*?)</p>', html))
    for title in those.values():
        marks = re.findall(r'href="#note-(\d+)"', title)
        assert len(marks) == told_below
        assert all("1.9X to 8.7X in all" in notes[mark] for mark in marks)
    assert ('<p class="title-note">Ratio (1.9X to 8.7X in all' in html) is not told_below


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "Ratio: ahead of Disk at 2 of 3 points, behind at 1 (measured once; 0.9X to 8.7X)"),
        ("ja", "Ratio：3点のうち2点で Disk より優位、1点で劣位（測定は1回、0.9X～8.7X）"),
    ],
)
def test_a_claim_that_holds_at_some_points_alone_says_so_in_titles_and_texts(
    tmp_path: Path, language: str, sentence: str
) -> None:
    said = p.TextElement(prose=p.Prose(parts=("We found: ", p.Said(claim="said"), ".")))
    report = w.report("Brief", said, *_elements("Head"), language=language)
    plan = WORLD.plan(report).model_copy(update={"claims": (_of_a_range(0.9),)})
    html = re.sub(
        "<[^>]*>", "", render(plan, WORLD.store(), "brief", tmp_path, formats={"html"}).html.read_text("utf-8")
    )
    assert html.count(sentence) >= 7
    assert "Up to" not in html
    (row,) = claims_sheet(plan, WORLD.store())
    assert (close_up(row.sentence) if language == "ja" else row.sentence) == sentence


def test_a_range_is_told_once_and_never_within_the_brackets_of_a_sentence(tmp_path: Path) -> None:
    made = _of_three_points(opposite=values((), [(1.18,)]), named=False, words="X")
    assert made.opposite is not None
    texts = (
        w.text("We found: ", p.Said(claim="said"), "."),  # type: ignore[arg-type]  # a part of a text
        w.text("From ", p.Value(query=made.opposite, format=".2f"), "X: ", p.Said(claim="said"), "."),  # type: ignore[arg-type]  # a part of a text
    )
    report = w.report("Brief", *(p.TextElement(prose=text) for text in texts))
    plan = WORLD.plan(report).model_copy(update={"claims": (made,)})
    html = render(plan, WORLD.store(), "brief", tmp_path, formats={"html"}).html.read_text("utf-8")
    found, beside = re.findall(r"<p>((?:We found|From).*?)</p>", html)
    assert re.search(r"\(against Disk\)\.<sup>", found), found
    assert "<sup>" not in beside, "the text has the range itself"


@pytest.mark.parametrize(
    ("parts", "printed"),
    [
        (("We found: ", "a", ", and ", "b", "."), f"We found: Not decided (Ratio; Other{OPEN})."),
        (("", "a", ". ", "b", ". The end."), f"Not decided (Ratio; Other{OPEN}). The end."),
        (("- ", "a", "\n- ", "b", "\n- The end"), f"Not decided (Ratio; Other{OPEN}) The end"),
        (
            ("Work: ", "a", ". Cost: ", "b", "."),
            f"Work: Not decided (Ratio{OPEN}). Cost: Not decided (Other{OPEN}).",
        ),
        (("", "a", ". ", "b", " in all."), f"Not decided (Ratio{OPEN}). Not decided (Other{OPEN}) in all."),
    ],
)
def test_a_text_says_once_what_the_repeats_leave_open(
    tmp_path: Path, parts: tuple[str, str, str, str, str], printed: str
) -> None:
    claims = (claim(0.9, 1.3, 1.1, name="a"), claim(0.8, 1.3, 1.1, name="b", what="Other"))
    prose = p.Prose.of(p.Said(claim=part) if part in ("a", "b") else part for part in parts)
    plan = WORLD.plan(w.report("Brief", p.TextElement(prose=prose))).model_copy(update={"claims": claims})
    html = render(plan, WORLD.store(), "brief", tmp_path, formats={"html"}).html.read_text("utf-8")
    (text,) = re.findall(r'<div class="text[^"]*">(.*?)</div>', html, re.DOTALL)
    assert " ".join(re.sub(r"<[^>]*>", "", text).split()) == printed


@pytest.mark.long
def test_titles_do_not_say_a_claim_that_is_left_open(tmp_path: Path) -> None:
    _, html, _ = _made(tmp_path, claim(0.9, 1.3, 1.1), "technical_brief", "en")
    assert html.count("Head: Not decided") == 5
    assert "X the work" not in html


def test_the_numbers_of_a_claim_in_titles_lead_to_their_source_and_name_the_figure(tmp_path: Path) -> None:
    plan = WORLD.plan(w.report("Brief", *_elements("Head"))).model_copy(update={"claims": (_of_a_range(),)})
    made = render(plan, WORLD.store(), "brief", tmp_path, formats={"html"})
    numbers = read_brief(made.html).numbers
    assert [figure.title for figure in numbers.figures] == ["Head: Up to 8.7X the work of Disk (measured once)"]
    assert [each.shown for each in numbers.numbers].count("8.7") == 6
    assert len(re.findall(r'Head: Up to <\w+ class="num', made.html.read_text("utf-8"))) == 5


def test_a_range_that_a_headline_has_is_in_no_note(tmp_path: Path) -> None:
    assert page(tmp_path, _of_a_range()).count("in all, median") == 1


@pytest.mark.parametrize(
    ("value", "of", "times"),
    [
        (1.17, {"format": ".0%", "no_difference": 0.0}, "2.17 times"),
        (117.0, {"unit": "%", "format": ".0f", "no_difference": 0.0}, "2.17 times"),
        (2.17, {"format": ".0%", "no_difference": 1.0}, "2.17 times"),
        (0.17, {"format": ".0%", "no_difference": 0.0}, ""),
        (2.17, {"format": ".2f", "no_difference": 1.0}, ""),
        (2.17, {"format": ".0%", "no_difference": None, "base": ""}, ""),
    ],
)
def test_more_than_100_per_cent_is_proposed_as_times(value: float, of: dict[str, Any], times: str) -> None:
    said = claim(value, **of)
    report = w.report("B", p.TextElement(prose=p.Prose(parts=(p.Said(claim="said"),))))
    (row,) = claims_sheet(WORLD.plan(report).model_copy(update={"claims": (said,)}), WORLD.store())
    told = [line for line in row.lines if "above 100%" in line]
    assert told == ([f"above 100%, so easier to read as times: {times}"] if times else [])


def test_both_ends_of_a_range_beside_each_other_have_no_range_behind_them(tmp_path: Path) -> None:
    points = values(("threads",), [(1.0, 7.9), (2.0, 8.72)], by_ratio=True)
    ends = [
        claim(8.72, name="most", bound="high", points=points, opposite=values((), [(7.9,)])),
        claim(7.9, name="least", bound="low", points=points, opposite=values((), [(8.72,)])),
    ]
    assert "in all" in page(tmp_path, ends[0])
    assert "in all" not in page(tmp_path, *ends)


def test_the_claims_of_a_brief_share_the_chance_to_be_wrong() -> None:
    alone = verdicts(claim(1.0, 1.08, 1.16))[0]
    among = verdicts(*(claim(1.0, 1.08, 1.16 + n, name=f"c{n}") for n in range(5)))[0]
    assert [alone.level, among.level] == pytest.approx([0.95, 0.99])
    worded_twice = verdicts(*(claim(1.0, 1.08, 1.16, name=name) for name in ("in_english", "in_japanese")))[0]
    assert worded_twice.level == alone.level
    assert alone.low is not None
    assert among.low is not None
    assert among.low < alone.low


def test_a_missing_number_is_a_dash_with_its_reason(tmp_path: Path) -> None:
    gone = w.query("SELECT NULL::DOUBLE AS value", (), "", "ratio", [w.read("throughput")])
    said = claim(1.0, sentence=w.text("Up to ", p.Value(query=gone, format=".1f"), "X"), points=gone)
    (found,) = verdicts(said)
    assert (found.state, found.value) == ("missing", None)
    assert page(tmp_path, said).count("No value for Ratio (") == 2


@pytest.mark.parametrize(
    ("base", "language", "why"),
    [
        (0.0, "en", "its base, Disk, is 0"),
        (0.0, "ja", "比較の基準（Disk）が 0"),
        (None, "en", "its base, Disk, has no value; "),
        (5.0, "en", "the measurements give no such value"),
    ],
)
def test_a_claim_without_a_value_says_what_is_wrong_with_its_base(
    tmp_path: Path, base: float | None, language: str, why: str
) -> None:
    gone = w.query("SELECT NULL::DOUBLE AS value", (), "", "ratio", [w.read("throughput")])
    divisor = gone if base is None else values((), [(base,)])
    sentence = w.text("Up to ", p.Value(query=gone, format=".1f"), "X")
    said = claim(1.0, sentence=sentence, points=gone, divisor=divisor)
    assert page(tmp_path, said, language=language).count(why) == 2
    plan = WORLD.plan(w.report("B", p.TextElement(prose=p.Prose(parts=(p.Said(claim="said"),)))))
    (row,) = claims_sheet(plan.model_copy(update={"claims": (said,)}), WORLD.store())
    in_english = why if language == "en" else "its base, Disk, is 0"
    assert row.judged.startswith(f"no value: {in_english}")
    assert str(row.document()["reason"]).startswith(in_english)
    assert in_english in row.item.text


def test_a_japanese_brief_says_it_in_japanese(tmp_path: Path) -> None:
    text = page(tmp_path, claim(0.9, 1.3, 1.1), language="ja")
    assert "判定できず（Ratio：反復のばらつきが両者の差を上回ります）" in text


def test_of_claims_without_a_difference_few_are_said() -> None:
    """There are 400 campaigns with five claims each. Each has three repeats, 5 % noise, and no difference."""
    noise = random.Random(7)  # noqa: S311  # noise, not secrets
    wrong = 0
    for _ in range(400):
        claims = [claim(*(noise.lognormvariate(0, 0.05) for _ in range(3)), name=f"c{n}") for n in range(5)]
        rows: dict[str, list[tuple[tuple[float, ...], float]]] = {
            query.sql: [((float(n),), one) for n, one in enumerate(_values(query), 1)]
            for each in claims
            if (query := each.repeats)
        }
        rows |= {each.points.sql: [((), one) for one in _values(each.points)] for each in claims}
        found = claim_verdicts(WORLD.plan(), lambda q, rows=rows: rows[q.sql], claims)  # type: ignore[misc]  # read in the loop
        wrong += any(each.state == "decided" for each in found)
    assert wrong <= 32  # 5 % and three standard errors


def _values(query: p.Query) -> list[float]:
    return [float(found) for found in re.findall(r"([-\d.e+]+)::DOUBLE\)", query.sql)]


def test_a_difference_on_the_worse_side_is_not_said(tmp_path: Path) -> None:
    said = claim(0.4001, 0.4002, 0.4003)
    assert verdicts(said)[0].state == "opposed"
    assert "Not shown by the measurements: Ratio" in page(tmp_path, said)


def test_a_small_decided_difference_keeps_the_digits_that_show_it() -> None:
    (found,) = verdicts(claim(0.4101, 0.4102, 0.4103, format=".0f", unit="%", no_difference=0.0))
    assert found.printed is not None
    assert found.printed.format == ".1f"
    assert found.printed.step == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("format", "printed", "step"), [("", "", 0.1), (".1e", ".2e", 0.1), (".3g", ".1f", 0.1), (".0f", ".1f", 0.1)]
)
def test_each_format_is_rounded_by_its_step(format: str, printed: str, step: float) -> None:  # noqa: A002  # the field's name
    (found,) = verdicts(claim(11.6666, 11.6667, 11.6668, format=format))
    assert found.printed is not None
    assert found.printed.format == printed
    assert found.printed.step == pytest.approx(step)


def test_facts_alone_are_declared_and_not_measured_once(tmp_path: Path) -> None:
    fact = w.constant(2.0, "", "price")
    said = claim(2.0, sentence=w.text("Up to ", p.Value(query=fact, format=".0f"), "X the price"), points=fact)
    assert verdicts(said)[0].state == "declared"
    assert "measured once" not in page(tmp_path, said)


def test_a_range_with_ends_that_look_alike_is_left_out(tmp_path: Path) -> None:
    points = values(("threads",), [(1.0, 8.71), (2.0, 8.72)], by_ratio=True)
    said = claim(8.72, bound="high", points=points, opposite=values((), [(8.71,)]))
    assert "in all" not in page(tmp_path, said)


def _of_three_points(**more: Any) -> p.Claim:
    points = values(("threads",), [(1.0, 1.19), (2.0, 1.2), (4.0, 1.18)], by_ratio=True)
    repeats = [
        (n, threads, value + 0.01 * (n - 2))
        for threads, value in ((1.0, 1.19), (2.0, 1.2), (4.0, 1.18))
        for n in (1.0, 2.0, 3.0)
    ]
    given = {"bound": "high", "points": points, "repeats": values(("repeat", "threads"), repeats), **more}
    return claim(
        1.2, sentence=w.text("Up to ", p.Value(query=values((), [(1.2,)]), format=".2f"), "X of Disk"), **given
    )


def _held(made: p.Claim, *repeats: float, times: int = 3, attempt: int = 1) -> ClaimVerdict:
    winner = Winner(({"threads": 2.0},), 3, 1.2)
    value = sum(repeats) / len(repeats) if repeats else None
    held = {made.name: HeldOutRepeats(times, attempt, winner if repeats else None, value, repeats)}
    (found,) = claim_verdicts(WORLD.plan(), lambda q: [(r.keys, r.value) for r in WORLD.store().query(q)], [made], held)
    return found


def _sentence(found: ClaimVerdict, language: str = "en") -> str:
    results = Results(WORLD.plan(), WORLD.store(), CATALOGUES[language])
    with written_as(results.words.locale):
        return sentence_text(found, results)


def _asking() -> p.Claim:
    made = _of_three_points()
    assert made.repeats is not None
    extremes = (p.Extreme(bound="high", points=made.points),)
    return made.model_copy(update={"held_out": p.HeldOut(times=3, extremes=extremes, repeats=made.repeats)})


def test_a_highest_value_that_is_not_held_out_says_how_much_of_it_is_chance() -> None:
    (found,) = verdicts(_of_three_points())
    assert found.overstated is not None
    assert 0.001 < found.overstated < 0.01
    assert "by chance" not in _sentence(found), "too little to be told"
    noisy = replace(found, overstated=0.034)
    assert re.search(r"\(highest of 3 points, about 3\.4% of it by chance\)", _sentence(noisy))
    assert "3 点中の最大値、うち約" in _sentence(noisy, "ja")


def test_a_claim_that_is_held_out_takes_its_held_out_repeats_alone() -> None:
    found = _held(_asking(), 1.151, 1.152, 1.153)
    assert (found.state, found.repeats, found.points) == ("decided", 3, 3)
    assert found.value == pytest.approx(1.152)
    assert found.level == pytest.approx(0.95), "no point of the ordinary repeats takes a part of the chance"
    assert _sentence(found) == "Up to 1.15X of Disk"


def test_a_claim_tells_of_failed_held_out_repeats_and_of_attempts() -> None:
    assert "(2 of 3 held-out repeats, attempt 2)" in _sentence(_held(_asking(), 1.151, 1.152, attempt=2))
    gone = _held(_asking())
    assert (gone.state, gone.is_said) == ("unheld", False)
    assert _sentence(gone) == "Not measured again: Ratio"
    assert _sentence(gone, "ja") == "再測定なし：Ratio"


def test_held_out_repeats_leave_open_what_the_ordinary_ones_seemed_to_decide() -> None:
    assert verdicts(_of_three_points())[0].state == "decided"
    assert _held(_asking(), 0.99, 1.0, 1.03).state == "undecided"


# --- what a reader should know of a claim ---

FLASH, DISK = (p.Read(measure="throughput", view="throughput", keys={"hardware": (key,)}) for key in ("flash", "disk"))
COMPARED: dict[str, Any] = {"against": {"hardware": "disk"}, "named": True}


def compared(*repeats: float, **more: Any) -> p.Claim:
    made = claim(*repeats, **COMPARED, **more)
    return made.model_copy(update={"points": made.points.model_copy(update={"reads": (FLASH, DISK)})})


@pytest.mark.parametrize(
    ("busy", "state", "at_least"),
    [
        ((), "decided", False),
        (("flash",), "decided", True),
        (("disk",), "limited", False),
        (("flash", "disk"), "limited", True),
    ],
)
def test_a_load_generator_that_may_be_the_limit_makes_a_claim_a_lower_bound_or_unsaid(
    busy: tuple[str, ...], state: str, at_least: bool
) -> None:
    plan, store = WORLD.plan(), WORLD.store()
    points = {Point.of(cell) for cell in plan.cells if cell.hardware in busy}

    def judged(*claims: p.Claim) -> ClaimVerdict:
        (verdict,) = claim_verdicts(
            plan, lambda q: [(row.keys, row.value) for row in store.query(q)], claims, busy=points
        )
        return verdict

    found = judged(compared(8.71, 8.72, 8.73))
    assert (found.state, found.at_least) == (state, at_least)
    allowed = judged(compared(8.71, 8.72, 8.73, allowed={"limit": "measured elsewhere"}))
    assert (allowed.state, allowed.at_least) == ("decided", False)


def test_facts_that_differ_between_the_sides_are_told_by_the_sheet_and_a_note(tmp_path: Path) -> None:
    plan = WORLD.plan(w.report("B", p.TextElement(prose=w.text(p.Said(claim="said")))))  # type: ignore[arg-type]  # a part of a text
    facts = {
        "flash": {"disks": "1", "memory": "8 GiB", "price": "2 USD/h", "path": "/f", "storage": "flash of our own"},
        "disk": {"disks": "3", "memory": "8 GiB", "price": "1 USD/h", "path": "/d", "storage": "a disk"},
    }
    made = _of_hardware(plan, facts)
    (row,) = claims_sheet(made, WORLD.store())
    (line,) = [line for line in row.lines if line.startswith("different beside what it compares: disks 1 against 3; ")]
    assert "price 2 USD/h against 1 USD/h" in line
    # What the hardware is named for, its price and its paths are no further causes.
    assert _noted(made) == "also different: disks 1 against 3"
    html = render(made, WORLD.store(), "brief", tmp_path, formats={"html"}).html.read_text("utf-8")
    assert html.count("also different: disks 1 against 3") == 1
    rival = _of_hardware(plan, {key: {**facts[key], "vendor": f"Vendor of {key}"} for key in facts})
    (row,) = claims_sheet(rival, WORLD.store())
    theirs = "Disk: disks 3; memory 8 GiB; price 1 USD/h; data path /d; storage a disk; vendor Vendor of disk"
    assert f"of another vendor, so its legal department may ask for: {theirs}" in row.lines
    assert _noted(rival) == f"compared with another vendor’s product, {theirs}"
    assert _noted(rival, language="ja").startswith("他社製品との比較です（Disk：")


def test_software_that_was_seen_to_differ_between_the_sides_stands_in_the_note() -> None:
    made = _of_hardware(WORLD.plan(), {"flash": {"os": "Debian 12"}, "disk": {"os": "Debian 12"}})
    seen = {
        "flash": {"kernel": "6.1", "os": "Debian 12.1", "memory": "8 GB", "governor": "performance"},
        "disk": {"kernel": "5.15", "os": "Debian 12.2", "memory": "4 GB", "governor": "performance"},
    }
    rows = [
        FactRow(w.RUN, "host", key, f"{key}.lab", name, text, None, "observed")
        for key, facts in seen.items()
        for name, text in facts.items()
    ]
    assert _noted(made, *rows) == "also different: kernel 6.1 against 5.15", "what is declared counts as declared"


def _noted(plan: p.Plan, *more: FactRow, language: str = "en") -> str:
    """Return the text of the note on the plan's first claim."""
    results = Results(plan, w.make_store([*WORLD.rows(), *more]), CATALOGUES[language])
    return note_on_sides(plan.claims[0], results)


def _of_hardware(plan: p.Plan, facts: dict[str, dict[str, str]]) -> p.Plan:
    """Return a plan with a claim that compares two hardware groups. `facts` has the facts of each."""
    hardware = {key: each.model_copy(update={"facts": facts[key]}) for key, each in plan.hardware.items()}
    return plan.model_copy(update={"claims": (compared(8.71, 8.72, 8.73),), "hardware": hardware})


def test_the_sheet_names_durations_that_differ_between_the_sides() -> None:
    plan = WORLD.plan(w.report("B", p.TextElement(prose=w.text(p.Said(claim="said")))))  # type: ignore[arg-type]  # a part of a text
    (name, experiment), *_ = plan.experiments.items()
    short = experiment.model_copy(update={"name": "short", "measure_s": 2.0})
    cells = [
        cell.model_copy(update={"experiment": "short"}) if cell.hardware == "disk" else cell for cell in plan.cells
    ]
    changed = {"claims": (compared(8.71, 8.72, 8.73),), "experiments": {name: experiment, "short": short}}
    (row,) = claims_sheet(plan.model_copy(update={**changed, "cells": tuple(cells)}), WORLD.store())
    (line,) = [line for line in row.lines if line.startswith("different beside")]
    assert line.endswith("against 2\u00a0s")
    assert "measured time" in line


def test_the_range_of_an_extreme_has_its_median(tmp_path: Path) -> None:
    points = values(("threads",), [(1.0, 7.9), (2.0, 8.72), (4.0, 8.1)], by_ratio=True)
    ends: dict[str, Any] = {"opposite": values((), [(7.9,)]), "typical": values((), [(8.1,)])}
    assert "(measured once; 7.9X to 8.7X in all, median 8.1X)" in page(
        tmp_path, claim(8.72, bound="high", points=points, **ends)
    )


@pytest.mark.parametrize(
    ("found", "better", "said"),
    [
        ([0.72, 1.3, 1.9], "higher", "2 of 3points ahead of Disk, 1 behind. Ratio: 0.7X to 1.9X"),
        ([0.72, 0.9, 0.8], "higher", "0 of 3points ahead of Disk, 3 behind. Ratio: 0.7X to 0.9X"),
        ([0.72, 1.3, 1.9], "lower", "1 of 3points ahead of Disk, 2 behind. Ratio: 0.72X to 1.9X"),
        ([0.72, 1.3, 1.9], None, "2 of 3points above Disk, 1 below. Ratio: 0.7X to 1.9X"),
    ],
)
def test_a_highest_value_does_not_stand_alone_where_other_points_are_worse(
    tmp_path: Path, found: list[float], better: str | None, said: str
) -> None:
    points = values(("threads",), list(enumerate(found)), by_ratio=True)
    ends: dict[str, Any] = {"opposite": values((), [(min(found),)]), "better": better}
    assert said in page(tmp_path, claim(max(found), bound="high", points=points, **ends))


def test_what_lies_within_the_noise_of_single_measurements_is_tied(tmp_path: Path) -> None:
    points = values(("workload",), [("a", 0.98), ("c", 1.3), ("d", 1.9)], by_ratio=True)
    points = points.model_copy(update={"divides": True})
    ends: dict[str, Any] = {"opposite": values((), [(0.98,)]), "better": "higher"}
    text = page(tmp_path, claim(1.9, bound="high", points=points, **ends))
    assert "2 of 3workloads ahead of Disk, 1 tied. Ratio: 0.98X to 1.9X" in text
    assert re.search(
        r"Tied: the two differ by no more than their noise, taken as 5% of each value measured once\.", text
    )


def test_a_headline_has_the_interval_of_its_repeats_below_it(tmp_path: Path) -> None:
    assert re.search(r"3 repeats: 7\.\dX to 9\.\dX \(95% interval\)", page(tmp_path, claim(8.1, 8.9, 8.6)))


def test_what_is_beside_a_headline_stands_in_one_pair_of_brackets(tmp_path: Path) -> None:
    points = values(("threads",), [(1.0, 7.9), (2.0, 8.72)], by_ratio=True)
    said = claim(8.72, bound="high", points=points, opposite=values((), [(7.9,)]), named=False)
    assert "(against Disk, measured once; 7.9X to 8.7X in all)" in page(tmp_path, said)


def test_a_sentence_that_says_more_is_not_said_of_less() -> None:
    change: dict[str, Any] = {
        "no_difference": 0.0,
        "directed": True,
        "better": None,
        "format": ".0%",
        "words": " more than Disk",
    }
    less, more = (verdicts(claim(*(sign * one for one in (0.3, 0.31, 0.32)), **change))[0] for sign in (-1, 1))
    assert (less.state, more.state) == ("opposed", "decided")
    (once,) = verdicts(claim(-0.3, **change))
    assert (once.state, once.is_said) == ("undecided", False)


def test_a_busy_generator_of_a_fixed_base_counts_wherever_the_highest_is() -> None:
    plan, store = WORLD.plan(), WORLD.store()
    threads = sorted({cell.threads for cell in plan.cells if cell.threads})
    base = p.Read(measure="throughput", view="throughput", keys={"threads": (float(threads[0]),)})
    other = p.Read(measure="throughput", view="throughput", keys={"hardware": ("flash",)})
    points = values(("threads",), [(float(n), 8.0 + n) for n in threads], by_ratio=True)
    said = claim(8.0 + threads[-1], bound="high", points=points.model_copy(update={"reads": (base, other)}),
                 against={"threads": float(threads[0])})  # fmt: skip
    busy = {Point.of(cell) for cell in plan.cells if cell.threads == threads[0] and cell.hardware == "disk"}
    (found,) = claim_verdicts(plan, lambda q: [(row.keys, row.value) for row in store.query(q)], [said], busy=busy)
    assert found.state == "limited"


def test_digits_without_a_letter_are_significant_ones() -> None:
    (three,) = verdicts(claim(11.64, 11.66, 11.68, format=".3"))
    assert three.printed is not None
    assert three.printed.format == ".1f"
    assert three.printed.step == pytest.approx(0.1)


def test_a_claim_that_is_held_out_is_limited_by_its_own_repeats() -> None:
    plan = WORLD.plan()
    rule = p.HeldOut(times=3, extremes=(), repeats=values(("repeat",), [(1.0, 8.7)]))
    made = compared(8.71, 8.72, 8.73, held_out=rule)
    busy = frozenset(Point.of(cell) for cell in plan.cells if cell.hardware == "flash")
    held = HeldOutRepeats(3, 1, Winner(({},), 1, 8.72), 8.6, (8.59, 8.6, 8.61), busy)
    store = WORLD.store()

    def at_least(by: HeldOutRepeats, busy_before: frozenset[Point]) -> bool:
        (verdict,) = claim_verdicts(
            plan, lambda q: [(row.keys, row.value) for row in store.query(q)], [made], {"said": by}, busy=busy_before
        )
        return verdict.at_least

    assert at_least(held, frozenset())
    assert not at_least(replace(held, busy=frozenset()), busy)


def test_a_value_of_highest_ones_is_decided_by_held_out_repeats_alone() -> None:
    (found,) = verdicts(claim(8.71, 8.72, 8.73, of_extremes=True))
    assert (found.state, found.is_said) == ("unheld", False)


def test_rounding_never_favours_the_worst_of_several_values() -> None:
    points = values(("threads",), [(1.0, 1.993), (2.0, 3.0)], by_ratio=True)
    (least,) = verdicts(claim(1.993, bound="low", points=points, opposite=values((), [(3.0,)])))
    assert least.printed is not None
    assert least.printed.format == ".2f"


@pytest.mark.parametrize(("value", "ends"), [(1.02, (1.005, 1.02)), (1.05, (1.005, 1.05)), (0.99, (0.99, 1.03))])
def test_the_range_of_a_highest_value_ends_at_its_held_out_repeats(value: float, ends: tuple[float, float]) -> None:
    """So the highest value is never shown alone."""
    points = values(("threads",), [(1.0, 1.005), (2.0, 1.03)], by_ratio=True)
    made = claim(1.03, bound="high", points=points, opposite=values((), [(1.005,)]))
    (found,) = verdicts(made)
    held = replace(found, value=value, held=HeldOutRepeats(3, 1, Winner(({},), 2, 1.03), value, (value,)))
    said = [numbers_in(end.query.sql) for end in held.ends or ()]
    assert said == [(number,) for number in ends]


def numbers_in(sql: str) -> tuple[float, ...]:
    return tuple(map(float, re.findall(r"\d+\.\d+", sql)))
