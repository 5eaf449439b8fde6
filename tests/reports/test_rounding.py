"""Tests that halves are rounded away from zero wherever a brief prints a number."""

from __future__ import annotations

import ast
import random
import re
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest

import benchbrief.reports
from benchbrief.model.precision import formatted, magnitude, printed_as, share_text, to_decimals, to_digits
from benchbrief.reports.data.numbers_file import PrintedBy
from benchbrief.reports.text.number_format import bytes_text, fixed, in_column, percent, quantity

ROOM = Path(next(iter(benchbrief.reports.__path__)))


@pytest.mark.parametrize(
    ("value", "spec", "printed"),
    [
        (4.5, ".0f", "5"),
        (-4.5, ".0f", "-5"),
        (2.675, ".2f", "2.68"),
        (28.499999999999996, ".0f", "29"),  # 100 × 0.285
        (0.285, ".0%", "29%"),
        (1234.5, "+,.0f", "+1,235"),
        (0.125, ".2g", "0.13"),
        (2.5e7, ".0e", "3e+07"),
        (1.25, ".2", "1.3"),
        (4.5, "", "4.5"),
        (1e22, ".0f", "10000000000000000000000"),
        (0.0, ".3g", "0"),
    ],
)
def test_a_half_is_rounded_away_from_zero_by_every_format(value: float, spec: str, printed: str) -> None:
    assert formatted(value, spec) == printed


def test_a_number_is_rounded_as_it_is_written_out() -> None:
    chance = random.Random(1)  # noqa: S311  # reproducible, and no secret
    for _ in range(2000):
        digits, decimals = chance.randint(0, 9), chance.randint(0, 4)
        written = Decimal(chance.randint(-(10**9), 10**9)).scaleb(-digits)
        right = written.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP)
        assert formatted(float(written), f".{decimals}f") == f"{float(right):.{decimals}f}"
        assert to_decimals(float(written), decimals) == float(right)


def test_significant_digits_are_rounded_the_same_way() -> None:
    assert [to_digits(v, 3) for v in (1.125, 9.995, 99950.0, -0.0012345, 0.0)] == [1.13, 10.0, 100000.0, -0.00123, 0.0]


@pytest.mark.parametrize(
    ("by", "printed"),
    [("prose", "5"), ("format", "5"), ("scale", "5"), ("amount", "5\u00a0nodes")],
)
def test_texts_tables_and_worked_formulas_round_by_one_rule(by: str, printed: str) -> None:
    number = PrintedBy.model_validate({"by": by, "format": ".0f"})
    assert number.text(4.5, None, "nodes") == printed


def test_figures_and_automatic_sentences_round_by_the_same_rule() -> None:
    assert fixed(0.125, 2) == "0.13"
    assert in_column(100.5, 0) == "101"
    assert percent(0.125) == "13%"
    assert quantity(10000.5, "ops/s") == "10,001\u00a0ops/s"
    assert bytes_text(100.25 * 1024, exact=False) == "100\u00a0KiB"


def test_a_brief_of_an_earlier_version_is_printed_again_by_its_own_rule() -> None:
    number = PrintedBy(by="prose", format=".0f")
    with printed_as(1):
        assert number.text(4.5, None, "nodes") == "4"
    assert number.text(4.5, None, "nodes") == "5"


@pytest.mark.parametrize(
    ("value", "spec", "written"),
    [
        (96087.7, ".3g", "96,100"),
        (999.6, ".3g", "1,000"),
        (-1.5e6, "+.2g", "-1,500,000"),
        (123.0, ".3g", "123"),
        (1e16, ".3g", "1e+16"),
        (0.0, ".3g", "0"),
    ],
)
def test_a_large_number_of_few_digits_has_no_exponent(value: float, spec: str, written: str) -> None:
    assert formatted(value, spec) == written


def test_nothing_in_a_brief_is_rounded_elsewhere() -> None:
    """A format with digits in an f-string would use a different rule. Lengths in style sheets and sizes of type are not
    numbers of a brief."""
    found = {
        path.name: spec
        for path in ROOM.rglob("*.py")
        if path.name not in ("rounding.py", "watermark.py", "page_faults.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FormattedValue) and node.format_spec
        if re.search(r"\.\d*[fge%]", spec := ast.unparse(node.format_spec)) and not re.search(r"\.1\dg", spec)
    }
    assert found == {}


def test_a_share_does_not_read_as_the_one_that_it_is_said_to_be_below() -> None:
    assert percent(0.947) == "95%"
    assert percent(0.947, unlike=0.95) == "94.7%"
    assert percent(0.94996, unlike=0.95) == "94.996%"
    assert percent(0.95, unlike=0.95) == "95%"
    assert percent(0.00001, 2, unlike=0.0) == "0.001%"


def test_a_share_in_a_message_is_rounded_by_the_same_rule_and_nothing_has_no_sign() -> None:
    assert [share_text(v) for v in (0.785, 0.125, -0.001, 0.0, -0.27)] == ["79 %", "13 %", "0 %", "0 %", "-27 %"]
    assert [share_text(v, 1) for v in (0.0005, -0.0004, 1.0)] == ["0.1 %", "0.0 %", "100.0 %"]


@pytest.mark.parametrize(("value", "power"), [(1.0, 0), (9.99, 0), (-1000.0, 3), (0.5, -1), (0.001, -3)])
def test_the_magnitude_of_a_number_is_that_of_its_first_digit(value: float, power: int) -> None:
    assert magnitude(value) == power


def test_shares_and_magnitudes_are_worked_out_in_one_place() -> None:
    elsewhere = r"floor\(math\.log10\([^()/]*(?:\(.*?\))?\)\).*|\{[^{}]+:\.\d%\}.*"
    rooms = [ROOM, ROOM.parent / "results", ROOM.parent / "runners"]
    found = {
        f"{path.parent.name}/{path.name}": text
        for room in rooms
        for path in room.rglob("*.py")
        for text in re.findall(elsewhere, path.read_text("utf-8"))
        if "invariants" not in path.name
    }
    assert found == {}
