"""Makes the sheet of a run's claims for the people who approve them. It has each claim's sentence, number and basis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType

from benchbrief.compiler.registry import ENGINE_SPECS
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import precision
from benchbrief.model.fingerprint import digest
from benchbrief.model.plan import CLAIM_RULES, Claim, DimKey, Plan, Report, key_text
from benchbrief.reports.claim_sides import differing_hardware, differing_settings, facts_of_rival
from benchbrief.reports.data.numbers_file import ClaimEntry
from benchbrief.reports.data.place_labels import key_label
from benchbrief.reports.data.report_data import AskedStore, Results, run_row
from benchbrief.reports.data.view_model import Item
from benchbrief.reports.disclosure.number_ledger import kind_of
from benchbrief.reports.text.number_format import quantity, written_as
from benchbrief.reports.view.said_claims import base_text, claims_of, sentence_text, verdicts_on, why_missing
from benchbrief.reports.words.brief_words import CATALOGUES, Words, counted, words_of
from benchbrief.results.analysis.claim_verdicts import ClaimVerdict

_DIGITS = 4
"""The significant digits of a number behind a sentence."""


@dataclass(frozen=True)
class SheetRow:
    """A claim as one brief makes it. `brief` is "" if no brief makes it. `lines` are the details of the sentence, `run`
    is the run that the numbers come from, and `numbers` says whether they were measured, simulated or imported."""

    brief: str
    verdict: ClaimVerdict
    sentence: str
    judged: str
    lines: tuple[str, ...]
    run: str = ""
    numbers: str = "measured"
    reason: str = ""
    """Why the claim has no value."""

    @property
    def name(self) -> str:
        return f"{self.verdict.claim.name} ({self.brief})" if self.brief else self.verdict.claim.name

    @property
    def holds(self) -> bool | None:
        """Return whether a brief may keep the claim. It may not if the repeats decide against the claim. Return None if
        the claim has no value."""
        if self.verdict.state == "missing":
            return None
        return self.verdict.state != "opposed" or self.verdict.is_excepted

    @property
    def is_withheld(self) -> bool:
        """Return whether the brief leaves out the claim's sentence."""
        return bool(self.brief) and not self.verdict.is_said

    @property
    def warning(self) -> str:
        """Return a warning if the brief leaves out the claim."""
        return f"claim left out of the brief: {self.name}, {self.judged} ({self.verdict.claim.origin})"

    @property
    def of_simulated(self) -> str:
        return f"claim of simulated numbers, which decide nothing: {self.name}"

    @property
    def item(self) -> Item:
        """Return the row as an item of the disclosure report."""
        sentence, *rest = (self.sentence, self.judged, *self.lines)
        rest.append(f"SHA-256 {self.digest}")
        return Item(sentence, " \N{MIDDLE DOT} ".join(rest), emphasis=self.is_withheld)

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the row's JSON object, for those who sign the row."""
        return digest(self.document())

    def _held_document(self) -> dict[str, object] | None:
        held = self.verdict.held
        if held is None:
            return None
        then = held.winner and {"value": held.winner.value, "places": [dict(each) for each in held.winner.places]}
        return {"times": held.times, "good": len(held.values), "attempt": held.attempt, "chosen": then}

    def document(self) -> dict[str, object]:
        """Return the row as a JSON object."""
        found, claim = self.verdict, self.verdict.claim
        return {
            "claim": claim.name,
            "brief": self.brief or None,
            "run": self.run,
            "numbers": self.numbers,
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
            "held_out": self._held_document(),
            "overstated": found.overstated,
            "median": found.typical,
            "generator_busy": found.at_least,
            "base": claim.base or None,
            "decided_with": found.claims,
            "rules": rules_of(claim),
            "exceptions": dict(claim.allowed),
            "expression": claim.points.text,
            "origin": str(claim.origin),
            **({"reason": self.reason} if self.reason else {}),
        }

    @property
    def entry(self) -> ClaimEntry:
        """Return the row as an entry in the file of numbers."""
        found = self.verdict
        return ClaimEntry(
            claim=found.claim.name,
            said=found.is_said,
            sentence=self.sentence,
            judged=self.judged,
            state=found.state,
            value=found.value,
            unit=found.claim.points.unit,
        )

    def cells(self) -> list[object]:
        """Return the cells of the row in a table with `COLUMNS`."""
        document = {**self.document(), "sha256": self.digest}
        document["at"] = ", ".join(f"{dim} {_key(key)}" for dim, key in self.verdict.at.items())
        held = self.verdict.held
        document["held_out"] = f"{len(held.values)} of {held.times}, attempt {held.attempt}" if held else ""
        document["rules"] = " ".join(rules_of(self.verdict.claim))
        document["exceptions"] = "; ".join(f"{rule}: {why}" for rule, why in self.verdict.claim.allowed.items())
        return [document[column] for column in COLUMNS]


COLUMNS = (
    "claim", "brief", "run", "numbers", "state", "said", "sentence", "value", "unit", "low", "high", "level",
    "repeats", "at", "points", "opposite", "median", "held_out", "overstated", "generator_busy", "base",
    "decided_with", "rules", "exceptions", "expression", "origin", "sha256",
)  # fmt: skip


def claims_in_briefs(
    plan: Plan, store: AskedStore, judged: Mapping[str, Sequence[ClaimVerdict]] = MappingProxyType({})
) -> list[SheetRow]:
    """Return the claims of each brief, with details in English. `judged` has the verdicts that are already known, by
    the name of their brief. Raises RunnerError."""
    rows: list[SheetRow] = []
    for report in plan.reports:
        results = Results(plan, store, words_of(report))
        verdicts = judged[report.name] if report.name in judged else claims_of(report, results)
        rows += sheet_of(report, verdicts, results, CATALOGUES["en"])
    return rows


def claims_sheet(plan: Plan, store: AskedStore) -> list[SheetRow]:
    """Return the claims of each brief, and then the claims that no brief makes, with details in English. Raises
    RunnerError."""
    rows = claims_in_briefs(plan, store)
    said = {row.verdict.claim.name for row in rows}
    results = Results(plan, store, CATALOGUES["en"])
    if rest := [claim for claim in plan.claims if claim.name not in said]:
        rows += [_row(verdict, results, results.words) for verdict in verdicts_on(rest, results)]
    return rows


def sheet_of(
    report: Report, verdicts: Iterable[ClaimVerdict], results: Results, words: Words | None = None
) -> Iterator[SheetRow]:
    """Yield the claims of a brief, with details in the brief's language or, if `words` are given, in the language of
    `words`."""
    with written_as(results.words.locale):
        for verdict in verdicts:
            yield _row(verdict, results, words or results.words, report.name)


def disclosed_claims(report: Report, verdicts: Iterable[ClaimVerdict], results: Results) -> Iterator[Item]:
    """Yield the claims of a brief for its disclosure report, followed by the rules that its other titles are exempt
    from."""
    yield from (row.item for row in sheet_of(report, verdicts, results))
    titles = results.words["sheet_titles"]
    yield from (Item(titles, line) for line in exceptions_of(report.allowed, results.words))


def rules_of(claim: Claim) -> list[str]:
    """Return the names of the rules that apply to a claim: all rules but those that the spec exempts it from."""
    return [rule for rule in CLAIM_RULES if rule not in claim.allowed]


def exceptions_of(allowed: Mapping[str, str], words: Words) -> Iterator[str]:
    """Yield a line for each rule that does not apply, with the reason."""
    for rule, reason in allowed.items():
        yield words["sheet_exception"].format(rule=rule, reason=reason)


def lines_of_brief(report: Report, plan: Plan, words: Words) -> Iterator[str]:
    """Yield the sheet's lines on a whole brief: the rules that its other titles are exempt from, and its legal text."""
    titles = words["sheet_titles"]
    yield from (f"{titles}{words['colon']}{line}" for line in exceptions_of(report.allowed, words))
    parts = report.legal.parts if report.legal else (trademarks(plan, words),)
    legal = "".join(part if isinstance(part, str) else words["missing"] for part in parts)
    yield words["sheet_legal"].format(text=" ".join(legal.split()))


def trademarks(plan: Plan, words: Words) -> str:
    """Return a sentence on the names of the measured products, for a brief whose author did not write such a
    sentence."""
    engines = dict.fromkeys(database.engine for database in plan.databases.values())
    labels = [spec.label if (spec := ENGINE_SPECS.usable(name)) else name for name in engines]
    return words["trademarks"].format(names=words.locale.listed(labels))


def _row(verdict: ClaimVerdict, results: Results, words: Words, brief: str = "") -> SheetRow:
    judged, reason = words[f"sheet_{verdict.state}"], ""
    if verdict.state == "missing":
        worded = results if results.words is words else Results(results.plan, results.store, words)
        judged = judged.format(why=(reason := why_missing(verdict.claim, worded)))
    if verdict.is_excepted and brief:
        judged = words["sheet_said_all_the_same"].format(judged=judged)
    elif not brief:
        judged = words["sheet_in_no_brief"].format(judged=judged)
    return SheetRow(
        brief,
        verdict,
        sentence_text(verdict, results),
        judged,
        tuple(_details(verdict, results.plan, words)),
        run=str(run_row(results)["run_id"] or ""),
        numbers=kind_of(results),
        reason=reason,
    )


def _details(verdict: ClaimVerdict, plan: Plan, words: Words) -> Iterator[str]:
    """Yield the details behind a claim's sentence."""
    claim, value = verdict.claim, verdict.value
    if value is None:
        return
    written = partial(quantity, unit=claim.points.unit if claim.points.unit != "1" else "", significant=_DIGITS)
    number = written(value)
    if verdict.at:
        number = words["sheet_at"].format(number=number, place=_placed(verdict.at, plan, words))
    if verdict.repeats:
        number = counted(words, "sheet_repeats", verdict.repeats, number=number)
    yield words["sheet_number"].format(number=number)
    if times := _as_times(verdict):
        yield words["sheet_as_times"].format(number=quantity(times, "", significant=3))
    if verdict.low is not None and verdict.high is not None:
        ends = {"low": written(verdict.low), "high": written(verdict.high)}
        yield words["sheet_interval"].format(**ends, wide=words.locale.numerals(precision.in_percent(verdict.level)))
    if verdict.opposite is not None and verdict.points > 1:
        found = verdict.held.winner.value if verdict.held and verdict.held.winner else value
        low, high = sorted((verdict.opposite, found))
        yield counted(words, "sheet_range", verdict.points, low=written(low), high=written(high))
    if verdict.typical is not None:
        yield words["sheet_typical"].format(number=written(verdict.typical))
    if (held := verdict.held) is not None:
        yield counted(words, "sheet_held", held.times, good=len(held.values))
        if held.attempt > 1:
            yield words["said_attempt"].format(n=held.attempt)
        if held.winner is not None:
            places = words["semicolon"].join(_placed(place, plan, words) for place in held.winner.places)
            yield words["sheet_chosen"].format(place=places, number=written(held.winner.value))
    elif verdict.overstated is not None:
        yield words["sheet_overstated"].format(share=quantity(100 * verdict.overstated, "%", significant=2))
    yield from _beside(verdict, plan, words)


def _as_times(verdict: ClaimVerdict) -> float | None:
    """Return a claim of more than 100 % as a multiple, or None for other claims."""
    claim, number, value = verdict.claim, verdict.claim.number, verdict.value
    per_cent = number is not None and (number.format.endswith("%") or claim.points.unit == "%")
    if not per_cent or value is None or claim.no_difference is None:
        return None
    whole = 100.0 if claim.points.unit == "%" else 1.0
    return (value + (whole if claim.no_difference == 0.0 else 0.0)) / whole if value > whole else None


def _beside(verdict: ClaimVerdict, plan: Plan, words: Words) -> Iterator[str]:
    """Yield remarks about a claim's comparison: the base, differences in hardware and settings, the rules that apply to
    the claim, and its source."""
    claim = verdict.claim
    if claim.base:
        yield words["sheet_against"].format(base=base_text(claim, words))
    if verdict.at_least:
        yield words["said_at_most" if claim.better == "lower" else "said_at_least"]
    if differing := [*differing_hardware(claim, plan, words), *differing_settings(claim, plan, words)]:
        yield words["sheet_differing"].format(facts=words["semicolon"].join(differing))
    if facts := facts_of_rival(claim, plan, words):
        yield words["sheet_rival"].format(facts=facts)
    yield words["sheet_rules"].format(rules=words.locale.listed(rules_of(claim)))
    yield from exceptions_of(claim.allowed, words)
    yield words["sheet_from"].format(expression=claim.points.text, origin=claim.origin)


def _placed(place: Mapping[str, DimKey | None], plan: Plan, words: Words) -> str:
    keys = ((dim, key_label(dim, key, plan), key) for dim, key in place.items() if key is not None and key != "")
    return words.locale.listed(label or f"{words.dimension_within(dim)} {_key(key)}" for dim, label, key in keys)


def _key(key: DimKey | None) -> str:
    return "" if key is None else key_text(key)
