"""Provides a cache for each test, and installs the plain tools of `tests/results/plugin` like a third party's."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbrief.history.site import trend_page
from tests.support.drawn_once import CONVERTER
from tests.support.nights import plain_tools


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(autouse=True)
def _plain_tools() -> Iterator[None]:
    with plain_tools():
        yield


@pytest.fixture(scope="package", autouse=True)
def _each_chart_is_drawn_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trend_page, "Converter", lambda: CONVERTER)
        yield
