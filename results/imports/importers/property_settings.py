"""Properties that YCSB and go-ycsb share: those that a brief may show, and their names in a plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchbrief.results.imports.importer_seams import Setting
from benchbrief.runners.drivers.output_invariants import parse_printed

HEAD = 200
"""The first lines, in which a tool prints its settings."""
_DISCLOSED = frozenset(
    [
        *("threadcount", "target", "recordcount", "operationcount", "maxexecutiontime", "insertstart", "insertcount"),
        *("fieldcount", "fieldlength", "fieldlengthdistribution", "maxscanlength", "scanlengthdistribution"),
        *("readproportion", "updateproportion", "insertproportion", "scanproportion", "readmodifywriteproportion"),
        *("requestdistribution", "insertorder", "readallfields", "writeallfields", "command", "workload", "warmuptime"),
        *("measurementtype", "measurement.interval", "hdrhistogram.percentiles", "batchsize"),
    ]
)
"""Properties of YCSB and go-ycsb that a brief may show. Others, such as a server's address, may hold a password."""
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
    """Return the settings by a plan's names. Skips bad numbers, with which the tool would not have run,
    and a target of 0, which means none."""
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
