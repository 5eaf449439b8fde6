"""What every test of a probe may use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbrief.runners.hosts.host_connections import open_transport
from benchbrief.runners.seams import Transport
from tests.support import bmc, cells


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Transport]:
    """This machine. Its jobs lie in a folder of this test: ending what is left there ends no other test's."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    transport = open_transport(cells.LOCAL)
    yield transport
    transport.end_leftovers()
    transport.close()


@pytest.fixture
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    """The secret of the user of `tests/support/bmc.py`."""
    monkeypatch.setenv("BMC_PASSWORD", bmc.PASSWORD)
