"""Puts the sentences of claims where a report says them, each with what a reader needs beside its number."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

from benchbrief.model import plan as p
from benchbrief.model.node import Node
from benchbrief.reports.data.imported_briefs import is_imported, sources
from benchbrief.reports.data.measure_labels import readable_label
from benchbrief.reports.data.numbers_file import PrintedBy
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.notices.result_limits import busy_generators_of
from benchbrief.reports.text.number_format import percent, spelled_unit
from benchbrief.results.analysis.cautions import limited_points
from benchbrief.results.analysis.claim_verdicts import ClaimVerdict, claim_verdicts, claims_said
from benchbrief.results.analysis.held_out_repeats import held_out_repeats

_N = TypeVar("_N")
_Part = str | p.Value | p.Said
_Titled = p.SectionElement | p.CalloutElement | p.TableElement | p.FigureElement
_GLUED = re.compile(r"\A(?:[\s\u00a0]?(?:%|％|倍)|[xX×](?![A-Za-z])|[\s\u00a0]times\b)")
_LEAST_OVERSTATED = 0.01
"""A smaller share of a highest value that is there by chance is not told."""
_LONGEST_START = 12
"""The most characters before the number, as in `Up to 11X`, that are set large with it."""


def claims_of(report: p.Report, results: Results) -> list[ClaimVerdict]:
    """Return the verdicts on the claims that a report says, which are decided together."""
    return verdicts_on(claims_said(results.plan, report), results)


def say_claims(report: p.Report, results: Results, verdicts: Sequence[ClaimVerdict] | None = None) -> p.Report:
    """Return the report with the sentences of its claims, by the verdicts of `claims_of`.

    A claim that the repeats do not decide is not said: its place says so.
    """
    verdicts = claims_of(report, results) if verdicts is None else verdicts
    if not verdicts:
        return report
    headlines = [element for element in report.elements if isinstance(element, p.HeadlineElement)]
    headlined = {claim.name for claim in claims_said(results.plan, headlines)}
    writer = _Writer({each.claim.name: each for each in verdicts}, results, headlined)
    changed = {
        "heading": writer.prose(report.heading, markdown=False, short=True),
        "subheading": writer.prose(report.subheading, markdown=False, short=True),
        "elements": writer.everywhere(report.elements),
        "footnotes": writer.everywhere(report.footnotes),
        "legal": writer.everywhere(report.legal),
    }
    return report.model_copy(update=changed)


def verdicts_on(claims: Sequence[p.Claim], results: Results) -> list[ClaimVerdict]:
    """Return the verdicts on claims, which know whether another's source states the values. Raises RunnerError."""
    if not claims:
        return []
    published = any(not source.is_own for source in sources(results))
    held_out = {} if is_imported(results) else held_out_repeats(results.store.run_dir, results.plan)
    return claim_verdicts(
        results.plan,
        lambda query: results.rows(query).items(),
        claims,
        held_out,
        published=published,
        busy=limited_points(results.plan, results.once(busy_generators_of)),
    )


class _Writer:
    """Writes the sentences of claims. The ranges of those that are `headlined` stand in the headline."""

    def __init__(self, verdicts: Mapping[str, ClaimVerdict], results: Results, headlined: Collection[str] = ()) -> None:
        self.verdicts = verdicts
        self.results = results
        self.headlined = headlined
        self.words = results.words

    def everywhere(self, node: _N) -> _N:
        """Return a part of a report with sentences for claims. Parts without claims stay as they are."""
        changed: _N = self._changed(node)
        return changed

    def _changed(self, node: Any) -> Any:
        if isinstance(node, p.Prose):
            return self.prose(node)
        if isinstance(node, p.HeadlineElement):
            return self._headline(node)
        if isinstance(node, p.FigureElement):
            node = node.model_copy(update={"claim": self.prose(node.claim, short=True)})
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

    def prose(self, prose: p.Prose | None, *, markdown: bool = True, short: bool = False) -> p.Prose | None:
        """Return a text with the sentences of its claims."""
        if prose is None or not any(isinstance(part, p.Said) for part in prose.parts):
            return prose
        parts: list[_Part] = []
        for part in prose.parts:
            if not isinstance(part, p.Said):
                parts.append(part)
                continue
            sentence = self.sentence(self.verdicts[part.claim], tagged=is_imported(self.results), short=short)
            parts += map(_escaped, sentence) if markdown else sentence
        return p.Prose.of(parts)

    def sentence(self, verdict: ClaimVerdict, *, tagged: bool = False, short: bool = False) -> Sequence[_Part]:
        """Return the claim's sentence with its number as it may be printed; that it is not shown, where it may not.
        Texts and titles of a brief whose pages are all `tagged` with their source do not say again whose number it
        is."""
        if not verdict.is_said:
            return [self.not_said(verdict, short=short)]
        notes = self._beside(verdict, before_range=False, tagged=tagged)
        return [*self._said(verdict), *([self._bracketed(notes)] if notes else [])]

    def _said(self, verdict: ClaimVerdict) -> list[_Part]:
        """Return the sentence alone, with its number as it may be printed."""
        printed = verdict.printed
        if printed and (note := self._note(verdict)):
            printed = printed.model_copy(update={"note": note})
        return [printed if isinstance(part, p.Value) and printed else part for part in verdict.claim.sentence.parts]

    def _note(self, verdict: ClaimVerdict) -> str:
        """Return what a footnote says of a claim: the range that its value is an end of, unless a headline says it or
        another claim the other end, and how many points are no gain; "" without a range."""
        ends = {each.claim.bound for each in self.verdicts.values() if each.is_said and _is_alike(each, verdict)}
        if verdict.claim.name in self.headlined or (len(ends) > 1 and not verdict.is_mixed):
            return ""
        if not (within := self._range(verdict)):
            return ""
        what = self._where_better(verdict) if verdict.is_mixed else readable_label(verdict.claim.what, self.words)
        return _text(p.Prose.of([what, *within]).parts, self.results)

    def _bracketed(self, notes: Sequence[str]) -> str:
        return self.words["aside"].format(text=self.words.locale.listed(notes))

    def not_said(self, verdict: ClaimVerdict, *, short: bool = False) -> str:
        """Return what stands in place of the sentence. Titles are `short`: what was compared stands beside them."""
        what = readable_label(verdict.claim.what, self.words)
        if verdict.state == "undecided":
            return self.words["said_no_difference"] + ("" if short else self._bracketed([what]))
        key = {"missing": "said_missing", "unheld": "said_unheld"}.get(verdict.state, "said_not_shown")
        return self.words[key].format(what=what)

    def _beside(self, verdict: ClaimVerdict, *, before_range: bool, tagged: bool = False) -> list[str]:
        """Return what stands in brackets behind the sentence: the base that it does not name, whether its point was
        measured once, which held-out repeats it lacks; without them, how much of a highest value may be chance."""
        notes = []
        if verdict.claim.base and not verdict.claim.named:
            label = verdict.claim.base_label
            base = readable_label(label, self.words) if label else verdict.claim.base
            notes.append(self.words["said_against"].format(base=base))
        if verdict.at_least:
            notes.append(self.words["said_at_most" if verdict.claim.better == "lower" else "said_at_least"])
        if verdict.state == "once":
            notes.append(self.words["said_once"])
        elif verdict.state == "published" and not tagged:
            number = verdict.claim.number
            quoted = number is None or self.results.is_quoted(number.query)
            notes.append(self._as_published() if quoted else self.words["said_from_published"])
        if (held := verdict.held) is not None:
            some = self.words["said_held_some"].format(n=verdict.repeats, of=held.times)
            notes += [some] if verdict.repeats < held.times else []
            notes += [self.words["said_attempt"].format(n=held.attempt)] if held.attempt > 1 else []
        elif not before_range and (share := _told_overstatement(verdict)):
            word = "said_highest" if verdict.claim.bound == "high" else "said_lowest"
            notes.append(self.words[word].format(n=verdict.points, share=share))
        return notes

    def _as_published(self) -> str:
        """Return that a value is published, and by whom where one source is."""
        by = {source.publisher for source in sources(self.results) if not source.is_own} - {""}
        return self.words["said_published_by"].format(by=by.pop()) if len(by) == 1 else self.words["said_published"]

    def _headline(self, element: p.HeadlineElement) -> p.HeadlineElement:
        """Return the numbers of the first page; a dash with its reason for a claim that may not be said."""
        said = [self.verdicts[each.claim] for each in element.numbers if isinstance(each, p.Said)]
        ends: set[tuple[str, str]] = {(each.claim.points.sql, each.claim.bound) for each in said if each.is_said}
        mixed: set[str] = set()
        numbers: list[p.HeadlineNumber | p.Said] = []
        left_open = [verdict for verdict in said if verdict.state == "undecided" and not verdict.is_said]
        for number in element.numbers:
            verdict = self.verdicts[number.claim] if isinstance(number, p.Said) else None
            if verdict in left_open:
                numbers += [self._no_difference(left_open, len(said))] if verdict is left_open[0] else []
            elif verdict is None or not verdict.is_said or not verdict.is_mixed or not (range_ := verdict.ends):
                numbers.append(self._headline_number(number, ends))
            elif verdict.claim.points.sql not in mixed:
                mixed.add(verdict.claim.points.sql)
                numbers.append(self._mixed(verdict, range_))
        return element.model_copy(update={"numbers": tuple(numbers)})

    def _no_difference(self, left_open: Sequence[ClaimVerdict], said: int) -> p.HeadlineNumber:
        """Return what stands on the first page for all claims that the repeats leave open; `said` is how many claims
        it has. Where it has several and all are open, it need not list them."""
        what = dict.fromkeys(readable_label(verdict.claim.what, self.words) for verdict in left_open)
        key = "said_all_left_open" if 1 < len(left_open) == said else "said_left_open"
        text = self.words[key].format(what=self.words["semicolon"].join(what))
        return p.HeadlineNumber(value=_markdown([self.words["said_no_difference"]]), text=_markdown([text]))

    def _mixed(self, verdict: ClaimVerdict, range_: tuple[p.Value, p.Value]) -> p.HeadlineNumber:
        """Return the range of an extreme that is no gain everywhere, and where it is one: in place of its sentence."""
        claim = verdict.claim
        after = re.split(r"\{\w+\}", self.words["said_from_to"])
        glued = _glued(claim)
        low, high = range_
        text = self._where_better(verdict)
        notes = self._beside(replace(verdict, claim=claim.model_copy(update={"named": True})), before_range=True)
        return p.HeadlineNumber(
            value=_markdown([after[0], low, f"{glued}{after[1]}", high, f"{glued}{after[2]}"]),
            text=_markdown([text, *([self._bracketed(notes)] if notes else [])]),
        )

    def _where_better(self, verdict: ClaimVerdict) -> str:
        """Return at how many points there is a gain, and at how many none."""
        claim = verdict.claim
        kind = "" if claim.better else "_sided"
        return self.words["said_mixed" + kind if verdict.better else "said_worse"].format(
            what=readable_label(claim.what, self.words),
            base=readable_label(claim.base_label, self.words) if claim.base_label else claim.base,
            n=verdict.points,
            better=verdict.better,
            worse=verdict.worse,
        )

    def _headline_number(self, number: p.HeadlineNumber | p.Said, ends: set[tuple[str, str]]) -> p.HeadlineNumber:
        """Return a number of the first page. `ends` are the highest and lowest values that are said beside it: where
        both ends of a range are, neither has the range behind it."""
        if isinstance(number, p.HeadlineNumber):
            return number
        verdict = self.verdicts[number.claim]
        if verdict.is_said:
            both = {(verdict.claim.points.sql, "high"), (verdict.claim.points.sql, "low")} <= ends
            within = () if both else self._range(verdict)
            notes = self._beside(verdict, before_range=bool(within))
            return _split(self._said(verdict), self._in_one_bracket(notes, within))
        missing = verdict.printed if verdict.state == "missing" else None
        return p.HeadlineNumber(
            value=_markdown([missing or self.words["missing"]]), text=_markdown([self.not_said(verdict)])
        )

    def _in_one_bracket(self, notes: Sequence[str], within: Sequence[_Part]) -> list[_Part]:
        """Return notes and the range, which has its brackets, in one pair of brackets."""
        if not within:
            return [self._bracketed(notes)] if notes else []
        begin = within[0]
        if not notes or not isinstance(begin, str):
            return [*within]
        opening, _ = self.words["aside"].split("{text}")
        listed = self.words.locale.listed(notes)
        return [f"{opening}{listed}{self.words['semicolon']}{begin.removeprefix(opening)}", *within[1:]]

    def _range(self, verdict: ClaimVerdict) -> Sequence[str | p.Value]:
        """Return the range that stands behind the sentence: from the value to its other end."""
        claim, ends = verdict.claim, verdict.ends
        if ends is None:
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


def _glued(claim: p.Claim) -> str:
    """Return the sign of the number in the claim's sentence, as the X of `8X`; "" for none, or a word."""
    parts = claim.sentence.parts
    at = next((index for index, part in enumerate(parts) if isinstance(part, p.Value)), len(parts))
    behind = "".join(part for part in parts[at + 1 : at + 2] if isinstance(part, str))
    found = _GLUED.match(behind)
    return found.group() if found and "times" not in found.group() else ""


def _is_alike(one: ClaimVerdict, other: ClaimVerdict) -> bool:
    """Return whether two claims are of the same points."""
    return one.claim.points.sql == other.claim.points.sql


def _told_overstatement(verdict: ClaimVerdict) -> str:
    """Return how much of a highest value is chance, as text; "" where that is too little to print."""
    share = min(verdict.overstated or 0.0, 1.0)
    return percent(share, decimals=0 if share >= 0.0995 else 1) if share >= _LEAST_OVERSTATED else ""


def sentence_text(verdict: ClaimVerdict, results: Results) -> str:
    """Return the claim's sentence as a brief says it, as plain text."""
    return _text(p.Prose.of(_Writer({}, results).sentence(verdict)).parts, results)


def _text(parts: Sequence[_Part], results: Results) -> str:
    """Return plain parts with their numbers."""
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
                step=part.step,
                rounded=part.rounded,
                as_declared=results.is_in_declared_unit(part.query),
            )
            said.append(printed.text(results.at(part.query), None, unit))
            taken = len(spelled_unit(unit, follows)) if part.format else 0
        elif isinstance(part, str):
            said.append(part[taken:])
            taken = 0
    return "".join(said)


def _split(sentence: Sequence[_Part], beside: Sequence[_Part]) -> p.HeadlineNumber:
    """Split a sentence into the number that is set large, with a short beginning and its unit, and the rest."""
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
    """Return plain parts as Markdown that says the same."""
    return p.Prose.of(map(_escaped, parts))


def _escaped(part: _Part) -> _Part:
    return p.escaped(part) if isinstance(part, str) else part
