"""Tests pushes that are interrupted or collide, and stores that are unreachable, full, or wrong about their
contents."""

import itertools
import multiprocessing
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchbrief.history.object_stores.object_store import (
    HashedFile,
    ListedObject,
    ObjectStore,
    SharedStoreError,
    StoreAway,
    StoreDamaged,
    StoreFull,
    StoreRefuses,
)
from benchbrief.history.shared_store.push_and_pull import Push, Pushed, pull_run, push_run, run_files
from benchbrief.history.shared_store.run_manifest import object_key
from benchbrief.history.shared_store.shared_store import MARKER, SharedStore, open_store
from benchbrief.results.store_errors import NoRoom
from benchbrief.runners.journal.atomic_files import sha256_of
from tests.history.shared_store.conftest import ON_A_SERVER_TOO, a_run
from tests.support.longer import longer

CHANGES = ("create", "upload", "delete")


class Cut(Exception):
    """Raised at the point where the process would die. To a store, both look the same."""


class CutOff:
    """A store whose client dies at its n-th change, before or after the store has made the change."""

    def __init__(self, objects: ObjectStore, at: int, *, done: bool) -> None:
        self._objects, self._at, self._done = objects, at, done
        self._count = itertools.count(1)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._objects, name)
        if name not in CHANGES:
            return method

        def cut(*arguments: Any) -> Any:
            if next(self._count) != self._at:
                return method(*arguments)
            if self._done:
                method(*arguments)
            raise Cut

        return cut


def pushed(run_dir: Path, store: SharedStore, *tags: str) -> Pushed:
    return push_run(run_dir, store, Push(tags=tags))


def whole_or_absent(url: str, run_dir: Path, tmp_path: Path, name: str) -> bool:
    """Return whether the store has the run. If so, check that the run is complete."""
    is_made = Path(url.removeprefix("file://")).is_dir()
    found = list(open_store(url).manifests()) if is_made else []
    if not found:
        return False
    pulled = pull_run(open_store(url), found[0], tmp_path / name)
    for path in run_files(run_dir):
        assert (pulled / path).read_bytes() == (run_dir / path).read_bytes()
    return True


def cut_off(run_dir: Path, tmp_path: Path, every: int, *, done: bool) -> None:
    """Interrupt a push at its first change of the store and, in further pushes, at each `every`-th change after it.
    `done` decides whether the store has already made that change."""
    absent = 0
    for at in itertools.count(1, every):
        url = f"file://{tmp_path}/shared-{at}"
        try:
            pushed(run_dir, SharedStore(CutOff(open_store(url).objects, at, done=done)))
        except Cut:
            absent += not whole_or_absent(url, run_dir, tmp_path, f"early-{at}")
        else:
            break
        pushed(run_dir, open_store(url))
        assert whole_or_absent(url, run_dir, tmp_path, f"late-{at}")
    assert at > 40
    assert absent >= (at - 2) // every


@pytest.mark.parametrize("done", [*longer(False), True], ids=["before", "after"])
def test_a_push_that_is_cut_off_leaves_the_run_whole_or_absent_and_the_next_one_ends(
    run_dir: Path, tmp_path: Path, done: bool
) -> None:
    cut_off(run_dir, tmp_path, 15, done=done)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
def test_a_push_that_is_cut_off_anywhere_leaves_the_run_whole_or_absent(
    run_dir: Path, tmp_path: Path, done: bool
) -> None:
    cut_off(run_dir, tmp_path, 1, done=done)


def _push_in_a_process(run_dir: Path, url: str) -> None:
    pushed(run_dir, open_store(url))


def killed_after(seconds: float, run_dir: Path, url: str) -> None:
    process = multiprocessing.get_context("fork").Process(target=_push_in_a_process, args=(run_dir, url))
    process.start()
    process.join(seconds)
    if process.is_alive() and process.pid:
        os.kill(process.pid, signal.SIGKILL)
    process.join()


def kills(times: int, run_dir: Path, tmp_path: Path) -> None:
    url = f"file://{tmp_path}/shared"
    for n in range(times):
        killed_after(0.01 * (n % 40), run_dir, url)
        whole_or_absent(url, run_dir, tmp_path, f"out-{n}")
    pushed(run_dir, open_store(url))
    assert whole_or_absent(url, run_dir, tmp_path, "at-last")


def test_real_kills_leave_the_run_whole_or_absent(run_dir: Path, tmp_path: Path) -> None:
    kills(6, run_dir, tmp_path)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_two_hundred_real_kills_leave_the_run_whole_or_absent(run_dir: Path, tmp_path: Path) -> None:
    kills(200, run_dir, tmp_path)


def at_once(*pushes: Callable[[], object]) -> list[object]:
    """Call all functions at the same moment, and return their results or errors."""
    ready, found = threading.Barrier(len(pushes)), list[object]([None] * len(pushes))

    def run(at: int, push: Callable[[], object]) -> None:
        ready.wait()
        try:
            found[at] = push()
        except SharedStoreError as error:
            found[at] = error

    threads = [threading.Thread(target=run, args=each) for each in enumerate(pushes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


@ON_A_SERVER_TOO
def test_two_pushes_of_a_run_at_once_store_it_once(store: SharedStore, run_dir: Path, tmp_path: Path) -> None:
    pushed(a_run(tmp_path / "other", "another"), store)  # makes the store
    stores = [open_store(store.url) for _ in range(2)]
    found = at_once(*(lambda one=one: pushed(run_dir, one) for one in stores))
    assert sorted(each.state for each in found if isinstance(each, Pushed)) == ["new", "same"]
    assert store.revisions()[run_dir.name] == [1]


def test_two_runs_of_one_name_never_mix(store: SharedStore, tmp_path: Path) -> None:
    one, two = a_run(tmp_path / "one", operations=100), a_run(tmp_path / "two", operations=200, owner="e" * 16)
    stores = [open_store(store.url) for _ in range(2)]
    found = at_once(lambda: pushed(one, stores[0]), lambda: pushed(two, stores[1]))
    won = [each for each in found if isinstance(each, Pushed)]
    lost = [each for each in found if isinstance(each, SharedStoreError)]
    assert (len(won), len(lost)) == (1, 1)
    assert "has another run of the name" in str(lost[0])
    mine = one if isinstance(found[0], Pushed) else two
    pulled = pull_run(store, won[0].manifest, tmp_path / "out")
    for path in run_files(mine):
        assert (pulled / path).read_bytes() == (mine / path).read_bytes()


class Wrong:
    """A store with one method replaced."""

    def __init__(self, objects: ObjectStore, **methods: Callable[..., Any]) -> None:
        self._objects, self._methods = objects, methods

    def __getattr__(self, name: str) -> Any:
        return self._methods.get(name) or getattr(self._objects, name)


def test_a_store_that_overwrites_in_spite_of_the_condition_is_refused(run_dir: Path, tmp_path: Path) -> None:
    objects = open_store(str(tmp_path / "shared")).objects
    assert objects.create(MARKER, b'{"format": "benchbrief-store", "version": 1}\n')
    with pytest.raises(SharedStoreError, match="overwrites an object although it is asked not to"):
        pushed(run_dir, SharedStore(Wrong(objects, create=lambda *_: True)))


def test_an_object_of_a_wrong_size_is_left_as_it_is_and_reported(run_dir: Path, tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "shared"))
    key = object_key(sha256_of(run_dir / "plan.json"))
    assert store.objects.create(key, b"half of it")
    with pytest.raises(StoreDamaged, match="has 10 bytes, and not the") as error:
        pushed(run_dir, store)
    assert "left as it is" in error.value.hint
    assert store.objects.read(key) == b"half of it"
    assert list(store.manifests()) == []


@pytest.mark.long
def test_a_store_that_lies_about_sizes_is_reported(run_dir: Path, tmp_path: Path) -> None:
    honest = open_store(str(tmp_path / "shared"))
    pushed(run_dir, honest)

    def lies(key: str) -> ListedObject | None:
        there = honest.objects.look(key)
        return there and there._replace(size=there.size + (key != MARKER))

    (run_dir / "raw" / "late.txt").write_text("more")
    with pytest.raises(StoreDamaged, match=r"has .* bytes, and not the"):
        pushed(run_dir, SharedStore(Wrong(honest.objects, look=lies)))
    assert honest.revisions()[run_dir.name] == [1]


@pytest.mark.parametrize(
    "mistake",
    [
        StoreAway("s3://lab can't be reached"),
        *longer(StoreFull("s3://lab is full"), StoreRefuses("the credentials for s3://lab have expired")),
    ],
)
def test_a_store_that_fails_in_the_middle_has_no_half_run_and_the_next_push_ends(
    run_dir: Path, tmp_path: Path, mistake: SharedStoreError
) -> None:
    store, count = open_store(str(tmp_path / "shared")), itertools.count()

    def upload(*arguments: Any) -> None:
        if next(count) >= 5:
            raise mistake
        store.objects.upload(*arguments)

    with pytest.raises(type(mistake), match=str(mistake)):
        pushed(run_dir, SharedStore(Wrong(store.objects, upload=upload)))
    assert list(store.manifests()) == []
    again = pushed(run_dir, store)
    assert again.state == "new"
    assert again.sent < again.manifest.size + 1_000_000


def test_a_file_that_changes_while_it_is_pushed_is_reported(store: SharedStore, run_dir: Path) -> None:
    plan = run_dir / "plan.json"
    upload = store.objects.upload

    def changes(key: str, file: HashedFile) -> None:
        if file.path == plan:
            plan.write_bytes(plan.read_bytes() + b" ")
        upload(key, file)

    with pytest.raises(SharedStoreError, match=r"plan\.json was changed while it was pushed"):
        pushed(run_dir, SharedStore(Wrong(store.objects, upload=changes)))
    assert list(store.manifests()) == []


@pytest.mark.parametrize(("damage", "said"), [("flip", "is not what was measured"), *longer(("remove", "is missing"))])
def test_a_run_with_a_damaged_raw_output_is_not_pushed(run_dir: Path, tmp_path: Path, damage: str, said: str) -> None:
    store = open_store(f"file://{tmp_path}/shared")
    whole = pushed(run_dir, store).manifest
    raw = next(path for path in sorted((run_dir / "raw").rglob("*")) if path.is_file())
    if damage == "flip":
        raw.write_bytes(raw.read_bytes() + b"x")
    else:
        raw.unlink()
    with pytest.raises(SharedStoreError) as raised:
        pushed(run_dir, store, "again")
    assert raised.value.message == f"{run_dir.name} is damaged: {raw.relative_to(run_dir)} {said}"
    assert "`bench run" in raised.value.hint
    assert [each.revision for each in store.manifests()] == [whole.revision], "nothing of it is in the store"


def test_a_file_that_gc_removed_during_a_push_is_sent_again(run_dir: Path, tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "shared"))
    pushed(run_dir, store)
    store.objects.delete([next(iter(store.manifests())).key])  # the objects of a run that is no more
    key = object_key(sha256_of(run_dir / "plan.json"))
    create = store.objects.create

    def creates(made: str, content: bytes) -> bool:
        if made.startswith("runs/"):
            store.objects.delete([key])
        return create(made, content)

    made = pushed(run_dir, SharedStore(Wrong(store.objects, create=creates)))
    assert pull_run(store, made.manifest, tmp_path / "out").is_dir()


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """Yield a file system of 200 kB."""

    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.long
def test_a_full_disk_of_the_store_is_reported_and_leaves_nothing_half(run_dir: Path, small: Path) -> None:
    (run_dir / "raw" / "large").write_bytes(os.urandom(1 << 20))
    store = open_store(str(small / "shared"))
    with pytest.raises(StoreFull, match="is full: No space left on device") as error:
        pushed(run_dir, store)
    assert "bench gc" in error.value.hint
    assert list(store.manifests()) == []
    assert list(store.objects.list(".incoming/")) == []


def test_a_full_disk_here_leaves_no_half_pull(run_dir: Path, small: Path, tmp_path: Path) -> None:
    (run_dir / "raw" / "large").write_bytes(os.urandom(1 << 20))
    store = open_store(str(tmp_path / "shared"))
    manifest = pushed(run_dir, store).manifest
    with pytest.raises(NoRoom, match="has room for"):
        pull_run(store, manifest, small)
    assert list(small.iterdir()) == []
