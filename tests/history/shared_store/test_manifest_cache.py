"""Tests the cache of a store's manifests: nothing is fetched twice, and nothing is shown that is no longer in the
store."""

from collections.abc import Callable
from pathlib import Path

import pytest

from benchbrief.history.many_runs import StoreOfRuns
from benchbrief.history.series_cache import RunStore
from benchbrief.history.shared_store.listed_runs import runs_in_store
from benchbrief.history.shared_store.push_and_pull import Push, push_run
from benchbrief.history.shared_store.shared_query import open_results
from benchbrief.history.shared_store.shared_store import SharedStore, open_store
from tests.history.shared_store.conftest import store_url
from tests.support.s3_servers import Between, between

RUNS = ("20260301-101500-brief", "20260302-101500-brief", "20260303-101500-brief")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "benchbrief" / "manifests"


@pytest.fixture
def url(servers: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_run: Callable[..., Path]) -> str:
    """Return the address of a store on S3 with three runs."""
    found = store_url("gofakes3", servers, tmp_path, monkeypatch)
    for number, name in enumerate(RUNS):
        push_run(make_run(name, owner=f"{number}" * 16), open_store(found), Push())
    return found


def fetched(server: Between) -> list[str]:
    """Return the runs whose manifests were fetched since the last call."""
    asked = [each for each in server.asked if each.startswith("GET") and "/runs/" in each]
    server.asked.clear()
    return sorted(name for each in asked for name in RUNS if name in each)


def shown(url: str) -> dict[str, tuple[str, ...]]:
    return {each.run: each.tags for each in runs_in_store(open_store(url))}


@pytest.mark.long
def test_a_manifest_is_fetched_once_and_again_when_it_was_removed_and_pushed_anew(
    url: str, servers: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with between(servers["gofakes3"]) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.address)
        assert shown(url) == dict.fromkeys(RUNS, ())
        assert fetched(server) == list(RUNS)
        assert shown(url) == dict.fromkeys(RUNS, ())
        assert fetched(server) == []
        with open_results(open_store(url)) as results:
            assert len(results.sql("SELECT run FROM manifests").rows) == len(RUNS)
        assert fetched(server) == []

        store = open_store(url)
        store.objects.delete([store.find(RUNS[1]).key])
        push_run(tmp_path / "bench-out" / RUNS[1], store, Push(tags=("anew",)))
        assert store.find(RUNS[1]).revision == 1
        fetched(server)
        assert shown(url) == {RUNS[0]: (), RUNS[1]: ("anew",), RUNS[2]: ()}
        assert fetched(server) == [RUNS[1]]

        store.objects.delete([store.find(RUNS[0]).key])
        assert list(shown(url)) == list(RUNS[1:])


@pytest.mark.long
def test_a_cache_that_is_damaged_or_can_not_be_written_is_done_without(url: str, cache: Path) -> None:
    assert list(shown(url)) == list(RUNS)
    (kept,) = cache.glob("*.sqlite")
    kept.write_bytes(b"something else")
    assert list(shown(url)) == list(RUNS)
    assert list(shown(url)) == list(RUNS)
    assert kept.read_bytes().startswith(b"SQLite format 3")
    kept.unlink()
    cache.rmdir()
    cache.write_text("a file in its place")
    assert list(shown(url)) == list(RUNS)


def test_trends_and_sites_notice_a_revision_that_was_removed_and_pushed_anew(store: SharedStore, run_dir: Path) -> None:
    made = push_run(run_dir, store, Push()).manifest
    before = [place.stamps() for place in (RunStore(store), StoreOfRuns(store))]
    assert [place.stamps() for place in (RunStore(store), StoreOfRuns(store))] == before
    store.objects.delete([made.key])
    assert push_run(run_dir, store, Push(tags=("anew",))).manifest.revision == made.revision
    after = [place.stamps() for place in (RunStore(store), StoreOfRuns(store))]
    assert [list(each) for each in after] == [[run_dir.name]] * 2
    assert all(one[run_dir.name] != other[run_dir.name] for one, other in zip(before, after, strict=True))
