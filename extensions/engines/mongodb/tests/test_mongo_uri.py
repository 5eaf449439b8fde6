"""Tests that MongoDB connection strings are parsed and put together again without loss."""

from __future__ import annotations

import warnings
from pathlib import Path

import pymongo
import pytest

from benchbrief.compiler.registry import ENGINE_SPECS
from benchbrief.extensions.engines.mongodb.mongo_layout import parse
from benchbrief.model.plan import DatabaseKey, Reference, Template
from benchbrief.runners.engines.connection_strings import resolve_uri
from benchbrief.runners.journal.secret_masking import Masking
from tests.support import cells
from tests.support.plans import compile_spec


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


OPTIONS = """
    write_concern = majority  journal = true  write_timeout = 5 s  read_concern = majority
    read_preference = secondary_preferred  max_staleness = 2 min  compressors = zlib  max_pool_size = 200
    min_pool_size = 2  connect_timeout = 2 s  socket_timeout = 1.5 s  retry_writes = false  retry_reads = true
"""


def test_every_option_of_the_language_means_the_same_to_a_driver(tmp_path: Path) -> None:
    spec = tmp_path / "spec.bench"
    spec.write_text(
        'hardware h { hosts = "h" }\nclient c { hosts = local  tool = ycsb }\nworkload w from ycsb.c\n'
        f'database d {{ engine = mongodb  uri = "mongodb://{{hosts}}/shop?appName=x"  options {{ {OPTIONS} }} }}\n'
        "experiment e { hardware = h  workloads = w  threads = 1  measure = 1 s }\n"
    )
    database = compile_spec(spec).databases[DatabaseKey("d@h")]
    assert len(database.options) == len(ENGINE_SPECS.own["mongodb"].options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # pymongo only warns of an option that it does not know
        uri = parse(resolve_uri(database.uri, database).value).having(database.options).text
        options = pymongo.uri_parser.parse_uri(uri)["options"]
    assert dict(options) == {
        "appname": "x",
        "w": "majority",
        "journal": True,
        "wTimeoutMS": 5000,
        "readConcernLevel": "majority",
        "readPreference": "secondaryPreferred",
        "maxStalenessSeconds": 120,
        "compressors": ["zlib"],
        "maxPoolSize": 200,
        "minPoolSize": 2,
        "connectTimeoutMS": 2.0,  # in seconds once it is parsed
        "socketTimeoutMS": 1.5,
        "retryWrites": False,
        "retryReads": True,
    }


PASSWORD = Reference(kind="secret", name="PW")


@pytest.mark.parametrize("password", ["p/ss", "p?ss", "p@ss", "p:ss", "p%ss", "p%40ss", "p#&+= é", "pass"])
def test_a_password_may_hold_any_character_and_is_masked_raw_and_encoded(
    password: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PW", password)
    uri = resolve_uri(("mongodb://u:", PASSWORD, "@h:1/shop"), cells.embedded())
    parsed = pymongo.uri_parser.parse_uri(parse(uri.value).text)
    assert (parsed["username"], parsed["password"]) == ("u", password)
    encoded = uri.value.removeprefix("mongodb://u:").partition("@")[0]
    for form in (password, encoded, uri.value):
        assert Masking([uri]).text(f"<{form}>") == "<***>"


@pytest.mark.parametrize(
    ("template", "whole"),
    [
        (("mongodb://", PASSWORD, "@h/shop"), "mongodb://u:p%40ss%3A@h/shop"),
        (("mongodb://", PASSWORD, ":x", PASSWORD, "@h/shop"), "mongodb://u%3Ap%40ss%3A:xu%3Ap%40ss%3A@h/shop"),
        (("mongodb+srv://a:", PASSWORD, "@h/shop"), "mongodb+srv://a:u%3Ap%40ss%3A@h/shop"),
        (("mongodb://h/shop?appName=", PASSWORD), "mongodb://h/shop?appName=u:p@ss:"),
        (("mongodb://h/?x=a@b&appName=", PASSWORD), "mongodb://h/?x=a@b&appName=u:p@ss:"),
        ((PASSWORD, "@h/shop"), "u:p@ss:@h/shop"),
    ],
)
def test_only_what_stands_before_the_at_sign_is_encoded(
    template: Template, whole: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PW", "u:p@ss:")
    assert resolve_uri(template, cells.embedded()).value == whole


@pytest.mark.parametrize(
    ("option", "encrypted"),
    [("tls=true", True), ("SSL=True", True), ("tlsCAFile=/ca", True), ("tls=false", False), ("w=1", False)],
)
def test_it_is_known_whether_a_certificate_is_to_be_expected(option: str, encrypted: bool) -> None:
    assert parse(f"mongodb://h/?{option}").encrypted is encrypted
