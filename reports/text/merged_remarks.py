"""Merges sentences of a run that differ only in their numbers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from benchbrief.model.message import Message, spanning
from benchbrief.results.result_messages import say


def merge_remarks(rows: Iterable[tuple[str, str, int]]) -> list[tuple[str, str, int]]:
    """Merge remarks (severity, text, cells) that differ only in their numbers, and give the range of each number.

    A text without a code, such as the words of a tool, stays unchanged.
    """
    groups: dict[Hashable, list[tuple[str, str, int]]] = {}
    for row in _once_a_host(rows):
        groups.setdefault((row[0], shape_of(row[1])), []).append(row)
    return [
        (same[0][0], _one(text for _, text, _ in same), sum(cells for *_, cells in same)) for same in groups.values()
    ]


def _once_a_host(rows: Iterable[tuple[str, str, int]]) -> list[tuple[str, str, int]]:
    """Merge the remarks about other work on a host into one sentence per host, which gives the number of cells
    concerned."""
    found: dict[Hashable, list[tuple[str, str, int]]] = {}
    for number, row in enumerate(rows):
        text = row[1]
        key = (row[0], text.code, host) if (host := busy_host(text)) and isinstance(text, Message) else number
        found.setdefault(key, []).append(row)
    return [
        same[0] if len(same) == 1 else (same[0][0], _busy([text for _, text, _ in same]), 1) for same in found.values()
    ]


def busy_host(text: str) -> str:
    """Return the host that a remark reports as busy with other work, or "" for other remarks."""
    is_busy = isinstance(text, Message) and text.code in (
        "busy",
        "busy_meanwhile",
        "busy_often",
        "busy_meanwhile_often",
    )
    return str(text.args["host"]) if is_busy and isinstance(text, Message) else ""


def _busy(texts: Sequence[str]) -> Message:
    known = [text for text in texts if isinstance(text, Message)]
    first = known[0]
    cells = {text.args["cell"] for text in known}
    if first.code == "busy":
        return say.busy_often(host=first.args["host"], n=len(cells), cell=first.args["cell"], what=first.args["what"])
    amount = spanning([Message(first.code, {**text.args, "cell": ""}) for text in known]).args["amount"]
    return say.busy_meanwhile_often(host=first.args["host"], n=len(cells), cell=first.args["cell"], amount=amount)


def shape_of(text: str) -> Hashable:
    """Return a sentence without its numbers. Sentences that differ only in numbers then become equal."""
    return text.shape if isinstance(text, Message) else text


def _one(texts: Iterable[str]) -> str:
    every = list(texts)
    known = [text for text in every if isinstance(text, Message)]
    return spanning(known) if known else every[0]
