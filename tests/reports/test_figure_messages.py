"""Tests the sentence above a figure if the author wrote no `claim`: it must be true of the figure's numbers."""

# ruff: noqa: S608  # the SQL is over made-up values

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache, partial

import pytest

from benchbrief.model import plan as p
from benchbrief.reports.charts import figure_message
from benchbrief.reports.charts.build_figure import drawing
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.words.brief_words import words
from benchbrief.results.store.store import Store
from tests.reports import world as w

Lines = Mapping[str, Sequence[float | None]]
THREADS = (1, 2, 4, 8)
LATENCY = w.read("latency", operation="read")
RATE = w.read("throughput")


@cache
def _world(names: tuple[str, ...]) -> tuple[p.Plan, Store]:
    world = w.World({name: name for name in names}, {"a": "A load"}, THREADS)
    return world.plan(), world.store()


def said(
    lines: Lines, *, mark: str = "line", unit: str = "ops/s", label: str = "Throughput", read: p.Read | None = RATE,
    language: str = "en", panels: bool = False, title: str = "F", once: bool = False,
) -> str:  # fmt: skip
    """Return the message about made-up lines. Their noise is 5 %, unless they are single measurements."""
    noise = figure_message._noise  # the made-up values have no repeats
    with pytest.MonkeyPatch.context() as patched:
        if not once:
            patched.setattr(figure_message, "_noise", lambda *given: noise(*given) or 0.05)
        return _message(lines, mark, unit, label, read, language, panels=panels, title=title)


def _message(
    lines: Lines, mark: str, unit: str, label: str, read: p.Read | None, language: str,
    *, panels: bool, title: str,
) -> str:  # fmt: skip
    rows = ", ".join(
        f"('{name}', {t}, {'NULL' if v is None else repr(v)}::DOUBLE)"
        for name, values in lines.items()
        for t, v in zip(THREADS, values, strict=False)
    )
    table = f"SELECT * FROM (VALUES {rows}) AS t (hardware, threads, value)"
    query = w.query(table, ("hardware", "threads"), unit, "throughput", [read] if read else [])
    by = {"threads": w.keys(THREADS), "hardware": w.keys({name: name for name in lines})}
    made = w.series(mark, query, label, "threads", color_dim=None if panels else "hardware")
    figure = w.figure(title, made, by=by, panel_dim="hardware" if panels else None)
    return drawing(
        figure, Results(*_world(tuple(lines)), words(language))
    ).message.replace("\u00a0", " ")  # fmt: skip


def test_a_sentence_names_the_place_of_its_measure() -> None:
    apart, alike = (
        {"HDD": (10, 20, 30, 40), "NVMe": (20, 40, 60, 80)},
        {"HDD": (10, 20, 30, 40), "NVMe": (10, 20, 30, 40)},
    )
    assert said(apart, label="Throughput, Inserts") == "NVMe does 2.0 times the operations of HDD (Inserts)"
    assert said(apart, label="Throughput, Inserts", title="inserts by threads").endswith("of HDD")
    assert said(alike, label="Throughput, Inserts") == "HDD and NVMe differ by 1% at most in throughput (Inserts)"
    assert (
        said(alike, label="スループット、書き込み", language="ja")
        == "HDD と NVMe のスループットの差は 1% 以内（書き込み）"
    )


def test_noise_that_hides_more_than_a_tenth_is_no_message() -> None:
    assert said({"HDD": (10, 20, 30, 40), "NVMe": (10.8, 20, 30, 40)}).startswith("HDD and NVMe differ by ")
    noisy = {"HDD": (10.0, 20.0, 30.0, 40.0), "NVMe": (10.0, 20.0, 30.0, 44.1)}
    assert said(noisy) == ""


def test_nothing_is_claimed_of_a_series_with_a_failed_repeat() -> None:
    failed = w.World(
        {"HDD": "HDD", "NVMe": "NVMe"}, {"a": "A load"}, THREADS, failed={"ramp/HDD/a/threads=4/1": "gone"}
    )
    query = w.throughput("hardware", "threads")
    by = {"threads": w.keys(THREADS), "hardware": w.keys({"HDD": "HDD", "NVMe": "NVMe"})}
    figure = w.figure("F", w.series("line", query, "Throughput", "threads", color_dim="hardware"), by=by)
    whole = w.World({"HDD": "HDD", "NVMe": "NVMe"}, {"a": "A load"}, THREADS)
    assert drawing(figure, Results(whole.plan(), whole.store(), words("en"))).message
    assert drawing(figure, Results(failed.plan(), failed.store(), words("en"))).message == ""


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ({"HDD": (10, 20, 30, 40), "NVMe": (85, 200, 300, 464)}, "NVMe does 8.5 to 11.6 times the operations of HDD"),
        ({"HDD": (10, 20, 30, 40), "NVMe": (12, 25, 37, 52)}, "NVMe has 20 to 30% more throughput than HDD"),
        (
            {"HDD": (10, 20, 30, 40), "NVMe": (10.1, 20, 60, 80)},
            "",
        ),
        (
            {"HDD": (10, 20, 30, 40), "NVMe": (10.1, 40, 60, 90)},
            "NVMe does 2.0 to 2.3 times the operations of HDD, from 2 threads on",
        ),
        (
            {"HDD": (10, 20, 30, 40), "NVMe": (20, 40, 60, 40)},
            "NVMe does 2.0 times the operations of HDD, up to 4 threads",
        ),
        ({"HDD": (10, 20, 30, 40), "NVMe": (20, 40, 30, 80)}, ""),
        (
            {"HDD": (10, 20, 30, 40), "NVMe": (10.1, 20.3, 30.1, 40)},
            "HDD and NVMe differ by 2% at most in throughput",
        ),
        (
            {"HDD": (20, 20, 30, 40), "NVMe": (10, 12, 60, 80)},
            "HDD is ahead in throughput up to 2 threads, NVMe from 4 threads on",
        ),
        ({"HDD": (20, 5, 30, 40), "NVMe": (10, 12, 10, 80)}, ""),
        ({"HDD": (-20, 5, 30, 40), "NVMe": (10, 12, 10, 80)}, ""),
        ({"A": (1, 2, 3, 4), "B": (2, 4, 6, 8), "C": (4, 9, 12, 16)},
         "C has the highest throughput, 2.0 to 2.3 times that of the next"),
    ],
)  # fmt: skip
def test_rates_are_compared_by_what_holds_at_each_point(lines: Lines, expected: str) -> None:
    assert said(lines) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ({"HDD": (9, 8, 12, 16), "NVMe": (3, 2, 3, 4)}, "HDD has 3.0 to 4.0 times the p99 read latency of NVMe"),
        ({"HDD": (10, 20, 30, 40), "NVMe": (8, 15, 24, 30)}, "NVMe has 20 to 25% less p99 read latency than HDD"),
        ({"NVMe": (12, 9, 6, 3)}, "p99 read latency falls from 12 s at 1 thread to 3 s at 8 threads (NVMe)"),
        ({"NVMe": (3, 6, 9, 12)}, "p99 read latency rises from 3 s at 1 thread to 12 s at 8 threads (NVMe)"),
        ({"NVMe": (6, 9, 9.1, 9.05)}, "p99 read latency is level from 2 threads on, at about 9.00 s (NVMe)"),
        ({"NVMe": (9, 9.1, 9.05, 9)}, "p99 read latency is level, at 9.00 to 9.10 s (NVMe)"),
        ({"NVMe": (6, 9, 12, 6)}, "p99 read latency is highest at 4 threads: 12 s (NVMe)"),
        ({"NVMe": (6, 9, 7, 12)}, ""),
    ],
)
def test_latencies_are_better_where_they_are_lower(lines: Lines, expected: str) -> None:
    found = said(lines, unit="s", label="p99 read latency", read=LATENCY)
    assert found == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ({"A": (10, 20, 30, 40), "B": (10, 11, 12, 30)},
         "Throughput becomes 3.0 to 4.0 times as high from 1 thread to 8 threads"),
        ({"A": (10, 20, 30, 40), "B": (None, 11, 12, 30)}, ""),
        ({"A": (10, 20, 30, 40), "B": (10, 11, 30, None)}, ""),
    ],
)  # fmt: skip
def test_slopes_are_compared_between_the_same_ends(lines: Lines, expected: str) -> None:
    assert said(lines, mark="slope") == expected


def test_each_panel_has_slopes_of_its_own() -> None:
    lines = {"A": (10, 20, 30, 40), "B": (100, 200, 300, 400)}
    assert said(lines, mark="slope", panels=True) == ("Throughput becomes 4.0 times as high from 1 thread to 8 threads")


def test_japanese_says_the_same() -> None:
    lines = {"HDD": (10, 20, 30, 40), "NVMe": (85, 200, 300, 464)}
    assert said(lines, language="ja", label="スループット") == "NVMe の処理数は HDD の 8.5〜11.6倍"


def test_a_sentence_is_short() -> None:
    long = {
        "A controller with a battery-backed cache and forty disks": (1, 2, 3, 4),
        "Another one of the same": (9, 9, 9, 9),
    }
    assert said({f"{name} of Example, firmware 7.0.1": values for name, values in long.items()}) == ""


def test_a_searched_bound_bears_out_no_claim_of_more(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchbrief.results.store.searched_doubts import RANGE

    monkeypatch.setattr(Results, "doubt", lambda *_: RANGE)
    assert RANGE.mark
    assert said({"HDD": (10, 20, 30, 40), "NVMe": (85, 200, 300, 464)}) == ""


_TIMES = re.compile(r"(?P<low>[\d.,]+)(?: to (?P<high>[\d.,]+))? (?P<unit>times|%)")


@pytest.mark.parametrize("seed", range(40))
def test_what_is_said_of_random_lines_holds(seed: int) -> None:
    random_ = random.Random(seed)  # noqa: S311  # no secret
    lines = {name: [random_.choice((1.0, 1.03, 1.5, 4.0)) * 10 * t for t in THREADS] for name in ("A", "B")}
    text = said(lines)
    assert sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text) <= 90
    ratios = [max(a, b) / min(a, b) for a, b in zip(lines["A"], lines["B"], strict=True)]
    apart = [abs(a - b) > 0.05 * (a + b) for a, b in zip(lines["A"], lines["B"], strict=True)]
    ahead = ["A" if a > b else "B" for a, b, far in zip(lines["A"], lines["B"], apart, strict=True) if far]
    if "ahead" in text or not text:
        assert len(set(ahead)) == 2 or len(ahead) < 4
    elif "differ by" in text:
        assert not ahead
    else:
        assert text.startswith(ahead[0])
        assert len(set(ahead)) == 1
        assert (" on" in text or "up to" in text) == (len(ahead) < 4)
        found = _TIMES.search(text)
        assert found
        clear = [r if found["unit"] == "times" else 100 * (r - 1) for r, far in zip(ratios, apart, strict=True) if far]
        assert float(found["low"]) == pytest.approx(min(clear), abs=0.51 if found["unit"] == "%" else 0.051)
        assert float(found["high"] or found["low"]) == pytest.approx(max(clear), abs=0.51)


@pytest.mark.parametrize(
    ("nvme", "expected"),
    [
        ((12, 25, 37, 52), "NVMe has 20 to 30% more throughput than HDD"),
        ((10.1, 40, 60, 90), "NVMe does 1.0 to 2.3 times the operations of HDD"),
        ((20, 40, 60, 36), "NVMe does 0.9 to 2.0 times the operations of HDD"),
        ((5, 10, 60, 80), "NVMe does 0.5 to 2.0 times the operations of HDD"),
        ((5, 10, 15, 44), "HDD does 0.9 to 2.0 times the operations of NVMe"),
        ((10.85, 20, 30, 41), "HDD and NVMe differ by 9% at most in throughput"),
    ],
)
def test_single_measurements_have_a_winner_only_where_it_wins_everywhere_and_else_a_range(
    nvme: Sequence[float], expected: str
) -> None:
    assert said({"HDD": (10, 20, 30, 40), "NVMe": nvme}, once=True) == expected


@pytest.mark.parametrize("once", [True, False])
def test_bars_that_go_both_ways_are_counted(once: bool) -> None:
    lines = {"HDD": (10, 20, 30, 40), "NVMe": (20, 40, 60, 30)}
    said_of = partial(said, lines, mark="bar", once=once)
    assert said_of() == "NVMe is ahead in throughput in 3 of 4 cases, HDD in 1"
    assert said_of(label="スループット", language="ja") == "4 件のうち 3 で NVMe、1 で HDD のスループットが優位"
    level = {"HDD": (10, 20, 30, 40), "NVMe": (20, 40, 30.1, 30)}
    assert said(level, mark="bar", once=once) == "NVMe is ahead in throughput in 2 of 4 cases, HDD in 1, 1 tied"
