"""The plain tools of `plugin/` are installed for these tests as any third party's would be."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbrief.results import measured

PLUGIN = Path(__file__).parent / "plugin"


@pytest.fixture(autouse=True)
def _plain_tools(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(PLUGIN)
    yield
    measured._driver.cache_clear()
    measured._probe_kind.cache_clear()
