"""Provides one stand-in server for all tests of a process that attach to a server. It is emptied before each test."""

from __future__ import annotations

from collections.abc import Iterator

import pymongo
import pytest

from benchbrief.extensions.engines.mongodb.mongo_client import Connection
from tests.support import cells
from tests.support.mongo import running_stand_in
from tests.support.tools import built_tool, tools_dir


@pytest.fixture(scope="session")
def _shared_stand_in() -> Iterator[str]:
    built_tool("mongo-stand-in")
    with running_stand_in(tools_dir()) as (host, port):
        yield f"{host}:{port}"


@pytest.fixture
def server(_shared_stand_in: str) -> str:
    """Return the address of an empty server."""
    with pymongo.MongoClient[dict[str, object]](f"mongodb://{_shared_stand_in}/") as client:
        for name in client.list_database_names():
            client.drop_database(name)
    return _shared_stand_in


@pytest.fixture
def connection(server: str) -> Iterator[Connection]:
    opened = Connection(f"mongodb://{server}/", cells.attached(""))
    yield opened
    opened.close()
