"""Why the store has no value where a query asks for one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from benchbrief.compiler.messages.text import Text, joined, word
from benchbrief.compiler.planning.plan import Query, Read
from benchbrief.results.messages.brief_reasons import shorten_reason
from benchbrief.results.messages.result_messages import say
from benchbrief.results.store.run_sentences import read_sentences
from benchbrief.results.store.user_query import Table

Key = str | float | None
"""A value of a dimension."""


class MissingValues:
    """The reasons for missing values of one store. `sql` queries it; `imported`: its numbers were measured
    elsewhere."""

    def __init__(self, sql: Callable[[str], Table], imported: bool) -> None:
        self._sql = sql
        self._imported = imported

    def reason(self, query: Query, keys: Sequence[Key]) -> str:
        """Return why there is no value for these keys: a cell behind them is not ok, or lacks such a number."""
        known: dict[str, Key] = dict(zip(query.dims, keys, strict=True))
        reads = query.reads or ()
        for search in self._searches if any(read.view == "sustained" for read in reads) else ():
            if _concerns(search, known, [read for read in reads if read.view == "sustained"]):
                return self._said(search["reason"])
        by_reads = query.reads is not None  # by keys alone, as an older plan has no `reads`
        bad = [cell for cell in self._bad_cells if _concerns(cell, known, reads if by_reads else None)]
        needed = [cell for cell in bad if cell["status"] != "skipped" or cell["reason"] == str(say.not_published())]
        if needed or any(_concerns(cell, known, reads if by_reads else None) for cell in self._good_cells):
            bad = needed  # what was not needed explains nothing where other cells were
        if bad:
            first = bad[0]
            status, what = word(first["status"]), shorten_reason(self._said(first["reason"]))
            said = say.cell_bad(cell=first["cell_id"], status=status, what=what)
            return say.and_more(said=said, n=len(bad) - 1) if len(bad) > 1 else said
        for gap in self._gaps:
            if _concerns(gap, known, [read for read in reads if read.statistic == gap["statistic"]]):
                return self._said(gap["reason"])
        for gap in self._unsized:
            if _concerns(gap, known, [read for read in reads if read.measure == gap["measure"]]):
                return self._said(gap["reason"])
        for gap in self._unrecovered:
            if _concerns(gap, known, [read for read in reads if read.measure == gap["measure"]]):
                return self._said(gap["reason"])
        # Why energy is not known says more than what its probe lacks.
        measures = {read.measure for read in reads}
        for gap in sorted(self._unsampled, key=lambda gap: gap["probe"] not in measures):
            if _concerns(gap, known, [read for read in reads if gap["probe"] in (read.measure, read.probe)]):
                return self._said(gap["text"])
        if not by_reads and not query.absent:
            return say.no_value_of_plan()
        if query.absent:
            # An earlier version kept the sentence itself.
            return query.absent if isinstance(query.absent, str) else joined(map(word, query.absent), say.both)
        if self._imported:
            return say.not_imported()
        if reads and not any(_concerns(cell, known, reads) for cell in self._good_cells):
            return say.not_measured()
        if query.divides is not False:  # True, or not known of an earlier version's plan
            return say.divided()
        return say.no_such_value()

    @cached_property
    def _good_cells(self) -> list[dict[str, Any]]:
        return self._records(
            "SELECT experiment, hardware, workload, threads, target, repeat FROM cells WHERE status = 'ok'"
        )

    @cached_property
    def _bad_cells(self) -> list[dict[str, Any]]:
        return self._records(
            "SELECT cell_id, status, reason, experiment, hardware, workload, threads, target, repeat "
            "FROM cells WHERE status <> 'ok' ORDER BY status = 'skipped'"  # skipped cells explain least
        )

    @cached_property
    def _searches(self) -> list[dict[str, Any]]:
        """Return the searches for a promise that found no rate."""
        return self._records("SELECT experiment, hardware, workload, reason FROM promises WHERE sustained IS NULL")

    @cached_property
    def _gaps(self) -> list[dict[str, Any]]:
        """Return the missing latencies."""
        return self._records(
            "SELECT statistic, reason, experiment, hardware, workload, threads, target, phase, repeat, operation "
            "FROM latency WHERE value_s IS NULL AND source IS NULL"
        )

    @cached_property
    def _unsized(self) -> list[dict[str, Any]]:
        """Return the missing sizes of databases."""
        return self._records(
            "SELECT measure, sizes.reason, experiment, hardware, workload, threads, target, repeat "
            "FROM sizes JOIN cells USING (run_id, cell_id) WHERE value IS NULL"
        )

    @cached_property
    def _unrecovered(self) -> list[dict[str, Any]]:
        """Return the missing measures of events."""
        return self._records(
            "SELECT measure, why AS reason, experiment, hardware, workload, threads, target, repeat FROM ("
            " SELECT run_id, cell_id, unnest(["
            "  {'measure': 'recovery', 'value': recovery_s, 'why': events.reason},"
            "  {'measure': 'recovery.outage', 'value': outage_s, 'why': events.reason},"
            "  {'measure': 'recovery.dip', 'value': dip, 'why': events.reason},"
            "  {'measure': 'recovery.lowest', 'value': lowest, 'why': events.reason},"
            "  {'measure': 'recovery.before', 'value': before, 'why': events.reason},"
            "  {'measure': 'recovery.latency', 'value': latency_s, 'why': latency_reason}"
            " ], recursive := true) FROM events"
            ") JOIN cells USING (run_id, cell_id) WHERE value IS NULL AND why IS NOT NULL"
        )

    @cached_property
    def _unsampled(self) -> list[dict[str, Any]]:
        """Return what the probes did not give in a cell, by the probe or by what is computed of it: `energy`."""
        return self._records(
            "SELECT split_part(notes.origin, ':', 2) AS probe, text, experiment, hardware, workload, threads, target, "
            "repeat FROM notes JOIN cells USING (run_id, cell_id) WHERE notes.origin LIKE 'probe:%'"
        )

    def _records(self, sql: str) -> list[dict[str, Any]]:
        table = self._sql(sql)
        return [dict(zip(table.columns, row, strict=True)) for row in table]

    def _said(self, text: object) -> str:
        """Return a text of the store as its sentence; unchanged, when it has no code."""
        return self._sentences.get(str(text), str(text))

    @cached_property
    def _sentences(self) -> Mapping[str, Text]:
        return read_sentences(self._sql("SELECT text, message FROM sentences").rows)


def _concerns(record: Mapping[str, Any], known: Mapping[str, Key], reads: Iterable[Read] | None) -> bool:
    """Return whether a query's row uses a cell, or a latency: both have the same keys, and the row reads a measure
    of it.

    Without `reads`, that is unknown.
    """
    has_keys = all(record[dim] == key for dim, key in known.items() if dim in record)
    return has_keys and (reads is None or any(read.covers(record) for read in reads))
