"""What searches for a promise found, for the first page: the rate, and how the runs at it and below it turned out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from benchbrief.compiler.searches.rate_search import CONFIDENCE
from benchbrief.reports.data.imported_briefs import is_imported
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.data.view_model import Notice
from benchbrief.reports.notices.open_searches import lowered_late
from benchbrief.reports.text.number_format import percent, points
from benchbrief.reports.words.brief_words import Words, counted
from benchbrief.results.analysis.promised_rates import Promised, RateRuns

_MOST = 4
"""So many searches have sentences of their own; the others are counted."""


def notice(results: Results) -> Iterator[Notice]:
    words, promises = results.words, results.promises
    if not promises or is_imported(results):
        return
    texts = [" ".join(_sentences(each, results)) for each in promises[:_MOST]]
    if len(promises) > _MOST:
        texts.append(counted(words, "notice_promise_others", len(promises) - _MOST))
    yield Notice(words["notice_promise"], " ".join(texts), "info")


def _sentences(found: Promised, results: Results) -> Iterator[str]:
    words, plan = results.words, results.plan
    rule = plan.experiments[found.experiment].promise
    where = {"hardware": plan.hardware[found.hardware].label, "workload": plan.workloads[found.workload].label}
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
    """Return how many runs kept the promise, of how many that kept or broke it, those held out included."""
    of = tuple(rates)
    met = sum(each.all_met for each in of)
    return {"met": met, "n": met + sum(each.all_broken for each in of)}


def _late(rates: Sequence[RateRuns], words: Words) -> Iterator[str]:
    """Yield how many more runs there were at these rates, which say nothing of the system."""
    if late := sum(each.late for each in rates):
        yield counted(words, "notice_promise_late", late, rates=points([each.rate for each in rates if each.late]))
