"""Verifies a finished brief: computes each number again from a store, and compares."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from benchbrief.compiler.planning.plan import Plan
from benchbrief.compiler.rounding import printed_as
from benchbrief.reports.data.numbers_file import Key, Number, NumbersFile, QueryEntry
from benchbrief.reports.data.report_data import Results, Store
from benchbrief.reports.disclosure.run_origin import disclose_origin, run_row
from benchbrief.reports.notices.contender_letters import letters_in
from benchbrief.reports.provenance.finished_brief import Brief, Edited
from benchbrief.reports.provenance.made_files import look_beside
from benchbrief.reports.provenance.number_ledger import kind_of
from benchbrief.reports.provenance.numbers_claims import describe_change, find_unfounded, known_queries, raw_problems
from benchbrief.reports.provenance.numbers_completeness import find_lacking, identity, key_of
from benchbrief.reports.provenance.raw_outputs import each_entry
from benchbrief.reports.words.brief_words import CATALOGUES, words_of
from benchbrief.reports.words.locale_formats import Locale, written_as
from benchbrief.results.runs.made_reports import Made, changed_in_run
from benchbrief.results.store.searched_doubts import Doubt
from benchbrief.results.store_errors import ResultsError

Found = TypeVar("Found")
CLOSE = 1e-9
"""The relative difference of equal values: sums of several threads differ in their last digits."""


@dataclass(frozen=True)
class Differs:
    """A number that does not hold. `now` is its present form."""

    id: str
    place: str
    expression: str
    shown: str
    now: str
    value: float | None
    value_now: float | None
    why: str


@dataclass(frozen=True)
class DrawnDiffers:
    """A point of a figure that does not hold."""

    figure: str
    title: str
    expression: str
    at: tuple[Key | None, ...]
    value: float | None
    value_now: float | None
    why: str


@dataclass(frozen=True)
class Verification:
    """`edited` is None without a document. `raw` maps paths to problems, None if not asked for. `foreign` says why
    the brief is not of this run, `beside` which files made with it were changed, and `kept` which other parts of the
    run were."""

    numbers: int
    differing: tuple[Differs, ...]
    points: int
    drawn: tuple[DrawnDiffers, ...]
    edited: tuple[Edited, ...] | None
    raw: Mapping[str, str] | None
    raw_files: int
    foreign: tuple[str, ...] = ()
    whole: bool | None = None
    """Whether the document is, to the byte, one that the run's journal knows; without such a record, see `Brief`."""
    by_journal: bool = False
    """Whether the journal has a record of it, so that `whole` comes from it."""
    beside: tuple[str, ...] = ()
    beside_files: int = 0
    """How many files made with it were compared."""
    kept: tuple[str, ...] = ()
    not_made: tuple[str, ...] = ()
    """What of the brief could not be made when it was made, so that its numbers are lacking."""

    @property
    def holds(self) -> bool:
        return self.whole is not False and not (
            self.differing or self.drawn or self.edited or self.foreign or self.beside
        )


def verify(brief: Brief, plan: Plan, store: Store, run_dir: Path | None = None, *, known: bool = True) -> Verification:
    """Verify a brief. With `run_dir`, hashes the raw outputs too (`raw_problems`). The plan is the one that the
    brief was made from, or, where it is not `known`, the run's own. This plan decides what is computed, whatever SQL
    the brief has."""
    report = next((each for each in plan.reports if each.name == brief.numbers.report), None)
    results = Results(plan, store, words_of(report) if report else CATALOGUES["en"])
    outputs = raw_problems(brief.numbers, results, run_dir) if run_dir else {}
    raw = {path: problem for path, problem in outputs.items() if problem}
    check = _Check(brief.numbers, results, raw)
    with written_as(Locale(brief.numbers.locale, brief.numbers.units)), printed_as(brief.numbers.printing):
        differing = tuple(check.numbers())
        foreign = (
            *_foreign(brief.numbers, results, known=known),
            *(find_lacking(brief.numbers, report, results) if known else ()),
            *(find_unfounded(brief.numbers, report, results) if known else ()),
        )
    return Verification(
        numbers=len(brief.numbers.numbers),
        differing=differing,
        points=sum(len(series.rows) for figure in brief.numbers.figures for series in figure.series),
        drawn=tuple(check.drawn()),
        edited=brief.edited,
        raw=raw if run_dir else None,
        raw_files=len(outputs),
        whole=brief.whole,
        foreign=foreign,
        not_made=brief.numbers.not_made,
    )


def check_journal(found: Verification, path: Path, brief: Brief, plan: Plan, run_dir: Path, made: Made) -> Verification:
    """Add what the run's journal knows of the brief at `path`, of the files made with it, and of the run's other
    files. `plan` is the run's own."""
    spec = tuple(plan.spec.files.items())
    then = (brief.numbers.journal_bytes, brief.numbers.journal_sum)
    beside = look_beside(path, brief, made, run_dir)
    is_recorded = made.has_kind(path)
    unrecorded = f"{path.name} is not recorded: the run's journal does not say that it was made"
    return replace(
        found,
        whole=(made.knows(brief.sha256) and found.whole is not False) if is_recorded else found.whole,
        by_journal=is_recorded,
        beside=beside.changed,
        beside_files=beside.files,
        kept=(
            *found.kept,
            *([] if is_recorded or made.problem else [unrecorded]),
            *changed_in_run(run_dir, made, then, spec),
        ),
    )


def _foreign(numbers: NumbersFile, results: Results, *, known: bool) -> Iterator[str]:
    run = str(run_row(results)["run_id"] or "")
    if run != numbers.run:
        yield f"the brief names the run {numbers.run}, and these are the results of {run}"
    if numbers.kind != (kind := kind_of(results)):
        yield f"the brief says that its numbers are {numbers.kind}, and those of {run} are {kind}"
    if not known:
        digest = numbers.plan_sha256[:12]
        yield f"the brief names a plan (SHA-256 {digest}) that neither {run} nor a report of it was made from"
    elif run == numbers.run and numbers.origin != (stated := tuple(disclose_origin(results))):
        other = next((text for term, text in numbers.origin if (term, text) not in stated), "it leaves something out")
        yield f"the brief has another origin than {run} has ({other}): edited, or written by another benchbrief"


class _Check:
    def __init__(self, recorded: NumbersFile, results: Results, raw: Mapping[str, str]) -> None:
        self._recorded = recorded
        self._results = results
        self._raw = raw
        self._queries = {query.id: query for query in recorded.queries}
        self._cells = dict(each_entry(results.store))
        self._rows: dict[str, dict[tuple[Key, ...], float | None] | str] = {}
        self._known = known_queries(results.plan)
        report = next((each for each in results.plan.reports if each.name == recorded.report), None)
        found = letters_in(report.elements, results) if report and any(n.letters for n in recorded.numbers) else ()
        self._letters = {(identity(query), *_keyed(at)): letters for query, at, letters in found}

    def numbers(self) -> Iterator[Differs]:
        for number in self._recorded.numbers:
            query = self._queries[number.query]
            high = self._queries[number.high_query] if number.high_query else None
            value, why = self._now(query, number.at)
            top, why_top = self._now(high, number.at) if high else (None, "")
            doubt = self._doubt_now(number, query, high)
            now = self._printed(number, value, top, doubt)
            recorded = self._printed(number, number.value, number.high, number.doubt)
            if recorded != number.shown:
                why = f"its recorded value is printed as {recorded}: edited, or written by another benchbrief"
            elif number.letters and number.letters != (letters := self._letters_now(query, number)):
                shown, now = f"{number.shown} {number.letters}", f"{now} {letters}".rstrip()
                why = "the tests of its repeats tell others apart than its letters say"
                yield Differs(number.id, number.place, _at(query, number), shown, now, number.value, value, why)
                continue
            elif doubt != number.doubt:
                why = "the searches behind it tell another bound, or decided otherwise"
            elif _same(value, number.value) and _same(top, number.high) and not self._failed(query, high):
                continue
            else:
                why = self._why(number.cells, why or why_top)
            # Of a range, show the end that moved.
            moved = not _same(value, number.value) or high is None
            old, new = (number.value, value) if moved else (number.high, top)
            yield Differs(number.id, number.place, _at(query, number), number.shown, now, old, new, why)

    def _letters_now(self, query: QueryEntry, number: Number) -> str:
        return self._letters.get((identity(query.query), *_keyed(number.at)), "")

    def _doubt_now(self, number: Number, query: QueryEntry, high: QueryEntry | None) -> Doubt:
        """Return what is not known of a number; of one in an early file, what that says."""
        if number.bound is None or self._failed(query, high):
            return number.doubt
        known = [self._known.get(identity(each.query), each.query) for each in (query, high) if each]
        return self._results.doubt(known[0], known[1] if high else None, number.at)

    def _printed(self, number: Number, value: float | None, high: float | None, doubt: Doubt) -> str:
        """Print as the brief's language does."""
        unit = self._queries[number.query].unit
        with written_as(Locale(self._recorded.locale, self._recorded.units)), printed_as(self._recorded.printing):
            return doubt.mark + number.printed.text(value, high, unit, ranged=bool(number.high_query))

    def drawn(self) -> Iterator[DrawnDiffers]:
        for figure in self._recorded.figures:
            for series in figure.series:
                query = self._queries[series.query]
                found = self._all(query)
                for *keys, value in series.rows:
                    now = found.get(tuple(map(key_of, keys))) if isinstance(found, dict) else None
                    old = None if isinstance(value, str) else value
                    if not _same(now, old) or self._failed(query):
                        why = self._why(self._behind(query, keys), found if isinstance(found, str) else "")
                        yield DrawnDiffers(figure.id, figure.title, query.expression, tuple(keys), old, now, why)

    def _behind(self, query: QueryEntry, keys: Sequence[Key | int | None]) -> tuple[str, ...]:
        """Return the recorded cells behind one point of a figure; those of all points where the plan does not say."""
        known = self._known.get(identity(query.query))
        if known is None or known.reads is None:
            return query.cells
        at = {dim: key_of(key) for dim, key in zip(query.dims, keys, strict=False)}
        found = {cell.cell_id for cell in self._results.cells_behind(known, **at)}
        return tuple(cell for cell in query.cells if cell in found) or query.cells

    def _failed(self, *queries: QueryEntry | None) -> bool:
        return any(isinstance(self._all(query), str) for query in queries if query is not None)

    def _now(self, query: QueryEntry, at: Mapping[str, Key]) -> tuple[float | None, str]:
        found = self._all(query)
        if isinstance(found, str):
            return None, found
        wanted = [(query.dims.index(dim), key_of(key)) for dim, key in at.items()]
        fitting = [value for keys, value in found.items() if all(keys[i] == key for i, key in wanted)]
        known = [value for value in fitting if value is not None]
        return (known[0] if known else None), "" if fitting or not query.cells else "the store has no such row"

    def _all(self, query: QueryEntry) -> dict[tuple[Key, ...], float | None] | str:
        """Return the rows of a query, or why there are none."""
        if query.id not in self._rows and identity(query.query) not in self._known:
            self._rows[query.id] = "its SQL is none of the plan's: the file of the numbers was edited"
        if query.id not in self._rows:
            try:
                rows = self._results.rows(self._known.get(identity(query.query), query.query))
                self._rows[query.id] = {tuple(map(key_of, keys)): value for keys, value in rows.items()}
            except ResultsError as error:
                self._rows[query.id] = f"the store can't answer its query: {error}"
        return self._rows[query.id]

    def _why(self, cells: Iterable[str], otherwise: str) -> str:
        """Return how the cells behind a number changed; else the store's reason."""
        if otherwise.startswith("its SQL"):
            return otherwise
        reasons = [f"{cell} {reason}" for cell in cells if (reason := self._changed(cell))]
        if not reasons:
            return otherwise or "the stored results were changed, or are computed otherwise"
        more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
        return reasons[0] + more

    def _changed(self, cell: str) -> str:
        then = self._recorded.cells.get(cell)
        if then is None:
            return ""
        raw = next((path for path in then.files if path in self._raw), None)
        what = describe_change(then, self._cells.get(cell))
        if raw and (not what or what.startswith("has other raw outputs")):
            return f"has a raw output that {self._raw[raw]}: {raw}"
        return what


def _keyed(at: Mapping[str, Key]) -> tuple[tuple[str, Key], ...]:
    return tuple(sorted((dim, key_of(key)) for dim, key in at.items()))


def _at(query: QueryEntry, number: Number) -> str:
    """Return the expression with its missing coordinates: `throughput at workload a`."""
    place = ", ".join(f"{dim} {key:g}" if isinstance(key, float) else f"{dim} {key}" for dim, key in number.at.items())
    return f"{query.expression} at {place}" if place else query.expression


def _same(now: float | None, then: float | None) -> bool:
    if now is None or then is None:
        return now is then
    return math.isclose(now, then, rel_tol=CLOSE, abs_tol=0.0)
