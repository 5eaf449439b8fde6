"""Joins attributes of several engines, tools or probes into one table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from benchbrief.compiler.shapes.value_shapes import Key


def joined_keys(tables: Mapping[str, Mapping[str, Key]], of: str = "") -> dict[str, Key]:
    """Join tables of attributes, each with the names of its owners unless all own it.

    Where several tables have an attribute of one name, the table `of` that name counts, or else the first. The
    attribute is required only where that table, or else every table, requires it.
    """
    names = dict.fromkeys(name for table in tables.values() for name in table)
    return {name: _joined(name, tables, of) for name in names}


def _joined(name: str, tables: Mapping[str, Mapping[str, Key]], of: str) -> Key:
    found = {owner: table[name] for owner, table in tables.items() if name in table}
    only = () if len(found) == len(tables) > 1 else tuple(found)
    if of in found:
        return replace(found[of], only=only)
    default = _default({owner: key.default for owner, key in found.items()})
    doc = _doc({owner: key.doc for owner, key in found.items()})
    required = not of and not only and all(key.required for key in found.values())
    return replace(next(iter(found.values())), only=only, default=default, doc=doc, required=required)


def _doc(docs: Mapping[str, str]) -> str:
    """Join the docs of all owners. Equal docs stand once."""
    by_doc: dict[str, list[str]] = {}
    for owner, doc in docs.items():
        by_doc.setdefault(doc, []).append(owner)
    if len(by_doc) == 1:
        return next(iter(by_doc))
    return " ".join(f"For {owners(of)}: {doc}" for doc, of in by_doc.items())


def _default(defaults: Mapping[str, str]) -> str:
    if len(set(defaults.values())) == 1:
        return next(iter(defaults.values()))
    return ", ".join(f"{default} for {owner}" for owner, default in defaults.items() if default)


def owners(only: Iterable[str]) -> str:
    """Return the owners of an attribute, in words."""
    return " or ".join(only)
