from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbrief.model.units import (
    CURRENCIES,
    Unit,
    UnknownUnitError,
    base_unit,
    dimension_name,
    divide,
    known_units,
    multiply,
    parse_unit,
)


@pytest.mark.parametrize(
    ("text", "factor", "base"),
    [
        ("min", 60.0, "s"),
        ("GiB", 2.0**30, "B"),
        ("d", 86_400.0, "s"),
        ("KiB", 1024.0, "B"),
        ("Kibit", 128.0, "B"),
        ("mW", 1e-3, "W"),
        ("J/s/s", 1.0, "J/s/s"),
        ("GB", 1e9, "B"),
        ("Gbit/s", 125e6, "B/s"),
        ("kop", 1e3, "ops"),
        ("ops/s/W", 1.0, "ops/s/W"),
        ("op/J", 1.0, "ops/s/W"),
        ("J/op", 1.0, "J/op"),
        ("kWh", 3.6e6, "J"),
        ("USD/Mop", 1e-6, "USD/op"),
        ("USD/h", 1 / 3600, "USD/s"),
        ("rpm", 1 / 60, "1/s"),
        ("1/s", 1.0, "1/s"),
        ("%", 0.01, ""),
        ("", 1.0, ""),
        ("nodes", 1.0, "nodes"),
        ("month", 730 * 3600.0, "s"),
        ("W", 1.0, "W"),
        ("J/s", 1.0, "W"),
    ],
)
def test_a_unit_converts_to_its_base_unit(text: str, factor: float, base: str) -> None:
    unit = parse_unit(text)
    assert unit.factor == pytest.approx(factor)
    assert base_unit(unit.dimension) == base


@pytest.mark.parametrize("text", known_units())
def test_a_base_unit_has_the_factor_one(text: str) -> None:
    base = base_unit(parse_unit(text).dimension)
    assert parse_unit(base).factor == 1.0
    assert parse_unit(base).dimension == parse_unit(text).dimension


@pytest.mark.parametrize(
    ("left", "right"),
    [("USD", "EUR"), ("ops", "records"), ("nodes", "cores"), ("threads", "cores"), ("W", "J"), ("B", "s"), ("s", "%")],
)
def test_different_things_have_different_dimensions(left: str, right: str) -> None:
    assert parse_unit(left).dimension != parse_unit(right).dimension


@pytest.mark.parametrize(("left", "right"), [("bit", "B"), ("IOPS", "Hz"), ("documents", "records"), ("op", "Mops")])
def test_the_same_thing_in_other_words_has_one_dimension(left: str, right: str) -> None:
    assert parse_unit(left).dimension == parse_unit(right).dimension


_UNITS: st.SearchStrategy[Unit] = st.sampled_from(known_units()).map(parse_unit)


@given(_UNITS, _UNITS)
def test_dividing_undoes_multiplying(a: Unit, b: Unit) -> None:
    assert divide(multiply(a.dimension, b.dimension), b.dimension) == a.dimension
    there_and_back = a * b / b
    assert there_and_back.dimension == a.dimension
    assert there_and_back.factor == pytest.approx(a.factor)


@given(st.lists(_UNITS, min_size=1, max_size=3), st.lists(_UNITS, max_size=3))
def test_every_compound_base_unit_can_be_read_back(over: list[Unit], under: list[Unit]) -> None:
    dimension = parse_unit("").dimension
    for unit in over:
        dimension = multiply(dimension, unit.dimension)
    for unit in under:
        dimension = divide(dimension, unit.dimension)
    read = parse_unit(base_unit(dimension))
    assert read.dimension == dimension
    assert read.factor == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("text", "part", "start", "hint"),
    [
        ("KB", "KB", 0, "kB"),
        ("ops/KB", "KB", 4, "kB"),
        ("sec", "sec", 0, "s"),
        ("Gbps", "Gbps", 0, "Gbit/s"),
        ("usd/h", "usd", 0, "USD"),
        ("furlong", "furlong", 0, None),
        ("ops//s", "", 4, None),
    ],
)
def test_an_unknown_unit_names_its_wrong_part_and_what_was_meant(
    text: str, part: str, start: int, hint: str | None
) -> None:
    with pytest.raises(UnknownUnitError) as raised:
        parse_unit(text)
    assert (raised.value.part, raised.value.start, raised.value.hint) == (part, start, hint)


def test_dimensions_are_named_for_people() -> None:
    names = [dimension_name(parse_unit(text).dimension) for text in ("min", "W", "EUR", "ops/s", "USD/op", "")]
    assert names == ["a time", "a power", "an amount of EUR", "a throughput in ops/s", "in USD/op", "a plain number"]


def test_currencies_are_last_among_the_known_units() -> None:
    assert set(known_units()[-len(CURRENCIES) :]) == CURRENCIES


@pytest.mark.parametrize("letter", ["u", "\N{MICRO SIGN}", "\N{GREEK SMALL LETTER MU}"])
def test_microseconds_are_written_with_any_of_the_letters_that_keyboards_have(letter: str) -> None:
    assert parse_unit(f"{letter}s").factor == parse_unit(f"{letter}s/op").factor == 1e-6
