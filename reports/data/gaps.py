"""Makes each part of a brief separately. If a part can't be made, the reason takes its place.

This is the only place in the reports that continues after an error. Under BENCH_STRICT, as in the tests, and under
BENCH_TRACEBACK, it continues only after expected errors, so that mistakes in benchbrief are noticed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from benchbrief.dsl.bench_error import BenchError, ExitCode
from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.data.view_model import MissingPart
from benchbrief.reports.words.brief_words import Words

Made = TypeVar("Made")
_STRICT = ("BENCH_STRICT", "BENCH_TRACEBACK")


class Gaps:
    """The parts of one brief that could not be made. `foreseen` lists expected errors, which name their own reason.
    Errors that a user can act on are always expected.

    A part that fails half way may leave numbers and footnotes behind. So a brief with a new gap is made again, and this
    time the part that failed is not tried.
    """

    def __init__(self, *foreseen: type[Exception]) -> None:
        self._foreseen: tuple[type[Exception], ...] = (BenchError, *foreseen)
        self._found: dict[Hashable, MissingPart] = {}

    def __len__(self) -> int:
        return len(self._found)

    @property
    def found(self) -> tuple[MissingPart, ...]:
        return tuple(self._found.values())

    def made(
        self,
        part: Hashable,
        make: Callable[[], Made],
        *named: str,
        anchor: str = "",
        is_drawing: bool = False,
    ) -> Made | MissingPart:
        """Return the result of `make`, or a gap if it fails. `part` identifies the part in the brief, and `named` is
        its kind with its number or name.

        If the error concerns more than one part, it is raised: a user's mistake in the report, or a file that cannot be
        read or written.
        """
        if part in self._found:
            return self._found[part]
        try:
            return make()
        except Exception as error:
            self._require_gap(error)
            kind, *name = named
            text, is_ours = " ".join(str(error).split()), not isinstance(error, self._foreseen)
            if is_ours:
                text = ": ".join(filter(None, (type(error).__name__, text[:200])))
            return self._found.setdefault(part, MissingPart(kind, " ".join(name), text, is_ours, anchor, is_drawing))

    def each(self, part: Hashable, make: Callable[[], Iterable[Made]], *named: str) -> tuple[Made, ...]:
        """Return everything that `make` yields, or nothing if any part of it cannot be made."""
        made = self.made(part, lambda: tuple(make()), *named)
        return () if isinstance(made, MissingPart) else made

    def tried(self, make: Callable[[], Made], instead: Made) -> Made:
        """Return the result of `make`, or `instead` if it fails."""
        try:
            return make()
        except Exception as error:
            self._require_gap(error)
            return instead

    def _require_gap(self, error: Exception) -> None:
        """Raise the error unless the brief can be made without the part."""
        full = isinstance(error, BenchError) and error.exit_code is ExitCode.BRIEF_NOT_MADE
        strict = raises_mistakes() and not isinstance(error, self._foreseen)
        if isinstance(error, ReportError | OSError) or full or strict:
            raise error


def raises_mistakes() -> bool:
    """Return whether a bug in benchbrief is raised instead of reported in the brief."""
    return any(map(os.environ.get, _STRICT))


def name_part(gap: MissingPart, words: Words) -> str:
    """Return the name that the brief uses for a missing part, such as `Table 2`."""
    return f"{words.get(f'part_{gap.kind}') or words[gap.kind]} {gap.name}".strip()


def told(gap: MissingPart, words: Words) -> str:
    """Return a gap in the form that commands print, such as `table 2: out of range`."""
    part = name_part(gap, words)
    return f"{part[0].lower()}{part[1:]}: {reason_of(gap, words)}"


def reason_of(gap: MissingPart, words: Words) -> str:
    return words["not_made_ours"].format(error=gap.reason) if gap.is_ours else gap.reason
