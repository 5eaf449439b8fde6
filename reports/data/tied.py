"""Explains what a brief calls tied: two values that differ by no more than their noise."""

from __future__ import annotations

from benchbrief.reports.text.number_format import percent
from benchbrief.reports.words.brief_words import Words
from benchbrief.results.analysis.claim_verdicts import PUBLISHED_NOISE, SINGLE_NOISE


def meaning_of_tied(words: Words, *, published: bool, once: bool) -> str:
    """Return the footnote that explains `tied`. It depends on whether the values are `published`, whether some of them
    were measured only `once`, or whether all were repeated."""
    if published:
        return words["tied_published"].format(share=percent(PUBLISHED_NOISE))
    return words["tied_once"].format(share=percent(SINGLE_NOISE)) if once else words["tied_repeats"]
