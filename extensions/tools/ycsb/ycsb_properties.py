"""The property file of a YCSB core workload, for YCSB and go-ycsb. It contains the URI, so that no command line shows
it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import Literal

from benchbrief.extend.common import JobFile, PlanRefused, Workload, loading_hosts
from benchbrief.extend.tools import CellContext
from benchbrief.extensions.tools.ycsb.spec import SPEC
from benchbrief.extensions.tools.ycsb.ycsb_output import say

_OFFSET, _PRIME = 0xCBF29CE484222325, 1099511628211
_BITS, _BYTES = 64, 8


def inserted_key(number: int, order: Literal["little", "big"] | None, padding: int = 1) -> str:
    """Return a record's key: an FNV hash of its number, computed with the byte `order` of YCSB ("little") or go-ycsb
    ("big").

    Without an order, the key is the number itself. Either is padded with zeros to `padding` digits.

    Sources: `CoreWorkload.buildKeyName` and `Utils.fnvhash64` of YCSB 0.17, `util.Hash64` of go-ycsb.
    """
    return f"user{number if order is None else _hashed(number, order):0{padding}d}"


def _hashed(number: int, order: Literal["little", "big"]) -> int:
    found = _OFFSET
    for byte in number.to_bytes(_BYTES, order):
        found = (found ^ byte) * _PRIME % (1 << _BITS)
    return (1 << _BITS) - found if found >> (_BITS - 1) else found


FILE = "job.properties"
MOST_OPERATIONS = 2_000_000_000
"""An `operationcount` that no run reaches in its time. The property is a 32-bit integer, and zipfian fails if it is 0.
"""

_MOST_BATCHED = 100
"""How many documents one insert may have at most. At 1 kB each, they are far below MongoDB's message limit of 48 MB."""
_NAMES = {
    "distribution": "requestdistribution",
    "fields": "fieldcount",
    "field_length": "fieldlength",
    "scan_length": "maxscanlength",
    "read": "readproportion",
    "update": "updateproportion",
    "insert": "insertproportion",
    "scan": "scanproportion",
    "read_modify_write": "readmodifywriteproportion",
}
_LEAST_RATE = 2000.0


def property_file(context: CellContext, own: dict[str, str]) -> JobFile:
    """Return the property file, with the driver's own settings last."""
    workload = context.workload
    settings = {
        "recordcount": str(count_records(workload)),
        "operationcount": str(operation_count(context)),
        **core_properties(workload),
        **_own_keys(context),
        **own,
    }
    lines = "".join(f"{name}={escape(value)}\n" for name, value in settings.items())
    uri = context.endpoint.uri
    if uri is None:
        raise PlanRefused(say.ycsb_no_uri(), say.hint_uri())
    return JobFile(FILE, (f"{lines}mongodb.url=", replace(uri, written=escape(uri.value)), "\n"))


def core_properties(workload: Workload) -> dict[str, str]:
    """Return the core workload's settings. `record_size` is divided by the number of fields."""
    given = workload.properties
    settings = {name: _text(given[key]) for key, name in _NAMES.items() if key in given}
    if "record_size" in given and "field_length" not in given:
        settings["fieldlength"] = str(max(1, int(float(given["record_size"]) // float(given.get("fields", 10)))))
    return settings


def count_records(workload: Workload) -> int:
    return int(float(workload.properties["records"]))


def is_load(workload: Workload) -> bool:
    """Return whether the load itself is measured."""
    return workload.phase == "load"


def count_own_records(context: CellContext) -> int:
    """Return how many records this load generator inserts in a measured load."""
    return len(context.range_of(count_records(context.workload)))


def _own_keys(context: CellContext) -> dict[str, str]:
    """Return the properties that set this load generator's key range. Returns none unless several load generators share
    a measured load."""
    if not is_load(context.workload) or len(context.cell.load_hosts) == 1:
        return {}
    own = context.range_of(count_records(context.workload))
    return {"insertstart": str(own.start), "insertcount": str(len(own))}


@dataclass(frozen=True)
class LoadPart:
    """One load generator's part of a load: its keys and threads. Each thread inserts `batch` records at once.

    `properties` tell YCSB the key range. They are empty if there is only one host.
    """

    keys: range
    threads: int
    batch: int
    properties: dict[str, str]


def load_part(context: CellContext) -> LoadPart:
    """Return this host's part of a load, divided among its threads.

    A thread's number of records is a multiple of the batch, since YCSB's MongoDbClient drops an unfinished last batch.
    YCSB gives each thread an equal number if the number of records is divisible by the number of threads.
    """
    hosts = loading_hosts(context.cell)
    attribute, on_each = SPEC.load_threads or ("", 1)
    asked = context.workload.properties.get(attribute)
    threads = max(1, int(float(asked)) // len(hosts)) if asked is not None else on_each
    keys = context.loaded_range(threads * _MOST_BATCHED)
    # YCSB lowers a number above the record count, and go-ycsb refuses it.
    threads = min(threads, len(keys))
    batch = next(n for n in range(_MOST_BATCHED, 0, -1) if n == 1 or len(keys) % (threads * n) == 0)
    shared = {"insertstart": str(keys.start), "insertcount": str(len(keys))} if len(hosts) > 1 else {}
    return LoadPart(keys, threads, batch, shared)


def operation_count(context: CellContext) -> int:
    """Return the declared count, or a count so large that the run's time ends first.

    Zipfian with inserts (workload E) gets a smaller count, so that its key space is about twice the records. YCSB
    reserves keys for twice the coming inserts (CoreWorkload.init), and draws again for each key that does not exist
    yet. A huge count would make it draw thousands of times for each operation.
    """
    given = context.workload.properties
    if "operations" in given:
        return max(1, len(context.range_of(int(float(given["operations"])))))
    inserts = float(given.get("insert", 0))
    if not inserts or given.get("distribution") != "zipfian":
        return MOST_OPERATIONS
    seconds = context.cell.warm_up_s + context.cell.measure_s
    return min(MOST_OPERATIONS, ceil(max(count_records(context.workload) / (2 * inserts), _LEAST_RATE * seconds)))


def escape(value: str) -> str:
    """Escape a value for a Java property file. Raises RunnerError for a line break."""
    if "\n" in value or "\r" in value:
        raise PlanRefused(say.ycsb_line_break(), say.hint_look_uri())
    text = value.replace("\\", "\\\\")
    return "".join(c if " " <= c <= "~" else "".join(f"\\u{unit:04x}" for unit in _utf16(c)) for c in text)


def _utf16(character: str) -> list[int]:
    data = character.encode("utf-16-be")
    return [int.from_bytes(data[i : i + 2], "big") for i in range(0, len(data), 2)]


def _text(value: str | float | bool) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value == int(value) else repr(value)
    return str(value)
