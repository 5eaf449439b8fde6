"""The points at which the power of a host is read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field

from benchbrief.compiler.registry import METER_SPECS
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.extension_spec import NAME
from benchbrief.model.plan import PowerMeter, Reference
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.jobs.tasks import JobFile, Word
from benchbrief.runners.journal.secret_masking import Secret
from benchbrief.runners.journal.secret_references import read_reference
from benchbrief.runners.seams import Node

ANSWER_S = 10
"""How many seconds a meter may take to answer. A slower meter gives no reading."""


def figures() -> tuple[str, ...]:
    """Return patterns of the lines that any meter's job may print: see `tasks.Job.figures`."""
    names = "|".join(name for name in METER_SPECS.names if NAME.fullmatch(name))
    return (
        r"= [0-9]{1,12}[.][0-9]{1,9}( [0-9]{1,12}[.][0-9]{1,3})?",
        r"[.]",
        r"@ [0-9]{1,4}",
        f"meter ({names})",
        r"x [0-9.e+-]{1,24}",
        r'"?-?[0-9]{1,18}([.][0-9]{1,9})?"?',
    )


@dataclass(frozen=True)
class MeterPoint:
    """A point to read: the `part` of a `meter` ("" means all of it) at an `address` ("" means the host)."""

    meter: PowerMeter
    address: str
    part: str


@dataclass(frozen=True)
class MeterReader:
    """How to read points. The command `header` prints everything that does not change, and each command in `reads`
    reads one point.

    `env` and `files` may contain secrets.
    """

    header: str
    reads: tuple[str, ...]
    env: Mapping[str, Word] = field(default_factory=dict)
    files: tuple[JobFile, ...] = ()


def points_of(node: Node) -> tuple[MeterPoint, ...]:
    """Return the points of the node, or of the whole hardware if its meter is shared. Raises RunnerError if there is no
    meter."""
    hardware = node.hardware
    if not hardware.power:
        raise RunnerError(say.powerless(hardware=hardware.key))
    return tuple(point for meter in hardware.power for point in _of(meter, hardware.hosts.index(node.host.id)))


def _of(meter: PowerMeter, index: int) -> Iterator[MeterPoint]:
    if not meter.addresses:
        parts = meter.parts[index : index + 1] if len(meter.parts) > 1 else meter.parts
        yield MeterPoint(meter, "", *(parts or ("",)))
        return
    places = list(zip(meter.addresses, meter.parts or ("",) * len(meter.addresses), strict=True))
    if not meter.shared and len(places) > 1:
        places = places[index : index + 1]
    yield from (MeterPoint(meter, address, part) for address, part in places)


def given(meter: PowerMeter, key: str) -> str:
    """Return an option as text, with its reference resolved, or "" if the option is not set. Raises RunnerError."""
    value = meter.options.get(key, "")
    if isinstance(value, Reference):
        return read_reference(value, f"the power meter at {meter.origin}")
    return str(value)


def secret(meter: PowerMeter, key: str, whose: str) -> Secret:
    """Return the text of an argument as a secret. Messages use `whose` to name the meter's owner."""
    return Secret(given(meter, key), name=f"{key} of {whose}")


def name_and_port(text: str, port: str) -> tuple[str, str]:
    """Split `bmc.lab`, `bmc.lab:6230` or `[fe80::1]:6230` into a name and a port."""
    match = re.fullmatch(r"\[([^\]]*)\](?::(\d+))?|([^:]*)(?::(\d+))?", text)
    if match is None:
        return text, port  # an IPv6 address without brackets
    return match[1] or match[3], match[2] or match[4] or port
