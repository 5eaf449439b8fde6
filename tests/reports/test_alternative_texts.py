"""Tests that what an alternative text claims is true of the figure's numbers. An independent oracle judges each
claim."""

# ruff: noqa: S608  # the SQL is over made-up values

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping, Sequence
from functools import cache

import pytest

from benchbrief.model import plan as p
from benchbrief.reports.charts.build_figure import drawing
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.words.brief_words import words
from benchbrief.results.store.store import Store
from tests.reports import world as w

Series = Mapping[str, Sequence[float | None]]
THREADS = (1, 2, 4, 8)

_WHERE = (
    r"(?P<where>everywhere|at the one point where every series is drawn|at all \d+ points where every series is drawn)"
)
_BY = re.compile(rf"(?P<name>[A-Z]) is the highest {_WHERE}(?:, (?P<times>[^ ]+(?: to [^ ]+)?) times the next one)?\.")
_EQUAL = re.compile(rf"All series are equal {_WHERE}\.")
_NOWHERE = re.compile(rf"No series is the highest {_WHERE}: (?P<parts>[^.]*)\.")
_ENDS = re.compile(
    r"\b(?P<name>[A-Z]): (?P<first>\S+)\sops/s at (?P<at>\d+)(?: to (?P<last>\S+)\sops/s at (?P<to>\d+))?\."
)


def text_of(series: Series, *, log: bool = False, mark: str = "line", beside: Sequence[p.Series] = ()) -> str:
    """Return the alternative text of a figure with numbers from a real query."""
    rows = ", ".join(
        f"('{name}', {t}, {'NULL' if v is None else repr(v) if math.isfinite(v) else repr(str(v))}::DOUBLE)"
        for name, values in series.items()
        for t, v in zip(THREADS, values, strict=False)
    )
    query = w.query(
        f"SELECT * FROM (VALUES {rows}) AS t (hardware, threads, value)", ("hardware", "threads"), "ops/s", "throughput"
    )
    by = {
        "threads": w.keys(THREADS[: len(next(iter(series.values())))]),
        "hardware": w.keys({name: name for name in series}),
    }
    made = w.series(mark, query, "Throughput", "threads", color_dim="hardware")
    figure = w.figure("F", made, *beside, by=by, log_y=log)
    return drawing(figure, Results(*world_of(tuple(series)), words("en"))).alt


@cache
def world_of(names: tuple[str, ...]) -> tuple[p.Plan, Store]:
    """Return a plan and a store for hardware with these names. Each query brings its own values."""
    world = w.World({name: name for name in names}, {"a": "A load"}, THREADS)
    return world.plan(), world.store()


def test_nodes_are_whole_and_rounded_up() -> None:
    nodes = w.query("SELECT * FROM (VALUES (1, 3.0), (2, 3.0)) AS t (threads, value)", ("threads",), "nodes", "a")
    needed = w.query("SELECT * FROM (VALUES (1, 4.74), (2, 3.09)) AS t (threads, value)", ("threads",), "nodes", "b")
    made = [w.series("bar", query, label, "threads") for query, label in ((nodes, "Nodes"), (needed, "Needed"))]
    figure = w.figure("F", *made, by={"threads": w.keys((1, 2))})
    world = w.World({"ssd": "SSD"}, {"a": "A load"}, (1, 2))
    drawn = drawing(figure, Results(world.plan(), world.store(), words("en")))
    assert "3\u00a0nodes" in drawn.alt
    assert "5\u00a0nodes" in drawn.alt
    assert [row[-1] for row in drawn.data] == ["3\u00a0nodes", "3\u00a0nodes", "5\u00a0nodes", "4\u00a0nodes"]
    (chart,) = drawn.charts
    assert [[point.text for point in trace.points] for trace in chart.traces] == [["3", "3"], ["5", "4"]]


def judge(text: str, series: Series, *, log: bool = False) -> int:
    """Judge each claim by the numbers alone. Returns the number of claims."""

    def is_drawn(value: float | None) -> bool:
        return value is not None and math.isfinite(value) and (value > 0 or not log)

    points = [dict(zip(series, column, strict=True)) for column in zip(*series.values(), strict=True)]
    whole = [{name: v for name, v in at.items() if v is not None} for at in points if all(map(is_drawn, at.values()))]

    def check_where(where: str) -> None:
        if where == "everywhere":
            assert len(whole) == len(points)
        else:
            assert len(whole) == int((re.findall(r"\d+", where) or ["1"])[0]) < len(points)

    def leads(name: str) -> int:
        return sum(all(at[name] > v for other, v in at.items() if other != name) for at in whole)

    claims = 0
    for match in _BY.finditer(text):
        claims += 1
        check_where(match["where"])
        assert leads(match["name"]) == len(whole)
        if match["times"]:
            below = [max(v for other, v in at.items() if other != match["name"]) for at in whole]
            assert min(below) > 0
            ratios = [at[match["name"]] / v for at, v in zip(whole, below, strict=True)]
            ends = [float(end.replace(",", "")) for end in match["times"].split(" to ")]
            assert ends[0] == pytest.approx(min(ratios), rel=0.006)
            assert ends[-1] == pytest.approx(max(ratios), rel=0.006)
            assert ends[-1] > 1
    for match in _EQUAL.finditer(text):
        claims += 1
        check_where(match["where"])
        assert all(len(set(at.values())) == 1 for at in whole)
    for match in _NOWHERE.finditer(text):
        claims += 1
        check_where(match["where"])
        assert all(leads(name) < len(whole) for name in series)
        for part in match["parts"].split("; "):
            if leader := re.fullmatch(r"([A-Z]) is at (\d+) of (\d+)", part):
                assert (leads(leader[1]), len(whole)) == (int(leader[2]), int(leader[3]))
            else:
                tied = re.fullmatch(r"the highest are equal at (\d+) of (\d+)", part)
                assert tied, part
                assert int(tied[1]) == len(whole) - sum(map(leads, series))
    for match in _ENDS.finditer(text):
        claims += 1
        drawn = [(t, v) for t, v in zip(THREADS, series[match["name"]], strict=False) if is_drawn(v)]
        for (t, v), value, at in zip(
            (drawn[0], drawn[-1]), match.group("first", "last"), match.group("at", "to"), strict=True
        ):
            if value is not None:
                assert int(at) == t
                assert float(value.replace(",", "").replace("−", "-")) == pytest.approx(v, rel=0.01, abs=1e-9)
    for name in re.findall(r"([A-Z]): no values\.", text):
        claims += 1
        assert not any(map(is_drawn, series[name]))
    assert len(re.findall("highest|equal", _NOWHERE.sub("", _EQUAL.sub("", _BY.sub("", text))))) == 0, text
    return claims


def random_series(chance: random.Random) -> Series:
    """Return random series with many ties, gaps, zeros, negative values, NaN and infinity."""
    few = chance.choice(
        [(1.0, 2.0), (0.0, 1.0, 5.0), (-3.0, 0.0, 3.0), (1000.0, 1001.0, 1600.0), (4.0, 4.0), (-2.0, -1.0)]
    )
    odd = chance.choice([(), (None,), (None, math.nan), (math.inf, 0.0)])
    length = chance.randint(1, 4)
    return {name: [chance.choice([*few, *few, *odd]) for _ in range(length)] for name in "ABC"[: chance.randint(1, 3)]}


@pytest.mark.parametrize("seed", range(12))
def test_each_claim_of_an_alternative_text_holds_of_the_numbers_drawn(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311  # reproducible, and no secret
    claims = 0
    for _ in range(25):
        series, log = random_series(chance), chance.random() < 0.3
        claims += judge(text_of(series, log=log), series, log=log)
    assert claims > 25


def test_equal_series_have_no_highest() -> None:
    text = text_of({"A": [5.0, 7.0], "B": [5.0, 7.0]})
    assert "All series are equal everywhere." in text
    assert "highest" not in text


def test_a_tie_at_one_point_is_no_lead() -> None:
    text = text_of({"A": [5.0, 7.0, 9.0], "B": [5.0, 6.0, 8.0]})
    assert "No series is the highest everywhere: A is at 2 of 3; the highest are equal at 1 of 3." in text


def test_an_alternative_text_does_not_say_everywhere_where_points_are_missing() -> None:
    text = text_of({"A": [5.0, 7.0, None], "B": [4.0, 6.0, 80.0]})
    assert "A is the highest at all 2 points where every series is drawn, 1.17 to 1.25 times the next one." in text


def test_an_alternative_text_names_no_highest_where_series_share_few_points() -> None:
    assert "highest" not in text_of({"A": [5.0, 7.0, None, 3.0], "B": [4.0, None, 80.0, None]})


def test_a_ratio_leaves_no_point_out() -> None:
    text = text_of({"A": [1.0, 161.0, 180.0], "B": [0.0, 100.0, 100.0]})
    assert "A is the highest everywhere. " in text
    assert "times" not in text


def test_values_that_a_ratio_rounds_to_the_same_have_none() -> None:
    assert "times" not in text_of({"A": [1000.0, 1002.0], "B": [999.0, 1000.0]})
    assert "1.00 to 1.50 times" in text_of({"A": [1000.0, 1500.0], "B": [999.0, 1000.0]})


def test_a_finding_names_what_it_compares_where_another_quantity_is_drawn() -> None:
    rival = w.series("line", w.constant(9e9, "ops/s", "ideal"), "Ideal", "threads", dashed=True)
    text = text_of({"A": [5.0, 7.0], "B": [4.0, 6.0]}, beside=[rival])
    assert "Throughput: A is the highest everywhere, 1.17 to 1.25 times the next one." in text


def test_numbers_on_one_axis_have_the_same_decimals() -> None:
    shown = text_of({"A": [12.0, 12.1, 12.25, 14.0], "B": [198.5, 20.0, 4.1, 4.125]})
    assert "A: 12.00\u00a0ops/s at 1 to 14.00\u00a0ops/s at 8." in shown
    assert "B: 198.50\u00a0ops/s at 1 to 4.13\u00a0ops/s at 8." in shown


def test_a_series_that_ends_where_it_began_is_described_as_one_value() -> None:
    assert "A: 5.0\u00a0ops/s at 1 and at 8." in re.sub(
        r"\bA: 5(?:\.0+)?", "A: 5.0", text_of({"A": (5.0, 7.0, 6.0, 5.0)})
    )
