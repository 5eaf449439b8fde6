"""The expectations of a spec: each condition with its verdict and the numbers that decide it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.budgets import looks_at
from benchbrief.model.plan import DimKey, Expect, Query, Unjudged, Wording
from benchbrief.model.precision import in_percent
from benchbrief.reports.data.measure_labels import readable_label
from benchbrief.reports.data.place_labels import key_label
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.text.number_format import automatic, quantity
from benchbrief.reports.words.brief_words import counted
from benchbrief.results.analysis.expectation_verdicts import ExpectInterval, Judgement, is_number, judge

_Verdict = Literal["holds", "fails", "unknown"]
_VERDICTS: Mapping[bool | None, _Verdict] = {True: "holds", False: "fails", None: "unknown"}
_MOST_DIGITS = 15
_SHOWN = 3
"""The most places that are listed. Further places are only counted."""


@dataclass(frozen=True)
class JudgedExpectation:
    """An expectation with its verdict. `numbers` lists the places that decide the verdict and their compared values, or
    is "". `decided` says whether the repeats decide the verdict, and is None if repeats can't. If the repeats leave the
    verdict open, `numbers` also has the intervals.
    """

    expect: Expect
    verdict: _Verdict
    numbers: str
    decided: bool | None
    places: int = 1
    """The number of places where the condition is checked. If it is about a highest value, all places that the value is
    taken from count."""
    is_bound: bool = False
    """Whether the verdict is unknown because a search knows a rate only as a bound."""


def judge_expectations(results: Results) -> list[JudgedExpectation]:
    return [_judged(expect, results) for expect in results.plan.expects]


def describe(one: JudgedExpectation, results: Results) -> str:
    """Describe the verdict, such as `throughput > 10k ops/s: does not hold (First folder, threads 4: throughput = 8,200
    ops/s)`."""
    said = "bound" if one.is_bound else one.verdict
    verdict = results.words[f"d_expect_{said}{'_undecided' if one.decided is False else ''}"]
    return f"{one.expect.text}{results.words['colon']}{verdict}" + (
        results.words["aside"].format(text=one.numbers) if one.numbers else ""
    )


def said_in_words(expect: Expect, results: Results) -> str:
    """Return an expectation without the syntax of its spec. This is its label or, without a label, a phrase for its
    condition."""
    if expect.label != expect.text:
        return expect.label
    is_said = isinstance(expect.wording, Wording)
    return readable_label(expect.wording, results.words) if is_said else results.words["expect_unnamed"]


def _judged(expect: Expect, results: Results) -> JudgedExpectation:
    rows = results.known_from_both_sides(expect.query)

    def read(query: Query) -> Iterable[tuple[tuple[DimKey, ...], float | None]]:
        # Published values do not belong to single repeats.
        return (rows if query is expect.query else results.rows(query)).items()

    found = judge(expect, read, looks_at(results.plan, expect))
    dims: tuple[str, ...] = expect.query.dims
    places = [dict(zip(dims, keys, strict=True)) for keys, value in rows.items() if value == found.holds]
    shown = [text for place in places[:_SHOWN] if (text := _place(expect, place, results))]
    shown += _more(len(places), results) if shown else []
    vague = _vague(found, results) if found.decided is False else []
    over = [_unjudged(each, results) for each in expect.unjudged]
    verdict = _VERDICTS[found.holds]
    is_bound = found.holds is None and None not in results.rows(expect.query).values() and bool(rows)
    numbers = results.words["semicolon"].join((*shown, *vague, *over))
    return JudgedExpectation(expect, verdict, numbers, found.decided, max(len(rows), found.places), is_bound)


def _unjudged(over: Unjudged, results: Results) -> str:
    keys = [_key(over.dim, key, results) for key in over.keys[:_SHOWN]]
    named = results.words.locale.listed([*keys, *_more(len(over.keys), results)])
    return results.words["expect_unjudged"].format(places=named, measure=over.measure)


def _vague(found: Judgement, results: Results) -> list[str]:
    """Return the intervals of a verdict that the repeats do not decide."""
    words = results.words
    intervals = [_interval(each, found.first_look, results) for each in found.vague[:_SHOWN]]
    listed = words["semicolon"].join((*intervals, *_more(len(found.vague), results)))
    wide = words.locale.numerals(in_percent(found.level))
    looks = words["expect_intervals_looks"].format(looks=found.looks) if found.looks > 1 else ""
    key = "expect_intervals_corrected" if found.is_corrected else "expect_intervals"
    return [words[key].format(wide=wide, looks=looks, places=found.places) + listed]


def _interval(each: ExpectInterval, first_look: int | None, results: Results) -> str:
    if each.has_ends:
        low, high = (quantity(end, each.unit) for end in (each.low, each.high))
        key = "expect_interval" if each.form == "value" else f"expect_{each.form}"
        said = counted(results.words, key, each.repeats, of=each.of, low=low, high=high)
    elif first_look is not None and each.repeats < first_look:
        said = counted(results.words, "expect_no_interval_budget", each.repeats, of=each.of, first=first_look)
    else:
        said = counted(results.words, "expect_no_interval", each.repeats, of=each.of)
    known = {dim: key if isinstance(key, str) else float(key) for dim, key in each.place.items() if key is not None}
    where = results.words.locale.listed(_key(dim, key, results) for dim, key in _telling(known, results).items())
    return results.words["colon"].join(part for part in (where, said) if part)


def _more(count: int, results: Results) -> list[str]:
    return [results.words["expect_more"].format(n=count - _SHOWN)] if count > _SHOWN else []


def _place(expect: Expect, place: dict[str, str | float], results: Results) -> str:
    where = results.words.locale.listed(_key(dim, key, results) for dim, key in _telling(place, results).items())
    sides = results.words.locale.listed(_sides(expect, place, results))
    return results.words["colon"].join(part for part in (where, sides) if part)


def _telling(place: Mapping[str, DimKey], results: Results) -> dict[str, DimKey]:
    """Return the part of a place that distinguishes it from others. If a plan with factors has only one hardware, the
    hardware is left out."""
    alone = len(results.plan.hardware) == 1 and bool(results.plan.factors)
    return {dim: key for dim, key in place.items() if dim != "hardware" or not alone}


def _sides(expect: Expect, place: dict[str, str | float], results: Results) -> Iterator[str]:
    """Yield each side of a condition with its value. The values have enough digits to be told apart. Literal numbers
    are left out."""
    known = [(side, value) for side in expect.sides if (value := results.at(side, **place)) is not None]
    marks = [results.doubt(side, None, place).mark for side, _ in known]
    for digits in range(_MOST_DIGITS + 1):
        texts = [quantity(value, side.unit, significant=digits) for side, value in known]
        if len(set(texts)) == len({value for _, value in known}):
            break
    shown = zip(known, marks, texts, strict=True)
    yield from (f"{side.text} {mark or '= '}{text}" for (side, _), mark, text in shown if not is_number(side))


def _key(dim: str, key: str | float, results: Results) -> str:
    return key_label(dim, key, results.plan) or f"{dim} {automatic(key) if isinstance(key, float) else key}"
