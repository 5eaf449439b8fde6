"""YCSB's settings, read from the command line that its script and its client print. go-ycsb has the same properties."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from benchbrief.extend.importers import Setting
from benchbrief.extend.invariants import parse_printed

_STOCK = re.compile(r"(?:.*/)?workload([a-f])")
"""Matches a properties file that comes with YCSB. None of these files sets `measurement.interval`."""
_PHASES = {"-load": "load", "-t": "run", "dotransactions=false": "load", "dotransactions=true": "run"}
_FLAGS = {"-threads": "threadcount", "-target": "target"}


def of_command_line(text: Iterable[str]) -> Mapping[str, Setting]:
    """Return the properties and flags of the first command line in an output, under the properties' names.

    If a property is set twice, the later value wins (`Client.parseArguments`).
    """
    command = command_line(text)
    found: dict[str, Setting] = {}
    for word, after in pairwise(command.words):
        if word == "-p":
            key, _, value = after.partition("=")
            found[key] = Setting(command.line, value, f"{key} = {value}")
        elif word in _FLAGS:
            found[_FLAGS[word]] = Setting(command.line, after, f"{word} {after}")
    return found


@dataclass(frozen=True)
class CommandLine:
    """The first command line of an output. `words` is empty if the output has no command line."""

    line: int
    words: tuple[str, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """The properties files in order. A later file overrides an earlier one."""
        return tuple(after for word, after in pairwise(self.words) if word == "-P")

    @property
    def phase(self) -> str:
        """The phase, `load` or `run`, or "" if the command line does not set it."""
        return _PHASES.get(self.phase_word, "")

    @property
    def phase_word(self) -> str:
        """The word that sets the phase. Both flags set `dotransactions`, and the last flag wins
        (`Client.parseArguments`)."""
        return next((word for word in reversed(self.words) if word in _PHASES), "")

    @property
    def stock(self) -> str:
        """The letter of the stock YCSB workload whose file comes last, or "" if the last file is not a stock file.

        A user's own file, which the output does not show, overrides the files before it but not those after it.
        """
        last = _STOCK.fullmatch(self.files[-1]) if self.files else None
        return last[1] if last else ""


def command_line(text: Iterable[str]) -> CommandLine:
    for number, line in enumerate(text, start=1):
        if _is_command_line(line):
            return CommandLine(number, tuple(line.split()))
    return CommandLine(0, ())


def has_interval(text: Iterable[str]) -> bool:
    """Return whether the first command line in an output sets `measurement.interval`, whose default is `op`.

    The user's own properties file, which the output does not show, may also set this property.
    """
    found = command_line(text)
    said = any(word.startswith("measurement.interval=") for word in found.words)
    return said or (bool(found.words) and all(map(_STOCK.fullmatch, found.files)))


def _is_command_line(line: str) -> bool:
    return line.startswith("Command line:") or any(word.endswith("ycsb.Client") for word in line.split())


HEAD = 200
"""How many lines at the beginning of an output are searched for the tool's settings."""
_DISCLOSED = frozenset(
    [
        *("threadcount", "target", "recordcount", "operationcount", "maxexecutiontime", "insertstart", "insertcount"),
        *("fieldcount", "fieldlength", "fieldlengthdistribution", "maxscanlength", "scanlengthdistribution"),
        *("readproportion", "updateproportion", "insertproportion", "scanproportion", "readmodifywriteproportion"),
        *("requestdistribution", "insertorder", "readallfields", "writeallfields", "command", "workload", "warmuptime"),
        *("measurementtype", "measurement.interval", "hdrhistogram.percentiles", "batchsize"),
    ]
)
"""The properties of YCSB and go-ycsb that a brief may show. Others, such as a server's address, may contain a password.
"""
_NUMBERS = {
    "threadcount": "threads",
    "target": "target",
    "recordcount": "records",
    "fieldcount": "fields",
    "fieldlength": "field_length",
    "maxscanlength": "scan_length",
}
_SHARES = {
    f"{name.replace('_', '')}proportion": name for name in ("read", "update", "insert", "scan", "read_modify_write")
}
_WORDS = {"requestdistribution": "distribution"}


def disclosed(properties: Mapping[str, Setting]) -> tuple[tuple[str, str], ...]:
    """Return the properties that a brief may show."""
    return tuple((name, str(each.value)) for name, each in properties.items() if name in _DISCLOSED and each.value)


def planned(properties: Mapping[str, Setting]) -> Mapping[str, Setting]:
    """Return the settings under the plan's names.

    Skips invalid numbers, since the tool would not have run with them. Also skips a target of 0, since it means no
    target.
    """
    return dict(_planned(properties))


def _planned(properties: Mapping[str, Setting]) -> Iterator[tuple[str, Setting]]:
    for key, setting in properties.items():
        text = str(setting.value)
        if key in _WORDS:
            yield _WORDS[key], setting
        elif key in _SHARES and (share := parse_printed(text)) is not None:
            yield _SHARES[key], Setting(setting.line, share.value, setting.text)
        elif (key, text) != ("target", "0") and key in _NUMBERS and text.isdecimal() and len(text) < 16:
            yield _NUMBERS[key], Setting(setting.line, float(text), setting.text)
