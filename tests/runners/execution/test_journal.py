"""The journal keeps every whole record, and nothing else."""

from __future__ import annotations

import errno
import fcntl
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchbrief.runners.errors import DiskFull, RunnerError
from benchbrief.runners.journal import CellStarted
from benchbrief.runners.journal_io import JOURNAL, Journal, each_record, is_being_written, read_journal, records_at
from tests.support.waiting import until


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


def test_lanes_that_write_at_the_same_time_share_flushes_and_lose_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[int] = []
    real = os.fsync

    def fsync(fd: int) -> None:
        everyone_waits.wait(10)
        real(fd)
        flushed.append(os.fstat(fd).st_size)

    everyone_waits = threading.Event()
    monkeypatch.setattr(os, "fsync", fsync)
    journal = Journal(tmp_path)
    names = [f"cell {number}" for number in range(20)]
    path = tmp_path / JOURNAL
    with ThreadPoolExecutor(len(names)) as pool:
        writing = [pool.submit(journal.write, started(name)) for name in names]
        until(lambda: path.read_bytes().count(b"\n") == len(names))
        assert not any(each.done() for each in writing)  # none is told before it is on the disk
        everyone_waits.set()
        for each in writing:
            each.result()
    journal.close()
    assert sorted(r.cell for r in read_journal(path) if isinstance(r, CellStarted)) == sorted(names)
    assert len(flushed) <= 2
    assert flushed[-1] == path.stat().st_size


def test_where_a_flush_fails_every_record_that_waited_for_it_is_reported_and_none_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path)
    path = tmp_path / JOURNAL
    journal.write(started("a"))
    everyone_waits = threading.Event()

    def fails(_: int) -> None:
        everyone_waits.wait(10)
        raise OSError(errno.EIO, "the disk is broken")

    real = os.fsync
    monkeypatch.setattr(os, "fsync", fails)
    with ThreadPoolExecutor(4) as pool:
        writing = [pool.submit(journal.write, started(name)) for name in "bcde"]
        until(lambda: path.read_bytes().count(b"\n") == 5)
        everyone_waits.set()
        heard = [each.exception() for each in writing]
    assert all(isinstance(error, DiskFull) for error in heard)
    monkeypatch.setattr(os, "fsync", real)
    journal.write(started("f"))
    journal.close()
    assert read_journal(path) == [started("a"), started("f")]


def test_records_are_read_by_their_place_one_at_a_time(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    for name in ("a", 'b "quoted" – µ', "c"):
        journal.write(started(name))
    journal.close()
    path = tmp_path / JOURNAL
    places = [place for place, _ in each_record(path)]
    assert list(records_at(places[1:])) == [started('b "quoted" – µ'), started("c")]
    assert [record for _, record in each_record(path, size=places[1].at + 5)] == [started("a")]
    path.write_bytes(path.read_bytes()[: places[2].at + 3])
    with pytest.raises(RunnerError, match="was changed while it was read"):
        list(records_at(places))


def test_a_look_whether_a_run_goes_on_keeps_nobody_from_going_on_with_it(tmp_path: Path) -> None:
    Journal(tmp_path).close()
    looking = os.open(tmp_path / JOURNAL, os.O_RDONLY)
    fcntl.flock(looking, fcntl.LOCK_SH)
    over = threading.Timer(0.1, os.close, [looking])
    over.start()
    Journal(tmp_path).close()
    over.join()
