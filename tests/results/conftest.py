"""The plain tools of `plugin/` are installed for these tests as any third party's would be."""

from collections.abc import Iterator

import pytest

from tests.support.nights import plain_tools


@pytest.fixture(autouse=True)
def _plain_tools() -> Iterator[None]:
    with plain_tools():
        yield
