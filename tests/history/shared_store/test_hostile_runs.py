"""Tests runs that were tampered with: how they are pushed, shown on a site, and pulled."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import duckdb
import pytest

from benchbrief.history.many_runs import StoreOfRuns
from benchbrief.history.object_stores.object_store import SharedStoreError
from benchbrief.history.series_rows import write_series
from benchbrief.history.shared_store.listed_runs import ListedRun, runs_in_folder
from benchbrief.history.shared_store.push_and_pull import Push, pull_run, push_run
from benchbrief.history.shared_store.run_manifest import (
    QueuedPush,
    StoredFile,
    enqueue,
    manifest_key,
    manifest_text,
    object_key,
)
from benchbrief.history.shared_store.shared_store import SharedStore, open_store
from benchbrief.model.plan import Metric, Query
from benchbrief.results.build_store import rebuild
from benchbrief.results.open_store import open_store as open_run_store
from benchbrief.results.runs.find_runs import list_runs
from benchbrief.results.store_errors import ResultsError
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.journal.journal_file import read_run
from benchbrief.runners.journal.run_folder import keep_spec, load_plan
from benchbrief.runners.plain_files import own_folder
from tests.history.shared_store.conftest import a_page, a_run
from tests.results.making import HERE, RunMaker, a_cell, a_plan


def test_an_edited_brief_is_not_pushed_and_what_was_not_made_stays_here(run_dir: Path, tmp_path: Path) -> None:
    page, notes = run_dir / "reports" / "brief.html", run_dir / "reports" / "notes.txt"
    a_page(page, "<p>100 ops/s")
    notes.write_text("mine")
    store = open_store(str(tmp_path / "shared"))
    push = Push()
    manifest = push_run(run_dir, store, push).manifest
    assert list(manifest.briefs) == ["reports/brief.html"]
    assert any("reports/notes.txt" in caution and "no record" in caution for caution in push.cautions)
    page.write_text("<p>100 ops/s<script>alert(1)</script>")
    with pytest.raises(SharedStoreError, match=r"reports/brief\.html was changed after it was made"):
        push_run(run_dir, store, Push())
    assert store.revisions()[run_dir.name] == [1]


@pytest.mark.long
def test_a_site_shows_no_brief_of_a_store_that_the_run_s_journal_does_not_name(run_dir: Path, tmp_path: Path) -> None:
    a_page(run_dir / "reports" / "brief.html", "<p>100 ops/s")
    store = open_store(str(tmp_path / "shared"))
    manifest = push_run(run_dir, store, Push(more={"series": write_series})).manifest
    (run,) = StoreOfRuns(store).read([run_dir.name])
    assert [(brief.path, brief.problem) for brief in run.briefs] == [("reports/brief.html", "")]
    edited = b"<p>100 ops/s<script>alert(1)</script>"
    stored = StoredFile(sha256(edited).hexdigest(), len(edited))
    assert store.objects.create(object_key(stored.sha256), edited)
    forged = replace(manifest, revision=2, briefs={"reports/brief.html": stored, "reports/more.html": stored})
    assert store.objects.create(manifest_key(run_dir.name, 2), manifest_text(forged))
    (run,) = StoreOfRuns(open_store(store.url)).read([run_dir.name])
    assert [brief.problem for brief in run.briefs] == ["it is not the file that the run's journal names"] * 2


@pytest.mark.parametrize("kind", ["file", "folder", "loop", "fifo"])
@pytest.mark.timeout(60)
def test_what_leads_out_of_a_run_is_refused_by_name(run_dir: Path, tmp_path: Path, kind: str) -> None:
    bad = run_dir / "raw" / "pw"
    {
        "file": lambda: bad.symlink_to("/etc/passwd"),
        "folder": lambda: bad.symlink_to("/etc"),
        "loop": lambda: bad.symlink_to("pw"),
        "fifo": lambda: os.mkfifo(bad),
    }[kind]()
    store = open_store(str(tmp_path / "shared"))
    with pytest.raises(SharedStoreError, match=r"raw/pw: it is a (link|FIFO)"):
        push_run(run_dir, store, Push())
    assert not list(store.manifests())


def test_a_killed_pull_leaves_nothing_that_the_next_does_not_clear_away(
    run_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, out = open_store(str(tmp_path / "shared")), tmp_path / "out"
    manifest = push_run(run_dir, store, Push()).manifest

    def killed() -> None:
        monkeypatch.setattr(SharedStore, "fetch_object", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        pull_run(store, manifest, out)

    process = multiprocessing.get_context("fork").Process(target=killed)
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert [path.name[:9] for path in out.iterdir()] == [".pulling-"]
    pull_run(store, manifest, out)
    assert [path.name for path in out.iterdir()] == [run_dir.name]


@pytest.mark.parametrize("name", ["store", "reports", "pushed", "spec"])
def test_nothing_is_written_behind_a_link_in_a_run(run_dir: Path, tmp_path: Path, name: str) -> None:
    away = tmp_path / "away"
    away.mkdir()
    shutil.rmtree(run_dir / name, ignore_errors=True)
    (run_dir / name).symlink_to(away)
    store = open_store(str(tmp_path / "shared"))
    if name != "pushed":
        with pytest.raises(ResultsError, match="it is a link"):
            push_run(run_dir, store, Push())
    writing: dict[str, Callable[[Path], object]] = {
        "store": rebuild,
        "reports": lambda run: own_folder(run, "reports"),
        "pushed": lambda run: enqueue(run, QueuedPush(store.url)),
        "spec": lambda run: keep_spec(run, {}),
    }
    with pytest.raises((OSError, ResultsError), match=r"it is (a|behind a) link"):
        writing[name](run_dir)
    assert not list(away.iterdir())


def _read(run_dir: Path) -> None:
    load_plan(run_dir)
    read_run(run_dir)


@pytest.mark.parametrize("name", ["plan.json", "journal.jsonl", "identity.json"])
@pytest.mark.timeout(60)
def test_a_run_whose_files_are_none_is_neither_waited_for_nor_hides_the_others(
    run_dir: Path, tmp_path: Path, name: str
) -> None:
    bad = a_run(tmp_path / "bench-out", "20990101-000000-bad")
    (bad / name).unlink()
    os.mkfifo(bad / name)
    listed = list(runs_in_folder(run_dir.parent))
    assert run_dir.name in [run.run for run in listed if isinstance(run, ListedRun)]
    assert run_dir in list_runs(run_dir.parent)
    if name != "identity.json":
        with pytest.raises(RunnerError, match="it is a FIFO"):
            _read(bad)


@pytest.mark.parametrize("more", ["; COPY (SELECT 'x') TO '{out}'", " FROM read_text('/etc/hostname')"])
def test_a_plan_s_sql_is_one_statement_that_reaches_no_file(tmp_path: Path, more: str) -> None:
    out = tmp_path / "out.csv"
    run = a_plan([a_cell()])
    sql = f"SELECT 1 AS value{more.format(out=out)}"
    metric = Metric(
        name="best",
        label="Best",
        better=None,
        query=Query(sql=sql, dims=(), unit="", text="best"),
        origin=HERE,
    )
    made = RunMaker(tmp_path / "run", run.model_copy(update={"metrics": (metric,)}))
    made.failed(run.cells[0], "the server went away")
    made.end("failed", "1 cell failed")
    assert rebuild(made.run_dir)
    assert not out.exists()
    with open_run_store(made.run_dir) as store, pytest.raises(ResultsError):
        store.sql("FROM metric.best")
    with duckdb.connect(str(made.run_dir / "store" / "results.duckdb"), read_only=True) as connection:
        views = connection.execute("SELECT count(*) FROM duckdb_views() WHERE schema_name = 'metric'").fetchall()
    assert views == [(0,)]
    assert not out.exists()
