"""Tests stores with runs from a stranger. A bad entry is named and left out, and everything else is shown."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from hashlib import sha256
from itertools import cycle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchbrief.history.many_runs import StoreOfRuns
from benchbrief.history.object_stores.file_objects import FileObjects
from benchbrief.history.object_stores.object_store import SharedStoreError, StoreDamaged
from benchbrief.history.read_series import SeriesChoice, read_series
from benchbrief.history.series_cache import RunStore, open_series
from benchbrief.history.series_rows import write_series
from benchbrief.history.shared_store.collect_garbage import Retention, collect_garbage
from benchbrief.history.shared_store.listed_runs import runs_in_store
from benchbrief.history.shared_store.push_and_pull import Push, pull_run, push_run
from benchbrief.history.shared_store.run_manifest import (
    RunManifest,
    StoredFile,
    manifest_key,
    manifest_text,
    object_key,
    table_key,
)
from benchbrief.history.shared_store.shared_query import open_results
from benchbrief.history.shared_store.shared_store import SharedStore, open_store
from tests.history.shared_store.conftest import a_run
from tests.support.longer import longer

GOOD = "20260301-101500-brief"
BAD = "20990101-000000-bad"
"""A time later than all others, so that the run would determine the columns of the store's tables."""
ASKED = "SELECT run, value FROM measure.throughput WHERE operation = 'all' AND phase IS NULL"
SQL = 'x"; CREATE OR REPLACE VIEW measure.throughput AS SELECT 1e9 AS value; --'
WILD = (SQL, f"measure.{SQL}", "'; DROP TABLE cells; --\n../../etc/passwd\u202ec\x1b[31m", "\ud800\0")
LONG = "n" * 10_000_000


@pytest.fixture
def pushed(store: SharedStore, run_dir: Path) -> RunManifest:
    return push_run(run_dir, store, Push(more={"series": write_series})).manifest


def put(store: SharedStore, key: str, content: bytes) -> None:
    assert store.objects.create(key, content)


def forged(store: SharedStore, manifest: RunManifest, run: str = BAD, /, **tables: bytes) -> RunManifest:
    """Push a manifest that a stranger could have made, with tables of any content and the right SHA-256."""
    files = dict(manifest.tables)
    for called, content in tables.items():
        name = called.replace("__", ".")
        digest = sha256(content).hexdigest()
        files[name] = StoredFile(digest, len(content))
        put(store, table_key(run, name, digest), content)
    for name, file in manifest.tables.items():
        if name not in tables:
            put(store, table_key(run, name, file.sha256), store.objects.read(table_key(manifest.id, name, file.sha256)))
    found = replace(manifest, id=run, owner="b" * 16, tables=files)
    put(store, found.key, manifest_text(found))
    return found


def parquet(table: pa.Table) -> bytes:
    content = io.BytesIO()
    pq.write_table(table, content)
    return content.getvalue()


def good_is_shown(store: SharedStore) -> list[str]:
    """Make every kind of request to a store, check that the good run is shown, and return the messages about the other
    runs."""
    asked = open_store(store.url)
    assert GOOD in [run.run for run in runs_in_store(asked)]
    said = [problem.message for problem in asked.problems]
    with open_results(open_store(store.url)) as results:
        assert (GOOD, 10.0) in results.sql(ASKED).rows
        assert (GOOD, 2) in results.sql("SELECT run, count(*) FROM cells GROUP BY run").rows
        assert GOOD in [run for (run,) in results.sql("SELECT run FROM manifests").rows]
        said += results.cautions
    with open_series(RunStore(open_store(store.url))) as table:
        history = read_series(table, SeriesChoice())
        assert GOOD in {each.run_id for series in history.series for part in series.parts for each in part.values}
        said += [f"{run}: {why}" for run, why in table.problems.items()]
    place = StoreOfRuns(open_store(store.url))
    site = {run.id: run for run in place.read(sorted(place.stamps()))}
    assert site[GOOD].values
    assert not site[GOOD].problem
    return said + [f"{run.id}: {run.problem}" for run in site.values() if run.problem]


def texts_in(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of each text, and of each name, in a document."""
    if isinstance(value, str):
        yield at
    for key, inside in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        if isinstance(key, str):
            yield (*at, f"\0{key}")
        yield from texts_in(inside, (*at, key))


def changed(value: Any, at: tuple[Any, ...], to: str) -> Any:
    """Return the document with another text at this place, or with another name for the content there."""
    if not at:
        return to
    head, *rest = at
    if isinstance(head, str) and head.startswith("\0"):
        return {to if key == head[1:] else key: inside for key, inside in value.items()}
    copied = dict(value) if isinstance(value, dict) else list(value)
    copied[head] = changed(value[head], tuple(rest), to)
    return copied


@pytest.mark.parametrize(("wild", "each"), [(0, 8), *longer((0, 1), (1, 1))])
def test_no_text_of_a_manifest_reaches_sql_or_hides_another_run(
    tmp_path: Path, run_dir: Path, wild: int, each: int
) -> None:
    store = open_store(str(tmp_path / "shared"))
    manifest = push_run(run_dir, store, Push(tags=["nightly"], more={"series": write_series})).manifest
    document = json.loads(json.dumps({**asdict(replace(manifest, id=BAD, owner="b" * 16))}))
    document = {"format": "benchbrief-run", "version": 1, **document}
    document["tables"] = {name: document["tables"][name] for name in ("cells", "measure.throughput")}
    places = list(texts_in(document))
    assert len(places) > 30
    key = tmp_path / "shared" / manifest_key(BAD, 1)
    long = [(at, LONG) for at in places if at[-1] in ("id", "title")]
    for at, text in [*zip(places[::each], cycle(WILD[wild:] + WILD[:wild]), strict=False), *long]:
        key.write_text(json.dumps(changed(document, at, text)))
        asked = open_store(store.url)
        assert GOOD in [run.run for run in runs_in_store(asked)]
        with open_results(asked) as results:
            results.sql("SHOW ALL TABLES")  # it offers all tables that a manifest names
            assert results.sql(ASKED).rows[:1] == ((GOOD, 10.0),)


NO_MANIFESTS = {
    "empty": b"",
    "list": b"[]",
    "infinite": b'{"format": "benchbrief-run", "version": 1e400}',
    "nan": b'{"format": "benchbrief-run", "version": NaN}',
    "long": b'{"format": "benchbrief-run", "version": ' + b"9" * 5000 + b"}",
    "deep": b'{"format": "benchbrief-run", "version": 1, "id": ' + b"[" * 200_000,
    "only-deep": b"[" * 3_000_000,
    "large": b" " * (5 << 20),
    "bytes": b"\x00\xff",
}


@pytest.mark.usefixtures("pushed")
def test_what_is_no_manifest_in_its_place_is_named_and_left_out(store: SharedStore) -> None:
    for name, content in NO_MANIFESTS.items():
        put(store, manifest_key(f"{BAD}-{name}", 1), content)
    said = good_is_shown(store)
    for name in NO_MANIFESTS:
        assert len([text for text in said if f"{BAD}-{name}" in text]) >= 3, (name, said)
    with pytest.raises(SharedStoreError, match="nothing was removed"):
        collect_garbage(store, Retention(), remove=True)


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


PLACED: dict[str, Callable[[Path], None]] = {
    "folder": lambda path: path.mkdir(),
    "link loop": lambda path: path.symlink_to(path.name),
    "link away": lambda path: path.symlink_to("/etc/passwd"),
    "endless": lambda path: path.symlink_to("/dev/zero"),
    "fifo": os.mkfifo,
    "sparse": sparse,
    "nobody's": lambda path: path.touch(0),
}


@pytest.mark.timeout(60)
def test_what_is_no_file_in_the_place_of_a_manifest_is_named_and_left_out(tmp_path: Path, run_dir: Path) -> None:
    store = open_store(str(tmp_path / "shared"))
    push_run(run_dir, store, Push(more={"series": write_series}))
    for number, place in enumerate(PLACED.values()):
        place(tmp_path / "shared" / manifest_key(f"{BAD}-{number}", 1))
    said = good_is_shown(store)
    for number, kind in enumerate(PLACED):
        assert any(f"{BAD}-{number}" in text for text in said), kind


@pytest.mark.timeout(60)
def test_what_is_no_file_in_the_place_of_a_table_is_named_and_left_out(tmp_path: Path, run_dir: Path) -> None:
    store = open_store(str(tmp_path / "shared"))
    manifest = push_run(run_dir, store, Push(more={"series": write_series})).manifest
    placed = {f"{BAD}-{name.replace(' ', '-')}": place for name, place in PLACED.items() if name != "nobody's"}
    for run, place in placed.items():
        bad = forged(store, manifest, run)
        for name in ("measure.throughput", "series"):
            path = tmp_path / "shared" / table_key(run, name, bad.tables[name].sha256)
            path.unlink()
            place(path)
    said = good_is_shown(store)
    for run in placed:
        assert len([text for text in said if run in text]) >= 3, (run, said)


def test_a_garbled_table_with_its_right_digest_is_named_and_left_out(store: SharedStore, pushed: RunManifest) -> None:
    file = pushed.tables["measure.throughput"]
    whole = store.objects.read(table_key(pushed.id, "measure.throughput", file.sha256))
    end = 8 + int.from_bytes(whole[-8:-4], "little")  # the footer, which stays right
    torn = whole[:4] + bytes(byte ^ 0x55 for byte in whole[4:-end]) + whole[-end:]
    forged(store, pushed, measure__throughput=torn, series=b"PAR1 and nothing more", cells=b"")
    said = good_is_shown(store)
    for table in ("measure.throughput", "cells"):
        assert any(f"run {BAD} is left out of {table}" in text for text in said), said
    assert sum(f"{BAD}: its series file can't be read" in text for text in said) == 2


def test_columns_of_other_types_don_t_decide_what_the_table_is(store: SharedStore, pushed: RunManifest) -> None:
    forged(
        store,
        pushed,
        measure__throughput=parquet(pa.table({"value": ["much"], "operation": ["all"]})),
        cells=parquet(pa.table({"run": ["x"], "DROP": [1]})),
    )
    said = good_is_shown(store)
    assert any("its column 'value' is string, and not double" in text for text in said), said


def test_what_one_stranger_calls_the_columns_of_a_series_changes_nothing_for_the_others(
    tmp_path: Path, run_dir: Path
) -> None:
    store = open_store(str(tmp_path / "shared"))
    manifest = push_run(run_dir, store, Push(more={"series": write_series})).manifest
    push_run(a_run(tmp_path / "bench-out", "20260302-101500-brief"), store, Push(more={"series": write_series}))
    forged(store, manifest, series=parquet(pa.table({"label": [1], "more": [2]})))
    with open_results(open_store(store.url)) as results:
        runs = results.sql("SELECT DISTINCT run, quantity FROM series WHERE quantity = 'throughput' ORDER BY ALL").rows
        assert [run for run, _ in runs] == [GOOD, "20260302-101500-brief"]
        assert "its column 'label' is int64" in results.cautions[0]


WRONG_VALUES = (
    ("value", [float("nan")], "has values that nothing measures"),
    ("value", [1e308], "has values that nothing measures"),
    ("value", [float("inf")], "has values that nothing measures"),
    ("point", ["[" * 30_000], "has texts that can't be read"),
    ("point", ['{"threads": [1]}'], "has point of another form"),
    ("point", ['{"threads": 1e400}'], "has point of another form"),
    ("facts", ["{"], "has texts that can't be read"),
    ("facts", ['{"cpu": 3}'], "has facts of another form"),
    ("message", ['{"code": 1}'], "has texts that can't be read"),
    ("message", ["[" * 30_000], "has texts that can't be read"),
    ("quantity", [None], "lacks values of quantity"),
    ("label", ["n" * 10_000_000], "has a text of label that is too long"),
    ("better", ["faster"], "has another better than there is"),
    ("run_id", ["another"], "is of another run"),
    ("measured_at", [1 << 62], "has times that no clock shows"),
)


def test_a_series_with_values_that_no_run_has_is_named_and_left_out(tmp_path: Path, run_dir: Path) -> None:
    store = open_store(str(tmp_path / "shared"))
    manifest = push_run(run_dir, store, Push(more={"series": write_series})).manifest
    key = table_key(manifest.id, "series", manifest.tables["series"].sha256)
    whole = pq.read_table(io.BytesIO(store.objects.read(key)))
    ids = whole.schema.field("run_id")
    for number, (column, values, _) in enumerate(WRONG_VALUES):
        kind, run = whole.schema.field(column).type, f"{BAD}-{number}"
        table = whole.set_column(0, ids, pa.array([run] * whole.num_rows, ids.type))
        array = pa.array(values * table.num_rows, pa.int64() if column == "measured_at" else kind).cast(kind)
        table = table.set_column(table.schema.get_field_index(column), table.schema.field(column), array)
        forged(store, manifest, run, series=parquet(table))
    found = good_is_shown(store)
    for number, (*_, said) in enumerate(WRONG_VALUES):
        assert sum(f"{BAD}-{number}: its series file {said}" in text for text in found) == 2, (said, found)


WRONG_PATHS = (
    ("../outside", "outside its folder"),
    ("/etc/cron.d/x", "outside its folder"),
    ("a/../../b", "outside its folder"),
    ("a\0b", "outside its folder"),
    ("n" * 10_000, "name that is too long"),
    ("pushed/queue.json", "no push sends"),
    ("live.json", "no push sends"),
    ("plan.json/below", "a file in the place of a folder"),
)


def test_a_list_of_files_that_no_push_makes_is_refused_before_anything_is_written(
    store: SharedStore, pushed: RunManifest, tmp_path: Path
) -> None:
    files = {each: asdict(file) for each, file in store.files(pushed).items()}
    size = pushed.size + files["plan.json"]["size"]
    for path, said in WRONG_PATHS:
        content = json.dumps({**files, path: files["plan.json"]}).encode()
        digest = sha256(content).hexdigest()
        put(store, object_key(digest), content)
        bad = replace(pushed, id=BAD, list_sha256=digest, file_count=pushed.file_count + 1, size=size)
        with pytest.raises(StoreDamaged, match=said):
            pull_run(store, bad, tmp_path / "out")
        assert not (tmp_path / "out").exists(), path


def test_sizes_that_lie_are_found_before_they_fill_the_disk(
    store: SharedStore, pushed: RunManifest, tmp_path: Path
) -> None:
    with pytest.raises(StoreDamaged, match="of other sizes"):
        pull_run(store, replace(pushed, id=BAD, size=1), tmp_path / "out")
    files = store.files(pushed)
    plan = files["plan.json"]
    content = json.dumps({path: {**asdict(file), "size": 1} for path, file in files.items()}).encode()
    put(store, object_key(sha256(content).hexdigest()), content)
    lying = replace(pushed, id=BAD, list_sha256=sha256(content).hexdigest(), size=len(files))
    with pytest.raises(StoreDamaged, match="more than the 1 bytes"):
        pull_run(store, lying, tmp_path / "out")
    assert not list((tmp_path / "out").iterdir())
    assert plan.size > 1


def test_nothing_behind_a_link_in_a_store_is_read_written_or_removed(tmp_path: Path, run_dir: Path) -> None:
    away, shared = tmp_path / "away", tmp_path / "shared"
    store = open_store(str(shared))
    push_run(run_dir, store, Push())
    for folder in ("runs", "objects", "tables"):
        away.mkdir(exist_ok=True)
        (shared / folder).rename(away / folder)
        (shared / folder).symlink_to(away / folder)
        before = sorted(path for path in away.rglob("*") if path.is_file())
        with pytest.raises(SharedStoreError, match="behind a link"):
            push_run(a_run(tmp_path / "other", f"another-{folder}"), open_store(str(shared)), Push())
        with suppress(SharedStoreError):
            collect_garbage(open_store(str(shared)), Retention(), remove=True)
        assert sorted(path for path in away.rglob("*") if path.is_file()) == before
        (shared / folder).unlink()
        (away / folder).rename(shared / folder)
    assert isinstance(store.objects, FileObjects)
