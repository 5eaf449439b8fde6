"""Merging the facts of one host that were observed at several times."""

from __future__ import annotations

import re
from collections.abc import Mapping

_OF_PLACE = re.compile(r"(?:filesystem|device|disks|mount|free space) of (.+)")


def merge_facts(earlier: Mapping[str, str], later: Mapping[str, str]) -> dict[str, str]:
    """Return the later facts, and the earlier ones of places that were not checked again, named as in
    `host_facts.py`.

    A run checks only the places of the cells that it has yet to measure. A resumed run, or one with reused results,
    has measured at other places, too.
    """
    again = {found[1] for name in later if (found := _OF_PLACE.fullmatch(name))}
    kept = {
        name: value for name, value in earlier.items() if (found := _OF_PLACE.fullmatch(name)) and found[1] not in again
    }
    if not kept:
        return dict(later)
    disks = {f"disk {disk}" for name, value in kept.items() if name.startswith("disks of ") for disk in value.split()}
    kept = {name: value for name, value in earlier.items() if name in disks} | kept
    facts = {name: value for name, value in (kept | dict(later)).items() if name != "filesystem"}
    types = {value for name, value in facts.items() if name.startswith("filesystem of ")}
    return facts | ({"filesystem": types.pop()} if len(types) == 1 else {})
