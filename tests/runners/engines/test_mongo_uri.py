"""MongoDB connection strings, taken apart and put together without losing anything."""

from __future__ import annotations

import pytest

from benchbrief.runners.engines.mongo_uri import parse


@pytest.mark.parametrize(
    ("uri", "whole"),
    [
        ("mongodb://h", "mongodb://h:27017/ycsb"),
        ("mongodb://h/", "mongodb://h:27017/ycsb"),
        ("mongodb://h?w=1", "mongodb://h:27017/ycsb?w=1"),
        ("mongodb://h/?w=1", "mongodb://h:27017/ycsb?w=1"),
        ("mongodb://u:p%40ss@a:1,b:2/shop?replicaSet=rs0&w=majority", None),
        ("mongodb://[::1]:27018/shop", None),
        ("mongodb://[fe80::1]/shop", "mongodb://[fe80::1]:27017/shop"),
        ("mongodb+srv://u:p@cluster.example/shop", None),
    ],
)
def test_a_uri_is_completed_and_otherwise_kept(uri: str, whole: str | None) -> None:
    assert parse(uri).text == (whole or uri)


def test_a_direct_uri_keeps_credentials_and_drops_the_replica_set() -> None:
    uri = parse("mongodb://u:p@a:1,b:2/shop?replicaSet=rs0&w=majority&tls=true")
    assert uri.direct("127.0.0.1", 40000).text == (
        "mongodb://u:p@127.0.0.1:40000/shop?w=majority&tls=true&directConnection=true"
    )
