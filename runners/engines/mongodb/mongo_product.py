"""Which product answers on MongoDB's protocol: MongoDB, or another server that says so in `buildInfo` or `hello`.

Other servers give MongoDB's version in `version`, so that drivers accept them. They name themselves in fields of their
own, or by the addresses of their service. What has neither those nor what MongoDB's own build writes has no name here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MONGODB = "MongoDB"
_LONGEST = 60
_SERVICES = {
    ".docdb.amazonaws.com": "Amazon DocumentDB",
    ".docdb-elastic.amazonaws.com": "Amazon DocumentDB",
    ".cosmos.azure.com": "Azure Cosmos DB",
    ".documents.azure.com": "Azure Cosmos DB",
    ".firestore.goog": "Google Firestore",
    ".oraclecloudapps.com": "Oracle Database",
}
"""Services by the end of the addresses that their `hello` gives for themselves."""
_OWN_BUILD = ("gitVersion", "allocator")
"""What each build of mongod and mongos has said of itself since version 2.4, and copies of its interface leave out."""


@dataclass(frozen=True)
class Product:
    """A server's name; "" for an unknown one. `version` is its own, "" where it tells none. `speaks` is the version of
    MongoDB that it gives itself, which is its own for MongoDB."""

    name: str
    version: str
    speaks: str

    @property
    def is_mongodb(self) -> bool:
        return self.name == MONGODB

    @property
    def text(self) -> str:
        return f"{self.name} {self.version}".rstrip()


def product_of(build: Mapping[str, Any], hello: Mapping[str, Any]) -> Product:
    """Return the product that gave these answers to `buildInfo` and `hello`."""
    speaks = _told(build.get("version")) or "unknown"
    name, version = _named(build, hello)
    if not name and all(key in build for key in _OWN_BUILD):
        name, version = MONGODB, speaks
    return Product(name, version, speaks)


def _named(build: Mapping[str, Any], hello: Mapping[str, Any]) -> tuple[str, str]:
    """Return the name and version that a server of another product gives; "" where it gives none."""
    ferret = build.get("ferretdb")
    if "ferretdbVersion" in build or isinstance(ferret, Mapping):
        told = build.get("ferretdbVersion") or (ferret.get("version") if isinstance(ferret, Mapping) else "")
        return "FerretDB", _told(told).removeprefix("v")
    if "psmdbVersion" in build:
        return "Percona Server for MongoDB", _told(build["psmdbVersion"])
    if "maxscale" in build:
        return "MariaDB MaxScale", _told(build["maxscale"])
    addresses = tuple(_addresses(hello))
    service = next((name for end, name in _SERVICES.items() if any(each.endswith(end) for each in addresses)), "")
    internal = hello.get("internal")
    if isinstance(internal, Mapping) and "documentdb_versions" in internal:
        own = "Azure DocumentDB" if internal.get("kind") == "azuredocumentdb" else "DocumentDB"
        return service or own, _first(internal["documentdb_versions"])
    if isinstance(internal, Mapping) and "cosmos_versions" in internal:
        return "Azure Cosmos DB", _first(internal["cosmos_versions"])
    return service or ("Azure Cosmos DB" if "_t" in build else ""), ""


def _addresses(hello: Mapping[str, Any]) -> list[str]:
    told = [hello.get("me"), hello.get("primary")]
    for key in ("hosts", "passives"):
        told += each if isinstance(each := hello.get(key), list) else []
    return [each.rpartition(":")[0].casefold() for each in told if isinstance(each, str)]


def _first(versions: object) -> str:
    return _told(versions[0] if isinstance(versions, list) and versions else versions)


def _told(value: object) -> str:
    """Return a server's word on one line and not longer than a version is; "" for none, as in builds without one."""
    said = " ".join(value.split())[:_LONGEST] if isinstance(value, str) else ""
    return "" if said == "unknown" else said
