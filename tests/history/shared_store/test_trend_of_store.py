"""Tests trends of a shared store (a folder and two S3 servers), with runs that are added later, and with a store that
can't be reached."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbrief.history.object_stores.object_store import SharedStoreError
from benchbrief.history.read_series import FoundSeries, SeriesChoice, read_series
from benchbrief.history.series_cache import RunStore, open_series, run_source
from benchbrief.history.series_changes import trend_of
from benchbrief.history.series_rows import SERIES, write_series
from benchbrief.history.shared_store.push_and_pull import Push, push_run
from benchbrief.history.shared_store.run_manifest import RunManifest, table_key
from benchbrief.history.shared_store.shared_store import SharedStore, open_store
from tests.history.shared_store.conftest import store_url
from tests.support.nights import nights, plain_tools
from tests.support.ports import free_port

NIGHTS = 8
THROUGHPUT = SeriesChoice(("throughput",))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Make nightly runs. From the fifth run on, flash is slower."""
    folder = tmp_path_factory.mktemp("runs")
    with plain_tools():
        nights(folder, NIGHTS, step_at=4)
        yield folder


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def read_history(place: str, choice: SeriesChoice) -> FoundSeries:
    with open_series(run_source(place), lambda _done, _all: None) as table:
        return read_series(table, choice)


def push(runs: Path, store: SharedStore, begin: int, end: int) -> None:
    for number in range(begin, end):
        push_run(runs / f"night-{number:04}", store, Push(tags=("nightly",), more={"series": write_series}))


def a_store(kind: str, servers: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SharedStore:
    return open_store(store_url(kind, servers, tmp_path, monkeypatch))


def values(found: FoundSeries) -> list[tuple[str, list[tuple[str, float | None]]]]:
    return [(each.at, [(one.run_id, one.value) for part in each.parts for one in part.values]) for each in found.series]


def test_the_trend_of_a_store_is_that_of_the_folder_and_only_new_runs_are_fetched(
    runs: Path, store: SharedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[str] = []
    fetch = SharedStore.fetch

    def counted(self: SharedStore, manifest: RunManifest, path: str, into: Path, most: int) -> Path:
        fetched.append(f"{manifest.id} {path}")
        return fetch(self, manifest, path, into, most)

    monkeypatch.setattr(SharedStore, "fetch", counted)
    push(runs, store, 0, NIGHTS - 1)
    assert len(read_history(store.url, THROUGHPUT).series) == 2
    push(runs, store, NIGHTS - 1, NIGHTS)
    fetched.clear()
    found = read_history(store.url, THROUGHPUT)
    assert fetched == [f"night-{NIGHTS - 1:04} {SERIES}"]
    assert values(found) == values(read_history(str(runs), THROUGHPUT))
    assert values(read_history(store.url, SeriesChoice(("throughput",), tag="nightly"))) == values(found)
    changes = [change.first.run_id for each in found.series for change in trend_of(each).changes]
    assert changes == ["night-0004"]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["moto", "gofakes3"])
def test_a_store_that_is_away_is_an_error_and_what_was_read_stays(
    kind: str, runs: Path, servers: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = a_store(kind, servers, tmp_path, monkeypatch)
    push(runs, store, 0, 2)
    before = values(read_history(store.url, THROUGHPUT))
    with monkeypatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_port()}")
        with pytest.raises(SharedStoreError) as raised:
            read_history(store.url, THROUGHPUT)
        assert raised.value.code == "store_away"
    assert values(read_history(store.url, THROUGHPUT)) == before


def test_a_run_whose_series_is_damaged_in_the_store_is_left_out_and_said(
    runs: Path, servers: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = a_store("file", servers, tmp_path, monkeypatch)
    push(runs, store, 0, 3)
    (manifest,) = store.manifests(["night-0001"])
    key = table_key(manifest.id, "series", manifest.tables["series"].sha256)
    store.objects.delete([key])
    store.objects.create(key, b"PAR1 of another")
    with open_series(RunStore(store)) as table:
        assert list(table.problems) == ["night-0001"]
        assert sorted(table.tags) == ["night-0000", "night-0002"]
