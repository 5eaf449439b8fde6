"""YCSB's settings, from its command line, which its script and its client both print."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

from benchbrief.results.imports.importer_seams import Setting

_FLAGS = {"-threads": "threadcount", "-target": "target"}


def of_command_line(text: Iterable[str]) -> Mapping[str, Setting]:
    """Return the properties and flags of the first command line in an output, by the properties' names."""
    for number, line in enumerate(text, start=1):
        words = line.split()
        if not (line.startswith("Command line:") or any(word.endswith("ycsb.Client") for word in words)):
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
