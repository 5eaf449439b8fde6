"""openload's histogram log (`histograms.hlog`): a histogram for each second and tag, of nanoseconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from benchbrief.model import histogram as h
from benchbrief.model.measurement import Histogram
from benchbrief.runners.drivers.output_evidence import read_output_lines
from benchbrief.runners.drivers.ycsb.ycsb_output import Slice, line_of_log, log_start

LOG = "histograms.hlog"
WARM_UP, SERVICE, FAILED = "warm-up-", "-service", "-failed"
OPERATIONS: Mapping[str, str] = {
    "read": "read",
    "update": "update",
    "insert": "insert",
    "scan": "scan",
    "read-modify-write": "read_modify_write",
}
"""Our names of operations, by openload's."""
HICCUP = "hiccup"
OWN = ("lag", HICCUP)
_NS_IN_US = 1e-3
EDGE = 0.1
"""The share of a second's operations that may stand beyond an edge: a second ends when a thread wakes."""
_VERSION = "#[Histogram log format version 1.3]"


class BadLog(ValueError):
    """The log is missing or damaged."""


@dataclass(frozen=True)
class Tag:
    """What a tag counts. `kind` is how its latencies are counted; the generator's `own` tags have no operation."""

    operation: str
    service: bool = False
    failed: bool = False
    warm_up: bool = False


@cache
def tag_of(text: str) -> Tag | None:
    """Return None for a tag that is not openload's."""
    if text in OWN:
        return Tag(text)
    name = text.removeprefix(WARM_UP)
    plain = name.removesuffix(SERVICE)
    base = plain.removesuffix(FAILED)
    if base not in OPERATIONS:
        return None
    return Tag(base, service=plain != name, failed=base != plain, warm_up=name != text)


@dataclass(frozen=True)
class Log:
    """The slices of each tag, in epoch seconds by the load generator's clock. `base` is its time 0."""

    base: float
    slices: Mapping[str, tuple[Slice, ...]]

    def whole(self, tag: str) -> Histogram:
        return h.merge(piece.histogram for piece in self.slices.get(tag, ()))

    def between(self, tag: str, start: float, end: float) -> Histogram:
        """Return what is in the slices whose middle lies between two epoch seconds."""
        return h.merge(piece.histogram for piece in self.slices.get(tag, ()) if start <= piece.middle < end)


def read_log(path: Path) -> Log:
    """Raises BadLog."""
    if not path.is_file():
        raise BadLog(f"there is no {path.name}")
    base, known = 0.0, False
    found: dict[str, list[Slice]] = {}
    try:
        for line in read_output_lines(path):
            known = known or line.startswith(_VERSION)
            if (start := log_start(line)) is not None:
                base = start
            elif line[:1] not in ("#", '"', ""):
                tag, piece = line_of_log(line, base)
                if tag_of(tag) is None:
                    raise BadLog(f"{path.name} has the tag `{tag[:40]}`, which openload does not write")
                found.setdefault(tag, []).append(_of_nanoseconds(piece))
    except BadLog:
        raise
    except ValueError as error:
        raise BadLog(f"{path.name}: {error}") from error
    if not known:
        raise BadLog(f"{path.name} does not begin as a histogram log of version 1.3")
    return Log(base, {tag: tuple(pieces) for tag, pieces in found.items()})


def successes(log: Log) -> Iterable[Slice]:
    """Yield the slices of operations that succeeded, each once, whenever they were due."""
    for name, pieces in log.slices.items():
        tag = tag_of(name)
        if tag and tag.operation in OPERATIONS and not tag.failed and not tag.service:
            yield from pieces


def _of_nanoseconds(piece: Slice) -> Slice:
    return replace(piece, histogram=h.scaled(piece.histogram, _NS_IN_US))
