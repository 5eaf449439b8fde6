"""Installs the plain tools of `plugin/` for these tests, like a third party's."""

from collections.abc import Iterator

import pytest

from tests.support.nights import plain_tools


@pytest.fixture(autouse=True)
def _plain_tools() -> Iterator[None]:
    with plain_tools():
        yield
