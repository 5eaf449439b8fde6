"""Tests that each number of a brief is written in the same way everywhere: in its headline, boxes, figures, tables and
texts."""

from __future__ import annotations

import csv
import io
import re

import pytest

from benchbrief.model import plan as p
from benchbrief.model.precision import printed_as
from benchbrief.reports.data.one_precision import with_one_precision
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.data.view_model import figures_of
from benchbrief.reports.text.number_format import formatted, in_prose, quantity
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import words
from tests.reports import world as w
from tests.reports.generated import rows_for
from tests.support.examples import EXAMPLES
from tests.support.longer import longer
from tests.support.plans import compile_spec

WORLD = w.World({"hdd": "HDD", "nvme": "NVMe"}, {"a": "Sessions"}, (1, 2))


def writing(text: str) -> str:
    """Return the number in a text, without its sign and unit."""
    return re.sub(r"^[^\d]+|[^\d]+$", "", text)


def of_unit(unit: str, value: float, shown: str) -> tuple[str, float]:
    """Return a number's unit and size, in a form that is the same for 50 % and for a share of 0.5."""
    share = unit == "%" or shown.endswith("%")
    return ("%" if share else unit), float(f"{abs(value) / (100 if unit == '%' else 1):.12g}")


def without_last_digit(value: float, text: str, beside: list[float]) -> str:
    """Return the text of a bar's number without its last digit, if the figure shows that digit only to tell the bars
    apart."""
    decimals = len(text.partition(".")[2])
    coarse = [formatted(one, f".{decimals - 1}f", "") for one in {*beside}] if decimals else []
    return formatted(value, f",.{decimals - 1}f", "") if len({*coarse}) < len(coarse) else text


@pytest.mark.parametrize(
    "name", ["cluster_shrink", *longer("compression", "flash_cache", "power_efficiency"), "quickstart"]
)
def test_a_brief_writes_a_number_in_one_way(name: str) -> None:
    plan = compile_spec(next(path for path in EXAMPLES if path.stem == name))
    (report,) = plan.reports
    view = build(plan, w.make_store(rows_for(plan)), report, words(report.language))
    queries = {query.id: query for query in view.numbers.queries}
    written: dict[tuple[str, float], set[str]] = {}
    for number in view.numbers.numbers:
        if number.value is not None and number.high is None and number.printed.by in ("prose", "format", "scale"):
            key = of_unit(queries[number.query].unit, number.value, number.shown)
            written.setdefault(key, set()).add(writing(number.shown))
    for figure in figures_of(view.blocks):
        rows = list(csv.DictReader(io.StringIO(figure.csv)))
        drawn = [float(row["value"]) for row in rows if row["value"]]
        for row, shown in zip(rows, figure.data, strict=True):
            if row["series"].endswith("(estimated)"):
                assert shown[-1].split()[0] == f"{float(row['value']):.0f}"
            elif row["value"] and "to" not in row:
                key, text = of_unit(row["unit"], float(row["value"]), shown[-1]), writing(shown[-1])
                coarse = without_last_digit(float(row["value"]), text, drawn)
                texts = written.setdefault(key, set())
                texts.add(coarse if coarse in texts else text)
    assert len(written) > 4
    assert {key: texts for key, texts in written.items() if len(texts) > 1} == {}


def with_formats(*elements: p.Element, heading: p.Prose | None = None) -> p.Report:
    report = w.report("R", *elements, heading=heading)
    return with_one_precision(report, Results(WORLD.plan(), WORLD.store(), words("en")))


def value(text: str, spec: str, unit: str = "") -> p.Prose:
    return w.text(p.Value(query=w.constant(0.1234, unit, text), format=spec))


def table(text: str, unit: str = "%", spec: str = "", of: float = 12.34) -> p.TableElement:
    line = p.Line(label="L", query=w.constant(of, unit, text), format=spec)
    return p.TableElement(title="T", dim="threads", dim_label="", keys=(), lines=(line,))


def drawn(text: str, unit: str = "%") -> p.FigureElement:
    query = w.table_of({"hdd": 12.34, "nvme": 56.78}, "hardware", unit, text)
    return w.figure("F", w.series("bar", query, "L", "hardware"), by={"hardware": w.keys(WORLD.hardware)})


def spec_of(report: p.Report) -> str:
    last = report.elements[-1]
    return last.lines[0].format if isinstance(last, p.TableElement) else last.series[0].format  # type: ignore[union-attr]


def test_the_headline_decides_and_then_what_is_next_in_rank() -> None:
    headline = p.HeadlineElement(numbers=(p.HeadlineNumber(value=value("gain[nvme]", "+.0%"), text=w.text("x")),))
    text = p.TextElement(prose=value("max(gain over threads)", ".2%"))
    assert spec_of(with_formats(text, headline, drawn("gain"))) == "+.0%"
    assert spec_of(with_formats(text, table("gain"))) == ".2%"
    assert spec_of(with_formats(text, table("gain", spec=".1f"), drawn("gain"))) == ".1f"
    assert spec_of(with_formats(headline, table("gain", spec=".3f"))) == ".3f", "its own"
    assert spec_of(with_formats(headline, table("gain / other"))) == ""


def test_a_change_that_a_text_negates_gives_no_sign() -> None:
    text = p.TextElement(prose=value("-reduction[nvme]", "+.0%"))
    assert spec_of(with_formats(text, table("reduction"))) == ".0%"


def test_a_format_that_hides_a_number_or_is_of_another_unit_is_not_taken() -> None:
    assert spec_of(with_formats(p.TextElement(prose=value("gain", ".0f", "%")), table("gain", of=0.2))) == ""
    assert spec_of(with_formats(p.TextElement(prose=value("took", ".2f", "s")), table("took", "s"))) == ""
    assert spec_of(with_formats(table("took", "s", ".1f"), drawn("took", "s"))) == ".1f"


def test_a_number_of_nodes_is_whole_and_rounded_up() -> None:
    assert formatted(26.06, ".2g", "nodes") == "27"
    assert formatted(3.0, ".1f", "nodes") == "3.0"
    assert quantity(4.01, "nodes") == "5\u00a0nodes"
    assert quantity(1.0, "nodes") == "1\u00a0node"
    assert in_prose(23.7, 34.7, ".2g", "nodes", " nodes", " to ") == "24 to 35"
    assert [formatted(few, ".2g", "nodes") for few in (0.7046, 1.0, 1.125, 0.01)] == ["0.7", "1", "1.1", "0.1"]
    assert quantity(1.125, "nodes") == "1.1\u00a0nodes"
    with printed_as(3):
        assert formatted(1.125, ".2g", "nodes") == "2"
    with printed_as(2):
        assert formatted(26.06, ".2g", "nodes") == "26"


def test_a_measure_is_rounded_everywhere_as_a_claim_rounds_it() -> None:
    claimed = p.Value(query=w.constant(2.35, "", "max(times over threads)"), format=".1f", step=0.1, rounded="down")
    headline = p.HeadlineElement(numbers=(p.HeadlineNumber(value=w.text(claimed, "X"), text=w.text("more")),))
    text = p.TextElement(prose=w.text(p.Value(query=w.constant(2.35, "", "times[nvme]"), format=".1f")))
    report = with_formats(
        headline, text, table("times[nvme]", "", ".1f"), table("-times[nvme]", "", ".1f"), table("other", "", ".1f")
    )
    said, shown, negated, other = report.elements[1:]
    assert isinstance(said, p.TextElement)
    assert [part.format for part in said.prose.parts if isinstance(part, p.Value)] == ["\N{DOWNWARDS ARROW}.1f"]
    formats = [each.lines[0].format for each in (shown, negated, other) if isinstance(each, p.TableElement)]
    assert formats == ["\N{DOWNWARDS ARROW}.1f", "\N{UPWARDS ARROW}.1f", ".1f"]
    assert [formatted(2.35, spec, "") for spec in formats] == ["2.35", "2.4", "2.4"]
    assert [formatted(value, "\N{DOWNWARDS ARROW}.0%", "%") for value in (-41.53, 117.4, 117.9)] == [
        "−42%",
        "117%",
        "118%",
    ]
    assert formatted(37_199.0, "\N{DOWNWARDS ARROW},.2g", "ops/s") == formatted(37_000.0, ",.2g", "ops/s")
    assert formatted(0.891, "\N{DOWNWARDS ARROW}.1f", "") == "0.89", "0.9 would favour it"
    assert formatted(1.013, "\N{DOWNWARDS ARROW}.2g", "") == "1.01", "1 would be no difference"
    assert formatted(1.0003, "\N{DOWNWARDS ARROW}.2g", "") == "1.0"
    assert formatted(1.659, "\N{DOWNWARDS ARROW}.2f", "") == "1.66"
    assert formatted(6.71, "\N{DOWNWARDS ARROW}.1f", "") == "6.7"
