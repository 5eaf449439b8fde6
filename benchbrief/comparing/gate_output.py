"""Formats the output of `bench gate` for a terminal, as JSON, as Markdown, and as the cases of a JUnit file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from benchbrief.cli.verdict_files import Case, inline, table
from benchbrief.comparing.trend_output import lab_dict
from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.history.site.site_texts import amount, p_text, percent

if TYPE_CHECKING:
    from benchbrief.cli.verdict_files import State as CaseState
    from benchbrief.history.gate_rule import JudgedSeries, State

COLOURS = {"alarm": "red", "suspect": "yellow", "lab": "yellow", "missing": "yellow", "better": "green"}
_WORDS = {"ok": "as before", "lab": "the lab's", "reused": "of an earlier run"}
_MARKS = {"alarm": "❌", "suspect": "❗", "missing": "❗", "better": "✅"}
_ORDER: tuple[State, ...] = (
    "alarm", "suspect", "missing", "lab", "not confirmed", "known", "better", "untested", "passed over", "reused", "ok",
)  # fmt: skip
_SHOWN = ("alarm", "suspect", "missing", "lab", "not confirmed", "known", "better")
_LONGEST = 200
"""The most characters of a reason. The reason of a failed cell may include its tool's output and be long."""


def word(state: str) -> str:
    return _WORDS.get(state, state)


def counted(judged: Sequence[JudgedSeries]) -> str:
    """Count the series by state: `3 series: 1 alarm, 2 as before`."""
    counts = Counter(each.state for each in judged)
    of_each = ", ".join(f"{counts[state]} {word(state)}" for state in _ORDER if counts[state])
    return f"{len(judged)} series: {of_each}"


def why_untested(judged: Sequence[JudgedSeries]) -> str:
    """Return the most frequent reason why series are untested, with the number of series, or "" if all are tested."""
    reasons = Counter(each.detail for each in judged if each.state == "untested")
    if not reasons:
        return ""
    ((reason, count),) = reasons.most_common(1)
    return f"{count} of the {reasons.total()} untested: {reason}" if len(reasons) > 1 else f"untested: {reason}"


def why_unprotected(judged: Sequence[JudgedSeries]) -> str:
    """Return how many series could not be tested, and how many more runs a test needs, or "" if all series were tested.

    Skipped series do not count, and neither do series whose value was taken from an earlier run.
    """
    asked = [each for each in judged if each.state not in ("passed over", "reused")]
    untested = [each for each in asked if each.state == "untested"]
    if not untested:
        return ""
    needed = min((each.runs_needed for each in untested if each.runs_needed), default=0)
    then = f": {plural(needed, 'more run')} at the same level {'is' if needed == 1 else 'are'} needed" if needed else ""
    if len(untested) == len(asked):
        return f"NO PROTECTION: none of the {len(asked)} series could be tested{then}"
    return f"NO PROTECTION for {len(untested)} of the {len(asked)} series, which could not be tested{then}"


def gate_lines(judged: Sequence[JudgedSeries], *, every: bool) -> Iterator[tuple[str, str | None]]:
    """Yield a line with its colour (or None) for each series that has changed, or for every series."""
    for each in sorted(judged, key=lambda each: _ORDER.index(each.state)):
        if each.state in _SHOWN or every:
            yield f"{word(each.state)}: {each.series.quantity} at {name_of(each)}", COLOURS.get(each.state)
            for line in details(each):
                yield f"  {line}", None


def name_of(judged: JudgedSeries) -> str:
    series = judged.series
    profile = f" (profile {series.profile})" if series.profile else ""
    return f"{series.at or 'all'} of {series.spec}{profile}"


def details(judged: JudgedSeries) -> Iterator[str]:
    unit = judged.part.unit if judged.part else ""
    if judged.level is not None and judged.first is not None and judged.value is not None:
        change = "" if judged.change is None else f", {percent(judged.change + 1)}"
        last = "the last run" if judged.length == 1 else f"the last {judged.length} runs"
        sure = f", {p_text(judged.p)}" if judged.p is not None else ""
        level = f"{amount(judged.level, unit)} in {len(judged.before)} runs"
        yield f"{level} → {amount(judged.value, unit)} in this one; {last}{change}{sure}"
        if judged.length > 1:
            yield f"from {judged.first.run_id} on"
    if judged.again:
        values = ", ".join(amount(value, unit) for value in judged.again)
        yield f"measured again: {values}" + (f", {p_text(judged.again_p)}" if judged.again_p is not None else "")
    if judged.detail:
        yield judged.detail if len(judged.detail) <= _LONGEST else f"{judged.detail[:_LONGEST]}..."
    if judged.verdict:
        yield f"verdict: {judged.verdict.verdict}" + (f", {judged.verdict.note}" if judged.verdict.note else "")


def cases(judged: Sequence[JudgedSeries], *, strict: bool) -> Iterator[Case]:
    """Yield a case for each series. A suspicious series is an error. One that can't be tested is skipped or, with
    `strict`, an error."""
    for each in judged:
        state: CaseState = "ok"
        if each.state == "alarm":
            state = "failure"
        elif each.state == "suspect":
            state = "error"
        elif each.state in ("missing", "untested"):
            state = "error" if strict else "skipped"
        elif each.state in ("known", "reused", "passed over"):
            state = "skipped"
        shown = "; ".join(details(each)) or word(each.state)
        yield Case(each.series.quantity, name_of(each), state, shown, remark=shown if state == "ok" else "")


def markdown(title: str, judged: Sequence[JudgedSeries], notes: Sequence[str]) -> str:
    lines = [f"## {inline(title)}", "", inline(counted(judged)), ""]
    if why := why_untested(judged):
        lines += [inline(why), ""]
    if why := why_unprotected(judged):
        lines += [f"**{inline(why)}**", ""]
    rows = [
        (
            f"{_MARKS.get(each.state, '⚪')} {word(each.state)}",
            each.series.quantity,
            name_of(each),
            "; ".join(details(each)),
        )
        for each in sorted(judged, key=lambda each: _ORDER.index(each.state))
        if each.state in _SHOWN
    ]
    if rows:
        lines += [*table(("verdict", "quantity", "point", "detail"), rows), ""]
    lines += [f"{inline(note)}\n" for note in notes]
    return "\n".join(lines)


def as_dict(run_id: str, outcome: str, judged: Sequence[JudgedSeries], notes: Sequence[str]) -> dict[str, Any]:
    """Return the JSON document that `--json` prints and that a hook receives."""
    return {
        "run": run_id,
        "outcome": outcome,
        "unprotected": why_unprotected(judged),
        "runs_needed": min((each.runs_needed for each in judged if each.runs_needed), default=0),
        "counts": dict(Counter(each.state for each in judged)),
        "series": [_one(each) for each in judged],
        "notes": list(notes),
    }


def _one(judged: JudgedSeries) -> dict[str, Any]:
    series, names = (
        judged.series,
        ("state", "detail", "value", "level", "change", "length", "p", "again", "again_p", "runs_needed"),
    )
    return {
        **{name: getattr(series, name) for name in ("spec", "profile", "quantity")},
        "point": dict(series.point),
        "unit": judged.part.unit if judged.part else None,
        **{name: getattr(judged, name) for name in names},
        "first": judged.first and judged.first.run_id,
        "since": judged.since and judged.since.run_id,
        "lab": lab_dict(judged.lab),
        "verdict": judged.verdict and judged.verdict.model_dump(),
    }
