"""Guesses which known word a user meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import takewhile

_FEW = 64
_LONGEST = 64  # of a word worth comparing: names are short, and a spec may hold a word of megabytes

_SYNONYMS = {
    "average": "mean", "avg": "mean", "maximum": "max", "minimum": "min", "total": "sum", "stdev": "cv", "stddev": "cv",
    "deviation": "cv", "import": "use", "include": "use", "require": "use", "benchmark": "experiment",
    "scenario": "experiment", "test": "experiment", "server": "hardware", "machine": "hardware", "cluster": "hardware",
    "generator": "client", "assert": "expect", "assertion": "expect", "let": "param", "variable": "param",
    "chart": "figure", "graph": "figure", "plot": "figure", "duration": "measure", "runtime": "measure",
    "time": "measure", "rampup": "warm_up", "iterations": "repeats", "repetitions": "repeats", "runs": "repeats",
    "concurrency": "threads", "clients": "threads", "workers": "threads", "servers": "hosts", "nodes": "hosts",
    "recordcount": "records", "docs": "records", "documents": "records", "operationcount": "operations",
    "url": "uri", "address": "uri", "directory": "path", "folder": "path", "datadir": "path", "tps": "throughput",
    "qps": "throughput", "thruput": "throughput", "iops": "throughput", "requestdistribution": "distribution",
    "fieldcount": "fields", "fieldlength": "field_length", "count": "repeats", "cash": "cache", "blockcache": "cache",
    "memtable": "write_buffer", "randread": "readrandom", "randwrite": "fillrandom", "randomwrite": "fillrandom",
    "rate": "target", "num": "records", "load": "target", "rps": "target", "type": "engine", "summary": "text",
    "abstract": "text", "body": "text", "jp": "ja", "japanese": "ja", "english": "en",
    "seqread": "readseq", "sequentialread": "readseq", "seqwrite": "fillseq", "sequentialwrite": "fillseq",
}  # fmt: skip
"""Maps words of other tools, without `_`, to our words. A word is suggested only if it is also a candidate."""

_DOUBLED = re.compile(r"(.)\1+")


def did_you_mean(word: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that `word` most likely misspells, or None if no candidate is near enough.

    Case, `-` instead of `_`, missing separators and a plural s count for almost nothing. Two exchanged parts of a word
    count as one slip, and so do two swapped letters. About one slip is allowed for every three letters. If two
    candidates are equally near, the one that shares the longer beginning with `word` is chosen.
    """
    if not word or len(word) > _LONGEST:
        return None
    known = tuple(candidates)
    nearest = _nearest_of_few(word, known) if len(known) <= _FEW else _nearest(word, known)
    return _same(word, known, nearest) or nearest


def _same(word: str, known: tuple[str, ...], nearest: str | None) -> str | None:
    """Return the candidate that other tools call `word`, or None if there is none. If `nearest` is less than one slip
    away, it is a better guess, and None is returned."""
    family, dot, field = word.rpartition(".")
    meant = _SYNONYMS.get(_plain(field))
    if meant is None or (nearest is not None and (_cost(word, nearest) or 0.0) < 1.0):
        return None
    return f"{family}{dot}{meant}" if f"{family}{dot}{meant}" in known else None


@lru_cache(1 << 8)
def _nearest(word: str, candidates: tuple[str, ...]) -> str | None:
    best: tuple[tuple[float, int], str] | None = None
    begin, length, letters = _outline(word)
    for candidate, other_begin, other_length, other_letters in _outlines(candidates):
        lacking, added = letters & ~other_letters, other_letters & ~letters
        if begin != other_begin or (lacking and added):  # neither begins with the other, nor are they all but the same
            # Each slip accounts for one letter that the other lacks, and for one more, at most.
            short = min(length, other_length)
            slips = max(lacking.bit_count(), added.bit_count(), abs(length - other_length))
            if slips > max(1, short // 3):
                continue
        if candidate == word or not candidate or len(candidate) > _LONGEST:
            continue
        cost = _cost(word, candidate)
        if cost is None:
            continue
        rank = (cost, -_alike(word, candidate))
        if best is None or rank < best[0]:
            best = (rank, candidate)
    return best[1] if best else None


_nearest_of_few = lru_cache(1 << 12)(_nearest)  # a spec asks the same of the same words again and again


def likely(word: str, candidates: Iterable[str], most: int = 3) -> tuple[str, ...]:
    """Return the candidates that `word` may misspell, the most likely first."""
    left = list(candidates)
    found: list[str] = []
    while len(found) < most and (guess := did_you_mean(word, left)):
        found.append(guess)
        left.remove(guess)
    return tuple(found)


@lru_cache(1 << 14)
def one_slip(word: str, other: str) -> bool:
    """Return whether two words that are not too short differ by one missing letter or by two swapped letters. This rule
    is stricter than the rule for suggestions: `cpu` and `gpu`, or `disk1` and `disk2`, are different words."""
    if word == other or min(len(word), len(other)) < 4 or abs(len(word) - len(other)) > 1:
        return False
    swapped = sorted(word) == sorted(other)
    return (swapped or len(word) != len(other)) and _distance(word, other) == 1


def _alike(word: str, candidate: str) -> int:
    """Return how many letters two words share at their start."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(word, candidate, strict=False)))


@lru_cache(1 << 14)
def _cost(word: str, candidate: str) -> float | None:
    (a, one_a, undoubled_a), (b, one_b, undoubled_b) = _forms(word), _forms(candidate)
    if a == b:
        return 0.0
    if one_a == one_b:
        return 0.1
    if len(a) == len(b) >= 6 and a in b + b:
        return 0.7  # two parts that changed places: `random_read` for `read_random`
    if undoubled_a == undoubled_b:
        return 0.5  # a letter typed twice, which is the only slip that a name of one letter allows for
    short = min(len(a), len(b))
    allowed = max(1, short // 3) if short > 1 else 0
    slips = _distance(a, b) if abs(len(a) - len(b)) <= allowed else allowed + 1
    if slips <= allowed:
        swapped = sorted(a) == sorted(b)
        # A word of two letters with a wrong one is not similar; with a missing or swapped one, it is.
        if short <= 2 and len(a) == len(b) and not swapped:
            return None
        if swapped:
            return 0.8 * slips  # letters swapped: rarer by chance than a wrong one
        return slips + (0.0 if a[0] == b[0] else 0.5)
    if short >= 3 and (b.startswith(a) or (a.startswith(b) and len(b) >= 4)):
        return 4.0 + abs(len(a) - len(b)) / _LONGEST  # cut short: `thr` for `threads`
    return None


@lru_cache(1 << 14)
def _forms(word: str) -> tuple[str, str, str]:
    """Return three forms of a word: without case and separators, then also without a plural s, then without doubled
    letters."""
    plain = _plain(word)
    return plain, plain.rstrip("s"), _DOUBLED.sub(r"\1", plain)


@lru_cache(64)
def _outlines(words: tuple[str, ...]) -> tuple[tuple[str, str, int, int], ...]:
    """Return the outlines of words. Comparing outlines quickly excludes most pairs of dissimilar words."""
    return tuple((word, *_outline(word)) for word in words)


def _outline(word: str) -> tuple[str, int, int]:
    """Return the first letter of a word, its length, and its letters as bits, without case and separators."""
    plain = _plain(word[: _LONGEST + 1])
    letters = 0
    for char in plain:
        letters |= 1 << (ord(char) & 63)  # some share one
    return plain[:1], len(plain), letters


def _plain(word: str) -> str:
    return word.lower().replace("-", "").replace("_", "").replace(" ", "") or word


def _distance(a: str, b: str) -> int:
    """Return how many insertions, deletions, replacements and swaps of neighbours separate two words (optimal string
    alignment).

    The computation is bit-parallel. A column of the table of distances is kept as the bits of whole numbers: one for
    steps up, one for steps down, and one for neither (Hyyrö, A Bit-Vector Algorithm for Computing Levenshtein and
    Damerau Edit Distances, 2003).
    """
    if not a:
        return len(b)
    places = _places(a)
    every = (1 << len(a)) - 1
    last = 1 << len(a) >> 1
    up, down, same, before = every, 0, 0, 0
    distance = len(a)
    for char in b:
        match = places.get(char, 0)
        swapped = ((~same & match) << 1) & before
        same = ((((match & up) + up) ^ up) | match | down | swapped) & every
        rising = down | (~(same | up) & every)
        falling = same & up
        distance += (rising & last > 0) - (falling & last > 0)
        rising = (rising << 1 | 1) & every
        falling = (falling << 1) & every
        up = falling | (~(same | rising) & every)
        down = rising & same
        before = match
    return distance


@lru_cache(256)
def _places(word: str) -> dict[str, int]:
    """Return the positions of each letter in a word, as bits."""
    places: dict[str, int] = {}
    for index, char in enumerate(word):
        places[char] = places.get(char, 0) | 1 << index
    return places
