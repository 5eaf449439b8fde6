"""Describes doubts about searched rates. Some rates are only lower bounds, because the highest candidate kept the
promise or because the load generator could not offer the next one. For others, the runs were not decisive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from benchbrief.model.plan import DimKey, Query
from benchbrief.model.points import Curve
from benchbrief.model.rate_search import CONFIDENCE
from benchbrief.reports.data.imported_briefs import is_imported
from benchbrief.reports.data.place_labels import place_holes
from benchbrief.reports.data.report_data import Results, reads_of
from benchbrief.reports.data.view_model import Notice
from benchbrief.reports.text.number_format import percent, points
from benchbrief.reports.words.brief_words import Words, counted
from benchbrief.results.analysis.promised_rates import Promised, RateRuns


def open_searches(results: Results, query: Query, where: Mapping[str, DimKey]) -> Iterator[str]:
    """Yield sentences on each doubtful searched rate behind the value of a query at these keys."""
    reads = [read for read in reads_of(query) if read.view == "sustained"]
    for found in results.promises if reads else ():
        place = found.curve.keys
        if all(where.get(dim, key) == key for dim, key in place.items()) and any(read.covers(place) for read in reads):
            yield from _sentences(found, results)


def sentences_by_cell(results: Results) -> dict[str, str]:
    """Return the sentences on doubtful searched rates, by the ids of the searches' cells."""
    texts = {found.curve: " ".join(_sentences(found, results)) for found in results.promises}
    places = {cell.cell_id: Curve.of(cell) for cell in results.cells}
    return {cell_id: texts[place] for cell_id, place in places.items() if texts.get(place)}


def _sentences(found: Promised, results: Results) -> Iterator[str]:
    where = {"rate": points([found.sustained or 0.0]), **place_holes(found, results)}
    if found.is_lower_bound:
        key = "c_generator_at_least" if found.by_generator else "c_at_least"
        yield results.words[key].format(**where)
    if found.is_undecided:
        low, high = found.kept_to, found.broken_from
        has_ends = low is not None and high is not None
        ends = {"low": points([low or 0.0]), "high": points([high or 0.0])}
        key = "c_undecided_between" if has_ends else "c_undecided"
        undecided = results.words[key].format(**where, **ends, confidence=percent(CONFIDENCE))
        yield " ".join([undecided, *lowered_late(found.lowered_late, results.words, "c_lowered_late")])


def lowered_late(rates: Sequence[RateRuns], words: Words, key: str) -> Iterator[str]:
    """Yield a sentence on how many held-out runs at these rates had a late load generator. `key` is the sentence's key
    in the catalogue."""
    if rates:
        late, n = sum(each.held_beyond for each in rates), sum(each.held_out for each in rates)
        yield words[key].format(late=late, n=n, rates=points([each.rate for each in rates]))


_MOST = 4
"""The most searches that get sentences of their own. If there are more, the others are only counted."""


def notice(results: Results) -> Iterator[Notice]:
    words, promises = results.words, results.promises
    if not promises or is_imported(results):
        return
    texts = [" ".join(_sustained_sentences(each, results)) for each in promises[:_MOST]]
    if len(promises) > _MOST:
        texts.append(counted(words, "notice_promise_others", len(promises) - _MOST))
    yield Notice(words["notice_promise"], " ".join(texts), "info")


def _sustained_sentences(found: Promised, results: Results) -> Iterator[str]:
    words, where = results.words, place_holes(found, results)
    rule = results.plan.experiments[found.experiment].promise
    if found.sustained is None or rule is None:
        yield words["notice_promise_none"].format(**where, reason=words.said(found.reason) or words["no_reason"])
        return
    rate = found.doubt.mark + points([found.sustained])
    yield words["notice_promise_found"].format(**where, rate=rate, promise=rule.text)
    if found.is_undecided:
        yield words["notice_promise_undecided"].format(confidence=percent(CONFIDENCE))
        yield from lowered_late(found.lowered_late, words, "notice_promise_lowered")
    here = [each for each in found.rates if each.rate == found.sustained]
    held = {"held_met": found.held_met, "held_out": found.held_out}
    yield words["notice_promise_here"].format(**_counts(here), **held)
    yield from _late(here, words)
    below = [each for each in found.rates if each.rate < found.sustained]
    if any(each.all_met for each in below) and not any(each.all_broken for each in below):
        yield words["notice_promise_below"].format(**_counts(below))
    yield from _late(below, words)
    broken = [each.rate for each in found.rates if each.all_broken]
    if found.kept_above is not None and broken:
        yield words["notice_promise_capped"].format(kept=points([found.kept_above]), broken=points([min(broken)]))


def _counts(rates: Iterable[RateRuns]) -> dict[str, int]:
    """Return how many runs kept the promise (`met`), and how many kept or broke it (`n`), including held-out runs."""
    of = tuple(rates)
    met = sum(each.all_met for each in of)
    return {"met": met, "n": met + sum(each.all_broken for each in of)}


def _late(rates: Sequence[RateRuns], words: Words) -> Iterator[str]:
    """Yield a sentence on how many more runs at these rates are inconclusive because the load generator was late."""
    if late := sum(each.late for each in rates):
        yield counted(words, "notice_promise_late", late, rates=points([each.rate for each in rates if each.late]))
