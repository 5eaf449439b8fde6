"""The journal keeps every whole record, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchbrief.runners.journal import CellStarted
from benchbrief.runners.journal_io import JOURNAL, Journal, is_being_written, read_journal
from benchbrief.runners.seams import DiskFull, RunnerError


def started(cell: str) -> CellStarted:
    return CellStarted(at=1.0, cell=cell, hash="h", attempt=1)


def test_records_come_back_in_order(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    for name in ("a", "b\n}", 'c "quoted" – µ'):
        journal.write(started(name))
    journal.close()
    assert read_journal(tmp_path / JOURNAL) == [started("a"), started("b\n}"), started('c "quoted" – µ')]


def test_a_torn_last_line_is_left_out_and_cut_off_when_the_run_goes_on(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.write(started("a"))
    journal.close()
    with (tmp_path / JOURNAL).open("ab") as file:
        file.write(b'{"type": "cell_sta')
    assert read_journal(tmp_path / JOURNAL) == [started("a")]

    journal = Journal(tmp_path)
    journal.write(started("b"))
    journal.close()
    assert read_journal(tmp_path / JOURNAL) == [started("a"), started("b")]


def test_a_changed_line_in_the_middle_is_an_error_that_names_the_line(tmp_path: Path) -> None:
    (tmp_path / JOURNAL).write_text("{}\n")
    with pytest.raises(RunnerError, match=r"journal\.jsonl:1 is not a journal record"):
        read_journal(tmp_path / JOURNAL)


def test_a_second_controller_is_refused(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    assert is_being_written(tmp_path)
    with pytest.raises(RunnerError, match="is being run by another process"):
        Journal(tmp_path)
    journal.close()
    assert not is_being_written(tmp_path)
    Journal(tmp_path).close()


def test_a_full_disk_keeps_the_records_before_and_no_half_record(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.write(started("a"))
    # A file-size limit stands in for a full disk: the kernel cuts the write short in the same way.
    import resource
    import signal

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = os.path.getsize(tmp_path / JOURNAL)  # noqa: PTH202 - beside the limit in the same terms
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, before[1]))
    try:
        with pytest.raises(DiskFull, match="can't be written"):
            journal.write(started("b"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    journal.write(started("c"))
    journal.close()
    assert read_journal(tmp_path / JOURNAL) == [started("a"), started("c")]


def test_listeners_hear_a_record_only_after_it_is_kept(tmp_path: Path) -> None:
    heard: list[int] = []
    journal = Journal(tmp_path, lambda _: heard.append(len(read_journal(tmp_path / JOURNAL))))
    journal.write(started("a"))
    journal.write(started("b"))
    journal.close()
    assert heard == [1, 2]
