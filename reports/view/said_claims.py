"""Puts the sentences of claims into a report, each with the necessary information about its number."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any, TypeVar

from benchbrief.model import plan as p
from benchbrief.model.held_out import number_of
from benchbrief.model.node import Node
from benchbrief.model.precision import in_percent
from benchbrief.reports.claim_sides import note_on_sides
from benchbrief.reports.data.expectations import said_in_words
from benchbrief.reports.data.imported_briefs import is_imported, sources
from benchbrief.reports.data.measure_labels import readable_label
from benchbrief.reports.data.numbers_file import PrintedBy
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.data.tied import meaning_of_tied
from benchbrief.reports.notices.result_limits import (
    are_doubtful,
    busy_generators_of,
    doubtful_points_of,
    measures_all_once,
)
from benchbrief.reports.text.number_format import percent, spelled_unit
from benchbrief.reports.words.brief_words import Words
from benchbrief.results.analysis.cautions import limited_points
from benchbrief.results.analysis.claim_verdicts import (
    FEWEST_REPEATS,
    ClaimVerdict,
    State,
    claim_verdicts,
    claims_said,
    is_base,
    with_digits_of,
)
from benchbrief.results.analysis.held_out_repeats import held_out_repeats
from benchbrief.results.analysis.stated_numbers import StatedNumber, state_claim, state_expectations
from benchbrief.results.analysis.stated_quantities import state_quantities

_N = TypeVar("_N")
_Part = str | p.Value | p.Said
_Titled = p.SectionElement | p.CalloutElement | p.TableElement | p.FactsElement | p.PublishedElement | p.FigureElement
_GLUED = re.compile(r"\A(?:[\s\u00a0]?(?:%|％|倍)(?:以上|以下)?|[xX×](?![A-Za-z])|[\s\u00a0]times\b)")
LEAST_OVERSTATED = 0.01
"""The smallest share of a highest value that a brief mentions as being due to chance."""
_LONGEST_START = 12
"""The most characters before a number (such as `Up to`) that are set in large type with it."""
_JOINED = re.compile(r"(?:[,;，；、]\s*(?:and|or)?|\s(?:and|or)|[、，]?(?:と|および|また))\s*\Z")
"""Matches text that joins a claim to another claim before it in the same sentence."""
_BEGINS = re.compile(r"(?:(?<=[.!?。！？])\s*|\n\s*\n\s*|\n\s*(?:[-*]|\d+\.)\s+)\Z")
_STOPS = re.compile(r"\A(?:[.!](?=\s|\Z)|[。！]|(?=\s*\Z|\s*\n\s*(?:\n|[-*]\s|\d+\.\s)))")
"""Match the text before and after a claim that is a whole sentence or an item of a list."""


def claims_of(report: p.Report, results: Results) -> list[ClaimVerdict]:
    """Return the verdicts on the claims in a report. All of them are judged together."""
    return verdicts_on(claims_said(results.plan, report), results)


def say_claims(report: p.Report, results: Results, verdicts: Sequence[ClaimVerdict] | None = None) -> p.Report:
    """Return the report with the sentences of its claims, following the verdicts of `claims_of`.

    If the repeats do not decide a claim, a text in its place says so, and why.
    """
    verdicts = claims_of(report, results) if verdicts is None else verdicts
    if not verdicts and not results.once(doubtful_points_of):
        return report
    headlined = {number_of(claim) for claim in _headlined(report, results)}
    told: list[State] = ["once"] if results.once(measures_all_once) else []
    told += ["published"] if are_computed(report, verdicts, results) else []
    writer = _Writer({each.claim.name: each for each in verdicts}, results, headlined, told)
    changed = {
        "heading": writer.prose(report.heading, markdown=False, short=True, beneath=report.subtitle),
        "subheading": writer.prose(report.subheading, markdown=False, short=True),
        "elements": writer.everywhere(report.elements),
        "footnotes": writer.everywhere(report.footnotes),
        "legal": writer.everywhere(report.legal),
    }
    return report.model_copy(update=changed)


def _headlined(report: p.Report, results: Results) -> list[p.Claim]:
    """Return the claims whose numbers are in large type on the first page."""
    headlines = [element for element in report.elements if isinstance(element, p.HeadlineElement)]
    return claims_said(results.plan, headlines)


def are_computed(report: p.Report, verdicts: Iterable[ClaimVerdict], results: Results) -> bool:
    """Return whether all published numbers in the headline are computed from a source's figures and the source states
    none of them. If so, a single tag of the origin is enough."""
    headlined = {claim.name for claim in _headlined(report, results)}
    numbers = [each.claim.number for each in verdicts if each.claim.name in headlined and each.state == "published"]
    quoted = (number is None or results.is_quoted(number.query) for number in numbers)
    return bool(numbers) and not any(quoted)


def verdicts_on(claims: Sequence[p.Claim], results: Results) -> list[ClaimVerdict]:
    """Return the verdicts on claims, which also depend on whether somebody else published the values. Raises
    RunnerError."""
    if not claims:
        return []
    published = any(not source.is_own for source in sources(results))
    store = results.store
    held_out = {} if is_imported(results) else held_out_repeats(store.run_dir, results.plan, afresh=store.is_rebuilt)
    return claim_verdicts(
        results.plan,
        lambda query: results.rows(query).items(),
        claims,
        held_out,
        published=published,
        busy=limited_points(results.plan, results.once(busy_generators_of)),
        doubtful=results.once(doubtful_points_of),
    )


class _Writer:
    """Writes the sentences of claims. If a claim's number is in `headlined`, the headline shows its range. The first
    page may have a remark that applies to all numbers. The states that it names are in `told`, and are not repeated
    after single numbers.
    """

    def __init__(
        self,
        verdicts: Mapping[str, ClaimVerdict],
        results: Results,
        headlined: Collection[str] = (),
        told: Collection[State] = (),
    ) -> None:
        self.verdicts = verdicts
        self.results = results
        self.headlined = headlined
        self.told = told
        self.words = results.words

    def everywhere(self, node: _N) -> _N:
        """Return a part of a report with sentences in place of claims. Parts without claims stay unchanged."""
        changed: _N = self._changed(node)
        return changed

    def _changed(self, node: Any) -> Any:
        if isinstance(node, p.Prose):
            return self.prose(node)
        if isinstance(node, p.HeadlineElement):
            return self._headline(node)
        if isinstance(node, p.FigureElement):
            told = self._is_told(node.claim)
            node = node.model_copy(update={"claim": None if told else self.prose(node.claim, short=True)})
        if isinstance(node, _Titled) and (heading := self.prose(node.heading, markdown=False, short=True)):
            node = node.model_copy(update={"heading": heading, "title": _text(heading.parts, self.results)})
        if isinstance(node, tuple):
            changed = tuple(map(self._changed, node))
            return changed if any(new is not old for new, old in zip(changed, node, strict=True)) else node
        if isinstance(node, dict):
            return {key: self._changed(value) for key, value in node.items()}
        if isinstance(node, Node) and not isinstance(node, p.Query | p.Value):
            found = {each.name: getattr(node, each.name) for each in fields(node)}
            made = {name: new for name, old in found.items() if (new := self._changed(old)) is not old}
            return node.model_copy(update=made) if made else node
        return node

    def prose(
        self, prose: p.Prose | None, *, markdown: bool = True, short: bool = False, beneath: str = ""
    ) -> p.Prose | None:
        """Return a text with the sentences of its claims. In a title (`short`), claims repeat neither the rest of the
        title nor `beneath`, the text below the title."""
        if prose is None or not any(isinstance(part, p.Said) for part in prose.parts):
            return prose
        told = [
            query.sql for part in prose.parts if isinstance(part, p.Value) for query in (part.query, part.high) if query
        ]
        given, left_open = self._with_open_ones_once(prose.parts)
        parts: list[_Part] = []
        for at, part in enumerate(given):
            if not isinstance(part, p.Said):
                parts.append(part)
                continue
            verdict = self.verdicts[part.claim]
            if _is_open(verdict):
                sentence: Sequence[_Part] = [self.not_said(verdict, short=short, beside=left_open)]
                left_open = ()
            else:
                if short:
                    verdict = self._beside_others(verdict, given[:at], [*given[at + 1 :], beneath])
                has_range = verdict.claim.opposite is not None and verdict.claim.opposite.sql in told
                sentence = self.sentence(verdict, tagged=is_imported(self.results), noted=not has_range)
            parts += map(_escaped, sentence) if markdown else sentence
        return p.Prose.of(parts)

    def _is_told(self, claim: p.Prose | None) -> bool:
        """Return whether the headline already says that a figure's claim is open, or names the points at which it is no
        gain."""
        said = [part for part in claim.parts if isinstance(part, p.Said)] if claim else []
        verdict = self.verdicts[said[0].claim] if len(said) == 1 else None
        if verdict is None or number_of(verdict.claim) not in self.headlined:
            return False
        return _is_open(verdict) or (verdict.is_said and verdict.is_mixed and verdict.claim.takes_best)

    def _beside_others(self, verdict: ClaimVerdict, before: Sequence[_Part], after: Sequence[_Part]) -> ClaimVerdict:
        """Return a verdict for a title, without information that the rest of the title gives: the base of comparison,
        or that a claim was measured once. If several claims of the title were measured once, only the last one says so.
        """
        others = [self.verdicts[part.claim] for part in (*before, *after) if isinstance(part, p.Said)]
        texts = [part for part in (*before, *after) if isinstance(part, str)]
        texts += [each.claim.base for each in others if each.is_said and each.claim.named]
        claim = verdict.claim
        if claim.base and any(claim.base.casefold() in text.casefold() for text in texts):
            verdict = replace(verdict, claim=claim.model_copy(update={"named": True}))
        later = (self.verdicts[part.claim].state for part in after if isinstance(part, p.Said))
        return replace(verdict, state="absolute") if verdict.state == "once" and "once" in later else verdict

    def _with_open_ones_once(self, parts: Sequence[_Part]) -> tuple[list[_Part], Sequence[ClaimVerdict]]:
        """Return the parts of a text, changed so that open claims are named in one place only. Also return the claims
        whose own places were removed. A place is removed if it is a whole sentence, or is joined to the text before it.
        """
        found, gone = list[_Part](), list[ClaimVerdict]()
        is_first, behind = True, 0
        for at, part in enumerate(parts):
            verdict = self.verdicts[part.claim] if isinstance(part, p.Said) else None
            if verdict is None or not _is_open(verdict):
                found.append(part[behind:] if isinstance(part, str) else part)
                behind = 0
                continue
            before = found[-1] if found else ""
            follows = next((each for each in parts[at + 1 : at + 2] if isinstance(each, str)), "")
            joined, stop = (_JOINED.search(before) if isinstance(before, str) else None), _STOPS.match(follows)
            cut = joined or (_BEGINS.search(before) if isinstance(before, str) and stop else None)
            if is_first or cut is None:
                found.append(part)
                is_first = False
                continue
            found[-1] = cut.string[: cut.start()]
            behind = stop.end() if stop and not joined else 0
            gone.append(verdict)
        return found, gone

    def sentence(self, verdict: ClaimVerdict, *, tagged: bool = False, noted: bool = True) -> Sequence[_Part]:
        """Return the claim's sentence with its printable number, or a text saying that it is not shown. For a best
        value that is not a gain everywhere, return its range and how many points are a gain. If all pages of a brief
        are `tagged` with their source, the source is not repeated. `noted` means that a footnote has the range.
        """
        if not verdict.is_said:
            return [self.not_said(verdict)]
        if verdict.is_mixed and verdict.claim.takes_best:
            named = replace(verdict, claim=verdict.claim.model_copy(update={"named": True}))
            notes = self._beside(named, before_range=True, tagged=tagged)
            opening, closing = self.words["aside"].split("{text}")
            range_ = self._with_note(self._from_to(verdict), self._ties(verdict))
            within = [opening, *range_, closing] if range_ else ()
            return [self._where_better(verdict), *self._in_one_bracket(notes, within)]
        note = self._note(verdict) if noted else ""
        told = bool(note) or (noted and number_of(verdict.claim) in self.headlined)
        notes = self._beside(verdict, before_range=told, tagged=tagged)
        return [*self._said(verdict, note), *([self._bracketed(notes)] if notes else [])]

    def _said(self, verdict: ClaimVerdict, note: str = "") -> list[_Part]:
        """Return the sentence alone, with its printable number and a footnote."""
        printed = verdict.printed
        if printed and note:
            printed = printed.model_copy(update={"note": note})
        return [printed if isinstance(part, p.Value) and printed else part for part in verdict.claim.sentence.parts]

    def _note(self, verdict: ClaimVerdict) -> str:
        """Return the text of a claim's footnote: the range that has the claim's value at one end, and how many points
        are no gain. The range is left out if a headline shows it, or if another claim states its other end. Return ""
        if there is nothing to say.
        """
        ends = {each.claim.bound for each in self.verdicts.values() if each.is_said and _is_alike(each, verdict)}
        if number_of(verdict.claim) in self.headlined:
            return ""
        sides = self._sides(verdict)
        if (len(ends) > 1 and not verdict.is_mixed) or not (within := self._range(verdict)):
            return sides
        what = self._where_better(verdict) if verdict.is_mixed else readable_label(verdict.claim.what, self.words)
        range_ = _text(p.Prose.of([what, *within]).parts, self.results)
        return self.words["semicolon"].join([range_, sides] if sides else [range_])

    def _sides(self, verdict: ClaimVerdict) -> str:
        """Return a footnote's text on the two sides of a claim."""
        return note_on_sides(verdict.claim, self.results)

    def _bracketed(self, notes: Sequence[str]) -> str:
        return self.words["aside"].format(text=self.words.locale.listed(notes))

    def not_said(self, verdict: ClaimVerdict, *, short: bool = False, beside: Sequence[ClaimVerdict] = ()) -> str:
        """Return the text that replaces the sentence of an open claim. It also covers the open claims in `beside`. In a
        title, the text is `short`, because the title already names the things that were compared."""
        what = self._named((verdict, *beside))
        if verdict.state in ("undecided", "contradicted"):
            why = f"{what}{self.words['colon']}{self._why_undecided((verdict, *beside))}"
            return self.words["said_undecided"] + ("" if short else self._bracketed([why]))
        if verdict.state == "missing":
            return self.words["said_missing"].format(what=what, why=why_missing(verdict.claim, self.results))
        return self.words["said_unheld" if verdict.state == "unheld" else "said_not_shown"].format(what=what)

    def _named(self, verdicts: Iterable[ClaimVerdict]) -> str:
        """Return the labels of the claims' values, without repeating any."""
        named = (readable_label(each.claim.what, self.words) for each in verdicts)
        return self.words["semicolon"].join(dict.fromkeys(named))

    def _why_undecided(self, verdicts: Iterable[ClaimVerdict]) -> str:
        """Return why the measurements leave claims open."""
        return self.words["semicolon"].join(dict.fromkeys(self.words[_why_open(each)] for each in verdicts))

    def _beside(self, verdict: ClaimVerdict, *, before_range: bool, tagged: bool = False) -> list[str]:
        """Return the remarks in brackets after a claim's sentence. They name the base if the sentence does not, and say
        whether the value is a bound, was measured only once, or was published. They also say how many held-out repeats
        there are if some are missing. Without held-out repeats, they say how much of a highest or lowest value may be
        chance.
        """
        notes = []
        if verdict.claim.base and not verdict.claim.named:
            notes.append(self.words["said_against"].format(base=base_text(verdict.claim, self.words)))
        if verdict.at_least:
            notes.append(self.words["said_at_most" if verdict.claim.better == "lower" else "said_at_least"])
        if verdict.state in self.told:
            pass
        elif verdict.state == "once":
            notes.append(self.words["said_once"])
        elif verdict.state == "published" and not tagged:
            number = verdict.claim.number
            quoted = number is None or self.results.is_quoted(number.query)
            if not quoted:
                notes.append(self.words["said_from_published"])
            elif not self.results.has_none_measured:  # else each page says whose numbers they are
                notes.append(self._as_published())
        if (held := verdict.held) is not None:
            some = self.words["said_held_some"].format(n=verdict.repeats, of=held.times)
            notes += [some] if verdict.repeats < held.times else []
            notes += [self.words["said_attempt"].format(n=held.attempt)] if held.attempt > 1 else []
        elif not before_range and (share := _told_overstatement(verdict)):
            word = "said_highest" if verdict.claim.bound == "high" else "said_lowest"
            notes.append(self.words[word].format(n=verdict.points, share=share))
        return notes

    def _as_published(self) -> str:
        """Return a text saying that a value is published. It names the publisher if there is a single source."""
        by = {source.publisher for source in sources(self.results) if not source.is_own} - {""}
        return self.words["said_published_by"].format(by=by.pop()) if len(by) == 1 else self.words["said_published"]

    def _headline(self, element: p.HeadlineElement) -> p.HeadlineElement:
        """Return the numbers of the first page. If a claim may not be stated, a dash and the reason replace its
        number."""
        said = [self.verdicts[each.claim] for each in element.numbers if isinstance(each, p.Said)]
        ends: set[tuple[str, str]] = {(each.claim.points.sql, each.claim.bound) for each in said if each.is_said}
        mixed: set[str] = set()
        numbers: list[p.HeadlineNumber | p.Said] = []
        left_open = [verdict for verdict in said if _is_open(verdict)]
        for number in element.numbers:
            verdict = self.verdicts[number.claim] if isinstance(number, p.Said) else None
            if verdict in left_open:
                numbers += [self._undecided(left_open, len(said))] if verdict is left_open[0] else []
            elif verdict is None or not verdict.is_said or not verdict.is_mixed:
                numbers.append(self._headline_number(number, ends))
            elif verdict.claim.points.sql not in mixed:
                mixed.add(verdict.claim.points.sql)
                numbers.append(self._mixed(verdict))
        return element.model_copy(update={"numbers": _of_one_precision(numbers)})

    def _undecided(self, left_open: Sequence[ClaimVerdict], said: int) -> p.HeadlineNumber:
        """Return the first page's text on all claims that the repeats leave undecided. `said` is how many claims the
        page has. If there are several and all are undecided, they are not listed. If there is only one, its interval is
        given.
        """
        why = self._why_undecided(left_open)
        text = why[0].upper() + why[1:]
        text += "" if 1 < len(left_open) == said else self._bracketed([self._named(left_open)])
        interval = self._interval(left_open[0]) if len(left_open) == 1 and _is_telling(left_open[0]) else ""
        text = self.words["semicolon"].join(filter(None, (text, interval)))
        value = _markdown([self.words["said_undecided"]])
        return p.HeadlineNumber(value=value, text=_markdown([text]), shows_none=True)

    def _mixed(self, verdict: ClaimVerdict) -> p.HeadlineNumber:
        """For a highest or lowest value that is not a gain everywhere, return how many points have a gain. This is
        shown in place of the value, so that nobody takes one end of the range for the result."""
        claim = verdict.claim
        kind = "" if claim.better else "_sided"
        what = "_workloads" if self._varied(claim.points) == ["workload"] else "_points"
        at = self.words[f"said_mixed_at{what}{kind}"].format(base=base_text(claim, self.words))
        where = self.words["said_then"].format(said=at + self._others(verdict, "said_mixed_at"))
        range_ = self._from_to(verdict) or [verdict.printed or "", _glued(claim)]
        range_ = self._with_note(range_, self._ties(verdict))
        notes = self._beside(replace(verdict, claim=claim.model_copy(update={"named": True})), before_range=True)
        said = [where, f"{readable_label(claim.what, self.words)}{self.words['colon']}", *range_]
        return p.HeadlineNumber(
            value=_markdown([self.words["said_gains"].format(better=verdict.better, n=verdict.points)]),
            text=_markdown([*said, *([self._bracketed(notes)] if notes else [])]),
            shows_none=True,
        )

    def _from_to(self, verdict: ClaimVerdict) -> Sequence[_Part]:
        """Return both ends of a claim's range, or nothing if they look alike."""
        if verdict.ends is None:
            return ()
        (low, high), glued = verdict.ends, _glued(verdict.claim)
        after = re.split(r"\{\w+\}", self.words["said_from_to"])
        return [after[0], low, f"{glued}{after[1]}", high, f"{glued}{after[2]}"]

    def _ties(self, verdict: ClaimVerdict) -> str:
        """Return the phrase that explains what is called tied at the points of a claim, or "" if no point is tied."""
        if not verdict.tied or not verdict.claim.points.divides:
            return ""
        return meaning_of_tied(
            self.words, published=verdict.state == "published", once=verdict.repeats < FEWEST_REPEATS
        )

    @staticmethod
    def _with_note(parts: Sequence[_Part], note: str) -> Sequence[_Part]:
        """Return the parts with a footnote on their last number."""
        at = max((at for at, part in enumerate(parts) if isinstance(part, p.Value)), default=None)
        if not note or at is None:
            return parts
        number = parts[at]
        noted = number.model_copy(update={"note": note}) if isinstance(number, p.Value) else number
        return [*parts[:at], noted, *parts[at + 1 :]]

    def _where_better(self, verdict: ClaimVerdict) -> str:
        """Return a text on how many points have a gain, and how many have no gain."""
        claim = verdict.claim
        kind = "" if claim.better else "_sided"
        return self.words["said_mixed" + kind if verdict.better else "said_worse"].format(
            what=readable_label(claim.what, self.words),
            base=base_text(claim, self.words),
            n=verdict.points,
            better=verdict.better,
            others=self._others(verdict, "said_mixed"),
        )

    def _varied(self, query: p.Query) -> list[p.Dimension]:
        """Return the dimensions that differ between a query's points."""
        keys = list(zip(*self.results.rows(query), strict=True))
        return [dim for dim, found in zip(query.dims, keys, strict=False) if len(set(found)) > 1]

    def _others(self, verdict: ClaimVerdict, key: str) -> str:
        """Return a text on how many points have no gain, and how many have no clear difference."""
        worse = f"{key}_worse" if verdict.claim.better else f"{key}_below"
        counts = ((worse, verdict.worse), (f"{key}_tied", verdict.tied))
        return "".join(self.words[word].format(n=n) for word, n in counts if n)

    def _headline_number(self, number: p.HeadlineNumber | p.Said, ends: set[tuple[str, str]]) -> p.HeadlineNumber:
        """Return a number of the first page. `ends` are the highest and lowest values that the page names. If both ends
        of a range are among them, the range is not repeated."""
        if isinstance(number, p.HeadlineNumber):
            queries = [part.query for part in number.value.parts if isinstance(part, p.Value)]
            return number.model_copy(update={"shows_none": True}) if are_doubtful(queries, self.results) else number
        verdict = self.verdicts[number.claim]
        if verdict.is_said:
            both = {(verdict.claim.points.sql, "high"), (verdict.claim.points.sql, "low")} <= ends
            within = () if both else self._range(verdict)
            notes = self._beside(verdict, before_range=bool(within))
            beneath = self.words["semicolon"].join(filter(None, (self._sides(verdict), self._interval(verdict))))
            number = _split(self._said(verdict, beneath), self._in_one_bracket(notes, within))
            return number.model_copy(update={"shows_none": _is_loss(verdict)})
        return p.HeadlineNumber(value=_markdown([self.words["missing"]]), text=_markdown([self.not_said(verdict)]))

    def _interval(self, verdict: ClaimVerdict) -> str:
        """Return the interval of the repeats behind a number, or "" if there is none."""
        value, low, high = verdict.printed, verdict.low, verdict.high
        if value is None or low is None or high is None or not all(map(math.isfinite, (low, high))):
            return ""
        glued = _glued(verdict.claim)
        printed = PrintedBy(by="prose", format=value.format, follows=glued, step=value.step)
        range_ = self.words["to"].join(f"{printed.text(end, None, value.query.unit)}{glued}" for end in (low, high))
        wide = self.words.locale.numerals(in_percent(verdict.level))
        return self.words["said_repeats"].format(n=verdict.repeats, range=range_, wide=wide)

    def _in_one_bracket(self, notes: Sequence[str], within: Sequence[_Part]) -> list[_Part]:
        """Put the notes and the range, which already has brackets, into a single pair of brackets."""
        if not within:
            return [self._bracketed(notes)] if notes else []
        begin = within[0]
        if not notes or not isinstance(begin, str):
            return [*within]
        opening, _ = self.words["aside"].split("{text}")
        listed = self.words.locale.listed(notes)
        return [f"{opening}{listed}{self.words['semicolon']}{begin.removeprefix(opening)}", *within[1:]]

    def _range(self, verdict: ClaimVerdict) -> Sequence[str | p.Value]:
        """Return the range to print after the sentence, from the claim's value to the other end."""
        claim, ends = verdict.claim, verdict.ends
        if ends is None or claim.says_range:
            return ()
        if share := _told_overstatement(verdict):
            word = "said_range_highest" if claim.bound == "high" else "said_range_lowest"
            said = self.words[word].replace("{n}", str(verdict.points)).replace("{share}", share)
        else:
            said = self.words["said_range"]
        holes = dict(zip(("{low}", "{high}"), ends, strict=True))
        if claim.typical is not None and verdict.typical is not None:
            holes["{typical}"] = ends[0].model_copy(update={"query": claim.typical})
        said = said.replace("{median}", self.words["said_median"] if "{typical}" in holes else "")
        glued = _glued(claim)
        parts = [part for part in re.split(r"(\{\w+\})", said) if part]
        return [each for part in parts for each in ((holes[part], glued) if part in holes else (part,)) if each]


def _of_one_precision(numbers: Sequence[p.HeadlineNumber | p.Said]) -> tuple[p.HeadlineNumber | p.Said, ...]:
    """Return a headline's numbers, with all shares at the same number of digits."""
    texts = [text for each in numbers if isinstance(each, p.HeadlineNumber) for text in (each.value, each.text)]
    shares = [part for text in texts for part in text.parts if isinstance(part, p.Value)]

    def written(text: p.Prose) -> p.Prose:
        return p.Prose.of(with_digits_of(part, shares) if isinstance(part, p.Value) else part for part in text.parts)

    return tuple(
        each.model_copy(update={"value": written(each.value), "text": written(each.text)})
        if isinstance(each, p.HeadlineNumber)
        else each
        for each in numbers
    )


def base_text(claim: p.Claim, words: Words) -> str:
    """Return the base that a claim is compared with."""
    return readable_label(claim.base_label, words) if claim.base_label else claim.base


def why_missing(claim: p.Claim, results: Results) -> str:
    """Return why a claim has no value: its base is 0 or missing, or its own value is missing."""
    why = results.why_missing(claim.number.query) if claim.number else results.words["no_value"]
    reads = [read for read in claim.points.reads or () if is_base(read, claim)]

    def is_read(query: p.Query, keys: Sequence[p.DimKey]) -> bool:
        place = dict(zip(query.dims, keys, strict=True))
        return not reads or any(read.covers(place) for read in reads)

    if claim.divisor is None or not claim.base:
        return why
    found = [value for keys, value in results.rows(claim.divisor).items() if is_read(claim.divisor, keys)]
    base = base_text(claim, results.words)
    if 0.0 in found:
        return results.words["said_base_zero"].format(base=base)
    lacks = not found or None in found
    return (
        results.words["semicolon"].join([results.words["said_base_missing"].format(base=base), why]) if lacks else why
    )


def _is_open(verdict: ClaimVerdict) -> bool:
    """Return whether a claim is open. This means that the measurements do not decide it, and that its sentence is not
    shown."""
    return verdict.state in ("undecided", "contradicted") and not verdict.is_said


def _why_open(verdict: ClaimVerdict) -> str:
    """Return the catalogue's key for the reason that leaves a claim open."""
    if verdict.state == "contradicted":
        return "undecided_contradicted"
    same, value = verdict.claim.no_difference, verdict.value
    if verdict.low is not None and verdict.high is not None and (same is None or verdict.low <= same <= verdict.high):
        return "undecided_interval"
    is_no_gain = verdict.claim.directed and same is not None and value is not None and value <= same
    return "undecided_value" if is_no_gain else "undecided_few"


def _is_telling(verdict: ClaimVerdict) -> bool:
    """Return whether an interval contains only possible values. A ratio, for example, must be above 0, so a loss must
    be below 100 %."""
    same, low = verdict.claim.no_difference, verdict.low
    if same is None or low is None:
        return False
    points = verdict.claim.points
    return not points.divides or low > same - (100.0 if points.unit == "%" else 1.0)


def _glued(claim: p.Claim) -> str:
    """Return the sign attached to the number in the claim's sentence, such as the X of `8X`, or ""."""
    parts = claim.sentence.parts
    at = next((index for index, part in enumerate(parts) if isinstance(part, p.Value)), len(parts))
    behind = "".join(part for part in parts[at + 1 : at + 2] if isinstance(part, str))
    found = _GLUED.match(behind)
    return found.group() if found and "times" not in found.group() else ""


def _is_alike(one: ClaimVerdict, other: ClaimVerdict) -> bool:
    """Return whether two claims are about the same points."""
    return one.claim.points.sql == other.claim.points.sql


def _told_overstatement(verdict: ClaimVerdict) -> str:
    """Return, as text, the share of a highest value that is due to chance. Return "" if it is too small to print."""
    share = min(verdict.overstated or 0.0, 1.0)
    return percent(share, decimals=0 if share >= 0.0995 else 1) if share >= LEAST_OVERSTATED else ""


def sentence_text(verdict: ClaimVerdict, results: Results) -> str:
    """Return the claim's sentence as plain text, as a brief prints it."""
    return _text(p.Prose.of(_Writer({}, results).sentence(verdict, noted=False)).parts, results)


def state_numbers(report: p.Report, verdicts: Sequence[ClaimVerdict], results: Results) -> Iterator[StatedNumber]:
    """Yield a brief's statements: each of its claims in its own words, then each expectation of the spec. If there are
    neither, yield the numbers that the brief shows."""

    def read(query: p.Query) -> Iterable[tuple[Sequence[p.DimKey | None], float | None]]:
        return results.rows(query).items()

    for verdict in verdicts:
        yield state_claim(verdict, sentence_text(verdict, results), read, results.plan)
    for expect, stated in zip(results.plan.expects, state_expectations(results.plan, read), strict=True):
        in_words = said_in_words(expect, results)
        is_named = in_words != results.words["expect_unnamed"]
        yield stated.model_copy(update={"sentence": in_words}) if is_named else stated
    if not verdicts and not results.plan.expects and report.provenance != "none":
        named = partial(readable_label, words=results.words)
        yield from state_quantities(results.plan, results.store, report, read, named)


def _text(parts: Sequence[_Part], results: Results) -> str:
    """Return plain parts with their numbers as text."""
    said = []
    taken = 0
    for index, part in enumerate(parts):
        if isinstance(part, p.Value):
            follows = next((each for each in parts[index + 1 : index + 2] if isinstance(each, str)), "")
            unit = part.query.unit
            printed = PrintedBy(
                by="prose",
                format=part.format,
                follows=follows,
                to=results.words["to"],
                step=part.step,
                rounded=part.rounded,
                as_declared=results.is_in_declared_unit(part.query),
            )
            high = results.at(part.high) if part.high else None
            said.append(printed.text(results.at(part.query), high, unit))
            taken = len(spelled_unit(unit, follows)) if part.format else 0
        elif isinstance(part, str):
            said.append(part[taken:])
            taken = 0
    return "".join(said)


def _is_loss(verdict: ClaimVerdict) -> bool:
    """Return whether a claim's only value is worse than no difference."""
    found, same = verdict.value, verdict.claim.no_difference
    if found is None or same is None or verdict.claim.says_range:
        return False
    return {"higher": found < same, "lower": found > same, None: False}[verdict.claim.better]


def _split(sentence: Sequence[_Part], beside: Sequence[_Part]) -> p.HeadlineNumber:
    """Split a sentence into the part in large type (the number with its unit and a short beginning) and the rest."""
    at = next((index for index, part in enumerate(sentence) if isinstance(part, p.Value)), 0)
    before = "".join(part for part in sentence[:at] if isinstance(part, str))
    behind = "".join(part for part in sentence[at + 1 : at + 2] if isinstance(part, str))
    glued = found.group() if (found := _GLUED.match(behind)) else ""
    value = sentence[at]
    rest: list[_Part] = list(sentence)
    large: list[_Part] = [value, glued]
    if len(before) <= _LONGEST_START:
        large, rest = [before, *large], [behind.removeprefix(glued).lstrip(), *sentence[at + 2 :]]
    return p.HeadlineNumber(value=_markdown(large), text=_markdown([*rest, *beside]))


def _markdown(parts: Sequence[_Part]) -> p.Prose:
    """Return plain parts as Markdown with the same content."""
    return p.Prose.of(map(_escaped, parts))


def _escaped(part: _Part) -> _Part:
    return p.escaped(part) if isinstance(part, str) else part
