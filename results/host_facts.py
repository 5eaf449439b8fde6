"""What was observed of one host at several times, as one."""

from __future__ import annotations

import re
from collections.abc import Mapping

_OF_PLACE = re.compile(r"(?:filesystem|device|disks|mount|free space) of (.+)")


def together(earlier: Mapping[str, str], later: Mapping[str, str]) -> dict[str, str]:
    """The later facts, and the earlier ones of places that were not looked at again, named as in `runners/facts.py`.

    A run looks at the places of the cells that it has yet to measure: what was resumed, or took results from an earlier
    run, has measured at others, too.
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
