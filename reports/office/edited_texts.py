"""Finds numbers in an office file that were changed after it was made. Other edits do not matter: texts may be
reworded, moved or added, and slides may be removed."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.data.numbers_file import NumberEntry
from benchbrief.reports.office.file_texts import FileText
from benchbrief.reports.office.kept_ledger import KeptLedger, count_of, is_unit, occurs, pattern_of, units_of

_NUMBER = re.compile(r"[-−+]?\d(?:[\d.,’']*\d)?")
_CLOSE = 1e-9
_ALIKE = 0.6
"""The smallest similarity at which two texts count as one reworded text."""
_MOST_PAIRS, _MOST_COMPARED = 4_000, 200


@dataclass(frozen=True)
class EditedNumber:
    """A number that was changed since the file was made. `id` is its id in the ledger, or "" for a value in a chart or
    a sheet. `recorded` is its original text. `found` is the text that is now in its place, or ""."""

    id: str
    place: str
    recorded: str
    found: str


@dataclass(frozen=True)
class ComparedTexts:
    """The result of a comparison. `added` are the places of texts with numbers that were added since the file was
    made."""

    edited: tuple[EditedNumber, ...]
    added: tuple[str, ...]


def compare_texts(kept: KeptLedger, now: Sequence[FileText], numbers: Sequence[NumberEntry]) -> ComparedTexts:
    """Compare a file's current texts with those that it had when it was made. `numbers` are the numbers of the
    brief."""
    found = _paired(kept.texts, now)
    named = _Named(numbers)
    edited = [each for then, text in found.same for each in _changed(then, text, named)]
    edited += _missing(found, kept, now, named, Counter(each.recorded for each in edited))
    for text in found.gone:
        if text.drawn:
            count = sum(value is not None for value in text.values)
            edited.append(EditedNumber("", text.place, f"{count} values", ""))
    known = {each.id for each in edited} | kept.absent
    for number in numbers:  # even if the kept texts were changed, too
        if number.value is not None and number.id not in known and not occurs(number.shown, now):
            edited.append(EditedNumber(number.id, number.place, number.shown, ""))
    added = tuple(dict.fromkeys(text.place for text in found.new if any(map(_NUMBER.search, text.cells))))
    return ComparedTexts(tuple(dict.fromkeys(edited)), added)


def _missing(
    found: _Paired, kept: KeptLedger, now: Sequence[FileText], named: _Named, edited: Counter[str]
) -> Iterator[EditedNumber]:
    """Yield the numbers of reworded or removed texts. A number that now occurs elsewhere is not missing."""
    lost = [each for then, text in found.reworded for each in _changed(then, text, named)]
    gone = (text for text in found.gone if not text.drawn)
    lost += [each for text in gone for at, cell in enumerate(text.cells) for each in _lost(text, cell, "", at, named)]
    left = {
        shown: count_of(shown, kept.texts) - count_of(shown, now) - edited[shown]
        for shown in {each.recorded for each in lost}
    }
    for each in lost:
        left[each.recorded] -= 1
        if left[each.recorded] >= 0:
            yield each


class _Named:
    """Finds a number of the ledger at a position in a text."""

    def __init__(self, numbers: Sequence[NumberEntry]) -> None:
        self._numbers = [(number, pattern_of(number.shown)) for number in numbers if number.value is not None]
        self._used: set[str] = set()

    def at(self, cell: str, start: int, end: int) -> tuple[NumberEntry, int] | None:
        """Return the ledger's number at this position in a cell, and where it ends. If several numbers match, prefer
        one that was not returned before."""
        found = [
            (number, match.end())
            for number, pattern in self._numbers
            for match in pattern.finditer(cell)
            if match.start() <= start and end <= match.end()
        ]
        one = next((each for each in found if each[0].id not in self._used), found[0] if found else None)
        if one:
            self._used.add(one[0].id)
        return one


_Pairs = list[tuple[FileText, FileText]]


@dataclass(frozen=True)
class _Paired:
    """The texts of a file, compared with the original ones. Some have the same words but other numbers, some were
    `reworded`, some are gone, and some are new."""

    same: _Pairs
    reworded: _Pairs
    gone: list[FileText]
    new: list[FileText]


def _paired(then: Sequence[FileText], now: Sequence[FileText]) -> _Paired:
    left, rest = list(then), list(now)
    _take(left, rest, lambda text: (text.drawn, text.cells, _rounded(text)))
    same = _take(left, rest, lambda text: (text.drawn, text.place, _skeleton(text)))
    same += _take(left, rest, lambda text: (text.drawn, _skeleton(text)) if _has_words(text) else None)
    same += _take(left, rest, lambda text: text.place if text.drawn else None)
    reworded = _alike(left, rest) if len(left) * len(rest) <= _MOST_PAIRS else []
    reworded += _take(left, rest, lambda text: text.place if text.columns else None)
    return _Paired(same, reworded, left, rest)


def _has_words(text: FileText) -> bool:
    return any(re.search(r"[^\W\d]", cell) for cell in _skeleton(text))


def _take(left: list[FileText], rest: list[FileText], key: Callable[[FileText], object]) -> _Pairs:
    """Take the texts with equal keys out of both lists, and return them as pairs, in order."""
    by_key: dict[object, list[FileText]] = {}
    for text in rest:
        by_key.setdefault(key(text), []).append(text)
    pairs, kept = [], []
    for text in left:
        its = key(text)
        found = by_key.get(its) if its is not None else None
        if found:
            pairs.append((text, found.pop(0)))
        else:
            kept.append(text)
    taken = {id(found) for _, found in pairs}
    left[:], rest[:] = kept, [text for text in rest if id(text) not in taken]
    return pairs


def _alike(left: list[FileText], rest: list[FileText]) -> _Pairs:
    pairs: _Pairs = []
    for text in list(left):
        said = "\t".join(_skeleton(text))[:_MOST_COMPARED]
        best, found = _ALIKE, None
        matcher = SequenceMatcher(None, "", said, autojunk=False)  # it prepares its second text once
        for other in rest:
            if other.drawn == text.drawn:
                matcher.set_seq1("\t".join(_skeleton(other))[:_MOST_COMPARED])
                if (
                    matcher.real_quick_ratio() > best
                    and matcher.quick_ratio() > best
                    and (ratio := matcher.ratio()) > best
                ):
                    best, found = ratio, other
        if found is not None:
            pairs.append((text, found))
            left.remove(text)
            rest.remove(found)
    return pairs


def _rounded(text: FileText) -> tuple[str, ...]:
    return tuple("" if value is None else f"{value:.10g}" for value in text.values)


def _skeleton(text: FileText) -> tuple[str, ...]:
    """Return a text without its numbers."""
    return tuple(_NUMBER.sub("\0", cell) for cell in text.cells)


def _changed(then: FileText, now: FileText, named: _Named) -> Iterator[EditedNumber]:
    """Yield the numbers of the original text that the new text lacks or has in another form."""
    if len(then.cells) != len(now.cells):
        yield from _lost(then, "\t".join(then.cells), "\t".join(now.cells), 0, named)
        return
    for at, (cell, found) in enumerate(zip(then.cells, now.cells, strict=True)):
        value, other = (text.values[at] if at < len(text.values) else None for text in (then, now))
        if value is not None and (other is None or not math.isclose(value, other, rel_tol=_CLOSE, abs_tol=1e-300)):
            number = named.at(cell, *_span(cell))
            shown = found if found != cell or other is None else f"{found} ({other:.12g} for {value:.12g})"
            yield EditedNumber(number[0].id if number else "", then.where(at), cell, shown)
        elif cell != found:
            yield from _lost(then, cell, found, at, named) if value is None else ()
            yield from _in_another_unit(then, cell, found, at, named)


_NEXT = re.compile(r"\s?([^\s\d,.;:()]+)")


def _in_another_unit(then: FileText, cell: str, found: str, at: int, named: _Named) -> Iterator[EditedNumber]:
    """Yield the ledger's numbers that are now followed by another unit, and table heads that name another unit."""
    old, new = list(_NUMBER.finditer(cell)), list(_NUMBER.finditer(found))
    for one, other in zip(old, new, strict=False):
        was, now = _NEXT.match(cell, one.end()), _NEXT.match(found, other.end())
        if one.group() != other.group() or not (was and now) or was[1] == now[1]:
            continue
        if is_unit(was[1]) and is_unit(now[1]) and (its := named.at(cell, *one.span())):
            yield EditedNumber(its[0].id, then.where(at), one.group() + was.group(), other.group() + now.group())
    stated = units_of(cell), units_of(found)
    if all(stated) and stated[0] != stated[1]:
        yield EditedNumber("", then.where(at), cell, found)


def _span(cell: str) -> tuple[int, int]:
    match = _NUMBER.search(cell)
    return match.span() if match else (0, len(cell))


def _lost(then: FileText, cell: str, found: str, at: int, named: _Named) -> Iterator[EditedNumber]:
    """Yield the ledger's numbers that a cell's text contains and another text lacks."""
    old, new = list(_NUMBER.finditer(cell)), [match.group() for match in _NUMBER.finditer(found)]
    if len(old) == len(new) and _NUMBER.sub("\0", cell) == _NUMBER.sub("\0", found):
        changes = [(match, other) for match, other in zip(old, new, strict=True) if match.group() != other]
    else:
        gone = []
        for match in old:
            if match.group() in new:
                new.remove(match.group())
            else:
                gone.append(match)
        changes = [(match, new[0] if len(gone) == len(new) == 1 else "") for match in gone]
    told = 0
    for match, other in changes:
        if match.start() >= told and (its := named.at(cell, *match.span())):
            number, told = its
            shown = number.shown.replace(match.group(), other, 1) if other else ""
            yield EditedNumber(number.id, then.where(at), number.shown, shown)
