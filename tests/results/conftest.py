"""The plain tools of `plugin/` are installed for these tests as any third party's would be."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbrief.compiler.extensions import registry
from benchbrief.results.ingest import cell_measurement

PLUGIN = Path(__file__).parent / "plugin"


@pytest.fixture(autouse=True)
def _plain_tools(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(PLUGIN)
    _forget()
    yield
    _forget()


def _forget() -> None:
    registry.look_again()
    for cached in (cell_measurement._driver, cell_measurement._probe_kind):
        cached.cache_clear()
