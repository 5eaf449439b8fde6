"""Each test has a cache of its own, and the plain tools of `tests/results/plugin` are installed as a third party's."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.nights import plain_tools


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(autouse=True)
def _plain_tools() -> Iterator[None]:
    with plain_tools():
        yield
