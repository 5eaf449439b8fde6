"""Tests that the author is warned of a nonzero number that its format prints as 0."""

from __future__ import annotations

import pytest

from benchbrief.reports.data.numbers_file import NumberEntry, NumbersFile, PrintedBy, QueryEntry
from benchbrief.reports.render.render_report import warn_of_vanished


def file(*numbers: tuple[float | None, float | None, str]) -> NumbersFile:
    """Return a numbers file. Each number is given by its value, its upper end and its format."""
    queries = [
        QueryEntry(id=f"q{at}", expression=f"latency.p{at}[read]", sql="", dims=(), unit="ms", cells=(), source="")
        for at in range(len(numbers))
    ]
    entries = []
    for at, (value, high, form) in enumerate(numbers):
        printed = PrintedBy(by="prose", format=form, to=" to ", follows="")
        shown = printed.text(value, high, "ms")
        number = NumberEntry(
            id=f"n{at}", place="text", shown=shown, value=value, high=high, query=f"q{at}", cells=(), printed=printed
        )
        entries.append(number)
    return NumbersFile(
        benchbrief="1",
        report="brief",
        title="B",
        language="en",
        run="r",
        kind="measured",
        plan_sha256="0",
        origin=(),
        queries=tuple(queries),
        numbers=tuple(entries),
        figures=(),
        cells={},
    )


def test_a_format_that_makes_0_of_a_number_is_reported_with_the_number() -> None:
    (text,) = warn_of_vanished(file((0.04, None, ".1f")))
    assert text.startswith("report `brief`: `latency.p0[read]` is not 0, and its format `.1f` prints 0.0: ")


@pytest.mark.parametrize(
    ("value", "high", "form"),
    [
        (0.0, None, ".1f"),
        (0.06, None, ".1f"),
        (None, None, ".1f"),
        (0.04, None, ""),
        (0.04, None, ".2g"),
        (0.0, 0.7, ".1f"),
    ],
)
def test_a_number_that_is_0_or_has_a_digit_is_not_reported(value: float | None, high: float | None, form: str) -> None:
    assert list(warn_of_vanished(file((value, high, form)))) == []


def test_both_ends_of_a_range_and_many_numbers_are_reported_in_short() -> None:
    (text,) = warn_of_vanished(file((0.01, 0.04, ".1f")))
    assert "prints 0.0" in text
    *first, last = warn_of_vanished(file(*[(0.04, None, ".1f")] * 6))
    assert len(first) == 3
    assert last == "report `brief`: of numbers that are not 0 and are printed as 0, 3 more"
