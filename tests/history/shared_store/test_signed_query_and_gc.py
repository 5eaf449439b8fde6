"""Tests signatures, SQL over a store's runs, and what `bench gc` removes."""

import multiprocessing
import os
import re
import subprocess
import threading
import time
from dataclasses import replace
from functools import partial
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from benchbrief.history.object_stores.object_store import ObjectStore, SharedStoreError, StoreDamaged, hash_file
from benchbrief.history.shared_store.collect_garbage import Retention, collect_garbage
from benchbrief.history.shared_store.push_and_pull import Push, pull_run, push_run
from benchbrief.history.shared_store.run_manifest import manifest_key, manifest_text, table_key
from benchbrief.history.shared_store.shared_query import open_results
from benchbrief.history.shared_store.shared_store import SharedStore, open_store
from benchbrief.history.shared_store.signatures import check, check_signed, sign
from benchbrief.results.store_errors import ResultsError
from tests.history.shared_store.conftest import ON_A_SERVER_TOO, a_page, a_run
from tests.history.shared_store.test_broken_pushes import Wrong
from tests.support.tools import system_tool

DAY = 86_400.0
ALL = "SELECT DISTINCT run FROM measure.throughput ORDER BY ALL"


class Signer(NamedTuple):
    key: Path
    allowed: Path


@pytest.fixture
def signer(tmp_path: Path) -> Signer:
    return a_signer(tmp_path, "lab@example.org")


def a_signer(folder: Path, name: str, options: str = 'namespaces="benchbrief"') -> Signer:
    key, allowed = folder / f"key-{name}", folder / f"allowed-{name}"
    subprocess.run([system_tool("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key], check=True)
    public = key.with_name(f"{key.name}.pub").read_text()
    allowed.write_text(f"{name} {options} {public}")
    return Signer(key, allowed)


def test_a_signature_is_held_against_its_content_its_key_and_its_purpose(signer: Signer, tmp_path: Path) -> None:
    signature = sign(b"this", signer.key)
    verdict = check(b"this", signature, signer.allowed)
    assert (verdict.state, verdict.signer) == ("holds", "lab@example.org")
    assert verdict.key.startswith("ED25519 key SHA256:")
    assert check(b"that", signature, signer.allowed).state == "wrong"
    assert check(b"this", b"nonsense", signer.allowed).state == "wrong"
    assert check(b"this", None, signer.allowed).state == "absent"
    assert check(b"this", signature, a_signer(tmp_path, "other@example.org").allowed).state == "unknown"
    for options in ('namespaces="git"', 'valid-before="20200101"'):
        text = signer.allowed.read_text().replace('namespaces="benchbrief"', options)
        (tmp_path / "narrow").write_text(text)
        assert check(b"this", signature, tmp_path / "narrow").state == "unknown"


def test_a_key_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SharedStoreError, match="there is no key"):
        sign(b"this", tmp_path / "none")
    (tmp_path / "broken").write_text("no key at all")
    with pytest.raises(SharedStoreError, match="does not sign"):
        sign(b"this", tmp_path / "broken")
    with pytest.raises(SharedStoreError, match="no file of allowed signers"):
        check(b"this", b"", tmp_path / "none")


def test_a_signature_is_proved_after_a_pull_and_a_forgery_is_found(
    run_dir: Path, tmp_path: Path, signer: Signer
) -> None:
    page = run_dir / "reports" / "brief.html"
    a_page(page, "<p>100 ops/s")
    store = open_store(str(tmp_path / "shared"))
    manifest = push_run(run_dir, store, Push(sign=partial(sign, key=signer.key))).manifest
    pulled = pull_run(store, manifest, tmp_path / "out")
    for folder in (run_dir, pulled):
        assert check_signed(folder, (page,), signer.allowed, raw=True).holds
    copied = tmp_path / "sent.html"
    copied.write_bytes(page.read_bytes())
    assert check_signed(pulled, (copied,), signer.allowed, raw=False).holds

    copied.write_text("<p>900 ops/s")
    (found,) = check_signed(pulled, (copied,), signer.allowed, raw=False).differing
    assert found.startswith("sent.html is not what was signed")
    (pulled / "reports" / "brief.html").write_text("<p>900 ops/s")
    (found,) = check_signed(pulled, (), signer.allowed, raw=False).differing
    assert found.startswith("reports/brief.html is not what was signed (SHA-256 ")
    # Who forges the list of files as well has a manifest that was not signed.
    forged = manifest_text(replace(manifest, title="ours"))
    (pulled / "pushed" / "manifest.json").write_bytes(forged)
    assert check_signed(pulled, (), signer.allowed, raw=False).verdict.state == "wrong"
    (pulled / "pushed" / "manifest.json.sig").unlink()
    assert check_signed(pulled, (), signer.allowed, raw=False).verdict.state == "absent"


def test_a_run_that_was_pushed_unsigned_is_signed_later(run_dir: Path, tmp_path: Path, signer: Signer) -> None:
    store = open_store(str(tmp_path / "shared"))
    assert store.signature(push_run(run_dir, store, Push()).manifest) is None
    signed = push_run(run_dir, store, Push(sign=partial(sign, key=signer.key)))
    assert signed.state == "same"
    assert check_signed(run_dir, (), signer.allowed, raw=True).holds


@ON_A_SERVER_TOO
def test_tables_of_all_runs_are_asked_and_conditions_read_the_partitions_that_they_need(
    store: SharedStore, tmp_path: Path
) -> None:
    for n in range(3):
        push_run(a_run(tmp_path / "out", f"run-{n}", operations=100 * (n + 1)), store, Push(tags=[f"tag{n % 2}"]))
    with open_results(store) as results:
        assert results.sql(ALL).rows == (("run-0",), ("run-1",), ("run-2",))
        counts = results.sql(
            "SELECT run, count FROM throughput WHERE operation = 'all' AND count > 0 ORDER BY ALL"
        ).rows
        assert counts == (("run-0", 100), ("run-1", 200), ("run-2", 300))
        tagged = "SELECT run, good, failed FROM manifests WHERE list_contains(tags, 'tag0') ORDER BY ALL"
        assert results.sql(tagged).rows == (("run-0", 1, 1), ("run-2", 1, 1))
        assert results.sql("DESCRIBE measure.latency").rows[0][:2] == ("run", "VARCHAR")
        with pytest.raises(ResultsError, match="there is no table or view `thruput`"):
            results.sql("FROM thruput")
        with pytest.raises(ResultsError, match="DROP is not allowed"):
            results.sql("DROP VIEW cells")
        with pytest.raises(ResultsError):
            results.sql("FROM read_csv('/etc/passwd')")
    (manifest,) = store.manifests(["run-0"])
    table = manifest.tables["measure.throughput"]
    store.objects.delete([table_key("run-0", "measure.throughput", table.sha256)])
    with open_results(store) as results:
        for condition in ("run = 'run-1'", "run IN ('run-1')", "run >= 'run-1' AND run < 'run-2'"):
            assert results.sql(ALL.replace("ORDER", f"WHERE {condition} ORDER")).rows == (("run-1",),)
        assert results.sql(ALL).rows == (("run-1",), ("run-2",))
        assert re.search(r"has (no|lost) tables/run=run-0/measure\.throughput", results.cautions[0])


def test_runs_that_were_not_measured_are_left_out_unless_asked_for(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "shared"))
    manifest = push_run(a_run(tmp_path / "out", "real"), store, Push()).manifest
    model = replace(manifest, id="model", simulated=True)
    for name, table in manifest.tables.items():
        path = tmp_path / "shared" / table_key("real", name, table.sha256)
        store.objects.upload(table_key("model", name, table.sha256), hash_file(path))
    assert store.objects.create(manifest_key("model", 1), manifest_text(model))
    with open_results(store) as results:
        assert results.sql(ALL).rows == (("real",),)
        assert results.cautions == ["1 simulated or imported runs are left out; --all reads them too"]
        assert not results.simulated
    with open_results(store) as results:
        assert results.sql(ALL.replace("ORDER", "WHERE run = 'model' ORDER")).rows == (("model",),)
        assert results.simulated
    with open_results(store, every=True) as results:
        assert len(results.sql(ALL)) == 2
        assert results.cautions == ["1 of the 2 runs that were read are simulated or imported"]


def aged(folder: Path, days: float, *names: str) -> None:
    """Set the age of all files of a store, or of those with one of these texts in their path."""
    then = time.time() - days * DAY
    for path in folder.rglob("*"):
        if path.is_file() and (not names or any(name in str(path) for name in names)):
            os.utime(path, (then, then))


def keys(store: SharedStore) -> set[str]:
    return {each.key for each in store.objects.list("")}


@pytest.mark.long
def test_gc_removes_old_runs_without_a_kept_tag_and_what_they_alone_had(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    store = open_store(str(folder))
    kept = push_run(a_run(tmp_path / "out", "kept"), store, Push(tags=["release"])).manifest
    before = keys(store)
    push_run(a_run(tmp_path / "out", "gone", operations=900), store, Push(tags=["nightly"]))
    aged(folder, 100)
    young = push_run(a_run(tmp_path / "out", "young", operations=300), store, Push()).manifest
    everything = keys(store)
    retention = Retention(90 * DAY, ["release"])
    planned = collect_garbage(store, retention, remove=False)
    assert ([each.id for each in planned.runs], planned.kept) == (["gone"], 2)
    assert planned.size > 0
    assert keys(store) == everything
    done = collect_garbage(store, retention, remove=True)
    assert sorted(done.objects) == sorted(planned.objects)
    assert [each.id for each in store.manifests()] == ["kept", "young"]
    assert before <= keys(store)
    for manifest in (kept, young):
        pull_run(store, manifest, tmp_path / "pulled")
    assert collect_garbage(store, retention, remove=True).objects == []


class Later:
    """A store whose clock is some days ahead, so that its contents seem old."""

    def __init__(self, objects: ObjectStore, days: float) -> None:
        self._objects, self._days = objects, days

    def __getattr__(self, name: str) -> Any:
        return getattr(self._objects, name)

    def now(self) -> float:
        return self._objects.now() + self._days * DAY


@ON_A_SERVER_TOO
def test_gc_removes_on_each_kind_of_store_what_is_old_and_keeps_what_has_a_tag(
    store: SharedStore, tmp_path: Path
) -> None:
    kept = push_run(a_run(tmp_path / "out", "kept"), store, Push(tags=["release"])).manifest
    before = keys(store)
    push_run(a_run(tmp_path / "out", "gone", operations=900), store, Push())
    later = SharedStore(Later(store.objects, 100))
    done = collect_garbage(later, Retention(90 * DAY, ["release"]), remove=True)
    assert ([each.id for each in done.runs], done.kept) == (["gone"], 1)
    assert keys(store) == before
    assert pull_run(store, kept, tmp_path / "pulled").is_dir()


def _collect_until_stopped(url: str, stop: Event) -> None:
    while not stop.is_set():
        collect_garbage(open_store(url), Retention(), remove=True)


@pytest.mark.long
def test_gc_in_another_process_takes_nothing_that_a_push_relies_on(tmp_path: Path) -> None:
    """The pushes find old objects of deleted runs, and the garbage collection removes these objects meanwhile."""
    url = f"file://{tmp_path}/shared"
    runs = [a_run(tmp_path / "out", f"run-{n}", operations=100 * n) for n in range(1, 4)]
    for run_dir in runs:
        manifest = push_run(run_dir, open_store(url), Push()).manifest
        open_store(url).objects.delete([manifest.key])
    aged(tmp_path / "shared", 30)
    fork = multiprocessing.get_context("fork")
    stop = fork.Event()
    collector = fork.Process(target=_collect_until_stopped, args=(url, stop))
    collector.start()
    try:
        made = [push_run(run_dir, open_store(url), Push()).manifest for run_dir in runs]
    finally:
        stop.set()
        collector.join()
    assert collector.exitcode == 0
    for manifest in made:
        assert pull_run(open_store(url), manifest, tmp_path / "pulled").is_dir()


def test_a_push_that_slept_for_days_sends_again_what_gc_took_meanwhile(run_dir: Path, tmp_path: Path) -> None:
    objects, slept_s = open_store(str(tmp_path / "shared")).objects, [0.0]

    def create(key: str, content: bytes) -> bool:
        if key.startswith("runs/"):
            slept_s[0] = 8 * DAY
            assert collect_garbage(SharedStore(Later(objects, 8)), Retention(), remove=True).objects
        return objects.create(key, content)

    sleepy = SharedStore(Wrong(objects, create=create, now=lambda: objects.now() + slept_s[0]))
    manifest = push_run(run_dir, sleepy, Push()).manifest
    assert pull_run(SharedStore(objects), manifest, tmp_path / "out").is_dir()


def test_a_file_finds_its_place_though_gc_takes_empty_folders(tmp_path: Path) -> None:
    objects, source = open_store(str(tmp_path / "shared")).objects, tmp_path / "source"
    source.write_bytes(b"it")
    stop = threading.Event()

    def remove() -> None:
        while not stop.is_set():
            objects.delete(["objects/aa/none", ".incoming/none"])

    remover = threading.Thread(target=remove)
    remover.start()
    try:
        for _ in range(100):
            objects.upload("objects/aa/it", hash_file(source))
            objects.delete(["objects/aa/it"])
            assert objects.create("objects/aa/other", b"other")
            objects.delete(["objects/aa/other"])
    finally:
        stop.set()
        remover.join()


def test_gc_leaves_alone_what_is_young_foreign_or_of_a_push_under_way(run_dir: Path, tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    store = open_store(str(folder))
    manifest = push_run(run_dir, store, Push()).manifest
    store.objects.delete([manifest.key])  # as of a push that has not come to its manifest
    (folder / "notes").mkdir()
    (folder / "notes" / "ours.txt").write_text("foreign")
    found = collect_garbage(store, Retention(), remove=True)
    assert (found.objects, found.foreign) == ([], ["notes/ours.txt"])
    aged(folder, 8)
    push_run(run_dir, store, Push())  # what it found there, it has written again
    assert collect_garbage(store, Retention(), remove=True).objects == []
    assert pull_run(store, manifest, tmp_path / "out").is_dir()
    (folder / ".incoming" / "left-by-a-kill").write_text("half")
    aged(folder, 8, ".incoming")
    (left,) = collect_garbage(store, Retention(), remove=True).objects
    assert left.key == ".incoming/left-by-a-kill"
    assert (folder / "notes" / "ours.txt").read_text() == "foreign"


def test_gc_removes_nothing_when_a_manifest_cannot_be_read_or_the_place_is_no_store(
    run_dir: Path, tmp_path: Path
) -> None:
    store = open_store(str(tmp_path / "shared"))
    push_run(run_dir, store, Push())
    assert store.objects.create(manifest_key("broken", 1), b"{")
    aged(tmp_path / "shared", 100)
    before = keys(store)
    with pytest.raises(StoreDamaged, match="nothing was removed"):
        collect_garbage(store, Retention(DAY), remove=True)
    assert keys(store) == before
    with pytest.raises(SharedStoreError, match="is no store of benchbrief"):
        collect_garbage(open_store(str(tmp_path)), Retention(DAY), remove=True)
    with pytest.raises(SharedStoreError, match="a grace period of 1 h"):
        collect_garbage(store, Retention(grace_s=3600), remove=True)


def test_a_clock_that_is_wrong_by_a_year_is_reported_and_decides_nothing(
    run_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, real = open_store(str(tmp_path / "shared")), time.time
    monkeypatch.setattr(time, "time", lambda: real() - 365 * DAY)
    push = Push()
    push_run(run_dir, store, push)
    caution = push.cautions[-1]
    assert caution.startswith("this machine's clock is 365 days behind that of the store")
    found = collect_garbage(store, Retention(90 * DAY), remove=True)
    assert (found.runs, found.kept) == ([], 1)
