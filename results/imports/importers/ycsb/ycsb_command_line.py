"""YCSB's settings, from its command line, which its script and its client both print."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise

from benchbrief.results.imports.importer_seams import Setting

_STOCK = re.compile(r"(?:.*/)?workload[a-f]")
"""A properties file that YCSB brings. None of them sets `measurement.interval`."""
_FLAGS = {"-threads": "threadcount", "-target": "target"}


def of_command_line(text: Iterable[str]) -> Mapping[str, Setting]:
    """Return the properties and flags of the first command line in an output, by the properties' names."""
    for number, line in enumerate(text, start=1):
        words = line.split()
        if not _is_command_line(line):
            continue
        found: dict[str, Setting] = {}
        for word, after in pairwise(words):
            if word == "-p":
                key, _, value = after.partition("=")
                found[key] = Setting(number, value, f"{key} = {value}")
        for word, after in pairwise(words):
            if word in _FLAGS:
                found[_FLAGS[word]] = Setting(number, after, f"{word} {after}")
        return found
    return {}


def tells_interval(text: Iterable[str]) -> bool:
    """Return whether the first command line in an output tells `measurement.interval`, whose default is `op`.

    A properties file of the user's own may set it, which the output does not show.
    """
    command = next((line for line in text if _is_command_line(line)), "")
    files = [after for word, after in pairwise(command.split()) if word == "-P"]
    return "measurement.interval=" in command or (bool(command) and all(map(_STOCK.fullmatch, files)))


def _is_command_line(line: str) -> bool:
    return line.startswith("Command line:") or any(word.endswith("ycsb.Client") for word in line.split())
