"""Provides one server for many tests, because starting it takes longer than answering. Each test begins without
documents and files."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.lsp import Client, session

SNIPPETS = {"textDocument": {"completion": {"completionItem": {"snippetSupport": True}}}}


@pytest.fixture(scope="session")
def _server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with session(tmp_path_factory.mktemp("specs"), SNIPPETS) as client:
        yield client


@pytest.fixture
def client(_server: Client) -> Iterator[Client]:
    yield _server
    _server.close_all()
    for path in _server.folder.glob("*.bench"):
        path.unlink()
