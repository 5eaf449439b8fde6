"""Tests that the journal keeps every complete record, and nothing else."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchbrief.model.events import CellStarted, ReportMade, RunEnded, RunStarted
from benchbrief.runners.errors import DiskFull, FolderMoved, RunnerError
from benchbrief.runners.journal.journal_file import (
    JOURNAL,
    Journal,
    each_record,
    first_start,
    has_grown,
    is_being_written,
    last_record,
    read_journal,
    read_run,
    records_at,
    sum_at,
    whole_bytes,
)
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


def test_the_last_record_and_the_first_start_are_read_without_the_rest(tmp_path: Path) -> None:
    began = RunStarted(at=1.0, run_id="r", plan_sha256="p", benchbrief="1", spec="s", profile=None, controller_pid=1)
    journal = Journal(tmp_path)
    for record in (started("a"), began, RunEnded(at=2.0, status="done")):
        journal.write(record)
    journal.write(ReportMade(at=3.0, report="brief", directory="reports", files={"brief.html": "00"}))
    journal.close()
    path = tmp_path / JOURNAL
    assert first_start(path) == began
    assert last_record(path) == RunEnded(at=2.0, status="done")  # a report that was made is no part of the run
    assert len(read_journal(path)) == 3
    path.write_bytes(path.read_bytes().replace(b'"status":"done"', b'"status":"gone"'))
    assert last_record(path) is None


def test_a_line_that_is_removed_moved_or_changed_is_noticed_and_one_from_before_there_were_sums_is_read(
    tmp_path: Path,
) -> None:
    path = tmp_path / JOURNAL
    path.write_text("".join(started(name).model_dump_json() + "\n" for name in "ab"))
    assert read_journal(path) == [started("a"), started("b")]
    journal = Journal(tmp_path)
    journal.write(started("c"))
    journal.write(started("d"))
    journal.close()
    a, b, c, d = path.read_bytes().splitlines(keepends=True)
    assert read_journal(path) == [started(name) for name in "abcd"]
    plain = started("e").model_dump_json().encode() + b"\n"
    for lines in ([b, a, c, d], [a, c, d], [a, b, d], [a, b, d, c], [a, b, c, plain, d], [a, b, c, d, plain],
                  [a.replace(b"1.0", b"1.5"), b, c, d]):  # fmt: skip
        path.write_bytes(b"".join(lines))
        with pytest.raises(RunnerError, match=r"journal\.jsonl:\d was changed after it was written"):
            read_journal(path)


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
        assert not any(each.done() for each in writing)  # no writer goes on before its record is on the disk
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
    record = journal.extend()
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
    assert record == read_run(tmp_path)


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


def test_a_flush_that_fails_once_loses_every_record_that_waited_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next flush works, but must not confirm a record that was cut off with the others."""
    journal = Journal(tmp_path)
    path = tmp_path / JOURNAL
    real, everyone_waits, failed = os.fsync, threading.Event(), threading.Event()

    def fails_once(fd: int) -> None:
        if failed.is_set():
            return real(fd)
        everyone_waits.wait(10)
        failed.set()
        raise OSError(errno.EIO, "the disk is broken")

    monkeypatch.setattr(os, "fsync", fails_once)
    with ThreadPoolExecutor(3) as pool:
        writing = [pool.submit(journal.write, started(name)) for name in "abc"]
        until(lambda: path.read_bytes().count(b"\n") == 3)
        everyone_waits.set()
        heard = [each.exception() for each in writing]
    assert all(isinstance(error, DiskFull) for error in heard)
    journal.write(started("d"))
    journal.close()
    assert read_journal(path) == [started("d")]


def test_a_flush_that_fails_after_a_torn_line_leaves_the_records_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / JOURNAL
    Journal(tmp_path).close()
    first = Journal(tmp_path)
    first.write(started("a"))
    first.close()
    with path.open("ab") as file:
        file.write(b'{"type": "cell_sta')
    journal = Journal(tmp_path)
    whole = path.read_bytes()

    def fails(_: int) -> None:
        raise OSError(errno.EIO, "the disk is broken")

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", fails)
        with pytest.raises(DiskFull):
            journal.write(started("b"))
    assert path.read_bytes() == whole
    journal.write(started("c"))
    journal.close()
    assert read_journal(path) == [started("a"), started("c")]


def test_a_journal_has_grown_by_whole_records_and_when_it_became_shorter(tmp_path: Path) -> None:
    path = tmp_path / JOURNAL
    assert not has_grown(path, 0)
    journal = Journal(tmp_path)
    journal.write(started("a"))
    size = path.stat().st_size
    assert has_grown(path, 0)
    assert not has_grown(path, size)
    assert has_grown(path, size + 1)
    journal.write(ReportMade(at=3.0, report="brief", directory="reports", files={}))
    assert not has_grown(path, size), "a report is no part of the run"
    journal.close()
    with path.open("ab") as file:
        file.write(started("b").model_dump_json().encode())
    assert not has_grown(path, size), "half a line is no record"


def test_the_sum_at_a_place_is_that_of_the_lines_before_it(tmp_path: Path) -> None:
    path = tmp_path / JOURNAL
    sizes = []
    for name in "ab":
        journal = Journal(tmp_path)
        journal.write(started(name))
        journal.close()
        sizes.append(path.stat().st_size)
    first, second = (line.partition(b',"sum":"')[2][:32].decode() for line in path.read_bytes().splitlines())
    assert [sum_at(path, size) for size in sizes] == [first, second]
    for wrong in (sizes[0] - 1, sizes[0] + 1, sizes[1] + 1):
        with pytest.raises(RunnerError, match="does not have a line that ends after"):
            sum_at(path, wrong)


def test_a_line_without_a_sum_after_one_with_a_sum_is_not_the_last_record(tmp_path: Path) -> None:
    path = tmp_path / JOURNAL
    journal = Journal(tmp_path)
    journal.write(started("a"))
    journal.close()
    with path.open("ab") as file:
        file.write(started("b").model_dump_json().encode() + b"\n")
    assert last_record(path) is None


def test_an_empty_first_line_is_a_whole_line(tmp_path: Path) -> None:
    (tmp_path / JOURNAL).write_bytes(b"\n{")
    assert whole_bytes(tmp_path / JOURNAL, 2) == 1


def test_a_folder_that_was_removed_is_not_reported_as_one_that_was_moved(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    journal = Journal(tmp_path / "run")
    try:
        (tmp_path / "run").rename(tmp_path / "moved")
        with pytest.raises(FolderMoved) as moved:
            journal.write(RunEnded(at=1.0, status="done"))
        assert moved.value.hint == f"go on from where it is: bench resume {tmp_path / 'moved'}"
        shutil.rmtree(tmp_path / "moved")
        with pytest.raises(FolderMoved) as removed:
            journal.write(RunEnded(at=1.0, status="done"))
        assert removed.value.hint == "start the run again"
    finally:
        journal.close()
