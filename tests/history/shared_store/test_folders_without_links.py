"""Tests folders on a file system without hard links, such as exFAT. The tests make `os.link` fail as it would there."""

import ctypes
import errno
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from benchbrief.history.object_stores.file_objects import give_name
from benchbrief.history.object_stores.object_store import SharedStoreError
from benchbrief.history.shared_store.push_and_pull import Push, pull_run, push_run
from benchbrief.history.shared_store.shared_store import open_store


@pytest.fixture(autouse=True)
def _no_links(monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)


@pytest.mark.long
def test_a_run_is_pushed_once_and_pulled_as_it_was(run_dir: Path, tmp_path: Path) -> None:
    store = open_store(f"{tmp_path}/shared")
    assert [push_run(run_dir, store, Push()).state for _ in range(2)] == ["new", "same"]
    assert (pull_run(store, store.find(run_dir.name), tmp_path / "out") / "plan.json").is_file()
    assert list(store.objects.keys(".incoming/")) == []


def test_one_of_many_writers_gets_the_name_and_its_content_stays(tmp_path: Path) -> None:
    name, won = tmp_path / "name", list[int]()

    def write(number: int) -> None:
        mine = tmp_path / str(number)
        mine.write_text(str(number))
        try:
            give_name(mine, name)
        except FileExistsError:
            return
        won.append(number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [name.read_text()] == [str(number) for number in won]


@pytest.mark.parametrize("code", [errno.EINVAL, errno.ENOSYS])
def test_without_such_renames_either_the_store_is_refused_with_what_to_do(
    run_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    class Libc:
        def __init__(self, *_: object, **__: object) -> None: ...

        def renameat2(self, *_: Any) -> int:
            ctypes.set_errno(code)
            return -1

    monkeypatch.setattr(ctypes, "CDLL", Libc)
    with pytest.raises(SharedStoreError, match="can't keep two pushers apart: it has no hard links") as error:
        push_run(run_dir, open_store(f"{tmp_path}/shared"), Push())
    assert "another file system" in error.value.hint
