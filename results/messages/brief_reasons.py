"""Reasons of several findings, by the first of them."""

from __future__ import annotations

from benchbrief.compiler.messages.text import Text
from benchbrief.results.messages.result_messages import say

_MOST = 2


def shorten_reason(reason: str) -> str:
    """Return a reason whose findings are more than two with the first of them and the number of the others. Other
    reasons, and texts without a code, stay as they are."""
    if not isinstance(reason, Text):
        return reason
    said = reason.args.get("said")
    if isinstance(said, Text) and len(found := _findings(said)) > _MOST:
        return Text(reason.code, {**reason.args, "said": say.and_more(said=found[0], n=len(found) - 1)}, reason.own)
    return reason


def _findings(said: str | float) -> list[str | float]:
    if isinstance(said, Text) and said.code == "both":
        return [*_findings(said.args["first"]), *_findings(said.args["then"])]
    return [said]
