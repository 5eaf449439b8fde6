"""Tests pushing a run to a folder and to two S3 servers, and pulling it."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from benchbrief.history.object_stores.object_store import (
    NoObject,
    SharedStoreError,
    StoreDamaged,
    hash_file,
    open_objects,
)
from benchbrief.history.shared_store.push_and_pull import Push, Pushed, pull_run, push_run, run_files
from benchbrief.history.shared_store.run_manifest import (
    manifest_key,
    manifest_text,
    object_key,
    read_manifest,
    run_of_key,
)
from benchbrief.history.shared_store.shared_store import SharedStore, open_store
from benchbrief.results.open_store import fresh_store
from tests.history.shared_store.conftest import ON_A_SERVER_TOO, a_run

MakeRun = Callable[..., Path]


def pushed(run_dir: Path, store: SharedStore, *tags: str) -> Pushed:
    return push_run(run_dir, store, Push(tags=tags))


def contents(run_dir: Path) -> dict[str, bytes]:
    return {path: (run_dir / path).read_bytes() for path in run_files(run_dir)}


@ON_A_SERVER_TOO
def test_a_pushed_run_comes_back_byte_for_byte_and_can_be_used(
    store: SharedStore, run_dir: Path, tmp_path: Path
) -> None:
    made = pushed(run_dir, store, "nightly")
    assert made.state == "new"
    assert made.sent > made.manifest.size

    (found,) = store.manifests()
    assert found == made.manifest
    assert (found.id, found.title, found.tags) == (run_dir.name, "brief", ("nightly",))
    assert (found.cells.good, found.cells.failed, found.cells.total) == (1, 1, 2)
    assert (found.hardware, found.simulated, found.imported) == (("nvme",), False, False)

    pulled = pull_run(store, found, tmp_path / "elsewhere")
    assert pulled == tmp_path / "elsewhere" / run_dir.name
    assert contents(pulled) == contents(run_dir)
    with fresh_store(pulled) as results:
        assert not results.mended
        assert results.sql("SELECT count(*) FROM cells").rows == ((2,),)
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == [run_dir.name]


def test_a_run_that_is_pushed_twice_is_stored_once(store: SharedStore, run_dir: Path) -> None:
    first = pushed(run_dir, store)
    before = sorted(store.objects.list(""))
    again = pushed(run_dir, store)
    assert (again.state, again.sent, again.manifest) == ("same", 0, first.manifest)
    assert sorted(store.objects.list("")) == before


def test_a_run_that_has_grown_is_a_later_revision_and_the_first_one_stays(store: SharedStore, run_dir: Path) -> None:
    first = pushed(run_dir, store, "nightly").manifest
    (run_dir / "raw" / "late.txt").write_text("more")
    later = pushed(run_dir, store, "kept")
    assert (later.state, later.manifest.revision, later.manifest.tags) == ("grown", 2, ("nightly", "kept"))
    assert list(store.manifests()) == [later.manifest]
    assert store.read(first.id, 1) == first
    assert "raw/late.txt" not in store.files(first)


def test_another_run_of_the_same_name_is_refused_and_changes_nothing(store: SharedStore, tmp_path: Path) -> None:
    pushed(a_run(tmp_path / "one"), store)
    before = sorted(store.objects.list("runs/"))
    with pytest.raises(SharedStoreError, match="has another run of the name") as error:
        pushed(a_run(tmp_path / "two", owner="f" * 16), store)
    assert "nothing was overwritten" in error.value.hint
    assert sorted(store.objects.list("runs/")) == before


def test_names_with_slashes_line_ends_and_dots_are_one_part_of_a_key() -> None:
    for name in ("a/b", "two\nlines", "..", ".", "100%", "run@2", "größe", "\udcff"):
        key = manifest_key(name, 3)
        assert run_of_key(key) == (name, 3)
        assert key.count("/") == 1
        assert "\n" not in key
        assert not key.startswith("runs/.")


def test_a_run_whose_name_has_a_line_end_is_pushed_and_found(store: SharedStore, make_run: MakeRun) -> None:
    run_dir = make_run("two\nlines of\tit")
    pushed(run_dir, store)
    assert [found.id for found in store.manifests()] == [run_dir.name]
    assert store.find("two").id == run_dir.name


def test_a_table_and_a_file_are_fetched_by_their_names(store: SharedStore, run_dir: Path, tmp_path: Path) -> None:
    manifest = pushed(run_dir, store).manifest
    table = store.fetch(manifest, "measure.throughput", tmp_path)
    assert table.name == "measure.throughput.parquet"
    plan = store.fetch(manifest, "plan.json", tmp_path / "its.json")
    assert plan.read_bytes() == (run_dir / "plan.json").read_bytes()
    with pytest.raises(NoObject, match=r"has no reports/none\.pdf"):
        store.fetch(manifest, "reports/none.pdf", tmp_path)


def test_an_object_that_is_not_what_was_pushed_is_never_taken(run_dir: Path, tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "shared"))
    manifest = pushed(run_dir, store).manifest
    plan = tmp_path / "shared" / object_key(store.files(manifest)["plan.json"].sha256)
    for damage, why in ((b"short", "5 bytes instead of"), (b"x" * plan.stat().st_size, "another SHA-256")):
        plan.write_bytes(damage)
        with pytest.raises(StoreDamaged, match=why):
            pull_run(store, manifest, tmp_path / "out")
        assert list((tmp_path / "out").iterdir()) == []


def test_a_pull_never_overwrites_what_is_there(run_dir: Path, tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "shared"))
    manifest = pushed(run_dir, store).manifest
    pulled = pull_run(store, manifest, tmp_path / "out")
    assert pull_run(store, manifest, tmp_path / "out") == pulled
    (pulled / "plan.json").write_text("mine")
    with pytest.raises(SharedStoreError, match=r"has another plan\.json"):
        pull_run(store, manifest, tmp_path / "out")
    assert (pulled / "plan.json").read_text() == "mine"


def test_foreign_files_and_newer_manifests_are_reported_and_do_not_hide_the_runs(
    store: SharedStore, run_dir: Path
) -> None:
    made = pushed(run_dir, store).manifest
    text = manifest_text(replace(made, id="later"))
    later = json.dumps({**json.loads(text), "version": 2}).encode()
    for key, content in {
        "runs/notes.txt": b"hello",
        "README": b"ours",
        manifest_key("later", 1): later,
        manifest_key("broken", 1): b'{"format": "benchb',
        manifest_key("foreign", 1): b"[]",
        manifest_key("moved", 1): text,
    }.items():
        assert store.objects.create(key, content)
    assert list(store.manifests()) == [made]
    shown = sorted(str(problem).removeprefix(store.url) for problem in store.problems)
    assert shown == [
        "/runs/broken@1.json is not the manifest of a run",
        "/runs/foreign@1.json is not the manifest of a run",
        "/runs/later@1.json is a manifest of version 2, and this benchbrief reads version 1",
        "/runs/moved@1.json is the manifest of another run: later, revision 1",
    ]
    with pytest.raises(SharedStoreError, match="version 2") as error:
        store.find("later")
    assert "later one" in error.value.hint


@pytest.mark.parametrize("path", ["../up", "/etc/passwd", "a//b", "a/../../b", "", "."])
def test_a_list_of_files_that_leaves_the_run_is_refused(run_dir: Path, tmp_path: Path, path: str) -> None:
    store = open_store(str(tmp_path / "shared"))
    manifest = pushed(run_dir, store).manifest
    listing = json.dumps({path: {"sha256": "0" * 64, "size": 1}}).encode()
    forged = tmp_path / "forged"
    forged.write_bytes(listing)
    sha256 = hashlib.sha256(listing).hexdigest()
    store.objects.upload(object_key(sha256), hash_file(forged))
    with pytest.raises(StoreDamaged, match="outside its folder"):
        pull_run(store, replace(manifest, list_sha256=sha256), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_manifest_lacks_nothing_unnoticed(run_dir: Path, tmp_path: Path) -> None:
    manifest = pushed(run_dir, open_store(str(tmp_path / "shared"))).manifest
    whole = json.loads(manifest_text(manifest))
    assert read_manifest(json.dumps(whole).encode(), manifest.key) == manifest
    for name in whole.keys() - {"format", "version"}:
        for wrong in ({key: whole[key] for key in whole if key != name}, {**whole, name: {"a": []}}):
            with pytest.raises(StoreDamaged):
                read_manifest(json.dumps(wrong).encode(), manifest.key)


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("ftp://there/x", "is of no known kind"),
        ("s3://", "names no bucket"),
        ("s3:/lab/x", "lacks a slash"),
        ("file://there/x", "names another machine: there"),
        ("s3://key:secret@lab/x", "holds no credentials"),
    ],
)
def test_an_address_of_no_store_is_refused_without_showing_secrets(url: str, what: str) -> None:
    with pytest.raises(SharedStoreError, match=what) as error:
        open_objects(url)
    assert "secret" not in f"{error.value} {error.value.hint}".replace("AWS_SECRET", "")
