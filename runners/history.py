"""What a run's journal says of its cells."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchbrief.runners import journal as j
from benchbrief.runners.journal_io import JOURNAL, read_journal


def finished_cells(run_dir: Path) -> set[str]:
    """Cells whose last verdict is good, and those not needed. Raises RunnerError when the journal can't be read."""
    done: set[str] = set()
    for record in records_of(run_dir):
        if isinstance(record, j.CellEnded):
            (done.add if record.status == "ok" else done.discard)(record.cell)
        elif isinstance(record, j.CellSkipped):
            done.add(record.cell)
    return done


def attempts_of(records: Sequence[j.AnyRecord]) -> dict[str, int]:
    """How many attempts each cell has had."""
    return {record.cell: record.attempt for record in records if isinstance(record, j.CellStarted)}


def records_of(run_dir: Path) -> list[j.AnyRecord]:
    journal = run_dir / JOURNAL
    return read_journal(journal) if journal.exists() else []
