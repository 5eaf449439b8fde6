"""Tests how a reason with several findings is shortened to the first one."""

from __future__ import annotations

import pytest

from benchbrief.extensions.tools.openload import openload_messages
from benchbrief.model.message import Message, joined
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.result_messages import say, shorten_reason


def refused(*found: str) -> str:
    return openload_messages.say.openload_refused(said=joined(found, say.both), code="lag")


def test_many_findings_are_shown_by_the_first_one_and_the_number_of_the_others() -> None:
    reason = refused("p99 of read", "p50 of read", "the mean", "the max")
    short = shorten_reason(reason)
    assert short == "openload refuses its own numbers (lag): p99 of read (and 3 more)"
    assert isinstance(reason, Message)
    shown = CATALOGUES["ja"].with_sentences({str(reason): reason}).said_briefly(str(reason))
    assert shown == "openload が自身の数値を拒否しました（lag）：p99 of read（ほか 3 件）"


@pytest.mark.parametrize("reason", ["the tool died; and more; and more", refused("p99"), refused("p99", "p50")])
def test_other_reasons_stay_as_they_are(reason: str) -> None:
    assert shorten_reason(reason) is reason
