"""Provides a small run, and a store of each kind: a folder, and a bucket on two independently developed servers."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from benchbrief.history.shared_store.shared_store import SharedStore, open_store
from benchbrief.results.runs.kept_files import ReportFiles, note_reports
from tests.results.making import READ, UPDATE, RunMaker, a_cell, a_plan, measurement
from tests.support.longer import longer
from tests.support.s3_servers import BUCKET, gofakes3, make_bucket, moto, settings


@pytest.fixture(scope="session")
def servers() -> Iterator[dict[str, str]]:
    """Yield the addresses of the two S3 servers. Each is started when it is first needed."""
    with ExitStack() as stack:
        yield _Started(stack)


class _Started(dict[str, str]):
    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def __missing__(self, kind: str) -> str:
        self[kind] = self._stack.enter_context({"moto": moto, "gofakes3": gofakes3}[kind]())
        make_bucket(self[kind])
        return self[kind]


ON_A_SERVER_TOO = pytest.mark.parametrize("store", ["file", *longer("gofakes3", "moto")], indirect=True)
"""Marks tests of everything that a store offers. All other tests run on servers only in `make long`."""


@pytest.fixture(params=["file", *(pytest.param(kind, marks=pytest.mark.long) for kind in ("gofakes3", "moto"))])
def store(
    request: pytest.FixtureRequest, servers: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> SharedStore:
    """Return an empty store. A test that uses it runs with each kind of store in turn."""
    return open_store(store_url(request.param, servers, tmp_path, monkeypatch))


def store_url(kind: str, servers: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    if kind == "file":
        return f"file://{tmp_path}/shared"
    for name, value in settings(servers[kind]).items():
        monkeypatch.setenv(name, value)
    return f"s3://{BUCKET}/{tmp_path.name}"


@pytest.fixture
def make_run(tmp_path: Path) -> partial[Path]:
    return partial(a_run, tmp_path / "bench-out")


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    return a_run(tmp_path / "bench-out")


def a_run(
    out: Path, name: str = "20260301-101500-brief", operations: int = 100, owner: str = "0123456789abcdef"
) -> Path:
    """Return a run with one good cell and one that failed."""
    cells = [a_cell(), a_cell(workload="b")]
    run = RunMaker(out / name, a_plan(cells))
    (run.run_dir / "identity.json").write_text(f'{{"owner": "{owner}", "folder": "", "copied_from": ""}}')
    run.ok(cells[0], {"load-1": measurement([READ, UPDATE], count=operations)})
    run.failed(cells[1], "the server went away")
    run.end("failed", "1 cell failed")
    return run.run_dir


def a_page(page: Path, text: str) -> None:
    """Return a page of a report. The page is in a run's folder, and the run's journal names it."""
    page.parent.mkdir(exist_ok=True)
    page.write_text(text)
    assert not note_reports(page.parent.parent, {"brief": ReportFiles(page.parent, [page])})
