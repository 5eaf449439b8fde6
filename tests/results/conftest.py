"""Installs the plain tools of `plugin/` for these tests, like a third party's, and spares them the DuckDB file."""

from collections.abc import Iterator

import pytest

from benchbrief.results import build_store
from tests.support.nights import plain_tools


@pytest.fixture(autouse=True)
def _plain_tools() -> Iterator[None]:
    with plain_tools():
        yield


@pytest.fixture
def duckdb_file() -> None:
    """Let stores have the DuckDB file that other programs read. It takes most of a build, and few tests look at it."""


@pytest.fixture(autouse=True)
def _empty_duckdb_file(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the file empty in the gate. The nightly tests build all of it."""
    if "duckdb_file" not in request.fixturenames and not request.config.getoption("--long"):
        monkeypatch.setattr(build_store, "_write_database", lambda folder: (folder / build_store.DATABASE).touch())
