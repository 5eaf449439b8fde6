"""The sheet of a run's claims: each with its sentence, its number and what it rests on, for those who sign it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.model.plan import DimKey, Plan, Report, key_text
from benchbrief.model.precision import formatted
from benchbrief.reports.data.report_data import AskedStore, Results
from benchbrief.reports.text.number_format import written_as
from benchbrief.reports.view.said_claims import sentence_text, verdicts_on
from benchbrief.reports.words.brief_words import CATALOGUES, Words, words_of
from benchbrief.results.analysis.claim_verdicts import ClaimVerdict, claims_said

_JUDGED = {
    "decided": "decided",
    "undecided": "not decided: the repeats leave open whether there is a difference",
    "opposed": "the other way: the repeats decide a difference on the worse side",
    "once": "measured once: no repeat tells whether it is more than noise",
    "declared": "made of facts of the spec, without a measurement",
    "published": "of what a source states, not measured here",
    "absolute": "a number of its own, compared with nothing",
    "missing": "no value",
}


@dataclass(frozen=True)
class SheetRow:
    """A claim in one brief; `brief` is "" for a claim that none says."""

    brief: str
    verdict: ClaimVerdict
    sentence: str

    @property
    def name(self) -> str:
        return f"{self.verdict.claim.name} ({self.brief})" if self.brief else self.verdict.claim.name

    @property
    def judged(self) -> str:
        """Return the verdict in words."""
        found = _JUDGED[self.verdict.state]
        if self.verdict.state == "undecided" and self.verdict.is_said:
            return f"{found}, and said all the same"
        return found if self.brief else f"{found}; no brief says it"

    def lines(self) -> Iterator[str]:
        """Yield what is behind the sentence, line by line."""
        found, claim = self.verdict, self.verdict.claim
        unit = f" {claim.points.unit}" if claim.points.unit not in ("", "1") else ""
        yield self.sentence
        if found.value is None:
            return
        at = f" at {self._place}" if found.at else ""
        repeats = f", from {plural(found.repeats, 'measurement')}" if found.repeats else ""
        yield f"number: {_digits(found.value)}{unit}{at}{repeats}"
        if found.low is not None and found.high is not None:
            yield f"interval: {_digits(found.low)} to {_digits(found.high)}{unit} ({_percent(found.level)})"
        if found.opposite is not None and found.points > 1:
            low, high = sorted((found.opposite, found.value))
            yield f"range: {_digits(low)} to {_digits(high)}{unit}, over {plural(found.points, 'point')}"
        if claim.base:
            yield f"against: {claim.base}"
        for rule, reason in claim.allowed.items():
            yield f"exception from the rule `{rule}`: {reason}"
        yield f"from: {claim.points.text}, {claim.origin}"

    @property
    def _place(self) -> str:
        return ", ".join(f"{dim} {_key(key)}" for dim, key in self.verdict.at.items())

    def document(self) -> dict[str, object]:
        """Return the row as a JSON object."""
        found, claim = self.verdict, self.verdict.claim
        return {
            "claim": claim.name,
            "brief": self.brief or None,
            "state": found.state,
            "said": found.is_said and bool(self.brief),
            "sentence": self.sentence,
            "value": found.value,
            "unit": claim.points.unit,
            "low": found.low,
            "high": found.high,
            "level": found.level,
            "repeats": found.repeats,
            "at": dict(found.at),
            "points": found.points,
            "opposite": found.opposite,
            "base": claim.base or None,
            "decided_with": found.claims,
            "exceptions": dict(claim.allowed),
            "expression": claim.points.text,
            "origin": str(claim.origin),
        }

    def cells(self) -> list[object]:
        """Return the row for a table with `COLUMNS`."""
        document = self.document()
        document["at"] = self._place
        document["exceptions"] = "; ".join(f"{rule}: {why}" for rule, why in self.verdict.claim.allowed.items())
        return [document[column] for column in COLUMNS]


COLUMNS = (
    "claim", "brief", "state", "said", "sentence", "value", "unit", "low", "high", "level", "repeats", "at", "points",
    "opposite", "base", "decided_with", "exceptions", "expression", "origin",
)  # fmt: skip


def claims_sheet(plan: Plan, store: AskedStore) -> list[SheetRow]:
    """Return the claims of each brief, then those that no brief says. Raises RunnerError."""
    rows: list[SheetRow] = []
    for report in plan.reports:
        rows += _rows(plan, store, report, words_of(report))
    said = {row.verdict.claim.name for row in rows}
    rest = [claim for claim in plan.claims if claim.name not in said]
    if rest:
        results = Results(plan, store, CATALOGUES["en"])
        for verdict in verdicts_on(rest, results):
            rows.append(SheetRow("", verdict, sentence_text(verdict, results)))
    return rows


def _rows(plan: Plan, store: AskedStore, report: Report, words: Words) -> Iterator[SheetRow]:
    results = Results(plan, store, words)
    verdicts = verdicts_on(claims_said(plan, report), results)
    with written_as(words.locale):
        for verdict in verdicts:
            yield SheetRow(report.name, verdict, sentence_text(verdict, results))


def _digits(value: float) -> str:
    return formatted(value, ",.4g") if abs(value) < 1e4 else formatted(value, ",.0f")


def _percent(level: float) -> str:
    return f"{formatted(100 * level, '.4g')} %"


def _key(key: DimKey | None) -> str:
    return "" if key is None else key_text(key)
